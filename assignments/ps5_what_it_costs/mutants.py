"""Wrong answers that people really give to problem set 5. Each must lose points on its question, and get its hint."""

import math
from fractions import Fraction

import numpy as np

from autograder.variants import mutant
from solutions.ps5_what_it_costs import absorb as right_absorb
from solutions.ps5_what_it_costs import attention_bytes as right_bytes
from solutions.ps5_what_it_costs import attention_flops as right_flops
from solutions.ps5_what_it_costs import blocked_attention as right_blocked
from solutions.ps5_what_it_costs import causal_linear as right_causal
from solutions.ps5_what_it_costs import decode_step as right_step
from solutions.ps5_what_it_costs import finish as right_finish
from solutions.ps5_what_it_costs import layers_to_cover as right_layers
from solutions.ps5_what_it_costs import local_exponents as right_exponents
from solutions.ps5_what_it_costs import low_rank_attention as right_low_rank
from solutions.ps5_what_it_costs import merge as right_merge
from solutions.ps5_what_it_costs import pair_count as right_pairs
from solutions.ps5_what_it_costs import patchify as right_patches
from solutions.ps5_what_it_costs import random_features as right_features
from solutions.ps5_what_it_costs import reach as right_reach
from solutions.ps5_what_it_costs import relative_cost as right_cost
from solutions.ps5_what_it_costs import softmax
from solutions.ps5_what_it_costs import time_growth as right_times
from solutions.ps5_what_it_costs import transformer_parameters as right_parameters
from solutions.ps5_what_it_costs import unpatchify as right_unpatch
from solutions.ps5_what_it_costs import window_attention as right_window

# --------------------------------------------------------------------------------------------------------------- reach


@mutant(
    "reach",
    hint="You count the places in the field of view. The reach is the offset: a kernel of 5 alone reaches 4 places.",
    museum="Counts every place that the output sees, its own included. One layer of kernel 1 sees one place and reaches "
    "nowhere: a reach that starts at 1 gives the mistake away.",
)
def reach_counts_the_field(kernel, dilations, strides, centred):
    return right_reach(kernel, dilations, strides, centred) + 1


@mutant("reach", hint="`centred` changes nothing in your answer: a centred kernel reaches half as far to each side.")
def reach_ignores_centred(kernel, dilations, strides, centred):
    right_reach(kernel, dilations, strides, centred)
    return right_reach(kernel, dilations, strides, False)


@mutant("reach", hint="A stride stretches the taps of later layers, not those of its own layer.", frequent=True)
def reach_counts_its_own_stride(kernel, dilations, strides, centred):
    right_reach(kernel, dilations, strides, centred)
    places, step = 0, 1
    for dilation, stride in zip(dilations, strides, strict=True):
        step *= stride
        places += (kernel - 1) * dilation * step
    return places // 2 if centred else places


@mutant("reach", hint="Dilation multiplies the gaps between taps; you add it.")
def reach_adds_the_dilation(kernel, dilations, strides, centred):
    right_reach(kernel, dilations, strides, centred)
    places, step = 0, 1
    for dilation, stride in zip(dilations, strides, strict=True):
        places += (kernel - 1 + dilation - 1) * step
        step *= stride
    return places // 2 if centred else places


@mutant("reach", hint="Strides are ignored: after a stride of 2, one place of the next layer spans two input places.")
def reach_ignores_strides(kernel, dilations, strides, centred):
    return right_reach(kernel, dilations, [1] * len(strides), centred)


@mutant("reach", hint="You multiply dilations layer by layer. Only strides accumulate; a dilation concerns its own layer.")
def reach_accumulates_dilations(kernel, dilations, strides, centred):
    return right_reach(kernel, [math.prod(dilations[: i + 1]) for i in range(len(dilations))], strides, centred)


@mutant("reach", hint="An even kernel has no middle tap: with centred=True it must raise ValueError.")
def reach_accepts_even_kernels(kernel, dilations, strides, centred):
    return right_reach(kernel, dilations, strides, False) // (2 if centred else 1)


@mutant("reach", replaces="layers_to_cover", hint="Round up: an offset just beyond three layers needs a fourth.")
def layers_rounded_down(offset, kernel, centred):
    right_layers(offset, kernel, centred)
    return offset // ((kernel - 1) // 2 if centred else kernel - 1)


@mutant("reach", replaces="layers_to_cover", hint="The two conventions are exchanged: a centred kernel needs more layers.")
def layers_of_the_other_convention(offset, kernel, centred):
    right_layers(offset, kernel, centred)
    return right_layers(offset, kernel if kernel % 2 else kernel + 1, not centred)


