"""The files that were written and read, many paths in few lines: `src/api/{routes.py,models.py}`.

Paths that begin with the same folder stand together. A shell expands such a line to the paths
themselves, so each can still be copied.
"""

from __future__ import annotations

from gitguard.sessions.resume.filling import BlockItem, BlockSection
from gitguard.sessions.resume.reader import BlockReader, label, safe

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from gitguard.state.items import Artifact
    from gitguard.state.task import TaskState

_LINE = 120
"""Characters of a line, after which the next one names the folder again."""
_HIGH_FOLDERS = 3
"""Folders under which files have to be together outside of the workspace: `/home/NAME/project`."""
_TEMPORARY = ("/tmp/", "/var/tmp/", "/private/tmp/", "/var/folders/", "/dev/shm/")
"""Folders for what is of use for a moment."""
_SPECIAL = frozenset("{},\"'\\$`!")
"""What a shell would read as something else inside of braces or quotation marks."""


def files_of(state: TaskState, reader: BlockReader) -> BlockSection:
    """Return the files that were written, newest first; those for a moment, and gone, come last."""
    touched = [a for a in state.artifacts[::-1] if a.kind not in ("commit", "url")]
    touched.sort(key=lambda a: (a.path in reader.gone, a.path.startswith(_TEMPORARY)))
    items: list[BlockItem] = []
    alike: dict[tuple[str, bool], list[str]] = {}
    for artifact in touched:
        mark = "".join((_mark(artifact, state, reader), label(artifact)))
        if artifact.description:
            text = f"{safe(artifact.path)}{mark} — {safe(artifact.description)}"
            items.append(BlockItem(text, is_derived=not artifact.is_noted))
        else:
            alike.setdefault((mark, not artifact.is_noted), []).append(safe(artifact.path))
    for (mark, is_derived), paths in alike.items():
        items += folded_items(paths, mark, is_derived=is_derived)
    return BlockSection("Files", tuple(items), 11, is_whole=True)


def _mark(artifact: Artifact, state: TaskState, reader: BlockReader) -> str:
    """Return in parentheses what became of a file, or that a shell command wrote it."""
    if artifact.path not in reader.gone:
        return " (by shell)" if artifact.by_shell else ""
    moved_to = _moved_to(artifact, state, reader)
    if moved_to:
        return f" (moved to {safe(moved_to)})"
    return " (not here)" if artifact.origin.elsewhere else " (gone)"


def _moved_to(artifact: Artifact, state: TaskState, reader: BlockReader) -> str:
    """Return where a file that is gone lies now: git says so, or one file alone has its name."""
    moved_to = dict(reader.moved).get(artifact.path, "")
    if moved_to:
        return moved_to
    name = artifact.path.rpartition("/")[2]
    candidates = [
        other.path
        for other in state.artifacts
        if other.path.rpartition("/")[2] == name and other.path != artifact.path
    ]
    is_sure = len(candidates) == 1 and candidates[0] not in reader.gone
    return candidates[0] if is_sure else ""


def folded_items(
    paths: Iterable[str], mark: str = "", *, is_derived: bool = True
) -> tuple[BlockItem, ...]:
    """Return lines that name all of the paths, each with what is to be remarked of all of them."""
    return tuple(BlockItem(line, is_derived, mark, names=names) for line, names in _folded(paths))


def _folded(paths: Iterable[str]) -> list[tuple[str, int]]:
    """Return lines that name all of the paths, with how many each names, the first path first."""
    groups: dict[tuple[str, ...], list[list[str]]] = {}
    for path in paths:
        lines = groups.setdefault(_together(path), [[]])
        if lines[-1] and not _fits([*lines[-1], path]):
            lines.append([])
        lines[-1].append(path)
    lines = [line for lines in groups.values() for line in lines]
    return [(_line(line), len(line)) for line in _alike_in_one(lines)]


def _alike_in_one(lines: list[list[str]]) -> list[list[str]]:
    """Put lines of one path together whose files have the same name, in different folders."""
    joined: list[list[str]] = []
    by_name: dict[str, list[str]] = {}
    for line in lines:
        folder, _, name = line[0].rpartition("/")
        is_outside = line[0].startswith(("/", "..", "~"))
        if len(line) > 1 or not folder or is_outside or _SPECIAL & set(line[0]) or " " in line[0]:
            joined.append(line)
            continue
        alike = by_name.get(name)
        if alike is None or len(_line([*alike, line[0]])) > _LINE:
            alike = by_name[name] = []
            joined.append(alike)
        alike += line
    return joined


def _fits(paths: list[str]) -> bool:
    """Whether paths may stand in one line: a long folder is not named once more for each file."""
    line = _line(paths)
    return len(line) <= _LINE or len(line) - len(_common_folder(paths)) <= _LINE * 2 // 3


def _together(path: str) -> tuple[str, ...]:
    """Return what paths have in common that stand in one line."""
    *folders, name = path.split("/")
    if not folders or _SPECIAL & set(path) or " " in name:
        return (path,)
    if " " in path:
        return tuple(folders)
    return tuple(folders[: _HIGH_FOLDERS + 1 if path.startswith(("/", "..", "~")) else 1])


def _line(paths: list[str]) -> str:
    if len(paths) == 1:
        return paths[0]
    folder = _common_folder(paths)
    name = paths[0].rpartition("/")[2]
    if not folder and all(path.endswith(f"/{name}") for path in paths):
        return f"{{{','.join(path.removesuffix(f'/{name}') for path in paths)}}}/{name}"
    names = ",".join(path[len(folder) :] for path in paths)
    return f'"{folder}"{{{names}}}' if " " in folder else f"{folder}{{{names}}}"


def _common_folder(paths: list[str]) -> str:
    """Return the longest folder in which all of the paths are, with its slash."""
    first, last = min(paths), max(paths)
    same = next((i for i, c in enumerate(first) if last[i : i + 1] != c), len(first))
    return first[: first.rfind("/", 0, same) + 1]
