"""Histories that are not what this machine wrote: refused where they are read, never destroyed."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from gitguard.errors import EditedState, GitguardError, MissingState, Tampered, Untrusted
from gitguard.guard import Guard
from gitguard.state.items import texts
from gitguard.store.session.workspace import Session
from tests.conftest import Git, OpenGuard
from tests.support.conversation import BLOCK, Conversation
from tests.support.session_files import own_file
from tests.support.tampered_sessions import (
    BRANCH,
    EDITS,
    OURS,
    UNFIT,
    exchange,
    file_of,
    overwrite,
    rewritten,
    trailer,
)


@pytest.fixture
def begun(guard: Guard) -> Guard:
    """Five checkpoints, each with a state of its own."""
    guard.ensure()
    for number in range(2, 6):
        guard.note({"goal": f"Goal {number}"})
        guard.checkpoint(f"Number {number}.")
    assert "Goal 5" in guard.resume()
    return guard


def refuses(
    guard: Guard,
    said: str | None = None,
    *,
    error: type[GitguardError] | tuple[type[GitguardError], ...] = Tampered,
) -> GitguardError:
    """Show that the history is neither handed out nor built on, and is left as it is."""
    for ask in (guard.resume, lambda: guard.checkpoint("On top.")):
        with pytest.raises(error, match=said) as caught:
            ask()
    assert caught.value.hint
    return caught.value


def holds(guard: Guard, goal: str, said: str = "does not follow") -> None:
    """Show that this machine's own memory is handed out with the reason, and none is built on."""
    block, pending = guard.resume(), guard.sessions.why_not_committed()
    assert goal in block
    assert pending is not None
    assert said in pending.message
    assert "no checkpoint is taken" in block
    with pytest.raises(Tampered, match=said):
        guard.checkpoint("On top.")


# Objects


@pytest.mark.parametrize("edit", EDITS)
@pytest.mark.parametrize("kind", OURS)
def test_a_damaged_object_of_the_newest_checkpoint_is_refused_and_a_fork_goes_on(
    begun: Guard, git: Git, open_guard: OpenGuard, kind: str, edit: str
) -> None:
    head = git("rev-parse", BRANCH)
    EDITS[edit](file_of(git.root, git("rev-parse", BRANCH + OURS[kind])))
    error = refuses(open_guard(), error=MissingState if edit == "deleted" else Tampered)
    assert "gitguard session fork" in error.hint
    assert git("for-each-ref", "--format=%(objectname)", BRANCH) == head
    assert texts(begun.note({"learnings": ["noted meanwhile"]}).state.learnings) == (
        "noted meanwhile",
    )
    assert begun.sessions.fork(Session.of("onwards")).sequence == 1
    assert "Goal 5" in open_guard().resume()
    assert begun.checkpoint("Goes on.").sequence == 2
    assert git("for-each-ref", "--format=%(objectname)", BRANCH) == head


@pytest.mark.parametrize("kind", OURS)
def test_a_damaged_object_of_an_older_checkpoint_is_not_handed_out_beside(
    begun: Guard, git: Git, kind: str
) -> None:
    exchange(file_of(git.root, git("rev-parse", f"{BRANCH}~2{OURS[kind]}")))
    with pytest.raises(Tampered, match="does not have the content of its id"):
        begun.resume()


def test_a_damaged_object_in_a_pack_is_refused(begun: Guard, git: Git) -> None:
    git("-c", "core.compression=0", "gc", "--quiet", "--prune=now")
    (pack,) = (git.root / ".git/objects/pack").glob("*.pack")
    data = pack.read_bytes()
    assert data.count(b"Goal 5") > 1
    overwrite(pack, data.replace(b"Goal 5", b"Evil 5"))
    # How the pack is laid out decides whether git still finds the object.
    refuses(begun, error=(Tampered, MissingState))


