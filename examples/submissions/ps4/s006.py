"""Problem set 4: what dividing by √d prevents.

Arrays hold float64 numbers; compute in that precision. No function changes its arguments. "(..., n)" stands for any number
of leading axes, none included: treat each row along the last axis on its own.
"""

from collections.abc import Callable, Mapping, Sequence

import math

import numpy as np

# Two tools from problem set 1, so that nothing here depends on your answers there.


def softmax(scores: np.ndarray, mask: np.ndarray | None = None) -> np.ndarray:
    """Turn scores (..., n) into weights along the last axis; a row in which `mask` allows nothing gets zeros.

    mask: True where reading is allowed; any shape that broadcasts against the scores.
    """
    allowed = np.broadcast_to(True if mask is None else mask, scores.shape)
    largest = np.max(scores, axis=-1, keepdims=True, where=allowed, initial=-np.inf)
    shifted = np.where(allowed, scores, -np.inf) - np.where(np.isfinite(largest), largest, 0.0)
    growth = np.exp(shifted)
    total = growth.sum(axis=-1, keepdims=True)
    return growth / np.where(total > 0, total, 1.0)


def causal_mask(length: int) -> np.ndarray:
    """A (length, length) mask under which position i may read positions 0 to i."""
    return np.tri(length, dtype=bool)


# --- Question 1: Predict the winner (core, 1 point, 1 minute, easy)

# A random query meets sixteen random keys of width 1024, and nothing is divided. How large is the largest of the
# sixteen weights, on average?
#   "a" about 0.06, an even split
#   "b" about 0.25
#   "c" about 0.5
#   "d" over 0.9
# Any answer earns the point, as long as it is one letter in quotes. Commit to one before you read on.
guess_winner = "c"


# --- Question 2: How spread out is a row? (core, 4 points, 15 minutes, easy)

def entropy(weights: np.ndarray) -> np.ndarray:
    """Measure how spread out each row of weights is, in nats.

    H = -sum_j a_j ln(a_j) along the last axis, where 0 ln 0 counts as 0: no NaN and no warning.
    weights: shape (..., n). Every entry is at least 0 and every row sums to 1.
    Returns an array of shape (...); for a single row, one number.
    Raises ValueError if an entry is negative, or if a row's sum differs from 1 by more than 1e-6.

    Source: D1, ledger row D1-9 (ln 16 for sixteen equal weights).
    """
    if np.any(weights < 0):
        raise ValueError("negative weight")
    if np.any(np.abs(weights.sum(-1) - 1) > 1e-6):
        raise ValueError("a row does not sum to one")
    logs = np.log(weights, out=np.zeros_like(weights), where=weights > 0)
    return -(weights * logs).sum(-1)


# --- Question 3: Three numbers for a table (core, 4 points, 10 minutes, easy)

def concentration(scores: np.ndarray) -> tuple[float, float, float]:
    """Summarise a table of scores by three numbers.

    scores: shape (m, n): m queries, n keys each. The softmax runs along each row.
    Returns (spread, mean_entropy, mean_largest):
      spread: the standard deviation of all m * n scores around their common mean, dividing by m * n (NumPy's default);
      mean_entropy: the entropy of each row's weights in nats, averaged over the rows;
      mean_largest: the largest weight of each row, averaged over the rows.

    Source: D1, the columns of the table in ledger row D1-10.
    """
    a = softmax(scores)
    return np.std(scores), np.mean(entropy(a)), np.mean(np.max(a, axis=1))


# --- Question 4: Thirty printed figures (core, 8 points, 25 minutes, moderate)

