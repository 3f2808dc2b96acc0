"""Names many paths in few lines, as a shell would spell them: `src/api/{routes.py,models.py}`.

Paths that begin with the same folder stand together. A shell expands such a line to the paths
themselves, so each can still be copied.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

_LINE = 200
"""Characters of a line, after which the next one names the folder again."""
_HIGH_FOLDERS = 3
"""Folders under which files have to be together outside of the workspace: `/home/NAME/project`."""
_SPECIAL = frozenset("{},\"'\\ ")
"""What a shell would read as something else inside of braces."""


def folded(paths: Iterable[str]) -> list[tuple[str, int]]:
    """Return lines that name all of the paths, with how many each names, the first path first."""
    groups: dict[tuple[str, ...], list[list[str]]] = {}
    for path in paths:
        lines = groups.setdefault(_together(path), [[]])
        if lines[-1] and len(_line([*lines[-1], path])) > _LINE:
            lines.append([])
        lines[-1].append(path)
    return [(_line(line), len(line)) for lines in groups.values() for line in lines]


def _together(path: str) -> tuple[str, ...]:
    """Return what paths have in common that stand in one line."""
    folders = path.split("/")[:-1]
    if not folders or _SPECIAL & set(path):
        return (path,)
    return tuple(folders[: _HIGH_FOLDERS + 1 if path.startswith(("/", "..", "~")) else 1])


def _line(paths: list[str]) -> str:
    if len(paths) == 1:
        return paths[0]
    folder = _common_folder(paths)
    return f"{folder}{{{','.join(path[len(folder) :] for path in paths)}}}"


def _common_folder(paths: list[str]) -> str:
    """Return the longest folder in which all of the paths are, with its slash."""
    first, last = min(paths), max(paths)
    same = next((i for i, c in enumerate(first) if last[i : i + 1] != c), len(first))
    return first[: first.rfind("/", 0, same) + 1]
