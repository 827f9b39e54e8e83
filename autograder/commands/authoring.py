"""`course new`, `course validate` and `course release`."""

from __future__ import annotations

import datetime
import json
import sys
import time
from collections.abc import Mapping
from dataclasses import asdict
from typing import Annotated

import typer

from autograder.authoring.check import Check
from autograder.commands.common import (
    NEEDS_YOU,
    AsJson,
    Jobs,
    ProblemSetName,
    open_course,
    open_problem_set,
    out,
    print_sheet,
    progress,
    refuse,
)
from autograder.course import Course, CourseError, ProblemSet
from autograder.platforms.archive import archive
from autograder.platforms.targets import NAMES, release_files
from autograder.table import checks_table

# Generated mutants a question: enough to tell 90 % from 95 % killed, and quick.
MOST_MUTATIONS = 60


def new(
    name: Annotated[str, typer.Argument(help="The new problem set's name, such as ps7_sparse_attention.")],
) -> None:
    """Write a minimal problem set that passes `course validate`, and say what to edit."""
    from autograder.authoring.new import new_problem_set

    course = open_course()
    try:
        written = new_problem_set(course, name, datetime.datetime.now(datetime.UTC).date())
    except CourseError as error:
        refuse(str(error))
    slug = name.partition("_")[0]
    for path in written:
        out.print(f"edit  {path.relative_to(course.root)}", highlight=False, soft_wrap=True)
    out.print(
        f"Look for EDIT; docs/authoring.md explains each file. Then: course validate {slug}, course release {slug} --draft",
        highlight=False,
        soft_wrap=True,
    )


def validate(
    problem_sets: Annotated[list[str] | None, typer.Argument(metavar="[PROBLEM_SET]...", help="Such as ps1.")] = None,
    every: Annotated[bool, typer.Option("--all", help="All problem sets of course.yml.")] = False,
    mutants: Annotated[
        int, typer.Option(min=0, help="Generated mutants a question, drawn by seed; 0 for none.")
    ] = MOST_MUTATIONS,
    jobs: Jobs = 0,
    as_json: AsJson = False,
) -> None:
    """Check a problem set: its sources, its grader, and what would be released. The gate of every release.

    Exit code 0: all checks passed. 1: some did not; the table says which, and what to do.
    """
    course = open_course()
    slugs = [listing.slug for listing in course.settings.problem_sets] if every else problem_sets or []
    if not slugs:
        refuse("name a problem set, such as ps1, or give --all")
    checks = {}
    for slug in slugs:
        _, chosen = open_problem_set(slug)
        checks[slug] = _checked(course, chosen, mutants, jobs, show=not as_json)
    if as_json:
        documents = [{"problem_set": slug, "checks": [asdict(check) for check in own]} for slug, own in checks.items()]
        sys.stdout.write(json.dumps({"problem_sets": documents}) + "\n")
    raise typer.Exit(NEEDS_YOU if any(check.problems for own in checks.values() for check in own) else 0)


def release(
    problem_set: ProblemSetName,
    draft: Annotated[
        bool, typer.Option("--draft", help="Only bring student_template/ up to date; nothing goes out.")
    ] = False,
    check: Annotated[bool, typer.Option("--check", help="Write nothing; say what differs from what is out.")] = False,
    solutions: Annotated[bool, typer.Option("--solutions", help="Publish the solutions, after the last due date.")] = False,
    platform: Annotated[
        str | None, typer.Option(help=f"Build what instructors of a platform need: {', '.join(NAMES)}.")
    ] = None,
    jobs: Jobs = 0,
) -> None:
    """Build what students receive: student_template/, and a zip with a manifest in dist/.

    A release needs a committed tree, a passed `course validate`, and a version and CHANGELOG entry of its own.

    Exit code 0: done. 1: --check found differences. 2: refused, with the reason.
    """
    course, chosen = open_problem_set(problem_set)
    if solutions:
        _release_solutions(course, chosen)
    elif platform:
        _release_platform(course, chosen, platform)
    elif check:
        _check(course, chosen)
    elif draft:
        _write_template(course, _built(course, chosen)[0])
    else:
        _release(course, chosen, jobs)


