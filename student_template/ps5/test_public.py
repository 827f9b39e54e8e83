"""The tests of problem set 5 that students run themselves."""

from fractions import Fraction

import numpy as np

from autograder.testing import array, close, fraction, graded, integer, parts, refuses, require, rounding, same, scalar

# Values of size one, a softmax and a few sums of at most some thousand terms: about 1e-14. Wrong answers are off by 1e-2.
EXACT = 1e-12
# 12 288 positions: their table takes 1.2 GB in float64, more than a submission may hold.
LONG = 12_288


def attention(queries, keys, values, allowed=None):
    """Attention by its definition, query by query."""
    output = np.empty((len(queries), values.shape[1]))
    for row, query in enumerate(queries):
        chosen = slice(None) if allowed is None else np.flatnonzero(allowed[row])
        logits = keys[chosen].dot(query) / len(query) ** 0.5
        growth = np.exp(logits - logits.max())
        output[row] = growth.dot(values[chosen]) / growth.sum()
    return output


def counts(function, *arguments, expected, **keywords):
    """The answer is a whole number, and exactly this one."""
    listed = [*map(str, arguments), *(f"{key}={value}" for key, value in keywords.items())]
    name = f"{function.name}({', '.join(listed)})"
    same(integer(function(*arguments, **keywords), name=name), expected, name=name)


def attends(output, queries, keys, values, allowed=None, *, name):
    """The output is that of attention by its definition."""
    expected = attention(queries, keys, values, allowed)
    close(array(output, shape=expected.shape, name=name), expected, atol=EXACT, name=name)


def draw(rng, *shapes):
    """Arrays of these shapes, with numbers of size one."""
    return [rng.normal(size=shape) for shape in shapes]


# --------------------------------------------------------------------------------------------------------------- reach


@graded("reach", points=1, hint="Each layer adds (kernel - 1) * dilation places; both conventions start from 0.")
def test_reach_of_three_plain_layers(student):
    """Three layers of kernel 5 reach 12 places to one side, or 6 to each."""
    for centred, places in ((False, 12), (True, 6)):
        counts(student.reach, 5, [1, 1, 1], [1, 1, 1], centred, expected=places)


@graded("reach", points=1, hint="A stride stretches the layers after it, not the layer that has it.")
def test_reach_with_dilation_and_stride(student):
    """Dilation multiplies a layer's own taps, a stride everything after it."""
    # 2·1 + 2·2·1 + 2·4·1 = 14, and with strides 2, 3, 1: 2·1 + 2·1·2 + 2·1·6 = 18.
    for dilations, strides, places in (([1, 2, 4], [1, 1, 1], 14), ([1, 1, 1], [2, 3, 1], 18), ([], [], 0)):
        counts(student.reach, 3, dilations, strides, False, expected=places)


@graded("reach", points=2, hint="Divide the offset by the reach of one layer, and round up.")
def test_layers_for_the_four_offsets(student, ledger):
    """The document's four depths, and the doubled ones of a centred kernel."""
    kernel = ledger.value("D1-14", "kernel")
    for centred, row in ((False, "layers_one_sided"), (True, "layers_centred")):
        for offset, layers in zip(ledger.value("D1-14", "offsets"), ledger.value("D1-14", row), strict=True):
            counts(student.layers_to_cover, offset, kernel, centred, expected=layers)


# ---------------------------------------------------------------------------------------------------------------- cost


@graded("cost", points=1, hint="Three products of (L, d) with (d, d), and two that involve all pairs; two operations each.")
def test_flops_and_crossover(student, ledger):
    """6 L d² + 4 L² d operations, and the length at which both parts are equal."""
    projections, pairs = ledger.value("D1-17", "projection_coefficient"), ledger.value("D1-17", "pair_coefficient")
    for length, width in ((1, 1), (10, 3), (96, 64)):
        expected = projections * length * width**2 + pairs * length**2 * width
        counts(student.attention_flops, length, width, expected=expected)
    crossover = Fraction(ledger.value("D1-17", "crossover_length_per_dimension"))
    for width in (1, 64):
        name = f"crossover_length({width})"
        same(fraction(student.crossover_length(width), name=name), crossover * width, name=name)


