# Opens sockets of every family to the loopback, the outside and the name service.
import socket


def probe(name, attempt):
    try:
        result = attempt()
    except BaseException as error:
        print(f"probe {name}: {type(error).__name__} {getattr(error, 'errno', '')}")
    else:
        print(f"probe {name}: ok {result!r}"[:300])


probe("loopback", lambda: socket.create_connection(("127.0.0.1", int("@PORT@")), 1).recv(100))
probe("loopback 6", lambda: socket.create_connection(("::1", int("@PORT@")), 1).recv(100))
probe("udp", lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"x", ("127.0.0.1", int("@PORT@"))))
probe("outside", lambda: socket.create_connection(("192.0.2.1", 80), 1))
probe("dns", lambda: socket.getaddrinfo("example.org", 80)[0] if socket.getaddrinfo("example.org", 80) else None)
for family, kind, protocol in (
    (socket.AF_UNIX, socket.SOCK_STREAM, 0), (socket.AF_INET, socket.SOCK_RAW, 1), (socket.AF_NETLINK, socket.SOCK_RAW, 0),
    (socket.AF_PACKET, socket.SOCK_RAW, 0), (40, socket.SOCK_STREAM, 0), (38, socket.SOCK_SEQPACKET, 0), (44, socket.SOCK_DGRAM, 0),
    (30, socket.SOCK_RDM, 0), (31, socket.SOCK_RAW, 1), (29, socket.SOCK_RAW, 1),
):
    probe(f"family {family}", lambda: socket.socket(family, kind, protocol))
