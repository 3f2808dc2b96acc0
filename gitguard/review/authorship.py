"""Who wrote what a commit changed, by content alone: pure decisions on the changes of files.

What an agent did to a file between two checkpoints is a step. A commit holds it if the file has the
content that a step left, or makes the same change, or shares at least three distinctive lines. Only
what the commit changes against its parent counts; what it only moves does not.
"""

from __future__ import annotations

from collections import Counter
from functools import cached_property

from gitguard.model.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

    Lines = Counter[bytes]

CONTENT, PATCH, LINES = CERTAINTIES = ("same content", "same patch", "same lines")
"""How a commit's file was tied to an agent's work, the surest way first."""
OTHERS = "others"
"""Who made a step that the agent did not make."""
_ENOUGH = 3
"""Distinctive lines by which a commit is tied."""
_DISTINCTIVE, _LETTERS = 12, 6
"""Characters without spaces, and letters and digits among them, of a line that tells work apart."""
_LONGEST_LIFE = 2_000
"""Steps of one file that are looked at."""
_NO_LINES: Counter[bytes] = Counter()


class LineChange(Value):
    """Which lines a change adds and removes, written without spaces."""

    added: Lines
    removed: Lines

    @property
    def tells(self) -> bool:
        """Whether a line of it is distinctive."""
        return any(map(is_distinctive, (*self.added, *self.removed)))

    def without_removed(self) -> LineChange:
        """Return it with the lines that it adds alone."""
        return self.replace(removed=_NO_LINES)

    def shared(self, other: LineChange) -> set[bytes]:
        """Return the lines that both add, or both remove."""
        return {*(self.added & other.added), *(self.removed & other.removed)}


NOTHING = LineChange(_NO_LINES, _NO_LINES)


def line_change(old: bytes, new: bytes) -> LineChange:
    """Compare two contents; what is no text has no lines."""
    if b"\0" in old or b"\0" in new:
        return NOTHING
    before, after = _lines(old), _lines(new)
    return LineChange(after - before, before - after)


def _lines(content: bytes) -> Lines:
    # A formatter changes spaces, quotes, and commas at the end.
    lines = (b"".join(line.split()).replace(b"'", b'"') for line in content.splitlines())
    return Counter(stripped for line in lines if (stripped := line.rstrip(b",;")))


def is_distinctive(line: bytes) -> bool:
    """Say whether a line is unlikely to be written twice."""
    return len(line) >= _DISTINCTIVE and sum(c > 127 or chr(c).isalnum() for c in line) >= _LETTERS


class FileStep(Value):
    """What became of a file between two checkpoints of a session."""

    path: str
    old: str
    """The id of the content before; empty where there was no file."""
    new: str
    """The same after."""
    author: str
    before: int
    """The place of the checkpoint before."""
    after: int
    lines: Callable[[], LineChange]
    moved_from: str = ""
    """The path of the old content, where the file was moved."""
    turns: tuple[tuple[int, int], ...] = ()
    """The places around the work; empty for those of the step itself."""
    is_of_commit: bool = False
    """Whether it stands for a commit that was found to hold work, and perhaps others' as well."""
    certainty: str = CONTENT
    """How surely the new content holds work; less in a match of a commit that somebody changed."""

    @cached_property
    def change(self) -> LineChange:
        """The lines that it changed."""
        return self.lines()

    @property
    def has_lines(self) -> bool:
        """Whether it is the session's work and was seen itself, and not only its contents."""
        return self.is_agents and not self.turns

    @property
    def is_agents(self) -> bool:
        """Whether it is the session's work."""
        return self.author != OTHERS


class FileChange(Value):
    """A file that a commit changed against its parent."""

    path: str
    old_path: str
    """Another one where the file was moved."""
    old: str
    """The id of the parent's content; empty where it has no such file."""
    new: str
    lines: Callable[[], LineChange]
    copied_from: Callable[[str], FileChange | None] | None = None
    """Returns the change against another file, if the parent has one at a path."""

    @cached_property
    def change(self) -> LineChange:
        """The lines that it changed."""
        return self.lines()


class Credit(Value):
    """A file of a commit, and the steps of a session's work that are in it."""

    change: FileChange
    certainty: str
    steps: tuple[FileStep, ...]
    shared: int = 0
    """Lines that are the same, where only these tell."""
    spans: tuple[tuple[int, int], ...] = ()
    """The turns of the steps: the places of the checkpoint before each, and at its end."""


def without_moves(changes: Sequence[LineChange]) -> list[LineChange]:
    """Return the changes of a commit's files without lines that only move from file to file."""
    added = sum((change.added for change in changes), Counter())
    removed = sum((change.removed for change in changes), Counter())
    moved = added.keys() & removed.keys()
    return [
        LineChange(*(_less(lines, moved) for lines in (change.added, change.removed)))
        for change in changes
    ]


