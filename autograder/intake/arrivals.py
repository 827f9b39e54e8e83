"""What arrives in a place that is looked at again and again: only what is whole, and each thing once.

A place is looked at by polling, since shared drives do not tell of changes that another machine made. A glance tells what
changed, and only when some of that has come to rest all of it is listed. Looking takes no more than a fifth of a core.
"""

from __future__ import annotations

import datetime
import functools
import time
from collections.abc import Callable, Collection
from pathlib import Path

from autograder.intake import find_submissions
from autograder.intake.entries import top_stamps
from autograder.intake.handed import Handed
from autograder.intake.roster import Roster
from autograder.intake.submission import Submission, Unreadable

LOOK_SECONDS = 0.3
QUIET_SECONDS = 0.5
SHARE = 0.2  # of the time, for looking


class Arrivals:
    """The submissions in `place`, as they arrive.

    A submission is whole once its platform says so, and nothing beside it in its folder has changed for `QUIET_SECONDS`. One
    whose files change later arrives again.
    """

    def __init__(
        self,
        place: Path,
        module: str,
        roster: Roster | None,
        names: Collection[str],
        *,
        form: str | None,
        zone: datetime.tzinfo,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._place = place
        self._find = functools.partial(
            find_submissions, place, module, roster, names, form=form, zone=zone, wanted=self._take
        )
        self._clock = clock
        self._next_look = clock()
        self._stamps: dict[str, int] = {}
        self._restless: dict[str, float] = {}  # what has not come to rest, and when it last changed
        self._taken: dict[str, tuple[object, ...]] = {}
        self._listed: set[Unreadable] = set()

    def look(self) -> tuple[list[Submission], list[Unreadable]]:
        """What is whole since the last look, and what needs a person; nothing if it is too early for another look.

        Raises like `find_submissions`.
        """
        if self._clock() < self._next_look:
            return [], []
        begun = time.process_time()
        try:
            now, stamps = self._clock(), top_stamps(self._place)
            self._restless |= {top: now for top, stamp in stamps.items() if self._stamps.get(top) != stamp}
            self._stamps = stamps
            at_rest = [top for top, since in self._restless.items() if now >= since + QUIET_SECONDS]
            if not at_rest and self._place.is_dir():
                return [], []
            for top in at_rest:
                del self._restless[top]
            submissions, listed = self._find()
        finally:
            self._next_look = self._clock() + max(LOOK_SECONDS, (time.process_time() - begun) / SHARE)
        # What is said of a submission is new; anything else stays where it is, and is listed once.
        news = [entry for entry in listed if entry.student or entry not in self._listed]
        self._listed.update(listed)
        return submissions, news

    def _take(self, handed: Handed) -> bool:
        """Whether something is whole, and not yet taken as it now is."""
        stamp, path = handed.stamp, handed.path
        if self._taken.get(handed.name) == stamp or path is None:
            return False
        top = path.relative_to(self._place).parts[0]
        if top in self._restless:
            return False
        if not handed.is_whole():
            self._restless[top] = self._clock()
            return False
        self._taken[handed.name] = stamp
        return True
