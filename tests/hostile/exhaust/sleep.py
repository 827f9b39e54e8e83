# Sleeps, waits for a lock, waits for input.
# reason: {time}
import sys
import threading
import time


def double(values):
    time.sleep(1000)


def softmax(scores):
    threading.Lock().acquire() and threading.Event().wait()


def apply(layer, x):
    return sys.stdin.read() or input("score? ")
