"""Right answers to problem set 6 in other styles. Each must earn all points."""

import copy
import math

import matplotlib.pyplot as plt
import numpy as np

from autograder.variants import alternative
from solutions.ps6_what_a_weight_explains import lm_gradients as right_lm_gradients

# ----------------------------------------------------------------------------------------------------------- deletion


@alternative("deletion")
def deletion_item_by_item(weights, values):
    effects = []
    for j in range(len(weights)):
        left = [i for i in range(len(weights)) if i != j]
        total = math.fsum(weights[left])
        if total == 0:
            raise ValueError("nothing left")
        effects.append(weights[j] * (values[j] - sum((weights[i] / total) * values[i] for i in left)))
    return np.array(effects)


@alternative("deletion", replaces="swap_effects")
def swap_by_recomputing(weights, values, replacement):
    effects = np.zeros(values.shape)
    for j, weight in enumerate(weights):
        effects[j] = weight * values[j] - weight * replacement
    return effects


# -------------------------------------------------------------------------------------------------------------- cases


@alternative("cases")
def loud_in_the_plane():
    return np.array([0.7, 0.1, 0.1, 0.1]), np.array([[2.0, 2.0], [5.0, 2.0], [-1.0, 5.0], [2.0, -1.0]])


@alternative("cases", replaces="quiet_but_decisive")
def quiet_in_the_plane():
    return np.array([0.2, 0.42, 0.38]), np.array([[10.0, 10.0], [1.0, 0.0], [0.0, 1.0]])


# ------------------------------------------------------------------------------------------------------------ leaving


@alternative("leaving")
def ratio_row_by_row(weights, values):
    ratios = []
    for row in weights:
        read = values[row > 0]
        longest = max((math.sqrt(value @ value) for value in read), default=0.0)
        mixed = row @ values
        ratios.append(math.sqrt(mixed @ mixed) / longest if longest else 0.0)
    return np.array(ratios)


@alternative("leaving", replaces="difference_head")
def difference_by_scaled_values(width):
    w_v, w_o = np.zeros((width, 2 * width)), np.zeros((2 * width, width))
    for i in range(width):
        w_v[i, width - 1 - i], w_o[width - 1 - i, i] = 2.0, 0.5
        w_v[i, width + i], w_o[width + i, i] = -1.0, 1.0
    return w_v, w_o


# ------------------------------------------------------------------------------------------------------ architectures


@alternative("architectures")
def table_in_loops(layers, x, trials=20, seed=0):
    rng = np.random.default_rng(seed)
    places = list(range(len(x)))
    orders = []
    while len(orders) < trials:
        order = rng.permutation(len(x))
        if order.tolist() != places:
            orders.append(order)
    rows = []
    for layer in layers:
        before = layer(x)
        limit = 64 * np.finfo(before.dtype).eps * np.max(np.abs(before))

        def same(order, layer=layer, before=before, limit=limit):
            gap = np.max(np.abs(layer(x[order]) - before[order]))
            return bool(np.isfinite(gap) and gap <= limit)

        rows.append([same(np.roll(places, 1)), same(np.roll(places, 2)), all(same(order) for order in orders)])
    return np.array(rows)


@alternative("architectures")
def table_with_more_trials(layers, x, trials=20, seed=0):
    n = len(x)
    rng = np.random.default_rng([seed, 1])
    found = np.ones((len(layers), 3), dtype=bool)
    for row, layer in enumerate(layers):
        plain = layer(x)
        band = 64 * np.finfo(plain.dtype).eps * np.abs(plain).max()
        for column, count in enumerate((1, 1, trials)):
            for _ in range(count):
                order = (np.arange(n) - column - 1) % n if column < 2 else rng.permutation(n)
                while (order == np.arange(n)).all():
                    order = rng.permutation(n)
                found[row, column] &= bool((np.abs(layer(x[order]) - plain[order]) <= band).all())
    return found


# ------------------------------------------------------------------------------------------------------------- curves


