"""What your functions show, once they work: one picture for each question. Each runs in a few seconds.

The pictures of the melody model use a model that your own functions train, in fewer steps than section 10 and only once.
"""

import matplotlib.pyplot as plt
import numpy as np

# Okabe and Ito's palette: distinguishable with every common form of colour blindness. Lines differ in style as well.
BLUE, ORANGE, GREEN, RED, GREY = "#0072B2", "#E69F00", "#009E73", "#D55E00", "#6E6E6E"
NAMES = "abcdefghijklmnop"
_kept = {}


def _trained(work, steps=300, shortest=4):
    """A model that the student's functions train on melodies of `shortest` to ten notes, with its losses; kept for later."""
    key = steps, shortest, work.train_lm, work.lm_gradients
    if key not in _kept:
        if len(_kept) > 2:
            _kept.clear()
        rates = np.linspace(5e-3, 2.5e-4, steps)
        batches = work.melodies((steps, 32), 2, shortest)[:3]
        _kept[key] = work.train_lm(work.new_model(1), _positions(work), batches, rates)
    return _kept[key]


def _positions(work):
    return work.sinusoids(work.LENGTH, 32)


def _tables(work, model, tokens):
    return work.lm_forward(model, _positions(work), tokens)[1]


def _melody(work, period=8):
    seed = next(s for s in range(100) if work.melodies((1,), s)[3][0] == period)
    return work.melodies((1,), seed)


def deletion(work):
    """Weight against effect for the items of 40 random averages, with your functions.

    Above each weight there is a whole range of effects: the weight sets a scale, and the
    values decide.
    """
    rng = np.random.default_rng(3)
    loud, moved = [], []
    for _ in range(40):
        w, v = rng.dirichlet(np.full(6, 0.5)), rng.normal(size=(6, 2))
        loud.extend(w)
        moved.extend(np.linalg.norm(work.deletion_effects(w, v), axis=1))
    figure, axes = plt.subplots(figsize=(6, 3.4), layout="constrained")
    axes.plot(loud, moved, "o", color=BLUE, markersize=3)
    guess = work.guess_effect
    axes.set_title("" if guess is None else f"you predicted {guess}", fontsize=9)
    axes.set_xlabel("weight of the item")
    axes.set_ylabel("effect of deleting it")
    return figure


def cases(work):
    """Your two cases: weights beside effects."""
    if work.loud_but_idle is None or work.quiet_but_decisive is None:
        raise NotImplementedError("not done yet")
    figure, panels = plt.subplots(1, 2, figsize=(8, 3.2), layout="constrained")
    for axes, (name, (w, v)) in zip(
        panels, (("loud but idle", work.loud_but_idle), ("quiet but decisive", work.quiet_but_decisive)), strict=True
    ):
        w, v = np.asarray(w, dtype=float), np.asarray(v, dtype=float)
        effect = np.linalg.norm(work.deletion_effects(w, v), axis=1)
        places = np.array(range(w.size))
        axes.bar(places - 0.2, w, 0.4, color=BLUE, edgecolor="black", label="weight")
        axes.bar(
            places + 0.2, effect / effect.max(), 0.4, color=ORANGE, edgecolor="black", hatch="//", label="effect, relative"
        )
        axes.set_xticks(places)
        axes.set_xlabel("item")
        axes.set_title(name)
    panels[0].legend(fontsize=8)
    return figure


def leaving(work):
    """Two values, the segment that an average can reach, and what your two heads reach."""
    x = np.array([[2.0, 0.5], [0.5, 1.5]])
    w_v, w_o = work.difference_head(2)
    both = x @ w_v
    reached = np.concatenate([both[0, :2], both[1, 2:]]) @ w_o
    figure, axes = plt.subplots(figsize=(5, 3.6), layout="constrained")
    axes.plot(*x.T, "o-", color=BLUE, label="two values, and their averages")
    axes.plot(*reached, "s", color=RED, label="your two heads")
    axes.axhline(0, color=GREY, linewidth=0.5)
    axes.axvline(0, color=GREY, linewidth=0.5)
    axes.set_aspect("equal")
    ratio = work.length_ratio(np.array([[0.5, 0.5]]), x)[0]
    axes.set_title(f"the mean is {ratio:.2f} times as long as the longer value", fontsize=9)
    figure.legend(fontsize=8, loc="outside lower center")
    return figure


