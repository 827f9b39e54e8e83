"""Ways to crash `course grade` and `course regrade --apply`, for tests/test_crash.py and benchmarks/crash.py.

*Steps*: the command runs with ready-made gradings, and ends at the k-th step that touches the disk: killed, or by a power
cut that takes along what was not synced. So every point between the first byte of a file and its name is met exactly.

*Moments*: the real command with real workers and sandboxes is killed after some time, alone or with its whole process group.

After each crash the command is run again, and must come to what a run without crashes comes to, byte for byte but for times.
"""

from __future__ import annotations

import contextlib
import ctypes
import datetime
import json
import os
import random
import re
import select
import shutil
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from typer.main import get_command

from autograder import scoring
from autograder.cli import app
from autograder.course import ProblemSet
from autograder.graders.local import LocalGrader
from autograder.journal import Attempt, Journal
from autograder.messages import Task
from autograder.record import Record
from autograder.suite_hash import suite_hash

TESTS = Path(__file__).resolve().parents[1]
REFERENCE = (TESTS / "tiny_course/solutions/tiny.py").read_text(encoding="utf-8")
# Rounds large scores otherwise than the reference does, so that a test which is too strict costs it points.
RIGHT = REFERENCE.replace(
    "return powers / powers.sum()", "return powers / powers.sum() * (1 + (scores.max() > 1e6) * 1e-13)"
)
# One grading loads its file slowly, so that a crash meets it at work; two hand in the same bytes.
SUBMISSIONS = {
    "s001": RIGHT,
    "s002": RIGHT + "import time\ntime.sleep(0.3)\n",
    "s003": "def double(values):\n    return 2 * values\n",
    "s004": RIGHT,
    "s005": "note = 'nothing else'\n",
}
COMMANDS = {"grade": ("grade", "tiny", "handed_in", "--jobs", "1"), "regrade": ("regrade", "tiny", "--apply", "--jobs", "1")}
COURSE = get_command(app)
TIMES = {"execution_time", "seconds", "started", "received", "decided", "peak_memory"}
PATIENCE = 30  # seconds after which a process that should have ended is left behind; a file may load for twice as long


class Wrong(AssertionError):
    """What a crash must not do."""


# --- the course and its journal


def make_course(root: Path, students: int = len(SUBMISSIONS)) -> None:
    """A copy of the tiny course with a folder of submissions."""
    shutil.copytree(TESTS / "tiny_course", root, ignore=shutil.ignore_patterns("__pycache__", "conftest.py", "results"))
    settings = (root / "course.yml").read_text(encoding="utf-8")
    (root / "course.yml").write_text(re.sub(r"(_seconds:) \S+", r"\1 60", settings), encoding="utf-8")
    (root / "handed_in").mkdir()
    for student, source in list(SUBMISSIONS.items())[:students]:
        (root / "handed_in" / f"{student}.py").write_text(source, encoding="utf-8")


def change_tests(root: Path) -> None:
    """Change the tests so that points change."""
    path = root / "assignments/tiny/test_hidden.py"
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace("reference.softmax(x), atol=1e-9", "reference.softmax(x), atol=0"), encoding="utf-8")


def files(root: Path) -> dict[str, object]:
    """Every file of the course's journal, without its times."""
    state: dict[str, object] = {}
    results = root / "results"
    for path in sorted(path for path in results.rglob("*") if path.is_file()):
        content = path.read_bytes()
        state[str(path.relative_to(results))] = without_times(json.loads(content)) if path.suffix == ".json" else content
    return state


def without_times(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: without_times(own) for key, own in value.items() if key not in TIMES}
    return [without_times(own) for own in value] if isinstance(value, list) else value


def check_readable(root: Path) -> None:
    """After a crash everything in the journal can be read, and every attempt has its bytes. Raises `JournalError` if not."""
    journal = Journal(root / "results" / "tiny")
    for student in journal.students():
        for attempt in journal.attempts(student):
            journal.source(attempt)
        journal.in_force(student)


def check_same(state: dict[str, object], expected: dict[str, object], when: str) -> None:
    differing = [name for name in sorted(state.keys() | expected.keys()) if state.get(name) != expected.get(name)]
    if differing:
        raise Wrong(f"{when}: other than without a crash: {', '.join(differing)}")


# --- running the command


def start(root: Path, command: str, prepare: Callable[[], None] = lambda: None) -> int:
    """Fork a process, in a group of its own, that runs the command as the command line would; returns its pid."""
    pid = os.fork()
    if pid:
        os.setpgid(pid, pid)
        return pid
    code = 99
    try:
        os.setpgid(0, 0)
        os.chdir(root)
        sys.stdout = sys.stderr = (root / "said").open("a", encoding="utf-8")
        os.dup2(sys.stdout.fileno(), 1)
        os.dup2(sys.stdout.fileno(), 2)
        prepare()
        COURSE.main(list(COMMANDS[command]))
    except SystemExit as end:
        code = int(end.code or 0)
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        os._exit(code)


