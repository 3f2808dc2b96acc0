"""Ties code commits to checkpoints: decides, from values alone, which belong together.

The checkpoints of a session in their order each name the commit that was checked out. A commit is
tied where one of them names it, or names what it was before a rebase, an amend, a cherry-pick or a
squash; where its trailer names a checkpoint; or where times and files agree.
"""

from __future__ import annotations

from bisect import bisect_left

from gitguard.model.value import Value
from gitguard.review.forms import CERTAINTIES, EXACT, LIKELY, TRAILER

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from gitguard.review.forms import Form, Forms
    from gitguard.review.timeline import Course
    from gitguard.store.git.commits import HistoryCommit

    Tied = dict[str, int]
    """The checkpoint of one course that knows all of a commit, by the commit's id."""

_SHORT = 7
_TICK = 1
"""Seconds by which a checkpoint may seem later than the commit after it: times are whole ones."""


class Tie(Value):
    """A commit and the checkpoints of a course around it, by their places in it."""

    commit: str
    course: Course
    after: int
    certainty: str
    reason: str
    before: int | None = None
    parents: tuple[str, ...] = ()
    """What the commit, or what it was before, was made on."""
    chain: tuple[str, ...] = ()
    """What it was before."""
    needs_files: bool = False
    """Whether it only holds where the checkpoint knows of one of the commit's files."""

    @property
    def rank(self) -> tuple[bool, int]:
        """What to sort ties by: work that led to a commit before work on top, the surest first."""
        return self.before is None, CERTAINTIES.index(self.certainty)


def tie_commits(
    commits: Sequence[HistoryCommit], courses: Sequence[Course], forms: Forms
) -> list[Tie]:
    """Tie commits, parents before children, to each course that knows them, by what names them."""
    ties = (
        min(_ties(commit, course, forms.get(commit.id, ())), key=lambda tie: tie.rank, default=None)
        for course in courses
        for commit in commits
    )
    return [tie for tie in ties if tie is not None]


def _ties(commit: HistoryCommit, course: Course, forms: Sequence[Form]) -> Iterator[Tie]:
    """Yield what ties a commit to a course; nothing else is looked for where one names it."""
    parents = commit.parents[:1]
    after = course.first.get(commit.id, -1)
    if after >= course.shared:
        reason = f"{course.named(after)} names this commit"
        yield Tie(commit.id, course, after, certainty=EXACT, reason=reason, parents=parents)
        return
    for form in forms:
        after = course.first.get(form.head, -1)
        if after >= course.shared:
            reason = f"{course.named(after)} names {form.head[:_SHORT]}, {form.reason}"
            tie = Tie(commit.id, course, after, certainty=form.certainty, reason=reason)
            yield tie.replace(parents=(form.parent, *parents), chain=form.chain)
    for name in commit.checkpoints:
        for after in range(course.shared, len(course.ids)):
            if course.ids[after].startswith(name):
                reason = f"its trailer Gitguard-Checkpoint names {course.named(after)}"
                yield Tie(
                    commit.id, course, after, certainty=TRAILER, reason=reason, parents=parents
                )


# What only times and files speak for


def suspects(commit: HistoryCommit, courses: Sequence[Course], ties: Iterable[Tie]) -> list[Tie]:
    """Return what may tie a commit that nothing names, the likeliest first.

    That is the work at its parent before it was written, or else around the time of it.
    """
    of_parent = [tie for tie in ties if tie.commit in commit.parents[:1]]
    at_parent = [tie for course in courses for tie in _at_parent(commit, course, of_parent)]
    at_parent.sort(key=lambda tie: -tie.course.times[tie.after])
    return [*at_parent, *(tie for course in courses for tie in _around(commit, course))]


def _at_parent(commit: HistoryCommit, course: Course, of_parent: Iterable[Tie]) -> Iterator[Tie]:
    parent = commit.parents[0] if commit.parents else ""
    tied = (tie.after for tie in of_parent if tie.course is course)
    before = next(tied, course.first.get(parent))
    head = parent if before is None else course.heads[before]
    after = course.last.get(head, -1)
    while after >= course.shared and (
        course.heads[after] != head or course.times[after] > commit.authored_at + _TICK
    ):
        after -= 1
    # With one checkpoint alone nothing became known between the parent and the commit.
    if before is not None and before < after and after >= course.shared:
        reason = (
            f"{course.named(after)} is the last one at its parent before the commit was written"
        )
        tie = Tie(commit.id, course, after, certainty=LIKELY, reason=reason)
        yield tie.replace(before=before, parents=(parent,))


def _around(commit: HistoryCommit, course: Course) -> Iterator[Tie]:
    after = bisect_left(course.times, commit.authored_at)
    if commit.authored_at and max(1, course.shared) <= after < len(course.times):
        names = f"checkpoint {course.sequences[after - 1]} and {course.named(after)}"
        reason = f"it was written between {names}, which knows of its files"
        tie = Tie(commit.id, course, after, certainty=LIKELY, reason=reason, needs_files=True)
        yield tie.replace(before=after - 1, parents=commit.parents[:1])


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
    ties: Sequence[Tie], commits: Sequence[HistoryCommit], courses: Sequence[Course]
) -> list[Tie]:
    """Return ties with the last checkpoint before work on each commit began."""
    parents = {commit.id: commit.parents for commit in commits}
    complete = []
    for course in courses:
        of_course = [tie for tie in ties if tie.course is course]
        tied = {tie.commit: tie.after for tie in of_course}
        complete += [tie.replace(before=_before(tie, tied, parents)) for tie in of_course]
    return complete


def _last_return(course: Course, first: int, after: int) -> int:
    """Return where work began for the last time at the commit of a place, before another one.

    Between the two, other commits may have been made on it, as on a branch beside.
    """
    head = course.heads[first]
    place = after - 1
    while place > first and course.heads[place] != head:
        place -= 1
    while place > first and course.heads[place - 1] == head:
        place -= 1
    return place


def _before(tie: Tie, tied: Tied, parents: Mapping[str, tuple[str, ...]]) -> int | None:
    first = tie.course.first

    def place_of(commit: str) -> int:
        return tied.get(commit, first.get(commit, tie.after))

    ancestors = parents.get(tie.commit, ())
    # A merge itself begins when the last of what it takes in is done.
    merged = [place_of(parent) for parent in ancestors] if len(ancestors) > 1 else []
    earlier = [place for place in merged if place < tie.after]
    if earlier:
        return _last_return(tie.course, max(earlier), tie.after)
    for parent in tie.parents:
        place = place_of(parent)
        if place < tie.after:
            return _last_return(tie.course, place, tie.after)
    # No checkpoint was taken at the parent: several commits were made between two of them.
    while ancestors:
        place = place_of(ancestors[0])
        if place < tie.after:
            return place
        ancestors = parents.get(ancestors[0], ())
    began = min((first.get(commit, tie.after) for commit in tie.chain), default=tie.after)
    began = min(began, tie.after)
    return began - 1 if began else None
