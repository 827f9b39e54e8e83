"""Jupyter in a real browser: a server of its own in a folder, and a tab that reaches nothing but this machine."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

TOKEN = "hush"
# JupyterLab asks a public server for news, and before that asks the user, in a dialog over the page.
QUIET = {"disabledExtensions": {"@jupyterlab/apputils-extension:announcements": True}}


@contextmanager
def jupyter_server(folder: Path) -> Iterator[str]:
    """A Jupyter server in `folder`, and its address. Settings, kernels' files and its log are in `folder/.jupyter`."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    own = folder / ".jupyter"
    names = ["JUPYTER_CONFIG", "JUPYTER_DATA", "JUPYTER_RUNTIME", "JUPYTERLAB_SETTINGS", "JUPYTERLAB_WORKSPACES"]
    folders = {f"{name}_DIR": str(own / name.lower()) for name in names} | {"IPYTHONDIR": str(own / "ipython")}
    settings = own / "jupyter_config" / "labconfig" / "page_config.json"
    settings.parent.mkdir(parents=True)
    settings.write_text(json.dumps(QUIET), encoding="utf-8")
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    options = [
        "--no-browser",
        "--allow-root",
        "--ServerApp.ip=127.0.0.1",
        f"--port={port}",
        f"--IdentityProvider.token={TOKEN}",
        # The usual one asks a package index for newer versions.
        "--LabApp.extension_manager=readonly",
        # Only the page's own code knows when it is ready.
        "--LabApp.expose_app_in_browser=True",
    ]
    with (own / "server.log").open("w") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", "jupyter_server", *options],
            cwd=folder, env={**os.environ, **folders, "PATH": path}, stdout=log, stderr=log,
        )  # fmt: skip
    base = f"http://127.0.0.1:{port}"
    try:
        wait_until(lambda: answers(f"{base}/api?token={TOKEN}"), process)
        yield base
    finally:
        process.terminate()
        process.wait()


def answers(address: str) -> bool:
    try:
        with urllib.request.urlopen(address, timeout=5):
            return True
    except (urllib.error.URLError, OSError):
        return False


def wait_until(ready: Callable[[], bool], process: subprocess.Popen[bytes]) -> None:
    end = time.monotonic() + 120
    while not ready():
        assert process.poll() is None, "the server ended"
        assert time.monotonic() < end, "the server did not answer"
        time.sleep(0.1)


@contextmanager
def tab_of(browser: Any) -> Iterator[Any]:
    """A tab in a window of its own."""
    with browser.new_context() as window:
        tab = window.new_page()
        tab.set_default_timeout(120_000)
        # The page asks the network for what draws formulas; nothing leaves this machine in a test.
        tab.route(lambda address: "127.0.0.1" not in address, lambda route: route.abort())
        yield tab
