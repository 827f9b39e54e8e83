"""Every attack of tests/hostile, graded by the real engine on both backends; support/hostile_table.py describes the files.

Each batch is graded once a backend. Bait is planted wherever a submission might look; no record may hold it. An honest
submission follows each attack in the same worker and must get full marks.
"""

from __future__ import annotations

import contextlib
import datetime
import html
import io
import json
import os
import platform
import re
import secrets
import socket
import threading
import zlib
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rich.console import Console

from autograder.backends import SandboxError
from autograder.course import ProblemSet, load_course
from autograder.feedback.page import student_page
from autograder.intake import Submission, Unreadable, find_submissions
from autograder.journal import Stored
from autograder.platforms import gradescope_run
from autograder.platforms.gradescope_results import result_of_test
from autograder.record import Record, read, to_json
from autograder.runtime import wire
from autograder.sandbox.guest import open_zygote
from autograder.sandbox.runner import GuestRunner
from autograder.table import grades_table
from autograder.testing.errors import StudentError
from autograder.testing.student import Student
from tests.support import hostile_run, hostile_table, records
from tests.support.hostile_run import HONEST, PLANTED, ROOT, TINY_COURSE
from tests.support.hostile_table import Attack

HERE = Path(__file__).resolve().parent
BACKENDS = ["bubblewrap", "sandlock"]
ATTACKS = hostile_table.attacks()
RECORD_BYTES = 400_000
MORE_SECONDS = 2.0  # that a grading may take beyond what the submission may
SYSV_KEY = 0x41545431
LEFT = "autograder_left"  # in the name of everything that an attack tries to leave behind

FULL = 10.0  # points of `tiny`


def notebook(*cells: str, **more: Any) -> bytes:
    body = [{"cell_type": "code", "metadata": {}, "source": cell, "outputs": [], "execution_count": None} for cell in cells]
    return json.dumps({"cells": body, "metadata": {}, "nbformat": 4, "nbformat_minor": 5, **more}).encode()


# Files whose bytes are the attack: name, bytes, and the points that what is honest in them earns.
INTAKE_FILES: dict[str, tuple[str, bytes, float]] = {
    "nul-bytes": ("tiny.py", HONEST + b"\0\0\0", 0),
    "byte-order-mark": ("tiny.py", b"\xef\xbb\xbf" + HONEST, FULL),
    "carriage-returns": ("tiny.py", HONEST.replace(b"\n", b"\r\n"), FULL),
    "utf-16": ("tiny.py", HONEST.decode().encode("utf-16"), 0),
    "unknown-encoding": ("tiny.py", b"# coding: no-such-thing\n" + HONEST, 0),
    "not-utf-8": ("tiny.py", b"x = '\xff\xfe'\n" + HONEST, 0),
    "mixed-tabs": ("tiny.py", b"def double(values):\n\tif True:\n        return 1\n", 0),
    "empty": ("tiny.py", b"", 0),
    "deep-brackets": ("tiny.py", b"x = " + b"[" * 100_000, 0),
    "long-line": ("tiny.py", b"x = '" + b"x" * 10_000_000 + b"'\n" + HONEST, FULL),
    "not-json": ("tiny.ipynb", b"{'cells': [", 0),
    "notebook-not-utf-8": ("tiny.ipynb", b"\xff\xfe{}", 0),
    "deep-json": ("tiny.ipynb", b"[" * 1_000_000, 0),
    "json-list": ("tiny.ipynb", b"[1, 2, 3]", 0),
    "no-cells": ("tiny.ipynb", b'{"nbformat": 4}', 0),
    "cells-no-list": ("tiny.ipynb", b'{"nbformat": 4, "cells": {"a": 1}}', 0),
    "old-format": ("tiny.ipynb", b'{"nbformat": 3, "worksheets": [{"cells": []}]}', 0),
    "source-of-numbers": ("tiny.ipynb", b'{"nbformat": 4, "cells": [{"cell_type": "code", "source": [1, 2]}]}', 0),
    "megabytes-of-output": ("tiny.ipynb", notebook(HONEST.decode(), junk="x" * 8_000_000), FULL),
    "too-many-lists": ("tiny.ipynb", notebook(HONEST.decode(), junk=[[]] * 300_000), 0),
    "many-cells": ("tiny.ipynb", notebook(HONEST.decode(), *["x = 1"] * 500), FULL),
}


