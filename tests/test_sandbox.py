"""The trust boundary from the host's side: real guests in a real sandbox, on each backend that this machine offers."""

from __future__ import annotations

import errno
import os
import time
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from autograder.backends import BACKENDS, SandboxError
from autograder.limits import Limits
from autograder.runtime import wire
from autograder.sandbox.guest import open_zygote
from autograder.sandbox.libraries import offered_paths
from autograder.sandbox.runner import Ask, GuestRunner
from autograder.sandbox.zygote import Zygote
from autograder.testing import Refusal
from autograder.testing.errors import AlreadyStopped, Mismatch, NotDone, Stopped, StudentError, Undefined
from autograder.testing.student import Student, call_digest

SOURCE = b"""
import os, signal, sys, threading, time
import numpy as np

counter = [0]
constant = 7

def plus_one(x): return np.asarray(x) + 1
def not_yet(x): raise NotImplementedError("not done yet")
def in_place(x):
    x[0] = 5
    return x
def counting(): counter[0] += 1; return counter[0]
def apply(function, x): return function(x)
def raises(x): return [][x]
def forever():
    while True: pass
def stubborn():
    for timer in (signal.SIGALRM, signal.SIGPROF): signal.signal(timer, signal.SIG_IGN)
    while True: pass
def leave(): os._exit(3)
def hog(): return bytearray(4 << 30)
def crash():
    import ctypes
    ctypes.string_at(0)
def fork(): return os.fork()
def connect():
    import socket
    return socket.create_connection(("127.0.0.1", 1))
def listing(path): return sorted(os.listdir(path))
def write(path):
    with open(path, "w") as file: file.write("here")
    return open(path).read()
def fill():
    with open("big", "wb") as file:
        while True: file.write(bytes(1 << 20))
def environment(): return dict(os.environ)
def flood():
    while True: sys.stdout.write("x" * 65536)
def say(text): print(text); return 0
def thread_sum():
    total = []
    threads = [threading.Thread(target=total.append, args=(i,)) for i in range(4)]
    for thread in threads: thread.start()
    for thread in threads: thread.join()
    return sum(total)
def awaited():
    import asyncio
    async def late(x):
        await asyncio.sleep(0.01)
        return x
    async def both():
        return sum(await asyncio.gather(late(1), late(2)))
    return asyncio.run(both())
def joined_thread():
    import ctypes
    libc = ctypes.CDLL(None)
    thread, body = ctypes.c_ulong(), ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p)(lambda _: time.sleep(0.02))
    return libc.pthread_create(ctypes.byref(thread), None, body, None) or libc.pthread_join(thread, None)
def nonsense(): os.write(3, b"this is no frame, but it is long enough to look like one"); time.sleep(60)
def waits(seconds): time.sleep(seconds); return seconds
def leaves_at(number):
    if number == 3: os._exit(0)
    return number
counted = 0
def count(x):
    global counted
    counted += 1
    return x
def call_back_for_ever(function):
    while True: function(1)
def huge(): return np.broadcast_to(np.float64(1), (10**6, 10**6))
def deep():
    value = []
    for _ in range(100_000): value = [value]
    return value
def page_faults(times):
    import resource
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for _ in range(times): [np.ones(50_000) for _ in range(8)]
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before
class Always:
    def __eq__(self, other): return True
def always(): return Always()
"""

FAST = Limits(call_seconds=0.4, load_seconds=1.0, submission_seconds=30, output_kb=1024)


@pytest.fixture(scope="module", params=list(BACKENDS))
def zygote(request: pytest.FixtureRequest) -> Iterator[Zygote]:
    try:
        started = open_zygote(request.param)
    except SandboxError as error:
        pytest.skip(str(error))
    yield started
    started.close()


@pytest.fixture
def runner(zygote: Zygote) -> Iterator[GuestRunner]:
    with GuestRunner(zygote, "ps1.py", SOURCE, FAST, {"plus_two"}) as started:
        started.load()
        yield started


@pytest.fixture
def student(runner: GuestRunner) -> Student:
    return Student(runner)


