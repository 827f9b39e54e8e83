"""Records of the first version, which had Gradescope's shape, read as today's.

All that such a record says is kept; what it holds only as a sentence is taken apart.
"""

from __future__ import annotations

from typing import Any

_SLIP, _HINT = "Likely slip: ", "Hint: "


def upgraded(plain: dict[str, Any]) -> dict[str, Any]:
    """The plain form of today's record. Raises `KeyError` or `TypeError` if this is no record."""
    extra = plain["extra_data"]
    provenance = dict(extra["provenance"])
    fault = provenance.pop("fault")
    provenance.pop("seed", None)
    slips: dict[str, dict[str, str]] = {}
    verdicts = [_verdict(test, slips) for test in plain["tests"]]
    return {
        "version": 2,
        "provenance": {"version": "", **provenance},
        "questions": [
            {
                "id": question["id"],
                "title": question["title"],
                "kind": question["kind"],
                "score": question["score"],
                "points": question["max_score"],
                "undone": question["undone"],
                "answer": question.get("answer", ""),
                "slips": [{"mutant": name, "hint": hint} for name, hint in slips.get(question["id"], {}).items()],
            }
            for question in extra["questions"]
        ],
        "verdicts": verdicts,
        "fault": fault,
        "look": [look for line in extra["look"] for look in _look(line)],
        "problems": extra["problems"],
        "output": plain["output"],
        "staff_output": extra["staff_output"],
        "figures": extra["figures"],
        "seconds": plain["execution_time"],
        "peak_memory": extra.get("peak_memory", 0),
    }


def _verdict(test: dict[str, Any], slips: dict[str, dict[str, str]]) -> dict[str, Any]:
    """One entry of `tests`; its slip is put into `slips`, by question and mutant."""
    extra = test["extra_data"]
    lines = test["output"].split("\n")
    # They were written last, so that what a submission printed before them cannot pass for them.
    hint = lines.pop().removeprefix(_HINT) if lines[-1].startswith(_HINT) else ""
    if extra["slip"] and lines and lines[-1].startswith(_SLIP):
        slips.setdefault(extra["question"], {})[extra["slip"]] = lines.pop().removeprefix(_SLIP)
    return {
        "test": extra["test"],
        "question": extra["question"],
        "title": test["name"].partition(": ")[2],
        "hidden": extra["hidden"],
        "status": extra["outcome"],
        "points": test["max_score"],
        "message": extra["message"],
        "safe": "\n".join(lines) if extra["hidden"] and extra["outcome"] != "fault" else "",
        "hint": hint,
        "slip": extra["slip"],
        "seconds": extra["seconds"],
        "uses": extra["uses"],
    }


def _look(line: str) -> list[dict[str, str]]:
    if line.startswith("grader fault: "):
        return [{"reason": "fault", "detail": line.removeprefix("grader fault: ")}]
    if line.startswith("not defined: "):
        names = line.removeprefix("not defined: ").split(", ")
        return [{"reason": "undefined", "detail": name} for name in names]
    reason = "stopped" if line.startswith("stopped") else "renamed" if "did you rename it" in line else "problem"
    return [{"reason": reason, "detail": line}]
