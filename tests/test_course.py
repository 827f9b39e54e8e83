"""Every mistake an instructor can make in course.yml or assignment.yml is told, with the file and the key."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from autograder.assignment import Explanation
from autograder.course import CourseError, ProblemSet, find_root, load_course, read_yaml
from autograder.limits import Limits, QuestionLimits
from autograder.suite_hash import suite_hash

ROOT = Path(__file__).resolve().parents[1]
Content = dict[str, Any]
Edit = Callable[[Content], object]


def edit_yaml(path: Path, edit: Edit) -> None:
    content = yaml.safe_load(path.read_text(encoding="utf-8"))
    edit(content)
    path.write_text(yaml.safe_dump(content, sort_keys=False, allow_unicode=True), encoding="utf-8")


def assignment_file(root: Path) -> Path:
    return root / "assignments" / "ps1_weighted_average" / "assignment.yml"


def load_all(root: Path) -> None:
    course = load_course(root)
    for listing in course.settings.problem_sets:
        course.problem_set(listing.slug)


def complaint(root: Path) -> str:
    with pytest.raises(CourseError) as caught:
        load_all(root)
    return str(caught.value)


# --- what is right


def test_the_real_course_loads() -> None:
    load_all(ROOT)


def test_the_copy_that_mistakes_are_planted_in_loads(course_copy: Path) -> None:
    # Otherwise every test below could fail for another reason than its own.
    load_all(course_copy)
    edit_yaml(course_copy / "course.yml", lambda content: None)
    edit_yaml(assignment_file(course_copy), lambda content: None)
    load_all(course_copy)


def test_limits_come_from_the_question_then_the_problem_set_then_the_course(course_copy: Path) -> None:
    def set_limits(content: Content) -> None:
        content["limits"] = {"call_seconds": 7}
        content["questions"][0]["limits"] = {"call_seconds": 9}

    edit_yaml(course_copy / "course.yml", lambda content: content["limits"].update(call_seconds=3, memory_mb=512))
    assert load_course(course_copy).problem_set("ps1").limits.call_seconds == 3
    edit_yaml(assignment_file(course_copy), set_limits)
    problem_set = load_course(course_copy).problem_set("ps1")
    first, second = problem_set.assignment.questions[:2]
    assert problem_set.limits.call_seconds == 7
    assert (problem_set.call_seconds(first.id), problem_set.call_seconds(second.id)) == (9, 7)
    assert problem_set.limits.guest.memory_bytes == 512 * 2**20


def test_a_question_adds_to_the_time_that_a_submission_has(course_copy: Path) -> None:
    def set_limits(content: Content) -> None:
        content["limits"] = {"submission_seconds": 200}
        content["questions"][0]["limits"] = {"submission_seconds": 30, "processor_seconds": 40}

    before = load_course(course_copy).problem_set("ps1").limits
    edit_yaml(assignment_file(course_copy), set_limits)
    limits = load_course(course_copy).problem_set("ps1").limits
    assert limits.submission_seconds == 230
    assert limits.guest.cpu_seconds == before.guest.cpu_seconds + 40
    assert limits.call_seconds == before.call_seconds


def test_explanations_are_read_by_question(course_copy: Path) -> None:
    path = assignment_file(course_copy).with_name("explanations.md")
    path.write_text("## mix\n\nA sum.\n\n### Another way\n\nA loop.\n\n## softmax\n\nShift first.\n", encoding="utf-8")
    assert load_course(course_copy).problem_set("ps1").explanations == {
        "mix": Explanation("A sum.", "A loop."),
        "softmax": Explanation("Shift first."),
    }


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("## max\n\nLarge.\n", "the heading `## max` is not a question; there are mix, softmax"),
        ("## mix\n\nA sum.\n\n## mix\n\nA loop.\n", "the heading `## mix` appears twice"),
        ("A sum.\n\n## mix\n", "text before the first heading `## id`: 'A sum.'"),
    ],
)
def test_a_mistake_in_explanations_is_told(course_copy: Path, text: str, expected: str) -> None:
    path = assignment_file(course_copy).with_name("explanations.md")
    path.write_text(text, encoding="utf-8")
    with pytest.raises(CourseError) as error:
        load_course(course_copy).problem_set("ps1")
    assert str(error.value).startswith(f"{path}: ")
    assert expected in str(error.value)


def test_limits_may_be_left_out(course_copy: Path) -> None:
    edit_yaml(course_copy / "course.yml", lambda content: content.pop("limits"))
    assert load_course(course_copy).problem_set("ps1").limits.call_seconds == 5


def test_the_root_is_found_from_inside(course_copy: Path, tmp_path: Path) -> None:
    assert find_root(course_copy) == course_copy
    assert find_root(course_copy / "assignments" / "ps1_weighted_average") == course_copy
    with pytest.raises(CourseError, match=r"no course\.yml in"):
        find_root(tmp_path)


def _points(content: Content) -> None:
    content["questions"][0]["points"] += 1


def _rubric(content: Content) -> None:
    written = next(question for question in content["questions"] if question["kind"] == "written")
    written["rubric"][0]["text"] = "Says something else."
    written["title"], content["version"] = "Another title", "9.0.0"


def _edited(path: Path, old: str, new: str) -> None:
    text = path.read_text(encoding="utf-8")
    assert text.count(old) >= 1, old
    path.write_text(text.replace(old, new, 1), encoding="utf-8")


DECIDES: dict[str, Callable[[Path, ProblemSet], None]] = {
    "points": lambda _, ps1: edit_yaml(ps1.folder / "assignment.yml", _points),
    "limits": lambda root, _: edit_yaml(root / "course.yml", lambda content: content["limits"].update(memory_mb=999)),
    "public test": lambda _, ps1: _edited(ps1.folder / "test_public.py", "atol=", "rtol="),
    "hidden test": lambda _, ps1: _edited(ps1.folder / "test_hidden.py", "atol=", "rtol="),
    "mutant": lambda _, ps1: _edited(ps1.folder / "mutants.py", "return ", "return -"),
    "reference": lambda _, ps1: _edited(ps1.solution, "return ", "return -"),
    "ledger": lambda _, ps1: _edited(ps1.ledger_path, "output: 25", "output: 26"),
}


@pytest.mark.parametrize("name", DECIDES)
def test_the_suite_hash_changes_with_all_that_a_verdict_depends_on(course_copy: Path, name: str) -> None:
    before = load_course(course_copy).problem_set("ps1")
    first = suite_hash(before)
    DECIDES[name](course_copy, before)
    assert suite_hash(load_course(course_copy).problem_set("ps1")) != first


def test_the_suite_hash_does_not_change_with_anything_else(course_copy: Path) -> None:
    """A rubric, a comment in a test, a model answer, a note of the ledger, or another file."""
    problem_set = load_course(course_copy).problem_set("ps1")
    first = suite_hash(problem_set)
    edit_yaml(problem_set.folder / "assignment.yml", _rubric)
    for name in ("test_public.py", "test_hidden.py", "mutants.py", "handout.md", "alternatives.py", "figures.py"):
        path = problem_set.folder / name
        path.write_text(path.read_text(encoding="utf-8") + "\n# changed\n", encoding="utf-8")
    _edited(problem_set.solution, "causation = ", "causation = 'Another answer.' or ")
    _edited(problem_set.ledger_path, "rows:", "# changed\nrows:")
    assert suite_hash(load_course(course_copy).problem_set("ps1")) == first


# --- course.yml


def first(content: Content) -> Content:
    listing: Content = content["problem_sets"][0]
    return listing


def add_listing(content: Content, **changes: Any) -> None:
    content["problem_sets"].append({**first(content), **changes})


COURSE_MISTAKES: dict[str, tuple[Edit, str]] = {
    "unknown key": (lambda c: c.update(titel="x"), "titel: this key is not known; check its spelling"),
    "unknown limit": (lambda c: c["limits"].update(memory=1), "limits: memory: this key is not known"),
    "unknown key of a problem set": (
        lambda c: first(c).update(wieght=1),
        "problem_sets: ps1: wieght: this key is not known",
    ),
    "no title": (lambda c: c.pop("title"), "title: this key is needed"),
    "no problem sets": (lambda c: c.pop("problem_sets"), "problem_sets: this key is needed"),
    "no due date": (lambda c: first(c).pop("due"), "problem_sets: ps1: due: this key is needed"),
    "no slug": (lambda c: first(c).pop("slug"), "problem_sets: 0: slug: this key is needed"),
    "empty list": (lambda c: c.update(problem_sets=[]), "problem_sets: "),
    "mapping for a list": (lambda c: c.update(problem_sets={"ps1": 1}), "problem_sets: "),
    "number for a problem set": (lambda c: c.update(problem_sets=[5]), "problem_sets: 0: "),
    "number for a title": (lambda c: c.update(title=5), "title: "),
    "list for limits": (lambda c: c.update(limits=[1]), "limits: "),
    "text for a weight": (lambda c: first(c).update(weight="all"), "problem_sets: ps1: weight: "),
    "Python as a number": (lambda c: c.update(python=3.11), "python: "),
    "Python that is too old": (lambda c: c.update(python="3.10"), "python: "),
    "Python newer than this one": (
        lambda c: c.update(python="3.99"),
        "python: students are told that the grader has Python 3.99, but this is 3.",
    ),
    "negative weight": (lambda c: first(c).update(weight=-100), "problem_sets: ps1: weight: "),
    "zero limit": (lambda c: c["limits"].update(call_seconds=0), "limits: call_seconds: "),
    "negative limit": (lambda c: c["limits"].update(threads=-1), "limits: threads: "),
    "limit with a unit": (lambda c: c["limits"].update(memory_mb="1 GB"), "limits: memory_mb: "),
    "message over what the wire takes": (lambda c: c["limits"].update(message_mb=257), "limits: message_mb: "),
    "too few open files": (lambda c: c["limits"].update(open_files=3), "limits: open_files: "),
    "weights below 100": (lambda c: first(c).update(weight=90), "add up to 90, not to 100"),
    "weights above 100": (
        lambda c: (first(c).update(weight=50), add_listing(c, slug="other", weight=60)),
        "not to 100",
    ),
    "slug twice": (lambda c: (first(c).update(weight=50), add_listing(c)), "the problem set 'ps1' is listed twice"),
    "slug with a slash": (lambda c: first(c).update(slug="../ps1"), "problem_sets: ../ps1: slug: "),
    "folder that leads out": (lambda c: first(c).update(folder="../solutions"), "problem_sets: ps1: folder: "),
    "folder that is not there": (
        lambda c: first(c).update(folder="ps1_nowhere"),
        "problem_sets: ps1: folder: there is no assignments/ps1_nowhere",
    ),
    "due before release": (
        lambda c: first(c).update(released=first(c)["due"], due=first(c)["released"]),
        "before it is released",
    ),
    "due at release": (lambda c: first(c).update(due=first(c)["released"]), "before it is released"),
    "no time zone": (
        lambda c: first(c).update(due="2027-01-01T23:59:00"),
        "problem_sets: ps1: due: 2027-01-01T23:59:00 has no time zone; write one, as in 2026-09-21T23:59:00+00:00",
    ),
    "no date": (lambda c: first(c).update(released="soon"), "problem_sets: ps1: released: "),
    "slug of another problem set": (
        lambda c: first(c).update(slug="ps9"),
        "assignment.yml: slug: is 'ps1', but course.yml lists this folder as 'ps9'",
    ),
}


@pytest.mark.parametrize("mistake", COURSE_MISTAKES)
def test_a_mistake_in_course_yml_is_told_with_file_and_key(course_copy: Path, mistake: str) -> None:
    edit, expected = COURSE_MISTAKES[mistake]

    # With a single problem set, the place of every mistake is known whatever the course holds by now.
    def only_the_first(content: Content) -> None:
        content["problem_sets"] = [{**first(content), "slug": "ps1", "weight": 100}]
        edit(content)

    edit_yaml(course_copy / "course.yml", only_the_first)
    said = complaint(course_copy)
    assert expected in said
    if "assignment.yml" not in expected:
        assert said.startswith(f"{course_copy / 'course.yml'}: ")


def replace_due(root: Path, due: str) -> None:
    """Writes a date as an author would, not as YAML's own writer does."""
    path = root / "course.yml"
    text = re.sub(r"due: .*", f"due: {due}", path.read_text(encoding="utf-8"))
    path.write_text(text, encoding="utf-8")


