"""Whatever ends `course grade` or `course regrade --apply`, running it again finishes the work: nothing lost, nothing twice.

benchmarks/crash.py does the same at hundreds of points; support/crashes.py says how.
"""

from __future__ import annotations

import multiprocessing
import os
import random
import select
import signal
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import pytest

from tests.support import crashes
from tests.support.crashes import Moments, Steps

KILLS = 3  # in a row; with two rows of each command these are twelve points


@pytest.fixture(scope="module")
def pool() -> Iterator[ProcessPoolExecutor]:
    """Processes of their own, because each adopts the orphans of its own crashes, and of no others."""
    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("forkserver")) as pool:
        yield pool


@pytest.fixture(scope="module", params=["grade", "regrade"])
def steps(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Steps:
    return Steps(tmp_path_factory.mktemp("steps"), request.param, students=2)


@pytest.fixture(scope="module", params=["grade", "regrade"])
def moments(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, pool: ProcessPoolExecutor) -> Moments:
    return pool.submit(Moments, tmp_path_factory.mktemp("moments"), request.param).result()


@pytest.mark.slow
def test_killed_at_any_step_of_a_write(steps: Steps, pool: ProcessPoolExecutor) -> None:
    list(pool.map(steps.crash, range(1, steps.count + 1)))
    assert steps.count > 15


@pytest.mark.slow
def test_a_power_cut_at_any_step_of_a_write(steps: Steps, pool: ProcessPoolExecutor) -> None:
    every = range(1, steps.count + 1)
    list(pool.map(steps.crash, every, [random.Random(step) for step in every]))


@pytest.mark.slow
def test_killed_at_any_moment(moments: Moments, pool: ProcessPoolExecutor, tmp_path: Path) -> None:
    rows = [pool.submit(moments.crash, tmp_path / str(seed), seed, KILLS) for seed in range(2)]
    # What a killed run had done is not done again, so later ones may end before their kill; the first do not.
    assert all(row.result() for row in rows)


@pytest.mark.slow
@pytest.mark.parametrize("moments", ["grade"], indirect=True)
@pytest.mark.parametrize("kill", [False, True])
def test_two_at_once(moments: Moments, pool: ProcessPoolExecutor, tmp_path: Path, kill: bool) -> None:
    pool.submit(moments.together, tmp_path / "course", 1, kill).result()


def killed_at_work(root: Path) -> None:
    crashes.adopt_orphans()
    crashes.make_course(root, students=1)
    (root / "handed_in/s002.py").write_text("import time\ntime.sleep(3600)\n")
    pid = crashes.start(root, "grade")
    handle = os.pidfd_open(pid)
    # The worker has one submission graded, and the second in its hands.
    while not (root / "results/tiny/s001/001.json").exists():
        ended = select.select([handle], [], [], 0.05)[0]
        assert not ended, (root / "said").read_text()
    os.kill(pid, signal.SIGKILL)
    crashes.wait_for_all("killed at work")


def test_workers_and_sandboxes_do_not_outlive_a_killed_command(pool: ProcessPoolExecutor, tmp_path: Path) -> None:
    """Not even if the worker is busy, and its guest has all the time in the world."""
    pool.submit(killed_at_work, tmp_path / "course").result()
