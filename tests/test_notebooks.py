"""Ten notebooks of the corpus in a real kernel and in a guest; `benchmarks/notebooks.py` runs all of them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from autograder.sandbox.guest import open_zygote
from autograder.sandbox.zygote import Zygote
from tests.support import notebook_corpus as corpus

TEN = (
    "display", "own-magics", "pylab", "writefile-import", "shell-continued", "task", "future", "failing-cell",
    "missing-package", "wrong",
)  # fmt: skip


@pytest.fixture(scope="module")
def zygote() -> Iterator[Zygote]:
    zygote = open_zygote()
    yield zygote
    zygote.close()


@pytest.mark.slow
@pytest.mark.parametrize("name", TEN)
def test_a_notebook_runs_in_a_guest_as_in_a_kernel(name: str, zygote: Zygote, tmp_path: Path) -> None:
    case = corpus.CASES[name]
    kernel, guest = corpus.in_kernel(case.cells, tmp_path), corpus.in_guest(case.cells, zygote)
    assert corpus.unexplained(case, kernel, guest) == []
    assert (guest.passed == 4) == (name != "wrong")


def test_the_corpus_is_as_large_as_it_says() -> None:
    assert len(corpus.CASES) >= 60
    assert all(case.only_kernel or case.only_guest for case in corpus.CASES.values() if case.difference)