def architectures(work):
    """The symmetries of five layers, found by your experiment. Dark means that it commutes."""
    rng = np.random.default_rng(1)
    x, mix = rng.normal(size=(8, 4)), rng.normal(size=(8, 8))
    layers = {
        "tokenwise": np.tanh,
        "attention": lambda t: work.softmax(t @ t.T) @ t,
        "convolution": lambda t: t - 0.5 * np.roll(t, 1, axis=0),
        "U-Net, one level": lambda t: t + np.repeat(np.tanh(t[::2] + t[1::2]), 2, axis=0),
        "dense": lambda t: mix @ t,
    }
    table = work.symmetry_table(list(layers.values()), x)
    figure, axes = plt.subplots(figsize=(5, 3.4), layout="constrained")
    axes.imshow(table, cmap="Greys", vmin=0, vmax=2, aspect="auto")
    for (row, column), holds in np.ndenumerate(table):
        axes.text(column, row, "yes" if holds else "no", ha="center", va="center")
    axes.set_xticks(range(3), ["shift by 1", "shift by 2", "any order"])
    axes.set_yticks(range(len(layers)), list(layers))
    return figure


def curves(work):
    """Four of your learning curves, for two tasks and two models; each is the mean of six draws.

    Where the assumption is true it saves examples. Where it is false it sets a ceiling.
    """
    rng = np.random.default_rng(4)
    sizes = [32, 64, 128, 256, 512, 1024, 2048]
    figure, panels = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained", sharey=True)
    for axes, task in zip(panels, ("sign of the sum", "sign at place 0"), strict=True):
        draws = []
        for _ in range(6):
            sets = []
            for count in (2048, 1000):
                tokens = rng.normal(size=(count, 8, 16))
                score = tokens[:, :, 0].sum(axis=1) if task == "sign of the sum" else tokens[:, 0, 0]
                sets.append((tokens, np.where(score > 0, 1.0, -1.0)))
            draws.append(sets)
        for pooled, style, color in ((True, "o-", BLUE), (False, "s--", RED)):
            curve = np.mean([work.learning_curve(*sets, sizes, pooled) for sets in draws], axis=0)
            needed = work.examples_needed(sizes, list(curve), 0.9)
            label = ("pooled" if pooled else "flat") + (": never .9" if needed is None else f": .9 at {needed:.0f}")
            axes.semilogx(sizes, curve, style, color=color, label=label)
        axes.set_title(task)
        axes.set_xlabel("training examples")
        axes.legend(fontsize=8)
    panels[0].set_ylabel("test accuracy")
    return figure


def backward_parts(work):
    """Your GELU slope, and the slope by small steps: one curve if they agree."""
    x = np.linspace(-4.0, 4.0, 161)
    yours = work.gelu_backward(x, np.ones_like(x))
    steps = (work.gelu(x + 1e-5) - work.gelu(x - 1e-5)) / 2e-5
    figure, axes = plt.subplots(figsize=(6, 3.4), layout="constrained")
    axes.plot(x, yours, color=BLUE, linewidth=4, alpha=0.5, label="yours")
    axes.plot(x, steps, "k--", linewidth=1, label="small steps")
    axes.set_xlabel("x")
    axes.set_ylabel("slope of GELU")
    axes.legend()
    return figure


def model(work):
    """The two tables of your model before training: nearly even, and different."""
    tokens, _, _, _ = _melody(work)
    tables = _tables(work, work.new_model(1), tokens)
    return _two_maps(tables, tokens[0])


def _two_maps(tables, notes):
    figure, panels = plt.subplots(1, 2, figsize=(9, 4.4), layout="constrained")
    for number, (axes, table) in enumerate(zip(panels, tables, strict=True), start=1):
        _map(axes, table[0], notes, f"layer {number}")
    return figure


def _map(axes, table, notes, title):
    axes.imshow(table, cmap="Greys", vmin=0, vmax=1)
    axes.set_xticks(range(len(notes)), [NAMES[note] for note in notes], fontsize=7)
    axes.set_yticks(range(len(notes)), [NAMES[note] for note in notes], fontsize=7)
    axes.set_title(title)
    axes.set_xlabel("read")
    axes.set_ylabel("reads")


