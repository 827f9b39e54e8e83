# Switches its timer off and sleeps in every part of a question, each of which has a time of its own.
# expect: 1 points
# reason: {time}
import signal
import time


def double(values):
    if values.ndim > 1 or values.size > 3:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.setitimer(signal.ITIMER_PROF, 0)
        time.sleep(3600)
    return 2 * values