def test_calls_cross_as_data(student: Student) -> None:
    answer = student.plus_one(np.arange(6.0).reshape(2, 3))
    assert answer.tolist() == [[1, 2, 3], [4, 5, 6]]
    assert student.value("constant") == 7


def asks(name: str, *cases: Any) -> list[Ask]:
    found = []
    for case in cases:
        deferred = wire.Deferred.of(((case,), {}))
        found.append(Ask(name, deferred, call_digest(name, deferred), FAST.call_seconds))
    return found


def test_calls_made_ahead_answer_the_tests(runner: GuestRunner, student: Student) -> None:
    cases = [np.full((n, 2), float(n)) for n in range(5)]
    known = [*asks("count", *cases), *asks("raises", 1), *asks("plus_one", *cases)]
    runner.ask_ahead([*known, *asks("no_such_name", 1)])
    assert student.value("counted") == 10, "each was made twice"
    for case in cases:
        assert student.count(case).tolist() == case.tolist()
        assert student.plus_one(case).tolist() == (case + 1).tolist()
    with pytest.raises(IndexError, match=r"`raises` raised IndexError: .*\n  line \d+, in raises"):
        student.raises(1)
    assert student.value("counted") == 10, "none was made again"
    assert set(runner.spent_ahead) == {ask.digest for ask in known}
    # What was not asked ahead is asked now.
    assert student.count(np.ones(3)).tolist() == [1, 1, 1]
    assert student.value("counted") == 12


def test_a_call_that_hangs_ahead_decides_only_its_own_question(runner: GuestRunner, student: Student) -> None:
    runner.ask_ahead([*asks("waits", 0.0, 60.0, 0.1), *asks("plus_one", 1.0)])
    assert student.plus_one(1.0) == 2.0
    assert student.waits(0.0) == 0.0
    # Whoever never asks for the call that hangs can ask for the others.
    assert student.waits(0.1) == 0.1
    with pytest.raises(Stopped, match=r"`waits` did not finish within 1\.2 s, with less"):
        student.waits(60.0)
    with pytest.raises(AlreadyStopped):
        student.waits(0.2)


def test_functions_that_take_long_are_asked_in_their_turn(runner: GuestRunner, student: Student) -> None:
    # Two calls of 0.3 s use up the second that calls ahead may take.
    runner.ask_ahead([*asks("waits", 0.3, 0.31, 0.32, 0.33), *asks("count", 1.0)])
    assert student.value("counted") == 0
    assert [student.waits(seconds) for seconds in (0.3, 0.32)] == [0.3, 0.32]
    assert student.count(1.0) == 1.0
    slow, *_ = asks("waits", 0.3)
    assert runner.spent_ahead[slow.digest] > 0.3


def test_a_guest_that_ends_ahead_decides_nothing(runner: GuestRunner, student: Student) -> None:
    runner.ask_ahead([*asks("waits", 0.03), *asks("leaves_at", 1, 2, 3), *asks("plus_one", 1.0)])
    # What took long was answered at once, and is known; of the rest every call is made when its turn comes.
    assert [ask.digest for ask in asks("waits", 0.03)] == list(runner.spent_ahead)
    assert [student.leaves_at(number) for number in (1, 2)] == [1, 2]
    with pytest.raises(Stopped, match="ended the whole process"):
        student.leaves_at(3)
    assert student.plus_one(1.0) == 2.0