@graded("cost", points=1, hint="Divide by the cost at the first length.")
def test_growth_that_arithmetic_predicts(student, ledger):
    """The arithmetic predicts the document's growth 1, 2.8, 8.8, 30.4, 112, 428.8."""
    lengths, width = ledger.value("D1-17", "lengths"), ledger.value("D1-17", "dimension")
    name = f"relative_cost({lengths}, {width})"
    cost = array(student.relative_cost(lengths, width), shape=(len(lengths),), name=name)
    # The ledger's figures are exact to the digits given.
    close(cost, ledger.value("D1-17", "predicted_relative"), atol=rounding(430), name=name)


@graded("cost", points=1, hint="Four arrays of length * width numbers, and rows * length numbers of the table.")
def test_bytes_by_hand(student):
    """A head of length 10 and width 3: four arrays of 30 numbers, and a table of 100 or of some rows."""
    for rows, expected in ((None, 8 * 220), (4, 8 * 160)):
        counts(student.attention_bytes, 10, 3, 8, rows=rows, expected=expected)


# --------------------------------------------------------------------------------------------------------------- model


@graded("model", points=1, hint="A map from a to b has (a + 1) * b numbers: its matrix and its bias.")
def test_the_two_smaller_models(student):
    """The two smaller GPT-2 models have 124 439 808 and 354 823 168 parameters."""
    for layers, width, count in ((12, 768, 124_439_808), (24, 1024, 354_823_168)):
        counts(student.transformer_parameters, layers, width, 50257, 1024, expected=count)


@graded("model", points=1, hint="One layer's tables: heads * length * length numbers.")
def test_cost_of_a_small_context(student):
    """Two layers of width 4 with two heads reading three tokens, counted by hand."""
    name = "context_cost(2, 4, 2, 3, 8)"
    flops, tables = parts(student.context_cost(2, 4, 2, 3, 8), 2, name=name)
    # 6·3·16 + 4·9·4 = 432 in each layer; 2 tables of 9 numbers of 8 bytes.
    same(integer(flops, name=f"{name}[0]"), 864, name=f"{name}[0]")
    same(integer(tables, name=f"{name}[1]"), 144, name=f"{name}[1]")


# ----------------------------------------------------------------------------------------------------------- stopwatch


class FakeMachine:
    """A layer and a clock without real time: a call of the layer moves the clock by what its input's length costs.

    The first call with a length costs six times as much, as a cold cache would. Later calls are disturbed, all but number
    `quiet`. Once every length was called `round` times, the next short input begins a new round, as cold as the first.
    """

    def __init__(self, costs, noise, quiet, round):
        self.costs, self.noise, self.quiet, self.round = costs, noise, quiet, round
        # What a clock shows by itself means nothing, so it may as well be negative.
        self.now, self.calls, self.last = -3.0, {}, 0

    def layer(self, x):
        if len(x) < self.last and min(self.calls.values()) >= self.round:
            self.calls.clear()
        self.last = len(x)
        count = self.calls.get(len(x), 0)
        self.calls[len(x)] = count + 1
        disturbance = 5.0 if count == 0 else 0.0 if count == self.quiet else self.noise[count % len(self.noise)]
        self.now += self.costs[len(x)] * (1 + disturbance)
        return x

    def clock(self):
        return self.now


@graded("stopwatch", points=2, hint="One call that is not timed, then the smallest of `repeats` differences.")
def test_the_fake_clock_gives_the_true_costs(student):
    """A warm-up and the smallest of several times recover the true costs from disturbed measurements."""
    costs = {4: 0.016, 8: 0.064, 16: 0.256}
    machine = FakeMachine(costs, [0.31, 0.17, 1.22, 0.45], quiet=5, round=6)
    name = "time_growth(layer, inputs, clock, 5)"
    inputs = [np.zeros((length, 2)) for length in costs]
    seconds = array(student.once.time_growth(machine.layer, inputs, machine.clock, 5), shape=(3,), name=name)
    # The clock's readings stay below 10, and each difference of two is rounded.
    close(seconds, list(costs.values()), atol=rounding(10), name=name)


