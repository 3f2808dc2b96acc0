"""Builds the resume block: what an agent needs after a compaction, a crash or at a new start.

It comes from a verified history, and is data about the agent's own work, fenced and cut to a
budget. What is cut is counted, and the command that shows it is named.

A file changed when its content did. What the checkpoint's own look at the worktree saw is not news;
without one, all that can be said is what is different from the commit that was checked out then.
"""

from __future__ import annotations

import os

from gitguard.errors import (
    NOT_OURS,
    EditedState,
    GitFailed,
    InvalidDocument,
    NewerFormat,
    NotWritable,
    Pending,
)
from gitguard.model import triggers
from gitguard.model.codec import STATE_FILE
from gitguard.model.commit import parse_commit
from gitguard.model.text import one_line, seconds, shorten, timestamp
from gitguard.model.tokens import QUARTERS, quarters_of
from gitguard.model.value import Value
from gitguard.rendering import render
from gitguard.sessions.beside import ALONE, conversations_beside
from gitguard.sessions.conflicts import conflicts_in
from gitguard.sessions.host_summaries import whole_summary
from gitguard.sessions.resume.conflict_section import conflict_section
from gitguard.sessions.resume.filling import BlockItem, BlockSection, Filled, fill
from gitguard.sessions.resume.own_code import files_named, standing_of_code
from gitguard.sessions.resume.reader import FENCE, BlockReader, duration, line, safe
from gitguard.sessions.resume.sections import sections_of
from gitguard.state import capture
from gitguard.state.checkpoint import SNAPSHOT_FILE, checkpoint_name
from gitguard.state.spoken import about_words
from gitguard.state.task import as_heard, as_of, without
from gitguard.store.session.host_session import read_record
from gitguard.store.session.standing import PUT_BACK, judge

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection

    from gitguard.model.config.config import ResumeConfig
    from gitguard.model.redaction.redactor import Redactor
    from gitguard.sessions.beside import Beside
    from gitguard.state.checkpoint import Code
    from gitguard.state.conflicts import OpenConflict
    from gitguard.state.entries import JournalEntry
    from gitguard.state.snapshot import Beginning, Work
    from gitguard.state.task import TaskState
    from gitguard.store.git.differences import Differences
    from gitguard.store.git.repository import Repository
    from gitguard.store.session.chain_check import Verified
    from gitguard.store.session.host_session import HostSession
    from gitguard.store.session.standing import Head
    from gitguard.store.session.state_file import OwnState
    from gitguard.store.session.store import SessionStore

_BETWEEN_TURNS = frozenset({triggers.RECOVERY, triggers.TURN_END, triggers.SESSION_END})
"""Triggers at which no tool runs any more, so that one that did not end was interrupted."""


def resume_block(
    store: SessionStore,
    *,
    spiral: str = "",
    notes: tuple[str, ...] = (),
    conversation: str = "",
) -> str:
    """Return the block; raise what `look`, `readable_head` and `Chain.verify` raise instead.

    A deleted branch is put back first. Beside a head that is not ours, the block says why.
    conversation is the one that asks, empty for a person.
    """
    returned_branch(store)

    def build() -> str:
        try:
            ready = store.read_unlocked()
        except EditedState:
            store.refuse_moved()
            raise
        if conversation:
            ready = ready.replace(state=as_of(ready.state, conversation, store.now))
        head, verdict = store.judged_head()
        return resume_of(
            store,
            ready,
            head,
            spiral=spiral,
            notes=(*notes, *verdict.notes),
            conversation=conversation,
            by_own_call=bool(conversation),
        )

    return store.at_one_moment(build)


def returned_branch(store: SessionStore) -> None:
    """Put a deleted branch back, once; where that cannot be written, readers say it is gone."""
    try:
        if judge(store.chain.head(), store.chain.ref).action == PUT_BACK:
            with store.lock():
                store.usable_head()
    except (NotWritable, *NOT_OURS):
        return


def waiting_for_decision(store: SessionStore) -> Pending | None:
    """Return why nothing is committed until a person decides, None where nothing is in the way."""
    problem = store.judged_head()[1].problem
    if not isinstance(problem, NOT_OURS):
        return None
    return Pending(f"no checkpoint is taken: {problem.message}", problem.hint)


