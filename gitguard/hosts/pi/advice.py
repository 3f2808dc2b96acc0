"""What pi can be advised to set: how much stays free, and how much a compaction keeps.

It compacts once more than the window less `compaction.reserveTokens` is used (0.73.1). Its settings
are plain JSON, and no command of its own changes them.
"""

from __future__ import annotations

import os

from gitguard.hosts import HOSTS
from gitguard.hosts.adviser import AdviserAccess, HostConfiguration, Offer, UndoHelp
from gitguard.hosts.settings_files import (
    NO_WINDOW,
    TOKENS_KEPT,
    WHEN_TO_COMPRESS,
    after_resuming,
    holder,
    in_project,
    program_of,
    read_layers,
    setting,
    stays_off,
    version_in,
)
from gitguard.model.document_edits import JSON

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from gitguard.model.host_settings import Figures

NAME, TITLE = "pi", "pi"
PROGRAM = HOSTS[NAME].program
UNDO = UndoHelp(
    counts=after_resuming("pi --continue"),
    health=("pi list",),
    repair="`pi list` names what it cannot read",
)
FORMAT = JSON

_COMPACTION = "compaction."


def read_configuration(
    at: AdviserAccess, before: HostConfiguration | None = None
) -> HostConfiguration:
    """Read the user's settings and models and the project's settings, of which the last count."""
    ask = program_of(at, PROGRAM, TITLE)
    named = at.environment.get("PI_CODING_AGENT_DIR") or "~/.pi/agent"
    folder = at.home + named[1:] if named.startswith("~/") else named
    paths = (os.path.join(folder, "settings.json"), *in_project(at, ".pi/settings.json"))
    layers = read_layers(at, paths, "compaction", FORMAT)
    chosen: dict[str, Any] = {}
    for document in layers.documents:
        chosen.update(document)
    models = read_layers(at, [os.path.join(folder, "models.json")]).documents[0]
    file = holder(layers, paths, _COMPACTION, paths[0])
    model = chosen.get("defaultModel")
    window = _window(models, chosen.get("defaultProvider"), model)
    return HostConfiguration(
        version_in(ask, before),
        file,
        layers.set_values,
        window,
        model=model if isinstance(model, str) else "",
    )


def _window(models: dict[str, Any], provider: object, model: object) -> int:
    """Return the window that the user's own models name, else 0."""
    try:
        listed = models["providers"][provider]["models"]
        return next(
            int(model_entry["contextWindow"])
            for model_entry in listed
            if model_entry["id"] == model
        )
    except (KeyError, TypeError, ValueError, OverflowError, StopIteration):
        return 0


def offer(configuration: HostConfiguration, figures: Figures) -> Offer:
    """Return when to compact and how much then stays; everything else has no setting."""
    notes = ["clearing old tool output has no setting in pi"]
    by_itself = configuration.set_values.get(f"{_COMPACTION}enabled") != "false"
    if not by_itself:
        notes.insert(0, stays_off(f"{_COMPACTION}enabled"))
    if not figures.window:
        return Offer((), (NO_WINDOW, *notes))
    settings = (
        setting(
            configuration,
            f"{_COMPACTION}reserveTokens",
            figures.free,
            title=WHEN_TO_COMPRESS,
            practice=f"pi compacts at about {figures.compress_at:.0%} of the window of "
            f"{figures.window:,} tokens, with {figures.free:,} still free{figures.because}",
            default=16_384,
        ),
        setting(
            configuration,
            f"{_COMPACTION}keepRecentTokens",
            figures.keep_recent,
            title=TOKENS_KEPT,
            practice=f"{figures.keep_recent:,} of {figures.window:,} tokens stay; fewer leave more "
            "room after it",
            default=20_000,
        ),
    )
    return Offer(settings[not by_itself :], tuple(notes), (UNDO.counts,))
