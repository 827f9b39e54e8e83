# Asks its line for its other end, changes its options, and sends what is not plain bytes.
import ctypes
import os
import socket
import struct

libc = ctypes.CDLL(None, use_errno=True)


def probe(name, attempt):
    try:
        result = attempt()
    except BaseException as error:
        print(f"probe {name}: {type(error).__name__} {getattr(error, 'strerror', '')}")
    else:
        print(f"probe {name}: ok {result!r}"[:300])


line = socket.socket(fileno=os.dup(3))
for name, option, size in (("credentials", 17, 12), ("label", 31, 100), ("groups", 59, 100), ("process", 77, 4), ("cookie", 57, 8)):
    probe(name, lambda: line.getsockopt(socket.SOL_SOCKET, option, size))
for option in (1, 2, 7, 8, 10, 16, 20, 21, 26, 32, 33, 34, 42, 76):
    probe(f"set option {option}", lambda: line.setsockopt(socket.SOL_SOCKET, option, struct.pack("qq", 1, 0)))
probe("out of band", lambda: line.send(b"x", socket.MSG_OOB))
probe("receive out of band", lambda: line.recv(1, socket.MSG_OOB | socket.MSG_DONTWAIT))
probe("peek", lambda: line.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT))
probe("more to come", lambda: line.send(b"", socket.MSG_MORE))
probe("to an address", lambda: line.sendto(b"x", "@STREAM@"))
