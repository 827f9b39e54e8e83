# Answers a question of many parts with too few answers and no reason, and one of one part with too many.
# reason: no answer
from autograder.guest import serve

original = serve._call


def some_other_number(connection, namespace, message):
    kind, results, report = original(connection, namespace, message)
    return kind, results[1:] if len(results) > 1 else results * 2, report


serve._call = some_other_number


def double(values):
    return 2 * values


def softmax(scores):
    return scores
