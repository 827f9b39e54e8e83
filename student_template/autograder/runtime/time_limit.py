"""A limit on the time that a student's code may run without returning."""

from __future__ import annotations

import signal
import threading
import types

# A guest's limit is on CPU time. It gets this many times as much wall-clock time, because a busy machine is slow.
WAITING_SHARE = 3


class TimeUp(BaseException):
    """The time of a call or unit is over. Not an `Exception`, so that a broad `except` does not swallow it."""


class time_limit:
    """Raises `TimeUp` in the running code after `seconds`; the host has its own deadline.

    Where there are no timers with signals, as on Windows or outside the main thread, another thread raises it, between two
    instructions of Python. A context manager as a class: entered for every call, a generator would cost more than the timer.
    """

    _for_good = False
    _seconds = 0.0

    def __init__(self, seconds: float) -> None:
        self._own = seconds
        self._works = time_limit._for_good or (
            hasattr(signal, "setitimer") and threading.current_thread() is threading.main_thread()
        )

    @classmethod
    def for_good(cls) -> None:
        """Leave the signals' handlers in place from now on, as a guest does: placing them costs more than the timers.

        The limit is then one of CPU time, and of `WAITING_SHARE` times as much wall-clock time. On a laptop it is one of
        wall-clock time alone, because linear algebra may use every core there.
        """
        signal.signal(signal.SIGALRM, cls._stop)
        signal.signal(signal.SIGPROF, cls._stop)
        cls._for_good = True

    @staticmethod
    def _stop(number: int, frame: types.FrameType | None) -> None:
        # On a busy machine an alarm may come while the limit is being left; raised there, it would leave the timer on.
        while frame is not None:
            if frame.f_code is time_limit.__exit__.__code__:
                return
            frame = frame.f_back
        seconds = time_limit._seconds
        if number == signal.SIGPROF or not time_limit._for_good:
            raise TimeUp(f"did not finish within {seconds:g} s")
        raise TimeUp(f"did not finish within {WAITING_SHARE * seconds:g} s, with less than {seconds:g} s of CPU time")

    def __enter__(self) -> None:
        if not self._works:
            self._timer = threading.Timer(self._own, interrupt, [threading.get_ident(), _time_up(self._own)])
            self._timer.daemon = True
            self._timer.start()
        else:
            time_limit._seconds = self._own
            # More alarms follow the first, for code that catches everything once.
            if time_limit._for_good:
                signal.setitimer(signal.ITIMER_PROF, self._own, 0.05)
                signal.setitimer(signal.ITIMER_REAL, WAITING_SHARE * self._own, 0.05)
            else:
                self._previous = signal.signal(signal.SIGALRM, time_limit._stop)
                signal.setitimer(signal.ITIMER_REAL, self._own, 0.05)

    def __exit__(self, *_: object) -> None:
        if not self._works:
            self._timer.cancel()
            self._timer.join()
            interrupt(threading.get_ident(), None)  # what has not arrived by now must not arrive in other code
        else:
            signal.setitimer(signal.ITIMER_REAL, 0)
            if time_limit._for_good:
                signal.setitimer(signal.ITIMER_PROF, 0)
            else:
                signal.signal(signal.SIGALRM, self._previous)


def _time_up(seconds: float) -> type[TimeUp]:
    """`TimeUp` with its message: another thread can raise a class only."""

    def __init__(self: TimeUp) -> None:
        TimeUp.__init__(self, f"did not finish within {seconds:g} s")

    return type(TimeUp.__name__, (TimeUp,), {"__init__": __init__})


def interrupt(thread: int, kind: type[BaseException] | None) -> None:
    """Raise an exception in another thread, between two of its instructions; None takes back one that is on its way."""
    import ctypes  # guests, which have timers, need not load it

    what = None if kind is None else ctypes.py_object(kind)
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), what)
