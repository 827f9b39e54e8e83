"""The tests of problem set 5 that only the grader runs.

Expected values come from formulas written out here or from the reference; a student reads no more than title and hint.
"""

import math
from fractions import Fraction

import numpy as np

from assignments.ps5_what_it_costs.test_public import EXACT, FakeMachine, attention, banded, checked_state, empty
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
            name = f"reach({kernel}, {dilations}, {strides}, {centred})"
            expected = measured_reach(kernel, dilations, strides, centred)
            same(integer(student.reach(kernel, dilations, strides, centred), name=name), expected, name=name)


@graded("reach", points=1, hint="An offset just beyond a multiple needs one more layer; some kernels have no middle.")
def test_depths_are_rounded_up_and_even_kernels_refused(student, rng):
    """The depth is the smallest that is enough, and a centred kernel must be odd."""
    for _ in range(6):
        centred = bool(rng.integers(2))
        kernel = int(2 * rng.integers(1, 5) + 1) if centred else int(rng.integers(2, 9))
        step = (kernel - 1) // 2 if centred else kernel - 1
        layers = int(rng.integers(1, 30))
        for offset, expected in ((layers * step, layers), (layers * step + 1, layers + 1), (0, 0)):
            name = f"layers_to_cover({offset}, {kernel}, {centred})"
            same(integer(student.layers_to_cover(offset, kernel, centred), name=name), expected, name=name)
    refuses(student.layers_to_cover, 5, 4, True, name="layers_to_cover(5, 4, True)", why="4 is even")
    refuses(student.reach, 4, [1], [1], True, name="reach(4, [1], [1], True)", why="4 is even")
    same(integer(student.reach(4, [1], [1], False), name="reach(4, [1], [1], False)"), 3, name="reach(4, [1], [1], False)")


# ---------------------------------------------------------------------------------------------------------------- cost


@graded("cost", points=1, hint="Python's own integers have no largest one; float64 and int64 do.")
def test_counts_are_exact_at_any_size(student, rng):
    """Counts far beyond 64 bits are exact."""
    length, width = 10**12 + int(rng.integers(10**6)), 10**7 + int(rng.integers(10**6)) * 2 + 1
    same(
        integer(student.attention_flops(length, width), name="attention_flops"),
        6 * length * width**2 + 4 * length**2 * width,
        name="attention_flops of a huge layer",
    )
    same(fraction(student.crossover_length(width), name="crossover_length"), Fraction(3 * width, 2), name="crossover_length")
    expected = 2 * (4 * length * width + length**2)
    same(integer(student.attention_bytes(length, width, 2), name="attention_bytes"), expected, name="attention_bytes")


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
        name = f"attention_bytes({length}, {width}, {itemsize}, rows={rows})"
        count = integer(student.attention_bytes(length, width, itemsize, rows=rows), name=name)
        same(count, itemsize * (arrays + height * length), name=name)
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
        name = f"transformer_parameters({layers}, {width}, 50257, 1024)"
        same(integer(student.transformer_parameters(layers, width, 50257, 1024), name=name), count, name=name)
    for sizes in ((0, 1, 1, 1), (1, 1, 2, 3), tuple(map(int, rng.integers(1, 2000, size=4)))):
        name = f"transformer_parameters{sizes}"
        expected = reference.transformer_parameters(*sizes)
        same(integer(student.transformer_parameters(*sizes), name=name), expected, name=name)


@graded("model", points=1, hint="Which of the five numbers does each count depend on?")
def test_cost_of_a_long_context(student, rng):
    """A context of 128k tokens, and other sizes."""
    sizes = [(32, 4096, 32, 131_072, 2), tuple(map(int, rng.integers(1, 500, size=5)))]
    for layers, width, heads, length, itemsize in sizes:
        name = f"context_cost({layers}, {width}, {heads}, {length}, {itemsize})"
        flops, tables = parts(student.context_cost(layers, width, heads, length, itemsize), 2, name=name)
        same(integer(flops, name=name), layers * (6 * length * width**2 + 4 * length**2 * width), name=f"{name}[0]")
        same(integer(tables, name=name), heads * length**2 * itemsize, name=f"{name}[1]")


# ----------------------------------------------------------------------------------------------------------- stopwatch


def drawn_machine(rng, quiet, round):
    costs = {length: float(rng.uniform(0.001, 0.1)) for length in range(1, 40)}
    return FakeMachine(costs, rng.uniform(0.1, 1.5, size=50), quiet, round)


