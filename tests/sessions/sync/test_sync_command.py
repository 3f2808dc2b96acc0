"""`gitguard sync` as it is typed: what it says, what it asks, and what an agent may not do."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from gitguard.errors import InvalidInput, OwnerOnly
from tests.conftest import Git
from tests.support.command_place import Place
from tests.support.synced_machines import Machine, Remote, hook, typed
from tests.support.terminal import on_terminal


@pytest.fixture
def place(three: Path) -> Place:
    folder = three / "place"
    folder.mkdir()
    return Place(folder)


def test_the_first_sync_without_a_terminal_is_queued_and_ends_well(
    a: Machine, remote: Remote
) -> None:
    outcome = typed(a, "sync")
    assert (outcome.code, outcome.err) == (0, "")
    assert "Queued for the next `gitguard sync`: nobody agreed yet" in outcome.out
    assert remote.lanes == {}
    assert "is queued since" in typed(a, "status").out
    outcome = typed(a, "sync", "--yes")
    assert f"Pushed {a.lane} to origin" in outcome.out
    assert "In sync with origin" in outcome.out
    assert "queued" not in typed(a, "status").out


@pytest.mark.parametrize(("answer", "is_pushed"), [(b"y\n", True), (b"n\n", False)])
def test_on_a_terminal_it_shows_what_would_leave_and_asks_once(
    place: Place, tmp_path: Path, answer: bytes, is_pushed: bool
) -> None:
    place.type("gitguard ensure; git init --quiet --bare ../away.git")
    place.type("git remote add origin ../away.git")
    code, seen = on_terminal(place, "gitguard sync", answer)
    assert code == 0
    assert "main: 1 new checkpoint, " in seen
    assert "Push these sessions there, now and at each sync?" in seen
    assert bool(Remote(place.root.parent / "away.git").lanes) == is_pushed
    assert ("Nothing was pushed where you said no" in seen) == (not is_pushed)
    assert "ueued" not in seen + place.type("gitguard status")
    place.type("gitguard note --goal Ours")
    _, seen = on_terminal(place, "gitguard sync", b"n\n")
    assert ("Push these sessions there" in seen) == (not is_pushed)


def test_a_second_machine_goes_on_by_three_commands(a: Machine, b: Machine) -> None:
    a.guard.note({"goal": "Port the parser"})
    typed(a, "sync", "--yes")
    listed = typed(b, "sync", "--yes").out
    assert f"run `gitguard sync --trust {a.writer}`" in listed
    assert f"gitguard sync --trust {a.writer}" in typed(b, "status").out
    assert "Port the parser" not in typed(b, "status").out
    taken = typed(b, "sync", "--trust", a.writer, "--yes").out
    assert "Joined 1 lane into main" in taken
    assert "Goal: Port the parser (from another machine)" in typed(b, "resume").out
    assert f"Another machine: session main of a (writer {a.writer})" in typed(b, "status").out


@pytest.mark.parametrize(("answer", "is_joined"), [(b"y\nn\n", True), (b"n\nn\n", False)])
def test_on_a_terminal_it_asks_once_about_a_new_writer(
    a: Machine, place: Place, remote: Remote, answer: bytes, is_joined: bool
) -> None:
    a.guard.note({"goal": "Port the parser"})
    typed(a, "sync", "--yes")
    place.type(f"gitguard ensure; git remote add origin {remote.root}")
    code, seen = on_terminal(place, "gitguard sync", answer)
    assert code == 0
    assert f"New: a (writer {a.writer}) pushed" in seen
    assert re.search(r"\n  session main, cp_002, saved \d+ s ago at \S+, on branch main", seen)
    assert "on branch main, not signed" in seen
    assert "Is it yours, to join now and at each sync?" in seen
    assert ("Port the parser" in place.type("gitguard resume")) == is_joined
    assert "Is it yours" not in on_terminal(place, "gitguard sync", b"n\n")[1]
    assert ("Not joined" in place.type("gitguard status")) == (not is_joined)


def test_yes_says_nothing_of_whose_words_count(a: Machine, b: Machine) -> None:
    a.guard.note({"goal": "Port the parser"})
    typed(a, "sync", "--yes")
    typed(b, "sync", "--yes")
    assert b.guard.state().stated_goal == ""


def test_a_machine_may_push_nothing_for_good(a: Machine, b: Machine, remote: Remote) -> None:
    a.guard.note({"goal": "Port the parser"})
    typed(a, "sync", "--yes")
    (b.home / "gitguard").mkdir(exist_ok=True)
    config = b.home / "gitguard" / "config.yaml"
    config.write_text("sync:\n  push: false\n")
    typed(b, "sync")
    taken = typed(b, "sync", "--trust", a.writer, "--yes")
    assert "Joined 1 lane into main" in taken.out
    assert "nothing is pushed while `sync.push` is false" in taken.out
    assert list(remote.lanes) == [a.lane]
    assert "queued" not in typed(b, "status").out
    refused = typed(b, "sync", "--push")
    assert (refused.code, "`sync.push`" in refused.err) == (InvalidInput.exit_code, True)
    config.unlink()
    assert "Pushed" in typed(b, "sync", "--yes").out


def test_a_queued_sync_that_a_person_gave_up_is_forgotten(a: Machine, three: Path) -> None:
    (three / "remote.git").rename(three / "away.git")
    typed(a, "sync")
    assert "Drop it with `gitguard status --clear`" in typed(a, "status").out
    cleared = typed(a, "status", "--clear").out
    assert "The sync with origin is no longer queued." in cleared
    assert "queued" not in typed(a, "status").out
    assert "no longer queued" not in typed(a, "status", "--clear").out


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("ERROR: Repository not found.", "the remote did not list its refs; it said: ERROR:"),
        ("git@host: Permission denied (publickey).", "the remote did not list its refs"),
        ("ssh: connect to host h port 22: Connection refused", "the remote was not reached"),
    ],
)
def test_a_remote_that_answered_is_not_said_to_be_out_of_reach(
    a: Machine, tmp_path: Path, words: str, told: str
) -> None:
    """A stand-in for SSH says what a server or SSH itself says."""
    ssh = tmp_path / "ssh"
    ssh.write_text(f"#!/bin/sh\necho '{words}' >&2\nexit 128\n")
    ssh.chmod(0o755)
    outcome = typed(a, "sync", "--remote", "host.invalid:repo.git", GIT_SSH_COMMAND=str(ssh))
    assert told in outcome.out
    assert words.rstrip(".") in outcome.out


def test_a_dry_run_tells_what_would_leave(a: Machine, remote: Remote) -> None:
    outcome = typed(a, "sync", "--dry-run")
    assert "main: 1 new checkpoint, " in outcome.out
    assert "without messages" in outcome.out
    assert remote.lanes == {}


def test_a_dry_run_tells_what_would_leave_also_where_the_remote_is_gone(
    a: Machine, three: Path
) -> None:
    (three / "remote.git").rename(three / "away.git")
    outcome = typed(a, "sync", "--dry-run")
    assert "main: 1 new checkpoint, " in outcome.out
    assert "Warning: the remote was not reached; it said: fatal: " in outcome.out
    assert "what it may have already is counted as new." in outcome.out
    assert "ueued" not in outcome.out + typed(a, "status").out
    assert "Queued for the next `gitguard sync`: the remote was not reached" in typed(a, "sync").out
    assert ".." not in typed(a, "sync").out


def test_json_has_what_was_done(a: Machine) -> None:
    document = json.loads(typed(a, "sync", "--yes", "--json").out)
    assert document["pushed"] == [a.lane]
    assert document["queued"] == ""
    assert document["leaving"]["sessions"][0]["session"] == "main"


def test_half_a_sync_fetches_or_pushes_alone(a: Machine, b: Machine, remote: Remote) -> None:
    typed(a, "sync", "--yes")
    assert "Pushed" not in typed(b, "sync", "--fetch").out
    assert list(remote.lanes) == [a.lane]
    assert "Not joined" in typed(b, "status").out
    assert "Pushed" in typed(b, "sync", "--push", "--yes").out
    assert typed(a, "sync", "--push", "--fetch").code == 2


@pytest.mark.parametrize("words", [("--yes",), ("--trust", "0123456789abcdef")])
def test_an_agent_may_sync_and_not_say_who_is_believed_or_what_leaves(
    a: Machine, remote: Remote, words: tuple[str, ...]
) -> None:
    assert typed(a, "sync", *words, CLAUDECODE="1").code == OwnerOnly.exit_code
    assert typed(a, "sync", CLAUDECODE="1").code == 0
    assert remote.lanes == {}


def test_a_mended_address_ends_what_was_queued_for_the_old_one(a: Machine, remote: Remote) -> None:
    a.git("remote", "set-url", "origin", str(remote.root) + "-gone")
    typed(a, "sync", "--yes")
    assert "with origin is queued since" in typed(a, "status").out
    a.git("remote", "set-url", "origin", str(remote.root))
    assert "In sync" in typed(a, "sync", "--yes").out
    assert "queued" not in typed(a, "status").out


def test_an_address_typed_once_is_queued_until_the_next_sync_succeeds(
    a: Machine, remote: Remote
) -> None:
    gone = str(remote.root) + "-gone"
    typed(a, "sync", "--yes", "--remote", gone)
    status = typed(a, "status").out
    assert f"with {gone} is queued since" in status
    assert "it is dropped once `gitguard sync` without --remote succeeds" in status
    typed(a, "sync", "--yes")
    assert "queued" not in typed(a, "status").out


def test_a_remote_that_succeeds_ends_nothing_of_another_default_one(
    a: Machine, remote: Remote
) -> None:
    a.git("remote", "set-url", "origin", str(remote.root) + "-gone")
    typed(a, "sync", "--yes")
    typed(a, "sync", "--yes", "--remote", str(remote.root))
    assert "with origin is queued since" in typed(a, "status").out


def test_a_writer_that_is_not_there_is_refused_before_anything_is_asked(
    a: Machine, b: Machine
) -> None:
    a.settled()
    typed(b, "sync", "--yes")
    wrong = typed(b, "sync", "--trust", "ffff")
    assert "`ffff` names 0 writers whose lanes are kept here" in wrong.err
    assert "terminal" not in wrong.err
    assert "terminal" in typed(b, "sync", "--trust", a.writer).err


def test_an_address_takes_the_place_of_a_remotes_name(a: Machine, tmp_path: Path) -> None:
    other = tmp_path / "other.git"
    a.git("init", "--quiet", "--bare", str(other))
    typed(a, "sync", "--yes", "--remote", str(other))
    assert list(Remote(other).lanes) == [a.lane]
    outcome = typed(a, "sync", "--remote", "nowhere")
    assert "there is no remote `nowhere`" in outcome.err
    assert "option" not in Git(other)("for-each-ref")


@pytest.mark.parametrize("address", ["--upload-pack=touch marker", "ext::sh -c true", "-x/y"])
def test_an_address_that_git_would_take_for_something_else_is_refused(
    a: Machine, address: str
) -> None:
    outcome = typed(a, "sync", "--yes", f"--remote={address}")
    assert outcome.code != 0 or "Queued" in outcome.out
    assert not (a.git.root / "marker").exists()


def test_a_repository_that_says_how_remotes_are_reached_is_refused(a: Machine) -> None:
    a.git("config", "core.sshCommand", "touch marker")
    outcome = typed(a, "sync", "--yes")
    assert "core.sshcommand" in outcome.err
    assert not (a.git.root / "marker").exists()


def test_ssh_and_askpass_are_never_asked(a: Machine, tmp_path: Path) -> None:
    """A stand-in for SSH writes down what it is started with."""
    ssh = tmp_path / "ssh"
    ssh.write_text(f'#!/bin/sh\necho "$@" "[$GIT_ASKPASS]" >> {tmp_path}/asked\nexit 255\n')
    ssh.chmod(0o755)
    outcome = typed(a, "sync", "--remote", "host.invalid:repo.git", GIT_SSH_COMMAND=str(ssh))
    assert outcome.code == 0
    assert "Queued" in outcome.out
    assert "-o BatchMode=yes" in (tmp_path / "asked").read_text()
    assert "[]" in (tmp_path / "asked").read_text()


def test_the_words_of_a_refusing_remote_are_shown_without_what_a_terminal_would_obey(
    a: Machine, remote: Remote
) -> None:
    hook(remote, "pre-receive", 'printf "STATUS:COMPLETE\\n\\033[31mno\\n" >&2; exit 1')
    outcome = typed(a, "sync", "--yes")
    assert outcome.code == 0
    assert "\033" not in outcome.out
    assert not [line for line in outcome.out.splitlines() if line.startswith("STATUS:")]