def test_a_date_without_time_is_told(course_copy: Path) -> None:
    replace_due(course_copy, "2027-01-01")
    assert "due: 2027-01-01 has no time" in complaint(course_copy)


def test_a_time_without_zone_is_told(course_copy: Path) -> None:
    replace_due(course_copy, "2027-01-01T23:59:00")
    assert "has no time zone; write one" in complaint(course_copy)


@pytest.mark.parametrize("due", ["2027-02-30T23:59:00+00:00", "2027-09-31", "2027-13-01T23:59:00Z", "2027-01-01T25:00:00Z"])
def test_a_day_that_no_calendar_has_is_told(course_copy: Path, due: str) -> None:
    replace_due(course_copy, due)
    assert complaint(course_copy).startswith(f"{course_copy / 'course.yml'}: ")


def test_several_mistakes_are_told_together(course_copy: Path) -> None:
    def edit(content: Content) -> None:
        content.pop("title")
        content["limits"]["memory"] = 1
        first(content)["weight"] = "x"

    edit_yaml(course_copy / "course.yml", edit)
    lines = complaint(course_copy).splitlines()
    assert len(lines) == 3
    assert all(line.startswith(f"{course_copy / 'course.yml'}: ") for line in lines)


def test_an_unknown_problem_set_is_told_with_those_there_are(course_copy: Path) -> None:
    with pytest.raises(CourseError, match=r"no problem set 'ps404' in course\.yml; there are: ps1"):
        load_course(course_copy).problem_set("ps404")


