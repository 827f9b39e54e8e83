"""The page a student reads: all they need, nothing hidden, and nothing of theirs that could act."""

from __future__ import annotations

import base64
import datetime
import json
import math
import re
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable, Iterator
from dataclasses import fields, replace
from html.parser import HTMLParser
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import typer
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from autograder import figure_record
from autograder.assignment import Explanation
from autograder.commands import pages
from autograder.course import load_course
from autograder.feedback.drawing import description, image_source
from autograder.feedback.html import with_code
from autograder.feedback.page import student_page
from autograder.grades import Grade, grades
from autograder.journal import Journal
from autograder.record import Look, Provenance, Reason, Slip
from autograder.runtime.figures import AxesView, ColorbarView, FigureView, ImageView, LineView
from autograder.runtime.outcomes import Status
from autograder.text import visible

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

ROOT = Path(__file__).resolve().parents[1]
COURSE = load_course(ROOT)
PS1 = COURSE.problem_set("ps1")
NOW = datetime.datetime(2026, 9, 30, tzinfo=datetime.UTC)
HOSTILE, SECRETIVE, MISTAKEN, NOTEBOOK = STUDENTS = "s001", "s002", "s003", "s016"


@pytest.fixture(scope="module")
def graded(graded_for_reading: Path) -> dict[str, Grade]:
    return {grade.student: grade for grade in grades(COURSE, PS1, Journal(graded_for_reading / "ps1"))}