def gradients(work):
    """Your gradient against small steps, along a random direction of the embedding, for steps from 0.1 to 1e-10.

    A right gradient gives a V. A wrong one gives a flat line.
    """
    rng = np.random.default_rng(6)
    start, places = work.new_model(2, width=8, hidden=8), work.sinusoids(work.LENGTH, 8)
    tokens, targets, counted, _ = work.melodies((2,), 5)
    toward = rng.normal(size=start["embed"].shape)
    slope = np.sum(work.lm_gradients(start, places, tokens, targets, counted)[1]["embed"] * toward)
    sizes = 10.0 ** -np.arange(1, 11)

    def loss(step):
        moved = {**start, "embed": start["embed"] + step * toward}
        return work.lm_gradients(moved, places, tokens, targets, counted)[0]

    gaps = [abs((loss(h) - loss(-h)) / (2 * h) - slope) for h in sizes]
    figure, axes = plt.subplots(figsize=(6, 3.4), layout="constrained")
    axes.loglog(sizes, np.maximum(gaps, 1e-16), "o-", color=BLUE)
    axes.set_xlabel("step h")
    axes.set_ylabel("difference from your gradient")
    return figure


def train(work):
    """Three hundred of your training steps, and what the model then makes of a melody.

    The title shows greedy decoding: the model hears one round and a note, and goes on by itself.
    """
    tuned, falling = _trained(work)
    tokens, _, _, periods = _melody(work)
    told = _continued(work, tuned, tokens[0, : periods[0] + 1])
    right = sum(a == b for a, b in zip(told, tokens[0], strict=True))
    figure, axes = plt.subplots(figsize=(7, 3.8), layout="constrained")
    axes.semilogy(falling, color=BLUE)
    axes.set_xlabel("step")
    axes.set_ylabel("loss")
    axes.set_title(f"{_size(work, tuned)}\n{_sung(told, periods[0] + 1)} ({right} of {work.LENGTH} notes right)", fontsize=9)
    return figure


def _continued(work, tuned, heard):
    """Greedy decoding: the notes heard, and after them the model's most probable notes, one at a time."""
    told = [int(note) for note in heard]
    while len(told) < work.LENGTH:
        scores, _ = work.lm_forward(tuned, _positions(work), np.array([told]))
        told.append(int(scores[0, -1].argmax()))
    return told


def _sung(told, heard):
    spelt = "".join(NAMES[note] for note in told)
    return f"heard {spelt[:heard]}, goes on {spelt[heard:]}"


def _size(work, tuned):
    numbers = sum(np.size(part) for part in _leaves(tuned))
    return f"{numbers} numbers, {_operations(work)} multiplications and additions per melody"


def _leaves(part):
    """All arrays of a model."""
    if isinstance(part, dict):
        return [leaf for value in part.values() for leaf in _leaves(value)]
    return [leaf for value in part for leaf in _leaves(value)] if isinstance(part, list) else [part]


def _operations(work, width=32, hidden=64, layers=2):
    """Matrix products of one forward pass over one melody; two operations for a product and its sum."""
    length, notes = work.LENGTH, work.NOTES
    block = 8 * length * width**2 + 4 * length**2 * width + 4 * length * width * hidden
    return layers * block + 2 * length * width * notes


def maps(work):
    """Both layers of a model that your functions trained, on one melody of eight notes.

    Layer 1 looks one to the left, as long as a melody can still be new. Layer 2 looks behind
    the places where it met this note before.
    """
    tokens, _, counted, periods = _melody(work)
    tables = _tables(work, _trained(work)[0], tokens)
    figure = _two_maps(tables, tokens[0])
    induction, previous = work.induction_mass(tables[1], tokens, counted), work.previous_mass(tables[0], periods)
    figure.suptitle(f"previous mass {previous:.2f}, induction mass {induction:.2f}")
    return figure


def _swap_shares(work, tuned, count=200):
    """The three shares for many melodies, each at the third place of its second round; the control is the first note."""
    rng = np.random.default_rng(9)
    tokens, _, _, periods = work.melodies((count,), 11)
    fresh = np.array([rng.choice(np.setdiff1d(np.arange(work.NOTES), row)) for row in tokens])

    def listen(notes):
        return work.lm_forward(tuned, _positions(work), notes)

    return work.swap_experiment(listen, tokens, periods + 2, fresh, np.zeros(count, dtype=int))


def _forced(work, tuned, tokens, change):
    """The probabilities of a model in which layer k reads change(k, table) in place of its own table, for k = 1 and 2."""
    space, layer = work.lm_forward.__globals__, 0
    own = work.multi_head_attention

    def reads_otherwise(x, w_q, w_k, w_v, w_o, heads, mask=None):
        nonlocal layer
        layer += 1
        read = change(layer, own(x, w_q, w_k, w_v, w_o, heads, mask)[1][:, 0])
        return read @ x @ (w_v @ w_o), read[:, None]

    space["multi_head_attention"] = reads_otherwise
    try:
        scores = work.lm_forward(tuned, _positions(work), tokens)[0]
    finally:
        space["multi_head_attention"] = own
    if layer == 0:
        raise NotImplementedError("`lm_forward` does not call `multi_head_attention`, so its tables cannot be changed")
    return work.softmax(scores)


