"""Lets `pytest`, started here or in a problem set's folder, find your answers and count your points."""

import pytest

from autograder.kit.local import LocalBench


def pytest_configure(config: pytest.Config) -> None:
    bench = LocalBench()
    bench.pytest_configure(config)
    config.pluginmanager.register(bench)
