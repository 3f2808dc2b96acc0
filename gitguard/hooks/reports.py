"""Journals what a sub-agent told its parent: its words, neither the user's nor the agent's own."""

from __future__ import annotations

from gitguard.state.entries import REPORTED, JournalEntry

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitguard.hooks.conversation import Conversation
    from gitguard.model.events import SubAgentReport

_FINDING = 1_200
"""Characters of a finding that are kept while its parent may not have told of it."""


def record_report(conversation: Conversation) -> None:
    """Journal what the event's sub-agent found; the lock is held.

    A text that a prompt brings counts only if a call of this conversation is known to have started
    that sub-agent, for a user may paste anything.
    """
    report = conversation.event.report
    if report is None or conversation.is_apart or not _is_known(conversation, report):
        return
    from gitguard.state.answers import conclusions

    # Secrets are taken out first: a part of one would not be known for one.
    text = conclusions(conversation.workspace.redactor.text(report.text), _FINDING)
    if text:
        entry = JournalEntry(
            REPORTED,
            conversation.store.now,
            conversation.event.host_session,
            id=report.call,
            summary=text,
            sub_agent=report.agent,
            turn=conversation.record.turns,
        )
        conversation.store.journal.append(entry)


def _is_known(conversation: Conversation, report: SubAgentReport) -> bool:
    tool, key = conversation.event.tool, conversation.event.host_session
    if not report.call or (tool is not None and tool.id == report.call):
        return True
    entries = conversation.store.journal.read("", 0).entries
    return any(entry.id == report.call and entry.host_session == key for entry in entries)
