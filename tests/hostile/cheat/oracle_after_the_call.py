# Keeps a test's callable beyond its call and asks it during another one.
# expect: 0 points
kept = []


def apply(layer, x):
    kept.append(layer)
    return x


def double(values):
    for layer in kept:
        layer(values)
    return values
