"""Session keys of chats: `agent:<id>:<provider>:<kind>:<user>`, maybe with a thread's suffix.

A user is what follows the kind, colons included. Other keys, as of an agent's main conversation,
name no chat.
"""

from __future__ import annotations

from gitguard.errors import InvalidInput
from gitguard.model.value import Value

DIRECT, GROUP = ("dm", "direct"), ("channel", "group")
"""Kinds of chats: with one person, and with many."""
_THREADS = ("thread", "topic")


class SessionKey(Value):
    """A session key by its parts."""

    agent: str
    provider: str
    kind: str
    user: str
    thread: str = ""
    """The suffix of a thread or topic with its first colon, as it stood there."""

    def __str__(self) -> str:
        """Return the key as text, which `parse_key` reads back."""
        return f"agent:{self.agent}:{self.provider}:{self.kind}:{self.user}{self.thread}"

    @property
    def is_direct(self) -> bool:
        """Whether one person is on the other side."""
        return self.kind.lower() in DIRECT


def parse_key(text: str) -> SessionKey | None:
    """Read a session key; None for one that names no chat."""
    # Only the user at the end may hold colons of its own, as ids of some chats do.
    parts = text.split(":", 4)
    if len(parts) < 5 or parts[0] != "agent" or not all(parts):
        return None
    _, agent, provider, kind, user_and_thread = parts
    if kind.lower() not in (*DIRECT, *GROUP):
        return None
    user = without_thread(user_and_thread)
    return SessionKey(agent, provider, kind, user=user, thread=user_and_thread[len(user) :])


def build_key(agent: str, provider: str, kind: str, user: str, *, thread: str = "") -> SessionKey:
    """Put a key together; thread is `thread:<id>` or `topic:<id>`, empty for none.

    Raises `InvalidInput` where `parse_key` would not read the same parts back.
    """
    key = SessionKey(agent, provider, kind, user=user, thread=f":{thread}" if thread else "")
    if parse_key(str(key)) != key:
        raise InvalidInput(
            f"`{str(key)[:120]}` is not a session key of a chat",
            "The parts are agent, provider, kind ("
            + ", ".join((*DIRECT, *GROUP))
            + ") and user; only the user may hold a colon",
        )
    return key


def without_thread(text: str) -> str:
    """Return a key, or its last part, without the suffixes of threads and topics."""
    while True:
        before, _, last = text.rpartition(":")
        shorter_key, _, word = before.rpartition(":")
        if not (shorter_key and last and word.lower() in _THREADS):
            return text
        text = shorter_key
