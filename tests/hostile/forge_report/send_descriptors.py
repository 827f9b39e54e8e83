# Sends descriptors along with its frames, by the hundred and in circles.
# reason: no answer
import array
import os
import socket


def double(values):
    line = socket.socket(fileno=os.dup(3))
    one, two = socket.socketpair()
    for _ in range(200):
        try:
            line.sendmsg([b"A"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [0, 1, one.fileno(), two.fileno()]))])
        except OSError as error:
            print(error)
            break
    return values
