"""Who is missing, ungraded or a stranger, what is to be read, and what the roster says of people."""

from __future__ import annotations

import datetime
import json
import subprocess
import sys
from dataclasses import replace
from email import message_from_bytes
from email.policy import default
from pathlib import Path

import pytest

from autograder import __version__, cli
from autograder.course import Course, CourseError, Extension, load_course
from autograder.feedback.mail import mail
from autograder.grades import grade, grades
from autograder.intake import Submission, read_roster
from autograder.intake.roster import Person
from autograder.intake.times import read_times, with_times
from autograder.journal import Attempt, Journal, Stored
from autograder.standing import named, standing
from tests.support import records

ROOT = Path(__file__).resolve().parents[1]
TINY = load_course(ROOT / "tests" / "tiny_course")
TINY_SET = TINY.problem_set("tiny")
ROSTER = "student,name,section\ns001,Full Name,A\ns002,Other Name,B\ns003,,\n"


@pytest.fixture
def roster_file(tmp_path: Path) -> Path:
    path = tmp_path / "roster.csv"
    path.write_text(ROSTER, encoding="utf-8")
    return path


def test_everybody_stands_somewhere(tmp_path: Path, roster_file: Path) -> None:
    journal, roster = Journal(tmp_path / "tiny"), read_roster(roster_file)
    answered = [records.score(TINY_SET.question("double"), 3), records.score(TINY_SET.question("note"), answer="because")]
    journal.append(journal.add(Submission("s001", "tiny.py", b"1")), records.record(answered))
    journal.add(Submission("s009", "tiny.py", b"9"))
    now = standing(TINY_SET, journal, grades(TINY, TINY_SET, journal), roster, listed=["s003"])
    assert (now.ungraded, now.missing, now.strangers, now.unread) == (["s009"], ["s002"], ["s009"], {"note": 1})
    assert list(now.lines()) == [
        "not graded: s009; `course grade tiny …` tries again",
        "nothing handed in: s002",
        "not in the roster: s009",
        "to read: 1 written answer to note",
    ]
    assert now.next_command == "course read tiny"
    assert standing(TINY_SET, journal, [], None).next_command == "course feedback tiny"


def test_a_class_four_times_as_large_takes_four_times_as_many_calls() -> None:
    command = [sys.executable, "-m", "tests.support.class_calls", "30", "120"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True, timeout=120)
    small, large = json.loads(done.stdout)
    assert 0 < large < 4.2 * small


@pytest.mark.parametrize(("students", "said"), [(1, "1 written answer to note"), (2, "2 written answers to note")])
def test_written_answers_are_counted(tmp_path: Path, students: int, said: str) -> None:
    journal = Journal(tmp_path / "tiny")
    for number in range(students):
        note = records.score(TINY_SET.question("note"), answer="because")
        provenance = records.provenance(student=f"s{number:03d}")
        made = records.record([note], provenance=provenance)
        journal.append(journal.add(Submission(f"s{number:03d}", "tiny.py", str(number).encode())), made)
    now = standing(TINY_SET, journal, grades(TINY, TINY_SET, journal), None)
    assert list(now.lines()) == [f"to read: {said}"]


def test_twelve_students_are_named_and_the_others_counted() -> None:
    students = [f"s{number:03d}" for number in range(1, 14)]
    assert named(students[:12]) == ", ".join(students[:12])
    assert named(students) == f"{', '.join(students[:12])} and 1 more"


def test_people_are_found_by_id_or_by_a_part_of_their_name(roster_file: Path) -> None:
    roster = read_roster(roster_file)
    assert roster.sections == ("A", "B")
    assert [roster.search(text) for text in ("s001", "full", "NAME", "", "s01")] == [
        ["s001"],
        ["s001"],
        ["s001", "s002"],
        [],
        [],
    ]
    assert (roster.person("s002").section, roster.person("s003").name) == ("B", "")


