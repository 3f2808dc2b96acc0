"""Which pull requests, issues and the like a shell command created, by what it printed."""

from __future__ import annotations

from gitguard.model.shell.programs import programs_of
from gitguard.model.text import late_pattern

_FORGES = ("gh", "glab", "az", "hub", "tea", "berg", "fj", "bb", "gcli", "jira")
"""Programs that speak to the places where repositories are shared."""
_CREATING = frozenset({"create", "new", "add", "open", "fork", "pull-request"})
_ADDRESS = late_pattern(r"https?://[^\s\"'<>()\[\]{}|\\`,;]{4,400}")
_OF_A_PROGRAM = ("/_apis/", "/api/v")
"""Parts of addresses for programs, which tell a person nothing."""
_MOST = 4


def created_addresses(line: str, output: str) -> tuple[str, ...]:
    """Return the addresses that a shell line printed which created something, the newest last."""
    if "://" not in output or not any(name in line for name in _FORGES):
        return ()
    if not any(_creates(program.name, program.words) for program in programs_of(line)):
        return ()
    addresses = (match[0].rstrip(".:!?*") for match in _ADDRESS.finditer(output))
    own = (a for a in addresses if not any(part in a for part in _OF_A_PROGRAM))
    return tuple(dict.fromkeys(own))[-_MOST:]


def _creates(name: str, words: list[str]) -> bool:
    # What a title or a text says stands behind an option.
    named = [word for word in words[:4] if not word.startswith("-")]
    return name in _FORGES and not _CREATING.isdisjoint(named)
