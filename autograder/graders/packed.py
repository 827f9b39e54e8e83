"""A problem set as it travels to the machines of a cluster, and how it grades there.

What travels is what a verdict depends on: `course.yml`, the ledger, the problem set's folder, the solutions, and the secret
that hidden tests draw from. Each machine checks the bytes by their hash, and its grading worker what it makes of them by the
suite's hash. Everything goes when whoever sent it lets go of it: the worker is stopped, and its files are removed.
"""

from __future__ import annotations

import hashlib
import io
import tempfile
import threading
import weakref
import zipfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import autograder
from autograder.course import CourseError, ProblemSet, load_course
from autograder.graders.process import WorkerError, WorkerProcess
from autograder.messages import CannotGrade, Conditions, Ended, Graded, Reply, Task, dump_reply
from autograder.secret import course_key
from autograder.suite_hash import suite_hash


@dataclass(frozen=True, eq=False)
class PackedSuite:
    """What a machine needs to grade by a problem set.

    `content` is a zip of the course's files, `digest` its SHA-256; `suite` and `engine` are the hashes of what it must grade
    by. Neither the content nor the secret are in its repr, which programs write into logs.
    """

    slug: str
    folders: tuple[str, ...]
    content: bytes = field(repr=False)
    digest: str
    secret: str = field(repr=False)
    suite: str
    engine: str
    conditions: Conditions
    seconds: float  # that one submission may take


def pack(root: Path, problem_set: ProblemSet, conditions: Conditions) -> PackedSuite:
    """Pack what the machines of a cluster need of the course in `root`."""
    files = [root / "course.yml", problem_set.ledger_path, *(root / "solutions").glob("*.py")]
    files += [path for path in problem_set.folder.rglob("*") if path.is_file() and "__pycache__" not in path.parts]
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in sorted(files):
            # With a date of its own a file would give other bytes on another checkout.
            archive.writestr(zipfile.ZipInfo(path.relative_to(root).as_posix()), path.read_bytes(), zipfile.ZIP_DEFLATED)
    content = buffer.getvalue()
    return PackedSuite(
        problem_set.slug,
        tuple(listing.folder for listing in load_course(root).settings.problem_sets),
        content,
        hashlib.sha256(content).hexdigest(),
        course_key(root).value.hex(),
        suite_hash(problem_set),
        engine_hash(),
        conditions,
        problem_set.limits.submission_seconds,
    )


def engine_hash() -> str:
    """SHA-256 over the code of this engine."""
    folder = Path(autograder.__file__).parent
    digest = hashlib.sha256()
    for path in sorted(folder.rglob("*.py")):
        content = path.read_bytes()
        digest.update(f"{path.relative_to(folder)} {len(content)}\n".encode() + content)
    return digest.hexdigest()


# --- on a machine of the cluster

_turn = threading.Lock()
_machines: weakref.WeakKeyDictionary[PackedSuite, _Machine] = weakref.WeakKeyDictionary()


def grade_here(packed: PackedSuite, task: Task, folder: Path | None = None) -> bytes:
    """Grade one submission on this machine, one at a time; the reply is as `messages.load_reply` reads it.

    The worker stays for the next one. `folder` is where it may put files.
    """
    with _turn:
        if packed not in _machines:
            _machines[packed] = machine = _Machine(packed, folder)
            weakref.finalize(packed, machine.close)
        return dump_reply(_machines[packed].grade(task))


class _Machine:
    """The grading worker of this machine for one packed suite, started when there is something to grade."""

    def __init__(self, packed: PackedSuite, folder: Path | None) -> None:
        self._start: Callable[[], WorkerProcess]
        self._seconds = packed.seconds
        self._suite = packed.suite
        self._files = tempfile.TemporaryDirectory(prefix="course-suite-", dir=folder, ignore_cleanup_errors=True)
        self._worker: WorkerProcess | None = None
        self._refusal = _unpack(packed, Path(self._files.name))
        root, slug, conditions, secret = Path(self._files.name), packed.slug, packed.conditions, packed.secret
        self._start = lambda: WorkerProcess(root, slug, conditions, secret)

    def grade(self, task: Task) -> Reply:
        if self._refusal:
            return CannotGrade(self._refusal)
        try:
            worker = self._worker or self._started()
        except CourseError as error:
            self._refusal = str(error)
            return CannotGrade(self._refusal)
        worker.give(task, self._seconds)
        reply = worker.wait()
        if isinstance(reply, Graded):
            return reply
        worker.stop()
        self._worker = None
        return Ended(worker.ended())

    def close(self) -> None:
        if self._worker:
            self._worker.stop()
        self._files.cleanup()

    def _started(self) -> WorkerProcess:
        """A worker that is ready. Raises `WorkerError` if there can be none."""
        self._worker = worker = self._start()
        worker.wait()
        if worker.ready is None or worker.ready.suite != self._suite:
            raise WorkerError("what it makes of the course's files is not what was sent: their hash is another")
        return worker


def _unpack(packed: PackedSuite, root: Path) -> str:
    """Write the course's files; returns why they are not to be used, empty if they are."""
    if hashlib.sha256(packed.content).hexdigest() != packed.digest:
        return "the course's files have not arrived as they were sent"
    if engine_hash() != packed.engine:
        return f"its engine is not the one that asks ({autograder.__version__}); install the same one on all machines"
    with zipfile.ZipFile(io.BytesIO(packed.content)) as archive:
        archive.extractall(root)
    for name in packed.folders:
        (root / "assignments" / name).mkdir(exist_ok=True)
    return ""
