# Connects to Unix sockets: an abstract one of the host, one in the file system, and the container engine's.
import socket


def probe(name, attempt):
    try:
        result = attempt()
    except BaseException as error:
        print(f"probe {name}: {type(error).__name__} {getattr(error, 'errno', '')}")
    else:
        print(f"probe {name}: ok {result!r}"[:300])


def ask(address):
    line = socket.socket(socket.AF_UNIX)
    line.connect(address)
    return line.recv(100)


for address in ("\0@ABSTRACT@", "@STREAM@", "/var/run/docker.sock", "/run/containerd/containerd.sock", "/run/dbus/system_bus_socket"):
    probe(repr(address), lambda: ask(address))
pair, other = socket.socketpair()
probe("reconnect a pair", lambda: pair.connect("@STREAM@"))
probe("bind a pair", lambda: pair.bind("\0autograder_left"))
probe("listen on a pair", lambda: pair.listen())
