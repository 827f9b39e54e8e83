"""A record: what is written is read again, older ones are brought up to date, and no text in it is longer than its bound."""

from __future__ import annotations

import datetime
import io
import json
import re
import time
import tracemalloc
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.console import Console

from autograder.course import load_course
from autograder.feedback.page import student_page
from autograder.grades import grade
from autograder.journal import Attempt, Journal, JournalError, Stored
from autograder.record import MAX_BYTES, Look, Reason, Record, RecordError, Slip, from_json, message_room, read, to_json
from autograder.runtime.outcomes import Status
from autograder.table import grades_table
from autograder.text import bounded, visible
from tests.support import records

ROOT = Path(__file__).resolve().parents[1]
COURSE = load_course(ROOT)
PS1 = COURSE.problem_set("ps1")
OLD = Path(__file__).resolve().parent / "support/old_records" / "version_1.json"


@pytest.fixture(scope="module")
def old() -> dict[str, Any]:
    plain: dict[str, Any] = json.loads(OLD.read_bytes())
    return plain


# --- written and read


TEXTS = st.text(max_size=40) | st.sampled_from(["\ud800", "\x1b[2J", "a\r\nb\tc", "\u202e"])


@given(message=TEXTS, output=TEXTS, status=st.sampled_from(Status), points=st.floats(0, 100), detail=TEXTS)
def test_what_is_written_is_read_again(message: str, output: str, status: Status, points: float, detail: str) -> None:
    verdict = records.verdict("test_mix", "mix", status, points, message=message, uses=("mix",))
    written = records.record((), [verdict], output=output, look=(Look(Reason.STOPPED, detail),), figures={"mix": None})
    assert from_json(to_json(written)) == written


def test_a_verdict_says_to_its_student_what_is_safe_then_the_slip_then_the_hint() -> None:
    slip = Slip("squared", "You may be squaring.")
    question = replace(QUESTION, slips=(slip,))
    said = {"message": "should be 0.5", "safe": "`mix` raised ValueError", "hint": "Look again.", "slip": "squared"}
    hidden, public = (records.verdict("test_mix", "mix", hidden=hidden, **said) for hidden in (True, False))
    made = records.record([question], [hidden, public])
    told = "{}\nLikely slip: You may be squaring.\nHint: Look again."
    assert made.told(hidden) == told.format("`mix` raised ValueError")
    assert made.told(public) == told.format("should be 0.5")
    assert made.told(records.verdict("test_mix", "mix", Status.PASSED)) == ""
    assert "fault of the grader" in made.told(records.verdict("test_mix", "mix", Status.FAULT, message="Traceback"))


# --- older versions


def test_a_record_of_the_first_version_says_what_it_said(old: dict[str, Any]) -> None:
    new = read(OLD)
    extra = old["extra_data"]
    assert new.score == old["score"]
    assert [(question.id, question.score, question.undone) for question in new.questions] == [
        (question["id"], question["score"], question["undone"]) for question in extra["questions"]
    ]
    assert new.questions[-1].answer == extra["questions"][-1]["answer"] != ""
    assert len(new.verdicts) == len(old["tests"]) > 10
    slips: set[str] = set()
    for verdict, test in zip(new.verdicts, old["tests"], strict=True):
        # A slip is now said once a question.
        said = [line for line in test["output"].splitlines() if line not in slips]
        slips |= {line for line in said if line.startswith("Likely slip")}
        assert new.told(verdict).splitlines() == said
        assert f"{verdict.question}: {verdict.title}" == test["name"]
        assert (verdict.score, verdict.points) == (test["score"], test["max_score"])
        assert (verdict.status, verdict.slip) == (test["extra_data"]["outcome"], test["extra_data"]["slip"])
    assert any(question.slips for question in new.questions)
    assert new.look_lines == [
        *(line for line in extra["look"] if not line.startswith("not defined")),
        *(line for line in extra["look"] if line.startswith("not defined")),
    ]
    assert (new.output, new.seconds) == (old["output"], old["execution_time"])
    assert new.figures == extra["figures"] != {}
    assert new.provenance.suite == extra["provenance"]["suite"]


def test_a_record_from_before_memory_was_counted_is_read(old: dict[str, Any]) -> None:
    extra = {key: value for key, value in old["extra_data"].items() if key != "peak_memory"}
    assert from_json(json.dumps({**old, "extra_data": extra})).peak_memory == 0


# --- what is no record


def plain(record: Record) -> dict[str, Any]:
    content: dict[str, Any] = json.loads(to_json(record))
    return content


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "Expecting value"),
        (b"[]", "valid dictionary|instance of Record"),
        (b"{}", "extra_data"),
        (b'{"extra_data": 1}', "."),
        (json.dumps({**plain(records.record()), "version": 3}).encode(), "version: "),
        (json.dumps({**plain(records.record()), "colour": "red"}).encode(), "colour: "),
        (
            json.dumps({key: value for key, value in plain(records.record()).items() if key != "verdicts"}).encode(),
            "verdicts: ",
        ),
    ],
)
def test_a_file_that_is_no_record_is_an_error_that_names_it(tmp_path: Path, content: bytes, reason: str) -> None:
    path = tmp_path / "s001" / "001.json"
    path.parent.mkdir()
    path.write_bytes(content)
    with pytest.raises(JournalError, match=rf"{re.escape(str(path))} is damaged \(.*{reason}"):
        Journal(tmp_path).records("s001")


