"""Takes out of the user's words what others put into them.

A host adds open files, reminders and notifications; gitguard's own lines come back where a host
stores them with the prompt; and what the user quotes is somebody else's.
"""

from __future__ import annotations

import re

from gitguard.model.text import late_pattern, one_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

_LONGEST_ATTRIBUTES = 300
"""Characters; a bound keeps the search for the end of a tag short."""
_LONGEST_COMMAND = 80
"""Characters in which the name of a slash command ends."""
_LINES = (
    r"\[gitguard: [^\n]*\](?=\s|$)"
    r"|\[Context: (?:unknown|\d+ ?% \|)[^\n]*"
    r"|STATUS:(?:MISSING_STATE|HALT_CONTEXT_LIMIT|COMPLETE)\n[^\n]*"
)
_OURS = re.compile(rf"\s*(?:<gitguard-resume\b[^>]*>.*?</gitguard-resume>|{_LINES})", re.DOTALL)
"""What gitguard hands to an agent with a prompt, before the user's words."""
_BLOCK_UPTO = r"<gitguard-resume\b(?:(?!<gitguard-resume\b).)*?"
_OURS_QUOTED = late_pattern(
    rf"(?:^|(?<=: ))(?:{_BLOCK_UPTO}</gitguard-resume>|{_BLOCK_UPTO}\.\.\.$|{_LINES})\s*",
    re.DOTALL | re.MULTILINE,
)
"""The same in a host's text, which may have put a label before it and cut it."""
_QUOTED_LINE = re.compile(r"(?:^|\n)[ \t]{0,3}>[^\n]*(?:\n[ \t]{0,3}>[^\n]*)*")
QUOTED = re.compile(r"\[(?:quoted|pasted): [^\]]*\]|```.*?(?:```|$)", re.DOTALL)
"""What is somebody else's in a prompt of one line."""


def prompt_line(text: str) -> str:
    """Return a prompt in one line, without what gitguard put before it, and with quotations marked.

    Lines that begin with `>` are quotations: `[quoted: …]` stands for them.
    """
    while (ours := _OURS.match(text)) is not None:
        text = text[ours.end() :]
    return one_line(_QUOTED_LINE.sub(_marked, text) if ">" in text else text)


def without_ours(text: str) -> str:
    """Return a host's text without what gitguard had put before prompts that it quotes."""
    return _OURS_QUOTED.sub("", text)


def _marked(quotation: re.Match[str]) -> str:
    lines = (line.strip().removeprefix(">").strip() for line in quotation[0].split("\n"))
    words = " ".join(filter(None, lines)).replace("]", ")")
    return f"\n[quoted: {words}]" if words else "\n"


def command_in(text: str) -> str:
    """Return the name of the slash command that a prompt is, empty if it is none."""
    words = text[:_LONGEST_COMMAND].split(None, 1)
    return words[0][1:] if words and words[0].startswith("/") else ""


def outside_of(text: str, tags: Iterable[str], beginnings: tuple[str, ...] = ()) -> str:
    """Return a text without what stands between tags, or nothing if the rest begins as a host's.

    A file between such tags may hold the closing tag as well, and words behind it. So all from the
    first opening tag to the last closing one counts as the host's. Tags and beginnings count in
    capital letters too, and tags with attributes.
    """
    if "<" in text:
        lowered = text.lower()
        for tag in tags:
            if tag in lowered:
                text = _outside(text, tag)
    marks = tuple(beginning.lower().rstrip(">") for beginning in beginnings)
    return "" if text.lstrip().lower().startswith(marks) else text


def _outside(text: str, tag: str) -> str:
    attributes = rf"(?:\s[^>]{{0,{_LONGEST_ATTRIBUTES}}})?"
    opening = re.search(rf"<{tag}{attributes}>", text, re.IGNORECASE)
    if opening is None:
        return text
    closings = [*re.compile(rf"</{tag}\s*>", re.IGNORECASE).finditer(text, opening.end())]
    return text[: opening.start()] + text[closings[-1].end() :] if closings else text
