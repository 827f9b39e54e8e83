"""The pytest plugin of a student's own run, for `check` and for plain `pytest`, also over several problem sets at once."""

from __future__ import annotations

import contextlib
import io
import os
import sys
from collections.abc import Generator, Iterable
from pathlib import Path
from typing import Any

import pytest

from autograder.kit.folder import begun_forms
from autograder.kit.own_run import OwnRun
from autograder.kit.release_files import DESCRIPTION
from autograder.runtime.ledger import Ledger
from autograder.runtime.outcomes import Status
from autograder.testing.bench import Bench
from autograder.testing.marks import graded_mark

_NO_PLUGINS = "PYTEST_DISABLE_PLUGIN_AUTOLOAD"


class LocalBench(Bench):
    """Gives each test the work that lies in its own folder, which is loaded when the folder's first test begins."""

    def __init__(self, runs: Iterable[OwnRun] = ()) -> None:
        super().__init__(Ledger({}), 0)
        self.runs = {run.folder.resolve(): run for run in runs}

    def _take(self, item: pytest.Item) -> OwnRun | None:
        """Let the item's problem set be the one under test; None if it belongs to none."""
        folder = item.path.resolve().parent
        if folder not in self.runs and (folder / DESCRIPTION).is_file():
            self.runs[folder] = OwnRun(folder)
        run = self.runs.get(folder)
        if run is not None:
            self.trial, self.ledger_rows, self.seed = run.trial, run.ledger, run.seed
        return run

    @pytest.hookimpl(wrapper=True)
    def pytest_make_collect_report(self, collector: pytest.Collector) -> Generator[None, Any, Any]:
        # Every problem set has a `test_public.py`, and pytest may take one that it knows by this name for all of them.
        if isinstance(collector, pytest.Module):
            sys.modules.pop(collector.path.stem, None)
        return (yield)

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        def is_wanted(item: pytest.Item) -> bool:
            mark, run = graded_mark(item), self.runs.get(item.path.resolve().parent)
            return mark is None or run is None or mark.question in run.wanted

        items[:] = filter(is_wanted, items)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            for run in self.runs.values():
                reason = report.longreprtext.strip().splitlines()[-1]
                run.failures.append(f"{report.nodeid} cannot be run: {reason}. Restore it from the zip that you got.")

    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        if self._take(item) is not None:
            super().pytest_runtest_setup(item)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_makereport(self, item: pytest.Item, call: pytest.CallInfo[None]) -> pytest.TestReport | None:
        """As the bench does, with all that a student should read of this test, and tests that did not run as skipped."""
        run = self._take(item)
        report = super().pytest_runtest_makereport(item, call) if run is not None else None
        if run is not None and report is not None and call.excinfo is not None:
            outcome = run.trial.outcomes[item.name]
            report.longrepr = run.told(outcome)
            if outcome.status is Status.BLOCKED:
                path, line, _ = item.location
                report.outcome, report.longrepr = "skipped", (path, (line or 0) + 1, outcome.message)
        return report

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        for run in self.runs.values():
            terminalreporter.write_line("")
            is_alone = len(self.runs) == 1
            for line in run.summary() if is_alone or begun_forms(run.folder, run.description) else [_not_begun(run)]:
                terminalreporter.write_line(line)


def _not_begun(run: OwnRun) -> str:
    return f"{run.description['title']}: not begun ({run.description['slug']})"


def run_public_tests(run: OwnRun) -> int:
    """Run the public tests of a problem set quietly; returns 0 if all that was asked about passed, else 1."""
    # Other packages' plugins take longer to load than the tests to run.
    autoload = os.environ.get(_NO_PLUGINS)
    os.environ[_NO_PLUGINS] = "1"
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            _run(run.folder, LocalBench([run]))
    finally:
        del os.environ[_NO_PLUGINS]
        if autoload is not None:
            os.environ[_NO_PLUGINS] = autoload
    return 0 if run.passed else 1


def _run(folder: Path, bench: LocalBench) -> None:
    tests = folder / "test_public.py"
    try:
        pytest.main(
            [str(tests), "-q", "--no-header", "--tb=no", "-rN", "-p", "no:cacheprovider", "-p", "no:terminalreporter",
             "--import-mode=importlib", "--capture=no", f"--rootdir={folder}", "-p", "no:conftest", "--noconftest"],
            plugins=[bench],
        )  # fmt: skip
    finally:
        # Nothing else in this process is to meet it, such as the tests of another problem set.
        sys.modules.pop(tests.stem, None)