@alternative("curves")
def curve_by_singular_values(train_set, test_set, sizes, pooled, ridge=0.1):
    def collect(tokens):
        return np.einsum("epd->ed", tokens) / tokens.shape[1] if pooled else np.array([e.flatten() for e in tokens])

    accuracies = []
    for n in sizes:
        u, s, vt = np.linalg.svd(collect(train_set[0][:n]) / np.sqrt(n), full_matrices=False)
        w = vt.T @ (s / (s**2 + ridge) * (u.T @ (train_set[1][:n] / np.sqrt(n))))
        accuracies.append(float(((collect(test_set[0]) @ w > 0) == (test_set[1] > 0)).mean()))
    return np.array(accuracies)


@alternative("curves", replaces="examples_needed")
def needed_by_interpolation(sizes, accuracies, level):
    reached = [at for at, accuracy in enumerate(accuracies) if accuracy >= level]
    if not reached:
        return None
    at = reached[0]
    if at == 0:
        return float(sizes[0])
    pair = slice(at - 1, at + 1)
    return float(np.exp(np.interp(level, np.asarray(accuracies[pair], float), np.log(np.asarray(sizes[pair], float)))))


# ----------------------------------------------------------------------------------------------------- backward_parts


@alternative("backward_parts")
def norm_by_jacobians(x, gain, upstream, eps=1e-5):
    n = x.shape[-1]
    tokens, slopes = x.reshape(-1, n), upstream.reshape(-1, n)
    rows, by_gain = [], np.zeros(n)
    for token, slope in zip(tokens, slopes, strict=True):
        centred = token - token.mean()
        root = math.sqrt((centred @ centred) / n + eps)
        jacobian = (np.eye(n) - 1 / n - np.outer(centred, centred) / (n * root * root)) / root
        rows.append(jacobian @ (slope * gain))
        by_gain += slope * centred / root
    return np.array(rows).reshape(x.shape), by_gain, slopes.sum(axis=0)


@alternative("backward_parts", replaces="gelu_backward")
def gelu_by_a_logistic(x, upstream):
    # (1 + tanh u) / 2 is the logistic function of 2 u.
    u = np.sqrt(2 / np.pi) * (x + 0.044715 * x**3)
    share = 0.5 * (1 + np.tanh(u))
    inner = np.sqrt(8 / np.pi) * (1 + 0.134145 * x**2)
    return upstream * (share + x * share * (1 - share) * inner)


# -------------------------------------------------------------------------------------------------------------- model


def normed(x, gain, shift):
    mean = x.sum(-1, keepdims=True) / x.shape[-1]
    return (x - mean) / np.sqrt(((x - mean) ** 2).sum(-1, keepdims=True) / x.shape[-1] + 1e-5) * gain + shift


def one_sequence(model, positions, notes):
    x = np.array([model["embed"][note] + positions[t] for t, note in enumerate(notes)])
    tables = []
    for block in model["blocks"]:
        y = normed(x, block["gain_1"], block["shift_1"])
        q, k, v = y @ block["w_q"], y @ block["w_k"], y @ block["w_v"]
        table = np.zeros((len(notes), len(notes)))
        for t in range(len(notes)):
            scores = k[: t + 1] @ q[t] / math.sqrt(q.shape[1])
            grown = np.exp(scores - scores.max())
            table[t, : t + 1] = grown / grown.sum()
        tables.append(table)
        x = x + table @ v @ block["w_o"]
        y = normed(x, block["gain_2"], block["shift_2"]) @ block["w_1"] + block["b_1"]
        x = x + 0.5 * y * (1 + np.tanh(np.sqrt(2 / np.pi) * (y + 0.044715 * y**3))) @ block["w_2"] + block["b_2"]
    return normed(x, model["gain"], model["shift"]) @ model["unembed"], tables


@alternative("model")
def forward_sequence_by_sequence(model, positions, tokens):
    answers = [one_sequence(model, positions, notes) for notes in tokens]
    layers = range(len(model["blocks"]))
    return np.array([logits for logits, _ in answers]), [np.array([tables[at] for _, tables in answers]) for at in layers]


