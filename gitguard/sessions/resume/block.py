"""The resume block: what an agent needs after a compaction, a crash or in a new conversation.

It is data about the agent's own work, fenced and cut to a budget. What is cut is counted, and the
command that shows it is named.
"""

from __future__ import annotations

from gitguard.model.text import one_line, seconds, shorten
from gitguard.model.value import Value
from gitguard.rendering import render
from gitguard.sessions.resume.filling import BlockItem, BlockSection, Filled, fill
from gitguard.sessions.resume.reader import FENCE, BlockReader, duration, safe
from gitguard.sessions.resume.sections import sections_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitguard.state.snapshot import Work
    from gitguard.state.task import TaskState
    from gitguard.store.session.host_session import HostSession

LEAST_TOKENS = 300
"""The smallest block: below it the required sections would not all find a few words' room."""
_CHARACTERS_PER_TOKEN = 4
_KEY_LIMIT = 60
_NEWS = 600
"""Seconds below which the head says nothing of the block's age."""
_NOTE_LIMIT = 240
_NOT_IN_ATTRIBUTES = str.maketrans("", "", '"<>')


class Header(Value):
    """Which checkpoint a block hands back, to whom, and what a reader should know about it."""

    session: str
    checkpoint: str
    commit: str
    notes: tuple[str, ...] = ()
    changes: str = ""
    """What changed since the checkpoint, in one line."""
    now: str = ""
    """When it is handed back; empty where the same text is to come again and again."""
    conversation: str = ""
    """The conversation that gets it; what is of this one carries no age."""
    gone: frozenset[str] = frozenset()
    """Paths of files that the state names and the workspace has no more."""
    age: str = ""
    """How old the newest of it is, such as `3 h`; empty where ages are not told."""


def is_due(host_session: HostSession, head: str) -> bool:
    """Say whether a conversation lacks this epoch's block, or another writer moved the head."""
    delivery = host_session.delivery
    return delivery is None or delivery.epoch != host_session.epoch or host_session.head != head


def build_resume(state: TaskState, work: Work, header: Header, *, max_tokens: int) -> str:
    """Return the block, at most max_tokens of four characters each.

    Fewer than `LEAST_TOKENS` count as these: a required section is never dropped.
    """
    budget = max(max_tokens, LEAST_TOKENS) * _CHARACTERS_PER_TOKEN
    header = header.replace(age=_age(state, header))
    fixed = _render((), header)
    reader = BlockReader(header.now, header.conversation, state.updated_at, header.gone)
    sections = (*_about(header), *sections_of(state, work, reader))
    return _render(fill(sections, budget - len(fixed)), header)


def _age(state: TaskState, header: Header) -> str:
    if not header.now:
        return ""
    age = seconds(header.now) - seconds(state.updated_at)
    return duration(age) if age >= _NEWS else ""


def _render(filled: tuple[Filled, ...], header: Header) -> str:
    # Keys and branches are named by people and programs outside, and anything may stand in them.
    session = shorten(safe(header.session).translate(_NOT_IN_ATTRIBUTES), _KEY_LIMIT)
    return render(
        "resume.md.j2",
        fence=FENCE,
        session=session,
        header=header,
        sections=[section for section in filled if section.texts],
        absent="; ".join(section.absence for section in filled if not section.texts),
    ).strip()


def _about(header: Header) -> tuple[BlockSection, ...]:
    notes = tuple(BlockItem(safe(shorten(one_line(note), _NOTE_LIMIT))) for note in header.notes)
    changes = tuple(BlockItem(safe(text), is_derived=True) for text in (header.changes,) if text)
    return (
        BlockSection("Notes", notes, 6),
        BlockSection("Changed since the checkpoint", changes, 4, is_list=False),
    )
