"""What Claude Code can be advised to set: when it compacts, and nothing else is known to fit.

It compacts before the next request once min(setting, window) - 33,000 tokens are used (measured
with 2.1.330). Its settings are plain JSON, and no command of its own changes them.
"""

from __future__ import annotations

import os

from gitguard.hosts.advising import Found, Offer, UndoHelp
from gitguard.hosts.claude_code_settings import PERSONAL, SHARED, USER
from gitguard.hosts.settings_files import (
    NO_WINDOW,
    edit,
    in_project,
    program_of,
    read_layers,
    setting,
    version_in,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitguard.hosts.advising import Surroundings
    from gitguard.model.host_settings import Figures

NAME, TITLE, PROGRAM = "claude-code", "Claude Code", "claude"
UNDO = UndoHelp(
    restart="end the conversation and go on with `claude --continue`",
    health=("claude doctor",),
    repair="put the backup back as said above; `claude doctor` says what is wrong with settings",
)
__all__ = ["edit"]

_KEY = "env.CLAUDE_CODE_AUTO_COMPACT_WINDOW"
_BELOW = 33_000
"""How far below the setting it compacts, in tokens."""
_LEAST = 100_000
"""The host takes no smaller one."""


def look(at: Surroundings, before: Found | None = None) -> Found:
    """Read the user's, the project's and the personal settings, of which the last count."""
    ask = program_of(at, PROGRAM, TITLE)
    own = os.path.join(at.home, USER)
    paths = (own, *in_project(at, SHARED), *in_project(at, PERSONAL))
    layers = read_layers(at, paths, strict=True)
    model = next((one["model"] for one in reversed(layers.documents) if "model" in one), "")
    file = paths[-1]
    return Found(
        before.version if before else version_in(ask),
        file,
        layers.standing,
        model=model if isinstance(model, str) else "",
    )


def offer(found: Found, figures: Figures) -> Offer:
    """Return when to compact; everything else has no setting."""
    notes = ["clearing old tool output has no setting in Claude Code"]
    if found.standing.get("autoCompactEnabled") == "false":
        notes.append("it does not compact by itself (`autoCompactEnabled`), and that stays so")
    if not figures.window:
        return Offer((), (NO_WINDOW, *notes))
    if figures.window < _LEAST:
        small = (
            f"no setting counts in a window of {figures.window:,} tokens: the least is {_LEAST:,}"
        )
        return Offer((), (small, *notes))
    wanted = figures.window - figures.free + _BELOW
    value = max(min(round(wanted, -3), figures.window), _LEAST)
    at = value - _BELOW
    why = f"; {figures.why_free}" if figures.why_free else ""
    practice = (
        f"Claude Code compacts before the next request once {at:,} of {figures.window:,} tokens "
        f"({at / figures.window:.0%}) are used{why}"
    )
    title = "When to compress the conversation"
    others = (
        "with another model the same number means another share of its window",
        "conversations that begin from now on take it",
    )
    return Offer((setting(found, _KEY, str(value), title, practice),), tuple(notes), others[::-1])