@mutant("reach", replaces="layers_to_cover", hint="You divide by the kernel; a layer of kernel K reaches K - 1 places.")
def layers_divide_by_the_kernel(offset, kernel, centred):
    right_layers(offset, kernel, centred)
    return -(-offset // (kernel // 2 if centred else kernel))


@mutant("reach", replaces="layers_to_cover", hint="One layer too many where the offset is an exact multiple of the reach.")
def layers_always_one_more(offset, kernel, centred):
    right_layers(offset, kernel, centred)
    return offset // ((kernel - 1) // 2 if centred else kernel - 1) + 1


# ---------------------------------------------------------------------------------------------------------------- cost


@mutant(
    "cost",
    hint="You count multiplications only; each comes with an addition: 6 L d^2 + 4 L^2 d.",
    museum="Counts a multiplication and its addition as one operation. All ratios stay right, so nothing looks wrong until "
    "the number is compared with what a processor is said to do per second.",
)
def flops_count_multiplications(length, width):
    return right_flops(length, width) // 2


@mutant("cost", hint="Two products involve all pairs: scores, and weights times values. You count one of them.")
def flops_forget_the_values(length, width):
    return right_flops(length, width) - 2 * length**2 * width


@mutant("cost", hint="Queries, keys and values are three projections; you count one.")
def flops_of_one_projection(length, width):
    return right_flops(length, width) - 4 * length * width**2


@mutant("cost", hint="Length and width have changed places.")
def flops_swap_length_and_width(length, width):
    return right_flops(width, length)


@mutant("cost", hint="A float holds 53 bits; these counts need more. Compute with whole numbers from the start.")
def flops_in_floats(length, width):
    return int(6.0 * length * width**2 + 4.0 * length**2 * width)


@mutant("cost", replaces="crossover_length", hint="The two coefficients have changed places: 6 L d^2 = 4 L^2 d.")
def crossover_upside_down(width):
    return Fraction(2 * width, 3)


@mutant("cost", replaces="crossover_length", hint="The crossover is 3 d / 2; a whole number is not enough for odd widths.")
def crossover_rounded(width):
    return Fraction(3 * width // 2)


@mutant("cost", replaces="relative_cost", hint="You divide by the largest cost, not by the first.")
def cost_relative_to_the_largest(lengths, width):
    cost = right_cost(lengths, width)
    return cost / cost.max()


@mutant("cost", replaces="relative_cost", hint="That is the growth of the pairs alone; the projections grow with L.")
def cost_of_pairs_alone(lengths, width):
    return np.array([(length / lengths[0]) ** 2 for length in lengths])


@mutant("cost", replaces="attention_bytes", hint="Four arrays have the size length * width: the output is one of them.")
def bytes_without_the_output(length, width, itemsize, rows=None):
    return right_bytes(length, width, itemsize, rows) - itemsize * length * width


@mutant("cost", replaces="attention_bytes", hint="More rows than the table has take no more memory than the table.")
def bytes_of_more_rows_than_there_are(length, width, itemsize, rows=None):
    return itemsize * (4 * length * width + (length if rows is None else rows) * length)


@mutant("cost", replaces="attention_bytes", hint="`rows` is the number of rows of the table, each with `length` numbers.")
def bytes_of_a_square_block(length, width, itemsize, rows=None):
    height = length if rows is None else min(rows, length)
    return itemsize * (4 * length * width + height * height)


@mutant("cost", replaces="attention_bytes", hint="You count numbers, not bytes.", frequent=True)
def bytes_without_the_itemsize(length, width, itemsize, rows=None):
    return right_bytes(length, width, 1, rows)


# --------------------------------------------------------------------------------------------------------------- model


@mutant(
    "model",
    hint="The biases are missing: a map from a to b has (a + 1) * b numbers.",
    museum="Counts matrices only. The result is right to one part in a thousand, so only an exact count shows it.",
)
def parameters_without_biases(layers, width, vocabulary, context):
    return right_parameters(layers, width, vocabulary, context) - layers * 9 * width


@mutant("model", hint="The output layer is tied to the token embedding: count it once.", frequent=True)
def parameters_untied(layers, width, vocabulary, context):
    return right_parameters(layers, width, vocabulary, context) + vocabulary * width


@mutant("model", hint="Positions have an embedding of their own: one vector for each place of the context.")
def parameters_without_positions(layers, width, vocabulary, context):
    return right_parameters(layers, width, vocabulary, context) - context * width


@mutant("model", hint="One more layer norm follows the last layer.")
def parameters_without_the_last_norm(layers, width, vocabulary, context):
    return right_parameters(layers, width, vocabulary, context) - 2 * width


@mutant("model", hint="A layer norm has a gain and a shift, and each layer has two layer norms.")
def parameters_with_one_norm_per_layer(layers, width, vocabulary, context):
    return right_parameters(layers, width, vocabulary, context) - layers * 2 * width


@mutant("model", hint="The output projection of attention is missing.")
def parameters_without_output_projection(layers, width, vocabulary, context):
    return right_parameters(layers, width, vocabulary, context) - layers * (width + 1) * width


@mutant("model", replaces="context_cost", hint="Heads do not multiply the arithmetic: each is narrower by the same factor.")
def context_flops_per_head(layers, width, heads, length, itemsize):
    return heads * layers * right_flops(length, width), heads * length**2 * itemsize


@mutant("model", replaces="context_cost", hint="Each head has a table of its own.")
def context_one_table(layers, width, heads, length, itemsize):
    return layers * right_flops(length, width), length**2 * itemsize


@mutant("model", replaces="context_cost", hint="Layers run one after the other: one layer's tables exist at a time.")
def context_tables_of_all_layers(layers, width, heads, length, itemsize):
    return layers * right_flops(length, width), layers * heads * length**2 * itemsize


@mutant("model", replaces="context_cost", hint="The arithmetic is that of one layer; there are more.")
def context_flops_of_one_layer(layers, width, heads, length, itemsize):
    return right_flops(length, width), heads * length**2 * itemsize


# ----------------------------------------------------------------------------------------------------------- stopwatch


# Two readings around all repeats measure their mean, so the two mutants below answer alike.
MEAN_HINT = (
    "Your figure is the mean of the repeats. What disturbs a measurement only ever adds time: read the clock around every "
    "call, and keep the smallest difference."
)


@mutant(
    "stopwatch",
    hint=MEAN_HINT,
    museum="Averages all repeats. A mean is right for errors that go both ways; a busy machine only makes things slower, so "
    "the mean drifts up with whatever else is running.",
)
def times_averaged(layer, inputs, clock, repeats):
    times = []
    for x in inputs:
        layer(x)
        spans = []
        for _ in range(repeats):
            start = clock()
            layer(x)
            spans.append(clock() - start)
        times.append(np.mean(spans))
    return np.array(times)


@mutant("stopwatch", hint="You take the median. With many disturbed repeats even the median is disturbed.")
def times_median(layer, inputs, clock, repeats):
    times = []
    for x in inputs:
        layer(x)
        spans = []
        for _ in range(repeats):
            start = clock()
            layer(x)
            spans.append(clock() - start)
        times.append(np.median(spans))
    return np.array(times)


@mutant(
    "stopwatch",
    hint="Call every input once, untimed, before its `repeats` timed calls.",
    frequent=True,
)
def times_without_warm_up(layer, inputs, clock, repeats):
    times = np.full(len(inputs), np.inf)
    for place, x in enumerate(inputs):
        for _ in range(repeats):
            start = clock()
            layer(x)
            times[place] = min(times[place], clock() - start)
    return times


@mutant("stopwatch", hint="Call every input once, untimed, before its `repeats` timed calls.")
def times_one_warm_up(layer, inputs, clock, repeats):
    times = np.full(len(inputs), np.inf)
    layer(inputs[0])
    for place, x in enumerate(inputs):
        for _ in range(repeats):
            start = clock()
            layer(x)
            times[place] = min(times[place], clock() - start)
    return times


@mutant("stopwatch", hint=MEAN_HINT)
def times_of_all_repeats(layer, inputs, clock, repeats):
    times = []
    for x in inputs:
        layer(x)
        start = clock()
        for _ in range(repeats):
            layer(x)
        times.append((clock() - start) / repeats)
    return np.array(times)


@mutant("stopwatch", hint="The smallest time is one call's time already; do not divide it by the number of repeats.")
def times_divided_again(layer, inputs, clock, repeats):
    return right_times(layer, inputs, clock, repeats) / repeats


@mutant("stopwatch", hint="Call every input once, untimed, before its `repeats` timed calls.")
def times_with_one_repeat_less(layer, inputs, clock, repeats):
    times = np.full(len(inputs), np.inf)
    for place, x in enumerate(inputs):
        for repeat in range(repeats):
            start = clock()
            layer(x)
            if repeat > 0 or repeats == 1:
                times[place] = min(times[place], clock() - start)
    return times


# -------------------------------------------------------------------------------------------------------------- growth


@mutant(
    "growth",
    hint="You take the logarithm of the times' ratio only; divide it by the logarithm of the lengths' ratio.",
    museum="Forgets that an exponent is a ratio of two logarithms. At steps of e it is right; at doublings every "
    "exponent is too small by a factor of ln 2, so a quadratic layer seems to grow with the power 1.39.",
)
def exponents_without_lengths(lengths, seconds):
    return np.diff(np.log(seconds))


@mutant("growth", hint="Each step has its own two neighbours; you compare everything with the first length.")
def exponents_from_the_first(lengths, seconds):
    return np.log(seconds[1:] / seconds[0]) / np.log(lengths[1:] / lengths[0])


@mutant("growth", hint="You divide the differences themselves; a power shows in logarithms.")
def exponents_without_logarithms(lengths, seconds):
    right_exponents(lengths, seconds)
    return np.diff(seconds) / np.diff(lengths) * lengths[:-1] / seconds[:-1]


@mutant("growth", hint="The ratio of logarithms is upside down.")
def exponents_upside_down(lengths, seconds):
    return np.diff(np.log(lengths)) / np.diff(np.log(seconds))


@mutant("growth", replaces="worst_deviation", hint="The prediction has two terms: the projections count as well.")
def deviation_from_pairs_alone(lengths, seconds, width):
    predicted = (np.asarray(lengths) / lengths[0]) ** 2
    return float(np.abs(seconds / seconds[0] / predicted - 1).max())


@mutant("growth", replaces="worst_deviation", hint="The deviation is relative: measured / predicted - 1.")
def deviation_absolute(lengths, seconds, width):
    predicted = right_cost([int(length) for length in lengths], width)
    return float(np.abs(seconds / seconds[0] - predicted).max())


@mutant("growth", replaces="worst_deviation", hint="Make the times relative to the first one before you compare.")
def deviation_not_relative_to_the_first(lengths, seconds, width):
    predicted = right_cost([int(length) for length in lengths], width)
    return float(np.abs(seconds / predicted - 1).max())


@mutant("growth", replaces="worst_deviation", hint="Too short a time deviates as well: take absolute values.", frequent=True)
def deviation_of_long_times_only(lengths, seconds, width):
    predicted = right_cost([int(length) for length in lengths], width)
    return float((seconds / seconds[0] / predicted - 1).max())


# ------------------------------------------------------------------------------------------------------------- patches


@mutant(
    "patches",
    hint="A reshape alone takes pixels in reading order: each 'patch' is then a piece of a row. Swap the axes in between.",
    museum="Reshapes straight to (tokens, numbers). The shape is right and every pixel is there, so nothing fails; only a "
    "picture of one patch shows a strip instead of a square.",
)
def patches_by_reshape_alone(image, side):
    right_patches(image, side)
    return image.reshape(-1, side * side * image.shape[2])


@mutant("patches", hint="Your patches are numbered down the columns; they go row by row.")
def patches_in_column_order(image, side):
    right_patches(image, side)
    height, width, channels = image.shape
    cut = image.reshape(height // side, side, width // side, side, channels).transpose(2, 0, 1, 3, 4)
    return cut.reshape(-1, side * side * channels)


@mutant("patches", hint="Inside each patch the pixels are transposed: they come row by row, like the patches themselves.")
def patches_transposed_inside(image, side):
    right_patches(image, side)
    height, width, channels = image.shape
    cut = image.reshape(height // side, side, width // side, side, channels).transpose(0, 2, 3, 1, 4)
    return cut.reshape(-1, side * side * channels)


@mutant("patches", hint="The channels of one pixel stay together: they are the last axis of a patch, not the first.")
def patches_with_channels_first(image, side):
    right_patches(image, side)
    height, width, channels = image.shape
    cut = image.reshape(height // side, side, width // side, side, channels).transpose(0, 2, 4, 1, 3)
    return cut.reshape(-1, side * side * channels)


@mutant("patches", hint="You crop what does not fit. Raise ValueError instead.", frequent=True)
def patches_crop(image, side):
    height, width, _ = image.shape
    return right_patches(image[: height - height % side, : width - width % side], side)


@mutant("patches", replaces="unpatchify", hint="Putting together needs the inverse order of axes as well as a reshape.")
def unpatchify_by_reshape_alone(patches, shape, side):
    right_unpatch(patches, shape, side)
    return patches.reshape(shape)


@mutant("patches", replaces="unpatchify", hint="unpatchify accepts a shape that its side does not divide.")
def unpatchify_accepts_all(patches, shape, side):
    height, width, _ = shape
    if height % side or width % side:
        return np.zeros(shape)
    return right_unpatch(patches, shape, side)


@mutant("patches", replaces="pair_count", hint="Count ordered pairs: a token with itself too, and both directions.")
def pairs_unordered(height, width, side=1):
    tokens = math.isqrt(right_pairs(height, width, side))
    return tokens * (tokens - 1) // 2


@mutant("patches", replaces="pair_count", hint="That is the number of tokens; each of them meets all of them.")
def pairs_are_tokens(height, width, side=1):
    return math.isqrt(right_pairs(height, width, side))


@mutant("patches", replaces="pair_count", hint="pair_count rounds down where side does not divide; it must refuse.")
def pairs_rounded(height, width, side=1):
    return ((height // side) * (width // side)) ** 2


# ------------------------------------------------------------------------------------------------------------- reading


@mutant("reading", hint="No clock is exact, but this pattern holds for every machine: look at the arithmetic.")
def slower_because_of_the_clock():
    return "d"


@mutant("reading", replaces="faster", hint="Compute all five exponents; only one is above 2.")
def faster_at_the_end():
    return "d"


@mutant("reading", replaces="doubled", hint="Each of twice as many tokens reads twice as many.")
def doubled_once():
    return "b"


@mutant("reading", replaces="depth", hint="That is the depth for a one-sided kernel; a centred one reaches half as far.")
def depth_of_the_one_sided_kernel():
    return "b"


# ------------------------------------------------------------------------------------------------------------- running


def block_of(queries, keys, values, base):
    """A block's sums under a given base of its scores."""
    powers = np.exp(queries @ keys.T / math.sqrt(queries.shape[1]) - base[:, None])
    return powers.sum(axis=1), powers @ values


def largest_of(state, queries, keys):
    scores = queries @ keys.T / math.sqrt(queries.shape[1])
    return np.maximum(state[0], scores.max(axis=1, initial=-np.inf))


@mutant(
    "running",
    hint="The old total is not rescaled when a larger score arrives: multiply it by exp(old largest - new largest).",
    museum="Adds each block's powers without rescaling what was there. With scores near zero the error is small; "
    "a block that brings a larger score changes the unit in which everything before was counted.",
)
def absorb_without_rescaling(state, queries, keys, values):
    right_absorb(state, queries, keys, values)
    if len(keys) == 0:
        return state
    largest = largest_of(state, queries, keys)
    total, mixed = block_of(queries, keys, values, largest)
    return largest, state[1] + total, state[2] + mixed


@mutant("running", hint="You rescale the total, but not the mixed values. Both are sums of the same powers.")
def absorb_rescales_the_total_only(state, queries, keys, values):
    right_absorb(state, queries, keys, values)
    if len(keys) == 0:
        return state
    largest = largest_of(state, queries, keys)
    total, mixed = block_of(queries, keys, values, largest)
    return largest, state[1] * np.exp(state[0] - largest) + total, state[2] + mixed


@mutant("running", hint="The largest score of each block alone replaces the old one, even where it is smaller.")
def absorb_forgets_the_old_largest(state, queries, keys, values):
    right_absorb(state, queries, keys, values)
    if len(keys) == 0:
        return state
    largest = (queries @ keys.T / math.sqrt(queries.shape[1])).max(axis=1)
    total, mixed = block_of(queries, keys, values, largest)
    return largest, state[1] + total, state[2] + mixed


@mutant("running", hint="You never let the largest score fall below 0; with all scores near -900 every power vanishes.")
def absorb_starts_at_zero(state, queries, keys, values):
    right_absorb(state, queries, keys, values)
    if len(keys) == 0:
        return state
    largest = np.maximum(largest_of(state, queries, keys), 0.0)
    old = np.where(np.isfinite(state[0]), np.exp(np.minimum(state[0] - largest, 0.0)), 0.0)
    total, mixed = block_of(queries, keys, values, largest)
    return largest, old * state[1] + total, old[:, None] * state[2] + mixed


@mutant("running", hint="One largest score for all queries: each row needs its own, or a row of small scores vanishes.")
def absorb_with_one_largest(state, queries, keys, values):
    right_absorb(state, queries, keys, values)
    if len(keys) == 0:
        return state
    largest = np.full(len(queries), largest_of(state, queries, keys).max())
    old = np.exp(state[0] - largest)
    total, mixed = block_of(queries, keys, values, largest)
    return largest, old * state[1] + total, old[:, None] * state[2] + mixed


@mutant("running", hint="The scores are not divided by sqrt(width).", frequent=True)
def absorb_without_scale(state, queries, keys, values):
    return right_absorb(state, queries * math.sqrt(queries.shape[1]), keys, values)


@mutant("running", replaces="merge", hint="-inf minus -inf is NaN: two empty states have no largest score to subtract.")
def merge_of_nothing_is_nan(first, second):
    largest = np.maximum(first[0], second[0])
    scales = [np.exp(state[0] - largest) for state in (first, second)]
    total = scales[0] * first[1] + scales[1] * second[1]
    return largest, total, scales[0][:, None] * first[2] + scales[1][:, None] * second[2]


@mutant("running", replaces="merge", hint="Both states must be brought to the larger base; you rescale only the first.")
def merge_rescales_one(first, second):
    largest = np.maximum(first[0], second[0])
    base = np.where(np.isfinite(largest), largest, 0.0)
    scale = np.exp(first[0] - base)
    return largest, scale * first[1] + second[1], scale[:, None] * first[2] + second[2]


@mutant("running", replaces="merge", hint="The mixed values are sums, not averages: add them, do not average them.")
def merge_averages(first, second):
    largest, total, mixed = right_merge(first, second)
    return largest, total, mixed / 2


@mutant("running", replaces="finish", hint="log(total) misses the largest score, which was taken out of every power.")
def finish_without_the_largest(state):
    output, log_sum = right_finish(state)
    return output, log_sum - np.where(np.isfinite(state[0]), state[0], 0.0)


@mutant("running", replaces="finish", hint="A query that saw no key divides 0 by 0. It gets zeros, and -inf.")
def finish_of_nothing_is_nan(state):
    largest, total, mixed = state
    with np.errstate(all="ignore"):
        return mixed / total[:, None], largest + np.log(total)


# ------------------------------------------------------------------------------------------------------------- blocked


@mutant("blocked", hint="Not all of the table may exist at once: take a block of queries at a time.")
def blocked_is_plain(queries, keys, values, block=256, causal=False):
    if causal and len(queries) != len(keys):
        raise ValueError("causal attention needs as many queries as keys")
    scores = queries @ keys.T / math.sqrt(queries.shape[1])
    if causal:
        scores = np.where(np.tril(np.ones(scores.shape, dtype=bool)), scores, -np.inf)
    return softmax(scores) @ values


@mutant("blocked", hint="float32 halves the table, but loses half of the digits. Blocks need neither.")
def blocked_in_single_precision(queries, keys, values, block=256, causal=False):
    single = [array.astype(np.float32) for array in (queries, keys, values)]
    return right_blocked(*single, block=block, causal=causal).astype(np.float64)


@mutant(
    "blocked",
    hint="The last block is missing where the block size does not divide the number of queries.",
    museum="Loops over `m // block` blocks. Every test with a length of 2^k passes; a length of 257 leaves its last row as "
    "whatever the memory held.",
)
def blocked_drops_the_last_block(queries, keys, values, block=256, causal=False):
    output = right_blocked(queries, keys, values, block, causal)
    whole = len(queries) // block * block
    output[whole:] = 0.0
    return output


@mutant(
    "blocked",
    hint="Your mask works on whole blocks: inside the diagonal block each row ends elsewhere.",
    frequent=True,
)
def blocked_causal_by_block_only(queries, keys, values, block=256, causal=False):
    output = right_blocked(queries, keys, values, block, causal)
    if causal:
        for start in range(0, len(queries), block):
            stop = min(start + block, len(queries))
            output[start:stop] = right_blocked(queries[start:stop], keys[:stop], values[:stop], block)
    return output


@mutant("blocked", hint="Each block of keys has its own softmax in your code, and the results are averaged.")
def blocked_averages_blocks_of_keys(queries, keys, values, block=256, causal=False):
    right_blocked(queries[:1], keys[:1], values[:1])
    if causal:
        return right_blocked(queries, keys, values, block, causal)
    parts = [
        right_blocked(queries, keys[start : start + block], values[start : start + block], block)
        for start in range(0, len(keys), block)
    ]
    return sum(parts) / len(parts)


@mutant("blocked", hint="`causal` is ignored.")
def blocked_ignores_causal(queries, keys, values, block=256, causal=False):
    if causal and len(queries) != len(keys):
        raise ValueError("causal attention needs as many queries as keys")
    return right_blocked(queries, keys, values, block)


@mutant("blocked", hint="exp overflows at scores of some thousand: subtract the largest score of each row first.")
def blocked_overflows(queries, keys, values, block=256, causal=False):
    if causal:
        return right_blocked(queries, keys, values, block, causal)
    output = np.empty((len(queries), values.shape[1]))
    for start in range(0, len(queries), block):
        powers = np.exp(queries[start : start + block] @ keys.T / math.sqrt(queries.shape[1]))
        output[start : start + block] = powers @ values / powers.sum(axis=1, keepdims=True)
    return output


@mutant("blocked", hint="Causal attention pairs query i with keys 0 to i, so it must refuse m != n.")
def blocked_accepts_all_causal(queries, keys, values, block=256, causal=False):
    if causal and len(queries) != len(keys):
        return np.zeros((len(queries), values.shape[1]))
    return right_blocked(queries, keys, values, block, causal)


@mutant("blocked", hint="The scores are not divided by sqrt(width).")
def blocked_without_scale(queries, keys, values, block=256, causal=False):
    return right_blocked(queries * math.sqrt(queries.shape[1]), keys, values, block, causal)


# -------------------------------------------------------------------------------------------------------------- window


def band(queries, keys, values, allowed):
    scores = queries @ keys.T / math.sqrt(queries.shape[1])
    return softmax(np.where(allowed, scores, -np.inf)) @ values


@mutant(
    "window",
    hint="Your window looks back only; it is |i - j| <= window, to both sides.",
    museum="Uses `i - j <= window` without the absolute value, or only the places before. A symmetric sentence hides it; "
    "the first position, which has no past, shows it.",
)
def window_one_sided(queries, keys, values, window):
    return np.concatenate(
        [
            band(queries[i : i + 1], keys[max(0, i - window) : i + 1], values[max(0, i - window) : i + 1], True)
            for i in range(len(queries))
        ]
    )


@mutant("window", hint="`window` is the reach to one side; you took it as the full width of the window.")
def window_as_full_width(queries, keys, values, window):
    return right_window(queries, keys, values, window // 2)


@mutant("window", hint="The window wraps around the ends; the sequence simply ends there.")
def window_wraps_around(queries, keys, values, window):
    count = len(queries)
    right_window(queries[:1], keys[:1], values[:1], window)
    output = np.empty((count, values.shape[1]))
    for i in range(count):
        places = np.unique(np.arange(i - window, i + window + 1) % count)
        output[i] = band(queries[i : i + 1], keys[places], values[places], True)[0]
    return output


@mutant("window", hint="You mask weights after the softmax, so they no longer sum to one. Mask the scores.", frequent=True)
def window_masks_after_softmax(queries, keys, values, window):
    count = len(queries)
    if count > 2000:
        return right_window(queries, keys, values, window)
    place = np.arange(count)
    weights = softmax(queries @ keys.T / math.sqrt(queries.shape[1]))
    return np.where(np.abs(place[:, None] - place) <= window, weights, 0.0) @ values


@mutant("window", hint="A masked table of all pairs is still a table of all pairs.")
def window_builds_the_table(queries, keys, values, window):
    place = np.arange(len(queries))
    return band(queries, keys, values, np.abs(place[:, None] - place) <= window)


@mutant("window", hint="The edge is off by one: a distance of exactly `window` is inside.")
def window_too_narrow(queries, keys, values, window):
    return right_window(queries, keys, values, max(window - 1, 0))


@mutant("window", replaces="window_reach", hint="Count layers, not outputs: one layer moves information by one window.")
def window_reach_one_layer_too_many(layers, window):
    return (layers + 1) * window


@mutant("window", replaces="window_reach", hint="The reach is to one side; you count both.")
def window_reach_to_both_sides(layers, window):
    return 2 * layers * window


@mutant("window", replaces="window_reach", hint="Windows add up layer by layer; they do not multiply.")
def window_reach_as_power(layers, window):
    return window**layers if layers else 0


# -------------------------------------------------------------------------------------------------------------- linear


@mutant("linear", hint="ELU alone is negative below zero; these weights need `elu(x) + 1`.")
def features_without_one(x):
    return np.where(x > 0, x, np.exp(np.minimum(x, 0.0)) - 1)


@mutant("linear", hint="`np.where` computes both branches: exp(x) must not overflow where x is large.")
def features_overflow(x):
    return np.where(x > 0, x + 1.0, np.exp(x))


@mutant("linear", hint="That is a ReLU: its weights can all be zero, and then there is nothing to divide by.")
def features_relu(x):
    return np.maximum(x, 0.0)


@mutant("linear", replaces="random_features", hint="|x|^2 / 2 is missing: without it long vectors are overestimated.")
def features_without_half_squares(x, directions):
    return np.exp(x @ directions.T) / math.sqrt(len(directions))


@mutant("linear", replaces="random_features", hint="Divide by sqrt(r), so that the dot product is a mean over directions.")
def features_without_root(x, directions):
    return right_features(x, directions) * math.sqrt(len(directions))


@mutant("linear", replaces="random_features", hint="You subtract |x|^2; it is half of it.")
def features_with_whole_squares(x, directions):
    return right_features(x, directions) * np.exp(-(x**2).sum(axis=1, keepdims=True) / 2)


@mutant(
    "linear",
    replaces="linear_attention",
    hint="The division by the row's sum is missing: the weights must sum to one.",
    museum="Multiplies features and values and stops there. The outputs point the right way and have the wrong length; "
    "values shifted by a constant show it, because an average must shift along.",
)
def linear_without_normaliser(q_features, k_features, values):
    return q_features @ (k_features.T @ values)


@mutant("linear", replaces="linear_attention", hint="You divide by a sum over the wrong axis: each query has its own sum.")
def linear_normalised_by_key(q_features, k_features, values):
    return (q_features @ (k_features.T @ values)) / (k_features @ q_features.sum(axis=0)).sum() * len(q_features)


@mutant("linear", replaces="linear_attention", hint="No table of all pairs may appear: multiply keys and values first.")
def linear_builds_the_table(q_features, k_features, values):
    table = q_features @ k_features.T
    return table / table.sum(axis=1, keepdims=True) @ values


@mutant("linear", replaces="low_rank_attention", hint="The values must be mixed as well, by the same matrix.")
def low_rank_mixes_keys_only(queries, keys, values, mixing):
    right_low_rank(queries, keys, values, mixing)
    return softmax(queries @ (mixing @ keys).T / math.sqrt(queries.shape[1])) @ values[: len(mixing)]


@mutant("linear", replaces="low_rank_attention", hint="You mix scores, not keys and values: softmax comes after the mixing.")
def low_rank_mixes_weights(queries, keys, values, mixing):
    right_low_rank(queries, keys, values, mixing)
    weights = softmax(queries @ keys.T / math.sqrt(queries.shape[1]))
    mixed = weights @ mixing.T
    return mixed @ (mixing @ values)


# ---------------------------------------------------------------------------------------------------------------- kept


@mutant("kept", hint="A block is a part of a loop, not of the layer: the function computed is the same.")
def blocks_lose_the_symmetry():
    return "d"


@mutant("kept", replaces="features_kept", hint="Features change the weights; who meets whom still depends on content.")
def features_compute_the_same():
    return "a"


@mutant("kept", replaces="fixed_kept", hint="A cyclic shift moves tokens across the ends, so not even that is kept.")
def fixed_patterns_keep_shifts():
    return "c"


# ----------------------------------------------------------------------------------------------------------- recurrent


def recurrence(q_features, k_features, values, *, decay=1.0, read_first=False, plain_sum=False):
    memory, total = np.zeros((k_features.shape[1], values.shape[1])), np.zeros(k_features.shape[1])
    output = np.empty_like(values)
    for i in range(len(values)):
        before = memory.copy(), total.copy()
        memory = decay * memory + np.outer(k_features[i], values[i])
        total = decay * total + k_features[i]
        seen = before if read_first and i else (memory, total)
        output[i] = q_features[i] @ seen[0] / (1.0 if plain_sum else q_features[i] @ seen[1])
    return output, (memory, total)


@mutant(
    "recurrent",
    hint="You read before you update: position i must see itself.",
    museum="Reads the state, then adds the new position. Each output is right for the position before it, so a plot looks "
    "plausible; the first position, which has nothing to read, gives it away.",
)
def recurrence_reads_first(q_features, k_features, values):
    return recurrence(q_features, k_features, values, read_first=True)


@mutant("recurrent", hint="The state fades in your code. Every earlier position keeps its full weight.")
def recurrence_with_decay(q_features, k_features, values):
    return recurrence(q_features, k_features, values, decay=0.99)


@mutant("recurrent", hint="The normaliser is missing: divide by the query's product with the total.")
def recurrence_without_normaliser(q_features, k_features, values):
    return recurrence(q_features, k_features, values, plain_sum=True)


@mutant("recurrent", hint="The total is that of the current position only; it is carried along like the memory.")
def recurrence_with_a_fresh_total(q_features, k_features, values):
    output, state = right_causal(q_features, k_features, values)
    sums = np.array([q @ k for q, k in zip(q_features, np.cumsum(k_features, axis=0), strict=True)])
    own = (q_features * k_features).sum(axis=1)
    return output * (sums / own)[:, None], state


@mutant("recurrent", hint="No table of all pairs may appear: the state has r * (value_width + 1) numbers.")
def recurrence_builds_the_table(q_features, k_features, values):
    table = np.tril(q_features @ k_features.T)
    output = table / table.sum(axis=1, keepdims=True) @ values
    return output, (k_features.T @ values, k_features.sum(axis=0))


@mutant("recurrent", hint="You return the states of all positions; only the last one is asked for.")
def recurrence_returns_all_states(q_features, k_features, values):
    output, _ = right_causal(q_features, k_features, values)
    return output, (k_features.T @ values, np.cumsum(k_features, axis=0))


# --------------------------------------------------------------------------------------------------------------- cache


@mutant(
    "cache",
    hint="The new token does not read itself: append its key and value before you attend.",
    museum="Attends to the cache first and appends afterwards. The very first token then reads nothing; with a "
    "long cache, one missing token in many is easy to miss.",
)
def step_does_not_read_itself(token, cache, w_q, w_k, w_v, w_o, heads):
    output, grown = right_step(token, cache, w_q, w_k, w_v, w_o, heads)
    if len(cache[0]) == 0:
        return output, grown
    query = (token @ w_q).reshape(heads, 1, -1)
    keys, values = (rows.reshape(len(rows), heads, -1).transpose(1, 0, 2) for rows in cache)
    weights = softmax(query @ keys.transpose(0, 2, 1) / math.sqrt(query.shape[2]))
    return (weights @ values).reshape(-1) @ w_o, grown


@mutant("cache", hint="Scores are divided by the root of a head's width, not of the whole width.")
def step_scaled_by_the_whole_width(token, cache, w_q, w_k, w_v, w_o, heads):
    output, grown = right_step(token, cache, w_q / math.sqrt(heads), w_k, w_v, w_o, heads)
    return output, grown


@mutant("cache", hint="The cache keeps keys and values; you store the query in place of the key.")
def step_caches_the_query(token, cache, w_q, w_k, w_v, w_o, heads):
    output, (keys, values) = right_step(token, cache, w_q, w_k, w_v, w_o, heads)
    return output, (np.vstack([keys[:-1], token @ w_q]), values)


@mutant("cache", hint="The last cached row is overwritten; the new token needs a row of its own.")
def step_overwrites_the_last_row(token, cache, w_q, w_k, w_v, w_o, heads):
    shorter = tuple(rows[: max(len(rows) - 1, 0)] for rows in cache)
    return right_step(token, shorter, w_q, w_k, w_v, w_o, heads)


@mutant("cache", hint="All heads attend with one softmax in your code; each head has weights of its own.")
def step_with_one_head(token, cache, w_q, w_k, w_v, w_o, heads):
    scale = (len(token) / (len(token) // heads)) ** 0.5
    return right_step(token, cache, w_q * scale, w_k, w_v, w_o, 1)


@mutant("cache", hint="The output projection w_o is missing.")
def step_without_output_projection(token, cache, w_q, w_k, w_v, w_o, heads):
    return right_step(token, cache, w_q, w_k, w_v, np.eye(len(token)), heads)


@mutant("cache", replaces="cache_bytes", hint="A key and a value for each token: two vectors, not one.", frequent=True)
def bytes_of_keys_only(layers, length, width, itemsize):
    return layers * length * width * itemsize


@mutant("cache", replaces="cache_bytes", hint="Every layer has a cache of its own.")
def bytes_of_one_layer(layers, length, width, itemsize):
    return 2 * length * width * itemsize