def _gone(store: SessionStore, state: TaskState) -> frozenset[str]:
    """Return the paths of files of the worktree that were written and are not there any more.

    Of a path outside nothing can be said: on another machine, none of them is there.
    """
    worktree = store.workspace.place.worktree
    files = (artifact.path for artifact in state.artifacts if artifact.kind == "file")
    written = (path for path in files if not os.path.isabs(path) and path[:2] not in ("..", "~/"))
    return frozenset(path for path in written if not os.path.lexists(os.path.join(worktree, path)))


def _moved_files(store: SessionStore, gone: frozenset[str]) -> tuple[tuple[str, str], ...]:
    """Return where files that are gone lie now, as far as git tells."""
    if not gone:
        return ()
    from gitguard.store.git.moves import moved_files

    worktree, moves = store.workspace.place.worktree, moved_files(store.repository())
    return tuple(
        (old, new)
        for old, new in moves.items()
        if old in gone and os.path.lexists(os.path.join(worktree, new))
    )


def take_over(store: SessionStore) -> tuple[str, ...]:
    """Take a signed head of another machine first, where that can be written."""
    if not store.config.sign:
        return ()
    from gitguard.sessions.signed_head import take_signed

    try:
        with store.lock():
            return take_signed(store)
    except NotWritable:
        return ()


def resume_of(
    store: SessionStore,
    ready: OwnState,
    head: Head,
    *,
    spiral: str = "",
    notes: tuple[str, ...] = (),
    conversation: str = "",
    beside: Beside | None = None,
    has_context: bool = False,
    by_own_call: bool = False,
) -> str:
    """Return the block of a state in force, with notes for its reader.

    spiral says why a new conversation would keep more than a compaction, if it would. beside is who
    is at work beside the reader; it is looked up unless it is passed. has_context says that the
    block does not stand alone (`tokens_for`). by_own_call says that a call of the reader
    asks, which so was not interrupted.

    The newest checkpoints are verified first; raises `Tampered` where they are not ours as written.
    """
    newest = store.chain.verify(head)
    state, part = store.folded(ready)
    if beside is None:
        beside = conversations_beside(store, conversation)
    if conversation:
        state = as_heard(without(state, beside.busy), conversation)
    branch, redact = head.code.branch, store.workspace.redactor.text
    header = _header(store, head, branch, spiral)
    changes = _changes(store, head, newest, part.entries)
    gone = _gone(store, state)
    header = header.replace(
        notes=notes + header.notes,
        changes=changes,
        now=store.now,
        conversation=conversation,
        gone=gone,
        moved=_moved_files(store, gone),
        beside=beside,
        by_files=_by_files(store),
        branch=redact(branch) if branch != store.session.key else "",
        own_code=standing_of_code(store.repository(), store.workspace.redactor, head.code),
        whole_summary=whole_summary(store, state, conversation),
        elsewhere=_work_elsewhere(store, head),
        conflicts=conflicts_in(store, state),
    )
    at_work = (*beside.at_work, *([conversation] if by_own_call else []))
    entries = tuple(e for e in part.entries if e.host_session not in at_work)
    work = capture.work_of(entries, state, store.clock())
    max_tokens = tokens_for(store.config.resume, state, has_context=has_context)
    return build_resume(state, work, header, max_tokens=max_tokens)


def _by_files(store: SessionStore) -> tuple[tuple[str, str], ...]:
    """Return what the agent's plan file and failure log say, behind their headings."""
    root, config = store.workspace.place.worktree, store.config.handoff
    if not any(os.path.lexists(os.path.join(root, n)) for n in (config.plan, config.failure_log)):
        return ()
    from gitguard.sessions.handoff.workspace_facts import kept_by_agents

    return kept_by_agents(root, config, store.workspace.redactor)


def _work_elsewhere(store: SessionStore, head: Head) -> tuple[str, ...]:
    """Return where work was done that was joined; most machines never synced."""
    if not os.path.exists(store.workspace.sync_path):
        return ()
    from gitguard.sessions.resume.other_machines import work_elsewhere

    return work_elsewhere(store, head)


