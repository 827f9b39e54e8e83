# Reads /proc: environment, command line, maps, memory and descriptors of itself, of pid 1 and of the grader.
import os


def probe(name, attempt):
    try:
        result = attempt()
    except BaseException as error:
        print(f"probe {name}: {type(error).__name__}")
    else:
        print(f"probe {name}: ok {result!r}"[:400])


for pid in ("self", "1", "@HOSTPID@", str(os.getppid()), str(os.getpid())):
    for entry in ("environ", "cmdline", "maps", "mem", "status", "stack", "syscall", "auxv", "root/etc/passwd", "cwd/course.yml"):
        probe(f"{pid}/{entry}", lambda: open(f"/proc/{pid}/{entry}", "rb").read(200))
    probe(f"{pid}/fd", lambda: os.listdir(f"/proc/{pid}/fd"))
    if pid not in ("self", str(os.getpid())):
        probe(f"{pid}/cwd", lambda: os.readlink(f"/proc/{pid}/cwd"))
probe("pids", lambda: [name for name in os.listdir("/proc") if name.isdigit()][0])
