"""Reads what became of files between the checkpoints of a session, and by whose hand.

Snapshots say it as long as they are kept. An agent's file is one that hooks saw written by a tool
or a shell command of the agent between two of them. In a session without hooks nobody saw anything,
so all that changed in it counts as its work, by an unseen hand.
"""

from __future__ import annotations

from functools import partial

from gitguard.errors import GitguardError, InvalidDocument
from gitguard.model import triggers
from gitguard.review.authorship import (
    NOTHING,
    OTHERS,
    Credit,
    FileStep,
    LineChange,
    line_change,
)
from gitguard.state.checkpoint import SHELL, TOOLS, UNSEEN
from gitguard.store.git.trees import FOLDER, SUBMODULE, Trees
from gitguard.store.session.workspace import Session

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from typing import Self

    from gitguard.review.timeline import Course
    from gitguard.sessions.workspace_sessions import WorkspaceSessions
    from gitguard.state.items import Artifact
    from gitguard.state.task import TaskState
    from gitguard.store.git.reader import ObjectReader
    from gitguard.store.worktree.overlays import StoredSnapshot

    StateAt = Callable[[int], TaskState]
    """Reads the state of a checkpoint of a course by its place."""

_TEXT_LIMIT = 2 << 20
"""Bytes of a file whose lines are compared."""
_OF_HOOKS = frozenset((triggers.TURN_START, triggers.TURN_END, triggers.SESSION_END))
"""What only hooks take checkpoints for."""
_BEGINS_WORK = frozenset((triggers.TURN_END, triggers.SESSION_END))
"""Checkpoints after which a turn begins."""
_AFTER_PROMPT = frozenset((triggers.TURN_START, triggers.START))
"""Checkpoints that are taken when a turn has begun, but for the first of a session."""


def lines_between(reader: ObjectReader, old: str, new: str) -> LineChange:
    """Compare two contents by their ids; what cannot be read has no lines."""
    try:
        before, after = (
            reader.read(blob, "blob", limit=_TEXT_LIMIT) if blob else b"" for blob in (old, new)
        )
    except GitguardError:
        return NOTHING
    return line_change(before, after)


