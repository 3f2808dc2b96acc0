"""`.context-policy.yml`, a project's own spawn policy: read strictly, because it is a stranger's.

It comes with a clone. So it only changes what `policy spawn` answers, names nothing that could be
run, and every text in it is one of a few words or a plain name.
"""

from __future__ import annotations

import re
from difflib import get_close_matches

from gitguard.delegation.spawn_policy import (
    ACTIONS,
    CATEGORIES,
    SpawnPolicy,
    Threshold,
    built_in_thresholds,
)
from gitguard.errors import InvalidConfig, InvalidInput
from gitguard.model import fields
from gitguard.model.record import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from gitguard.model.config.config import GaugeConfig

NAME = ".context-policy.yml"
LARGEST = 1 << 14
"""Bytes of the file that are read at most."""
_MOST_ENTRIES = 50
_SHARE = re.compile(r"(\d{1,3}(?:\.\d{1,4})?) ?%", re.ASCII)
_MORE_THAN = re.compile(r"> ?(\d{1,5}) tool calls?", re.ASCII)
_CATEGORY = re.compile(r"[a-z0-9][a-z0-9-]{0,39}", re.ASCII)
_FORM = (
    "A list of categories is `always_spawn: [audit]`; a threshold is `above: 50%` with "
    '`spawn_if: ">3 tool calls"` or with an `action`'
)


class ThresholdEntry(Record):
    """One of `context_thresholds`: a pressure, and what holds above it."""

    above: str = fields.text("The pressure above which it holds, such as `50%`.")
    spawn_if: str = fields.text("Work that is handed over, such as `>3 tool calls`.", default="")
    action: str = fields.text(
        "What holds however many calls it takes.", choices=ACTIONS, default=""
    )


class SpawnEntries(Record):
    """`spawn_policy`: what a project says of its categories and thresholds."""

    always_spawn: tuple[str, ...] = fields.texts(
        "Categories that are always handed over.", default=()
    )
    never_spawn: tuple[str, ...] = fields.texts("Categories that never are.", default=())
    context_thresholds: tuple[ThresholdEntry, ...] | None = fields.records(
        "What else decides.", of=ThresholdEntry, default=None
    )


class PolicyFile(Record):
    """The whole file."""

    spawn_policy: SpawnEntries = fields.record(
        "The project's spawn policy.", of=SpawnEntries, default=SpawnEntries()
    )


def read_policy(document: dict[str, Any], gauge: GaugeConfig) -> SpawnPolicy:
    """Read the file's mapping, or raise `InvalidConfig` naming what is wrong and what is meant.

    gauge tells where the built-in thresholds lie, for a file that names none.
    """
    try:
        read = PolicyFile.from_document(document)
    except InvalidInput as error:
        raise _wrong(error.message, _FORM) from error
    _refuse_unknown(read, "")
    entries = read.spawn_policy
    always = _categories(entries.always_spawn, "always_spawn")
    never = _categories(entries.never_spawn, "never_spawn")
    contradictory = sorted(set(always) & set(never))
    if contradictory:
        raise _wrong(
            f"`{contradictory[0]}` is in `always_spawn` and in `never_spawn`", "Remove one"
        )
    policy = SpawnPolicy(always, never, built_in_thresholds(gauge), NAME)
    if entries.context_thresholds is None:
        return policy
    return policy.replace(thresholds=_thresholds(entries.context_thresholds))


def _refuse_unknown(record: Record, where: str) -> None:
    for name in getattr(record, "extra"):  # noqa: B009
        settings = tuple(record.kinds)
        raise _wrong(f"`{where}{name:.80}` is not a setting", _nearest(name, settings))
    for name in record.kinds:
        value = getattr(record, name)
        if isinstance(value, Record):
            _refuse_unknown(value, f"{where}{name}.")
        for number, item in enumerate(value if isinstance(value, tuple) else ()):
            if isinstance(item, Record):
                _refuse_unknown(item, f"{where}{name}[{number}].")


def _categories(names: tuple[str, ...], where: str) -> tuple[str, ...]:
    if len(names) > _MOST_ENTRIES:
        raise _wrong(f"`{where}` has {len(names):,} entries", f"Name at most {_MOST_ENTRIES}")
    for name in names:
        if not _CATEGORY.fullmatch(name):
            raise _wrong(
                f"`{where}` names the category `{name:.80}`",
                f"Use small letters, digits and dashes, such as {_listed(tuple(CATEGORIES))}",
            )
    return tuple(dict.fromkeys(names))


def _thresholds(entries: tuple[ThresholdEntry, ...]) -> tuple[Threshold, ...]:
    if len(entries) > _MOST_ENTRIES:
        problem = f"`context_thresholds` has {len(entries):,} entries"
        raise _wrong(problem, f"Name at most {_MOST_ENTRIES}")
    thresholds = [_threshold(entry, f"context_thresholds[{n}]") for n, entry in enumerate(entries)]
    levels = [threshold.above for threshold in thresholds]
    for number, level in enumerate(levels):
        if level in levels[:number]:
            raise _wrong(
                f"`context_thresholds` has two entries above {thresholds[number].level}",
                "Remove one",
            )
    return tuple(sorted(thresholds, key=lambda threshold: threshold.above))


def _threshold(entry: ThresholdEntry, where: str) -> Threshold:
    share = _SHARE.fullmatch(entry.above.strip())
    if share is None or float(share[1]) > 100:
        problem = f"`{where}.above` is `{entry.above:.40}`"
        raise _wrong(problem, "Write a share from 0% to 100%, such as `50%`")
    if bool(entry.spawn_if) == bool(entry.action):
        raise _wrong(f"`{where}` needs either `spawn_if` or `action`", _FORM)
    above = float(share[1]) / 100
    if entry.action:
        return Threshold(above, action=entry.action)
    more_than = _MORE_THAN.fullmatch(entry.spawn_if.strip())
    if more_than is None:
        problem = f"`{where}.spawn_if` is `{entry.spawn_if:.80}`"
        raise _wrong(problem, "Write a number of tool calls, such as `>3 tool calls`")
    return Threshold(above, int(more_than[1]))


def unknown_category(name: str, policy: SpawnPolicy) -> InvalidInput:
    """Return the error for a category that no rule is about, with the one that is near it."""
    return InvalidInput(
        f"no rule covers the category `{name:.80}`", _nearest(name, policy.categories)
    )


def _nearest(name: str, names: tuple[str, ...]) -> str:
    near = get_close_matches(name[:80], names, 1)
    return f"Did you mean `{near[0]}`?" if near else f"Known: {_listed(names)}"


def _listed(names: tuple[str, ...]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def _wrong(problem: str, hint: str = "") -> InvalidConfig:
    return InvalidConfig(f"`{NAME}`: {problem}", hint)
