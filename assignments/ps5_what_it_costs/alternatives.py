"""Right answers to problem set 5 in other styles. Each must earn all points of its question."""

import math
from fractions import Fraction

import numpy as np

from autograder.variants import alternative

# --------------------------------------------------------------------------------------------------------------- reach


@alternative("reach")
def reach_by_following_the_ends(kernel, dilations, strides, centred):
    if centred and kernel % 2 == 0:
        raise ValueError("even")
    place = 0
    for dilation, stride in reversed(list(zip(dilations, strides, strict=True))):
        place = place * stride + (kernel - 1) * dilation / (2 if centred else 1)
    return int(place)


@alternative("reach")
def reach_with_numpy(kernel, dilations, strides, centred):
    if centred and kernel % 2 == 0:
        raise ValueError("even")
    steps = np.cumprod([1, *strides])[: len(dilations)]
    return (kernel - 1) * np.sum(np.multiply(dilations, steps), dtype=np.int64) // (1 + centred)


@alternative("reach", replaces="layers_to_cover")
def layers_by_counting(offset, kernel, centred):
    if centred and kernel % 2 == 0:
        raise ValueError("even")
    layers, reached = 0, 0
    while reached < offset:
        layers += 1
        reached += (kernel - 1) // 2 if centred else kernel - 1
    return layers


# ---------------------------------------------------------------------------------------------------------------- cost


@alternative("cost")
def flops_product_by_product(length, width):
    def product(rows, inner, columns):
        return 2 * rows * inner * columns

    return 3 * product(length, width, width) + product(length, width, length) + product(length, length, width)


@alternative("cost", replaces="crossover_length")
def crossover_as_fraction_of_counts(width):
    return Fraction(6, 4) * width


@alternative("cost", replaces="relative_cost")
def relative_cost_with_numpy(lengths, width):
    lengths = np.asarray(lengths, dtype=np.float64)
    flops = 2 * width * lengths * (3 * width + 2 * lengths)
    return flops / flops[0]


@alternative("cost", replaces="attention_bytes")
def bytes_array_by_array(length, width, itemsize, rows=None):
    table = length * (length if rows is None or rows > length else rows)
    return sum([length * width * itemsize] * 4) + table * itemsize


# --------------------------------------------------------------------------------------------------------------- model


@alternative("model")
def parameters_by_formula(layers, width, vocabulary, context):
    return layers * (12 * width * width + 13 * width) + width * (vocabulary + context + 2)


@alternative("model", replaces="context_cost")
def context_cost_by_formula(layers, width, heads, length, itemsize):
    return [2 * layers * length * width * (3 * width + 2 * length), itemsize * heads * length * length]


# ----------------------------------------------------------------------------------------------------------- stopwatch


@alternative("stopwatch")
def times_as_lists(layer, inputs, clock, repeats):
    def span(x):
        begun = clock()
        layer(x)
        return clock() - begun

    result = []
    for x in inputs:
        _ = layer(x)
        result.append(min([span(x) for _ in range(repeats)]))
    return np.asarray(result)


@alternative("stopwatch")
def times_all_warm_ups_first(layer, inputs, clock, repeats):
    for x in inputs:
        layer(x)
    times = np.empty((len(inputs), repeats))
    for i, x in enumerate(inputs):
        for j in range(repeats):
            start = clock()
            layer(x)
            times[i, j] = clock() - start
    return times.min(axis=1)


# -------------------------------------------------------------------------------------------------------------- growth


@alternative("growth")
def exponents_step_by_step(lengths, seconds):
    steps = zip(lengths[:-1], lengths[1:], seconds[:-1], seconds[1:], strict=True)
    return np.array([math.log(t1 / t0) / math.log(l1 / l0) for l0, l1, t0, t1 in steps])


@alternative("growth")
def exponents_in_base_two(lengths, seconds):
    return np.log2(seconds[1:] / seconds[:-1]) / np.log2(lengths[1:] / lengths[:-1])