@graded("stopwatch", points=1, hint="Only one repeat in many is undisturbed, and nobody knows which.")
def test_the_undisturbed_repeat_is_found(student, rng):
    """Whichever repeat is undisturbed, the smallest time is its."""
    for repeats, quiet in ((7, 1), (7, 7), (4, 2)):
        machine = drawn_machine(rng, quiet, repeats + 1)
        lengths = [3, 8, 21, 30]
        inputs = [np.zeros((length, 1)) for length in lengths]
        seconds = student.once.time_growth(machine.layer, inputs, machine.clock, repeats)
        seconds = array(seconds, shape=(4,), name="time_growth")
        # The clock's readings stay below 100, and each difference of two is rounded.
        close(seconds, [machine.costs[length] for length in lengths], atol=rounding(100), name="time_growth")


@graded("stopwatch", points=1, hint="The docstring says how many calls each input gets, and what repeats = 1 means.")
def test_one_repeat_and_no_more_calls_than_needed(student, rng):
    """A single repeat still follows a warm-up, and the layer is not called more often than the protocol says."""
    for repeats in (1, 4):
        machine = drawn_machine(rng, 1, repeats + 1)
        inputs = [np.zeros((5, 2)), np.zeros((6, 2))]
        seconds = student.once.time_growth(machine.layer, inputs, machine.clock, repeats)
        counts = (machine.calls.get(5, 0), machine.calls.get(6, 0))
        same(counts, (repeats + 1, repeats + 1), name=f"calls of the layer with repeats = {repeats}")
        seconds = array(seconds, shape=(2,), name="time_growth")
        close(seconds, [machine.costs[5], machine.costs[6]], atol=rounding(100), name="time_growth")


# -------------------------------------------------------------------------------------------------------------- growth


@graded("growth", points=1, hint="Each step is compared with its own neighbour, not with the first length.")
def test_exponents_of_the_documents_times(student, ledger, rng):
    """The document's times, and times that were drawn."""
    lengths = np.array(ledger.value("D1-16", "lengths"), dtype=float)
    seconds = np.array(ledger.value("D1-16", "milliseconds")) / 1000
    exponents = array(student.local_exponents(lengths, seconds), shape=(5,), name="local_exponents")
    close(exponents, np.diff(np.log(seconds)) / np.diff(np.log(lengths)), atol=1e-9, name="local_exponents")
    # The document prints times with two decimals; the ledger's exponent has as many.
    close(exponents[2], ledger.value("D1-16", "local_exponent_256_to_512"), atol=0.005, name="exponent from 256 to 512")
    squares = np.array(ledger.value("D1-15", "relative"), dtype=float)
    exponents = array(student.local_exponents(lengths, squares), shape=(5,), name="local_exponents")
    close(exponents, np.full(5, 2.0), atol=1e-9, name="local_exponents of pure squares")
    lengths, seconds = np.cumsum(rng.integers(1, 50, size=6)).astype(float), rng.uniform(0.1, 9, size=6)
    exponents = array(student.local_exponents(lengths, seconds), shape=(5,), name="local_exponents")
    expected = np.diff(np.log(seconds)) / np.diff(np.log(lengths))
    close(exponents, expected, atol=1e-9 * (1 + np.abs(expected).max()), name="local_exponents")


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


@graded("patches", points=1, hint="Keep the channels of a pixel together, and do not assume that images are square.")
def test_patches_pixel_by_pixel(student, rng):
    """Every number of every patch, for images of several shapes with several channels."""
    for down, across, side, channels in ((2, 3, 2, 3), (4, 1, 3, 2), (1, 1, 5, 1), (3, 2, 1, 4)):
        image = rng.normal(size=(down * side, across * side, channels))
        expected = [
            image[i * side : (i + 1) * side, j * side : (j + 1) * side].ravel() for i in range(down) for j in range(across)
        ]
        name = f"patchify(image of shape {image.shape}, {side})"
        patches = array(student.patchify(image, side), shape=(down * across, side * side * channels), name=name)
        same(patches, np.array(expected), name=name)
        name = f"unpatchify(patches, {image.shape}, {side})"
        back = array(student.unpatchify(np.array(expected), image.shape, side), shape=image.shape, name=name)
        same(back, image, name=name)


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
    expected = [image[i : i + 16, j : j + 16].ravel() for i in (0, 16) for j in (0, 16, 32)]
    name = "patchify(image of 32 x 48, 16)"
    same(array(student.patchify(image, 16), shape=(6, 256), name=name), np.array(expected), name=name)
    down, across, side = (int(number) for number in rng.integers(1, 60, size=3))
    pairs = integer(student.pair_count(down * side, across * side, side), name="pair_count")
    same(pairs, (down * across) ** 2, name="pair_count")


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


