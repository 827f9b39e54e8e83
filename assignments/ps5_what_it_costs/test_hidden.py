"""The tests of problem set 5 that only the grader runs.

Expected values come from formulas written out here or from the reference; a student reads no more than title and hint.
"""

import math
from fractions import Fraction

import numpy as np

from assignments.ps5_what_it_costs.test_public import (
    EXACT,
    FakeMachine,
    attends,
    attention,
    banded,
    causal_heads,
    checked_state,
    counts,
    draw,
    empty,
)
from autograder.testing import array, close, fraction, graded, integer, parts, refuses, require, rounding, same, scalar

# More positions than fit as a table: 12 345 squared, in float64, is 1.2 GB.
LONG = 12_345


def whole_scores(rng, queries, keys, size):
    """Queries and keys of width 4 whose scores are whole numbers up to about `size`: exact in whatever order they are
    summed, so that extreme scores add no rounding of their own.
    """
    edge = math.isqrt(size)
    q = rng.integers(-edge, edge + 1, size=(queries, 4)).astype(float)
    return q, 2.0 * rng.integers(-edge // 4, edge // 4 + 1, size=(keys, 4))


def some_rows(output, expected, rows, width, atol=EXACT):
    """These rows of a long output are right. `expected` gives a row by its number; the whole would take too long."""
    output = array(output, shape=(LONG, width), name=f"output of {LONG} positions")
    for row in rows:
        close(output[row], expected(row), atol=atol, name=f"row {row}")


# --------------------------------------------------------------------------------------------------------------- reach


def measured_reach(kernel, dilations, strides, centred):
    """The largest offset of an input that changes one output, found by following every tap."""
    places = {0}
    for dilation, stride in reversed(list(zip(dilations, strides, strict=True))):
        taps = range(-(kernel // 2), kernel // 2 + 1) if centred else range(-(kernel - 1), 1)
        places = {place * stride + tap * dilation for place in places for tap in taps}
    return max(abs(place) for place in places)


@graded("reach", points=1, hint="Try a stack of two layers on paper, with a stride of 2 in the first.")
def test_reach_is_what_a_changed_input_shows(student, rng):
    """The reach equals the farthest input that can change an output, for stacks of all kinds."""
    for centred in (False, True):
        for depth in (1, 2, 3, 4):
            kernel = int(rng.choice([3, 5] if centred else [1, 2, 3, 4]))
            dilations, strides = (rng.integers(1, 4, size=depth).tolist() for _ in range(2))
            stack = (kernel, dilations, strides, centred)
            counts(student.reach, *stack, expected=measured_reach(*stack))


@graded("reach", points=1, hint="An offset just beyond a multiple needs one more layer; some kernels have no middle.")
def test_depths_are_rounded_up_and_even_kernels_refused(student, rng):
    """The depth is the smallest that is enough, and a centred kernel must be odd."""
    for _ in range(6):
        centred = bool(rng.integers(2))
        kernel = int(2 * rng.integers(1, 5) + 1) if centred else int(rng.integers(2, 9))
        step = (kernel - 1) // 2 if centred else kernel - 1
        layers = int(rng.integers(1, 30))
        for offset, expected in ((layers * step, layers), (layers * step + 1, layers + 1), (0, 0)):
            counts(student.layers_to_cover, offset, kernel, centred, expected=expected)
    refuses(student.layers_to_cover, 5, 4, True, name="layers_to_cover(5, 4, True)", why="4 is even")
    refuses(student.reach, 4, [1], [1], True, name="reach(4, [1], [1], True)", why="4 is even")
    counts(student.reach, 4, [1], [1], False, expected=3)


# ---------------------------------------------------------------------------------------------------------------- cost


@graded("cost", points=1, hint="Python's own integers have no largest one; float64 and int64 do.")
def test_counts_are_exact_at_any_size(student, rng):
    """Counts far beyond 64 bits are exact."""
    length, width = 10**12 + int(rng.integers(10**6)), 10**7 + int(rng.integers(10**6)) * 2 + 1
    counts(student.attention_flops, length, width, expected=6 * length * width**2 + 4 * length**2 * width)
    counts(student.attention_bytes, length, width, 2, expected=2 * (4 * length * width + length**2))
    same(fraction(student.crossover_length(width), name="crossover_length"), Fraction(3 * width, 2), name="crossover_length")


@graded("cost", points=1, hint="The first length is the unit, whatever it is.")
def test_relative_costs_of_other_lengths(student, rng):
    """Other lengths and widths, in any order."""
    for _ in range(3):
        lengths, width = rng.integers(1, 5000, size=5).tolist(), int(rng.integers(1, 300))
        counts = [6 * length * width**2 + 4 * length**2 * width for length in lengths]
        expected = [count / counts[0] for count in counts]
        cost = array(student.relative_cost(lengths, width), shape=(5,), name="relative_cost")
        close(cost, expected, atol=rounding(expected), name="relative_cost")


@graded("cost", points=1, hint="The table's part depends on how many of its rows exist at once.")
def test_bytes_of_rows_and_of_the_whole_table(student, rng, ledger):
    """Some rows, more rows than there are, and the growth of a table alone when the length doubles."""
    length, width, itemsize = int(rng.integers(50, 500)), int(rng.integers(2, 90)), int(rng.choice([2, 4, 8]))
    arrays = 4 * length * width
    for rows, height in ((1, 1), (17, 17), (length, length), (length + 5, length), (None, length)):
        expected = itemsize * (arrays + height * length)
        counts(student.attention_bytes, length, width, itemsize, rows=rows, expected=expected)
    tables = [
        integer(student.attention_bytes(size, width, itemsize), name="attention_bytes") - 4 * size * width * itemsize
        for size in (length, 2 * length)
    ]
    same(tables[1], ledger.value("D3-4", "growth_when_doubled") * tables[0], name="table of twice the length")


# --------------------------------------------------------------------------------------------------------------- model


@graded("model", points=1, hint="Every part scales in its own way: check each of them at layers = 0 and width = 1.")
def test_the_two_larger_models_and_others(student, reference, rng):
    """The two larger published models, and sizes that nobody built."""
    for layers, width, count in ((36, 1280, 774_030_080), (48, 1600, 1_557_611_200)):
        counts(student.transformer_parameters, layers, width, 50257, 1024, expected=count)
    for sizes in ((0, 1, 1, 1), (1, 1, 2, 3), rng.integers(1, 2000, size=4).tolist()):
        counts(student.transformer_parameters, *sizes, expected=reference.transformer_parameters(*sizes))


@graded("model", points=1, hint="Which of the five numbers does each count depend on?")
def test_cost_of_a_long_context(student, rng):
    """A context of 128k tokens, and other sizes."""
    for layers, width, heads, length, itemsize in ((32, 4096, 32, 131_072, 2), rng.integers(1, 500, size=5).tolist()):
        name = f"context_cost({layers}, {width}, {heads}, {length}, {itemsize})"
        flops, tables = parts(student.context_cost(layers, width, heads, length, itemsize), 2, name=name)
        same(integer(flops, name=name), layers * (6 * length * width**2 + 4 * length**2 * width), name=f"{name}[0]")
        same(integer(tables, name=name), heads * length**2 * itemsize, name=f"{name}[1]")


# ----------------------------------------------------------------------------------------------------------- stopwatch


def true_costs(student, rng, lengths, repeats, quiet):
    """A drawn machine of which `time_growth` found the true costs, whatever its repeats were disturbed by."""
    costs = {length: float(rng.uniform(0.001, 0.1)) for length in lengths}
    machine = FakeMachine(costs, rng.uniform(0.1, 1.5, size=50), quiet, repeats + 1)
    inputs = [np.zeros((length, 1)) for length in lengths]
    name = f"time_growth({len(lengths)} inputs, repeats={repeats})"
    seconds = student.once.time_growth(machine.layer, inputs, machine.clock, repeats)
    # The clock's readings stay below 100, and each difference of two is rounded.
    close(array(seconds, shape=(len(lengths),), name=name), list(costs.values()), atol=rounding(100), name=name)
    return machine


@graded("stopwatch", points=1, hint="Only one repeat in many is undisturbed, and nobody knows which.")
def test_the_undisturbed_repeat_is_found(student, rng):
    """Whichever repeat is undisturbed, the smallest time is its."""
    for repeats, quiet in ((7, 1), (7, 7), (4, 2)):
        true_costs(student, rng, [3, 8, 21, 30], repeats, quiet)


@graded("stopwatch", points=1, hint="The docstring says how many calls each input gets, and what repeats = 1 means.")
def test_one_repeat_and_no_more_calls_than_needed(student, rng):
    """A single repeat still follows a warm-up, and the layer is not called more often than the protocol says."""
    for repeats in (1, 4):
        machine = true_costs(student, rng, [5, 6], repeats, quiet=1)
        for length in (5, 6):
            calls = machine.calls.get(length, 0)
            same(calls, repeats + 1, name=f"calls of the layer with {length} tokens and repeats = {repeats}")


# -------------------------------------------------------------------------------------------------------------- growth


@graded("growth", points=1, hint="Each step is compared with its own neighbour, not with the first length.")
def test_exponents_of_the_documents_times(student, ledger, rng):
    """The document's times, and times that were drawn."""
    lengths = np.array(ledger.value("D1-16", "lengths"), dtype=float)
    times = np.array(ledger.value("D1-16", "milliseconds")) / 1000
    squares = np.array(ledger.value("D1-15", "relative"), dtype=float)
    drawn = np.cumsum(rng.integers(1, 50, size=6)).astype(float), rng.uniform(0.1, 9, size=6)
    cases = {"the document's times": (lengths, times), "pure squares": (lengths, squares), "drawn times": drawn}
    for what, (sizes, seconds) in cases.items():
        name = f"local_exponents of {what}"
        exponents = array(student.local_exponents(sizes, seconds), shape=(5,), name=name)
        expected = np.diff(np.log(seconds)) / np.diff(np.log(sizes))
        close(exponents, expected, atol=1e-9 * (1 + np.abs(expected).max()), name=name)
        if seconds is times:
            # The document prints times with two decimals; the ledger's exponent has as many.
            printed = ledger.value("D1-16", "local_exponent_256_to_512")
            close(exponents[2], printed, atol=0.005, name="exponent from 256 to 512")


@graded("growth", points=1, hint="The largest deviation may be one of too little time; what is relative to what?")
def test_worst_deviation_of_the_documents_times(student, ledger, rng):
    """The document's times stay within its ledger's bound of the arithmetic, and drawn ones do not."""
    lengths, width = np.array(ledger.value("D1-16", "lengths")), ledger.value("D1-16", "dimension")
    model = np.array([6 * length * width**2 + 4 * length**2 * width for length in lengths.tolist()], dtype=float)
    # The largest deviation is one of too much time, and one of too little.
    factors = np.ones((2, 6))
    factors[0, rng.integers(1, 6)], factors[1, rng.integers(1, 6)] = rng.uniform(1.5, 2), rng.uniform(0.2, 0.5)
    for seconds in (np.array(ledger.value("D1-16", "milliseconds")) / 1000, *(factors * model / model[0])):
        expected = np.abs(seconds / seconds[0] * model[0] / model - 1).max()
        deviation = scalar(student.worst_deviation(lengths, seconds, width), name="worst_deviation")
        close(deviation, expected, atol=1e-9 * (1 + expected), name="worst_deviation")
    documents = np.array(ledger.value("D1-16", "milliseconds")) / 1000
    deviation = scalar(student.worst_deviation(lengths, documents, width), name="worst_deviation")
    # The ledger gives three digits.
    close(deviation, ledger.value("D1-16", "largest_deviation"), atol=5e-4, name="worst_deviation of the document's times")


# ------------------------------------------------------------------------------------------------------------- patches


def tiles(image, side):
    """The patches of an image, cut out one by one."""
    down, across = image.shape[0] // side, image.shape[1] // side
    cut = [image[i * side : (i + 1) * side, j * side : (j + 1) * side] for i in range(down) for j in range(across)]
    return np.array([tile.ravel() for tile in cut])


@graded("patches", points=1, hint="Keep the channels of a pixel together, and do not assume that images are square.")
def test_patches_pixel_by_pixel(student, rng):
    """Every number of every patch, for images of several shapes with several channels."""
    for shape, side in (((4, 6, 3), 2), ((12, 3, 2), 3), ((5, 5, 1), 5), ((3, 2, 4), 1)):
        image = rng.normal(size=shape)
        patches = tiles(image, side)
        name = f"patchify(image of shape {shape}, {side})"
        same(array(student.patchify(image, side), shape=patches.shape, name=name), patches, name=name)
        name = f"unpatchify(patches, {shape}, {side})"
        same(array(student.unpatchify(patches, shape, side), shape=shape, name=name), image, name=name)


@graded("patches", points=1, hint="Both sides of the image must be multiples; each function refuses what it cannot do.")
def test_what_cannot_be_cut_is_refused(student, ledger, rng):
    """Sides that leave something over raise ValueError in all three functions; counts are exact."""
    for height, width, side in ((6, 8, 4), (8, 6, 4), (5, 5, 2)):
        why = f"{side} does not divide both {height} and {width}"
        refuses(student.patchify, np.zeros((height, width, 1)), side, name="patchify", why=why)
        refuses(student.pair_count, height, width, side, name="pair_count", why=why)
        tokens = (height // side) * (width // side)
        refuses(student.unpatchify, np.zeros((tokens, side * side)), (height, width, 1), side, name="unpatchify", why=why)
    tokens = ledger.value("D1-18", "patches_per_side") ** 2
    same(tokens, ledger.value("D1-18", "patch_tokens"), name="tokens")
    image = rng.normal(size=(32, 48, 1))
    name = "patchify(image of 32 x 48, 16)"
    same(array(student.patchify(image, 16), shape=(6, 256), name=name), tiles(image, 16), name=name)
    down, across, side = rng.integers(1, 60, size=3).tolist()
    counts(student.pair_count, down * side, across * side, side, expected=(down * across) ** 2)


# ------------------------------------------------------------------------------------------------------------- reading


@graded("reading", points=1, hint="Which of the two terms counts at short lengths?")
def test_reading_slower(student, reference):
    """Why the measured times grow more slowly than the square."""
    same(student.value("slower"), reference.slower, name="slower")


@graded("reading", points=1, hint="Your own `local_exponents` of the document's times answers this.")
def test_reading_faster(student, reference):
    """The step that grows faster than the square."""
    same(student.value("faster"), reference.faster, name="faster")


@graded("reading", points=1, hint="One weight per ordered pair.")
def test_reading_doubled(student, reference):
    """Twice the length."""
    same(student.value("doubled"), reference.doubled, name="doubled")


@graded("reading", points=1, hint="A centred kernel of 5 looks two places to each side.")
def test_reading_depth(student, reference):
    """Depth under the other convention."""
    same(student.value("depth"), reference.depth, name="depth")


# ------------------------------------------------------------------------------------------------------------- running


def absorbed(student, state, queries, blocks):
    """The state after these blocks of keys and values, checked and without a warning at each step."""
    width = blocks[0][1].shape[1]
    for keys, values in blocks:
        name = f"absorb(state, queries, {len(keys)} keys, values)"
        state = checked_state(student.absorb(state, queries, keys, values), len(queries), width, name)
        require(not student.warnings, f"{name} must not give a warning")
    return state


def finished(student, state, queries, keys, values):
    """Finishing gives the output of attention to all keys, and the logarithm of its denominators."""
    output, log_sum = parts(student.finish(state), 2, name="finish(...)")
    attends(output, queries, keys, values, name="output")
    scores = queries @ keys.T / math.sqrt(queries.shape[1])
    top = scores.max(axis=1)
    expected = top + np.log(np.exp(scores - top[:, None]).sum(axis=1))
    close(array(log_sum, shape=top.shape, name="log_sum"), expected, atol=EXACT + rounding(expected), name="log_sum")


def same_state(state, other, name):
    for place, (have, want) in enumerate(zip(state, other, strict=True)):
        # Sums of at most a dozen powers of at most one, times values near one.
        close(have, want, atol=EXACT, name=f"{name}[{place}]")


@graded("running", points=1, hint="Cut the keys anywhere, take the pieces in any order: the result may not depend on it.")
def test_any_split_in_any_order(student, rng):
    """Random cuts, absorbed in random order, give the plain layer."""
    for _ in range(3):
        queries, keys, values = draw(rng, (4, 9), (11, 9), (11, 3))
        queries *= 2
        # No block is empty: another test asks for those, and a mistake there must not cost points here under some draws.
        cuts = np.sort(rng.choice(np.arange(1, 11), size=3, replace=False))
        blocks = list(zip(np.split(keys, cuts), np.split(values, cuts), strict=True))
        shuffled = [blocks[place] for place in rng.permutation(len(blocks))]
        finished(student, absorbed(student, empty(4, 3), queries, shuffled), queries, keys, values)


@graded("running", points=1, hint="The docstring of merge promises three laws; try each on paper with two keys.")
def test_merge_obeys_its_laws(student, rng):
    """Merging is commutative and associative, and an empty state changes nothing."""
    queries = 3 * rng.normal(size=(3, 4))
    a, b, c = (absorbed(student, empty(3, 2), queries, [draw(rng, (size, 4), (size, 2))]) for size in (2, 5, 1))

    def merged(first, second):
        return checked_state(student.merge(first, second), 3, 2, "merge(...)")

    same_state(merged(a, b), merged(b, a), "merge(a, b)")
    same_state(merged(merged(a, b), c), merged(a, merged(b, c)), "merge(merge(a, b), c)")
    for state in (a, b):
        same_state(merged(state, empty(3, 2)), state, "merge(a, empty)")
        same_state(merged(empty(3, 2), state), state, "merge(empty, a)")
    same_state(merged(empty(3, 2), empty(3, 2))[1:], empty(3, 2)[1:], "merge(empty, empty)")
    require(not student.warnings, "merging two empty states must not give a warning")


@graded("running", points=1, hint="Large scores of both signs: what is the largest exponent that you ever raise?")
def test_extreme_scores(student, rng):
    """Scores of thousands, of both signs or all far below zero, do no harm."""
    values = rng.normal(size=(9, 2))
    for queries, keys in (whole_scores(rng, 6, 9, 9000), (np.full((6, 4), -450.0), np.ones((9, 4)))):
        blocks = [(keys[part], values[part]) for part in (slice(0, 4), slice(4, 9))]
        finished(student, absorbed(student, empty(6, 2), queries, blocks), queries, keys, values)


@graded("running", points=1, hint="Empty blocks, and queries that never saw a key: the docstrings say what they give.")
def test_empty_blocks_and_empty_states(student, rng):
    """An empty block changes nothing, and a query without keys gets zeros and minus infinity."""
    queries, keys, values = draw(rng, (3, 4), (5, 4), (5, 2))
    nothing = (keys[:0], values[:0])
    output, log_sum = parts(student.finish(absorbed(student, empty(3, 2), queries, [nothing])), 2, name="finish(empty)")
    require(not student.warnings, "finishing an empty state must not give a warning")
    same(array(output, shape=(3, 2), name="output"), np.zeros((3, 2)), name="output of an empty state")
    same(array(log_sum, shape=(3,), name="log_sum", finite=False), np.full(3, -np.inf), name="log_sum of an empty state")
    full = absorbed(student, empty(3, 2), queries, [(keys, values)])
    same_state(absorbed(student, full, queries, [nothing]), full, "absorb(state, nothing)")


# ------------------------------------------------------------------------------------------------------------- blocked


@graded("blocked", points=1, hint="Sizes that do not fit: a last block that is smaller, one query, one key.")
def test_odd_blocks_and_single_tokens(student, rng):
    """Block sizes that divide nothing, single tokens, and other widths of values."""
    for m, n, width, value_width, block in ((13, 17, 4, 5, 6), (1, 8, 3, 2, 4), (8, 1, 3, 2, 4), (1, 1, 1, 1, 1)):
        case = draw(rng, (m, width), (n, width), (n, value_width))
        name = f"blocked_attention({m} queries, {n} keys, block={block})"
        attends(student.blocked_attention(*case, block=block), *case, name=name)
    zeros = (np.zeros((3, 4)), *draw(rng, (5, 4), (5, 2)))
    attends(student.blocked_attention(*zeros, block=2), *zeros, name="blocked_attention(queries of zeros)")


@graded("blocked", points=1, hint="Large scores, also where one block holds the largest one; and more queries than keys.")
def test_blocks_of_extreme_scores(student, rng):
    """Extreme scores, plain and causal, and what causal attention refuses."""
    queries, keys = whole_scores(rng, 12, 12, 9000)
    queries[-1] = [0.01, 0, 0, 0]  # one row of moderate scores, so that a missing scale shows under every draw
    values = rng.normal(size=(12, 3))
    case = (queries, keys, values)
    for causal, allowed in ((False, None), (True, np.tril(np.ones((12, 12))))):
        for block in (5, 12):
            name = f"blocked_attention(extreme scores, block={block}, causal={causal})"
            output = student.blocked_attention(*case, block=block, causal=causal)
            require(not student.warnings, f"{name} gave a warning")
            attends(output, *case, allowed, name=name)
    low = (np.full((3, 4), -450.0), np.ones((5, 4)), values[:5])
    attends(student.blocked_attention(*low, block=2), *low, name="blocked_attention(scores that are all -900)")
    for m, n in ((12, 5), (5, 12)):
        name = f"blocked_attention({m} queries, {n} keys, causal=True)"
        refuses(student.blocked_attention, queries[:m], keys[:n], values[:n], causal=True, name=name, why=f"{m} is not {n}")


@graded("blocked", points=1, hint="The causal table must not exist either.", requires="test_odd_blocks_and_single_tokens")
def test_long_causal_attention(student, rng):
    """More positions than fit as a table, with a causal mask."""
    queries, keys, values = draw(rng, (LONG, 4), (LONG, 4), (LONG, 4))
    output = student.once.blocked_attention(queries, keys, values, block=200, causal=True)

    def expected(row):
        return attention(queries[[row]], keys[: row + 1], values[: row + 1])[0]

    some_rows(output, expected, (0, 199, 200, 7001, LONG - 1), 4)


@graded("blocked", points=1, hint="The default block, at lengths around it.")
def test_lengths_around_the_default_block(student, rng):
    """The default block size, at lengths just below, at, and just above it."""
    for count in (255, 256, 257):
        case = draw(rng, *[(count, 4)] * 3)
        for causal, allowed in ((False, None), (True, np.tril(np.ones((count, count))))):
            output = student.blocked_attention(*case, causal=causal)
            attends(output, *case, allowed, name=f"blocked_attention({count} queries, causal={causal})")


# -------------------------------------------------------------------------------------------------------------- window


@graded("window", points=1, hint="A masked table of all pairs is still a table of all pairs.")
def test_long_sequence_with_a_small_window(student, rng):
    """A sequence whose table does not fit, with a small window."""
    queries, keys, values = draw(rng, *[(LONG, 8)] * 3)
    window = int(rng.integers(5, 20))

    def expected(row):
        part = slice(max(0, row - window), row + window + 1)
        return attention(queries[[row]], keys[part], values[part])[0]

    output = student.once.window_attention(queries, keys, values, window)
    some_rows(output, expected, (0, 3, 6000, LONG - 2, LONG - 1), 8)


@graded("window", points=1, hint="Widths that differ, windows beyond the sequence, large scores.")
def test_windows_of_all_sizes(student, rng):
    """Windows from 0 to beyond the sequence, other widths of values, and extreme scores."""
    for count, window in ((1, 0), (1, 3), (30, 1), (30, 7), (30, 29), (200, 70)):
        case = draw(rng, (count, 5), (count, 5), (count, 2))
        output = student.window_attention(*case, window)
        attends(output, *case, banded(count, window), name=f"window_attention({count} positions, window {window})")
    extreme = (*whole_scores(rng, 20, 20, 9000), rng.normal(size=(20, 2)))
    output = student.window_attention(*extreme, 3)
    require(not student.warnings, "window_attention must not give a warning at extreme scores")
    attends(output, *extreme, banded(20, 3), name="window_attention(extreme scores)")


# -------------------------------------------------------------------------------------------------------------- linear


@graded("linear", points=1, hint="Positive, continuous, and without overflow at either end; any shape goes in.")
def test_features_of_any_numbers(student, rng):
    """ELU features of small and huge numbers in any shape, and random features by their formula."""
    x = rng.normal(size=(2, 3, 4)) * 3
    expected = np.where(x > 0, x + 1, np.exp(np.minimum(x, 0)))
    close(array(student.elu_features(x), shape=x.shape, name="elu_features"), expected, atol=EXACT, name="elu_features")
    ends = array(student.elu_features(np.array([-1e4, -50.0, 1e4])), shape=(3,), name="elu_features")
    close(ends, [0.0, math.exp(-50), 10001.0], atol=rounding(10001), name="elu_features of large numbers")
    require(not student.warnings, "elu_features must not give a warning")
    x, directions = rng.normal(size=(5, 6)) / 2, rng.normal(size=(9, 6))
    expected = np.exp(x @ directions.T - (x**2).sum(axis=1)[:, None] / 2) / 3
    features = array(student.random_features(x, directions), shape=(5, 9), name="random_features")
    close(features, expected, atol=rounding(expected, 64), name="random_features")


@graded("linear", points=1, hint="The mean over many directions is exp(x . y) itself.")
def test_random_features_estimate_attention(student, rng):
    """With many directions the features come close to softmax attention."""
    queries, keys, values = draw(rng, *[(64, 16)] * 3)
    # At half scale, as at full scale the few largest features decide everything.
    queries, keys = queries / 2, keys / 2
    directions = rng.normal(size=(4096, 16))
    features = [student.random_features(x / 16**0.25, directions) for x in (queries, keys)]
    features = [array(feature, shape=(64, 4096), name="random_features") for feature in features]
    table = features[0] @ features[1].T
    estimate = table / table.sum(axis=1, keepdims=True) @ values
    error = np.abs(estimate - attention(queries, keys, values)).mean()
    # Over 60 draws the mean error was .0044 with a standard deviation of .00054, so the bound is 7.6 of them away (false
    # alarms: below 1e-9, also with a long tail). Without |x|^2 / 2, or with twice as much, the least error was .011.
    require(error < 0.0085, "with 4096 directions the features should come close to softmax attention")


@graded("linear", points=1, hint="No table of all pairs may appear: multiply keys and values first.")
def test_long_linear_attention(student, rng):
    """A length whose table does not fit; each output is an average of the values."""
    q_features, k_features = rng.uniform(0.01, 1, size=(2, LONG, 8))
    values = rng.normal(size=(LONG, 4))

    def expected(row):
        weights = k_features @ q_features[row]
        return weights @ values / weights.sum()

    some_rows(student.once.linear_attention(q_features, k_features, values), expected, (0, 5000, LONG - 1), 4)
    shifted = student.linear_attention(q_features[:9], k_features[:20], values[:20] + 100)
    plain = student.linear_attention(q_features[:9], k_features[:20], values[:20])
    shifted, plain = (array(x, shape=(9, 4), name="linear_attention") for x in (shifted, plain))
    close(shifted, plain + 100, atol=rounding(100, 64), name="values shifted by 100")


@graded("linear", points=1, hint="Mixing acts on the length, on keys and on values alike, and may have any rank.")
def test_low_rank_by_its_definition(student, rng):
    """Any mixing matrix: attention to the mixed keys and values."""
    for m, n, rank in ((5, 9, 3), (2, 4, 1), (6, 6, 6)):
        queries, keys, values, mixing = draw(rng, (m, 4), (n, 4), (n, 3), (rank, n))
        mixing /= math.sqrt(n)
        output = student.low_rank_attention(queries, keys, values, mixing)
        attends(output, queries, mixing @ keys, mixing @ values, name=f"low_rank_attention({n} keys, rank {rank})")


# ---------------------------------------------------------------------------------------------------------------- kept


@graded("kept", points=1, hint="Blocks change how a sum is computed, not which sum it is.")
def test_kept_by_blocks(student, reference):
    """What blocks keep."""
    same(student.value("blocks_kept"), reference.blocks_kept, name="blocks_kept")


@graded("kept", points=1, hint="Sums over all keys do not know their order.")
def test_kept_by_features(student, reference):
    """What features keep."""
    same(student.value("features_kept"), reference.features_kept, name="features_kept")


@graded("kept", points=1, hint="Who decides which tokens meet: their content, or their place?")
def test_kept_by_fixed_patterns(student, reference):
    """What fixed patterns keep."""
    same(student.value("fixed_kept"), reference.fixed_kept, name="fixed_kept")


# ----------------------------------------------------------------------------------------------------------- recurrent


@graded("recurrent", points=1, hint="No table of all pairs may appear: the state has r * (value_width + 1) numbers.")
def test_a_long_recurrence(student, rng):
    """A sequence whose table does not fit, and the state it leaves."""
    q_features, k_features = rng.uniform(0.01, 1, size=(2, LONG, 3))
    values = rng.normal(size=(LONG, 2))
    output, state = parts(student.once.causal_linear(q_features, k_features, values), 2, name="causal_linear(long)")
    memory, total = parts(state, 2, name="state")
    # Sums of 12 345 products of size one.
    close(array(memory, shape=(3, 2), name="memory"), k_features.T @ values, atol=rounding(LONG, 64), name="memory")
    close(array(total, shape=(3,), name="total"), k_features.sum(axis=0), atol=rounding(LONG, 64), name="total")

    def expected(row):
        weights = k_features[: row + 1] @ q_features[row]
        return weights @ values[: row + 1] / weights.sum()

    some_rows(output, expected, (0, 1, 6000, LONG - 1), 2, atol=1e-11)


@graded("recurrent", points=1, hint="The first position reads itself only; nothing fades.")
def test_recurrence_of_short_sequences(student, rng):
    """One and two positions, more features than positions, and values that differ in width."""
    for count, features, value_width in ((1, 4, 3), (2, 5, 1), (6, 2, 4)):
        q_features, k_features = rng.uniform(0.1, 1, size=(2, count, features))
        values = rng.normal(size=(count, value_width))
        output, _ = parts(student.causal_linear(q_features, k_features, values), 2, name="causal_linear")
        table = np.tril(q_features @ k_features.T)
        output = array(output, shape=(count, value_width), name="output")
        close(output, table / table.sum(axis=1, keepdims=True) @ values, atol=EXACT, name="output")
        close(output[0], values[0], atol=EXACT, name="output[0]")


# --------------------------------------------------------------------------------------------------------------- cache


@graded("cache", points=1, hint="Heads, widths, and a cache that came from elsewhere.")
def test_cached_steps_of_any_size(student, rng):
    """Other numbers of heads, and a first step on a cache that is already full."""
    for width, heads, count in ((4, 1, 3), (6, 3, 5), (8, 8, 4)):
        x, *weights = draw(rng, (count, width), *[(width, width)] * 4)
        weights = [weight / math.sqrt(width) for weight in weights]
        keys, values = x @ weights[1], x @ weights[2]
        name = f"decode_step(width {width}, heads {heads}, {count - 1} tokens cached)"
        output, new = parts(student.decode_step(x[-1], (keys[:-1], values[:-1]), *weights, heads), 2, name=name)
        expected = causal_heads(x, *weights, heads)[-1]
        close(array(output, shape=(width,), name=name), expected, atol=EXACT, name=f"{name}[0]")
        for have, want in zip(parts(new, 2, name=f"{name}[1]"), (keys, values), strict=True):
            close(array(have, shape=(count, width), name=f"{name}[1]"), want, atol=EXACT, name=f"{name}[1]")


@graded("cache", points=1, hint="Five factors, each once.")
def test_bytes_of_real_caches(student, rng):
    """The cache of a model with 128k tokens of context, and others."""
    for sizes in ((32, 131_072, 4096, 2), (1, 1, 1, 1), rng.integers(1, 10**6, size=4).tolist()):
        counts(student.cache_bytes, *sizes, expected=2 * math.prod(sizes))
