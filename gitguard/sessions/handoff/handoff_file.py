"""The hand-off file: written before a compaction, handed back once after it.

For hooks there are two functions that raise nothing: a fault of ours is marked, and the host goes
on as if there were no hand-off. A host gets a hand-off in place of the resume block, or the block.
"""

from __future__ import annotations

import os

from gitguard.errors import InvalidDocument, NotConfirmed, NotReadable, NotWritable
from gitguard.model.text import timestamp
from gitguard.model.value import Value
from gitguard.sessions.handoff import recovery_block
from gitguard.sessions.handoff.workspace_facts import daily_log, gather
from gitguard.store.disk import artifacts, files

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitguard.model.config.handoff import HandoffConfig
    from gitguard.state.snapshot import Work
    from gitguard.state.task import TaskState
    from gitguard.store.session.state_file import OwnState
    from gitguard.store.session.store import SessionStore

FILE_LIMIT = 256 << 10
"""Bytes of a hand-off file that are read back; ours is always smaller."""
_MOVE_AWAY = "Move it away, or set another name in your config.yaml under `handoff`"


class Recovered(Value):
    """What came of looking for a hand-off."""

    block: str = ""
    """Fenced and cut, for the agent; empty where there is nothing to hand back."""
    reason: str = ""
    """Why there is nothing, as a sentence without its stop."""
    path: str = ""
    """Where the block was written, if it was to be."""


# For hooks


def write_handoff(
    store: SessionStore, config: HandoffConfig, *, ready: OwnState | None = None
) -> bool:
    """Write the file before a compaction, if hooks are to; say whether ours lies there now.

    ready is the state that was checkpointed, by default the one in force. Somebody else's file
    that is fresh stays, because it will be handed back; an older one is kept in the archive.
    """
    if not config.enabled:
        return False
    try:
        state, work = current_work(store, ready, compacting=True)
        return Handoff(store, config).renew(state, work)
    except Exception as error:  # noqa: BLE001 - nothing here may stop a compaction
        store.workspace.note_fault("writing the hand-off file", error)
        return False


def recover_handoff(store: SessionStore, config: HandoffConfig) -> str:
    """Return the block of a fresh hand-off of this session, once; empty where there is none."""
    if not config.enabled:
        return ""
    try:
        return Handoff(store, config).take(only_own=True).block
    except Exception as error:  # noqa: BLE001 - nothing here may stop a conversation
        store.workspace.note_fault("reading the hand-off file", error)
        return ""


# For everybody


def current_work(
    store: SessionStore, ready: OwnState | None = None, *, compacting: bool = False
) -> tuple[TaskState, Work]:
    """Return the state with what the journal adds, and the work, as a checkpoint would now."""
    from gitguard.state.capture import work_of

    state, part = store.at_one_moment(lambda: store.folded(ready or store.read_unlocked()))
    return state, work_of(part.entries, state, store.clock(), compacting=compacting)


