"""Pages that students fetch with nbgrader's own command."""

from __future__ import annotations

from pathlib import Path

import nbformat
import pytest

pytest.importorskip("nbgrader", reason="needs the extra `grader`")

from nbformat.v4 import new_notebook
from nbgrader.auth import Authenticator
from nbgrader.coursedir import CourseDirectory
from nbgrader.exchange.default import ExchangeFetchFeedback, ExchangeSubmit
from traitlets.config import Config
from typer.testing import CliRunner

from autograder.cli import app
from autograder.intake import find_submissions
from autograder.journal import Journal
from tests.support import records

TINY = Path(__file__).resolve().parent / "tiny_course"


def test_nbgrader_fetches_the_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    exchange, home, results = tmp_path / "exchange", tmp_path / "home", tmp_path / "results"
    course = exchange / "tiny-course"
    for folder in (course / "inbound", course / "outbound" / "tiny", home / "tiny"):
        folder.mkdir(parents=True)
    (course / "inbound").chmod(0o733)
    for folder in (home / "tiny", course / "outbound" / "tiny"):
        nbformat.write(new_notebook(), folder / "tiny.ipynb")
    monkeypatch.chdir(home)
    monkeypatch.setenv("JUPYTER_DATA_DIR", str(home / "data"))
    monkeypatch.setattr("nbgrader.exchange.default.submit.get_username", lambda: "s001")
    config = Config()
    config.Exchange.update(root=str(exchange), assignment_dir=str(home), cache=str(home / "cache"))
    config.CourseDirectory.update(root=str(home), course_id="tiny-course", assignment_id="tiny")
    parts = {"coursedir": CourseDirectory(config=config), "authenticator": Authenticator(config=config), "config": config}
    ExchangeSubmit(**parts).start()

    journal = Journal(results / "tiny")
    submissions, listed = find_submissions(course / "inbound", "tiny", form="exchange")
    assert listed == []
    journal.append(journal.add(submissions[0]), records.record(provenance=records.provenance(student="s001")))
    monkeypatch.chdir(TINY)
    arguments = ["feedback", "tiny", "--results", str(results), "--exchange", str(course)]
    said = CliRunner().invoke(app, arguments)
    assert said.exit_code == 0, said.output
    assert "1 to fetch with nbgrader" in said.output

    monkeypatch.chdir(home)
    ExchangeFetchFeedback(**parts).start()
    (fetched,) = (home / "tiny" / "feedback").rglob("*.html")
    assert fetched.read_text(encoding="utf-8") == (results / "tiny/feedback/s001/tiny.html").read_text(encoding="utf-8")
    # Nobody can list the folder, and nobody's page has a name that another student can work out.
    assert (course / "feedback").stat().st_mode & 0o777 == 0o711
