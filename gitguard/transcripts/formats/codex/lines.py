"""Who speaks in a line of Codex's rollouts, and which turns were taken back.

We have no recording of turns that were taken back: this follows the program's published sources.
A compaction does not say which turns it kept.
"""

from __future__ import annotations

from gitguard.transcripts import jsonl
from gitguard.transcripts.entries import inner, parse

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

NOT_THE_USERS = (
    "<environment_context>",
    "<user_instructions>",
    "<turn_aborted>",
    "# AGENTS.md instructions",
)
"""How texts begin that stand in the user's name, where versions do not say whose they are."""
_ROLLED_BACK = b'"thread_rolled_back"'
_TURNING = (b'"user"', b'"compacted"', _ROLLED_BACK)


class Turns:
    """The beginnings of the user's turns that can still be taken back."""

    def __init__(self) -> None:
        self._begins: list[int] = []

    def take(self, line: dict[str, Any], at: int) -> int | None:
        """Take in a line at a place; return the first place that it takes back, or None."""
        if _begins_a_turn(line):
            self._begins.append(at)
        elif line.get("type") == "compacted":
            self._begins = []  # a compaction ends what can be taken back
        elif count := _taken_back_by(line):
            begins = self._begins[-count:]
            del self._begins[-count:]
            return begins[0] if begins else None
        return None


def taken_back(path: str) -> list[tuple[int, int]]:
    """Return what of a file was taken back: the offsets at which each part begins and ends."""
    # Hardly any file has such a line, and looking for one is far cheaper than following turns.
    if not any(line for _, line in jsonl.marked(path, (_ROLLED_BACK,), 0)):
        return []
    turns, ranges = Turns(), []
    for behind, text in jsonl.marked(path, _TURNING, 0):
        begin = turns.take(parse(text), behind - len(text) - 1) if text else None
        if begin is not None:
            ranges.append((begin, behind))
    return ranges


def is_by_host(line: dict[str, Any], text: str) -> bool:
    """Say whether the host wrote a message that stands in the user's or the agent's name."""
    payload = inner(line, "payload")
    if inner(line, "metadata").get("compaction_output"):
        return True
    if payload.get("role") != "user":
        return payload.get("role") != "assistant"
    # Some versions say whose a message is; where they do not, its text has to tell.
    kinds = inner(payload, "internal_chat_message_metadata_passthrough").get("content_item_kinds")
    if isinstance(kinds, list) and kinds:
        return not any(str(kind).startswith("user.") for kind in kinds)
    return text.lstrip().startswith(NOT_THE_USERS)


def usage_in(line: dict[str, Any]) -> Any:
    """Return the usage that a line tells, whatever it is; None for a line of another kind."""
    payload = inner(line, "payload")
    if line.get("type") == "token_usage_record":
        return payload.get("usage")
    token_info = payload.get("info") if payload.get("type") == "token_count" else None
    return token_info.get("last_token_usage") if isinstance(token_info, dict) else None


def texts_in(content: Any) -> list[str]:
    """Return the texts of a message's content."""
    items = content if isinstance(content, list) else ()
    values = [item.get("text") for item in items if isinstance(item, dict)]
    return [text for text in values if isinstance(text, str) and text.strip()]


def _begins_a_turn(line: dict[str, Any]) -> bool:
    payload = inner(line, "payload")
    if line.get("type") != "response_item" or payload.get("type") != "message":
        return False
    text = "\n".join(texts_in(payload.get("content")))
    return payload.get("role") == "user" and not is_by_host(line, text)


def _taken_back_by(line: dict[str, Any]) -> int:
    """Return how many turns a line takes back."""
    payload = inner(line, "payload")
    if line.get("type") != "event_msg" or payload.get("type") != "thread_rolled_back":
        return 0
    count = payload.get("num_turns")
    return max(count, 0) if isinstance(count, int) else 0
