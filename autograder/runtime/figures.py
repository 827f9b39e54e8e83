"""What a matplotlib figure shows, as plain data: labels, ticks, colour ranges, one number a cell.

The guest describes a figure; the host and the tests see only the description, a `FigureView`.
"""

from __future__ import annotations

import contextlib
import dataclasses
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

Tick = tuple[float, str]
Limits = tuple[float, float]
MAX_ARTISTS = 2000
# Ways to draw an image that leave its cells apart; "auto" smooths an image that is larger than its pixels only.
SHARP = ("nearest", "none", "auto", "antialiased", None)


@dataclass(frozen=True)
class ImageView:
    """A grid of coloured cells. `cells` (rows, columns) is in reading order: row 0 on top, column 0 on the left.

    `centers_x` and `centers_y` are the axis positions of its columns and rows; `darkest` says which end of the colour
    map has the lower luminance, if luminance changes in one direction only: "high", "low" or "neither". `blurred` says
    that colours run into each other between cells.
    """

    cells: np.ndarray
    centers_x: np.ndarray
    centers_y: np.ndarray
    vmin: float
    vmax: float
    cmap: str
    darkest: str
    blurred: bool


@dataclass(frozen=True)
class LineView:
    """Points in drawing order. What cannot be seen (no width, no size, transparent) has the linestyle or marker "None"."""

    x: np.ndarray
    y: np.ndarray
    label: str
    linestyle: str
    marker: str


@dataclass(frozen=True)
class ColorbarView:
    label: str
    vmin: float
    vmax: float


@dataclass(frozen=True)
class AxesView:
    title: str = ""
    xlabel: str = ""
    ylabel: str = ""
    xlim: Limits = (0.0, 1.0)
    ylim: Limits = (0.0, 1.0)
    xscale: str = "linear"
    yscale: str = "linear"
    xticks: list[Tick] = field(default_factory=list)
    yticks: list[Tick] = field(default_factory=list)
    images: list[ImageView] = field(default_factory=list)
    lines: list[LineView] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)
    legend: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class FigureView:
    """A figure's axes, and its colour bars apart from them."""

    title: str = ""
    axes: list[AxesView] = field(default_factory=list)
    colorbars: list[ColorbarView] = field(default_factory=list)

    @classmethod
    def from_plain(cls, plain: Any) -> FigureView:
        """Build the view from `describe`'s answer as it came over the wire; `ValueError` or `TypeError` for nonsense."""
        view: FigureView = _build(cls, plain)
        return view


_PARTS = {"axes": AxesView, "colorbars": ColorbarView, "images": ImageView, "lines": LineView}


def _build(kind: type[Any], plain: Any) -> Any:
    names = {item.name: item.type for item in dataclasses.fields(kind)}
    if not isinstance(plain, dict) or plain.keys() != names.keys():
        raise ValueError(f"{kind.__name__} needs the keys {', '.join(names)}")
    view = kind(**{name: _check(name, str(names[name]), value) for name, value in plain.items()})
    if isinstance(view, ImageView) and view.cells.shape != (view.centers_y.size, view.centers_x.size):
        raise ValueError("an image needs one position a row and one a column")
    if isinstance(view, LineView) and view.x.size != view.y.size:
        raise ValueError("a line needs as many x as y")
    return view


def _check(name: str, kind: str, value: Any) -> Any:
    if name in _PARTS:
        if not isinstance(value, list):
            raise ValueError(f"{name} is not a list")
        return [_build(_PARTS[name], item) for item in value]
    if kind == "np.ndarray":
        good = isinstance(value, np.ndarray) and value.dtype == np.float64 and value.ndim == (2 if name == "cells" else 1)
    elif kind == "str":
        good = isinstance(value, str)
    elif kind == "float":
        good = isinstance(value, float)
    elif kind == "bool":
        good = isinstance(value, bool)
    elif kind == "list[Tick]":
        good = isinstance(value, list) and all(
            isinstance(tick, tuple) and len(tick) == 2 and isinstance(tick[0], float) and isinstance(tick[1], str)
            for tick in value
        )
    elif kind == "list[str]":
        good = isinstance(value, list) and all(isinstance(item, str) for item in value)
    else:
        good = isinstance(value, tuple) and len(value) == 2 and all(isinstance(item, float) for item in value)
    if not good:
        raise ValueError(f"{name} is not {kind}")
    return value


