"""Publishes what a reviewer needs of a piece of work: a base and a head that share history.

The same checkpoints give the same commits, so publishing again pushes nothing new.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from gitguard.errors import (
    InvalidInput,
    NothingFound,
    SecretsFound,
    Tampered,
    Untrusted,
)
from gitguard.model.codec import STATE_FILE, SUMMARY_FILE, dump_json
from gitguard.model.config.redaction import redactor_of
from gitguard.model.text import counted, one_line, shorten
from gitguard.model.transcript import USER
from gitguard.model.value import Value
from gitguard.review.piece import Link, Piece
from gitguard.review.timeline import StateReader
from gitguard.sessions.secrets.leaks import clean_checkpoint
from gitguard.sessions.verification import verify
from gitguard.sessions.workspace_sessions import WorkspaceSessions
from gitguard.state import roles
from gitguard.state.checkpoint import SNAPSHOT_FILE, Checkpoint
from gitguard.state.items import HOOK, Item
from gitguard.state.task import TaskState
from gitguard.store.git.remote import PUBLISHED_REFS, RefUpdate, Remote
from gitguard.store.session.composing import render_summary
from gitguard.store.session.store import SessionStore
from gitguard.store.session.workspace import Session

REVIEW_REFS = "refs/heads/gitguard-review/"
"""Where a remote has what is published."""
_LEAKS_NAMED = 5


class PublishedRef(Value):
    """A ref of the remote, as it is and as it is to be."""

    name: str
    commit: str
    old: str = ""
    """The commit that it has now, empty if there is no such ref."""
    is_foreign: bool = False
    """Whether another commit is there, which this machine did not publish."""

    @property
    def is_new(self) -> bool:
        """Whether there is something to push."""
        return self.commit != self.old


class PublishedWork(Value):
    """What is published of one session."""

    session: str
    base: PublishedRef
    head: PublishedRef
    commits: int
    """How many follow the base, one for each code commit."""
    shows: Mapping[str, int]
    """How many items the comparison adds, by the name of one."""
    left_out: tuple[str, ...]

    @property
    def refs(self) -> tuple[PublishedRef, PublishedRef]:
        """The refs, the base first."""
        return self.base, self.head


class Publication(Value):
    """What is published to a remote: its objects are written, and nothing is pushed yet."""

    remote: str
    address: str
    works: tuple[PublishedWork, ...]
    notes: tuple[str, ...] = ()

    @property
    def refs(self) -> tuple[PublishedRef, ...]:
        """All refs that are published."""
        return tuple(ref for work in self.works for ref in work.refs)


def publication_of(
    sessions: WorkspaceSessions, piece: Piece, remote: str, *, with_words: bool, replace: bool
) -> Publication:
    """Write what is published of a piece of work, and compare it with what the remote has.

    replace is whether refs may be replaced that this machine did not publish. Raises `Untrusted`
    where no history is ours, `Tampered` where one does not verify, `SecretsFound`, and
    `InvalidInput` for an unknown remote.
    """
    place = Remote(sessions.repository().git, remote)
    links = _ours(piece)
    parts = [
        _Part(sessions=sessions, key=key, links=own, with_words=with_words)
        for key, own in links.items()
    ]
    for part in parts:
        part.refuse_unverified()
    drafts = [(part, part.drafts()) for part in parts]
    _refuse_secrets(sessions, drafts)
    remote_refs = place.refs(f"{REVIEW_REFS}*")
    remembered = _remembered(sessions, remote)
    works = tuple(part.write(commits, remote_refs, remembered) for part, commits in drafts)
    publication = Publication(remote, place.address, works, tuple(_notes(piece, links)))
    foreign = [ref for ref in publication.refs if ref.is_foreign]
    if foreign and not replace:
        raise InvalidInput(
            f"`{foreign[0].name}` on `{remote}` is {foreign[0].old[:12]}, which this machine did "
            "not publish",
            "Look at it with `git fetch`; `gitguard publish --replace` replaces it",
        )
    return publication


def publish(sessions: WorkspaceSessions, publication: Publication) -> None:
    """Push what is new of a publication, and remember it; raise if a ref has changed since."""
    repository = sessions.repository()
    new = [ref for ref in publication.refs if ref.is_new]
    if new:
        updates = [RefUpdate(ref.name, ref.commit, ref.old) for ref in new]
        Remote(repository.git, publication.remote).push(updates)
    remembered = _remembered(sessions, publication.remote)
    for ref in publication.refs:
        before = remembered.get(ref.name, "")
        if before != ref.commit:
            name = ref.name.replace(REVIEW_REFS, f"{PUBLISHED_REFS}{publication.remote}/", 1)
            old = before or "0" * len(ref.commit)
            repository.move_ref(name, ref.commit, old, "gitguard: published")


def _remembered(sessions: WorkspaceSessions, remote: str) -> dict[str, str]:
    """Return what this machine published last: the remote's refs and their commits."""
    folder = f"{PUBLISHED_REFS}{remote}/"
    refs = sessions.repository().refs(folder.rstrip("/"))
    return {f"{REVIEW_REFS}{name.removeprefix(folder)}": ref.id for name, ref in refs.items()}


