"""Which files of instructions for agents get our section; nothing is written.

A host loads one of the two files that most hosts know, so each that a repository has gets the
section. One that is a link to the other, or imports it, gets none: an agent would read the section
twice.
"""

from __future__ import annotations

import os
import re

from gitguard.errors import GitguardError, InvalidDocument
from gitguard.hosts.context_files import INSTRUCTIONS
from gitguard.model.value import Value
from gitguard.settings.instructions_section import split, with_section, without_section
from gitguard.store.disk.changes import FileEdit, content

_IMPORTS_FIRST = re.compile(rf"^@(?:\./)?{re.escape(INSTRUCTIONS[0])}\s*$", re.MULTILINE)


class InstructionsPlan(Value):
    """Changes to files of instructions, and sentences about what is left alone."""

    changes: tuple[FileEdit, ...]
    notes: tuple[str, ...]


def plan_sections(root: str, text: str) -> InstructionsPlan:
    """Plan to put a text into the files of instructions at root, once.

    Raises `InvalidDocument` for a file that is a link to elsewhere, or cannot be read.
    """
    targets = _targets(root)
    changes, notes = [], []
    for name in INSTRUCTIONS:
        if _linked_name(root, name):
            notes.append(f"`{name}` is a link to `{_linked_name(root, name)}`")
            continue
        before = content(root, name)
        if name in targets:
            after: bytes | None = with_section(before or b"", name, text)
        else:
            after = None if before is None else without_section(before, name)
        if before is not None and split(before, name).is_edited:
            notes.append(f"the section in `{name}` was edited, so gitguard leaves it unchanged")
        if before != after:
            changes.append(_change(root, name, before, after))
    return InstructionsPlan(tuple(changes), tuple(notes))


def plan_sections_removal(root: str) -> InstructionsPlan:
    """Plan to take our sections out; nothing was ever written through a link."""
    changes, notes = [], []
    for name in names_with_section(root):
        before = content(root, name)
        assert before is not None
        if split(before, name).is_edited:
            notes.append(
                f"the section in `{name}` was edited, so it is kept; delete it with an editor"
            )
            continue
        changes.append(_change(root, name, before, without_section(before, name)))
    return InstructionsPlan(tuple(changes), tuple(notes))


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


def _change(root: str, name: str, before: bytes | None, after: bytes | None) -> FileEdit:
    path = os.path.join(root, name)
    if before is not None and os.stat(path).st_nlink > 1:
        raise InvalidDocument(
            f"`{path}` is a hard link, and a change would not reach its other name",
            "Replace it by a copy; nothing was changed",
        )
    change = FileEdit(path, name, before, after)
    change.refuse_unwritable()
    return change
