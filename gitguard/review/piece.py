"""A piece of work: the code commits of a range, and the checkpoints that led to each of them.

The checkpoints of a session in their order each name the commit that was checked out. A commit is
tied where one of them names it, or names what it was before a rebase, an amend, a cherry-pick or a
squash; where its trailer names a checkpoint; or where times and files agree.
"""

from __future__ import annotations

from bisect import bisect_left
from itertools import islice

from gitguard.errors import GitguardError, InvalidDocument, InvalidInput
from gitguard.model.text import one_line
from gitguard.model.value import Value
from gitguard.review.forms import CERTAINTIES, EXACT, LIKELY, TRAILER, older_forms
from gitguard.review.timeline import Course, Courses, StateReader, gather_courses
from gitguard.sessions.state_comparison import compare_states
from gitguard.state.checkpoint import Checkpoint, read_checkpoint
from gitguard.store.git.commits import Changes, CodeCommits, CommitFile, CommitRange, HistoryCommit

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from gitguard.review.forms import Form, Forms
    from gitguard.sessions.workspace_sessions import WorkspaceSessions
    from gitguard.store.git.reader import ObjectReader

    Tied = dict[str, int]
    """The checkpoint of one course that knows all of a commit, by the commit's id."""

_ANCESTORS = 20
"""Commits before those that are asked about, which say where work on them began."""
_MOST_OTHERS = 2_000
"""Commits outside of the range that are compared with those in it."""
_MOST_STATES = 300
"""States that are read for commits which nothing names."""
_COMMIT_LIMIT = 1 << 16
_SHORT = 7
_TICK = 1
"""Seconds by which a checkpoint may seem later than the commit after it: times are whole ones."""


class CodeChange(Value):
    """A commit of the user's code, and what it changed against its first parent."""

    id: str
    parents: tuple[str, ...]
    subject: str
    """In one printable line, without secrets."""
    authored_at: int
    """Unix seconds; a rebase and an amend keep it."""
    paths: tuple[CommitFile, ...] = ()


class Link(Value):
    """A code commit and the checkpoints of one session that stand around it."""

    commit: CodeChange
    session: str
    """The session's key."""
    certainty: str
    reason: str
    """One sentence on how the link was made."""
    before: Checkpoint | None
    """The last one before work on the commit began; None where the session began with it, or where
    that one cannot be read."""
    after: Checkpoint
    """The one that knows all that became known while the commit was made."""
    between: tuple[Checkpoint, ...] = ()
    """Those taken after `before`, up to and with `after`, oldest first."""
    is_ours: bool = True
    """Whether this machine wrote the session's history, or trusts it."""
    is_cut: bool = False
    """Whether earlier checkpoints cannot be read, so that nobody can say what was new in it."""
    is_past_ours: bool = False
    """Whether it leads to what somebody put on a branch of ours, or in its place."""


class Piece(Value):
    """The commits of a range, oldest first, and how each is tied to checkpoints."""

    base: str
    """A commit id; empty for everything up to the head."""
    head: str
    commits: tuple[CodeChange, ...]
    links: tuple[Link, ...]
    unlinked: tuple[CodeChange, ...] = ()
    """Commits that no checkpoint could be tied to."""
    notes: tuple[str, ...] = ()
    """What a reviewer has to know of the links, such as that the clone is shallow."""

    def up_to_ours(self) -> Piece:
        """Return the piece without what lies past the heads that this machine wrote."""
        links = tuple(link for link in self.links if not link.is_past_ours)
        tied = {link.commit.id for link in links}
        unlinked = tuple(commit for commit in self.commits if commit.id not in tied)
        return self.replace(links=links, unlinked=unlinked)