# --- assignment.yml


def question(content: Content, place: int = 0) -> Content:
    found: Content = content["questions"][place]
    return found


def copied(content: Content, **changes: Any) -> None:
    content["questions"].append({**question(content), **changes})


GUESS = {"prompt": "How large?", "result": "Large.", "payoff": "mix"}

ASSIGNMENT_MISTAKES: dict[str, tuple[Edit, str]] = {
    "unknown key": (lambda c: c.update(sed=1), "sed: this key is not known"),
    "unknown key of a question": (lambda c: question(c).update(point=1), "questions: mix: point: this key is not known"),
    "unknown limit": (lambda c: c.update(limits={"memory_mb": 5}), "limits: memory_mb: this key is not known"),
    "unknown limit of a question": (
        lambda c: question(c).update(limits={"call_seconds": 1, "seconds": 2}),
        "questions: mix: limits: seconds: this key is not known",
    ),
    "no seed": (lambda c: c.pop("seed"), "seed: this key is needed"),
    "no module": (lambda c: c.pop("module"), "module: this key is needed"),
    "no points": (lambda c: question(c).pop("points"), "questions: mix: points: this key is needed"),
    "no id": (lambda c: question(c).pop("id"), "questions: 0: id: this key is needed"),
    "no questions": (lambda c: c.update(questions=[]), "questions: "),
    "mapping for questions": (lambda c: c.update(questions={"mix": 1}), "questions: "),
    "short version": (lambda c: c.update(version="1.0"), "version: "),
    "version that YAML takes for a number": (lambda c: c.update(version=1.0), "version: "),
    "version with a letter": (lambda c: c.update(version="v1.0.0"), "version: "),
    "version with a newline": (lambda c: c.update(version="1.0.0\n"), "version: "),
    "text for a seed": (lambda c: c.update(seed="random"), "seed: "),
    "negative seed": (lambda c: c.update(seed=-1), "seed: "),
    "fraction of a seed": (lambda c: c.update(seed=1.5), "seed: "),
    "zero points": (lambda c: question(c).update(points=0), "questions: mix: points: "),
    "text for points": (lambda c: question(c).update(points="three"), "questions: mix: points: "),
    "unknown tier": (lambda c: question(c).update(tier="hard"), "questions: mix: tier: "),
    "unknown kind": (lambda c: question(c).update(kind="essay"), "questions: mix: kind: "),
    "no names": (lambda c: question(c).update(names=[]), "questions: mix: names: "),
    "text for names": (lambda c: question(c).update(names="mix"), "questions: mix: names: "),
    "name that is none": (lambda c: question(c).update(names=["two words"]), "questions: mix: names: "),
    "private name": (lambda c: question(c).update(names=["_mix"]), "questions: mix: names: "),
    "id with a capital": (lambda c: question(c).update(id="Mix"), "questions: Mix: id: "),
    "id twice": (lambda c: copied(c, names=["other"]), "the question id 'mix' appears twice"),
    "name twice": (lambda c: copied(c, id="other"), "the name 'mix' appears twice"),
    "name twice in a question": (lambda c: question(c).update(names=["mix", "mix"]), "the name 'mix' appears twice"),
    "zero seconds": (lambda c: c.update(limits={"call_seconds": 0}), "limits: call_seconds: "),
    "other slug": (lambda c: c.update(slug="ps2"), "slug: is 'ps2', but course.yml lists this folder as 'ps1'"),
    "two hints": (lambda c: question(c).update(hints=["look", "look again"]), "questions: mix: hints: "),
    "unknown difficulty": (lambda c: question(c).update(difficulty="brutal"), "questions: mix: difficulty: "),
    "use of its own name": (lambda c: question(c).update(uses=["mix"]), "mix uses 'mix', which no other code question"),
    "use of an unknown name": (lambda c: question(c).update(uses=["max"]), "mix uses 'max', which no other code question"),
    "use of a choice": (lambda c: question(c).update(uses=["cell"]), "mix uses 'cell', which no other code question"),
    "circle of uses": (
        lambda c: (question(c).update(uses=["softmax"]), question(c, 1).update(uses=["mix"])),
        "these questions build on each other in a circle: mix, softmax",
    ),
    "options of a function": (lambda c: question(c).update(options=["a", "b"]), "only a choice has `options`"),
    "options of some names": (
        lambda c: question(c, 8).update(options={"cell": ["a", "b"]}),
        "`options` must have exactly the names of the question: swapped, doubled, survivors, cell",
    ),
    "rubric of a function": (
        lambda c: question(c).update(rubric=[{"points": 3, "text": "runs"}]),
        "only a written question has a `rubric`",
    ),
    "rubric that does not add up": (
        lambda c: question(c, 10).update(rubric=[{"points": 3, "text": "an experiment"}]),
        "the points of the rubric add up to 3, but the question has 5",
    ),
    "prediction without one": (lambda c: question(c).update(kind="prediction"), "needs the key `prediction`"),
    "prediction of nothing": (
        lambda c: copied(c, id="guess", names=["guess"], kind="prediction", prediction={**GUESS, "payoff": "max"}),
        "guess names the payoff of 'max', but there is no such question",
    ),
    "prediction of two numbers": (
        lambda c: copied(c, id="guess", names=["guess", "other"], kind="prediction", prediction=GUESS),
        "a prediction has exactly one name",
    ),
    "module that leads out": (lambda c: c.update(module="../ps1"), "module: "),
}


