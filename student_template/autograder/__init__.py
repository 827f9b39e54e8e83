"""The engine that grades a course. It knows no problem set and holds no secret."""

__version__ = "0.2.0"
