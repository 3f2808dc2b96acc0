"""A piece of work: the code commits of a range, and the checkpoints that led to each of them.

A commit is tied to the work that it holds, by content (`authorship`), and through it to what became
known in the turns of that work. Neither times nor what was checked out tie anything.
"""

from __future__ import annotations

from functools import partial

from gitguard.errors import GitguardError, InvalidDocument, InvalidInput
from gitguard.model.text import one_line
from gitguard.model.value import Value
from gitguard.review.authorship import (
    CERTAINTIES,
    CONTENT,
    PATCH,
    Credit,
    FileChange,
    FileStep,
    LineChange,
    StepIndex,
    first_credit,
    without_moves,
)
from gitguard.review.matches import HeldFile, Matches, steps_of
from gitguard.review.steps import CourseSteps, lines_between
from gitguard.review.timeline import (
    EVERY_HISTORY,
    Course,
    Courses,
    HistoryChoice,
    StateReader,
    gather_courses,
)
from gitguard.sessions.lane_reading import lane_label
from gitguard.state.checkpoint import SHELL, TOOLS, UNSEEN, Checkpoint, read_checkpoint
from gitguard.state.task import at_work_beside, writers_of
from gitguard.store.git.commits import (
    Changes,
    CodeCommits,
    CommitBlob,
    CommitFile,
    CommitRange,
    HistoryCommit,
)
from gitguard.store.git.trees import Trees, file_at
from gitguard.store.session.workspace import Session

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from gitguard.sessions.workspace_sessions import WorkspaceSessions
    from gitguard.state.task import TaskState
    from gitguard.store.git.reader import ObjectReader

_COMMIT_LIMIT = 1 << 16
_MOST_CHECKPOINTS, _MOST_NEW = 5_000, 50
"""Checkpoints of a session and new commits with which a hook still looks for matches."""


class CodeChange(Value):
    """A commit of the user's code, and what it changed against its first parent."""

    id: str
    parents: tuple[str, ...]
    subject: str
    """In one printable line, without secrets."""
    authored_at: int
    """Unix seconds; a rebase and an amend keep it."""
    paths: tuple[CommitFile, ...] = ()


class LinkedFile(Value):
    """A file of a commit in which the content shows an agent's work."""

    path: str
    certainty: str
    author: str
    """tools, shell or unseen."""
    spans: tuple[tuple[int, int], ...] = ()
    """The turns of the work: the numbers of the checkpoint before each, and at its end."""
    writers: frozenset[str] = frozenset()
    """The conversations that wrote it, none where that is not known."""
    beside: frozenset[str] = frozenset()
    """Those that were at work beside them, perhaps on another file of the commit."""


class Link(Value):
    """A code commit, and the checkpoints of one session between which work in it was done."""

    commit: CodeChange
    session: str
    """The session's key."""
    certainty: str
    reason: str
    """One sentence on how the link was made."""
    before: Checkpoint
    """The last one before the work began."""
    after: Checkpoint
    """The one at which the work was done."""
    between: tuple[Checkpoint, ...] = ()
    """Those taken after `before`, up to and with `after`, oldest first."""
    following: tuple[Checkpoint, ...] = ()
    """Those taken afterwards, before any file changed again."""
    files: tuple[LinkedFile, ...] = ()
    """The files that show it."""
    writers: frozenset[str] = frozenset()
    """The conversations that wrote them, none where that is not known."""
    beside: frozenset[str] = frozenset()
    """Those that were at work beside them, on something else."""
    is_ours: bool = True
    """Whether this machine wrote the session's history, or trusts it."""
    lane_writer: str = ""
    """The writer of the lane that has the checkpoints; empty for a session's own history."""

    @property
    def label(self) -> str:
        """How a list names the session, or the lane."""
        return lane_label(self.session, self.lane_writer)


class Piece(Value):
    """The commits of a range, oldest first, and how each is tied to checkpoints."""

    base: str
    """A commit id; empty for everything up to the head."""
    head: str
    commits: tuple[CodeChange, ...]
    links: tuple[Link, ...]
    unlinked: tuple[CodeChange, ...] = ()
    """Commits that no checkpoint could be tied to."""
    written: frozenset[str] = frozenset()
    """The paths at which hooks saw an agent write last what no commit of these begins from."""
    notes: tuple[str, ...] = ()
    """What a reviewer has to know of the links, such as that the clone is shallow."""


