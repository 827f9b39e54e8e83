"""What runs inside Gradescope's container: grade the submission in the sandbox, and write Gradescope's `results.json`.

Started by `run_autograder` as `python -m autograder.platforms.gradescope_run FOLDER`, in the folder of the unpacked zip.
FOLDER is `/autograder` on Gradescope: it holds `submission/`, `submission_metadata.json` and `results/`.
"""

from __future__ import annotations

import datetime
import json
import sys
import traceback
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from autograder.course import Course, ProblemSet, find_root, load_course
from autograder.grades import Grade
from autograder.grades import grade as grade_of
from autograder.intake import Submission
from autograder.intake.entries import Refused, folder_entries
from autograder.intake.handed import Handed, answer_pattern, answers
from autograder.intake.moments import read_moment
from autograder.intake.submission import FORMS
from autograder.journal import Attempt, Stored
from autograder.messages import Task
from autograder.platforms.gradescope_results import TEXT, result_of_test
from autograder.record import Record
from autograder.run import graded
from autograder.runtime.outcomes import Status
from autograder.text import visible

Results = dict[str, Any]
NOT_YOURS = """Your work could not be graded. This is a fault of the grader, not of your work, and costs you no points.
Please tell your instructor. There is no need to hand in again."""


class NotHandedIn(Exception):
    """There is not one file to grade; the message is for the student."""


@dataclass(frozen=True)
class Delivery:
    """What Gradescope says of a submission. A time it does not say is `None`."""

    submitted: datetime.datetime | None = None
    due: datetime.datetime | None = None
    earlier: tuple[datetime.datetime | None, ...] = ()


def main() -> None:
    folder = Path(sys.argv[1])
    try:
        results = results_of(folder, Path.cwd())
    except Exception:
        results = fault(traceback.format_exc())
    temporary = folder / "results/results.json.new"
    temporary.parent.mkdir(exist_ok=True)
    temporary.write_text(json.dumps(results, indent=1), encoding="utf-8")
    temporary.replace(folder / "results/results.json")


def results_of(folder: Path, source: Path) -> Results:
    """The results of the submission in `folder`, graded with the course in `source`."""
    course = load_course(find_root(source))
    problem_set = course.problem_set(course.settings.problem_sets[0].slug)
    delivery = read_delivery(folder / "submission_metadata.json")
    try:
        submission, remark = find_submission(folder / "submission", problem_set.assignment.module)
    except NotHandedIn as error:
        return {"score": 0, "output": str(error), "output_format": TEXT, "stdout_visibility": "hidden", "tests": []}
    [(_, record)] = graded(course.root, problem_set, {"": Task(submission)}, jobs=1)
    if not record.is_sound:
        return fault(record.fault)
    late = lateness(course, problem_set, delivery, submission, record)
    return to_results(problem_set, record, delivery, late, remark)


def fault(reason: str) -> Results:
    """Results without a score: a failure of the grader is nobody's zero."""
    print(reason)
    staff = _staff("The grader failed, so there is no score. See docs/platforms.md.\n\n" + reason)
    return {"output": NOT_YOURS, "output_format": TEXT, "stdout_visibility": "hidden", "tests": [staff]}


def find_submission(folder: Path, module: str) -> tuple[Submission, str]:
    """The one file to grade, and a remark for the student, empty if the file has the name it should have."""
    wanted = " or ".join(f"{module}{form}" for form in FORMS)
    files = [entry for entry in folder_entries(folder) if not entry.folder] if folder.is_dir() else []
    handed = Handed("", [], files=[(entry.parts, entry) for entry in files], any_name=True)
    chosen = answers(handed, module)
    if len(chosen) != 1:
        names = ", ".join(ascii(entry.name)[1:-1] for entry in ([entry for _, _, entry in chosen] or files)[:10])
        if chosen:
            raise NotHandedIn(f"Hand in one file, {wanted}. Which of these is it? {names}. Nothing was graded.")
        others = f"only {names}" if names else "no file at all"
        raise NotHandedIn(f"Hand in {wanted}. There is {others} in what you handed in. Nothing was graded.")
    [(parts, form, entry)] = chosen
    try:
        source = entry.read()
    except Refused as error:
        advice = "Hand in the file itself. If it is a notebook with large outputs, clear them and save it first."
        raise NotHandedIn(f"{ascii(entry.name)[1:-1]} is not read: {error}. {advice} Nothing was graded.") from None
    named = answer_pattern(module).fullmatch(parts[-1]) is not None
    remark = "" if named else f"Your file is called {ascii(entry.name)[1:-1]}, not {wanted}; it was graded all the same."
    return Submission("submission", f"{module}{form}", source), remark


