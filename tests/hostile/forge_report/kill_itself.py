# Kills itself and whoever it can reach, with every signal it can name.
import os
import signal

# Process 1 and "everybody" only where this process is alone in its namespace: should a sandbox fail, the machine lives on.
ALONE = os.getpid() == 1


def double(values):
    for target in (os.getpid(), os.getppid() or os.getpid(), *((-1,) if ALONE else ())):
        for number in (signal.SIGTERM, signal.SIGKILL, signal.SIGSEGV, 40):
            try:
                os.kill(target, number)
            except OSError:
                pass
    return values


def softmax(scores):
    os.abort()