def sqrt_d_table(dimensions: Sequence[int], seed: int = 0) -> np.ndarray:
    """Reproduce the published table: scores, entropy and largest weight without and with division by sqrt(d).

    The recipe, to the letter, so that your random numbers are the published ones:
      one generator numpy.random.default_rng(seed) for the whole table;
      for each d of `dimensions`, in the order given: first draw the queries, rng.standard_normal((2000, d)), then the keys,
      rng.standard_normal((2000, d)); score every query against the first 16 keys only; the table of scores is (2000, 16).
    Returns an array of shape (len(dimensions), 6). A row holds the three numbers of `concentration` for these scores, then
    the same three for the same scores divided by sqrt(d).
    dimensions = [4, 16, 64, 256, 1024] and seed = 0 give the thirty printed figures, to the last printed place.

    Source: D1, ledger row D1-10.
    """
    rng = np.random.default_rng(seed)
    out = np.empty((len(dimensions), 6))
    for i, d in enumerate(dimensions):
        q = rng.standard_normal((2000, d))
        k = rng.standard_normal((2000, d))
        s = np.einsum("qd,kd->qk", q, k[:16])
        out[i] = concentration(s) + concentration(s / math.sqrt(d))
    return out


# --- Question 5: Keys of one's own (core, 3 points, 15 minutes, moderate)

def own_scores(d: int, queries: int, keys: int, seed: int) -> np.ndarray:
    """Draw unscaled scores in which every query has keys of its own.

    Entry (i, j) is q_i . k_ij: query i is a vector of d independent standard normal numbers, and so is each of its `keys`
    keys, which no other query shares. Draw them in any order and in any way that gives this distribution.
    seed: an integer. The same seed gives the same scores, another seed gives others.
    Returns shape (queries, keys). Not divided by sqrt(d). At 2000 queries, 16 keys and d = 256, all keys at once take 66 MB.

    Source: D1, ledger rows D1-10 and D1-11; D2, ledger row D2-3.
    """
    rng = np.random.default_rng(seed)
    out = np.empty((queries, keys))
    for i in range(queries):
        out[i] = rng.standard_normal((keys, d)) @ rng.standard_normal(d)
    return out


# --- Question 6: How softmax responds (core, 6 points, 30 minutes, moderate)

def softmax_jacobian(weights: np.ndarray) -> np.ndarray:
    """Differentiate softmax: how each weight responds to each score, from the weights alone.

    weights: shape (..., n), softmax outputs.
    Returns shape (..., n, n). Entry (j, k) is the derivative of weight j by score k: a_j [j = k] - a_j a_k.

    Source: D1, ledger row D1-12.
    """
    n = weights.shape[-1]
    return np.einsum("...j,jk->...jk", weights, np.eye(n)) - np.einsum("...j,...k->...jk", weights, weights)


def jacobian_norm(weights: np.ndarray) -> np.ndarray:
    """Measure the size of the softmax Jacobian without building it: the root of the sum of its squared entries.

    weights: shape (..., n), softmax outputs; n may be 20 000, where the table would need 3.2 GB.
    Returns shape (...), one number for each row, finite and nonnegative, with an error of at most 1e-7 even where a row is
    almost one-hot.

    Source: D1, ledger row D1-13. Written out, the squared norm is sum a^2 - 2 sum a^3 + (sum a^2)^2.
    """
    s2 = (weights ** 2).sum(-1)
    s3 = (weights ** 3).sum(-1)
    return np.sqrt(np.clip(s2 - 2 * s3 + s2 * s2, 0, None))


# --- Question 7: Reading the table (core, 4 points, 10 minutes, moderate)

# Each answer is one letter in quotes, such as "a".

# At random initialization with d = 1024, unscaled attention has entropy 0.0886 and largest weight 0.9639. What follows?
#   "a" training will be faster, because attention has already decided
#   "b" the slopes of the weights by the scores are small, so the matching may be slow to learn; the rest of the model can
#       still learn
#   "c" the slopes are exactly zero, so nothing in the model can learn
#   "d" nothing: entropy and largest weight say nothing about slopes
saturated = "b"

