"""Problem set 1: attention is a weighted average.

Arrays hold float64 numbers; compute in that precision. No function changes its
arguments. D1, D2 and D3 are the teaching documents that this course is built on; the
lesson's last section names them.
"""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.figure import Figure


# --- Question 1: A blend of values (core, 3 points, 10 minutes, easy)

def mix(weights: np.ndarray, values: np.ndarray) -> np.ndarray | float:
    """Blend values in the proportions given by weights: the sum over j of weights[j] *
    values[j].

    weights: shape (n,), not negative, summing to one: shares of a budget, without a
        unit.
    values: shape (n,), one number per item, or (n, d), one vector per item.
    Returns one number for values of shape (n,), an array of shape (d,) for values of
    shape (n, d), in the unit of the values.
    Raises ValueError if the numbers of weights and values differ, if a weight is
    negative, or if the weights do not sum to one within 1e-6.

    Source: D3, "Worked example".
    """
    raise NotImplementedError("not done yet")


# --- Question 2: From scores to weights (core, 6 points, 20 minutes, moderate)

def softmax(scores: np.ndarray, axis: int = -1) -> np.ndarray:
    """Turn scores into weights: exp(score), divided by the sum of exp(score) along an
    axis.

    scores: an array of one or more axes, of integers or floats, with entries anywhere
        between -1e4 and 1e4.
    axis: the axis along which weights sum to one; negative axes count from the end.
    Returns an array of the shape of scores with entries in [0, 1]. Nothing overflows,
    and adding one constant to all scores changes the weights by no more than rounding.

    Source: D2, "Demonstration"; D3, "Stop and try".
    """
    raise NotImplementedError("not done yet")


# --- Question 3: Predict before you read on (core, 1 point, 2 minutes, easy)

# A query meets sixteen keys. All of them hold 1024 random numbers with mean 0 and
# variance 1. The score of a key is its dot product with the query, and softmax turns
# the sixteen scores into weights. How large is the largest weight, on average? An even
# split would give each key 1/16, about .06.
#   "a" about .06, for all keys are alike
#   "b" about .25
#   "c" about .6
#   "d" more than .9
# Any answer earns the point, as long as it is one letter in quotes. Commit to one
# before you read on.
guess_sharpness = None


# --- Question 4: Scores that do not grow with the width
# (core, 4 points, 15 minutes, easy)

def scaled_scores(queries: np.ndarray, keys: np.ndarray) -> np.ndarray:
    """Compare every query with every key: their dot product, divided by the square root
    of their width d.

    queries: shape (..., m, d), m queries.
    keys: shape (..., n, d), n keys of the same width, with the same leading axes (there
        may be none).
    Returns scores of shape (..., m, n): entry [..., i, j] compares query i with key j.
    Scores have no unit.
    Raises ValueError if queries and keys differ in width.

    Source: D1, "What does 1/sqrt(d) prevent?"; D2, "Demonstration".
    """
    raise NotImplementedError("not done yet")


# --- Question 5: The whole layer (core, 7 points, 25 minutes, moderate)

