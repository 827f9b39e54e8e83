"""Mutants, wrong answers that must lose points, and alternatives, right answers that must earn all of them.

A variant is a function in a problem set's `mutants.py` or `alternatives.py` that stands in for one of the reference
solution's. To grade it through the same engine as everyone, it becomes a submission: a module whose other names are the
reference's own.
"""

from __future__ import annotations

import ast
import inspect
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any, TypeVar

Function = TypeVar("Function", bound=Callable[..., Any])


@dataclass(frozen=True)
class Variant:
    """One variant: `function` answers `question` by replacing `replaces` (empty: the question's first name).

    Of a mutant: `hint` is for a student who answers alike; a `frequent` one must fail a public test; `museum` describes it
    in the handout (Markdown), and says how one would notice.
    """

    question: str
    function: Callable[..., Any]
    replaces: str = ""
    hint: str = ""
    frequent: bool = False
    museum: str = ""

    @property
    def name(self) -> str:
        return self.function.__name__


def mutant(
    question: str, *, hint: str, replaces: str = "", frequent: bool = False, museum: str = ""
) -> Callable[[Function], Function]:
    """Declare a wrong answer to `question`, with the hint that a student who answers alike gets.

    A `frequent` one must be caught by a public test. `museum` shows it in the handout: what it does, and how one would
    notice; such a mutant counts as frequent.
    """
    return _declare(question, replaces, hint, frequent or bool(museum), museum)


def alternative(question: str, *, replaces: str = "") -> Callable[[Function], Function]:
    """Declare a right answer to `question` in another style."""
    return _declare(question, replaces)


def _declare(
    question: str, replaces: str, hint: str = "", frequent: bool = False, museum: str = ""
) -> Callable[[Function], Function]:
    def declare(function: Function) -> Function:
        declared = sys.modules[function.__module__].__dict__.setdefault("VARIANTS", [])
        declared.append(Variant(question, function, replaces, hint, frequent, museum))
        return function

    return declare


def declared_in(module: ModuleType) -> list[Variant]:
    """The variants that a module declares, in the order of its text."""
    return list(getattr(module, "VARIANTS", []))


def as_submission(variant: Variant, replaces: str, solution: Path) -> bytes:
    """The source of a submission that answers with `variant` and otherwise with the reference solution's own functions.

    These call the variant where they call what it replaces. The names that the variants' file imports are of a solution
    that runs in a namespace of its own, and stay right.
    """
    source = Path(inspect.getsourcefile(variant.function) or "").read_text(encoding="utf-8")
    tree = ast.parse(source)
    kept: list[ast.stmt] = []
    imported: list[str] = []
    for node in tree.body:
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] in ("autograder", "solutions"):
            if (node.module or "").startswith("solutions"):
                imported += [f"{name.asname or name.name} = reference[{name.name!r}]" for name in node.names]
            continue
        if isinstance(node, ast.FunctionDef) and node.decorator_list:
            if node.name != variant.name:
                continue
            node.decorator_list = []
        kept.append(node)
    value = variant.name if inspect.signature(variant.function).parameters else None
    text = solution.read_text(encoding="utf-8")
    called = f"{variant.name}()" if value is None and not _defines_function(text, replaces) else variant.name
    return "\n".join(
        [
            "import sys as _sys, types as _types",
            "_sys.modules['reference'] = _types.ModuleType('reference')",
            "reference = _sys.modules['reference'].__dict__",
            f"exec(compile({text!r}, 'reference', 'exec'), reference)",
            f"exec(compile({text!r}, 'solution', 'exec'), globals())",
            *imported,
            ast.unparse(ast.Module(kept, [])),
            f"{replaces} = {called}",
            "",
        ]
    ).encode()


def _defines_function(source: str, name: str) -> bool:
    return any(isinstance(node, ast.FunctionDef) and node.name == name for node in ast.parse(source).body)