class Reader(HTMLParser):
    """What a page's reader sees as text, and all tags with their attributes."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.parts: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.feed(page)
        self.text = re.sub(r"\s+", " ", "".join(self.parts))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.parts.append(data)


def read(grade: Grade, **options: Any) -> Reader:
    return Reader(student_page(PS1, grade, made=NOW, **options))


def squeezed(text: str) -> str:
    """A text as `Reader.text` shows it: code marks are set as code, and white space is one blank."""
    return re.sub(r"\s+", " ", visible(text)).strip()


# --- what it says


def test_the_page_says_points_outcomes_and_reasons(graded: dict[str, Grade]) -> None:
    grade = graded[MISTAKEN]
    page = read(grade)
    assert grade.in_words in page.text
    record = grade.stored.record
    for question in record.questions:
        assert question.title in page.text
        if question.kind != "written":
            assert f"{question.id}: {question.score:g} of {question.points:g} point" in page.text
    words = {"passed": "✓ passed: ", "failed": "✗ not passed: ", "blocked": "– not run: "}
    seen = set()
    for verdict in record.verdicts:
        title = squeezed(verdict.title.replace("`", ""))
        # Of a prediction, the page gives the prediction itself back.
        if PS1.question(verdict.question).kind != "prediction" or verdict.status is not Status.PASSED:
            assert words[verdict.status] + title in page.text
        told = record.told(verdict).splitlines()[bool(verdict.blame) :]
        for line in filter(None, [verdict.blame, verdict.followed, *told]):
            seen.add(line.partition(": ")[0])
            assert squeezed(line) in page.text or squeezed(line.replace("`", "")) in page.text
    assert {"Hint", "Likely slip"} <= seen
    assert "1 (ps1.py)" in page.text
    assert "version " + PS1.assignment.version in page.text


def test_passed_tests_are_folded_away_and_others_are_not(graded: dict[str, Grade]) -> None:
    page = student_page(PS1, graded[MISTAKEN], made=NOW)
    folded = "".join(re.findall(r"<details>.*?</details>", page, re.DOTALL))
    assert '<li class="failed">' in page
    assert '<li class="failed">' not in folded
    assert page.count('<li class="passed">') == folded.count('<li class="passed">') > 0


def test_what_a_student_printed_and_what_stopped_their_file_is_shown(graded: dict[str, Grade]) -> None:
    record = graded[HOSTILE].stored.record
    page = read(graded[HOSTILE])
    assert record.output
    assert squeezed(record.output) in page.text
    assert squeezed(record.problems[0]) in page.text


@pytest.mark.parametrize(("filename", "nothing_ran"), [("ps1.py", True), ("ps1.ipynb", False)])
def test_a_syntax_error_leaves_nothing_of_a_module_and_the_other_cells_of_a_notebook(
    graded: dict[str, Grade], filename: str, nothing_ran: bool
) -> None:
    stored = graded[MISTAKEN].stored
    problem = "SyntaxError: '(' was never closed (in Python 3.11) (line 3: f(1)"
    provenance = replace(stored.record.provenance, filename=filename)
    record = replace(stored.record, provenance=provenance, problems=(problem,))
    page = read(replace(graded[MISTAKEN], stored=replace(stored, record=record)))
    assert ("nothing in it was run" in page.text) == nothing_ran
    assert ("All that was still defined counted" in page.text) != nothing_ran


def test_an_unread_answer_has_no_points_yet_and_a_read_one_has_points_and_comment(graded: dict[str, Grade]) -> None:
    grade = graded[MISTAKEN]
    answer = squeezed(grade.stored.record.questions[-1].answer)
    unread = read(grade)
    assert f"{grade.in_words} One written answer awaits grading" in unread.text
    assert "a person has not read this yet, up to 5 points" in unread.text
    assert answer in unread.text
    marked = replace(grade, manual={"causation": 3.5}, comments={"causation": "Say what you <would> measure."})
    page = read(marked)
    assert "to be read" not in page.text
    assert "causation: 3.5 of 5 points" in page.text
    assert "Say what you <would> measure." in page.text
    assert answer in page.text


def test_points_of_a_person_in_place_of_the_tests_are_named_as_such(graded: dict[str, Grade]) -> None:
    page = read(replace(graded[MISTAKEN], manual={"mix": 3.0}))
    assert "mix: 3 of 3 points" in page.text
    assert page.text.count("A person gave these points, in place of those of the tests.") == 1


def test_what_lateness_cost_is_said(graded: dict[str, Grade]) -> None:
    note = "2 days late: 10 % a day begun, 5 points off."
    page = read(replace(graded[MISTAKEN], points=20.0, penalty=5.0, days_late=1.5, notes=[note]))
    assert note in page.text
    assert "25 points earned, 5 taken off for lateness." in page.text


def test_explanations_appear_only_when_nothing_can_be_earned_any_more(graded: dict[str, Grade]) -> None:
    told = "Because *each row* sums to `1`, and <b>nothing</b> else ![x](https://example.org/x.png)."
    questions = PS1.assignment.questions
    explained = replace(PS1, explanations={question.id: Explanation(told, "Or *otherwise*.") for question in questions})
    hour = datetime.timedelta(hours=1)
    for closes, shown in ((None, False), (NOW + hour, False), (NOW, False), (NOW - hour, True)):
        page = Reader(student_page(explained, graded[MISTAKEN], made=NOW, closes=closes))
        assert ("Because each row sums to 1" in page.text) == shown
        assert ("Or otherwise." in page.text) == shown
        assert (squeezed(PS1.model_answers()["causation"])[:200] in page.text) == shown
        assert all(squeezed(item.text) in page.text for item in PS1.question("causation").rubric)
        assert [tag for tag, _ in page.tags].count("em") == (2 * len(questions) if shown else 0)
        assert all(attributes["src"].startswith("data:") for tag, attributes in page.tags if tag == "img")  # type: ignore[union-attr]
    assert "<b>nothing</b>" in page.text


# --- what it does not say


def test_no_message_of_a_hidden_test_is_on_a_page(graded: dict[str, Grade]) -> None:
    checked = 0
    for grade in graded.values():
        page = read(grade)
        # What public tests or the loading said as well is no secret.
        record = grade.stored.record
        shown = "\n".join(map(record.told, record.verdicts))
        for verdict in record.verdicts:
            message = verdict.message
            if verdict.hidden and message and message not in shown:
                checked += 1
                assert squeezed(message) not in page.text
    assert checked > 20


@given(secret=st.text(st.characters(categories=["L", "N"]), min_size=8, max_size=30).map("secret-{}-".format))
@settings(max_examples=15)
def test_nothing_that_is_for_staff_reaches_a_page(graded: dict[str, Grade], secret: str) -> None:
    """Every field that is not the student's to read is replaced by a secret, in every record."""
    for grade in graded.values():
        record = grade.stored.record
        verdicts = [
            replace(verdict, test=secret, uses=(secret,), message=secret if verdict.hidden else verdict.message)
            for verdict in record.verdicts
        ]
        secrets = dict.fromkeys((field.name for field in fields(record.provenance)), secret)
        hidden = replace(
            record,
            verdicts=tuple(verdicts),
            provenance=Provenance(**{**secrets, "version": "1.0.0"}),
            staff_output=secret,
            look=(Look(Reason.STOPPED, secret),),
            figures={},
        )
        page = student_page(PS1, replace(grade, stored=replace(grade.stored, record=hidden)), made=NOW)
        assert secret not in page


# --- nothing of theirs acts


