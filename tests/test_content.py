"""Every problem set, graded by the real engine: reference, template, mutants and alternatives, and what is generated."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from autograder import variants
from autograder.authoring.release import problem_set_files, stale, template_files
from autograder.course import Course, ProblemSet, load_course
from autograder.journal import Journal
from autograder.run import cores, grade
from autograder.submissions import Submission
from autograder.worker import import_file

ROOT = Path(__file__).resolve().parents[1]
SLUGS = [listing.slug for listing in load_course(ROOT).settings.problem_sets]

pytestmark = pytest.mark.slow


@dataclass(frozen=True)
class Graded:
    """A problem set with the records of all its variants, by the name they were handed in under."""

    problem_set: ProblemSet
    mutants: dict[str, variants.Variant]
    alternatives: dict[str, variants.Variant]
    records: dict[str, dict[str, Any]]

    def scores(self, name: str) -> dict[str, float]:
        return {question["id"]: question["score"] for question in self.records[name]["extra_data"]["questions"]}

    def full(self) -> dict[str, float]:
        questions = self.problem_set.assignment.questions
        return {question.id: question.points if question.kind != "written" else 0 for question in questions}


@pytest.fixture(scope="module")
def course() -> Course:
    return load_course(ROOT)


@pytest.fixture(scope="module", params=SLUGS)
def graded(request: pytest.FixtureRequest, course: Course, tmp_path_factory: pytest.TempPathFactory) -> Graded:
    problem_set = course.problem_set(request.param)
    assignment = problem_set.assignment
    firsts = {question.id: question.names[0] for question in assignment.questions}
    module, notebook = f"{assignment.module}.py", f"{assignment.module}.ipynb"
    template = ROOT / "student_template" / problem_set.slug
    submissions = [
        Submission("reference", module, problem_set.solution.read_bytes()),
        Submission("template-module", module, (template / module).read_bytes()),
        Submission("template-notebook", notebook, (template / notebook).read_bytes()),
    ]
    declared: list[dict[str, variants.Variant]] = []
    for kind in ("mutants", "alternatives"):
        found = variants.declared_in(import_file(problem_set.folder / f"{kind}.py"))
        declared.append({f"{kind}-{variant.question}-{variant.name}": variant for variant in found})
        for name, variant in declared[-1].items():
            source = variants.as_submission(variant, variant.replaces or firsts[variant.question], problem_set.solution)
            submissions.append(Submission(name, module, source))
    stored = grade(ROOT, problem_set, submissions, Journal(tmp_path_factory.mktemp("journal")), jobs=cores())
    records = {one.provenance["student"]: one.record for one in stored}
    return Graded(problem_set, declared[0], declared[1], records)


def test_the_grader_is_never_at_fault(graded: Graded) -> None:
    faults = {name: record["extra_data"]["provenance"]["fault"] for name, record in graded.records.items()}
    assert {name: fault for name, fault in faults.items() if fault} == {}


def test_the_reference_earns_all_points(graded: Graded) -> None:
    assert graded.scores("reference") == graded.full()
    assert graded.records["reference"]["extra_data"]["look"] == []


@pytest.mark.parametrize("form", ["template-module", "template-notebook"])
def test_the_untouched_template_earns_nothing_and_says_not_done_yet(graded: Graded, form: str) -> None:
    record = graded.records[form]
    assert record["score"] == 0
    assert [question["id"] for question in record["extra_data"]["questions"] if not question["undone"]] == []
    assert record["extra_data"]["problems"] == []


def test_every_alternative_earns_all_points(graded: Graded) -> None:
    lost = {name: graded.scores(name) for name in graded.alternatives if graded.scores(name) != graded.full()}
    assert lost == {}


def test_every_mutant_loses_points_on_its_own_question_and_only_there(graded: Graded) -> None:
    wrong = {}
    for name, mutant in graded.mutants.items():
        scores, full = graded.scores(name), graded.full()
        lost = [question for question in full if scores[question] < full[question]]
        if lost != [mutant.question]:
            wrong[name] = lost
    assert wrong == {}


def test_every_mutant_gets_its_hint(graded: Graded) -> None:
    without = []
    for name, mutant in graded.mutants.items():
        outputs = "\n".join(test["output"] for test in graded.records[name]["tests"])
        if mutant.hint not in outputs:
            without.append(name)
    assert without == []


def test_every_test_is_failed_by_some_mutant(graded: Graded) -> None:
    failed = {
        test["extra_data"]["test"]
        for name in graded.mutants
        for test in graded.records[name]["tests"]
        if test["status"] == "failed"
    }
    assert {test["extra_data"]["test"] for test in graded.records["reference"]["tests"]} - failed == set()


def test_every_question_has_enough_mutants_and_alternatives(graded: Graded) -> None:
    for question in graded.problem_set.assignment.questions:
        mutants = [mutant for mutant in graded.mutants.values() if mutant.question == question.id]
        alternatives = [other for other in graded.alternatives.values() if other.question == question.id]
        assert len(mutants) >= {"code": 5, "choice": 2, "written": 0}[question.kind], question.id
        assert len(alternatives) >= {"code": 2, "choice": 0, "written": 0}[question.kind], question.id


def test_a_hidden_test_tells_students_no_more_than_title_and_hints(graded: Graded) -> None:
    """The staff's message of a hidden test, with its numbers, is not in what a student reads of it."""
    checked = 0
    for name in graded.mutants:
        record = graded.records[name]
        for test in record["tests"]:
            extra = test["extra_data"]
            if extra["hidden"] and extra["outcome"] == "failed" and "should be" in extra["message"]:
                checked += 1
                assert extra["message"] not in test["name"] + test["output"]
    assert checked > 0


