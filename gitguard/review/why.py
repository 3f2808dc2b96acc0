"""Says which decisions and failures stand behind the lines of a file.

The lines lead to the commits they come from, a commit to the checkpoints between which it was made,
and these to what was decided, tried and asked for then.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Container, Iterable, Iterator, Sequence

from gitguard.errors import GitFailed, InvalidInput
from gitguard.model.text import one_line, shorten
from gitguard.model.transcript import USER
from gitguard.model.value import Value
from gitguard.review.entries import DECISION, FAILURE, MESSAGE, IndexedItem
from gitguard.review.histories import Histories, IndexedHistory
from gitguard.review.index import is_of_field
from gitguard.review.piece import Link
from gitguard.review.search import Match, match_of
from gitguard.review.words import folded
from gitguard.state.checkpoint import checkpoint_name
from gitguard.state.items import CONSTRAINT, CORRECTION, REQUEST
from gitguard.store.disk import files
from gitguard.store.git.blame import BlamedCommit, BlamedFile
from gitguard.store.git.repository import Repository

MOST = 10
"""Reasons that are shown."""
_SHORT = 7
_MOST_DIGITS = 9
_FILE_LIMIT = 16 << 20
_SUBJECT_LIMIT = 72
_FIELDS = (DECISION, FAILURE, MESSAGE)
_HELD, _APPEARED, _ASKED, _NAMED_THEN = range(1, 5)
"""How near an item is to a commit: it names the file and held then; it came up then; the commit
answers it; it came up then and names the file."""


class CodeLine(Value):
    """A file of the worktree, and perhaps one line of it."""

    path: str
    """From the top of the worktree."""
    line: int = 0
    """In the worktree; 0 for all of them."""


class Made(Value):
    """Between which checkpoints of a history work was done that a commit holds."""

    commit: BlamedCommit
    history: IndexedHistory
    before: int
    """The number of the last checkpoint before work on it began; 0 for the beginning."""
    after: int
    """The number of the first one that knows the work."""
    writers: frozenset[str] = frozenset()
    """The conversations that did it, as far as that is known."""
    beside: frozenset[str] = frozenset()
    """Those that were at work beside it."""

    @property
    def when(self) -> str:
        """Say when, as a reader looks it up."""
        span = checkpoint_name(self.after)
        if self.before + 1 < self.after:
            span = f"{checkpoint_name(self.before + 1)} to {span}"
        return f"the work in {self.commit.id[:_SHORT]} was done ({span})"


class Reason(Value):
    """A decision, failure or request that stands behind the code, and why it is shown."""

    item: Match
    commit: str
    """The code commit that led to it."""
    because: str


class Why(Value):
    """What stands behind a file's lines."""

    path: str
    line: int
    commits: tuple[BlamedCommit, ...]
    """Those that the lines come from, the one of most lines first."""
    unlinked: tuple[str, ...]
    """Of these, the ids of commits that hold no work of a session, as far as that can be shown."""
    reasons: tuple[Reason, ...]
    """The nearest first."""
    left_out: int = 0
    """How many more there are."""
    notes: tuple[str, ...] = ()


def read_target(target: str, worktree: str) -> CodeLine:
    """Read `FILE[:LINE]`; raise `InvalidInput` for a file outside of the worktree.

    A file is looked for from the current folder, and else from the top of the worktree.
    """
    name, colon, number = target.rpartition(":")
    has_line = bool(colon and name) and number.isascii() and number.isdecimal()
    if not has_line or os.path.lexists(target):
        name, number = target, "0"
    elif len(number) > _MOST_DIGITS or int(number) == 0:
        raise InvalidInput(f"`{number:.20}` is not a line of `{name:.200}`", "Lines begin with 1")
    from_top = os.path.join(worktree, name)
    path = from_top if not os.path.lexists(name) and os.path.lexists(from_top) else name
    folder, last = os.path.split(os.path.abspath(path))
    path = os.path.join(os.path.realpath(folder), last)
    if os.path.realpath(path) == worktree:
        raise InvalidInput(f"`{name:.200}` is a folder", "Name a file in it")
    if not path.startswith(worktree + os.sep):
        raise InvalidInput(
            f"`{name:.200}` is outside the worktree `{worktree}`",
            "Name a file of this repository, or another repository with --root",
        )
    return CodeLine(path.removeprefix(worktree + os.sep), int(number))


