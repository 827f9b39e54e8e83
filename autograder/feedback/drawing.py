"""A student's figure, drawn again from what the grader read of it. None of the student's code or formatting takes part."""

from __future__ import annotations

import base64
import io
import re
import warnings

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from autograder.runtime.figures import AxesView, FigureView, ImageView, Limits, LineView, Tick
from autograder.text import bounded

MAX_AXES, MAX_ARTISTS, MAX_TICKS, MAX_TEXT = 12, 50, 60, 120
# A date would make every page another one; the rest would be noise.
NO_METADATA = dict.fromkeys(("Creator", "Date", "Format", "Type"))
STYLES = ("-", "--", "-.", ":", "None")
MARKERS = tuple(".,ov^<>12348spP*hH+xXDd|_")  # a marker can be a formula too; these are none
SCALES = ("linear", "log")
# What matplotlib itself writes at the ticks of a logarithmic axis.
_POWER = re.compile(r"\$\\mathdefault\{10\^\{([−-]?\d+)\}\}\$")
_POWERS = str.maketrans("0123456789-−", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁻")


def parts(view: FigureView) -> int:
    """About how many things have to be drawn, which is what a drawing's time grows with: each takes a few milliseconds."""
    axes = view.axes[:MAX_AXES]
    ticks = sum(min(len(ticks), MAX_TICKS) for panel in axes for ticks in (panel.xticks, panel.yticks))
    lists = [artists for panel in axes for artists in (panel.images, panel.lines, panel.legend, panel.texts)]
    artists = sum(min(len(artists), MAX_ARTISTS) for artists in lists)
    return 4 * max(1, len(axes)) + ticks + artists


def image_source(view: FigureView) -> str:
    """The figure as the `src` of an `<img>`; empty if it cannot be drawn. In an image nothing runs and nothing is loaded."""
    try:
        drawing = _svg(view)
    except Exception:
        # Numbers of a student's choice can make matplotlib give up in many ways. That costs the picture, not the page.
        return ""
    return "data:image/svg+xml;base64," + base64.b64encode(drawing).decode()


def description(view: FigureView) -> str:
    """The figure in words."""
    sentences = [f"Title: {_short(view.title)}."] if view.title else []
    for axes in view.axes[:MAX_AXES]:
        named = (("title", axes.title), ("x axis", axes.xlabel), ("y axis", axes.ylabel))
        parts = [f"{name} {_short(text)}" for name, text in named if text]
        parts += ["grid of {} by {} cells".format(*image.cells.shape) for image in axes.images[:3]]
        if axes.images and axes.yticks:
            parts.append("rows " + ", ".join(_short(label) for _, label in axes.yticks[:20]))
        if axes.lines:
            parts.append(f"{len(axes.lines)} line" + "s" * (len(axes.lines) > 1))
        sentences.append(f"Axes: {'; '.join(parts) or 'empty'}.")
    sentences += [f"Colour bar {_short(bar.label)} from {bar.vmin:g} to {bar.vmax:g}." for bar in view.colorbars[:MAX_AXES]]
    return " ".join(sentences) or "An empty figure."


def _svg(view: FigureView) -> bytes:
    # No text is a formula, and the same figure gives the same bytes.
    with (
        matplotlib.rc_context({"text.parse_math": False, "svg.fonttype": "none", "svg.hashsalt": "figure"}),
        warnings.catch_warnings(),
        np.errstate(all="ignore"),
    ):
        warnings.simplefilter("ignore")
        count = min(max(1, len(view.axes)), MAX_AXES)
        figure = Figure(figsize=(5.2, 4.2 * count), layout="constrained")
        figure.suptitle(_short(view.title))
        panels = figure.subplots(count, squeeze=False)[:, 0]
        for place, (axes, shown) in enumerate(zip(panels, view.axes, strict=False)):
            picture = _draw(axes, shown)
            if picture is not None and place < len(view.colorbars):
                figure.colorbar(picture, ax=axes, label=_short(view.colorbars[place].label))
        file = io.BytesIO()
        figure.savefig(file, format="svg", metadata=NO_METADATA)
        return file.getvalue()


def _draw(axes: Axes, view: AxesView) -> matplotlib.image.AxesImage | None:
    picture = None
    for image in view.images[:MAX_ARTISTS]:
        picture = _draw_image(axes, image) or picture
    for line in view.lines[:MAX_ARTISTS]:
        _draw_line(axes, line)
    axes.set(title=_short(view.title), xlabel=_short(view.xlabel), ylabel=_short(view.ylabel))
    for axis, scale, limits, ticks in (
        ("x", view.xscale, view.xlim, view.xticks),
        ("y", view.yscale, view.ylim, view.yticks),
    ):
        _set_axis(axes, axis, scale, limits, ticks)
    if view.legend:
        axes.legend([_short(label) for label in view.legend[:MAX_ARTISTS]])
    if view.texts:
        # Where a text stood is not known, so all stand below.
        note = "   ".join(_short(text) for text in view.texts[:MAX_ARTISTS])
        axes.annotate(_short(note), (0, -0.25), xycoords="axes fraction", annotation_clip=False, fontsize="small")
    return picture


def _draw_image(axes: Axes, image: ImageView) -> matplotlib.image.AxesImage | None:
    if not image.cells.size:
        return None
    edges = [_edges(image.centers_x), _edges(image.centers_y)]
    finite = np.all(np.isfinite([image.vmin, image.vmax]))
    picture = axes.imshow(
        np.ma.masked_invalid(image.cells),
        cmap=image.cmap if image.cmap in matplotlib.colormaps else "viridis",
        vmin=image.vmin if finite else None,
        vmax=image.vmax if finite else None,
        # `cells` is in reading order, its first row on top.
        extent=(*edges[0], *edges[1][::-1]),
        aspect="auto",
        interpolation="nearest",
    )
    return picture


def _edges(centers: np.ndarray) -> tuple[float, float]:
    half = (centers[-1] - centers[0]) / (centers.size - 1) / 2 if centers.size > 1 else 0.5
    return float(centers[0] - half), float(centers[-1] + half)


def _draw_line(axes: Axes, line: LineView) -> None:
    axes.plot(
        line.x,
        line.y,
        label=_short(line.label),
        linestyle=line.linestyle if line.linestyle in STYLES else "-",
        marker=line.marker if line.marker in MARKERS else "None",
    )


def _set_axis(axes: Axes, axis: str, scale: str, limits: Limits, ticks: list[Tick]) -> None:
    set_scale, set_limits, set_ticks = (getattr(axes, f"set_{axis}{what}") for what in ("scale", "lim", "ticks"))
    if scale in SCALES:
        set_scale(scale)
    shown = [(at, _short(label)) for at, label in ticks[:MAX_TICKS] if np.isfinite(at)]
    longest = max((len(label) for _, label in shown), default=0)
    turned = axis == "x" and longest * len(shown) > 60
    set_ticks([at for at, _ in shown], [label for _, label in shown], rotation=90 if turned else 0)
    if np.all(np.isfinite(limits)) and limits[0] != limits[1]:
        set_limits(*limits)


def _short(text: str) -> str:
    return bounded(_POWER.sub(lambda power: f"10{power[1].translate(_POWERS)}", text), MAX_TEXT)
