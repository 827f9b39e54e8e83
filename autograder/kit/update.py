"""Brings a student's folder to a new version of the template, and keeps all work: `python -m autograder.kit.update RELEASE`.

The new folder is planned in memory as a whole. Then the files that change are backed up and put in place. This program's
own files are among them, so everything it needs is imported at the top.
"""

from __future__ import annotations

import argparse
import codecs
import hashlib
import io
import json
import os
import shutil
import sys
import textwrap
import tokenize
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from autograder.kit.console import tolerate_missing_characters
from autograder.kit.merge import NOT_PYTHON, Report, merge, read_template, read_text
from autograder.kit.merge_notebook import check_notebook, merge_notebook
from autograder.kit.release_files import (
    DESCRIPTION,
    Description,
    Refused,
    base_name,
    dump_base,
    load_base,
    problem_sets,
    read_release,
)

MANIFEST = "manifest.json"
_NO_BASE = (
    "your file stays as it is, because this folder does not keep the template it was made from. "
    "If you still have that release, run this again with --base OLD.ZIP, and your file is merged"
)


@dataclass
class Plan:
    """What an update writes, in this order, what it removes, and what it tells."""

    version: str = ""
    writes: dict[str, bytes] = field(default_factory=dict)
    removes: list[str] = field(default_factory=list)
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
        self.told += [f"  {name}", *(lines or ["    unchanged"])]


def make_plan(folder: Path, release: Mapping[str, bytes], base: Mapping[str, bytes] | None = None) -> Plan:
    """What it takes to bring `folder` to the release. Reads only. Raises `Refused`.

    `base` holds the files of the release that the folder was made from; if not given, the folder's own copy is used.
    """
    if not any(folder.glob(f"*/{DESCRIPTION}")):
        raise Refused(f"{folder} is not the folder of your template. Change to the folder that holds ps1/ and autograder/.")
    plan = Plan()
    rest = dict(release)
    for slug in problem_sets(release):
        for name in _plan_work(plan, folder, release, slug, load_base(folder, slug) if base is None else base):
            rest.pop(name, None)
    _plan_rest(plan, folder, rest)
    _plan_removals(plan, folder, release)
    return plan