def _accuracies_with_forced_tables(work, tuned):
    """The share of right predictions with the model's own tables, and with tables of ours in one layer."""
    tokens, targets, counted, _ = work.melodies((200,), 12)
    places = np.arange(work.LENGTH)
    even = np.tri(work.LENGTH) / (places + 1)[:, None]
    previous = np.eye(work.LENGTH, k=-1) + (places == 0) * (places == 0)[:, None]
    wanted = np.zeros((len(tokens), work.LENGTH, work.LENGTH))
    wanted[:, :, 1:] = (tokens[:, :, None] == tokens[:, None, :-1]) * np.tri(work.LENGTH)[:, 1:]
    following = wanted / np.maximum(wanted.sum(axis=2, keepdims=True), 1)
    forced = {
        "its own": None,
        "layer 1\neven": (1, even),
        "layer 1\nprevious": (1, previous),
        "layer 2\neven": (2, even),
        "layer 2\nfollowing": (2, following),
    }
    found = {}
    for name, choice in forced.items():

        def change(layer, table, choice=choice):
            return np.broadcast_to(choice[1], table.shape) if choice and choice[0] == layer else table

        right = _forced(work, tuned, tokens, change).argmax(axis=-1) == targets
        found[name] = right[counted].mean()
    return found


def intervene(work):
    """Two kinds of intervention on the model that your functions trained.

    Left, your swaps. The prediction follows the note that is read. The note before it has hardly
    any weight, and decides as well. Another note does not matter.
    Right, tables put in by force. Even weights ruin either layer. "Previous" in layer 1 keeps most
    of the right predictions, and "following" in layer 2 keeps all of them.
    """
    tuned, _ = _trained(work)
    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 3.8), layout="constrained")
    _bars(left, _swap_shares(work, tuned))
    guess = {"a": 0.0, "b": 0.5, "c": 0.8, "d": 1.0}.get(work.guess_swap)
    if guess is not None:
        left.plot([1], [guess], "kx", markersize=10, label="you predicted")
        left.legend()
    found = _accuracies_with_forced_tables(work, tuned)
    right.bar(list(found), list(found.values()), color=[GREY, *[BLUE] * 2, *[ORANGE] * 2], edgecolor="black")
    right.set_ylim(0, 1.05)
    right.set_ylabel("share of right predictions")
    right.set_title("with tables put in by force", fontsize=9)
    return figure


def _bars(axes, shares):
    labels = ["note read most:\nfollowed", "note before it:\nbroken", "another note:\nstill right"]
    axes.bar(labels, shares, color=[BLUE, RED, GREEN], edgecolor="black")
    axes.set_ylim(0, 1.05)
    axes.set_ylabel("share of melodies")


def _deletions(work, tuned, layer, count=300):
    """Delete one item of one row in each of many melodies: its weight, and how far the probability of the right note falls.

    In layer 2 it is the row of the place that predicts, in layer 1 any row up to it. Half of the items are drawn by weight.
    """
    rng = np.random.default_rng(13)
    tokens, targets, _, periods = work.melodies((count,), 14)
    every, places = np.arange(count), rng.integers(periods, work.LENGTH)
    rows = places if layer == 2 else rng.integers(1, places + 1)
    table = _tables(work, tuned, tokens)[layer - 1][every, rows]
    by_weight = (table.cumsum(axis=1) < rng.random((count, 1))).sum(axis=1)
    items = np.minimum(np.where(every % 2, by_weight, rng.integers(rows + 1)), rows)

    def delete(number, tables):
        if number != layer:
            return tables
        left = tables.copy()
        left[every, rows, items] = 0
        left[every, rows] /= np.maximum(left[every, rows].sum(axis=1, keepdims=True), 1e-300)
        return left

    before, after = (
        _forced(work, tuned, tokens, change)[every, places, targets[every, places]]
        for change in (lambda number, tables: tables, delete)
    )
    return table[every, items], before - after