def test_a_fork_after_all_objects_are_gone_keeps_the_state(begun: Guard, git: Git) -> None:
    for path in (git.root / ".git/objects").glob("??/*"):
        path.unlink()
    refuses(begun, "git no longer finds all of", error=MissingState)
    git("update-ref", "-d", "HEAD")
    begun.sessions.fork(Session.of("onwards"))
    assert "Goal 5" in begun.resume()


def test_working_files_do_not_come_back_from_a_damaged_checkpoint(begun: Guard, git: Git) -> None:
    exchange(file_of(git.root, git("rev-parse", f"{BRANCH}:state.json")))
    own_file(begun, "state.json").unlink()
    shutil.rmtree(begun.workspace.folder)
    with pytest.raises(Tampered, match="content of its id"):
        begun.ensure()
    with pytest.raises(GitguardError):
        begun.repair_local()


# Objects that git would show as others


@pytest.mark.parametrize("packed", [True, False])
@pytest.mark.parametrize("kind", OURS)
def test_a_replaced_object_is_refused_with_its_way_out(
    begun: Guard, git: Git, kind: str, *, packed: bool
) -> None:
    ours = git("rev-parse", BRANCH + OURS[kind])
    git("update-ref", f"refs/replace/{ours}", git("rev-parse", f"{BRANCH}~4{OURS[kind]}"))
    if packed:
        git("pack-refs", "--all", "--prune")
    error = refuses(begun, "is replaced by")
    assert f"git replace -d {ours}" in error.hint
    git("replace", "-d", ours)
    assert "Goal 5" in begun.resume()


def test_a_graft_on_the_chain_is_refused_with_its_way_out(begun: Guard, git: Git) -> None:
    grafts = git.root / ".git" / "info" / "grafts"
    newest, older = git("rev-parse", BRANCH, f"{BRANCH}~3").split()
    grafts.write_text(f"{newest}\n")
    error = refuses(begun, "other parents")
    assert f"`{grafts}`" in error.hint
    grafts.write_text(f"{older}\n")
    with pytest.raises(Tampered, match="other parents"):
        begun.resume()
    grafts.unlink()
    assert "Goal 5" in begun.resume()


def test_a_graft_or_replacement_of_something_else_is_nobodys_business(
    begun: Guard, git: Git
) -> None:
    git("commit", "--quiet", "--allow-empty", "--message", "Second")
    first, second = git("rev-parse", "HEAD~1", "HEAD").split()
    git("update-ref", f"refs/replace/{first}", second)
    (git.root / ".git/info/grafts").write_text(f"{second}\n")
    assert "Goal 5" in begun.resume()
    assert begun.checkpoint("Goes on.").commit


def test_a_shallow_line_in_the_chain_changes_nothing(begun: Guard, git: Git) -> None:
    (git.root / ".git" / "shallow").write_text(git("rev-parse", f"{BRANCH}~2") + "\n")
    assert git("rev-list", "--count", BRANCH) == "3"
    assert "Goal 5" in begun.resume()
    assert (
        len(begun.log())
        == len({each.id for each in begun.log()})
        == begun.checkpoint("Goes on.").sequence - 1
    )


def test_a_shallow_clone_ends_where_it_ends(
    begun: Guard, git: Git, tmp_path: Path, open_guard: OpenGuard
) -> None:
    clone = tmp_path / "clone"
    git("clone", "--quiet", "--depth=2", "--no-single-branch", f"file://{git.root}", str(clone))
    theirs = open_guard(clone, state_home=str(tmp_path / "other-machine"))
    newest = begun.log(1)[0].sequence
    theirs.trust()
    assert [c.sequence for c in theirs.log()] == [newest, newest - 1]
    assert "Goal 5" in theirs.resume()
    assert theirs.checkpoint("Goes on.").sequence == newest + 1


