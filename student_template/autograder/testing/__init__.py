"""What tests are written with. Students receive this folder too, so the same code checks their work at home and here."""

from autograder.runtime.figures import AxesView, ColorbarView, FigureView, ImageView, LineView
from autograder.runtime.wire import Foreign
from autograder.testing.callbacks import Refusal, callback
from autograder.testing.computed import computed_once
from autograder.testing.errors import Mismatch, StudentError
from autograder.testing.marks import graded
from autograder.testing.showing import shown
from autograder.testing.values import (
    array,
    boolean,
    close,
    figure,
    fraction,
    integer,
    parts,
    refuses,
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
    "Refusal",
    "StudentError",
    "array",
    "boolean",
    "callback",
    "close",
    "computed_once",
    "figure",
    "fraction",
    "graded",
    "integer",
    "parts",
    "refuses",
    "require",
    "rounding",
    "same",
    "scalar",
    "shown",
    "text",
]