def test_no_list_in_a_record_is_longer_than_its_bound() -> None:
    slip, look = Slip("squared", "You may be squaring."), Look(Reason.STOPPED, "it took too long")
    verdict = records.verdict("test_mix", "mix")
    for made, name, entry, most in (
        (QUESTION, "slips", slip, 50),
        (verdict, "uses", "mix", 50),
        (verdict, "fix_first", "mix", 50),
        (records.record(), "look", look, 20),
        (records.record(), "problems", "SyntaxError", 50),
    ):
        assert [len(getattr(replace(made, **{name: (entry,) * count}), name)) for count in (most, most + 1)] == [most, most]


def test_a_file_that_is_too_large_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "001.json"
    with path.open("wb") as file:
        file.truncate(MAX_BYTES + 1)
    with pytest.raises(RecordError, match=r"it has 16 MB, and no record has more than 16$"):
        read(path)


@pytest.mark.parametrize(("functions", "them"), [(("softmax",), "it"), (("softmax", "mix"), "them")])
def test_what_follow_through_showed_is_said(functions: tuple[str, ...], them: str) -> None:
    verdict = records.verdict("test_mix", "mix", points=2, fix_first=functions, credit=0.5)
    passed, failed = (replace(verdict, follow_through=status) for status in (Status.PASSED, Status.FAILED))
    assert passed.followed == f"With {them} right this test passes. Follow-through: 1 of 2 points."
    assert failed.followed == f"Even with {them} right this test does not pass."
    assert verdict.followed == ""


@given(content=st.binary(max_size=60) | st.recursive(st.none() | st.text(max_size=5) | st.integers(), lambda inner:
       st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["extra_data", "tests", "version"]), inner)).map(
       lambda value: json.dumps(value).encode()))  # fmt: skip
def test_nothing_else_comes_of_a_file_than_a_record_or_an_error(content: bytes) -> None:
    with pytest.raises(RecordError):
        from_json(content)


def test_a_file_larger_than_any_record_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "001.json"
    with path.open("wb") as file:
        file.truncate(MAX_BYTES + 1)
    with pytest.raises(RecordError, match="it has 16 MB, and no record has more"):
        read(path)


# --- bounds


@given(text=st.text(max_size=50) | st.sampled_from(["\x00" * 99, "\r\n" * 50, "é\u202e" * 40]), most=st.integers(1, 60))
@settings(max_examples=200)
def test_a_bounded_text_is_short_and_visible_and_stays_as_it_is(text: str, most: int) -> None:
    short = bounded(text, most)
    assert len(short) <= most
    assert short == visible(short) == bounded(short, most)
    assert all(character.isprintable() or character in "\n\t" for character in short)
    if len(text) <= most:
        assert len(short) == len(text.replace("\r\n", "\n"))


@pytest.fixture(scope="module")
def worst() -> Record:
    return records.worst(PS1)


def test_the_worst_record_is_a_small_file(worst: Record) -> None:
    content = to_json(worst)
    assert 10**6 < len(content) < MAX_BYTES / 2
    assert from_json(content) == worst


def test_the_pages_of_the_worst_record_cost_little(worst: Record) -> None:
    moment = datetime.datetime(2026, 9, 20, tzinfo=datetime.UTC)
    attempt = Attempt("s001", 1, "ps1.py", "0" * 64, "0" * 64, moment, moment, "")

    def page(content: Record) -> str:
        own = grade(PS1, COURSE.settings.policy, moment, attempt, Stored(1, 1, Path(), content), {})
        return student_page(PS1, own, made=moment)

    def cost(content: Record) -> float:
        begun = time.process_time()
        page(content)
        return time.process_time() - begun

    # A figure that was drawn before is not drawn again.
    one, usual = (
        replace(worst, verdicts=(), problems=(), figures={"heatmap": records.busy_figure(ticks)}) for ticks in (9, 10)
    )
    cost(one)
    # Less than ten times a page with one figure, which takes a tenth of a second.
    assert cost(worst) < 10 * cost(usual)
    assert page(worst).count("<img") < len(worst.figures)
    tracemalloc.start()
    html = page(replace(worst, figures={}))  # drawing takes long while memory is traced
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(html) < 12 * 10**6
    assert peak < 200 * 10**6


def test_the_table_of_the_worst_record_is_a_line_or_two(worst: Record) -> None:
    text = io.StringIO()
    Console(file=text, width=160, color_system=None).print(grades_table(PS1, [Stored(1, 1, Path(), worst)], []))
    assert len(text.getvalue()) < 4000


@pytest.mark.parametrize("tests", [1, 100, 101, 5000])
def test_messages_share_their_room(tests: int) -> None:
    assert message_room(tests) <= 4000
    assert message_room(tests) * tests <= 400_000


def test_the_room_of_a_hundred_messages_is_the_largest() -> None:
    assert (message_room(100), message_room(101)) == (4000, 3960)


QUESTION = records.QuestionScore(id="mix", title="Mix", kind="code", score=0.0, points=1.0, undone=False)
