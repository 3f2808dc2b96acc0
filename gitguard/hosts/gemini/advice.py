"""What Gemini CLI can be advised to set: from which share of the window on it compresses.

The windows are compiled in (0.61.0), and the share is one of those. The program is not asked for
its version: at every start it may write settings with old names anew.
"""

from __future__ import annotations

import json
import os

from gitguard.hosts import HOSTS
from gitguard.hosts.adviser import AdviserAccess, HostConfiguration, Offer, UndoHelp
from gitguard.hosts.settings_files import (
    WHEN_TO_COMPRESS,
    after_resuming,
    holder,
    in_project,
    program_of,
    read_layers,
    setting,
)
from gitguard.model.document_edits import JSONC

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitguard.model.host_settings import Figures

NAME, TITLE = "gemini", "Gemini CLI"
PROGRAM = HOSTS[NAME].program
UNDO = UndoHelp(
    counts=after_resuming("gemini --resume"),
    health=("gemini --version",),
    repair="`gemini --version` names what it cannot read",
)
FORMAT = JSONC

_KEY = "model.compressionThreshold"
_WINDOW = 1_048_576
_OTHER_WINDOWS = {"gemma-4-31b-it": 256_000, "gemma-4-26b-a4b-it": 256_000}
_FILE = ".gemini/settings.json"


def read_configuration(
    at: AdviserAccess, before: HostConfiguration | None = None
) -> HostConfiguration:
    """Read the user's and the project's settings, of which the last count."""
    program_of(at, PROGRAM, TITLE)
    home = at.environment.get("GEMINI_CLI_HOME") or at.home
    paths = (os.path.join(home, _FILE), *in_project(at, _FILE))
    layers = read_layers(at, paths, "model", FORMAT)
    file = holder(layers, paths, _KEY, paths[0])
    model = json.loads(layers.set_values.get("model.name", '""'))
    return HostConfiguration("", file, layers.set_values, _OTHER_WINDOWS.get(str(model), _WINDOW))


def offer(configuration: HostConfiguration, figures: Figures) -> Offer:
    """Return when to compress; everything else has no setting that is no experiment."""
    share = round(figures.compress_at, 2)
    practice = (
        f"Gemini CLI compresses the history once {round(share * figures.window):,} of "
        f"{figures.window:,} tokens are used{figures.because}"
    )
    compression = setting(
        configuration, _KEY, share, title=WHEN_TO_COMPRESS, practice=practice, default=0.5
    )
    note = (
        "Gemini CLI's setting for clearing old tool output is experimental, so gitguard leaves it "
        "alone"
    )
    return Offer((compression,), (note,), (UNDO.counts,))