def stable_block(
    store: SessionStore,
    head: Head,
    *,
    spiral: str = "",
    beside: Beside = ALONE,
    conversation: str = "",
    begun_at: str = "",
    is_compacted: bool = False,
) -> str:
    """Return the block of the newest checkpoint, the same text until the next one.

    begun_at is when the conversation began; a host may begin another one under the same name.

    It is for system prompts that a host builds anew at every run, where each changed byte costs the
    host its cache. So nothing counts but the checkpoint: a state that is newer, the journal, the
    clock and the workspace as it is now are left for the next checkpoint. A compaction, which
    counts as well, leaves nothing of that cache; nor does one that begins or ends to work beside
    the reader. Until the second checkpoint it also tells what is
    archived of an older session. Empty while there is no checkpoint, or nothing to tell.

    It is not part of the transcript, so one that became shorter at the second run would take back
    what it told at the first. A conversation that took a task over keeps the long block until it
    is compacted; one that began the task has it in its context, and gets the short one.
    """
    newest = store.chain.verify(head)
    if newest is None:
        return ""
    from gitguard.sessions.startup import older_sessions
    from gitguard.store.session.state_file import decode_state

    state = decode_state(newest.contents[STATE_FILE], "the checkpoint's state")
    state = without(store.states.marked(state), beside.busy)
    older = older_sessions(store) if newest.checkpoint.sequence == 1 else ()
    if state.is_untouched and not older:
        return ""
    snapshot = None if beside.at_work else _beginning(newest.contents[SNAPSHOT_FILE])
    work = _committed_work(state, snapshot)
    header = _header(store, head, newest.checkpoint.code.branch, spiral)
    header = header.replace(
        notes=older + header.notes, beside=beside, conflicts=conflicts_in(store, state)
    )
    has_context = is_compacted or _is_at_own_task(state, conversation, begun_at)
    max_tokens = tokens_for(store.config.resume, state, has_context=has_context)
    return build_resume(state, work, header, max_tokens=max_tokens)


def _is_at_own_task(state: TaskState, conversation: str, begun_at: str) -> bool:
    """Whether a conversation set the goal itself, and so has heard all of the task."""
    origin = state.goal_from
    if origin is None or not conversation or origin.conversation != conversation:
        return False
    return origin.when >= begun_at


def _committed_work(state: TaskState, snapshot: Beginning | None) -> Work:
    work = capture.work_of((), state, 0)
    if snapshot is None or snapshot.meta.trigger not in _BETWEEN_TURNS:
        return work
    last = snapshot.working.last_tool_call
    if not snapshot.working.interrupted or last is None:
        return work
    return work.replace(interrupted=True, last_tool=last.name, last_tool_params=last.params_summary)


def _beginning(data: bytes) -> Beginning | None:
    from gitguard.state.snapshot import read_beginning

    try:
        return read_beginning(data)
    except (InvalidDocument, NewerFormat):
        return None  # the state alone is enough


def _header(store: SessionStore, head: Head, branch: str, spiral: str) -> Header:
    anchor = head.anchor
    return Header(
        session=store.session.key,
        checkpoint=checkpoint_name(anchor.sequence) if anchor and anchor.committed else "none",
        notes=_notes(store, branch, spiral),
    )


def _notes(store: SessionStore, branch: str, spiral: str) -> tuple[str, ...]:
    about = about_words(store.config.capture.words)
    notes = [about] if about else []
    own_branch = read_record(store.workspace, store.session).own_branch
    if own_branch and branch and branch != own_branch:
        notes.append(f"this session began on branch {own_branch}; the current branch is {branch}")
    if spiral:
        notes.append(f"{spiral}; a new conversation would now keep more than compacting again")
    return tuple(notes)


def _changes(
    store: SessionStore, head: Head, newest: Verified | None, entries: tuple[JournalEntry, ...]
) -> str:
    """Return what changed in the workspace since the checkpoint, in one line."""
    if newest is None:
        return ""
    checkpoint = newest.checkpoint
    taken_at = timestamp(checkpoint.at)
    ours = {path for entry in entries if entry.at >= taken_at for path in entry.written}
    last_look = store.worktree.kept_at(checkpoint.id)
    look = last_look.look if last_look is not None else None
    redactor = store.workspace.redactor
    drift = drift_since(
        store.repository(), redactor, checkpoint.code, now=head.code, look_then=look, ours=ours
    )
    return changes_since(checkpoint.code, drift, redactor)


_LINE_LIMIT = 360
_NAME_LIMIT = 48
_SHORT_ID = 7
_MOST_COMMITS = 50
_COMMIT_LIMIT = 64 * 1024


