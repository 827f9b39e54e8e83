# Opens the course's files by their exact paths, which it happens to know, in every way there is to open a file.
import io
import os


def probe(name, attempt):
    try:
        result = attempt()
    except BaseException as error:
        print(f"probe {name}: {type(error).__name__}")
    else:
        print(f"probe {name}: ok {result!r}"[:300])


for path in (
    "@COURSE@/solutions/tiny.py",
    "@COURSE@/assignments/tiny/test_hidden.py",
    "@COURSE@/course.yml",
    "@JOURNAL@/neighbour/001.json",
    "@COURSE@/gradebook.db",
    "@COURSE@/.git/HEAD",
    "@COURSE@/solutions/__pycache__",
):
    probe(f"open {path}", lambda: open(path).read())
    probe(f"io {path}", lambda: io.FileIO(path).readall())
    probe(f"directory {path}", lambda: os.listdir(os.path.dirname(path)))
    probe(f"relative {path}", lambda: open("../" * 20 + path.lstrip("/")).read())
