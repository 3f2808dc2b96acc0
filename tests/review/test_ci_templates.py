"""What a job runs to put a report on a pull request: run here against stand-ins, and linted."""

from __future__ import annotations

import json
import os
import re
import runpy
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

from gitguard.guard.review import CI_FILES
from gitguard.review.markdown import markdown
from tests.conftest import Git, start_guard
from tests.support.pull_request_api import BOT, REPOSITORY, TOKEN, Api, serving
from tests.support.scratch import BIN
from tests.support.staged import staged_object

from .injections import INJECTIONS
from .made_reports import WEB, report_with

CI = Path(__file__).parents[2] / "templates" / "ci"
WORKFLOWS = sorted((CI / "github").glob("*.yml"))
POST, SCRIPT = CI / "post_comment.py", CI / "report.sh"
MARKER = "<!-- gitguard-report -->"
COMMIT, OTHER = "a" * 40, "b" * 40
FORK = 8


def workflow(name: str) -> dict[str, Any]:
    read: dict[str, Any] = YAML(typ="safe", pure=True).load(CI / "github" / name)
    return read


def steps(name: str) -> list[dict[str, Any]]:
    return [step for job in workflow(name)["jobs"].values() for step in job["steps"]]


def step(name: str, title: str) -> str:
    """Return what a step runs."""
    (found,) = [step["run"] for step in steps(name) if step["name"] == title]
    return str(found)


RUNS = [(path.name, s["name"]) for path in WORKFLOWS for s in steps(path.name) if "run" in s]


