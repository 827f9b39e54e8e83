"""Is anything of the solution or of the hidden tests in what students receive? By text, by syntax tree, and by number."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterable, Iterator, Mapping

from autograder.authoring.stubs import BEGIN, END, solution_blocks, solution_lines
from autograder.course import ProblemSet

# Shorter lines and smaller statements (`return x`, an import) are nobody's secret.
MIN_LINE = 25
MIN_NODES = 12
MIN_DIGITS = 5
_NUMBER = re.compile(r"(?<![\w.])\d+\.?\d*(?:e-?\d+)?(?![\w])")
_HEX = re.compile(r"[0-9a-f]{16}")
_FENCE = re.compile(r"^```(?:python|py)?\n(.*?)^```", re.MULTILINE | re.DOTALL)
_CELL_KEYS = {"cell_type", "id", "metadata", "source", "outputs", "execution_count"}
_NOTEBOOK_METADATA = {"kernelspec", "language_info"}


def leaks(problem_set: ProblemSet, files: Mapping[str, bytes]) -> list[str]:
    """What stands in `files` (by path) that students must not have, each as a sentence with file and line."""
    texts = {name: content.decode("utf-8") for name, content in files.items() if not name.endswith(".svg")}
    key = problem_set.key
    secret = [key.value.hex(), key.derived("nbgrader").value.hex(), key.derived("otter").value.hex()]
    problems = [
        f"{name}: it holds the key of the hidden tests" for name, text in texts.items() if any(map(text.count, secret))
    ]
    for name in [name for name in texts if name.endswith(".ipynb")]:
        notebook = json.loads(texts.pop(name))
        problems += _notebook_leaks(name, notebook)
        texts[name] = "\n\n".join("".join(cell["source"]) for cell in notebook["cells"])
    secret_lines, secret_shapes, secret_numbers = _secrets(problem_set)
    for name, text in texts.items():
        for number, line in enumerate(text.splitlines(), start=1):
            if origin := secret_lines.get(_squeezed(line)):
                problems.append(f"{name}:{number}: this line is from {origin}: {line.strip()}")
        for statement in _statements(_code(name, text)):
            if origin := secret_shapes.get(_shape(statement)):
                problems.append(f"{name}: a statement with the structure of one in {origin}: {ast.unparse(statement)[:100]}")
        shown = sorted(set(_numbers(text)) & secret_numbers)
        problems += [f"{name}: {number} is a number of test_hidden.py" for number in shown]
    problems += _answered(problem_set, texts)
    problems += _slip_leaks(problem_set, files)
    return list(dict.fromkeys(problems))


def _secrets(problem_set: ProblemSet) -> tuple[dict[str, str], dict[str, str], set[str]]:
    """Lines and statement structures that are secret, each with where it comes from; and the hidden tests' own numbers."""
    public, hidden = (path.read_text(encoding="utf-8") for path in problem_set.test_files)
    handout = (problem_set.folder / "handout.md").read_text(encoding="utf-8")
    blocks = solution_blocks(problem_set)
    parts = {**blocks.questions, "what is carried over": blocks.set_up}
    solution = {f"the solution of {name}": _solution_of(text) for name, text in parts.items()}
    given = "\n".join([blocks.given, *(_outside_solution(text) for text in blocks.questions.values())])
    # The two test files share imports and helpers, which are public then.
    known_lines = {_squeezed(line) for line in [*public.splitlines(), *given.splitlines()]}
    known_shapes = {_shape(statement) for text in (public, given) for statement in _statements(_parsed(text))}
    lines: dict[str, str] = {}
    shapes: dict[str, str] = {}
    for origin, text in solution.items():
        # The end of a signature, which stands alone where the rest did not fit, is nobody's secret either.
        secret = (line.strip() for line in text.splitlines() if not line.lstrip().startswith(") -> "))
        lines.update({_squeezed(line): origin for line in secret if len(line) >= MIN_LINE})
    for name, block in parts.items():
        released = {_shape(statement) for statement in _statements(_parsed(_outside_solution(block)))}
        inner = (statement for statement in _statements(_parsed(block)) if _shape(statement) not in released)
        shapes.update({_shape(statement): f"the solution of {name}" for statement in inner})
    drawn = {_shape(statement) for statement in _statements(_own(problem_set, "payoffs.py"))}
    for function in _mutants(problem_set):
        statements = _statements(ast.Module([function], []))
        inner = (statement for statement in statements if _shape(statement) not in known_shapes | drawn)
        shapes.update({_shape(statement): f"the mutant {function.name}" for statement in inner})
    for line in hidden.splitlines():
        if len(line.strip()) >= MIN_LINE and _squeezed(line) not in known_lines:
            lines.setdefault(_squeezed(line), "test_hidden.py")
    for statement in _statements(_parsed(hidden)):
        if _shape(statement) not in known_shapes:
            shapes.setdefault(_shape(statement), "test_hidden.py")
    numbers = set(_numbers(hidden)) - set(_numbers(public)) - set(_numbers(handout)) - set(_numbers(blocks.given))
    return lines, shapes, numbers


def _mutants(problem_set: ProblemSet) -> list[ast.FunctionDef]:
    """The functions of `mutants.py` without their decorators, whose hints and museum texts are for students."""
    functions = [node for node in _own(problem_set, "mutants.py").body if isinstance(node, ast.FunctionDef)]
    for function in functions:
        function.decorator_list = []
    return functions