@graded("stopwatch", points=1, hint="Call every input once, untimed, before its `repeats` timed calls.")
def test_every_input_is_warmed_up(student):
    """Every input is called once more than it is timed."""
    machine = FakeMachine({3: 0.009, 5: 0.025}, [0.5], quiet=1, round=3)
    inputs = [np.zeros((length, 2)) for length in (3, 5)]
    student.once.time_growth(machine.layer, inputs, machine.clock, 2)
    for length in (3, 5):
        calls = machine.calls.get(length, 0)
        require(calls >= 3, f"with repeats = 2 the layer should see each input at least 3 times, but saw one {calls} times")


# -------------------------------------------------------------------------------------------------------------- growth


@graded("growth", points=1, hint="A ratio of logarithms for each step, from one length to the next.")
def test_exponents_of_exact_powers(student):
    """Times that grow exactly as the square of the length have exponents of 2, whatever the steps."""
    lengths = np.array([10.0, 20.0, 50.0, 400.0])
    name = "local_exponents(lengths, 3e-6 * lengths**2)"
    exponents = array(student.local_exponents(lengths, 3e-6 * lengths**2), shape=(3,), name=name)
    close(exponents, [2, 2, 2], atol=EXACT, name=name)


@graded("growth", points=1, hint="Both measured and predicted times are relative to their first one.")
def test_no_deviation_from_the_model_itself(student):
    """Times that follow the arithmetic deviate by nothing; doubling the last one deviates by 1."""
    lengths = np.array([2, 4, 8])
    # 6·L·9 + 4·L²·3 for width 3: 156, 408, 1200.
    for seconds, expected in (([156.0, 408.0, 1200.0], 0.0), ([156.0, 408.0, 2400.0], 1.0), ([156.0, 102.0, 1200.0], 0.75)):
        name = f"worst_deviation([2, 4, 8], {seconds}, 3)"
        close(scalar(student.worst_deviation(lengths, np.array(seconds), 3), name=name), expected, atol=EXACT, name=name)


# ------------------------------------------------------------------------------------------------------------- patches


@graded("patches", points=1, hint="Split both axes in two, bring the axes of a patch together, and only then flatten.")
def test_patches_of_a_numbered_image(student):
    """An image of 4 x 6 numbered pixels, cut into patches of 2 x 2."""
    image = np.arange(24.0).reshape(4, 6, 1)
    expected = [[0, 1, 6, 7], [2, 3, 8, 9], [4, 5, 10, 11], [12, 13, 18, 19], [14, 15, 20, 21], [16, 17, 22, 23]]
    name = "patchify(image, 2)"
    same(array(student.patchify(image, 2), shape=(6, 4), name=name), np.array(expected, float), name=name)


@graded("patches", points=1, hint="Undo the steps of patchify in reverse order.")
def test_a_round_trip_changes_nothing(student, rng):
    """Cutting an image and putting it together again gives the same numbers."""
    image = rng.normal(size=(6, 4, 3))
    patches = student.patchify(image, 2)
    array(patches, shape=(6, 12), name="patchify(image, 2)")
    name = "unpatchify(patchify(image, 2), (6, 4, 3), 2)"
    same(array(student.unpatchify(patches, (6, 4, 3), 2), shape=(6, 4, 3), name=name), image, name=name)


@graded("patches", points=2, hint="Count tokens, then square. The image of the document has 224 x 224 pixels.")
def test_pairs_of_the_documents_image(student, ledger):
    """Pixels make 2 517 630 976 pairs, patches of 16 x 16 make 38 416; what cannot be cut is refused."""
    side, patch = ledger.value("D1-18", "side"), ledger.value("D1-18", "patch_side")
    counts(student.pair_count, side, side, expected=ledger.value("D1-18", "pixel_pairs"))
    counts(student.pair_count, side, side, patch, expected=ledger.value("D1-18", "patch_tokens") ** 2)
    refuses(
        student.patchify, np.zeros((4, 6, 1)), 4, name="patchify of 4 x 6 pixels with side 4", why="6 is no multiple of 4"
    )


# ------------------------------------------------------------------------------------------------------------- running