@dataclass
class Bait:
    """The secrets of a run, and who came to ask for them."""

    token: str
    mark: int
    fill: dict[str, str]
    visitors: list[str] = field(default_factory=list)


@dataclass
class Batch:
    """What came of grading all attacks with one backend.

    `honest` holds the honest submission that came next in the same worker; for a real problem set that is one for all.
    `roots` are copies of the tiny course and of the real one, which hold this run's bait.
    """

    backend: str
    roots: list[Path]
    problem_sets: dict[str, ProblemSet]
    journal: Path
    bait: Bait
    results: dict[str, Stored]
    honest: dict[str, Stored]

    def full(self, slug: str) -> float:
        """The points that tests give in a problem set."""
        questions = self.problem_sets[slug].assignment.questions
        return sum(question.points for question in questions if question.kind != "written")


@pytest.fixture(scope="module")
def bait(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bait]:
    """Servers that give the secret away to whoever reaches them, and the secret in the host's environment."""
    folder = tmp_path_factory.mktemp("bait")
    folder.chmod(0o755)
    # A number of seven digits that no text of the grader holds by chance.
    bait = Bait(f"bait_{secrets.token_hex(8)}", 2_000_000 + secrets.randbelow(7_000_000), {})
    abstract = f"autograder-bait-{secrets.token_hex(4)}"
    victim = folder / "victim"
    victim.mkdir()
    (victim / "file.txt").write_text(bait.token)
    with contextlib.ExitStack() as stack:
        tcp = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
        listeners = [tcp]
        for address in (f"\0{abstract}", str(folder / "stream.sock")):
            listener = stack.enter_context(socket.socket(socket.AF_UNIX))
            listener.bind(address)
            listener.listen()
            listeners.append(listener)
        datagrams = []
        for address in (f"\0{abstract}-datagram", str(folder / "datagram.sock")):
            receiver = stack.enter_context(socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM))
            receiver.bind(address)
            datagrams.append(receiver)
        (folder / "stream.sock").chmod(0o777)
        (folder / "datagram.sock").chmod(0o777)
        for listener in listeners:
            listener.settimeout(0.1)
            threading.Thread(target=_give_away, args=(listener, bait), daemon=True).start()
        for receiver in datagrams:
            receiver.settimeout(0.1)
            threading.Thread(target=_note_datagrams, args=(receiver, bait), daemon=True).start()
        bait.fill = {
            "@PORT@": str(tcp.getsockname()[1]),
            "@ABSTRACT@": abstract,
            "@STREAM@": str(folder / "stream.sock"),
            "@DATAGRAM@": str(folder / "datagram.sock"),
            "@VICTIM@": str(victim),
            "@HOSTPID@": str(os.getpid()),
            "@HOME@": str(Path.home()),
        }
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("AUTOGRADER_BAIT", bait.token)
            yield bait


def _give_away(listener: socket.socket, bait: Bait) -> None:
    while listener.fileno() != -1:
        with contextlib.suppress(OSError):
            line, address = listener.accept()
            bait.visitors.append(f"connection from {address!r}")
            line.sendall(bait.token.encode())
            line.close()


def _note_datagrams(receiver: socket.socket, bait: Bait) -> None:
    while receiver.fileno() != -1:
        with contextlib.suppress(OSError):
            bait.visitors.append(f"datagram {receiver.recv(1000)!r}")


def needs(backend: str) -> None:
    """Skip the test when `backend` cannot start on this machine, with what it says."""
    try:
        open_zygote(backend).close()
    except SandboxError as error:
        pytest.skip(f"{backend} does not work here: {str(error).splitlines()[-1]}")


