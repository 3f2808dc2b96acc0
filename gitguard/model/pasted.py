"""Shortens consoles and logs that a user pasted into a prompt, told by their shape alone."""

from __future__ import annotations

from gitguard.model.text import late_pattern, one_line, shorten

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

_READ = 1 << 16
"""Characters of a prompt in which pastes are looked for."""
_MOST = 200
"""Characters that stay of a paste."""
_FEWEST_LINES = 3
"""Lines of output that make a paste."""
_COMMAND = late_pattern(
    r"[ \t]*(?:[$%] |>>> |PS [A-Z]:[^>\n]{0,80}> "
    r"|(?:\([^)\n]{1,40}\) ?)?[\w.-]{1,40}@[\w.-]{1,60}[: ][^$%#\n]{0,80}[$%#](?: |$))"
    r"(?P<command>.*)"
)
_OUTPUT = late_pattern(
    r"[ \t]*(?:\[?\d{4}-\d\d-\d\d[T ]\d\d:\d\d|\[?\d\d:\d\d:\d\d"
    r"|at [^\n]{1,200}:\d+\)?$|File \"[^\"\n]{1,200}\", line \d+)"
)
"""How lines of logs and of stack traces begin."""
_FENCE = "```"


def without_pastes(text: str) -> str:
    """Return a prompt in which `[pasted: …]` stands for consoles and logs.

    That keeps the first command and the last line of the output. What is not mostly pasted stays as
    it is.
    """
    head, tail = text[:_READ], text[_READ:]
    lines = head.split("\n")
    spans = _spans(lines)
    pasted = sum(len(line) for begin, end in spans for line in lines[begin:end])
    if 2 * pasted <= len(head):
        return text
    parts, upto = [], 0
    for begin, end in spans:
        parts += [*lines[upto:begin], _mark(lines[begin:end])]
        upto = end
    is_open = bool(spans) and upto == len(lines)
    return "\n".join(filter(None, [*parts, *lines[upto:]])) + ("" if is_open else tail)


def _spans(lines: Sequence[str]) -> list[tuple[int, int]]:
    """Return where pastes begin and end: from a first line of one up to the next empty line."""
    spans, place = [], 0
    while place < len(lines):
        end = _end(lines, place)
        if end - place >= _FEWEST_LINES:
            spans.append((place, end))
        place = max(end, place + 1)
    return spans


def _end(lines: Sequence[str], begin: int) -> int:
    """Return where a paste ends that begins at a line; there, if none does."""
    is_fenced = lines[begin].lstrip().startswith(_FENCE)
    place = begin + is_fenced
    if is_fenced:
        while place < len(lines) and _FENCE not in lines[place]:
            place += 1
        inside = lines[begin + 1 : place]
        return min(place + 1, len(lines)) if any(map(_is_of_console, inside)) else begin
    if not _is_of_console(lines[begin]):
        return begin
    last = begin
    while place < len(lines) and (lines[place].strip() or _goes_on(lines, place)):
        last = place
        place += 1
    return last + 1


def _goes_on(lines: Sequence[str], place: int) -> bool:
    """Say whether the console goes on behind an empty line."""
    return place + 1 < len(lines) and _is_of_console(lines[place + 1])


def _is_of_console(line: str) -> bool:
    return bool(_COMMAND.match(line) or _OUTPUT.match(line))


def _mark(lines: Sequence[str]) -> str:
    """Return what stands for a paste: its first command and its last line."""
    filled_lines = [line for line in lines if line.strip(" \t\r`")]
    matches = filter(None, map(_COMMAND.match, filled_lines))
    command = next((m["command"] for m in matches if m["command"].strip()), "")
    outputs = [line for line in filled_lines if not _COMMAND.match(line)]
    shown = [one_line(text) for text in (command, *outputs[-1:]) if text.strip()]
    words = " … ".join(shorten(text, _MOST // 2) for text in shown)
    return f"[pasted: {words.replace(']', ')')}]"