def empty(rows, width):
    return np.full(rows, -np.inf), np.zeros(rows), np.zeros((rows, width))


def checked_state(state, rows, width, name):
    """A state with its three arrays checked; the largest scores may be -inf."""
    largest, total, mixed = parts(state, 3, name=name)
    return (
        array(largest, shape=(rows,), name=f"{name}[0]", finite=False),
        array(total, shape=(rows,), name=f"{name}[1]"),
        array(mixed, shape=(rows, width), name=f"{name}[2]"),
    )


@graded("running", points=1, hint="Scores, their largest, powers relative to it, their sum, and their sum with the values.")
def test_first_block_by_hand(student):
    """One query and two keys with scores ln 2 and ln 6: the largest is ln 6, the total 1 + 1/3."""
    # Width 4, so that scores are half of the dot products.
    queries, keys = np.array([[2.0, 0.0, 0.0, 0.0]]), np.zeros((2, 4))
    keys[:, 0] = np.log([2.0, 6.0])
    values = np.array([[3.0, 0.0], [0.0, 1.0]])
    name = "absorb(empty_state(1, 2), q, k, v)"
    largest, total, mixed = checked_state(student.absorb(empty(1, 2), queries, keys, values), 1, 2, name)
    close(largest, np.log([6.0]), atol=EXACT, name=f"{name}[0]")
    close(total, [4 / 3], atol=EXACT, name=f"{name}[1]")
    close(mixed, [[1.0, 1.0]], atol=EXACT, name=f"{name}[2]")


@graded("running", points=2, hint="When the largest score grows, both old sums shrink by exp(old largest - new largest).")
def test_blocks_give_what_the_whole_gives(student, rng):
    """Keys taken in blocks of 3, 1, 0 and 4 give the output of plain attention, and its log sum."""
    queries, keys, values = draw(rng, (5, 4), (8, 4), (8, 2))
    queries *= 3
    state = empty(5, 2)
    for start, stop in ((0, 3), (3, 4), (4, 4), (4, 8)):
        state = checked_state(student.absorb(state, queries, keys[start:stop], values[start:stop]), 5, 2, "absorb(...)")
    output, log_sum = parts(student.finish(state), 2, name="finish(state)")
    attends(output, queries, keys, values, name="output")
    scores = queries @ keys.T / 2
    close(array(log_sum, shape=(5,), name="log_sum"), np.log(np.exp(scores).sum(axis=1)), atol=EXACT, name="log_sum")


@graded("running", points=1, hint="Begin from minus infinity, not from 0: all scores may lie far below 0.")
def test_scores_far_below_zero(student):
    """Three scores of -900 give equal weights: no power may vanish."""
    queries, keys, values = np.array([[-900.0]]), np.ones((3, 1)), np.array([[1.0], [2.0], [6.0]])
    output, log_sum = parts(student.finish(student.absorb(empty(1, 1), queries, keys, values)), 2, name="finish(state)")
    close(array(output, shape=(1, 1), name="output"), [[3.0]], atol=EXACT, name="output")
    close(array(log_sum, shape=(1,), name="log_sum"), [np.log(3) - 900], atol=rounding(900), name="log_sum")


@graded("running", points=1, hint="Rescale both states to the larger of the two maxima, then add.")
def test_merging_two_halves(student, rng):
    """Two halves, each absorbed alone and then merged, give the whole, in either order."""
    queries, keys, values = draw(rng, (3, 4), (7, 4), (7, 2))
    queries *= 3
    halves = [student.absorb(empty(3, 2), queries, keys[part], values[part]) for part in (slice(0, 2), slice(2, 7))]
    halves = [checked_state(half, 3, 2, "absorb(...)") for half in halves]
    for first, second in (halves, halves[::-1]):
        merged = checked_state(student.merge(first, second), 3, 2, "merge(...)")
        output, _ = parts(student.finish(merged), 2, name="finish(merge(...))")
        attends(output, queries, keys, values, name="output of merged halves")


# ------------------------------------------------------------------------------------------------------------- blocked


