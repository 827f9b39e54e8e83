"""Grades in the files of other programs: every grade in its place, and every other byte as it was."""

from __future__ import annotations

import csv
import datetime
import io
import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import typer
from click.testing import Result
from hypothesis import example, given
from hypothesis import strategies as st
from typer.testing import CliRunner

from autograder.commands.export import export as export_command
from autograder.course import load_course
from autograder.exporting import ExportError, defused, waiting_answers
from autograder.exports.canvas import fill_canvas
from autograder.exports.gradescope import gradescope_results
from autograder.exports.moodle import fill_moodle
from autograder.exports.plain import plain_csv
from autograder.grades import Grade
from autograder.intake import Roster, Submission, read_roster
from autograder.journal import Attempt, Journal, Stored
from autograder.record import Look, Reason, Record
from autograder.suite_hash import suite_hash
from tests.support import platform_forms as forms
from tests.support import records

ROOT = Path(__file__).resolve().parents[1]
PS1 = load_course(ROOT).problem_set("ps1")
QUESTIONS = PS1.assignment.questions
POSSIBLE = sum(question.points for question in QUESTIONS)
FULL = f"{POSSIBLE:.2f}"
WRITTEN = next(question.id for question in QUESTIONS if question.kind == "written")
NOON = datetime.datetime(2026, 9, 20, 12, tzinfo=datetime.UTC)
STUDENTS = [f"s{number:03d}" for number in range(1, 6)]
SECRET = "expected 0.8175744761936437"


def record(points: float, *, answered: bool = True, output: str = "", **changes: Any) -> Record:
    """A record in which `points` of the first question are earned."""
    first, *others = QUESTIONS
    questions = [records.score(first, points)]
    for question in others:
        written = {"answer": "because" if answered else "", "undone": not answered} if question.kind == "written" else {}
        questions.append(records.score(question, **written))
    hint = {"hint": "spend it all.", "message": SECRET, "title": "The budget is spent."}
    failed = records.verdict("test_budget", first.id, points=first.points, hidden=True, **hint)
    look = (Look(Reason.STOPPED, SECRET),)
    return records.record(questions, [failed], output=output, staff_output=SECRET, look=look, **changes)


def grade(student: str, points: float = 2.5, **changes: Any) -> Grade:
    attempt = Attempt(student, 1, "ps1.py", "0" * 64, "0" * 64, NOON, NOON, "")
    made = record(points, answered=changes.pop("answered", True), output=changes.pop("output", ""))
    stored = Stored(1, 1, Path("001.json"), made)
    values = {"manual": {WRITTEN: 1.0}, "points": points + 1.0, "possible": POSSIBLE, **changes}
    return Grade(student, attempt, stored, points, **values)


def a_class() -> list[Grade]:
    return [grade(student, number + 0.25) for number, student in enumerate(STUDENTS)]


def rows(content: bytes) -> list[list[str]]:
    return list(csv.reader(io.StringIO(content.decode("utf-8-sig"), newline=""), strict=True))


@pytest.fixture
def roster(tmp_path: Path) -> Roster:
    return read_roster(forms.make_roster(tmp_path, STUDENTS))


def canvas_file(folder: Path, students: list[str] = STUDENTS) -> bytes:
    return forms.make_canvas_gradebook(folder, students, FULL).read_bytes()


def moodle_file(folder: Path, students: list[str] = STUDENTS) -> bytes:
    return forms.make_moodle_worksheet(folder, students, FULL).read_bytes()


# --- plain CSV


def test_plain_csv_adds_up() -> None:
    late = replace(grade("s009", 4.0), penalty=0.5, points=4.5, days_late=1.25)
    header, *found = rows(plain_csv([*a_class(), late], QUESTIONS))
    table = [dict(zip(header, row, strict=True)) for row in found]
    assert [row["student"] for row in table] == [*STUDENTS, "s009"]
    for row in table:
        by_question = sum(float(row[question.id] or 0) for question in QUESTIONS)
        assert by_question == float(row["automatic"]) + float(row["manual"])
        assert float(row["points"]) == by_question - float(row["penalty"])
        assert float(row["possible"]) == POSSIBLE
    assert (table[-1]["days late"], table[-1]["penalty"]) == ("1.25", "0.5")
    assert table[-1]["submitted"] == "2026-09-20T12:00:00+00:00"


