"""Gathers the checkpoints of all sessions of a repository, each history once.

A session may be in force, archived, deleted, or only on a remote; whatever this machine did not
write is marked.
"""

from __future__ import annotations

from gitguard.errors import GitguardError, InvalidInput
from gitguard.model.value import Value
from gitguard.review.timeline import Course
from gitguard.store.session.archive import archived_names
from gitguard.store.session.chain import own_sessions
from gitguard.store.session.naming import Session, is_session_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from gitguard.sessions.workspace_sessions import WorkspaceSessions
    from gitguard.store.git.repository import Repository
    from gitguard.store.session.chain import Chain
    from gitguard.store.session.standing import Head

_ARCHIVE = "refs/gitguard/archive"
_REMOTE = "refs/remotes/*/gitguard/*"


class Courses(Value):
    """The histories of all sessions, and what is wrong with them."""

    courses: tuple[Course, ...]
    notes: tuple[str, ...] = ()


class _Source(Value):
    name: str
    head: str
    is_ours: bool
    where: str
    is_past_ours: bool = False
    """Whether somebody put it on a branch of ours, or in its place."""


class _Break(Value):
    """Where a history cannot be read further."""

    commit: str
    note: str


def gather_courses(sessions: WorkspaceSessions, session: str = "") -> Courses:
    """Read the checkpoints of every session, or of the one with a key or name, as far as they read.

    Raises `InvalidInput` for an unknown session.
    """
    sources: dict[tuple[str, str], _Source] = {}
    notes: list[str] = []
    branches = own_sessions(sessions.repository(), sessions.config.store.ref_prefix)
    archived = archived_names(sessions.workspace)
    names = sorted({*branches, *archived, *sessions.workspace.session_names()})
    aside = list(_set_aside(sessions.repository()))
    if session:
        name = named_session(sessions, session, {*names, *(source.name for source in aside)})
        names = [name]
        aside = [source for source in aside if source.name == name]
    for name in names:
        try:
            chain = sessions.store(Session(name, name)).chain
            head = chain.head()
            for source in _sources(chain, head, name):
                sources.setdefault((name, source.head), source)
            if head.id and head.committed and head.id != head.committed:
                notes.append(
                    f"The branch of the session `{name}` is at {head.id[:12]}, which this machine "
                    f"did not write. Only what it wrote, up to {head.committed[:12]}, counts here."
                )
        except GitguardError as error:
            notes.append(f"The session `{name}` is left out: {error.message}")
    for source in aside:
        sources.setdefault((source.name, source.head), source)
    courses: list[Course] = []
    seen: dict[str, set[str]] = {}
    unread = sorted(sources.values(), key=lambda source: not source.is_ours)
    for source in unread:
        chain = sessions.store(Session(source.name, source.name)).chain
        course, broken = _course(chain, source, seen.setdefault(source.name, set()))
        if broken is not None:
            notes.append(broken.note)
            unread += _beyond(chain, source, broken)
        if course is not None:
            courses.append(course)
    return Courses(tuple(courses), tuple(dict.fromkeys(notes)))


def named_session(sessions: WorkspaceSessions, wanted: str, names: Collection[str]) -> str:
    """Return which of the names is that of the session with a key or name, or raise."""
    name = wanted if wanted in names else sessions.find(wanted).name
    if name in names:
        return name
    raise InvalidInput(
        f"there is no session `{wanted:.80}`",
        f"Sessions: {', '.join(f'`{name}`' for name in sorted(names)) or 'none'}",
    )


def _sources(chain: Chain, head: Head, name: str) -> Iterator[_Source]:
    """Yield the histories of a session in this repository; what this machine wrote comes first."""
    if head.committed:
        # It is still there where somebody moved the branch, and often where he deleted it.
        yield _Source(name, head.committed, True, chain.ref)
    for anchor in chain.archived():
        yield _Source(name, anchor.committed, True, chain.archive_of(anchor.committed))
    if head.id not in ("", head.committed):
        yield _Source(name, head.id, False, chain.ref, is_past_ours=bool(head.committed))


def _set_aside(repository: Repository) -> Iterator[_Source]:
    """Yield what remotes have, and what was set aside without an anchor of ours."""
    for ref in repository.refs(_ARCHIVE, _REMOTE).values():
        is_archive = ref.name.startswith(f"{_ARCHIVE}/")
        name = ref.name.removeprefix(f"{_ARCHIVE}/").rpartition("/")[0]
        name = name if is_archive else ref.name.rpartition("/gitguard/")[2]
        if is_session_name(name):
            yield _Source(name, ref.id, False, ref.name)


def _course(chain: Chain, source: _Source, seen: set[str]) -> tuple[Course | None, _Break | None]:
    """Read a history's checkpoints; a history of ours makes what it shares with others ours."""
    rows: list[tuple[str, int, str, int]] = []
    heads: dict[str, str] = {}
    key, broken = source.name, None
    try:
        for link in chain.commits(source.head):
            checkpoint = link.checkpoint
            if checkpoint is None:
                broken = _break(source, link.id, link.problems[0], rows[-1][1] if rows else 0)
                break
            key = checkpoint.session_key if not rows else key
            # Many checkpoints name the same commit: its id is kept once.
            head = heads.setdefault(checkpoint.code.head, checkpoint.code.head)
            rows.append((checkpoint.id, checkpoint.sequence, head, checkpoint.at))
    except GitguardError as error:
        broken = _Break("", f"The history at `{source.where}` is left out: {error.message}")
    rows.reverse()
    ids, sequences, code_heads, times = zip(*rows, strict=True) if rows else ((),) * 4
    shared = next((n for n, commit in enumerate(ids) if commit not in seen), len(ids))
    seen.update(ids)
    if shared == len(ids):
        return None, broken
    fits = Session(source.name, source.name).is_known_as(key)
    course = Course(
        session=key if fits else source.name,
        name=source.name,
        ids=ids,
        sequences=sequences,
        heads=code_heads,
        times=times,
        is_ours=source.is_ours,
        shared=shared,
        is_cut=broken is not None,
        is_past_ours=source.is_past_ours,
    )
    return course, broken


def _break(source: _Source, commit: str, error: GitguardError, sequence: int) -> _Break:
    """Say where a history breaks off; sequence is the last checkpoint that was read, 0 for none."""
    before = f" before checkpoint {sequence}" if sequence else ""
    return _Break(
        commit,
        f"The session `{source.name}` cannot be read at commit {commit[:12]}{before}. This machine "
        f"cannot verify its earlier checkpoints: {error.message}",
    )


def _beyond(chain: Chain, source: _Source, broken: _Break) -> list[_Source]:
    """Return the history before a damaged checkpoint, where the branch's reflog still names it.

    No hash leads there, and anybody who can write in the git directory can write a reflog.
    """
    earlier = chain.before_in_reflog(broken.commit) if broken.commit else ""
    return [_Source(source.name, earlier, False, chain.ref)] if earlier else []