class Handoff:
    """The hand-off file of a workspace, for one session."""

    def __init__(self, store: SessionStore, config: HandoffConfig) -> None:
        """Name the files; nothing is read or written yet."""
        self._store = store
        self._workspace = store.workspace
        self._config = config
        self._root = store.workspace.place.worktree
        self._now = store.clock()

    # Writing

    def write_current(self, *, force: bool = False) -> str:
        """Write the file from the state in force; raise what `write` and `look` raise."""
        return self.write(*current_work(self._store), force=force)

    def write(self, state: TaskState, work: Work, *, force: bool = False) -> str:
        """Write the file and return its path.

        What somebody else wrote or changed is replaced only with force, and kept in the archive.
        Raises `NotConfirmed`, `InvalidDocument` where git tracks the file or it is not one, and
        `NotWritable`.
        """
        from gitguard.sessions.handoff.handoff_text import render_handoff
        from gitguard.store.session.handoff_exclude import hide, refuse_tracked

        config = self._config
        refuse_tracked(self._workspace, config.own_names)
        foreign = self._is_foreign()
        if foreign and not force:
            raise NotConfirmed(
                f"`{config.file}` was edited or written by somebody else; nothing was changed",
                "Use --force to replace it; the old file is kept under `.gitguard/archive/`",
            )
        hide(self._workspace, config.own_names)
        own_folder = self._workspace.place.relative(self._workspace.folder)
        data = render_handoff(
            state,
            work,
            gather(
                self._store.repository(),
                self._workspace.redactor,
                config,
                state=state,
                now=self._now,
                without=(own_folder,),
            ),
            self._workspace.redactor,
            session=self._store.session.name,
            now=timestamp(self._now),
        )
        path = self._path(config.file)
        if foreign:
            self._archive(path)
        self._place(path, data)
        return path

    def renew(self, state: TaskState, work: Work) -> bool:
        """Write the file, unless a fresh one of somebody else will be handed back anyway."""
        if self._is_foreign() and not self._stale_because(self._age()):
            return False
        self.write(state, work, force=True)
        return True

    def _is_foreign(self) -> bool:
        from gitguard.sessions.handoff.handoff_text import is_as_written

        data = self._content(self._config.file)
        return data is not None and not is_as_written(data)

    def _archive(self, path: str) -> None:
        folder = os.path.join(self._workspace.folder, "archive")
        self._workspace.refuse_links()
        files.make_folder(folder)
        self._rename(path, files.free_name(os.path.join(folder, f"handoff-{self._now:.0f}"), ".md"))

    # Reading

    def read(self) -> Recovered:
        """Return a fresh file's block, or say why there is none; nothing is changed."""
        return self._recover(named=self._config.file, only_own=False)

    def take(self, *, to_file: bool = False, only_own: bool = False) -> Recovered:
        """Return a fresh file's block and rename the file, or say why there is none.

        only_own is for hooks of hosts with many sessions: a file that does not say whose it is
        could be anybody's. Raises what `write` raises.
        """
        recovered = self._recover(named=self._config.recovered, only_own=only_own)
        return self._hand_out(recovered.block, to_file=to_file) if recovered.block else recovered

    def _recover(self, *, named: str, only_own: bool) -> Recovered:
        """Read the file and build its block, which tells that the file lies at named."""
        from gitguard.sessions.handoff.handoff_text import without_mark
        from gitguard.store.session.handoff_exclude import refuse_tracked

        config, age = self._config, self._age()
        reason = self._stale_because(age)
        if reason:
            return Recovered(reason=reason)
        refuse_tracked(self._workspace, config.own_names)
        data = self._content(config.file) or b""
        reason = self._not_ours_because(data, only_own=only_own)
        if reason:
            return Recovered(reason=reason)
        source = recovery_block.HandoffSource(
            file=named,
            written=timestamp(self._now - (age or 0)),
            daily_log=daily_log(self._root, config, self._now),
        )
        block = recovery_block.build_recovery(
            without_mark(data).decode("utf-8", "replace"),
            source,
            section_characters=config.section_characters,
            total_characters=config.total_characters,
        )
        return Recovered(block)

    def _hand_out(self, block: str, *, to_file: bool) -> Recovered:
        """Rename the file, so that nobody continues from the same state twice."""
        from gitguard.store.session.handoff_exclude import hide

        config = self._config
        try:
            hide(self._workspace, config.own_names)
        except NotWritable:
            if to_file:
                raise
            # Renaming shows no more in `git status` than the file did before.
        written = self._write_block(block) if to_file else ""
        try:
            self._rename(self._path(config.file), self._path(config.recovered))
        except FileNotFoundError:
            return Recovered(reason=f"another process has just handed back `{config.file}`")
        return Recovered(block, path=written)

    def _write_block(self, block: str) -> str:
        path = self._path(self._config.recovery_file)
        if not self._is_our_block(path):
            raise InvalidDocument(f"gitguard did not write `{path}`", _MOVE_AWAY)
        self._place(path, f"{block}\n".encode())
        return path

    def _is_our_block(self, path: str) -> bool:
        """Say whether a block may be written there: nothing is, or an older one of ours."""
        data = files.read_bytes(path, limit=FILE_LIMIT)
        return data is None or data.startswith(recovery_block.BEGINS.encode())

    def _stale_because(self, age: float | None) -> str:
        name = self._config.file
        if age is None:
            return f"there is no `{name}`"
        limit = self._config.max_age_minutes
        stale = recovery_block.stale_because(age, max_age_minutes=limit)
        return f"`{name}` is too old: {stale}" if stale else ""

    def _not_ours_because(self, data: bytes, *, only_own: bool) -> str:
        from gitguard.sessions.handoff.handoff_text import written_for

        name, session, owner = self._config.file, self._store.session, written_for(data)
        if not data.strip():
            return f"`{name}` is empty"
        if owner and owner != session.name:
            return f"`{name}` belongs to the session `{owner}`; this is `{session.name}`"
        is_shared = self._workspace.places.session and len(self._workspace.session_names()) > 1
        if only_own and not owner and is_shared:
            return f"`{name}` does not name its session"
        return ""

    # Clearing

    def clear(self) -> tuple[str, ...]:
        """Remove the files and what hides them from git; return the names that were removed."""
        from gitguard.store.session.handoff_exclude import refuse_tracked, show_again

        config = self._config
        refuse_tracked(self._workspace, config.own_names)
        block = self._path(config.recovery_file)
        removed = [name for name in (config.file, config.recovered) if self._remove(name)]
        if os.path.lexists(block) and self._is_our_block(block):
            removed += [config.recovery_file] * self._remove(config.recovery_file)
        show_again(self._workspace)
        return tuple(removed)

    def _remove(self, name: str) -> bool:
        path = self._path(name)
        removed = files.remove(path)
        if not removed and os.path.lexists(path):
            raise NotWritable(f"`{path}` cannot be removed", "Check what it is, and its folder")
        return removed

    # Small parts

    def _path(self, name: str) -> str:
        return artifacts.own_path(self._root, name)

    def _content(self, name: str) -> bytes | None:
        try:
            return files.read_bytes(self._path(name), limit=FILE_LIMIT)
        except NotReadable:
            raise
        except InvalidDocument as error:
            raise InvalidDocument(error.message, error.hint or _MOVE_AWAY) from error

    def _age(self) -> float | None:
        """Return the file's age in seconds by the given clock, None where there is no file."""
        try:
            return self._now - os.lstat(self._path(self._config.file)).st_mtime
        except OSError:
            return None

    def _place(self, path: str, data: bytes) -> None:
        """Replace a file, by way of our folder: what a kill leaves there git does not show."""
        folder = self._workspace.folder
        if not os.path.isdir(folder):
            files.write_bytes(path, data)
            return
        written = os.path.join(folder, f"handoff-{os.getpid()}.tmp")
        files.write_bytes(written, data)
        self._rename(written, path)

    def _rename(self, path: str, target: str) -> None:
        try:
            files.rename(path, target)
        except FileNotFoundError:
            raise
        except OSError as error:
            raise files.refused(target, error) from error
