"""The ways to lock guests up, in the order in which they are tried. To add one, write its module and name it here."""

from autograder.backends.backend import Backend, Launch, SandboxError
from autograder.backends.bubblewrap import Bubblewrap
from autograder.backends.sandlock import Sandlock

BACKENDS: dict[str, type[Backend]] = {backend.name: backend for backend in (Bubblewrap, Sandlock)}

__all__ = ["BACKENDS", "Backend", "Launch", "SandboxError"]
