"""A record: what is written is read again, older ones are brought up to date, and no text in it is longer than its bound."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autograder.journal import Journal, JournalError
from autograder.record import MAX_BYTES, Look, Reason, Record, RecordError, Slip, from_json, read, to_json
from autograder.testing.bench import Status
from autograder.text import bounded, visible
from tests.support import records

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
    record = records.record([question], [hidden, public])
    told = "{}\nLikely slip: You may be squaring.\nHint: Look again."
    assert record.told(hidden) == told.format("`mix` raised ValueError")
    assert record.told(public) == told.format("should be 0.5")
    assert record.told(records.verdict("test_mix", "mix", Status.PASSED)) == ""
    assert "fault of the grader" in record.told(records.verdict("test_mix", "mix", Status.FAULT, message="Traceback"))


# --- older versions


def test_a_record_of_the_first_version_says_what_it_said(old: dict[str, Any]) -> None:
    record = read(OLD)
    extra = old["extra_data"]
    assert record.score == old["score"]
    assert [(question.id, question.score, question.undone) for question in record.questions] == [
        (question["id"], question["score"], question["undone"]) for question in extra["questions"]
    ]
    assert record.questions[-1].answer == extra["questions"][-1]["answer"] != ""
    assert len(record.verdicts) == len(old["tests"]) > 10
    for verdict, test in zip(record.verdicts, old["tests"], strict=True):
        assert record.told(verdict) == test["output"]
        assert f"{verdict.question}: {verdict.title}" == test["name"]
        assert (verdict.score, verdict.points) == (test["score"], test["max_score"])
        assert (verdict.status, verdict.slip) == (test["extra_data"]["outcome"], test["extra_data"]["slip"])
    assert any(question.slips for question in record.questions)
    assert record.look_lines == [
        *(line for line in extra["look"] if not line.startswith("not defined")),
        *(line for line in extra["look"] if line.startswith("not defined")),
    ]
    assert (record.output, record.seconds) == (old["output"], old["execution_time"])
    assert record.figures == extra["figures"] != {}
    assert record.provenance.suite == extra["provenance"]["suite"]


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


QUESTION = records.QuestionScore(id="mix", title="Mix", kind="code", score=0.0, points=1.0, undone=False)