@pytest.mark.parametrize("slug", SLUGS)
def test_the_committed_template_is_what_the_sources_give(course: Course, slug: str) -> None:
    files = {**template_files(course), **problem_set_files(course, course.problem_set(slug))}
    assert stale(files, ROOT / "student_template") == [], f"run: course release {slug}"


@pytest.mark.parametrize("slug", SLUGS)
def test_numbers_in_the_handout_agree_with_the_ledger(course: Course, slug: str) -> None:
    text = (course.problem_set(slug).folder / "handout.md").read_text(encoding="utf-8")
    tagged = re.findall(r"([−-]?[\d.,/]*\d(?:e-?\d+)?)[^\s\d]{0,3}<!-- ledger: (\S+?)\.(\S+) -->", text)
    assert len(tagged) == text.count("<!-- ledger: "), "a ledger remark must stand right behind its number"
    for printed, row, path in tagged:
        value: Any = course.ledger.value(row, path.split(".")[0])
        for part in path.split(".")[1:]:
            value = value[int(part)] if isinstance(value, list) else value[part]
        assert agrees(printed, value), f"{printed} is printed where ledger row {row} has {path} = {value}"


def agrees(printed: str, value: object) -> bool:
    """Whether a printed number equals a ledger value to its last printed place."""
    text = printed.replace("−", "-").replace(",", "")
    if "/" in text or isinstance(value, str):
        return text == str(value)
    mantissa, _, exponent = text.partition("e")
    unit = 10.0 ** (int(exponent or 0) - len(mantissa.partition(".")[2]))
    return abs(float(text) - float(str(value))) <= 0.5 * unit * (1 + 1e-6)


@pytest.mark.parametrize("slug", SLUGS)
def test_links_in_the_handout_resolve(course: Course, slug: str) -> None:
    folder = course.problem_set(slug).folder
    text = (folder / "handout.md").read_text(encoding="utf-8")
    anchors = set(re.findall(r'<a id="([^"]+)"></a>', text))
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if target.startswith("#"):
            assert target[1:] in anchors, target
        elif not target.startswith("http"):
            assert (folder / target).is_file(), target