@graded("blocked", points=2, hint="Each block of queries needs all keys, or a running softmax over blocks of keys.")
def test_blocks_equal_the_plain_layer(student, rng):
    """Blocks that divide the length, blocks that do not, and one block for all give the plain output."""
    case = draw(rng, (10, 4), (7, 4), (7, 3))
    for block in (5, 3, 1, 64):
        attends(student.blocked_attention(*case, block=block), *case, name=f"blocked_attention(q, k, v, block={block})")


@graded("blocked", points=1, hint="Inside the block on the diagonal each row ends at another key.")
def test_causal_blocks_equal_the_masked_layer(student, rng):
    """Causal blocks give what a masked table gives, also inside the block on the diagonal."""
    case = draw(rng, (9, 4), (9, 4), (9, 3))
    for block in (4, 2, 9):
        output = student.blocked_attention(*case, block=block, causal=True)
        name = f"blocked_attention(q, k, v, block={block}, causal=True)"
        attends(output, *case, np.tril(np.ones((9, 9))), name=name)


@graded("blocked", points=2, hint="Not all of the table may exist at once: take a block of queries at a time.")
def test_a_table_that_does_not_fit(student):
    """12 288 queries and keys, whose table is larger than all memory there is."""
    place = np.arange(LONG)[:, None] * np.arange(1, 5)
    queries, keys, values = np.sin(0.37 * place), np.cos(0.11 * place), np.sin(0.05 * place)
    name = f"blocked_attention of {LONG} queries and keys"
    output = array(student.once.blocked_attention(queries, keys, values), shape=(LONG, 4), name=name)
    for row in (0, 1, 777, LONG - 1):
        attends(output[[row]], queries[[row]], keys, values, name=f"row {row} of {name}")


# -------------------------------------------------------------------------------------------------------------- window


def banded(count, window):
    place = np.arange(count)
    return np.abs(place[:, None] - place) <= window


@graded("window", points=2, hint="|i - j| <= window, on both sides; the ends of the sequence have fewer neighbours.")
def test_window_equals_a_masked_table(student, rng):
    """A window gives what a table with a band of allowed pairs gives."""
    case = draw(rng, (9, 4), (9, 4), (9, 3))
    for window in (0, 2, 20):
        output = student.window_attention(*case, window)
        attends(output, *case, banded(9, window), name=f"window_attention(q, k, v, {window})")


@graded("window", points=2, hint="Each layer moves information by `window` places. Layer by layer, how far in all?")
def test_reach_of_stacked_windows(student):
    """Three layers with windows of 3 reach 9 places; a window of 0 reaches nothing."""
    for layers, window, places in ((3, 3, 9), (1, 5, 5), (4, 0, 0), (0, 7, 0)):
        counts(student.window_reach, layers, window, expected=places)


# -------------------------------------------------------------------------------------------------------------- linear


@graded("linear", points=1, hint="`np.where` computes both branches: exp(x) must not overflow where x is large.")
def test_elu_features(student):
    """Features of -ln 4, 0, 2 and 10 000."""
    name = "elu_features([-ln 4, 0, 2, 1e4])"
    features = array(student.elu_features(np.array([-np.log(4), 0.0, 2.0, 1e4])), shape=(4,), name=name)
    close(features[:3], [0.25, 1.0, 3.0], atol=EXACT, name=name)
    close(features[3], 10001.0, atol=rounding(10001), name=f"{name}[3]")
    require(not student.warnings, f"{name} gave a warning: {student.warnings[:1]}")


@graded("linear", points=1, hint="exp(x . w - |x|^2 / 2) / sqrt(r), one column for each direction.")
def test_random_features_by_hand(student):
    """One vector (1, 1) along directions (0, 0) and (ln 2, ln 2): e^-1 / sqrt 2 and 4 e^-1 / sqrt 2."""
    directions = np.array([[0.0, 0.0], [np.log(2), np.log(2)]])
    name = "random_features([[1, 1]], [[0, 0], [ln 2, ln 2]])"
    features = array(student.random_features(np.ones((1, 2)), directions), shape=(1, 2), name=name)
    close(features, np.array([[1.0, 4.0]]) * np.exp(-1) / np.sqrt(2), atol=EXACT, name=name)