@given(attack=st.text(max_size=60) | st.sampled_from(["<script>", "{{ 1/0 }}", "{% for %}", "'\"><", "\ud800", "&amp;"]))
@settings(max_examples=20)
def test_any_text_of_a_student_stays_text(graded: dict[str, Grade], attack: str) -> None:
    record = graded[MISTAKEN].stored.record
    marked = f"[{attack}]"
    *others, written = record.questions
    first, second, *rest = record.verdicts
    attacked = replace(
        record,
        output=marked,
        problems=(marked,),
        figures={},
        questions=(*others, replace(written, answer=marked)),
        verdicts=(
            replace(first, status=Status.FAILED, message=marked, hint="", slip=""),
            replace(second, status=Status.FAILED, message="", hint=marked, slip="attack"),
            *rest,
        ),
    )
    slips = (Slip("attack", marked),)
    questions = [
        replace(question, slips=slips) if question.id == second.question else question for question in attacked.questions
    ]
    stored = replace(graded[MISTAKEN].stored, record=replace(attacked, questions=tuple(questions)))
    page = read(replace(graded[MISTAKEN], stored=stored))
    page_text = "".join(page.parts)
    page_text.encode()
    # In hints, marks of code become code.
    assert page_text.count(visible(marked)) == (4 if "<code>" in with_code(marked) else 6)
    assert not {"script", "img", "iframe", "object", "svg", "form"} & {tag for tag, _ in page.tags}
    assert not [name for _, attributes in page.tags for name in attributes if name.startswith("on")]


def test_the_page_needs_nothing_from_elsewhere_and_forbids_it(graded: dict[str, Grade]) -> None:
    for grade in graded.values():
        page = read(grade)
        sources = [value for _, attributes in page.tags for name, value in attributes.items() if name in ("src", "href")]
        assert all(value and value.startswith(("data:image/svg+xml;base64,", "#")) for value in sources)
        assert not {"script", "link", "iframe", "object", "form"} & {tag for tag, _ in page.tags}
        policies = [attributes["content"] for _, attributes in page.tags if "http-equiv" in attributes]
        assert len(policies) == 1
        assert policies[0] is not None
        assert policies[0].startswith("default-src 'none'; style-src 'unsafe-inline'; img-src data:")


Opened = Callable[..., "Page"]


@pytest.fixture
def opened(browser: Browser, tmp_path: Path) -> Iterator[Opened]:
    """Opens a page in a fresh window, and fails if it asks, requests or runs anything."""
    contexts = []
    happened: list[str] = []

    def open_page(html: str, *, width: int = 360, scheme: str = "light", bypass_csp: bool = False) -> Page:
        path = tmp_path / "page.html"
        path.write_text(html, encoding="utf-8")
        context = browser.new_context(
            viewport={"width": width, "height": 740},
            color_scheme=scheme,
            bypass_csp=bypass_csp,  # type: ignore[arg-type]
        )
        contexts.append(context)
        page = context.new_page()
        page.on("dialog", lambda dialog: (happened.append(f"dialog {dialog.message}"), dialog.dismiss()))
        page.on("request", lambda request: happened.append(request.url))
        page.on("console", lambda message: happened.append(message.text))
        page.goto(path.as_uri())
        happened[:] = [url for url in happened if url != path.as_uri() and not url.startswith("data:image/svg+xml")]
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert happened == []


def test_a_hostile_submission_does_nothing_in_a_browser(graded: dict[str, Grade], opened: Opened) -> None:
    html = student_page(PS1, graded[HOSTILE], made=NOW)
    assert html.count("window.hurt") > 10
    # Without the page's own policy too: escaping has to be enough.
    for bypass_csp in (False, True):
        page = opened(html, bypass_csp=bypass_csp)
        for summary in page.locator("summary").all():
            summary.click()
        assert page.evaluate("window.hurt") is None
        assert page.title() == f"ps1: feedback for {HOSTILE}"
        assert page.locator("script, a[href^='javascript'], [onerror], [onload], [onclick]").count() == 0
        assert page.evaluate("[...document.images].every(image => image.complete && image.naturalWidth > 0)")
        assert "49" not in page.locator("blockquote").first.inner_text()


@pytest.mark.parametrize(("student", "scheme"), [(HOSTILE, "light"), (NOTEBOOK, "dark")])
def test_the_page_fits_a_phone_and_every_reader(graded: dict[str, Grade], opened: Opened, student: str, scheme: str) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe-playwright-python (extra dev) is missing")
    page = opened(student_page(PS1, graded[student], made=NOW), scheme=scheme, bypass_csp=True)
    page.evaluate("document.querySelectorAll('details').forEach(one => { one.open = true; })")
    assert page.evaluate("document.documentElement.scrollWidth") == 360
    assert axe.Axe().run(page).response["violations"] == []


