"""The gradebook: nbgrader's own database, filled from the journal, so that formgrader and nbgrader's exporters work.

Automatic points, late penalties and due dates are written into it. What a person enters in formgrader, points and comments,
is only read. All else can be filled again from the journal.

nbgrader is imported where it is needed: most commands ask for manual points, and many courses have no gradebook.
"""

from __future__ import annotations

import contextlib
import datetime
import os
import shutil
import sys
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

from autograder.course import Course, ProblemSet
from autograder.grades import Grade, Manual

URL = "COURSE_GRADEBOOK"
NO_ANSWER = "No response."  # as nbgrader says it


class GradebookError(Exception):
    """The gradebook cannot be used; the message says why, and what to do."""


@dataclass(frozen=True)
class Synced:
    """What a sync did: for how many students it wrote something, and how many answers of a question wait for a person."""

    changed: int
    waiting: dict[str, int]


def gradebook_url(folder: Path) -> str:
    """Where the gradebook is: what the variable COURSE_GRADEBOOK says, else the file gradebook.db in `folder`."""
    return os.environ.get(URL) or f"sqlite:///{folder.resolve() / 'gradebook.db'}"


def manual_scores(url: str, course: Course, problem_set: ProblemSet) -> dict[str, dict[str, Manual]]:
    """What people gave in formgrader, by student and question; points may also overrule those of a question's tests."""
    file = _file(url)
    if file and not file.exists():
        return {}
    with _opened(url, course) as (api, book):
        try:
            book.find_notebook(problem_set.assignment.module, problem_set.slug)
        except api.MissingEntry:
            return {}
        cells = _cells(api, book, problem_set)
        grades = _Rows(book.db, api.Grade, _CELL, (*_GIVEN, "score"), among=cells.points)
        comments = _Rows(book.db, api.Comment, _CELL, ("manual_comment",), among=cells.comment)
        by_student: dict[str, dict[str, Manual]] = {}
        for student, notebook in _notebooks(api, book, problem_set).items():
            for question in problem_set.assignment.questions:
                manual = _manual(
                    grades.found.get((notebook, cells.points[question.id]), {}),
                    comments.found.get((notebook, cells.comment[question.id]), {}),
                )
                if manual != Manual():
                    by_student.setdefault(student, {})[question.id] = manual
        return by_student


def sync(
    url: str,
    course: Course,
    problem_set: ProblemSet,
    grades: Sequence[Grade],
    *,
    failed: Collection[str] = (),
    changed_answers: Collection[tuple[str, str]] = (),
) -> Synced:
    """Write grades into the gradebook, in one transaction and no more than what differs.

    `failed` are students at whose counting attempt the grader failed: their points stay, and a person is asked to look.
    `changed_answers` are pairs of student and question: a written answer that is not the one a person saw. Points given
    for it stay, and are marked for another look.
    """
    if file := _file(url):
        file.parent.mkdir(parents=True, exist_ok=True)
    listing = course.listing(problem_set.slug)
    with _opened(url, course) as (api, book):
        cells = _prepared(api, book, course, problem_set)
        students = _Rows(book.db, api.Student, ("id",), ())
        here = {"assignment_id": cells.assignment}
        submissions = _Rows(book.db, api.SubmittedAssignment, ("student_id",), ("timestamp", "extension"), here)
        here = {"notebook_id": cells.notebook}
        notebooks = _Rows(book.db, api.SubmittedNotebook, ("assignment_id",), ("late_submission_penalty",), here)
        points = _Rows(book.db, api.Grade, _CELL, ("auto_score", "needs_manual_grade", *_GIVEN), among=cells.points)
        comments = _Rows(book.db, api.Comment, _CELL, ("auto_comment",), among=cells.comment)
        tables = (students, submissions, notebooks, points, comments)

        def place(student: str, submission: dict[str, Any], notebook: dict[str, Any]) -> str:
            students.put((student,), {})
            return notebooks.put((submissions.put((student,), submission),), notebook)

        changed = 0
        waiting: Counter[str] = Counter()
        for grade in grades:
            before = sum(table.to_write for table in tables)
            more_time = course.due(problem_set.slug, grade.student) - listing.due
            own = place(
                grade.student,
                {"timestamp": _utc(grade.attempt.submitted), "extension": more_time or None},
                {"late_submission_penalty": grade.penalty or None},
            )
            for question in problem_set.assignment.questions:
                scored = grade.stored.record.question(question.id)
                undone, score = (scored.undone, scored.score) if scored else (True, 0.0)
                key = own, cells.points[question.id]
                row = points.found.get(key, {})
                auto = None if question.kind == "written" and not undone else score
                needs = auto is None
                if any(row.get(name) is not None for name in _GIVEN):
                    other = row["auto_score"] != auto or (grade.student, question.id) in changed_answers
                    needs = row["needs_manual_grade"] or other
                points.put(key, {"auto_score": auto, "needs_manual_grade": needs})
                waiting[question.id] += needs
                said = NO_ANSWER if undone else None
                comments.put((own, cells.comment[question.id]), {"auto_comment": said})
            changed += sum(table.to_write for table in tables) > before
        for student in failed:
            before = sum(table.to_write for table in tables)
            own = place(student, {}, {})
            for question in problem_set.assignment.questions:
                points.put((own, cells.points[question.id]), {"needs_manual_grade": True})
                comments.put((own, cells.comment[question.id]), {})
                waiting[question.id] += 1
            changed += sum(table.to_write for table in tables) > before
        for table in tables:
            table.write()
        book.db.commit()
    return Synced(changed, {name: count for name, count in waiting.items() if count})