def piece_of(
    sessions: WorkspaceSessions, range_text: str = "", choice: HistoryChoice = EVERY_HISTORY
) -> Piece:
    """Return the commits of a range and the checkpoints of some histories that led to each.

    A range is `BASE..HEAD`, or `A...B` from where both parted, or a base alone; by default what
    HEAD has and its upstream or the default branch has not. Raises `InvalidInput` for none, and for
    an unknown session.
    """
    code = CodeCommits(sessions.repository())
    commit_range = code.range(range_text)
    history = code.commits(commit_range)
    piece = _piece(sessions, code, commit_range, history, choice=choice)
    if history:
        return piece
    if range_text and ".." not in range_text:
        raise InvalidInput(
            f"`{range_text:.80}` alone means `{range_text:.80}..HEAD`, which has no commit",
            f"`{range_text:.80}~1..{range_text:.80}` is that commit",
        )
    base, head = commit_range.base[:12], commit_range.head[:12]
    ends = f"{head} has no commit that {base} lacks"
    if head == base:
        ends = f"it begins and ends at {head}. Name one, such as `{head}~3..{head}`"
    return piece.replace(notes=(f"The range is empty: {ends}.", *piece.notes))


def piece_at(
    sessions: WorkspaceSessions, revision: str, choice: HistoryChoice = EVERY_HISTORY
) -> Piece:
    """Return one commit and the checkpoints that led to it; raise `InvalidInput` for none."""
    code = CodeCommits(sessions.repository())
    (commit,) = code.named([code.resolve(revision)])
    return _piece(sessions, code, CommitRange(commit.parent, commit.id), [commit], choice=choice)


def piece_of_commits(
    sessions: WorkspaceSessions, ids: Sequence[str], choice: HistoryChoice = EVERY_HISTORY
) -> Piece:
    """Return some commits, wherever they are, and the checkpoints that led to each."""
    code = CodeCommits(sessions.repository())
    return _piece(sessions, code, CommitRange("", ""), code.named(ids), choice=choice)


def keep_matches(sessions: WorkspaceSessions, left: str, session: Session) -> None:
    """Keep which commits since one that HEAD left hold a session's work, unless there are many."""
    anchor = sessions.store(session).chain.anchors.read()
    if anchor is None or anchor.sequence > _MOST_CHECKPOINTS:
        return
    code = CodeCommits(sessions.repository())
    new = code.commits(CommitRange(left, code.resolve("HEAD")))
    # Others' lanes match nothing that is kept, and a hook waits for this.
    choice = HistoryChoice(session.name, with_lanes=False)
    _piece(sessions, code, CommitRange("", ""), new[-_MOST_NEW:], choice=choice)


def _piece(
    sessions: WorkspaceSessions,
    code: CodeCommits,
    commit_range: CommitRange,
    commits: Sequence[HistoryCommit],
    *,
    choice: HistoryChoice,
) -> Piece:
    with sessions.repository().reader() as reader:
        return _Gathering(sessions, code, reader, choice).piece(commit_range, commits)


