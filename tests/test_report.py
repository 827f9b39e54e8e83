"""The page for staff: its numbers are right, it can be sorted and read by everyone, and students' text stays text."""

from __future__ import annotations

import datetime
import json
import random
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import typer
from hypothesis import given, settings
from hypothesis import strategies as st
from markupsafe import escape
from typer.testing import CliRunner

from autograder.commands import pages
from autograder.commands.show import show
from autograder.course import load_course
from autograder.feedback.report import staff_page
from autograder.feedback.shared import pair_page
from autograder.feedback.similarity import Pair, code_of, shared_lines, similar_pairs
from autograder.feedback.statistics import FEWEST, by_question, by_test, faults, mistakes
from autograder.feedback.student import staff_folder, student_page
from autograder.grades import Grade, grades
from autograder.intake import Roster
from autograder.intake.roster import Person
from autograder.journal import Journal, Stored
from autograder.record import Look, QuestionScore, Reason
from autograder.runtime.outcomes import Status
from autograder.standing import Standing
from autograder.text import visible

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

ROOT = Path(__file__).resolve().parents[1]
COURSE = load_course(ROOT)
PS1 = COURSE.problem_set("ps1")
NOW = datetime.datetime(2026, 9, 30, tzinfo=datetime.UTC)
TEMPLATE = [(name, (ROOT / "student_template" / "ps1" / name).read_bytes()) for name in ("ps1.py", "ps1.ipynb")]
HOSTILE, MISTAKEN, NOTEBOOK = "s001", "s003", "s016"


@pytest.fixture(scope="module")
def journal(graded_for_reading: Path) -> Journal:
    return Journal(graded_for_reading / "ps1")


@pytest.fixture(scope="module")
def graded(journal: Journal) -> dict[str, Grade]:
    return {grade.student: grade for grade in grades(COURSE, PS1, journal)}


def page(journal: Journal, graded: list[Grade], pairs: list[Pair] | None = None) -> str:
    due = COURSE.listing("ps1").due
    return staff_page(
        PS1, journal, Standing("ps1", graded, ["s404"], [], []), pairs=pairs or [], discounted=True, due=due, made=NOW
    )  # fmt: skip


def changed(grade: Grade, student: str, **changes: Any) -> Grade:
    """The grade of another student, whose record differs in `changes`."""
    return replace(grade, student=student, stored=replace(grade.stored, record=replace(grade.stored.record, **changes)))


def many(grade: Grade, count: int) -> tuple[list[Grade], np.ndarray]:
    """Grades of `count` students with random points, and the points as a table, one column a question."""
    points = np.random.default_rng(1).integers(0, 3, (count, len(PS1.assignment.questions))).astype(float)
    points[:, -1] = 0  # a written answer that nobody gave

    def scored(row: np.ndarray) -> tuple[QuestionScore, ...]:
        pairs = zip(grade.stored.record.questions, row, strict=True)
        return tuple(replace(entry, score=score, undone=entry.kind == "written") for entry, score in pairs)

    return [changed(grade, f"t{place:03d}", questions=scored(row)) for place, row in enumerate(points)], points


# --- numbers


def test_costly_gradings_are_the_slowest_and_the_largest(journal: Journal, graded: dict[str, Grade]) -> None:
    # The slowest ten hold least.
    students = [
        changed(graded[MISTAKEN], f"t{place:03d}", seconds=float(place), peak_memory=(100 - place) * 10**6)
        for place in range(30)
    ]
    _, _, section = page(journal, students).partition('id="time"')
    rows = re.findall(r'<th scope="row">(t\d+)</th><td class="n">(.*?)</td><td class="n">(.*?)</td>', section)
    assert rows == [(f"t{place:03d}", f"{place:.1f}", str(100 - place)) for place in [*range(29, 19, -1), *range(9, -1, -1)]]
    assert "15.0 s in the middle, 29.0 s at most, 435 s in all" in section