def test_more_calls_than_a_message_holds_are_made_in_their_turn(runner: GuestRunner, student: Student) -> None:
    (large,) = asks("count", np.zeros(2**23))
    runner.ask_ahead([*asks("count", 1.0), *[large] * (wire.MAX_PAYLOAD // 2**26 + 1)])
    assert student.value("counted") == 0
    assert student.count(1.0) == 1.0


@pytest.mark.parametrize("results", [[], [None] * 9, [5], [([1.0], [])] * 3, [{"type": "ValueError"}], "x"])
def test_nonsense_ahead_ends_the_guest_and_decides_nothing(zygote: Zygote, results: Any) -> None:
    source = (
        SOURCE
        + f"""
from autograder.guest import serve
original = serve._answer
def answer(connection, message):
    original(connection, ("answers", {results!r}) if message[0] == "answers" and constant == 7 else message)
serve._answer = answer
def honest_again(): return 1
""".encode()
    )
    with GuestRunner(zygote, "ps1.py", source, FAST) as runner:
        runner.load()
        runner.ask_ahead(asks("plus_one", 1.0, 2.0))
        assert runner.spent_ahead == {}
        with pytest.raises(Stopped, match="no answer"):
            Student(runner).plus_one(1.0)


def test_what_is_too_large_to_send_is_not_the_graders_fault(student: Student) -> None:
    large = np.broadcast_to(np.float64(0), wire.MAX_PAYLOAD // 8 + 1)
    with pytest.raises(StudentError, match="`plus_one` cannot be called with this"):
        student.once.plus_one(large)


def test_threads_run_where_their_number_is_bounded(zygote: Zygote, student: Student) -> None:
    if zygote.backend == "bubblewrap":
        assert student.thread_sum() == 6
    else:
        with pytest.raises(StudentError, match="can't start new thread"):
            student.thread_sum()


def test_coroutines_run_without_sockets(student: Student) -> None:
    assert student.awaited() == 3


def test_the_c_library_can_wait_for_the_end_of_a_thread(zygote: Zygote, student: Student) -> None:
    """It waits on a futex that is not private, which a guest may not; so it looks again until the thread is gone."""
    assert student.joined_thread() == (0 if zygote.backend == "bubblewrap" else errno.EPERM)


def test_a_test_function_is_called_back_and_tells_of_its_errors_only_what_the_test_wants(student: Student) -> None:
    assert student.apply(lambda x: x * 2, np.array([1.0, 2.0])).tolist() == [2.0, 4.0]

    def refuse(x: object) -> object:
        raise Refusal("refused here")

    with pytest.raises(ValueError, match="refused here"):
        student.apply(refuse, 1)

    def fail(x: object) -> object:
        raise KeyError("42")

    with pytest.raises(RuntimeError, match="raised an exception for these arguments") as caught:
        student.apply(fail, 1)
    assert "42" not in str(caught.value)


def test_a_function_of_the_submission_can_be_an_argument(student: Student) -> None:
    assert student.apply(student.plus_one, 1.0) == 2.0


def test_rules_of_a_call_are_the_same_as_on_a_laptop(student: Student) -> None:
    with pytest.raises(NotDone, match="not done yet"):
        student.not_yet(1)
    with pytest.raises(ValueError, match="changes its argument in place"):
        student.in_place(np.zeros(3))
    with pytest.raises(Mismatch, match="different answer when called again"):
        student.counting()
    with pytest.raises(IndexError, match="list index out of range"):
        student.raises(1)
    with pytest.raises(Undefined, match="did you rename it"):
        student.plus_two(1)


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        # On a busy machine, the limit on wall-clock time may be the first to be reached.
        ("forever", r"did not finish within (0\.4 s|1\.2 s, with less than 0\.4 s of CPU time)"),
        ("stubborn", "did not return in time"),
        ("leave", r"ended the whole process \(exit status 3\)"),
        ("crash", "segmentation fault"),
        ("flood", "printed more than 1048576 bytes"),
        ("nonsense", "no answer"),
    ],
)
def test_a_lost_guest_is_an_outcome_with_a_reason_and_other_questions_go_on(
    student: Student, name: str, reason: str
) -> None:
    with pytest.raises(Stopped, match=reason):
        getattr(student, name)()
    with pytest.raises(AlreadyStopped, match="not run again"):
        getattr(student, name)()
    assert student.plus_one(1.0) == 2.0


def test_a_guest_that_never_stops_calling_back_is_stopped(student: Student) -> None:
    with pytest.raises(Stopped):
        student.call_back_for_ever(lambda x: x)


@pytest.mark.parametrize("name", ["hog", "huge", "deep", "fork", "connect"])
def test_what_a_guest_may_not_do_raises_in_the_guest(student: Student, name: str) -> None:
    with pytest.raises(StudentError) as caught:
        getattr(student, name)()
    assert not isinstance(caught.value, Stopped)
    assert student.plus_one(1.0) == 2.0


def test_memory_of_freed_arrays_is_kept_for_the_next_ones(student: Student) -> None:
    # Eight arrays have 780 pages. Returned to the kernel and fetched again, they would cost 39000 faults.
    assert student.once.page_faults(50) < 4_000


def test_an_always_equal_object_does_not_cross(student: Student) -> None:
    assert student.always() != 1


def test_a_guest_sees_a_clean_environment_and_no_files_of_the_host(
    student: Student, monkeypatch: pytest.MonkeyPatch
) -> None:
    environment = student.environment()
    assert environment["MPLBACKEND"] == "Agg"
    assert environment["OPENBLAS_NUM_THREADS"] == "1"
    assert environment["USER"] == "student"
    assert not set(environment) & {"VIRTUAL_ENV", "PYTEST_CURRENT_TEST", "SSH_AUTH_SOCK"}
    for path in (os.path.dirname(__file__), os.path.expanduser("~"), "/home", "/var"):
        try:
            names = student.listing(path)
        except StudentError:
            continue
        assert not set(names) & {"test_sandbox.py", "solutions", ".bashrc", "log"}, path


def test_files_are_bounded_and_gone_for_the_next_submission(zygote: Zygote) -> None:
    if zygote.backend != "bubblewrap":
        with GuestRunner(zygote, "ps1.py", SOURCE, FAST) as runner:
            runner.load()
            with pytest.raises(StudentError, match="FileNotFoundError"):
                Student(runner).write("/tmp/mark")
        return
    with GuestRunner(zygote, "ps1.py", SOURCE, FAST) as runner:
        runner.load()
        student = Student(runner)
        assert student.write("/tmp/mark") == "here"
        with pytest.raises(StudentError, match="OSError"):
            student.fill()
    with GuestRunner(zygote, "ps1.py", SOURCE, FAST) as runner:
        runner.load()
        assert Student(runner).listing("/tmp") == ["ps1.py"]  # its own source


def test_what_is_printed_is_kept_as_text(student: Student, runner: GuestRunner) -> None:
    student.say("\x1b[31mred <b>")
    assert runner.output == "\x1b[31mred <b>\n" * 2


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        (b"def f(): return 1\nimport os\nos._exit(0)\n", "ended the whole process"),
        (b"def f(): return 1\nwhile True:\n    pass\n", "did not finish within"),
        (
            b"def f(): return 1\nimport signal\nfor timer in 0, 2: signal.setitimer(timer, 0)\nwhile 1: 0\n",
            "in time",
        ),
        (b"def f(): return 1\nraise ValueError('half way')\n", "half way"),
        (b"def f(): return 1\nraise SystemExit\n", "SystemExit"),
    ],
)
def test_a_submission_that_fails_to_load_still_offers_what_it_defined(zygote: Zygote, source: bytes, reason: str) -> None:
    with GuestRunner(zygote, "ps1.py", source, FAST) as runner:
        runner.load()
        assert any(reason in problem["message"] + problem["type"] for problem in runner.report["problems"])
        assert Student(runner).f() == 1


