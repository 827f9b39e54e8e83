"""Brings a student's folder to a new version of the template, and keeps all work: `python -m autograder.kit.update RELEASE`.

The new folder is planned in memory as a whole; then what changes is backed up; then the files are put in place. This
program's own files are among them, so all that it needs is imported on top.
"""

from __future__ import annotations

import argparse
import codecs
import hashlib
import io
import json
import os
import re
import shutil
import stat
import sys
import textwrap
import tokenize
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any

from autograder.kit.local import DESCRIPTION
from autograder.kit.merge import Report, Unreadable, cut, merge_module, words
from autograder.kit.merge_notebook import NotebookMerge, check_notebook, prose_parts, source_of

MANIFEST = "manifest.json"
MAX_FILES, MAX_BYTES = 5_000, 200_000_000
_CANNOT = (SyntaxError, ValueError, Unreadable, RecursionError)


class Refused(Exception):
    """Nothing was done; the message says why, and what to do."""


@dataclass
class Plan:
    """What an update writes, in this order, and what it tells."""

    version: str = ""
    writes: dict[str, bytes] = field(default_factory=dict)
    told: list[str] = field(default_factory=list)
    look: bool = False

    def tell(self, name: str, report: Report) -> None:
        """Add what became of one file."""
        lines = [
            f"    {what:<8} {', '.join(items)}"
            for what, items in (("kept", report.kept), ("updated", report.updated), ("new", report.new))
            if items
        ]
        for item in report.look:
            lines.append(textwrap.indent(item, " " * 17).replace(" " * 17, "    look at  ", 1))
        self.look = self.look or bool(report.look)
        self.told += [f"  {name}", *(lines or ["    as it was"])]


def read_release(path: Path) -> dict[str, bytes]:
    """The files of a release, a zip or a folder, by their names in the template. Raises `Refused`."""
    if not path.exists():
        raise Refused(f"{path} does not exist. Give the release's zip, or the folder you unpacked it to.")
    try:
        files = dict(_of_folder(path) if path.is_dir() else _of_zip(path))
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError, EOFError, OSError) as error:
        raise Refused(f"{path} cannot be read: {error}. Download it again.") from None
    for prefix in ("", *sorted({f"{name.split('/')[0]}/" for name in files if "/" in name})):
        inside = {name.removeprefix(prefix): content for name, content in files.items() if name.startswith(prefix)}
        if "autograder/kit/__init__.py" in inside and _problem_sets(inside):
            shared = re.compile(r"[^/]+|autograder/.+|(?:{})/.+".format("|".join(map(re.escape, _problem_sets(inside)))))
            return {name: content for name, content in inside.items() if shared.fullmatch(name)}
    raise Refused(f"{path} is not a release of this course: it holds no folder autograder/ beside a problem set.")


def make_plan(folder: Path, release: Mapping[str, bytes]) -> Plan:
    """What it takes to bring `folder` to the release. Reads only. Raises `Refused`."""
    if not any(folder.glob(f"*/{DESCRIPTION}")):
        raise Refused(f"{folder} is not the folder of your template. Change to the folder that holds ps1/ and autograder/.")
    plan = Plan()
    slugs = _problem_sets(release)
    merged: set[str] = set()
    for slug in slugs:
        merged |= _plan_work(plan, folder, release, slug)
    _plan_rest(plan, folder, {name: content for name, content in release.items() if name not in merged})
    return plan


