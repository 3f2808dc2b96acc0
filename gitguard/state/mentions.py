"""Whether a text names a file, whatever language it is in.

A path counts as a whole, with the worktree's root before it, and without its first folders. A
file's bare name may be another file's as well, so it counts only if it is that of one file.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

_IN_PATHS = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./~")
"""A letter of another alphabet may stand beside a path, as in languages without blanks."""


def names_file(text: str, path: str, root: str, *, is_only: Callable[[], bool]) -> bool:
    """Say whether a text names the file at a path relative to the worktree with this root.

    is_only is asked whether no other file has its name.
    """
    whole = f"{root}/{path}"
    folder, _, name = whole.rpartition("/")
    folder += "/"
    top = len(root) + 1
    at = text.find(name)
    while at >= 0:
        if _ends(text, at + len(name)):
            shared = _shared_end(text[:at], folder)
            if shared < len(folder) and text[at - shared] == "/":
                shared -= 1  # what stands before the slash is no part of our path
            before = text[: at - shared].removesuffix("./")
            is_whole_part = shared in (0, len(folder)) or folder[-shared - 1] == "/"
            if is_whole_part and before[-1:] not in _IN_PATHS:
                is_bare = not shared and len(folder) > top
                if not is_bare or is_only():
                    return True
        at = text.find(name, at + 1)
    return False


def _ends(text: str, end: int) -> bool:
    """Say whether a path may end there; a full stop may end the sentence."""
    behind = text[end : end + 2]
    if behind[:1] == ".":
        return behind[1:] not in _IN_PATHS
    return behind[:1] not in _IN_PATHS


def _shared_end(first: str, second: str) -> int:
    """Return how many characters two texts have in common at their ends."""
    most = min(len(first), len(second))
    return next((n for n in range(most) if first[-n - 1] != second[-n - 1]), most)
