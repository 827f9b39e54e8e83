"""The Gradescope zip, replayed in Gradescope's folder layout: unpacked, and its own `run_autograder` run on submissions."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from autograder.course import CourseError, load_course
from autograder.platforms.gradescope_run import Delivery, NotHandedIn, find_submission, read_delivery
from autograder.platforms.targets.gradescope import release_files

ROOT = Path(__file__).resolve().parents[1]
TINY = ROOT / "tests/tiny_course"
BAIT = "bait_for_gradescope"
RIGHT = (TINY / "solutions/tiny.py").read_text()
METADATA: dict[str, Any] = {
    "created_at": "2026-09-20T10:00:00.000000+00:00",
    "assignment": {"due_date": "2026-09-21T23:59:00.000000+00:00"},
    "users": [{"id": 7, "email": "s001@example.org", "name": "s001"}],
    "previous_submissions": [],
}


@dataclass(frozen=True)
class Container:
    """Gradescope's folder, `/autograder` there."""

    folder: Path

    def hand_in(self, **files: str) -> None:
        """Put files into the submission; in their names, `__` stands for the dot."""
        for name, text in files.items():
            (self.folder / "submission" / name.replace("__", ".")).write_text(text)

    def run(self, metadata: dict[str, Any] | None = None) -> dict[str, Any]:
        """Run the zip's own script as Gradescope does, and return the results."""
        (self.folder / "submission_metadata.json").write_text(json.dumps(metadata or METADATA))
        command = [str(self.folder / "run_autograder"), str(self.folder)]
        ended = subprocess.run(command, cwd=self.folder, capture_output=True, text=True, timeout=120)
        results: dict[str, Any] = json.loads((self.folder / "results/results.json").read_text())
        assert ended.returncode == 0, ended.stderr
        return results


def read_by_student(results: dict[str, Any]) -> str:
    """All that Gradescope shows to a student."""
    visible = [test for test in results["tests"] if test.get("visibility") == "visible"]
    return "\n".join([results["output"], *(f"{test['name']}\n{test['output']}" for test in visible)])


def points(results: dict[str, Any]) -> dict[str, float]:
    """What Gradescope adds up, by question."""
    earned: dict[str, float] = {}
    for test in results["tests"]:
        if "score" in test:
            earned[test["tags"][0]] = earned.get(test["tags"][0], 0) + test["score"]
    return earned


