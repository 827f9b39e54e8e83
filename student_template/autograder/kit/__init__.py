"""What tests are written with. Students receive this folder too: the same code checks their work here and there."""

from autograder.guest.figures import AxesView, ColorbarView, FigureView, ImageView, LineView
from autograder.guest.wire import Foreign
from autograder.kit.marks import graded
from autograder.kit.notebook import cell_points, check
from autograder.kit.student import Mismatch, StudentError
from autograder.kit.values import (
    array,
    boolean,
    close,
    figure,
    fraction,
    integer,
    parts,
    require,
    rounding,
    same,
    scalar,
    text,
)

__all__ = [
    "AxesView",
    "ColorbarView",
    "FigureView",
    "Foreign",
    "ImageView",
    "LineView",
    "Mismatch",
    "StudentError",
    "array",
    "boolean",
    "cell_points",
    "check",
    "close",
    "figure",
    "fraction",
    "graded",
    "integer",
    "parts",
    "require",
    "rounding",
    "same",
    "scalar",
    "text",
]
