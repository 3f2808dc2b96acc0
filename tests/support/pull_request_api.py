"""A server on this machine that plays the part of GitHub's REST API that a comment needs."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

REPOSITORY = "acme/parser"
BOT = "github-actions[bot]"
TOKEN = "token-of-the-job"


class Api:
    """Pull requests and comments that a test prepares, and the requests that were made."""

    def __init__(self) -> None:
        self.address = ""
        self.pulls: list[dict[str, Any]] = []
        self.comments: dict[int, list[dict[str, Any]]] = {}
        self.requests: list[tuple[str, str]] = []
        self.failures: list[tuple[str, int]] = []
        """Methods and statuses; each answers the next request with that method."""
        self.takes_before_failing = False
        """Whether a comment is created although the answer says that it failed."""
        self.redirect = ""

    def open_pull(
        self, number: int, commit: str, branch: str = "port", repository: int = 7
    ) -> None:
        owner = "acme" if repository == 7 else "contributor"
        head = {"sha": commit, "label": f"{owner}:{branch}", "repo": {"id": repository}}
        self.pulls.append({"number": number, "state": "open", "head": head})

    def say(self, number: int, body: str, login: str = BOT) -> dict[str, Any]:
        """Add a comment to a pull request."""
        said = {"id": sum(map(len, self.comments.values())) + 1, "body": body}
        said["user"] = {"login": login}
        self.comments.setdefault(number, []).append(said)
        return said

    def written(self) -> list[tuple[str, str]]:
        """Return the requests that changed something."""
        return [request for request in self.requests if request[0] != "GET"]

    def answer(self, method: str, target: str, body: dict[str, Any]) -> tuple[int, Any]:
        """Return the status and the document that answer a request."""
        parts = urlsplit(target)
        path = parts.path.removeprefix(f"/repos/{REPOSITORY}/")
        query = {name: values[0] for name, values in parse_qs(parts.query).items()}
        self.requests.append((method, path))
        failure = next((failure for failure in self.failures if failure[0] == method), None)
        if failure is not None:
            self.failures.remove(failure)
            if not self.takes_before_failing:
                return failure[1], {"message": "::error::said by the API"}
        status, document = self._answer(method, path, query, body)
        return (failure[1] if failure else status), document

    def _answer(
        self, method: str, path: str, query: dict[str, str], body: dict[str, Any]
    ) -> tuple[int, Any]:
        if (method, path) == ("GET", "pulls"):
            found = [pull for pull in self.pulls if pull["head"]["label"] == query["head"]]
            if query.get("state", "open") != "all":
                found = [pull for pull in found if pull["state"] == query.get("state", "open")]
            return 200, page_of(found, query)
        kind, number, *rest = path.split("/")[:3]
        if method == "PATCH" and (kind, number) == ("issues", "comments"):
            every = [comment for comments in self.comments.values() for comment in comments]
            (comment,) = [c for c in every if c["id"] == int(rest[0])]
            comment["body"] = body["body"]
            return 200, comment
        if (kind, rest) == ("issues", ["comments"]):
            if method == "POST":
                return 201, self.say(int(number), body["body"])
            return 200, page_of(self.comments.get(int(number), []), query)
        return 404, {"message": "Not Found"}


def page_of(entries: list[dict[str, Any]], query: dict[str, str]) -> list[dict[str, Any]]:
    size = min(int(query.get("per_page", "30")), 100)
    first = (int(query.get("page", "1")) - 1) * size
    return entries[first : first + size]


@contextmanager
def serving() -> Iterator[Api]:
    """Serve on 127.0.0.1 until the block ends."""
    api = Api()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            length = int(self.headers.get("Content-Length") or 0)
            body = json.loads(self.rfile.read(length) or b"{}")
            status, document = 401, None
            if self.headers["Authorization"] == f"Bearer {TOKEN}":
                status, document = api.answer(self.command, self.path, body)
            data = json.dumps(document).encode()
            self.send_response(status)
            if api.redirect and status in (301, 302, 307):
                self.send_header("Location", api.redirect)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        do_POST = do_PATCH = do_GET

        def log_message(self, format: str, *args: object) -> None:
            """Say nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        api.address = f"http://127.0.0.1:{server.server_address[1]}"
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield api
        finally:
            server.shutdown()
            thread.join()
