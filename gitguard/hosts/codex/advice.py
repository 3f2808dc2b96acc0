"""What Codex can be advised to set: at how many tokens it compacts.

Unset it is 90 % of the model's window (0.169.0, compacted at 244,900 of 272,000). `codex doctor`
says which file is in use, and `codex debug models` the windows, or what is wrong with the file.
"""

from __future__ import annotations

import json
from contextlib import suppress

from gitguard.errors import InvalidDocument
from gitguard.hosts import HOSTS
from gitguard.hosts.adviser import AdviserAccess, HostConfiguration, Offer, UndoHelp
from gitguard.hosts.settings_files import (
    NO_WINDOW,
    WHEN_TO_COMPRESS,
    after_resuming,
    flat,
    in_project,
    program_of,
    setting,
    version_in,
)
from gitguard.model.document_edits import TOML
from gitguard.store.disk import toml_text
from gitguard.store.disk.settings_text import text_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from gitguard.hosts.base import Ask
    from gitguard.model.host_settings import Figures

NAME, TITLE = "codex", "Codex"
PROGRAM = HOSTS[NAME].program
FORMAT = TOML
UNDO = UndoHelp(
    counts=after_resuming("codex resume"),
    health=("codex doctor",),
    repair="`codex doctor` says what is wrong with the file",
)

_KEY, _WINDOW = "model_auto_compact_token_limit", "model_context_window"
_PROJECT_FILE = ".codex/config.toml"
_DEFAULT_SHARE = 0.9
_BESIDES = {
    f"{_KEY}_scope": f"what is counted is decided by `{_KEY}_scope`, which stays",
    "model_post_turn_compact_threshold_percent": "between turns it may compact earlier "
    "(`model_post_turn_compact_threshold_percent`), and that stays so",
}


def read_configuration(
    at: AdviserAccess, before: HostConfiguration | None = None
) -> HostConfiguration:
    """Ask for the file in use and the models' windows, and read the file."""
    ask = program_of(at, PROGRAM, TITLE)
    file = _file(ask)
    text = text_of(at.read(file) or b"", f"`{file}`")
    document = toml_text.load(text, what=f"`{file}`")
    plain = _plain(document)
    if _KEY in document.keys() - plain.keys():
        raise InvalidDocument(
            f"`{_KEY}` in `{file}` is not a number", "Correct it; nothing was changed"
        )
    set_values = dict(flat(plain))
    models = ask(("debug", "models"))
    if models.returncode:
        raise InvalidDocument(
            f"`{file}` is not valid to Codex: {models.complaint}", "Correct it; nothing was changed"
        )
    model = document.get("model")
    window = document.get(_WINDOW) or _catalogued(models.stdout, model)
    return HostConfiguration(
        version_in(ask, before),
        file,
        set_values,
        window=window if type(window) is int else 0,
        checked_by="codex debug models",
        model=model if isinstance(model, str) else "",
        exceptions=_in_the_project(at),
    )


def _file(ask: Ask) -> str:
    answer = ask(("doctor", "--json"))
    try:
        details = json.loads(answer.stdout)["checks"]["config.load"]["details"]
        named = details.get("config.toml")  # with the word `missing` where there is no such file
        return named if isinstance(named, str) else f"{details['CODEX_HOME']}/config.toml"
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        wrong = ask(("debug", "models")).complaint
        raise InvalidDocument(
            f"Codex cannot load its configuration: {wrong}", "Correct it; nothing was changed"
        ) from error


def _in_the_project(at: AdviserAccess) -> tuple[str, ...]:
    """Say whether the project's file has a value of its own; the host reads it where it trusts."""
    for path in in_project(at, _PROJECT_FILE):
        with suppress(InvalidDocument):
            if _KEY in toml_text.load(text_of(at.read(path) or b"", path), what=path):
                return (f"`{path}` has a `{_KEY}`, which counts where Codex trusts the project",)
    return ()


def _plain(document: dict[str, Any]) -> dict[str, Any]:
    """Return what JSON can say too; dates are no settings of ours."""
    return {name: value for name, value in document.items() if isinstance(value, (str, int, float))}


def _catalogued(output: str, model: object) -> int:
    with suppress(ValueError, KeyError, TypeError, AttributeError):
        for entry in json.loads(output)["models"]:
            if entry["slug"] == model:
                return int(entry["context_window"])
    return 0


def offer(configuration: HostConfiguration, figures: Figures) -> Offer:
    """Return when to compact; everything else has no setting."""
    notes = ["clearing old tool output has no setting in Codex"]
    if not figures.window:
        return Offer((), (NO_WINDOW, *notes))
    notes += [note for key, note in _BESIDES.items() if key in configuration.set_values]
    notes += configuration.exceptions
    limit = figures.window - figures.free
    practice = (
        f"Codex compacts once {limit:,} tokens are used, {figures.compress_at:.0%} of the model's "
        f"{figures.window:,}, of which it shows and uses 95 %{figures.because}"
    )
    usual = int(figures.window * _DEFAULT_SHARE)
    compaction = setting(
        configuration, _KEY, limit, title=WHEN_TO_COMPRESS, practice=practice, default=usual
    )
    return Offer((compaction,), tuple(notes), (UNDO.counts,))
