"""Problem set 6: what a weight explains, and a Transformer of your own.

Arrays hold float64 numbers; compute in that precision. No function changes its
arguments.
D1 and D3 are teaching documents that this course is built on.
"""

from collections.abc import Callable, Sequence
from typing import Any

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
# Your own functions from problem set 4 go here. `python check.py ps6 --carry` copies
# them in, with what they call.
def layer_norm(
    x: np.ndarray, gain: np.ndarray, shift: np.ndarray, eps: float = 1e-5
) -> np.ndarray:
    """Yours from problem set 4: mean 0 and variance 1 along the last axis, then `gain`
    and `shift`."""
    raise RuntimeError("carry your own function over first: check.py ps6 --carry")


def gelu(x: np.ndarray) -> np.ndarray:
    """Yours from problem set 4: 0.5 x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3)))."""
    raise RuntimeError("carry your own function over first: check.py ps6 --carry")


def multi_head_attention(
    x: np.ndarray,
    w_q: np.ndarray,
    w_k: np.ndarray,
    w_v: np.ndarray,
    w_o: np.ndarray,
    heads: int,
    mask: np.ndarray | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Yours from problem set 4: returns (output, weights) of shapes (..., length, out)
    and (..., heads, length, length)."""
    raise RuntimeError("carry your own function over first: check.py ps6 --carry")


def attention_backward(
    queries: np.ndarray,
    keys: np.ndarray,
    values: np.ndarray,
    output_gradient: np.ndarray,
    mask: np.ndarray | None = None,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Yours from problem set 4: the gradients of the loss with respect to queries, keys
    and values."""
    raise RuntimeError("carry your own function over first: check.py ps6 --carry")


# --- Question 1: Predict the effect (core, 1 point, 1 minute, easy)

# One item of an average holds 95 % of the weight. You delete it, and the other weights
# are scaled up to sum to one. By how much does the output move, compared with the
# distances between the values?
#   "a" by about 95 % of them
#   "b" by at least half
#   "c" by at least 5 %
#   "d" by anything, down to nothing
# Any answer earns the point, as long as it is one letter in quotes. Commit to one
# before you read on.
guess_effect = None


# --- Question 2: Delete it, swap it (core, 5 points, 20 minutes, easy)

def deletion_effects(weights: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Measure what each item of one average contributes, by leaving it out.

    Row j: the output minus the output without item j. Without j, the other weights are
    divided by their own sum, so that they sum to 1 again. The short form with 1 -
    weights[j] loses all digits near a one-hot row: add up the others instead.
    weights: shape (n,), nonnegative, sum 1. values: shape (n, v).
    Returns shape (n, v). Raises ValueError if for some j the others hold no weight at
    all.

    Source: D3, "An open question".
    """
    raise NotImplementedError("not done yet")


def swap_effects(
    weights: np.ndarray, values: np.ndarray, replacement: np.ndarray
) -> np.ndarray:
    """Measure what each item of one average contributes, by putting another value in
    its place.

    Row j: the output minus the output in which the value of item j is `replacement`.
    The weights stay as they are.
    weights: shape (n,), nonnegative, sum 1. values: shape (n, v). replacement: shape
        (v,).
    Returns shape (n, v).

    Source: D3, "An open question".
    """
    raise NotImplementedError("not done yet")


# --- Question 3: Loud but idle, quiet but decisive (core, 4 points, 15 minutes, easy)

# Two counterexamples, each a pair (weights, values) of arrays with shapes (n,) and (n,
# v), or of nested lists. Weights are nonnegative and sum to 1, with n from 2 to 50.
# "Effect" is the length of a row of `deletion_effects`.
# loud_but_idle: an item with a weight of at least 0.5 has an effect of at most 1e-9,
#     and another item one of at least 0.1.
loud_but_idle = None
# quiet_but_decisive: the item with the smallest weight (no other is as small) has the
#     largest effect, by at least 10 %.
quiet_but_decisive = None


# --- Question 4: Leaving the hull (core, 6 points, 20 minutes, moderate)

def length_ratio(weights: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Compare the length of each average with the longest value that it mixes.

    weights: shape (m, n), nonnegative, each row sums to 1. values: shape (n, v).
    Returns shape (m,): the Euclidean length of row i of weights @ values, divided by
    the length of the longest value among those with a positive weight in row i. Where
    all of these are zero vectors, the ratio is 0.

    Source: D1.
    """
    raise NotImplementedError("not done yet")


def difference_head(width: int) -> tuple[np.ndarray, np.ndarray]:
    """Let two heads and an output projection compute what no average can: the
    difference of two averages.

    Tokens x of shape (n, width) enter a layer with two heads. Head h has its own table
    of weights A_h, and its values are columns h * width to (h + 1) * width - 1 of x @
    w_v. The outputs A_h @ values are put side by side and multiplied by w_o. Choose the
    matrices so that the layer gives A_0 @ x - A_1 @ x, whatever the tables and the
    tokens are.
    Returns (w_v, w_o) with shapes (width, 2 * width) and (2 * width, width).

    Source: D3, "The consequence".
    """
    raise NotImplementedError("not done yet")


# --- Question 5: Symmetry as an experiment (core, 5 points, 30 minutes, moderate)

def symmetry_table(
    layers: Sequence[Callable[[np.ndarray], np.ndarray]],
    x: np.ndarray,
    trials: int = 20,
    seed: int = 0,
) -> np.ndarray:
    """Find out which symmetries each layer has, by experiment.

    layers: functions from an array (n, d) to an array whose first axis is n. x: shape
    (n, d), n at least 3. A layer commutes with a reordering of the places if
    layer(x[order]) equals layer(x)[order]. The cyclic shift by s places is order =
    np.roll(np.arange(n), s). Three questions for each layer:
      column 0: does it commute with the cyclic shift by one place?
      column 1: does it commute with the cyclic shift by two?
      column 2: does it commute with any order?
    For column 2, try `trials` random orders from np.random.default_rng(seed). Instead
    of the identity, draw again. "Equals" means: no entry differs by more than 64 eps
    times the largest absolute entry of layer(x). eps is the machine epsilon of the type
    that the layer returns, float32 or float64. An output that is not finite commutes
    with nothing.
    Returns a boolean array of shape (len(layers), 3).

    Source: D1, the table of inductive biases.
    """
    raise NotImplementedError("not done yet")


# --- Question 6: Learning curves (core, 6 points, 30 minutes, moderate)

def learning_curve(
    train_set: tuple[np.ndarray, np.ndarray],
    test_set: tuple[np.ndarray, np.ndarray],
    sizes: Sequence[int],
    pooled: bool,
    ridge: float = 0.1,
) -> np.ndarray:
    """Measure how the test accuracy of a linear model grows with the number of training
    examples.

    train_set, test_set: (tokens, labels) with shapes (examples, places, d) and
    (examples,); labels are +1 or -1. The features of an example are the mean of its
    tokens, d numbers (`pooled`), or all its tokens one behind another, places * d
    numbers (not `pooled`). There is no intercept.
    For each size n: take the first n training examples, with features F (n, k) and
    labels y, and minimise
      mean((F w - y)^2) + ridge * |w|^2,
    that is, solve (F^T F / n + ridge I) w = F^T y / n.
    The model says +1 where F w > 0, and -1 elsewhere.
    Returns shape (len(sizes),): for each size, the share of right answers on the whole
    test set.
    """

    raise NotImplementedError("not done yet")


def examples_needed(
    sizes: Sequence[int], accuracies: Sequence[float], level: float
) -> float | None:
    """Read off a learning curve how many examples it takes to reach an accuracy of
    `level`.

    sizes: increasing. accuracies: as many numbers. Between two sizes the curve is a
    straight line over the *logarithm* of the size. The answer is where the curve first
    reaches `level`: the first size, if it is at `level` or above already.
    Returns a float, or None if the curve never reaches `level`.
    """
    raise NotImplementedError("not done yet")


# --- Question 7: Reading symmetries and curves (core, 4 points, 10 minutes, easy)

# Each answer is one letter in quotes, such as "a".

# With what does a U-Net-like layer with one downsampling by two commute?
#   "a" with every shift
#   "b" with even shifts only
#   "c" with no shift at all
#   "d" with every order
unet = None

# "Attention connects any pair of places in one layer, so it must outperform convolution
# wherever its cost is affordable."
#   "a" true: whatever a convolution computes, one attention layer can compute too
#   "b" true for long sequences, where a convolution would need many layers
#   "c" false: connectivity is not all; if nearby places matter, a layer that knows this
#       needs fewer examples
#   "d" false: attention cannot connect distant places as well as convolution
must_outperform = None

# The label is the sign of one coordinate at place 0. The pooled model's curve is flat
# at about .61. What would raise it?
#   "a" more examples
#   "b" a smaller ridge
#   "c" another representation
#   "d" a longer training
ceiling = None

# The label is the sign of the sum over all places. Your curves show that the model on
# all tokens needs eight times the examples of the pooled one. What is the eight?
#   "a" the width of a token
#   "b" the number of places
#   "c" an accident of the ridge
#   "d" the ratio of test errors
eight = None


# --- Question 8: Backward through layer norm and GELU
# (deepen, 6 points, 40 minutes, moderate)

def layer_norm_backward(
    x: np.ndarray, gain: np.ndarray, upstream: np.ndarray, eps: float = 1e-5
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Differentiate layer norm by hand.

    Forward: normed * gain + shift, with normed = (x - mean) / sqrt(variance + eps)
    along the last axis; the variance divides by the number of entries. `upstream` holds
    the gradients of the loss with respect to the output.
    x, upstream: shape (..., width). gain: shape (width,).
    Returns (x_gradient, gain_gradient, shift_gradient) of shapes (..., width), (width,)
    and (width,). Gain and shift are shared by all tokens, so their gradients are sums
    over all leading axes.
    """
    raise NotImplementedError("not done yet")


def gelu_backward(x: np.ndarray, upstream: np.ndarray) -> np.ndarray:
    """Differentiate GELU (the tanh form of problem set 4) by hand.

    x, upstream: the same shape; `upstream` holds the gradients of the loss with respect
        to gelu(x).
    Returns the gradients of the loss with respect to x. For x between -100 and 100,
    nothing overflows.
    """
    raise NotImplementedError("not done yet")


# --- Question 9: The melody model (deepen, 7 points, 40 minutes, moderate)

def lm_forward(
    model: Model, positions: np.ndarray, tokens: np.ndarray
) -> tuple[np.ndarray, list[np.ndarray]]:
    """Run the melody model: embed, add positions, all blocks, a last layer norm, and
    unembed.

    Each block is problem set 4's with norm="pre", one head and a causal mask. The
    number of blocks, the width and the number of notes are what the model's arrays say.
    All layer norms have eps = 1e-5.
    model: as `new_model` gives it. positions: shape (at least n, width); row t is added
        to the token at place t.
    tokens: integers of shape (b, n).
    Returns (logits, weights): shape (b, n, notes), and a list with a table of weights
    (b, n, n) for each block.
    """
    raise NotImplementedError("not done yet")


# --- Question 10: Backward through the whole model
# (deepen, 12 points, 120 minutes, hard)

def lm_gradients(
    model: Model,
    positions: np.ndarray,
    tokens: np.ndarray,
    targets: np.ndarray,
    counted: np.ndarray,
) -> tuple[float, Model]:
    """Compute the loss of the melody model, and its gradients with respect to every
    number in the model.

    The loss is the mean, over all places where `counted` is True, of -ln of the
    probability (softmax of the logits) that the model gives to the target.
    model, positions, tokens: as for `lm_forward`. targets: integers of shape (b, n).
    counted: boolean, the same shape, True somewhere.
    Returns (loss, gradients): a float, and the gradients in the same form as `model`:
    the same keys, the same shapes. The positions are no part of the model, and get no
    gradients. Exact up to rounding: no finite differences.
    """
    raise NotImplementedError("not done yet")


# --- Question 11: Train it (deepen, 10 points, 20 minutes, easy)

def train_lm(
    model: Model,
    positions: np.ndarray,
    batches: tuple[np.ndarray, np.ndarray, np.ndarray],
    rates: Sequence[float],
) -> tuple[Model, np.ndarray]:
    """Train the melody model: for each batch in turn, compute the gradients and take
    one step of Adam.

    model, positions: as for `lm_gradients`. batches: (tokens, targets, counted), each
        of shape (steps, b, n).
    rates: `steps` learning rates; step i uses rates[i]. `adam_step` in the set-up cell
        takes the step; its first is step 1.
    Returns (trained model, losses). losses has shape (steps,): entry i is the loss on
    batch i *before* step i.
    """
    raise NotImplementedError("not done yet")


# --- Question 12: What the maps show (deepen, 7 points, 30 minutes, moderate)

def induction_mass(
    weights: np.ndarray, tokens: np.ndarray, counted: np.ndarray
) -> float:
    """Measure how much a layer reads what came after the current note last time, and
    the times before.

    For a place t, add up the weights of t on all places j with 1 <= j <= t whose left
    neighbour, place j - 1, holds the same note as place t. Return the mean of these
    sums over all places t of all sequences where `counted` is True.
    weights: shape (b, n, n); row t of a table holds what place t reads. tokens:
        integers (b, n). counted: boolean (b, n).

    Source: Olsson et al., "In-context learning and induction heads", 2022.
    """
    raise NotImplementedError("not done yet")


def previous_mass(weights: np.ndarray, periods: np.ndarray) -> float:
    """Measure how much a layer reads the previous place, while a melody is heard for
    the first time.

    Return the mean weight of place t on place t - 1, over all sequences and places t =
    1 to m, where m is the sequence's entry in `periods`. Every such place of every
    sequence counts the same.
    weights: shape (b, n, n). periods: integers (b,), each from 1 to n - 1.
    """
    raise NotImplementedError("not done yet")


def map_figure(weights: np.ndarray, labels: Sequence[str]) -> Figure:
    """Draw one table of weights, so that it can be compared with any other.

    weights: shape (n, n). labels: n texts, the notes in order; notes may repeat.
    Row i (what place i reads) is row i from the top, column j is column j from the
    left. The colour scale runs from 0 to 1 whatever the weights are, and a larger
    weight is darker. Every place has its label on both axes; the x axis is labelled
    "read", the y axis "reads", and a colour bar is labelled "weight".
    Returns a matplotlib Figure with one pair of axes beside the colour bar.
    """
    raise NotImplementedError("not done yet")


# --- Question 13: Predict the swap (deepen, 1 point, 1 minute, easy)

# In the second round of a melody, layer 2 reads one note with a weight of .98, and the
# note before it with less than .01. You replace the note before it by one that is not
# in the melody. How many of the right predictions survive?
#   "a" nearly all
#   "b" about half
#   "c" about one in five
#   "d" none
# Any answer earns the point, as long as it is one letter in quotes. Commit to one
# before you read on.
guess_swap = None


# --- Question 14: Change one note (deepen, 7 points, 40 minutes, moderate)

def swap_experiment(
    forward: Callable[[np.ndarray], tuple[np.ndarray, list[np.ndarray]]],
    tokens: np.ndarray,
    places: np.ndarray,
    replacements: np.ndarray,
    controls: np.ndarray,
) -> tuple[float, float, float]:
    """Change one note at a time, and see what the prediction does.

    forward: a model; forward(tokens) returns (logits, weights) as `lm_forward` does.
    Its prediction at place t is the note with the largest logit there. tokens: integers
    (b, n). For sequence i, everything is about the prediction at place places[i], and
    the new note is replacements[i]. Let r be the place which the last layer's row
    places[i] reads most in the unchanged sequence; r is at least 1 in every sequence
    given here. Each of three experiments changes the note at a single place and nothing
    else:
      followed: the note at r. The share of sequences whose new prediction is
          replacements[i].
      broken: the note at r - 1. The share of sequences whose new prediction is no
          longer the old one.
      control: the note at controls[i]. The share of sequences whose new prediction is
          still the old one.
    places, replacements, controls: integers (b,). Call `forward` on all sequences at
        once, at most four times.
    Returns (followed, broken, control), three floats between 0 and 1.

    Source: D3, "An open question".
    """
    raise NotImplementedError("not done yet")


# --- Question 15: A score for faithfulness (research, 5 points, 30 minutes, moderate)

def faithfulness(
    weights: np.ndarray, effects: np.ndarray, resamples: np.ndarray
) -> tuple[float, float, float]:
    """Score how well weights predict effects: a rank correlation, with an interval.

    The score is Spearman's: the Pearson correlation of the ranks of `weights` and the
    ranks of |effects|. Equal numbers share the mean of the ranks that they take up
    together.
    weights: shape (k,). effects: shape (k,), signed. resamples: integers of shape (r,
    k); each row is a bootstrap sample of the items 0 to k - 1, with repetitions. For
    each row, score the weights and effects of those items, ranked anew. Leave out a row
    in which all weights or all |effects| are equal; at least one row is left.
    Returns (score, low, high): the score of all items, and the 2.5 and 97.5 percentiles
    (numpy.percentile's default) of the rows' scores.

    Source: D3, "An open question"; Efron, "Bootstrap methods: another look at the
        jackknife", 1979.
    """

    raise NotImplementedError("not done yet")


# --- Question 16: The bug museum (research, 8 points, 60 minutes, hard)

def is_broken(attention: Callable[..., tuple[np.ndarray, np.ndarray]]) -> bool:
    """Say whether an attention function is broken, by calling it.

    attention(queries, keys, values, mask) should be scaled dot-product attention and
    return (output, weights). All four arguments are arrays, by position, with shapes
    (..., m, d), (..., n, d), (..., n, v) and a boolean (m, n), True where reading is
    allowed. Leading axes, if any, are the same for all but the mask. The contract:
      the scores are queries @ keys^T / sqrt(d), and the weights are their softmax over
      the allowed keys of each row; forbidden pairs have a weight of 0; a row in which
      nothing is allowed has weights of 0 only, and an output of 0; the output is
      weights @ values; scores up to 1e4 neither overflow nor give NaN;
      everything is right to about 1e-12 times the size of the numbers. Right functions
      differ in their rounding.
    Exhibits are functions that violate the contract somewhere. You see no code: find
    inputs on which they give themselves away. Call each at most 50 times, with arrays
    of at most 10 000 numbers. An exception from `attention` counts as broken.
    Returns True if the function violates the contract, False if it is right. Be
    careful: a checker that calls a right function broken earns nothing.
    """
    raise NotImplementedError("not done yet")


# --- Question 17: What did the weight explain?
# (research, 4 points, 30 minutes, moderate, read by a person)

# A colleague shows the map of one layer of your melody model and writes: "Layer 1 puts
# nearly all its weight on the previous note, so what matters for the prediction is the
# previous note." In 120 to 220 words: say what your experiments show about this model's
# use of its weights, with at least two of your own numbers, and name the experiment
# that decides the claim. Then take the model of section 13, trained on melodies of ten
# notes only: its test score is as good. What does the score not tell, and what would?
conclusion = None