def test_an_extension_of_nobody_in_the_roster_is_an_error(roster_file: Path) -> None:
    def extended(student: str) -> Course:
        until = datetime.datetime(2027, 1, 1, tzinfo=datetime.UTC)
        extension = Extension(student=student, problem_set="tiny", until=until)
        return replace(TINY, settings=TINY.settings.model_copy(update={"extensions": [extension]}))

    roster = read_roster(roster_file)
    roster.check_settings(extended("s002"))
    with pytest.raises(CourseError, match="extensions: x17 is not in the roster"):
        roster.check_settings(extended("x17"))


def test_times_from_a_file_are_for_those_without_one(tmp_path: Path, roster_file: Path) -> None:
    path = tmp_path / "times.csv"
    path.write_text("student,submitted\ns001,2026-09-20 12:00\ns002,2026-09-20T12:00:00+02:00\n", encoding="utf-8")
    times = read_times(path, read_roster(roster_file), datetime.UTC)
    own = datetime.datetime(2026, 1, 1, tzinfo=datetime.UTC)
    given = with_times([Submission("s001", "ps1.py", b""), Submission("s002", "ps1.py", b"", own)], times)
    assert [each.submitted for each in given] == [datetime.datetime(2026, 9, 20, 12, tzinfo=datetime.UTC), own]
    assert times["s002"].utcoffset() == datetime.timedelta(hours=2)
    for text, message in (
        ("student\ns001\n", "no column `submitted`"),
        ("student,submitted\nx1,2026-09-20\n", "line 2: 'x1' is not in the roster"),
        ("student,submitted\ns001,soon\n", "line 2: 'soon' is not a time"),
        ("student,submitted\ns001,2026-09-20\ns001,2026-09-21\n", "line 3: s001 appears twice"),
    ):
        path.write_text(text, encoding="utf-8")
        with pytest.raises(CourseError, match=message):
            read_times(path, read_roster(roster_file), datetime.UTC)


# --- mails


def test_a_mail_has_the_page_attached_and_says_what_the_template_says() -> None:
    made = records.record([records.score(TINY_SET.question("double"), 3)])
    attempt = Attempt("s001", 1, "tiny.py", "", "", None, datetime.datetime.now(datetime.UTC), "")
    own = grade(TINY_SET, TINY.settings.policy, TINY.due("tiny", "s001"), attempt, Stored(1, 1, Path(), made), {})
    person = Person("Fü Näme", "A", "s001@example.edu")
    message = message_from_bytes(mail(TINY_SET, own, person, "<p>page ✓</p>"), policy=default)
    assert (message["To"], message["Subject"], message["X-Unsent"]) == ("s001@example.edu", "tiny: feedback", "1")
    [body, page] = message.iter_parts()
    assert f"Hello Fü Näme,\n\nyour feedback for {TINY_SET.assignment.title}" in body.get_content().replace("\r\n", "\n")
    assert f"You have {own.in_words} points." in body.get_content()
    assert (page.get_filename(), page.get_content().strip()) == ("tiny.html", "<p>page ✓</p>")
    own_text = mail(TINY_SET, own, person, "", "$student of $problem_set: $$5")
    assert b"s001 of tiny: $5" in own_text
    with pytest.raises(ValueError, match="'pionts' is not one of"):
        mail(TINY_SET, own, person, "", "$pionts")


@pytest.mark.parametrize(
    "address", ["nobody", "a b@example.edu", "a@b@example.edu", "<a@example.edu>", "a@example.edu;b@example.edu"]
)
def test_what_is_not_an_address_is_an_error(tmp_path: Path, address: str) -> None:
    path = tmp_path / "roster.csv"
    path.write_text(f"student,email\ns001,{address}\n", encoding="utf-8")
    with pytest.raises(CourseError, match=r"line 2: .* is not an e-mail address"):
        read_roster(path)


# --- what every command offers


def test_the_command_line_has_a_version_short_help_and_completion(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def run(*arguments: str) -> str:
        monkeypatch.setattr(sys, "argv", ["course", *arguments])
        with pytest.raises(SystemExit) as ended:
            cli.main()
        assert ended.value.code in (0, None)
        return capsys.readouterr().out

    assert run("--version") == f"course {__version__}\n"
    assert "--install-completion" in run("-h")
    options = run("regrade", "-h")
    assert "--apply" in options
    assert "<bool>" not in options.replace("--help", "").partition("--json")[0]
