"""Ties code commits to checkpoints: decides, from values alone, which belong together.

The checkpoints of a session in their order each name the commit that was checked out. A commit is
tied where one of them names it, or names what it was before a rebase, an amend, a cherry-pick or a
squash; where its trailer names a checkpoint; or where times and files agree.
"""

from __future__ import annotations

from bisect import bisect_left

from gitguard.model.value import Value
from gitguard.review.piece import CERTAINTIES, EXACT, LIKELY, TRAILER

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from gitguard.review.forms import Form, Forms
    from gitguard.store.git.commits import HistoryCommit

    Tied = dict[str, int]
    """The checkpoint of one course that knows all of a commit, by the commit's id."""

_SHORT = 7
_TICK = 1
"""Seconds by which a checkpoint may seem later than the commit after it: times are whole ones."""


class Mark(Value):
    """What of a checkpoint decides about links; a long history keeps no more in memory."""

    id: str
    sequence: int
    head: str
    """The code commit that was checked out, empty before the first."""
    at: int


class Course(Value):
    """The checkpoints of one history of a session, oldest first."""

    session: str
    """The session's key."""
    name: str
    marks: tuple[Mark, ...]
    is_ours: bool
    shared: int = 0
    """How many of the first ones another course has too, which ties commits to them."""
    is_cut: bool = False
    """Whether there were checkpoints before the first of them that cannot be read."""
    is_past_ours: bool = False
    """Whether somebody put it on a branch of ours, or in its place."""


class Tie(Value):
    """A commit and the checkpoints of a course around it, by their places in it."""

    commit: str
    course: int
    certainty: str
    reason: str
    after: int
    before: int | None = None
    parents: tuple[str, ...] = ()
    """What the commit, or what it was before, was made on."""
    chain: tuple[str, ...] = ()
    """What it was before."""
    needs_files: bool = False
    """Whether it only holds where the checkpoint knows of one of the commit's files."""

    @property
    def rank(self) -> tuple[bool, int, int]:
        """What to sort ties by: work that led to a commit before work on top, the surest first."""
        return self.before is None, CERTAINTIES.index(self.certainty), self.course


class Places:
    """Where in a course each code commit is checked out first and last."""

    def __init__(self, course: Course) -> None:
        """Look through a course once."""
        self.marks = course.marks
        self.shared = course.shared
        self.first: dict[str, int] = {}
        self.last: dict[str, int] = {}
        for place, mark in enumerate(course.marks):
            self.first.setdefault(mark.head, place)
            self.last[mark.head] = place
        self.times = [mark.at for mark in course.marks]

    def named(self, place: int) -> str:
        """Return how a reason calls a checkpoint."""
        return f"checkpoint {self.marks[place].sequence}"


def tie_commits(
    commits: Sequence[HistoryCommit], every: Sequence[Places], forms: Forms
) -> list[Tie]:
    """Tie commits, parents before children, to each course that knows them, by what names them."""
    ties = []
    for number, places in enumerate(every):
        for commit in commits:
            tie = _tie(commit, number, places, forms.get(commit.id, ()))
            if tie is not None:
                ties.append(tie)
    return ties


def _tie(commit: HistoryCommit, course: int, places: Places, forms: Sequence[Form]) -> Tie | None:
    exact = next(_exact(commit, course, places), None)
    if exact is not None:
        return exact  # nothing is surer, and a trailer is looked for in the whole course
    ties = [
        *_by_forms(commit, course, places, forms),
        *_by_trailer(commit, course, places),
    ]
    return min(ties, key=lambda tie: CERTAINTIES.index(tie.certainty), default=None)


def _exact(commit: HistoryCommit, course: int, places: Places) -> Iterator[Tie]:
    after = places.first.get(commit.id, -1)
    if after >= places.shared:
        reason = f"{places.named(after)} names this commit"
        yield Tie(commit.id, course, EXACT, reason, after, parents=commit.parents[:1])


def _by_forms(
    commit: HistoryCommit, course: int, places: Places, forms: Sequence[Form]
) -> Iterator[Tie]:
    for form in forms:
        after = places.first.get(form.head, -1)
        if after >= places.shared:
            yield Tie(
                commit.id,
                course,
                form.certainty,
                f"{places.named(after)} names {form.head[:_SHORT]}, {form.reason}",
                after,
                parents=(form.parent, *commit.parents[:1]),
                chain=form.chain,
            )


def _by_trailer(commit: HistoryCommit, course: int, places: Places) -> Iterator[Tie]:
    for name in commit.checkpoints:
        for after, mark in enumerate(places.marks[places.shared :], places.shared):
            if mark.id.startswith(name):
                reason = f"its trailer Gitguard-Checkpoint names {places.named(after)}"
                yield Tie(commit.id, course, TRAILER, reason, after, parents=commit.parents[:1])


