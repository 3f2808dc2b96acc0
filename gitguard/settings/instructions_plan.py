"""Which files of instructions for agents get our section; nothing is written.

A host loads one of the two files that most hosts know, so each that a repository has gets the
section. One that is a link to the other, or imports it, gets none: an agent would read the section
twice.
"""

from __future__ import annotations

import os
import re

from gitguard.errors import GitguardError
from gitguard.hosts.base import SECTION, WantedFile
from gitguard.hosts.context_files import INSTRUCTIONS
from gitguard.settings.instructions_section import split
from gitguard.store.disk.changes import content

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitguard.settings.folder_edits import FolderEdits

_IMPORTS_FIRST = re.compile(rf"^@(?:\./)?{re.escape(INSTRUCTIONS[0])}\s*$", re.MULTILINE)


def plan_sections(edits: FolderEdits, text: str) -> None:
    """Plan to put a text into the files of instructions at a worktree's root, once.

    Raises `InvalidDocument` for a file that is a link to elsewhere, or cannot be read.
    """
    root = edits.root
    targets = _targets(root)
    for name in INSTRUCTIONS:
        if _linked_name(root, name):
            edits.notes.append(f"`{name}` is a link to `{_linked_name(root, name)}`")
        elif name in targets:
            edits.put(WantedFile(name, SECTION, text.encode()))
        else:
            edits.take_out(name, SECTION)


def plan_sections_removal(edits: FolderEdits) -> None:
    """Plan to take our sections out; nothing was ever written through a link."""
    for name in names_with_section(edits.root):
        edits.take_out(name, SECTION)


def names_with_section(root: str) -> tuple[str, ...]:
    """Return the files at root that hold our section, none that cannot be read."""
    return tuple(name for name in INSTRUCTIONS if _has_section(root, name))


def sections_left(root: str) -> tuple[str, ...]:
    """Say which files still tell agents about gitguard, and how to change that."""
    names = ", ".join(f"`{name}`" for name in names_with_section(root))
    if not names:
        return ()
    way = "remove it with `gitguard uninstall --host none`"
    return (f"a section about gitguard is kept in {names}; {way}",)


def _has_section(root: str, name: str) -> bool:
    try:
        return bool(split(content(root, name) or b"", name).section)
    except GitguardError:
        return False


def _targets(root: str) -> tuple[str, ...]:
    first, second = INSTRUCTIONS
    if _linked_name(root, first):
        return (second,)
    if _linked_name(root, second) or _imports_first(content(root, second)):
        return (first,)
    present = tuple(name for name in INSTRUCTIONS if content(root, name) is not None)
    return present or (first,)


def _linked_name(root: str, name: str) -> str:
    """Return the other file where one is a link to it, as people keep one text for two hosts."""
    path = os.path.join(root, name)
    if not os.path.islink(path):
        return ""
    target = os.path.normpath(os.readlink(path))
    is_other = target in INSTRUCTIONS and target != name
    return target if is_other and content(root, target) is not None else ""


def _imports_first(data: bytes | None) -> bool:
    return _IMPORTS_FIRST.search((data or b"").decode("utf-8", "replace")) is not None
