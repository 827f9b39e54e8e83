"""`course watch`: what arrives is graded once it is whole, in turns, and answered without what hidden tests say."""

from __future__ import annotations

import datetime
import hashlib
import os
import re
import select
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path, PurePosixPath

import pytest

from autograder import __version__
from autograder.course import Course, load_course
from autograder.feedback.attempt_page import Pages
from autograder.feedback.outbox import put
from autograder.feedback.withheld import public_part
from autograder.intake import Submission, find_submissions
from autograder.intake.arrivals import QUIET_SECONDS, Arrivals
from autograder.journal import Attempt, Journal
from autograder.record import Slip
from autograder.runtime.outcomes import Status
from autograder.suite_hash import suite_hash
from autograder.turns import Turns
from tests.support import crashes
from tests.support.records import provenance, record, score, verdict
from tests.support.signals import hear_ctrl_c

COURSE = Path(sys.executable).with_name("course")
DAY = datetime.datetime(2026, 9, 14, 12, tzinfo=datetime.UTC)
SECRET = "5ec2e7" * 20
SECONDS = 120


class Watch:
    """The real command on a copy of the tiny course, not due yet, and an exchange of nbgrader."""

    def __init__(self, folder: Path) -> None:
        self.course = folder / "course"
        crashes.make_course(self.course, students=0)
        settings = (self.course / "course.yml").read_text(encoding="utf-8")
        settings = settings.replace("due: 2026", "due: 2999") + "\npolicy:\n  attempts_a_day: 2\n"
        (self.course / "course.yml").write_text(settings, encoding="utf-8")
        self.inbound = folder / "exchange" / "inbound"
        self.inbound.mkdir(parents=True)
        self.process: subprocess.Popen[bytes] | None = None
        self.said = b""

    def start(self) -> None:
        command = [COURSE, "watch", "tiny", self.inbound, "--jobs", "1"]
        self.said = b""
        self.process = subprocess.Popen(
            [*map(str, command)],
            cwd=self.course,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            preexec_fn=hear_ctrl_c,
        )

    def submit(self, student: str, number: int, source: str, *, whole: bool = True) -> Path:
        """Submit as nbgrader does: the files first, the secret last."""
        folder = self.inbound / f"{student}+tiny+2026-09-14 12:00:{number:02d}.000000 UTC"
        folder.mkdir()
        (folder / "tiny.py").write_text(source, encoding="utf-8")
        (folder / "timestamp.txt").write_text(f"2026-09-14 12:00:{number:02d}.000000 UTC", encoding="utf-8")
        if whole:
            self.finish(folder)
        return folder

    @staticmethod
    def finish(folder: Path) -> None:
        (folder / "submission_secret.txt").write_text(SECRET + folder.name, encoding="utf-8")

    def wait_for(self, text: str) -> None:
        """Wait until the command has printed something."""
        assert self.process is not None
        assert self.process.stdout is not None
        while text.encode() not in self.said:
            assert select.select([self.process.stdout], [], [], SECONDS)[0], self.said.decode()
            piece = os.read(self.process.stdout.fileno(), 65536)
            assert piece, self.said.decode()
            self.said += piece

    def graded(self) -> list[str]:
        """The attempts that were graded, in their order, as "s001 2"."""
        return [" ".join(pair) for pair in re.findall(r"(\w+), attempt (\d+): .* by tests", self.said.decode())]

    def end(self, by: signal.Signals) -> str:
        """End it; returns what it said last."""
        assert self.process is not None
        self.process.send_signal(by)
        rest = self.process.communicate(timeout=SECONDS)[0].decode()
        assert self.process.returncode == 0, rest
        return rest

    def records(self) -> list[str]:
        return sorted(str(path.relative_to(self.course)) for path in self.course.glob("results/tiny/s*/*.json"))

    def page(self, folder: Path) -> str:
        """The page where nbgrader fetches it."""
        name = hashlib.md5((SECRET + folder.name + "tiny").encode()).hexdigest()
        return (self.inbound.parent / "feedback" / f"{name}.html").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def watch(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Watch]:
    watch = Watch(tmp_path_factory.mktemp("watch"))
    yield watch
    if watch.process is not None:
        watch.process.kill()
        watch.process.wait()


