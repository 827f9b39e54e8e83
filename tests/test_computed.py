"""Values that tests share: computed once a worker, before any submission, and never a submission's doing."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest

from autograder import run
from autograder.course import load_course
from autograder.intake import Submission
from autograder.kit.embedded import run_tests
from autograder.messages import Task
from autograder.platforms.suite import question_suite
from autograder.runtime.outcomes import Status
from autograder.testing import computed_once

TINY = Path(__file__).parent / "tiny_course"
LONG = '''
import signal
from pathlib import Path
from autograder.testing import computed_once

LOG = Path(__file__).with_name("computed.log") if "__file__" in globals() else None
COUNT = []

@computed_once
def inputs(rng):
    """Drawn like a hidden test's."""
    return rng.normal(size=6)

@computed_once
def expected(reference, inputs):
    """Long to compute, for all that the tests know."""
    # No test's allowance runs meanwhile.
    assert signal.getitimer(signal.ITIMER_PROF) == (0.0, 0.0)
    COUNT.append(1)
    if LOG:
        LOG.write_text("computed " * len(COUNT))
    return {"inputs": inputs, "weights": reference.softmax(inputs)}

@graded("softmax", points=1, hint="")
def test_first(student, expected):
    """Changes what it was given."""
    answer = array(student.softmax(expected["inputs"]), shape=(6,), name="softmax(x)")
    close(answer, expected["weights"], atol=1e-12, name="softmax(x)")
    expected["weights"][:] = 0

@graded("softmax", points=2, hint="")
def test_second(student, expected):
    """Takes long, so the rehearsal does not reach what follows."""
    answer = array(student.once.softmax(expected["inputs"]), shape=(6,), name="softmax(x)")
    close(answer, expected["weights"], atol=1e-12, name="softmax(x)")
    assert len(COUNT) == 1, "computed again"
'''
RIGHT = "import numpy as np\ndef softmax(x):\n    e = np.exp(x - x.max())\n    return e / e.sum()\n"
WRONG = "import numpy as np\ndef softmax(x):\n    return np.exp(x)\n"


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The tiny course with the two hidden tests above in place of softmax's."""
    root = tmp_path_factory.mktemp("course") / "course"
    shutil.copytree(TINY, root)
    path = root / "assignments" / "tiny" / "test_hidden.py"
    text = path.read_text(encoding="utf-8")
    before, after = text.index('@graded("softmax", points=2'), text.index('@graded("apply"')
    path.write_text(text[:before] + LONG + "\n\n" + text[after:], encoding="utf-8")
    return root


def test_a_worker_computes_it_once_for_all_submissions_and_each_test_gets_it_whole(tiny: Path) -> None:
    problem_set = load_course(tiny).problem_set("tiny")
    tasks = {
        name: Task(Submission(name, "tiny.py", text.encode())) for name, text in (("a", RIGHT), ("b", WRONG), ("c", RIGHT))
    }
    records = dict(run.graded(tiny, problem_set, tasks, jobs=1))
    ended = {
        name: [verdict.status for verdict in record.verdicts_of("softmax") if verdict.hidden]
        for name, record in records.items()
    }
    assert ended == {"a": [Status.PASSED] * 2, "b": [Status.FAILED] * 2, "c": [Status.PASSED] * 2}, records["a"].verdicts
    assert (problem_set.folder / "computed.log").read_text(encoding="utf-8") == "computed "


def test_other_graders_give_it_too(tiny: Path) -> None:
    namespace: dict[str, object] = {}
    exec(RIGHT, namespace)
    suite = question_suite(load_course(tiny).problem_set("tiny"), "softmax", platform="bench")
    outcomes = [outcome for _ in range(2) for outcome in run_tests(namespace, suite)]
    assert {(outcome.test, outcome.message) for outcome in outcomes if outcome.hidden} == {
        ("test_first", ""),
        ("test_second", ""),
    }


def test_it_cannot_depend_on_a_submission() -> None:
    with pytest.raises(TypeError, match="cannot have one"):

        @computed_once
        def answer(student: object) -> np.ndarray:
            return np.zeros(1)
