"""Problem set 2: attention does not know the order.

D1 and D3 are two of the teaching documents that this course is built on; the lesson's
last section names them.
"""

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np

# takes tokens, one per row; returns an array
Layer = Callable[[np.ndarray], np.ndarray]


# --- Question 1: A layer that reads itself (core, 8 points, 30 minutes, moderate)

def self_attention(
    x: np.ndarray,
    w_q: np.ndarray,
    w_k: np.ndarray,
    w_v: np.ndarray,
    mask: np.ndarray | None = None,
) -> np.ndarray:
    """One head of self-attention: every token reads every token it is allowed to read.

    Queries are x @ w_q, keys x @ w_k, values x @ w_v. The score of token i for token j
    is the dot product of query i and key j, divided by the square root of d_k, the
    width of queries and keys. A softmax over j turns row i of the scores into weights,
    and output i is the average of the values with those weights.

    Parameters
    ----------
    x: (n, d), one token per row. w_q, w_k: (d, d_k). w_v: (d, d_v).
    mask: (n, n) of bool, or None. mask[i, j] is True where token i may read token j. A
        forbidden token gets weight exactly 0. A token that may read nothing has no
        weights at all; its output is a row of zeros.

    Returns
    -------
    (n, d_v), of the dtype of the inputs: all float32 in, float32 out. (Beware:
    np.sqrt(4) is a float64 number and turns a float32 array into float64; math.sqrt(4)
    does not.) Scores between -1e4 and 1e4 give right weights, and none of them
    overflows, with a mask or without.

    Source: D1, "Show the reasoning"; masks: D3, "The edge case".
    """
    raise NotImplementedError("not done yet")


# --- Question 2: Shuffle before, shuffle after (core, 5 points, 15 minutes, easy)

def equivariance_gap(layer: Layer, x: np.ndarray, permutation: np.ndarray) -> float:
    """How far a layer is from "reorder the input, and the output reorders with it", for
    one reordering.

    Compare layer(reordered x) with the reordered layer(x), and return the largest
    absolute difference between them. "Reordered" means a[permutation]: row i of the
    reordered array is row permutation[i] of a.

    Parameters
    ----------
    layer: any function from an (n, d) array to an array with n rows (of any width, or
        1-D with n numbers).
    x: (n, d), one token per row. permutation: (n,) of int, each of 0 ... n-1 once.

    Returns
    -------
    A number >= 0. NaN if an output holds NaN: a gap that cannot be measured must not
    look like a small one.
    Raises ValueError if the layer's output does not have n rows.

    Source: D1, "It really does not know the order".
    """
    raise NotImplementedError("not done yet")


# --- Question 3: One claim too many (core, 1 point, 5 minutes, easy)

# Three of these claims are right and one is wrong. Which one is wrong? Answer with its
# letter in quotes.
#   "a" Full self-attention without positions commutes with every reordering of its
#       tokens, before training and after.
#   "b" Full self-attention without positions, followed by a mean over the tokens, gives
#       the same vector in every order.
#   "c" A causal mask holds no learned numbers, so attention with a causal mask commutes
#       with every reordering.
#   "d" A layer that commutes with every reordering of its tokens commutes with every
#       cyclic shift of them.
symmetry_claims = None


# --- Question 4: From rows to one answer (core, 6 points, 20 minutes, easy)

def pooled_attention(
    x: np.ndarray, query: np.ndarray, w_k: np.ndarray, w_v: np.ndarray
) -> np.ndarray:
    """Turn a set of tokens into one vector: a single learned query reads all of them.

    Keys are x @ w_k, values x @ w_v. The score of token j is query . key j, divided by
    the square root of d_k, the length of the query. A softmax over the tokens turns
    scores into weights; the result is the average of the values with them.

    Parameters
    ----------
    x: (n, d), one token per row. query: (d_k,). w_k: (d, d_k). w_v: (d, d_v).

    Returns
    -------
    (d_v,). Scores between -1e4 and 1e4 give right weights, and none of them overflows.

    Source: D1, "It really does not know the order".
    """
    raise NotImplementedError("not done yet")


def invariance_gap(layer: Layer, x: np.ndarray, permutation: np.ndarray) -> float:
    """How far a layer is from "reorder the input, and nothing happens", for one
    reordering.

    Compare layer(x[permutation]) with layer(x), and return the largest absolute
    difference between them.

    Parameters
    ----------
    layer: any function from an (n, d) array to an array of any shape, or to a number.
        x: (n, d), one token per row.
    permutation: (n,) of int, each of 0 ... n-1 once; row i of x[permutation] is row
        permutation[i] of x.

    Returns
    -------
    A number >= 0. NaN if an output holds NaN.

    Source: D1, "It really does not know the order".
    """
    raise NotImplementedError("not done yet")


# --- Question 5: Predict before you read on (core, 1 point, 2 minutes, easy)

