"""What a part of a conversation tells without a model: what was said, and which files it touched.

Words are read by the rules of the thread (`state/thread.py`). Whose tools they are does not matter:
a file is what a call names as its path.
Secrets are taken out before anything is cut, because half a secret matches no rule.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator

from gitguard.model.conversation import AGENT, CALL, MESSAGE, TEXT, USER, Block, TranscriptEntry
from gitguard.model.redaction.redactor import Redactor
from gitguard.model.text import shorten
from gitguard.state.answers import findings, newest_of
from gitguard.state.items import REQUEST, SMALL_TALK, Exchange, Origin
from gitguard.state.prompts import question_answered
from gitguard.state.sentences import in_one_line
from gitguard.state.thread import SHORT, read_prompt, said_by_agent, shortened
from gitguard.transcripts.fitting.chunks import Unit

SAID_BY_USER = "- User: "
_LOOKED_AT = 1 << 16
"""Characters of a message that are read."""
_PATHS = ("path", "file_path", "filePath", "notebook_path")
_READS = frozenset({"read", "readfile", "view", "cat", "notebookread"})
_WRITES = frozenset(
    {"write", "writefile", "edit", "editfile", "multiedit", "notebookedit", "create", "replace"}
)
_PATCHED = re.compile(r"^\*\*\* (?:Add|Update|Delete) File: (.+)$", re.MULTILINE)


def entries_of(units: Iterable[Unit]) -> Iterator[TranscriptEntry]:
    """Yield the messages in units."""
    return (entry for unit in units for entry in unit.entries if entry.kind == MESSAGE)


def said_in(units: Iterable[Unit], redactor: Redactor) -> str:
    """Return what each request asks and what the answers to it state, a line each, oldest first.

    The thread's rules decide, as for words that a hook reads in a transcript: small talk tells
    nothing, and only the newest request and answer stand at length.
    """
    exchanges = list(_exchanges_in(units, redactor))
    newest = {exchange.origin.by: place for place, exchange in enumerate(exchanges)}
    lines: dict[str, None] = {}
    for place, exchange in enumerate(exchanges):
        is_newest = place == newest[exchange.origin.by]
        line = _line_of(exchange if is_newest else shortened(exchange))
        lines.update({line: None} if line else {})
    return "\n".join(lines)


def _line_of(exchange: Exchange) -> str:
    if not exchange.text or exchange.kind == SMALL_TALK:
        return ""
    settles = f" (to: {exchange.settles})" if exchange.settles else ""
    who = SAID_BY_USER if exchange.origin.by == USER else "- Agent: "
    return f"{who}{in_one_line(exchange.text)}{settles}"


def _exchanges_in(units: Iterable[Unit], redactor: Redactor) -> Iterator[Exchange]:
    """Yield each request, and what the agent stated before the next one."""
    prompt: Exchange | None = None
    has_worked = True  # the first request is one, whatever follows it
    texts: list[str] = []
    for entry in entries_of(units):
        has_worked = has_worked or any(block.kind == CALL for block in entry.blocks)
        text = "\n".join(block.text for block in entry.blocks if block.kind == TEXT).strip()
        if entry.by_host or entry.role not in (USER, AGENT) or not text:
            continue
        text = (
            redactor.text(text) if len(text) <= _LOOKED_AT else redactor.shorten(text, _LOOKED_AT)
        )
        if entry.role == AGENT:
            texts.append(text)
            continue
        yield from _turn_of(prompt, texts, has_worked=has_worked)
        settles = question_answered(texts[-1] if texts else "", text)
        has_worked = prompt is None
        prompt = read_prompt(text, Origin(USER), settles=settles)
        texts = []
    yield from _turn_of(prompt, texts, has_worked=has_worked)


def _turn_of(prompt: Exchange | None, texts: list[str], *, has_worked: bool) -> Iterator[Exchange]:
    """Yield a prompt and what was stated in its turn; a few words that led to no call are talk."""
    if prompt is not None:
        is_asked = prompt.kind == SMALL_TALK and has_worked
        yield prompt.replace(kind=REQUEST) if is_asked else prompt
    yield from _stated(texts)


def _stated(texts: list[str]) -> Iterator[Exchange]:
    """Yield what an answer concludes, and before it what the agent said while it worked."""
    if before := findings(newest_of(texts[:-1]), SHORT):
        yield said_by_agent(before, Origin(AGENT), ends_turn=False)
    if texts:
        yield said_by_agent(texts[-1], Origin(AGENT))


def parameters(call: Block) -> str:
    """Return what was given to a call, as the words of a line."""
    arguments = call.given or {}
    scalars = (value for value in arguments.values() if isinstance(value, str | int | float))
    return ", ".join(str(value) for value in scalars)


def touched(call: Block) -> tuple[list[str], list[str]]:
    """Return the paths that a call reads, and those that it writes, as it names them."""
    arguments = call.given or {}
    paths = [arguments[key] for key in _PATHS if isinstance(arguments.get(key), str)]
    name = call.name.lower().replace("_", "").replace("-", "")
    if name in _READS:
        return paths, []
    if name in _WRITES:
        return [], paths
    patches = [_PATCHED.findall(text) for text in arguments.values() if isinstance(text, str)]
    return [], [path for patch_paths in patches for path in patch_paths]


def relative(path: str, folder: str) -> str:
    """Return a path from a folder on if it lies in it."""
    inside = folder and path.startswith(folder.rstrip(os.sep) + os.sep)
    return os.path.relpath(path, folder) if inside else path


def rules_in(text: str, section_titles: tuple[str, ...], most: int) -> str:
    """Return the sections of a Markdown text that have these titles, cut to so many characters."""
    titles = {title.casefold() for title in section_titles}
    section_lines: list[str] = []
    level, fenced = 0, False
    for line in text.splitlines():
        depth, title = (0, "") if fenced else _heading(line)
        fenced ^= line.lstrip().startswith(("```", "~~~"))
        if depth and (not level or depth <= level):
            level = depth if title.casefold() in titles else 0
        if level:
            section_lines.append(line)
    return shorten("\n".join(section_lines).strip(), most)


def _heading(line: str) -> tuple[int, str]:
    """Return a heading's level and title; the level is 0 where a line is none."""
    # Anybody may write these lines, and patterns for the end of one take its length squared.
    behind = line.lstrip("#")
    level = len(line) - len(behind)
    if not 1 <= level <= 6 or not behind.startswith((" ", "\t")):
        return 0, ""
    return level, behind.lstrip(" \t").rstrip(" \t#")
