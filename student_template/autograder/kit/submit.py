"""`python -m autograder.kit.submit ps1`: says what is handed in and what is missing, delivers it, and keeps a receipt.

A delivery is a new folder in the inbox, which appears whole or not at all and replaces nothing. Who handed it in is known by
the file's owner, and when by the first time that staff see it; so nothing of that is asked here. The receipt proves which
bytes they were.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import json
import os
import secrets
import shutil
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from autograder.kit.console import tolerate_missing_characters
from autograder.kit.delivery import feedback_folder, feedback_name
from autograder.kit.exchange import ExchangeError, is_offered, submit_to_exchange
from autograder.kit.folder import FORMS, begun_forms, find_folder, read_description
from autograder.kit.local import run_public_tests
from autograder.kit.own_run import OwnRun
from autograder.kit.schedule import read_schedule

RECEIPTS = "receipts"


class NotHandedIn(Exception):
    """Nothing was delivered; the message says why, and what to do."""


def main(arguments: Sequence[str] | None = None) -> int:
    """The command. Returns 0 if something was delivered or is ready to upload, 2 if not."""
    parser = argparse.ArgumentParser(prog="python -m autograder.kit.submit", description="Hand in a problem set.")
    parser.add_argument("problem_set", help="its folder, such as ps1")
    parser.add_argument("--to", type=Path, metavar="FOLDER", help="the course's inbox, such as a folder on a shared drive")
    if is_offered():
        parser.add_argument("--exchange", action="store_true", help="submit the notebook to nbgrader's exchange")
    parser.add_argument("--form", choices=FORMS, help="which file counts, if you have begun both")
    parser.add_argument("--again", action="store_true", help="hand in the same bytes once more")
    given = parser.parse_args(arguments)
    tolerate_missing_characters()
    folder = find_folder(given.problem_set)
    try:
        _hand_in(folder, given.to, given.form, again=given.again, exchange=getattr(given, "exchange", False))
    except (NotHandedIn, FileNotFoundError) as error:
        print(error)
        return 2
    return 0


def _hand_in(folder: Path, inbox: Path | None, form: str | None, *, again: bool, exchange: bool) -> None:
    description = read_description(folder)
    work = chosen_work(folder, description, form)
    content = work.read_bytes()
    digest = hashlib.sha256(content).hexdigest()
    print(f"{work.name}: {len(content)} bytes, SHA-256 {digest}")
    run = OwnRun(folder, work=work)
    run_public_tests(run)
    print("\n".join(run.summary()))
    before = [receipt for receipt in _receipts(folder) if receipt.get("sha256") == digest and receipt.get("to")]
    if before and (inbox or exchange) and not again:
        raise NotHandedIn(f"These bytes were handed in before, at {before[-1].get('time')}. Nothing was delivered; "
                          "if that delivery was lost, add --again.")  # fmt: skip
    if exchange:
        delivered = f"nbgrader's exchange: {_to_exchange(folder, work, description['slug'])}"
        print(f"Delivered to {delivered}")
    elif inbox is None:
        schedule = read_schedule(folder, description["slug"])
        where = schedule.hand_in if schedule else ""
        print(f"Ready to upload{f' {where}' if where else ''}: {work.resolve()}")
        delivered = ""
    else:
        place = deliver(work.name, content, description["slug"], inbox)
        delivered = str(place)
        print(f"Delivered: {delivered}")
        page = feedback_folder(inbox) / feedback_name(place.name, digest)
        print(f"If your course grades work as it arrives, feedback appears here: {page}")
    receipt = _write_receipt(folder, description, work.name, len(content), digest, delivered)
    print(f"Receipt: {receipt}. Keep it: it proves which bytes you handed in.")


def chosen_work(folder: Path, description: dict[str, Any], form: str | None) -> Path:
    """The file that is handed in. Raises `NotHandedIn` if none has been begun, or both and `form` names neither."""
    module = description["module"]
    begun = begun_forms(folder, description)
    if form is not None:
        begun = [path for path in begun if path.suffix == FORMS[form]]
    if not begun:
        wanted = f"{module}{FORMS[form]}" if form else f"neither {module}.py nor {module}.ipynb"
        raise NotHandedIn(f"{wanted} has {'not ' if form else ''}been begun, so there is nothing to hand in.")
    if len(begun) > 1:
        raise NotHandedIn(f"You have begun both {begun[0].name} and {begun[1].name}, and one of them counts. "
                          "Say which: --form module, or --form notebook.")  # fmt: skip
    return begun[0]


def _to_exchange(folder: Path, work: Path, slug: str) -> str:
    if work.suffix != ".ipynb":
        raise NotHandedIn(f"nbgrader's exchange takes the notebook, and this is {work.name}. Nothing was delivered.")
    if folder.resolve().name != slug:
        raise NotHandedIn(f"nbgrader knows this problem set by the folder's name: rename {folder} to {slug}.")
    try:
        return submit_to_exchange(folder, slug)
    except ExchangeError as error:
        raise NotHandedIn(f"nbgrader did not take it: {error}") from None


def deliver(name: str, content: bytes, slug: str, inbox: Path) -> Path:
    """Put a file into a new folder of the inbox, and return that folder. Raises `NotHandedIn` if it cannot be done."""
    if not inbox.is_dir():
        raise NotHandedIn(f"{inbox} is not a folder. Is the shared drive connected? Nothing was delivered.")
    # With microseconds, so that a student's deliveries stand in their order.
    unique = f"{slug}-{datetime.now(UTC):%Y%m%dT%H%M%S%fZ}-{secrets.token_hex(4)}"
    # What begins with a dot is passed over by staff's side until it is whole.
    unfinished, final = inbox / f".{unique}", inbox / unique
    try:
        unfinished.mkdir()
        with open(unfinished / name, "xb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        unfinished.rename(final)
    except OSError as error:
        shutil.rmtree(unfinished, ignore_errors=True)
        raise NotHandedIn(f"{inbox} cannot be written to: {error.strerror or error}. Nothing was delivered.") from None
    return final


def _write_receipt(folder: Path, description: dict[str, Any], name: str, size: int, digest: str, delivered: str) -> Path:
    now = datetime.now().astimezone()
    receipt = {
        "problem_set": description["slug"],
        "version": description["version"],
        "file": name,
        "bytes": size,
        "sha256": digest,
        "time": now.isoformat(timespec="seconds"),
        "to": delivered,
    }
    place = folder / RECEIPTS / f"{now:%Y%m%dT%H%M%S}-{secrets.token_hex(2)}.json"
    place.parent.mkdir(exist_ok=True)
    place.write_text(json.dumps(receipt, indent=1) + "\n", encoding="utf-8")
    return place


def _receipts(folder: Path) -> list[dict[str, Any]]:
    receipts = []
    for path in sorted((folder / RECEIPTS).glob("*.json")):
        with contextlib.suppress(OSError, ValueError):
            receipt = json.loads(path.read_text(encoding="utf-8"))
            if isinstance(receipt, dict):
                receipts.append(receipt)
    return receipts


if __name__ == "__main__":
    sys.exit(main())