def piece_of(sessions: WorkspaceSessions, range_text: str = "", session: str = "") -> Piece:
    """Return the commits of a range and the checkpoints that led to each, of one session or all.

    A range is `BASE..HEAD`, or `A...B` from where both parted, or a base alone; by default what
    HEAD has and its upstream or the default branch has not. Raises `InvalidInput` for none, and for
    an unknown session.
    """
    repository = sessions.repository()
    code = CodeCommits(repository)
    commit_range = code.range(range_text)
    history = code.commits(commit_range)
    start = history[0].parent if history else ""
    earlier = code.line(start, _ANCESTORS) if start else []
    with repository.reader() as reader:
        gathering = _Gathering(sessions, code, reader, session)
        piece = gathering.piece(commit_range, [*earlier, *history], history)
    if history:
        return piece
    if range_text and ".." not in range_text:
        raise InvalidInput(
            f"`{range_text:.80}` alone means `{range_text:.80}..HEAD`, which has no commit",
            f"`{range_text:.80}~1..{range_text:.80}` is that commit",
        )
    ends = f"{commit_range.head[:12]} has no commit that {commit_range.base[:12]} lacks"
    return piece.replace(notes=(f"The range is empty: {ends}.", *piece.notes))


def piece_at(sessions: WorkspaceSessions, revision: str, session: str = "") -> Piece:
    """Return one commit and the checkpoints that led to it; raise `InvalidInput` for none."""
    repository = sessions.repository()
    code = CodeCommits(repository)
    head = code.resolve(revision)
    history = code.line(head, _ANCESTORS)
    commit_range = CommitRange(history[-1].parent, head)
    with repository.reader() as reader:
        return _Gathering(sessions, code, reader, session).piece(
            commit_range, history, history[-1:]
        )