def _less(lines: Lines, moved: Collection[bytes]) -> Lines:
    return Counter({line: count for line, count in lines.items() if line not in moved})


class StepIndex:
    """The steps of a session, to be looked for by path, content and line."""

    def __init__(self, by_path: Mapping[str, Sequence[FileStep]]) -> None:
        """Take those of each path, in their order."""
        self._by_path = by_path

    def life_of(self, path: str) -> Sequence[FileStep]:
        """Return what became of a file from its beginning, also before it was moved."""
        life = list(self._by_path.get(path, ()))
        while life and life[0].moved_from and len(life) < _LONGEST_LIFE:
            first = life[0]
            before = [s for s in self._by_path.get(first.moved_from, ()) if s.after <= first.before]
            if not before:
                break
            life = [*before, *life]
        return life

    @cached_property
    def path_of(self) -> dict[str, str]:
        """The path at which a content was seen last."""
        return {step.new: step.path for steps in self._by_path.values() for step in steps}

    @cached_property
    def _writers(self) -> dict[bytes, list[FileStep]]:
        """The agent's steps that added a distinctive line."""
        writers: dict[bytes, list[FileStep]] = {}
        for step in (step for steps in self._by_path.values() for step in steps if step.has_lines):
            for line in filter(is_distinctive, step.change.added):
                writers.setdefault(line, []).append(step)
        return writers

    def writers_of(self, change: FileChange) -> list[FileStep]:
        """Return the agent's steps that added a line which a commit adds, wherever it was."""
        if not self._by_path:
            return []
        steps = [step for line in change.change.added for step in self._writers.get(line, ())]
        unique = {(step.path, step.after): step for step in steps}
        return sorted(unique.values(), key=lambda step: (step.after, step.path))


def first_credit(change: FileChange, by_evidence: Iterable[StepIndex]) -> Credit | None:
    """Return the same from the first kind of evidence that tells."""
    credits_ = (credit_of(change, steps) for steps in by_evidence)
    return next((credit for credit in credits_ if credit is not None), None)


def credit_of(change: FileChange, steps: StepIndex) -> Credit | None:
    """Return which of a session's steps a file of a commit holds; None where nothing tells."""
    life = steps.life_of(change.path) or steps.life_of(change.old_path)
    copied_from = change.copied_from if not change.old else None
    if copied_from is not None:
        # The parent may have the file where it lay before it was moved.
        sources = (copied_from(step.moved_from) for step in life if step.moved_from)
        change = next(filter(None, sources), change)
    credit = _credit(change, life)
    if credit is None and (change.old_path != change.path or not change.old):
        # It may have been moved before it was committed.
        path = steps.path_of.get(change.new, "") if change.new else ""
        change = (copied_from(path) if copied_from is not None and path else None) or change
        credit = _credit(change, steps.life_of(path) if path else ())
        credit = credit or _by_lines(change, steps.writers_of(change))
    return credit


def _credit(change: FileChange, steps: Sequence[FileStep]) -> Credit | None:
    if change.old == change.new or not any(step.is_agents for step in steps):
        return None
    return _by_content(change, steps) or _by_patch(change, steps) or _by_lines(change, steps)


def _by_content(change: FileChange, steps: Sequence[FileStep]) -> Credit | None:
    """Look for the content that a commit has, and for the work since its parent's."""
    for last in reversed([n for n, step in enumerate(steps) if step.new == change.new]):
        first = next((n for n in range(last, -1, -1) if steps[n].old == change.old), -1)
        window = steps[max(first, 0) : last + 1]
        held = [s for s in window if s.is_agents and _is_held(s, change, has_start=first >= 0)]
        if held:
            certainty = max((step.certainty for step in held), key=CERTAINTIES.index)
            return Credit(change, certainty, tuple(held))
    return None


def _is_held(step: FileStep, change: FileChange, *, has_start: bool) -> bool:
    if (step.old, step.new) == (change.old, change.new):
        return True
    if step.change == NOTHING:  # it is no text, or its contents are gone
        return has_start or (step.new == change.new and not step.is_of_commit)
    shared = step.change.shared(change.change)
    if has_start and not step.change.tells:
        return bool(shared)
    return any(map(is_distinctive, shared))


def _by_patch(change: FileChange, steps: Sequence[FileStep]) -> Credit | None:
    same = [s for s in steps if s.has_lines and s.change == change.change and s.change.tells]
    return Credit(change, PATCH, (same[-1],)) if same else None


def _by_lines(change: FileChange, steps: Iterable[FileStep]) -> Credit | None:
    shared: set[bytes] = set()
    held = []
    for step in steps:
        same = {*(step.change.added & change.change.added)} if step.has_lines else set()
        same = {line for line in same if is_distinctive(line)}
        shared |= same
        held += [step] if same else []
    if len(shared) < _ENOUGH:
        return None
    return Credit(change, LINES, tuple(held), len(shared))
