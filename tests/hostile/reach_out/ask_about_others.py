# Asks for clocks, limits, cores, groups and sessions of other processes.
import os
import resource
import time


def probe(name, attempt):
    try:
        result = attempt()
    except BaseException as error:
        print(f"probe {name}: {type(error).__name__} {getattr(error, 'strerror', '')}")
    else:
        print(f"probe {name}: ok {result!r}"[:300])


for pid in (int("@HOSTPID@"), os.getppid(), 1, 2):
    if pid in (0, os.getpid()):
        continue
    for kind in (0, 1, 2):
        clock = (~pid << 3) | kind
        probe(f"clock {kind} of {pid}", lambda: time.clock_gettime(clock))
        probe(f"resolution {kind} of {pid}", lambda: time.clock_getres(clock))
    probe(f"group of {pid}", lambda: os.getpgid(pid))
    probe(f"session of {pid}", lambda: os.getsid(pid))
    probe(f"cores of {pid}", lambda: os.sched_getaffinity(pid))
    probe(f"scheduler of {pid}", lambda: os.sched_getscheduler(pid))
    probe(f"parameters of {pid}", lambda: os.sched_getparam(pid))
    probe(f"priority of {pid}", lambda: os.getpriority(os.PRIO_PROCESS, pid))
    probe(f"limits of {pid}", lambda: resource.prlimit(pid, resource.RLIMIT_NOFILE))
    probe(f"signal 0 to {pid}", lambda: os.kill(pid, 0))
