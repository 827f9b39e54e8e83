"""`python check.py`: the public tests, the hints and the payoffs of a problem set, for those who work in a module."""

from __future__ import annotations

import argparse
import contextlib
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from autograder.kit.carry import carry
from autograder.kit.console import tolerate_missing_characters
from autograder.kit.folder import FORMS, find_folder, find_work, hint_text, known_question, read_description
from autograder.kit.local import run_public_tests
from autograder.kit.own_run import OwnRun
from autograder.kit.payoff import NoPayoff, drawable, payoff, write_souvenir
from autograder.kit.watch import changes
from autograder.runtime import loading
from autograder.testing.errors import problem_text

DRAWINGS = "drawings"


def main(arguments: Sequence[str] | None = None) -> int:
    """The command. Returns 0 if all went well, 1 if a test failed or nothing could be drawn, 2 for a wrong question."""
    parser = argparse.ArgumentParser(prog="python check.py", description="Check your work on a problem set.")
    parser.add_argument("problem_set", help="its folder, such as ps1")
    parser.add_argument("question", nargs="?", help="one question, such as softmax; without it, all")
    parser.add_argument("--form", choices=FORMS, help="which of the two files, if you have begun both")
    parser.add_argument("--hint", type=int, metavar="N", help="print hint 1, 2 or 3 of the question")
    parser.add_argument("--watch", action="store_true", help="check again whenever you save, until Ctrl-C")
    parser.add_argument(
        "--draw", nargs="?", const="", metavar="QUESTION", help="draw what your functions do, for one question or for all"
    )
    parser.add_argument(
        "--carry", action="store_true", help="copy your functions of an earlier problem set to their place here"
    )
    parser.add_argument("--souvenir", action="store_true", help="draw the page to keep, as SVG and PDF")
    given = parser.parse_args(arguments)
    tolerate_missing_characters()
    folder = find_folder(given.problem_set)
    try:
        description = read_description(folder)
        for question in filter(None, (given.question, given.draw)):
            known_question(description, question)
        if given.hint is not None:
            if given.question is None:
                raise ValueError("name the question too, for example: python check.py ps1 softmax --hint 1")
            print(hint_text(description, given.question, given.hint))
            return 0
        if given.carry:
            print("\n".join(carry(folder, description)))
            return 0
        if given.souvenir:
            _, paths = write_souvenir(folder, _loaded(folder, description))
            print("".join(f"written: {path}\n" for path in paths), end="")
            return 0
        if given.draw is not None:
            return _draw(folder, given.draw or given.question or "")
    except (ValueError, FileNotFoundError, NoPayoff) as error:
        print(error)
        return 2
    if not given.watch:
        return _check(folder, given.question, given.form)
    with contextlib.suppress(KeyboardInterrupt):
        _watch(folder, given.question, given.form)
    return 0


def _check(folder: Path, question: str | None, form: str | None) -> int:
    work = folder / f"{read_description(folder)['module']}{FORMS[form]}" if form else None
    run = OwnRun(folder, question=question, work=work)
    status = run_public_tests(run)
    print("\n".join(run.summary()), flush=True)
    return status


def _watch(folder: Path, question: str | None, form: str | None) -> None:
    """Check whenever the work is saved, in this process, where all that takes long to load already is."""
    module = read_description(folder)["module"]
    for _ in changes([folder / f"{module}.py", folder / f"{module}.ipynb"]):
        print(f"--- {datetime.now():%H:%M:%S}, checked again whenever you save; Ctrl-C ends", flush=True)
        try:
            _check(folder, question, form)
        except FileNotFoundError as error:
            print(error, flush=True)


def _loaded(folder: Path, description: Mapping[str, Any]) -> dict[str, Any]:
    """What the student's work defines; its errors are printed."""
    import matplotlib

    work = find_work(folder, description["module"])
    # Drawings go into files; no window opens.
    matplotlib.use("Agg")
    namespace, report = loading.load(work.name, work.read_bytes())
    for problem in report["problems"]:
        print(problem_text(problem))
    return namespace


def _draw(folder: Path, question: str) -> int:
    """Draw one question, or all that have a drawing, into the problem set's folder `drawings`."""
    description = read_description(folder)
    namespace, missing = _loaded(folder, description), 0
    for name in [question] if question else drawable(folder):
        try:
            figure, caption = payoff(folder, description, name, namespace)
        except NoPayoff as error:
            missing += 1
            print(f"{name}: {error}")
            continue
        path = folder / DRAWINGS / f"{name}.png"
        path.parent.mkdir(exist_ok=True)
        figure.savefig(path, dpi=150)
        print(f"{name}: drawn into {path}")
        print("".join(f"    {line}\n" for line in caption.splitlines()), end="")
    return 1 if missing else 0