class CourseSteps:
    """The steps of one session, read from its snapshots."""

    def __init__(self, sessions: WorkspaceSessions, course: Course, state_at: StateAt) -> None:
        """Read nothing yet."""
        session = Session(course.name, course.name)
        self._repository = sessions.repository()
        self._reader = sessions.store(session).worktree.reader()
        self._course = course
        self._state_at = state_at
        self._trees = Trees(self._reader)
        self._has_hooks = not _OF_HOOKS.isdisjoint(course.triggers)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self._reader.__exit__(*exception)

    def steps(self) -> dict[str, list[FileStep]]:
        """Return the steps of each path, in their order."""
        by_path: dict[str, list[FileStep]] = {}
        for step in self._between_snapshots():
            by_path.setdefault(step.path, []).append(step)
        return by_path

    def named(self) -> dict[str, list[FileStep]]:
        """Return the steps of each path that checkpoints name, also where no snapshot is left."""
        places = {str(number): place for place, number in enumerate(self._course.sequences)}
        by_path: dict[str, list[FileStep]] = {}
        for place, written in enumerate(self._course.written):
            for file in written:
                after = [places[turn] for turn in file.turns if turn in places]
                turns = tuple((at - 1, at) for at in after if 0 < at <= place)
                if turns and (file.author != UNSEEN or not self._has_hooks):
                    step = FileStep(
                        file.path,
                        file.old,
                        file.new,
                        author=file.author,
                        before=turns[0][0],
                        after=turns[-1][1],
                        lines=partial(lines_between, self._reader, file.old, file.new),
                        turns=turns,
                    )
                    by_path.setdefault(file.path, []).append(step)
        return by_path

    def _between_snapshots(self) -> Iterator[FileStep]:
        older: StoredSnapshot | None = None
        before = 0
        for place, snapshot_id in enumerate(self._course.files):
            newer = self._snapshot(snapshot_id)
            if newer is None:
                continue
            if older is not None and older.tree != newer.tree:
                yield from self._changed(older, newer, before, place)
            older, before = newer, place

    def _snapshot(self, snapshot_id: str) -> StoredSnapshot | None:
        if not snapshot_id:
            return None
        try:
            return self._reader.snapshot(snapshot_id)
        except InvalidDocument:
            return None  # it is forgotten by now

    def _changed(
        self, older: StoredSnapshot, newer: StoredSnapshot, before: int, after: int
    ) -> Iterator[FileStep]:
        unknown = older.manifest.skipped_paths | newer.manifest.skipped_paths
        paths = [p for p in self._trees.differences(older.tree, newer.tree) if p not in unknown]
        if older.is_base_lost or newer.is_base_lost:
            stored = older.overlay.keys() & newer.overlay.keys()
            paths = [path for path in paths if path in stored]
        authors = self._authors(before, after) if paths else {}
        restored = newer.manifest.authors.restore
        # A commit that was only checked out brings contents of others.
        is_unseen = not self._has_hooks and self._is_onward(before, after)
        default = UNSEEN if is_unseen else OTHERS
        blobs = {
            path: (self._blob(older.tree, path), self._blob(newer.tree, path))
            for path in sorted(paths)
        }
        gone = {path: old for path, (old, new) in blobs.items() if old and not new}
        for path, (old, new) in blobs.items():
            moved_from = self._moved_from(new, gone) if not old else ""
            old = gone.get(moved_from, old)
            yield FileStep(
                path,
                old,
                new,
                author=OTHERS if path in restored else authors.get(path, default),
                before=before,
                after=after,
                lines=partial(lines_between, self._reader, old, new),
                moved_from=moved_from,
            )

    def _is_onward(self, before: int, after: int) -> bool:
        """Say whether what was checked out at a checkpoint descends from what was before."""
        older, newer = (self._course.heads[place] for place in (before, after))
        return older in ("", newer) or self._repository.is_ancestor(older, newer)

    def _moved_from(self, new: str, gone: Mapping[str, str]) -> str:
        """Return which of the files that went away became a new one, empty for none."""
        for path, old in gone.items():
            if old == new:
                return path
        for path, old in gone.items():
            change, whole = (lines_between(self._reader, version, new) for version in (old, ""))
            if sum(change.added.values()) * 2 < sum(whole.added.values()):
                return path
        return ""

    def _blob(self, tree: str, path: str) -> str:
        entry = self._trees.at(tree, path)
        return "" if entry is None or entry.mode in (FOLDER, SUBMODULE) else entry.id

    def _authors(self, before: int, after: int) -> dict[str, str]:
        """Return which files hooks saw the agent write between two checkpoints, and by what."""
        if not self._has_hooks:
            return {}
        try:
            earlier, later = self._state_at(before), self._state_at(after)
        except GitguardError:
            return {}  # whoever shows these states says what is wrong with them
        is_same_task = earlier.task_id == later.task_id
        writes = {a.path: a.writes for a in earlier.artifacts} if is_same_task else {}
        written: Mapping[str, Artifact] = {
            a.path: a for a in later.artifacts if a.writes > writes.get(a.path, 0)
        }
        authors = {path: SHELL if a.by_shell else TOOLS for path, a in written.items()}
        number = str(self._course.sequences[after])
        named = (file for file in self._course.written[after] if number in file.turns)
        seen = {file.path: file.author for file in named if file.author != UNSEEN}
        return {**seen, **authors}

    def with_turns(self, credit: Credit) -> Credit:
        """Return a credit with the turns of its steps, without those of another session."""
        turns = (turn for s in credit.steps for turn in s.turns or ((s.before, s.after),))
        spans = ((self._began_at(before), after) for before, after in turns)
        shared = self._course.shared
        return credit.replace(spans=tuple(dict.fromkeys(s for s in spans if s[1] >= shared)))

    def _began_at(self, place: int) -> int:
        """Return the checkpoint at which the turn began whose work followed a checkpoint.

        Turns in which no file changed belong to the work that follows them.
        """
        while place > 0:
            trigger = self._course.triggers[place]
            if self._has_hooks and trigger in _AFTER_PROMPT:
                return place - 1
            if self._has_hooks and trigger not in _BEGINS_WORK:
                place -= 1
                continue
            began = self._turn_before(place)
            if not self._is_unchanged(place, began):
                return place
            place = began
        return place

    def _turn_before(self, place: int) -> int:
        """Return the checkpoint at which the turn began that ended with one."""
        place -= 1
        while self._has_hooks and place > 0:
            if self._course.triggers[place] in _BEGINS_WORK | _AFTER_PROMPT:
                break
            place -= 1
        return place

    def ends_at(self, place: int) -> int:
        """Return the last checkpoint after one up to which no file changed, at a turn's end."""
        last = place
        while last + 1 < len(self._course.ids) and self._is_unchanged(last + 1, last):
            last += 1
        while self._has_hooks and last > place and self._course.triggers[last] not in _BEGINS_WORK:
            last -= 1
        return last

    def _is_unchanged(self, place: int, earlier: int) -> bool:
        """Say whether no file changed between a checkpoint and an earlier one."""
        newer_id, older_id = self._course.files[place], self._course.files[earlier]
        if newer_id and newer_id == older_id:
            return True
        newer, older = self._snapshot(newer_id), self._snapshot(older_id)
        if any(snapshot is not None and snapshot.is_base_lost for snapshot in (newer, older)):
            return False  # nobody knows what is not stored of it
        return newer is not None and older is not None and newer.tree == older.tree