def selected(session: pytest.Session) -> tuple[list[Attack], list[str]]:
    """The attacks and the poisoned files that the tests of this run look at: all, if one looks at more than its own."""
    parameters = [
        item.callspec.params
        for item in session.items
        if isinstance(item, pytest.Function) and "batch" in item.fixturenames and hasattr(item, "callspec")
    ]
    if any("attack" not in chosen and "name" not in chosen for chosen in parameters):
        return ATTACKS, list(INTAKE_FILES)
    attacks = {chosen["attack"] for chosen in parameters if "attack" in chosen}
    names = {chosen["name"] for chosen in parameters if "name" in chosen}
    return [attack for attack in ATTACKS if attack in attacks], [name for name in INTAKE_FILES if name in names]


@pytest.fixture(scope="module", params=BACKENDS)
def batch(request: pytest.FixtureRequest, bait: Bait, tmp_path_factory: pytest.TempPathFactory) -> Batch:
    """Grade the corpus with one backend, on copies of the courses that hold this run's bait."""
    backend = request.param
    needs(backend)
    folder = tmp_path_factory.mktemp(backend)
    roots = hostile_run.course_copies(folder, bait.token, bait.mark)
    journal = folder / "results"
    (journal / "neighbour").mkdir(parents=True)
    (journal / "neighbour/001.json").write_bytes(to_json(records.record(fault=bait.token)))
    problem_sets = hostile_run.problem_sets(roots)
    submissions: dict[str, list[Submission]] = {}
    attacks, intake_files = selected(request.session)
    for attack in attacks:
        if attack.machine in ("", platform.machine()):
            root, problem_set = problem_sets[attack.problem_set]
            fill = {**bait.fill, "@COURSE@": str(root), "@JOURNAL@": str(journal)}
            submissions.setdefault(attack.problem_set, []).append(hostile_run.submission(attack, problem_set, fill))
    for name in intake_files:
        filename, source, _ = INTAKE_FILES[name]
        submissions.setdefault("tiny", []).append(Submission(f"intake-{name}", filename, source))

    def run(slug: str, share: list[Submission]) -> list[Stored]:
        root, problem_set = problem_sets[slug]
        neutral = problem_set.solution.read_bytes().replace(bait.token.encode(), b"nothing")
        # The reference of a real problem set takes seconds, so it comes once, after all attacks on that set.
        every = 1 if root == roots[0] else len(share)
        return hostile_run.grade_in_turn(root, problem_set, share, journal, backend, neutral=neutral, every=every)

    tiny = submissions.pop("tiny", [])
    shares = [*(("tiny", half) for half in (tiny[::2], tiny[1::2]) if half), *submissions.items()]
    results: dict[str, Stored] = {}
    honest: dict[str, Stored] = {}
    with ThreadPoolExecutor(2) as pool:
        for share in pool.map(run, *zip(*shares, strict=True)):
            for stored in reversed(share):
                name = stored.record.provenance.student
                if name.startswith("honest-"):
                    follows = stored
                else:
                    results[name], honest[name] = stored, follows
    return Batch(
        backend,
        roots,
        {slug: problem_set for slug, (_, problem_set) in problem_sets.items()},
        journal,
        bait,
        results,
        honest,
    )


def shown_to_students(batch: Batch, record: Record) -> list[str]:
    """Every text that its student may read: what is theirs in the record, the feedback page, and what Gradescope shows."""
    own = record.provenance
    problem_set = batch.problem_sets[own.problem_set]
    tests = [result_of_test(record, verdict) for verdict in record.verdicts]
    course = load_course(problem_set.folder.parents[1])
    submission = Submission(own.student, own.filename, b"")
    grade = gradescope_run.lateness(course, problem_set, gradescope_run.Delivery(), submission, record)
    results = gradescope_run.to_results(problem_set, record, gradescope_run.Delivery(), grade, "")
    results["tests"] = [test for test in results["tests"] if test["visibility"] == "visible"]
    del results["extra_data"]  # Gradescope keeps it for itself
    page = student_page(problem_set, grade, made=datetime.datetime.now(datetime.UTC))
    texts = [[record.output, record.problems, tests], results]
    return [*(json.dumps(text, ensure_ascii=False) for text in texts), html.unescape(page)]


