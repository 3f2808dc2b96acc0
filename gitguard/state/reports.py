"""What sub-agents told their parent, as a state keeps it: beside what tools said, in their name."""

from __future__ import annotations

from gitguard.state.answers import conclusions
from gitguard.state.entries import REPORTED
from gitguard.state.items import HOOK, Origin, ToolOutput, derived_id

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from gitguard.state.entries import JournalEntry
    from gitguard.state.task import TaskState

_TOLD = 400
"""Characters that stay of what a sub-agent found in an earlier turn, at whose end it was told."""


def with_reports(
    state: TaskState, entries: Iterable[JournalEntry], code: str
) -> tuple[ToolOutput, ...]:
    """Return what tools said, with what sub-agents found; folded again, it adds nothing.

    code is the commit that is checked out, empty where that is not known.
    """
    outputs = {output.id: output for output in state.tool_outputs}
    for entry in entries:
        if entry.event == REPORTED and entry.summary:
            id_parts = (entry.host_session, entry.at, entry.id, entry.sub_agent, entry.summary)
            item_id = derived_id(state.session_id, "tool_outputs", *id_parts)
            origin = Origin(HOOK, entry.at, entry.host_session, entry.turn).at_commit(code)
            name = f"sub-agent {entry.sub_agent}"
            outputs[item_id] = ToolOutput(name, entry.summary, id=item_id, origin=origin)
    newest_turns: dict[str, int] = {}
    for output in outputs.values():
        origin = output.origin
        if not output.is_noted:
            newest = newest_turns.get(origin.conversation, 0)
            newest_turns[origin.conversation] = max(newest, origin.turn)
    return tuple(
        _as_told(output)
        if not output.is_noted and output.origin.turn < newest_turns[output.origin.conversation]
        else output
        for output in outputs.values()
    )


def _as_told(output: ToolOutput) -> ToolOutput:
    if len(output.summary) <= _TOLD:
        return output
    return output.replace(summary=conclusions(output.summary, _TOLD))
