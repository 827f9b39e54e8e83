"""When and where a problem set is handed in, and what lateness costs: what `schedule.json` of the template says."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any

SCHEDULE = "schedule.json"  # in the folder `autograder`
# Not `strftime`, whose names depend on the machine's language.
_MONTHS = (
    "January", "February", "March", "April", "May", "June",
    "July", "August", "September", "October", "November", "December",
)  # fmt: skip


@dataclass(frozen=True)
class Schedule:
    """The dates of one problem set, without personal extensions. `closes` is when nothing is earned any more, if ever."""

    due: datetime
    free_until: datetime
    closes: datetime | None
    percent_a_day: float
    grace_days: float
    timezone: str
    hand_in: str
    as_of: date

    def sentences(self, work: str, now: datetime) -> str:
        """What a student reads of handing in `work`, a file's name."""
        if now <= self.due:
            where = f" {self.hand_in}" if self.hand_in else ""
            said = [f"Hand in {work}{where} by {self._moment(self.due)}", self._rules()]
        else:
            said = [f"{work} was due on {self._moment(self.due)}", self._cost(now)]
        as_of = f"(Dates as of {_day(self.as_of)}, without extensions of your own.)"
        return f"{'; '.join(filter(None, said))}. {as_of}"

    def _rules(self) -> str:
        grace = {0.0: "", 1.0: "one day late costs nothing"}.get(
            self.grace_days, f"{self.grace_days:g} days late cost nothing"
        )
        percent = f"{self.percent_a_day:g} % per day" if self.percent_a_day else ""
        rules = ", then ".join(filter(None, (grace, percent and (percent if grace else f"lateness costs {percent}"))))
        end = f"nothing counts after {self._moment(self.closes)}" if self.closes else ""
        return "; ".join(filter(None, (rules, end)))

    def _cost(self, now: datetime) -> str:
        if now <= self.free_until:
            return "handed in now it still costs nothing"
        if self.closes and now > self.closes:
            return "nothing handed in now earns points"
        percent = min(100.0, math.ceil((now - self.free_until) / timedelta(days=1)) * self.percent_a_day)
        return f"handed in now it loses {percent:g} % of its points" if percent else "handed in now it costs nothing"

    def _moment(self, moment: datetime) -> str:
        return f"{_day(moment)}, {moment:%H:%M} ({self.timezone})"


def _day(day: date) -> str:
    return f"{day.day} {_MONTHS[day.month - 1]} {day.year}"


def read_schedule(folder: Path, slug: str) -> Schedule | None:
    """The schedule of a problem set in its `folder`; `None` where there is none, as in folders of earlier releases."""
    try:
        content: dict[str, Any] = json.loads((folder.resolve().parent / "autograder" / SCHEDULE).read_text(encoding="utf-8"))
        dates = {name: text and datetime.fromisoformat(text) for name, text in content.pop("problem_sets")[slug].items()}
        return Schedule(**{**content, **dates, "as_of": date.fromisoformat(content["as_of"])})
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None