def _own(problem_set: ProblemSet, name: str) -> ast.Module:
    """A file of the problem set; an empty module if it is not there."""
    path = problem_set.folder / name
    return _parsed(path.read_text(encoding="utf-8")) if path.is_file() else ast.Module([], [])


def _slip_leaks(problem_set: ProblemSet, files: Mapping[str, bytes]) -> Iterator[str]:
    """What is released of a slip: the function's name, digests, and a hint; and of no choice."""
    name = f"{problem_set.slug}/problem_set.json"
    questions = json.loads(files[name])["questions"] if name in files else []
    for question in questions:
        for slip in question["slips"]:
            digests = [*slip["wrong"].keys(), *slip["wrong"].values()]
            if question["kind"] != "code" or set(slip) != {"name", "hint", "wrong"} or not all(map(_HEX.fullmatch, digests)):
                yield f"{name}: {question['id']}: a slip holds more than a name, digests and a hint"


def _answered(problem_set: ProblemSet, texts: Mapping[str, str]) -> Iterator[str]:
    """Choices and written answers are variables, which must be None in what is released."""
    asked = {name for question in problem_set.assignment.questions if question.kind != "code" for name in question.names}
    for name, text in texts.items():
        for statement in ast.walk(_code(name, text)):
            if isinstance(statement, ast.Assign) and not (
                isinstance(statement.value, ast.Constant) and statement.value.value is None
            ):
                for target in statement.targets:
                    if isinstance(target, ast.Name) and target.id in asked:
                        yield f"{name}: `{target.id}` is answered: {ast.unparse(statement)[:80]}"


def _notebook_leaks(name: str, notebook: Mapping[str, object]) -> Iterator[str]:
    metadata = notebook["metadata"]
    assert isinstance(metadata, Mapping)
    if extra := set(metadata) - _NOTEBOOK_METADATA:
        yield f"{name}: the notebook carries metadata that is not known: {', '.join(sorted(extra))}"
    cells = notebook["cells"]
    assert isinstance(cells, list)
    for cell in cells:
        if cell.get("outputs") or cell.get("execution_count") is not None:
            yield f"{name}: the cell {cell['id']} carries outputs of a run"
        if cell["metadata"] or set(cell) - _CELL_KEYS:
            yield f"{name}: the cell {cell['id']} carries metadata"


def _solution_of(block: str) -> str:
    lines = block.splitlines()
    return "\n".join(lines[number] for number in sorted(solution_lines(block)))


def _outside_solution(block: str) -> str:
    """A block without its solution, with `pass` where a body would be empty."""
    inside = solution_lines(block)
    lines = [line for number, line in enumerate(block.splitlines()) if number not in inside and line.strip() != END]
    return "\n".join(line.replace(BEGIN, "pass") if line.strip() == BEGIN else line for line in lines)


def _squeezed(line: str) -> str:
    return "".join(line.split())


def _code(name: str, text: str) -> ast.Module:
    """The Python in a file: all of a module or notebook, and the code blocks of a Markdown file."""
    if name.endswith((".py", ".ipynb")):
        return _parsed(text) if name.endswith(".py") else _parsed_in_parts(text)
    if name.endswith(".md"):
        return _parsed_in_parts("\n\n".join(_FENCE.findall(text)))
    return ast.Module([], [])


def _parsed_in_parts(text: str) -> ast.Module:
    """What parses of a text that is prose and code by turns, cut at empty lines."""
    statements: list[ast.stmt] = []
    part: list[str] = []
    for line in [*text.splitlines(), "", ""]:
        part.append(line)
        if not line.strip():
            tree = _parsed("\n".join(part))
            if tree.body:
                statements += tree.body
                part = []
            elif len(part) > 200 or not "".join(part).strip():
                part = []
    return ast.Module(statements, [])


def _parsed(text: str) -> ast.Module:
    try:
        return ast.parse(text)
    except SyntaxError:
        return ast.Module([], [])


def _statements(tree: ast.Module) -> Iterator[ast.stmt]:
    """Simple statements of some size; of compound ones, what is in them."""
    for node in ast.walk(tree):
        simple = isinstance(node, ast.stmt) and not hasattr(node, "body")
        if simple and not isinstance(node, ast.Import | ast.ImportFrom) and sum(1 for _ in ast.walk(node)) >= MIN_NODES:
            yield node  # type: ignore[misc]


def _shape(statement: ast.stmt) -> str:
    """A statement's structure with its variables numbered: the same for the same code under other names."""
    numbers: dict[str, str] = {}

    class Renamed(ast.NodeTransformer):
        def visit_Name(self, node: ast.Name) -> ast.Name:
            return ast.Name(numbers.setdefault(node.id, f"v{len(numbers)}"), node.ctx)

    return ast.dump(Renamed().visit(ast.parse(ast.unparse(statement))))


def _numbers(text: str) -> Iterable[str]:
    """Number literals with at least MIN_DIGITS significant digits."""
    for number in _NUMBER.findall(text):
        digits = number.partition("e")[0].replace(".", "").strip("0")
        if len(digits) >= MIN_DIGITS:
            yield number
