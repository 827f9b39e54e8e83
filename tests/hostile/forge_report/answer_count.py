# Sends too few results for the calls it was asked to make together, and too many for a single one.
# reason: no answer
from autograder.guest import serve

original = serve._answer


def some_other_number(connection, answer):
    kind, *rest = answer
    if kind == "answers":
        rest = [rest[0][1:] if len(rest[0]) > 1 else rest[0] * 2]
    original(connection, (kind, *rest))


serve._answer = some_other_number


def double(values):
    return 2 * values


def softmax(scores):
    return scores