@pytest.mark.parametrize("mistake", ASSIGNMENT_MISTAKES)
def test_a_mistake_in_assignment_yml_is_told_with_file_and_key(course_copy: Path, mistake: str) -> None:
    edit, expected = ASSIGNMENT_MISTAKES[mistake]
    edit_yaml(assignment_file(course_copy), edit)
    said = complaint(course_copy)
    assert f"{assignment_file(course_copy)}: " in said
    assert expected in said


@pytest.mark.parametrize(
    "path",
    [
        "solutions/ps1_weighted_average.py",
        "assignments/ps1_weighted_average/test_public.py",
        "assignments/ps1_weighted_average/test_hidden.py",
        "assignments/ps1_weighted_average/handout.md",
        "assignments/ps1_weighted_average/assignment.yml",
        "assignments/ledger.yml",
        "course.yml",
    ],
)
def test_a_file_that_is_missing_is_told(course_copy: Path, path: str) -> None:
    (course_copy / path).unlink()
    said = complaint(course_copy)
    assert said.startswith(f"{course_copy / path} is missing")


def test_a_folder_that_is_missing_is_told(course_copy: Path) -> None:
    shutil.rmtree(course_copy / "assignments" / "ps1_weighted_average")
    assert "ps1: folder: there is no assignments/ps1_weighted_average" in complaint(course_copy)