def test_what_is_not_graded_yet_is_empty_and_no_zero() -> None:
    header, row = rows(plain_csv([grade("s001", manual={})], QUESTIONS))
    table = dict(zip(header, row, strict=True))
    assert table[WRITTEN] == ""
    assert table["complete"] == "no"


@given(st.one_of(st.text(), st.from_regex(r"\s*[=+\-@\t\r\n＝].*", fullmatch=True)))
@example("=cmd|'/c calc'!A1")
@example("\t=1")
@example(" -1")
def test_no_text_is_a_formula(text: str) -> None:
    safe = defused(text)
    assert safe.lstrip()[:1] not in tuple("=+-@＝＋－＠")
    assert safe[:1] not in tuple("\t\r\n")
    assert safe.removeprefix("'") == text or safe == text
    # Read back from a file it is the same.
    written = io.StringIO(newline="")
    csv.writer(written).writerow([safe, "x"])
    assert next(csv.reader(io.StringIO(written.getvalue(), newline=""))) == [safe, "x"]


@pytest.mark.parametrize("text", ["s001", "", "a=b", "half - done", "'=1", "1.5"])
def test_what_is_no_formula_stays_as_it_is(text: str) -> None:
    assert defused(text) == text


# --- Canvas


def test_canvas_gets_the_column_and_nothing_else_changes(tmp_path: Path, roster: Roster) -> None:
    before = canvas_file(tmp_path)
    filled = fill_canvas(before, a_class(), ["Problem set 1"], roster)
    assert filled.count == 5
    assert filled.problems == []
    assert filled.untouched == ["Canvas's user 1 is not in the roster"]
    old, new = rows(before), rows(filled.files[""])
    place = old[0].index("Problem set 1 (102)")
    assert [row[place] for row in new] == [
        "Problem set 1 (102)",
        "Manual Posting",
        f"{POSSIBLE:.2f}",
        "1.25",
        "2.25",
        "3.25",
        "4.25",
        "5.25",
        "",
    ]
    for row in new:
        row[place] = ""
    for row in old:
        row[place] = ""
    assert new == old


@pytest.mark.parametrize("title", ["Problem set 1", "problem SET 1", "Problem set 1 (102)", "102"])
def test_canvas_column_goes_by_name_or_number(tmp_path: Path, roster: Roster, title: str) -> None:
    assert fill_canvas(canvas_file(tmp_path), a_class(), ["ps1", title], roster).count == 5


def test_filling_twice_gives_the_same_bytes(tmp_path: Path, roster: Roster) -> None:
    once = fill_canvas(canvas_file(tmp_path), a_class(), ["102"], roster).files[""]
    assert fill_canvas(once, a_class(), ["102"], roster).files[""] == once
    once = fill_moodle(moodle_file(tmp_path), a_class(), roster).files[""]
    assert fill_moodle(once, a_class(), roster).files[""] == once


def test_bytes_of_other_cells_stay_however_they_are_written(roster: Roster) -> None:
    text = (
        "\ufeffStudent,ID,\"Problem set 1 (102)\" ,Note\n"
        "    Points Possible,,,\r\n"
        '"One, ""s001""",70001,"",\'=1+1\r'
        "x\"y,70002,1.0,\n"
        ",,,"
    )  # fmt: skip
    with pytest.raises(ExportError, match="row 1: this is not valid CSV"):
        fill_canvas(text.encode(), [grade("s001")], ["102"], roster)
    text = text.replace('(102)" ,', '(102)",')
    filled = fill_canvas(text.encode(), [grade("s001")], ["102"], roster)
    assert filled.files[""] == text.replace('70001,"",', "70001,3.5,").encode()


CELL = st.one_of(st.text(max_size=8), st.sampled_from(['"', ",", "\r\n", "=1", "'", ""]))


