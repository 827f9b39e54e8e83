"""The dates that students read: `autograder/schedule.json` in the template, which no problem set's version covers."""

from __future__ import annotations

import datetime
import json
from typing import Any

from autograder.course import Course
from autograder.grades import after
from autograder.kit.schedule import SCHEDULE

DAY = datetime.timedelta(days=1)


def schedule_file(course: Course) -> bytes:
    """Dates and late rules of `course.yml`, without personal extensions, and the day on which they last changed."""
    policy = course.settings.policy
    dates = {}
    for listing in course.settings.problem_sets:
        due = listing.due.astimezone(course.zone)
        free_until = after(due, policy.grace_days * DAY)
        closes = None if policy.closes_after_days is None else after(free_until, policy.closes_after_days * DAY)
        moments = {"due": due, "free_until": free_until, "closes": closes}
        dates[listing.slug] = {name: moment and moment.isoformat() for name, moment in moments.items()}
    schedule: dict[str, Any] = {
        "timezone": course.settings.timezone,
        "hand_in": course.settings.hand_in,
        "grace_days": policy.grace_days,
        "percent_a_day": policy.percent_a_day,
        "problem_sets": dates,
    }
    return json.dumps({"as_of": _as_of(course, schedule), **schedule}, indent=1, ensure_ascii=False).encode() + b"\n"


def _as_of(course: Course, schedule: dict[str, Any]) -> str:
    """The day in the committed template if it says the same, else today: the same sources give the same bytes."""
    try:
        kept = json.loads((course.root / "student_template" / "autograder" / SCHEDULE).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        kept = {}
    day = kept.pop("as_of", "")
    return str(day) if kept == schedule else datetime.datetime.now(course.zone).date().isoformat()
