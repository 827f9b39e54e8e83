"""What a student's own run ends with: what to do next, by when, and what their functions printed."""

from __future__ import annotations

import datetime
import itertools
import json
import re
import subprocess
import sys
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import pytest

from autograder.authoring.schedule import schedule_file
from autograder.authoring.template import problem_set_files, write
from autograder.course import Course, load_course
from autograder.kit import check
from autograder.kit.command import main
from autograder.kit.schedule import Schedule, read_schedule
from autograder.kit.watch import changes

ROOT = Path(__file__).resolve().parents[1]
SOLUTION = (ROOT / "solutions" / "ps1_weighted_average.py").read_text(encoding="utf-8")
TWO_HOURS_EAST = datetime.timezone(datetime.timedelta(hours=2))


def schedule(**changed: object) -> Schedule:
    due = datetime.datetime(2026, 9, 21, 23, 59, tzinfo=TWO_HOURS_EAST)
    fields = {
        "due": due,
        "free_until": due + datetime.timedelta(days=1),
        "closes": due + datetime.timedelta(days=8),
        "percent_a_day": 10.0,
        "grace_days": 1.0,
        "timezone": "Europe/Berlin",
        "hand_in": "on the course page",
        "as_of": datetime.date(2026, 9, 7),
        **changed,
    }
    return Schedule(**fields)  # type: ignore[arg-type]


def at(day: int, hour: int = 12) -> datetime.datetime:
    return datetime.datetime(2026, 9, day, hour, tzinfo=datetime.UTC)


def test_the_date_and_the_rules_are_said_before_it() -> None:
    assert schedule().sentences("ps1.py", at(20)) == (
        "Hand in ps1.py on the course page by 21 September 2026, 23:59 (Europe/Berlin); one day late costs nothing, "
        "then 10 % per day; nothing counts after 29 September 2026, 23:59 (Europe/Berlin). "
        "(Dates as of 7 September 2026, without extensions of your own.)"
    )


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"closes": None}, "one day late costs nothing, then 10 % per day. (Dates"),
        ({"closes": None, "grace_days": 0.0}, "(Europe/Berlin); lateness costs 10 % per day. (Dates"),
        ({"closes": None, "grace_days": 2.0, "percent_a_day": 0.0}, "(Europe/Berlin); 2 days late cost nothing. (Dates"),
        ({"closes": None, "grace_days": 0.0, "percent_a_day": 0.0}, "23:59 (Europe/Berlin). (Dates"),
        ({"hand_in": ""}, "Hand in ps1.py by 21 September"),
    ],
)
def test_only_rules_that_there_are_are_said(changed: dict[str, object], said: str) -> None:
    assert said in schedule(**changed).sentences("ps1.py", at(20))


@pytest.mark.parametrize(
    ("now", "said"),
    [
        (at(21, 21), "Hand in ps1.py"),  # 23:00 in the course's zone
        (at(21, 22), "ps1.py was due on 21 September 2026, 23:59 (Europe/Berlin); handed in now it still costs nothing."),
        (at(22, 21), "still costs nothing"),
        (at(22, 22), "handed in now it loses 10 % of its points"),
        (at(24, 12), "handed in now it loses 20 % of its points"),
        (at(29, 21), "loses 70 %"),
        (at(29, 22), "nothing handed in now earns points"),
    ],
)
def test_after_the_date_it_says_what_lateness_costs(now: datetime.datetime, said: str) -> None:
    assert said in schedule().sentences("ps1.py", now)


def test_the_template_has_the_dates_of_the_course_and_says_when_they_last_changed(course_copy: Path) -> None:
    def written(course: Course) -> Path:
        path = course.root / "student_template" / "autograder" / "schedule.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(schedule_file(course))
        return path

    course = load_course(course_copy)
    path = written(course)
    schedule = read_schedule(course_copy / "student_template" / "ps1", "ps1")
    assert schedule is not None
    assert schedule.due == course.listing("ps1").due
    assert schedule.as_of == datetime.datetime.now(course.zone).date()

    path.write_bytes(path.read_bytes().replace(schedule.as_of.isoformat().encode(), b"2026-09-07"))
    before = written(course).read_bytes()
    assert json.loads(before)["as_of"] == "2026-09-07", "nothing else has changed"

    settings = course_copy / "course.yml"
    settings.write_text(settings.read_text(encoding="utf-8").replace("percent_a_day: 10", "percent_a_day: 20"))
    assert json.loads(written(load_course(course_copy)).read_bytes())["as_of"] == schedule.as_of.isoformat()