def same_state(state, other, name):
    for place, (have, want) in enumerate(zip(state, other, strict=True)):
        # Sums of at most a dozen powers of at most one, times values near one.
        close(have, want, atol=EXACT, name=f"{name}[{place}]")


@graded("running", points=1, hint="Cut the keys anywhere, take the pieces in any order: the result may not depend on it.")
def test_any_split_in_any_order(student, rng):
    """Random cuts, absorbed in random order, give the plain layer."""
    for _ in range(3):
        queries, keys = 2 * rng.normal(size=(4, 9)), rng.normal(size=(11, 9))
        values = rng.normal(size=(11, 3))
        # No block is empty: another test asks for those, and a mistake there must not cost points here under some draws.
        cuts = np.sort(rng.choice(np.arange(1, 11), size=3, replace=False))
        blocks = np.split(np.arange(11), cuts)
        state = empty(4, 3)
        for block in rng.permutation(len(blocks)):
            state = student.absorb(state, queries, keys[blocks[block]], values[blocks[block]])
            state = checked_state(state, 4, 3, "absorb(...)")
        output, log_sum = parts(student.finish(state), 2, name="finish(...)")
        close(array(output, shape=(4, 3), name="output"), attention(queries, keys, values), atol=EXACT, name="output")
        scores = queries @ keys.T / 3
        expected = np.log(np.exp(scores).sum(axis=1))
        close(array(log_sum, shape=(4,), name="log_sum"), expected, atol=EXACT, name="log_sum")


@graded("running", points=1, hint="The docstring of merge promises three laws; try each on paper with two keys.")
def test_merge_obeys_its_laws(student, rng):
    """Merging is commutative and associative, and an empty state changes nothing."""
    queries = 3 * rng.normal(size=(3, 4))
    a, b, c = (
        checked_state(
            student.absorb(empty(3, 2), queries, rng.normal(size=(size, 4)), rng.normal(size=(size, 2))), 3, 2, "absorb"
        )
        for size in (2, 5, 1)
    )

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
    queries, keys = whole_scores(rng, 6, 9, 9000)
    values = rng.normal(size=(9, 2))
    for q, k in ((queries, keys), (np.full((6, 4), -450.0), np.ones((9, 4)))):
        state = empty(6, 2)
        for part in (slice(0, 4), slice(4, 9)):
            state = checked_state(student.absorb(state, q, k[part], values[part]), 6, 2, "absorb(...)")
            require(not student.warnings, "absorb must not give a warning at extreme scores")
        output, log_sum = parts(student.finish(state), 2, name="finish(...)")
        close(array(output, shape=(6, 2), name="output"), attention(q, k, values), atol=EXACT, name="output")
        scores = q @ k.T / 2
        top = scores.max(axis=1)
        expected = top + np.log(np.exp(scores - top[:, None]).sum(axis=1))
        close(array(log_sum, shape=(6,), name="log_sum"), expected, atol=rounding(expected), name="log_sum")


@graded("running", points=1, hint="Empty blocks, and queries that never saw a key: the docstrings say what they give.")
def test_empty_blocks_and_empty_states(student, rng):
    """An empty block changes nothing, and a query without keys gets zeros and minus infinity."""
    queries = rng.normal(size=(3, 4))
    nothing = (np.zeros((0, 4)), np.zeros((0, 2)))
    state = checked_state(student.absorb(empty(3, 2), queries, *nothing), 3, 2, "absorb(empty, nothing)")
    require(not student.warnings, "absorbing an empty block must not give a warning")
    output, log_sum = parts(student.finish(state), 2, name="finish(empty)")
    require(not student.warnings, "finishing an empty state must not give a warning")
    same(array(output, shape=(3, 2), name="output"), np.zeros((3, 2)), name="output of an empty state")
    same(array(log_sum, shape=(3,), name="log_sum", finite=False), np.full(3, -np.inf), name="log_sum of an empty state")
    full = checked_state(
        student.absorb(empty(3, 2), queries, rng.normal(size=(5, 4)), rng.normal(size=(5, 2))), 3, 2, "absorb(...)"
    )
    same_state(checked_state(student.absorb(full, queries, *nothing), 3, 2, "absorb"), full, "absorb(state, nothing)")