# Eight tokens are independent normal numbers with mean 0. You see them without their
# order and predict the sign of the one that stood at position zero by the sign of their
# mean. How often are you right?
#   "a" in 50 % of all cases, like a coin
#   "b" in about 62 %
#   "c" in about 75 %
#   "d" in about 88 %
# Any answer earns the point, as long as it is one letter in quotes. Commit to one
# before you read on.
guess_baseline = None


# --- Question 6: A rule that needs no order (core, 3 points, 10 minutes, easy)

def sign_of_mean_accuracy(length: int) -> float:
    """How often the mean of `length` tokens has the sign of the token at position zero.

    The tokens are independent standard normal numbers. Closed form: one half plus
    arcsin(1 / sqrt(length)) / pi.

    Parameters
    ----------
    length: number of tokens, at least 1. Raises ValueError below 1.

    Returns
    -------
    A probability, as a float.

    Source: D1, "It really does not know the order".
    """
    raise NotImplementedError("not done yet")


# --- Question 7: The best rule without order (core, 4 points, 15 minutes, easy)

def bayes_decision(signs: np.ndarray) -> int:
    """The best prediction of the sign of the token at position zero, for someone who
    cannot see the order.

    You receive the signs of all tokens. Someone who sees only which tokens are there,
    and not where, must take each of them to be equally likely to have come from
    position zero. Return the sign that is then more likely. On a tie both signs are
    equally likely; return +1.

    Parameters
    ----------
    signs: (n,) of +1 and -1, n at least 1. The order in which they are listed must not
        matter.
        Raises ValueError if signs is empty or holds anything but +1 and -1.

    Returns
    -------
    +1 or -1.

    Source: D1, "It really does not know the order".
    """
    raise NotImplementedError("not done yet")


# --- Question 8: Two numbers and a model (core, 1 point, 5 minutes, moderate)

# A model without positions learns the task of eight tokens. It reaches 0.640 on its
# 1000 training examples and 0.580 on 1000 fresh ones. Which reading of the two numbers
# 0.6150 and 0.63671875 is right? One letter in quotes.
#   "a" 0.6150 is the most that any rule without order can reach on fresh examples; the
#       sign of the mean attains it.
#   "b" 0.6150 belongs to one rule, the sign of the mean; the best rule without order
#       attains 0.63671875, the majority.
#   "c" Both belong to rules that are not trained; with enough training the model must
#       pass both on fresh examples.
#   "d" 0.63671875 bounds every accuracy such a model can show, so 0.640 on the training
#       examples must be a mistake.
baselines = None


# --- Question 9: Rounding or broken? (deepen, 9 points, 40 minutes, hard)

def is_equivariant(
    layer: Layer, x: np.ndarray, trials: int = 20, seed: int = 0
) -> bool:
    """Decide whether a layer commutes with every reordering of its tokens, as far as
    `trials` random ones can tell.

    For each of `trials` permutations drawn from numpy.random.default_rng(seed), compare
    layer(x[permutation]) with layer(x)[permutation]. The layer passes if no number
    differs by more than rounding explains:

        |difference| <= 64 * eps * scale

    where eps belongs to the dtype of the layer's OUTPUT (np.finfo(...).eps: 1.2e-7 for
    float32, 2.2e-16 for float64) and scale is the largest absolute number in layer(x).
    The factor 64 is not sacred: in the layers that grade you, rounding stays below 16 *
    eps * scale, and a broken symmetry exceeds 1000 * eps * scale.

    A layer that returns zeros only is equivariant. A layer that gives different answers
    for the same tokens (random, or with a memory) is not, nor is one that returns NaN
    or infinity.

    Parameters
    ----------
    layer: any function from an (n, d) array to an array with n rows. x: (n, d), float32
        or float64; give the layer tokens of that same dtype. trials: number of random
        permutations, 1 or more; a layer that passes has been tried with that many.
        seed: seed of the random permutations.

    Returns
    -------
    True or False.

    Source: D1, "It really does not know the order"; D3, "The second property".
    """
    raise NotImplementedError("not done yet")


# --- Question 10: Measure it, and say how well (deepen, 5 points, 20 minutes, easy)

def simulate_sign_of_mean(length: int, trials: int, seed: int) -> tuple[float, float]:
    """Measure the accuracy of `sign_of_mean_accuracy` by simulation, and say how far to
    trust the measurement.

    A trial draws `length` independent standard normal tokens; it is a success if their
    mean has the sign of token 0. The estimate is the share p of successes. The
    half-width of its 95 % confidence interval is

        1.96 * sqrt(p * (1 - p) / trials)

    Parameters
    ----------
    length: number of tokens, at least 1. trials: number of independent trials.
    seed: seed of the random numbers. The same seed gives the same answer; other seeds
        give other draws.

    Returns
    -------
    (estimate, half_width), two floats. The interval reaches from estimate - half_width
    to estimate + half_width.

    Source: D1, "It really does not know the order".
    """
    raise NotImplementedError("not done yet")


