"""Problem set 1: attention is a weighted average.

Arrays hold float64 numbers; compute in that precision. No function changes its arguments. D1, D2 and D3 are the teaching
documents that this course is built on; the lesson's last section names them.
"""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.figure import Figure


# === question: mix ===
def mix(weights: np.ndarray, values: np.ndarray) -> np.ndarray | float:
    """Blend values in the proportions given by weights: the sum over j of weights[j] * values[j].

    weights: shape (n,), not negative, summing to one: shares of a budget, without a unit.
    values: shape (n,), one number per item, or (n, d), one vector per item.
    Returns one number for values of shape (n,), an array of shape (d,) for values of shape (n, d), in the unit of
    the values.
    Raises ValueError if the numbers of weights and values differ, if a weight is negative, or if the weights do not
    sum to one within 1e-6.

    Source: D3, "Worked example".
    """
    # BEGIN SOLUTION
    if (weights < 0).any():
        raise ValueError("a share of the budget cannot be negative")
    if abs(weights.sum() - 1) > 1e-6:
        raise ValueError(f"the weights spend {weights.sum()} of a budget of one")
    return weights @ values  # refuses another number of values with a ValueError of its own
    # END SOLUTION


# === question: softmax ===
def softmax(scores: np.ndarray, axis: int = -1) -> np.ndarray:
    """Turn scores into weights: exp(score), divided by the sum of exp(score) along an axis.

    scores: an array of one or more axes, of integers or floats, with entries anywhere between -1e4 and 1e4.
    axis: the axis along which weights sum to one; negative axes count from the end.
    Returns an array of the shape of scores with entries in [0, 1]. Nothing overflows, and adding one constant to all
    scores changes the weights by no more than rounding.

    Source: D2, "Demonstration"; D3, "Stop and try".
    """
    # BEGIN SOLUTION
    # The largest score becomes 0, so exp never overflows and the sum is at least 1.
    growth = np.exp(scores - np.max(scores, axis=axis, keepdims=True))
    return growth / growth.sum(axis=axis, keepdims=True)
    # END SOLUTION


# === question: guess_sharpness ===
guess_sharpness = None
# BEGIN SOLUTION
guess_sharpness = "d"
# END SOLUTION


# === question: scaled_scores ===
def scaled_scores(queries: np.ndarray, keys: np.ndarray) -> np.ndarray:
    """Compare every query with every key: their dot product, divided by the square root of their width d.

    queries: shape (..., m, d), m queries.
    keys: shape (..., n, d), n keys of the same width, with the same leading axes (there may be none).
    Returns scores of shape (..., m, n): entry [..., i, j] compares query i with key j. Scores have no unit.
    Raises ValueError if queries and keys differ in width.

    Source: D1, "What does 1/sqrt(d) prevent?"; D2, "Demonstration".
    """
    # BEGIN SOLUTION
    return queries @ np.swapaxes(keys, -1, -2) / np.sqrt(queries.shape[-1])
    # END SOLUTION


