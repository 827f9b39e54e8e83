# A regular expression that backtracks for ever, inside C, where no signal handler runs.
# reason: did not
import re


def double(values):
    return re.match(r"(a+)+$", "a" * 60 + "b")