class _Gathering:
    """Reads what the links need, and no more."""

    def __init__(
        self,
        sessions: WorkspaceSessions,
        code: CodeCommits,
        reader: ObjectReader,
        choice: HistoryChoice,
    ) -> None:
        self._sessions = sessions
        self._choice = choice
        self._reader = reader
        self._states = StateReader(reader)
        self._trees = Trees(reader)
        self._code = code
        self._notes: list[str] = []
        self._written: set[str] = set()

    def piece(self, commit_range: CommitRange, commits: Sequence[HistoryCommit]) -> Piece:
        """Tie the commits that are asked about."""
        gathered = gather_courses(self._sessions, self._choice)
        compared = [(c.id, c.parent) for c in commits if not c.is_cut]
        changes: dict[str, Changes] = {}
        held: dict[str, list[FileChange]] = {}
        try:
            changes = self._code.changes(compared)
            # What a merge takes in, other commits hold.
            single = [(c.id, c.parent) for c in commits if not c.is_cut and len(c.parents) < 2]
            held = self._held(single)
        except GitguardError as error:
            self._notes.append(f"The files that commits changed are unknown: {error.message}")
        redact = self._sessions.workspace.redactor.text
        described = {
            commit.id: CodeChange(
                id=commit.id,
                parents=commit.parents,
                subject=redact(one_line(redact(commit.subject))),
                authored_at=commit.authored_at,
                paths=changes.get(commit.id, ()),
            )
            for commit in commits
        }
        links = [
            link for course in gathered.courses for link in self._links_of(course, described, held)
        ]
        order = {commit: place for place, commit in enumerate(described)}
        links.sort(key=lambda link: (order[link.commit.id], CERTAINTIES.index(link.certainty)))
        linked = {link.commit.id for link in links}
        self._note_oddities(commits, gathered)
        return Piece(
            base=commit_range.base,
            head=commit_range.head,
            commits=tuple(described.values()),
            links=tuple(links),
            unlinked=tuple(change for change in described.values() if change.id not in linked),
            written=frozenset(self._written),
            notes=(*gathered.notes, *dict.fromkeys(self._notes)),
        )

    def _held(self, compared: Sequence[tuple[str, str]]) -> dict[str, list[FileChange]]:
        """Return what commits change in files, with lines that are read when they are asked for."""
        held = {}
        parents = dict(compared)
        for commit, blobs in self._code.blobs(compared).items():
            lines = _CommitLines(self._reader, [(blob.old, blob.new) for blob in blobs])
            held[commit] = [
                FileChange(
                    b.path,
                    b.old_path,
                    b.old,
                    b.new,
                    lines=partial(lines.of, place),
                    copied_from=partial(self._copied, b, parents[commit]),
                )
                for place, b in enumerate(blobs)
            ]
        return held

    def _copied(self, blob: CommitBlob, parent: str, source: str) -> FileChange | None:
        """Return a new file of a commit as a change to one that its parent has."""
        try:
            tree = self._trees.of_commit(parent) if parent else ""
            entry = file_at(self._trees, tree, source)
        except InvalidDocument:
            return None
        if entry is None:
            return None

        def added() -> LineChange:
            # A new file removes no lines of another one.
            return lines_between(self._reader, entry.id, blob.new).without_removed()

        return FileChange(blob.path, source, entry.id, blob.new, lines=added)

    def _links_of(
        self,
        course: Course,
        commits: Mapping[str, CodeChange],
        held: Mapping[str, Sequence[FileChange]],
    ) -> Iterator[Link]:
        """Yield the links of commits to one session."""
        session = Session(course.name, course.name)
        folder = self._sessions.workspace.anchor_folder(session)
        new: list[HeldFile] = []
        with CourseSteps(self._sessions, course, partial(self._state_at, course)) as work:
            try:
                evidence = [work.steps() if course.is_of_here else {}, work.named()]
                matches = Matches(folder).read() if course.is_of_here else ()
                evidence.append(steps_of(matches, {c: n for n, c in enumerate(course.ids)}))
                by_evidence = [StepIndex(steps) for steps in evidence]
                self._written |= _written_last(evidence, held.values())
            except GitguardError as error:
                name = one_line(course.label)
                self._notes.append(f"The work of {name} is left out: {error.message}")
                return
            for commit, changes in held.items():
                found_credits = filter(None, (first_credit(c, by_evidence) for c in changes))
                credits = [work.with_turns(credit) for credit in found_credits]
                new += [_held_file(commit, credit, course) for credit in credits if credit.spans]
                for run in runs_of(credits):
                    try:
                        yield self._link(commits[commit], course, run, work.ends_at(run.after))
                    except InvalidDocument as error:
                        self._notes.append(f"Commit {commit[:12]} is not linked: {error.message}")
        if course.is_of_here:
            Matches(folder).add(new, matches)

    def _state_at(self, course: Course, place: int) -> TaskState:
        (checkpoint,) = self._checkpoints([course.ids[place]])
        return self._states.state(checkpoint)

    def _link(self, commit: CodeChange, course: Course, run: WorkRun, end: int) -> Link:
        before, *later = self._checkpoints(course.ids[run.before : end + 1])
        between = later[: run.after - run.before]
        certainty = min((credit.certainty for credit in run.credits), key=CERTAINTIES.index)
        try:
            state = self._state_at(course, run.after)
        except GitguardError:
            state = None  # whoever shows it says what is wrong with it
        files: list[LinkedFile] = []
        paths: set[str] = set()
        for credit in run.credits:
            of_file = {step.path for step in credit.steps}
            writers, beside = _at_work(state, of_file)
            files.append(
                LinkedFile(
                    credit.change.path,
                    credit.certainty,
                    credit.steps[-1].author,
                    tuple((course.sequences[n], course.sequences[m]) for n, m in credit.spans),
                    writers=writers,
                    beside=beside,
                )
            )
            paths |= of_file
        writers, beside = _at_work(state, paths)
        return Link(
            commit=commit,
            session=course.session,
            certainty=certainty,
            reason=reason_of(run, course),
            before=before,
            after=between[-1],
            between=tuple(between),
            following=tuple(later[len(between) :]),
            files=tuple(files),
            writers=writers,
            beside=beside,
            is_ours=course.is_ours,
            lane_writer=course.writer,
        )

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
        foreign = sorted({course.label for course in gathered.courses if not course.is_ours})
        if foreign:
            names = ", ".join(f"`{one_line(name)}`" for name in foreign[:5])
            more = f" and {len(foreign) - 5:,} more" * (len(foreign) > 5)
            self._notes.append(
                f"This machine cannot verify {names}{more}. Only contents that checkpoints name "
                "could be looked for in the commits."
            )


