"""Right answers to problem set 4 in other styles. Each must earn all points of its question."""

import math

import numpy as np

from autograder.variants import alternative
from solutions.ps4_what_the_root_prevents import concentration as right_concentration
from solutions.ps4_what_the_root_prevents import softmax as given_softmax

# ------------------------------------------------------------------------------------------------------------ entropy


@alternative("entropy")
def entropy_with_where(weights):
    if np.any(weights < 0) or not np.allclose(weights.sum(axis=-1), 1, rtol=0, atol=1e-6):
        raise ValueError("no rows of weights")
    logarithms = np.log(weights, where=weights > 0, out=np.zeros(weights.shape))
    return -np.einsum("...n,...n->...", weights, logarithms)


@alternative("entropy")
def entropy_row_by_row(weights):
    result = np.empty(weights.shape[:-1])
    for place in np.ndindex(result.shape):
        row = weights[place]
        if row.min() < 0 or abs(row.sum() - 1) > 1e-6:
            raise ValueError(f"row {place}")
        result[place] = sum(w * math.log(1 / w) for w in row.tolist() if w > 0)
    return result if result.ndim else float(result)


# ------------------------------------------------------------------------------------------------------ concentration


@alternative("concentration")
def concentration_by_log_sum_exp(scores):
    shifted = scores - scores.max(axis=1, keepdims=True)
    total = np.log(np.exp(shifted).sum(axis=1, keepdims=True))
    weights = np.exp(shifted - total)
    # H = log-sum-exp minus the mean score.
    entropies = total[:, 0] - (weights * shifted).sum(axis=1)
    return np.sqrt(((scores - scores.mean()) ** 2).mean()), np.mean(entropies), np.mean(weights.max(axis=1))


@alternative("concentration")
def concentration_in_a_loop(scores):
    entropies, winners = [], []
    for row in scores:
        growth = [math.exp(score - max(row)) for score in row]
        weights = [part / sum(growth) for part in growth]
        entropies.append(-sum(w * math.log(w) for w in weights if w > 0))
        winners.append(max(weights))
    return [np.std(scores), sum(entropies) / len(entropies), sum(winners) / len(winners)]


# ------------------------------------------------------------------------------------------------------- sqrt_d_table


@alternative("sqrt_d_table")
def table_from_one_long_draw(dimensions, seed=0):
    total = sum(4000 * d for d in dimensions)
    stream = np.random.default_rng(seed).standard_normal(total)
    table, start = np.zeros((len(dimensions), 6)), 0
    for row, d in enumerate(dimensions):
        queries = stream[start : start + 2000 * d].reshape(2000, d)
        keys = stream[start + 2000 * d : start + 2016 * d].reshape(16, d)
        start += 4000 * d
        scores = np.einsum("qd,kd->qk", queries, keys, optimize=True)
        table[row, :3] = right_concentration(scores)
        table[row, 3:] = right_concentration(scores * d**-0.5)
    return table


@alternative("sqrt_d_table")
def table_row_by_row(dimensions, seed=0):
    rng = np.random.default_rng(seed)
    table = []
    for d in dimensions:
        q, k = rng.normal(size=(2000, d)), rng.normal(size=(2000, d))
        raw = np.array([k[:16] @ query for query in q])
        numbers = []
        for scores in (raw, raw / math.sqrt(d)):
            a = given_softmax(scores)
            numbers += [
                np.std(scores),
                np.mean([-(row[row > 0] * np.log(row[row > 0])).sum() for row in a]),
                a.max(1).mean(),
            ]
        table.append(numbers)
    return np.array(table)


# --------------------------------------------------------------------------------------------------------- own_scores


@alternative("own_scores")
def scores_query_by_query(d, queries, keys, seed):
    rng = np.random.default_rng(seed)
    return np.array([rng.standard_normal((keys, d)) @ rng.standard_normal(d) for _ in range(queries)])


@alternative("own_scores")
def scores_by_length(d, queries, keys, seed):
    # Given the query, the scores of its keys are independent normal numbers with the query's length as spread.
    rng = np.random.default_rng(seed)
    lengths = np.sqrt((rng.standard_normal((queries, d)) ** 2).sum(axis=1, keepdims=True))
    return lengths * rng.standard_normal((queries, keys))


# ----------------------------------------------------------------------------------------------------------- jacobian


@alternative("jacobian")
def jacobian_with_einsum(weights):
    table = -np.einsum("...j,...k->...jk", weights, weights)
    n = weights.shape[-1]
    table[..., range(n), range(n)] += weights
    return table


@alternative("jacobian")
def jacobian_row_by_row(weights):
    rows = weights.reshape(-1, weights.shape[-1])
    tables = np.array([np.diag(row) - np.outer(row, row) for row in rows])
    return tables.reshape(*weights.shape, weights.shape[-1])


