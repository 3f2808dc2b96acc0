"""Secrets never reach git; one that did is found, and taken out of all that can be reached."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gitguard.errors import InvalidInput, Pending
from gitguard.guard import Guard
from gitguard.model.codec import dump_json
from gitguard.model.redaction.redactor import Redactor
from gitguard.sessions.secrets.leaks import clean_checkpoint
from gitguard.state.entries import JournalEntry
from gitguard.store.session.conversations import keep_conversation
from gitguard.store.session.host_session import Halt, HostSession
from gitguard.store.session.workspace import UserDirs
from tests.conftest import Git, OpenGuard
from tests.support.conversation import Conversation
from tests.support.leaked_secrets import (
    NOW,
    TOKEN,
    UNKNOWN,
    Blind,
    files_with,
    holders,
    leaked,
    tmp_path,
)
from tests.support.session_branches import BRANCH

__all__ = ["leaked", "tmp_path"]


def test_a_secret_that_is_noted_reaches_neither_git_nor_any_file(
    begun: Guard, git: Git, tmp_path: Path
) -> None:
    noted = begun.note({"goal": f"Use {TOKEN} to push", "decisions": [{"what": TOKEN, "why": "x"}]})
    assert {found.path for found in noted.redacted} == {"goal", "decisions[0].what"}
    assert "[REDACTED:" in noted.state.goal
    begun.store().journal.append(JournalEntry("prompt", NOW, "H", summary=f"Push with {TOKEN}"))
    begun.checkpoint(f"Because {TOKEN} is new.")
    assert "[REDACTED:" in begun.resume()
    assert holders(git, TOKEN) == []
    assert files_with(TOKEN, tmp_path) == []


def test_what_the_journal_held_before_there_was_a_rule_is_taken_out_when_it_is_folded(
    begun: Guard, open_guard: OpenGuard, git: Git
) -> None:
    blind = open_guard()
    blind.workspace.redactor = Blind()
    blind.store().journal.append(JournalEntry("prompt", NOW, "H", summary=f"Push with {TOKEN}"))
    begun.checkpoint("Folds it.")
    assert "[REDACTED:" in begun.show("snapshot.yaml").decode()
    assert holders(git, TOKEN) == []


def test_a_state_that_holds_a_secret_is_clean_in_the_next_checkpoint(
    leaked: Guard, git: Git
) -> None:
    leaked.checkpoint("With the rules of today.")
    for name in ("state.json", "summary.md", "snapshot.yaml"):
        assert TOKEN not in git("show", f"{BRANCH}:{name}")


def test_an_edited_state_that_is_accepted_is_redacted(begun: Guard, git: Git) -> None:
    path = Path(begun.store().states.path)
    document = json.loads(path.read_text())
    path.write_bytes(dump_json({**document, "goal": f"Use {TOKEN}"}))
    begun.accept()
    assert holders(git, TOKEN) == []


def test_scan_names_checkpoint_file_and_rule_and_never_the_value(leaked: Guard) -> None:
    leaks = list(leaked.secrets.scan())
    places = {(leak.checkpoint, leak.path.partition(":")[0]) for leak in leaks}
    assert {(f"cp_00{n}", "state.json") for n in (3, 4, 5)} <= places
    assert ("cp_005", "message") in places
    assert ("cp_002", "state.json") not in places
    assert TOKEN not in "".join(f"{leak.line}{leak}" for leak in leaks)


def test_purge_takes_a_secret_out_of_every_object_after_a_gc_and_of_every_file(
    leaked: Guard, git: Git, tmp_path: Path, open_guard: OpenGuard
) -> None:
    before, traces = leaked.log(), git.traces()
    done = leaked.secrets.purge("3", reason="a token was pasted")
    assert list(leaked.secrets.scan()) == []
    after = leaked.log()
    assert [c.sequence for c in after] == [6, 5, 4, 3, 2, 1]
    assert [c.id for c in after[4:]] == [c.id for c in before[3:]]
    assert [(c.at, c.trigger) for c in after[1:]] == [(c.at, c.trigger) for c in before]
    assert "github" in git("log", "-1", "--format=%(trailers:key=Gitguard-Purged)", after[3].id)
    assert "a token was pasted" in after[0].why
    assert set(done.rewritten) == {c.id for c in before[:3]}
    assert set(done.rewritten) <= set(done.remains.objects)
    assert done.remains.refs == ()
    assert set(holders(git, TOKEN)) <= set(done.remains.objects)
    git("gc", "--quiet", "--prune=now")
    assert holders(git, TOKEN) == []
    assert files_with(TOKEN, tmp_path) == []
    assert git.traces() == traces
    assert "[REDACTED:" in open_guard().resume()
    open_guard().checkpoint("Goes on.")
    git.fsck()


def test_a_secret_over_two_lines_of_a_message_is_found_and_taken_out() -> None:
    trailers = "Gitguard-Session: main\nGitguard-Branch: main\n"
    message = f"Checkpoint 3\n\nBecause of {TOKEN[:20]}\n{TOKEN[20:]}, and\nmore.\n\n{trailers}"
    cleaned = clean_checkpoint({}, message, Redactor())
    assert [(finding.path, finding.rule) for finding in cleaned.findings] == [
        ("message", "github-token")
    ]
    assert cleaned.message == (
        f"Checkpoint 3\n\nBecause of [REDACTED:github-token], and\nmore.\n\n{trailers}"
    )


def test_purge_takes_out_a_value_that_no_rule_knows(
    leaked: Guard, git: Git, tmp_path: Path
) -> None:
    leaked.secrets.purge("cp_003", value=UNKNOWN)
    git("gc", "--quiet", "--prune=now")
    assert holders(git, UNKNOWN) == holders(git, TOKEN) == []
    assert files_with(UNKNOWN, tmp_path) == []


@pytest.mark.parametrize("value", ['quo"ted back\\slash', "two words\tapart", "a\nshort\nlines"])
def test_purge_takes_out_a_value_however_it_was_written(
    begun: Guard, git: Git, tmp_path: Path, open_guard: OpenGuard, value: str
) -> None:
    blind = open_guard()
    blind.workspace.redactor = Blind()
    blind.note({"goal": value, "learnings": [f"Ends {value}."]})
    blind.checkpoint(f"Because of {value}.")
    blind.forget()
    open_guard().store().chain.anchors.archive("1")  # with the copy of the state, JSON in JSON
    open_guard().trust()
    open_guard().secrets.purge("3", value=value)
    git("gc", "--quiet", "--prune=now")
    in_json = json.dumps(value)[1:-1]
    for written in (value, " ".join(value.split()), in_json, json.dumps(in_json)[1:-1]):
        assert holders(git, written) == []
        assert files_with(written, tmp_path) == []


def test_a_secret_in_the_reason_of_a_purge_is_not_kept(leaked: Guard, tmp_path: Path) -> None:
    leaked.secrets.purge("3", reason=f"Somebody pasted {TOKEN}")
    assert files_with(TOKEN, tmp_path) == []


def test_a_secret_in_the_reason_of_an_override_is_not_kept(begun: Guard, tmp_path: Path) -> None:
    store = begun.store()
    halted = HostSession(started_at=NOW, halt=Halt(NOW, 0.9, "too full"))
    with store.lock():
        keep_conversation(begun.workspace, store.session, "H", halted)
    begun.override("H", f"Needs {TOKEN} first")
    assert files_with(TOKEN, tmp_path) == []


def test_purge_cleans_what_was_set_aside(leaked: Guard, git: Git, open_guard: OpenGuard) -> None:
    head = git("rev-parse", BRANCH)
    git("update-ref", BRANCH, f"{head}~1")
    leaked.trust(git("rev-parse", BRANCH)[:12])
    assert git("for-each-ref", "--format=%(objectname)", "refs/gitguard/archive/") == head
    open_guard().secrets.purge("3")
    archived = git("for-each-ref", "--format=%(objectname)", "refs/gitguard/archive/")
    assert archived not in ("", head)
    git("gc", "--quiet", "--prune=now")
    assert holders(git, TOKEN) == []


def test_purge_from_too_late_a_checkpoint_names_the_older_one(leaked: Guard) -> None:
    with pytest.raises(InvalidInput) as caught:
        leaked.secrets.purge("4")
    assert caught.value.hint.startswith("Run `gitguard purge cp_003`")


def test_purge_of_what_holds_no_secret_changes_nothing(begun: Guard, git: Git) -> None:
    head = git("rev-parse", BRANCH)
    with pytest.raises(InvalidInput, match="looks like a secret"):
        begun.secrets.purge("1")
    assert git("rev-parse", BRANCH) == head


def test_purge_names_refs_and_sessions_that_still_hold_it(
    leaked: Guard, git: Git, open_guard: OpenGuard
) -> None:
    git("update-ref", "refs/remotes/origin/gitguard/main", BRANCH)
    from gitguard.store.session.workspace import Session

    blind = open_guard()
    blind.workspace.redactor = Blind()
    blind.sessions.fork(Session.of("other"))
    open_guard().sessions.use(Session.of("main"))
    done = open_guard().secrets.purge("3")
    assert done.remains.refs == ("refs/remotes/origin/gitguard/main",)
    assert {leak.where for leak in done.elsewhere} == {"refs/heads/gitguard/other"}


def test_another_machine_sees_the_purge_as_a_history_to_be_trusted_again(
    leaked: Guard, git: Git, tmp_path: Path, places: UserDirs
) -> None:
    clone = tmp_path / "clone"
    git("clone", "--quiet", ".", str(clone))
    elsewhere = places.replace(state_home=str(tmp_path / "other-machine"))
    theirs = Guard(str(clone), elsewhere, leaked.clock)
    git.at(clone)("branch", "--quiet", "gitguard/main", "origin/gitguard/main")
    theirs.trust()
    leaked.secrets.purge("3")
    git.at(clone)("fetch", "--quiet", "--force", "origin", f"{BRANCH}:{BRANCH}")
    head = git("rev-parse", BRANCH)
    Guard(str(clone), elsewhere, leaked.clock).trust(head[:12])
    assert "[REDACTED:" in Guard(str(clone), elsewhere, leaked.clock).resume()


# Where texts are cut


@pytest.mark.parametrize("room", [170, 190, 198])
def test_a_secret_that_a_cut_goes_through_leaves_no_half_of_it(tmp_path: Path, room: int) -> None:
    talk = Conversation(tmp_path)
    filler = "x " * (room // 2)
    talk.prompt("p " * (room // 2 + 900) + TOKEN)
    talk.bash(f"echo {filler}{TOKEN}")
    talk.send("PostToolUseFailure", error="e " * (room // 2) + TOKEN)
    talk.send("Stop", last_assistant_message="a " * (room // 2 + 200) + TOKEN)
    talk.guard.checkpoint("Looks.")
    half = TOKEN[:12]
    assert files_with(half, tmp_path / "repo", tmp_path / "state") == []
    assert holders(Git(talk.root), half) == []


def test_a_crash_anywhere_in_a_purge_leaves_a_session_that_goes_on_and_is_purged_again(
    leaked: Guard, git: Git, open_guard: OpenGuard, tmp_path: Path
) -> None:
    from tests.faults.change_faults import crashes

    for _ in crashes(lambda: open_guard().secrets.purge("3"), every=17):
        open_guard().resume()
        assert [c.sequence for c in open_guard().log(1000)][-1] == 1
    open_guard().secrets.purge("3")
    assert list(open_guard().secrets.scan()) == []
    git("gc", "--quiet", "--prune=now")
    assert holders(git, TOKEN) == []
    assert files_with(TOKEN, tmp_path) == []
    sequences = [c.sequence for c in open_guard().log(1000)]
    assert sequences == list(range(len(sequences), 0, -1))
    git.fsck()


def test_a_purge_that_died_before_the_branch_moved_does_not_number_the_next_checkpoint(
    leaked: Guard, open_guard: OpenGuard
) -> None:
    anchors = leaked.store().chain.anchors
    anchor = anchors.read()
    assert anchor is not None
    left = {"pending": "a" * 40, "pending_sha256": "b" * 64, "pending_sequence": anchor.sequence}
    anchors.write(anchor.replace(**left))
    open_guard().checkpoint("Goes on.")
    open_guard().resume()
    open_guard().note({"current_phase": "further on"})
    assert [c.sequence for c in open_guard().log(3)] == [7, 6, 5]


def test_a_purge_that_cannot_move_the_branch_leaves_a_session_that_goes_on(
    leaked: Guard, git: Git, open_guard: OpenGuard
) -> None:
    lock = git.root / ".git" / f"{BRANCH}.lock"
    lock.touch()
    with pytest.raises(Pending):
        leaked.secrets.purge("3")
    lock.unlink()
    open_guard().checkpoint("Goes on.")
    open_guard().resume()
    open_guard().secrets.purge("3")
    assert list(open_guard().secrets.scan()) == []


def test_a_purge_is_run_again_from_a_checkpoint_that_held_nothing(
    leaked: Guard, open_guard: OpenGuard
) -> None:
    leaked.secrets.purge("2")
    open_guard().secrets.purge("2")
    assert list(open_guard().secrets.scan()) == []
