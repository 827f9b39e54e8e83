# Recursion without end, also with the limit raised, in Python and in C.
import sys


def dive(depth=0):
    return dive(depth + 1)


def double(values):
    return dive()


def softmax(scores):
    sys.setrecursionlimit(10**9)
    return dive()


def apply(layer, x):
    value = []
    for _ in range(10**6):
        value = [value]
    return value