def test_a_record_whose_memory_is_not_known_has_a_row_without_it(journal: Journal, graded: dict[str, Grade]) -> None:
    old = changed(graded[MISTAKEN], "t001", peak_memory=0)
    _, _, section = page(journal, [old]).partition('id="time"')
    assert re.search(r'<th scope="row">t001</th><td class="n">[\d.]+</td><td class="n"></td>', section)


def test_difficulty_and_discrimination_are_what_they_are_called(graded: dict[str, Grade]) -> None:
    students, points = many(graded[MISTAKEN], 60)
    for column, figures in enumerate(by_question(PS1, students)):
        own, rest = points[:, column], points.sum(axis=1) - points[:, column]
        assert figures.count == 60
        assert figures.mean == pytest.approx(own.mean() / figures.question.points)
        assert figures.none == (own == 0).sum()
        if figures.question.kind == "written":
            assert (figures.discrimination, figures.undone) == (None, 60)
        else:
            assert figures.discrimination == pytest.approx(np.corrcoef(own, rest)[0, 1])


@pytest.mark.parametrize(("count", "told"), [(FEWEST - 1, False), (FEWEST, True)])
def test_discrimination_is_left_out_where_it_would_be_noise(
    journal: Journal, graded: dict[str, Grade], count: int, told: bool
) -> None:
    students, _ = many(graded[MISTAKEN], count)
    assert (by_question(PS1, students)[0].discrimination is not None) == told
    assert (f"With fewer than {FEWEST} students" in page(journal, students)) != told


def test_a_written_answer_counts_once_a_person_has_read_it(graded: dict[str, Grade]) -> None:
    answered = graded[MISTAKEN]
    assert by_question(PS1, [answered])[-1].count == 0
    assert by_question(PS1, [replace(answered, manual={"causation": 2.5})])[-1].mean == 0.5


def test_pass_rates_are_of_those_for_whom_a_test_was_run(graded: dict[str, Grade]) -> None:
    first, *others = graded[MISTAKEN].stored.record.verdicts

    def ended(status: Status) -> Grade:
        verdicts = (replace(first, status=status, seconds=len(status)), *others)
        return changed(graded[MISTAKEN], status, verdicts=verdicts)

    statuses = [Status.PASSED, Status.FAILED, Status.FAILED, Status.BLOCKED, Status.FAULT]
    result = by_test(list(map(ended, statuses)))
    assert len(result) == len(others) + 1
    assert result[0].rate == pytest.approx(1 / 3)
    assert (result[0].blocked, result[0].faults, result[0].median, result[0].longest) == (1, 1, 6, 7)
    titles = [verdict.title for verdict in graded[MISTAKEN].stored.record.verdicts]
    assert [figures.title for figures in result] == titles
    assert all(titles)


def test_mistakes_are_counted_by_student_most_common_first(graded: dict[str, Grade]) -> None:
    again = [replace(graded[MISTAKEN], student=student) for student in ("s800", "s801")]
    result = mistakes([*graded.values(), *again])
    told = set(re.findall(r"Likely slip: (.*)", outputs(graded[MISTAKEN])))
    assert told
    assert told <= {mistake.hint for mistake in result}
    assert all(mistake.students for mistake in result)
    for mistake in result:
        assert ({"s003", "s800", "s801"} <= set(mistake.students)) == (mistake.hint in told)
        assert len(mistake.students) == len(set(mistake.students))
    counts = [len(mistake.students) for mistake in result]
    assert counts == sorted(counts, reverse=True)


def outputs(grade: Grade) -> str:
    return "\n".join(map(grade.stored.record.told, grade.stored.record.verdicts))


def test_faults_are_listed_and_settled_by_a_later_grading(graded: dict[str, Grade]) -> None:
    sound = graded[MISTAKEN].stored
    record = replace(sound.record, fault="Traceback\nOSError: no space")
    failed = [Stored(attempt, 1, sound.path, record) for attempt in (1, 2)]
    result = faults([("s003", [*failed, replace(sound, run=2)])])
    assert [(fault.attempt, fault.reason, fault.settled) for fault in result] == [
        (1, "OSError: no space", True),
        (2, "OSError: no space", False),
    ]


