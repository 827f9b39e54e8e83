# A sparse file of terabytes, allocated blocks, and a memory map over them.
import os


def probe(name, attempt):
    try:
        attempt()
    except BaseException as error:
        print(f"probe {name}: {type(error).__name__}")
    else:
        print(f"probe {name}: ok")


def opened():
    return os.open("/tmp/autograder_left_sparse", os.O_RDWR | os.O_CREAT)


probe("truncate", lambda: os.ftruncate(opened(), 2**40))
probe("fallocate", lambda: os.posix_fallocate(opened(), 0, 2**33))
probe("seek", lambda: os.pwrite(opened(), b"x", 2**41))
