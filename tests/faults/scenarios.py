"""What is going on when the fault comes: each scenario is a world prepared, and an act in it."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext, suppress
from pathlib import Path
from typing import NamedTuple

from gitguard.errors import (
    EditedState,
    GitguardError,
    InvalidInput,
    MissingState,
    NotInitialised,
)
from gitguard.hosts.claude_code import hooks
from gitguard.model import events
from gitguard.model.events import HookEvent
from gitguard.sessions.archiving import bring_back, close, find_archived
from gitguard.sessions.following import follow
from gitguard.state.entries import ENDED, JournalEntry
from gitguard.state.items import texts
from gitguard.store.git.trees import Trees, file_at
from gitguard.store.session.current import current_session
from gitguard.store.session.workspace import Session
from tests.faults import repairing
from tests.faults.acting import Outcome, act_apart
from tests.faults.sandbox import obey_permissions, sealed
from tests.faults.world import BRANCH, World
from tests.support.kept_sessions import maintain

GOAL = "Nothing is lost"


class Scenario(NamedTuple):
    """An act that a fault interrupts, and what makes the session go on after it."""

    name: str
    prepare: Callable[[World], None]
    act: Callable[[World], object]
    go_on: Callable[[World], object]
    """The next command: most times any, else the same one again."""
    root: str = "repo"
    """The worktree in which it all happens, below the world's base."""
    may_be_refused: bool = False
    """Whether the state is refused to a reader while the old one is in force."""
    around: Callable[[World], AbstractContextManager[None]] = lambda _: nullcontext()
    """What surrounds the act, and ends whatever becomes of it."""
    doubts: Callable[[World, Outcome], str] = lambda *_: ""
    """Returns what does not hold of anything that the act is about beside the state."""
    part: Callable[[World], object] | None = None
    """What is left of the act where a fault of ours keeps the rest of it from happening."""
    changes: frozenset[str] = frozenset()
    """The user's files that the act is to change; `doubts` says what they may be."""

    def run(
        self,
        world: World,
        *,
        first: Callable[[], None] = lambda: None,
        attach: Callable[[int], None] | None = None,
        started: Callable[[int], None] | None = None,
    ) -> Outcome:
        """Act in a process of its own; first is called there, attach and started here."""

        def act() -> object:
            first()
            return self.act(world)

        with self.around(world):
            return act_apart(act, attach=attach, started=started)


def begin(world: World) -> None:
    """Begin a session with two checkpoints."""
    guard = world.guard()
    guard.ensure()
    guard.note({"goal": GOAL, "learnings": ["acknowledged"]})


def _edit(path: Path, old: str, new: str) -> None:
    path.write_text(path.read_text().replace(old, new))


def _session_file(world: World, name: str) -> Path:
    workspace = world.guard().workspace
    return Path(workspace.working_file(current_session(workspace), name))


def _ensure(world: World) -> object:
    return world.guard().ensure()


def _note(world: World) -> object:
    return world.guard().note({"goal": "New", "learnings": ["noted"]})


def _plain_note(world: World) -> object:
    return world.guard().note({"learnings": ["noted"]})


def _restore_prepared(world: World) -> None:
    begin(world)
    world.guard().note({"goal": "Later"})


def _restore(world: World) -> object:
    return world.guard().restore("2")


PUT_BACK = {"edited.txt": "one", "gone.txt": "one", "new.txt": ""}
"""The user's files that are put back, with what they were at the checkpoint; empty for none."""
_LATER = {"edited.txt": "two", "gone.txt": "", "new.txt": "two"}


def _files_changed(world: World) -> None:
    """Take a checkpoint of files of the user's, which change after it."""
    for name, text in PUT_BACK.items():
        if text:
            (world.root / name).write_text(text)
    begin(world)
    world.guard().checkpoint("Files")
    for name, text in _LATER.items():
        path = world.root / name
        path.write_text(text) if text else path.unlink()


def _put_files_back(world: World) -> object:
    files = world.guard().files
    checkpoint = world.guard().log(1)[0].name
    plan = files.plan(checkpoint, theirs_too=True)
    if plan.refused or plan.unseen:  # a person sees what cannot be read, and stops here
        raise GitguardError(f"{plan.refused} {plan.unseen}")
    return files.restore(plan)


def _finish_putting_back(world: World) -> object:
    world.guard().files.finish()
    return world.guard().ensure()


