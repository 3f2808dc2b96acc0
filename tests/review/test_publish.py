"""`gitguard publish` pushes what a reviewer needs, and nothing else."""

from __future__ import annotations

import json
import os
import subprocess
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from gitguard.errors import NotConfirmed, OwnerOnly, RefMoved, SecretsFound, Tampered, Untrusted
from tests.conftest import Git
from tests.support.command_place import Place
from tests.support.conversation import Conversation
from tests.support.hostile import Outcome, Traps, gitguard, inside
from tests.support.staged import staged
from tests.support.tampered_sessions import file_of, flip
from tests.support.terminal import on_terminal
from tests.support.ways_of_saying import MARK, WAYS_IN

from .at_work import commit, standing_in, write_reviewed

BASE, HEAD = REFS = tuple(f"refs/heads/gitguard-review/main/{end}" for end in ("base", "head"))
RANGE = "HEAD~1..HEAD"


def add_remote(git: Git, folder: Path) -> Git:
    """Add an empty bare repository as the remote `origin`."""
    root = folder / "remote.git"
    git("init", "--quiet", "--bare", str(root))
    git("remote", "add", "origin", str(root))
    return Git(root)


def write_worked(folder: Path) -> None:
    add_remote(write_reviewed(folder), folder)


tmp_path = staged(worked=write_worked)


@pytest.fixture
def remote(worked: Git, tmp_path: Path) -> Git:
    return Git(tmp_path / "remote.git")


@pytest.fixture
def worked(git: Git, tmp_path: Path) -> Iterator[Git]:
    """A repository with a commit that came with a decision and a failure, standing in it."""
    with standing_in(tmp_path):
        yield git


def refs_of(repository: Git) -> dict[str, str]:
    listed = repository("for-each-ref", "--format=%(refname) %(objectname)").splitlines()
    return dict(line.split(" ") for line in listed)


def published(*options: str) -> str:
    outcome = gitguard("publish", RANGE, "--yes", *options)
    assert (outcome.code, outcome.err) == (0, "")
    return outcome.out


def refused(outcome: Outcome, code: int, remote: Git, *words: str) -> None:
    """Hold a refusal to its code and words, and the remote to what it was: empty."""
    assert outcome.code == code, outcome.said
    for word in words:
        assert word in outcome.err
    assert refs_of(remote) == {}


def everything_in(remote: Git) -> bytes:
    command = ("git", "cat-file", "--batch-all-objects", "--batch", "--unordered")
    return subprocess.run(command, cwd=remote.root, check=True, capture_output=True).stdout


# What is pushed


def test_a_forge_can_compare_what_is_published(worked: Git, remote: Git) -> None:
    before = refs_of(worked)
    published()
    assert tuple(refs_of(remote)) == REFS
    remote("fsck", "--strict")
    assert remote("merge-base", BASE, HEAD) == refs_of(remote)[BASE]
    assert remote("log", "--format=%an %s", HEAD).splitlines() == [
        f"gitguard After {worked('rev-parse', '--short=7', 'HEAD')}: Write a",
        f"gitguard Before {worked('rev-parse', '--short=7', 'HEAD')}: Write a",
    ]
    assert remote("ls-tree", "--name-only", HEAD).splitlines() == ["state.json", "summary.md"]
    difference = remote("diff", BASE, HEAD, "--", "summary.md")
    assert "+- d1: By hand — because w" in difference
    assert "+- Reuse the table: 41 files differ" in difference
    kept = {f"refs/gitguard/published/origin/main/{end}" for end in ("base", "head")}
    assert refs_of(worked).keys() - before.keys() == kept


def test_each_code_commit_of_the_range_has_a_commit(worked: Git, remote: Git) -> None:
    for name in ("b", "c"):
        commit(worked, name)
        gitguard("note", "--learning", f"Learned {name}")
        gitguard("checkpoint")
    assert gitguard("publish", "HEAD~3..HEAD", "--yes").code == 0
    subjects = remote("log", "--format=%s", f"{BASE}..{HEAD}").splitlines()
    assert [subject[-7:] for subject in subjects] == ["Write c", "Write b", "Write a"]
    learned = remote("diff", f"{HEAD}~1", HEAD, "--", "summary.md")
    assert "+- Learned c" in learned
    assert "+- Learned b" not in learned