def carry_out(plan: Plan, folder: Path) -> Path | None:
    """Back up what the plan changes, and write. Returns the backup's folder, if there was anything to back up.

    All new files are written beside the old ones before the first takes its place: a full disk changes nothing.
    """
    backup = None
    there = [name for name in (*plan.writes, *plan.removes) if (folder / name).is_file()]
    if there:
        backup = _free(folder / f"backup-{plan.version or 'unknown'}")
        for name in there:
            (backup / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(folder / name, backup / name)
    # A link stays a link.
    paths = [Path(os.path.realpath(folder / name)) for name in plan.writes]
    fresh = {path.with_name(f".{path.name}.update"): path for path in paths}
    try:
        for (beside, path), content in zip(fresh.items(), plan.writes.values(), strict=True):
            _write(beside, content, like=path)
        for beside, path in fresh.items():
            os.replace(beside, path)
    finally:
        for beside in fresh:
            beside.unlink(missing_ok=True)
    for name in plan.removes:
        (folder / name).unlink()
    return backup


def main(arguments: Sequence[str] | None = None) -> int:
    """The command. Returns 0; 1 if something needs a look; 2 if nothing could be done."""
    parser = argparse.ArgumentParser(
        prog="python -m autograder.kit.update",
        description="Bring this folder to a new version of the template. Answers you have begun stay as they are.",
    )
    parser.add_argument("release", type=Path, help="the new release: its zip, or the folder you unpacked it to")
    parser.add_argument("--check", action="store_true", help="write nothing; say what would be done")
    parser.add_argument("--base", type=Path, help="the release this folder was made from, if the folder keeps no copy of it")
    options = parser.parse_args(arguments)
    tolerate_missing_characters()
    folder = Path.cwd()
    try:
        if options.release.resolve() == folder:
            raise Refused("this is the folder to update; give the new release's zip or folder.")
        base = read_release(options.base) if options.base else None
        plan = make_plan(folder, read_release(options.release), base)
        backup = None if options.check else carry_out(plan, folder)
    except (Refused, OSError) as error:
        print(f"update: {error}", file=sys.stderr)
        return 2
    print("\n".join(plan.told))
    if not plan.writes and not plan.removes:
        print("Nothing to do: all files are as in the release.")
    elif options.check:
        print(f"{len(plan.writes)} files would be written. Nothing was changed: run without --check to do it.")
    else:
        print(f"{len(plan.writes)} files written." + (f" What they were before is in {backup.name}/." if backup else ""))
    if plan.look:
        print('Please read what stands at "look at".')
    return int(plan.look)


def _plan_work(plan: Plan, folder: Path, release: Mapping[str, bytes], slug: str, base: Mapping[str, bytes]) -> set[str]:
    """Plan for the files that a student works in; returns their names, which nothing else may touch."""
    try:
        new = Description.of(release[f"{slug}/{DESCRIPTION}"])
    except ValueError:
        raise Refused(f"the release's {slug}/{DESCRIPTION} is damaged. Download the release again.") from None
    version = _version(folder / slug / DESCRIPTION)
    plan.told.append(f"{slug}, {new.title}: {f'{version} -> ' if version not in ('', new.version) else ''}{new.version}")
    plan.version = plan.version or version
    forms = [name for name in (f"{slug}/{new.module}.py", f"{slug}/{new.module}.ipynb") if name in release]
    present = [name for name in forms if (folder / name).is_file()]
    originals = _originals(folder)
    next_base = dict(release)
    for name in present:
        mine = (folder / name).read_bytes()
        if mine == release[name]:
            continue
        if mine == base.get(name) or hashlib.sha256(mine).hexdigest() in originals.get(name, ()):
            plan.writes[name] = release[name]
            plan.tell(name, Report(updated=["the whole file: you had not changed it"]))
            continue
        try:
            merged, report = _merge_form(name, mine, base, release, slug)
        except (*NOT_PYTHON, tokenize.TokenError) as error:
            _put_beside(plan, folder, name, release[name], f"your file cannot be read ({error}), so it stays as it is")
        except KeyError:
            _put_beside(plan, folder, name, release[name], _NO_BASE)
        else:
            if merged != mine:
                plan.writes[name] = merged
            plan.tell(name, report)
            continue
        # It can still be merged later: the base stays the one of the student's file.
        next_base.pop(name)
        if name in base:
            next_base[name] = base[name]
    kept_base = dump_base(next_base, slug)
    path = folder / base_name(slug)
    if not path.is_file() or path.read_bytes() != kept_base:
        plan.writes[base_name(slug)] = kept_base
    return {base_name(slug), *(forms if present else ())}


def _merge_form(
    name: str, mine: bytes, base: Mapping[str, bytes], release: Mapping[str, bytes], slug: str
) -> tuple[bytes, Report]:
    """A student's module or notebook, merged. Raises `KeyError` without a base, one of `NOT_PYTHON` if it is damaged."""
    report = Report()
    old = Description.of(base[f"{slug}/{DESCRIPTION}"]).questions
    new = Description.of(release[f"{slug}/{DESCRIPTION}"]).questions
    if name.endswith(".py"):
        encoding, _ = tokenize.detect_encoding(io.BytesIO(mine).readline)
        text = read_text(mine.decode(encoding))
        merge([text], read_template(base[name].decode(), old), read_template(release[name].decode(), new), report)
        merged = text.merged().encode(encoding)
    else:
        notebook = json.loads(mine.decode("utf-8-sig"))
        check_notebook(notebook)
        result = merge_notebook(notebook, json.loads(base[name]), json.loads(release[name]), old, new, report)
        mark = codecs.BOM_UTF8 if mine.startswith(codecs.BOM_UTF8) else b""
        merged = mine if result == notebook else mark + _notebook_bytes(result)
    gone = [question for question in old if question not in new]
    report.look += [f"question {question} is no longer asked; what you have of it stays" for question in gone]
    return merged, report


def _notebook_bytes(notebook: Mapping[str, Any]) -> bytes:
    try:
        return json.dumps(notebook, indent=1, ensure_ascii=False).encode() + b"\n"
    except UnicodeEncodeError:  # half a surrogate pair in some output; only an escape can hold it
        return json.dumps(notebook, indent=1).encode() + b"\n"


def _put_beside(plan: Plan, folder: Path, name: str, content: bytes, why: str) -> None:
    stem, _, ending = name.rpartition(".")
    aside = f"{stem}.new.{ending}"
    if not (folder / aside).is_file() or (folder / aside).read_bytes() != content:
        plan.writes[aside] = content
    plan.tell(name, Report(look=[f"{why}. The new file is beside it, in {aside}"]))


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


def _plan_removals(plan: Plan, folder: Path, release: Mapping[str, bytes]) -> None:
    """Plan to remove the modules that left the kit, so that nothing imports what is no longer looked after."""
    for path in sorted((folder / "autograder").rglob("*.py")):
        name = path.relative_to(folder).as_posix()
        if name not in release and not path.is_symlink():
            plan.removes.append(name)
    if plan.removes:
        plan.told += ["  files that left the kit", f"    removed  {', '.join(_short(plan.removes))}"]


def _short(names: list[str]) -> list[str]:
    return names if len(names) <= 6 else [*names[:4], f"and {len(names) - 4} more"]


def _version(path: Path) -> str:
    """The version of what the student has; empty if they do not have the problem set yet."""
    try:
        return Description.of(path.read_bytes()).version
    except FileNotFoundError:
        return ""
    except (OSError, ValueError):
        return "unknown"


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


def _free(path: Path, content: bytes | None = None) -> Path:
    """This name, or the first of its numbered ones, that is not taken (by anything but this content)."""
    number, free = 2, path
    while free.exists() and (content is None or not free.is_file() or free.read_bytes() != content):
        free = path.with_name(f"{path.name}-{number}")
        number += 1
    return free


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
