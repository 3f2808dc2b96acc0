"""How `gitguard status --all` shows who is at work."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gitguard.cli.file_changes import path_word
from gitguard.model.text import counted, local_times, one_line, shorten

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from gitguard.sessions.live import LiveConversation

_TASK, _FILES = 160, 8
"""Characters of a task, and files, that are shown."""


def live_lines(live: Sequence[LiveConversation]) -> Iterator[str]:
    """Yield what is known of those who are at work, and of those who may be; nothing without."""
    for conversation in live:
        yield local_times(one_line(_heading(conversation)))
        if conversation.task:
            # Words of another writer's are its claim until somebody trusts it.
            by = "Task" if conversation.is_trusted else "Task, as that writer says"
            yield f"  {by}: {one_line(shorten(conversation.task, _TASK))}"
        if conversation.files:
            yield f"  Changed: {_named(conversation.files)}"
        if conversation.problem:
            yield f"  Cannot be read: {one_line(conversation.problem)}"


def _heading(conversation: LiveConversation) -> str:
    since = f", since {conversation.since}" if conversation.since else ""
    if conversation.writer:
        return (
            f"Elsewhere: session {conversation.session} of {conversation.author}, "
            f"whether alive is unknown, newest checkpoint {conversation.age} ago "
            f"{conversation.reason}{since}"
        )
    life = {"alive": "alive", "unknown": "unknown whether alive"}[conversation.standing]
    named = f"{conversation.host or 'conversation'} {conversation.conversation}"
    return (
        f"At work: {named} at session {conversation.session} in {conversation.worktree}, {life}, "
        f"last event {conversation.age} ago{since}"
    )


def _named(files: Sequence[str]) -> str:
    newest = [path_word(path) for path in reversed(files[-_FILES:])]
    more = len(files) - len(newest)
    return ", ".join([*newest, *[counted(more, "more file")] * (more > 0)])
