"""The server of the reading page: this machine only, one secret address, and nothing but the page and its saves.

Any page that is open in the reader's browser can send requests to a local port. So each must name this server as its host
(or a foreign name could be made to lead here), hold the token in its path, and, to change something, come from this page.
"""

from __future__ import annotations

import hmac
import json
import secrets
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from pydantic import ValidationError

from autograder.course import CourseError
from autograder.feedback.reading_page import reading_page
from autograder.gradebook import GradebookError
from autograder.journal import JournalError
from autograder.reading.desk import Desk, Kept, Save, version
from autograder.text import visible

MOST_BODY = 64 * 1024  # bytes; a comment of the longest kind, all of it escaped, fits
PATIENCE = 30  # seconds that a connection may be silent


class ReadingServer(ThreadingHTTPServer):
    """A server for one reader's desk, on a free port unless one is named."""

    daemon_threads = True

    def __init__(self, desk: Desk, *, named: bool = False, port: int = 0) -> None:
        super().__init__(("127.0.0.1", port), _Handler)
        self.desk, self.named = desk, named
        self.token = secrets.token_urlsafe(24)
        self.origin = f"http://127.0.0.1:{self.server_port}"
        self.address = f"{self.origin}/{self.token}/"


class _Handler(BaseHTTPRequestHandler):
    server: ReadingServer
    timeout = PATIENCE
    server_version, sys_version = "course", ""

    def do_GET(self) -> None:
        if self._refused("/"):
            return
        try:
            page = reading_page(self.server.desk, named=self.server.named)
        except (GradebookError, JournalError, CourseError, OSError) as error:
            self._answer(HTTPStatus.INTERNAL_SERVER_ERROR, "text/plain", str(error).encode())
            return
        self._answer(HTTPStatus.OK, "text/html", page.html.encode(), page.policy)

    def do_POST(self) -> None:
        if self._refused("/save"):
            return
        if self.headers.get("Origin") != self.server.origin:
            self._say(HTTPStatus.FORBIDDEN, "only the page itself may save")
        elif self.headers.get_content_type() != "application/json":
            self._say(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, "a save is JSON")
        elif not (length := self.headers.get("Content-Length", "")).isascii() or not length.isdigit():
            self._say(HTTPStatus.LENGTH_REQUIRED, "a save says how long it is")
        elif len(length) > 9 or int(length) > MOST_BODY:
            self._say(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, "The comment is too long; nothing was saved.")
        else:
            try:
                kept = self.server.desk.save(Save.model_validate_json(self.rfile.read(int(length))))
            except ValidationError as error:
                self._say(HTTPStatus.BAD_REQUEST, f"Nothing was saved: {error.errors()[0]['msg']}.")
            except (GradebookError, JournalError, CourseError, OSError) as error:
                self._say(HTTPStatus.INTERNAL_SERVER_ERROR, f"Nothing was saved: {error}.")
            else:
                self._kept(kept)

    def _refused(self, path: str) -> bool:
        """Answer a request that names another host or has not the token; True if it did."""
        if self.headers.get_all("Host", []) != [self.server.origin.removeprefix("http://")]:
            self._say(HTTPStatus.MISDIRECTED_REQUEST, "this is not the server of that host")
        elif not hmac.compare_digest(self.path.encode(), f"/{self.server.token}{path}".encode()):
            self._say(HTTPStatus.NOT_FOUND, "open the address that `course read` printed")
        else:
            return False
        return True

    def _kept(self, kept: Kept) -> None:
        status = HTTPStatus.CONFLICT if kept.problem else HTTPStatus.OK
        given = {"points": kept.given.points, "comment": visible(kept.given.comment), "version": version(kept.given)}
        self._answer(status, "application/json", json.dumps({"problem": kept.problem, "given": given}).encode())

    def _say(self, status: HTTPStatus, problem: str) -> None:
        self._answer(status, "application/json", json.dumps({"problem": problem}).encode())

    def _answer(self, status: HTTPStatus, kind: str, content: bytes, policy: str = "default-src 'none'") -> None:
        self.send_response(status)
        for name, value in (
            ("Content-Type", f"{kind}; charset=utf-8"),
            ("Content-Length", str(len(content))),
            ("Content-Security-Policy", policy),
            ("X-Content-Type-Options", "nosniff"),
            ("Referrer-Policy", "no-referrer"),
            ("Cache-Control", "no-store"),
            ("Cross-Origin-Resource-Policy", "same-origin"),
            ("Cross-Origin-Opener-Policy", "same-origin"),
        ):
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing: the terminal is the reader's."""
