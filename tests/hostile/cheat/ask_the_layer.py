# Uses the test's callable as an oracle for other answers, and keeps it for later questions.
# expect: 0 points
kept = []


def apply(layer, x):
    kept.append(layer)
    try:
        return layer.softmax(x)
    except AttributeError:
        return layer(x)


def double(values):
    return kept[0](values) if kept else values


def softmax(scores):
    return kept[0](scores) if kept else scores
