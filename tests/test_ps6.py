"""Problem set 6: parts of problem set 4 are carried over, and drawings show what the student's own functions give."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from autograder.course import load_course
from autograder.kit.carry import carry
from autograder.kit.own_run import OwnRun
from autograder.kit.payoff import NoPayoff, payoff, write_souvenir
from autograder.runtime import loading
from solutions import ps4_what_the_root_prevents as ps4
from solutions import ps6_what_a_weight_explains as ps6

ROOT = Path(__file__).resolve().parents[1]
CARRIED = ("layer_norm", "gelu", "multi_head_attention", "attention_backward")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A student's folder of problem set 6, beside that of problem set 4, which is done."""
    for slug in ("ps4", "ps6"):
        shutil.copytree(ROOT / "student_template" / slug, tmp_path / slug)
        (tmp_path / slug / f"{slug}.ipynb").unlink()
    (tmp_path / "ps4" / "ps4.py").write_bytes(load_course(ROOT).problem_set("ps4").solution.read_bytes())
    return tmp_path / "ps6"


def described(folder: Path) -> dict[str, Any]:
    content: dict[str, Any] = json.loads((folder / "problem_set.json").read_text(encoding="utf-8"))
    return content


def loaded(folder: Path) -> dict[str, Any]:
    namespace, report = loading.load("ps6.py", (folder / "ps6.py").read_bytes())
    assert report["problems"] == []
    return namespace


def test_what_the_set_needs_of_problem_set_4_is_carried_and_works(folder: Path) -> None:
    told = carry(folder, described(folder))
    assert [line.partition(":")[0] for line in told] == list(CARRIED)
    assert all("copied from" in line for line in told)
    namespace, rng = loaded(folder), np.random.default_rng(1)
    x, mask = rng.normal(size=(2, 5, 6)), np.tri(5, dtype=bool)
    matrices = rng.normal(size=(4, 6, 6))
    for own, right in zip(
        namespace["multi_head_attention"](x, *matrices, 2, mask),
        ps4.multi_head_attention(x, *matrices, 2, mask),
        strict=True,
    ):
        np.testing.assert_allclose(own, right, atol=1e-12)
    for own, right in zip(
        namespace["attention_backward"](x, x, x, x, mask), ps6.attention_backward(x, x, x, x, mask), strict=True
    ):
        np.testing.assert_allclose(own, right, atol=1e-12)
    np.testing.assert_allclose(namespace["gelu"](x), ps4.gelu(x), atol=1e-12)


def test_a_check_of_what_builds_on_carried_functions_tests_what_has_tests(folder: Path) -> None:
    assert OwnRun(folder, question="gradients").wanted == {"gradients", "backward_parts", "model"}
    assert OwnRun(folder, question="model").wanted == {"model"}


SHARES = (0.25, 0.5, 0.75)


def work(**changed: Any) -> dict[str, Any]:
    """A student's functions that are right, but for `changed`; training is left out."""

    def untrained(model: Any, positions: Any, batches: Any, rates: Any) -> Any:
        return model, np.full(len(rates), 2.0)

    return {**vars(ps6), "train_lm": untrained, "swap_experiment": lambda *arguments: SHARES, **changed}


def test_the_page_to_keep_shows_what_the_students_functions_give(folder: Path) -> None:
    figure, paths = write_souvenir(folder, work())
    assert [path.read_bytes()[:5] for path in paths] == [b"<?xml", b"%PDF-"]
    assert [path.name for path in paths] == ["souvenir.svg", "souvenir.pdf"]
    first, second, losses, bars = figure.axes
    assert [axes.images[0].get_array().shape for axes in (first, second)] == [(24, 24)] * 2
    assert losses.lines[0].get_ydata().tolist() == [2.0] * 500
    assert tuple(bar.get_height() for bar in bars.patches) == SHARES
    assert "17920 numbers" in figure.get_suptitle()


def test_the_page_to_keep_waits_for_what_is_not_done(folder: Path) -> None:
    with pytest.raises(NoPayoff, match="not done yet"):
        write_souvenir(folder, loaded(folder))
    assert not list(folder.glob("souvenir.*"))


def test_tables_are_forced_on_the_students_own_model(folder: Path) -> None:
    figure, _ = payoff(folder, described(folder), "intervene", work())
    own, *forced = [bar.get_height() for bar in figure.axes[1].patches]
    # Untrained, a model guesses one of sixteen notes, whatever it reads.
    assert all(0 <= share < 0.3 for share in (own, *forced))
    assert len({own, *forced}) > 1

    def by_itself(model: Any, positions: Any, tokens: Any) -> Any:
        return np.zeros((*tokens.shape, 16)), [np.zeros((*tokens.shape, tokens.shape[1]))] * 2

    with pytest.raises(NoPayoff, match="does not call `multi_head_attention`"):
        payoff(folder, described(folder), "intervene", work(lm_forward=by_itself))