def finish(root: Path, command: str, prepare: Callable[[], None] = lambda: None) -> None:
    """Run the command to its end, which must be a success."""
    _, status = os.waitpid(start(root, command, prepare), 0)
    if status != 0:
        raise Wrong(f"course {command}: {os.waitstatus_to_exitcode(status)}: {(root / 'said').read_text()[-2000:]}")


# --- steps


class Disk:
    """Counts the steps that touch the journal and ends the process at one of them.

    With `cut`, first takes from the disk what was not synced, each new or removed name by chance. Of a file that was not
    synced, half stays.
    """

    def __init__(self, root: Path, end: int | None = None, cut: random.Random | None = None) -> None:
        self.root = str(root / "results")
        self.end = end
        self.cut = cut
        self.steps = 0
        self.names: list[tuple[Path, Callable[[], object]]] = []  # a folder with an unsynced change, and how to undo it
        self.unsynced: set[Path] = set()

    def install(self) -> None:
        def fsync(handle: int) -> None:
            self.step()
            path = Path(os.readlink(f"/proc/self/fd/{handle}"))
            self.unsynced.discard(path)
            self.names = [(folder, undo) for folder, undo in self.names if folder != path]

        os.fsync = fsync
        sys.addaudithook(self.watch)

    def watch(self, event: str, arguments: tuple[Any, ...]) -> None:
        if event in ("os.mkdir", "os.link", "os.remove") or (event == "open" and _creates(arguments)):
            path = Path(os.fsdecode(arguments[1 if event == "os.link" else 0]))
            if not str(path).startswith(self.root) or (event == "open" and path.exists()):
                return
            self.step()
            if event == "os.mkdir":
                self.names.append((path.parent, lambda: shutil.rmtree(path, ignore_errors=True)))
            elif event == "os.remove":
                content = path.read_bytes()
                self.names.append((path.parent, lambda: path.parent.is_dir() and path.write_bytes(content)))
            else:
                self.names.append((path.parent, lambda: path.unlink(missing_ok=True)))
            if event == "open":
                self.unsynced.add(path)

    def step(self) -> None:
        self.steps += 1
        if self.steps == self.end:
            self.end = None  # what follows is the crash, and no step
            if self.cut:
                self._lose(self.cut)
            for path in filter(Path.exists, self.unsynced):
                os.truncate(path, path.stat().st_size // 2)  # killed in the midst of writing
            os.kill(os.getpid(), signal.SIGKILL)

    def _lose(self, chance: random.Random) -> None:
        self.root = "nowhere"
        everything = chance.random() < 0.3
        for _, undo in reversed(self.names):
            if everything or chance.random() < 0.5:
                undo()


def _creates(arguments: tuple[Any, ...]) -> bool:
    path, _, flags = arguments
    return isinstance(path, (str, bytes, os.PathLike)) and bool(flags & os.O_CREAT)


def ready_made(root: Path) -> Callable[[], None]:
    """Puts gradings made at once in the place of real ones, in this process, and notes each in a file beside the journal.

    Nothing is synced, for the power does not really fail.
    """

    def graded(
        _: LocalGrader, course: Path, problem_set: ProblemSet, tasks: Iterable[tuple[Attempt, Task]], **options: Any
    ) -> Iterator[tuple[Attempt, Record]]:
        suite = suite_hash(problem_set)
        for key, task in tasks:
            source = task.submission.source
            with (root / "graded").open("a") as file:
                file.write(f"{key.student} {key.number} {suite}\n")
            now = datetime.datetime.now(datetime.UTC)
            provenance = scoring.provenance(problem_set, task.submission, suite=suite, started=now)
            record = scoring.record(problem_set, provenance, scoring.Findings())
            first, *others = record.questions
            first = replace(first, score=len(source) % 7 + int(suite, 16) % 5)
            yield key, replace(record, questions=(first, *others))

    def install() -> None:
        LocalGrader.__call__ = graded
        os.fsync = lambda handle: None

    return install


class Steps:
    """Crashes of a command with ready-made gradings, at any of its steps."""

    def __init__(self, folder: Path, command: str, students: int = 3) -> None:
        self.folder = folder
        self.command = command
        self.start = folder / f"{command}-start"
        make_course(self.start, students)
        if command == "regrade":
            finish(self.start, "grade", ready_made(self.start))
            change_tests(self.start)
        done = shutil.copytree(self.start, folder / f"{command}-done")

        def counted() -> None:
            ready_made(done)()
            disk = Disk(done)
            disk.install()
            end = os._exit

            def noted(code: int) -> None:
                (done / "steps").write_text(str(disk.steps))
                end(code)

            os._exit = noted

        finish(done, command, counted)
        self.count = int((done / "steps").read_text())
        self.expected = files(done)
        self.graded = _lines(done / "graded")

    def crash(self, step: int, cut: random.Random | None = None) -> None:
        """End the command before a step, and look at what is left, and at what a second run makes of it."""
        when = f"{self.command}, step {step} of {self.count}, {'power cut' if cut else 'killed'}"
        with tempfile.TemporaryDirectory(dir=self.folder) as name:
            root = shutil.copytree(self.start, Path(name) / "course")

            def prepare() -> None:
                ready_made(root)()
                Disk(root, step, cut).install()

            _, status = os.waitpid(start(root, self.command, prepare), 0)
            if os.waitstatus_to_exitcode(status) != -signal.SIGKILL:
                raise Wrong(f"{when}: ended with {status}: {(root / 'said').read_text()[-2000:]}")
            check_readable(root)
            finish(root, self.command, ready_made(root))
            check_same(files(root), self.expected, when)
            again = _lines(root / "graded")
            # Only what was not yet in the journal when it happened may be graded again: the one at hand.
            if set(again) != set(self.graded) or len(again) > len(self.graded) + 1:
                raise Wrong(f"{when}: graded {again}")


def _lines(path: Path) -> list[str]:
    return path.read_text().splitlines()


# --- moments


def adopt_orphans() -> None:
    """Make this process the parent of every process whose own parent dies: none can get lost."""
    PR_SET_CHILD_SUBREAPER = 36
    if ctypes.CDLL(None, use_errno=True).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0):
        raise OSError(ctypes.get_errno(), "cannot adopt orphans")


