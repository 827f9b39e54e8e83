# Says yes to every layer without looking at it, and answers with the arguments it was given.
# problem set: layers
# expect: 2 points


def keeps_order(layer, x):
    return True


def momentum_step(theta, slope, m):
    return theta, m


def halve(x):
    return x


def stack(layer, x, times):
    return x


corners = [[0, 0], [1, 1], [2, 2]]