@pytest.mark.slow
def test_what_arrives_is_graded_in_turns_and_goes_on_after_an_end(watch: Watch) -> None:
    many = [watch.submit("s001", number, crashes.RIGHT + f"# {number}\n") for number in (1, 2, 3)]
    watch.submit("s002", 1, "def double(values):\n    return 2 * values\n")
    # A link in place of a folder, and one in place of a file.
    (watch.inbound / "s008+tiny+2026-09-14 12:00:00.000000 UTC").symlink_to(many[0])
    linked = watch.submit("s009", 1, "", whole=False)
    (linked / "tiny.py").unlink()
    (linked / "tiny.py").symlink_to(many[0] / "tiny.py")
    watch.finish(linked)
    watch.start()
    watch.wait_for("s001: 2 attempts a day are graded; 1 more waits for tomorrow")
    watch.wait_for("(s009): a link; links are not followed")
    assert sorted(watch.graded()[:2]) == ["s001 3", "s002 1"], "one each, of the newest first"
    assert "s008" in watch.said.decode()
    half = watch.submit("s003", 1, crashes.RIGHT, whole=False)
    watch.submit("s004", 1, crashes.RIGHT)
    watch.wait_for("s004, attempt 1: 10 of 10 by tests")
    assert not (watch.course / "results/tiny/s003").exists(), "it has not arrived as a whole"
    watch.finish(half)
    watch.wait_for("s003, attempt 1: 10 of 10 by tests")
    # Hidden tests earn 7 of the 10 points; nothing of them is said before it is due.
    page = watch.page(half)
    assert "These are the points of public tests alone." in page
    assert "3 of 3 by tests" in page
    assert "(hidden test" not in page
    rest = watch.end(signal.SIGTERM)
    assert "waits for tomorrow: s001 (1)" in rest
    assert "5 graded" in rest
    before = watch.records()

    watch.start()
    watch.submit("s005", 1, crashes.RIGHT)
    watch.wait_for("s001: 2 attempts a day are graded; 1 more waits for tomorrow")
    watch.wait_for("s005, attempt 1: 10 of 10 by tests")
    rest = watch.end(signal.SIGINT)
    assert "1 arrived; 1 graded" in rest
    new = [f"results/tiny/s005/{name}.json" for name in ("001", "001.attempt")]
    assert watch.records() == sorted([*before, *new])