# --- Question 11: How good the best rule is (deepen, 5 points, 25 minutes, moderate)

def invariant_bayes_bound(length: int, p: Fraction = Fraction(1, 2)) -> Fraction:
    """The best accuracy of any rule that sees the tokens but not their order, as an
    exact fraction.

    Each of `length` independent tokens is positive with probability p. The label is the
    sign of the token at position zero. With r positive tokens among them the best rule
    is right with probability max(r, length - r) / length, and r is binomial; the bound
    is the average of that probability over r.

    Parameters
    ----------
    length: number of tokens, at least 1 (hundreds must work: do not list all 2**length
        sign patterns).
    p: probability of a positive sign, a Fraction between 0 and 1, ends allowed.
        Raises ValueError if length is below 1 or p lies outside 0 ... 1.

    Returns
    -------
    A fractions.Fraction, exact: no float anywhere on the way.

    Source: D1, "It really does not know the order".
    """
    raise NotImplementedError("not done yet")


# --- Question 12: Mostly positive (deepen, 1 point, 5 minutes, moderate)

# Every token is positive with probability 0.9. You are shown eight tokens without their
# order; three are positive. What is the best prediction of the sign at position zero,
# and how likely is it to be right? One letter in quotes.
#   "a" plus, with probability 0.9
#   "b" plus, with probability 0.9 * 3 / (0.9 * 3 + 0.1 * 5) = 27/32
#   "c" minus, with probability 3/8
#   "d" minus, with probability 5/8
biased_signs = None


# --- Question 13: The smaller symmetry (deepen, 6 points, 25 minutes, moderate)

def circular_convolution(x: np.ndarray, kernel: np.ndarray) -> np.ndarray:
    """Convolve a ring of tokens with a kernel: token 0 follows token n-1.

        output[i] = sum over j of kernel[j] * x[(i - j) mod n]

    Parameters
    ----------
    x: (n, d), one token per row. kernel: (m,), one number for each offset j = 0 ...
        m-1; the same for all d columns. m may exceed n: the kernel then goes round the
        ring more than once.

    Returns
    -------
    (n, d).
    """
    raise NotImplementedError("not done yet")


def is_shift_equivariant(layer: Layer, x: np.ndarray) -> bool:
    """Decide whether a layer commutes with every cyclic shift of its n tokens.

    For each shift s = 0 ... n-1 compare layer(shifted x) with the shifted layer(x),
    where "shifted" is np.roll(..., s, axis=0). Use the rounding rule of
    `is_equivariant`: |difference| <= 64 * eps * scale, with eps of the output's dtype
    and scale the largest absolute number in layer(x). As there, zeros only are
    equivariant, and a layer that returns NaN or infinity is not.

    Parameters
    ----------
    layer: any function from an (n, d) array to an array with n rows. x: (n, d), float32
        or float64; give the layer tokens of that same dtype.

    Returns
    -------
    True or False.
    """
    raise NotImplementedError("not done yet")


# --- Question 14: What a shift cannot prove (deepen, 1 point, 5 minutes, moderate)

# A layer commutes with every cyclic shift of its eight tokens. What follows? One letter
# in quotes.
#   "a" nothing about the other reorderings; it is commuting with all reorderings that
#       implies commuting with all shifts
#   "b" that it commutes with all reorderings, because shifts already move every token
#       to every place
#   "c" that it ignores where tokens stand: its output stays the same when they are
#       shifted
#   "d" that it is a circular convolution with some kernel
groups = None


# --- Question 15: Predict before you read on (research, 1 point, 2 minutes, easy)

# The best rule without order is right in 63.7 % of all cases. You test it on 1000 fresh
# examples. How often does such a test show 66 % or more, by luck alone?
#   "a" never
#   "b" in about 6 of 100 tests
#   "c" in about 6 of 10 000 tests
#   "d" in about half of all tests
# Any answer earns the point, as long as it is one letter in quotes. Commit to one
# before you read on.
guess_broken = None


# --- Question 16: Has the bound been broken?
# (research, 3 points, 20 minutes, moderate, read by a person)

# Someone trains a classifier without positions on the task of eight tokens, measures an
# accuracy of 0.66 on 1000 fresh examples, and announces that the bound 163/256 is
# broken. Is it? Say what the bound is about, work out how far above it 0.66 lies in
# standard deviations, say what you conclude, and name a check that would settle it.
# Four to six sentences.
broken_bound = None


# --- Question 17: How much freedom is left (research, 1 point, 10 minutes, moderate)

# A linear layer turns eight numbers, one per token, into eight numbers: y = M x. It
# commutes with every reordering. How many of the 64 entries of M can still be chosen
# freely? One letter in quotes.
#   "a" 1    "b" 2    "c" 8    "d" 64
freedom = None