def test_the_time_of_a_whole_submission_is_bounded(zygote: Zygote) -> None:
    limits = Limits(call_seconds=30, load_seconds=1, submission_seconds=0.5)
    with GuestRunner(zygote, "ps1.py", SOURCE, limits) as runner:
        runner.load()
        started = time.monotonic()
        with pytest.raises(Stopped):
            Student(runner).forever()
        with pytest.raises(AlreadyStopped):
            Student(runner).plus_one(1.0)
        assert time.monotonic() - started < 10


def test_the_most_memory_held_is_counted_whatever_the_submission_says(zygote: Zygote) -> None:
    source = SOURCE + b"def hold(size): return float(np.ones(size // 8).sum())\ndef leave(): os._exit(0)\n"
    peaks = []
    for size in (8, 200_000_000, 8):
        with GuestRunner(zygote, "ps1.py", source, Limits()) as runner:
            runner.load()
            assert Student(runner).hold(size) == size // 8
            if size > 8:
                with pytest.raises(Stopped):
                    Student(runner).leave()
        peaks.append(runner.peak_memory)
    small, large, again = peaks
    assert small == pytest.approx(again, rel=0.1)
    assert large - small == pytest.approx(200e6, rel=0.1)


def test_processor_time_is_bounded(zygote: Zygote) -> None:
    limits = Limits(call_seconds=20, processor_seconds=1)
    with GuestRunner(zygote, "ps1.py", SOURCE, limits) as runner:
        runner.load()
        with pytest.raises(Stopped, match="CPU time"):
            Student(runner).forever()


