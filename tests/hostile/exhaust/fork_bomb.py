# A fork bomb, in every way there is to make a process.
import ctypes
import multiprocessing
import os
import subprocess


def probe(name, attempt):
    try:
        attempt()
    except BaseException as error:
        print(f"probe {name}: {type(error).__name__}")
    else:
        print(f"probe {name}: ok")


def forked():
    if os.fork() == 0:
        os._exit(0)


probe("fork", forked)
probe("forkpty", os.forkpty)
probe("spawn", lambda: subprocess.Popen(["/bin/true"]))
probe("posix_spawn", lambda: os.posix_spawn("/bin/true", ["true"], {}))
probe("exec", lambda: os.execv("/usr/bin/python3", ["python3"]))
probe("multiprocessing", lambda: multiprocessing.get_context("fork").Process(target=print).start())
libc = ctypes.CDLL(None, use_errno=True)
print("probe vfork:", "ok" if libc.syscall(58) > 0 else "refused")
while True:
    try:
        forked()
    except OSError:
        break