def _doubt_the_files(world: World, outcome: Outcome) -> str:
    """Miss a file that is neither what it was nor what it is to be, or is not put back."""
    paths = {name: world.root / name for name in PUT_BACK}
    here = {name: path.read_text() if path.exists() else "" for name, path in paths.items()}
    odd = [name for name, text in here.items() if text not in (PUT_BACK[name], _LATER[name])]
    if odd:
        return f"these are neither old nor new: {odd}"
    is_cut_off = world.guard().files.unfinished() is not None
    if not is_cut_off and here not in (PUT_BACK, _LATER):
        return f"some are put back, and nothing says so: {here}"
    return ""


KEPT = ("one", "two", "three")
"""What a file of the user's was, each time at a checkpoint that was acknowledged."""


def _files_kept(world: World) -> None:
    """Take checkpoints of a file, the first of them so long ago that its files are forgotten."""
    begin(world)
    for text in ("forgotten", *KEPT):
        (world.root / "kept.txt").write_text(text * 50)
        world.guard().checkpoint(text)
        world.clock.advance(1 if text != "forgotten" else 31 * 86_400)


def _maintain(world: World) -> object:
    return maintain(world.guard())


NEWEST = "four"
"""What the file is when another snapshot is taken."""


def _file_changed_again(world: World) -> None:
    _files_kept(world)
    (world.root / "kept.txt").write_text(NEWEST * 50)


def _take_snapshot(world: World) -> object:
    return world.guard().checkpoint(NEWEST)


def _doubt_what_is_kept(world: World, outcome: Outcome) -> str:
    """Miss the files of a checkpoint: none names a snapshot that is not durable."""
    guard = world.guard()
    checkpoints = {c.why: c for c in guard.log(20) if c.files}
    with guard.store().worktree.reader() as reader:
        for text in (*KEPT, *(NEWEST for _ in range(NEWEST in checkpoints))):
            try:
                snapshot = reader.snapshot(checkpoints[text].files)
                entry = file_at(Trees(reader), snapshot.tree, "kept.txt")
                data = reader.read(entry.id, "blob", limit=1 << 20) if entry is not None else b""
            except GitguardError as error:
                return f"the files of `{text}` cannot be read: {error}"
            if data.decode() != text * 50:
                return f"the files of `{text}` are {data[:20]!r}"
    return ""


def _branch_deleted(world: World) -> None:
    begin(world)
    world.git("update-ref", "-d", BRANCH)


def _recover_prepared(world: World) -> None:
    begin(world)
    world.git("update-ref", BRANCH, f"{BRANCH}~1")
    path = _session_file(world, "state.json")
    path.write_bytes(path.read_bytes()[:50])


def _recover(world: World) -> object:
    guard = world.guard()
    return guard.archive_theirs() if guard.status().standing == "moved" else guard.repair_local()


def _advanced(world: World) -> None:
    """Put a checkpoint of another machine on top of ours, and a note of ours beside it."""
    begin(world)
    clone = world.base / "clone"
    world.git("clone", "--quiet", ".", str(clone))
    theirs = world.guard(clone, state_home=str(world.base / "other-machine"))
    theirs.trust()
    theirs.note({"goal": "Theirs"})
    world.git("fetch", "--quiet", str(clone), f"{BRANCH}:{BRANCH}")
    shutil.rmtree(clone)
    shutil.rmtree(world.base / "other-machine")
    world.guard().note({"learnings": ["ours, in no checkpoint"]})


def _take(world: World) -> object:
    guard = world.guard()
    if guard.status().standing == "advanced":
        return guard.trust(guard.store().chain.head().id)
    return guard.ensure()


def _forgotten(world: World) -> None:
    begin(world)
    world.guard().forget()


def _trust(world: World) -> object:
    guard = world.guard()
    standing = guard.status().standing
    return guard.trust() if standing == "untrusted" else guard.ensure()


def _edited(world: World) -> None:
    begin(world)
    _edit(_session_file(world, "state.json"), GOAL, "By hand")


def _accept(world: World) -> object:
    guard = world.guard()
    if isinstance(guard.status().error, EditedState):
        return guard.accept()
    return guard.ensure()


def _fork(world: World) -> object:
    return world.guard().sessions.fork(Session.of("fork"))


