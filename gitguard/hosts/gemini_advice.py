"""What Gemini CLI can be advised to set: from which share of the window on it compresses.

The window is compiled in and the same for its models: 1,048,576 tokens (0.61.0; Gemma apart). The
program is not asked for its version: at every start it may write settings with old names anew.
"""

from __future__ import annotations

import os

from gitguard.hosts.advising import Found, Offer, UndoHelp
from gitguard.hosts.settings_files import (
    edit,
    holder,
    in_project,
    program_of,
    read_layers,
    setting,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitguard.hosts.advising import Surroundings
    from gitguard.model.host_settings import Figures

NAME, TITLE, PROGRAM = "gemini", "Gemini CLI", "gemini"
UNDO = UndoHelp(
    restart="end the conversation and go on with `gemini --resume`",
    health=("gemini --version",),
    repair="put the backup back as said above; Gemini CLI names the line that it cannot read",
)
__all__ = ["edit"]

_KEY = "model.compressionThreshold"
_WINDOW = 1_048_576
_FILE = ".gemini/settings.json"


def look(at: Surroundings, before: Found | None = None) -> Found:
    """Read the user's and the project's settings, of which the last count."""
    program_of(at, PROGRAM, TITLE)
    paths = (os.path.join(at.home, _FILE), *in_project(at, _FILE))
    layers = read_layers(at, paths)
    file = holder(layers, paths, _KEY, paths[0])
    return Found("", file, layers.standing, _WINDOW)


def offer(found: Found, figures: Figures) -> Offer:
    """Return when to compress; everything else has no setting that is no experiment."""
    share = round(figures.compress_at, 2)
    why = f"; {figures.why_free}" if figures.why_free else ""
    practice = (
        f"Gemini CLI compresses the history from {round(share * figures.window):,} of "
        f"{figures.window:,} tokens on{why}"
    )
    one = setting(found, _KEY, share, "When to compress the conversation", practice, 0.5)
    note = "clearing old tool output is an experiment of Gemini CLI's, and left alone"
    return Offer((one,), (note,), ("it counts after Gemini CLI is started anew",))
