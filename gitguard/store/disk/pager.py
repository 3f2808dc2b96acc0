"""The program through which long output goes on a terminal, as git does it."""

from __future__ import annotations

import os
from contextlib import suppress

from gitguard.store.disk import child
from gitguard.store.disk.program import path_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

NAMES = ("GIT_PAGER", "PAGER")
"""Variables that name the pager, the first that is set counts."""
_DEFAULT = "less"
_SETTINGS = {"LESS": "FRX", "LV": "-c"}
"""What git sets for pagers unless the user has set it: one screen is printed and left there."""
_CANNOT_RUN = (126, 127)
"""How a shell ends that cannot run a command."""


def pager_command(environment: Mapping[str, str], worktree: str) -> str | list[str]:
    """Return the user's pager, empty for none.

    Only the environment names it: a repository's configuration could name any program. The default
    is looked for on PATH, but not in the worktree.
    """
    for name in NAMES:
        if name in environment:
            command = environment[name].strip()
            return "" if command == "cat" else command
    path = path_of(_DEFAULT, environment, worktree)
    return [path] if path else ""


def page(text: bytes, environment: Mapping[str, str], worktree: str) -> bool:
    """Show a text in the user's pager and wait until they leave it; say whether it ran."""
    command = pager_command(environment, worktree)
    if not command:
        return False
    try:
        # In the root folder, where no relative entry of PATH leads into the repository.
        pager = child.start_on_terminal(
            command, environment={**_SETTINGS, **environment}, folder=os.path.abspath(os.sep)
        )
    except OSError:
        return False
    assert pager.stdin is not None
    with suppress(BrokenPipeError), pager.stdin:
        pager.stdin.write(text)
    return pager.wait() not in _CANNOT_RUN