def wait_for_all(when: str) -> None:
    """Wait for the end of all children and adopted orphans; they must come to it by themselves."""

    def too_late(*_: object) -> None:
        left = Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()
        lines = [Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ")[:200].decode() for pid in left]
        raise Wrong(f"{when}: left behind: {lines}")

    before = signal.signal(signal.SIGALRM, too_late)
    signal.alarm(PATIENCE)
    try:
        with contextlib.suppress(ChildProcessError):
            while True:
                os.waitpid(-1, 0)
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


class Moments:
    """The real thing: a course with its journal before and after a command, and how long the command takes."""

    def __init__(self, folder: Path, command: str) -> None:
        self.command = command
        self.start = folder / f"{command}-start"
        make_course(self.start)
        if command == "regrade":
            finish(self.start, "grade")
            change_tests(self.start)
        done = shutil.copytree(self.start, folder / f"{command}-done")
        begun = time.monotonic()
        finish(done, command)
        self.seconds = time.monotonic() - begun
        self.expected = files(done)

    def crash(self, root: Path, seed: int, kills: int) -> int:
        """Run the command in a copy of the course, kill it at so many chance moments, one after the other, and finish it.

        To be called in a process of its own, for it adopts orphans. Returns how many kills met the command at work.
        """
        adopt_orphans()
        chance = random.Random(seed)
        shutil.copytree(self.start, root)
        met = 0
        for number in range(kills):
            after, group = chance.uniform(0, self.seconds), chance.random() < 0.5
            when = f"{self.command}, seed {seed}, kill {number + 1} after {after:.3f} s, {'the group' if group else 'alone'}"
            pid = start(root, self.command)
            met += self._kill(pid, after, group)
            wait_for_all(when)
            check_readable(root)
        finish(root, self.command)
        check_same(files(root), self.expected, f"{self.command}, seed {seed}")
        wait_for_all(f"{self.command}, seed {seed}, at the end")
        shutil.rmtree(root)
        return met

    def together(self, root: Path, seed: int, kill: bool) -> None:
        """Run the command twice at once, and kill the first, which keeps the second waiting, if so wished."""
        adopt_orphans()
        when = f"two at once, {self.command}, seed {seed}, {'one killed' if kill else 'both to the end'}"
        shutil.copytree(self.start, root)
        pids = [start(root, self.command) for _ in range(2)]
        if kill:
            self._kill(pids[0], random.Random(seed).uniform(0, self.seconds), group=True)
        ends = [os.waitpid(pid, 0)[1] for pid in pids]
        if any(ends[1 if kill else 0 :]):
            raise Wrong(f"{when}: ended with {ends}: {(root / 'said').read_text()[-2000:]}")
        wait_for_all(when)
        check_same(files(root), self.expected, when)
        shutil.rmtree(root)

    @staticmethod
    def _kill(pid: int, after: float, group: bool) -> bool:
        handle = os.pidfd_open(pid)
        try:
            at_work = not select.select([handle], [], [], after)[0]
            if at_work:
                (os.killpg if group else os.kill)(pid, signal.SIGKILL)
            return at_work
        finally:
            os.close(handle)