# ------------------------------------------------------------------------------------------------------------- blocked


@graded("blocked", points=1, hint="Sizes that do not fit: a last block that is smaller, one query, one key.")
def test_odd_blocks_and_single_tokens(student, rng):
    """Block sizes that divide nothing, single tokens, and other widths of values."""
    for m, n, width, value_width, block in ((13, 17, 4, 5, 6), (1, 8, 3, 2, 4), (8, 1, 3, 2, 4), (1, 1, 1, 1, 1)):
        queries, keys = rng.normal(size=(m, width)), rng.normal(size=(n, width))
        values = rng.normal(size=(n, value_width))
        name = f"blocked_attention({m} queries, {n} keys, block={block})"
        output = array(student.blocked_attention(queries, keys, values, block=block), shape=(m, value_width), name=name)
        close(output, attention(queries, keys, values), atol=EXACT, name=name)


@graded("blocked", points=1, hint="Large scores, also where one block holds the largest one; and more queries than keys.")
def test_blocks_of_extreme_scores(student, rng):
    """Extreme scores, plain and causal, and what causal attention refuses."""
    queries, keys = whole_scores(rng, 12, 12, 9000)
    queries[-1] = [0.01, 0, 0, 0]  # one row of moderate scores, so that a missing scale shows under every draw
    values = rng.normal(size=(12, 3))
    for causal in (False, True):
        allowed = np.tril(np.ones((12, 12), dtype=bool)) if causal else None
        for block in (5, 12):
            name = f"blocked_attention(extreme scores, block={block}, causal={causal})"
            answer = student.blocked_attention(queries, keys, values, block=block, causal=causal)
            require(not student.warnings, f"{name} gave a warning")
            close(array(answer, shape=(12, 3), name=name), attention(queries, keys, values, allowed), atol=EXACT, name=name)
    low = student.blocked_attention(np.full((3, 4), -450.0), np.ones((5, 4)), values[:5], block=2)
    expected = np.tile(values[:5].mean(axis=0), (3, 1))
    close(array(low, shape=(3, 3), name="blocked_attention"), expected, atol=EXACT, name="scores that are all -900")
    for m, n in ((12, 5), (5, 12)):
        name = f"blocked_attention({m} queries, {n} keys, causal=True)"
        case = (queries[:m], keys[:n], values[:n])
        refuses(student.blocked_attention, *case, causal=True, name=name, why=f"{m} is not {n}")


@graded("blocked", points=1, hint="The causal table must not exist either.", requires="test_odd_blocks_and_single_tokens")
def test_long_causal_attention(student, rng):
    """More positions than fit as a table, with a causal mask."""
    queries, keys, values = (rng.normal(size=(LONG, 4)) for _ in range(3))
    output = student.once.blocked_attention(queries, keys, values, block=200, causal=True)
    output = array(output, shape=(LONG, 4), name="blocked_attention(long, causal=True)")
    for row in (0, 199, 200, 7001, LONG - 1):
        expected = attention(queries[row : row + 1], keys[: row + 1], values[: row + 1])
        close(output[row : row + 1], expected, atol=EXACT, name=f"row {row}")


@graded("blocked", points=1, hint="The default block, at lengths around it.")
def test_lengths_around_the_default_block(student, rng):
    """The default block size, at lengths just below, at, and just above it."""
    for count in (255, 256, 257):
        queries, keys, values = (rng.normal(size=(count, 4)) for _ in range(3))
        for causal in (False, True):
            allowed = np.tril(np.ones((count, count), dtype=bool)) if causal else None
            name = f"blocked_attention({count} queries, causal={causal})"
            answer = student.blocked_attention(queries, keys, values, causal=causal)
            answer = array(answer, shape=(count, 4), name=name)
            close(answer, attention(queries, keys, values, allowed), atol=EXACT, name=name)


# -------------------------------------------------------------------------------------------------------------- window


