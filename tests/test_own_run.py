"""What surrounds a question on a student's own machine: points and reasons, hints, drawings, the form of answers, slips."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pytest

from autograder.authoring.template import problem_set_files, public_points, write
from autograder.course import load_course
from autograder.kit import check, draw
from autograder.kit.command import main

ROOT = Path(__file__).resolve().parents[1]
COURSE = load_course(ROOT)
PS1 = COURSE.problem_set("ps1")
SOLUTION = PS1.solution.read_text(encoding="utf-8")
PUBLIC = public_points(PS1)
Run = Callable[..., tuple[int, str]]

DIVIDED_BY_D = """

def scaled_scores(queries, keys):
    return queries @ np.swapaxes(keys, -1, -2) / queries.shape[-1]
"""


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("template")
    write(problem_set_files(COURSE, PS1), folder)
    return folder


@pytest.fixture
def run(template: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Runs `check.py` with a text as the student's module, or with the untouched one."""
    monkeypatch.chdir(template)
    untouched = (template / "ps1" / "ps1.py").read_bytes()

    def run_check(*arguments: str, work: str = "") -> tuple[int, str]:
        (template / "ps1" / "ps1.py").write_bytes(work.encode() or untouched)
        try:
            capsys.readouterr()
            return main(["ps1", *arguments]), capsys.readouterr().out
        finally:
            (template / "ps1" / "ps1.py").write_bytes(untouched)

    return run_check


def about(question: str, text: str) -> str:
    """What is said of one question."""
    match = re.search(rf"^  {question} .*\n(?:    .*\n)*", text, re.MULTILINE)
    assert match is not None, text
    return match[0]


def test_an_untouched_template_is_not_done_yet_and_nothing_more(run: Run) -> None:
    status, said = run()
    assert status == 1
    assert about("softmax", said).split("   ")[-1].strip() == "not done yet"
    assert "0 of 4 answered" in about("reading", said)
    assert "no answer yet" in about("causation", said)
    total = sum(question.points for question in PS1.assignment.questions)
    public = sum(PUBLIC.values())
    assert f"0 of {public:g} points from this run; {total - public:g} more depend on hidden tests and a reader." in said
    assert "    x " not in said


def test_what_a_question_builds_on_is_to_be_fixed_first(run: Run) -> None:
    broken = SOLUTION + DIVIDED_BY_D
    for arguments in ((), ("attention",)):
        _, said = run(*arguments, work=broken)
        lines = about("attention", said).splitlines()
        assert not lines[0].endswith(f"  {PUBLIC['attention']:g} of {PUBLIC['attention']:g} points")
        assert lines[1] == "    `scaled_scores` fails: fix it first."
        assert "likely slip" not in about("attention", said), "nobody knows whose mistake it is"
    assert "scaled_scores  " not in said, "one question was asked for"
    # What is asked for later in the lesson is not broken yet.
    _, said = run("attention", work=broken.replace("def masked_softmax", "def later"))
    assert about("attention", said).splitlines()[1] == "    `scaled_scores` fails: fix it first."
    _, said = run("attention", work=SOLUTION)
    assert about("attention", said).splitlines() == [
        f"  attention  {PUBLIC['attention']:g} of {PUBLIC['attention']:g} points"
    ]


def test_a_slip_is_said_once_above_the_tests_and_their_hints_are_left_out(run: Run) -> None:
    _, said = run("scaled_scores", work=SOLUTION + DIVIDED_BY_D)
    lines = about("scaled_scores", said).splitlines()
    assert lines[1].startswith("    likely slip: You divide by d.")
    assert said.count("likely slip") == 1
    assert said.index("likely slip") < said.index("    x ")
    assert "hint:" not in said
    # A mistake that no mutant makes.
    _, said = run("scaled_scores", work=SOLUTION + DIVIDED_BY_D.replace("/ queries.shape", "/ 1.7 / queries.shape"))
    assert "likely slip" not in said
    assert "hint:" in said


def test_what_is_released_of_slips_is_names_digests_and_hints_of_code_questions(template: Path) -> None:
    questions = json.loads((template / "ps1" / "problem_set.json").read_text(encoding="utf-8"))["questions"]
    slips = [(question["kind"], slip) for question in questions for slip in question["slips"]]
    assert len(slips) > 20
    for kind, slip in slips:
        assert kind == "code"
        assert set(slip) == {"name", "hint", "wrong"}
        assert all(re.fullmatch("[0-9a-f]{16}", digest) for pair in slip["wrong"].items() for digest in pair)


def test_hints_come_one_by_one(run: Run) -> None:
    question = PS1.question("softmax")
    assert question.hints is not None
    for number in (1, 2, 3):
        status, said = run("softmax", "--hint", str(number))
        assert (status, said) == (0, f"Hint {number} of 3: {question.hints[number - 1]}\n")
    assert run("softmax", "--hint", "4") == (2, "there is no hint 4 for softmax; there are hints 1 to 3\n")
    assert run("--hint", "1")[0] == 2
    assert run("nothing") == (
        2,
        f"there is no question 'nothing'; there are {', '.join(q.id for q in PS1.assignment.questions)}\n",
    )


