"""`course.yml` and the problem sets it lists, checked: every mistake is an error that names file and key."""

from __future__ import annotations

import ast
import datetime
import re
import zoneinfo
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

import yaml
from pydantic import AwareDatetime, BaseModel, Field, ValidationError, model_validator

from autograder.assignment import Assignment, Explanation, Question, parse_explanations
from autograder.limits import Limits
from autograder.runtime.ledger import Ledger
from autograder.schema import PythonVersion, Slug, Strict, StudentId, TimeZone
from autograder.secret import Key, SecretError, course_key

Model = TypeVar("Model", bound=BaseModel)


class CourseError(Exception):
    """The course's own files are wrong; the message says where, what, and what to do."""


class Listing(Strict):
    """A problem set as `course.yml` lists it."""

    slug: Slug
    folder: Annotated[str, Field(pattern=r"^[A-Za-z0-9_]+$")]
    weight: Annotated[float, Field(ge=0)]
    released: AwareDatetime
    due: AwareDatetime

    @model_validator(mode="after")
    def _dates_in_order(self) -> Listing:
        if self.due <= self.released:
            raise ValueError(f"{self.slug} is due ({self.due}) before it is released ({self.released})")
        return self


# The share of a test's points that follow-through gives, by the policy's name.
FOLLOW_THROUGH = {"full": 1.0, "half": 0.5, "none": 0.0}


class Policy(Strict):
    """Which attempt counts, what lateness costs, and what a test earns that only another question's mistake made fail.

    Where attempts are graded as they arrive: how many of a student's a day, and when pages say what hidden tests found.
    """

    attempt: Literal["latest", "best", "latest_in_time"] = "latest"
    grace_days: Annotated[float, Field(ge=0)] = 0
    percent_a_day: Annotated[float, Field(ge=0, le=100)] = 0
    follow_through: Literal["full", "half", "none"] = "full"
    closes_after_days: Annotated[float, Field(gt=0)] | None = None
    attempts_a_day: Annotated[int, Field(gt=0)] = 10
    hidden_feedback: Literal["when_due", "at_once"] = "when_due"


class Extension(Strict):
    """More time for one student."""

    student: StudentId
    problem_set: Slug
    until: AwareDatetime


class Late(Strict):
    """How many days after it was due a student handed in, where no platform gives the time."""

    student: StudentId
    problem_set: Slug
    days: Annotated[float, Field(gt=0)]


class CourseSettings(Strict):
    """`course.yml`."""

    title: str
    python: PythonVersion = "3.11"
    timezone: TimeZone = "UTC"
    hand_in: str = ""  # where, as students read it after "Hand in ps1.py": "on the course page"
    limits: Limits = Limits()
    policy: Policy = Policy()
    extensions: list[Extension] = Field(default_factory=list)
    late: list[Late] = Field(default_factory=list)
    problem_sets: Annotated[list[Listing], Field(min_length=1)]

    @model_validator(mode="after")
    def _adds_up(self) -> CourseSettings:
        slugs = [listing.slug for listing in self.problem_sets]
        for slug in slugs:
            if slugs.count(slug) > 1:
                raise ValueError(f"the problem set {slug!r} is listed twice")
        total = sum(listing.weight for listing in self.problem_sets)
        if abs(total - 100) > 1e-9:
            raise ValueError(f"the weights of the problem sets add up to {total:g}, not to 100")
        due = {listing.slug: listing.due for listing in self.problem_sets}
        for extension in self.extensions:
            if extension.problem_set not in due:
                raise ValueError(f"the extension of {extension.student} names {extension.problem_set}, which is not listed")
            if extension.until <= due[extension.problem_set]:
                raise ValueError(f"the extension of {extension.student} ends before {extension.problem_set} is due anyway")
        for late in self.late:
            if late.problem_set not in due:
                raise ValueError(f"`late` of {late.student} names {late.problem_set}, which is not listed")
            if sum((late.student, late.problem_set) == (other.student, other.problem_set) for other in self.late) > 1:
                raise ValueError(f"`late` has {late.student} twice for {late.problem_set}")
        return self