def test_the_page_holds_every_question_test_and_student_who_needs_a_person(
    journal: Journal, graded: dict[str, Grade]
) -> None:
    html = page(journal, list(graded.values()), [Pair("s003", "s016", 0.75, 0.5)])
    for question in PS1.assignment.questions:
        assert question.title in html
    assert html.count("<td>hidden</td>") == sum(verdict.hidden for verdict in graded[MISTAKEN].stored.record.verdicts)
    assert "s404" in html
    assert "75 %" in html
    assert "http" not in re.sub(r'xmlns(:xlink)?="[^"]*"|http-equiv|https://tracker.invalid', "", html)


def test_a_course_without_grades_still_has_a_page(journal: Journal) -> None:
    assert "Nothing is graded yet." in page(journal, [])


# --- shared code


def work(names: tuple[str, ...], seed: int, lines: int = 40) -> str:
    """A made-up module: random arithmetic on `names`, the same for the same seed but for the names."""
    chance = random.Random(seed)
    first, second, third = names
    body = []
    for _ in range(lines):
        called = f"np.{chance.choice(['exp', 'log', 'sqrt'])}({first})"
        left, right = (chance.choice([first, second, third, called, "2", "7"]) for _ in range(2))
        body.append(f"    {chance.choice(names)} = {left} {chance.choice('+-*/@')} {right}")
    return "\n".join([f"def answer_{seed}({first}, {second}, {third}):", *body, f"    return {first}", ""])


def notebook(*cells: str) -> bytes:
    code = [{"cell_type": "code", "source": cell.splitlines(keepends=True), "outputs": []} for cell in cells]
    return json.dumps({"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": code}).encode()


def module(text: str) -> tuple[str, bytes]:
    return "ps1.py", text.encode()


def test_a_renamed_copy_is_found_across_forms_and_independent_work_is_not() -> None:
    names, renamed = ("scores", "mask", "total"), ("a", "b", "c")
    copied = work(renamed, 1).replace("\n    ", "\n    # a remark of my own\n    ")
    given = TEMPLATE[0][1].decode()
    result = similar_pairs(
        {
            "s001": module(given + work(names, 1)),
            "s002": ("ps1.ipynb", notebook(given, copied)),
            "s003": module(given + work(names, 2)),
            "s004": TEMPLATE[0],
            "s005": TEMPLATE[1],
        },
        TEMPLATE,
    )
    assert [(pair.one, pair.other) for pair in result] == [("s001", "s002")]
    assert result[0].share > 0.9


def test_shared_code_stands_side_by_side_and_is_only_text(browser: Browser) -> None:
    given = TEMPLATE[0][1].decode()
    hostile = "note = '</span></pre><script>window.hurt = 1</script><img src=x onerror=window.hurt=1>\u202e'\n"
    one = module(given + hostile + work(("scores", "mask", "total"), 1))
    other = "ps1.ipynb", notebook(given, work(("a", "b", "c"), 1))
    (pair,) = similar_pairs({"s001": one, "s002": other}, TEMPLATE)
    lines = shared_lines(one, other, TEMPLATE)
    texts = code_of(*one), code_of(*other)
    assert [len(own) for own in lines] == [len(work(("a", "b", "c"), 1).strip().splitlines())] * 2
    made = datetime.datetime(2026, 10, 1, tzinfo=datetime.UTC)
    for scheme, width in (("light", 1280), ("dark", 360)):
        window = browser.new_context(color_scheme=scheme, viewport={"width": width, "height": 740}, bypass_csp=True)
        with window:
            page = window.new_page()
            page.set_content(pair_page(PS1.assignment, pair, texts, lines, made=made, report="report.html"))
            assert page.evaluate("window.hurt") is None
            assert page.locator("script, img").count() == 0
            assert "\u202e" not in page.content()
            assert page.evaluate("document.documentElement.scrollWidth") <= width
            marked = page.locator("section").first.locator("mark")
            assert [int(str(line.get_attribute("data-n"))) for line in marked.all()] == sorted(lines[0])
            axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe-playwright-python is missing")
            assert axe.Axe().run(page).response["violations"] == []