def test_objects_of_an_alternate_are_believed_by_their_hashes(
    begun: Guard, git: Git, tmp_path: Path
) -> None:
    elsewhere = tmp_path / "elsewhere"
    objects = git.root / ".git" / "objects"
    shutil.move(objects, elsewhere)
    (objects / "info").mkdir(parents=True)
    (objects / "pack").mkdir()
    (objects / "info" / "alternates").write_text(f"{elsewhere}\n")
    assert "Goal 5" in begun.resume()
    assert begun.checkpoint("Goes on.").commit
    blob = git("rev-parse", f"{BRANCH}~5:state.json")
    exchange(elsewhere / blob[:2] / blob[2:])
    with pytest.raises(Tampered, match="content of its id"):
        begun.resume()


# Histories that do not fit together


@pytest.mark.parametrize("commit", [BRANCH, f"{BRANCH}~2"])
@pytest.mark.parametrize("unfit", UNFIT)
def test_a_history_that_does_not_fit_together_is_never_adopted(
    begun: Guard, git: Git, unfit: str, commit: str
) -> None:
    change, error, said = UNFIT[unfit]
    if unfit == "a gap in the numbers" and commit == BRANCH:
        said = "where number 5|where number"
    ours, forged = git("rev-parse", BRANCH), rewritten(git, commit, change)
    git("update-ref", BRANCH, forged)
    holds(begun, "Goal 5")
    with pytest.raises(error, match=said):
        begun.trust(forged)
    assert git("rev-parse", BRANCH) == forged
    begun.archive_theirs()
    assert git("rev-parse", BRANCH) == ours
    assert "Goal 5" in begun.resume()


@pytest.mark.parametrize(
    ("changes", "said"), [({"sequence": 3}, "cp_003"), ({"state_sha256": "0" * 64}, "the state in")]
)
def test_an_anchor_that_notes_another_checkpoint_is_told_apart(
    begun: Guard, changes: dict[str, object], said: str
) -> None:
    path = own_file(begun, "anchor.json")
    anchor = json.loads(path.read_text())
    path.write_text(json.dumps(anchor | changes))
    error = refuses(begun, said)
    assert "repair --forget" in error.hint
    begun.forget()
    begun.trust()
    assert "Goal 5" in begun.resume()


# Hooks fail open


@pytest.mark.parametrize("depth", ["", "~1"])
def test_a_hook_hands_out_nothing_of_a_refused_history_and_status_says_why_first(
    tmp_path: Path, depth: str
) -> None:
    talk = Conversation(tmp_path)
    talk.prompt("Begin")
    for goal in ("Goal 1", "Goal 2", "Goal 3"):
        talk.guard.note({"goal": goal})
        talk.guard.checkpoint("A reason.")
    assert BLOCK in talk.beside("S2").prompt("go on")
    blob = talk.git("rev-parse", f"{BRANCH}{depth}:state.json").strip()
    exchange(file_of(talk.root, blob))
    after = talk.beside("S3")
    assert BLOCK not in after.prompt("and go on with what I say now")
    assert "Evil" not in after.prompt("again")
    (fault, *_) = talk.faults()
    assert f"object {blob} does not have the content of its id" in fault
    told = talk.guard.store().journal.read("", 0).entries
    assert any("what I say now" in entry.summary for entry in told)
    assert after.bash("ls") == {}


# Whole repositories put in another's place


def copy_aside(git: Git, *names: str) -> Callable[..., None]:
    """Copy parts of the worktree; return what puts the copies back in the originals' place."""
    aside = git.root.parent / "aside"
    for name in names:
        shutil.copytree(git.root / name, aside / name)

    def restore(*, same_folders: bool) -> None:
        for name in names:
            if same_folders:
                _fill(git.root / name, aside / name)
            else:
                shutil.rmtree(git.root / name)
                shutil.copytree(aside / name, git.root / name)

    return restore