def test_the_keyboard_reaches_the_questions_first_and_opens_what_is_folded(graded: dict[str, Grade], opened: Opened) -> None:
    page = opened(student_page(PS1, graded[MISTAKEN], made=NOW))
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to the questions"
    assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"
    page.locator("summary").first.focus()
    page.keyboard.press("Enter")
    assert page.locator("details").first.get_attribute("open") is not None


# --- figures


def svg(source: str) -> ElementTree.Element:
    return ElementTree.fromstring(base64.b64decode(source.removeprefix("data:image/svg+xml;base64,")))


def texts(drawing: ElementTree.Element) -> list[str]:
    return ["".join(element.itertext()) for element in drawing.iter("{http://www.w3.org/2000/svg}text")]


def test_a_figure_of_a_public_test_is_drawn_again(graded: dict[str, Grade]) -> None:
    plain = graded[NOTEBOOK].stored.record.figures
    assert list(plain) == ["heatmap"]
    images = [attributes for tag, attributes in read(graded[NOTEBOOK]).tags if tag == "img"]
    assert len(images) == 1
    assert images[0]["alt"]
    drawn = texts(svg(images[0]["src"] or ""))
    for _, label in plain["heatmap"]["axes"][0]["xticks"]:
        assert label in drawn


def test_a_figure_of_a_hidden_test_is_not_kept(graded: dict[str, Grade]) -> None:
    record = graded[SECRETIVE].stored.record
    assert Status.FAILED in {verdict.status for verdict in record.verdicts_of("heatmap")}
    assert record.figures == {}


def test_a_hostile_figure_is_text_and_shapes(graded: dict[str, Grade]) -> None:
    view = figure_record.from_json(graded[HOSTILE].stored.record.figures["heatmap"])
    drawing = svg(image_source(view))
    kinds = {element.tag.rpartition("}")[2] for element in drawing.iter()}
    assert not kinds & {"script", "a", "foreignObject", "animate", "set"}
    for element in drawing.iter():
        for name, value in element.attrib.items():
            assert not name.startswith("on")
            assert not name.endswith("href") or value.startswith(("#", "data:image/png"))
    assert any("<script>" in text for text in texts(drawing))
    assert "\x1b" not in description(view) + "".join(texts(drawing))


words = st.text(max_size=12) | st.sampled_from(["$\\frac{$", "$x$", "\x00", "<b>", "\\", "%s", "\n", "\u202e"])
numbers = st.floats(allow_nan=True, allow_infinity=True, width=64)
lists = st.lists(numbers, min_size=1, max_size=4).map(np.array)
pairs = st.tuples(numbers, numbers)
ticks = st.lists(st.tuples(numbers, words), max_size=4)
scales = st.sampled_from(["linear", "log", "symlog", "nonsense"])
lines = st.integers(0, 5).flatmap(
    lambda size: st.builds(
        LineView,
        x=st.lists(numbers, min_size=size, max_size=size).map(np.array),
        y=st.lists(numbers, min_size=size, max_size=size).map(np.array),
        label=words,
        linestyle=st.sampled_from(["-", "--", "None", "nonsense"]),
        marker=st.sampled_from(["o", "$\\frac{$", "None", "nonsense"]),
    )
)


@st.composite
def images(draw: st.DrawFn) -> ImageView:
    x, y = draw(lists), draw(lists)
    cells = np.array(draw(st.lists(numbers, min_size=x.size * y.size, max_size=x.size * y.size))).reshape(y.size, x.size)
    cmap = draw(st.sampled_from(["Greys", "viridis", "nonsense"]))
    return ImageView(cells, x, y, draw(numbers), draw(numbers), cmap, "high", False)


axes = st.builds(
    AxesView, title=words, xlabel=words, ylabel=words, xlim=pairs, ylim=pairs, xscale=scales, yscale=scales,
    xticks=ticks, yticks=ticks, images=st.lists(images(), max_size=2), lines=st.lists(lines, max_size=2),
    texts=st.lists(words, max_size=2), legend=st.lists(words, max_size=2),
)  # fmt: skip
bars = st.builds(ColorbarView, label=words, vmin=numbers, vmax=numbers)
figures = st.builds(FigureView, title=words, axes=st.lists(axes, max_size=2), colorbars=st.lists(bars, max_size=2))