@alternative("jacobian", replaces="jacobian_norm")
def norm_without_cancellation(weights):
    # Diagonal and rest apart, with the largest weight kept out of every difference.
    ordered = np.sort(weights, axis=-1)
    top, others = ordered[..., -1], ordered[..., :-1]
    rest, rest_squares = others.sum(axis=-1), (others**2).sum(axis=-1)
    diagonal = (top * rest) ** 2 + ((others * (1 - others)) ** 2).sum(axis=-1)
    beside = 2 * top**2 * rest_squares + np.maximum(rest_squares**2 - (others**4).sum(axis=-1), 0)
    return np.sqrt(diagonal + beside)


# ------------------------------------------------------------------------------------------------- attention_backward


@alternative("attention_backward")
def backward_with_einsum(queries, keys, values, output_gradient, mask=None):
    root = math.sqrt(queries.shape[-1])
    a = given_softmax(np.einsum("...id,...jd->...ij", queries, keys) / root, mask)
    jacobian = np.einsum("...j,jk->...jk", a, np.eye(a.shape[-1])) - np.einsum("...j,...k->...jk", a, a)
    by_weight = np.einsum("...iv,...jv->...ij", output_gradient, values)
    by_score = np.einsum("...ij,...ijk->...ik", by_weight, jacobian) / root
    return (
        np.einsum("...ij,...jd->...id", by_score, keys),
        np.einsum("...ij,...id->...jd", by_score, queries),
        np.einsum("...ij,...iv->...jv", a, output_gradient),
    )


@alternative("attention_backward")
def backward_from_the_output(queries, keys, values, output_gradient, mask=None):
    # The weighted mean of the slopes is the dot product of output and its slope.
    scale = queries.shape[-1] ** -0.5
    weights = given_softmax(scale * np.matmul(queries, np.swapaxes(keys, -2, -1)), mask)
    output = weights @ values
    means = (output * output_gradient).sum(axis=-1)[..., None]
    by_score = weights * (output_gradient @ np.swapaxes(values, -2, -1) - means)
    return (
        scale * by_score @ keys,
        scale * np.swapaxes(by_score, -2, -1) @ queries,
        np.swapaxes(weights, -2, -1) @ output_gradient,
    )


@alternative("attention_backward")
def backward_in_a_loop(queries, keys, values, output_gradient, mask=None):
    by_query, by_key, by_value = np.zeros(queries.shape), np.zeros(keys.shape), np.zeros(values.shape)
    root = math.sqrt(queries.shape[-1])
    allowed = np.broadcast_to(True if mask is None else mask, (*queries.shape[:-1], keys.shape[-2]))
    for place in np.ndindex(queries.shape[:-1]):
        batch = place[:-1]
        legal = np.flatnonzero(allowed[place])
        if len(legal) == 0:
            continue
        scores = keys[batch][legal] @ queries[place] / root
        growth = np.exp(scores - scores.max())
        a = growth / growth.sum()
        slopes = values[batch][legal] @ output_gradient[place]
        by_score = (np.diag(a) - np.outer(a, a)) @ slopes / root
        by_query[place] = by_score @ keys[batch][legal]
        by_key[batch][legal] += np.outer(by_score, queries[place])
        by_value[batch][legal] += np.outer(a, output_gradient[place])
    return by_query, by_key, by_value


# -------------------------------------------------------------------------------------------------------------- heads


@alternative("heads")
def split_with_np_split(x, heads):
    if x.shape[-1] % heads != 0:
        raise ValueError("uneven")
    return np.stack(np.split(x, heads, axis=-1), axis=-3)


@alternative("heads", replaces="merge_heads")
def merge_by_concatenation(x):
    return np.concatenate([x[..., head, :, :] for head in range(x.shape[-3])], axis=-1)


@alternative("heads", replaces="multi_head_attention")
def heads_as_a_sum(x, w_q, w_k, w_v, w_o, heads, mask=None):
    k, v = w_q.shape[1] // heads, w_v.shape[1] // heads
    output, tables = 0.0, []
    for head in range(heads):
        a, b = slice(head * k, head * k + k), slice(head * v, head * v + v)
        scores = (x @ w_q[:, a]) @ np.swapaxes(x @ w_k[:, a], -1, -2) / math.sqrt(k)
        tables.append(given_softmax(scores, mask))
        output = output + tables[-1] @ (x @ (w_v[:, b] @ w_o[b]))
    return output, np.stack(tables, axis=-3)


# --------------------------------------------------------------------------------------------------------- head_costs


@alternative("head_costs")
def costs_head_by_head(length, width, heads):
    k, left = divmod(width, heads)
    if left:
        raise ValueError("uneven")
    operations = 0
    for _ in range(heads):
        operations += 3 * 2 * length * width * k
        operations += 2 * (2 * length * length * k)
    return operations, heads