def test_the_plan_names_each_ref_and_what_it_shows(worked: Git, remote: Git) -> None:
    plan = gitguard("publish", RANGE, "--dry-run")
    assert refs_of(remote) == {}
    done = published()
    base, head = (refs_of(remote)[name][:12] for name in REFS)
    assert plan.out.splitlines() == [
        f"To origin ({remote.root}):",
        "Session main",
        f"  {BASE}  {base}  new",
        f"  {HEAD}  {head}  new",
        "  shows: 1 decision, 1 failure; 1 commit",
        "  left out: `snapshot.yaml`",
    ]
    assert done.startswith(plan.out)
    assert done.removeprefix(plan.out).splitlines() == [
        "Pushed 2 refs to origin.",
        f"  git diff {base}..{head}",
        "  On the forge, compare gitguard-review/main/base with gitguard-review/main/head.",
    ]
    assert "By hand" in worked("diff", f"{base}..{head}")


def test_json_has_the_refs_and_whether_they_were_pushed(worked: Git, remote: Git) -> None:
    planned = json.loads(gitguard("publish", RANGE, "--dry-run", "--json").out)
    done = json.loads(published("--json"))
    (work,) = done["works"]
    assert {ref["name"]: ref["commit"] for ref in (work["base"], work["head"])} == refs_of(remote)
    assert (planned["pushed"], done["pushed"]) == (False, True)
    assert {**planned, "pushed": True} == done


def test_publishing_again_pushes_nothing_new(worked: Git, remote: Git) -> None:
    published()
    before = refs_of(remote)
    worked("update-ref", "-d", "refs/gitguard/published/origin/main/head")
    assert "Nothing to push: origin has it all." in published()
    assert refs_of(remote) == before
    assert gitguard("verify").code == 0


def test_later_work_replaces_what_this_machine_published(worked: Git, remote: Git) -> None:
    published()
    before = refs_of(remote)
    commit(worked, "b")
    gitguard("checkpoint")
    assert f"replaces {before[HEAD][:12]}\n" in published()
    assert refs_of(remote)[HEAD] != before[HEAD]


def test_a_remote_is_a_path_from_the_worktree_as_git_has_it(worked: Git, remote: Git) -> None:
    worked("remote", "set-url", "origin", os.path.relpath(remote.root, worked.root))
    os.chdir("/")
    assert gitguard("--root", str(worked.root), "publish", RANGE, "--yes").code == 0
    assert tuple(refs_of(remote)) == REFS


# Words


@pytest.mark.parametrize("way", WAYS_IN)
def test_no_word_of_a_conversation_is_published(tmp_path: Path, way: str) -> None:
    talk = Conversation(tmp_path)
    remote = Git(tmp_path / "remote.git")
    talk.git("init", "--quiet", "--bare", str(remote.root))
    talk.git("remote", "add", "origin", str(remote.root))
    talk.send("SessionStart.startup")
    WAYS_IN[way](talk)
    (talk.root / "parser.py").write_text("TOKENS = ()\n")
    talk.send("PostToolUse.Write", tool_input={"file_path": str(talk.root / "parser.py")})
    talk.git("add", "parser.py")
    talk.git("commit", "--quiet", "--message", "Work")
    talk.send("Stop", last_assistant_message="")
    talk.send("SessionEnd")
    review = talk.guard.review
    review.publish(review.publication(RANGE))
    assert MARK.encode() not in everything_in(remote)
    review.publish(review.publication(RANGE, with_words=True))
    assert MARK.encode() in everything_in(remote)
    names = remote("ls-tree", "--name-only", HEAD).splitlines()
    assert names == ["snapshot.yaml", "state.json", "summary.md"]


# What is refused


def test_without_a_terminal_it_asks_for_yes(worked: Git, remote: Git) -> None:
    refused(gitguard("publish", RANGE), NotConfirmed.exit_code, remote, "Use --yes")


def test_a_person_on_a_terminal_is_asked(tmp_path: Path) -> None:
    place = Place(tmp_path)
    place.type("git init --quiet --bare ../remote.git; git remote add origin ../remote.git")
    place.type("gitguard ensure; gitguard note --learning One; touch a; git add a")
    place.type("git commit --quiet -m 'Write a'; gitguard note --learning Two")
    place.type("gitguard checkpoint")
    remote = Git(tmp_path / "remote.git")
    code, seen = on_terminal(place, f"gitguard publish {RANGE}", b"n\n")
    assert (code, refs_of(remote)) == (NotConfirmed.exit_code, {})
    assert "Push 2 refs to origin? [y/N]" in seen
    code, _ = on_terminal(place, f"gitguard publish {RANGE}", b"y\n")
    assert (code, tuple(refs_of(remote))) == (0, REFS)


