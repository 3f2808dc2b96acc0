"""What a part of a conversation tells without a model: who said what, what failed, which files.

Nothing here depends on words, or on whose tools they are: a file is what a call names as its path.
Secrets are taken out before anything is cut, because half a secret matches no rule.
"""

from __future__ import annotations

import os
import re

from gitguard.model.conversation import AGENT, CALL, MESSAGE, RESULT, TEXT, USER
from gitguard.model.text import one_line, shorten
from gitguard.model.thread import KEY_GIST
from gitguard.model.value import Value
from gitguard.model.words import gist

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from gitguard.model.conversation import Block, Entry
    from gitguard.model.redaction.redactor import Redactor
    from gitguard.transcripts.fitting.chunks import Unit

MOST_FAILURES, FAILURE_LENGTH = 8, 240
_LOOKED_AT = 10_000
_PARAMETERS = 100
_PATHS = ("path", "file_path", "filePath", "notebook_path")
_READS = frozenset({"read", "readfile", "view", "cat", "notebookread"})
_WRITES = frozenset(
    {"write", "writefile", "edit", "editfile", "multiedit", "notebookedit", "create", "replace"}
)
_PATCHED = re.compile(r"^\*\*\* (?:Add|Update|Delete) File: (.+)$", re.MULTILINE)


class Files(Value):
    """The files that tools touched, each once; what was changed is not listed as read."""

    read: tuple[str, ...] = ()
    modified: tuple[str, ...] = ()


def entries_of(units: Iterable[Unit]) -> Iterator[Entry]:
    """Yield the messages in units."""
    return (entry for unit in units for entry in unit.entries if entry.kind == MESSAGE)


def said_in(units: Iterable[Unit], redactor: Redactor) -> str:
    """Return how each request and the last answer to it began, a line each."""
    lines: list[str] = []
    answer = ""
    for entry in entries_of(units):
        text = "\n".join(block.text for block in entry.blocks if block.kind == TEXT)
        if entry.by_host or entry.role not in (USER, AGENT) or not text.strip():
            continue
        begins = gist(redactor.shorten(text, _LOOKED_AT), KEY_GIST)
        if entry.role == AGENT:
            answer = f"- Agent: {begins}"
            continue
        lines += [answer] * bool(answer) + [f"- User: {begins}"]
        answer = ""
    return "\n".join(lines + [answer] * bool(answer))


def failures_in(units: Iterable[Unit], redactor: Redactor) -> tuple[tuple[str, ...], int]:
    """Return the newest calls that failed, a line each, and how many there were in all."""
    calls: dict[str, Block] = {}
    failed: list[str] = []
    for entry in entries_of(units):
        for block in entry.blocks:
            if block.kind == CALL:
                calls[block.id] = block
            elif block.kind == RESULT and block.is_error:
                failed.append(_failure(block, calls.get(block.id), redactor))
    return tuple(failed[-MOST_FAILURES:]), len(failed)


def _failure(result: Block, call: Block | None, redactor: Redactor) -> str:
    name = result.name or (call.name if call else "") or "tool"
    arguments = redactor.shorten(one_line(parameters(call)), _PARAMETERS) if call else ""
    outcome = redactor.shorten(one_line(result.text), FAILURE_LENGTH) or "no output"
    return shorten(f"{name}{f' {arguments}' if arguments else ''}: {outcome}", FAILURE_LENGTH)


def parameters(call: Block) -> str:
    """Return what was given to a call, as the words of a line."""
    arguments = call.given or {}
    scalars = (value for value in arguments.values() if isinstance(value, str | int | float))
    return ", ".join(str(value) for value in scalars)


def files_in(units: Iterable[Unit], folder: str, redactor: Redactor) -> Files:
    """Return the files that calls name, relative to a folder where they lie in it."""
    read: dict[str, None] = {}
    modified: dict[str, None] = {}
    for entry in entries_of(units):
        for block in entry.blocks:
            if block.kind == CALL:
                reads, writes = _touched(block)
                read.update(dict.fromkeys(reads))
                modified.update(dict.fromkeys(writes))

    def shown(names: Iterable[str]) -> tuple[str, ...]:
        within = (_relative(one_line(name), folder) for name in names)
        return tuple(dict.fromkeys(redactor.text(name) for name in within if name))

    changed = shown(modified)
    return Files(tuple(name for name in shown(read) if name not in changed), changed)


def _touched(call: Block) -> tuple[list[str], list[str]]:
    arguments = call.given or {}
    paths = [arguments[key] for key in _PATHS if isinstance(arguments.get(key), str)]
    name = call.name.lower().replace("_", "").replace("-", "")
    if name in _READS:
        return paths, []
    if name in _WRITES:
        return [], paths
    patches = [_PATCHED.findall(text) for text in arguments.values() if isinstance(text, str)]
    return [], [path for patch_paths in patches for path in patch_paths]


def _relative(path: str, folder: str) -> str:
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