def check_record(batch: Batch, record: Record, points: float) -> None:
    """What holds for every attack: no unearned point, no bait, no grader fault, no giant record, no probe that succeeded."""
    whole = to_json(record).decode()
    assert record.is_sound, f"it made the grader call itself at fault: {record.fault[-300:]}"
    assert record.score == points
    assert batch.bait.token not in whole, "the planted secret is in the record"
    for shown in shown_to_students(batch, record):
        assert str(batch.bait.mark) not in shown, "a hidden test's input reaches the student"
    printed = record.output + record.staff_output
    assert not re.findall(r"probe .*: ok.*", printed)
    assert len(whole) < RECORD_BYTES
    limits = batch.problem_sets[record.provenance.problem_set].limits
    assert record.seconds < limits.submission_seconds + MORE_SECONDS


@pytest.mark.slow
@pytest.mark.parametrize("attack", ATTACKS, ids=[f"{attack.kind}/{attack.path.name}" for attack in ATTACKS])
def test_attack(batch: Batch, attack: Attack) -> None:
    if attack.machine not in ("", platform.machine()):
        pytest.skip(f"only for {attack.machine}")
    record = batch.results[attack.name].record
    check_record(batch, record, attack.points)
    whole = to_json(record).decode()
    if attack.reason:
        assert re.search(attack.reason, whole), f"no reason like {attack.reason!r} in {whole[:3000]}"
    if attack.never:
        for shown in shown_to_students(batch, record):
            assert not re.search(attack.never, shown)
    if b"probe" in attack.path.read_bytes() and not attack.reason:
        # An attack that never got to its probes proves nothing.
        assert "probe " in record.output + record.staff_output, whole[:3000]


@pytest.mark.slow
@pytest.mark.parametrize("attack", ATTACKS, ids=[f"{attack.kind}/{attack.path.name}" for attack in ATTACKS])
def test_the_next_submission_is_graded_as_if_nothing_had_happened(batch: Batch, attack: Attack) -> None:
    if attack.machine not in ("", platform.machine()):
        pytest.skip(f"only for {attack.machine}")
    record = batch.honest[attack.name].record
    assert record.is_sound
    assert record.score == batch.full(attack.problem_set)
    assert record.output == record.staff_output == ""


@pytest.mark.slow
@pytest.mark.parametrize("name", INTAKE_FILES)
def test_poisoned_file(batch: Batch, name: str) -> None:
    record = batch.results[f"intake-{name}"].record
    points = INTAKE_FILES[name][2]
    check_record(batch, record, points)
    assert points or record.told(record.verdicts[0]), "no reason is given"
    assert batch.honest[f"intake-{name}"].record.score == FULL


@pytest.mark.slow
def test_nothing_is_left_behind(batch: Batch) -> None:
    home = Path.home()
    folders = [Path(name) for name in ("/tmp", "/var/tmp", "/dev/shm", "/dev/mqueue", "/run")]
    folders += [home, home / ".config", home / ".cache", *batch.roots, batch.journal]
    left = [str(path) for folder in folders if folder.is_dir() for path in folder.glob(f"*{LEFT}*")]
    assert left == []
    for table in Path("/proc/sysvipc").glob("*"):
        keys = [line.split()[0] for line in table.read_text().splitlines()[1:]]
        assert str(SYSV_KEY) not in keys, table
    names = []
    for path in Path("/proc").glob("[0-9]*/comm"):
        with contextlib.suppress(OSError):
            names.append(path.read_text().strip())
    assert not [name for name in names if name.startswith("hostile")]
    assert LEFT not in Path("/proc/net/unix").read_text()


@pytest.mark.slow
def test_the_course_is_as_it_was(batch: Batch) -> None:
    expected = {"assignments", "solutions", "course.yml", "gradebook.db", ".git", "submissions"}
    for original, copy in zip((TINY_COURSE, ROOT), batch.roots, strict=True):
        assert {path.name for path in copy.iterdir()} == expected
        for path in [copy / "course.yml", *copy.glob("solutions/*.py"), *copy.glob("assignments/*/test_*.py")]:
            now = re.sub(rf"\n.*{PLANTED}\n", "", path.read_text()).replace(batch.bait.token, "@BAIT@")
            before = (original / path.relative_to(copy)).read_text()
            assert re.sub(r"MARK = .*", "", now) == re.sub(r"MARK = .*", "", before), path
    assert [path.name for path in (batch.journal / "neighbour").iterdir()] == ["001.json"]