@dataclass(frozen=True)
class ProblemSet:
    """A problem set with the places of its files."""

    assignment: Assignment
    folder: Path
    solution: Path
    ledger_path: Path
    limits: Limits
    explanations: Mapping[str, Explanation] = field(default_factory=dict)
    share: float = 1.0
    follow_through: float = 1.0  # of a test's points, where only another question's mistake made it fail

    def at_share(self, share: float) -> ProblemSet:
        """The same problem set, whose submissions may use only a share of the time and memory."""
        return replace(self, limits=self.limits.at_share(share), share=share)

    @property
    def slug(self) -> str:
        return self.assignment.slug

    def question(self, name: str) -> Question:
        return next(question for question in self.assignment.questions if question.id == name)

    def call_seconds(self, question: str) -> float:
        """The wall time one call of a question's function may take."""
        own = self.question(question).limits.call_seconds
        return own * self.share if own else self.limits.call_seconds

    @property
    def key(self) -> Key:
        """What the inputs of hidden tests are drawn from; made with the course's secret when it is first needed."""
        try:
            return course_key(self.folder.parents[1]).derived(self.slug)
        except SecretError as error:
            raise CourseError(str(error)) from None

    @property
    def test_files(self) -> tuple[Path, Path]:
        """The public tests and the hidden ones."""
        return self.folder / "test_public.py", self.folder / "test_hidden.py"

    def sections(self) -> dict[str, str]:
        """The heading of the handout's section that each question stands in, by question."""
        heading, by_question = "", {}
        for line in (self.folder / "handout.md").read_text(encoding="utf-8").splitlines():
            if line.startswith("## "):
                heading = line.removeprefix("## ").strip()
            elif line.startswith("<!--") and (slot := re.fullmatch(r"<!-- question: (\w+) -->", line)):
                by_question[slot[1]] = heading
        return by_question

    def model_answers(self) -> dict[str, str]:
        """The texts that the solution gives for written questions, by question."""
        tree = ast.parse(self.solution.read_text(encoding="utf-8"))
        texts = {
            target.id: str(node.value.value).strip()
            for node in tree.body
            if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant) and node.value.value is not None
            for target in node.targets
            if isinstance(target, ast.Name)
        }
        written = [question for question in self.assignment.questions if question.kind == "written"]
        return {question.id: texts.get(question.names[0], "") for question in written}


@dataclass(frozen=True)
class Course:
    """The course in a folder."""

    root: Path
    settings: CourseSettings
    ledger: Ledger

    @property
    def zone(self) -> zoneinfo.ZoneInfo:
        """The time zone in which the course counts days."""
        return zoneinfo.ZoneInfo(self.settings.timezone)

    def listing(self, slug: str) -> Listing:
        """What `course.yml` says of a problem set."""
        listings = {listing.slug: listing for listing in self.settings.problem_sets}
        if slug not in listings:
            raise CourseError(f"there is no problem set {slug!r} in course.yml; there are: {', '.join(listings)}")
        return listings[slug]

    def due(self, slug: str, student: str) -> datetime.datetime:
        """When a problem set is due for a student, extensions taken in; in the course's time zone."""
        own = [
            extension.until
            for extension in self.settings.extensions
            if (extension.problem_set, extension.student) == (slug, student)
        ]
        return max([self.listing(slug).due, *own]).astimezone(self.zone)

    def noted_days(self, slug: str, student: str) -> float | None:
        """How many days after the due date a student handed in, as `late` in course.yml says; `None` if it says nothing."""
        own = [late.days for late in self.settings.late if (late.problem_set, late.student) == (slug, student)]
        return own[0] if own else None

    def last_due(self, slug: str) -> datetime.datetime:
        """When a problem set is due for the last student, in the course's time zone."""
        own = [extension.until for extension in self.settings.extensions if extension.problem_set == slug]
        return max([self.listing(slug).due, *own]).astimezone(self.zone)

    def problem_set(self, slug: str) -> ProblemSet:
        """The problem set of that slug, its `assignment.yml` checked."""
        listing = self.listing(slug)
        folder = self.root / "assignments" / listing.folder
        path = folder / "assignment.yml"
        assignment = _checked(Assignment, path)
        if assignment.slug != slug:
            raise CourseError(f"{path}: slug: is {assignment.slug!r}, but course.yml lists this folder as {slug!r}")
        solution = self.root / "solutions" / f"{listing.folder}.py"
        for needed in (solution, folder / "test_public.py", folder / "test_hidden.py", folder / "handout.md"):
            if not needed.is_file():
                raise CourseError(f"{needed} is missing; the problem set {slug} needs it")
        limits = self.settings.limits.for_problem_set(
            assignment.limits, [question.limits for question in assignment.questions]
        )
        ledger_path = self.root / "assignments" / "ledger.yml"
        return ProblemSet(
            assignment,
            folder,
            solution,
            ledger_path,
            limits,
            _explanations(folder, assignment),
            follow_through=FOLLOW_THROUGH[self.settings.policy.follow_through],
        )


