"""What opencode can be advised to set: what a compaction keeps, and whether old output is cleared.

When it compacts cannot be set for most models: `compaction.reserved` counts only for those that
name a limit of their input (1.18.33). `opencode debug config` refuses values of a wrong kind.
"""

from __future__ import annotations

import os

from gitguard.errors import InvalidDocument
from gitguard.hosts import HOSTS
from gitguard.hosts.adviser import AdviserAccess, HostConfiguration, Offer, UndoHelp
from gitguard.hosts.settings_files import (
    CLEARING,
    EXCHANGES_KEPT,
    TOKENS_KEPT,
    after_resuming,
    holder,
    program_of,
    read_layers,
    setting,
    stays_off,
    version_in,
)
from gitguard.model.document_edits import JSON5

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitguard.hosts.base import Ask
    from gitguard.model.host_settings import Figures

NAME, TITLE = "opencode", "opencode"
PROGRAM = HOSTS[NAME].program
UNDO = UndoHelp(
    counts=after_resuming("opencode --continue"),
    health=("opencode debug config",),
    repair="`opencode debug config` names what is wrong",
)
FORMAT = JSON5

_COMPACTION = "compaction."
_NAMES = ("opencode.json", "opencode.jsonc")
_SWITCHES = {
    "OPENCODE_DISABLE_AUTOCOMPACT": "it does not compact by itself",
    "OPENCODE_DISABLE_PRUNE": "old tool output is not cleared",
}
_TRUE = ("1", "true")
"""What the host takes for yes in these (1.18.33)."""
_FEW_CALLS = 50_000
"""Work with so few tool calls that output of this many characters may stay."""


def read_configuration(
    at: AdviserAccess, before: HostConfiguration | None = None
) -> HostConfiguration:
    """Ask for the user's folder, and read all files that opencode does, of which the last count."""
    ask = program_of(at, PROGRAM, TITLE)
    folder = _folder(ask)
    if before is not None:
        _check(ask)
    user_files = tuple(os.path.join(folder, name) for name in _NAMES)
    paths = (*user_files, *_others(at))
    layers = read_layers(at, paths, "compaction", FORMAT)
    present_files = [path for path in user_files if at.read(path) is not None]
    file = holder(layers, paths, _COMPACTION, present_files[-1] if present_files else user_files[0])
    # Asked outside of the project, it has read the user's own file alone.
    by = "opencode debug config" if before is not None and file in user_files else ""
    return HostConfiguration(
        version_in(ask, before),
        file,
        layers.set_values,
        checked_by=by,
        exceptions=tuple(
            f"where `{name}` is set, as here, {consequence}"
            for name, consequence in _SWITCHES.items()
            if at.environment.get(name, "").lower() in _TRUE
        ),
    )


def _others(at: AdviserAccess) -> list[str]:
    """Return the files that count before those in the user's folder, the last most (1.18.33)."""
    file, folder = (at.environment.get(f"OPENCODE_CONFIG{part}", "") for part in ("", "_DIR"))
    project = [at.worktree, os.path.join(at.worktree, ".opencode")] if at.worktree else []
    folders = [*project, os.path.join(at.home, ".opencode"), folder]
    paths = [file, *(os.path.join(folder_path, name) for folder_path in folders for name in _NAMES)]
    return list(filter(os.path.isabs, paths))


def _check(ask: Ask) -> None:
    """Let opencode read what was changed; not before, as it then adds its `$schema` to a file."""
    checked = ask(("debug", "config"))
    if checked.returncode:
        raise InvalidDocument(
            f"a configuration is not valid to opencode: {checked.complaint}",
            "Correct it; nothing was changed",
        )


def _folder(ask: Ask) -> str:
    for line in ask(("debug", "paths")).stdout.splitlines():
        name, _, path = line.partition(" ")
        if name == "config" and os.path.isabs(path.strip()):
            return path.strip()
    raise InvalidDocument(
        "`opencode debug paths` does not say where the configuration is",
        "Run it yourself to see why",
    )


def offer(configuration: HostConfiguration, figures: Figures) -> Offer:
    """Return what a compaction keeps, and the clearing of old output where tools are used much."""
    settings = [
        setting(
            configuration,
            f"{_COMPACTION}tail_turns",
            figures.protect,
            title=EXCHANGES_KEPT,
            practice=f"{figures.protected} word for word beside the summary, at most",
        )
    ]
    if figures.window:
        settings.append(
            setting(
                configuration,
                f"{_COMPACTION}preserve_recent_tokens",
                figures.keep_recent,
                title=TOKENS_KEPT,
                practice=f"at most {figures.keep_recent:,} of {figures.window:,} tokens stay; "
                "fewer leave more room after it",
            )
        )
    if figures.trim_above < _FEW_CALLS:
        practice = "old output of tools leaves the context when a turn ends"
        settings.insert(
            0,
            setting(
                configuration,
                f"{_COMPACTION}prune",
                True,
                title=CLEARING,
                practice=practice,
                default=False,
            ),
        )
    notes = [
        "when to compress follows from the model's limits; `compaction.reserved` counts only for "
        "models that name one of their input, and is left alone"
    ]
    if not figures.window:
        notes.append("how much is kept depends on the window; name it with `--window`")
    if configuration.set_values.get(f"{_COMPACTION}auto") == "false":
        notes.append(stays_off(f"{_COMPACTION}auto"))
    return Offer(tuple(settings), (*configuration.exceptions, *notes), (UNDO.counts,))
