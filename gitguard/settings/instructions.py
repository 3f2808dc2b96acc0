"""An installation for agents of hosts without hooks: a section in files of instructions for agents.

A host loads one of the two files that most hosts know, so each that a repository has gets the
section. One that is a link to the other, or imports it, gets none: an agent would read the section
twice. The files belong to everybody in the project, so that nothing of them is in a ledger.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from typing import Any

from gitguard.errors import GitguardError
from gitguard.hosts.base import SECTION, HostPlan, InstallOptions, InstallSite, WantedFile
from gitguard.hosts.context_files import INSTRUCTIONS
from gitguard.settings.instructions_section import split, with_section
from gitguard.store.disk.changes import content

_IMPORTS_FIRST = re.compile(rf"^@(?:\./)?{re.escape(INSTRUCTIONS[0])}\s*$", re.MULTILINE)
SKILL = SHARED = ""
SETTINGS: Mapping[str, str] = dict.fromkeys(INSTRUCTIONS, SECTION)
OFFERS: tuple[str, ...] = ()


def user_folder(environment: Mapping[str, str]) -> str:
    """Return nothing: there are no files of the user's."""
    return ""


def is_ours(value: Any) -> bool:
    """Say no: there are no settings."""
    return False


def merge(settings: dict[str, Any], executable: str = "") -> dict[str, Any]:
    """Return settings as they are."""
    return settings


def plan(site: InstallSite, options: InstallOptions) -> HostPlan:
    """Decide which files get the section.

    Raises `InvalidDocument` for a file that is a link to elsewhere, or cannot be read.
    """
    links = {name: target for name in INSTRUCTIONS if (target := _linked_name(site.root, name))}
    targets = _targets(site.root)
    text = site.template("instructions.md").encode()
    return HostPlan(
        tuple(WantedFile(name, SECTION, text) for name in targets),
        tuple(name for name in INSTRUCTIONS if name not in (*links, *targets)),
        notes=(
            *(f"`{name}` is a link to `{target}`" for name, target in links.items()),
            *(note for name in targets if (note := _note_of(site.root, name, text.decode()))),
        ),
    )


def _note_of(root: str, name: str, text: str) -> str:
    """Say what becomes of a section that a file has already; empty where it has none."""
    data = content(root, name) or b""
    parts = split(data, name)
    if parts.is_edited:
        return f"somebody edited the gitguard section in `{name}`, so it stays as it is"
    is_current = bool(parts.section) and with_section(data, name, text) == data
    return f"the gitguard section in `{name}` is up to date" if is_current else ""


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
