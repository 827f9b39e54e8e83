"""Grading on the workers of a Dask cluster.

Each worker is given one submission at a time, as bytes, and answers with a record. Dask carries both, knows which workers
there are, and holds the course's files (`packed`) for as long as this client is connected. Which worker gets what is decided
here: a task whose worker or scheduler was lost is given out again, and a worker that cannot grade is given no more. Results
are checked here like those of a stranger.
"""

from __future__ import annotations

import contextlib
import ipaddress
import logging
import threading
import time
import uuid
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Generic
from urllib.parse import urlsplit

from distributed import Client, Future, Security, get_worker

from autograder.course import ProblemSet
from autograder.graders import TICK_SECONDS, Key, Waiting
from autograder.graders.packed import PackedSuite, grade_here, pack
from autograder.graders.process import WorkerError, fault_record
from autograder.messages import USUAL, CannotGrade, Conditions, Graded, Task, load_reply
from autograder.record import Record

CONNECT_SECONDS = 10.0
# A scheduler that is gone for longer is not waited for.
AWAY_SECONDS = 600.0
# So long may the only workers be such as cannot grade, before others are given up.
ALONE_SECONDS = 10.0
LOOK_SECONDS = 1.0
RESULT_SECONDS = 10.0
LOST = 3  # workers that one submission may lose before it is a fault


def check_address(address: str) -> None:
    """Raises `WorkerError` unless a scheduler at this address may be trusted with the course's secret."""
    try:
        parts = urlsplit(address)
        complete = parts.scheme in ("tls", "tcp") and parts.hostname and parts.port
    except ValueError:
        complete = False
    if not complete:
        raise WorkerError(f"--scheduler {address}: write an address such as tls://grader.example.edu:8786")
    if not _is_safe(address):
        raise WorkerError(
            f"--scheduler {address} is refused: whoever reaches a Dask port without certificates can run code on its "
            "machines, and the course's secret would travel in the clear. Use tls:// with certificates; tcp:// is for "
            "loopback only"
        )
    if address.startswith("tls:") and not Security().tls_ca_file:
        raise WorkerError(
            f"--scheduler {address} needs certificates in Dask's configuration: distributed.comm.tls.ca-file, "
            "distributed.comm.tls.client.cert and distributed.comm.tls.client.key, or the variables "
            "DASK_DISTRIBUTED__COMM__TLS__CA_FILE, …__CLIENT__CERT and …__CLIENT__KEY"
        )


def _is_safe(address: str) -> bool:
    """Whether what travels to an address is encrypted, or stays on this machine."""
    parts = urlsplit(address)
    if parts.scheme == "tls" or parts.hostname == "localhost":
        return True
    try:
        return ipaddress.ip_address(parts.hostname or "").is_loopback
    except ValueError:
        return False


@dataclass(frozen=True)
class ClusterGrader:
    """Grades on the workers of the scheduler at `address`; what a person should know of them goes to `say`."""

    address: str
    say: Callable[[str], object]

    def __post_init__(self) -> None:
        check_address(self.address)

    def __call__(
        self,
        root: Path,
        problem_set: ProblemSet,
        tasks: Iterable[tuple[Key, Task] | None],
        *,
        conditions: Conditions = USUAL,
    ) -> Iterator[tuple[Key, Record] | None]:
        # Dask's own account of lost connections says nothing that is not said here.
        logging.getLogger("distributed").setLevel(logging.CRITICAL)
        waiting = Waiting(tasks)
        if (first := waiting.take()) is None and waiting.over:
            return
        if first:
            waiting.put_back(*first)
        cluster = _Cluster(self.address, self.say, pack(root, problem_set, conditions), problem_set, waiting)
        try:
            cluster.connect()
            while cluster.busy():
                records = cluster.next_records()
                yield from records
                if not records:
                    yield None
        finally:
            cluster.close()


def _unchanged(packed: PackedSuite) -> PackedSuite:
    return packed


def _grade(packed: PackedSuite, task: Task) -> bytes:
    """What runs on a Dask worker."""
    return grade_here(packed, task, Path(get_worker().local_directory))


@dataclass(frozen=True)
class _Given(Generic[Key]):
    """A task that a worker has."""

    key: Key
    task: Task
    future: Future


