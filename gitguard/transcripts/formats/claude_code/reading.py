"""Claude Code's JSONL transcript (recorded with 2.1.330).

One API message is written as several lines with the same id and usage, so usages are never added
up. Sub-agents' lines are marked as side chains and say nothing about the main conversation; a file
of such lines alone is a sub-agent's own conversation.
"""

from __future__ import annotations

from gitguard.model.events import Reading, Transcript
from gitguard.transcripts.entries import (
    COMPACTION,
    backwards,
    claudes_tokens,
    parse,
    texts,
    time_of,
    tokens,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from gitguard.model.conversation import TranscriptEntry
    from gitguard.model.transcript import Compactions, Message, StoppedCall
    from gitguard.transcripts.jsonl import Tell

_REJECTED, _RESULT, _QUEUED = b'"user-rejected"', b'"tool_result"', b'"queued_command"'
_AGENT = b'"assistant"'
_NO_MODEL = "<synthetic>"
"""The model of lines that the host itself wrote in the agent's name."""
_MOST_LINES_BACK = 2_000
"""Lines that are searched for a call that never ended: more than any turn has."""
_BEGINNING = 1 << 18
"""Bytes by which a sub-agent's own transcript is known."""
_FOLLOWS = b'"parentUuid"'
_USAGE, _BOUNDARY, _ROLES = b'"usage"', b'"compact_boundary"', (b'"user"', b'"assistant"')


def newest_reading(transcript: Transcript, *, across: bool = False) -> Reading | None:
    """Find the newest usage since the last compaction, from the end backwards."""
    is_side: bool | None = None
    for line in backwards(transcript.path):
        is_marked = not across and _BOUNDARY in line
        if not (is_marked or _USAGE in line):
            continue
        entry = parse(line)
        if entry.get("isSidechain"):
            # Only now, because the file's beginning has to be read for it.
            is_side = is_sub_agents(transcript.path) if is_side is None else is_side
            if not is_side:
                continue
        if is_marked and _is_boundary(entry):
            return _after_compaction(entry)
        if reading := _reading(entry):
            return reading
    return None


def is_sub_agents(path: str) -> bool:
    """Say whether a file is a sub-agent's own transcript: a main conversation begins otherwise."""
    from gitguard.transcripts import jsonl

    is_side = False
    for _, line in jsonl.marked(path, _ROLES, 0, most=_BEGINNING):
        entry = parse(line) if line else {}
        if entry.get("type") in ("user", "assistant"):
            is_side = bool(entry.get("isSidechain"))
            if not is_side:
                return False
    return is_side


def messages(
    transcript: Transcript, tell: Tell | None = None, *, since: int = 0
) -> Iterator[Message]:
    """Yield what was said; the lines of one API message are put together again."""
    from gitguard.transcripts import jsonl

    answer, answer_id = None, None
    by_the_host = _by_the_host(transcript.path)
    # Nobody speaks between the lines of one API message: hold an answer until another id comes.
    for line in jsonl.forwards(transcript.path, since, tell):
        if not any(role in line for role in _ROLES):
            continue
        message, message_id = _message(parse(line), by_the_host)
        if message is None:
            continue
        if answer and answer_id and message_id == answer_id:
            answer = answer.replace(text=f"{answer.text}\n{message.text}")
            continue
        if answer:
            yield answer
        answer, answer_id = message, message_id
    if answer:
        yield answer


def prompts(transcript: Transcript, since: int = 0) -> tuple[Message, ...]:
    """Return what the user said; who goes back to an older line leaves a branch behind.

    Nothing is returned if nobody went back behind an offset.
    """
    from gitguard.transcripts import jsonl
    from gitguard.transcripts.branches import goes_straight_on, prompts_on_branches

    by_the_host = _by_the_host(transcript.path)
    is_own = "isSidechain" not in by_the_host

    def follower_of(text: bytes) -> tuple[str, str, Message | None]:
        line = parse(text) if _FOLLOWS in text else {}
        if line.get("isSidechain") and not is_own:
            return "", "", None
        return str(line.get("uuid") or ""), _followed(line), _message(line, by_the_host)[0]

    if goes_straight_on(transcript.path, since, follower_of):
        return ()
    return prompts_on_branches(map(follower_of, jsonl.forwards(transcript.path)))


def _followed(line: dict[str, Any]) -> str:
    """Return the id of the line that a line follows; a compaction's names it apart."""
    return str(line.get("parentUuid") or line.get("logicalParentUuid") or "")


def stopped_calls(transcript: Transcript, calls: frozenset[str]) -> tuple[StoppedCall, ...]:
    """Return which of these calls of the main conversation the user stopped, the oldest first.

    The host marks their results `user-rejected`, whether the user said no, said what to do instead,
    or pressed Escape, be it while the call ran. What a rule or a hook denied has another mark, and
    what was killed has no such line.
    """
    stopped: dict[str, StoppedCall] = {}
    for number, line in enumerate(backwards(transcript.path)):
        if len(stopped) == len(calls) or number >= _MOST_LINES_BACK:
            break
        if _REJECTED in line:
            for call in _stopped_in(parse(line), calls):
                stopped.setdefault(call.call_id, call)
    return tuple(stopped.values())[::-1]


def ended_calls(transcript: Transcript, calls: frozenset[str]) -> frozenset[str]:
    """Return which of these calls of the main conversation have a result, whatever it is.

    The host writes one also for a call that the user or a rule refused, of which no hook tells.
    """
    ended: set[str] = set()
    for number, line in enumerate(backwards(transcript.path)):
        if len(ended) == len(calls) or number >= _MOST_LINES_BACK:
            break
        if _RESULT in line:
            ended.update(calls.intersection(_results_in(parse(line))))
    return frozenset(ended)


def _results_in(entry: dict[str, Any]) -> list[str]:
    message = entry.get("message")
    content = message.get("content") if isinstance(message, dict) else None
    if entry.get("type") != "user" or entry.get("isSidechain") or not isinstance(content, list):
        return []
    blocks = (block for block in content if isinstance(block, dict))
    return [str(b.get("tool_use_id")) for b in blocks if b.get("type") == "tool_result"]


def queued_prompts(transcript: Transcript) -> list[Message]:
    """Return what the user typed while a turn ran and the host handed to the model, oldest first.

    It stands in no line of the user's own. What a program put into the queue is left out.
    """
    from gitguard.model.transcript import USER, Message
    from gitguard.transcripts.formats.claude_code.lines import words_of_the_user

    queued = []
    for number, line in enumerate(backwards(transcript.path)):
        if number >= _MOST_LINES_BACK:
            break
        attachment = parse(line).get("attachment") if _QUEUED in line else None
        if isinstance(attachment, dict) and attachment.get("type") == "queued_command":
            text, origin = attachment.get("prompt"), attachment.get("origin")
            if isinstance(text, str) and isinstance(origin, dict) and origin.get("kind") == "human":
                queued.append(Message(USER, words_of_the_user(text), time_of(parse(line))))
    return queued[::-1]


def _stopped_in(entry: dict[str, Any], calls: frozenset[str]) -> list[StoppedCall]:
    from gitguard.model.transcript import StoppedCall

    message, words = entry.get("message"), entry.get("userFeedback")
    is_users = entry.get("type") == "user" and entry.get("toolDenialKind") == "user-rejected"
    if not is_users or entry.get("isSidechain") or not isinstance(message, dict):
        return []
    content = message.get("content")
    results = [b for b in content if isinstance(b, dict)] if isinstance(content, list) else []
    ids = [str(b.get("tool_use_id")) for b in results if b.get("type") == "tool_result"]
    feedback = words if isinstance(words, str) else ""
    # As the program itself tells a refusal from a call that was interrupted.
    decision = entry.get("permissionDecision")
    is_refused = isinstance(decision, dict) and decision.get("source") == "user_reject"
    has_run = not (feedback or is_refused or entry.get("toolDenialBeforeRun") is True)
    return [StoppedCall(id_, feedback, time_of(entry), has_run) for id_ in ids if id_ in calls]


def interrupted_at(transcript: Transcript) -> float:
    """Return when the user or an error of the model cut the newest turn off; 0 if a turn followed.

    It is in Unix seconds. The host writes an error down when it has given up trying again. Nothing
    is written of a turn that is cut off before the model began to answer.
    """
    from gitguard.transcripts.formats.claude_code.lines import BY_THE_HOST, INTERRUPTED

    for number, line in enumerate(backwards(transcript.path)):
        if number >= _MOST_LINES_BACK:
            break
        if not any(role in line for role in _ROLES):
            continue
        entry = parse(line)
        role, message = entry.get("type"), entry.get("message")
        if role not in ("user", "assistant") or not isinstance(message, dict):
            continue
        if entry.get("isApiErrorMessage") and not entry.get("isSidechain"):
            return time_of(entry)
        if not any(map(entry.get, BY_THE_HOST)):
            first = next(iter(texts(message.get("content"))), "")
            return time_of(entry) if role == "user" and first.startswith(INTERRUPTED) else 0
    return 0


def last_words_of_host(transcript: Transcript) -> str:
    """Return what the host said last in the agent's name, empty if the agent spoke since.

    Such are errors of the model and spent limits. The host marks their lines, or names a model
    that does not exist.
    """
    for number, line in enumerate(backwards(transcript.path)):
        if number >= _MOST_LINES_BACK:
            break
        entry = parse(line) if _AGENT in line else {}
        message = entry.get("message")
        if entry.get("type") != "assistant" or entry.get("isSidechain"):
            continue
        if not isinstance(message, dict):
            continue
        if entry.get("isApiErrorMessage") or message.get("model") == _NO_MODEL:
            return "\n".join(texts(message.get("content"))).strip()
        return ""
    return ""


def compactions(transcript: Transcript, since: int = 0) -> Compactions:
    """Count the boundaries of the conversation; the cursor is a byte offset."""
    from gitguard.transcripts import jsonl

    is_side: list[bool] = []

    def turning_point(line: bytes) -> tuple[str, str, float]:
        entry = parse(line)
        kind = COMPACTION if _is_boundary(entry) else ""
        if kind and entry.get("isSidechain"):  # which belongs to the conversation of its own file
            is_side[:] = is_side or [is_sub_agents(transcript.path)]
            kind = COMPACTION if is_side[0] else ""
        return kind, str(entry.get("uuid") or ""), time_of(entry)

    return jsonl.count_compactions(transcript.path, since, (_BOUNDARY,), turning_point)


def entries(transcript: Transcript, since: int = 0) -> Iterator[TranscriptEntry]:
    """Yield every line; a position is a byte offset."""
    from gitguard.transcripts import jsonl
    from gitguard.transcripts.formats.claude_code.entries import fields_of, fields_of_own

    is_own = is_sub_agents(transcript.path)
    return jsonl.entries(transcript.path, since, fields_of_own if is_own else fields_of)


def _is_boundary(entry: dict[str, Any]) -> bool:
    return entry.get("type") == "system" and entry.get("subtype") == "compact_boundary"


def _after_compaction(entry: dict[str, Any]) -> Reading | None:
    left = tokens(entry.get("compactMetadata"), ("postTokens",))
    at = time_of(entry)
    return Reading("transcript", at, tokens=left, after_compaction=True) if left and at else None


def _reading(entry: dict[str, Any]) -> Reading | None:
    message, at = entry.get("message"), time_of(entry)
    if entry.get("type") != "assistant" or not at:
        return None
    if not isinstance(message, dict):
        return None
    # What the host says in the agent's name, such as an API error, has a usage of zeros.
    used = claudes_tokens(message.get("usage"))
    model = str(message.get("model", ""))
    return Reading("transcript", at, tokens=used, model=model) if used > 0 else None


def _by_the_host(path: str) -> tuple[str, ...]:
    """Return the marks of lines that neither side of a file's conversation wrote."""
    from gitguard.transcripts.formats.claude_code.lines import BY_THE_HOST

    if not is_sub_agents(path):
        return BY_THE_HOST
    return tuple(mark for mark in BY_THE_HOST if mark != "isSidechain")


def _message(
    entry: dict[str, Any], by_the_host: tuple[str, ...]
) -> tuple[Message | None, str | None]:
    """Return what a line says, and the id of the API message that it is a part of."""
    from gitguard.model.transcript import AGENT, USER, Message
    from gitguard.transcripts.formats.claude_code.lines import words_of_the_user

    message = entry.get("message")
    role = {"user": USER, "assistant": AGENT}.get(str(entry.get("type")))
    if not role or not isinstance(message, dict) or any(map(entry.get, by_the_host)):
        return None, None
    paragraphs = list(texts(message.get("content")))
    if role == USER:
        paragraphs = [words_of_the_user(text) for text in paragraphs]
    paragraphs = [text for text in paragraphs if text.strip()]
    if not paragraphs or message.get("model") == _NO_MODEL:
        return None, None
    message_id = message.get("id") if role == AGENT else None
    return Message(role, "\n".join(paragraphs), time_of(entry)), message_id
