"""Checks of a problem set's sources: do they agree with each other and with the ledger, and is nothing given away?"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from typing import Any

from autograder.authoring.check import Check
from autograder.authoring.citations import cited_by
from autograder.authoring.columns import COLUMNS
from autograder.authoring.frame_checks import declaration_check
from autograder.authoring.handout import handout_parts
from autograder.authoring.leaks import leaks
from autograder.authoring.template import problem_set_files
from autograder.course import Course, CourseError, ProblemSet
from autograder.testing.errors import UNDONE


def source_checks(course: Course, problem_set: ProblemSet) -> Iterator[Check]:
    """The checks that need no grading, in the order of the table."""
    yield Check("public tests stand alone", list(_public_problems(problem_set)))
    try:
        files = problem_set_files(course, problem_set)
    except CourseError as error:
        yield Check("sources agree", str(error).splitlines())
        return
    yield Check("sources agree", [], f"{len(problem_set.assignment.questions)} questions, {len(files)} files to release")
    yield declaration_check(problem_set)
    yield Check("stubs keep signature and docstring", list(_stub_problems(problem_set, files)))
    yield Check("ledger rows exist and may be graded", list(_ledger_problems(course, problem_set)))
    numbers, problems = _handout_numbers(course, problem_set)
    yield Check("handout numbers agree with the ledger", problems, f"{numbers} numbers")
    yield Check("handout links and figures resolve", list(_link_problems(problem_set)))
    yield Check("nothing secret is released", leaks(problem_set, files), f"{len(files)} files")


def _stub_problems(problem_set: ProblemSet, files: Mapping[str, bytes]) -> Iterator[str]:
    module = f"{problem_set.assignment.module}.py"
    solved = _definitions(problem_set.solution.read_text(encoding="utf-8"))
    text = files[f"{problem_set.slug}/{module}"].decode()
    for number, line in enumerate(text.splitlines(), start=1):
        if len(line) > COLUMNS:
            yield f"{module}:{number}: break this line, for a notebook cuts code at {COLUMNS} characters: {line.strip()}"
    released = _definitions(text)
    for name in [name for question in problem_set.assignment.questions for name in question.names]:
        if name not in solved:
            yield f"{problem_set.solution}: `{name}`, which assignment.yml asks for, is not defined"
        elif name not in released:
            yield f"the stub of `{name}` is missing; it must stand outside `# BEGIN SOLUTION` and `# END SOLUTION`"
        elif not isinstance(solved[name], ast.FunctionDef):
            continue
        elif ast.dump(solved[name].args) != ast.dump(released[name].args):
            yield f"the stub of `{name}` has another signature than the solution"
        elif not ast.get_docstring(released[name]):
            yield f"the stub of `{name}` has no docstring; it is all that a student knows of the task"
        elif UNDONE not in ast.unparse(released[name]):
            yield f"the stub of `{name}` does not say {UNDONE!r}; is its body outside the solution markers?"


def _definitions(text: str) -> dict[str, Any]:
    """The functions and variables that a module defines at top level."""
    definitions: dict[str, Any] = {}
    for node in ast.parse(text).body:
        if isinstance(node, ast.FunctionDef):
            definitions[node.name] = node
        for target in node.targets if isinstance(node, ast.Assign) else []:
            if isinstance(target, ast.Name):
                definitions.setdefault(target.id, node)
    return definitions


def _public_problems(problem_set: ProblemSet) -> Iterator[str]:
    path = problem_set.folder / "test_public.py"
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.FunctionDef) and any(argument.arg == "reference" for argument in node.args.args):
            yield f"{path}:{node.lineno}: {node.name} needs the reference solution, which students do not have"
        imported = [node.module or ""] if isinstance(node, ast.ImportFrom) else []
        imported += [name.name for name in node.names] if isinstance(node, ast.Import) else []
        for name in imported:
            if re.match(r"solutions\b|autograder\b(?!\.(kit|testing)\b)", name):
                yield f"{path}: imports {name}, which students do not have"


def _ledger_problems(course: Course, problem_set: ProblemSet) -> Iterator[str]:
    path = problem_set.folder / "assignment.yml"
    cited = list(cited_by(problem_set))
    for row in sorted({row for row, _ in cited}):
        if row not in course.ledger:
            yield f"{path}: the ledger has no row {row}"
        elif not course.ledger.gradable(row):
            yield f"{path}: ledger row {row} is not to be graded; its note in assignments/ledger.yml says why"
    read = {(citation.question, row) for row, citation in cited if citation.tests}
    for row, citation in cited:
        if citation.reason and (citation.question, row) in read:
            yield f"{path}: {citation.question}: ledger row {row} is read by its tests, so it needs no reason"


_REMARK = re.compile(r"([−-]?[\d.,/]*\d(?:e-?\d+)?)[^\s\d]{0,3}<!-- ledger: (\S+?)\.(\S+) -->")


def _handout_numbers(course: Course, problem_set: ProblemSet) -> tuple[int, list[str]]:
    path = problem_set.folder / "handout.md"
    text = path.read_text(encoding="utf-8")
    tagged = _REMARK.findall(text)
    problems = []
    if len(tagged) != text.count("<!-- ledger: "):
        problems.append(f"{path}: a ledger remark must stand right behind its number, as in 25<!-- ledger: D3-1.output -->")
    for printed, row, place in tagged:
        try:
            value: Any = course.ledger.value(row, place.split(".")[0])
            for part in place.split(".")[1:]:
                value = value[int(part)] if isinstance(value, list) else value[part]
        except (KeyError, IndexError, ValueError) as error:
            problems.append(f"{path}: {row}.{place} is not in the ledger: {error}")
            continue
        if not agrees(printed, value):
            problems.append(f"{path}: {printed} is printed where ledger row {row} has {place} = {value}")
    return len(tagged), problems


def agrees(printed: str, value: object) -> bool:
    """Whether a printed number equals a ledger value to its last printed place."""
    text = printed.replace("−", "-").replace(",", "")
    if "/" in text or isinstance(value, str):
        return text == str(value)
    mantissa, _, exponent = text.partition("e")
    unit = 10.0 ** (int(exponent or 0) - len(mantissa.partition(".")[2]))
    return abs(float(text) - float(str(value))) <= 0.5 * unit * (1 + 1e-6)


def _link_problems(problem_set: ProblemSet) -> Iterator[str]:
    path = problem_set.folder / "handout.md"
    text = "\n\n".join(part.prose for part in handout_parts(problem_set))
    anchors = set(re.findall(r'<a id="([^"]+)"></a>', text))
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if target.startswith("#"):
            if target[1:] not in anchors:
                yield f'{path}: there is no <a id="{target[1:]}"></a> for the link {target}'
        elif not target.startswith("http") and not (problem_set.folder / target).is_file():
            yield f"{path}: {target} is not there" + ("; run figures.py" if target.endswith(".svg") else "")
    if "![](" in text:
        yield f"{path}: a figure without a text for those who cannot see it"
