"""The ways in which a submission fails to answer, and what is said of each."""

from __future__ import annotations

import difflib
from collections.abc import Collection

from autograder.runtime import loading, wire

UNDONE = "not done yet"  # how the message about a stub begins

TOO_LARGE = "TooLarge"  # the error of a call that is not kept, or could not be sent


class Mismatch(AssertionError):
    """The submission's answer is not what the question asks for. `safe` is what a student may read of a hidden test."""

    def __init__(self, message: str, safe: str = "") -> None:
        super().__init__(message)
        self.safe = safe


class StudentError(Exception):
    """The submission raised, instead of answering. `report` is `loading.describe_error`'s.

    `safe` is the same with nothing in it that the submission chose after it had seen a test's inputs: what a student may
    read of a hidden test.
    """

    def __init__(self, text: str, report: loading.Report | None = None, safe: str | None = None) -> None:
        super().__init__(text)
        self.report = report or {}
        self.safe = text if safe is None else safe

    @property
    def type_name(self) -> str:
        """The name of the exception's own type."""
        return str(self.report.get("type", type(self).__name__))

    def __str__(self) -> str:
        # KeyError's own would show the quoted repr.
        return str(self.args[0])


class NotDone(StudentError, NotImplementedError):
    """The stub is still there."""


class Undefined(StudentError):
    """The submission does not define `name`, which the question asks for; `similar` is one that it does define, if any."""

    def __init__(self, text: str, name: str, similar: str = "") -> None:
        super().__init__(text)
        self.name = name
        self.similar = similar


class Stopped(StudentError):
    """The call was ended: time, memory, or the process itself. Later calls of the function are not made."""


class AlreadyStopped(Stopped):
    """The function did not return in an earlier test, so it was not called again."""


def cannot_be_called(name: str, error: wire.WireError) -> StudentError:
    """What to raise for arguments too large or too deep to send: only what the submission itself answered before is so."""
    text = f"`{name}` cannot be called with this: {error}"
    return StudentError(text, {"type": TOO_LARGE}, safe=f"`{name}` cannot be called")


def undefined(name: str, report: loading.Report, asked: Collection[str] = ()) -> Undefined:
    """The error for a name a submission lacks; `report` is `loading.load`'s, `asked` the names the problem set asks for.

    What stopped the submission while it was loaded is not in it: that is said once, above all tests.
    """
    others = [other for other in report.get("names", []) if other not in asked]
    similar = next(iter(difflib.get_close_matches(name, others, n=1, cutoff=0.6)), "")
    text = f"`{name}` is not defined"
    if similar:
        text += f"; did you rename it? There is `{similar}`"
    return Undefined(text, name, similar)


def problem_text(problem: loading.Report) -> str:
    """One error of a submission's own, in a line for its author."""
    where = problem.get("where") or []
    if problem["type"] in ("Stopped", loading.IGNORED):
        return str(problem["message"])
    place = where[-1] if where else problem.get("unit", "")
    return f"{problem['type']}: {problem['message']}" + (f" ({place})" if place else "")


def student_error(name: str, report: loading.Report) -> StudentError:
    """The exception a test sees when `name` raised what `report` says: also an instance of the same built-in type."""
    if report["type"] == "NotImplementedError":
        return NotDone(f"{UNDONE}: `{name}`", report)
    where = "".join(f"\n  {line}" for line in report["where"])
    if report["type"] == "TimeUp":
        # Without the line it had reached: that depends on the machine's speed, and records must not.
        return Stopped(f"stopped: `{name}` {report['message']}", report, safe=f"stopped: `{name}` did not return in time")
    text = f"`{name}` raised {report['type']}: {report['message']}{where}"
    if "read-only" in report["message"]:
        text += f"\n{loading.CHANGED}"
    kinds = _builtin_errors()
    base = next((base for base in report["bases"] if base in kinds), "")
    kind = kinds.get(base, StudentError)
    return kind(text, report, safe=f"`{name}` raised {base or 'an exception'}")


_ERRORS: dict[str, type[StudentError]] = {}


def _builtin_errors() -> dict[str, type[StudentError]]:
    # Made from a fixed list of types, never from a name that came over the wire.
    if not _ERRORS:
        for base in (
            ValueError, TypeError, IndexError, KeyError, ZeroDivisionError, OverflowError, FloatingPointError,
            ArithmeticError, LookupError, AttributeError, NameError, RecursionError, MemoryError, RuntimeError,
            AssertionError,
        ):  # fmt: skip
            _ERRORS[base.__name__] = type(f"Student{base.__name__}", (StudentError, base), {})
    return _ERRORS