def attention(
    queries: np.ndarray,
    keys: np.ndarray,
    values: np.ndarray,
    mask: np.ndarray | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Let every query read the values, weighted by how well it matches their keys.

    queries: shape (..., m, d).
    keys: shape (..., n, d), with the leading axes of queries.
    values: shape (..., n, v), with the leading axes of queries; v may differ from d,
        and m from n.
    mask: None (everything may be read), or booleans that broadcast to (..., m, n): True
        where query i may read item j.
    Returns (output, weights) with shapes (..., m, v) and (..., m, n). Each row of
    weights sums to one, except that a query that may read nothing gets weights of zero
    and an output of zero.
    Raises ValueError if queries and keys differ in width, or keys and values in number.

    Source: D1, "Show the reasoning"; D2, "Demonstration"; masks: D3, "The edge case".
    """
    raise NotImplementedError("not done yet")


# --- Question 6: What may not be read (deepen, 8 points, 35 minutes, hard)

def causal_mask(n: int) -> np.ndarray:
    """Say which of n positions each position may read when it may read itself and
    everything before it.

    Returns booleans of shape (n, n): entry [i, j] is True where position i may read
    position j.

    Source: D3, "The edge case".
    """
    raise NotImplementedError("not done yet")


def masked_softmax(scores: np.ndarray, mask: np.ndarray) -> np.ndarray:
    """Turn scores into weights along the last axis, over the items that may be read and
    no others.

    scores: shape (..., n), entries anywhere between -1e4 and 1e4. A score that may not
    be read has no influence at all, however large it is.
    mask: booleans that broadcast to the shape of scores; True where the item may be
        read.
    Returns weights of the shape of scores. A forbidden item has the weight 0.0 exactly;
    the weights of the others are the softmax over these others alone, so they sum to
    one. A row with no legal item has nothing to spend its budget on: its weights are
    all 0.0. No input gives NaN, and none raises a warning.

    Source: D3, "The edge case".
    """
    raise NotImplementedError("not done yet")


# --- Question 7: Where an average cannot go (deepen, 7 points, 60 minutes, hard)

# three value vectors, one a row
TRIANGLE = np.array([[1.0, 1.0], [3.0, 1.0], [2.0, 3.0]])


def leaves_hull(point: np.ndarray, values: np.ndarray, tolerance: float = 1e-6) -> bool:
    """Tell whether a point lies outside the convex hull of the values, where no
    weighted average can reach it.

    point: shape (d,).
    values: shape (n, d), n >= 1. Values may repeat, and may all lie on one line or
    plane. The tests use up to 12 values of width up to 8.
    tolerance: a point closer to the hull than tolerance times the largest absolute
    coordinate of the values counts as inside, so a point on the boundary is inside. No
    test comes near this limit: its points are inside (but for rounding), or outside by
    at least 1e-3 times that coordinate. The tests use the default.
    Returns True outside, False inside.

    Source: D2, "Demonstration"; D3, "The consequence".
    """
    raise NotImplementedError("not done yet")


# An invertible 2 x 2 matrix W, as a list of two rows, for which the mixture (0.1, 0.3,
# 0.6) @ TRIANGLE @ W lies outside the hull of TRIANGLE by at least 0.1.
escaping_projection = None


# --- Question 8: The table as a picture (deepen, 6 points, 20 minutes, easy)

def heatmap(weights: np.ndarray, tokens: list[str]) -> Figure:
    """Draw a table of weights as shades, so that a reader sees who reads whom.

    weights: shape (n, n); entry [i, j] is the weight that query i (the word that reads)
        puts on key j (a word it reads).
    tokens: the n words in order; a word may occur twice.
    Returns a figure with one image, one cell per weight, not rounded and not smoothed.
    Row 0 is on top and belongs to the first query; column 0 is on the left and belongs
    to the first key. Both axes carry one tick per word, at the middle of its row or
    column, with the word as its label, and each axis has a name. Dark means a large
    weight: the colour map gets darker from end to end. The colours run from 0 to 1
    whatever the weights are, and a colour bar shows that range.
    Raises ValueError if weights is not a table of len(tokens) rows and columns.

    Source: D3, the table of attention weights drawn as shades.
    """
    raise NotImplementedError("not done yet")


# --- Question 9: Reading numbers and pictures (deepen, 4 points, 10 minutes, easy)

# Each answer is one letter in quotes, such as "a".

# The weights 0.1, 0.3, 0.6 of the values 10, 20, 30 are swapped end for end. Which item
# now holds the 0.6?
#   "a" the first
#   "b" the second
#   "c" the third
#   "d" none: the weights must be computed anew
swapped = None

# A text becomes twice as long. Each of its words reads all of them. How many weights
# does the table hold, against before?
#   "a" as many
#   "b" twice as many
#   "c" four times as many
#   "d" it depends on the words
doubled = None

# One item in a row, with a weight of 0.2, is masked. What happens to the weights of the
# others?
#   "a" they stay
#   "b" each grows by the same amount
#   "c" they depend on the masked score
#   "d" each grows by the same factor, 1 / 0.8
survivors = None

# In a heatmap of seven words, the row of "it" has 0.316 on "cat". What follows from
# this number alone?
#   "a" "cat" caused the output of "it"
#   "b" "it" reads "cat" more than twice as much as an even split would
#   "c" "cat" reads "it" with a weight of 0.316
#   "d" "it" reads "cat" more than all other words together
cell = None


# --- Question 10: Predict before you read on (research, 1 point, 2 minutes, easy)

# Three items have the values 20, 40 and 30 and the weights .2, .2 and .6, so the output
# is 30. Now the third item, with by far the largest weight, is deleted, and the other
# two share the budget in proportion to their weights. What is the output then? Write a
# number.
# Any answer earns the point, as long as it is a number. Commit to one before you read
# on.
guess_effect = None


# --- Question 11: Does a large weight mean a cause?
# (research, 5 points, 30 minutes, moderate, read by a person)

# The heatmap shows that "it" puts its largest weight on "cat". Someone concludes: the
# word "cat" made the model predict "warm" at the end of the sentence. In 100 to 200
# words: say why the weight alone does not show this, describe one experiment that would
# test it, and say which result would count for the claim and which against it.
causation = None
