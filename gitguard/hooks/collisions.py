"""Tells an agent, before it writes a file, that another live conversation is at that file.

It never refuses anything. Who is announced beside this conversation is one small folder, which is
nearly always empty but for this one; only then is anything of the others read, and parsed only if
their records have the file's name.
"""

from __future__ import annotations

import os
from functools import partial

from gitguard.errors import GitguardError
from gitguard.hooks.shell_commands import is_plainly_harmless
from gitguard.hooks.told_line import CONVERSATION
from gitguard.model.codec import sha256
from gitguard.model.events import TOOL_START
from gitguard.model.text import one_line, seconds, shorten
from gitguard.model.value import Value
from gitguard.store.session.announced import NOT_KNOWN, announced_beside, judge_life
from gitguard.store.session.at_work import process_runs

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from gitguard.hooks.conversation import Conversation
    from gitguard.state.collisions import Collision, OtherWork
    from gitguard.store.session.announced import Announced, Life
    from gitguard.store.session.store import SessionStore

_MOST_FILES = 20
"""Files of one call that are looked at."""
_MOST_TOLD = 200
"""Files that a conversation was told of which are remembered, each with the other one."""
_MOST_SENTENCES = 2
"""Of one line; more are counted."""
_LATELY = 3_600.0
"""Seconds since its last sign for which a conversation counts that nobody knows to live."""
_WORDS, _NAME = 120, 80
"""Characters of what another conversation says, and of its session's key."""
_LARGEST = 1 << 20
"""Bytes of a file that are compared with those of another worktree's."""


class _Met(Value):
    """A collision, and whom with."""

    other: Announced
    life: Life
    silent_for: float
    """Seconds since its newest event."""
    path: str
    """The file, relative to this worktree."""
    collision: Collision


def offer_collisions(conversation: Conversation) -> None:
    """Offer the line about files of the event's call that others are at; each is told once.

    Where the host's agent hears nothing at the start of a call, the line waits for the next event.
    """
    workspace, event = conversation.workspace, conversation.event
    try:
        company = announced_beside(workspace, event.host, event.host_session)
        if not company:
            return
        paths = _written_files(conversation)
        met = [met for other in company for met in _meetings(conversation, other, paths)]
    except GitguardError as error:
        conversation.note_fault(error)
        return
    if not met:
        return
    line = workspace.redactor.text(_line(conversation, met))
    with conversation.recording():
        marks = (*conversation.record.told_collisions, *map(_mark, met))
        conversation.record = conversation.record.replace(told_collisions=marks[-_MOST_TOLD:])
        if TOOL_START in conversation.abilities.hears:
            conversation.offer(CONVERSATION, line)
        else:
            conversation.record = conversation.record.replace(untold_collision=line)


def offer_untold_collision(conversation: Conversation) -> None:
    """Offer the line that the start of a call could not tell; the record is kept."""
    if conversation.record.untold_collision:
        conversation.offer(CONVERSATION, conversation.record.untold_collision)
        conversation.record = conversation.record.replace(untold_collision="")


def _written_files(conversation: Conversation) -> tuple[str, ...]:
    """Return the files of the worktree that the call writes, as far as its words tell."""
    tool, event, place = conversation.tool, conversation.event, conversation.workspace.place
    paths = tool.paths_written
    if not paths and not is_plainly_harmless(tool.command):
        from gitguard.state.collisions import written_by

        begins = event.folder or place.worktree
        written = {os.path.join(begins, p): sure for p, sure in written_by(tool.command).items()}
        paths = tuple(path for path, sure in written.items() if sure or os.path.lexists(path))
    named = dict.fromkeys(map(place.relative, paths[:_MOST_FILES]))
    return tuple(path for path in named if path and path != place.worktree)


def _meetings(
    conversation: Conversation, other: Announced, paths: tuple[str, ...]
) -> Iterable[_Met]:
    """Yield the files of the call that another conversation is at, and that were not told yet."""
    from gitguard.sessions.other_work import may_tell_of, names_any, read_work, store_of

    place, told_marks = conversation.workspace.place, conversation.record.told_collisions
    twins = {}
    for path in paths:
        name, is_twin = _named_there(place.worktree, other.worktree, path)
        if name and _mark_of(other, path) not in told_marks:
            twins[path] = name, is_twin
    store = store_of(conversation.workspace, conversation.config, other) if twins else None
    names = tuple(map(os.path.basename, twins))
    if store is None or not (names_any(other, names) or may_tell_of(store, names)):
        return
    work = read_work(store, other)
    if work is None:
        return
    last_sign = max(other.since, work.last_sign())
    silent_for = max(conversation.workspace.clock() - seconds(last_sign), 0.0)
    runs = process_runs(other.process, other.last_process)
    life = judge_life(runs=runs, silent_for=silent_for)
    if life.standing == NOT_KNOWN and silent_for >= _LATELY:
        return
    for path, (name, is_twin) in twins.items():
        collision = _collision(conversation, store, work, path=path, name=name, is_twin=is_twin)
        if collision is not None:
            yield _Met(other, life, silent_for, path=path, collision=collision)