def is_figure(value: Any) -> bool:
    """Whether `value` is a matplotlib figure; does not import matplotlib to find out."""
    module = sys.modules.get("matplotlib.figure")
    return module is not None and isinstance(value, module.Figure)


def warm_up() -> None:
    """Draw a small figure once, so that processes forked later find fonts, tick code and colour maps in memory."""
    import matplotlib
    from matplotlib import pyplot

    # Saving a figure asks for it, and the first time it is looked for in files that a guest may not see.
    _ = matplotlib.__version__
    figure, axes = pyplot.subplots(layout="constrained")
    image = axes.imshow([[0.0, 1.0]])
    axes.set_xticks([0, 1], ["a", "b"], rotation=45)
    axes.plot([0, 1], [0, 1], label="line")
    axes.legend()
    figure.colorbar(image, label="scale")
    describe(figure)
    pyplot.close(figure)


@contextlib.contextmanager
def closing() -> Iterator[None]:
    """Close what pyplot opens meanwhile: at the end of a cell, a notebook shows every figure that is still open."""
    before = _open_numbers()
    try:
        yield
    finally:
        for number in _open_numbers() - before:
            sys.modules["matplotlib.pyplot"].close(number)


def _open_numbers() -> set[int]:
    pyplot = sys.modules.get("matplotlib.pyplot")
    return set(pyplot.get_fignums()) if pyplot else set()


def close(value: Any) -> None:
    """Close `value` if it is a figure, so that pyplot does not keep and count it."""
    if is_figure(value) and "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close(value)


def describe(figure: Any) -> dict[str, Any]:
    """Describe a `matplotlib.figure.Figure` as nested plain data, the form `FigureView.from_plain` takes.

    Nothing is drawn: limits and ticks are brought up to date by asking for them, and a layout would cost ten times as much.
    """
    bars = {artist.colorbar.ax for axes in figure.axes for artist in _mappables(axes) if artist.colorbar}
    bars |= {axes for axes in figure.axes if getattr(axes, "_colorbar", None) is not None}
    return {
        "title": figure.get_suptitle(),
        "axes": [_describe_axes(axes) for axes in figure.axes if axes not in bars],
        "colorbars": [_describe_colorbar(axes) for axes in figure.axes if axes in bars],
    }


def _mappables(axes: Any) -> list[Any]:
    return [artist for artist in (*axes.images, *axes.collections) if artist.get_visible()][:MAX_ARTISTS]


def _describe_colorbar(axes: Any) -> dict[str, Any]:
    bar = getattr(axes, "_colorbar", None)
    low, high = (bar.vmin, bar.vmax) if bar is not None else sorted(axes.get_ylim())
    label = axes.get_ylabel() or axes.get_xlabel() or axes.get_title()
    return {"label": label, "vmin": float(low), "vmax": float(high)}


def _describe_axes(axes: Any) -> dict[str, Any]:
    # A legend of the whole figure names the lines of all axes.
    legends = [legend for legend in (axes.get_legend(), *axes.figure.legends) if legend and legend.get_visible()]
    return {
        "title": axes.get_title() or axes.get_title("left") or axes.get_title("right"),
        "xlabel": axes.get_xlabel(),
        "ylabel": axes.get_ylabel(),
        "xlim": tuple(float(limit) for limit in axes.get_xlim()),
        "ylim": tuple(float(limit) for limit in axes.get_ylim()),
        "xscale": axes.get_xscale(),
        "yscale": axes.get_yscale(),
        "xticks": _ticks(axes.get_xticks(), axes.get_xticklabels(), axes.get_xlim()),
        "yticks": _ticks(axes.get_yticks(), axes.get_yticklabels(), axes.get_ylim()),
        "images": [view for artist in _mappables(axes) if (view := _describe_cells(axes, artist)) is not None],
        "lines": [_describe_line(line) for line in axes.lines[:MAX_ARTISTS] if line.get_visible()],
        "texts": [text.get_text() for text in axes.texts[:MAX_ARTISTS] if text.get_visible()],
        "legend": [text.get_text() for legend in legends for text in legend.get_texts()],
    }