def _explanations(folder: Path, assignment: Assignment) -> dict[str, Explanation]:
    path = folder / "explanations.md"
    if not path.is_file():
        return {}
    try:
        return parse_explanations(path.read_text(encoding="utf-8"), [question.id for question in assignment.questions])
    except ValueError as error:
        raise CourseError(f"{path}: {error}") from None


def load_course(root: Path) -> Course:
    """Read and check the course in `root`. Raises `CourseError` for every mistake a file can hold."""
    settings = _checked(CourseSettings, root / "course.yml")
    for listing in settings.problem_sets:
        if not (root / "assignments" / listing.folder).is_dir():
            raise CourseError(
                f"{root / 'course.yml'}: problem_sets: {listing.slug}: folder: there is no assignments/{listing.folder}"
            )
    ledger_path = root / "assignments" / "ledger.yml"
    rows = read_yaml(ledger_path).get("rows")
    if not isinstance(rows, dict):
        raise CourseError(f"{ledger_path}: rows: a mapping from row ids to rows is needed")
    return Course(root, settings, Ledger(rows))


def find_root(start: Path) -> Path:
    """The folder with `course.yml`, at `start` or above it."""
    for folder in (start, *start.parents):
        if (folder / "course.yml").is_file():
            return folder
    raise CourseError(f"no course.yml in {start} or above; run `course` inside the course's repository")


class _Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
    """YAML that refuses a key given twice, instead of keeping the last."""

    def construct_mapping(self, node: Any, deep: bool = False) -> Any:
        keys = [key.value for key, _ in node.value]
        for key in keys:
            if keys.count(key) > 1:
                raise yaml.constructor.ConstructorError(None, None, f"the key {key!r} appears twice", node.start_mark)
        return super().construct_mapping(node, deep)


def read_yaml(path: Path) -> dict[str, Any]:
    """A YAML file that holds a mapping."""
    try:
        content = yaml.load(path.read_text(encoding="utf-8"), _Loader)
    except FileNotFoundError:
        raise CourseError(f"{path} is missing") from None
    except (yaml.YAMLError, ValueError) as error:
        raise CourseError(f"{path}: this is not valid YAML: {error}") from None
    if not isinstance(content, dict):
        raise CourseError(f"{path}: a mapping of keys to values is needed, not {type(content).__name__}")
    return content


def _checked(kind: type[Model], path: Path) -> Model:
    content = read_yaml(path)
    try:
        return kind.model_validate(content)
    except ValidationError as error:
        lines = [f"{path}: {_key(content, problem['loc'])}: {_advice(problem)}" for problem in error.errors()]
        raise CourseError("\n".join(lines)) from None


def _key(content: Any, location: tuple[int | str, ...]) -> str:
    """Where a problem is, naming list entries by their slug or id where they have one."""
    names = []
    for part in location:
        try:
            content = content[part]
        except (KeyError, IndexError, TypeError):
            content = None
        name = content.get("slug", content.get("id")) if isinstance(part, int) and isinstance(content, dict) else None
        names.append(str(name or part))
    return ": ".join(names) or "the file"


def _advice(problem: Any) -> str:
    kind = problem["type"]
    if kind == "extra_forbidden":
        return "this key is not known; check its spelling"
    if kind == "missing":
        return "this key is needed"
    if kind == "timezone_aware":
        return f"{problem['input']} has no time zone; write one, as in 2026-09-21T23:59:00+00:00"
    if kind == "datetime_type" and isinstance(problem["input"], datetime.date):
        return f"{problem['input']} has no time of day and no zone; write 2026-09-21T23:59:00+00:00"
    message: str = problem["msg"].removeprefix("Value error, ")
    return message if kind == "value_error" else f"{message} (it is {problem['input']!r})"