def _ours(piece: Piece) -> dict[str, list[Link]]:
    ours: dict[str, list[Link]] = {}
    for link in piece.links:
        if link.is_ours and not link.lane_writer:
            ours.setdefault(link.session, []).append(link)
    if ours:
        return ours
    if piece.links:
        session = one_line(piece.links[0].session)
        raise Untrusted(
            f"this machine has no record of writing the checkpoints of `{session}`",
            "Publish on the machine that wrote them, or see `gitguard repair --dry-run`",
        )
    raise NothingFound(
        f"no checkpoint is tied to a commit in `{piece.base[:12]}..{piece.head[:12]}`",
        "Name a range with the agent's commits, such as `gitguard publish main..HEAD`",
    )


def _notes(piece: Piece, ours: Mapping[str, list[Link]]) -> list[str]:
    others = sorted(
        {link.session for link in piece.links if not link.is_ours and not link.lane_writer}
        - ours.keys()
    )
    notes = [
        f"The session {one_line(key)} is not published: this machine has no record of writing it."
        for key in others
    ]
    unlinked = counted(len(piece.unlinked), "commit")
    return notes + (
        [f"No checkpoint is tied to {unlinked} of the range."] if piece.unlinked else []
    )


def _refuse_secrets(sessions: WorkspaceSessions, drafts: list[tuple[_Part, list[_Draft]]]) -> None:
    redactor = redactor_of(sessions.config.redaction)
    leaks: dict[str, None] = {}
    for part, commits in drafts:
        where = one_line(redactor.text(part.name))
        leaks.update(dict.fromkeys(f"{where}: {m.rule}" for m in redactor.find(part.name)))
        for draft in commits:
            checkpoint = draft.step.checkpoint
            place = f"{where} {checkpoint.name}"
            matches = clean_checkpoint(draft.files, draft.message, redactor).findings
            leaks.update(dict.fromkeys(f"{place} {m.path}: {m.rule}" for m in matches))
    if leaks:
        named = "; ".join(list(leaks)[:_LEAKS_NAMED])
        raise SecretsFound(
            f"nothing was published: {counted(len(leaks), 'secret')} found in {named}",
            "Remove them with `gitguard purge CHECKPOINT`; `gitguard scan` lists them all",
        )


class _Draft(Value):
    """A commit that is not written yet."""

    step: PublishedCommit
    message: str
    files: Mapping[str, bytes]
    projection: Projection


class _Part:
    """One session's part in a piece of work."""

    def __init__(
        self,
        sessions: WorkspaceSessions,
        key: str,
        links: list[Link],
        with_words: bool,  # noqa: FBT001
    ) -> None:
        session = Session.of(key)
        self.name = session.name
        self._key = key
        self._store: SessionStore = sessions.store(session)
        self._repository = sessions.repository()
        self._links = links
        self._with_words = with_words

    def refuse_unverified(self) -> None:
        """Raise `Tampered` where the session's history does not verify."""
        report = verify(self._store)
        if report.findings:
            raise Tampered(
                f"nothing was published: the history of `{one_line(self._key)}` does not verify: "
                f"{report.findings[0].problem}",
                "See `gitguard verify --all` for each finding and its way out",
            )

    def drafts(self) -> list[_Draft]:
        """Return the commits to publish, the base first."""
        with self._repository.reader() as reader:
            states = StateReader(reader)
            return [self._draft(states, step) for step in steps_of(self._links, self._last())]

    def _last(self) -> Checkpoint:
        """Return the last checkpoint of the piece: also what was noted after its last commit."""
        lasts = ((link.following or (link.after,))[-1] for link in self._links)
        return max(lasts, key=lambda last: last.sequence)

    def _draft(self, states: StateReader, step: PublishedCommit) -> _Draft:
        message = message_of(step, self._key, with_words=self._with_words)
        state = states.state(step.checkpoint)
        projection = projected(state, with_words=self._with_words)
        files = files_of(projection.state)
        if self._with_words:
            contents = self._store.chain.read(step.checkpoint.id).contents
            files[SNAPSHOT_FILE] = contents[SNAPSHOT_FILE]
        return _Draft(step, message, files, projection)

    def write(
        self, drafts: list[_Draft], remote_refs: Mapping[str, str], remembered: Mapping[str, str]
    ) -> PublishedWork:
        """Write the commits; remembered are the remote's refs as this machine published them."""
        commits: list[str] = []
        for draft in drafts:
            parent = commits[-1] if commits else ""
            commits.append(
                # Never signed: a signature has a time of its own, so the commits would differ.
                self._repository.write_commit(
                    draft.files, parent, draft.message, at=draft.step.at, aside=True
                )
            )
        before, after = drafts[0].projection, drafts[-1].projection
        left_out = after.left_out if self._with_words else (*after.left_out, f"`{SNAPSHOT_FILE}`")

        def ref(end: str, commit: str) -> PublishedRef:
            name = f"{REVIEW_REFS}{self.name}/{end}"
            old = remote_refs.get(name, "")
            is_foreign = old not in ("", commit, remembered.get(name, ""))
            return PublishedRef(name, commit, old, is_foreign)

        return PublishedWork(
            session=self._key,
            base=ref("base", commits[0]),
            head=ref("head", commits[-1]),
            commits=len(commits) - 1,
            shows=shown_in(before.state, after.state),
            left_out=left_out,
        )