@alternative("head_costs")
def costs_factored(length, width, heads):
    if heads * (width // heads) != width:
        raise ValueError("heads must divide width")
    return [2 * length * width * (3 * width + 2 * length), heads]


# ------------------------------------------------------------------------------------------------------ two_relations


@alternative("two_relations")
def floor_by_singular_values(symbols):
    eye = np.eye(symbols)
    targets = np.array([np.concatenate([a, b]) for a in eye for b in eye])
    spectrum = np.linalg.svd(targets - targets.mean(axis=0), compute_uv=False)
    return float((spectrum[symbols - 1 :] ** 2).sum() / symbols**2)


@alternative("two_relations")
def floor_in_words(symbols):
    return 1 - 1 / symbols


@alternative("two_relations", replaces="two_head_weights")
def weights_turned_on_the_query_side(symbols, length, first, second, sharpness=100.0):
    k = length + 1
    w_q, w_k = np.zeros((symbols + length, 2 * k)), np.zeros((symbols + length, 2 * k))
    w_v, w_o = np.zeros((symbols + length, 2 * symbols)), np.zeros((2 * symbols, 2 * symbols))
    for head, offset in enumerate((first, second)):
        for place in range(length):
            w_q[symbols + place, head * k + (place + offset) % length] = math.sqrt(k)
            w_k[symbols + place, head * k + place] = sharpness
        for symbol in range(symbols):
            w_v[symbol, head * symbols + symbol] = 2.0
            w_o[head * symbols + symbol, head * symbols + symbol] = 0.5
    return w_q, w_k, w_v, w_o


# -------------------------------------------------------------------------------------------------------------- block


@alternative("block")
def norm_step_by_step(x, gain, shift, eps=1e-5):
    mean = np.mean(x, axis=-1)[..., None]
    variance = np.mean((x - mean) ** 2, axis=-1)[..., None]
    return gain * ((x - mean) * (variance + eps) ** -0.5) + shift


@alternative("block", replaces="gelu")
def gelu_number_by_number(x):
    c = math.sqrt(2 / math.pi)
    return np.reshape([0.5 * u * (1 + math.tanh(c * (u + 0.044715 * u * u * u))) for u in np.ravel(x).tolist()], np.shape(x))


@alternative("block", replaces="transformer_block")
def block_written_out(x, block, heads, mask=None, norm="pre"):
    def normed(tokens, number):
        centred = tokens - tokens.mean(-1)[..., None]
        return (
            centred / np.sqrt((centred**2).mean(-1)[..., None] + 1e-5) * block[f"gain_{number}"] + block[f"shift_{number}"]
        )

    def attended(tokens):
        k = tokens.shape[-1] // heads
        total = 0
        for head in range(heads):
            own = slice(head * k, (head + 1) * k)
            q, key, v = tokens @ block["w_q"][:, own], tokens @ block["w_k"][:, own], tokens @ block["w_v"][:, own]
            total = total + given_softmax(q @ np.swapaxes(key, -1, -2) / np.sqrt(k), mask) @ v @ block["w_o"][own]
        return total

    def fed(tokens):
        h = tokens @ block["w_1"] + block["b_1"]
        h = h / 2 * (1 + np.tanh(np.sqrt(2 / np.pi) * (h + 0.044715 * h**3)))
        return h @ block["w_2"] + block["b_2"]

    if norm == "pre":
        y = x + attended(normed(x, 1))
        return y + fed(normed(y, 2))
    elif norm == "post":
        y = normed(x + attended(x), 1)
        return normed(y + fed(y), 2)
    raise ValueError(norm)


# -------------------------------------------------------------------------------------------------------------- depth


@alternative("depth")
def profile_entry_by_entry(layers, x):
    spread, size = [], []
    state = x
    for layer in [None, *layers]:
        state = state if layer is None else layer(state)
        total = (state**2).sum()
        apart = ((state - state.mean(axis=0, keepdims=True)) ** 2).sum()
        spread.append(math.sqrt(apart / total) if total else 0.0)
        size.append(math.sqrt(total / state.size))
    return np.array(spread), np.array(size)


@alternative("depth")
def profile_preallocated(layers, x):
    spread, size = np.zeros(len(layers) + 1), np.zeros(len(layers) + 1)
    for number in range(len(layers) + 1):
        size[number] = np.sqrt(np.mean(np.square(x)))
        if size[number] != 0:
            spread[number] = np.sqrt(np.mean(np.square(x - np.mean(x, axis=0)))) / size[number]
        if number < len(layers):
            x = layers[number](x)
    return spread, size


# ------------------------------------------------------------------------------------------------------------- rotate


@alternative("rotate")
def rotate_as_complex_numbers(x, positions, base=10000.0):
    if x.shape[-1] % 2 != 0:
        raise ValueError("odd")
    d = x.shape[-1]
    pairs = x[..., ::2] + 1j * x[..., 1::2]
    pairs = pairs * np.exp(1j * positions[:, None] * np.power(base, -2.0 * np.arange(d // 2) / d))
    result = np.empty_like(x)
    result[..., ::2], result[..., 1::2] = pairs.real, pairs.imag
    return result


@alternative("rotate")
def rotate_pair_by_pair(x, positions, base=10000.0):
    d = x.shape[-1]
    if d % 2 == 1:
        raise ValueError("odd")
    columns = []
    for k in range(d // 2):
        angle = positions / base ** (2 * k / d)
        u, w = x[..., 2 * k], x[..., 2 * k + 1]
        columns += [u * np.cos(angle) - w * np.sin(angle), u * np.sin(angle) + w * np.cos(angle)]
    return np.stack(columns, axis=-1)
