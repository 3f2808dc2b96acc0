"""Posts gitguard's report on the pull request of a `workflow_run` event, as one current comment.

    python3 -I post_comment.py REPORT

The report comes from a job that ran the pull request's own code, so it is data and nothing more.
The API says which pull request it belongs to, by the event's repository, branch and commit. The
script prints nothing from the report, because a runner obeys commands that it finds in a log.
"""

from __future__ import annotations

import json
import os
import re
import stat
import sys
import time
import urllib.error
import urllib.parse
import urllib.request
from typing import Any

MARKER = "<!-- gitguard-report -->"
"""Begins the comment that is kept current."""
FOOTER = "*A job of this pull request wrote this report, and the pull request can change that job.*"
MOST = 65_000
"""Characters of the largest report."""
MOST_IN_COMMENT = 65_536
PER_PAGE = 100
MOST_PAGES = 100
WAITS = (1, 5)
"""Seconds before each further attempt after an answer that may be different next time."""


class Failed(Exception):
    """The comment cannot be posted; the message is safe to print."""


class Unavailable(Failed):
    """The API may answer if it is asked again."""


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """Follows no redirect, because the token would go along."""

    def redirect_request(self, *_: Any) -> None:
        """Refuse."""


class Api:
    """The REST API of the repository in which the workflow runs."""

    def __init__(self, base: str, repository: str, token: str) -> None:
        """Take the API's base address, `owner/name`, and the job's token."""
        self._base = f"{base.rstrip('/')}/repos/{repository}"
        self._token = token
        self._opener = urllib.request.build_opener(_NoRedirect)

    def call(self, method: str, path: str, body: str | None = None, **query: str) -> Any:
        """Send one request, with the body of a comment if there is one; return the answer."""
        address = f"{self._base}/{path}?{urllib.parse.urlencode(query)}".rstrip("?")
        request = urllib.request.Request(address, method=method)
        request.add_header("Authorization", f"Bearer {self._token}")
        request.add_header("Accept", "application/vnd.github+json")
        request.add_header("X-GitHub-Api-Version", "2022-11-28")
        if body is not None:
            request.data = json.dumps({"body": body}).encode()
            request.add_header("Content-Type", "application/json")
        what = f"{method} {path}"
        try:
            with self._opener.open(request, timeout=30) as answer:
                return json.load(answer)
        except urllib.error.HTTPError as error:
            error.close()
            if error.code >= 500 or error.code == 429:
                raise Unavailable(f"{what}: the API answered {error.code}") from None
            hint = "; the job needs `pull-requests: write`" if error.code == 403 else ""
            raise Failed(f"{what}: the API answered {error.code}{hint}") from None
        except ValueError:
            raise Unavailable(f"{what}: the answer is not JSON") from None
        except OSError:
            raise Unavailable(f"{what}: the API cannot be reached") from None

    def pages(self, path: str, **query: str) -> list[dict[str, Any]]:
        """Return all entries of a list."""
        found: list[dict[str, Any]] = []
        for page in range(1, MOST_PAGES + 1):
            entries = self.call("GET", path, per_page=str(PER_PAGE), page=str(page), **query)
            found += entries
            if len(entries) < PER_PAGE:
                return found
        raise Failed(f"GET {path}: there are more than {PER_PAGE * MOST_PAGES:,} entries")


def read_report(path: str) -> str:
    """Return the report's text; refuse what gitguard does not write."""
    try:
        # An artifact can hold a link to any file of this machine.
        with open(os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK), "rb") as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise Failed("the report is not a regular file")
            data = file.read(4 * MOST + 1)
    except OSError as error:
        raise Failed(f"the report cannot be read: {error.strerror}") from None
    try:
        text = data.decode()
    except UnicodeDecodeError:
        text = "" if len(data) <= 4 * MOST else " " * (MOST + 1)
    if len(text) > MOST:
        raise Failed(f"the report has more than {MOST:,} characters")
    if not text.strip() or "\0" in text:
        raise Failed("the report is empty or not text in UTF-8")
    return text


def comment_of(report: str) -> str:
    """Return the comment: nobody is mentioned, and no bot is given a command."""
    text = report.replace("\r\n", "\n").replace("\r", "\n")
    text = re.sub(r"@(?=\w)", "@&#8203;", text)
    text = re.sub(r"^(\s*)/", r"\1&#47;", text, flags=re.MULTILINE)
    comment = f"{MARKER}\n{text.strip()}\n\n{FOOTER}"
    if len(comment) > MOST_IN_COMMENT:
        raise Failed(f"the comment would have more than {MOST_IN_COMMENT:,} characters")
    return comment


def pull_request(api: Api, event: dict[str, Any]) -> int | None:
    """Return the number of the one open pull request with the event's commit, None for none.

    The event's own list of pull requests is empty if the commit is in a fork.
    """
    run = event["workflow_run"]
    source, commit = run["head_repository"], run["head_sha"]
    head = f"{source['owner']['login']}:{run['head_branch']}"
    numbers = [
        int(pull["number"])
        for pull in api.pages("pulls", state="open", head=head)
        if pull["head"]["sha"] == commit and (pull["head"]["repo"] or {}).get("id") == source["id"]
    ]
    if len(numbers) > 1:
        raise Failed(f"{len(numbers)} open pull requests have this commit; the report is of one")
    return numbers[0] if numbers else None


def post(api: Api, event: dict[str, Any], body: str, author: str) -> str:
    """Create the comment, or update it if it differs; return what was done."""
    number = pull_request(api, event)
    if number is None:
        return "Nothing posted: no open pull request has this commit as its head"
    for comment in api.pages(f"issues/{number}/comments"):
        written = (comment["body"] or "").replace("\r\n", "\n").rstrip()
        if (comment["user"] or {}).get("login") != author or not written.startswith(MARKER):
            continue
        if written == body:
            return f"Nothing posted: the comment on #{number} is current"
        api.call("PATCH", f"issues/comments/{int(comment['id'])}", body)
        return f"Updated the comment on #{number}"
    api.call("POST", f"issues/{number}/comments", body)
    return f"Created the comment on #{number}"


def main(path: str, environment: dict[str, str]) -> str:
    """Post the report; return what was done.

    Each further attempt lists the comments again, so none is created twice.
    """
    body = comment_of(read_report(path))
    with open(environment["GITHUB_EVENT_PATH"], encoding="utf-8") as file:
        event = json.load(file)
    base = environment.get("GITHUB_API_URL", "https://api.github.com")
    api = Api(base, environment["GITHUB_REPOSITORY"], environment["GITHUB_TOKEN"])
    author = environment.get("COMMENT_AUTHOR", "github-actions[bot]")
    for wait in WAITS:
        try:
            return post(api, event, body, author)
        except Unavailable:
            time.sleep(wait)
    return post(api, event, body, author)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: post_comment.py REPORT")
    try:
        print(main(sys.argv[1], dict(os.environ)))
    except Failed as failure:
        sys.exit(f"Error: {failure}")
