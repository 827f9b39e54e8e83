"""What your own functions show: one figure for each question, drawn by your code."""

import itertools
import time
import tracemalloc

import matplotlib.pyplot as plt
import numpy as np

# Colours that a colour-blind reader can tell apart, and that differ in print.
BLUE, ORANGE, GREEN, GREY = "#0072b2", "#d55e00", "#009e73", "#7f7f7f"


def _race_arguments(length):
    rng = np.random.default_rng(length)
    return tuple(rng.normal(size=(length, 64)) for _ in range(3))


# `python -m autograder.kit.race ps5` lets these run beside each other on your machine; nothing of it is graded.
RACE = {
    "names": ("plain_attention", "blocked_attention"),
    "sizes": (256, 512, 1024, 2048, 4096),
    "arguments": _race_arguments,
}


def _axes(title, xlabel, ylabel, logarithmic=False):
    figure, axes = plt.subplots(figsize=(6.4, 4.0), layout="constrained")
    axes.set(title=title, xlabel=xlabel, ylabel=ylabel)
    if logarithmic:
        axes.set(xscale="log", yscale="log")
    return figure, axes


def _best_time(function, *arguments, rounds=3):
    """Smallest time of some calls, after one warm-up."""
    function(*arguments)
    times = []
    for _ in range(rounds):
        start = time.perf_counter()
        function(*arguments)
        times.append(time.perf_counter() - start)
    return min(times)


def reach(work):
    """Layers that a convolution needs to cover an offset, by your `layers_to_cover`.

    Attention needs one layer, whatever the offset.
    """
    figure, axes = _axes("How deep must a stack be?", "offset (places)", "layers", logarithmic=True)
    offsets = [2**power for power in range(1, 13)]
    for centred, colour, style, label in (
        (False, BLUE, "o-", "kernel 5, one-sided"),
        (True, ORANGE, "s--", "kernel 5, centred"),
    ):
        layers = [work.layers_to_cover(offset, 5, centred) for offset in offsets]
        axes.plot(offsets, layers, style, color=colour, label=label, markersize=4)
    axes.axhline(1, color=GREEN, linestyle="-.", label="attention")
    axes.legend()
    return figure


def cost(work):
    """Bytes of one head by your `attention_bytes`: with the whole table, and with 256 of its rows at a time."""
    title = "What one head holds"
    if work.guess_context is not None:
        title += f" (you predicted {work.guess_context}; the table grew {131_072**2 // 1024**2} times)"
    figure, axes = _axes(title, "length (tokens)", "bytes", logarithmic=True)
    axes.title.set_fontsize("medium")
    lengths = [2**power for power in range(7, 18)]
    for rows, colour, style, label in ((None, ORANGE, "s--", "whole table"), (256, BLUE, "o-", "256 rows at a time")):
        held = [work.attention_bytes(length, 64, 2, rows) for length in lengths]
        axes.plot(lengths, held, style, color=colour, label=label)
    for length in (1024, 131_072):
        axes.axvline(length, color=GREY, linewidth=0.8, linestyle=":")
    axes.legend()
    return figure


def model(work):
    """Operations of a model with 32 layers and width 4096, by your `context_cost`, for contexts up to 128k tokens."""
    figure, axes = _axes("Reading a context once", "context (tokens)", "operations in attention", logarithmic=True)
    lengths = [2**power for power in range(8, 18)]
    flops = [work.context_cost(32, 4096, 32, length, 2)[0] for length in lengths]
    axes.plot(lengths, flops, "o-", color=BLUE, label="your count")
    axes.axhline(1e15, color=GREY, linestyle=":", label="one second at 10¹⁵ operations a second")
    axes.legend()
    return figure


def stopwatch(work):
    """Your stopwatch on a real layer of your machine, five times over.

    Five curves that lie on top of each other are five measurements that can be trusted.
    """
    figure, axes = _axes("Your machine, measured five times", "length (tokens)", "seconds", logarithmic=True)
    inputs = [np.ones((length, 64)) / length for length in (64, 128, 256, 512)]
    for run in range(5):
        seconds = work.time_growth(lambda x: work.plain_attention(x, x, x), inputs, time.perf_counter, 5)
        axes.plot([len(x) for x in inputs], seconds, "o-", color=BLUE, alpha=0.5, label="" if run else "your `time_growth`")
    axes.set_xticks([len(x) for x in inputs], [str(len(x)) for x in inputs])
    axes.minorticks_off()
    axes.legend()
    return figure