@alternative("model")
def forward_by_one_hot_products(model, positions, tokens):
    hot = np.eye(len(model["embed"]))[tokens]
    x = hot @ model["embed"] + positions[None, : tokens.shape[1]]
    later = np.triu(np.full((tokens.shape[1],) * 2, -np.inf), 1)
    tables = []
    for block in model["blocks"]:
        y = normed(x, block["gain_1"], block["shift_1"])
        scores = np.einsum("bid,dk,ek,bje->bij", y, block["w_q"], block["w_k"], y, optimize=True) / np.sqrt(x.shape[-1])
        scores = scores + later
        table = np.exp(scores - scores.max(-1, keepdims=True))
        table = table / table.sum(-1, keepdims=True)
        x = x + np.einsum("bij,bjd,de->bie", table, y, block["w_v"] @ block["w_o"], optimize=True)
        y = normed(x, block["gain_2"], block["shift_2"]) @ block["w_1"] + block["b_1"]
        y = y / (1 + np.exp(-np.sqrt(8 / np.pi) * (y + 0.044715 * y**3)))
        x = x + (y @ block["w_2"] + block["b_2"])
        tables.append(table)
    return normed(x, model["gain"], model["shift"]) @ model["unembed"], tuple(tables)


# ---------------------------------------------------------------------------------------------------------- gradients


@alternative("gradients")
def gradients_sequence_by_sequence(model, positions, tokens, targets, counted):
    total, loss, slopes = counted.sum(), 0.0, None

    def added(one, other, share):
        if isinstance(other, dict):
            return {name: added(None if one is None else one[name], part, share) for name, part in other.items()}
        if isinstance(other, list):
            return [added(None if one is None else one[at], part, share) for at, part in enumerate(other)]
        return share * other if one is None else one + share * other

    for at in np.flatnonzero(counted.any(axis=1)):
        own = slice(at, at + 1)
        share = counted[at].sum() / total
        part, by_part = right_lm_gradients(model, positions, tokens[own], targets[own], counted[own])
        loss, slopes = loss + share * part, added(slopes, by_part, share)
    return loss, slopes


