"""Collects a workspace's context files, as a host injects them before a conversation begins.

They may be anything: what leads out of the workspace, or is no file, is refused and named. Nothing
in them, and nothing in a repository's configuration, can name further files to be read.
"""

from __future__ import annotations

import os

from gitguard.errors import InvalidDocument
from gitguard.model.text import cut_to, visible
from gitguard.model.value import Value
from gitguard.store.disk import artifacts

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from gitguard.model.config.transcripts import BootstrapConfig
    from gitguard.model.context_files import ContextFiles

_LARGEST = 1 << 20
"""Bytes that are read of one; what is behind them is no context."""
_LEAST = 200
"""With less room than this nothing useful would be left of a file."""


class ContextFile(Value):
    """A file as it is injected."""

    name: str
    text: str
    characters: int
    """What it had before it was cut."""
    is_extra: bool = False
    """Whether the user's configuration named it, and not the host."""

    @property
    def is_cut(self) -> bool:
        """Whether some of it was left out."""
        return len(self.text) < self.characters


class Bootstrap(Value):
    """All that is injected."""

    files: tuple[ContextFile, ...] = ()
    refused: tuple[str, ...] = ()
    """Why others are not there, each as a sentence without its stop."""


def collect(
    root: str,
    context_files: ContextFiles,
    config: BootstrapConfig,
    clean: Callable[[str], str],
    *,
    folder: str = "",
) -> Bootstrap:
    """Collect the files of a workspace whose path is real; clean takes secrets out of a text.

    The host's files come first, those that the user plugged in last. The limits are the user's,
    where they set any, else the host's. folder is the one that is worked in, the workspace's own
    by default; hosts may load those of the folders on the way to it too.
    """
    refused: list[str] = []
    files: list[ContextFile] = []
    room = config.total_characters or context_files.total_characters
    names = _names(root, folder, context_files)
    for name, text, is_extra in _present_files(
        root, names, context_files.imports, extra=config.extra_files, refused=refused
    ):
        text = clean(visible(text)).strip("\n")
        most = config.file_characters or context_files.own_limits.get(
            name, context_files.file_characters
        )
        if room < min(_LEAST, len(text)):
            refused.append(f"`{name}` has no room: the limit of all files is reached")
            continue
        cut = cut_to(text, min(most, room))
        files.append(ContextFile(name, cut, len(text), is_extra))
        room -= len(cut)
    return Bootstrap(tuple(files), tuple(refused))


def _names(root: str, folder: str, context_files: ContextFiles) -> list[tuple[str, ...]]:
    """Return the choices of files: the workspace's, then those of the folders on the way down."""
    way = os.path.relpath(os.path.realpath(folder), root).split(os.sep) if folder else ["."]
    if not context_files.in_each_folder or way[0] in (".", ".."):
        return [*context_files.names]
    folders = ["", *("/".join(way[: end + 1]) + "/" for end in range(len(way)))]
    return [
        tuple(f"{at}{name}" for name in choice) for at in folders for choice in context_files.names
    ]


def _present_files(
    root: str,
    names: list[tuple[str, ...]],
    imports: tuple[str, ...],
    extra: tuple[str, ...],
    refused: list[str],
) -> Iterator[tuple[str, str, bool]]:
    """Yield the files that are there, each once, however many names it has."""
    seen: set[str] = set()

    def read(name: str) -> str:
        try:
            return _read(root, name, seen)
        except InvalidDocument as error:
            refused.append(visible(error.message))
        except ValueError as error:  # no name that the system would take
            refused.append(visible(f"`{name}` cannot be read: {error}"))
        return ""

    for choice in names:
        for name in choice:
            if text := read(name):
                yield name, text, False
                for other in _imported(text, imports):
                    if imported := read(other):
                        yield other, imported, False
                break
    for name in extra:
        before = len(refused)
        if text := read(name):
            yield name, text, True
        elif len(refused) == before and not os.path.lexists(os.path.join(root, name)):
            refused.append(visible(f"`{name}` is not there"))


def _read(root: str, name: str, seen: set[str]) -> str:
    """Return what a file says, nothing where it is missing, blank or read already."""
    path = os.path.realpath(os.path.join(root, name))
    if path in seen:
        return ""
    seen.add(path)
    if ".git" in path.removeprefix(root).lower().split(os.sep):
        raise InvalidDocument(f"`{name}` leads into git's own folder, which is refused")
    text = artifacts.read_start(root, name, limit=_LARGEST)
    return text if text and text.strip() else ""


def _imported(text: str, importable: tuple[str, ...]) -> list[str]:
    lines = {line.strip() for line in text.splitlines()}
    return [name for name in importable if f"@{name}" in lines]