# === question: attention ===
def attention(
    queries: np.ndarray, keys: np.ndarray, values: np.ndarray, mask: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Let every query read the values, weighted by how well it matches their keys.

    queries: shape (..., m, d).
    keys: shape (..., n, d), with the leading axes of queries.
    values: shape (..., n, v), with the leading axes of queries; v may differ from d, and m from n.
    mask: None (everything may be read), or booleans that broadcast to (..., m, n): True where query i may read item j.
    Returns (output, weights) with shapes (..., m, v) and (..., m, n). Each row of weights sums to one, except that a
    query that may read nothing gets weights of zero and an output of zero.
    Raises ValueError if queries and keys differ in width, or keys and values in number.

    Source: D1, "Show the reasoning"; D2, "Demonstration"; masks: D3, "The edge case".
    """
    # BEGIN SOLUTION
    scores = scaled_scores(queries, keys)
    weights = softmax(scores) if mask is None else masked_softmax(scores, mask)
    return weights @ values, weights
    # END SOLUTION


# === question: masking ===
def causal_mask(n: int) -> np.ndarray:
    """Say which of n positions each position may read when it may read itself and everything before it.

    Returns booleans of shape (n, n): entry [i, j] is True where position i may read position j.

    Source: D3, "The edge case".
    """
    # BEGIN SOLUTION
    return np.tri(n, dtype=bool)
    # END SOLUTION


def masked_softmax(scores: np.ndarray, mask: np.ndarray) -> np.ndarray:
    """Turn scores into weights along the last axis, over the items that may be read and no others.

    scores: shape (..., n), entries anywhere between -1e4 and 1e4. A score that may not be read has no influence at
    all, however large it is.
    mask: booleans that broadcast to the shape of scores; True where the item may be read.
    Returns weights of the shape of scores. A forbidden item has the weight 0.0 exactly; the weights of the others are
    the softmax over these others alone, so they sum to one. A row with no legal item has nothing to spend its budget
    on: its weights are all 0.0. No input gives NaN, and none raises a warning.

    Source: D3, "The edge case".
    """
    # BEGIN SOLUTION
    legal = np.where(mask, scores, -np.inf)
    # A row with no legal item gets a finite maximum, because -inf - (-inf) would be NaN.
    growth = np.exp(legal - legal.max(axis=-1, keepdims=True, initial=np.finfo(float).min))
    # The largest legal score adds exp(0) = 1, so only a row with no legal item has a smaller sum.
    return growth / np.maximum(growth.sum(axis=-1, keepdims=True), 1.0)
    # END SOLUTION


# === question: hull ===
TRIANGLE = np.array([[1.0, 1.0], [3.0, 1.0], [2.0, 3.0]])  # three value vectors, one a row


# BEGIN SOLUTION
def nearest_mixture(point: np.ndarray, values: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
    """Find the mixture of a few values (n, d) that is nearest to point (d,): its distance, itself, and what it mixes.

    Weights that sum to one and may be negative follow from least squares. If all are positive, they are the answer. If
    not, the nearest mixture does without one of the values that got none: on the way from its weights to those of
    least squares, which ends nearer to the point, the first weight to reach zero is one of theirs.
    """
    shares = np.linalg.lstsq((values[1:] - values[0]).T, point - values[0], rcond=None)[0]
    weights = np.append(1 - shares.sum(), shares)
    unused = np.flatnonzero(weights <= 0)
    if not unused.size:
        mixture = weights @ values
        return float(np.linalg.norm(point - mixture)), mixture, values
    return min((nearest_mixture(point, np.delete(values, j, axis=0)) for j in unused), key=lambda found: found[0])


# END SOLUTION
def leaves_hull(point: np.ndarray, values: np.ndarray, tolerance: float = 1e-6) -> bool:
    """Tell whether a point lies outside the convex hull of the values, where no weighted average can reach it.

    point: shape (d,).
    values: shape (n, d), n >= 1. Values may repeat, and may all lie on one line or plane. The tests use up to 12 values
    of width up to 8.
    tolerance: a point closer to the hull than tolerance times the largest absolute coordinate of the values counts as
    inside, so a point on the boundary is inside. No test comes near this limit: its points are inside (but for
    rounding), or outside by at least 1e-3 times that coordinate. The tests use the default.
    Returns True outside, False inside.

    Source: D2, "Demonstration"; D3, "The consequence".
    """
    # BEGIN SOLUTION
    # Mix a few values only, and take in the one that lies furthest in the direction of the gap, until that gains nothing.
    mixed, distance = values[:1], np.inf
    while True:
        nearer, mixture, mixed = nearest_mixture(point, mixed)
        if not nearer < distance:
            return bool(distance > tolerance * np.abs(values).max())
        distance = nearer
        mixed = np.vstack([mixed, values[(values @ (point - mixture)).argmax()]])
    # END SOLUTION


# An invertible 2 x 2 matrix W, as a list of two rows, for which the mixture (0.1, 0.3, 0.6) @ TRIANGLE @ W lies outside
# the hull of TRIANGLE by at least 0.1.
escaping_projection = None
# BEGIN SOLUTION
escaping_projection = (-np.eye(2)).tolist()  # every value and every average of values is negated
# END SOLUTION


# === question: heatmap ===
def heatmap(weights: np.ndarray, tokens: list[str]) -> Figure:
    """Draw a table of weights as shades, so that a reader sees who reads whom.

    weights: shape (n, n); entry [i, j] is the weight that query i (the word that reads) puts on key j (a word it reads).
    tokens: the n words in order; a word may occur twice.
    Returns a figure with one image, one cell per weight, not rounded and not smoothed. Row 0 is on top and belongs to the
    first query; column 0 is on the left and belongs to the first key. Both axes carry one tick per word, at the middle
    of its row or column, with the word as its label, and each axis has a name. Dark means a large weight: the colour map
    gets darker from end to end. The colours run from 0 to 1 whatever the weights are, and a colour bar shows that range.
    Raises ValueError if weights is not a table of len(tokens) rows and columns.

    Source: D3, the table of attention weights drawn as shades.
    """
    # BEGIN SOLUTION
    n = len(tokens)
    if np.shape(weights) != (n, n):
        raise ValueError(f"{n} words need a table of {n} x {n} weights, not {np.shape(weights)}")
    figure, axes = plt.subplots(layout="constrained")
    image = axes.imshow(weights, cmap="Greys", vmin=0.0, vmax=1.0)
    axes.set_xticks(range(n), tokens, rotation="vertical")
    axes.set_yticks(range(n), tokens)
    axes.set_xlabel("key")
    axes.set_ylabel("query")
    figure.colorbar(image, label="weight")
    return figure
    # END SOLUTION


# === question: reading ===
# Each answer is one letter in quotes, such as "a".

# The weights 0.1, 0.3, 0.6 of the values 10, 20, 30 are swapped end for end. Which item now holds the 0.6?
#   "a" the first    "b" the second    "c" the third    "d" none: the weights must be computed anew
swapped = None
# BEGIN SOLUTION
swapped = "a"
# END SOLUTION

# A text becomes twice as long. Each of its words reads all of them. How many weights does the table hold, against before?
#   "a" as many    "b" twice as many    "c" four times as many    "d" it depends on the words
doubled = None
# BEGIN SOLUTION
doubled = "c"
# END SOLUTION

# One item in a row, with a weight of 0.2, is masked. What happens to the weights of the others?
#   "a" they stay    "b" each grows by the same amount    "c" they depend on the masked score    "d" each grows by the
#   same factor, 1 / 0.8
survivors = None
# BEGIN SOLUTION
survivors = "d"
# END SOLUTION

# In a heatmap of seven words, the row of "it" has 0.316 on "cat". What follows from this number alone?
#   "a" "cat" caused the output of "it"    "b" "it" reads "cat" more than twice as much as an even split would
#   "c" "cat" reads "it" with a weight of 0.316    "d" "it" reads "cat" more than all other words together
cell = None
# BEGIN SOLUTION
cell = "b"
# END SOLUTION


# === question: guess_effect ===
guess_effect = None
# BEGIN SOLUTION
guess_effect = 30
# END SOLUTION


# === question: causation ===
# The heatmap shows that "it" puts its largest weight on "cat". Someone concludes: the word "cat" made the model predict
# "warm" at the end of the sentence. In 100 to 200 words: say why the weight alone does not show this, describe one
# experiment that would test it, and say which result would count for the claim and which against it.
causation = None
# BEGIN SOLUTION
causation = """
A weight is a coefficient in one average. What the item adds to that average is the weight times its value vector, and
that product can be small, can point where later layers do not look, or can be matched by the other items, which may
carry the same information. So a large weight says how the blend was made, not what the prediction would have been
otherwise.
Experiment: keep the model and the sentence, take "cat" out of the row of "it" by masking it (the rest renormalises), or
swap its value for that of another noun, and read the probability of "warm". Do the same to words with smaller weights,
over many sentences. The weights predict by how much the averaged vector should move: w times the distance between the
value of "cat" and the average of the rest.
For the claim: the probability falls clearly, and over words the fall grows with the effect that the weights predict.
Against it: the probability hardly changes, or words with small weights change it as much.
"""
# END SOLUTION