class Drift(Value):
    """What of the workspace is not as it was at the checkpoint."""

    code: Code
    commits: int = 0
    """How many commits HEAD is ahead of the checkpoint's; 0 if it is not, or too far."""
    changed: tuple[str, ...] = ()
    """Files with another content that no tool call of ours is known to have written."""
    gone: tuple[str, ...] = ()
    """Files that are not there any more."""
    different: tuple[str, ...] = ()
    """Files that are not as in the checkpoint's commit, where nobody knows since when."""
    unseen: tuple[str, ...] = ()
    """What could not be compared, in words."""
    created: tuple[str, ...] = ()
    """Files that were not there, and that no tool call of ours is known to have written."""


def changes_since(then: Code, now: Drift, redactor: Redactor) -> str:
    """Return the line, empty when nothing changed; then is what the checkpoint had checked out.

    A file may be named after a secret, so names are redacted before they are cut.
    """
    parts = [
        _moved(then, now),
        f"branch {_branch(then)} → {_branch(now.code)}" if then.branch != now.code.branch else "",
        files_named("modified outside the agent's edit tools", now.changed, redactor),
        files_named("created outside the agent's edit tools", now.created, redactor),
        files_named("deleted", now.gone, redactor),
        files_named(f"different from commit {_commit(then)}", now.different, redactor),
        f"not compared: {', '.join(now.unseen)}" if now.unseen else "",
    ]
    return shorten("; ".join(part for part in parts if part), _LINE_LIMIT)


def _moved(then: Code, now: Drift) -> str:
    if then.head == now.code.head:
        return ""
    commits = f" ({now.commits} commit{'s' * (now.commits > 1)})" if now.commits else ""
    return f"HEAD {_commit(then)} → {_commit(now.code)}{commits}"


def _commit(code: Code) -> str:
    return code.head[:_SHORT_ID] or "none"


def _branch(code: Code) -> str:
    return shorten(one_line(code.branch), _NAME_LIMIT) or "none"


def drift_since(
    repository: Repository,
    redactor: Redactor,
    then: Code,
    now: Code,
    look_then: Differences | None,
    ours: Collection[str],
) -> Drift:
    """Look what is different from a checkpoint at which then was checked out.

    look_then is what the checkpoint saw of this worktree; ours are files our tools wrote since.
    """
    from gitguard.store.git.differences import WorktreeComparer

    looker = WorktreeComparer(repository, redactor)
    drift = Drift(now, _commits_between(repository, then.head, now.head))
    if look_then is not None and look_then.commit == then.head:
        changes = looker.compare(then.head, also=look_then.new_files).since(look_then)
        listed = repository.without_tools_files(changes.changed)
        theirs = tuple(path for path in listed if path not in ours)
        return drift.replace(
            changed=tuple(path for path in theirs if path not in changes.created),
            created=tuple(path for path in theirs if path in changes.created),
            gone=repository.without_tools_files(changes.gone),
            unseen=changes.unseen,
        )
    if not then.head:
        return drift
    changes = looker.compare(then.head).changes()
    different = sorted(
        {*repository.without_tools_files((*changes.changed, *changes.gone))} - {*ours}
    )
    return drift.replace(different=tuple(different), unseen=changes.unseen)


def _commits_between(repository: Repository, old: str, new: str) -> int:
    if not old or not new or old == new:
        return 0
    try:
        with repository.reader() as reader:
            for ahead in range(_MOST_COMMITS + 1):
                if new == old:
                    return ahead
                commit = parse_commit(reader.read(new, "commit", limit=_COMMIT_LIMIT))
                new = commit.first("parent")
    except (GitFailed, InvalidDocument):
        return 0  # shallow or unrelated
    return 0


LEAST_TOKENS = 300
"""The smallest block: below it the required sections would not all find a few words' room."""
_KEY_LIMIT = 60
_NEWS = 600
"""Seconds below which the head says nothing of the block's age."""
_NOTE_LIMIT = 240
_NOT_IN_ATTRIBUTES = str.maketrans("", "", '"<>')


