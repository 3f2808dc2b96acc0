"""What a host loads of a workspace's files into its context."""

from __future__ import annotations

from gitguard.model.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

FILE_CHARACTERS, TOTAL_CHARACTERS = 5_000, 20_000
"""The most of one file and of all, for hosts of which nothing else is known."""


class ContextFiles(Value):
    """Which files a host loads, in its order, and how much of them."""

    names: tuple[tuple[str, ...], ...]
    """Each a choice, of which the first that is there counts; relative to the workspace."""
    imports: tuple[str, ...] = ()
    """Files that come as well where a line `@name` in one of the others says so."""
    file_characters: int = FILE_CHARACTERS
    total_characters: int = TOTAL_CHARACTERS
    in_each_folder: bool = False
    """Whether they are loaded of every folder from the workspace's down to the one worked in."""
    own_limits: Mapping[str, int] = {}
    """Of single files, where they differ."""