@given(
    st.lists(st.tuples(CELL, CELL), max_size=5),
    st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]),
    st.sampled_from(["\n", "\r\n"]),
)
def test_only_the_grade_changes_in_any_file(others: list[tuple[str, str]], quoting: Any, end: str) -> None:
    text = io.StringIO(newline="")
    writer = csv.writer(text, quoting=quoting, lineterminator=end)
    writer.writerows([["Student", "ID", "Note", "x (1)"], *([a, f"9{b}", a, b] for a, b in others), ["me", "7", "note", ""]])
    filled = fill_canvas(
        text.getvalue().encode("utf-8", "replace"), [grade("s001")], ["1"], Roster(("s001",), {"canvas": {"7": "s001"}})
    )
    assert filled.count == 1
    mine = text.getvalue().encode("utf-8", "replace").rpartition(b",")
    assert filled.files[""] == mine[0] + b",3.5" + end.encode()


def test_every_grade_and_every_row_without_the_other_is_told(tmp_path: Path, roster: Roster) -> None:
    filled = fill_canvas(canvas_file(tmp_path, ["s002", "s003", "s077"]), a_class()[:2], ["102"], roster)
    assert filled.count == 1
    assert filled.problems == ["s001 has a grade, but no row"]
    assert filled.untouched == [
        "s003 has no grade to enter",
        "Canvas's user 70077 is not in the roster",
        "Canvas's user 1 is not in the roster",
    ]


def test_who_is_excused_stays_excused(tmp_path: Path, roster: Roster) -> None:
    before = canvas_file(tmp_path).replace(b"Section 1,7.50,,", b"Section 1,7.50,EX,", 1)
    filled = fill_canvas(before, a_class(), ["102"], roster)
    assert filled.problems == ["s001 has EX in Canvas; the cell is left unchanged"]
    assert b"7.50,EX," in filled.files[""]


def test_a_row_that_is_there_twice_is_filled_once(tmp_path: Path, roster: Roster) -> None:
    filled = fill_canvas(canvas_file(tmp_path, ["s001", "s001"]), [grade("s001")], ["102"], roster)
    assert filled.count == 1
    assert filled.problems == ["Canvas's user 70001 is s001, who already has a row; the second one is left unchanged"]


def test_whose_written_answers_wait_is_said() -> None:
    several = [grade("s001", manual={}), grade("s002", manual={}, answered=False), grade("s003", manual={})]
    assert waiting_answers(several) == ["written answers not read yet: s001, s003"]
    assert waiting_answers(several[1:2]) == []


def test_without_a_roster_users_are_called_as_the_intake_calls_them(tmp_path: Path) -> None:
    assert fill_canvas(canvas_file(tmp_path), [grade("canvas-70003")], ["102"], None).count == 1
    assert fill_moodle(moodle_file(tmp_path), [grade("moodle-1500003")], None).count == 1


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda text: text.replace(FULL, "70.00"), f"70 points are possible in Canvas, but {POSSIBLE:g} here"),
        (lambda text: text.replace("(102)", "(103)"), "called 102; name one of: Problem set 0 (101), Problem set 1 (103)"),
        (lambda text: text.replace("(101)", "(102)"), "more than one column is called 102"),
        (lambda text: text.replace("ID", "Number", 1), "there is no column 'ID'"),
        (lambda text: text.replace(",", ";"), "separated by semicolons"),
        (lambda text: "", "there is no column 'ID'"),
        (lambda text: text + '"', "not valid CSV"),
        (lambda text: text + "x,70001\r\n", "there are 2 cells, but 7 columns"),
    ],
)  # fmt: skip
def test_a_wrong_gradebook_says_what_is_wrong(tmp_path: Path, roster: Roster, change: Any, message: str) -> None:
    text = canvas_file(tmp_path, [] if "cells" in message else STUDENTS).decode()
    with pytest.raises(ExportError) as caught:
        fill_canvas(change(text).encode(), a_class(), ["102"], roster)
    assert message in str(caught.value)


