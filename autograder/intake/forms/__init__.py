"""The forms in which platforms give submissions, each turned into the same thing: what one student handed in at one time.

A form is one module here that defines `FORM`; it is found by being here. What is in no platform's form are files and folders
that a person named after students: `students`. Forms are recognised by the names that platforms write, which were looked up
where they are made: Canvas's `content_zipper.rb`, Moodle's `mod/assign`, Gradescope's export.

Whoever hands in a folder chooses what is in it. So a form is recognised only where its platform writes it, at the top of
what was given or in one folder around everything, and never in a folder that may be one student's own.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Sequence
from dataclasses import dataclass, replace

from autograder.intake.entries import Contents, Entry
from autograder.intake.handed import Form, Sorted
from autograder.intake.roster import Roster
from autograder.intake.students import is_ones_own, sort_by_student
from autograder.schema import STUDENT_ID

FORMS: dict[str, Form] = {
    module.FORM.name: module.FORM
    for info in pkgutil.iter_modules(__path__)
    for module in [importlib.import_module(f"{__name__}.{info.name}")]
}
STUDENTS = "students"  # what `--form` calls files and folders named after students


class FormError(Exception):
    """What was given is not in the form that was asked for; the message says what is missing."""


@dataclass(frozen=True)
class Place:
    """What the intake was given: its name without the ending of an archive, empty for a single file, and what is in it."""

    name: str
    contents: Contents
    module: str
    roster: Roster | None = None

    def is_somebodys(self, wrapper: str) -> bool:
        """Whether a folder is named like a student or a repository, or is one, so that all in it is a student's own."""
        if (wrapper,) in self.contents.repositories:
            return True
        if self.roster is None:
            return STUDENT_ID.fullmatch(wrapper) is not None
        return wrapper.casefold().startswith(f"{self.module}-".casefold()) or self.roster.knows(wrapper)

    def is_one_students(self) -> bool:
        """Whether it is as a whole one student's own, by its name."""
        return self.roster is not None and self.roster.knows(self.name)

    def platforms_own(self, entries: Sequence[Entry]) -> list[Entry]:
        """The entries outside of repositories, whose names their owners choose."""
        return [entry for entry in entries if entry.parts[:1] not in self.contents.repositories]


def sort_entries(place: Place, wanted: str | None = None) -> Sorted:
    """Recognise the form that entries are in, and sort them by who handed them in; with `wanted`, in that form.

    Raises `FormError` if they are not in the form that is wanted.
    """
    entries = place.contents.entries
    objected = [(entry, entry.objection) for entry in entries if entry.objection]
    sound = [entry for entry in entries if not entry.objection]
    result = _sorted(place, sound, wanted)
    return Sorted(result.handed, objected + result.strays)


def _sorted(place: Place, entries: Sequence[Entry], wanted: str | None) -> Sorted:
    inner = _without_wrapper(entries)
    trusted = not place.is_one_students() and () not in place.contents.repositories
    hint = ""
    for form in FORMS.values() if wanted is None else [FORMS[wanted]] if wanted in FORMS else []:
        if form.count(entries) and (wanted or (trusted and form.count(place.platforms_own(entries)))):
            return form.sort(entries)
        count = form.count(inner)
        if count and (wanted or (count > 1 and trusted and _is_platforms(form, place, entries[0].parts[0]))):
            return form.sort(inner)
        if count or form.count(entries):
            hint = f"if this is {form.label} and no student's own folder, say `--form {form.name}`"
    if wanted and wanted != STUDENTS:
        raise FormError(f"there is no {FORMS[wanted].label[2:]} in it: nothing at its top is named as {wanted} names it")
    return _by_student(place, entries, inner, hint)


def _is_platforms(form: Form, place: Place, wrapper: str) -> bool:
    """Whether a folder around everything is what the platform, or whoever unpacked its download, put there."""
    by_name = form.wrapper is not None and form.wrapper.fullmatch(wrapper) is not None
    unknown = place.roster is None and (wrapper,) not in place.contents.repositories
    return (by_name and unknown) or not place.is_somebodys(wrapper)


def _by_student(place: Place, entries: Sequence[Entry], inner: Sequence[Entry], hint: str) -> Sorted:
    is_repository = () in place.contents.repositories
    named_already = bool(inner) and entries[0].parts[0] == place.name
    own = place.is_one_students() or is_ones_own(entries, place.module, is_repository=is_repository)
    if place.name and own and not named_already:
        entries = [replace(entry, parts=(place.name, *entry.parts)) for entry in entries]
    elif inner and not hint and not is_ones_own(inner, place.module):
        wrapper = entries[0].parts[0]
        known = (wrapper,) in place.contents.repositories or (place.roster is not None and place.roster.knows(wrapper))
        if wrapper in ("submitted", place.name) and not known:
            entries = inner
    return sort_by_student(entries, place.module, hint)


def _without_wrapper(entries: Sequence[Entry]) -> list[Entry]:
    """The entries of the one folder that all of them are in; none if there is no such folder."""
    if len({entry.parts[0] for entry in entries}) != 1 or any(len(entry.parts) == 1 for entry in entries):
        return []
    return [replace(entry, parts=entry.parts[1:]) for entry in entries]
