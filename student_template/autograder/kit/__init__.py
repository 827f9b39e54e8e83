"""What runs on a student's laptop: the checks of their own work, and the updates of their folder."""

from autograder.kit.notebook import cell_points, check, draw, souvenir

__all__ = ["cell_points", "check", "draw", "souvenir"]
