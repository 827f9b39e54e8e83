"""The page on which written answers are read, in a browser, and what attacks it from other pages."""

from __future__ import annotations

import functools
import http.client
import json
import shutil
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

pytest.importorskip("nbgrader", reason="needs the extra `grader`")

from autograder.course import load_course
from autograder.gradebook import give, gradebook_url, manual_scores, sync
from autograder.grades import Manual, grades
from autograder.intake import Submission
from autograder.journal import Journal
from autograder.reading import essays
from autograder.reading.desk import Desk, version
from autograder.reading.server import MOST_BODY, ReadingServer
from tests.support import records

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

COURSE = load_course(Path(__file__).resolve().parents[1])
PS1 = COURSE.problem_set("ps1")
ESSAY = PS1.question("causation")
ATTACK = (
    "</style></pre></textarea></title><script>window.hurt = 1</script><img src=x onerror='window.hurt = 1'>"
    "\"><svg onload='window.hurt = 1'><a href='javascript:window.hurt=1'>go</a></svg>"
    "<meta http-equiv=refresh content='0;url=https://tracker.invalid/'>{{ 7 * 7 }}{% raw %} --> ]]> &lt;"
    " \x1b[31m \u202egnp.exe\u2066 \x9b \ufffe" + "W" * 500
)
ANSWERS = {"s001": "A weight is no cause.", "s002": ATTACK, "s003": "long " * 4000, "s004": "It depends\non the values."}
OWN = {student: (student, ESSAY.id) for student in ANSWERS}