@alternative("gradients")
def gradients_with_einsum(model, positions, tokens, targets, counted):
    n = tokens.shape[1]
    hot = np.eye(len(model["embed"]))[tokens]
    x, kept = hot @ model["embed"] + positions[:n], []

    def norm_back(x, gain, slope):
        d = x.shape[-1]
        centred = x - x.mean(-1, keepdims=True)
        spread = (centred**2).mean(-1, keepdims=True) + 1e-5
        inner = slope * gain
        by_x = inner - inner.sum(-1, keepdims=True) / d - centred * (inner * centred).sum(-1, keepdims=True) / d / spread
        return by_x / np.sqrt(spread), (slope * centred / np.sqrt(spread)).sum((0, 1)), slope.sum((0, 1))

    c = np.sqrt(2 / np.pi)
    future = np.triu(np.ones((n, n), dtype=bool), 1)
    for block in model["blocks"]:
        y = normed(x, block["gain_1"], block["shift_1"])
        q, k, v = y @ block["w_q"], y @ block["w_k"], y @ block["w_v"]
        scores = np.where(future, -np.inf, np.einsum("bid,bjd->bij", q, k) / np.sqrt(q.shape[-1]))
        a = np.exp(scores - scores.max(-1, keepdims=True))
        a = a / a.sum(-1, keepdims=True)
        mixed = np.einsum("bij,bjd->bid", a, v)
        middle = x + mixed @ block["w_o"]
        z = normed(middle, block["gain_2"], block["shift_2"])
        h = z @ block["w_1"] + block["b_1"]
        t = np.tanh(c * (h + 0.044715 * h**3))
        kept.append((x, y, q, k, v, a, mixed, middle, z, h, t))
        x = middle + 0.5 * h * (1 + t) @ block["w_2"] + block["b_2"]
    final = normed(x, model["gain"], model["shift"])
    logits = final @ model["unembed"]
    shifted = logits - logits.max(-1, keepdims=True)
    logarithms = shifted - np.log(np.exp(shifted).sum(-1, keepdims=True))
    wanted = np.eye(logits.shape[-1])[targets] * counted[..., None] / counted.sum()
    slope = np.exp(logarithms) * (counted[..., None] / counted.sum()) - wanted
    result = {"unembed": np.einsum("bnd,bnv->dv", final, slope)}
    dx, result["gain"], result["shift"] = norm_back(x, model["gain"], slope @ model["unembed"].T)
    blocks = []
    for block, (x, y, q, k, v, a, mixed, middle, z, h, t) in zip(reversed(model["blocks"]), reversed(kept), strict=True):
        own = {"w_2": np.einsum("bnf,bnd->fd", 0.5 * h * (1 + t), dx), "b_2": np.einsum("bnd->d", dx)}
        dh = dx @ block["w_2"].T * (0.5 * (1 + t) + 0.5 * h * (1 - t**2) * c * (1 + 0.134145 * h**2))
        own["w_1"], own["b_1"] = np.einsum("bnd,bnf->df", z, dh), np.einsum("bnf->f", dh)
        dm, own["gain_2"], own["shift_2"] = norm_back(middle, block["gain_2"], dh @ block["w_1"].T)
        dx = dx + dm
        own["w_o"] = np.einsum("bnd,bne->de", mixed, dx)
        dmix = dx @ block["w_o"].T
        da = np.einsum("bid,bjd->bij", dmix, v)
        ds = a * (da - (a * da).sum(-1, keepdims=True)) / np.sqrt(q.shape[-1])
        dq, dk, dv = np.einsum("bij,bjd->bid", ds, k), np.einsum("bij,bid->bjd", ds, q), np.einsum("bij,bid->bjd", a, dmix)
        dy = 0.0
        for name, part in (("w_q", dq), ("w_k", dk), ("w_v", dv)):
            own[name] = np.einsum("bnd,bne->de", y, part)
            dy = dy + part @ block[name].T
        dn, own["gain_1"], own["shift_1"] = norm_back(x, block["gain_1"], dy)
        dx = dx + dn
        blocks.insert(0, own)
    result["embed"] = np.einsum("bnv,bnd->vd", hot, dx)
    result["blocks"] = blocks
    return -(wanted * logarithms).sum(), result


# -------------------------------------------------------------------------------------------------------------- train


@alternative("train")
def train_in_place(model, positions, batches, rates):
    model = copy.deepcopy(model)
    parts = [model, *model["blocks"]]
    arrays = [(part, name) for part in parts for name in part if name != "blocks"]
    first, second = (
        [np.zeros_like(part[name]) for part, name in arrays],
        [np.zeros_like(part[name]) for part, name in arrays],
    )
    losses = np.zeros(len(rates))
    for i in range(len(rates)):
        losses[i], slopes = right_lm_gradients(model, positions, batches[0][i], batches[1][i], batches[2][i])
        owners = [slopes, *slopes["blocks"]]
        for at, (part, name) in enumerate(arrays):
            g = owners[[id(p) for p in parts].index(id(part))][name]
            first[at] = 0.9 * first[at] + 0.1 * g
            second[at] = 0.999 * second[at] + 0.001 * g * g
            hat = first[at] / (1 - 0.9 ** (i + 1))
            part[name] = part[name] - rates[i] * hat / (np.sqrt(second[at] / (1 - 0.999 ** (i + 1))) + 1e-8)
    return model, losses


