# Socket pairs of families other than Unix, and sends from its own line to other addresses.
import socket


def probe(name, attempt):
    try:
        result = attempt()
    except BaseException as error:
        print(f"probe {name}: {type(error).__name__} {getattr(error, 'errno', '')}")
    else:
        print(f"probe {name}: ok {result!r}"[:300])


for family in (socket.AF_INET, 30, 31, 40):
    probe(f"pair {family}", lambda: socket.socketpair(family, socket.SOCK_STREAM))
line = socket.socket(fileno=3)
probe("elsewhere", lambda: line.sendto(b"x", "@DATAGRAM@"))
probe("rebind", lambda: line.bind("\0autograder_left"))
line.detach()