def test_the_time_of_a_call_is_what_it_computes_not_what_it_waits(zygote: Zygote) -> None:
    # As on a machine whose cores are busy with other things.
    with GuestRunner(zygote, "ps1.py", SOURCE, Limits(call_seconds=0.5)) as runner:
        runner.load()
        student = Student(runner).once
        assert student.waits(0.8) == 0.8
        with pytest.raises(Stopped, match=r"did not finish within 1\.5 s, with less than 0\.5 s of CPU time$"):
            student.waits(60.0)
        started = time.monotonic()
        # Where the machine is really that busy, the wall-clock limit is the first to be reached.
        with pytest.raises(
            Stopped, match=r"`forever` did not finish within (0\.5 s|1\.5 s, with less than 0\.5 s of CPU time)$"
        ):
            student.forever()
        assert time.monotonic() - started >= 0.5
        assert student.plus_one(1.0) == 2.0


def test_a_sandbox_that_cannot_start_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("autograder.backends.bubblewrap.find_bwrap", lambda: None)
    with pytest.raises(SandboxError, match="bubblewrap is not installed"):
        open_zygote("bubblewrap")


def test_a_dead_zygote_is_a_fault_of_the_sandbox(zygote: Zygote) -> None:
    other = open_zygote(zygote.backend)
    other.close()
    with pytest.raises(SandboxError):
        GuestRunner(other, "ps1.py", SOURCE, FAST).load()


def test_only_offered_packages_are_there(student: Student) -> None:
    names = {path.name for path in offered_paths()}
    assert {"numpy", "matplotlib"} <= names
    assert not names & {"pytest", "_pytest", "typer", "autograder", "nbgrader"}


CLOCK = """
import os, time
print("loaded", time.monotonic_ns())
def plus_one(x): return x + 1
def leave(): os._exit(3)
"""


def test_no_word_of_a_submission_after_the_first_hidden_input_is_shown_to_its_author(zygote: Zygote) -> None:
    # Every load prints, defines and raises something else, as a submission would that carries numbers out.
    source = CLOCK + "raise ValueError(time.monotonic_ns())\n"
    with GuestRunner(zygote, "ps1.py", source.encode(), FAST, {"plus_two"}) as runner:
        runner.load()
        runner.freeze()
        before = runner.output, runner.report
        assert runner.output.count("loaded") == len(runner.report["problems"]) == 1
        student = Student(runner)
        with pytest.raises(Stopped):
            student.leave()
        assert student.plus_one(1) == 2
        with pytest.raises(Undefined, match="did you rename it") as caught:
            student.plus_two(1)
        assert (runner.output, runner.report) == before
        # What stopped the file is said once, in the report; not even staff read a second number in a test's message.
        assert "ValueError" not in str(caught.value)
        assert caught.value.safe == str(caught.value)
        assert runner.staff_output.count("loaded") == runner.staff_output.count("ValueError: ") == 1


def test_why_a_submission_is_no_longer_run_is_for_staff_only(zygote: Zygote) -> None:
    # How a guest that is started again ends is its own choice as well.
    until = time.monotonic() + 3.0
    source = f"""
import os, time
def leave(late=os._exit(7) if time.monotonic() > {until} else 0): os._exit(3)
def plus_one(x): return x + 1
"""
    with GuestRunner(zygote, "ps1.py", source.encode(), FAST) as runner:
        runner.load()
        runner.freeze()
        student = Student(runner)
        while time.monotonic() < until:
            student.plus_one(time.monotonic())
        with pytest.raises(Stopped):
            student.leave()
        with pytest.raises(AlreadyStopped, match="exit status 7") as caught:
            student.plus_one(1)
        assert caught.value.safe == "not run: your code had ended, or its time was used up"