def carry_out(plan: Plan, folder: Path) -> Path | None:
    """Back up what the plan changes, and write. Returns the backup's folder, if there was anything to back up.

    All new files are written beside the old ones before the first takes its place: a full disk changes nothing.
    """
    backup = None
    there = [name for name in plan.writes if (folder / name).is_file()]
    if there:
        backup = _free(folder / f"backup-{plan.version or 'unknown'}")
        for name in there:
            (backup / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(folder / name, backup / name)
    # A link stays a link.
    fresh = {_beside(path): path for path in (Path(os.path.realpath(folder / name)) for name in plan.writes)}
    try:
        for (beside, path), content in zip(fresh.items(), plan.writes.values(), strict=True):
            _write(beside, content, like=path)
        for beside, path in fresh.items():
            os.replace(beside, path)
    finally:
        for beside in fresh:
            beside.unlink(missing_ok=True)
    return backup


def main(arguments: Sequence[str] | None = None) -> int:
    """The command. Returns 0; 1 if something needs a look; 2 if nothing could be done."""
    parser = argparse.ArgumentParser(
        prog="python -m autograder.kit.update",
        description="Bring this folder to a new version of the template. Answers you have begun stay as they are.",
    )
    parser.add_argument("release", type=Path, help="the new release: its zip, or the folder you unpacked it to")
    parser.add_argument("--check", action="store_true", help="write nothing; say what would be done")
    options = parser.parse_args(arguments)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
    folder = Path.cwd()
    try:
        if options.release.resolve() == folder:
            raise Refused("this is the folder to update; give the new release's zip or folder.")
        plan = make_plan(folder, read_release(options.release))
        backup = None if options.check else carry_out(plan, folder)
    except (Refused, OSError) as error:
        print(f"update: {error}", file=sys.stderr)
        return 2
    print("\n".join(plan.told))
    if not plan.writes:
        print("Nothing to do: all files are as in the release.")
    elif options.check:
        print(f"{len(plan.writes)} files would be written. Nothing was changed: run without --check to do it.")
    else:
        print(f"{len(plan.writes)} files written." + (f" What they were before is in {backup.name}/." if backup else ""))
    if plan.look:
        print('Please read what stands at "look at".')
    return int(plan.look)


def _of_folder(root: Path) -> Iterator[tuple[str, bytes]]:
    for path in sorted(root.rglob("*")):
        name = path.relative_to(root)
        if path.is_file() and not path.is_symlink() and _wanted(name.parts):
            yield name.as_posix(), path.read_bytes()


def _of_zip(path: Path) -> Iterator[tuple[str, bytes]]:
    with zipfile.ZipFile(path) as archive:
        entries = [entry for entry in archive.infolist() if not entry.is_dir()]
        if len(entries) > MAX_FILES or sum(entry.file_size for entry in entries) > MAX_BYTES:
            raise Refused(f"{path} holds more than a release does. Download it again.")
        for entry in entries:
            parts = entry.filename.split("/")
            strange = re.search(r'[\\:*?"<>|\x00-\x1f]', entry.orig_filename)
            if strange or not all(parts) or {".", ".."} & set(parts) or stat.S_ISLNK(entry.external_attr >> 16):
                raise Refused(f"{path} holds {entry.filename!r}, which points outside or is a link. Nothing was changed.")
            if _wanted(parts):
                # The stated size bounds what is unpacked: zipfile stops there.
                yield entry.filename, archive.read(entry)


def _wanted(parts: Sequence[str]) -> bool:
    return not any(part.startswith((".", "backup-")) or part == "__pycache__" for part in parts)


def _problem_sets(files: Mapping[str, bytes]) -> list[str]:
    found = (PurePosixPath(name) for name in files)
    return sorted(name.parts[0] for name in found if name.name == DESCRIPTION and len(name.parts) == 2)


def _plan_work(plan: Plan, folder: Path, release: Mapping[str, bytes], slug: str) -> set[str]:
    """Plan for the files that a student works in; returns their names, which nothing else may touch."""
    try:
        new = json.loads(release[f"{slug}/{DESCRIPTION}"])
        module, title, version = str(new["module"]), str(new["title"]), str(new["version"])
        questions = _names(new)
    except (ValueError, KeyError, TypeError, AttributeError):
        raise Refused(f"the release's {slug}/{DESCRIPTION} is damaged. Download the release again.") from None
    forms = [name for name in (f"{slug}/{module}.py", f"{slug}/{module}.ipynb") if name in release]
    old, old_version = _old(folder / slug)
    before = f"{old_version} -> " if old_version not in ("", version) else ""
    plan.told.append(f"{slug}, {title}: {before}{version}")
    plan.version = plan.version or old_version
    present = [name for name in forms if (folder / name).is_file()]
    if not present:
        return set()
    originals = _originals(folder)
    lines = {name: _lines_of(folder / name) for name in present}
    for name in present:
        source = (folder / name).read_bytes()
        if source == release[name] or hashlib.sha256(source).hexdigest() in originals.get(name, ()):
            if source != release[name]:
                plan.writes[name] = release[name]
                plan.tell(name, Report(updated=["the whole file: you had not changed it"]))
            continue
        other = next((lines[one] for one in present if one != name), None)
        try:
            if name.endswith(".py"):
                content, report = _module(source, release[name], questions, old, other)
            else:
                parts = _prose(folder / slug), prose_parts(release.get(f"{slug}/README.md", b"").decode())
                content, report = _notebook(source, release[name], questions, old, parts, other)
        except _CANNOT as error:
            stem, _, ending = name.rpartition(".")
            aside = f"{stem}.new.{ending}"
            if not (folder / aside).is_file() or (folder / aside).read_bytes() != release[name]:
                plan.writes[aside] = release[name]
            why = f"your file cannot be read ({error}), so it stays as it is. The new one lies beside it, in {aside}"
            plan.tell(name, Report(look=[why]))
            continue
        gone = [question for question in old if question not in questions]
        report.look += [f"question {question} is no longer asked; what you have of it stays" for question in gone]
        if content != source:
            plan.writes[name] = content
        plan.tell(name, report)
    return set(forms)


def _module(
    source: bytes, template: bytes, questions: dict[str, list[str]], old: dict[str, list[str]], other: set[str] | None
) -> tuple[bytes, Report]:
    encoding, _ = tokenize.detect_encoding(io.BytesIO(source).readline)
    blocks = cut(template.decode(), questions)
    old_names = [name for names in old.values() for name in names]
    merge = merge_module(source.decode(encoding), blocks, old_names, other)
    return merge.text(0).encode(encoding), merge.report


def _notebook(
    source: bytes,
    template: bytes,
    questions: dict[str, list[str]],
    old: dict[str, list[str]],
    prose: tuple[list[str], list[str]],
    other: set[str] | None,
) -> tuple[bytes, Report]:
    mine = json.loads(source.decode("utf-8-sig"))
    check_notebook(mine)
    merge = NotebookMerge(mine, json.loads(template), questions, old, *prose, other)
    result = merge.notebook()
    if result == mine:
        return source, merge.merge.report
    text = json.dumps(result, indent=1, ensure_ascii=False) + "\n"
    mark = codecs.BOM_UTF8 if source.startswith(codecs.BOM_UTF8) else b""
    try:
        return mark + text.encode(), merge.merge.report
    except UnicodeEncodeError:
        # Half a surrogate pair in some output; only an escape can hold it.
        return mark + json.dumps(result, indent=1).encode() + b"\n", merge.merge.report


def _plan_rest(plan: Plan, folder: Path, files: Mapping[str, bytes]) -> None:
    """Plan for all other files: they become the release's, and one that the student edited is kept as `<name>.mine`."""
    originals = _originals(folder)
    updated, new, edited = [], [], []
    # What tells the version comes last: after a stop half-way, the next run starts from the old one.
    for name in sorted(files, key=lambda name: (name.endswith((DESCRIPTION, MANIFEST)), name)):
        path = folder / name
        if not path.is_file():
            new.append(name)
        elif (mine := path.read_bytes()) == files[name]:
            continue
        else:
            updated.append(name)
            known = originals.get(name)
            if path.name != MANIFEST and (known is None or hashlib.sha256(mine).hexdigest() not in known):
                copy = _free(path.with_name(f"{path.name}.mine"), mine)
                plan.writes[copy.relative_to(folder).as_posix()] = mine
                if known is not None:
                    edited.append(f"you had changed {name}; your text is in {copy.name}")
        plan.writes[name] = files[name]
    if updated or new:
        plan.tell("all other files", Report(updated=_short(updated), new=_short(new), look=edited))


def _short(names: list[str]) -> list[str]:
    return names if len(names) <= 6 else [*names[:4], f"and {len(names) - 4} more"]


def _names(description: Any) -> dict[str, list[str]]:
    return {str(one["id"]): [str(name) for name in one["names"]] for one in description["questions"]}


def _old(folder: Path) -> tuple[dict[str, list[str]], str]:
    """The questions and the version of what the student has, as far as its description can be read."""
    if not (folder / DESCRIPTION).is_file():
        return {}, ""
    try:
        description = json.loads((folder / DESCRIPTION).read_text(encoding="utf-8"))
        version = re.sub(r"[^\w.+-]", "_", str(description["version"])).lstrip(".")
        return _names(description), version[:40]
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return {}, "unknown"


def _originals(folder: Path) -> dict[str, set[str]]:
    """For each file, the hashes under which releases that were put here have it."""
    originals: dict[str, set[str]] = {}
    for path in (folder / MANIFEST, *folder.glob(f"*/{MANIFEST}")):
        try:
            for name, digest in json.loads(path.read_text(encoding="utf-8"))["files"].items():
                originals.setdefault(name, set()).add(digest)
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            continue
    return originals


def _lines_of(path: Path) -> set[str] | None:
    """The lines of a student's form, to tell the template's own text from theirs; nothing for a damaged notebook."""
    text = path.read_bytes().decode("utf-8-sig", "replace")
    if path.suffix != ".ipynb":
        return words([text])
    try:
        notebook = json.loads(text)
        check_notebook(notebook)
    except _CANNOT:
        return None
    return words(source_of(cell) for cell in notebook["cells"] if cell["cell_type"] == "code")


def _prose(folder: Path) -> list[str]:
    try:
        return prose_parts((folder / "README.md").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return []


def _free(path: Path, content: bytes | None = None) -> Path:
    """This name, or the first of its numbered ones, that is not taken (by anything but this content)."""
    number, free = 2, path
    while free.exists() and (content is None or not free.is_file() or free.read_bytes() != content):
        free = path.with_name(f"{path.name}-{number}")
        number += 1
    return free


def _beside(path: Path) -> Path:
    return path.with_name(f".{path.name}.update")


def _write(path: Path, content: bytes, like: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    if like.exists():
        shutil.copymode(like, path)


if __name__ == "__main__":
    sys.exit(main())