def blamed(repository: Repository, code: CodeLine) -> tuple[BlamedCommit, ...]:
    """Return the commits that a file's lines come from; raise `InvalidInput` where it has none."""
    path = os.path.join(repository.place.worktree, code.path)
    file = BlamedFile(repository, code.path)
    content = _content(file, code.path, path)
    if b"\0" in content:
        raise InvalidInput(
            f"`{code.path}` is a binary file, which has no lines", "Name a text file"
        )
    if not code.line:
        return file.commits()
    current = files.read_bytes(path, limit=_FILE_LIMIT)
    return file.commits(committed_line(content, current, code.line, code.path))


def _content(file: BlamedFile, name: str, path: str) -> bytes:
    try:
        content = file.content()
    except GitFailed as error:
        raise InvalidInput(
            f"nothing is committed in this repository that `{name}` could come from",
            "Commit the file first",
        ) from error
    if content is not None:
        return content
    if os.path.isdir(path):
        raise InvalidInput(f"`{name}` is a folder", "Name a file in it")
    if os.path.lexists(path):
        raise InvalidInput(f"`{name}` is not committed at HEAD as a plain file", "Commit it first")
    raise InvalidInput(
        f"there is no file `{name}`, neither here nor at HEAD", "See `git ls-files` for the names"
    )


def why(
    code: CodeLine,
    commits: tuple[BlamedCommit, ...],
    histories: Histories,
    links: Sequence[Link],
    redact: Callable[[str], str],
) -> Why:
    """Return what stands behind the commits of a file's lines, the nearest first.

    links tie them to the work that they hold.
    """
    made = {commit.id: list(_made(commit, links, histories.all)) for commit in commits}
    best: dict[tuple[str, str], tuple[int, IndexedItem, Made]] = {}
    for making in (making for several in made.values() for making in several):
        for nearness, entry in _near(making, code.path):
            key = (making.history.session, entry.key)
            if key not in best or best[key][0] < nearness:
                best[key] = (nearness, entry, making)
    ranked = sorted(best.values(), key=_order, reverse=True)
    reasons = tuple(_reason(near, code.path, redact) for near in ranked[:MOST])
    described = tuple(c.replace(subject=_subject(c, redact)) for c in commits)
    paths = {commit.id: commit.path for commit in commits if not made[commit.id]}
    foreign = {
        link.commit.id
        for link in links
        if not link.is_ours and paths.get(link.commit.id) in {file.path for file in link.files}
    }
    unlinked = tuple(c for c, several in made.items() if not several and c not in foreign)
    hidden = (
        f"Commit {commit[:12]} holds work of a session that this machine has no record of; "
        "--untrusted shows what it says."
        for commit in made
        if commit in foreign
    )
    left = max(len(ranked) - MOST, 0)
    return Why(
        path=code.path,
        line=code.line,
        commits=described,
        unlinked=unlinked,
        reasons=reasons,
        left_out=left,
        notes=(*histories.notes, *hidden),
    )


def shallow_notes(commits: Iterable[BlamedCommit], cut: Container[str]) -> tuple[str, ...]:
    """Say where lines may come from earlier commits, which a shallow clone does not have."""
    return tuple(
        f"The clone is shallow at {commit.id[:12]}, so its lines may come from earlier commits. "
        "Run `git fetch --unshallow`."
        for commit in commits
        if commit.id in cut
    )


def _made(
    commit: BlamedCommit, links: Iterable[Link], histories: Iterable[IndexedHistory]
) -> Iterator[Made]:
    """Yield between which checkpoints the work on the file was done that a commit holds."""
    by_session = {(h.session, h.is_ours, h.writer): h for h in histories if not h.archived}
    archived = {(h.session, h.is_ours, h.writer): h for h in histories if h.archived}
    for link in links:
        key = (link.session, link.is_ours, link.lane_writer)
        history = by_session.get(key, archived.get(key))
        if link.commit.id != commit.id or history is None:
            continue
        for file in link.files:
            if file.path == commit.path:
                for before, after in file.spans:
                    yield Made(
                        commit, history, before, after, writers=file.writers, beside=file.beside
                    )


