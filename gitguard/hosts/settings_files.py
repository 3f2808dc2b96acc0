"""What advisers share whose host keeps its settings in files: reading and merging."""

from __future__ import annotations

import json
import os

from gitguard.errors import InvalidDocument, InvalidInput
from gitguard.model.document_edits import JSON5, JSONC
from gitguard.model.host_settings import Setting
from gitguard.model.value import Value
from gitguard.store.disk import json5_text
from gitguard.store.disk.settings_text import refuse_other_than_json, text_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any

    from gitguard.hosts.adviser import AdviserAccess, HostConfiguration
    from gitguard.hosts.base import Ask

NO_WINDOW = "when to compress depends on the window, which is unknown; name it with `--window`"
WHEN_TO_COMPRESS = "When to compress the conversation"
EXCHANGES_KEPT = "How many exchanges a compaction leaves as they are"
TOKENS_KEPT = "How much of the newest conversation a compaction keeps unchanged"
CLEARING = "Whether old tool output is cleared"
"""Titles of settings that several hosts have."""


class Layers(Value):
    """Settings of several files, of which a later one overrides those before."""

    set_values: Mapping[str, str]
    """JSON texts by key."""
    documents: tuple[dict[str, Any], ...]
    """By file, empty for one that is not there."""


def program_of(at: AdviserAccess, program: str, title: str) -> Ask:
    """Return what asks the host's command; raises `InvalidInput` where it is not installed."""
    if at.ask is None:
        raise InvalidInput(
            f"`{program}` is not on PATH, so {title} is not installed here",
            "Install it, or put its folder on PATH",
        )
    return at.ask


def version_in(ask: Ask, before: HostConfiguration | None) -> str:
    """Return the version found before, else the first word of `--version` with a digit in front.

    It is empty where there is none.
    """
    if before:
        return before.version
    answer = ask(("--version",))
    words = f"{answer.stdout} {answer.stderr}".split()
    return next((word[:40] for word in words if word[0].isdigit()), "")


def read_layers(
    at: AdviserAccess, paths: Iterable[str], part: str = "", format: str = JSON5
) -> Layers:
    """Read files of JSON in the format that the host reads; part is the object looked into."""
    paths = tuple(paths)
    documents = tuple(_document(at, path, format) for path in paths)
    for path, document in zip(paths, documents, strict=True):
        if not isinstance(document.get(part, {}), dict):
            raise InvalidDocument(
                f"`{part}` in `{path}` is `{json.dumps(document[part])[:40]}`, not an object, so "
                "it holds no settings",
                "Correct it; nothing was changed",
            )
    set_values = {key: text for document in documents for key, text in flat(document)}
    return Layers(set_values, documents)


def _document(at: AdviserAccess, path: str, format: str) -> dict[str, Any]:
    data, what = at.read(path), f"`{path}`"
    if data is None or not data.strip():
        return {}
    text = text_of(data, what)
    document = json5_text.load(text, what=what)
    if format != JSON5:
        refuse_other_than_json(text, what, with_comments=format == JSONC)
    return document


def flat(value: Any, name: str = "") -> list[tuple[str, str]]:
    """Return the JSON texts of all that is not an object, by key.

    A name that is empty or has a dot in it is left out: its key would be that of something else.
    """
    if not isinstance(value, dict):
        return [(name, json.dumps(value, sort_keys=True))]
    prefix = f"{name}." if name else ""
    named = ((key, below) for key, below in value.items() if key and "." not in key)
    return [item for key, below in named for item in flat(below, f"{prefix}{key}")]


def holder(layers: Layers, paths: tuple[str, ...], prefix: str, otherwise: str) -> str:
    """Return the last of the files that sets something below a prefix, else another path."""
    pairs = zip(paths, layers.documents, strict=True)
    last = otherwise
    for path, document in pairs:
        if any(key.startswith(prefix) for key, _ in flat(document)):
            last = path
    return last


def after_resuming(command: str) -> str:
    """Return when a change counts for a host that reads its settings when it starts."""
    return f"a running conversation picks up the change once you end and resume it (`{command}`)"


def stays_off(switch: str) -> str:
    """Return the note on a host that does not compact by itself, and by what."""
    return f"it does not compact by itself (`{switch}`), and that stays so"


def in_project(at: AdviserAccess, name: str) -> tuple[str, ...]:
    """Return the path of a file in the project, none outside of one."""
    return (os.path.join(at.worktree, name),) if at.worktree else ()


def setting(
    configuration: HostConfiguration,
    key: str,
    after: object,
    title: str,
    practice: str,
    default: object = None,
) -> Setting:
    """Return a setting; values are as JSON has them, and no default is None."""
    usual = "" if default is None else json.dumps(default)
    before = configuration.set_values.get(key, "")
    return Setting(key, title, before, after=json.dumps(after), practice=practice, default=usual)
