"""Problem set 6: what a weight explains, and a Transformer of your own.

Arrays hold float64 numbers; compute in that precision. No function changes its
arguments.
D1 and D3 are teaching documents that this course is built on.
"""

import math
from collections.abc import Callable, Sequence
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.figure import Figure

# Tools from earlier problem sets, so that nothing here depends on your answers there.


def softmax(scores: np.ndarray, mask: np.ndarray | None = None) -> np.ndarray:
    """Turn scores (..., n) into weights along the last axis; a row in which `mask`
    allows nothing gets zeros.

    mask: True where reading is allowed; any shape that broadcasts against the scores.
    """
    if mask is not None:
        scores = np.where(mask, scores, -np.inf)
    largest = scores.max(axis=-1, keepdims=True)
    growth = np.exp(scores - np.where(np.isfinite(largest), largest, 0.0))
    total = growth.sum(axis=-1, keepdims=True)
    return growth / np.where(total > 0, total, 1.0)


def causal_mask(length: int) -> np.ndarray:
    """A (length, length) mask under which position i may read positions 0 to i."""
    return np.tri(length, dtype=bool)


def sinusoids(length: int, width: int) -> np.ndarray:
    """Problem set 3's position vectors, times 3: shape (length, width)."""
    angles = np.outer(np.arange(length), 10000.0 ** (-np.arange(0, width, 2) / width))
    pairs = np.stack([np.sin(angles), np.cos(angles)], axis=-1)
    return 3.0 * pairs.reshape(length, width)


# The melody task. A melody of different notes is repeated to a fixed length, and the
# model predicts each next note.
NOTES = 16
LENGTH = 24


