"""A conversation as people read it: on a terminal, or as a page of Markdown."""

from __future__ import annotations

from gitguard.model.codec import encode_json
from gitguard.model.conversation import (
    AGENT,
    BROKEN,
    CALL,
    COMPACTION,
    IMAGE,
    MESSAGE,
    RESULT,
    TEXT,
    THINKING,
    TOOL,
    Block,
    TranscriptEntry,
)
from gitguard.model.text import counted, cut_to, timestamp
from gitguard.transcripts.exporting import selected_entries

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from gitguard.model.events import Transcript
    from gitguard.transcripts.exporting import Selection, Tell

LONGEST = 600
"""Characters shown of a call or a result on a terminal, unless the caller asks for all."""
_MARKS = {CALL: "→", RESULT: "←"}


def terminal_paragraphs(
    transcript: Transcript, selection: Selection, longest: int
) -> Iterator[str]:
    """Yield the conversation for a terminal, one paragraph for each entry.

    Calls and results are cut to longest characters; 0 shows them whole.
    """
    for head, moment, blocks in _spoken(transcript, selection, max):
        paragraphs = [_paragraph(block, longest) for block in blocks]
        heading = [f"── {head}{f'  {moment}' if moment else ''}"] if head else []
        yield "\n".join([*heading, *filter(None, paragraphs), ""])


def markdown(transcript: Transcript, selection: Selection, tell: Tell = max) -> Iterator[str]:
    """Yield the conversation as a page of Markdown, whole."""
    yield f"# Conversation `{transcript.session or transcript.path}` ({transcript.format})\n"
    for head, moment, blocks in _spoken(transcript, selection, tell):
        heading = [f"## {head}{f', {moment}' if moment else ''}\n"] if head else []
        yield "\n".join([*heading, *map(_marked_up, blocks)])


def _spoken(
    transcript: Transcript, selection: Selection, tell: Tell
) -> Iterator[tuple[str, str, list[Block]]]:
    """Yield for each entry who speaks, empty where that is who spoke before, when, and what."""
    before = ""
    for entry in selected_entries(transcript, selection, tell):
        blocks = [block for block in entry.blocks if selection.thinking or block.kind != THINKING]
        if not blocks and entry.kind == MESSAGE:
            continue
        head, moment = _head(entry), timestamp(entry.time) if entry.time else ""
        yield "" if head == before and entry.role in (AGENT, TOOL) else head, moment, blocks
        before = head


def _head(entry: TranscriptEntry) -> str:
    if entry.kind == BROKEN:
        return f"does not parse, at {entry.at:,}: {entry.problem}"
    if entry.kind == COMPACTION:
        return "compaction"
    if entry.kind != MESSAGE:
        return entry.kind
    marks = []
    if entry.by_host:
        marks.append("host")
    if entry.is_aside:
        marks.append("sub-agent")
    if entry.stopped:
        marks.append(entry.stopped)
    # A result has a role of its own, but belongs under the heading of the agent that called.
    role = AGENT if entry.role == TOOL else entry.role
    return f"{role} ({', '.join(marks)})" if marks else role


def _paragraph(block: Block, longest: int) -> str:
    text = _text(block)
    if block.kind in _MARKS:
        text = cut_to(text, longest) if longest else text
        error = " failed:" if block.is_error else ""
        name = f" {block.name}" if block.name else ""
        return f"{_MARKS[block.kind]}{name}{error} {text}"
    return f"({block.kind}) {text}".rstrip() if block.kind != TEXT else text


def _marked_up(block: Block) -> str:
    text = _text(block)
    if block.kind == TEXT:
        return f"{text}\n"
    if block.kind == THINKING:
        quoted = "\n".join(f"> {line}".rstrip() for line in text.split("\n"))
        return f"{quoted}\n"
    if block.kind not in _MARKS:
        return f"*{text}*\n"
    if block.kind == CALL:
        title = "Call"
    else:
        title = "Result, failed" if block.is_error else "Result"
    name = f" `{block.name}`" if block.name else ""
    fence = _fence(text)
    return f"**{title}**{name}\n\n{fence}\n{text}\n{fence}\n"


def _text(block: Block) -> str:
    if block.kind == CALL:
        return "" if block.given is None else encode_json(dict(block.given))
    if block.kind == IMAGE:
        return "image"
    if block.text or block.kind in (TEXT, THINKING, RESULT):
        return block.text
    return counted(block.size, "character")


def _fence(text: str) -> str:
    """Return a fence that is longer than every row of backticks in the text."""
    longest = 2  # a fence has three at least
    row = 0
    for letter in text if "```" in text else "":
        row = row + 1 if letter == "`" else 0
        longest = max(longest, row)
    return "`" * (longest + 1)