def _fill(folder: Path, source: Path) -> None:
    """Give a folder the content of another, file by file, and keep the folders that are there."""
    for path in sorted(folder.rglob("*"), reverse=True):
        if path.is_file():
            path.unlink()
        elif not (source / path.relative_to(folder)).exists():
            path.rmdir()
    shutil.copytree(source, folder, dirs_exist_ok=True)


@pytest.mark.parametrize("same_folders", [True, False])
@pytest.mark.parametrize("names", [(".git",), (".git", ".gitguard")])
def test_an_older_copy_put_back_is_refused(
    begun: Guard, git: Git, open_guard: OpenGuard, names: tuple[str, ...], *, same_folders: bool
) -> None:
    restore = copy_aside(git, *names)
    begun.note({"goal": "Newer than the copy"})
    restore(same_folders=same_folders)
    for ask in (open_guard().resume, open_guard().ensure, open_guard().resume):
        with pytest.raises((MissingState, Untrusted)):
            ask()
    kept = [path.read_text() for path in own_file(begun, ".").glob("state.json*")]
    assert any("Newer than the copy" in text for text in kept)


def test_an_older_copy_is_taken_back_when_somebody_who_looked_says_so(
    begun: Guard, git: Git, open_guard: OpenGuard
) -> None:
    restore = copy_aside(git, ".git")
    begun.note({"goal": "Newer than the copy"})
    restore(same_folders=True)
    begun.trust(git("rev-parse", BRANCH))
    assert "Goal 5" in begun.resume()
    archived = git("for-each-ref", "--format=%(refname)", "refs/gitguard/archive").split()
    assert any("Newer than the copy" in git("show", f"{name}:state.json") for name in archived)


def test_a_stale_packed_ref_under_a_removed_one_is_refused(begun: Guard, git: Git) -> None:
    ours = git("rev-parse", BRANCH)
    git("pack-refs", "--all", "--prune")
    begun.note({"goal": "Newer than what is packed"})
    newest = git("rev-parse", BRANCH)
    (git.root / ".git" / BRANCH).unlink()
    assert git("rev-parse", BRANCH) == ours
    holds(begun, "Newer than what is packed")
    begun.archive_theirs()
    assert git("rev-parse", BRANCH) == newest


def test_a_git_file_that_leads_to_another_repository_is_refused(
    begun: Guard, git: Git, open_guard: OpenGuard
) -> None:
    forged = git.root / "forged"
    shutil.move(git.root / ".git", forged)
    (git.root / ".git").write_text("gitdir: forged\n")
    git("update-ref", BRANCH, rewritten(git, f"{BRANCH}~1", trailer("Trigger", "manual")))
    holds(open_guard(), "Goal 5")
    assert open_guard().ensure().state.goal == "Goal 5"
    (git.root / ".git").unlink()
    shutil.move(forged, git.root / ".git")
    holds(open_guard(), "Goal 5")
    begun.archive_theirs()
    assert "Goal 5" in open_guard().resume()


def test_no_git_directory_at_all_hands_out_nothing(
    begun: Guard, git: Git, open_guard: OpenGuard
) -> None:
    shutil.rmtree(git.root / ".git")
    with pytest.raises(GitguardError):
        open_guard().resume()


@pytest.mark.parametrize("name", ["summary.md", "snapshot.yaml"])
def test_renderings_that_somebody_changed_are_not_handed_out(begun: Guard, name: str) -> None:
    path = Path(begun.workspace.folder, "sessions", "main", name)
    path.write_bytes(path.read_bytes().replace(b"Goal 5", b"Evil 5"))
    assert "Evil 5" not in begun.resume()
    assert "Goal 5" in begun.resume()


def test_a_state_that_somebody_changed_is_refused_beside_a_sound_history(begun: Guard) -> None:
    path = Path(begun.workspace.folder, "sessions", "main", "state.json")
    path.write_bytes(path.read_bytes().replace(b"Goal 5", b"Evil 5"))
    with pytest.raises(EditedState, match=r"state\.json"):
        begun.resume()