def _near(made: Made, path: str) -> Iterator[tuple[int, IndexedItem]]:
    """Yield what is near a commit, and how near: what came up, or held, while it was made.

    The turn of one of several conversations at work began with its own request, and what the others
    said counts only where it names the file.
    """
    index = made.history.index
    numbers = (n for n, line in enumerate(index.lines) if is_of_field(line, _FIELDS))
    request: IndexedItem | None = None
    noted: list[IndexedItem] = []
    for entry in index.entries(numbers):
        if entry.first > made.after:
            continue
        if entry.field != MESSAGE:
            noted.append(entry)
        elif _is_request(entry) and _is_of_work(entry, made):
            request = entry
    for entry in noted:
        is_named = _names(entry, path, made)
        if entry.conversation in made.beside and not is_named:
            continue
        is_of_turn = request is not None and entry.when >= request.when
        if entry.first > made.before or (is_of_turn and _is_of_work(entry, made)):
            yield _NAMED_THEN if is_named else _APPEARED, entry
        elif not 0 < entry.removed <= made.before and is_named:
            yield _HELD, entry
    if request is not None:
        yield _ASKED, request


def _is_of_work(entry: IndexedItem, made: Made) -> bool:
    """Say whether an item came up in the work, or where others worked too, in the conversation."""
    if made.beside:
        return entry.conversation in made.writers
    return entry.first > made.before


def _is_request(entry: IndexedItem) -> bool:
    return entry.by == USER and entry.kind in (REQUEST, CORRECTION, CONSTRAINT)


def _names(entry: IndexedItem, path: str, made: Made) -> bool:
    """Say whether an item names the file or the commit."""
    text = folded(" ".join(entry.parts))
    name = folded(os.path.basename(path))
    return name in text or made.commit.id[:_SHORT] in text


def _order(near: tuple[int, IndexedItem, Made]) -> tuple[int, bool, str]:
    """Return by what reasons are ordered, the last first: nearness, decisions, time."""
    nearness, entry, _ = near
    return nearness, entry.field == DECISION, entry.when


def _reason(near: tuple[int, IndexedItem, Made], path: str, redact: Callable[[str], str]) -> Reason:
    nearness, entry, made = near
    name = os.path.basename(path)
    because = {
        _NAMED_THEN: f"it came up while {made.when}, and names {name} or the commit",
        _ASKED: f"it is the last that the user asked for before {made.when}",
        _APPEARED: f"it came up while {made.when}",
        _HELD: f"it held while {made.when}, and names {name} or the commit",
    }[nearness]
    return Reason(match_of(entry, made.history, "", redact), made.commit.id, because)


def _subject(commit: BlamedCommit, redact: Callable[[str], str]) -> str:
    return shorten(one_line(redact(commit.subject)), _SUBJECT_LIMIT)


# A line of a file in the worktree, and the line of the committed file that it is


_MOST_COMPARED = 20_000
"""Lines that differ in one go; comparing takes time by their square."""


def committed_line(committed: bytes, current: bytes | None, line: int, path: str) -> int:
    """Return the number in the committed file of a line of the current one.

    current is None where the worktree has no such file. Raises `InvalidInput` for a line that is
    not there, or not committed.
    """
    before = _lines(committed)
    after = before if current is None else _lines(current)
    if not 1 <= line <= len(after):
        raise InvalidInput(
            f"`{path}` has no line {line}: it has {len(after):,}", "Name one of its lines"
        )
    place = _place_of(before, after, line - 1)
    if place is None:
        raise InvalidInput(
            f"line {line} of `{path}` is not committed yet",
            "Commit it, or name another line; `gitguard show` says what the agent works at",
        )
    return place + 1


def _lines(content: bytes) -> list[bytes]:
    # What git does with line ends when it checks a file out is no change of a line.
    lines = content.replace(b"\r\n", b"\n").split(b"\n")
    return lines if lines[-1] else lines[:-1]


def _place_of(before: list[bytes], after: list[bytes], index: int) -> int | None:
    """Return where a line of after stands in before, None where it does not."""
    shortest = min(len(before), len(after))
    start = next((n for n in range(shortest) if before[n] != after[n]), shortest)
    if index < start:
        return index
    unlike = shortest - start
    end = next((n for n in range(unlike) if before[-1 - n] != after[-1 - n]), unlike)
    if index >= len(after) - end:
        return index + len(before) - len(after)
    old, new = before[start : len(before) - end], after[start : len(after) - end]
    if len(old) + len(new) > _MOST_COMPARED:
        return None
    import difflib

    matcher = difflib.SequenceMatcher(None, old, new, autojunk=False)
    for from_old, from_new, size in matcher.get_matching_blocks():
        if from_new <= index - start < from_new + size:
            return start + from_old + index - start - from_new
    return None
