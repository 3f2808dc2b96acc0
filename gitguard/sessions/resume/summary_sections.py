"""The sections of a resume block that come from the host's own summary of a compaction.

Whoever has not just read it gets what still holds: what somebody said or did since is newer.
"""

from __future__ import annotations

from gitguard.sessions.resume.filling import BlockItem, BlockSection
from gitguard.sessions.resume.reader import BlockReader, item_of, present
from gitguard.sessions.resume.standing import newest_request
from gitguard.state.host_summary import (
    CURRENT,
    NEXT,
    OF_STANDING,
    PENDING,
    by_worth,
    in_force,
    later_than,
    sections_of,
    stated_sections,
)
from gitguard.state.items import CONCLUSION, REQUEST

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitguard.state.task import TaskState

_TITLE = "At the last compaction, by the host's summary"
_REST = "More of that summary"
_MOST_GONE_ON = 15
"""The most percent of the block for a summary after which the work has gone on."""
_GOES_ON = 2
"""Turns that the agent has ended since, after which what was under way or left then is over."""
_OVER_AT_ACTION, _OVER = (CURRENT, NEXT), (CURRENT, NEXT, PENDING)
"""What is over once the agent acted or the user asked for more, and once turns have ended."""
_PARAGRAPH = 160
"""Characters that are shown of each section, until all sections of the block have as much."""


def of_host_summary(
    state: TaskState, reader: BlockReader, whole: str
) -> tuple[BlockSection, BlockSection]:
    """Return where the work stood by the host's summary, and what else it says.

    whole is all of it, empty where only the short form is to be had.
    """
    summary = state.host_summary
    # Of its own conversation the reader has the summary before it.
    if summary is None or summary.origin.conversation == reader.conversation:
        return BlockSection(_TITLE, (), 10), BlockSection(_REST, (), 3)
    title = f"{_TITLE} (`gitguard show host-summary`)" if whole else _TITLE
    sections = sections_of(whole) or stated_sections(summary.text)
    since = later_than(state, summary.when)
    ended = [e for e in state.exchanges if e.kind == CONCLUSION and e.when > summary.when]
    has_gone_on = len(ended) >= _GOES_ON
    request = newest_request(state)
    is_asked = request is not None and request.kind == REQUEST and request.when > summary.when
    has_acted = any(
        item.when > summary.when
        for item in (*state.failed_attempts, *state.artifacts, *state.commands)
    )
    over = _OVER if has_gone_on else _OVER_AT_ACTION if has_acted or is_asked else ()
    standing: list[BlockItem] = []
    passing: list[BlockItem] = []
    for section in by_worth(sections):
        if section.about in over:
            continue
        text = in_force(section, since)
        named = f"{section.heading}: {text}" if text and section.heading else text
        item = item_of(named, summary.origin, reader, is_derived=True)
        (standing if section.about in OF_STANDING else passing).append(item)
    return (
        BlockSection(
            title,
            present(standing),
            4 if has_gone_on else 8,
            has_stub=False,
            paragraph=_PARAGRAPH,
            most=_MOST_GONE_ON if has_gone_on else 0,
        ),
        BlockSection(_REST, present(passing), 3, is_required=False, paragraph=_PARAGRAPH),
    )