class _Cluster(Generic[Key]):
    """The workers, by their addresses, and what each of them has."""

    def __init__(
        self,
        address: str,
        say: Callable[[str], object],
        packed: PackedSuite,
        problem_set: ProblemSet,
        waiting: Waiting[Key],
    ) -> None:
        self.address = address
        self.say = say
        self.packed = packed
        self.problem_set = problem_set
        self.waiting = waiting
        self.given: dict[str, _Given[Key]] = {}
        self.refusals: dict[str, str] = {}
        self.lost: Counter[Key] = Counter()
        self.workers: frozenset[str] = frozenset()
        self.client: Client | None = None
        self.suites: dict[str, Future] = {}
        self.news = threading.Event()
        self.looked = self.usable = self.connected = time.monotonic()
        self.said_waiting = False

    # --- the connection

    def connect(self) -> None:
        """Connect to the scheduler. Raises `WorkerError` if it does not answer."""
        try:
            client = Client(self.address, timeout=CONNECT_SECONDS, set_as_default=False, name="course")
        except (OSError, ValueError, TypeError) as error:
            raise WorkerError(f"no scheduler answers at {self.address}: {error}") from None
        self.client = client
        self.connected, self.looked = time.monotonic(), 0.0

    def close(self) -> None:
        """Let go of the cluster: its workers stop grading for this client, and remove the course's files."""
        self.given.clear()
        self.suites.clear()
        if self.client is not None:
            with contextlib.suppress(OSError, RuntimeError):
                self.client.close(timeout=5)
        self.client = None

    def _reconnect(self) -> None:
        """Go on with a scheduler that was lost, once it is there again."""
        if self.client is not None:
            self.say(f"the scheduler at {self.address} is lost; waiting for it")
            for given in self.given.values():
                self.waiting.put_back(given.key, given.task)
            self.close()
            self.workers = frozenset()
        try:
            self.connect()
        except WorkerError:
            if time.monotonic() > self.connected + AWAY_SECONDS:
                raise
            time.sleep(TICK_SECONDS)

    # --- work

    def busy(self) -> bool:
        """Give out what waits; returns whether anything is left to do."""
        if self.client is None or self.client.status != "running":
            self._reconnect()
        else:
            for worker in sorted(self.workers - self.refusals.keys() - self.given.keys()):
                if (following := self.waiting.take()) is None:
                    break
                self._give(worker, *following)
        return not self.waiting.over or bool(self.given)

    def _give(self, worker: str, key: Key, task: Task) -> None:
        if worker not in self.suites:
            # Each worker's own, gone with this client. Of one that they shared, Dask would drop the copies that rest.
            self.suites[worker] = self._submit(worker, _unchanged, self.packed)
        future = self._submit(worker, _grade, self.suites[worker], task)
        self.given[worker] = _Given(key, task, future)
        future.add_done_callback(lambda _: self.news.set())

    def _submit(self, worker: str, function: Callable[..., object], *arguments: object) -> Future:
        assert self.client is not None
        # Names of tasks are seen on the scheduler's pages, so they tell nothing.
        name = f"course-{uuid.uuid4().hex}"
        return self.client.submit(function, *arguments, key=name, workers=[worker], pure=False)

    def next_records(self) -> list[tuple[Key, Record]]:
        """Wait for results, not for long, and return the records among them."""
        self.news.wait(TICK_SECONDS)
        self.news.clear()
        records = []
        for worker, given in list(self.given.items()):
            if given.future.status == "finished":
                settled = self._result(worker, given)
            elif given.future.status == "error":
                settled = self._refuse(worker, given, repr(given.future.exception()))
            else:
                settled = None  # where it is cancelled the connection was lost, which `busy` looks after
            if settled:
                records.append(settled)
        if self.client is not None and time.monotonic() >= self.looked + LOOK_SECONDS:
            records += self._look_at_workers()
        return records

    def _result(self, worker: str, given: _Given[Key]) -> tuple[Key, Record] | None:
        """The record that a worker gave, if it gave one that may be kept."""
        try:
            content = given.future.result(timeout=RESULT_SECONDS)
        except (OSError, TimeoutError):
            return None  # the worker was lost with it, or the scheduler was
        try:
            reply = load_reply(content)
        except (ValueError, TypeError) as error:
            return self._refuse(worker, given, f"its result is no record: {str(error)[:300]}")
        submission = given.task.submission
        if isinstance(reply, CannotGrade):
            return self._refuse(worker, given, reply.reason)
        if isinstance(reply, Graded):
            record, made_by = reply.record, reply.record.provenance
            what = (made_by.student, made_by.submission, made_by.problem_set, made_by.suite)
            if what != (submission.student, submission.sha256, self.packed.slug, self.packed.suite):
                return self._refuse(worker, given, "its record is of something else than it was asked to grade")
        else:
            record = fault_record(self.problem_set, submission, getattr(reply, "said", "it gave no record"))
        del self.given[worker]
        return self._settle(given, record)

    def _settle(self, given: _Given[Key], record: Record) -> tuple[Key, Record] | None:
        settled = self.waiting.settle(given.key, given.task, record)
        return (given.key, settled) if settled else None

    def _refuse(self, worker: str, given: _Given[Key], reason: str) -> tuple[Key, Record] | None:
        """Give a worker nothing more, and what it had to another."""
        self.refusals[worker] = reason
        self.say(f"worker {worker} cannot grade, so its work goes to others: {reason}")
        del self.given[worker]
        self.waiting.put_back(given.key, given.task)
        return None

    def _look_at_workers(self) -> list[tuple[Key, Record]]:
        """Learn which workers there are; returns the records of what has cost too many of them.

        Raises `WorkerError` if none of them can grade.
        """
        assert self.client is not None
        self.looked = now = time.monotonic()
        try:
            self.workers = frozenset(self.client.nthreads())
        except (OSError, TimeoutError):
            return []
        for worker in self.workers - self.refusals.keys():
            if not _is_safe(worker):
                self.refusals[worker] = "its connection is not encrypted"
                self.say(f"worker {worker} cannot grade: {self.refusals[worker]}")
        records = [lost for worker in self.given.keys() - self.workers if (lost := self._lose(worker))]
        if self.workers - self.refusals.keys():
            self.usable, self.said_waiting = now, False
        elif self.workers and now > self.usable + ALONE_SECONDS:
            reasons = [f"{worker}: {reason}" for worker, reason in self.refusals.items() if worker in self.workers]
            raise WorkerError("\n".join(["no worker of the cluster can grade:", *reasons]))
        elif not self.workers and not self.said_waiting:
            self.said_waiting = True
            self.say(f"no workers at {self.address} yet; waiting for some")
        return records

    def _lose(self, worker: str) -> tuple[Key, Record] | None:
        """A worker is gone, and what it had is given to another, unless that has cost several already."""
        given = self.given.pop(worker)
        self.suites.pop(worker, None)
        self.say(f"worker {worker} was lost, so its work goes to others")
        self.lost[given.key] += 1
        if self.lost[given.key] % LOST:
            self.waiting.put_back(given.key, given.task)
            return None
        fault = f"{LOST} machines of the cluster were lost while they graded it"
        return self._settle(given, fault_record(self.problem_set, given.task.submission, fault))
