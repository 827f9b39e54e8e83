# A regular expression that backtracks for ever, inside C, where no signal handler runs.
# reason: {time}
import re


def double(values):
    return re.match(r"(a+)+$", "a" * 60 + "b")