def _named_there(root: str, other_root: str, path: str) -> tuple[str, bool]:
    """Return what a file is called in another conversation's worktree, and whether it is a twin.

    The name is empty where that worktree has no such file.
    """
    whole = os.path.join(root, path)
    if whole.startswith(other_root + os.sep):
        return whole.removeprefix(other_root + os.sep), False
    return ("", False) if os.path.isabs(path) else (path, True)


def _collision(
    conversation: Conversation,
    store: SessionStore,
    work: OtherWork,
    *,
    path: str,
    name: str,
    is_twin: bool,
) -> Collision | None:
    from gitguard.state.collisions import find_collision

    is_own_session = store.session == conversation.store.session
    return find_collision(
        work,
        name,
        store.workspace.place.worktree,
        is_newer=partial(_differs, conversation, store, name)
        if is_twin
        else partial(_is_unseen, conversation, path),
        is_only=partial(_is_only, store, name),
        writer_limits=None if is_own_session else _known_limits(conversation),
    )


def _known_limits(conversation: Conversation) -> frozenset[str]:
    from gitguard.state.collisions import limit_ids
    from gitguard.store.session.state_file import newest_own

    ready = newest_own(conversation.store.states.read())
    return limit_ids(ready.state) if ready is not None else frozenset()


def _is_unseen(conversation: Conversation, path: str, changed_at: str) -> bool:
    """Say whether a file changed since the conversation last read or wrote it, or began."""
    from gitguard.state.collisions import seen_upto

    entries = conversation.store.journal.read("", 0).entries
    seen = seen_upto(entries, conversation.event.host_session, path)
    return changed_at >= seen if seen else changed_at >= conversation.record.started_at


def _differs(conversation: Conversation, store: SessionStore, path: str, _at: str) -> bool:
    """Say whether another worktree's file has something that this one has not, nor ever had."""
    from gitguard.sessions.worktree_twins import has_news

    return has_news(conversation.repository(), store.repository(), path, limit=_LARGEST)


def _is_only(store: SessionStore, path: str) -> bool:
    """Say whether git tracks no other file of the same name there."""
    namesakes = store.repository().tracked_as(os.path.basename(path))
    return not namesakes - {path}


# What is said


def _line(conversation: Conversation, met: list[_Met]) -> str:
    sentences = list(dict.fromkeys(_sentence(conversation, meeting) for meeting in met))
    more = len(sentences) - _MOST_SENTENCES
    if more > 0:
        sentences[_MOST_SENTENCES:] = [f"and {more} more, see `gitguard status --all`"]
    return f"[gitguard: {'; '.join(sentences)}.]"


def _sentence(conversation: Conversation, met: _Met) -> str:
    from gitguard.sessions.resume.reader import duration, safe
    from gitguard.state.collisions import CHANGED, PLANNED, WRITING

    is_here = met.other.worktree == conversation.workspace.place.worktree
    if met.other.session == conversation.store.session.name:
        who = "another conversation of this session"
    else:
        who = f"session {shorten(safe(met.other.key), _NAME)}"
    life = "unknown whether alive" if met.life.standing == NOT_KNOWN else met.life.standing
    where = "" if is_here else f" in {one_line(met.other.worktree)}"
    path = one_line(met.path)
    words = shorten(safe(met.collision.words), _WORDS)
    task = f": its task is “{words}”" if words else ""
    if met.collision.kind == CHANGED:
        what = f"changed {path}{where}{task}"
    elif met.collision.kind == WRITING:
        what = f"began to write {path}{where}{task}"
    elif met.collision.kind == PLANNED:
        what = f"plans{where}, naming {path}: “{words}”"
    else:
        what = f"works{where} under a limit on {path}: “{words}”"
    return f"{who} ({life}, {duration(met.silent_for)} ago) {what}"


def _mark(met: _Met) -> str:
    return _mark_of(met.other, met.path)


def _mark_of(other: Announced, path: str) -> str:
    """Return by what is remembered that a conversation was told of another one's file."""
    whole = f"{other.host}\0{other.conversation}\0{path}"
    return sha256(whole.encode("utf-8", "surrogatepass"))[:16]
