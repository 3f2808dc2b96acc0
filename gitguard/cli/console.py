"""What all commands share: their common options, and how they speak to people and programs."""

from __future__ import annotations

import functools
import json
from typing import TYPE_CHECKING, Any, TypeVar

import click

from gitguard.cli.surroundings import open_guard
from gitguard.model.text import visible

if TYPE_CHECKING:
    from collections.abc import Callable

    from gitguard.guard import Guard

F = TypeVar("F", bound="Callable[..., Any]")


class Console:
    """Opens the workspace a command is about, and prints its outcome as text or JSON."""

    def __init__(self, root: str, session: str, *, as_json: bool) -> None:
        """Keep the common options; nothing is opened yet."""
        self._root = root
        self._session = session
        self.as_json = as_json

    @functools.cached_property
    def guard(self) -> Guard:
        """The workspace named by --root, GITGUARD_ROOT or the current folder."""
        return open_guard(self._root, self._session)

    def say(self, text: str, document: dict[str, Any]) -> None:
        """Print the outcome: text for people, or the document for programs."""
        if self.as_json:
            click.echo(json.dumps(document, ensure_ascii=False, indent=2, default=_plain))
        else:
            click.echo(visible(text))


def _plain(value: Any) -> Any:
    if hasattr(value, "to_document"):
        return value.to_document()
    if hasattr(value, "field_names"):
        return {name: getattr(value, name) for name in value.field_names}
    return str(value)


def with_console(command: F) -> F:
    """Give a command the common options, and a `Console` as its first argument."""

    @click.option("--root", default="", metavar="DIR", help="Workspace to work in")
    @click.option("--session", default="", metavar="KEY", help="Session to work at")
    @click.option("--json", "as_json", is_flag=True, help="Print JSON for programs")
    @functools.wraps(command)
    def run(*args: Any, root: str, session: str, as_json: bool, **kwargs: Any) -> Any:
        console = Console(root, session, as_json=as_json)
        return command(console, *args, **kwargs)

    return run  # type: ignore[return-value]


def confirm(question: str, *, yes: bool) -> bool:
    """Ask on a terminal; without one, only --yes says yes."""
    if yes:
        return True
    if not click.get_text_stream("stdin").isatty():
        return False
    return click.confirm(question, default=False)