def graded(folder: Path, student: str, answer: str) -> None:
    journal = Journal(folder / "ps1")
    scored = records.record([records.score(ESSAY, answer=answer)], provenance=records.provenance(student=student))
    journal.append(journal.add(Submission(student, "ps1.py", answer.encode("utf-8", "replace"))), scored)


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Results with four answers and a gradebook; making one takes nbgrader seconds."""
    folder = tmp_path_factory.mktemp("results")
    for student, answer in ANSWERS.items():
        graded(folder, student, answer)
    sync(gradebook_url(folder), COURSE, PS1, grades(COURSE, PS1, Journal(folder / "ps1")))
    return folder


@pytest.fixture
def results(filled: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(filled, tmp_path / "results"))


@pytest.fixture
def server(results: Path) -> Iterator[ReadingServer]:
    journal = Journal(results / "ps1")
    answers = essays(PS1, grades(COURSE, PS1, journal))
    with ReadingServer(Desk(COURSE, PS1, journal, answers, on_wait=lambda: None)) as server:
        thread = threading.Thread(target=functools.partial(server.serve_forever, poll_interval=0.01))
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def given(results: Path) -> dict[str, Manual]:
    """What the gradebook says was given, by student."""
    return {student: own[ESSAY.id] for student, own in manual_scores(gradebook_url(results), COURSE, PS1).items()}


def key(server: ReadingServer, student: str) -> str:
    return next(essay.key for essay in server.desk.answers if essay.student == student)


def ask(
    server: ReadingServer, method: str = "POST", path: str = "save", body: object = None, **headers: str
) -> tuple[int, dict[str, Any]]:
    """The answer to one request, which is as the page would send it but for what is said."""
    sent = {"Origin": server.origin, "Content-Type": "application/json"} | {
        name.replace("_", "-"): value for name, value in headers.items()
    }
    connection = http.client.HTTPConnection("127.0.0.1", server.server_port, timeout=60)
    try:
        content = body if isinstance(body, bytes) else json.dumps(body).encode()
        place = path if path.startswith("/") else f"/{server.token}/{path}"
        connection.request(method, place, None if method == "GET" else content, sent)
        response = connection.getresponse()
        said = response.read()
        return response.status, json.loads(said) if response.getheader("Content-Type", "").startswith("app") else {}
    finally:
        connection.close()


def a_save(server: ReadingServer, student: str = "s001", **changes: object) -> dict[str, object]:
    return {"key": key(server, student), "seen": version(Manual()), "points": 2.0, "comment": "Good.", **changes}


# --- saves


def test_two_graders_at_once_lose_nothing(server: ReadingServer, results: Path) -> None:
    """Of two that saw the same, the first saves; the second is shown what stands there, and may then replace it."""
    assert ask(server, body=a_save(server))[0] == 200
    status, said = ask(server, body=a_save(server, points=4.0, comment="Mine."))
    assert (status, said["problem"]) == (409, "Somebody else graded this answer meanwhile.")
    assert (said["given"]["points"], said["given"]["comment"]) == (2, "Good.")
    assert given(results)["s001"] == Manual(2.0, "Good.")
    status, _ = ask(server, body=a_save(server, points=4.0, comment="Mine.", seen=said["given"]["version"]))
    assert (status, given(results)["s001"]) == (200, Manual(4.0, "Mine."))


@pytest.mark.parametrize("meanwhile", [Manual(1.0), Manual(None, "Only a comment."), Manual(2.0, "Good.")])
def test_what_came_through_formgrader_is_not_overwritten(server: ReadingServer, results: Path, meanwhile: Manual) -> None:
    give(gradebook_url(results), COURSE, PS1, {OWN["s001"]: meanwhile})
    assert ask(server, body=a_save(server))[0] == 409
    assert given(results)["s001"] == meanwhile


def test_saves_that_meet_are_one_after_the_other(server: ReadingServer, results: Path) -> None:
    statuses: list[int] = []
    threads = [
        threading.Thread(target=lambda each=each: statuses.append(ask(server, body=a_save(server, points=each))[0]))
        for each in (1.0, 2.0, 3.0)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(statuses) == [200, 409, 409]


def test_the_gradebook_refuses_what_changed_since_it_was_read(results: Path) -> None:
    url, mine = gradebook_url(results), {OWN["s001"]: Manual(3.0, "Mine.")}
    give(url, COURSE, PS1, {OWN["s001"]: Manual(1.0)})
    assert give(url, COURSE, PS1, mine, instead_of={OWN["s001"]: Manual()}) == {OWN["s001"]: Manual(1.0)}
    assert given(results)["s001"] == Manual(1.0)


def test_an_answer_that_was_replaced_is_not_graded(server: ReadingServer, results: Path) -> None:
    graded(results, "s001", "Another text, handed in while the first was read.")
    status, said = ask(server, body=a_save(server))
    assert status == 409
    assert "handed in another answer" in said["problem"]
    assert given(results) == {}


# --- attacks


@pytest.mark.parametrize(
    ("status", "request_"),
    [
        (403, {"Origin": "https://evil.invalid"}),
        (403, {"Origin": "null"}),
        (403, {"Origin": "http://127.0.0.1"}),
        (421, {"Host": "evil.invalid"}),
        (421, {"Host": "localhost"}),
        (404, {"path": "/save"}),
        (404, {"path": "/AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA/save"}),
        (404, {"path": "../save"}),
        (404, {"path": "save?"}),
        (415, {"Content_Type": "text/plain"}),
        (415, {"Content_Type": "application/x-www-form-urlencoded"}),
        (413, {"Content_Length": str(MOST_BODY + 1), "body": b""}),
        (413, {"Content_Length": "9" * 5000, "body": b""}),
        (411, {"Content_Length": "-1", "body": b""}),
        (400, {"body": b"{"}),
        (400, {"body": b"[" * 50_000}),
        (400, {"points": None}),
        (400, {"points": "2"}),
        (400, {"comment": "x" * 10_001}),
        (400, {"answer": "s001"}),
        (409, {"points": 5.5}),
        (409, {"points": -1}),
        (409, {"key": "k0000000000"}),
        (404, {"method": "GET"}),
        (501, {"method": "PUT"}),
    ],
)
def test_a_request_that_is_not_the_pages_changes_nothing(
    server: ReadingServer, results: Path, status: int, request_: dict[str, Any]
) -> None:
    ours = {name: request_.pop(name) for name in ("points", "comment", "answer", "key") if name in request_}
    assert ask(server, **{"body": a_save(server, **ours), **request_})[0] == status
    assert given(results) == {}


def test_looking_changes_nothing(server: ReadingServer, results: Path) -> None:
    before = {path: path.read_bytes() for path in results.rglob("*") if path.is_file()}
    assert ask(server, "GET", "")[0] == 200
    assert ask(server, "GET", "", Host="evil.invalid")[0] == 421
    assert ask(server, "GET", "/")[0] == 404
    assert {path: path.read_bytes() for path in results.rglob("*") if path.is_file()} == before


# --- in a browser


@pytest.fixture
def opened(server: ReadingServer, browser: Browser) -> Iterator[Callable[..., Page]]:
    windows = []

    def open_page(scheme: Any = "light", width: int = 1280, *, bypass_csp: bool = False) -> Page:
        windows.append(
            browser.new_context(color_scheme=scheme, viewport={"width": width, "height": 800}, bypass_csp=bypass_csp)
        )
        page = windows[-1].new_page()
        page.goto(server.address)
        return page

    yield open_page
    for window in windows:
        window.close()


def press(page: Page, *keys: str) -> None:
    for each in keys:
        page.keyboard.press(each)


def test_answers_are_read_by_keyboard(opened: Callable[..., Page], server: ReadingServer, results: Path) -> None:
    page = opened()
    assert not any(student in page.content() for student in ANSWERS)
    first, second = (essay.student for essay in server.desk.answers[:2])
    press(page, "1", "c")
    page.keyboard.type("Say why.")
    press(page, "Control+Enter")
    page.get_by_text("4 answers, 3 without points").wait_for()
    press(page, "1", "2", "q", "Enter")
    page.get_by_text("4 answers, 2 without points").wait_for()
    one, two = (item.points for item in ESSAY.rubric[:2])
    assert given(results) == {first: Manual(one, "Say why."), second: Manual(one + two, "Say why.")}
    press(page, "k", "k")
    assert page.locator("article:visible .state").inner_text() == f", {one:g} given"
    press(page, "n", "j", "0", "Enter")
    page.get_by_text("4 answers, 1 without points").wait_for()
    assert server.desk.still_unread == {ESSAY.id: 1}


def test_a_refused_save_shows_both_values(opened: Callable[..., Page], server: ReadingServer, results: Path) -> None:
    page = opened()
    student = server.desk.answers[0].student
    give(gradebook_url(results), COURSE, PS1, {OWN[student]: Manual(0.5, "<b>Theirs</b>")})
    press(page, "1", "Enter")
    alert = page.get_by_role("alert")
    page.get_by_text("Now given: 0.5 points, “<b>Theirs</b>”").wait_for()
    assert f"Yours: {ESSAY.rubric[0].points:g} points, no comment" in alert.inner_text()
    press(page, "Escape")
    assert page.locator(".points:visible").input_value() == "0.5"
    assert given(results) == {student: Manual(0.5, "<b>Theirs</b>")}


def test_hostile_answers_are_only_text(opened: Callable[..., Page], server: ReadingServer, results: Path) -> None:
    give(gradebook_url(results), COURSE, PS1, {own: Manual(1.0, ATTACK) for own in OWN.values()})
    # Without the page's own policy too: escaping has to be enough.
    for bypass_csp in (False, True):
        page = opened(bypass_csp=bypass_csp)
        for _ in ANSWERS:
            press(page, "q", "q", "j")
        assert page.evaluate("window.hurt") is None
        assert page.title() == "ps1: written answers"
        assert page.locator("img, svg, a[href^='javascript'], [onerror], [onload], [onclick], meta[http-equiv]").count() == 0
        assert not {"\u202e", "\u2066", "\x1b", "\x9b"} & set(page.content())
        assert "49" not in page.locator("article").all_inner_texts()[0]


@pytest.mark.parametrize(("scheme", "width"), [("light", 1280), ("dark", 360)])
def test_the_page_fits_a_phone_and_every_reader(opened: Callable[..., Page], scheme: str, width: int) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe-playwright-python (extra dev) is missing")
    page = opened(scheme, width, bypass_csp=True)
    for _ in ANSWERS:
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        press(page, "j")
    assert axe.Axe().run(page).response["violations"] == []
