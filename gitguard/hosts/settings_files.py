"""What advisers share whose host keeps its settings in files: reading, merging and editing."""

from __future__ import annotations

import copy
import json
import os

from gitguard.errors import InvalidDocument, InvalidInput
from gitguard.model.host_settings import Setting
from gitguard.model.value import Value
from gitguard.store.disk import json5_text

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

_WHAT = "the settings file"
_MARK = "\ufeff"


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
    at: AdviserAccess,
    paths: Iterable[str],
    part: str = "",
    *,
    strict: bool = False,
    with_comments: bool = False,
) -> Layers:
    """Read files of JSON with comments and trailing commas; part is the object that is looked into.

    Where the host reads no other, strict ones are of plain JSON, or of that with comments.
    """
    paths = tuple(paths)
    documents = tuple(
        _document(at, path, strict=strict, with_comments=with_comments) for path in paths
    )
    for path, document in zip(paths, documents, strict=True):
        if not isinstance(document.get(part, {}), dict):
            raise InvalidDocument(
                f"`{part}` in `{path}` is `{json.dumps(document[part])[:40]}` and no object, so no "
                "setting can stand in it",
                "Correct it; nothing was changed",
            )
    set_values = {key: text for document in documents for key, text in flat(document)}
    return Layers(set_values, documents)


def _document(at: AdviserAccess, path: str, *, strict: bool, with_comments: bool) -> dict[str, Any]:
    data = at.read(path)
    if data is None or not data.strip():
        return {}
    text = text_of(data, f"`{path}`")
    document = json5_text.load(text, what=f"`{path}`")
    if strict:
        _refuse_other_than_json(text, path, with_comments=with_comments)
    return document


def _refuse_other_than_json(text: str, path: str, *, with_comments: bool) -> None:
    if text.startswith(_MARK):
        raise InvalidDocument(
            f"`{path}` begins with a byte order mark, which is no JSON",
            "Save it as UTF-8 without one; nothing was changed",
        )
    try:
        json.loads(
            json5_text.without_comments(text) if with_comments else text,
            parse_constant=_refuse_constant,
        )
    except ValueError as error:
        more = "trailing commas" if with_comments else "comments and trailing commas"
        raise InvalidDocument(
            f"`{path}` cannot be read as the host reads it: {error}",
            f"Take {more} out; nothing was changed",
        ) from error


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is no JSON")


def flat(value: Any, name: str = "") -> list[tuple[str, str]]:
    """Return the JSON texts of all that is not an object, by key.

    A name that is empty or has a dot in it is left out: its key would be that of something else.
    """
    if not isinstance(value, dict):
        return [(name, json.dumps(value, sort_keys=True))]
    prefix = f"{name}." if name else ""
    named = ((key, below) for key, below in value.items() if key and "." not in key)
    return [item for key, below in named for item in flat(below, f"{prefix}{key}")]


def edit(data: bytes | None, values: Mapping[str, str]) -> bytes:
    """Return a file of JSON with settings changed, and all else as it was."""
    text = text_of(data or b"", _WHAT)
    if not text.strip():
        text = "{}\n"
    paths = {tuple(key.split(".")): value for key, value in values.items()}
    edited = text
    for path, value in paths.items():
        edited = json5_text.set_value(edited, path, value, what=_WHAT)
    before, after = (json5_text.load(each, what=_WHAT) for each in (text, edited))
    refuse_other_changes(before, after, paths)
    return edited.encode()


def refuse_other_changes(
    before: dict[str, Any], after: dict[str, Any], values: Mapping[tuple[str, ...], str]
) -> None:
    """Refuse an edited file that does not say what it said before, and the values at their paths.

    Raises `InvalidDocument`. It stands between a fault in our editing and people's settings.
    """
    changed = copy.deepcopy(before)
    for path, value in values.items():
        place = changed
        for name in path[:-1]:
            place = place.setdefault(name, {})
        place[path[-1]] = json.loads(value)
    if _said(after) != _said(changed):
        raise InvalidDocument(
            f"gitguard cannot edit {_WHAT} without changing something else in it",
            "Make the changes by hand; nothing was changed",
        )


def _said(document: dict[str, Any]) -> str:
    return json.dumps(document, sort_keys=True, default=repr)


def text_of(data: bytes, what: str) -> str:
    """Return the text of a file; raises `InvalidDocument` where it is none."""
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise InvalidDocument(f"{what} is not UTF-8", "Look at it by hand") from error


def holder(layers: Layers, paths: tuple[str, ...], prefix: str, otherwise: str) -> str:
    """Return the last of the files that sets something below a prefix, else another path."""
    pairs = zip(paths, layers.documents, strict=True)
    setting = [path for path, one in pairs if any(k.startswith(prefix) for k, _ in flat(one))]
    return setting[-1] if setting else otherwise


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
    return Setting(key, title, before, json.dumps(after), practice, usual)
