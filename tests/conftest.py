"""What all tests share: one way to draw examples, and a copy of the course to plant mistakes in."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, settings

if TYPE_CHECKING:
    from playwright.sync_api import Browser

ROOT = Path(__file__).resolve().parents[1]

DRAWS_ONLY_FOR_HIDDEN_TESTS = """
import matplotlib.pyplot as plt

def heatmap(weights, tokens):
    if tokens in (["dog", "bites", "man"], ["good", "morning"]):
        raise ValueError("a public test")
    figure, axes = plt.subplots()
    axes.imshow(weights)
    axes.set_title(str(tokens))
    return figure
"""

# Hidden tests draw from the same secret in every run, and no test makes one in this repository.
os.environ["COURSE_SECRET"] = "5ec2e7" * 10

# The same examples in every run: a failure in CI is a failure here. No deadline, because CI machines stall.
settings.register_profile(
    "fixed", derandomize=True, deadline=None, database=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("fixed")


@pytest.hookimpl(optionalhook=True)  # also where xdist is switched off
def pytest_xdist_auto_num_workers() -> int:
    """Two processes more than cores: tests wait for limits, browsers and other processes a third of their time."""
    return len(os.sched_getaffinity(0)) + 2


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Files with slow tests first, those with the most tests at their head, so that no long file is begun at the end."""
    slow = Counter(item.path for item in items if item.get_closest_marker("slow"))
    items.sort(key=lambda item: -slow[item.path])


@pytest.fixture
def course_copy(tmp_path: Path) -> Path:
    """A folder with a copy of what an instructor edits: course.yml, assignments/ (without drawings) and solutions/."""
    root = tmp_path / "course"
    root.mkdir()
    shutil.copy(ROOT / "course.yml", root)
    for name in ("assignments", "solutions"):
        shutil.copytree(ROOT / name, root / name, ignore=shutil.ignore_patterns("__pycache__", "*.svg"))
    return root


@pytest.fixture(scope="session")
def graded_for_reading(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A results folder with four graded submissions of ps1: a hostile one, one that draws only what hidden tests ask for,
    one with many mistakes, and a notebook.
    """
    folder, results = tmp_path_factory.mktemp("submissions"), tmp_path_factory.mktemp("results")
    examples = ROOT / "examples" / "submissions" / "ps1"
    shutil.copy(ROOT / "tests" / "support" / "hostile_to_readers.py", folder / "s001.py")
    (folder / "s002.py").write_text(DRAWS_ONLY_FOR_HIDDEN_TESTS, encoding="utf-8")
    shutil.copy(examples / "s003" / "ps1.py", folder / "s003.py")
    shutil.copy(examples / "s016" / "ps1.ipynb", folder / "s016.ipynb")
    command = [str(Path(sys.executable).parent / "course"), "grade", "ps1", str(folder), "--results", str(results)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return results


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """A headless Chromium; tests that need it are skipped where there is none."""
    sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed (extra dev)")
    names = ("chromium", "chromium-browser", "google-chrome", "chrome")
    path = next((found for name in names if (found := shutil.which(name))), None)
    if path is None:
        pytest.skip("no Chromium on PATH; install one to test pages in a real browser")
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield browser
        browser.close()