def growth(work):
    """The exponents of the document's table, by your `local_exponents`. Pure pairs would give 2 everywhere."""
    figure, axes = _axes("How fast did the time grow?", "from one length to the next", "exponent")
    lengths = np.array([64.0, 128, 256, 512, 1024, 2048])
    milliseconds = np.array([0.88, 2.34, 7.36, 33.29, 105.15, 348.42])
    steps = [f"{int(a)} to {int(b)}" for a, b in itertools.pairwise(lengths)]
    axes.bar(steps, work.local_exponents(lengths, milliseconds), color=BLUE, width=0.5)
    axes.axhline(2, color=ORANGE, linestyle="--", label="pure pairs")
    axes.set_ylim(0, 2.7)
    axes.legend(loc="upper left")
    return figure


def patches(work):
    """A picture of numbered pixels, cut up and put together by your functions.

    Each square on the right is one token. If it shows a strip instead of a part of the picture, a transpose is missing.
    """
    height, width, side = 12, 18, 6
    y, x = np.mgrid[:height, :width]
    image = np.sin(x / 3.0) + np.cos(y / 2.0)
    cut = work.patchify(image[:, :, None], side)
    figure, grid = plt.subplots(2, 4, figsize=(7.0, 3.4), layout="constrained")
    grid[0, 0].imshow(image, cmap="cividis", vmin=-2, vmax=2)
    grid[0, 0].set_title("the image", fontsize=9)
    back = work.unpatchify(cut, (height, width, 1), side)[:, :, 0]
    grid[1, 0].imshow(back, cmap="cividis", vmin=-2, vmax=2)
    grid[1, 0].set_title("put together again", fontsize=9)
    for token, axes in enumerate([*grid[0, 1:], *grid[1, 1:]]):
        axes.imshow(cut[token].reshape(side, side), cmap="cividis", vmin=-2, vmax=2)
        axes.set_title(f"token {token}", fontsize=9)
    for axes in grid.ravel():
        axes.set_axis_off()
    return figure


def running(work):
    """One query meets 60 keys, four at a time, in your `absorb`: the output so far, and where plain attention ends."""
    rng = np.random.default_rng(0)
    query, keys, values = rng.normal(size=(1, 8)), 2 * rng.normal(size=(60, 8)), rng.normal(size=(60, 1))
    state = (np.full(1, -np.inf), np.zeros(1), np.zeros((1, 1)))
    outputs, largest = [], []
    for start in range(0, 60, 4):
        state = work.absorb(state, query, keys[start : start + 4], values[start : start + 4])
        outputs.append(float(work.finish(state)[0][0, 0]))
        largest.append(float(state[0][0]))
    figure, axes = _axes("A softmax that is never finished, and always right", "keys seen", "output, largest score")
    seen = np.arange(4, 61, 4)
    axes.plot(seen, outputs, "o-", color=BLUE, label="output so far")
    axes.step(seen, largest, where="mid", color=GREY, label="largest score so far")
    axes.axhline(
        work.plain_attention(query, keys, values)[0, 0], color=ORANGE, linestyle="--", label="plain attention over all keys"
    )
    axes.legend()
    return figure


