"""What OpenClaw can be advised to set, by version.

Four settings exist up to 2026.7; from 2026.8 on a file with one of three of them is refused whole
(2026.3.13 and 2026.9.6 tried, 2026.7.1 and 2026.8.2 by their schemas). None of these versions lets
an agent have `compaction` or `contextPruning` of its own.
"""

from __future__ import annotations

import json

from gitguard.errors import InvalidDocument
from gitguard.hosts.adviser import AdviserAccess, HostConfiguration, Offer, OwnBackup, UndoHelp
from gitguard.hosts.openclaw.installing import (
    PROGRAM,
    is_unknown,
    json_in,
    read_command,
    value_of,
    version_of,
    window_of,
    write_command,
)
from gitguard.hosts.settings_files import (
    CLEARING,
    EXCHANGES_KEPT,
    NO_WINDOW,
    TOKENS_KEPT,
    WHEN_TO_COMPRESS,
    flat,
    program_of,
    setting,
    stays_off,
)
from gitguard.model.value import Value
from gitguard.store.disk import json5_text
from gitguard.store.disk.settings_text import text_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from gitguard.hosts.base import Ask
    from gitguard.model.host_settings import Figures, Setting
    from gitguard.store.disk.program import ProgramOutcome

NAME, TITLE = "openclaw", "OpenClaw"
UNDO = UndoHelp(
    counts="a running Gateway picks up the change by itself from the next turn on; only where "
    "`gateway.reload.mode` is `off` does it need `openclaw gateway restart`, which restarts the "
    "Gateway and nothing else",
    health=("openclaw config validate", "openclaw gateway status"),
    repair="then run `openclaw doctor`; `openclaw logs` and `openclaw gateway run` say why a "
    "Gateway does not come up",
    # 2026.9.6 takes it for a file without `meta`, without the `gateway.mode` it had, or less than
    # half as long as the last it knows, when it reads it to work with it, as a Gateway does.
    own_backup=OwnBackup(".bak", ("models", "list", "--json")),
)
__all__ = ["is_unknown", "write_command"]

_INCLUDE = "$include"
_AGENTS = "agents"
_DEFAULTS = f"{_AGENTS}.defaults"
_CAP = f"{_DEFAULTS}.contextTokens"
_COMPACTION = f"{_DEFAULTS}.compaction"
_FLOOR = f"{_COMPACTION}.reserveTokensFloor"
_RESERVE = f"{_COMPACTION}.reserveTokens"
_PRUNING = f"{_DEFAULTS}.contextPruning"
_NEWER = (2026, 8)
"""From this version on three of the four settings are gone."""
_BUILT_IN_RESERVE = 20_000
_BESIDES_THE_FLOOR = 16_384
"""Tokens that older versions keep free where `reserveTokens` is not set: the larger one counts."""
_ANTHROPIC_ONLY = "this version clears tool output for models of Anthropic alone"
_BY_THE_SERVER = (
    "with an API key of Anthropic's own, their server clears, at about 30% of the window and not "
    "by the time that has passed"
)


def read_configuration(
    at: AdviserAccess, before: HostConfiguration | None = None
) -> HostConfiguration:
    """Ask the host for version, file, settings in force, and the default model's window."""
    ask = program_of(at, PROGRAM, TITLE)
    version = before.version if before else _version(ask)
    file = _file(ask)
    unfit = _why_unfit(file, at.read(file))
    agents = json.loads(value_of(ask(read_command(_AGENTS))) or "{}")
    set_values = dict(flat(agents.get("defaults", {}), _DEFAULTS))
    by = f"{PROGRAM} config validate"
    configuration = HostConfiguration(
        version, file, set_values, window=0, checked_by=by, unfit=unfit
    )
    if before:
        return configuration.replace(window=before.window, exceptions=before.exceptions)
    models = ask(("models", "list", "--json"))
    window = _capped(window_of(models), json.loads(set_values.get(_CAP, "0")))
    exceptions = _exceptions(agents, models, window)
    if models.returncode:
        failed = f"the windows of models are not known, as `{PROGRAM} models list` failed"
        exceptions = (f"{failed}: {models.complaint}", *exceptions)
    return configuration.replace(window=window, exceptions=exceptions)


def _why_unfit(file: str, data: bytes | None) -> str:
    """Say why a change would be made elsewhere, or nobody knows where; empty where it is here.

    The host's command writes into the file that is included (2026.9.6).
    """
    try:
        document = json5_text.load(text_of(data or b"{}", f"`{file}`"), what=f"`{file}`")
    except InvalidDocument as error:
        return f"gitguard cannot tell what is in it: {error.message}"
    if _includes(document):
        return f"`{file}` includes other files (`{_INCLUDE}`), and the change may go into those"
    return ""


def _includes(value: Any) -> bool:
    if isinstance(value, dict):
        return _INCLUDE in value or any(map(_includes, value.values()))
    return isinstance(value, list) and any(map(_includes, value))