# At d = 4, which attention has the larger Jacobian at random initialization (mean norm, 16 keys)?
#   "a" scaled: dividing always makes the Jacobian larger
#   "b" scaled, but only because 16 keys are few
#   "c" both alike: at d = 4 the division changes nothing
#   "d" unscaled: the scaled weights are close to even, where the Jacobian is smaller than at moderate preferences
smallest_width = "d"

# A row of weights over 16 keys has entropy ln 4 = 1.386. What do you know for certain?
#   "a" it reads exactly four keys, a quarter each
#   "b" it is as uncertain as an even split over four keys, and it reads at least four
#   "c" its largest weight is 1/4
#   "d" four keys have a score above zero
even = None

# "Saturation is harmless with Adam, because Adam divides each slope by its typical size." What is wrong with that?
#   "a" nothing: Adam removes every effect of saturation
#   "b" Adam cannot be used with softmax
#   "c" Adam rescales a parameter's slope as a whole; a saturated row still counts for little beside the rows that are not
#   "d" Adam multiplies slopes, so it makes saturation worse
adam = None


# --- Question 8: Backward through attention (deepen, 9 points, 60 minutes, hard)

def attention_backward(
    queries: np.ndarray,
    keys: np.ndarray,
    values: np.ndarray,
    output_gradient: np.ndarray,
    mask: np.ndarray | None = None,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Differentiate scaled dot-product attention by hand.

    Forward: output = softmax(queries @ keys^T / sqrt(d), mask) @ values. Let the loss depend on the output alone, with
    slopes `output_gradient`. Returns the slopes of the loss by queries, keys and values.
    queries: shape (..., m, d); keys: (..., n, d); values: (..., n, v); output_gradient: (..., m, v). The leading axes are
    the same for all four; m, n, d and v may all differ.
    mask: None, or boolean, broadcasting against (..., m, n): True where reading is allowed. A forbidden pair contributes
    nothing. A query that may read nothing has zero weights, so its slopes are zeros, without NaN.
    Returns (queries_gradient, keys_gradient, values_gradient), with the shapes of queries, keys and values. Exact up to
    rounding: no finite differences. Scores between -1e4 and 1e4 must not overflow.

    Source: D1, ledger row D1-12; D3, ledger row D3-7.
    """
    raise NotImplementedError("not done yet")


# --- Question 9: Several heads (deepen, 8 points, 40 minutes, moderate)

def split_heads(x: np.ndarray, heads: int) -> np.ndarray:
    """Give every head its own columns.

    x: shape (..., length, heads * k). Head h gets columns h * k to (h + 1) * k - 1.
    Returns shape (..., heads, length, k). Raises ValueError if `heads` does not divide the number of columns.
    """
    raise NotImplementedError("not done yet")


def merge_heads(x: np.ndarray) -> np.ndarray:
    """Put the heads' columns side by side again: merge_heads(split_heads(x, heads)) equals x exactly.

    x: shape (..., heads, length, k). Returns shape (..., length, heads * k).
    """
    raise NotImplementedError("not done yet")


def multi_head_attention(
    x: np.ndarray,
    w_q: np.ndarray,
    w_k: np.ndarray,
    w_v: np.ndarray,
    w_o: np.ndarray,
    heads: int,
    mask: np.ndarray | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Run self-attention in several heads, and combine them by an output projection.

    Project x to queries, keys and values; split each into heads; in every head run scaled dot-product attention, dividing
    by the root of the *head's* width; merge the heads' outputs and multiply them by w_o.
    x: shape (..., length, width). w_q, w_k: (width, heads * k). w_v: (width, heads * v), where v may differ from k.
    w_o: (heads * v, out).
    mask: None, or boolean of shape (length, length): True where row i may read column j, the same for all heads. A row
    that may read nothing has zero weights.
    Returns (output, weights) with shapes (..., length, out) and (..., heads, length, length).

    Source: D1, ledger row D1-21; D3, ledger row D3-7; Vaswani et al., "Attention is all you need", 2017, section 3.2.2.
    """
    raise NotImplementedError("not done yet")


# --- Question 10: What heads cost (deepen, 2 points, 5 minutes, easy)

def head_costs(length: int, width: int, heads: int) -> tuple[int, int]:
    """Count what heads cost at a fixed total width.

    The `heads` heads share `width` columns, so each has width / heads. A multiplication and an addition count as two
    operations. Count the three projections (2 L d^2 each) and, for every head, the scores and the weighted sum
    (2 L^2 times the head's width each). The output projection and the softmax are not counted.
    Returns (operations, tables), two exact integers: the operations in all heads, and the number of length x length
    tables of weights. Raises ValueError if `heads` does not divide `width`.

    Source: D1, ledger rows D1-17 and D1-21.
    """
    raise NotImplementedError("not done yet")


# --- Question 11: What one head cannot do (deepen, 6 points, 40 minutes, hard)

def one_head_floor(symbols: int) -> float:
    """The error that no single head can go below when every position wants two symbols at once.

    Symbols are drawn independently and evenly from V = `symbols` kinds, V at least 2. A position wants the symbol at one
    offset and the symbol at another: a target of 2V numbers, one one-hot vector beside another. The values read the symbol
    only, so the head's output is an average of V vectors of 2V numbers, one for each kind, whatever its weights. The error
    is the squared distance from output to target, summed over the 2V numbers, averaged over all V^2 pairs of wanted symbols.
    Returns the largest lower bound on that error for one head, with the best choice of V vectors and of weights.

    Source: D3, "averaging inhibits this"; Vaswani et al., 2017, section 3.2.2.
    """
    raise NotImplementedError("not done yet")


def two_head_weights(
    symbols: int, length: int, first: int, second: int, sharpness: float = 100.0
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Write down by hand a layer of two heads that serves both relations at once.

    A token is one-hot in its symbol (columns 0 to V - 1), then one-hot in its place (columns V to V + L - 1), with
    V = `symbols` and L = `length`. Position i wants the symbol at place i + first, then that at place i + second. Places
    count in a circle: i + first means (i + first) mod L. Offsets may be negative. Head 0 serves `first`, head 1 `second`.
    Every head reads by place: after division by the root of the head's width, the wanted place scores `sharpness`, and every
    other place 0. The values read the symbol only: the rows of w_v that belong to places are zero.
    Returns (w_q, w_k, w_v, w_o) for `multi_head_attention` with heads = 2: w_q and w_k of shape (V + L, 2k) with any k
    you like, w_v of shape (V + L, 2v), w_o of shape (2v, 2V). The output holds the first symbol's one-hot vector in
    columns 0 to V - 1 and the second's in columns V to 2V - 1, up to the little weight that other places get.
    """
    raise NotImplementedError("not done yet")


# --- Question 12: The whole block (deepen, 9 points, 50 minutes, moderate)

def layer_norm(x: np.ndarray, gain: np.ndarray, shift: np.ndarray, eps: float = 1e-5) -> np.ndarray:
    """Give every token mean 0 and variance 1 across its own numbers, then let it be scaled and moved.

    (x - mean) / sqrt(variance + eps) * gain + shift, where mean and variance run along the last axis, and the variance
    divides by the number of entries.
    x: shape (..., width). gain, shift: shape (width,).

    Source: Ba, Kiros and Hinton, "Layer normalization", 2016.
    """
    raise NotImplementedError("not done yet")


def gelu(x: np.ndarray) -> np.ndarray:
    """Bend every number smoothly: near x for large x, near 0 for very negative x.

    The tanh form, not the one with erf: 0.5 x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))). The two differ by up to 5e-4.
    x: any shape. Returns the same shape.

    Source: Hendrycks and Gimpel, "Gaussian error linear units", 2016.
    """
    raise NotImplementedError("not done yet")


def transformer_block(
    x: np.ndarray,
    block: Mapping[str, np.ndarray],
    heads: int,
    mask: np.ndarray | None = None,
    norm: str = "pre",
) -> np.ndarray:
    """Run one Transformer block: attention, then a feed-forward network, each with a residual connection and a layer norm.

    The attention sublayer A is `multi_head_attention` with w_q, w_k, w_v, w_o. The feed-forward sublayer F treats every
    token alike: gelu(x w_1 + b_1) w_2 + b_2. N1 is `layer_norm` with gain_1, shift_1, and N2 the one with gain_2, shift_2.
      norm = "pre":   y = x + A(N1(x)), and the output is y + F(N2(y));
      norm = "post":  y = N1(x + A(x)), and the output is N2(y + F(y)).
    x: shape (..., length, d).
    block: a dict of arrays: w_q, w_k, w_v, w_o of shape (d, d); w_1 (d, f), b_1 (f,), w_2 (f, d), b_2 (d,);
    gain_1, shift_1, gain_2, shift_2 of shape (d,).
    heads, mask: as in `multi_head_attention`.
    Returns the shape of x. Raises ValueError if `norm` is neither "pre" nor "post".

    Source: D1, the supplement on Transformer blocks; Vaswani et al., 2017 (post); Xiong et al., 2020 (pre and post).
    """
    raise NotImplementedError("not done yet")


# --- Question 13: Predict the collapse (deepen, 1 point, 1 minute, easy)

# After how many layers of such attention are all sixteen tokens equal, to the last bit or nearly so?
#   "a" never
#   "b" about four
#   "c" about forty
#   "d" about four hundred
# Any answer earns the point, as long as it is one letter in quotes. Commit to one before you read on.
guess_depth = None


# --- Question 14: What depth does (deepen, 5 points, 20 minutes, easy)

def depth_profile(layers: Sequence[Callable[[np.ndarray], np.ndarray]], x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Follow tokens through a stack of layers, and record how different from each other and how large they are.

    layers: functions, each from an array of x's shape to another. The first gets x, each later one gets what the one before
    returned; call each exactly once.
    x: shape (tokens, width).
    Returns (spread, size), each of shape (len(layers) + 1,): entry 0 describes x itself, entry i what layer i returned.
      spread: the norm of (x - the mean token) over the norm of x, where the norm is the root of the sum of all squares: 0 if
      all tokens are equal. For an array of zeros, 0.
      size: the root of the mean of all squared entries.

    Source: Dong, Cordonnier and Loukas, "Attention is not all you need", 2021.
    """
    raise NotImplementedError("not done yet")


# --- Question 15: Rotary positions (research, 4 points, 25 minutes, moderate)

def rotate(x: np.ndarray, positions: np.ndarray, base: float = 10000.0) -> np.ndarray:
    """Turn queries or keys by angles that grow with their positions (rotary position embedding).

    The columns form pairs (0, 1), (2, 3), ... Pair k of the token at position t turns by the angle t * base^(-2k / d), where
    d is the number of columns: (u, w) becomes (u cos - w sin, u sin + w cos).
    x: shape (..., n, d). positions: shape (n,), any real numbers, the same for all leading axes.
    Returns the shape of x. Raises ValueError if d is odd.

    Source: Su et al., "RoFormer: enhanced transformer with rotary position embedding", 2021.
    """
    raise NotImplementedError("not done yet")


# --- Question 16: What does the table not prove?
# (research, 3 points, 20 minutes, moderate, read by a person)

# Someone reads your table and concludes: "Dividing by sqrt(d) keeps attention soft
# during training, and splitting a layer into many narrow heads makes it easier to
# train, because narrow heads have small scores." In 100 to 200 words: say what the
# table does show, why neither half of the conclusion follows from it, and describe one
# measurement on a model during training that would count for or against one of the
# halves.
conclusion = None