def blocked(work):
    """A roofline of your machine, with plain attention and your blocked attention on it.

    The slanted part is what memory can feed, the flat part what the processor can multiply. Both layers do the same
    arithmetic; yours moves fewer bytes, and stands further to the right.
    """
    rng = np.random.default_rng(0)
    square, stream = rng.normal(size=(700, 700)), rng.normal(size=8_000_000)
    peak = 2 * 700**3 / _best_time(np.matmul, square, square)
    bandwidth = 3 * stream.nbytes / _best_time(np.add, stream, stream, np.empty_like(stream))
    count, width = 1024, 64
    queries, keys, values = (rng.normal(size=(count, width)) for _ in range(3))
    flops = 4 * count**2 * width
    arrays = 4 * count * width * 8
    figure, axes = _axes("Your machine's roof", "operations per byte", "operations a second", logarithmic=True)
    intensity = np.logspace(-1, 4, 100)
    axes.plot(intensity, np.minimum(peak, bandwidth * intensity), color=GREY, label="the roof, measured just now")
    # The plain table is written and read at every step: scores, maximum, powers, sum, weights, product.
    for label, layer, moved, marker, colour in (
        ("plain attention", work.plain_attention, arrays + 8 * count**2 * 8, "s", ORANGE),
        ("your blocked attention", work.blocked_attention, arrays + count // 256 * 2 * count * width * 8, "o", BLUE),
    ):
        speed = flops / _best_time(layer, queries, keys, values)
        axes.plot(flops / moved, speed, marker, color=colour, markersize=9, label=f"{label}: {speed / 1e9:.1f}·10⁹ a second")
    axes.legend(loc="lower right", fontsize=8)
    return figure


def window(work):
    """What changes in the output of your window attention when one token changes, for windows of 2 and 6."""
    rng = np.random.default_rng(1)
    x = rng.normal(size=(40, 8))
    changed = x.copy()
    changed[20] += 1.0
    figure, axes = _axes("Who hears of token 20?", "position", "change of the output")
    for size, colour, marker in ((2, BLUE, "o"), (6, ORANGE, "s")):
        gap = np.abs(work.window_attention(changed, changed, changed, size) - work.window_attention(x, x, x, size)).max(
            axis=1
        )
        heard = np.flatnonzero(gap)
        style = "none" if size == 2 else "full"
        axes.plot(heard, gap[heard], marker, color=colour, label=f"window {size}", markersize=6, fillstyle=style)
    axes.set(yscale="log", xlim=(-0.5, 39.5))
    axes.legend()
    return figure


def linear(work):
    """Error of your random features against their number, for short and for long queries and keys."""
    rng = np.random.default_rng(2)
    figure, axes = _axes("How many features are enough?", "random features", "mean error of the output", logarithmic=True)
    counts = [16, 64, 256, 1024]
    for scale, colour, style, label in ((0.5, BLUE, "o-", "queries and keys halved"), (1.0, ORANGE, "s--", "as they are")):
        errors = []
        for count in counts:
            total = 0.0
            for _ in range(6):
                drawn = rng.normal(size=(3, 64, 16))
                queries, keys, values = scale * drawn[0], scale * drawn[1], drawn[2]
                directions = rng.normal(size=(count, 16))
                q_features = work.random_features(queries / 2, directions)  # 2 is the fourth root of 16
                k_features = work.random_features(keys / 2, directions)
                total += np.abs(
                    work.linear_attention(q_features, k_features, values) - work.plain_attention(queries, keys, values)
                ).mean()
            errors.append(total / 6)
        axes.plot(counts, errors, style, color=colour, label=label)
    axes.legend()
    return figure


def recurrent(work):
    """Memory that your recurrence holds while it runs, measured as numpy reports it: inputs and output aside, it is flat."""
    rng = np.random.default_rng(3)
    figure, axes = _axes("A state of fixed size", "length (tokens)", "kilobytes held at most")
    lengths = [200, 400, 800, 1600]
    held, tables = [], []
    for length in lengths:
        q, k, values = rng.random(size=(length, 8)), rng.random(size=(length, 8)), rng.normal(size=(length, 8))
        tracemalloc.start()
        work.causal_linear(q, k, values)
        held.append((tracemalloc.get_traced_memory()[1] - values.nbytes) / 1024)
        tracemalloc.stop()
        tables.append(length**2 * 8 / 1024)
    axes.plot(lengths, held, "o-", color=BLUE, label="your recurrence, output aside")
    axes.plot(lengths, tables, "s--", color=ORANGE, label="a table of all pairs")
    axes.set_yscale("log")
    axes.legend()
    return figure


def cache(work):
    """Time to write token after token with your `decode_step`, beside a full pass for each new token."""
    rng = np.random.default_rng(4)
    width, heads, count = 64, 4, 160
    weights = [rng.normal(size=(width, width)) / 8 for _ in range(4)]
    tokens = rng.standard_normal((count, width))
    cached, whole = [], []
    state = (np.zeros((0, width)), np.zeros((0, width)))
    for place in range(count):
        start = time.perf_counter()
        _, state = work.decode_step(tokens[place], state, *weights, heads)
        cached.append(time.perf_counter() - start)
        start = time.perf_counter()
        x = tokens[: place + 1]
        work.plain_attention(x @ weights[0], x @ weights[1], x @ weights[2]) @ weights[3]
        whole.append(time.perf_counter() - start)
    figure, axes = _axes("What one more token costs", "tokens so far", "seconds in all")
    axes.plot(np.cumsum(whole), color=ORANGE, linestyle="--", label="a full pass for every token")
    axes.plot(np.cumsum(cached), color=BLUE, label="your cache")
    axes.legend()
    return figure