def _written_last(
    evidence: Iterable[Mapping[str, Sequence[FileStep]]],
    commits: Iterable[Sequence[FileChange]],
) -> set[str]:
    """Return the paths where the last content that an agent wrote is not one that commits change.

    Where it is, the commits say themselves what became of it.
    """
    steps = (step for paths in evidence for of_path in paths.values() for step in of_path)
    last = {step.path: step for step in steps if step.author in (TOOLS, SHELL)}
    changed = {(change.path, change.old) for changes in commits for change in changes}
    return {path for path, step in last.items() if (path, step.new) not in changed}


def _at_work(
    state: TaskState | None, paths: Collection[str]
) -> tuple[frozenset[str], frozenset[str]]:
    """Return the conversations that wrote files, and those that were at work beside them."""
    if state is None:
        return frozenset(), frozenset()
    writers = writers_of(state, paths)
    return writers, at_work_beside(state, writers)


def _held_file(commit: str, credit: Credit, course: Course) -> HeldFile:
    change = credit.change
    return HeldFile(
        commit=commit,
        path=change.path,
        old=change.old,
        new=change.new,
        author=credit.steps[-1].author,
        certainty=credit.certainty,
        turns=tuple((course.ids[before], course.ids[after]) for before, after in credit.spans),
    )


class _CommitLines:
    """The lines that a commit changes in its files, without those that it only moves."""

    def __init__(self, reader: ObjectReader, blobs: Sequence[tuple[str, str]]) -> None:
        self._reader = reader
        self._blobs = blobs
        self._changes: list[LineChange] = []

    def of(self, place: int) -> LineChange:
        """Return those of one file."""
        if not self._changes:
            each = [lines_between(self._reader, old, new) for old, new in self._blobs]
            self._changes = without_moves(each)
        return self._changes[place]


class WorkRun(Value):
    """Work of a session without other work in between, and what of a commit shows it."""

    before: int
    """The place of the checkpoint before it began."""
    after: int
    credits: tuple[Credit, ...]


def runs_of(credits: Iterable[Credit]) -> list[WorkRun]:
    """Return the work that a commit holds, in pieces between which there was none of it."""
    spans: dict[tuple[int, int], list[Credit]] = {}
    for credit in credits:
        for span in credit.spans:
            spans.setdefault(span, []).append(credit)
    runs: list[WorkRun] = []
    for (before, after), of_span in sorted(spans.items(), key=lambda pair: pair[0]):
        last = runs[-1] if runs else None
        if last is None or last.after < before:
            runs.append(WorkRun(before, after, tuple(of_span)))
            continue
        joined = (*last.credits, *(credit for credit in of_span if credit not in last.credits))
        runs[-1] = WorkRun(last.before, max(last.after, after), joined)
    return runs


def reason_of(run: WorkRun, course: Course) -> str:
    """Say in one sentence what shows that a commit holds a session's work."""
    surest = min(run.credits, key=lambda credit: CERTAINTIES.index(credit.certainty))
    more = f" and {len(run.credits) - 1} more" if len(run.credits) > 1 else ""
    name = f"`{one_line(surest.change.path)}`"
    between = f"between {course.named(run.before)} and {course.named(run.after)}"
    if surest.certainty == CONTENT:
        shown = f"it has the content that {name}{more} got {between}"
    elif surest.certainty == PATCH:
        shown = f"it makes the change that was made to {name}{more} {between}"
    else:
        shown = f"{surest.shared} distinctive lines of {name}{more} were written {between}"
    unseen = all(step.author == UNSEEN for credit in run.credits for step in credit.steps)
    return f"{shown}; no hook saw who wrote it" if unseen else shown
