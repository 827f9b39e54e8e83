"""What a test sees of a student's figure, whatever way it was drawn."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from matplotlib.colors import ListedColormap
from matplotlib.figure import Figure

from autograder.runtime import figures, wire
from autograder.runtime.figures import AxesView, ColorbarView, FigureView

# Two rows, three columns, and no symmetry: every flip or transposition changes it.
TABLE = np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])


def seen(figure: Figure) -> FigureView:
    """The figure as a test gets it: described, sent and decoded."""
    header, buffers = wire.encode(figure)
    view = wire.decode(header, b"".join(buffers))
    assert isinstance(view, FigureView)
    return view


def drawn(draw: Callable[[Any], Any]) -> AxesView:
    """The only axes of a figure on which `draw` drew."""
    figure = Figure()
    draw(figure.subplots())
    view = seen(figure)
    assert len(view.axes) == 1
    return view.axes[0]


def imshow_upper(axes: Any) -> None:
    axes.imshow(TABLE)


def imshow_lower_with_flipped_rows(axes: Any) -> None:
    axes.imshow(TABLE[::-1], origin="lower")


def imshow_lower_with_inverted_axis(axes: Any) -> None:
    axes.imshow(TABLE, origin="lower")
    axes.invert_yaxis()


def imshow_mirrored_with_inverted_axis(axes: Any) -> None:
    axes.imshow(TABLE[:, ::-1])
    axes.invert_xaxis()


def imshow_with_extent(axes: Any) -> None:
    axes.imshow(TABLE, extent=(0, 3, 0, 2))


def imshow_with_descending_extent(axes: Any) -> None:
    axes.imshow(TABLE, extent=(0, 3, 2, 0))


def imshow_lower_with_extent(axes: Any) -> None:
    axes.imshow(TABLE[::-1], origin="lower", extent=(0, 3, 0, 2))


def imshow_with_limits_turned_by_hand(axes: Any) -> None:
    axes.imshow(TABLE[::-1])
    axes.set_ylim(-0.5, 1.5)


def imshow_with_extent_from_right_to_left(axes: Any) -> None:
    # The x axis then runs from 3 to 0, and the first column still stands on the left.
    axes.imshow(TABLE, extent=(3, 0, 0, 2))


def matshow(axes: Any) -> None:
    axes.matshow(TABLE)


def pcolormesh_inverted(axes: Any) -> None:
    axes.pcolormesh(TABLE)
    axes.invert_yaxis()


def pcolormesh_with_flipped_rows(axes: Any) -> None:
    axes.pcolormesh(TABLE[::-1])


def pcolormesh_with_edges(axes: Any) -> None:
    axes.pcolormesh([0, 1, 2, 3], [2, 1, 0], TABLE)


def pcolormesh_with_centres(axes: Any) -> None:
    axes.pcolormesh([0, 1, 2], [1, 0], TABLE, shading="nearest")


def pcolor_inverted(axes: Any) -> None:
    axes.pcolor(TABLE)
    axes.invert_yaxis()


SAME_PICTURE = [
    imshow_upper,
    imshow_lower_with_flipped_rows,
    imshow_lower_with_inverted_axis,
    imshow_mirrored_with_inverted_axis,
    imshow_with_extent,
    imshow_with_descending_extent,
    imshow_lower_with_extent,
    imshow_with_limits_turned_by_hand,
    imshow_with_extent_from_right_to_left,
    matshow,
    pcolormesh_inverted,
    pcolormesh_with_flipped_rows,
    pcolormesh_with_edges,
    pcolormesh_with_centres,
    pcolor_inverted,
]


@pytest.mark.parametrize("draw", SAME_PICTURE, ids=lambda draw: draw.__name__)
def test_the_same_picture_gives_the_same_cells_however_it_is_drawn(draw: Callable[[Any], None]) -> None:
    axes = drawn(draw)
    (image,) = axes.images
    assert np.array_equal(image.cells, TABLE)
    # The centres follow the cells: to the right and downwards as a reader sees the axes.
    right = axes.xlim[1] > axes.xlim[0]
    up = axes.ylim[1] > axes.ylim[0]
    assert (np.diff(image.centers_x) > 0).tolist() == [right, right]
    assert (np.diff(image.centers_y) > 0).tolist() == [not up]


@pytest.mark.parametrize("draw", SAME_PICTURE, ids=lambda draw: draw.__name__)
def test_cells_agree_with_the_pixels_that_are_drawn(draw: Callable[[Any], None]) -> None:
    # Known right values from the renderer itself: the grey of the pixel in each cell's middle must order as the cells do.
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    figure = Figure(figsize=(3, 2))
    canvas = FigureCanvasAgg(figure)
    axes = figure.add_axes((0, 0, 1, 1))
    draw(axes)
    axes.set_aspect("auto")
    for artist in (*axes.images, *axes.collections):
        artist.set_cmap("gray")
        artist.set_clim(0, 7)
    canvas.draw()
    pixels = np.asarray(canvas.buffer_rgba())[:, :, 0].astype(float)
    rows, columns = pixels.shape
    middles = pixels[[rows // 4, 3 * rows // 4]][:, [columns // 6, columns // 2, 5 * columns // 6]]
    (image,) = seen(figure).axes[0].images
    assert np.allclose(middles / 255 * 7, image.cells, atol=0.1)


def test_a_picture_that_stands_on_its_head_has_other_cells() -> None:
    assert np.array_equal(drawn(lambda axes: axes.imshow(TABLE, origin="lower")).images[0].cells, TABLE[::-1])
    assert np.array_equal(drawn(lambda axes: axes.pcolormesh(TABLE)).images[0].cells, TABLE[::-1])
    assert np.array_equal(drawn(lambda axes: axes.imshow(TABLE.T)).images[0].cells, TABLE.T)


def test_centres_are_where_the_ticks_of_an_ordinary_heatmap_stand() -> None:
    image = drawn(imshow_upper).images[0]
    assert image.centers_x.tolist() == [0, 1, 2]
    assert image.centers_y.tolist() == [0, 1]


def test_centres_follow_an_explicit_extent() -> None:
    image = drawn(imshow_with_extent).images[0]
    assert image.centers_x.tolist() == [0.5, 1.5, 2.5]
    assert image.centers_y.tolist() == [1.5, 0.5]


def test_centres_of_a_mesh_lie_between_its_edges() -> None:
    image = drawn(lambda axes: axes.pcolormesh([0, 1, 10, 12], [0, 4, 6], TABLE)).images[0]
    assert image.centers_x.tolist() == [0.5, 5.5, 11]
    assert image.centers_y.tolist() == [5, 2]


def test_masked_cells_arrive_as_nan() -> None:
    masked = np.ma.masked_array(TABLE, TABLE == 2)
    cells = drawn(lambda axes: axes.imshow(masked)).images[0].cells
    assert np.isnan(cells).tolist() == [[False, True, False], [False, False, False]]


def test_a_table_of_one_cell_is_a_table() -> None:
    assert drawn(lambda axes: axes.imshow([[3]])).images[0].cells.tolist() == [[3]]


def test_a_photograph_is_no_table() -> None:
    assert drawn(lambda axes: axes.imshow(np.zeros((2, 2, 3)))).images == []


def test_what_is_not_visible_is_not_seen() -> None:
    def draw(axes: Any) -> None:
        axes.imshow(TABLE).set_visible(False)
        axes.plot([1, 2])[0].set_visible(False)
        axes.text(0, 0, "hidden").set_visible(False)

    axes = drawn(draw)
    assert (axes.images, axes.lines, axes.texts) == ([], [], [])


# --- labels, ticks and colours


def test_titles_and_labels_are_read() -> None:
    figure = Figure()
    figure.suptitle("all of it")
    axes = figure.subplots()
    axes.set(title="part", xlabel="keys", ylabel="queries")
    view = seen(figure)
    part = view.axes[0]
    assert (view.title, part.title, part.xlabel, part.ylabel) == ("all of it", "part", "keys", "queries")


@pytest.mark.parametrize("loc", ["left", "center", "right"])
def test_a_title_counts_wherever_it_stands(loc: str) -> None:
    assert drawn(lambda axes: axes.set_title("here", loc=loc)).title == "here"


def test_ticks_come_with_their_labels_in_drawing_order() -> None:
    def draw(axes: Any) -> None:
        axes.imshow(TABLE)
        axes.set_xticks([0, 1, 2], ["the", "cat", "the"])
        axes.set_yticks(range(2), labels=["it", "sat"])

    axes = drawn(draw)
    assert axes.xticks == [(0.0, "the"), (1.0, "cat"), (2.0, "the")]
    assert axes.yticks == [(0.0, "it"), (1.0, "sat")]


def test_ticks_outside_the_limits_are_left_out() -> None:
    def draw(axes: Any) -> None:
        axes.set_xlim(2, 0)
        axes.set_xticks([-1, 0, 1, 2, 3], list("abcde"))
        axes.set_xlim(2, 0)

    assert drawn(draw).xticks == [(0.0, "b"), (1.0, "c"), (2.0, "d")]


def test_ticks_that_nobody_set_are_numbers() -> None:
    def draw(axes: Any) -> None:
        axes.plot([0, 4], [0, 1])
        axes.set_xlim(0, 4)

    ticks = drawn(draw).xticks
    assert [float(label) for _, label in ticks] == [at for at, _ in ticks]
    assert len(ticks) > 2


def test_limits_and_scales_are_read() -> None:
    axes = drawn(lambda axes: axes.set(xlim=(1, 100), ylim=(5, -5), xscale="log"))
    assert (axes.xlim, axes.ylim, axes.xscale, axes.yscale) == ((1.0, 100.0), (5.0, -5.0), "log", "linear")


def test_the_colour_range_is_the_one_that_was_set() -> None:
    image = drawn(lambda axes: axes.imshow(TABLE, vmin=0, vmax=1)).images[0]
    assert (image.vmin, image.vmax) == (0, 1)


def test_the_colour_range_that_nobody_set_follows_the_numbers() -> None:
    image = drawn(imshow_upper).images[0]
    assert (image.vmin, image.vmax) == (1, 6)


@pytest.mark.parametrize(
    ("cmap", "darkest"),
    [
        ("Greys", "high"),
        ("Blues", "high"),
        ("gray_r", "high"),
        ("viridis_r", "high"),
        ("gray", "low"),
        ("viridis", "low"),
        ("Greys_r", "low"),
        ("twilight", "neither"),
        ("hsv", "neither"),
        pytest.param(ListedColormap(["red", "red"], name="all red"), "neither", id="all red"),
    ],
    ids=str,
)
def test_the_darker_end_of_a_colour_map_is_known(cmap: Any, darkest: str) -> None:
    image = drawn(lambda axes: axes.imshow(TABLE, cmap=cmap)).images[0]
    assert image.darkest == darkest
    assert image.cmap == getattr(cmap, "name", cmap)


@pytest.mark.parametrize("orientation", ["vertical", "horizontal"])
def test_a_colour_bar_is_kept_apart_from_the_axes(orientation: str) -> None:
    figure = Figure()
    axes = figure.subplots()
    image = axes.imshow(TABLE, vmin=0, vmax=10)
    figure.colorbar(image, label="weight", orientation=orientation)
    view = seen(figure)
    assert len(view.axes) == 1
    assert view.colorbars == [ColorbarView("weight", 0.0, 10.0)]


def test_a_colour_bar_in_axes_of_its_own_is_kept_apart_too() -> None:
    figure = Figure()
    left, right = figure.subplots(1, 2)
    figure.colorbar(left.pcolormesh(TABLE), cax=right)
    view = seen(figure)
    assert len(view.axes) == 1
    assert view.colorbars == [ColorbarView("", 1.0, 6.0)]


def test_a_figure_without_a_colour_bar_has_none() -> None:
    figure = Figure()
    figure.subplots().imshow(TABLE)
    assert seen(figure).colorbars == []


def test_lines_legends_and_texts_are_read() -> None:
    def draw(axes: Any) -> None:
        axes.plot([0, 1, 2], [3.0, 4.0, 5.0], label="scaled", linestyle="--", marker="o")
        axes.plot([7], [8])
        axes.text(0, 0, "note")
        axes.legend()

    axes = drawn(draw)
    first, second = axes.lines
    assert (first.x.tolist(), first.y.tolist()) == ([0, 1, 2], [3, 4, 5])
    assert (first.label, first.linestyle, first.marker) == ("scaled", "--", "o")
    assert (second.label, second.x.tolist()) == ("", [7])
    assert axes.legend == ["scaled"]
    assert axes.texts == ["note"]


def test_axes_come_in_the_order_of_the_figure() -> None:
    figure = Figure()
    for name, axes in zip("abcd", figure.subplots(2, 2).flat, strict=True):
        axes.set_title(name)
    assert [axes.title for axes in seen(figure).axes] == list("abcd")


def test_an_empty_figure_is_a_view_without_axes() -> None:
    assert seen(Figure()) == FigureView()


def test_only_a_figure_is_a_figure() -> None:
    figure = Figure()
    assert figures.is_figure(figure)
    assert not any(map(figures.is_figure, [figure.subplots(), "Figure", None, Figure, FigureView()]))


def test_describing_leaves_the_figure_as_it_was() -> None:
    figure = Figure()
    axes = figure.subplots()
    axes.imshow(TABLE, origin="lower")
    before = (axes.get_xlim(), axes.get_ylim(), len(figure.axes), axes.images[0].get_clim())
    figures.describe(figure)
    assert (axes.get_xlim(), axes.get_ylim(), len(figure.axes), axes.images[0].get_clim()) == before


# --- descriptions that are none


def full_description() -> dict[str, Any]:
    figure = Figure()
    axes = figure.subplots()
    figure.colorbar(axes.imshow(TABLE), label="weight")
    axes.plot([0, 1], [0, 1], label="line")
    axes.text(0, 0, "note")
    axes.legend()
    return figures.describe(figure)


def test_an_honest_description_is_accepted() -> None:
    view = FigureView.from_plain(full_description())
    assert view.axes[0].images[0].vmax == 6


NONSENSE: list[tuple[list[Any], Any]] = [
    (["title"], None),
    (["title"], 5),
    (["axes"], None),
    (["axes"], {}),
    (["axes"], ()),
    (["axes"], (1.0, 2.0)),
    (["colorbars"], (0.0, 1.0)),
    (["axes"], [None]),
    (["axes"], ["axes"]),
    (["axes", 0], {}),
    (["axes", 0, "title"], b"title"),
    (["axes", 0, "xlim"], [0.0, 1.0]),
    (["axes", 0, "xlim"], (0.0,)),
    (["axes", 0, "xlim"], (0.0, 1.0, 2.0)),
    (["axes", 0, "xlim"], ("0", "1")),
    (["axes", 0, "xscale"], None),
    (["axes", 0, "xticks"], ((0.0, "a"),)),
    (["axes", 0, "xticks"], [[0.0, "a"]]),
    (["axes", 0, "xticks"], [(0.0, 1.0)]),
    (["axes", 0, "xticks"], [("a", 0.0)]),
    (["axes", 0, "images"], (0.0, 1.0)),
    (["axes", 0, "lines"], (0.0, 1.0)),
    (["axes", 0, "texts"], ["a", None]),
    (["axes", 0, "texts"], "ab"),
    (["axes", 0, "legend"], [1]),
    (["axes", 0, "images", 0, "cells"], [[1.0]]),
    (["axes", 0, "images", 0, "cells"], np.zeros(3)),
    (["axes", 0, "images", 0, "cells"], np.zeros((2, 3), np.float32)),
    (["axes", 0, "images", 0, "cells"], np.zeros((2, 4))),
    (["axes", 0, "images", 0, "centers_x"], np.zeros((1, 3))),
    (["axes", 0, "images", 0, "vmin"], 0),
    (["axes", 0, "images", 0, "vmin"], "0"),
    (["axes", 0, "images", 0, "darkest"], None),
    (["axes", 0, "lines", 0, "x"], [0.0, 1.0]),
    (["axes", 0, "lines", 0, "x"], np.zeros(5)),
    (["colorbars", 0, "label"], None),
    (["colorbars", 0, "vmax"], None),
]


def nonsense() -> list[Any]:
    params = []
    for path, value in NONSENSE:
        shown = f"an array of shape {value.shape}" if isinstance(value, np.ndarray) else repr(value)
        params.append(pytest.param(path, value, id=f"{'.'.join(map(str, path))}: {shown}"))
    return params


@pytest.mark.parametrize(("path", "value"), nonsense())
def test_a_description_with_nonsense_in_it_is_refused(path: list[Any], value: Any) -> None:
    plain = copy.deepcopy(full_description())
    place: Any = plain
    for part in path[:-1]:
        place = place[part]
    place[path[-1]] = value
    with pytest.raises((ValueError, TypeError)):
        FigureView.from_plain(plain)


@pytest.mark.parametrize("path", [[], ["axes", 0], ["axes", 0, "images", 0], ["axes", 0, "lines", 0], ["colorbars", 0]])
def test_a_key_too_many_or_too_few_is_refused(path: list[Any]) -> None:
    for change in ("add", "remove"):
        plain = full_description()
        place: Any = plain
        for part in path:
            place = place[part]
        if change == "add":
            place["__class__"] = "str"
        else:
            place.popitem()
        with pytest.raises(ValueError, match="needs the keys"):
            FigureView.from_plain(plain)


@pytest.mark.parametrize("plain", [None, [], "figure", 1, {}, {1: 2}, [("title", "")]], ids=repr)
def test_what_is_no_description_is_refused(plain: Any) -> None:
    with pytest.raises((ValueError, TypeError)):
        FigureView.from_plain(plain)


def test_what_cannot_be_seen_is_not_drawn() -> None:
    def lines(**style: Any) -> tuple[str, str]:
        line = drawn(lambda axes: axes.plot([0, 1], [0, 1], **{"linestyle": "-", "marker": "o", **style})).lines[0]
        return line.linestyle, line.marker

    assert lines() == ("-", "o")
    assert lines(alpha=0) == ("None", "None")
    assert lines(alpha=0.3) == ("-", "o")
    assert lines(linewidth=0) == ("None", "o")
    assert lines(markersize=0) == ("-", "None")
    assert lines(markerfacecolor="none") == ("-", "o")
    assert lines(markerfacecolor="none", markeredgecolor="none") == ("-", "None")
    assert lines(color=(0, 0, 0, 0)) == ("None", "None")


def test_a_legend_of_the_figure_names_the_lines_of_its_axes() -> None:
    figure = Figure()
    figure.subplots().plot([0, 1], [0, 1], label="median")
    figure.legend()
    assert seen(figure).axes[0].legend == ["median"]


@pytest.mark.parametrize(
    ("interpolation", "blurred"),
    [(None, False), ("nearest", False), ("none", False), ("bilinear", True), ("gaussian", True)],
)
def test_a_smoothed_image_is_blurred(interpolation: str | None, blurred: bool) -> None:
    assert drawn(lambda axes: axes.imshow(TABLE, interpolation=interpolation)).images[0].blurred is blurred


@pytest.mark.parametrize(
    ("cmap", "darkest"),
    [("Greys", "high"), ("viridis_r", "high"), ("viridis", "low"), ("jet", "neither"), ("prism", "neither")],
)
def test_the_dark_end_of_a_colour_map(cmap: str, darkest: str) -> None:
    assert drawn(lambda axes: axes.imshow(TABLE, cmap=cmap)).images[0].darkest == darkest