@pytest.fixture(scope="module")
def zipped(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("tiny") / "course"
    shutil.copytree(TINY, root, ignore=shutil.ignore_patterns("__pycache__", "conftest.py"))
    for name in ("solutions/tiny.py", "assignments/tiny/test_hidden.py"):
        (root / name).write_text((root / name).read_text().replace("@BAIT@", BAIT))
    (root / "requirements").mkdir()
    shutil.copy(ROOT / "requirements/base.txt", root / "requirements")
    course = load_course(root)
    path = root / "autograder.zip"
    path.write_bytes(release_files(course, course.problem_set("tiny"))["autograder.zip"])
    return path


@pytest.fixture
def container(zipped: Path, tmp_path: Path) -> Container:
    folder = tmp_path / "autograder"
    for name in ("submission", "results"):
        (folder / name).mkdir(parents=True)
    subprocess.run(["unzip", "-q", str(zipped), "-d", str(folder / "source")], check=True)
    shutil.copy(folder / "source/run_autograder", folder)
    # Stands in for what setup.sh installs.
    (folder / "venv").symlink_to(Path(sys.prefix))
    return Container(folder)


def test_an_honest_submission_earns_all_points_and_knows_what_is_left(container: Container) -> None:
    container.hand_in(tiny__py=RIGHT)
    results = container.run()
    assert points(results) == {"double": 3, "softmax": 4, "apply": 3}
    assert "score" not in results, "Gradescope adds up the tests and a person's points"
    # How long hidden tests took would tell of their inputs.
    assert "execution_time" not in results
    shown = read_by_student(results)
    assert "double: 3 of 3 points" in shown
    assert "note: 1 point, given by a person: handed in" in shown
    assert [test["number"] for test in results["tests"] if "number" in test] == [
        "1.1", "1.2", "2.1", "2.2", "2.3", "3.1", "3.2", "4",
    ]  # fmt: skip


def test_a_hidden_test_shows_title_and_hint_and_its_message_only_to_staff(container: Container) -> None:
    wrong = RIGHT.replace("return 2 * np.asarray(values)", "return np.asarray(values) ** 2")
    container.hand_in(tiny__py=f"print('<b>\\x1b[31mI was here')\n{wrong}")
    results = container.run()
    assert points(results) == {"double": 0, "softmax": 4, "apply": 3}
    shown = read_by_student(results)
    assert "Any array, of any shape, and it is left as it was." in shown
    assert "Hint: Any shape will do." not in shown, "a likely slip says more than the test's own hint"
    assert "Likely slip: You may be squaring." in shown
    assert "1234567" not in shown, "an input of a hidden test"
    assert "<b>\N{REPLACEMENT CHARACTER}[31mI was here" in shown
    assert {test["output_format"] for test in results["tests"]} | {results["output_format"]} == {"text"}
    [staff] = [test for test in results["tests"] if test["visibility"] == "hidden"]
    assert "score" not in staff, "a hidden test with points would hide the total"
    assert "test_double_hidden (hidden, failed)\n`double(x)` should be" in staff["output"]


HOSTILE = """
import os
said = ["probes ran"]
def probe(what, action):
    try:
        said.append(f"{{what}}: {{action()!r}}")
    except BaseException as error:
        said.append(f"{{what}}: refused")
probe("solution", lambda: open({folder!r} + "/source/solutions/tiny.py").read())
probe("tests", lambda: open({folder!r} + "/source/assignments/tiny/test_hidden.py").read())
probe("metadata", lambda: open({folder!r} + "/submission_metadata.json").read())
probe("list", lambda: os.listdir({folder!r} + "/source"))
probe("forge", lambda: open({folder!r} + "/results/results.json", "w").write('{{"score": 1000}}'))
probe("forge again", lambda: open("/autograder/results/results.json", "w").write('{{"score": 1000}}'))
probe("kill", lambda: os.kill(os.getppid() or 2**22 - 7, 9))
probe("fork", lambda: os.fork())
print("\\n".join(said))
def double(values):
    os._exit(0)
def softmax(scores):
    class Always(float):
        def __eq__(self, other): return True
    return Always(1)
def apply(layer, x):
    raise SystemExit("score: 1000")
"""


@pytest.mark.parametrize("backend", ["bubblewrap", "sandlock"])
def test_a_hostile_submission_reads_nothing_and_forges_nothing(container: Container, backend: str) -> None:
    other = {"bubblewrap": "sandlock", "sandlock": "bubblewrap"}[backend]
    with (container.folder / "source/autograder/backends/__init__.py").open("a") as file:
        file.write(f"\ndel BACKENDS[{other!r}]\n")
    container.hand_in(tiny__py=HOSTILE.format(folder=str(container.folder)))
    results = container.run()
    assert points(results) == {"double": 0, "softmax": 0, "apply": 0}
    assert results["extra_data"]["provenance"]["backend"] == backend
    # The file is loaded again after it ended its process, so each probe runs more than once.
    said = dict.fromkeys(re.findall(r"^(\w[\w ]*): refused$", results["output"], re.M))
    assert "probes ran" in results["output"]
    assert list(said) == ["solution", "tests", "metadata", "list", "forge", "forge again", "kill", "fork"]
    assert BAIT not in json.dumps(results)


def test_a_broken_submission_earns_nothing_and_says_where(container: Container) -> None:
    container.hand_in(tiny__py="def double(values):\n    return 2 * (values\n")
    results = container.run()
    assert points(results) == {"double": 0, "softmax": 0, "apply": 0}
    assert "SyntaxError" in results["output"]
    assert "`double` is not defined" in read_by_student(results)


def test_without_a_sandbox_nothing_is_graded_and_nobody_gets_a_zero(container: Container) -> None:
    with (container.folder / "source/autograder/backends/__init__.py").open("a") as file:
        file.write("\nBACKENDS.clear()\n")
    container.hand_in(tiny__py=RIGHT)
    results = container.run()
    assert "score" not in results
    assert not any("score" in test for test in results["tests"])
    assert "fault of the grader, not of your work" in results["output"]
    [staff] = results["tests"]
    assert staff["visibility"] == "hidden"
    assert "no sandbox works here" in staff["output"]


def test_a_grader_that_cannot_start_says_so(container: Container) -> None:
    (container.folder / "results/results.json").write_text('{"score": 10, "output": "of an earlier run"}')
    (container.folder / "venv").unlink()
    container.hand_in(tiny__py=RIGHT)
    results = container.run()
    assert list(results) == ["output"]
    assert "no fault of yours" in results["output"]


def test_lateness_counts_from_the_students_own_due_date(container: Container) -> None:
    settings = container.folder / "source/course.yml"
    settings.write_text(settings.read_text().replace("percent_a_day: 0.0", "percent_a_day: 10.0"))
    late = {
        **METADATA,
        "created_at": "2026-09-24T12:00:00.000000+00:00",
        "users": [{"id": 7, "email": "s001@example.org", "assignment": {"due_date": "2026-09-23T12:00:00.000000+00:00"}}],
        "previous_submissions": [{"submission_time": "2026-09-20T10:00:00.000000+00:00", "score": 2.0, "results": {}}],
    }
    container.hand_in(tiny__py=RIGHT)
    results = container.run(late)
    assert "Attempt 2.\n1 day late: 10 % a day begun, 1 points off." in results["output"]
    assert "before lateness is counted" in results["output"]
    assert sum(points(results).values()) == 10, "points by tests stay what they are"
    assert (results["extra_data"]["days_late"], results["extra_data"]["penalty"]) == (1, 1)
    assert "s001@example.org" not in json.dumps(results)


@pytest.mark.parametrize(
    ("users", "due"),
    [
        ([{"id": 7}], 21),
        ([{"id": 7, "assignment": {"due_date": None}}], 21),
        ([{"id": 7, "assignment": {"due_date": "2026-09-23T12:00:00+00:00"}}], 23),
        # Of a group's extensions the latest counts.
        ([{"assignment": {"due_date": f"2026-09-{day}T12:00:00+00:00"}} for day in (24, 25, 23)], 25),
    ],
)
def test_an_extension_is_a_due_date_of_a_users_own(tmp_path: Path, users: list[dict[str, Any]], due: int) -> None:
    (tmp_path / "metadata.json").write_text(json.dumps({**METADATA, "users": users}))
    delivery = read_delivery(tmp_path / "metadata.json")
    assert delivery.due is not None
    assert delivery.due.day == due
    assert delivery.submitted is not None


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"created_at": 3, "users": 5}', "\x00", '{"created_at": "soon"}'])
def test_metadata_that_cannot_be_read_stops_no_grading(tmp_path: Path, text: str) -> None:
    (tmp_path / "metadata.json").write_text(text)
    assert read_delivery(tmp_path / "metadata.json") == Delivery()