class Header(Value):
    """Which checkpoint a block hands back, to whom, and what a reader should know about it."""

    session: str
    checkpoint: str
    notes: tuple[str, ...] = ()
    changes: str = ""
    """What changed since the checkpoint, in one line."""
    now: str = ""
    """When it is handed back; empty where the same text is to come again and again."""
    conversation: str = ""
    """The conversation that gets it; what is of this one carries no age."""
    gone: frozenset[str] = frozenset()
    """Paths of files that the state names and the workspace has no more."""
    moved: tuple[tuple[str, str], ...] = ()
    """Where files were moved to, behind the paths that they had."""
    beside: Beside = ALONE
    """Who is, or may be, at work while it is handed back."""
    by_files: tuple[tuple[str, str], ...] = ()
    """What files of the agent's own say, each behind its heading."""
    branch: str = ""
    """The branch that is checked out, if the session is not called so."""
    own_code: str = ""
    """How the user's own code stands, in one line; empty where that is not told."""
    whole_summary: str = ""
    """The host's own summary, if the state has its short form."""
    elsewhere: tuple[str, ...] = ()
    """Where work was done that was joined, a line for each machine."""
    conflicts: tuple[OpenConflict, ...] = ()
    """What several machines noted, of which one variant has to be kept."""
    age: str = ""
    """How old the newest of it is, such as `3 h`; empty where ages are not told."""


def tokens_for(config: ResumeConfig, state: TaskState, *, has_context: bool) -> int:
    """Return the length of a block by what its reader has beside it.

    A conversation that was compacted has the host's summary, one that is resumed its transcript.
    Who begins anew has nothing else while the task is open, and needs little once it is done.
    """
    return config.after_compaction if has_context or state.is_done else config.new_conversation


def is_due(host_session: HostSession, head: str) -> bool:
    """Say whether a conversation lacks this epoch's block, or another writer moved the head."""
    delivery = host_session.delivery
    return delivery is None or delivery.epoch != host_session.epoch or host_session.head != head


def build_resume(state: TaskState, work: Work, header: Header, *, max_tokens: int) -> str:
    """Return the block, which takes at most max_tokens as `tokens_of` counts them.

    Fewer than `LEAST_TOKENS` count as these: a required section is never dropped.
    """
    budget = max(max_tokens, LEAST_TOKENS) * QUARTERS
    header = header.replace(age=_age(state, header))
    fixed = _render((), header)
    reader = BlockReader(
        now=header.now,
        conversation=header.conversation,
        newest=state.updated_at,
        gone=header.gone,
        moved=header.moved,
        may_go_on=bool(header.beside.at_work),
    )
    shown = sections_of(state, work, reader, whole_summary=header.whole_summary)
    sections = (*_about(header), *shown, *_of_files(header))
    return _render(fill(sections, budget - quarters_of(fixed)), header)


def _age(state: TaskState, header: Header) -> str:
    if not header.now:
        return ""
    age = seconds(header.now) - seconds(state.updated_at)
    return duration(age) if age >= _NEWS else ""


def _render(filled: tuple[Filled, ...], header: Header) -> str:
    # Keys and branches are named by people and programs outside, and anything may stand in them.
    session = _attribute(header.session)
    return render(
        "resume.md.j2",
        fence=FENCE,
        session=session,
        branch=_attribute(header.branch),
        header=header,
        sections=[section for section in filled if section.texts],
        absent="; ".join(section.absence for section in filled if not section.texts),
    ).strip()


def _attribute(text: str) -> str:
    return shorten(safe(text).translate(_NOT_IN_ATTRIBUTES), _KEY_LIMIT)


def _about(header: Header) -> tuple[BlockSection, ...]:
    notes = tuple(BlockItem(safe(shorten(one_line(note), _NOTE_LIMIT))) for note in header.notes)
    changes = tuple(BlockItem(safe(text), is_derived=True) for text in (header.changes,) if text)
    beside = header.beside
    title = "Another conversation may be at this"
    if beside.busy:
        title = "Another conversation is at work in this checkout"
    signs = beside.calls or tuple(work.reason for work in beside.at_work.values())
    works = tuple(BlockItem(safe(text), is_derived=True) for text in signs)
    return (
        BlockSection(title, works, 6, is_list=len(works) > 1),
        BlockSection("Notes", notes, 6),
        _of_machines(header.elsewhere),
        BlockSection("Changed since the checkpoint", changes, 4, is_list=False),
        line("Git", header.own_code, 4, is_derived=True),
        conflict_section(header.conflicts, header.now),
    )


def _of_machines(lines: tuple[str, ...]) -> BlockSection:
    works = tuple(BlockItem(safe(text), is_derived=True) for text in lines)
    return BlockSection("Work from another machine", works, 8, is_list=len(works) > 1)


def _of_files(header: Header) -> tuple[BlockSection, ...]:
    return tuple(
        line(shorten(one_line(title), _NOTE_LIMIT), text, 3).replace(is_required=False)
        for title, text in header.by_files
    )