@graded("window", points=1, hint="A masked table of all pairs is still a table of all pairs.")
def test_long_sequence_with_a_small_window(student, rng):
    """A sequence whose table does not fit, with a small window."""
    queries, keys, values = (rng.normal(size=(LONG, 8)) for _ in range(3))
    window = int(rng.integers(5, 20))
    output = student.once.window_attention(queries, keys, values, window)
    output = array(output, shape=(LONG, 8), name="window_attention(long)")
    for row in (0, 3, 6000, LONG - 2, LONG - 1):
        part = slice(max(0, row - window), row + window + 1)
        close(
            output[row : row + 1], attention(queries[row : row + 1], keys[part], values[part]), atol=EXACT, name=f"row {row}"
        )


@graded("window", points=1, hint="Widths that differ, windows beyond the sequence, large scores.")
def test_windows_of_all_sizes(student, rng):
    """Windows from 0 to beyond the sequence, other widths of values, and extreme scores."""
    for count, window in ((1, 0), (1, 3), (30, 1), (30, 7), (30, 29), (200, 70)):
        queries, keys, values = rng.normal(size=(count, 5)), rng.normal(size=(count, 5)), rng.normal(size=(count, 2))
        name = f"window_attention({count} positions, window {window})"
        output = array(student.window_attention(queries, keys, values, window), shape=(count, 2), name=name)
        close(output, attention(queries, keys, values, banded(count, window)), atol=EXACT, name=name)
    queries, keys = whole_scores(rng, 20, 20, 9000)
    values = rng.normal(size=(20, 2))
    output = array(student.window_attention(queries, keys, values, 3), shape=(20, 2), name="window_attention(extreme)")
    require(not student.warnings, "window_attention must not give a warning at extreme scores")
    close(output, attention(queries, keys, values, banded(20, 3)), atol=EXACT, name="window_attention(extreme scores)")


# -------------------------------------------------------------------------------------------------------------- linear


@graded("linear", points=1, hint="Positive, continuous, and without overflow at either end; any shape goes in.")
def test_features_of_any_numbers(student, rng):
    """ELU features of small and huge numbers in any shape, and random features by their formula."""
    x = rng.normal(size=(2, 3, 4)) * 3
    expected = np.where(x > 0, x + 1, np.exp(np.minimum(x, 0)))
    close(array(student.elu_features(x), shape=x.shape, name="elu_features"), expected, atol=EXACT, name="elu_features")
    close(
        array(student.elu_features(np.array([-1e4, -50.0, 1e4])), shape=(3,), name="elu_features"),
        [0.0, math.exp(-50), 10001.0],
        atol=rounding(10001),
        name="elu_features",
    )
    require(not student.warnings, "elu_features must not give a warning")
    x, directions = rng.normal(size=(5, 6)) / 2, rng.normal(size=(9, 6))
    expected = np.exp(x @ directions.T - (x**2).sum(axis=1)[:, None] / 2) / 3
    features = array(student.random_features(x, directions), shape=(5, 9), name="random_features")
    close(features, expected, atol=rounding(expected, 64), name="random_features")


@graded("linear", points=1, hint="The mean over many directions is exp(x . y) itself.")
def test_random_features_estimate_attention(student, rng):
    """With many directions the features come close to softmax attention."""
    queries, keys, values = (rng.normal(size=(64, 16)) for _ in range(3))
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
    q_features, k_features = rng.random(size=(LONG, 8)) + 0.01, rng.random(size=(LONG, 8)) + 0.01
    values = rng.normal(size=(LONG, 4))
    output = student.once.linear_attention(q_features, k_features, values)
    output = array(output, shape=(LONG, 4), name="linear_attention(long)")
    for row in (0, 5000, LONG - 1):
        weights = k_features @ q_features[row]
        close(output[row], weights / weights.sum() @ values, atol=EXACT, name=f"row {row}")
    shifted = student.linear_attention(q_features[:9], k_features[:20], values[:20] + 100)
    plain = student.linear_attention(q_features[:9], k_features[:20], values[:20])
    shifted, plain = (array(x, shape=(9, 4), name="linear_attention") for x in (shifted, plain))
    close(shifted, plain + 100, atol=rounding(100, 64), name="values shifted by 100")