def give(
    url: str,
    course: Course,
    problem_set: ProblemSet,
    given: Mapping[tuple[str, str], Manual],
    *,
    instead_of: Mapping[tuple[str, str], Manual] = MappingProxyType({}),
) -> dict[tuple[str, str], Manual]:
    """Write points and comments of people, by student and question, as formgrader would; the students are in it already.

    Where `instead_of` says what should stand there now, and something else does, nothing is written: that is returned.
    """
    with _opened(url, course) as (api, book):
        if _file(url):
            from sqlalchemy import text

            book.db.execute(text("BEGIN IMMEDIATE"))  # or another writer comes between reading and writing
        cells, notebooks = _cells(api, book, problem_set), _notebooks(api, book, problem_set)
        points = _Rows(book.db, api.Grade, _CELL, ("needs_manual_grade", "score", *_GIVEN), among=cells.points)
        comments = _Rows(book.db, api.Comment, _CELL, ("manual_comment",), among=cells.comment)
        others: dict[tuple[str, str], Manual] = {}
        for (student, question), manual in given.items():
            of_points = notebooks[student], cells.points[question]
            of_comment = notebooks[student], cells.comment[question]
            row = points.found.get(of_points, {})
            now = _manual(row, comments.found.get(of_comment, {}))
            if now != instead_of.get((student, question), now):
                others[student, question] = now
                continue
            score = None if manual.points is None else manual.points - (row.get("extra_credit") or 0.0)
            points.put(of_points, {"manual_score": score, "needs_manual_grade": False})
            comments.put(of_comment, {"manual_comment": manual.comment or None})
        points.write()
        comments.write()
        book.db.commit()
    return others


def _manual(grade: Mapping[str, Any], comment: Mapping[str, Any]) -> Manual:
    """What a person gave, from a row of points and one of comments."""
    given = grade.get("manual_score") is not None or bool(grade.get("extra_credit"))
    return Manual(grade["score"] if given else None, comment.get("manual_comment") or "")


_GIVEN = ("manual_score", "extra_credit")
_CELL = ("notebook_id", "cell_id")


@dataclass(frozen=True)
class _Cells:
    """The ids of a problem set's rows: its assignment, its notebook, and a question's cells for points and comments."""

    assignment: str
    notebook: str
    points: dict[str, str]
    comment: dict[str, str]


class _Rows:
    """Rows of one of nbgrader's tables, by `key`: what is there, and what is to be written.

    nbgrader's own methods commit row by row, and load sums over all students with each.
    """

    def __init__(
        self,
        session: Any,
        model: Any,
        key: tuple[str, ...],
        values: tuple[str, ...],
        where: Mapping[str, str] = {},
        among: Mapping[str, str] | None = None,
    ) -> None:
        from sqlalchemy import select

        self._session, self._model, self._key, self._where = session, model, key, where
        names = list(dict.fromkeys(("id", *key, *values)))
        query = select(*(getattr(model, name) for name in names)).filter_by(**where)
        if among is not None:
            query = query.where(model.cell_id.in_(among.values()))
        rows = [dict(zip(names, row, strict=True)) for row in session.execute(query)]
        self.found = {tuple(row[name] for name in key): row for row in rows}
        self._new: list[dict[str, Any]] = []
        self._changed: dict[str, dict[str, Any]] = {}

    @property
    def to_write(self) -> int:
        return len(self._new) + len(self._changed)

    def put(self, key: tuple[str, ...], values: dict[str, Any]) -> str:
        """See that the row of `key` holds `values`; returns its id."""
        from nbgrader.api import new_uuid

        row = self.found.get(key)
        if row is None:
            row = {"id": new_uuid(), **self._where, **dict(zip(self._key, key, strict=True)), **values}
            self.found[key] = row
            self._new.append(row)
        elif any(row[name] != value for name, value in values.items()):
            row.update(values)
            self._changed.setdefault(row["id"], {"id": row["id"]}).update(values)
        return str(row["id"])

    def write(self) -> None:
        from sqlalchemy import insert, update

        if self._new:
            self._session.execute(insert(self._model), self._new)
        if self._changed:
            self._session.execute(update(self._model), list(self._changed.values()))


