# Claims other credentials on its line: another pid and user, and asks for the grader's.
import socket
import struct


def probe(name, attempt):
    try:
        attempt()
    except BaseException as error:
        print(f"probe {name}: {type(error).__name__}")
    else:
        print(f"probe {name}: ok")


line = socket.socket(fileno=3)
probe("other pid", lambda: line.sendmsg([b""], [(1, 2, struct.pack("3i", 1, 0, 0))]))
print(struct.unpack("3i", line.getsockopt(1, 17, 12)))
line.detach()
