"""`course new` and `course validate`: a new problem set is good as it stands, and every planted fault is caught by name."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from autograder.authoring.new import new_problem_set
from autograder.authoring.sources import source_checks
from autograder.authoring.validate import validate
from autograder.course import CourseError, load_course
from tests.support.drafts import NAME, TODAY, add, change, path_of

COURSE = Path(sys.executable).parent / "course"


@pytest.fixture
def draft(course_copy: Path) -> Path:
    """A course with a new problem set, ps7, as `course new` writes it."""
    new_problem_set(load_course(course_copy), NAME, TODAY)
    return course_copy


def source_problems(root: Path) -> str:
    """What the checks of the sources say of ps7, or why it cannot be read at all."""
    try:
        course = load_course(root)
        checks = source_checks(course, course.problem_set("ps7"))
        return "\n".join(problem for check in checks for problem in check.problems)
    except CourseError as error:
        return str(error)


# --- course new


def test_a_new_problem_set_is_listed_as_a_draft_and_its_sources_are_good(draft: Path) -> None:
    listing = load_course(draft).listing("ps7")
    assert (listing.folder, listing.weight) == (NAME, 0)
    assert listing.released < listing.due
    assert source_problems(draft) == ""


def test_comments_of_course_yml_survive(course_copy: Path) -> None:
    before = (course_copy / "course.yml").read_text(encoding="utf-8")
    new_problem_set(load_course(course_copy), NAME, TODAY)
    after = (course_copy / "course.yml").read_text(encoding="utf-8")
    assert after.startswith(before.rstrip("\n"))
    assert len(after) > len(before)


@pytest.mark.parametrize("name", ["PS7", "7ps", "ps7-sparse", "../ps7", "ps7 x", "", "ps7_"])
def test_a_name_that_does_not_fit_is_refused_before_anything_is_written(course_copy: Path, name: str) -> None:
    before = sorted(course_copy.rglob("*"))
    with pytest.raises(CourseError, match="is not a name for a problem set"):
        new_problem_set(load_course(course_copy), name, TODAY)
    assert sorted(course_copy.rglob("*")) == before


def test_a_taken_name_is_refused(draft: Path) -> None:
    with pytest.raises(CourseError, match="has a problem set ps7 already"):
        new_problem_set(load_course(draft), "ps7_other", TODAY)


# --- planted faults that the sources show

SOLVED = "    return values - values.mean()\n"
BEGIN, END = "    # BEGIN SOLUTION\n", "    # END SOLUTION\n"
SLOT = "<!-- question: {} -->\n\nEDIT: what"
SOURCE_FAULTS: dict[str, tuple[str, str, str, str]] = {
    "unclosed marker": ("solution", END, "", "# BEGIN SOLUTION is never closed"),
    "nested markers": ("solution", BEGIN, BEGIN + BEGIN, "inside a solution that began"),
    "end without begin": ("solution", BEGIN, "", "# END SOLUTION without # BEGIN SOLUTION"),
    "marker in lower case": ("solution", "# BEGIN SOLUTION", "# Begin solution", "a solution marker must stand"),
    "code on a marker's line": ("solution", "# END SOLUTION", "pass  # END SOLUTION", "a solution marker must stand"),
    "tab": ("solution", "    return", "\treturn", "there is a tab"),
    "stub that does not parse": ("solution", BEGIN, "    total = (\n" + BEGIN + "    1)\n", "the block does not parse"),
    "block of another name": ("solution", "question: centred", "question: centered", "the blocks are centered"),
    "block that opens twice": ("solution", "# === question", "# === question: centred ===\n# === question", "opens twice"),
    "block marker misspelled": ("solution", "=== question", "=== questions", "a question marker must be exactly"),
    "solution before the first block": ("solution", "import numpy", BEGIN.strip() + "\nimport numpy", "before the first"),
    "no markers at all": ("solution", BEGIN + SOLVED + END, SOLVED, "does not say 'not done yet'"),
    "def inside the markers": ("solution", "def centred", "# BEGIN SOLUTION\ndef centred", "inside a solution that began"),
    "stub without docstring": ("solution", '"""Shift numbers', 'f"""Shift numbers', "`centred` has no docstring"),
    "name that nothing defines": ("assignment.yml", "names: [centred]", "names: [centered]", "`centered`, which assign"),
    "slot without a question": ("handout.md", "question: centred", "question: other", "no slot for centred"),
    "slot of no question": ("handout.md", "EDIT: what", SLOT.format("other"), "without a question: other"),
    "slot that appears twice": ("handout.md", "EDIT: what", SLOT.format("centred"), "or one appears twice"),
    "unknown key": ("assignment.yml", "tier: core", "tier: core\n    teir: core", "teir: this key is not known"),
    "unknown tier": ("assignment.yml", "tier: core", "tier: easy", "tier"),
    "public test that needs the reference": (
        "test_public.py",
        "(student)",
        "(student, reference)",
        "needs the reference solution, which students do not have",
    ),
    "public test that imports the solution": (
        "test_public.py",
        "import numpy as np",
        f"import numpy as np\nfrom solutions.{NAME} import centred",
        f"imports solutions.{NAME}, which students do not have",
    ),
    "public test that does not import": ("test_public.py", "import numpy as np", "import nmupy as np", "cannot be imported"),
    "public test without a title": (
        "test_public.py",
        '    """The numbers 1, 2 and 6 become -2, -1 and 3."""\n',
        "",
        "a graded test needs a docstring",
    ),
    "unknown ledger row": ("assignment.yml", "uses: []", "ledger: {D9-99: seen}", "the ledger has no row D9-99"),
    "ledger row without a reason": ("assignment.yml", "uses: []", "ledger: {D3-1: ''}", "ledger: D3-1: String"),
    "ledger row that is not to be graded": (
        "test_hidden.py",
        "    for n in",
        '    ledger.value("D1-3", "output")\n    for n in',
        "D1-3 is not to be graded",
    ),
    "number that is not the ledger's": (
        "handout.md",
        "The mean of",
        "It is 26<!-- ledger: D3-1.output -->. The mean of",
        "26 is printed where ledger row D3-1 has output",
    ),
    "remark that stands behind no number": (
        "handout.md",
        "The mean of",
        "It is <!-- ledger: D3-1.output --> 25. The mean of",
        "a ledger remark must stand right behind its number",
    ),
    "link to nowhere": ("handout.md", "The mean of", "[See](#precise). The mean of", 'there is no <a id="precise"></a>'),
    "figure that is not there": ("handout.md", "The mean of", "![A](figures/mean.svg). The mean of", "mean.svg is not"),
    "figure without words": ("handout.md", "The mean of", "![](handout.md). The mean of", "a figure without a text"),
    "solution in the handout": (
        "handout.md",
        "EDIT: what",
        "```python\nreturn values - values.mean()\n```\n\nEDIT: what",
        "ps7/README.md:38: this line is from the solution of centred",
    ),
    "hidden test in the handout": (
        "handout.md",
        "EDIT: what",
        "```python\nchosen = array(student.centred(numbers), shape=(n,), name='centred(values)')\n```\n\nEDIT: what",
        "ps7/README.md: a statement with the structure of one in test_hidden.py",
    ),
    "hidden number in a docstring": ("solution", "n at least 1.", "n at least 1, say 8.61803.", "8.61803 is a number of"),
}  # fmt: skip


@pytest.mark.parametrize("fault", SOURCE_FAULTS)
def test_a_fault_that_the_sources_show_is_named(draft: Path, fault: str) -> None:
    part, old, new, message = SOURCE_FAULTS[fault]
    if fault == "hidden number in a docstring":
        change(draft, "test_hidden.py", "rng.normal(5.0, 3.0, n)", "8.61803 * rng.normal(5.0, 3.0, n)")
    change(draft, part, old, new)
    assert message in source_problems(draft)


def test_a_solution_under_other_names_is_a_leak(draft: Path) -> None:
    change(draft, "solution", SOLVED, "    total = float(np.sum(values[::2])) + float(np.sum(values[1::2]))\n" + SOLVED)
    change(
        draft,
        "test_public.py",
        "    answer = array",
        "    given = np.ones(3)\n    whole = float(np.sum(given[::2])) + float(np.sum(given[1::2]))\n    answer = array",
    )
    assert "a statement with the structure of one in the solution of centred" in source_problems(draft)


def test_an_answered_choice_is_a_leak(draft: Path) -> None:
    add(draft, "assignment.yml", "  - {id: pick, title: Pick, points: 1, tier: core, kind: choice, names: [picked]}\n")
    add(draft, "handout.md", "\n<!-- question: pick -->\n")
    add(draft, "solution", '\n\n# === question: pick ===\npicked = None\n# BEGIN SOLUTION\npicked = "b"\n# END SOLUTION\n')
    assert source_problems(draft) == ""
    change(draft, "solution", 'picked = None\n# BEGIN SOLUTION\npicked = "b"\n# END SOLUTION\n', 'picked = "b"\n')
    assert "`picked` is answered: picked = 'b'" in source_problems(draft)


def test_a_question_that_stands_twice_is_named(draft: Path) -> None:
    text = path_of(draft, "assignment.yml").read_text(encoding="utf-8")
    add(draft, "assignment.yml", text[text.index("  - id: centred") :])
    assert "the question id 'centred' appears twice" in source_problems(draft)


# --- planted faults that grading shows


def add_question(root: Path, name: str, body: str, test: str, mutant: str, alternative: str) -> None:
    """One more question, for one point: a function of an array, and a hidden test of it."""
    add(root, "assignment.yml", f"  - {{id: {name}, title: T, points: 1, tier: core, kind: code, names: [{name}]}}\n")
    add(root, "handout.md", f"\n<!-- question: {name} -->\n")
    add(
        root,
        "solution",
        f'\n\n# === question: {name} ===\ndef {name}(x):\n    """Says what."""\n{BEGIN}    {body}\n{END}',
    )
    add(root, "test_hidden.py", f'\n\n@graded("{name}", points=1, hint="Look at {name}.")\n{test}\n')
    add(root, "mutants.py", f"\n\n{mutant}\n")
    add(root, "alternatives.py", f"\n\n{alternative}\n")


def graded_problems(root: Path, *, most_mutations: int = 0) -> str:
    course = load_course(root)
    checks = validate(course, course.problem_set("ps7"), most_mutations=most_mutations, jobs=1)
    return "\n".join(f"{check.name}: {problem}" for check in checks for problem in check.problems)


HALF = "return x / 2"
HALF_TEST = (
    'def test_{0}(student):\n    """Half of it."""\n'
    '    close(array(student.{0}(np.ones(2)), name="f"), [0.5, 0.5], atol=0, name="f")'
)
HALF_MUTANT = '@mutant("{0}", hint="Hint of {0}.")\ndef wrong_{0}(x):\n    return x'
HALF_ALTERNATIVE = '@alternative("{0}")\ndef other_{0}(x):\n    return 0.5 * x'


@pytest.mark.slow
def test_faults_that_grading_shows_are_all_named(draft: Path) -> None:
    def add_half(name: str, **parts: str) -> None:
        chosen = {"test": HALF_TEST, "mutant": HALF_MUTANT, "alternative": HALF_ALTERNATIVE, **parts}
        add_question(draft, name, HALF, *(chosen[part].format(name) for part in ("test", "mutant", "alternative")))

    add_half("harmless", mutant='@mutant("{0}", hint="Hint.")\ndef wrong_{0}(x):\n    return x * 0.5')
    twin = '@mutant("{{0}}", hint="{0}")\ndef {0}_{{0}}(x):\n    return x * 0.3'
    add_half("twins", mutant="\n\n".join(map(twin.format, ("first", "second"))))
    add_half("spilling", test=HALF_TEST + "\n    student.twins(np.ones(2))",
             mutant='@mutant("harmless", replaces="{0}", hint="Hint.")\ndef wrong_{0}(x):\n    return x')  # fmt: skip
    add_half("narrow", alternative='@alternative("{0}")\ndef other_{0}(x):\n    return x - 0.25')
    add_half("unmarked", mutant="", alternative="")
    add_half("given", test='def test_given(student):\n    """Nothing is asked."""')
    add_half("restless", test=HALF_TEST.replace(
        '"""Half of it."""', '"""Half of it."""\n    assert SEEN.append(1) is None and len(SEEN) in (1, 2, 3)'))  # fmt: skip
    add_half("rare", mutant=HALF_MUTANT.replace("hint=", "frequent=True, hint="))
    change(draft, "payoffs.py", "work.centred(values)", "values - values.mean()")
    change(draft, "test_hidden.py", "from autograder.testing", "import numpy as np\n\nSEEN = []\nfrom autograder.testing")
    said = graded_problems(draft)
    for expected in (
        "every mutant loses points, and only on its question: harmless: wrong_harmless loses no points",
        "harmless: wrong_spilling loses points on spilling too",
        "no mutant gets another one's hint: twins: second_twins gets the hint of first_twins",
        "enough mutants and alternatives: unmarked has 0 mutants; a code question needs 5",
        "enough mutants and alternatives: narrow has 1 alternatives; a code question needs 2",
        "every alternative earns all points: narrow: other_narrow fails test_narrow",
        "the untouched template earns nothing: ps7.py: given earns 1 points with nothing done",
        "the untouched template earns nothing: ps7.ipynb: given earns 1 points with nothing done",
        "every test is failed by some mutant: test_given: no mutant fails it",
        "the same verdicts in any order: order",
        "drawings show the reference's work and wait for stubs: centred: with the untouched template it says: drawn into",
        "public tests catch frequent mistakes: rare: wrong_rare is frequent, but passes every public test",
    ):
        assert expected in said


@pytest.mark.slow
def test_tests_that_let_generated_mutants_pass_are_named_with_the_survivors(draft: Path) -> None:
    change(draft, "test_public.py", "close(answer, [-2.0, -1.0, 3.0], atol=rounding(6.0)", "close(answer, answer, atol=0")
    change(draft, "test_hidden.py", "close(answer, reference.centred(values)", "close(answer * 0, 0 * values")
    path_of(draft, "equivalents.yml").write_text(
        "equivalents:\n  - {question: centred, before: nothing, after: something, reason: none}\n", encoding="utf-8"
    )
    said = graded_problems(draft, most_mutations=10)
    # Some are killed all the same, because what they answer is not finite.
    assert re.search(
        r"generated mutants lose points: centred: [1-5] of 6 generated mutants lose points; 95% are needed", said
    )
    assert "survivor: `return values - values.mean()` → `return values * values.mean()`" in said
    assert "equivalents.yml: no generated mutant is `nothing` → `something`" in said
    assert "minus_the_median loses no points" in said


@pytest.mark.slow
@pytest.mark.parametrize(
    ("plant", "message"),
    [
        (
            lambda root: change(root, "solution", "values - values.mean()", "values - values.max()"),
            "the reference earns all points: test_three_numbers_around_zero: failed",
        ),
        (
            lambda root: change(root, "solution", SOLVED, "    np.ones(15_000_000)\n" + SOLVED),
            "the reference needs at most a tenth of the limits: test_three_numbers_around_zero passes, but not with a tenth",
        ),
        (
            lambda root: change(root, "test_public.py", "[-2.0, -1.0, 3.0]", "np.nothing"),
            "the reference earns all points: the grader failed: test_three_numbers_around_zero",
        ),
    ],
    ids=["wrong reference", "greedy reference", "broken test"],
)
def test_a_fault_of_the_reference_is_named(draft: Path, plant: Callable[[Path], None], message: str) -> None:
    plant(draft)
    assert message in graded_problems(draft)


def test_faults_between_tests_and_assignment_are_all_named_together(draft: Path) -> None:
    change(draft, "test_public.py", "points=1", "points=2")
    add(
        draft,
        "test_hidden.py",
        '\n\ndef test_unmarked(student):\n    """Not graded."""\n'
        '\n\n@graded("nobody", points=1)\ndef test_of_nothing(student):\n    """Of no question."""\n'
        '\n\n@graded("centred", points=1)\ndef test_three_numbers_around_zero(student):\n    """Taken."""\n'
        '\n\n@graded("centred", points=1, requires="test_gone")\ndef test_waiting(student):\n    """Waits."""\n',
    )
    said = graded_problems(draft)
    for expected in (
        "test_unmarked has no @graded mark",
        "test_of_nothing grades 'nobody', which is not a question",
        "test_three_numbers_around_zero: another test has this name too",
        "test_waiting requires test_gone, which is not an earlier test of centred",
        "centred: points: is 2, but its tests add up to 5",
    ):
        assert expected in said