def _checked(course: Course, problem_set: ProblemSet, mutants: int, jobs: int, *, show: bool = True) -> list[Check]:
    """Run all checks, and show their table."""
    # Imported here: what makes mutants and notebooks takes seconds to load, and no other command needs it.
    from autograder.authoring.validate import validate as run_checks

    begun = time.monotonic()
    with progress("validating") as bar:
        task = bar.add_task("", total=None)
        checks = run_checks(
            course,
            problem_set,
            most_mutations=mutants,
            jobs=jobs,
            on_progress=lambda what, done, total: bar.update(task, description=what, completed=done, total=total),
        )
    if show:
        print_sheet(checks_table(problem_set, checks, time.monotonic() - begun))
    return checks


def _built(course: Course, problem_set: ProblemSet) -> tuple[dict[str, bytes], dict[str, bytes]]:
    """All files of the template, and those that are the problem set's own."""
    from autograder.authoring.template import problem_set_files, template_files

    try:
        own = problem_set_files(course, problem_set)
        return {**template_files(course), **own}, own
    except CourseError as error:
        refuse(str(error))


def _write_template(course: Course, files: Mapping[str, bytes]) -> None:
    from autograder.authoring.template import write

    names = write(dict(files), course.root / "student_template")
    for name in names:
        out.print(f"wrote  student_template/{name}", highlight=False, soft_wrap=True)
    out.print(f"student_template/: {len(names)} of {len(files)} files were brought up to date", highlight=False)


def _check(course: Course, problem_set: ProblemSet) -> None:
    from autograder.authoring.release import differences, released
    from autograder.authoring.template import stale

    files, own = _built(course, problem_set)
    never = released(problem_set) is None
    if never:
        out.print(f"{problem_set.slug} has not been released yet; compared with student_template/ only", highlight=False)
    lines = [f"stale: student_template/{name}" for name in stale(files, course.root / "student_template")]
    lines += differences(problem_set, own)
    for line in lines:
        out.print(line, highlight=False, soft_wrap=True)
    if lines:
        raise typer.Exit(NEEDS_YOU)
    out.print(f"{problem_set.slug}: {'student_template/ is up to date' if never else 'nothing differs from what is out'}")


def _release(course: Course, problem_set: ProblemSet, jobs: int) -> None:
    from autograder.authoring.release import (
        MANIFEST,
        RELEASED,
        dump,
        manifest,
        release_record,
        uncommitted,
        version_problems,
    )

    files, own = _built(course, problem_set)
    problems = uncommitted(course.root) + version_problems(course, problem_set, own)
    if problems:
        refuse(f"{problem_set.slug} is not released:\n" + "\n".join(f"  {problem}" for problem in problems))
    if any(check.problems for check in _checked(course, problem_set, MOST_MUTATIONS, jobs)):
        refuse(f"{problem_set.slug} is not released: the checks above fail")
    _write_template(course, files)
    bundle = archive({**files, f"{problem_set.slug}/{MANIFEST}": dump(manifest(problem_set, files))})
    _write_dist(course, f"{_versioned(problem_set)}.zip", bundle)
    (problem_set.folder / RELEASED).write_bytes(dump(release_record(problem_set, own)))
    out.print(f"wrote  {(problem_set.folder / RELEASED).relative_to(course.root)}; commit it with student_template/")


def _release_solutions(course: Course, problem_set: ProblemSet) -> None:
    from autograder.authoring.release import solution_files

    last = course.last_due(problem_set.slug)
    if datetime.datetime.now(datetime.UTC) <= last:
        refuse(f"the solutions of {problem_set.slug} stay here until the last student's due date, {last:%Y-%m-%d %H:%M %Z}")
    _write_dist(course, f"{_versioned(problem_set)}-solutions.zip", archive(solution_files(problem_set)))


def _release_platform(course: Course, problem_set: ProblemSet, platform: str) -> None:
    """Into a folder of `dist/` that holds nothing but this build."""
    if platform not in NAMES:
        refuse(f"there is no platform {platform!r}; there are {', '.join(NAMES)}")
    name = f"{_versioned(problem_set)}-{platform}"
    try:
        files = release_files(platform, course, problem_set)
    except CourseError as error:
        refuse(str(error))
    folder = course.root / "dist" / name
    there = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
    if others := sorted(there - set(files)):
        refuse(f"{folder} holds {others[0]} and more that is not part of this build; move the folder away, and build again")
    for path, content in files.items():
        _write_dist(course, f"{name}/{path}", content)


def _versioned(problem_set: ProblemSet) -> str:
    return f"{problem_set.slug}-{problem_set.assignment.version}"


def _write_dist(course: Course, name: str, content: bytes) -> None:
    path = course.root / "dist" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    out.print(f"wrote  dist/{name} ({len(content) / 1024:.0f} KB)", highlight=False, soft_wrap=True)