def test_without_the_template_its_own_code_counts() -> None:
    sources = {"s001": TEMPLATE[0], "s002": TEMPLATE[0]}
    assert similar_pairs(sources, TEMPLATE) == []
    assert len(similar_pairs(sources, [])) == 1


def test_what_half_the_class_wrote_is_no_finding_but_a_pair_in_it_is() -> None:
    names = ("x", "y", "z")
    sources = {f"s{place:03d}": module(work(names, 0) + work(names, place + 1)) for place in range(40)}
    assert similar_pairs(sources, []) == []
    sources["s039"] = sources["s038"]
    assert [(pair.one, pair.other) for pair in similar_pairs(sources, [])] == [("s038", "s039")]


hostile_files = st.tuples(st.sampled_from(["ps1.py", "ps1.ipynb"]), st.binary(max_size=200)) | st.sampled_from(
    [
        ("ps1.ipynb", b"[" * 100_000),
        ("ps1.ipynb", b'{"nbformat": 4, "cells": [{"cell_type": "code", "source": [1]}]}'),
        ("ps1.ipynb", b'{"nbformat": 4, "cells": 3}'),
        ("ps1.ipynb", b"1" * 5000),
        ("ps1.py", b'"""' * 20_000 + b"\\"),
        ("ps1.py", b"import os; os.abort()\n" * 50),
    ]
)


@given(st.lists(hostile_files, max_size=4))
@settings(max_examples=40)
def test_any_bytes_can_be_compared_and_the_order_does_not_matter(files: list[tuple[str, bytes]]) -> None:
    sources = {f"s{place}": file for place, file in enumerate(files)}
    result = similar_pairs(sources, TEMPLATE[:1])
    assert result == similar_pairs(dict(reversed(sources.items())), TEMPLATE[:1])
    assert all(0.5 <= pair.share <= 1 for pair in result)


# --- in a browser


@pytest.fixture
def opened(browser: Browser, tmp_path: Path, journal: Journal, graded: dict[str, Grade]) -> Callable[..., Page]:
    """Opens the page of many students and a hostile one."""

    attacks = ("</script><script>window.hurt = 1; alert(1)</script>", "<img src=x onerror=alert(1)>")
    look = (*graded[HOSTILE].stored.record.look, *(Look(Reason.PROBLEM, attack) for attack in attacks))
    students, _ = many(graded[MISTAKEN], 25)
    html = page(journal, [*students, graded[NOTEBOOK], changed(graded[HOSTILE], HOSTILE, look=look)])
    path = tmp_path / "report.html"
    path.write_text(html, encoding="utf-8")

    def open_page(*, width: int = 1200, scheme: Any = "light", bypass_csp: bool = False) -> Page:
        view: Any = {"width": width, "height": 800}
        opened = browser.new_page(viewport=view, color_scheme=scheme, bypass_csp=bypass_csp)
        opened.goto(path.as_uri())
        return opened

    return open_page


def test_tables_are_sorted_by_keyboard_and_say_how(opened: Callable[..., Page]) -> None:
    view = opened()
    table = view.get_by_role("region", name="Questions, table").locator("table")
    header = table.locator("th", has_text="mean share")

    def shares() -> list[int]:
        cells = table.locator("tbody tr td:nth-child(6)").all_inner_texts()
        return [int(cell.split()[0]) for cell in cells]

    unsorted = shares()
    assert header.get_attribute("aria-sort") == "none"
    header.locator("button").focus()
    view.keyboard.press("Enter")
    assert (header.get_attribute("aria-sort"), shares()) == ("ascending", sorted(unsorted))
    view.keyboard.press("Space")
    assert (header.get_attribute("aria-sort"), shares()) == ("descending", sorted(unsorted, reverse=True))
    assert table.locator("th[aria-sort=ascending]").count() == 0
    view.context.close()


