"""Charts for staff, as SVG that stands in the page and takes its colours."""

from __future__ import annotations

import datetime
import io
import re
from collections import Counter
from collections.abc import Callable, Sequence

import matplotlib
from markupsafe import Markup
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from autograder.feedback.drawing import NO_METADATA
from autograder.feedback.statistics import QuestionFigures

BINS = 20
# Stand-ins for colours that only the page knows, as it is light or dark.
_TEXT, _BAR, _MARK = "#000001", "#000002", "#000003"
_COLOURS = {_TEXT: "currentColor", _BAR: "var(--link)", _MARK: "var(--bad)"}
# Two charts on one page would have these names in common; nothing in the drawing refers to them.
_NAMES = re.compile(r' id="(?!p[0-9a-f]{10}|m[0-9a-f]{10})[^"]*"')


def score_histogram(scores: Sequence[float], possible: float) -> Markup:
    """How many students have how many points."""

    def draw(axes: Axes) -> None:
        axes.hist(scores, bins=BINS, range=(0, possible), color=_BAR, rwidth=0.92)
        axes.set(xlim=(0, possible), xlabel="points", ylabel="students")

    return _chart("scores", draw)


def question_shares(questions: Sequence[QuestionFigures]) -> Markup:
    """The mean share of the points of each question, with its 95 % interval: the hardest stand out at once."""
    most = max((row.count for row in questions), default=0)
    # A written answer that some are still waiting for would look harder than it is.
    known = [(place, row) for place, row in enumerate(questions, start=1) if row.mean is not None and row.count == most]

    def draw(axes: Axes) -> None:
        for place, row in known:
            axes.barh(place, 100 * (row.mean or 0), color=_BAR, height=0.7)
            low, high = (100 * bound for bound in row.interval)
            axes.plot([low, high], [place, place], color=_MARK, linewidth=2)
        axes.set_yticks([place for place, _ in known], [f"{place}. {row.question.id}" for place, row in known])
        axes.set(xlim=(0, 100), xlabel="mean share of the points, %")
        axes.invert_yaxis()

    return _chart("questions", draw, height=0.9 + 0.32 * len(known))


def attempts_over_time(moments: Sequence[datetime.datetime], due: datetime.datetime) -> Markup:
    """How many attempts came on which day, and the day the problem set was due."""
    days = Counter(moment.astimezone(due.tzinfo).date() for moment in moments)
    first = min([*days, due.date()])
    places = {(day - first).days: count for day, count in days.items()}
    line = (due.date() - first).days
    last = max([*places, line])

    def draw(axes: Axes) -> None:
        axes.bar(list(places), list(places.values()), color=_BAR, width=0.9)
        axes.axvline(line, color=_MARK, linestyle="--")
        ticks = [first + datetime.timedelta(days=place) for place in sorted({0, line, last})]
        axes.set_xticks([(day - first).days for day in ticks], [f"{day.day} {day:%b}" for day in ticks])
        axes.set(xlim=(-1, last + 1), xlabel="day", ylabel="attempts")

    return _chart("attempts", draw)


def _chart(name: str, draw: Callable[[Axes], None], height: float = 2.8) -> Markup:
    with matplotlib.rc_context(
        {
            "svg.fonttype": "none",
            "svg.hashsalt": name,
            "font.size": 13,  # still read on a phone
            "axes.labelcolor": _TEXT,
            "axes.edgecolor": _TEXT,
            "xtick.color": _TEXT,
            "ytick.color": _TEXT,
            "axes.spines.top": False,
            "axes.spines.right": False,
        }
    ):
        figure = Figure(figsize=(5.6, height), layout="constrained")
        axes = figure.subplots()
        axes.yaxis.set_major_locator(MaxNLocator(integer=True))  # unless `draw` sets its own
        draw(axes)
        file = io.StringIO()
        figure.savefig(file, format="svg", transparent=True, metadata=NO_METADATA)
    svg = file.getvalue()
    svg = _NAMES.sub("", svg[svg.index("<svg") :])
    for stand_in, colour in _COLOURS.items():
        svg = svg.replace(stand_in, colour)
    return Markup(svg)