# What only times and files speak for


def suspects(commit: HistoryCommit, every: Sequence[Places], ties: Iterable[Tie]) -> list[Tie]:
    """Return what may tie a commit that nothing names, the likeliest first.

    That is the work at its parent before it was written, or else around the time of it.
    """
    tied = {tie.course: tie.after for tie in ties if tie.commit in commit.parents[:1]}
    at_parent = [
        tie
        for number, places in enumerate(every)
        for tie in _at_parent(commit, number, places, tied.get(number))
    ]
    at_parent.sort(key=lambda tie: -every[tie.course].times[tie.after])
    around = [tie for number, places in enumerate(every) for tie in _around(commit, number, places)]
    return [*at_parent, *around]


def _at_parent(
    commit: HistoryCommit, course: int, places: Places, tied: int | None
) -> Iterator[Tie]:
    parent = commit.parents[0] if commit.parents else ""
    before = places.first.get(parent) if tied is None else tied
    head = parent if before is None else places.marks[before].head
    after = places.last.get(head, -1)
    while after >= places.shared and (
        places.marks[after].head != head or places.times[after] > commit.authored_at + _TICK
    ):
        after -= 1
    # With one checkpoint alone nothing became known between the parent and the commit.
    if before is not None and before < after and after >= places.shared:
        reason = (
            f"{places.named(after)} is the last one at its parent before the commit was written"
        )
        yield Tie(commit.id, course, LIKELY, reason, after, before, parents=(parent,))


def _around(commit: HistoryCommit, course: int, places: Places) -> Iterator[Tie]:
    after = bisect_left(places.times, commit.authored_at)
    if commit.authored_at and max(1, places.shared) <= after < len(places.times):
        names = f"checkpoint {places.marks[after - 1].sequence} and {places.named(after)}"
        reason = f"it was written between {names}, which knows of its files"
        tie = Tie(commit.id, course, LIKELY, reason, after, after - 1, commit.parents[:1])
        yield tie.replace(needs_files=True)


def is_borne_out(
    tie: Tie, changed: frozenset[str], artifacts: frozenset[str], *, has_news: bool
) -> bool:
    """Say whether the states of its checkpoints speak for a suspected tie.

    artifacts are the files that the state names. One that names none, as without hooks, speaks
    neither for nor against work at the commit's parent; there, something has to have become known.
    """
    if not artifacts and not tie.needs_files:
        return has_news
    return not changed.isdisjoint(artifacts)


# The checkpoint before


def with_befores(
    ties: Sequence[Tie], commits: Sequence[HistoryCommit], every: Sequence[Places]
) -> list[Tie]:
    """Return ties with the last checkpoint before work on each commit began."""
    parents = {commit.id: commit.parents for commit in commits}
    complete = []
    for number, places in enumerate(every):
        tied = {tie.commit: tie.after for tie in ties if tie.course == number}
        for tie in ties:
            if tie.course == number:
                complete.append(tie.replace(before=_before(tie, places, tied, parents)))
    return complete


def _last_return(places: Places, first: int, after: int) -> int:
    """Return where work began for the last time at the commit of a place, before another one.

    Between the two, other commits may have been made on it, as on a branch beside.
    """
    head = places.marks[first].head
    place = after - 1
    while place > first and places.marks[place].head != head:
        place -= 1
    while place > first and places.marks[place - 1].head == head:
        place -= 1
    return place


def _before(
    tie: Tie, places: Places, tied: Tied, parents: Mapping[str, tuple[str, ...]]
) -> int | None:
    def place_of(commit: str) -> int:
        return tied.get(commit, places.first.get(commit, tie.after))

    ancestors = parents.get(tie.commit, ())
    # A merge itself begins when the last of what it takes in is done.
    merged = [place_of(parent) for parent in ancestors] if len(ancestors) > 1 else []
    earlier = [place for place in merged if place < tie.after]
    if earlier:
        return _last_return(places, max(earlier), tie.after)
    for parent in tie.parents:
        place = place_of(parent)
        if place < tie.after:
            return _last_return(places, place, tie.after)
    # No checkpoint was taken at the parent: several commits were made between two of them.
    while ancestors:
        place = place_of(ancestors[0])
        if place < tie.after:
            return place
        ancestors = parents.get(ancestors[0], ())
    began = min((places.first.get(commit, tie.after) for commit in tie.chain), default=tie.after)
    began = min(began, tie.after)
    return began - 1 if began else None
