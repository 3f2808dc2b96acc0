"""What Claude Code can be advised to set: when it compacts, and nothing else is known to fit.

It compacts before the next request once min(setting, window) - 33,000 tokens are used, or fewer
than 33,000 where answers may be shorter than usual (measured with 2.1.330). Its settings are plain
JSON, and no command of its own changes them.

Variables in the settings' `env` count before those around it. A running conversation takes what is
set there, but keeps what is taken out again (both tried with 2.1.330).
"""

from __future__ import annotations

import json
import math
import os
from contextlib import suppress

from gitguard.errors import InvalidDocument
from gitguard.hosts import HOSTS
from gitguard.hosts.adviser import AdviserAccess, HostConfiguration, Offer, UndoHelp
from gitguard.hosts.claude_code.installing import PERSONAL, SHARED, USER
from gitguard.hosts.settings_files import (
    NO_WINDOW,
    WHEN_TO_COMPRESS,
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
    from collections.abc import Callable, Mapping
    from typing import Any

    from gitguard.model.host_settings import Figures

NAME, TITLE = "claude-code", "Claude Code"
PROGRAM = HOSTS[NAME].program
UNDO = UndoHelp(
    counts="a running conversation picks up the change once you end and resume it, or earlier "
    "(`claude --continue`)",
    health=("claude doctor",),
    repair="`claude doctor` says what is wrong with settings",
)
FORMAT = JSON

_KEY = "env.CLAUDE_CODE_AUTO_COMPACT_WINDOW"
_BESIDES_THE_ANSWER = 13_000
"""How far below the setting it compacts, in tokens, besides what it keeps for an answer."""
_MOST_FOR_ANSWER = 20_000
_LEAST = 100_000
"""The host takes no smaller setting."""
_ANSWER = "env.CLAUDE_CODE_MAX_OUTPUT_TOKENS"
_OFF_BY_VARIABLE = ("env.DISABLE_COMPACT", "env.DISABLE_AUTO_COMPACT")
_ENABLED = "autoCompactEnabled"
_PERCENT = "env.CLAUDE_AUTOCOMPACT_PCT_OVERRIDE"
_MODEL = "env.ANTHROPIC_MODEL"
"""It goes before the `model` of settings (2.1.330)."""
_TRUE = ("1", "true", "yes", "on")


def read_configuration(
    at: AdviserAccess, before: HostConfiguration | None = None
) -> HostConfiguration:
    """Read the user's, the project's and the personal settings, of which the last count."""
    ask = program_of(at, PROGRAM, TITLE)
    named = at.environment.get("CLAUDE_CONFIG_DIR", "")
    user_file = os.path.join(named, "settings.json") if named else os.path.join(at.home, USER)
    paths = (user_file, *in_project(at, SHARED), *in_project(at, PERSONAL))
    layers = read_layers(at, paths, "env", FORMAT)
    set_values = {
        **_variables(at.environment.get),
        **_in_the_hosts_own_file(at, os.path.join(named or at.home, ".claude.json")),
        **layers.set_values,
    }
    model = _text_of(set_values, _MODEL) or _text_of(set_values, "model")
    version = version_in(ask, before)
    return HostConfiguration(version, paths[-1], set_values, model=model)


def _variables(value_of: Callable[[str], Any]) -> dict[str, str]:
    """Return the variables that decide whether and where it compacts, as settings name them."""
    names = (*_OFF_BY_VARIABLE, _PERCENT, _ANSWER, _MODEL)
    values = {name: value_of(_named(name)) for name in names}
    return {name: json.dumps(value) for name, value in values.items() if value is not None}


def _in_the_hosts_own_file(at: AdviserAccess, path: str) -> dict[str, str]:
    """Return the settings that older versions kept in a file of the host's own, and that count."""
    with suppress(InvalidDocument, ValueError, AttributeError, RecursionError):
        document = json.loads(at.read(path) or b"{}")
        off = {_ENABLED: "false"} if document.get(_ENABLED) is False else {}
        return {**_variables((document.get("env") or {}).get), **off}
    return {}


def offer(configuration: HostConfiguration, figures: Figures) -> Offer:
    """Return when to compact; everything else has no setting."""
    notes = ["clearing old tool output has no setting in Claude Code"]
    switch = _switched_off_by(configuration.set_values)
    if switch:
        return Offer((), (stays_off(switch), *notes))
    if not figures.window:
        return Offer((), (NO_WINDOW, *notes))
    below = _BESIDES_THE_ANSWER + _for_answer(configuration.set_values)
    if figures.window < _LEAST or below > max(figures.free, figures.window // 4):
        return Offer((), (_too_small(figures, below), *notes))
    # Rounded up to whole thousands, as people write the setting; down would free too much.
    window_for_trigger = math.ceil((figures.window - figures.free + below) / 1000) * 1000
    value = max(min(window_for_trigger, figures.window), _LEAST)
    at = value - below
    why = figures.because if value <= window_for_trigger else "; the host takes no smaller setting"
    lowered = _lowered_to(configuration.set_values, value)
    if 0 < lowered < at:
        at, why = lowered, f"; that early by `{_named(_PERCENT)}`, which stays"
    practice = (
        f"Claude Code compacts before the next request once {at:,} of {figures.window:,} tokens "
        f"({at / figures.window:.0%}) are used{why}"
    )
    others = (
        UNDO.counts,
        "for a model with another window, the same number is another share of it",
    )
    trigger = setting(
        configuration,
        _KEY,
        str(value),
        title=WHEN_TO_COMPRESS,
        practice=practice,
        default=str(figures.window),
    )
    return Offer((trigger,), tuple(notes), others)


def _switched_off_by(set_values: Mapping[str, str]) -> str:
    """Return what keeps it from compacting by itself, empty where nothing does."""
    for name in _OFF_BY_VARIABLE:
        if _text_of(set_values, name).lower() in _TRUE:
            return _named(name)
    return _ENABLED if set_values.get(_ENABLED) == "false" else ""


def _named(key: str) -> str:
    return key.removeprefix("env.")


def _text_of(set_values: Mapping[str, str], key: str) -> str:
    """Return a variable's value as text; in settings it may be a number or a truth value."""
    return set_values.get(key, "").strip('"').strip()


def _for_answer(set_values: Mapping[str, str]) -> int:
    """Return how many tokens of the setting the host keeps for an answer."""
    with suppress(ValueError):
        most = int(_text_of(set_values, _ANSWER))
        return most if 0 < most < _MOST_FOR_ANSWER else _MOST_FOR_ANSWER
    return _MOST_FOR_ANSWER


def _lowered_to(set_values: Mapping[str, str], value: int) -> int:
    """Return the tokens that a percentage of the setting makes, 0 where there is none."""
    with suppress(ValueError):
        percent = float(_text_of(set_values, _PERCENT).rstrip("%"))
        return int((value - _for_answer(set_values)) * percent / 100) if 0 < percent <= 100 else 0
    return 0


def _too_small(figures: Figures, below: int) -> str:
    return (
        f"in a window of {figures.window:,} tokens no value fits: the least is {_LEAST:,}, it "
        f"compacts {below:,} below, and {figures.free:,} are to stay free"
    )