@alternative("train")
def train_on_one_vector(model, positions, batches, rates):
    def flat(part):
        if isinstance(part, dict):
            return np.concatenate([flat(part[name]) for name in sorted(part)])
        return np.concatenate([flat(value) for value in part]) if isinstance(part, list) else np.ravel(part)

    def rebuilt(part, numbers):
        if isinstance(part, dict):
            return {name: rebuilt(part[name], numbers) for name in sorted(part)}
        if isinstance(part, list):
            return [rebuilt(value, numbers) for value in part]
        taken = numbers[: part.size].reshape(part.shape).copy()
        numbers[:] = np.roll(numbers, -part.size)
        return taken

    vector, losses = flat(model), []
    m = v = np.zeros_like(vector)
    for i, rate in enumerate(rates):
        loss, slopes = right_lm_gradients(rebuilt(model, vector.copy()), positions, *(part[i] for part in batches))
        losses.append(loss)
        g = flat(slopes)
        m, v = m + 0.1 * (g - m), v + 0.001 * (g**2 - v)
        vector = vector - rate * (m / (1 - 0.9 ** (i + 1))) / ((v / (1 - 0.999 ** (i + 1))) ** 0.5 + 1e-8)
    return rebuilt(model, vector.copy()), np.array(losses)


# --------------------------------------------------------------------------------------------------------------- maps


@alternative("maps")
def induction_in_loops(weights, tokens, counted):
    sums = []
    for i, t in zip(*np.nonzero(counted), strict=True):
        places = [j for j in range(1, t + 1) if tokens[i, j - 1] == tokens[i, t]]
        sums.append(weights[i, t, places].sum())
    return np.mean(sums)


@alternative("maps", replaces="previous_mass")
def previous_in_loops(weights, periods):
    total = number = 0
    for table, period in zip(weights, periods, strict=True):
        for t in range(1, period + 1):
            total, number = total + table[t, t - 1], number + 1
    return total / number


@alternative("maps", replaces="map_figure")
def map_with_pcolormesh(weights, labels):
    figure, axes = plt.subplots()
    mesh = axes.pcolormesh(weights, cmap="binary", vmin=0.0, vmax=1.0)
    axes.invert_yaxis()
    middles = np.arange(len(labels)) + 0.5
    axes.set_xticks(middles, labels)
    axes.set_yticks(middles, labels)
    axes.set(xlabel="read", ylabel="reads")
    figure.colorbar(mesh, ax=axes).set_label("weight")
    return figure


# ---------------------------------------------------------------------------------------------------------- intervene


@alternative("intervene")
def swaps_in_lists(forward, tokens, places, replacements, controls):
    def told(sequences):
        logits, tables = forward(sequences)
        return np.array([np.argmax(logits[i][t]) for i, t in enumerate(places)]), tables[len(tables) - 1]

    def swapped(where):
        return told(np.array([[new if s == spot else note for s, note in enumerate(row)]
                              for row, spot, new in zip(tokens, where, replacements, strict=True)]))[0]  # fmt: skip

    before, table = told(tokens)
    read = [int(np.argmax(table[i][t])) for i, t in enumerate(places)]
    follows = swapped(read) == replacements
    breaks = swapped([r - 1 for r in read]) != before
    return np.mean(follows), np.mean(breaks), np.mean(swapped(controls) == before)


@alternative("intervene")
def swaps_in_one_batch(forward, tokens, places, replacements, controls):
    b = len(tokens)
    logits, tables = forward(tokens)
    old = np.take_along_axis(logits, places[:, None, None], axis=1)[:, 0].argmax(1)
    read = np.take_along_axis(tables[-1], places[:, None, None], axis=1)[:, 0].argmax(1)
    new = []
    for spot in (read, read - 1, controls):
        here = np.arange(tokens.shape[1]) == spot[:, None]
        answer = forward(np.where(here, replacements[:, None], tokens))[0]
        new.append(answer[np.arange(b), places].argmax(1))
    return sum(new[0] == replacements) / b, 1 - sum(new[1] == old) / b, sum(new[2] == old) / b


# ------------------------------------------------------------------------------------------------------- faithfulness