def melodies(
    shape: Sequence[int], seed: int, shortest: int = 4, longest: int = 10
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Draw melodies of `shortest` to `longest` different notes, each repeated to LENGTH
    notes.

    shape: such as (32,) for 32 melodies, or (500, 32) for 500 batches of 32.
    Returns (tokens, targets, counted, periods). tokens, targets: integers of shape
    (*shape, LENGTH), the notes and the note that follows each. counted: boolean, the
    same shape, True where the next note is determined by what came before: from the
    first repeated note on. periods: integers of shape `shape`, the number of notes in
    each melody.
    """
    rng = np.random.default_rng(seed)
    count = int(np.prod(shape))
    periods = rng.integers(shortest, longest + 1, size=count)
    order = np.argsort(rng.random((count, NOTES)), axis=1)
    places = np.arange(LENGTH + 1) % periods[:, np.newaxis]
    notes = np.take_along_axis(order, places, axis=1)
    counted = np.arange(LENGTH) >= periods[:, np.newaxis]
    full = (*shape, LENGTH)
    parts = (notes[:, :-1], notes[:, 1:], counted)
    tokens, targets, counted = (part.reshape(full) for part in parts)
    return tokens, targets, counted, periods.reshape(shape)


Model = dict[str, Any]


def new_model(
    seed: int, width: int = 32, hidden: int = 64, layers: int = 2, notes: int = NOTES
) -> Model:
    """A model before training. All matrices are random, all gains are ones, all shifts
    and biases zeros.

    embed: (notes, width). blocks: a list of dicts with w_q, w_k, w_v, w_o (width,
    width), w_1 (width, hidden), b_1 (hidden,), w_2 (hidden, width), b_2 (width,), and
    gain_1, shift_1, gain_2, shift_2 (width,).
    gain, shift: (width,), the last norm. unembed: (width, notes).
    """
    rng = np.random.default_rng(seed)

    def matrix(rows: int, columns: int) -> np.ndarray:
        return rng.standard_normal((rows, columns)) / np.sqrt(rows)

    def block() -> dict[str, np.ndarray]:
        made = {name: matrix(width, width) for name in ("w_q", "w_k", "w_v", "w_o")}
        made |= {"w_1": matrix(width, hidden), "b_1": np.zeros(hidden)}
        made |= {"w_2": matrix(hidden, width), "b_2": np.zeros(width)}
        for norm in (1, 2):
            made |= {f"gain_{norm}": np.ones(width), f"shift_{norm}": np.zeros(width)}
        return made

    return {
        "embed": rng.standard_normal((notes, width)),
        "blocks": [block() for _ in range(layers)],
        "gain": np.ones(width),
        "shift": np.zeros(width),
        "unembed": matrix(width, notes),
    }


def adam_step(
    model: Any, gradients: Any, moments: Any, step: int, rate: float
) -> tuple[Any, Any]:
    """One step of Adam on a model, or on any nest of dicts, lists and arrays.

    gradients: the same form as `model`. moments: None before the first step, then what
        the last call returned.
    step: 1 for the first step, 2 for the second. rate: this step's learning rate.
    Returns (new model, new moments); the arguments stay as they are.

    Source: Kingma and Ba, "Adam: a method for stochastic optimization", 2015, with the
        paper's defaults.
    """
    if isinstance(model, dict):
        kept = moments or {}
        pairs = {}
        for name, part in model.items():
            pairs[name] = adam_step(part, gradients[name], kept.get(name), step, rate)
        changed = {name: pair[0] for name, pair in pairs.items()}
        return changed, {name: pair[1] for name, pair in pairs.items()}
    if isinstance(model, list):
        parts = zip(model, gradients, moments or [None] * len(model), strict=True)
        steps = [adam_step(*part, step, rate) for part in parts]
        return [new for new, _ in steps], [kept for _, kept in steps]
    first, second = (0.0, 0.0) if moments is None else moments
    first = 0.9 * first + 0.1 * gradients
    second = 0.999 * second + 0.001 * gradients**2
    move = first / (1 - 0.9**step) / (np.sqrt(second / (1 - 0.999**step)) + 1e-8)
    return model - rate * move, (first, second)


# === carried over ===
def layer_norm(x, gain, shift, eps=1e-5):
    mean = x.mean(-1, keepdims=True)
    return (x - mean) / np.sqrt(x.var(-1, keepdims=True) + eps) * gain + shift


def gelu(x):
    return x / (1 + np.exp(-np.sqrt(8 / np.pi) * (x + 0.044715 * x**3)))


def multi_head_attention(x, w_q, w_k, w_v, w_o, heads, mask=None):
    def split(y):
        return np.moveaxis(y.reshape(*y.shape[:-1], heads, -1), -2, -3)

    q, k, v = split(x @ w_q), split(x @ w_k), split(x @ w_v)
    weights = softmax(np.einsum("...id,...jd->...ij", q, k) / math.sqrt(q.shape[-1]), mask)
    mixed = np.moveaxis(np.einsum("...ij,...jd->...id", weights, v), -3, -2)
    return mixed.reshape(*x.shape[:-1], -1) @ w_o, weights


def attention_backward(queries, keys, values, output_gradient, mask=None):
    root = math.sqrt(queries.shape[-1])
    a = softmax(np.einsum("...id,...jd->...ij", queries, keys) / root, mask)
    da = np.einsum("...id,...jd->...ij", output_gradient, values)
    ds = a * (da - np.einsum("...ij,...ij->...i", a, da)[..., None]) / root
    return (
        np.einsum("...ij,...jd->...id", ds, keys),
        np.einsum("...ij,...id->...jd", ds, queries),
        np.einsum("...ij,...id->...jd", a, output_gradient),
    )


guess_effect = "d"


def deletion_effects(weights, values):
    effects = []
    for j in range(len(weights)):
        left = [i for i in range(len(weights)) if i != j]
        total = math.fsum(weights[left])
        if total == 0:
            raise ValueError('nothing left')
        effects.append(weights[j] * (values[j] - sum((weights[i] / total * values[i] for i in left))))
    return np.array(effects)


def swap_effects(weights, values, replacement):
    effects = np.zeros(values.shape)
    for j, weight in enumerate(weights):
        effects[j] = weight * values[j] - weight * replacement
    return effects


loud_but_idle = (np.array([0.7, 0.1, 0.1, 0.1]), np.array([[2.0, 2.0], [5.0, 2.0], [-1.0, 5.0], [2.0, -1.0]]))
quiet_but_decisive = (np.array([0.2, 0.42, 0.38]), np.array([[10.0, 10.0], [1.0, 0.0], [0.0, 1.0]]))


def length_ratio(weights, values):
    ratios = []
    for row in weights:
        read = values[row > 0]
        longest = max((math.sqrt(value @ value) for value in read), default=0.0)
        mixed = row @ values
        ratios.append(math.sqrt(mixed @ mixed) / longest if longest else 0.0)
    return np.array(ratios)


def difference_head(width):
    w_v, w_o = (np.zeros((width, 2 * width)), np.zeros((2 * width, width)))
    for i in range(width):
        w_v[i, width - 1 - i], w_o[width - 1 - i, i] = (2.0, 0.5)
        w_v[i, width + i], w_o[width + i, i] = (-1.0, 1.0)
    return (w_v, w_o)


def symmetry_table(layers, x, trials=20, seed=0):
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


def learning_curve(train_set, test_set, sizes, pooled, ridge=0.1):

    def collect(tokens):
        return np.einsum('epd->ed', tokens) / tokens.shape[1] if pooled else np.array([e.flatten() for e in tokens])
    accuracies = []
    for n in sizes:
        u, s, vt = np.linalg.svd(collect(train_set[0][:n]) / np.sqrt(n), full_matrices=False)
        w = vt.T @ (s / (s ** 2 + ridge) * (u.T @ (train_set[1][:n] / np.sqrt(n))))
        accuracies.append(float(((collect(test_set[0]) @ w > 0) == (test_set[1] > 0)).mean()))
    return np.array(accuracies)


def examples_needed(sizes, accuracies, level):
    reached = [at for at, accuracy in enumerate(accuracies) if accuracy >= level]
    if not reached:
        return None
    at = reached[0]
    if at == 0:
        return float(sizes[0])
    pair = slice(at - 1, at + 1)
    return float(np.exp(np.interp(level, np.asarray(accuracies[pair], float), np.log(np.asarray(sizes[pair], float)))))


unet = "b"
must_outperform = "c"
ceiling = "c"
eight = "b"


def layer_norm_backward(x, gain, upstream, eps=1e-5):
    width = x.shape[-1]
    centred = x - x.mean(-1, keepdims=True)
    spread = np.einsum("...d,...d->...", centred, centred)[..., None] / width + eps
    inner = upstream * gain
    along = np.einsum("...d,...d->...", inner, centred)[..., None] / width / spread
    by_x = (inner - inner.mean(-1, keepdims=True) - centred * along) / np.sqrt(spread)
    leading = tuple(range(x.ndim - 1))
    return by_x, (upstream * centred / np.sqrt(spread)).sum(leading), upstream.sum(leading)


def gelu_backward(x, upstream):
    u = np.sqrt(2 / np.pi) * (x + 0.044715 * x ** 3)
    share = 0.5 * (1 + np.tanh(u))
    inner = np.sqrt(8 / np.pi) * (1 + 0.134145 * x ** 2)
    return upstream * (share + x * share * (1 - share) * inner)


def lm_forward(model, positions, tokens):
    hot = np.eye(len(model['embed']))[tokens]
    x = hot @ model['embed'] + positions[None, :tokens.shape[1]]
    later = np.triu(np.full((tokens.shape[1],) * 2, -np.inf), 1)
    tables = []
    for block in model['blocks']:
        y = layer_norm(x, block['gain_1'], block['shift_1'])
        scores = np.einsum('bid,dk,ek,bje->bij', y, block['w_q'], block['w_k'], y, optimize=True) / np.sqrt(x.shape[-1])
        scores = scores + later
        table = np.exp(scores - scores.max(-1, keepdims=True))
        table = table / table.sum(-1, keepdims=True)
        x = x + np.einsum('bij,bjd,de->bie', table, y, block['w_v'] @ block['w_o'], optimize=True)
        y = layer_norm(x, block['gain_2'], block['shift_2']) @ block['w_1'] + block['b_1']
        y = y / (1 + np.exp(-np.sqrt(8 / np.pi) * (y + 0.044715 * y ** 3)))
        x = x + (y @ block['w_2'] + block['b_2'])
        tables.append(table)
    return (layer_norm(x, model['gain'], model['shift']) @ model['unembed'], tuple(tables))


def lm_gradients(model, positions, tokens, targets, counted):
    n = tokens.shape[1]
    hot = np.eye(len(model['embed']))[tokens]
    x, kept = (hot @ model['embed'] + positions[:n], [])
    c = np.sqrt(2 / np.pi)
    future = np.triu(np.ones((n, n), dtype=bool), 1)
    for block in model['blocks']:
        y = layer_norm(x, block['gain_1'], block['shift_1'])
        q, k, v = (y @ block['w_q'], y @ block['w_k'], y @ block['w_v'])
        scores = np.where(future, -np.inf, np.einsum('bid,bjd->bij', q, k) / np.sqrt(q.shape[-1]))
        a = np.exp(scores - scores.max(-1, keepdims=True))
        a = a / a.sum(-1, keepdims=True)
        mixed = np.einsum('bij,bjd->bid', a, v)
        middle = x + mixed @ block['w_o']
        z = layer_norm(middle, block['gain_2'], block['shift_2'])
        h = z @ block['w_1'] + block['b_1']
        t = np.tanh(c * (h + 0.044715 * h ** 3))
        kept.append((x, y, q, k, v, a, mixed, middle, z, h, t))
        x = middle + 0.5 * h * (1 + t) @ block['w_2'] + block['b_2']
    final = layer_norm(x, model['gain'], model['shift'])
    logits = final @ model['unembed']
    shifted = logits - logits.max(-1, keepdims=True)
    logarithms = shifted - np.log(np.exp(shifted).sum(-1, keepdims=True))
    wanted = np.eye(logits.shape[-1])[targets] * counted[..., None] / counted.sum()
    slope = np.exp(logarithms) * (counted[..., None] / counted.sum()) - wanted
    result = {'unembed': np.einsum('bnd,bnv->dv', final, slope)}
    dx, result['gain'], result['shift'] = layer_norm_backward(x, model['gain'], slope @ model['unembed'].T)
    blocks = []
    for block, (x, y, q, k, v, a, mixed, middle, z, h, t) in zip(reversed(model['blocks']), reversed(kept), strict=True):
        own = {'w_2': np.einsum('bnf,bnd->fd', 0.5 * h * (1 + t), dx), 'b_2': np.einsum('bnd->d', dx)}
        dh = dx @ block['w_2'].T * (0.5 * (1 + t) + 0.5 * h * (1 - t ** 2) * c * (1 + 0.134145 * h ** 2))
        own['w_1'], own['b_1'] = (np.einsum('bnd,bnf->df', z, dh), np.einsum('bnf->f', dh))
        dm, own['gain_2'], own['shift_2'] = layer_norm_backward(middle, block['gain_2'], dh @ block['w_1'].T)
        dx = dx + dm
        own['w_o'] = np.einsum('bnd,bne->de', mixed, dx)
        dmix = dx @ block['w_o'].T
        da = np.einsum('bid,bjd->bij', dmix, v)
        ds = a * (da - (a * da).sum(-1, keepdims=True)) / np.sqrt(q.shape[-1])
        dq, dk, dv = (np.einsum('bij,bjd->bid', ds, k), np.einsum('bij,bid->bjd', ds, q), np.einsum('bij,bid->bjd', a, dmix))
        dy = 0.0
        for name, part in (('w_q', dq), ('w_k', dk), ('w_v', dv)):
            own[name] = np.einsum('bnd,bne->de', y, part)
            dy = dy + part @ block[name].T
        dn, own['gain_1'], own['shift_1'] = layer_norm_backward(x, block['gain_1'], dy)
        dx = dx + dn
        blocks.insert(0, own)
    result['embed'] = np.einsum('bnv,bnd->vd', hot, dx)
    result['blocks'] = blocks
    return (-(wanted * logarithms).sum(), result)


def train_lm(model, positions, batches, rates):

    def flat(part):
        if isinstance(part, dict):
            return np.concatenate([flat(part[name]) for name in sorted(part)])
        return np.concatenate([flat(value) for value in part]) if isinstance(part, list) else np.ravel(part)

    def rebuilt(part, numbers):
        if isinstance(part, dict):
            return {name: rebuilt(part[name], numbers) for name in sorted(part)}
        if isinstance(part, list):
            return [rebuilt(value, numbers) for value in part]
        taken = numbers[:part.size].reshape(part.shape).copy()
        numbers[:] = np.roll(numbers, -part.size)
        return taken
    vector, losses = (flat(model), [])
    m = v = np.zeros_like(vector)
    for i, rate in enumerate(rates):
        loss, slopes = lm_gradients(rebuilt(model, vector.copy()), positions, *(part[i] for part in batches))
        losses.append(loss)
        g = flat(slopes)
        m, v = (m + 0.1 * (g - m), v + 0.001 * (g ** 2 - v))
        vector = vector - rate * (m / (1 - 0.9 ** (i + 1))) / ((v / (1 - 0.999 ** (i + 1))) ** 0.5 + 1e-08)
    return (rebuilt(model, vector.copy()), np.array(losses))


def induction_mass(weights, tokens, counted):
    sums = []
    for i, t in zip(*np.nonzero(counted), strict=True):
        places = [j for j in range(1, t + 1) if tokens[i, j - 1] == tokens[i, t]]
        sums.append(weights[i, t, places].sum())
    return np.mean(sums)


def previous_mass(weights, periods):
    total = number = 0
    for table, period in zip(weights, periods, strict=True):
        for t in range(1, period + 1):
            total, number = (total + table[t, t - 1], number + 1)
    return total / number


def map_figure(weights, labels):
    figure, axes = plt.subplots()
    mesh = axes.pcolormesh(weights, cmap='binary', vmin=0.0, vmax=1.0)
    axes.invert_yaxis()
    middles = np.arange(len(labels)) + 0.5
    axes.set_xticks(middles, labels)
    axes.set_yticks(middles, labels)
    axes.set(xlabel='read', ylabel='reads')
    figure.colorbar(mesh, ax=axes).set_label('weight')
    return figure


guess_swap = "c"


def swap_experiment(forward, tokens, places, replacements, controls):
    b = len(tokens)
    logits, tables = forward(tokens)
    old = np.take_along_axis(logits, places[:, None, None], axis=1)[:, 0].argmax(1)
    read = np.take_along_axis(tables[-1], places[:, None, None], axis=1)[:, 0].argmax(1)
    new = []
    for spot in (read, read - 1, controls):
        here = np.arange(tokens.shape[1]) == spot[:, None]
        answer = forward(np.where(here, replacements[:, None], tokens))[0]
        new.append(answer[np.arange(b), places].argmax(1))
    return (sum(new[0] == replacements) / b, 1 - sum(new[1] == old) / b, sum(new[2] == old) / b)


def faithfulness(weights, effects, resamples):

    def rank(numbers):
        _, place, count = np.unique(numbers, return_inverse=True, return_counts=True)
        ends = np.cumsum(count)
        return (ends - (count - 1) / 2)[place]
    scores = []
    for row in [np.arange(len(weights)), *resamples]:
        pair = (rank(weights[row]), rank(abs(effects)[row]))
        spreads = (pair[0].std(), pair[1].std())
        flat = len(set(pair[0])) == 1 or len(set(pair[1])) == 1
        centred = ((pair[0] - pair[0].mean()) * (pair[1] - pair[1].mean())).mean()
        scores.append(np.nan if flat else centred / (spreads[0] * spreads[1]))
    rows = np.array(scores[1:])
    rows = rows[~np.isnan(rows)]
    return (scores[0], *np.percentile(rows, [2.5, 97.5]))


def is_broken(attention):
    rng = np.random.default_rng(2)
    for trial in range(16):
        ahead = ((), (2,), (2, 2))[trial % 3]
        m, n, d, v = rng.integers(2, 7, size=4)
        q, k, values = (rng.normal(size=(*ahead, m, d)), rng.normal(size=(*ahead, n, d)), rng.normal(size=(*ahead, n, v)))
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
            if not np.allclose(weights[place], right, rtol=0, atol=1e-10) or not np.allclose(output[place], expected, rtol=0, atol=1e-09):
                return True
    return False


conclusion = """
The map says that layer 1 looks one to the left. It does not say that the answer needs this. My swaps do. When I replace the note
that layer 2 reads, the prediction follows in all melodies. When I replace the note before it, which layer 2 hardly reads, four
of five right predictions are lost, and after the control all are still there. So the previous note matters, but not because it
has a large weight in layer 1 everywhere: it matters at the one place that layer 2 will look for. At all other places I can
change it and nothing happens. The experiment that decides the claim is therefore the swap at r - 1 beside a swap of another
previous note, the control.
The model trained on ten notes has the same score, on ten notes. The score does not tell whether it recognises the note or counts
ten places back. Melodies of seven notes tell: there my first model is right and this one is not.
"""