def _fork_again(world: World) -> object:
    world.clock.advance(120)  # what died has left nothing that somebody may still need
    with suppress(InvalidInput):  # the fork is there
        _fork(world)
    world.guard().sessions.use(Session.of("fork"))
    world.guard().checkpoint("The fork can be used.")
    return world.guard().sessions.use(Session.of("main"))


def _on_another_branch(world: World) -> None:
    begin(world)
    world.git("switch", "-q", "-c", "other")


def _follow(world: World) -> object:
    sessions = world.guard().sessions
    return follow(sessions.store(), "other", sessions.repository(), moves=True)


def _follow_again(world: World) -> object:
    world.clock.advance(120)
    return _follow(world)


def _follow_up_to_the_choice(world: World) -> None:
    """Do all of it but make the branch's session the current one."""

    def stop(step: str) -> None:
        if step == "branch-chosen":
            raise InterruptedError

    world.at_step = stop
    with suppress(InterruptedError):
        _follow(world)
    world.at_step = str


def _with_journal(world: World, entries: int) -> None:
    begin(world)
    guard = world.guard()
    store = guard.store()
    with store.lock():
        for number in range(entries):
            path = f"src/file-{number % 100}.py"
            store.journal.append(
                JournalEntry(
                    ENDED, store.now, "host", id=f"t{number}", tool="Edit", written=(path,)
                )
            )


def _hook(world: World, kind: str, root: Path) -> object:
    guard = world.guard(root)
    guard.handle(HookEvent(kind, "host", str(root)), hooks.HOST.abilities)
    if guard.workspace.faults():  # a hook answers neutrally, which acknowledges nothing
        raise GitguardError("the hook left a mark")
    return None


def _reopen(world: World) -> object:
    guard = world.guard()
    session, archived = find_archived(guard.store(guard.any_session()), "main")
    bring_back(guard.store(session), archived)
    return guard.sessions.use(session)


def _close_and_reopen(world: World) -> object:
    guard = world.guard()
    close(guard.store())
    return _reopen(world)


def _come_back(world: World) -> object:
    try:
        return _reopen(world)
    except NotInitialised:  # it was not archived yet, or is back
        return world.guard().sessions.use(Session.of("main"))


def _sandboxed_note(world: World) -> object:
    obey_permissions()
    return _note(world)


def _turn_end(world: World) -> object:
    return _hook(world, events.TURN_END, world.root)


def _compaction(world: World) -> object:
    return _hook(world, events.COMPACTION_START, world.root)


def _unusable(world: World) -> None:
    """Tear the state after three tool calls that only the journal knows."""
    _with_journal(world, 3)
    path = _session_file(world, "state.json")
    path.write_bytes(path.read_bytes()[:50])


def _advance_the_copy(world: World) -> object:
    """Compact beside a state that cannot be read, which only its copy follows, and recover it."""
    event = HookEvent(events.COMPACTION_START, "host", str(world.root))
    world.guard().handle(event, hooks.HOST.abilities)
    return _recover_if_needed(world)


def _recover_if_needed(world: World) -> object:
    with suppress(MissingState):
        return world.guard().ensure()
    world.guard().repair_local()
    return world.guard().ensure()


def _doubt_the_copy(world: World, outcome: Outcome) -> str:
    """Miss what was acknowledged before the act: the goal, a learning and three tool calls."""
    guard = world.guard()
    try:
        state = guard.state()
    except MissingState:
        return "the state is still refused" * outcome.is_acknowledged
    if state.goal != GOAL or "acknowledged" not in texts(state.learnings):
        return f"what was noted before is gone: {state.goal}, {state.learnings}"
    store = guard.store()
    folded, _ = store.folded(store.read_unlocked())
    paths = {artifact.path for artifact in folded.artifacts}
    missing = {f"src/file-{number}.py" for number in range(3)} - paths
    return f"tool calls are gone: {sorted(missing)}" if missing else ""


def _checkpoint(world: World) -> object:
    return world.guard().checkpoint("A reason.")


def _linked_worktree(world: World) -> None:
    begin(world)
    linked = world.base / "linked"
    world.git("worktree", "add", "--quiet", "-b", "work", str(linked))
    guard = world.guard(linked)
    guard.ensure()
    guard.note({"goal": GOAL})
    guard.note({"learnings": ["in no checkpoint"]})
    shutil.rmtree(linked / ".gitguard")


