"""Problem set 3: putting the position back.

Arrays hold float64 numbers; compute in that precision. No function changes its
arguments. The names of sizes are the same throughout: n examples, each of `length`
tokens, each token of `width` numbers. D1 is one of the teaching documents that this
course is built on; the lesson's last section names them.
"""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.figure import Figure

# The experiment's settings, and tools to try it out; the tests bring their own data.
LENGTH, WIDTH = 8, 16
BOUND = 163 / 256  # best accuracy of any rule that ignores order, from problem set 2


def draw_task(seed: int, n: int = 1000) -> tuple[np.ndarray, np.ndarray]:
    """Draw tokens (n, LENGTH, WIDTH) from N(0, 1), and labels (n,): 1.0 where
    coordinate 0 of token 0 is positive."""
    tokens = np.random.default_rng([seed, 0]).standard_normal((n, LENGTH, WIDTH))
    return tokens, (tokens[:, 0, 0] > 0).astype(float)


def draw_start(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Draw a query and a readout, each of shape (WIDTH,), from N(0, 1/16): the variance
    is 1/16."""
    query, readout = np.random.default_rng([seed, 1]).standard_normal((2, WIDTH)) / 4
    return query, readout


# --- Question 1: A vector for every position (core, 6 points, 20 minutes, easy)

def sinusoidal_encoding(length: int, width: int) -> np.ndarray:
    """Give every position a vector of sines and cosines.

    length: number of positions, counted from 0; at least 1.
    width: numbers per position; even, at least 2.
    Returns an array P of shape (length, width). Its columns come in pairs: for pair k =
    0, 1, ..., width/2 - 1, P[t, 2k] = sin(t * rate_k) and P[t, 2k + 1] = cos(t *
    rate_k), with rate_k = 10000^(-2k / width), in radians per position. So the first
    pair turns by one radian per position, and each later pair turns more slowly.
    Raises ValueError if width is odd.

    Source: Vaswani and others, "Attention is all you need", 2017, section 3.5; D1 adds
        these vectors.
    """
    raise NotImplementedError("not done yet")


# --- Question 2: A query that is learned (core, 6 points, 20 minutes, easy)

def pooled_logits(
    tokens: np.ndarray, query: np.ndarray, readout: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Run the learned-query classifier forward: pool the tokens of each example by
    attention, then read one number off.

    For one example x: scores s_j = query . x_j / sqrt(width), weights a = softmax(s)
    over its tokens, pooled vector = sum_j a_j x_j, logit z = readout . pooled. There is
    no bias.
    tokens: shape (n, length, width). Positions, if any, have been added before.
    query, readout: shape (width,) each.
    Returns (logits, weights) with shapes (n,) and (n, length). A positive logit
    predicts the label 1. Scores between -1e4 and 1e4 must not overflow.

    Source: D1, "How much does that matter?".
    """
    raise NotImplementedError("not done yet")


# --- Question 3: What a wrong answer costs (core, 4 points, 15 minutes, easy)

def logistic_loss(logits: np.ndarray, labels: np.ndarray) -> float:
    """Score predictions: the mean over examples of -log(probability given to the true
    label), in nats.

    The probability of label 1 is sigmoid(z) = 1 / (1 + exp(-z)), that of label 0 is 1 -
    sigmoid(z).
    logits: shape (n,), entries anywhere between -1e4 and 1e4; the result stays finite
        and accurate there.
    labels: shape (n,), each 0.0 or 1.0.
    Returns one number, right to a few dozen roundings of the largest cost in the mean.

    Source: the logarithm of the Bernoulli likelihood; any textbook on logistic
        regression.
    """
    raise NotImplementedError("not done yet")


# --- Question 4: Slopes by hand (core, 7 points, 60 minutes, hard)

def loss_gradients(
    tokens: np.ndarray, labels: np.ndarray, query: np.ndarray, readout: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Differentiate the mean logistic loss of the learned-query classifier, by hand.

    tokens: shape (n, length, width); labels: shape (n,), each 0.0 or 1.0; query,
        readout: shape (width,) each.
    Returns (query_gradient, readout_gradient), each of shape (width,): the slope of
    logistic_loss(pooled_logits(tokens, query, readout)[0], labels) along each number of
    query and readout. Exact but for rounding: no finite differences. Scores between
    -1e4 and 1e4 and logits between -1e3 and 1e3 must not overflow, so no warning is
    raised there. `train` calls this 1500 times on 1000 examples, so treat all examples
    at once.

    Source: the chain rule; the softmax Jacobian is in D1, "What does 1/sqrt(d)
        prevent?".
    """
    raise NotImplementedError("not done yet")


# --- Question 5: One step of Adam (core, 5 points, 20 minutes, easy)

def adam_step(
    theta: np.ndarray,
    gradient: np.ndarray,
    m: np.ndarray,
    v: np.ndarray,
    step: int,
    lr: float = 0.01,
    beta1: float = 0.9,
    beta2: float = 0.999,
    eps: float = 1e-8,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Take one step of Adam, as a pure function: nothing is remembered but what is
    passed in and handed back.

    m becomes beta1 * m + (1 - beta1) * gradient, v becomes beta2 * v + (1 - beta2) *
    gradient^2; both start at zero, so they are too small at first, and are corrected:
    m_hat = m / (1 - beta1^step), v_hat = v / (1 - beta2^step). Then theta becomes theta
    - lr * m_hat / (sqrt(v_hat) + eps).
    theta, gradient, m, v: arrays of one common shape, of any rank.
    step: 1 for the first step, 2 for the second, ...
    Returns the new (theta, m, v). The m and v handed back are the uncorrected ones.

    Source: Kingma and Ba, "Adam: a method for stochastic optimization", 2015, algorithm
        1.
    """
    raise NotImplementedError("not done yet")


# --- Question 6: Fifteen hundred steps (core, 6 points, 25 minutes, moderate)

def train(
    tokens: np.ndarray,
    labels: np.ndarray,
    query: np.ndarray,
    readout: np.ndarray,
    steps: int = 1500,
    lr: float = 0.01,
) -> tuple[np.ndarray, np.ndarray]:
    """Train the learned-query classifier: full-batch Adam, from the given start, for
    the given number of steps.

    Every step uses the gradient over all examples, then updates query and readout
    together with `adam_step`'s rule and its default beta1, beta2 and eps. Nothing is
    drawn at random, so the same arguments give the same answer.
    tokens: shape (n, length, width); labels: shape (n,), each 0.0 or 1.0; query,
        readout: the start, shape (width,).
    steps: may be 0, which returns the start.
    Returns the trained (query, readout).
    1500 steps on 1000 examples of 8 tokens of width 16 take the reference about 0.3 s,
    and 1 to 2 s in a plainer style. The grader waits 18 s: plenty for array operations
    over all examples, too little for a Python loop over them.

    Source: D1, "How much does that matter?".
    """
    raise NotImplementedError("not done yet")


# --- Question 7: Predict before you read on (core, 1 point, 2 minutes, easy)

# Without positions, the model is right in about 59 % of fresh examples, and 61.5 % is
# the most it could reach. Now sinusoidal position vectors are added to the tokens, as
# they are. How often will it be right after 1500 steps?
#   "a" about 60 %, positions do not help such a small model
#   "b" about 70 %
#   "c" about 90 %
#   "d" nearly always, for the position now stands in every token
# Any answer earns the point, as long as it is one letter in quotes. Commit to one
# before you read on.
guess_table = None


# --- Question 8: The three-row table (core, 6 points, 30 minutes, moderate)

def position_sweep(
    train_set: tuple[np.ndarray, np.ndarray],
    test_set: tuple[np.ndarray, np.ndarray],
    positions: np.ndarray,
    query: np.ndarray,
    readout: np.ndarray,
    scales: list[float],
    steps: int = 1500,
    lr: float = 0.01,
) -> np.ndarray:
    """Measure how accuracy depends on the strength of the position vectors, all else
    equal.

    For each scale: add scale * positions to the tokens of both sets, train on the train
    set from the given start (the same start for every scale), and count how often the
    sign of the logit gives the right label.
    train_set, test_set: (tokens, labels) each, with shapes (n, length, width) and (n,);
        labels are 0.0 or 1.0.
    positions: shape (length, width), such as sinusoidal_encoding(length, width).
    query, readout: the start, shape (width,) each. steps, lr: as in `train`.
    Returns an array of shape (len(scales), 2): one row per scale, in the order given;
    the train accuracy, then the test accuracy, each a share between 0 and 1. A logit of
    zero counts as a prediction of 0.

    Source: D1, "How much does that matter?". The scales [0, 1, 3] give the three-row
        table.
    """
    raise NotImplementedError("not done yet")


# --- Question 9: The sweep as a picture (core, 6 points, 20 minutes, easy)

def sweep_figure(
    scales: list[float], test_accuracies: np.ndarray, bound: float
) -> Figure:
    """Draw a sweep: what the scale of the positions does to test accuracy, and what no
    rule without order can pass.

    scales: the m scales, in rising order.
    test_accuracies: shape (seeds, m); row r holds the test accuracies of one data set
        and start.
    bound: the best accuracy of any rule that ignores order, such as 163/256.
    Returns a figure with one pair of axes. It shows the median over the seeds against
    the scale as a line through m points; every single accuracy as an unconnected marker
    (linestyle "none") that can be seen, at its scale or, so that equal ones do not hide
    each other, up to a quarter of the smallest gap between scales beside it; and the
    bound as a horizontal line over the whole range of scales, with a linestyle other
    than the median's. All accuracies, the bound included, are drawn as shares or all in
    per cent. Both axes have a name. Median and bound each have a label in a legend, and
    the label of the bound contains the word "bound".
    Draw with `axes.plot` and, if you like, `axes.axhline`; the grader does not see
    `scatter` or `hlines`.

    Source: D1, "How much does that matter?".
    """
    raise NotImplementedError("not done yet")


# --- Question 10: Four tables inside the scores
# (deepen, 6 points, 25 minutes, moderate)

def logit_terms(
    content: np.ndarray, positions: np.ndarray, w_q: np.ndarray, w_k: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Split the scores of self-attention over content + positions into four tables that
    add up to them.

    The scores are S[i, j] = (x_i w_q) . (x_j w_k) / sqrt(d), where x = content +
    positions and d is the width of the queries. Row i belongs to the query of token i,
    column j to the key of token j.
    content, positions: shape (length, width) each.
    w_q, w_k: shape (width, d) each; d may differ from width.
    Returns (content_content, content_position, position_content, position_position),
    each of shape (length, length). The first word names the part of row i that makes
    the query, the second the part of column j that makes the key: content_position[i,
    j] compares the content of i with the position of j. Their sum is S but for
    rounding.

    Source: D1, the paragraph on the terms inside the scores.
    """
    raise NotImplementedError("not done yet")


# --- Question 11: Predict before you read on (deepen, 1 point, 2 minutes, easy)

# A wave goes up and down three times while time runs from 0 to 1. A layer of 100 random
# tanh units is told the time, once as a number between 0 and 1 and once by eight sines
# and cosines, with the same budget. By what factor does the error on fresh data differ?
#   "a" hardly at all, both say the same
#   "b" about 3
#   "c" about 30
#   "d" about 3000
# Any answer earns the point, as long as it is one letter in quotes. Commit to one
# before you read on.
guess_time = None


# --- Question 12: Telling a layer the time (deepen, 7 points, 40 minutes, moderate)

def embed_time(times: np.ndarray, width: int, span: float = 20.0) -> np.ndarray:
    """Embed real times as `sinusoidal_encoding` does for positions: time t stands for
    the position span * t.

    times: shape (n,), between 0 and 1. width: even. span: radians that the first pair
        turns while time runs from 0 to 1.
    Returns shape (n, width): columns 2k and 2k + 1 hold sin and cos of span * t *
    10000^(-2k / width).

    Source: D1, the comparison of an appended time with a sinusoidal embedding.
    """
    raise NotImplementedError("not done yet")


def readout_error(
    train_set: tuple[np.ndarray, np.ndarray],
    test_set: tuple[np.ndarray, np.ndarray],
    layer: tuple[np.ndarray, np.ndarray],
    ridge: float = 1e-4,
) -> float:
    """Fit a readout on fixed hidden units, and return its mean squared error on the
    test set.

    train_set, test_set: (inputs, targets) each, with shapes (n, w) and (n,).
    layer: (weights, bias) with shapes (w, h) and (h,). The h hidden units are
    tanh(inputs @ weights + bias). The readout c, shape (h,), minimises mean((hidden @ c
    - targets)^2) + ridge * sum(c^2) over the train set; it is the solution of (H^T H /
    n + ridge I) c = H^T targets / n, with H the hidden units of the train set.

    Source: D1, the same comparison. Same units, same examples, same ridge: that is the
        equal budget.
    """
    raise NotImplementedError("not done yet")


def time_errors(
    train_set: tuple[np.ndarray, np.ndarray, np.ndarray],
    test_set: tuple[np.ndarray, np.ndarray, np.ndarray],
    scalar_layer: tuple[np.ndarray, np.ndarray],
    embedded_layer: tuple[np.ndarray, np.ndarray],
    span: float = 20.0,
) -> tuple[float, float]:
    """Compare two ways to tell a layer the time: one appended number, or an appended
    embedding.

    train_set, test_set: (features, times, targets) each, with shapes (n, f), (n,) and
        (n,).
    scalar_layer: (weights, bias) with shapes (f + 1, h) and (h,); its inputs are the
        features, then the time.
    embedded_layer: (weights, bias) with shapes (f + w, h) and (h,); its inputs are the
    features, then embed_time(times, w, span). Read w off the shapes.
    Returns (error with the scalar, error with the embedding), each by `readout_error`
    with its default ridge.

    Source: D1, the comparison of an appended time with a sinusoidal embedding.
    """
    raise NotImplementedError("not done yet")


# --- Question 13: Reading the table (deepen, 4 points, 10 minutes, moderate)

# Each answer is one letter in quotes, such as "a".

# Without positions, one run reaches a train accuracy of 0.640, and the bound for rules
# without order is 0.6367. So:
#   "a" the program has a fault, for no such rule can pass the bound
#   "b" the model has found a trace of order in the data
#   "c" the bound holds for fresh examples on average; a fitted sample may lie above it
#   "d" the bound was estimated, and is a little too low
above = None

# With positions at scale 1, test accuracy after 1500 steps is near 0.69. After ten
# times as many steps it is most likely
#   "a" near 0.69 still
#   "b" near 0.92, as at scale 3
#   "c" near 1
#   "d" near 0.5, because the model overfits
longer = None

# The positions are multiplied by 3. The four terms of the scores, content-content,
# content-position, position-content and position-position, are multiplied by
#   "a" 3, 3, 3, 3    "b" 1, 3, 3, 3    "c" 1, 3, 3, 6    "d" 1, 3, 3, 9
tripled = None

# At scale 8, the mean test accuracy over seeds is below that at scale 6, and its
# standard deviation is large. Most single seeds are above 0.97, a few between 0.5 and
# 0.7. Which sentence fits?
#   "a" scale 8 makes every run a little worse
#   "b" most runs find token 0, a few lock onto a wrong token for good
#   "c" the test sets are too small to tell
#   "d" the bound of 0.6367 pulls the mean down
spread = None


# --- Question 14: What may be concluded?
# (research, 4 points, 30 minutes, moderate, read by a person)

# Someone reads the three-row table and concludes: "Multiply position vectors by three
# in every model; at scale 1 the model was just not trained long enough." In 100 to 200
# words: say what the table does show, what is wrong with each half of the conclusion,
# and describe one experiment, with its controls, whose result would count for or
# against the claim that it is the strength of position against content that matters.
conclusion = None