def test_a_gradebook_in_another_encoding_is_refused(roster: Roster) -> None:
    for content in ("ID,é".encode("latin-1"), "ID,x".encode("utf-16")):
        with pytest.raises(ExportError, match="not UTF-8"):
            fill_canvas(content, a_class(), ["x"], roster)


# --- Moodle


def test_moodle_gets_points_and_feedback(tmp_path: Path, roster: Roster) -> None:
    before = moodle_file(tmp_path)
    told = grade("s002", comments={WRITTEN: "=Good, but <b>x</b>"}, notes=["1 day late: 10 % a day begun, 1 points off."])
    filled = fill_moodle(before, [grade("s001"), told], roster)
    assert filled.count == 2
    assert filled.files[""].startswith(b"\xef\xbb\xbfIdentifier,")
    header, first, second, *others = rows(filled.files[""])
    assert (first[header.index("Grade")], first[header.index("Feedback comments")]) == ("3.5", "")
    feedback = second[header.index("Feedback comments")]
    assert feedback == f"{WRITTEN}: =Good, but &lt;b&gt;x&lt;/b&gt;<br>1 day late: 10 % a day begun, 1 points off."
    assert others == rows(before)[3:]
    assert filled.untouched == [f"s00{number} has no grade to enter" for number in (3, 4, 5)]


@pytest.mark.parametrize("missing", ["Feedback comments", "Grade can be changed"])
def test_a_moodle_worksheet_may_lack_what_no_grade_needs(tmp_path: Path, roster: Roster, missing: str) -> None:
    before = moodle_file(tmp_path).replace(missing.encode(), b"Something else", 1)
    filled = fill_moodle(before, [grade("s001", notes=["Late."])], roster)
    assert (filled.count, filled.problems) == (1, [])
    header, first, *others = rows(filled.files[""])
    assert first[header.index("Grade")] == "3.5"
    assert first[header.index("Something else")] == rows(before)[1][header.index("Something else")]
    assert others == rows(before)[2:]


@pytest.mark.parametrize("by", ["number", "address", "name"])
def test_moodle_students_are_found_by_number_address_or_name(tmp_path: Path, by: str) -> None:
    key = {"number": forms.moodle_id("s002"), "address": forms.email("s002"), "name": "student s002"}[by]
    assert fill_moodle(moodle_file(tmp_path), [grade("s002")], Roster(("s002",), {"moodle": {key: "s002"}})).count == 1


def test_what_a_person_wrote_in_moodle_is_left(tmp_path: Path, roster: Roster) -> None:
    before = moodle_file(tmp_path).replace(b'12:00 PM",-,\r\n', b'12:00 PM",-,well done\r\n', 1)
    filled = fill_moodle(before, [grade("s001", notes=["Late."])], roster)
    assert b"well done" in filled.files[""]
    assert filled.problems == ["s001 has feedback in Moodle; it is kept, and only the points change"]
    before = moodle_file(tmp_path).replace(b",Yes,", b",No,", 1)
    filled = fill_moodle(before, [grade("s001")], roster)
    assert filled.files[""] == before
    assert filled.problems == ["s001's grade is locked in Moodle; the row is left unchanged"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda text: text.replace("Identifier", "ID"), "there is no column 'Identifier'"),
        (lambda text: text.replace("Maximum Grade", "Grade"), "there is no column 'Grade'"),
        (lambda text: text.replace(FULL, "100.00"), "100 points are possible"),
        (lambda text: text.replace(FULL, "100\u202f00"), None),
    ],
)
def test_a_wrong_worksheet_says_what_is_wrong(tmp_path: Path, roster: Roster, change: Any, message: str | None) -> None:
    content = change(moodle_file(tmp_path).decode()).encode()
    if message is None:
        assert fill_moodle(content, a_class(), roster).count == 5
    else:
        with pytest.raises(ExportError, match=message):
            fill_moodle(content, a_class(), roster)


# --- Gradescope