def test_a_folder_of_an_earlier_release_has_no_schedule(tmp_path: Path) -> None:
    assert read_schedule(tmp_path / "ps1", "ps1") is None
    (tmp_path / "autograder").mkdir()
    for content in ("", "[]", '{"problem_sets": {}}', '{"problem_sets": {"ps1": 5}}'):
        (tmp_path / "autograder" / "schedule.json").write_text(content)
        assert read_schedule(tmp_path / "ps1", "ps1") is None


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    course = load_course(ROOT)
    folder = tmp_path_factory.mktemp("template")
    write(problem_set_files(course, course.problem_set("ps1")), folder)
    return folder


@pytest.fixture
def folder(template: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(template)
    return template / "ps1"


def checked(folder: Path, capsys: pytest.CaptureFixture[str], work: str, *arguments: str) -> list[str]:
    path = folder / "ps1.py"
    untouched = path.read_bytes()
    path.write_text(work, encoding="utf-8")
    try:
        main(["ps1", *arguments])
    finally:
        path.write_bytes(untouched)
    return capsys.readouterr().out.splitlines()


def test_the_next_step_is_what_fails_then_what_is_open_then_to_hand_in(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def next_line(work: str, *arguments: str) -> str:
        (line,) = (line for line in checked(folder, capsys, work, *arguments) if line.startswith("Next: "))
        return line

    assert next_line((folder / "ps1.py").read_text(encoding="utf-8")) == "Next: `mix`."
    wrong = f"{SOLUTION}\ndef softmax(scores, axis=-1):\n    return scores * 0.0\nmix = None\n"
    assert next_line(wrong, "softmax") == "Next: `softmax`. If you are stuck: python check.py ps1 softmax --hint 1"
    assert next_line(SOLUTION + "\ncausation = None\n") == "Next: `causation`."
    assert next_line(SOLUTION + "\nscaled_scores = None\n", "softmax") == "Next: `scaled_scores`."
    assert next_line(SOLUTION) == "Next: hand it in."
    assert next_line(SOLUTION, "softmax") == "Next: python check.py ps1 tests all questions."


def test_what_a_function_printed_stands_once_under_the_test_that_failed(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    printing = "\ndef softmax(scores, axis=-1):\n    print('shape', scores.shape)\n    return {}\n"
    said = checked(folder, capsys, SOLUTION + printing.format("scores * 0.0"), "softmax")
    places = [number for number, line in enumerate(said) if line == "        it printed:"]
    assert len(places) > 1
    for place in places:
        assert said[place + 1].startswith("        | shape (")
    assert said[places[0] + 1] == "        | shape (3,)"
    assert said[places[0] + 2].startswith("    x "), "a single call printed a single line"
    right = SOLUTION.replace("def softmax(", "def _softmax(") + printing.format("_softmax(scores, axis)")
    assert "printed" not in "".join(checked(folder, capsys, right, "softmax"))
    many = printing.replace("print('shape'", "print('x\\n' * 1000, 'y' * 1000").format("scores * 0.0")
    assert len(checked(folder, capsys, SOLUTION + many, "softmax")) < 200, "of thousands of lines"


def test_a_notebook_checks_one_question_or_all(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    namespace = {"check": check}
    exec(SOLUTION, namespace)
    exec("check()", namespace)
    said = capsys.readouterr().out
    ending = r"^(\d+) of \1 points from this run; \d+ more depend on hidden tests and a reader\.\nNext: hand it in\.$"
    assert re.search(ending, said, re.MULTILINE)
    # The kernel knows what no cell of the file defines.
    assert "ps1.ipynb, as saved at" in said
    assert "gives less from top to bottom in a fresh process, as when it is graded: `mix` 0 points, not" in said
    exec("softmax = None\ncheck('softmax')", namespace)
    assert 'check("softmax", hint=1)' in capsys.readouterr().out
    exec("del softmax\ncheck('mix')", namespace)
    assert "Next: `softmax`." in capsys.readouterr().out


def test_what_comes_near_a_limit_is_said_before(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    work = f"{SOLUTION}\nmix = lambda weights, values: weights @ values\n"
    assert "before you hand in" not in "\n".join(checked(folder, capsys, work, "mix"))
    # Clocks of the test's own, by which two calls take 8 s together: on a busy machine no real call surely takes 4 s of 5.
    clocks = {name: partial(next, itertools.count(step=8.0)) for name in ("perf_counter", "process_time")}
    monkeypatch.setattr("autograder.kit.headroom.time", SimpleNamespace(**clocks))
    said = "\n".join(checked(folder, capsys, work, "mix"))
    assert re.search(r"hand in: a call of `mix` took [48] s on this machine, and the grader allows 5 s", said)


def test_memory_near_the_limit_is_said_before(folder: Path) -> None:
    path, described = folder / "ps1.py", folder / "problem_set.json"
    untouched, description = path.read_bytes(), described.read_text(encoding="utf-8")
    # In a process of its own, for what counts is the most that a process has held. What its parent holds does not.
    held = bytearray(b"x") * 2**28
    try:
        path.write_text(f"{SOLUTION}\nTABLE = np.ones(20_000_000)\ndel TABLE\n", encoding="utf-8")
        described.write_text(description.replace('"memory_mb": 1024', '"memory_mb": 200'), encoding="utf-8")
        said = subprocess.run(
            [sys.executable, "-c", "from autograder.kit.command import main; main(['ps1', 'mix'])"],
            capture_output=True, text=True, check=True, timeout=300,
        ).stdout  # fmt: skip
    finally:
        path.write_bytes(untouched)
        described.write_text(description, encoding="utf-8")
    del held
    assert re.search(r"your work held \d{3} MB on this machine, and the grader allows 200 MB", said)


def test_who_has_begun_both_forms_is_told_which_one_is_checked(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = folder / "ps1.ipynb"
    untouched = path.read_bytes()
    path.write_bytes(untouched.replace(b"swapped = None", b"swapped = 'a'"))
    try:
        said = " ".join(" ".join(checked(folder, capsys, SOLUTION)).split())
        # A notebook runs in an event loop, and other tests of this process may hold one.
        code = "from autograder.kit.command import main; main(['ps1', 'reading', '--form', 'notebook'])"
        chosen = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=300)
        assert "1 of 4 answered" in chosen.stdout
    finally:
        path.write_bytes(untouched)
    assert "you have begun both ps1.py and ps1.ipynb, and only one of them counts; this run checks ps1.py." in said
    assert "--form module, or --form notebook" in said


def test_a_kernel_checks_with_the_tests_that_the_folder_has_now(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    tests = folder / "test_public.py"
    before = tests.read_text(encoding="utf-8")
    monkeypatch.chdir(folder)
    check_mix = f"{SOLUTION}\ncheck('mix')"
    exec(check_mix, {"check": check})
    assert "mix  2 of 2" in capsys.readouterr().out
    try:
        tests.write_text(re.sub(r'(@graded\("mix".*)points=1', r"\1points=2", before), encoding="utf-8")
        exec(check_mix, {"check": check})
    finally:
        tests.write_text(before, encoding="utf-8")
    assert "mix  4 of 2" in capsys.readouterr().out


def test_a_watch_sees_each_change_once(tmp_path: Path) -> None:
    module, absent = tmp_path / "ps1.py", tmp_path / "ps1.ipynb"
    module.write_text("x")
    seen = changes([module, absent])
    next(seen)
    module.write_text("xy")
    next(seen)
    absent.write_text("{}")
    next(seen)
    module.unlink()
    next(seen)
    seen.close()  # type: ignore[attr-defined]