def _prepared(api: Any, book: Any, course: Course, problem_set: ProblemSet) -> _Cells:
    """See that the gradebook has the assignment, its notebook and its cells, as they are today."""
    from autograder.platforms.targets.nbgrader import answer_cell, grade_cell

    slug, module = problem_set.slug, problem_set.assignment.module
    book.update_or_create_assignment(slug, duedate=_utc(course.listing(slug).due))
    book.update_or_create_notebook(module, slug)
    notebook = book.find_notebook(module, slug)
    points = {cell.name: (cell.max_score, cell.cell_type) for cell in notebook.grade_cells}
    answers = {cell.name for cell in notebook.solution_cells}
    questions = problem_set.assignment.questions
    if unknown := sorted(points.keys() - {grade_cell(question) for question in questions}):
        raise GradebookError(
            f"the gradebook's {slug} has cells that belong to no question: {', '.join(unknown)}. Was it made from other "
            f"sources, or was a question renamed? Put the name back, or begin a new gradebook"
        )
    for question in questions:
        # By the type of its cell, nbgrader tells points for code from points for prose.
        name, kind = grade_cell(question), "markdown" if question.kind == "written" else "code"
        if points.get(name) != (question.points, kind):
            book.update_or_create_grade_cell(name, module, slug, max_score=question.points, cell_type=kind)
        if answer_cell(question) not in answers:
            book.add_solution_cell(answer_cell(question), module, slug)
    return _cells(api, book, problem_set)


def _cells(api: Any, book: Any, problem_set: ProblemSet) -> _Cells:
    from autograder.platforms.targets.nbgrader import answer_cell, grade_cell

    def ids(cells: Any, name: Any) -> dict[str, str]:
        by_name = {cell.name: cell.id for cell in cells}
        return {question.id: by_name.get(name(question), "") for question in problem_set.assignment.questions}

    notebook = book.find_notebook(problem_set.assignment.module, problem_set.slug)
    return _Cells(
        notebook.assignment_id, notebook.id, ids(notebook.grade_cells, grade_cell), ids(notebook.solution_cells, answer_cell)
    )


def _notebooks(api: Any, book: Any, problem_set: ProblemSet) -> dict[str, str]:
    """The ids of the submitted notebooks, by student."""
    from sqlalchemy import select

    query = (
        select(api.SubmittedAssignment.student_id, api.SubmittedNotebook.id)
        .join(api.SubmittedNotebook, api.SubmittedNotebook.assignment_id == api.SubmittedAssignment.id)
        .join(api.Notebook, api.SubmittedNotebook.notebook_id == api.Notebook.id)
        .join(api.Assignment, api.Notebook.assignment_id == api.Assignment.id)
        .where(api.Assignment.name == problem_set.slug, api.Notebook.name == problem_set.assignment.module)
    )
    return dict(book.db.execute(query).all())


@contextlib.contextmanager
def _opened(url: str, course: Course) -> Iterator[tuple[Any, Any]]:
    """nbgrader's `api` module and the gradebook; what goes wrong with them becomes a `GradebookError`."""
    try:
        from nbgrader import api
        from sqlalchemy.engine import make_url
        from sqlalchemy.exc import ArgumentError, SQLAlchemyError

        from autograder.platforms.targets.nbgrader import course_id
    except ImportError as error:
        raise GradebookError(f"the gradebook needs nbgrader ({error}); install the extra `grader`") from None
    with _alembic_found():
        try:
            shown = make_url(url).render_as_string(hide_password=True)
        except ArgumentError:
            raise GradebookError(f"{URL} is not a database URL; write one such as sqlite:////srv/gradebook.db") from None
        try:
            book = api.Gradebook(url, course_id(course))
            with book:
                yield api, book
        except (SQLAlchemyError, ImportError) as error:
            reason = str(getattr(error, "orig", None) or error).partition("\n")[0]
            raise GradebookError(f"the gradebook {shown} cannot be used: {reason}. Nothing was changed in it") from None


@contextlib.contextmanager
def _alembic_found() -> Iterator[None]:
    """nbgrader starts `alembic` by its bare name; without it, it leaves a half-made database."""
    before = os.environ.get("PATH", "")
    if shutil.which("alembic") is None:
        os.environ["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), before])
    try:
        yield
    finally:
        os.environ["PATH"] = before


def _file(url: str) -> Path | None:
    """The file of an SQLite database."""
    return Path(url.removeprefix("sqlite:///")) if url.startswith("sqlite:///") else None


def _utc(moment: datetime.datetime | None) -> datetime.datetime | None:
    """A moment as nbgrader keeps it: in UTC, without saying so."""
    return moment.astimezone(datetime.UTC).replace(tzinfo=None) if moment else None