def test_only_the_pages_own_script_runs(opened: Callable[..., Page]) -> None:
    view = opened()
    assert view.locator("script").count() == 1
    assert view.locator("button").count() > 20
    assert view.evaluate("window.hurt") is None
    refused = []
    view.on("console", lambda message: refused.append(message.text))
    view.evaluate("document.body.append(Object.assign(document.createElement('script'), {textContent: 'window.hurt = 1'}))")
    assert view.evaluate("window.hurt") is None
    assert "Content Security Policy" in refused[0]
    view.context.close()


@pytest.mark.parametrize(("width", "scheme"), [(1200, "light"), (360, "dark")])
def test_the_page_is_for_every_reader(opened: Callable[..., Page], width: int, scheme: str) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe-playwright-python (extra dev) is missing")
    view = opened(width=width, scheme=scheme, bypass_csp=True)
    assert view.evaluate("document.documentElement.scrollWidth") == width
    assert axe.Axe().run(view).response["violations"] == []
    view.context.close()


# --- a page per student


def own_page(journal: Journal, grade: Grade) -> str:
    person = Person("Full <b>Name</b>", "A")
    return student_page(PS1, journal, grade.student, grade, person, made=NOW, report="report.html")


def test_a_students_page_shows_the_code_beside_all_that_staff_may_read(journal: Journal, graded: dict[str, Grade]) -> None:
    html = own_page(journal, graded[MISTAKEN])
    record = graded[MISTAKEN].stored.record
    hidden = [
        verdict for verdict in record.verdicts if verdict.hidden and verdict.status is Status.FAILED and verdict.message
    ]
    assert hidden
    assert all(str(escape(verdict.message)) in html for verdict in hidden)
    assert all(str(escape(slip.mutant)) in html for question in record.questions for slip in question.slips)
    # Each line of the file once, with its number.
    source = journal.source(graded[MISTAKEN].attempt).decode().splitlines()
    numbers = [int(number) for number in re.findall(r'data-n="(\d+)"', html)]
    assert len(numbers) == len(set(numbers))
    assert {number for number, line in enumerate(source, start=1) if line.strip()} <= set(numbers)
    assert f"../report.html#student-{MISTAKEN}" in html


@pytest.mark.parametrize(("width", "scheme"), [(1200, "light"), (360, "dark")])
def test_a_students_page_is_for_every_reader_and_obeys_nobody(
    journal: Journal, graded: dict[str, Grade], browser: Browser, tmp_path: Path, width: int, scheme: Any
) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe-playwright-python (extra dev) is missing")
    path = tmp_path / "s001.html"
    path.write_text(own_page(journal, graded[HOSTILE]), encoding="utf-8")
    view = browser.new_page(viewport={"width": width, "height": 800}, color_scheme=scheme, bypass_csp=True)
    requests: list[str] = []
    view.on("request", lambda request: requests.append(request.url))
    view.goto(path.as_uri())
    assert requests == [path.as_uri()]
    assert view.evaluate("window.hurt") is None
    assert view.locator("script, iframe, img, b").count() == 0
    assert view.evaluate("document.documentElement.scrollWidth") == width
    assert axe.Axe().run(view).response["violations"] == []
    view.context.close()


def test_pages_for_staff_never_lie_where_students_pages_are(tmp_path: Path) -> None:
    assert staff_folder(tmp_path / "report.html") == tmp_path / "staff"
    with pytest.raises(ValueError, match="whose pages go to students"):
        staff_folder(tmp_path / "feedback" / "report.html")


def test_everybody_of_the_roster_is_in_the_report(journal: Journal, graded: dict[str, Grade]) -> None:
    people = {HOSTILE: Person("One", "A"), MISTAKEN: Person("Other", "B"), "s900": Person("Third", "B")}
    roster = Roster((HOSTILE, MISTAKEN, "s900"), people=people)
    standing = Standing("ps1", list(graded.values()), ["s404"], ["s900"], [NOTEBOOK])
    due = COURSE.listing("ps1").due
    html = staff_page(
        PS1, journal, standing, roster=roster, pairs=[], discounted=True, due=due, made=NOW, linked=list(graded)
    )  # fmt: skip
    rows = {
        student: re.sub(r"<[^>]+>|\s+", " ", row)
        for student, row in re.findall(r'(?s)<tr id="student-(\w+)">(.*?)</tr>', html)
    }
    assert rows.keys() == {*graded, "s404", "s900"}
    assert "nothing handed in" in rows["s900"]
    assert "Third" in rows["s900"]
    assert "not graded" in rows["s404"]
    assert graded[MISTAKEN].in_words in rows[MISTAKEN]
    assert html.count(f'<a href="staff/{MISTAKEN}.html">') >= 2
    assert "By section" in html