# --- YAML

YAML_FILES = ["course.yml", "assignments/ps1_weighted_average/assignment.yml", "assignments/ledger.yml"]


@pytest.mark.parametrize("name", YAML_FILES)
@pytest.mark.parametrize(
    "text",
    [
        *(b"a: [1", b"a: 'x", b"\tx: 1", b"a: 1\n b: 2", b"a: *nowhere", b"a: \xff\xfe", b"a: \x07"),
        *(b"a: !!python/object:os.system {}", b"? [1]\n: 2"),
    ],
)
def test_what_is_no_yaml_is_told(course_copy: Path, name: str, text: bytes) -> None:
    (course_copy / name).write_bytes(text)
    assert complaint(course_copy).startswith(f"{course_copy / name}: this is not valid YAML: ")


@pytest.mark.parametrize("name", YAML_FILES)
@pytest.mark.parametrize(
    ("text", "kind"), [("", "NoneType"), ("- a\n- b\n", "list"), ("just text\n", "str"), ("5\n", "int")]
)
def test_yaml_that_is_no_mapping_is_told(course_copy: Path, name: str, text: str, kind: str) -> None:
    (course_copy / name).write_text(text, encoding="utf-8")
    assert complaint(course_copy) == f"{course_copy / name}: a mapping of keys to values is needed, not {kind}"


