"""The `course` command: every command of `commands/` under its name, loaded when it is asked for."""

from __future__ import annotations

import ast
import functools
import importlib
import inspect
import io
import os
import sys
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from autograder import __version__

# By name, the module of `commands/` that has the command as a function.
COMMANDS = {
    "grade": "grading",
    "regrade": "grading",
    "watch": "watch",
    "show": "show",
    "totals": "totals",
    "receipt": "receipt",
    "rename": "rename",
    "gradebook": "gradebook",
    "read": "read",
    "feedback": "pages",
    "report": "pages",
    "export": "export",
    "new": "authoring",
    "validate": "authoring",
    "release": "authoring",
    "doctor": "doctor",
}


class Commands(TyperGroup):
    """All commands. What is listed has only a name and a description: to load every module takes half a second."""

    def list_commands(self, ctx: Any) -> list[str]:
        for name, command in self.commands.items():
            command.help = _description(name)
        return list(self.commands)

    def resolve_command(self, ctx: Any, args: list[str]) -> tuple[str | None, Any, list[str]]:
        name, command, rest = super().resolve_command(ctx, args)
        return name, command and _loaded(name or ""), rest


def _description(name: str) -> str:
    """A command's docstring, read from its source."""
    functions = {node.name: node for node in _module(COMMANDS[name]).body if isinstance(node, ast.FunctionDef)}
    return inspect.cleandoc(ast.get_docstring(functions[name]) or "")


@functools.cache
def _module(name: str) -> ast.Module:
    return ast.parse((Path(__file__).parent / "commands" / f"{name}.py").read_text(encoding="utf-8"))


def _loaded(name: str) -> Any:
    """A command with its options."""
    alone = typer.Typer(rich_markup_mode="rich", pretty_exceptions_enable=False, add_completion=False)
    alone.command(name)(getattr(importlib.import_module(f"autograder.commands.{COMMANDS[name]}"), name))
    return _flags_alone(typer.main.get_command(alone))


def _flags_alone(command: Any) -> Any:
    """The same command. A flag takes no value, so help shows none."""
    for parameter in command.params:
        if getattr(parameter, "is_flag", False):
            parameter.metavar = ""
    return command


app = typer.Typer(
    cls=Commands,
    no_args_is_help=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _say_version(asked: bool) -> None:
    if asked:
        typer.echo(f"course {__version__}")
        raise typer.Exit


@app.callback()
def course(
    version: Annotated[
        bool, typer.Option("--version", help="Show the version and exit.", callback=_say_version, is_eager=True)
    ] = False,
) -> None:
    """Grade and release the problem sets of this course."""


for listed in COMMANDS:
    app.command(listed)(lambda: None)


def main() -> None:
    """Run the command line."""
    for stream in (sys.stdout, sys.stderr):
        # A terminal or pipe that cannot show a character gets its code, as in "caf\\xe9"; no table is lost for it.
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    try:
        Path.home()
    except RuntimeError:
        os.environ["HOME"] = "/nonexistent"  # libraries ask for it as they are loaded; an account in a container has none
    _flags_alone(typer.main.get_command(app))(prog_name="course")