@pytest.mark.slow
def test_nobody_reached_the_servers(batch: Batch) -> None:
    visitors, batch.bait.visitors[:] = list(batch.bait.visitors), []
    assert visitors == []


OBEYED = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2066-\u2069\ufeff]")


@pytest.mark.slow
def test_the_table_holds_nothing_that_a_terminal_obeys(batch: Batch) -> None:
    text = io.StringIO()
    stored = [each for each in batch.results.values() if each.record.provenance.problem_set == "tiny"]
    unreadable = [Unreadable("\x1b[2J\u202e=cmd", "\x1b]0;owned\x07")]
    Console(file=text, width=200, color_system=None).print(grades_table(batch.problem_sets["tiny"], stored, unreadable))
    # Tabs separate the columns where no terminal reads them; a text brings none of its own.
    heading, *lines = text.getvalue().splitlines()
    assert {line.count("\t") for line in lines if "\t" in line} == {heading.count("\t")}
    assert not OBEYED.search(text.getvalue().replace("\t", ""))


@pytest.mark.slow
def test_the_journal_is_valid_and_holds_no_control_characters(batch: Batch) -> None:
    for stored in batch.results.values():
        assert read(stored.path) == stored.record
        assert not OBEYED.search(stored.path.read_text(encoding="utf-8")), stored.path.name


@pytest.mark.slow
@pytest.mark.parametrize(("slug", "backend"), [("ps1", "bubblewrap"), ("ps2", "sandlock"), ("ps4", "bubblewrap")])
def test_attacks_on_the_tiny_course_earn_no_more_on_a_real_problem_set(
    slug: str, backend: str, bait: Bait, tmp_path: Path
) -> None:
    """A few of them; `benchmarks/hostile_costs.py --on ps1` runs all."""
    needs(backend)
    roots = hostile_run.course_copies(tmp_path, bait.token, bait.mark)
    problem_sets = {name: each for name, (_, each) in hostile_run.problem_sets(roots).items()}
    problem_set, journal = problem_sets[slug], tmp_path / "results"
    fill = {**bait.fill, "@COURSE@": str(roots[1]), "@JOURNAL@": str(journal)}
    chosen = hostile_run.sample(ATTACKS, 3, seed=zlib.crc32(slug.encode()))
    attacks = [hostile_run.submission(attack, problem_set, fill) for attack in chosen]
    attacks.insert(0, hostile_run.plain(problem_set))
    neutral = problem_set.solution.read_bytes().replace(bait.token.encode(), b"nothing")
    stored = hostile_run.grade_in_turn(
        roots[1], problem_set, attacks, journal, backend, neutral=neutral, share=0.25, every=len(attacks)
    )
    first, *rest, last = [graded.record for graded in stored]
    batch = Batch(backend, roots, problem_sets, journal, bait, {}, {})
    for record in rest:
        assert record.score <= first.score
        check_record(batch, record, record.score)
    assert last.score == batch.full(slug)


# --- the intake


def _make_link(folder: Path) -> None:
    (folder / "linked.py").symlink_to("/etc/passwd")


def _make_inner_link(folder: Path) -> None:
    (folder / "inner").mkdir()
    (folder / "inner/tiny.py").symlink_to("/etc/passwd")


def _make_folder_link(folder: Path) -> None:
    (folder / "outside").symlink_to("/etc")


def _make_sparse(folder: Path) -> None:
    with open(folder / "large.py", "wb") as file:
        file.truncate(4 * 2**30)


def _make_both(folder: Path) -> None:
    (folder / "both").mkdir()
    (folder / "both/tiny.py").touch()
    (folder / "both/tiny.ipynb").touch()


def _make_twice(folder: Path) -> None:
    (folder / "s001.ipynb").write_bytes(notebook("double = None"))