def _capped(window: int, cap: object) -> int:
    """Return a window, or less where the user has capped it (up to 2026.7)."""
    return min(window, cap) if type(cap) is int and cap > 0 else window


def _exceptions(agents: dict[str, Any], models: ProgramOutcome, window: int) -> tuple[str, ...]:
    """Say of which agents the window or the program is another one."""
    windows = _windows(models)
    sentences = (_exception(name, agent, windows, window) for name, agent in _named(agents))
    return tuple(filter(None, sentences))


def _named(agents: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    """Return the agents that are listed, as versions up to 2026.7 and newer ones do it."""
    entries, listed = agents.get("entries"), agents.get("list")
    named = list(entries.items()) if isinstance(entries, dict) else []
    for agent in listed if isinstance(listed, list) else ():
        named.append((agent.get("id") if isinstance(agent, dict) else "", agent))
    return [(str(name), agent) for name, agent in named if isinstance(agent, dict)]


def _windows(models: ProgramOutcome) -> dict[str, int]:
    """Return the windows of the models that are listed; up to 2026.7 the default one alone is."""
    document = json_in(models.stdout)
    listed = document.get("models") if isinstance(document, dict) else None
    entries = (entry for entry in listed or () if isinstance(entry, dict))
    return {
        str(entry.get("key")): entry["contextWindow"]
        for entry in entries
        if type(entry.get("contextWindow")) is int
    }


def _exception(name: str, agent: dict[str, Any], windows: Mapping[str, int], usual: int) -> str:
    """Say why the same numbers mean something else for an agent, empty where they do not."""
    runtime = agent.get("runtime")
    if isinstance(runtime, dict) and runtime.get("type") == "acp":
        return (
            f"conversations of the agent `{name}` in another program (`runtime`) keep to that "
            "program's settings"
        )
    model = agent.get("model")
    model = model.get("primary") if isinstance(model, dict) else model
    window = windows.get(str(model), 0) if model else usual
    window = _capped(window, agent.get("contextTokens"))
    if not window and model:
        return (
            f"the agent `{name}` has a model of its own, `{model}`: if its window differs, "
            "the same tokens are a different share of it"
        )
    if window == usual:
        return ""
    return (
        f"the agent `{name}` has a window of {window:,} tokens; the same tokens are a "
        "different share of it"
    )


def _version(ask: Ask) -> str:
    answer = ask(("--version",))
    version = version_of(answer.stdout)
    if not version:
        raise InvalidDocument(
            f"`{PROGRAM} --version` names no version, but: {answer.complaint}",
            "Advice depends on the version; check the installation",
        )
    return ".".join(map(str, version))


def _file(ask: Ask) -> str:
    """Return the path of the file in use, which `config validate` of all versions says."""
    answer = ask(("config", "validate", "--json"))
    report = json_in(answer.stdout)
    path = report.get("path") if isinstance(report, dict) else None
    if not isinstance(path, str):
        raise InvalidDocument(
            f"`{PROGRAM} config validate` does not say which file is in use: {answer.complaint}",
            "Run it yourself",
        )
    assert isinstance(report, dict)
    wrong = _issues(report)
    if wrong:
        raise InvalidDocument(
            f"`{path}` is not valid to OpenClaw: {wrong}",
            "Correct it, or run `openclaw doctor`; nothing was changed",
        )
    return path


def _issues(report: dict[str, Any]) -> str:
    issues = report.get("issues")
    listed = issues if isinstance(issues, list) else []
    problems = [problem for problem in listed if isinstance(problem, dict)]
    return "; ".join(f"{problem.get('path')}: {problem.get('message')}" for problem in problems[:3])


# What a version has


def offer(configuration: HostConfiguration, figures: Figures) -> Offer:
    """Return what this version has of what the figures ask for."""
    newer = version_of(configuration.version) >= _NEWER
    settings, notes = (_newer if newer else _older)(configuration, figures)
    tools, tips = _tools(configuration, figures)
    rewrite = "OpenClaw's own command rewrites the file: it drops comments and changes the order"
    notes += [*tips, *configuration.exceptions]
    return Offer((*settings, *tools), tuple(notes), (UNDO.counts, rewrite))


class _About(Value):
    title: str
    practice: str
    default: object = None


_ABOUT = {
    _FLOOR: _About(
        WHEN_TO_COMPRESS,
        "OpenClaw summarises the history at about {compress_at:.0%} of the window of {window:,} "
        "tokens, with {free:,} still free{because}",
        20_000,
    ),
    _RESERVE: _About(
        "How much more is kept free",
        "the larger of it and the floor counts, so that the floor decides",
        _BESIDES_THE_FLOOR,
    ),
    f"{_PRUNING}.mode": _About(
        CLEARING,
        "old command output, file reads and search results leave the context; the transcript keeps "
        "them",
    ),
    f"{_PRUNING}.ttl": _About(
        "How quickly old tool output is cleared",
        "it goes once the last request is {clear_after} ago; a shorter time clears more, and some "
        "files are then read again",
        "5m",
    ),
    f"{_PRUNING}.keepLastAssistants": _About(
        "How many exchanges are protected from clearing",
        "tool output stays from the agent's newest {answers} on",
        3,
    ),
    f"{_PRUNING}.minPrunableToolChars": _About(
        "How much tool output there has to be before it is cleared",
        "clearing begins once there are {trim_above:,} characters of old output",
        50_000,
    ),
    f"{_COMPACTION}.mode": _About(
        "How the conversation is compressed",
        "the summary is checked, and what is newest stays as it is",
        "safeguard",
    ),
    f"{_COMPACTION}.recentTurnsPreserve": _About(
        EXCHANGES_KEPT, "{protected} word for word beside the summary", 3
    ),
    f"{_COMPACTION}.keepRecentTokens": _About(
        TOKENS_KEPT,
        "{keep_recent:,} of {window:,} tokens stay; fewer leave more room after it",
        20_000,
    ),
    f"{_COMPACTION}.midTurnPrecheck.enabled": _About(
        "Whether room is looked after in the middle of a turn",
        "a long row of tool calls is compacted before the context overflows, not after",
        False,
    ),
    f"{_PRUNING}.tools.deny": _About(
        "Which tools keep their output", "what {spared} returned is never cleared"
    ),
}


def _setting(
    configuration: HostConfiguration, figures: Figures, key: str, after: object
) -> Setting:
    about = _ABOUT[key]
    practice = about.practice.format(
        compress_at=figures.compress_at if figures.window else 0,
        spared=" and ".join(figures.spared),
        answers="answer" if figures.protect == 1 else f"{figures.protect} answers",
        **{name: getattr(figures, name) for name in _NUMBERS},
    )
    return setting(
        configuration, key, after, title=about.title, practice=practice, default=about.default
    )


_NUMBERS = ("protected", "window", "free", "because", "clear_after", "trim_above", "keep_recent")


def _older(configuration: HostConfiguration, figures: Figures) -> tuple[list[Setting], list[str]]:
    values: dict[str, object] = {_FLOOR: figures.free} if figures.window else {}
    besides = json.loads(configuration.set_values.get(_RESERVE, str(_BESIDES_THE_FLOOR)))
    if figures.window and besides > figures.free:
        values[_RESERVE] = figures.free
    values |= {f"{_PRUNING}.mode": "cache-ttl", f"{_PRUNING}.ttl": figures.clear_after}
    values[f"{_PRUNING}.keepLastAssistants"] = figures.protect
    values[f"{_PRUNING}.minPrunableToolChars"] = figures.trim_above
    notes = [_ANTHROPIC_ONLY, *([] if figures.window else [NO_WINDOW])]
    return [_setting(configuration, figures, key, after) for key, after in values.items()], notes


def _newer(configuration: HostConfiguration, figures: Figures) -> tuple[list[Setting], list[str]]:
    values: dict[str, object] = {
        f"{_COMPACTION}.mode": "safeguard",
        f"{_COMPACTION}.recentTurnsPreserve": figures.protect,
        f"{_PRUNING}.mode": "cache-ttl",
        f"{_PRUNING}.ttl": figures.clear_after,
    }
    if figures.window:
        values[f"{_COMPACTION}.keepRecentTokens"] = figures.keep_recent
    if figures.is_long and figures.calls_in_rows:
        values[f"{_COMPACTION}.midTurnPrecheck.enabled"] = True
    settings = [_setting(configuration, figures, key, after) for key, after in values.items()]
    return settings, _fixed(configuration, figures)


def _fixed(configuration: HostConfiguration, figures: Figures) -> list[str]:
    notes = [
        "what is cleared is built in since 2026.8: not the newest 3 exchanges, and only where over "
        "50,000 characters of old output are there",
        _BY_THE_SERVER,
    ]
    if configuration.set_values.get(f"{_COMPACTION}.enabled") == "false":
        return [*notes, stays_off("compaction.enabled")]
    if figures.window:
        reserve = min(_BUILT_IN_RESERVE, figures.window // 4)
        share = 1 - reserve / figures.window
        notes.insert(
            0,
            f"when to compress has no setting since 2026.8: it is at about {share:.0%} of the "
            f"window of {figures.window:,} tokens",
        )
        if 0 < figures.halts_at <= share:
            notes.insert(
                1,
                f"gitguard halts the agent before that, at {figures.halts_at:.0%}: compact by hand "
                "before, or raise `thresholds.critical` in your config.yaml",
            )
    return notes


def _tools(configuration: HostConfiguration, figures: Figures) -> tuple[list[Setting], list[str]]:
    """Return what spares the output of tools, as a setting where that is asked for."""
    key = f"{_PRUNING}.tools.deny"
    denied = json.loads(configuration.set_values.get(key, "[]"))
    missing = [tool for tool in figures.spared if tool not in denied]
    if figures.spared:
        return [_setting(configuration, figures, key, [*denied, *missing])], []
    if not denied:
        return [], [
            "for work with browser or canvas, protect those tools from clearing: "
            "`--protect browser --protect canvas`"
        ]
    return [], []
