"""What reading written answers takes in keystrokes and page loads: on the page of `course read`, and in formgrader.

    python benchmarks/reading.py [--answers 60] [--comments 5]

Both read the same answers in a real Chromium: points for two rubric items, and one of a few comments (`--comments 0`:
none). On the page, a comment is written once and then chosen again. Formgrader keeps none, so there each is typed. It leads
from one student's field to the next one's, so a field is clicked once, which counts as a keystroke. In the end, both
gradebooks must hold all points and comments.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import threading
from dataclasses import dataclass
from pathlib import Path
from shutil import which
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from playwright.sync_api import sync_playwright  # noqa: E402

from autograder.commands.gradebook import bring_up_to_date  # noqa: E402
from autograder.course import load_course  # noqa: E402
from autograder.gradebook import gradebook_url, manual_scores  # noqa: E402
from autograder.grades import grades  # noqa: E402
from autograder.intake import Submission  # noqa: E402
from autograder.journal import Journal  # noqa: E402
from autograder.reading import essays  # noqa: E402
from autograder.reading.desk import Desk  # noqa: E402
from autograder.reading.server import ReadingServer  # noqa: E402
from tests.support import records  # noqa: E402
from tests.support.browsing import TOKEN, jupyter_server, tab_of  # noqa: E402

COURSE = load_course(ROOT)
PS1 = COURSE.problem_set("ps1")
ESSAY = PS1.question("causation")
COMMENTS = [f"Comment {number}: say what would have to change." for number in range(9)]
ITEMS = 2  # rubric items that an answer earns


@dataclass
class Count:
    """What a person did."""

    keys: int = 0
    loads: int = 0

    def press(self, tab: Any, key: str) -> None:
        tab.keyboard.press(key)
        self.keys += 1

    def write(self, tab: Any, text: str) -> None:
        tab.keyboard.type(text)
        self.keys += len(text)


def make_class(folder: Path, answers: int) -> None:
    """Results with one written answer per student, and their gradebook."""
    journal = Journal(folder / "ps1")
    for number in range(answers):
        student, answer = f"s{number + 1:03d}", f"Answer {number}: a weight is no cause."
        scored = records.record([records.score(ESSAY, answer=answer)], provenance=records.provenance(student=student))
        journal.append(journal.add(Submission(student, "ps1.py", answer.encode())), scored)
    bring_up_to_date(COURSE, PS1, journal, folder, gradebook_url(folder))


def on_the_page(browser: Any, folder: Path, comments: int) -> Count:
    journal, count = Journal(folder / "ps1"), Count()
    answers = essays(PS1, grades(COURSE, PS1, journal))
    with ReadingServer(Desk(COURSE, PS1, journal, answers, on_wait=lambda: None)) as server, tab_of(browser) as tab:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        tab.on("load", lambda _: setattr(count, "loads", count.loads + 1))
        tab.goto(server.address)
        for number in range(len(answers)):
            for item in range(ITEMS):
                count.press(tab, str(item + 1))
            if number < comments:
                count.press(tab, "c")
                count.write(tab, COMMENTS[number])
                count.press(tab, "Control+Enter")
            else:
                if comments:
                    count.press(tab, "qwertyuio"[number % comments])
                count.press(tab, "Enter")
            left = len(answers) - number - 1
            said = f"{len(answers)} answers, {left} without" if left else f"All {len(answers)} answers have points"
            tab.get_by_text(said).wait_for()
        server.shutdown()
    return count


def in_formgrader(browser: Any, folder: Path, answers: int, comments: int) -> Count:
    count, points = Count(), f"{sum(item.points for item in ESSAY.rubric[:ITEMS]):g}"
    with jupyter_server(folder) as base, tab_of(browser) as tab:
        tab.goto(f"{base}/login?token={TOKEN}")
        tab.goto(f"{base}/formgrader/gradebook/ps1/ps1")
        tab.wait_for_selector("td a[href*=submissions]")
        tab.on("load", lambda _: setattr(count, "loads", count.loads + 1))
        tab.locator("td a[href*=submissions]").first.click()
        count.keys += 1
        for number in range(answers):
            tab.wait_for_function("window.formgrader?.grades?.loaded && formgrader.comments?.loaded")
            tab.click("#answer-causation")
            count.keys += number == 0
            count.write(tab, points)
            if comments:
                with tab.expect_response(lambda answer: answer.request.method == "PUT"):
                    tab.click("#answer-causation-comment")
                count.keys += 1  # Tab
                count.write(tab, COMMENTS[number % comments])
            # `Control+.` saves and goes on; without a network, formgrader ends before it sets up its keys.
            with tab.expect_response(lambda answer: answer.request.method == "PUT"):
                tab.evaluate("document.activeElement.blur()")
            count.keys += 1
            if number < answers - 1:
                with tab.expect_navigation():
                    tab.evaluate("formgrader.nextAssignment()")
    return count


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--answers", type=int, default=60)
    parser.add_argument("--comments", type=int, default=5)
    asked = parser.parse_args()
    path = next(filter(None, map(which, ("chromium", "chromium-browser", "google-chrome", "chrome"))))
    with sync_playwright() as playwright, tempfile.TemporaryDirectory() as folder:
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        for name, read in (
            ("course read", lambda place: on_the_page(browser, place, asked.comments)),
            ("formgrader", lambda place: in_formgrader(browser, place, asked.answers, asked.comments)),
        ):
            place = Path(folder) / name.replace(" ", "-")
            make_class(place, asked.answers)
            count = read(place)
            given = manual_scores(gradebook_url(place), COURSE, PS1)
            done = sum(
                own[ESSAY.id].points is not None and bool(own[ESSAY.id].comment) == bool(asked.comments)
                for own in given.values()
            )
            if done != asked.answers:
                raise SystemExit(f"{name}: the gradebook holds {done} of {asked.answers}")
            print(f"{name:<12} {count.keys:5d} keystrokes  {count.loads:3d} page loads", flush=True)


if __name__ == "__main__":
    main()
