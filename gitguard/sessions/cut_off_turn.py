"""What an agent was doing when its process ended in a turn, and which files it changed."""

from __future__ import annotations

from gitguard.errors import GitguardError
from gitguard.model.text import shorten
from gitguard.model.triggers import BEFORE_DESTRUCTIVE
from gitguard.model.value import Value
from gitguard.sessions.file_authors import SHELL, TOOLS
from gitguard.sessions.file_changes import FileChanges, file_changes
from gitguard.store.session.at_work import process_runs

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from gitguard.state.entries import JournalEntry
    from gitguard.store.session.host_session import HostSession
    from gitguard.store.session.store import SessionStore

_LONGEST_CALL = 80


class CutOffTurn(Value):
    """A turn whose end no hook told, of a process that is gone."""

    calls: tuple[str, ...]
    """Tool calls that began and never ended, such as `Write parser.py`."""
    since: str
    """The last checkpoint before the turn; empty without one that has a snapshot of the files."""
    files: tuple[str, ...]
    """What tools and commands of the agent changed since then."""
    within: tuple[str, ...] = ()
    """The checkpoints before what it destroyed in the turn, the oldest first."""


def cut_off_turn(
    store: SessionStore, conversations: Mapping[str, HostSession]
) -> CutOffTurn | None:
    """Return the turn that was cut off last, None where the session went on since, or never began.

    conversations are those of the session, by their ids.
    """
    prompted = [key for key, record in conversations.items() if record.turns]
    newest = max(prompted, key=lambda key: conversations[key].last_use, default="")
    if not newest or not _is_cut_off(conversations[newest]):
        return None
    calls: list[JournalEntry] = []
    changes, within = FileChanges("", "", ()), list[str]()
    try:
        calls = [entry for entry in store.journal.open_calls() if entry.host_session == newest]
        before, within = _around(store, conversations[newest].turn_since)
        if before:
            changes = store.at_one_moment(lambda: file_changes(store, before, ""))
    except GitguardError:
        pass
    files = (file.path for file in changes.files if not {TOOLS, SHELL}.isdisjoint(file.by))
    named = (shorten(f"{call.tool} {call.summary}", _LONGEST_CALL) for call in calls)
    return CutOffTurn(tuple(named), changes.older, tuple(files), tuple(within))


def _around(store: SessionStore, turn_since: float) -> tuple[str, list[str]]:
    """Return the last checkpoint before a turn, and those before what was destroyed in it.

    The first is empty where the session began in the turn.
    """
    within: list[str] = []
    for checkpoint in store.chain.history(store.readable_head().committed):
        is_within = checkpoint.trigger == BEFORE_DESTRUCTIVE and checkpoint.at >= int(turn_since)
        if is_within:
            within.insert(0, checkpoint.name)
        elif checkpoint.at <= turn_since:
            return checkpoint.id, within
    return "", within


def _is_cut_off(conversation: HostSession) -> bool:
    process, last_process = conversation.process, conversation.last_process
    return conversation.is_in_turn and process_runs(process, last_process) is False