# What a reviewer is shown of a session: its states without what was said, as commits


_SHORT = 7
_SUBJECT = 100


class Projection(Value):
    """A task state as it is published, and what it leaves out."""

    state: TaskState
    left_out: tuple[str, ...] = ()


class PublishedCommit(Value):
    """A commit that is published: a subject, and the checkpoint whose state it has."""

    subject: str
    checkpoint: Checkpoint
    at: int
    """Unix seconds."""


def projected(state: TaskState, *, with_words: bool = False) -> Projection:
    """Return a state without anything that was said, or all of it."""
    if with_words:
        return Projection(state)
    left_out = [counted(len(state.exchanges), "message")] if state.exchanges else []
    changed: dict[str, Any] = {"exchanges": (), "host_summary": None}
    left_out += ["the host's summary"] if state.host_summary is not None else []
    for field, origin, name in (
        ("goal", "goal_from", "the goal"),
        ("next_action", "next_from", "the next action"),
    ):
        if not state.is_noted(field):
            changed |= {field: "", origin: None}
            left_out.append(f"{name}, which is from a prompt")
    if state.last_action is not None and state.last_action.by == HOOK:
        changed["last_action"] = None  # its arguments may be a question, or a prompt handed on
        left_out.append("the last tool call")
    spoken = 0
    for field in state.kinds:
        items = getattr(state, field)
        if field not in changed and isinstance(items, tuple):
            changed[field] = tuple(item for item in items if not _is_said(item))
            spoken += len(items) - len(changed[field])
    left_out += [f"{counted(spoken, 'item')} in the user's words"] if spoken else []
    return Projection(state.replace(**changed), tuple(left_out))


def _is_said(item: object) -> bool:
    return isinstance(item, Item) and item.origin.by == USER


def files_of(state: TaskState) -> dict[str, bytes]:
    """Return the files that show a projected state."""
    return {
        STATE_FILE: dump_json(state.to_document()),
        SUMMARY_FILE: render_summary(state).encode(),
    }


def _items_of(field: roles.NotedField, state: TaskState) -> list[Item]:
    """Return the items of a field, and what an ended task had in it."""
    ended = [note for note in state.earlier_notes if note.kind == field.noun]
    return [*ended, *field.items_in(state)]


def shown_in(before: TaskState | None, after: TaskState) -> Mapping[str, int]:
    """Count what a comparison of two projected states adds, by the name of one item."""
    added = {}
    for field in after.noted(*roles.REVIEWED):
        earlier_ids = {item.id for item in _items_of(field, before)} if before else ()
        added[field.noun] = sum(item.id not in earlier_ids for item in _items_of(field, after))
    return {name: count for name, count in added.items() if count}


def steps_of(links: Sequence[Link], last: Checkpoint) -> list[PublishedCommit]:
    """Return the commits that show a piece of work: the base, then one after each code commit.

    links are those of one session, in the order of their commits. The last step has the state of
    the last checkpoint.
    """
    first = links[0].commit
    base = min((link.before for link in links), key=lambda checkpoint: checkpoint.sequence)
    steps = [PublishedCommit(_subject("Before", first.id, first.subject), base, base.at)]
    by_commit: dict[str, Link] = {}
    for link in links:
        kept = by_commit.setdefault(link.commit.id, link)
        if kept.after.sequence < link.after.sequence:
            by_commit[link.commit.id] = link
    newest: Checkpoint | None = None
    for link in by_commit.values():
        # A rebase may change the order of commits; what was known then is still known.
        is_newer = newest is None or link.after.sequence >= newest.sequence
        newest = link.after if is_newer or newest is None else newest
        subject = _subject("After", link.commit.id, link.commit.subject)
        steps.append(PublishedCommit(subject, newest, newest.at))
    return [*steps[:-1], steps[-1].replace(checkpoint=last, at=last.at)]


def _subject(when: str, commit: str, subject: str) -> str:
    return shorten(f"{when} {commit[:_SHORT]}: {one_line(subject)}", _SUBJECT)


def message_of(step: PublishedCommit, session: str, *, with_words: bool) -> str:
    """Return the message of a commit that is published."""
    what = "with" if with_words else "without"
    body = (
        f"The state of checkpoint {step.checkpoint.sequence} of the session "
        f"{one_line(session)},\n{what} prompts, answers and summaries.\n\n"
        f"Checkpoint: {step.checkpoint.id}"
    )
    return f"{step.subject}\n\n{body}\n"