@alternative("faithfulness")
def score_by_sorting(weights, effects, resamples):
    def rank(numbers):
        _, place, count = np.unique(numbers, return_inverse=True, return_counts=True)
        ends = np.cumsum(count)
        return (ends - (count - 1) / 2)[place]

    scores = []
    for row in [np.arange(len(weights)), *resamples]:
        pair = rank(weights[row]), rank(abs(effects)[row])
        spreads = pair[0].std(), pair[1].std()
        flat = len(set(pair[0])) == 1 or len(set(pair[1])) == 1
        centred = ((pair[0] - pair[0].mean()) * (pair[1] - pair[1].mean())).mean()
        scores.append(np.nan if flat else centred / (spreads[0] * spreads[1]))
    rows = np.array(scores[1:])
    rows = rows[~np.isnan(rows)]
    return (scores[0], *np.percentile(rows, [2.5, 97.5]))


@alternative("faithfulness")
def score_with_corrcoef(weights, effects, resamples):
    def rank(numbers):
        return [sum(np.sign(one - other) for other in numbers) / 2 for one in numbers]

    size = np.abs(effects)
    found = []
    for row in resamples:
        if len(np.unique(weights[row])) > 1 and len(np.unique(size[row])) > 1:
            found.append(np.corrcoef(rank(weights[row]), rank(size[row]))[0, 1])
    low, high = np.quantile(found, 0.025), np.quantile(found, 0.975)
    return np.corrcoef(rank(weights), rank(size))[0, 1], low, high


# --------------------------------------------------------------------------------------------------------- bug_museum


@alternative("bug_museum")
def checker_row_by_row(attention):
    rng = np.random.default_rng(2)
    for trial in range(16):
        ahead = ((), (2,), (2, 2))[trial % 3]
        m, n, d, v = rng.integers(2, 7, size=4)
        q, k, values = rng.normal(size=(*ahead, m, d)), rng.normal(size=(*ahead, n, d)), rng.normal(size=(*ahead, n, v))
        mask = rng.random((m, n)) < rng.choice([0.5, 0.8, 1.0])
        mask[trial % m] &= trial % 2 == 0
        q = q * (300.0 if trial % 4 == 3 else 1.0)
        try:
            output, weights = attention(q, k, values, mask)
        except Exception:
            return True
        for place in np.ndindex(*ahead, m):
            legal = mask[place[-1]]
            scores = np.where(legal, k[place[:-1]] @ q[place] / math.sqrt(d), -np.inf)
            right = np.zeros(n)
            if legal.any():
                right[legal] = np.exp(scores[legal] - scores[legal].max())
                right /= right.sum()
            expected = right @ values[place[:-1]]
            if not np.allclose(weights[place], right, rtol=0, atol=1e-10) or not np.allclose(
                output[place], expected, rtol=0, atol=1e-9
            ):
                return True
    return False


@alternative("bug_museum")
def checker_by_properties(attention):
    rng = np.random.default_rng(5)
    try:
        for ahead in ((), (2,)):
            q, k, v = rng.normal(size=(*ahead, 5, 7)), rng.normal(size=(*ahead, 6, 7)), rng.normal(size=(*ahead, 6, 2))
            mask = rng.random((5, 6)) < 0.7
            mask[3], mask[0] = False, True
            for scale in (1.0, 1000.0):
                output, weights = attention(scale * q, k, v, mask)
                sums = np.where(mask.any(axis=1), 1.0, 0.0)
                scores = scale * q @ np.swapaxes(k, -1, -2) / 7**0.5
                order = (scores[..., :, None] - scores[..., None, :])[..., mask.any(axis=1), :, :]
                ratios = weights[..., mask.any(axis=1), :, None] - weights[..., mask.any(axis=1), None, :] * np.exp(
                    np.minimum(order, 50.0)
                )
                both = (mask[:, :, None] & mask[:, None, :])[mask.any(axis=1)] & (order <= 0)
                ok = (
                    np.isfinite(weights).all()
                    and (weights[..., ~mask] == 0).all()
                    and np.allclose(weights.sum(-1), sums, rtol=0, atol=1e-10)
                    and np.abs(ratios[both]).max() < 1e-10
                    and np.allclose(output, weights @ v, rtol=0, atol=1e-10)
                )
                if not ok:
                    return True
    except Exception:
        return True
    return False