@alternative("growth", replaces="worst_deviation")
def deviation_in_one_line(lengths, seconds, width):
    lengths = np.asarray(lengths, dtype=float)
    per_flop = seconds / (6 * lengths * width**2 + 4 * lengths**2 * width)
    return np.max(np.abs(per_flop / per_flop[0] - 1))


# ------------------------------------------------------------------------------------------------------------- patches


@alternative("patches")
def patches_in_loops(image, side):
    height, width, _ = image.shape
    if height % side != 0 or width % side != 0:
        raise ValueError("does not fit")
    rows = []
    for top in range(0, height, side):
        for left in range(0, width, side):
            rows.append(image[top : top + side, left : left + side, :].flatten())
    return np.stack(rows)


@alternative("patches")
def patches_by_splitting(image, side):
    if any(edge % side for edge in image.shape[:2]):
        raise ValueError("does not fit")
    strips = np.split(image, image.shape[0] // side, axis=0)
    return np.array([block.reshape(-1) for strip in strips for block in np.split(strip, image.shape[1] // side, axis=1)])


@alternative("patches", replaces="unpatchify")
def unpatchify_in_loops(patches, shape, side):
    height, width, channels = shape
    if height % side or width % side:
        raise ValueError("does not fit")
    image = np.empty(shape, dtype=patches.dtype)
    for token, patch in enumerate(patches):
        top, left = divmod(token, width // side)
        image[top * side : (top + 1) * side, left * side : (left + 1) * side] = patch.reshape(side, side, channels)
    return image


@alternative("patches", replaces="pair_count")
def pairs_by_division(height, width, side=1):
    if height % side or width % side:
        raise ValueError("does not fit")
    return (height * width // side**2) ** 2


# ------------------------------------------------------------------------------------------------------------- running


@alternative("running")
def absorb_key_by_key(state, queries, keys, values):
    largest, total, mixed = (np.array(part) for part in state)
    for key, value in zip(keys, values, strict=True):
        scores = queries @ key / math.sqrt(len(key))
        top = np.maximum(largest, scores)
        old, new = np.exp(largest - top), np.exp(scores - top)
        total = total * old + new
        mixed = mixed * old[:, None] + new[:, None] * value
        largest = top
    return largest, total, mixed


@alternative("running")
def absorb_with_the_old_largest_as_a_column(state, queries, keys, values):
    if len(keys) == 0:
        return state
    scores = (queries @ keys.T) / queries.shape[-1] ** 0.5
    largest = np.column_stack([state[0], scores]).max(axis=1)
    scale = np.exp(state[0] - largest)
    powers = np.exp(scores - largest[:, None])
    return largest, scale * state[1] + powers.sum(1), scale[:, None] * state[2] + powers.dot(values)


@alternative("running", replaces="merge")
def merge_row_by_row(first, second):
    rows = []
    for a, s, x, b, t, y in zip(*first, *second, strict=True):
        if np.isneginf(a) and np.isneginf(b):
            rows.append((a, 0.0, 0 * x))
        elif a >= b:
            scale = math.exp(b - a)
            rows.append((a, s + scale * t, x + scale * y))
        else:
            scale = math.exp(a - b)
            rows.append((b, t + scale * s, y + scale * x))
    return tuple(np.array(column) for column in zip(*rows, strict=True))


@alternative("running", replaces="finish")
def finish_with_errors_off(state):
    largest, total, mixed = state
    with np.errstate(divide="ignore", invalid="ignore"):
        output = np.where(total[:, None] == 0, 0.0, mixed / total[:, None])
        return output, largest + np.log(total)


# ------------------------------------------------------------------------------------------------------------- blocked


@alternative("blocked")
def blocked_by_tiles(queries, keys, values, block=256, causal=False):
    m, n = len(queries), len(keys)
    if causal and m != n:
        raise ValueError("not square")
    output = np.zeros((m, values.shape[1]))
    for start in range(0, m, block):
        part = queries[start : start + block] / np.sqrt(queries.shape[1])
        rows = np.arange(start, start + len(part))
        largest, total = np.full(len(part), -np.inf), np.zeros(len(part))
        mixed = np.zeros((len(part), values.shape[1]))
        for first in range(0, n, block):
            if causal and first > rows[-1]:
                break
            scores = part @ keys[first : first + block].T
            if causal:
                scores[np.arange(first, first + scores.shape[1]) > rows[:, None]] = -np.inf
            top = np.maximum(largest, scores.max(axis=1))
            scores = np.exp(scores - top[:, None])
            scale = np.exp(largest - top)
            total = scale * total + scores.sum(axis=1)
            mixed = scale[:, None] * mixed + scores @ values[first : first + block]
            largest = top
        output[start : start + block] = mixed / total[:, None]
    return output


@alternative("blocked")
def blocked_by_rows(queries, keys, values, block=256, causal=False):
    if causal and len(queries) != len(keys):
        raise ValueError("not square")
    rows = []
    for i, query in enumerate(queries):
        stop = i + 1 if causal else len(keys)
        scores = keys[:stop] @ query / math.sqrt(len(query))
        powers = np.exp(scores - scores.max())
        rows.append(powers @ values[:stop] / powers.sum())
    return np.array(rows)


@alternative("blocked")
def blocked_with_an_additive_mask(queries, keys, values, block=256, causal=False):
    m, n = queries.shape[0], keys.shape[0]
    if causal and m != n:
        raise ValueError("not square")
    pieces = []
    for chunk in np.array_split(np.arange(m), max(1, math.ceil(m / block))):
        scores = queries[chunk].dot(keys.T) * queries.shape[1] ** -0.5
        if causal:
            scores = scores + np.where(np.arange(n) > chunk[:, None], -np.inf, 0.0)
        scores = scores - scores.max(axis=1, keepdims=True)
        scores -= np.log(np.exp(scores).sum(axis=1, keepdims=True))
        pieces.append(np.exp(scores).dot(values))
    return np.concatenate(pieces)


# -------------------------------------------------------------------------------------------------------------- window


@alternative("window")
def window_position_by_position(queries, keys, values, window):
    output = []
    for i in range(len(queries)):
        part = slice(max(i - window, 0), i + window + 1)
        scores = keys[part] @ queries[i] / math.sqrt(queries.shape[1])
        powers = np.exp(scores - scores.max())
        output.append((powers / powers.sum()) @ values[part])
    return np.stack(output)


@alternative("window")
def window_offset_by_offset(queries, keys, values, window):
    n, width = queries.shape
    offsets = [offset for offset in range(-window, window + 1) if abs(offset) < n]
    scores = np.full((n, len(offsets)), -np.inf)
    for column, offset in enumerate(offsets):
        rows = np.arange(max(0, -offset), min(n, n - offset))
        scores[rows, column] = (queries[rows] * keys[rows + offset]).sum(axis=1) / math.sqrt(width)
    scores -= scores.max(axis=1, keepdims=True)
    powers = np.exp(scores)
    powers /= powers.sum(axis=1, keepdims=True)
    output = np.zeros((n, values.shape[1]))
    for column, offset in enumerate(offsets):
        rows = np.arange(max(0, -offset), min(n, n - offset))
        output[rows] += powers[rows, column][:, None] * values[rows + offset]
    return output


@alternative("window", replaces="window_reach")
def window_reach_by_adding(layers, window):
    return sum(window for _ in range(layers))


# -------------------------------------------------------------------------------------------------------------- linear


@alternative("linear")
def features_by_mask(x):
    result = np.array(x, dtype=float)
    low = result <= 0
    result[low] = np.expm1(result[low])
    return result + 1


@alternative("linear", replaces="random_features")
def random_features_with_einsum(x, directions):
    exponent = np.einsum("nd,rd->nr", x, directions) - 0.5 * np.einsum("nd,nd->n", x, x)[:, None]
    return np.exp(exponent - 0.5 * np.log(directions.shape[0]))


@alternative("linear", replaces="linear_attention")
def linear_with_a_column_of_ones(q_features, k_features, values):
    extended = np.column_stack([values, np.ones(len(values))])
    both = q_features @ (k_features.T @ extended)
    return both[:, :-1] / both[:, -1:]


@alternative("linear", replaces="linear_attention")
def linear_query_by_query(q_features, k_features, values):
    memory, total = np.einsum("nr,nv->rv", k_features, values), k_features.sum(0)
    return np.array([query @ memory / (query @ total) for query in q_features])


@alternative("linear", replaces="low_rank_attention")
def low_rank_by_query(queries, keys, values, mixing):
    keys, values = np.tensordot(mixing, keys, 1), np.tensordot(mixing, values, 1)
    output = np.empty((len(queries), values.shape[1]))
    for i, query in enumerate(queries):
        scores = keys @ query / np.sqrt(len(query))
        powers = np.exp(scores - np.max(scores))
        output[i] = powers @ values / np.sum(powers)
    return output


# ----------------------------------------------------------------------------------------------------------- recurrent


@alternative("recurrent")
def causal_linear_by_running_sums(q_features, k_features, values):
    memories = np.cumsum(k_features[:, :, None] * values[:, None, :], axis=0)
    totals = np.cumsum(k_features, axis=0)
    output = np.einsum("nr,nrv->nv", q_features, memories) / (q_features * totals).sum(axis=1)[:, None]
    return output, (memories[-1], totals[-1])


@alternative("recurrent")
def causal_linear_in_blocks(q_features, k_features, values):
    memory, total = np.zeros((k_features.shape[1], values.shape[1])), np.zeros(k_features.shape[1])
    pieces = []
    for start in range(0, len(values), 100):
        q, k, v = (part[start : start + 100] for part in (q_features, k_features, values))
        table = np.tril(q @ k.T)
        pieces.append((q @ memory + table @ v) / (q @ total + table.sum(axis=1))[:, None])
        memory, total = memory + k.T @ v, total + k.sum(axis=0)
    return np.vstack(pieces), [memory, total]


# --------------------------------------------------------------------------------------------------------------- cache


@alternative("cache")
def step_head_by_head(token, cache, w_q, w_k, w_v, w_o, heads):
    size = len(token) // heads
    keys = np.concatenate([cache[0], (token @ w_k)[None]])
    values = np.concatenate([cache[1], (token @ w_v)[None]])
    query, pieces = token @ w_q, []
    for head in range(heads):
        part = slice(head * size, (head + 1) * size)
        scores = keys[:, part] @ query[part] / math.sqrt(size)
        powers = np.exp(scores - scores.max())
        pieces.append(powers @ values[:, part] / powers.sum())
    return np.concatenate(pieces) @ w_o, [keys, values]


@alternative("cache")
def step_with_einsum(token, cache, w_q, w_k, w_v, w_o, heads):
    keys, values = np.append(cache[0], [token @ w_k], axis=0), np.append(cache[1], [token @ w_v], axis=0)
    split = [rows.reshape(-1, heads, len(token) // heads) for rows in ((token @ w_q)[None], keys, values)]
    scores = np.einsum("hk,thk->ht", split[0][0], split[1]) / (len(token) / heads) ** 0.5
    powers = np.exp(scores - scores.max(axis=1, keepdims=True))
    weights = powers / powers.sum(axis=1, keepdims=True)
    return np.einsum("ht,thk->hk", weights, split[2]).ravel() @ w_o, (keys, values)


@alternative("cache", replaces="cache_bytes")
def cache_bytes_array_by_array(layers, length, width, itemsize):
    one_array = length * width * itemsize
    return layers * (one_array + one_array)