@pytest.mark.parametrize(
    ("files", "words"),
    [
        ({}, ["Hand in tiny.py or tiny.ipynb", "no file at all"]),
        ({"notes__txt": "hello"}, ["only notes.txt"]),
        ({"tiny__py": RIGHT, "tiny__ipynb": "{}"}, ["Which of these is it? tiny.py, tiny.ipynb"]),
        ({"a__py": RIGHT, "b__py": RIGHT}, ["Which of these is it? a.py, b.py"]),
    ],
)
def test_a_missing_or_doubtful_file_is_explained_to_the_student(
    container: Container, files: dict[str, str], words: list[str]
) -> None:
    container.hand_in(**files)
    with pytest.raises(NotHandedIn) as refused:
        find_submission(container.folder / "submission", "tiny")
    assert [word for word in words if word not in str(refused.value)] == []
    assert "Nothing was graded." in str(refused.value)


def test_a_link_is_not_followed_and_a_doubtful_hand_in_earns_nothing_for_now(container: Container) -> None:
    (container.folder / "submission/tiny.py").symlink_to(container.folder / "source/solutions/tiny.py")
    results = container.run()
    assert results["score"] == 0
    assert "links are not followed" in results["output"]


def test_a_file_under_another_name_is_graded_with_a_remark(container: Container) -> None:
    container.hand_in(my_work__py=RIGHT)
    results = container.run()
    assert sum(points(results).values()) == 10
    assert "Your file is called my_work.py, not tiny.py or tiny.ipynb" in results["output"]


def test_the_zip_depends_on_its_sources_only_and_holds_one_problem_set(course_copy: Path) -> None:
    course = load_course(course_copy)
    with pytest.raises(CourseError, match=r"base\.txt is missing"):
        release_files(course, course.problem_set("ps2"))["autograder.zip"]
    (course_copy / "requirements").mkdir()
    shutil.copy(ROOT / "requirements/base.txt", course_copy / "requirements")
    made = release_files(course, course.problem_set("ps2"))["autograder.zip"]
    for path in course_copy.rglob("*.py"):
        path.touch()
    assert release_files(load_course(course_copy), course.problem_set("ps2"))["autograder.zip"] == made
    (course_copy / "made.zip").write_bytes(made)
    with zipfile.ZipFile(course_copy / "made.zip") as zipped:
        names = zipped.namelist()
        assert {name.split("/")[1] for name in names if name.startswith("assignments/")} == {
            "ledger.yml",
            "ps2_order_blindness",
        }
        assert [name for name in names if name.startswith("solutions/")] == ["solutions/ps2_order_blindness.py"]
        assert not [name for name in names if "alternatives" in name or "examples" in name or "__pycache__" in name]
        scripts = zipped.read("setup.sh") + zipped.read("run_autograder") + zipped.read("requirements.txt")
        assert not re.search(rb"https?://|index-url", scripts), "no download address is named"
        assert all(zipped.getinfo(name).external_attr >> 16 & 0o111 for name in ("setup.sh", "run_autograder"))
