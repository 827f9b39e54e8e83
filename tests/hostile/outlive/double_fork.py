# Forks twice, starts a session of its own and lives on as a daemon.
import ctypes
import os

ctypes.CDLL(None).prctl(15, b"hostile_daemon", 0, 0, 0)
for name, step in (("fork", os.fork), ("setsid", os.setsid), ("second fork", os.fork)):
    try:
        step()
        print(f"probe {name}: ok")
    except OSError as error:
        print(f"probe {name}: {error.strerror}")
