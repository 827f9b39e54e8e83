"""Lets `pytest`, started inside a problem set's folder, find your answers and count your points."""

import pytest

from autograder.kit.local import DESCRIPTION, LocalBench


def pytest_configure(config: pytest.Config) -> None:
    folder = config.invocation_params.dir
    if not (folder / DESCRIPTION).is_file():
        raise pytest.UsageError("start pytest inside the folder of a problem set, for example: cd ps1, then pytest")
    bench = LocalBench(folder)
    bench.pytest_configure(config)
    config.pluginmanager.register(bench)