def _ensure_in_linked(world: World) -> object:
    return world.guard(world.base / "linked").ensure()


def _with_a_torn_conversation(world: World) -> None:
    begin(world)
    repairing.write_torn(world)


def _nothing(world: World) -> None:
    """Leave the repository as it is."""


def _with_deadly_git(world: World) -> None:
    """Put a `git` there that kills who called it, once the ref is moved and before it is synced."""
    begin(world)
    script = world.base / "bin" / "git"
    script.parent.mkdir()
    real = shutil.which("git")
    script.write_text(
        f'#!/bin/sh\n{real} "$@"\ncase " $* " in *" update-ref "*) kill -9 $PPID ;; esac\n'
    )
    script.chmod(0o755)


def _die_and_settle(world: World) -> object:
    path, world.path = world.path, f"{world.base}/bin:{world.path}"
    died = act_apart(lambda: _note(world))
    world.path = path
    assert died.signal, died
    return world.guard().ensure()


def _pending(world: World) -> None:
    """Leave a state that has to wait for its commit, because git held the ref."""
    begin(world)
    lock = world.root / ".git" / f"{BRANCH}.lock"
    lock.touch()
    world.guard().note({"goal": "Waiting"})
    lock.unlink()


SETTLED_LATE = Scenario("settled-late", _with_deadly_git, _die_and_settle, _ensure)
"""A process that died between the move of the ref and its sync, and the next one that settles it:
only what a power cut leaves of both tells something."""
SCENARIOS = (
    Scenario("note", begin, _note, _ensure),
    Scenario("plain-note", begin, _plain_note, _ensure),
    Scenario("first-ensure", _nothing, _ensure, _ensure, may_be_refused=True),
    Scenario("restore", _restore_prepared, _restore, _ensure),
    Scenario(
        "restore-files",
        _files_changed,
        _put_files_back,
        _finish_putting_back,
        doubts=_doubt_the_files,
        changes=frozenset(PUT_BACK),
    ),
    Scenario("files-kept", _files_kept, _maintain, _ensure, doubts=_doubt_what_is_kept),
    Scenario(
        "file-taken", _file_changed_again, _take_snapshot, _ensure, doubts=_doubt_what_is_kept
    ),
    Scenario("recover", _recover_prepared, _recover, _recover, may_be_refused=True),
    Scenario("put-back", _branch_deleted, _ensure, _ensure),
    Scenario("take", _advanced, _take, _take),
    Scenario("trust", _forgotten, _trust, _trust),
    Scenario("accept", _edited, _accept, _accept, may_be_refused=True),
    Scenario("fork", begin, _fork, _fork_again),
    Scenario(
        "follow",
        _on_another_branch,
        _follow,
        _follow_again,
        part=_follow_up_to_the_choice,
    ),
    Scenario("turn-end", lambda world: _with_journal(world, 20), _turn_end, _ensure),
    Scenario("compaction", lambda world: _with_journal(world, 3), _compaction, _ensure),
    Scenario(
        "copy-alone",
        _unusable,
        _advance_the_copy,
        _advance_the_copy,
        may_be_refused=True,
        doubts=_doubt_the_copy,
        # A hook that fails folds nothing: the tool calls stay in the journal, where doubts looks.
        part=_recover_if_needed,
    ),
    Scenario("rotation", lambda world: _with_journal(world, 1600), _checkpoint, _ensure),
    Scenario(
        "sandbox", begin, _sandboxed_note, _ensure, around=lambda world: sealed(world.state_home)
    ),
    Scenario("pending", _pending, _checkpoint, _ensure),
    Scenario("close", begin, _close_and_reopen, _come_back, may_be_refused=True),
    Scenario(
        "worktree",
        _linked_worktree,
        _ensure_in_linked,
        _ensure_in_linked,
        root="linked",
        may_be_refused=True,
    ),
    Scenario(
        "repair",
        _with_a_torn_conversation,
        repairing.act,
        repairing.go_on,
        doubts=repairing.doubts,
    ),
    Scenario(
        "repair-copying",
        _with_a_torn_conversation,
        repairing.act_by_copying,
        repairing.go_on_much_later,
        doubts=repairing.doubts,
    ),
)
BY_NAME = {scenario.name: scenario for scenario in (*SCENARIOS, SETTLED_LATE)}