@pytest.mark.parametrize("name", YAML_FILES)
def test_a_key_that_stands_twice_is_told(course_copy: Path, name: str) -> None:
    path = course_copy / name
    text = path.read_text(encoding="utf-8")
    key = {"course.yml": "title", "assignments/ledger.yml": "rows"}.get(name, "seed")
    path.write_text(f"{text}\n{key}: again\n", encoding="utf-8")
    said = complaint(course_copy)
    assert said.startswith(f"{path}: ")
    assert f"the key '{key}' appears twice" in said


def test_a_key_that_stands_twice_deep_inside_is_told(tmp_path: Path) -> None:
    path = tmp_path / "some.yml"
    path.write_text("a:\n- b: {c: 1, d: 2, c: 3}\n", encoding="utf-8")
    with pytest.raises(CourseError, match="the key 'c' appears twice"):
        read_yaml(path)


@pytest.mark.parametrize("rows", [None, [], "none", 5])
def test_a_ledger_without_rows_is_told(course_copy: Path, rows: Any) -> None:
    edit_yaml(course_copy / "assignments" / "ledger.yml", lambda content: content.update(rows=rows))
    assert complaint(course_copy).startswith(f"{course_copy / 'assignments' / 'ledger.yml'}: rows: ")


# --- limits


def test_limits_are_said_in_bytes_and_shared() -> None:
    limits = Limits(message_mb=2, output_kb=3, call_seconds=4)
    assert (limits.message_bytes, limits.output_bytes) == (2 * 2**20, 3 * 2**10)
    half = limits.at_share(0.5)
    assert (half.call_seconds, half.load_seconds, half.submission_seconds) == (2, 10, 60)
    assert (half.processor_seconds, half.memory_mb, half.message_mb) == (60, 512, 2)


@pytest.mark.parametrize(
    ("name", "least"), [("open_files", 16), ("message_mb", 1), ("threads", 1), ("scratch_files", 1), ("memory_mb", 1)]
)
def test_a_limit_has_a_least_value(name: str, least: int) -> None:
    assert getattr(Limits(**{name: least}), name) == least
    with pytest.raises(ValueError, match=name):
        Limits(**{name: least - 1})


def test_a_question_adds_no_time_or_some() -> None:
    assert QuestionLimits(submission_seconds=0, processor_seconds=0).call_seconds is None
    for name in ("submission_seconds", "processor_seconds"):
        with pytest.raises(ValueError, match=name):
            QuestionLimits(**{name: -1})


def test_only_extensions_of_a_problem_set_move_its_last_due_date(course_copy: Path) -> None:
    before = load_course(course_copy)
    later = {"student": "s001", "problem_set": "ps2", "until": "2027-01-01T00:00:00+00:00"}
    edit_yaml(course_copy / "course.yml", lambda content: content.update(extensions=[later]))
    after = load_course(course_copy)
    assert after.last_due("ps1") == before.last_due("ps1")
    assert after.last_due("ps2").isoformat() == "2027-01-01T00:00:00+00:00"
