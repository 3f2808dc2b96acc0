"""How much of a conversation counts: its last turns, as many as a limit allows.

Limits are numbers of user turns by session key. A host's configuration and ours say the same three
things of a provider, and the most particular one counts: for one person, for all direct chats, for
channels and groups.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from gitguard.model.conversation import CALL, MESSAGE, RESULT, USER, Block, TranscriptEntry
from gitguard.model.events import is_token_count
from gitguard.model.value import Value


class TurnLimit(Value):
    """A limit that was found for a session."""

    turns: int
    source: str
    """Which setting it is, as `telegram.dms.123`."""


def lightened(entries: Iterable[TranscriptEntry]) -> Iterator[TranscriptEntry]:
    """Yield entries without the bulk of what they hold, so that many of them fit into memory.

    What results say and what calls are given is left out; the sizes stay.
    """
    for entry in entries:
        blocks = tuple(map(_light, entry.blocks))
        yield entry.replace(raw=b"", blocks=blocks)


def _light(block: Block) -> Block:
    if block.kind == CALL:
        return block.replace(given=None)
    return block.replace(text="") if block.kind == RESULT else block


# The last turns


def is_turn(entry: TranscriptEntry) -> bool:
    """Say whether a turn begins: the user says something, and not the host in their name."""
    return entry.kind == MESSAGE and entry.role == USER and not (entry.by_host or entry.is_aside)


def first_within_limit(entries: Sequence[TranscriptEntry], most: int) -> int:
    """Return the place of the first entry that a limit lets stay: 0 where no more turns are there.

    Turns are counted backwards; most is 0 for no limit. A call and its result stay together: where
    the cut would part them, the turn with the first half of them stays whole as well.
    """
    turns = [i for i, entry in enumerate(entries) if is_turn(entry)]
    if not 0 < most < len(turns):
        return 0
    at = len(turns) - most
    reach = _reach(entries)
    while at > 0 and reach[turns[at]] < turns[at]:
        at -= 1
    return turns[at] if at else 0


def _reach(entries: Sequence[TranscriptEntry]) -> list[int]:
    """Return for each place the first one that a pair reaches to from there or later."""
    reach = list(range(len(entries) + 1))
    for first, second in _pairs(entries):
        reach[second] = min(reach[second], first)
    for i in range(len(entries) - 1, -1, -1):
        reach[i] = min(reach[i], reach[i + 1])
    return reach


def _pairs(entries: Sequence[TranscriptEntry]) -> Iterator[tuple[int, int]]:
    """Yield the places of each call and its result, the earlier one first.

    Ids may be used again, so a result belongs to the last call before it; one that comes before any
    such call belongs to the next.
    """
    calls: dict[str, int] = {}
    early: dict[str, int] = {}
    for i, entry in enumerate(entries):
        for block in entry.blocks:
            if block.kind == CALL and block.id:
                if block.id in early:
                    yield early.pop(block.id), i
                calls[block.id] = i
            elif block.kind == RESULT and block.id in calls:
                yield calls[block.id], i
            elif block.kind == RESULT and block.id:
                early.setdefault(block.id, i)


# Limits by session key


def limits_of(channels: Any) -> dict[str, int]:
    """Return the limits in a host's configuration of its channels; what is no limit is left out.

    `telegram` is its `historyLimit`, `telegram.dms` its `dmHistoryLimit`, and `telegram.dms.123`
    the `historyLimit` in `dms` of the user 123.
    """
    limits: dict[str, int] = {}
    for provider, settings in _members(channels):
        settings_by_name: dict[str, Any] = {provider: settings.get("historyLimit")}
        settings_by_name[f"{provider}.dms"] = settings.get("dmHistoryLimit")
        for user, of_user in _members(settings.get("dms")):
            settings_by_name[f"{provider}.dms.{user}"] = of_user.get("historyLimit")
        limits |= {name: turns for name, turns in settings_by_name.items() if _is_limit(turns)}
    return limits


def _members(settings: Any) -> Iterator[tuple[str, dict[str, Any]]]:
    if isinstance(settings, dict):
        yield from (
            (str(name), member) for name, member in settings.items() if isinstance(member, dict)
        )


def _is_limit(turns: object) -> bool:
    return turns == 0 and type(turns) is int or is_token_count(turns)


def history_limit(session_key: str, limits: Mapping[str, int]) -> TurnLimit | None:
    """Return the limit for a session by its key; None where there is none, also where that is 0.

    limits are named as `limits_of` names them.
    """
    key = parse_key(session_key)
    if key is None:
        return None
    provider = key.provider.lower()
    names = (f"{provider}.dms.{key.user}", f"{provider}.dms") if key.is_direct else (provider,)
    folded = {_folded(name): name for name in limits}
    for name in names:
        limit_name = folded.get(_folded(name))
        if limit_name is not None:
            return TurnLimit(limits[limit_name], limit_name) if limits[limit_name] else None
    return None


def _folded(name: str) -> str:
    """Return a setting's name with its provider, which is no one's own name, in lower case."""
    provider, dot, path = name.partition(".")
    return f"{provider.lower()}{dot}{path}"


# Session keys of chats: `agent:<id>:<provider>:<kind>:<user>`, maybe with a thread's suffix


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


def without_thread(text: str) -> str:
    """Return a key, or its last part, without the suffixes of threads and topics."""
    while True:
        before, _, last = text.rpartition(":")
        shorter_key, _, word = before.rpartition(":")
        if not (shorter_key and last and word.lower() in _THREADS):
            return text
        text = shorter_key