class _Gathering:
    """Reads what the decisions of `links` need, and no more."""

    def __init__(
        self, sessions: WorkspaceSessions, code: CodeCommits, reader: ObjectReader, session: str
    ) -> None:
        self._sessions = sessions
        self._session = session
        self._reader = reader
        self._states = StateReader(reader)
        self._code = code
        self._notes: list[str] = []
        self._states_left = _MOST_STATES

    def piece(
        self,
        commit_range: CommitRange,
        history: Sequence[HistoryCommit],
        requested: Sequence[HistoryCommit],
    ) -> Piece:
        """Tie the commits that are asked about; history has them and what leads to them."""
        gathered = gather_courses(self._sessions, self._session)
        changes: dict[str, Changes] = {}
        try:
            changes = self._code.changes([(c.id, c.parent) for c in history if not c.is_cut])
        except GitguardError as error:
            self._notes.append(f"The files that commits changed are unknown: {error.message}")
        ties = self._ties(commit_range.head, history, gathered.courses, changes)
        redact = self._sessions.workspace.redactor.text
        commits = {
            commit.id: CodeChange(
                id=commit.id,
                parents=commit.parents,
                subject=redact(one_line(redact(commit.subject))),
                authored_at=commit.authored_at,
                paths=changes.get(commit.id, ()),
            )
            for commit in requested
        }
        links = self._links(ties, commits, gathered)
        linked = {link.commit.id for link in links}
        self._note_oddities(requested, gathered)
        return Piece(
            base=commit_range.base,
            head=commit_range.head,
            commits=tuple(commits.values()),
            links=tuple(links),
            unlinked=tuple(change for change in commits.values() if change.id not in linked),
            notes=(*gathered.notes, *self._notes),
        )

    def _ties(
        self,
        head: str,
        history: Sequence[HistoryCommit],
        courses: Sequence[Course],
        changes: dict[str, Changes],
    ) -> list[Tie]:
        heads = {head for course in courses for head in course.first}
        # A session that begins at a commit has seen nothing of the work in it; another may have.
        named = {head for course in courses for head, at in course.first.items() if at > 0}
        unnamed = [commit for commit in history if commit.id not in named]
        forms: Forms = {}
        try:
            outside = self._code.elsewhere(heads, head, most=_MOST_OTHERS + 1) if unnamed else []
            if len(outside) > _MOST_OTHERS:
                outside.pop()
                self._notes.append(
                    f"More than {_MOST_OTHERS:,} commits outside of the range led to checkpoints; "
                    "only the newest were compared with those in it."
                )
            if outside:
                forms = older_forms(self._code, unnamed, changes, outside, heads=heads, head=head)
        except GitguardError as error:
            problem = f"Earlier forms of rewritten commits were not found: {error.message}"
            self._notes.append(problem)
        ties = tie_commits(history, courses, forms)
        tied = {tie.commit for tie in ties}
        for commit in unnamed:
            if commit.id not in tied:
                changed = frozenset(change.path for change in changes.get(commit.id, ()))
                likely = (
                    tie
                    for tie in suspects(commit, courses, ties)
                    if self._is_borne_out(tie, changed)
                )
                ties += islice(likely, 1)
        if self._states_left < 0:
            limit = f"{_MOST_STATES:,} states were compared with commits that nothing names"
            self._notes.append(f"Some commits may lack a likely link: {limit}.")
        return with_befores(ties, history, courses)

    def _is_borne_out(self, tie: Tie, changed: frozenset[str]) -> bool:
        """Read what the states before and after a suspected tie say of it."""
        self._states_left -= 2
        if self._states_left < 0 or tie.before is None:
            return False
        ids = tie.course.ids
        try:
            read = self._checkpoints([ids[tie.before], ids[tie.after]])
            before, after = map(self._states.state, read)
        except GitguardError as error:
            self._notes.append(f"A likely link of {tie.commit[:12]} is left out: {error.message}")
            return False
        artifacts = frozenset(artifact.path for artifact in after.artifacts)
        has_news = any(not change.is_bookkeeping for change in compare_states(before, after))
        return is_borne_out(tie, changed, artifacts, has_news=has_news)

    def _links(
        self, ties: Iterable[Tie], commits: dict[str, CodeChange], gathered: Courses
    ) -> list[Link]:
        """Return links in the order of the commits, the surest of each first."""
        order = {commit: place for place, commit in enumerate(commits)}
        commit_ties = [tie for tie in ties if tie.commit in commits]
        commit_ties.sort(key=lambda tie: (order[tie.commit], tie.rank))
        links = []
        for tie in commit_ties:
            course = tie.course
            began = tie.before is None
            is_cut = began and course.is_cut
            # What a cut history begins with may be of this commit or of any before it.
            first = tie.before if tie.before is not None else 0 if is_cut else tie.after
            try:
                checkpoints = self._checkpoints(course.ids[first : tie.after + 1])
            except InvalidDocument as error:
                self._notes.append(f"Commit {tie.commit[:12]} is not linked: {error.message}")
                continue
            links.append(
                Link(
                    commit=commits[tie.commit],
                    session=course.session,
                    certainty=tie.certainty,
                    reason=tie.reason,
                    before=None if began else checkpoints[0],
                    after=checkpoints[-1],
                    between=tuple(checkpoints if began else checkpoints[1:]),
                    is_ours=course.is_ours,
                    is_cut=is_cut,
                    is_past_ours=course.is_past_ours,
                )
            )
        return links

    def _checkpoints(self, ids: Sequence[str]) -> list[Checkpoint]:
        bodies = self._reader.read_all(ids, "commit", limit=_COMMIT_LIMIT)
        checkpoints = []
        for commit in ids:
            body = bodies[commit]
            if isinstance(body, InvalidDocument):
                raise body
            checkpoints.append(read_checkpoint(commit, body)[0])
        return checkpoints

    def _note_oddities(self, requested: Sequence[HistoryCommit], gathered: Courses) -> None:
        cut = [commit.id for commit in requested if commit.is_cut]
        if cut:
            self._notes.append(
                f"The clone is shallow at {cut[0][:12]}, so what came before it, and what it "
                "changed, cannot be seen. Run `git fetch --unshallow`."
            )
        for commit in requested:
            if commit.problem:
                self._notes.append(f"Commit {commit.id[:12]} cannot be read: {commit.problem}")
        if not gathered.courses:
            self._notes.append("No session of this repository has a checkpoint.")
        foreign = sorted({course.session for course in gathered.courses if not course.is_ours})
        if foreign:
            names = ", ".join(f"`{one_line(name)}`" for name in foreign[:5])
            more = f" and {len(foreign) - 5:,} more" * (len(foreign) > 5)
            self._notes.append(f"This machine cannot verify {names}{more}.")


# Ties, which are decided from values alone


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