def read_delivery(path: Path) -> Delivery:
    """What `submission_metadata.json` says of times. Who handed in is not read. Of a group, the latest due date counts."""
    try:
        metadata = json.loads(path.read_text(encoding="utf-8"))
        # A due date of a user's own is an extension.
        own = [read_moment((user.get("assignment") or {}).get("due_date")) for user in metadata["users"]]
        due = max((time for time in own if time), default=read_moment(metadata["assignment"].get("due_date")))
        earlier = [read_moment(entry["submission_time"]) for entry in metadata.get("previous_submissions") or []]
        return Delivery(read_moment(metadata["created_at"]), due, tuple(earlier))
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        print(f"submission_metadata.json could not be read, so nothing is known of lateness: {error!r}")
        return Delivery()


def lateness(course: Course, problem_set: ProblemSet, delivery: Delivery, submission: Submission, record: Record) -> Grade:
    """What the course's late policy makes of the points by tests."""
    attempt = Attempt(
        student=submission.student,
        number=len(delivery.earlier) + 1,
        filename=submission.filename,
        sha256=submission.sha256,
        content="",
        submitted=delivery.submitted,
        received=delivery.submitted or datetime.datetime.now(datetime.UTC),
        origin="gradescope",
    )
    due = delivery.due.astimezone(course.zone) if delivery.due else course.due(problem_set.slug, submission.student)
    return grade_of(problem_set, course.settings.policy, due, attempt, Stored(attempt.number, 1, Path(), record), {})


def to_results(problem_set: ProblemSet, record: Record, delivery: Delivery, late: Grade, remark: str) -> Results:
    """Gradescope's results: a test is "2.3", the third of question 2, with points of its own.

    Students see of a hidden test what the record lets them see. What is for staff stands in a test that no student is shown.
    """
    tests: list[Results] = []
    overview: list[str] = []
    for place, question in enumerate(record.questions, start=1):
        if question.kind == "written":
            points = f"{question.points:g} point" + ("s" if question.points != 1 else "")
            said = f"{points}, given by a person: " + ("there is no answer yet" if question.undone else "handed in")
            tests.append(
                {
                    "number": f"{place}",
                    "name": f"{question.id}: {question.title}",
                    "output": f"{said}.",
                    "output_format": TEXT,
                    "visibility": "visible",
                    "tags": [question.id],
                }
            )
            overview.append(f"{question.id}: {said}")
            continue
        for number, verdict in enumerate(record.verdicts_of(question.id), start=1):
            tests.append({"number": f"{place}.{number}", **result_of_test(record, verdict)})
        overview.append(f"{question.id}: {question.score:g} of {question.points:g} points")
    notes = [remark, f"Attempt {late.attempt.number}.", *late.notes]
    if late.penalty:
        notes.append("The points shown here are those before lateness is counted.")
    parts = [*filter(None, notes), "", *overview]
    parts += ["", "While your file ran:", *record.problems] if record.problems else []
    parts += ["", "Your own output:", record.output] if record.output.strip() else []
    return {
        "output": visible("\n".join(parts)),
        "output_format": TEXT,
        "stdout_visibility": "hidden",
        "tests": [*tests, _staff(_for_staff(record))],
        "extra_data": {
            "submitted": _iso(delivery.submitted),
            "due": _iso(delivery.due),
            "days_late": late.days_late,
            "penalty": late.penalty,
            "earlier": [_iso(time) for time in delivery.earlier],
            "provenance": asdict(record.provenance),
        },
    }


def _iso(time: datetime.datetime | None) -> str | None:
    return time.isoformat() if time else None


def _for_staff(record: Record) -> str:
    lines = record.look_lines
    for verdict in record.verdicts:
        if verdict.status is not Status.PASSED:
            kind = "hidden" if verdict.hidden else "public"
            lines += ["", f"{verdict.test} ({kind}, {verdict.status})", verdict.message]
    if record.staff_output.strip():
        lines += ["", "Printed while hidden tests ran:", record.staff_output]
    lines += ["", *(f"{key}: {value}" for key, value in asdict(record.provenance).items())]
    return "\n".join(lines)


def _staff(text: str) -> Results:
    return {"name": "For staff", "visibility": "hidden", "output": visible(text), "output_format": TEXT}


if __name__ == "__main__":
    main()