def faithfulness(work):
    """Weight against effect in both layers of the model that your functions trained: your score, and its interval.

    Each point is one deleted item. Above is the score of all items, below that of the loud ones alone.
    """
    tuned, _ = _trained(work)
    figure, panels = plt.subplots(1, 2, figsize=(9, 3.8), layout="constrained", sharey=True)
    for layer, axes in enumerate(panels, start=1):
        w, moved = _deletions(work, tuned, layer)
        lines = []
        for name, chosen in (("all items", w >= 0), ("weight over .5", w > 0.5)):
            picks = np.random.default_rng(8).integers(chosen.sum(), size=(100, chosen.sum()))
            score, low, high = work.faithfulness(w[chosen], moved[chosen], picks)
            lines.append(f"{name}: {score:.2f} ({low:.2f} to {high:.2f})")
        axes.plot(w, moved, "o", color=BLUE, markersize=3, alpha=0.6)
        axes.axvline(0.5, color=GREY, linewidth=0.5)
        axes.set_xlabel("weight of the deleted item")
        axes.set_title(f"layer {layer}\n" + "\n".join(lines), fontsize=9)
    panels[0].set_ylabel("probability lost")
    return figure


def bug_museum(work):
    """What your checker says of a right attention and of three broken ones."""

    def layer(q, k, v, mask, power=0.5):
        a = work.softmax(q @ np.swapaxes(k, -1, -2) / q.shape[-1] ** power, mask)
        return a @ v, a

    exhibits = {
        "right": layer,
        "divides by d": lambda q, k, v, mask: layer(q, k, v, mask, 1.0),
        "ignores its mask": lambda q, k, v, mask: layer(q, k, v, np.ones_like(mask)),
        "off by a millionth": lambda q, k, v, mask: (layer(q, k, v, mask)[0] + 1e-6, layer(q, k, v, mask)[1]),
    }
    figure, axes = plt.subplots(figsize=(6, 2.6), layout="constrained")
    axes.axis("off")
    for row, (name, exhibit) in enumerate(exhibits.items()):
        axes.text(0.0, 0.9 - 0.25 * row, name, fontsize=11)
        axes.text(0.6, 0.9 - 0.25 * row, "broken" if work.is_broken(exhibit) else "right", fontsize=11)
    axes.set_title("exhibit, and what your checker says", loc="left")
    return figure


def conclusion(work):
    """Right for the wrong reason: your model, and one that your functions train on melodies of ten notes only.

    On ten notes nobody can tell them apart. On five notes the second is often right as well, for ten
    places back the same note stands again. Right, its layer 2 on a melody of seven notes: it reads
    nine places back, whatever stands there.
    """
    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4.2), layout="constrained")
    lengths = range(4, 11)
    for (tuned, _), style, color, label in (
        (_trained(work), "o-", BLUE, "trained on 4 to 10 notes"),
        (_trained(work, shortest=10), "s--", RED, "trained on 10 notes"),
    ):
        shares = []
        for notes in lengths:
            tokens, targets, counted, _ = work.melodies((100,), 15, notes, notes)
            told = work.lm_forward(tuned, _positions(work), tokens)[0].argmax(axis=-1)
            shares.append((told == targets)[counted].mean())
        left.plot(lengths, shares, style, color=color, label=label)
    left.set_ylim(0, 1.05)
    left.set_xlabel("notes in the melody")
    left.set_ylabel("share of right predictions")
    left.legend(fontsize=8, loc="center")
    tokens, _, _, _ = _melody(work, 7)
    _map(right, _tables(work, _trained(work, shortest=10)[0], tokens)[1][0], tokens[0], "trained on 10 notes: layer 2")
    return figure


def souvenir(work):
    """One page to keep: both maps of your model, its loss, and your experiment on it."""
    tuned, falling = _trained(work, 500)
    tokens, _, _, periods = _melody(work)
    told = _continued(work, tuned, tokens[0, : periods[0] + 1])
    both = _tables(work, tuned, tokens)
    figure, panels = plt.subplots(2, 2, figsize=(8.3, 9.2), layout="constrained")
    for number, (axes, table) in enumerate(zip(panels[0], both, strict=True), start=1):
        _map(axes, table[0], tokens[0], ("layer 1: who stood before me?", "layer 2: what came next last time?")[number - 1])
    panels[1, 0].semilogy(falling, color=BLUE)
    panels[1, 0].set_xlabel("step")
    panels[1, 0].set_ylabel("loss")
    _bars(panels[1, 1], _swap_shares(work, tuned))
    panels[1, 1].tick_params(axis="x", labelsize=7)
    figure.suptitle(
        f"A Transformer of my own, written and trained in numpy\n{_size(work, tuned)}\n{_sung(told, periods[0] + 1)}",
        fontsize=11,
    )
    return figure
