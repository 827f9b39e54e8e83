# Learns sizes, dates and link targets of files it may not open: does a hidden test exist, did a neighbour hand in?
import os


def probe(name, attempt):
    try:
        result = attempt()
    except BaseException as error:
        print(f"probe {name}: {type(error).__name__}")
    else:
        print(f"probe {name}: ok {result!r}"[:300] if result is not False else f"probe {name}: no")


for path in ("@COURSE@/assignments/tiny/test_hidden.py", "@JOURNAL@/neighbour/001.json"):
    probe("stat", lambda: os.stat(path).st_size)
    probe("access", lambda: os.access(path, os.F_OK))
    probe("o_path", lambda: os.open(path, os.O_PATH))
probe("chdir", lambda: os.chdir("@COURSE@"))