@graded("linear", points=1, hint="Mixing acts on the length, on keys and on values alike, and may have any rank.")
def test_low_rank_by_its_definition(student, rng):
    """Any mixing matrix: attention to the mixed keys and values."""
    for m, n, rank in ((5, 9, 3), (2, 4, 1), (6, 6, 6)):
        queries, keys, values = rng.normal(size=(m, 4)), rng.normal(size=(n, 4)), rng.normal(size=(n, 3))
        mixing = rng.normal(size=(rank, n)) / math.sqrt(n)
        expected = attention(queries, mixing @ keys, mixing @ values)
        name = f"low_rank_attention({n} keys, rank {rank})"
        output = array(student.low_rank_attention(queries, keys, values, mixing), shape=(m, 3), name=name)
        close(output, expected, atol=EXACT, name=name)


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
    q_features, k_features = rng.random(size=(LONG, 3)) + 0.01, rng.random(size=(LONG, 3)) + 0.01
    values = rng.normal(size=(LONG, 2))
    output, state = parts(student.once.causal_linear(q_features, k_features, values), 2, name="causal_linear(long)")
    output = array(output, shape=(LONG, 2), name="output")
    memory, total = parts(state, 2, name="state")
    # Sums of 12 345 products of size one.
    close(array(memory, shape=(3, 2), name="memory"), k_features.T @ values, atol=rounding(LONG, 64), name="memory")
    close(array(total, shape=(3,), name="total"), k_features.sum(axis=0), atol=rounding(LONG, 64), name="total")
    for row in (0, 1, 6000, LONG - 1):
        weights = k_features[: row + 1] @ q_features[row]
        close(output[row], weights / weights.sum() @ values[: row + 1], atol=1e-11, name=f"row {row}")


@graded("recurrent", points=1, hint="The first position reads itself only; nothing fades.")
def test_recurrence_of_short_sequences(student, rng):
    """One and two positions, more features than positions, and values that differ in width."""
    for count, features, value_width in ((1, 4, 3), (2, 5, 1), (6, 2, 4)):
        q_features, k_features = rng.random(size=(count, features)) + 0.1, rng.random(size=(count, features)) + 0.1
        values = rng.normal(size=(count, value_width))
        output, _ = parts(student.causal_linear(q_features, k_features, values), 2, name="causal_linear")
        table = np.tril(q_features @ k_features.T)
        expected = table / table.sum(axis=1, keepdims=True) @ values
        close(array(output, shape=(count, value_width), name="output"), expected, atol=EXACT, name="output")
        same_first = array(output, shape=(count, value_width), name="output")[0]
        close(same_first, values[0], atol=EXACT, name="output[0]")


# --------------------------------------------------------------------------------------------------------------- cache


@graded("cache", points=1, hint="Heads, widths, and a cache that came from elsewhere.")
def test_cached_steps_of_any_size(student, rng):
    """Other numbers of heads, and a first step on a cache that is already full."""
    for width, heads, count in ((4, 1, 3), (6, 3, 5), (8, 8, 4)):
        x = rng.normal(size=(count, width))
        w_q, w_k, w_v, w_o = (rng.normal(size=(width, width)) / math.sqrt(width) for _ in range(4))
        cache = (x[:-1] @ w_k, x[:-1] @ w_v)
        size = width // heads
        expected = []
        for head in range(heads):
            part = slice(head * size, (head + 1) * size)
            expected.append(attention((x[-1:] @ w_q)[:, part], (x @ w_k)[:, part], (x @ w_v)[:, part])[0])
        name = f"decode_step(width {width}, heads {heads}, {count - 1} tokens cached)"
        output, new = parts(student.decode_step(x[-1], cache, w_q, w_k, w_v, w_o, heads), 2, name=name)
        close(array(output, shape=(width,), name=name), np.concatenate(expected) @ w_o, atol=EXACT, name=f"{name}[0]")
        for have, want in zip(parts(new, 2, name=f"{name}[1]"), (x @ w_k, x @ w_v), strict=True):
            close(array(have, shape=(count, width), name=f"{name}[1]"), want, atol=EXACT, name=f"{name}[1]")


@graded("cache", points=1, hint="Five factors, each once.")
def test_bytes_of_real_caches(student, rng):
    """The cache of a model with 128k tokens of context, and others."""
    for sizes in ((32, 131_072, 4096, 2), (1, 1, 1, 1), tuple(map(int, rng.integers(1, 10**6, size=4)))):
        name = f"cache_bytes{sizes}"
        same(integer(student.cache_bytes(*sizes), name=name), 2 * math.prod(sizes), name=name)