def test_intervals_are_those_of_the_textbook(graded: dict[str, Grade]) -> None:
    students, points = many(graded[MISTAKEN], 60)
    figures = by_question(PS1, students)[1]
    shares = points[:, 1] / figures.question.points
    half = 1.96 * shares.std(ddof=1) / np.sqrt(60)
    assert figures.interval == pytest.approx((shares.mean() - half, shares.mean() + half))
    assert figures.discrimination is not None
    assert figures.discrimination_interval == pytest.approx(
        np.tanh(np.arctanh(figures.discrimination) + np.array([-1.96, 1.96]) / np.sqrt(57))
    )


# --- the command


def test_show_says_why_points_were_lost(
    graded_for_reading: Path, graded: dict[str, Grade], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    app = typer.Typer()
    app.command()(show)
    arguments = [MISTAKEN, "ps1", "--results", str(graded_for_reading)]
    text = " ".join(CliRunner().invoke(app, [*arguments, "--code"]).output.split())
    record = graded[MISTAKEN].stored.record
    failed = [verdict for verdict in record.verdicts if verdict.status is Status.FAILED]
    assert all(verdict.test in text and " ".join(visible(verdict.message).split()) in text for verdict in failed)
    assert graded[MISTAKEN].in_words in text
    assert "def softmax(" in text
    plain = json.loads(CliRunner().invoke(app, [*arguments, "--json"]).stdout)
    assert (plain["student"], plain["problem_sets"][0]["grade"]["points"]) == (MISTAKEN, graded[MISTAKEN].points)
    nobody = CliRunner().invoke(app, ["s999", "ps1", "--results", str(graded_for_reading)])
    assert (nobody.exit_code, "no attempt of s999 at ps1" in nobody.output) == (2, True)


def test_an_anonymous_report_names_nobody(graded_for_reading: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    app = typer.Typer()
    app.command()(pages.report)
    roster, path = tmp_path / "roster.csv", tmp_path / "anonymous.html"
    roster.write_text(
        "student,name,section\ns001,Full Name,A\ns002,,\ns003,,\ns016,,\ns900,Other Name,B\n", encoding="utf-8"
    )
    options = ["--anonymous", "--roster", str(roster), "--to", str(path), "--results", str(graded_for_reading)]
    done = CliRunner().invoke(app, ["ps1", *options])
    assert done.exit_code == 0, done.output
    text = path.read_text(encoding="utf-8")
    called = re.findall(r'<tr><th scope="row">(student \d)</th>\s*<td', text)
    assert sorted(set(called)) == [f"student {number}" for number in range(1, 6)]
    for word in ("s001", "s002", "s003", "s016", "s900", "Full Name", "Other Name", 'href="staff'):
        assert word not in text
    assert not list(tmp_path.glob("staff/*"))


def test_the_command_writes_the_page(graded_for_reading: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    app = typer.Typer()
    app.command()(pages.report)
    path = tmp_path / "report.html"
    done = CliRunner().invoke(app, ["ps1", "--results", str(graded_for_reading), "--to", str(path)])
    assert done.exit_code == 0, done.output
    text = path.read_text(encoding="utf-8")
    assert "4 graded" in text
    links = set(re.findall(r'href="(staff/[^"]+)"', text))
    assert len(links) == 4
    assert all((tmp_path / link).is_file() for link in links)
    empty = CliRunner().invoke(app, ["ps1", "--results", str(tmp_path)])
    assert (empty.exit_code, "course grade ps1 FOLDER" in empty.output.replace("\n", " ")) == (2, True)