def same_shape(value: Any, other: Any) -> bool:
    """Whether the other view is the one as a record keeps it: its numbers rounded, its texts visible."""
    if isinstance(value, bool):
        return value is other
    if isinstance(value, float):
        return math.isclose(value, other, rel_tol=1e-6) or (math.isnan(value) and math.isnan(other))
    if isinstance(value, np.ndarray):
        return value.shape == other.shape and all(map(same_shape, value.ravel().tolist(), other.ravel().tolist()))
    if isinstance(value, list | tuple):
        return len(value) == len(other) and all(map(same_shape, value, other))
    if isinstance(value, str):
        return visible(value) == other
    return all(same_shape(item, vars(other)[name]) for name, item in vars(value).items())


@given(figures)
@settings(max_examples=40)
def test_a_figure_survives_the_record(view: FigureView) -> None:
    text = json.dumps(figure_record.to_json(view), allow_nan=False)
    assert same_shape(view, figure_record.from_json(json.loads(text)))


@given(figures)
@settings(max_examples=10, phases=(Phase.generate,))  # a drawing takes long, and shrinking draws hundreds
def test_any_figure_gives_a_picture_or_none_and_never_an_error(view: FigureView) -> None:
    source = image_source(view)
    if source:
        assert svg(source).tag.endswith("svg")
    assert "\x00" not in description(view)


def test_an_ordinary_figure_keeps_its_values_places_and_labels() -> None:
    grid = ImageView(np.eye(2), np.arange(2.0), np.arange(2.0), 0.0, 1.0, "Greys", "high", False)
    labels = [(0.0, "one"), (1.0, "$x^2$")]
    panel = AxesView("title", "across", "down", (-0.5, 1.5), (1.5, -0.5), xticks=labels, yticks=labels, images=[grid])
    view = FigureView("whole", [panel], [ColorbarView("weight", 0.0, 1.0)])
    drawn = texts(svg(image_source(view)))
    assert {"whole", "title", "across", "down", "one", "$x^2$", "weight"} <= set(drawn)
    assert image_source(view) == image_source(view)


@pytest.mark.parametrize("unknown", [{"marker": "$x$"}, {"marker": "$\\frac{$"}, {"linestyle": "nonsense"}])
def test_a_line_of_an_unknown_kind_is_drawn_as_a_plain_one(unknown: dict[str, str]) -> None:
    def drawn(line: LineView) -> str:
        return image_source(FigureView(axes=[AxesView(lines=[line])]))

    plain = LineView(np.arange(3.0), np.arange(3.0), "kind", "-", "None")
    assert drawn(replace(plain, **unknown)) == drawn(plain) != ""


def test_a_figure_of_too_much_data_is_not_kept_and_the_page_says_so(graded: dict[str, Grade]) -> None:
    line = LineView(np.random.default_rng(1).normal(size=20_000), np.zeros(20_000), "", "-", "None")
    assert figure_record.to_json(FigureView(axes=[AxesView(lines=[line])])) is None
    stored = graded[NOTEBOOK].stored
    for broken, said in ((None, "too much data"), ({"title": 1}, "cannot be shown here")):
        record = replace(stored.record, figures={"heatmap": broken})
        page = read(replace(graded[NOTEBOOK], stored=replace(stored, record=record)))
        assert said in page.text
        assert not [tag for tag, _ in page.tags if tag == "img"]


# --- the command


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    app = typer.Typer()
    app.command()(pages.feedback)
    app.command()(pages.report)
    monkeypatch.chdir(ROOT)
    return lambda *arguments: CliRunner().invoke(app, list(map(str, arguments)))


def test_the_command_writes_a_page_a_student(graded_for_reading: Path, tmp_path: Path, run: Callable[..., Any]) -> None:
    done = run("feedback", "ps1", "--results", graded_for_reading, "--to", tmp_path)
    assert done.exit_code == 0, done.output
    assert sorted(path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*.html")) == [
        f"{student}/ps1.html" for student in STUDENTS
    ]


def test_the_command_writes_only_whom_it_is_asked_for_beside_the_records(
    graded_for_reading: Path, run: Callable[..., Any]
) -> None:
    assert run("feedback", "ps1", "--results", graded_for_reading, "--only", MISTAKEN).exit_code == 0
    assert [path.parent.name for path in (graded_for_reading / "ps1" / "feedback").rglob("*.html")] == [MISTAKEN]
    assert Journal(graded_for_reading / "ps1").students() == list(STUDENTS)


def test_wrong_use_of_the_command_says_what_to_do(graded_for_reading: Path, tmp_path: Path, run: Callable[..., Any]) -> None:
    missing = run("feedback", "ps1", "--results", graded_for_reading, "--only", "s999")
    assert (missing.exit_code, "no grade of s999" in missing.output) == (2, True)
    empty = run("feedback", "ps1", "--results", tmp_path)
    assert (empty.exit_code, "course grade ps1 FOLDER" in empty.output) == (2, True)