def _ticks(positions: Any, labels: Any, limits: tuple[float, float]) -> list[Tick]:
    low, high = sorted(limits)
    return [(float(at), label.get_text()) for at, label in zip(positions, labels, strict=False) if low <= float(at) <= high]


def _describe_line(line: Any) -> dict[str, Any]:
    x, y = (np.asarray(data, dtype=np.float64) for data in (line.get_xdata(), line.get_ydata()))
    label = str(line.get_label())
    return {
        "x": np.atleast_1d(x),
        "y": np.atleast_1d(y),
        "label": "" if label.startswith("_") else label,
        "linestyle": str(line.get_linestyle()) if line.get_linewidth() > 0 and _seen(line, line.get_color()) else "None",
        "marker": str(line.get_marker()) if line.get_markersize() > 0 and _marked(line) else "None",
    }


def _seen(line: Any, color: Any) -> bool:
    """Whether something in `color` on `line` is not wholly transparent."""
    from matplotlib.colors import to_rgba

    opacity = line.get_alpha()
    return bool(opacity is None or opacity > 0) and to_rgba(color)[3] > 0


def _marked(line: Any) -> bool:
    edge = line.get_markeredgewidth() > 0 and _seen(line, line.get_markeredgecolor())
    return edge or _seen(line, line.get_markerfacecolor())


def _describe_cells(axes: Any, artist: Any) -> dict[str, Any] | None:
    data = artist.get_array()
    if data is None or not hasattr(artist, "norm"):
        return None
    if hasattr(artist, "get_extent"):
        cells = np.ma.filled(np.ma.asarray(data, dtype=np.float64), np.nan)
        if cells.ndim != 2:
            return None
        left, right, bottom, top = artist.get_extent()
        rows, columns = cells.shape
        x = np.linspace(left, right, 2 * columns + 1)[1::2]
        # The extent names the edges of the drawn image; with origin "upper" the array's row 0 is at its top edge.
        start, stop = (top, bottom) if artist.origin == "upper" else (bottom, top)
        y = np.linspace(start, stop, 2 * rows + 1)[1::2]
    elif hasattr(artist, "get_coordinates"):
        corners = np.asarray(artist.get_coordinates(), dtype=np.float64)
        rows, columns = corners.shape[0] - 1, corners.shape[1] - 1
        flat = np.ma.filled(np.ma.asarray(data, dtype=np.float64), np.nan)
        if flat.size != rows * columns:
            return None
        cells = flat.reshape(rows, columns)
        x = (corners[0, :-1, 0] + corners[0, 1:, 0]) / 2
        y = (corners[:-1, 0, 1] + corners[1:, 0, 1]) / 2
    else:
        return None
    x_left, x_right = axes.get_xlim()
    y_bottom, y_top = axes.get_ylim()
    if x.size > 1 and (x[-1] > x[0]) != (x_right > x_left):
        cells, x = cells[:, ::-1], x[::-1]
    # Reading order starts at the top: at the high end of the axis, unless the axis is inverted.
    if y.size > 1 and (y[-1] > y[0]) != (y_top < y_bottom):
        cells, y = cells[::-1], y[::-1]
    low, high = (float(end) if end is not None else float("nan") for end in artist.get_clim())
    return {
        "cells": np.array(cells, dtype=np.float64),
        "centers_x": np.array(x, dtype=np.float64),
        "centers_y": np.array(y, dtype=np.float64),
        "vmin": low,
        "vmax": high,
        "cmap": str(artist.get_cmap().name),
        "darkest": _darkest(artist.get_cmap()),
        # What is neither an image nor flat-coloured cells (a Gouraud mesh) has been left out above.
        "blurred": getattr(artist, "get_interpolation", lambda: "nearest")() not in SHARP,
    }


def _darkest(cmap: Any) -> str:
    """Which end of a colour map is darker, by the luminance weights of Rec. 709; within 0.1 counts as neither.

    So does a map that gets darker and lighter again on the way.
    """
    luminance = cmap(np.linspace(0.0, 1.0, 17))[:, :3] @ (0.2126, 0.7152, 0.0722)
    steps = np.diff(luminance)
    if abs(luminance[-1] - luminance[0]) < 0.1 or (steps.max() > 0.02 and steps.min() < -0.02):
        return "neither"
    return "high" if luminance[-1] < luminance[0] else "low"
