# An infinite loop with every signal ignored and everything caught.
# reason: {time}
import signal


def double(values):
    for number in range(1, 65):
        try:
            signal.signal(number, signal.SIG_IGN)
        except (OSError, ValueError):
            pass
    while True:
        try:
            while True:
                pass
        except BaseException:
            continue
