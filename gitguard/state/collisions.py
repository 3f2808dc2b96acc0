"""Whether what one conversation is about to write collides with the work of another one.

A pure decision over the other one's state and journal: did it change the file, does its
plan name it, or does it hold a limit that names it?
"""

from __future__ import annotations

from gitguard.model.value import Value
from gitguard.state import entries as journal
from gitguard.state.items import CONSTRAINT, SMALL_TALK, labelled_text
from gitguard.state.mentions import names_file
from gitguard.state.roles import LIMIT
from gitguard.state.task import TaskState, as_of, goal_of
from gitguard.state.thread import is_heard

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Sequence

    from gitguard.state.entries import JournalEntry
    from gitguard.state.items import Item

CHANGED, WRITING, PLANNED, LIMITED = "changed", "writing", "planned", "limited"
_WROTE = (journal.ENDED, journal.SHELL_EDITED, journal.FILE_WRITTEN)


class OtherWork(Value):
    """What a conversation did and means to do, as its session's records tell."""

    conversation: str
    state: TaskState
    """With what the journal adds to it."""
    entries: tuple[JournalEntry, ...]
    """What the journal still has, of all conversations of the session."""
    now: str
    announced: tuple[str, ...] = ()
    """What it announced to do next, in its own words."""

    @property
    def task(self) -> str:
        """What it is at: its goal, or else what was asked of it; empty where nothing tells."""
        asked = (
            exchange.text
            for exchange in reversed(self.state.exchanges)
            if is_heard(exchange)
            and exchange.kind != SMALL_TALK
            and exchange.origin.conversation == self.conversation
        )
        return goal_of(self.state, self.conversation) or next(asked, "")

    def changed_files(self) -> dict[str, str]:
        """Return the files that it changed, with when it did last; the newest last."""
        changed: dict[str, str] = {}
        for artifact in self.state.artifacts:
            if artifact.writes and artifact.origin.conversation == self.conversation:
                changed[artifact.path] = artifact.when
        for entry in self.entries:
            if entry.event in _WROTE and entry.host_session == self.conversation:
                changed.update(dict.fromkeys(entry.written, entry.at))
        return dict(sorted(changed.items(), key=lambda item: item[1]))

    def is_writing(self, path: str) -> bool:
        """Say whether a call of it that writes a file began and did not end."""
        own = (e for e in journal.open_calls(self.entries) if e.host_session == self.conversation)
        return any(path in entry.written for entry in own)

    def last_sign(self) -> str:
        """Return when the newest event of it was journaled, empty if none is known."""
        own = (e.at for e in self.entries if e.host_session == self.conversation)
        return max(own, default="")


class Collision(Value):
    """Why a write collides with another conversation's work."""

    kind: str
    """changed, writing, planned or limited."""
    words: str = ""
    """Its task if it changed or writes the file, else its own words that name the file."""


def find_collision(
    work: OtherWork,
    path: str,
    root: str,
    *,
    is_newer: Callable[[str], bool],
    is_only: Callable[[], bool],
    writer_limits: Collection[str] | None,
) -> Collision | None:
    """Return what speaks against writing a file, None for nothing.

    path is relative to the other one's worktree with this root. is_newer is asked whether its
    change of a time is news to whoever writes, and is_only whether no other file has the file's
    name. writer_limits has the ids of limits that the writer has as well, from another session;
    None within the same.
    """
    changed_at = work.changed_files().get(path) or _changed_by_shell(work, path)
    if changed_at and is_newer(changed_at):
        return Collision(CHANGED, work.task)
    if work.is_writing(path):
        return Collision(WRITING, work.task)
    for words in _plans(work):
        if names_file(words, path, root, is_only=is_only):
            return Collision(PLANNED, words)
    for item, words in _limits(work.state):
        if writer_limits is None:
            is_its = item.origin.conversation == work.conversation
        else:
            is_its = item.id not in writer_limits
        if is_its and names_file(words, path, root, is_only=is_only):
            return Collision(LIMITED, labelled_text(words, item.origin))
    return None


def limit_ids(state: TaskState) -> frozenset[str]:
    """Return the ids of all limits that a state holds."""
    return frozenset(item.id for item, _ in _limits(state))


def seen_upto(entries: Sequence[JournalEntry], conversation: str, path: str) -> str:
    """Return when a conversation last read or wrote a file, empty if that is not known."""
    return max(
        (
            entry.at
            for entry in entries
            if entry.host_session == conversation
            and entry.event in (journal.ENDED, journal.SHELL_EDITED)
            and (path in entry.read or path in entry.written or _is_shown(entry, path))
        ),
        default="",
    )


def _is_shown(entry: JournalEntry, path: str) -> bool:
    if path not in entry.shell_line:
        return False
    from gitguard.model.shell.reads import shows_files

    return shows_files(entry.shell_line) or path in written_by(entry.shell_line)


def _changed_by_shell(work: OtherWork, path: str) -> str:
    """Return when a shell command of it last wrote a file by its words, empty if none did."""
    name = path.rpartition("/")[2]
    naming = [
        entry
        for entry in work.entries
        if entry.host_session == work.conversation
        and entry.event in (journal.STARTED, journal.ENDED)
        and name in entry.shell_line
    ]
    if not naming:
        return ""
    return max((entry.at for entry in naming if path in written_by(entry.shell_line)), default="")


def written_by(line: str) -> dict[str, bool]:
    """Return the paths that a shell line writes, as it names them from where it begins.

    With each stands whether the shell itself writes it. What a program writes is less sure: the
    words behind `sed -i` are a script and files.
    """
    from posixpath import join, normpath

    from gitguard.model.shell.writes import writes_of

    writes = writes_of(line)
    folder = ""
    folders = [folder := join(folder, entered) for entered in writes.folders]
    paths: dict[str, bool] = {}
    for at in ("", *folders):
        for written in writes.paths:
            if not written.ends_work:
                path = normpath(join(at, written.path))
                paths[path] = paths.get(path, False) or not written.by
    return paths


def _plans(work: OtherWork) -> Iterator[str]:
    """Yield what a conversation says that it does next.

    A state holds the next action and the plan of one conversation of a session alone, so what the
    others announced comes first.
    """
    yield from work.announced
    own = as_of(work.state, work.conversation, work.now)
    next_from = own.next_from
    if next_from is not None and next_from.conversation == work.conversation:
        yield own.stated_next_action
    for step in own.plan:
        if not step.is_done and step.origin.conversation == work.conversation:
            yield step.text


def _limits(state: TaskState) -> Iterator[tuple[Item, str]]:
    for field in TaskState.noted(LIMIT):
        for note in field.items_in(state):
            yield note, note.text
    for exchange in state.exchanges:
        if exchange.kind == CONSTRAINT:
            yield exchange, exchange.text