@graded("linear", points=1, hint="Multiply keys and values first; divide each query's row by its own sum of weights.")
def test_linear_attention_equals_its_table(student, rng):
    """Features and values give what the table of their products gives."""
    q_features, k_features = rng.random(size=(6, 4)) + 0.1, rng.random(size=(9, 4)) + 0.1
    values = rng.normal(size=(9, 3))
    table = q_features @ k_features.T
    name = "linear_attention(fq, fk, v)"
    output = array(student.linear_attention(q_features, k_features, values), shape=(6, 3), name=name)
    close(output, table / table.sum(axis=1, keepdims=True) @ values, atol=EXACT, name=name)


@graded("linear", points=2, hint="Keys and values are mixed by the same matrix; then it is plain attention.")
def test_low_rank_of_grouped_tokens_is_exact(student, rng):
    """Where tokens come in groups of equal ones, averaging the groups loses nothing."""
    queries, groups, group_values = draw(rng, (5, 4), (3, 4), (3, 2))
    keys, values = np.repeat(groups, 4, axis=0), np.repeat(group_values, 4, axis=0)
    mixing = np.repeat(np.eye(3), 4, axis=1) / 4
    output = student.low_rank_attention(queries, keys, values, mixing)
    attends(output, queries, keys, values, name="low_rank_attention(q, k, v, averages of groups)")


# ----------------------------------------------------------------------------------------------------------- recurrent


@graded("recurrent", points=2, hint="Update the state with position i, then read it with query i.")
def test_recurrence_equals_the_masked_table(student, rng):
    """The recurrence gives what a causal table of the same features gives, and returns its last state."""
    q_features, k_features = rng.random(size=(7, 3)) + 0.1, rng.random(size=(7, 3)) + 0.1
    values = rng.normal(size=(7, 2))
    table = np.tril(q_features @ k_features.T)
    output, state = parts(student.causal_linear(q_features, k_features, values), 2, name="causal_linear(fq, fk, v)")
    output = array(output, shape=(7, 2), name="output")
    close(output, table / table.sum(axis=1, keepdims=True) @ values, atol=EXACT, name="output")
    memory, total = parts(state, 2, name="state")
    close(array(memory, shape=(3, 2), name="memory"), k_features.T @ values, atol=EXACT, name="memory")
    close(array(total, shape=(3,), name="total"), k_features.sum(axis=0), atol=EXACT, name="total")


# --------------------------------------------------------------------------------------------------------------- cache


def causal_heads(x, w_q, w_k, w_v, w_o, heads):
    """Causal multi-head attention of all tokens at once."""
    size = x.shape[1] // heads
    outputs = []
    for head in range(heads):
        columns = slice(head * size, (head + 1) * size)
        outputs.append(
            attention(x @ w_q[:, columns], x @ w_k[:, columns], x @ w_v[:, columns], np.tril(np.ones((len(x), len(x)))))
        )
    return np.hstack(outputs) @ w_o


@graded("cache", points=2, hint="Append the new key and value first: the token reads itself too.")
def test_token_by_token_equals_the_full_pass(student, rng):
    """Five tokens, one after the other, give the rows of the full causal pass."""
    x = rng.normal(size=(5, 6))
    weights = [rng.normal(size=(6, 6)) / np.sqrt(6) for _ in range(4)]
    expected = causal_heads(x, *weights, 2)
    cache = (np.zeros((0, 6)), np.zeros((0, 6)))
    for place, token in enumerate(x):
        name = f"decode_step(token {place}, cache, ..., heads=2)"
        output, cache = parts(student.decode_step(token, cache, *weights, 2), 2, name=name)
        close(array(output, shape=(6,), name=f"{name}[0]"), expected[place], atol=EXACT, name=f"{name}[0]")
        keys, values = parts(cache, 2, name=f"{name}[1]")
        cache = (
            array(keys, shape=(place + 1, 6), name=f"{name}[1][0]"),
            array(values, shape=(place + 1, 6), name=f"{name}[1][1]"),
        )


@graded("cache", points=1, hint="Two vectors per layer and token.")
def test_bytes_of_a_cache(student):
    """A cache of two layers, three tokens and width 5, in float16."""
    counts(student.cache_bytes, 2, 3, 5, 2, expected=120)
