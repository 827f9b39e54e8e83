# Answers a prediction when it is first read, and ends when it is read once more.
# problem set: ps1
# expect: 1 points
import os

from autograder.guest import serve

original, reads = serve._answer, 0
guess_effect = 0.5


def at_the_second_read(connection, answer):
    global reads
    if answer[0] == "answers":
        reads += answer[1] == [([0.5], [])]
        if reads == 2:
            os._exit(3)
    original(connection, answer)


serve._answer = at_the_second_read