def test_gradescope_results_hold_what_the_student_may_see_and_nothing_else() -> None:
    unsafe = grade("s001", output="<script>printed", notes=["1 day late."], comments={WRITTEN: "Good."})
    results = gradescope_results(unsafe, QUESTIONS)
    assert SECRET not in json.dumps(results)
    assert "extra_data" not in json.dumps(results)
    assert results["score"] == unsafe.points
    assert results["output"] == "1 day late.\n<script>printed"
    assert {results[key] for key in ("output_format", "test_output_format", "test_name_format")} == {"text"}
    first, written = results["tests"]
    assert first["output"] == "Hint: spend it all."
    assert (written["score"], written["output"]) == (1.0, "Good.")
    assert "score" not in gradescope_results(grade("s001", manual={}), QUESTIONS)["tests"][-1]


# --- the command


@pytest.fixture
def graded(tmp_path: Path) -> Path:
    """A course with two students graded, by records that are put into its journal."""
    root = tmp_path / "course"
    root.mkdir()
    shutil.copy(ROOT / "course.yml", root)
    for name in ("assignments", "solutions"):
        (root / name).symlink_to(ROOT / name)
    journal = Journal(root / "results/ps1")
    for student, points in (("s001", 3.0), ("s002", 4.0)):
        attempt = journal.add(Submission(student, "ps1.py", student.encode(), NOON))
        made_by = records.provenance(student=student, submission=attempt.sha256, suite=suite_hash(PS1))
        journal.append(attempt, record(points, answered=False, provenance=made_by))
    forms.make_roster(root, STUDENTS)
    return root


def export(root: Path, *arguments: str | Path) -> Result:
    app = typer.Typer()
    app.command()(export_command)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(root)
        return CliRunner().invoke(app, ["ps1", *map(str, arguments)])


def test_export_writes_every_form(graded: Path) -> None:
    answer = export(graded, "csv")
    assert answer.exit_code == 0, answer.stderr + answer.stdout
    assert "2 of 2 grades" in answer.stdout
    assert [row[0] for row in rows((graded / "results/ps1/exports/csv.csv").read_bytes())] == ["student", "s001", "s002"]
    roster = graded / "sections.csv"
    roster.write_text("student,section\ns001,A\ns002,B\n", encoding="utf-8")
    answer = export(graded, "csv", "--section", "B", "--roster", roster, "--to", graded / "b.csv")
    assert answer.exit_code == 0, answer.stderr
    assert [row[0] for row in rows((graded / "b.csv").read_bytes())] == ["student", "s002"]
    answer = export(graded, "gradescope", "--to", graded / "out")
    assert answer.exit_code == 0, answer.stderr
    assert json.loads((graded / "out/s002.json").read_bytes())["score"] == 4.0
    before = canvas_file(graded)
    answer = export(graded, "canvas", "--into", graded / "canvas.csv", "--column", "102", "--to", graded / "filled.csv")
    assert answer.exit_code == 0, answer.stderr
    assert "s003 has no grade to enter" in answer.stdout
    assert b"7.50,4,75.00" in (graded / "filled.csv").read_bytes()
    assert (graded / "canvas.csv").read_bytes() == before
    moodle_file(graded, ["s001"])
    answer = export(graded, "moodle", "--into", graded / "moodle.csv", "--to", graded / "filled.csv")
    assert answer.exit_code == 1
    assert "s002 has a grade, but no row" in answer.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["excel"], "there is no export 'excel'; there are canvas, gradescope, moodle, csv"),
        (["canvas"], "--into FILE is needed"),
        (["canvas", "--into", "nowhere.csv"], "nowhere.csv: No such file"),
        (["canvas", "--into", "roster.csv", "--to", "roster.csv"], "name another one"),
        (["moodle", "--into", "roster.csv"], "roster.csv: there is no column 'Identifier'"),
        (["csv", "--roster", "nowhere.csv"], "nowhere.csv: the roster cannot be read"),
        (["csv", "--results", "empty"], "no grades in"),
    ],
)
def test_export_says_what_is_wrong(graded: Path, arguments: list[str], message: str) -> None:
    answer = export(graded, *arguments)
    assert answer.exit_code == 2
    assert message in answer.stderr
    assert not (graded / "results/ps1/exports").exists()