# The files themselves


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_a_workflow_is_as_the_schema_of_workflows_says(path: Path) -> None:
    command = [f"{BIN}/check-jsonschema", "--builtin-schema", "vendor.github-workflows", str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize(("name", "title"), RUNS)
def test_what_a_step_runs_is_a_sound_script_that_no_event_is_pasted_into(
    name: str, title: str
) -> None:
    text = step(name, title)
    assert "${{" not in text
    check_script(text, "bash")


def test_the_script_for_other_forges_is_sound() -> None:
    check_script(SCRIPT.read_text(), "sh")


def check_script(text: str, shell: str) -> None:
    for command in ([shell, "-n"], [f"{BIN}/shellcheck", f"--shell={shell}", "-"]):
        done = subprocess.run(command, input=text, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr


def test_only_the_job_that_runs_nothing_of_the_pull_request_can_write() -> None:
    report, comment = workflow("gitguard-report.yml"), workflow("gitguard-comment.yml")
    assert list(report["on"]) == ["pull_request"]
    assert list(comment["on"]) == ["workflow_run"]
    assert comment["on"]["workflow_run"]["workflows"] == [report["name"]]
    assert report["permissions"] == comment["permissions"] == {}
    assert report["jobs"]["report"]["permissions"] == {"contents": "read"}
    assert comment["jobs"]["comment"]["permissions"] == {
        "actions": "read",
        "contents": "read",
        "pull-requests": "write",
    }
    for name in ("gitguard-report.yml", "gitguard-comment.yml"):
        for checkout in steps(name):
            if checkout.get("uses", "").startswith("actions/checkout@"):
                assert checkout["with"]["persist-credentials"] is False
                assert "ref" not in checkout["with"]


def test_the_actions_are_githubs_own() -> None:
    used = [s["uses"] for path in WORKFLOWS for s in steps(path.name) if "uses" in s]
    assert used
    assert all(re.fullmatch(r"actions/[a-z-]+@v\d+", action) for action in used)


# The comment


@pytest.fixture
def api() -> Iterator[Api]:
    with serving() as api:
        yield api


class Posting:
    """The step that posts, as the runner runs it."""

    def __init__(self, api: Api, folder: Path) -> None:
        self.api = api
        self.root = folder / "checkout"
        self.report = folder / "temp" / "gitguard-report" / "report.md"
        self.event = folder / "event.json"
        self.report.parent.mkdir(parents=True)
        (self.root / ".github" / "gitguard").mkdir(parents=True)
        shutil.copy(POST, self.root / ".github" / "gitguard")
        self.report.write_text("### Port the parser\n")

    def __call__(
        self, commit: str = COMMIT, repository: int = 7
    ) -> subprocess.CompletedProcess[str]:
        owner = "acme" if repository == 7 else "contributor"
        source = {"id": repository, "owner": {"login": owner}, "full_name": f"{owner}/parser"}
        run = {"head_sha": commit, "head_branch": "port", "head_repository": source}
        self.event.write_text(json.dumps({"workflow_run": {**run, "pull_requests": []}}))
        return subprocess.run(
            ["bash", "-e", "-c", step("gitguard-comment.yml", "Post the report")],
            cwd=self.root,
            env={
                "PATH": os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"])),
                "GITHUB_API_URL": self.api.address,
                "GITHUB_EVENT_PATH": str(self.event),
                "GITHUB_REPOSITORY": REPOSITORY,
                "GITHUB_TOKEN": TOKEN,
                "RUNNER_TEMP": str(self.report.parents[1]),
            },
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )

    def refused(self, why: str, **options: Any) -> None:
        """Run it, and hold that it posts nothing and says why."""
        done = self(**options)
        assert (done.returncode, done.stdout) == (1, "")
        assert why in done.stderr
        assert "Traceback" not in done.stderr
        assert self.api.written() == []

    def posted(self, number: int = 5, **options: Any) -> str:
        """Run it, and return the one comment of the bot."""
        done = self(**options)
        assert done.returncode == 0, done.stderr
        assert set(self.api.comments) == {number}
        (body,) = [c["body"] for c in self.api.comments[number] if is_sticky(c)]
        return str(body)


def is_sticky(comment: dict[str, Any]) -> bool:
    return comment["user"]["login"] == BOT and str(comment["body"]).startswith(MARKER)


@pytest.fixture
def posting(api: Api, tmp_path: Path) -> Posting:
    return Posting(api, tmp_path)


def test_the_first_report_creates_a_comment_and_the_next_updates_it(posting: Posting) -> None:
    posting.api.open_pull(5, COMMIT)
    assert "### Port the parser" in posting.posted()
    posting.report.write_text("### Port the printer\n")
    assert "### Port the printer" in posting.posted()
    assert posting.api.written() == [("POST", "issues/5/comments"), ("PATCH", "issues/comments/1")]


def test_the_same_report_is_not_posted_again(posting: Posting) -> None:
    posting.api.open_pull(5, COMMIT)
    posting.posted()
    posting.api.comments[5][0]["body"] = posting.posted().replace("\n", "\r\n")
    assert posting().stdout == "Nothing posted: the comment on #5 is current\n"
    assert len(posting.api.written()) == 1


def test_the_comment_is_found_among_hundreds(posting: Posting) -> None:
    posting.api.open_pull(5, COMMIT)
    for number in range(250):
        posting.api.say(5, f"Remark {number}", "ada")
    posting.api.say(5, f"{MARKER}\nAn older report")
    assert "### Port the parser" in posting.posted()
    assert posting.api.written() == [("PATCH", "issues/comments/251")]


def test_a_comment_of_somebody_else_is_never_changed(posting: Posting) -> None:
    posting.api.open_pull(5, COMMIT)
    posting.api.say(5, f"{MARKER}\nNot the bot's", "ada")
    posting.api.say(5, f"See {MARKER}")
    posting.posted()
    assert posting.api.written() == [("POST", "issues/5/comments")]


def test_a_pull_request_from_a_fork_gets_its_report(posting: Posting) -> None:
    posting.api.open_pull(4, COMMIT)
    posting.api.open_pull(5, COMMIT, repository=FORK)
    posting.posted(repository=FORK)


def test_a_report_of_an_older_commit_is_not_posted(posting: Posting) -> None:
    posting.api.open_pull(5, OTHER)
    done = posting()
    assert (done.returncode, posting.api.written()) == (0, [])
    assert done.stdout.startswith("Nothing posted: no open pull request has this commit")


def test_a_closed_pull_request_gets_no_report(posting: Posting) -> None:
    posting.api.open_pull(5, COMMIT)
    posting.api.pulls[0]["state"] = "closed"
    assert posting().returncode == 0
    assert posting.api.written() == []
    posting.api.open_pull(6, COMMIT)
    posting.posted(6)


def test_a_fork_of_the_same_owner_is_another_repository(posting: Posting) -> None:
    posting.api.open_pull(5, COMMIT, repository=FORK)
    posting.api.pulls[0]["head"]["repo"] = {"id": 9}
    posting.api.open_pull(6, COMMIT, repository=FORK)
    posting.api.pulls[1]["head"]["repo"] = None  # deleted
    assert posting(repository=FORK).returncode == 0
    assert posting.api.written() == []


def test_two_pull_requests_of_one_commit_get_no_report(posting: Posting) -> None:
    posting.api.open_pull(5, COMMIT)
    posting.api.open_pull(6, COMMIT)
    posting.refused("2 open pull requests have this commit")


def test_the_report_never_says_which_pull_request_it_is_for(posting: Posting) -> None:
    posting.api.open_pull(5, COMMIT)
    posting.api.open_pull(99, OTHER, "another")
    posting.report.write_text("pull_request: 99\n#99\n")
    for name in ("number", "pr_number.txt", "event.json"):
        (posting.report.parent / name).write_text('{"number": 99}')
    posting.posted(5)


def test_a_token_that_may_not_write_ends_the_job_with_what_it_needs(posting: Posting) -> None:
    posting.api.open_pull(5, COMMIT)
    posting.api.failures = [("POST", 403)]
    done = posting()
    assert done.returncode == 1
    assert "answered 403; the job needs `pull-requests: write`" in done.stderr
    assert "::error::" not in done.stderr
    assert len(posting.api.written()) == 1


@pytest.mark.parametrize("method", ["GET", "POST"])
def test_a_server_that_fails_once_is_asked_again(posting: Posting, method: str) -> None:
    posting.api.open_pull(5, COMMIT)
    posting.api.failures = [(method, 502)]
    posting.posted()


def test_a_comment_that_was_created_in_spite_of_an_error_is_not_created_twice(
    posting: Posting,
) -> None:
    posting.api.open_pull(5, COMMIT)
    posting.api.failures, posting.api.takes_before_failing = [("POST", 504)], True
    posting.posted()
    assert posting.api.written() == [("POST", "issues/5/comments")]


def test_the_token_follows_no_redirect(posting: Posting) -> None:
    posting.api.open_pull(5, COMMIT)
    with serving() as other:
        posting.api.failures, posting.api.redirect = [("GET", 302)], f"{other.address}/pulls"
        posting.refused("the API answered 302")
        assert other.requests == []


def test_a_report_that_gitguard_would_not_write_is_refused(
    posting: Posting, tmp_path: Path
) -> None:
    posting.api.open_pull(5, COMMIT)
    for data, why in (
        (b"x" * 2_000_000, "more than 65,000 characters"),
        (("\u4e2d" * 65_001).encode(), "more than 65,000"),
        (b"\xff\xfe" * 1_000_000, "more than 65,000"),
        (b"@a" * 30_000, "the comment would have more than 65,536 characters"),
        (b"\xff", "not text in UTF-8"),
        (b"a\0b", "not text in UTF-8"),
        (b" \n", "empty"),
    ):
        posting.report.write_bytes(data)
        posting.refused(why)
    secret = tmp_path / "secret"
    secret.write_text("a key of the runner")
    posting.report.unlink()
    posting.refused("cannot be read")
    posting.report.symlink_to(secret)
    posting.refused("cannot be read")
    posting.report.unlink()
    os.mkfifo(posting.report)
    posting.refused("not a regular file")


def test_the_longest_report_that_gitguard_writes_is_posted(posting: Posting) -> None:
    posting.api.open_pull(5, COMMIT)
    posting.report.write_text("\U0001f600" * 65_000)
    assert len(posting.posted()) <= 65_536


def test_a_report_of_gitguard_is_posted_as_it_is(posting: Posting) -> None:
    comment_of = runpy.run_path(str(POST))["comment_of"]
    for text in INJECTIONS:
        page = markdown(report_with(text), WEB)
        assert comment_of(page).startswith(f"{MARKER}\n{page.strip()}\n\n*A job of")
    posting.api.open_pull(5, COMMIT)
    posting.report.write_text(page)
    assert posting.posted() == comment_of(page)


def test_a_forged_report_is_text_that_mentions_nobody_and_commands_no_bot(
    posting: Posting, tmp_path: Path
) -> None:
    posting.api.open_pull(5, COMMIT)
    forged = f'$(touch {tmp_path}/ran) `id` "; exit 1\n::error::no\n  /approve\r/merge\n@acme/all\n'
    posting.report.write_bytes(forged.encode())
    body = posting.posted()
    assert "$(touch " in body
    assert not (tmp_path / "ran").exists()
    assert not re.search(r"^\s*/|@\w", body, re.MULTILINE)


# The jobs that write the report


def write_origin(folder: Path) -> Git:
    """A repository on a server: `main`, two commits on `port`, and the agent's checkpoints."""
    guard = start_guard(folder, goal="Port the parser")
    git = Git(folder / "repo")
    git("switch", "--quiet", "--create", "port")
    for title in ("Port it", "Test it"):
        (git.root / "parser.py").write_text(f"# {title}\n")
        git("add", "parser.py")
        git("commit", "--quiet", "--message", title)
        guard.checkpoint(title)
    server = folder / "origin.git"
    git("init", "--quiet", "--bare", "--initial-branch=main", str(server))
    git("push", "--quiet", str(server), "main", "port", "refs/heads/gitguard/main")
    return git.at(server)


tmp_path, origin = staged_object("origin", write_origin)


def run_in(root: Path, *command: str, **variables: str) -> subprocess.CompletedProcess[str]:
    path = os.pathsep.join((BIN, os.environ["PATH"]))
    return subprocess.run(
        command,
        cwd=root,
        env={**os.environ, **variables, "PATH": path},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def cloned(origin: Git, folder: Path, *options: str) -> Path:
    """Return a checkout as a job has it."""
    root = folder / "job"
    address = f"file://{origin.root}"
    origin("clone", "--quiet", "--branch=port", *options, address, str(root))
    return root


def write_report(root: Path, base: str, head: str) -> subprocess.CompletedProcess[str]:
    text = step("gitguard-report.yml", "Write the report")
    summary = str(root.parent / "summary.md")
    return run_in(root, "bash", "-e", "-c", text, BASE=base, HEAD=head, GITHUB_STEP_SUMMARY=summary)


def test_the_workflow_writes_the_report_and_the_jobs_summary(origin: Git, tmp_path: Path) -> None:
    root = cloned(origin, tmp_path)
    base, head = origin("rev-parse", "main", "port").split()
    done = write_report(root, base, head)
    assert done.returncode == 0, done.stderr
    page = (root / "report.md").read_text()
    assert page.startswith("### Port the parser\n")
    assert "2 commits, 4 checkpoints" in page
    assert (tmp_path / "summary.md").read_text() == page


@pytest.mark.parametrize("has_lane", [True, False])
def test_the_workflow_fetches_lanes_where_there_are_any(
    origin: Git, tmp_path: Path, has_lane: bool
) -> None:
    if has_lane:
        origin("update-ref", "refs/gitguard/lanes/main/0123456789abcdef", "gitguard/main")
    root = cloned(origin, tmp_path)
    text = step("gitguard-report.yml", "Fetch the lanes that machines pushed with gitguard sync")
    done = run_in(root, "bash", "-e", "-c", text, TOKEN="secret")
    assert done.returncode == 0, done.stderr
    refs = Git(root)("for-each-ref", "--format=%(refname)", "refs/gitguard")
    fetched = "refs/gitguard/remotes/origin/lanes/main/0123456789abcdef"
    assert refs == (fetched if has_lane else "")
    assert "secret" not in (root / ".git" / "config").read_text()


def test_a_summary_stays_below_its_limit(origin: Git, tmp_path: Path) -> None:
    root = cloned(origin, tmp_path)
    templates = Path(os.environ["XDG_CONFIG_HOME"]) / "gitguard" / "templates"
    templates.mkdir(parents=True)
    (templates / "report.md.j2").write_text("😀" * 2_000_000)
    base, head = origin("rev-parse", "main", "port").split()
    assert write_report(root, base, head).returncode == 0
    assert 200_000 < (tmp_path / "summary.md").stat().st_size < 1 << 20


def test_without_checkpoints_the_job_is_green_and_the_report_says_so(
    origin: Git, tmp_path: Path
) -> None:
    origin("update-ref", "-d", "refs/heads/gitguard/main")
    root = cloned(origin, tmp_path)
    base, head = origin("rev-parse", "main", "port").split()
    assert write_report(root, base, head).returncode == 0
    by_workflow = (root / "report.md").read_text()
    assert "No checkpoint is tied to these commits" in by_workflow
    assert "No session of this repository has a checkpoint" in by_workflow
    done = run_in(root, "sh", str(SCRIPT), base, REPORT="other.md")
    assert done.returncode == 0, done.stderr
    assert (root / "other.md").read_text() == by_workflow


def test_the_script_fetches_what_a_shallow_clone_lacks(origin: Git, tmp_path: Path) -> None:
    root = cloned(origin, tmp_path, "--depth=1")
    base = origin("rev-parse", "main")
    done = run_in(root, "sh", str(SCRIPT), base)
    assert done.returncode == 0, done.stderr
    assert "2 commits, 4 checkpoints" in (root / "report.md").read_text()


@pytest.mark.parametrize("options", [("--depth=1",), ("--single-branch",)])
def test_the_script_fetches_the_branch_that_the_base_names(
    origin: Git, tmp_path: Path, options: tuple[str, ...]
) -> None:
    root = cloned(origin, tmp_path, *options)
    assert Git(root)("branch", "--remotes", "--list", "origin/main") == ""
    done = run_in(root, "sh", str(SCRIPT), "origin/main")
    assert done.returncode == 0, done.stderr
    assert "2 commits, 4 checkpoints" in (root / "report.md").read_text()


def test_the_script_hands_the_report_to_a_command(origin: Git, tmp_path: Path) -> None:
    root = cloned(origin, tmp_path)
    Git(root)("remote", "rename", "origin", "upstream")
    command = ("cp", "-t", str(tmp_path))
    arguments = ("upstream/main", "HEAD", *command)
    done = run_in(root, "sh", str(SCRIPT), *arguments, REMOTE="upstream", REPORT="a page.md")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "a page.md").read_text().startswith("### Port the parser\n")
    failed = run_in(root, "sh", str(SCRIPT), "upstream/main", "HEAD", "false", REMOTE="upstream")
    assert failed.returncode == 1


def test_the_script_says_what_it_needs(repo: Path) -> None:
    done = run_in(repo, "sh", str(SCRIPT))
    assert (done.returncode, done.stderr[:25]) == (2, "usage: sh report.sh BASE ")


@pytest.mark.parametrize("name", CI_FILES)
def test_the_command_writes_every_file_of_a_job(repo: Path, name: str) -> None:
    (template,) = CI.rglob(name)
    assert run_in(repo, "gitguard", "report", "--ci", name).stdout == template.read_text()
    done = run_in(repo, "gitguard", "report", "--ci", name, "-o", "copy")
    assert done.returncode == 0, done.stderr
    assert (repo / "copy").read_bytes() == template.read_bytes()
    assert run_in(repo, "gitguard", "report", "HEAD", "--ci", name).returncode != 0


def test_no_file_of_a_job_is_forgotten() -> None:
    files = {path.relative_to(CI.parent).as_posix() for path in CI.rglob("*.*")}
    assert files == set(CI_FILES.values())