def _named(name: str | bytes) -> Callable[[Path], None]:
    def make(folder: Path) -> None:
        with open(os.fsencode(folder) + b"/" + (name if isinstance(name, bytes) else os.fsencode(name)), "wb") as file:
            file.write(HONEST)

    return make


INTAKE_NAMES: dict[str, Callable[[Path], None]] = {
    "newline": _named("a\nb.py"),
    "escape codes": _named("\x1b[2J\x1b]0;owned\x07.py"),
    "right to left": _named("s\u202eyp.002.py"),
    "shell": _named("$(reboot);`x`&.py"),
    "option": _named("--results=x.py"),
    "formula": _named("=cmd|x!A1.py"),
    "not UTF-8": _named(b"\xff\xfe\x9b31m.py"),
    "archive": _named("s002.zip"),
    "link": _make_link,
    "link inside": _make_inner_link,
    "folder link": _make_folder_link,
    "pipe": lambda folder: os.mkfifo(folder / "pipe.py"),
    "sparse gigabytes": _make_sparse,
    "both forms": _make_both,
    "second file": _make_twice,
}

assert len(INTAKE_FILES) + len(INTAKE_NAMES) == hostile_table.INTAKE_CASES


@pytest.mark.parametrize("name", INTAKE_NAMES)
def test_poisoned_name(tmp_path: Path, name: str) -> None:
    (tmp_path / "s001.py").write_bytes(HONEST)
    INTAKE_NAMES[name](tmp_path)
    submissions, problems = find_submissions(tmp_path, "tiny")
    assert [each.student for each in submissions] == ["s001"]
    assert len(problems) == 1
    assert problems[0].reason
    # What the table prints of it must be encodable and obeyed by no terminal.
    assert not OBEYED.search(problems[0].name), repr(problems[0].name)
    problems[0].name.encode("utf-8")


# --- what crosses, byte by byte

SEARCHES = [
    attack
    for attack in ATTACKS
    if attack.kind in ("find_in_memory", "read_answers")
    and attack.problem_set == "tiny"
    and not attack.path.name.startswith("exfiltrate")
]


@pytest.mark.parametrize("backend", BACKENDS)
def test_no_guest_message_holds_the_bait(backend: str, bait: Bait, monkeypatch: pytest.MonkeyPatch) -> None:
    """The searches again, in a runner of this process, whose memory is full of bait: every byte received is looked at."""
    received: list[bytes] = []
    read = wire.FrameReader.read

    def read_and_note(self: wire.FrameReader) -> tuple[bytes, memoryview]:
        header, payload = read(self)
        received.extend((header, bytes(payload)))
        return header, payload

    monkeypatch.setattr(wire.FrameReader, "read", read_and_note)
    needs(backend)
    limits = load_course(TINY_COURSE).problem_set("tiny").limits
    zygote = open_zygote(backend)
    try:
        for attack in SEARCHES:
            source = attack.path.read_bytes()
            for name, value in {**bait.fill, "@COURSE@": str(TINY_COURSE), "@JOURNAL@": "/"}.items():
                source = source.replace(name.encode(), value.encode())
            with GuestRunner(zygote, f"tiny{attack.path.suffix}", source, limits) as runner:
                runner.load()
                for name in ("double", "softmax"):
                    with contextlib.suppress(StudentError):
                        getattr(Student(runner), name)(np.ones(3))
                with contextlib.suppress(StudentError):
                    Student(runner).apply(lambda x: bait.token and x, np.ones(3))
                received.append(runner.output.encode())
    finally:
        zygote.close()
    assert len(received) > 3 * len(SEARCHES)
    assert bait.token.encode() not in b"".join(received)


def test_the_table_is_up_to_date() -> None:
    text = hostile_table.DOCUMENT.read_text(encoding="utf-8")
    assert hostile_table.document(text) == text, "run `python -m tests.support.hostile_table`"


def test_every_kind_has_attacks() -> None:
    kinds = [attack.kind for attack in ATTACKS]
    assert set(kinds) == set(hostile_table.KINDS)
    assert len(ATTACKS) >= 90