def test_an_agent_may_not_publish(
    worked: Git, remote: Git, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CLAUDECODE", "1")
    for options in (("--yes",), ("--dry-run",)):
        outcome = gitguard("publish", RANGE, *options)
        refused(outcome, OwnerOnly.exit_code, remote, "`gitguard publish` is for a human")


def test_an_unknown_remote_is_refused(worked: Git, remote: Git) -> None:
    for name in ("upstream", "--mirror", "ext::sh", str(remote.root)):
        outcome = gitguard("publish", RANGE, "--yes", f"--remote={name}")
        refused(outcome, 23, remote, f"there is no remote `{name[:60]}", "git remote -v")


def test_a_range_without_checkpoints_is_refused(git: Git, tmp_path: Path) -> None:
    remote = add_remote(git, tmp_path)
    with inside(git.root):
        commit(git, "a")
        refused(gitguard("publish", RANGE, "--yes"), 1, remote, "no checkpoint is tied to")


def test_a_history_that_does_not_verify_is_refused(worked: Git, remote: Git) -> None:
    flip(file_of(worked.root, worked("rev-parse", "gitguard/main~2:state.json")))
    outcome = gitguard("publish", RANGE, "--yes")
    refused(outcome, Tampered.exit_code, remote, "does not verify", "gitguard verify")


def test_a_history_of_another_machine_is_refused(worked: Git, remote: Git, tmp_path: Path) -> None:
    with inside(worked.root, XDG_STATE_HOME=str(tmp_path / "other-machine")):
        outcome = gitguard("publish", RANGE, "--yes")
        refused(outcome, Untrusted.exit_code, remote, "this machine has no record of writing")


def test_secrets_are_refused_and_named(worked: Git, remote: Git) -> None:
    secret = "blue-whale-42"
    gitguard("note", "--learning", f"They said {secret}")
    gitguard("checkpoint")
    own = Path(os.environ["XDG_CONFIG_HOME"]) / "gitguard"
    own.mkdir(parents=True, exist_ok=True)
    rule = "redaction:\n  rules:\n    - name: whale\n      pattern: 'blue-whale-[0-9]{2}'\n"
    (own / "config.yaml").write_text(rule)
    outcome = gitguard("publish", RANGE, "--yes")
    where = "main cp_005 state.json:learnings"
    refused(outcome, SecretsFound.exit_code, remote, where, ": whale", "gitguard purge")
    assert secret not in outcome.said


def test_a_purge_leaves_nothing_that_was_published_behind(worked: Git, remote: Git) -> None:
    secret = "blue-whale-42"
    gitguard("note", "--learning", f"They said {secret}")
    gitguard("checkpoint")
    published()
    assert secret.encode() in everything_in(worked)
    purged = gitguard("purge", "5", "--value-stdin", "--yes", stdin=secret.encode())
    assert purged.code == 0, purged.said
    worked("gc", "--quiet", "--prune=now")
    assert secret.encode() not in everything_in(worked)
    assert "--replace" in gitguard("publish", RANGE, "--yes").err
    published("--replace")
    assert secret not in remote("show", f"{HEAD}:state.json")


def test_a_ref_of_somebody_else_is_replaced_on_request_only(worked: Git, remote: Git) -> None:
    worked("push", "--quiet", "origin", f"HEAD:{HEAD}")
    theirs = refs_of(remote)
    outcome = gitguard("publish", RANGE, "--yes")
    assert outcome.code == 23
    assert f"`{HEAD}` on `origin` is {theirs[HEAD][:12]}" in outcome.err
    assert refs_of(remote) == theirs
    assert "which this machine did not publish" in published("--replace")
    assert refs_of(remote)[HEAD] != theirs[HEAD]


def test_a_ref_that_moved_since_it_was_looked_at_stays(tmp_path: Path) -> None:
    talk = Conversation(tmp_path)
    remote = Git(tmp_path / "remote.git")
    talk.git("init", "--quiet", "--bare", str(remote.root))
    talk.git("remote", "add", "origin", str(remote.root))
    talk.prompt("go on")
    (talk.root / "parser.py").write_text("TOKENS = ()\n")
    talk.send("PostToolUse.Write", tool_input={"file_path": str(talk.root / "parser.py")})
    talk.git("add", "parser.py")
    talk.git("commit", "--quiet", "--message", "Work")
    talk.send("SessionEnd")
    planned = talk.guard.review.publication(RANGE)
    talk.git("push", "--quiet", "origin", f"HEAD:{HEAD}")
    theirs = refs_of(remote)
    with pytest.raises(RefMoved, match="somebody else changed a ref"):
        talk.guard.review.publish(planned)
    assert refs_of(remote) == theirs


def test_a_rejected_push_says_why(worked: Git, remote: Git) -> None:
    hook = remote.root / "hooks" / "pre-receive"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\necho 'Branches of reviews\x1b[31m are closed' >&2\nexit 1\n")
    hook.chmod(0o755)
    outcome = gitguard("publish", RANGE, "--yes")
    refused(outcome, 1, remote, "did not take the push", "are closed", "pre-receive hook declined")
    assert "\x1b[31m" not in outcome.said
    assert "refs/gitguard/published" not in worked("for-each-ref")


def test_a_remote_that_is_gone_is_a_clear_error(worked: Git, tmp_path: Path) -> None:
    worked("remote", "set-url", "origin", str(tmp_path / "gone.git"))
    outcome = gitguard("publish", RANGE, "--yes")
    assert outcome.code == 1
    assert "does not appear to be a git repository" in outcome.err


def test_a_push_runs_nothing_that_the_repository_names(
    worked: Git, remote: Git, tmp_path: Path
) -> None:
    traps = Traps(tmp_path / "traps")
    hook = traps.script("pre-push", folder=worked.root / ".git" / "hooks")
    published()
    assert Path(hook).exists()
    assert traps.fired() == set()
    traps.set_in(worked)
    outcome = gitguard("publish", RANGE, "--yes")
    assert outcome.code == 22
    assert "the repository's own configuration sets `" in outcome.err
    assert traps.fired() == set()


def test_another_address_in_the_place_of_the_remote_is_refused(worked: Git, remote: Git) -> None:
    worked("config", "url./elsewhere/.insteadOf", str(remote.root.parent))
    outcome = gitguard("publish", RANGE, "--yes")
    refused(outcome, 22, remote, "url./elsewhere/.insteadof", "git config --unset-all")


# Over HTTP


class GitOverHttp(BaseHTTPRequestHandler):
    """Hands requests to `git http-backend`, as a web server does."""

    root = ""

    def log_message(self, *_words: object) -> None:
        """Say nothing."""

    def do_GET(self) -> None:
        self.answer()

    def do_POST(self) -> None:
        self.answer()

    def answer(self) -> None:
        path, _, query = self.path.partition("?")
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        surroundings = {
            "PATH": os.environ["PATH"],
            "GIT_PROJECT_ROOT": self.root,
            "GIT_HTTP_EXPORT_ALL": "1",
            "GIT_PROTOCOL": self.headers.get("Git-Protocol", ""),
            "REQUEST_METHOD": self.command,
            "PATH_INFO": path,
            "QUERY_STRING": query,
            "CONTENT_TYPE": self.headers.get("Content-Type", ""),
            "CONTENT_LENGTH": str(len(body)),
            "HTTP_CONTENT_ENCODING": self.headers.get("Content-Encoding", ""),
            "REMOTE_ADDR": "127.0.0.1",
        }
        done = subprocess.run(
            ["git", "http-backend"], input=body, env=surroundings, capture_output=True, check=True
        )
        head, _, content = done.stdout.partition(b"\r\n\r\n")
        fields = dict(line.split(": ", 1) for line in head.decode().split("\r\n"))
        self.send_response(int(fields.pop("Status", "200").split()[0]))
        for name, value in fields.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)


@pytest.fixture
def address(remote: Git) -> Iterator[str]:
    """The address of the remote over HTTP."""
    remote("config", "http.receivepack", "true")
    handler = type("Handler", (GitOverHttp,), {"root": str(remote.root.parent)})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"127.0.0.1:{server.server_port}/{remote.root.name}"
    server.shutdown()
    thread.join()
    server.server_close()


def test_it_publishes_over_http_and_prints_no_password(
    worked: Git, remote: Git, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    worked("remote", "set-url", "origin", f"http://ada:zqpassword@{address}")
    said = published()
    assert f"To origin (http://{address}):" in said
    assert "zqpassword" not in said
    assert tuple(refs_of(remote)) == REFS
    remote("fsck", "--strict")
    assert "Nothing to push" in published()