class Clock:
    """Time that passes when a test says so."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def test_a_file_that_grows_is_waited_for_and_one_that_changes_arrives_again(tmp_path: Path) -> None:
    clock = Clock()
    arrivals = Arrivals(tmp_path, "tiny", None, [], form=None, zone=datetime.UTC, clock=clock)

    def look() -> list[bytes]:
        clock.now += QUIET_SECONDS
        submissions, listed = arrivals.look()
        assert listed == []
        return [submission.source for submission in submissions]

    (tmp_path / ".s001.py.unfinished").write_text("not yet")
    file = tmp_path / "s001.py"
    for size in range(1, 4):
        file.write_text("x = 1\n" * size)
        assert look() == []
    assert look() == [b"x = 1\n" * 3]
    assert look() == []
    file.write_text("y = 1\n")
    assert look() == []
    assert look() == [b"y = 1\n"]


def test_a_clone_is_waited_for_while_git_is_at_work_in_it(tmp_path: Path) -> None:
    clock = Clock()
    arrivals = Arrivals(tmp_path, "tiny", None, [], form=None, zone=datetime.UTC, clock=clock)
    clone = tmp_path / "s001"
    (clone / ".git").mkdir(parents=True)
    (clone / ".git" / "index.lock").touch()
    (clone / "tiny.py").write_text("x = 1\n")
    for _ in range(4):
        clock.now += QUIET_SECONDS
        assert arrivals.look()[0] == []
    (clone / ".git" / "index.lock").unlink()
    clock.now += QUIET_SECONDS
    assert [submission.student for submission in arrivals.look()[0]] == ["s001"]


def test_a_folder_that_becomes_a_link_is_not_followed(tmp_path: Path) -> None:
    """Between listing a folder and reading a file in it, its owner may put a link in its place."""
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "tiny.py").write_text("somebody else's\n")
    place = tmp_path / "place"
    (place / "s001").mkdir(parents=True)
    (place / "s001" / "tiny.py").write_text("x = 1\n")

    def swap(handed: object) -> bool:
        (place / "s001").rename(tmp_path / "away")
        (place / "s001").symlink_to(elsewhere)
        return True

    submissions, (listed,) = find_submissions(place, "tiny", wanted=swap)
    assert submissions == []
    assert listed.reason.startswith("cannot be read")


def test_a_page_is_written_in_place_of_a_link_and_through_none(tmp_path: Path) -> None:
    elsewhere, outbox = tmp_path / "elsewhere", tmp_path / "outbox"
    elsewhere.mkdir()
    (elsewhere / "kept").write_text("as it was")
    assert put(outbox, PurePosixPath("s001/tiny-1.html"), b"page").read_bytes() == b"page"
    (outbox / "s002").symlink_to(elsewhere)
    with pytest.raises(OSError, match="s002"):
        put(outbox, PurePosixPath("s002/tiny-1.html"), b"page")
    (outbox / "named.html").symlink_to(elsewhere / "kept")
    put(outbox, PurePosixPath("named.html"), b"page")
    assert (outbox / "named.html").read_bytes() == b"page"
    assert (elsewhere / "kept").read_text() == "as it was"
    assert [path.name for path in elsewhere.iterdir()] == ["kept"]
    assert outbox.stat().st_mode & 0o777 == 0o711


@pytest.fixture
def course() -> Course:
    course = load_course(crashes.TESTS / "tiny_course")
    policy = course.settings.policy.model_copy(update={"attempts_a_day": 2})
    return replace(course, settings=course.settings.model_copy(update={"policy": policy}))


def hand_in(journal: Journal, student: str, number: int) -> Attempt:
    return journal.add(Submission(student, "tiny.py", b"x = %d\n" % number))


def test_turns_are_by_student_with_fresh_work_first_and_so_many_a_day(course: Course, tmp_path: Path) -> None:
    tiny, journal, now = course.problem_set("tiny"), Journal(tmp_path), [DAY]
    suite = suite_hash(tiny)
    old = record(provenance=provenance(student="s004", started=DAY.isoformat(), suite="of earlier tests"))
    new = replace(old, provenance=replace(old.provenance, suite=suite, engine=__version__))
    journal.append(hand_in(journal, "s004", 1), old)
    for number in (1, 2, 3):
        hand_in(journal, "s001", number)
    turns = Turns(course, tiny, journal, lambda: now[0])
    for student in ("s002", "s003"):
        assert turns.add(hand_in(journal, student, 1))
        assert not turns.add(hand_in(journal, student, 1)), "it is known"

    def taken() -> list[str]:
        names = []
        while following := next(turns):
            attempt, _ = following
            own = replace(new.provenance, student=attempt.student, started=now[0].isoformat())
            turns.done(attempt, journal.append(attempt, replace(new, provenance=own)))
            names.append(f"{attempt.student} {attempt.number}")
        return names

    assert taken() == ["s001 3", "s002 1", "s003 1", "s001 2", "s004 1"], "what earlier tests graded comes last"
    assert turns.held() == {"s001": 1}
    turns = Turns(course, tiny, journal, lambda: now[0])
    assert taken() == [], "after a restart a day is the same day"
    now[0] += datetime.timedelta(days=1)
    assert taken() == ["s001 1"]


def test_a_fault_of_the_grader_takes_no_attempt_away(course: Course, tmp_path: Path) -> None:
    tiny, journal = course.problem_set("tiny"), Journal(tmp_path)
    attempts = [hand_in(journal, "s001", number) for number in (1, 2, 3)]
    turns = Turns(course, tiny, journal, lambda: DAY)
    first, _ = next(turns) or (None, None)
    assert first == attempts[2]
    turns.done(first, journal.append(first, record(fault="no sandbox")))
    assert turns.failed == [first]
    assert [next(turns) is not None for _ in range(3)] == [True, True, False]


def test_of_a_record_the_public_part_says_nothing_of_hidden_tests(course: Course) -> None:
    tiny = course.problem_set("tiny")
    slips = (Slip("public slip", "Multiply."), Slip("hidden slip", "Not what is hidden."))
    whole = record(
        [score(tiny.question("double"), 2, slips=slips), score(tiny.question("note"), answer="My text.")],
        [
            verdict("test_shown", "double", Status.PASSED, 1),
            verdict("test_shown_too", "double", Status.FAILED, 1, slip="public slip", fix_first=("softmax",), credit=1.0),
            verdict(
                "test_not_shown", "double", Status.FAILED, 2, hidden=True, safe="Not what is hidden.", slip="hidden slip"
            ),
        ],
    )
    reduced, public = public_part(tiny, whole)
    assert [verdict.test for verdict in public.verdicts] == ["test_shown", "test_shown_too"]
    assert "hidden" not in repr(public).replace("hidden=False", "").replace("hidden_key", "")
    assert "softmax" not in repr(public.verdicts), "that it has a mistake may be what a hidden test found"
    assert public.score == 1
    assert reduced.question("double").points == 2
    assert reduced.question("note") == tiny.question("note")


def test_a_page_is_complete_once_it_is_due_or_where_the_course_says_at_once(course: Course, tmp_path: Path) -> None:
    tiny, journal, now = course.problem_set("tiny"), Journal(tmp_path / "journal"), [DAY]
    attempt = hand_in(journal, "s001", 1)
    tests = [
        verdict("test_shown", "double", Status.PASSED, 1),
        verdict("test_not_shown", "double", Status.FAILED, 2, hidden=True, title="Twice a large number.", safe="Too small."),
    ]
    stored = journal.append(attempt, record([score(question) for question in tiny.assignment.questions], tests))
    pages = Pages(course, tiny, journal, tmp_path / "pages", lambda: now[0])
    path = tmp_path / "pages" / "s001" / "tiny-1.html"

    def shows_all() -> list[bool]:
        return [text in path.read_text() for text in ("Twice a large number.", "Too small.")]

    pages.write(attempt, stored)
    os.utime(path, (DAY.timestamp(), DAY.timestamp()))
    assert shows_all() == [False, False]
    assert pages.due() == []
    now[0] = course.due("tiny", "s001")
    assert pages.due() == [attempt]
    # After a restart, too, what was written before the due date is written again.
    pages = Pages(course, tiny, journal, tmp_path / "pages", lambda: now[0])
    pages.renew(attempt)
    assert shows_all() == [True, True]
    path.unlink()
    policy = course.settings.policy.model_copy(update={"hidden_feedback": "at_once"})
    at_once = replace(course, settings=course.settings.model_copy(update={"policy": policy}))
    Pages(at_once, tiny, journal, tmp_path / "pages", lambda: DAY).renew(attempt)
    assert shows_all() == [True, True]


def test_feedback_is_named_as_nbgrader_looks_for_it(tmp_path: Path) -> None:
    utils = pytest.importorskip("nbgrader.utils", reason="nbgrader is not installed (extra grader)")
    folder = tmp_path / "inbound" / "s001+tiny+2026-09-14 12:00:00.000000 UTC+r4nd0m"
    folder.mkdir(parents=True)
    (folder / "tiny.ipynb").write_text("{}")
    (folder / "submission_secret.txt").write_text(SECRET)
    (folder.parent / "s001+other+2026-09-14 12:00:00.000000 UTC").mkdir()
    (submission,), listed = find_submissions(folder.parent, "tiny")
    assert listed == []
    assert submission.feedback == utils.notebook_hash(secret=SECRET, notebook_id="tiny") + ".html"
    assert submission.submitted == datetime.datetime(2026, 9, 14, 12, tzinfo=datetime.UTC)