def test_a_drawing_runs_the_students_own_functions(run: Run, template: Path) -> None:
    drawn = template / "ps1" / "drawings" / "scaled_scores.png"
    status, said = run("--draw", "scaled_scores")
    assert status == 1
    assert said.startswith("scaled_scores: not done yet")
    assert not drawn.exists()
    status, said = run("--draw", "scaled_scores", work=SOLUTION.replace('guess_sharpness = "d"', 'guess_sharpness = "b"'))
    assert status == 0
    assert f"scaled_scores: drawn into {Path('ps1/drawings/scaled_scores.png')}" in said
    assert "You predicted b (`guess_sharpness`). Compare." in said
    assert drawn.read_bytes().startswith(b"\x89PNG")
    own = "\n\ndef scaled_scores(queries, keys):\n    raise KeyError('my own mistake')\n"
    status, said = run("--draw", "scaled_scores", work=SOLUTION + own)
    assert status == 1
    assert "the drawing stopped with KeyError: 'my own mistake'" in said
    assert "Does your check of scaled_scores pass?" in said


def test_a_notebook_draws_without_what_later_cells_define(
    template: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A prediction below its drawing is one that was not made, and what cannot be finished leaves no figure open."""
    monkeypatch.chdir(template / "ps1")
    cell: dict[str, Any] = {"draw": draw}
    exec(SOLUTION, cell)
    del cell["guess_sharpness"]
    assert eval('draw("scaled_scores")', cell) is not None
    said = capsys.readouterr().out
    assert said.startswith("You made no prediction: `guess_sharpness` is not set.\n")
    assert max(map(len, said.splitlines())) <= 88
    opened = []

    def fails(scores: Any) -> Any:
        opened.extend(plt.get_fignums())
        return scores / 0

    cell["softmax"] = fails
    with np.errstate(all="raise"):
        assert eval('draw("softmax")', cell) is None
    assert "the drawing stopped with FloatingPointError" in capsys.readouterr().out
    assert (len(opened), plt.get_fignums()) == (1, [])


def test_the_cells_of_a_notebook_say_the_same(
    template: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(template / "ps1")
    # The functions look at the globals of the cell that calls them.
    cell: dict[str, Any] = {"check": check, "draw": draw}
    exec(SOLUTION + DIVIDED_BY_D, cell)

    def run_cell(source: str) -> Any:
        return eval(source, cell)

    run_cell('check("scaled_scores")')
    assert "likely slip: You divide by d." in capsys.readouterr().out
    run_cell('check("scaled_scores", hint=2)')
    assert capsys.readouterr().out.startswith("Hint 2 of 3: ")
    with pytest.raises(ValueError, match="there is no hint 0 for scaled_scores; there are hints 1 to 3"):
        run_cell('check("scaled_scores", hint=0)')
    drawn = run_cell('draw("scaled_scores")')
    assert drawn is not None
    assert drawn.axes
    assert "You predicted d (`guess_sharpness`). Compare." in capsys.readouterr().out
    # Where a file is graded, its cells check and draw nothing.
    monkeypatch.setattr("autograder.runtime.loading.loading_now", True)
    run_cell('check("scaled_scores")')
    assert run_cell('draw("scaled_scores")') is None
    monkeypatch.setattr("autograder.runtime.loading.loading_now", False)
    monkeypatch.setenv("NBGRADER_EXECUTION", "autograde")
    assert run_cell('draw("scaled_scores")') is None
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize(
    ("question", "answers", "sentence"),
    [
        ("reading", "swapped = 'z'\ndoubled = 'a'\n", "2 of 4 answered; `swapped` must be one of a–d"),
        ("reading", "swapped = doubled = survivors = cell = 'a'\n", "4 of 4 answered"),
        ("reading", "swapped = np.zeros(3)\n", "1 of 4 answered; `swapped` must be one of a–d"),
        ("causation", "causation = 'Take the word away.'\n", "an answer of 4 words, which a person will read"),
        ("causation", "causation = 7\n", "the answer must be a text"),
        ("guess_sharpness", "guess_sharpness = 'd'\n", "1 of 1 points"),
        ("guess_sharpness", "guess_sharpness = 0.9\n", "0 of 1 points"),
        ("guess_effect", "guess_effect = 45\n", "1 of 1 points"),
        ("guess_effect", "guess_effect = 'a lot'\n", "`guess_effect` must be a number"),
        ("guess_effect", "guess_effect = float('nan')\n", "`guess_effect` must be a number"),
    ],
)
def test_the_form_of_an_answer_is_said_and_never_its_truth(run: Run, question: str, answers: str, sentence: str) -> None:
    _, said = run(question, work=f"import numpy as np\n{answers}")
    assert sentence in about(question, said)


def test_an_error_while_loading_is_said_once(run: Run) -> None:
    _, said = run(work="def softmax(:\n")
    assert said.count("SyntaxError") == 1
    assert about("softmax", said).endswith(f" 0 of {PUBLIC['softmax']:g} points   not defined: `softmax`\n")


def test_no_line_is_longer_than_a_notebook_shows(run: Run) -> None:
    _, said = run(work=SOLUTION + DIVIDED_BY_D + "\n\ndef mix(weights, values):\n    return np.zeros((1, 1, 1))\n")
    assert "should be one number" in " ".join(said.split())
    assert max(map(len, said.splitlines())) <= 100


def test_tests_of_one_cause_are_told_together(run: Run) -> None:
    _, said = run("softmax", work="def softmax(scores, axis=-1):\n    raise ZeroDivisionError('mine')\n")
    lines = about("softmax", said).splitlines()
    assert [line[:6] for line in lines[1:3]] == ["    x ", "    x "]
    assert sum("raised ZeroDivisionError" in line for line in lines) == 1
    assert "hint:" not in said
