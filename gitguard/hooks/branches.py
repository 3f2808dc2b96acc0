"""Lets a conversation go on with the session of the branch that is checked out.

That happens at a prompt or at the start of a conversation, and never inside of a turn, so that what
a turn did is kept in one place.
"""

from __future__ import annotations

import os

from gitguard.errors import ForeignRepository, GitguardError
from gitguard.hooks.conversation import Conversation
from gitguard.hooks.told_line import BRANCH
from gitguard.model.config.config import FOLLOW_BRANCH
from gitguard.model.text import one_line, shorten
from gitguard.sessions.branch_change import branch_change, refuse
from gitguard.state import entries
from gitguard.store.session.current import ChosenBranch, choose_branch, current_name
from gitguard.store.session.store import HOOK_LOCK_TIMEOUT

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitguard.sessions.branch_change import BranchChange
    from gitguard.sessions.following import BranchFollowing
    from gitguard.store.session.state_file import OwnState

_NAME_LIMIT = 80
_CREATING = (
    ["git", "switch", "-c|-C|--create|--force-create|--orphan"],
    ["git", "checkout", "-b|-B|--orphan"],
    ["git", "branch"],
)
"""Words of a program that creates the branch that it names as well."""


def follow_branch(conversation: Conversation) -> Conversation:
    """Return the conversation at the session of its branch, with a line on what changed.

    Whatever stands in the way leaves it at the session where it is.
    """
    try:
        change = _change_to_follow(conversation)
        if change is None or conversation.beside().at_work:
            return conversation
    except ForeignRepository:
        raise  # nothing can be saved here, which has to be told
    except GitguardError as error:
        conversation.note_fault(error)
        return conversation
    from gitguard.sessions.following import follow

    source = conversation.store
    try:
        followed = follow(
            source,
            change.branch,
            conversation.repository(),
            moves=_moves(conversation, change),
            timeout=HOOK_LOCK_TIMEOUT,
        )
    except GitguardError as error:
        _stay(conversation, change, error)
        return conversation
    return _at_new_session(conversation, change, followed)


def _change_to_follow(conversation: Conversation) -> BranchChange | None:
    workspace, config = conversation.workspace, conversation.config
    is_fixed = config.session.follow != FOLLOW_BRANCH or workspace.places.session
    if not os.path.isdir(workspace.folder):
        return None  # somebody removed it, and the event itself brings it back
    if is_fixed or conversation.is_apart or not current_name(workspace):
        return None
    session = conversation.store.session
    change = branch_change(workspace, conversation.repository(), session, config.store.ref_prefix)
    if change is None or change.before:
        return change
    # Nothing tells on which branch the session was chosen, so it is this one.
    choose_branch(workspace, ChosenBranch(session.name, change.branch))
    return None


def _moves(conversation: Conversation, change: BranchChange) -> bool:
    """Say whether the session's task goes along, because its conversation created the branch."""
    ready = conversation.store.state_or_copy()
    made_by = _creators(conversation, ready, change.branch)
    goal_from = ready.state.goal_from
    if goal_from is None or not goal_from.conversation:
        return bool(made_by)
    return goal_from.conversation in made_by


def _creators(conversation: Conversation, ready: OwnState, branch: str) -> frozenset[str]:
    """Return the conversations whose commands created a branch since the session's task began."""
    part = conversation.store.journal.read("", 0)
    since = ready.state.goal_from.when if ready.state.goal_from else ""
    return frozenset(
        entry.host_session
        for entry in part.entries
        if entry.is_shell
        and entry.event == entries.ENDED
        and entry.at >= since
        and branch in entry.summary
        and _creates_branch(entry.summary, branch)
    )


def _creates_branch(line: str, branch: str) -> bool:
    """Say whether a shell line creates a branch, as far as its words tell."""
    from gitguard.model.shell.destructive import runs
    from gitguard.model.shell.programs import programs_of

    return any(
        branch in program.words and any(runs(program, rule) for rule in _CREATING)
        for program in programs_of(line)
    )


def _stay(conversation: Conversation, change: BranchChange, error: GitguardError) -> None:
    """Go on where the conversation is, and say once why."""
    if change.was_refused:
        return
    conversation.note_fault(error)
    hint = f" {one_line(error.hint)}." if error.hint else ""
    conversation.offer(
        BRANCH,
        f"[gitguard: the branch {_name(change.branch)} is checked out, but its session cannot be "
        f"used: {one_line(error.message)}.{hint} Until then, gitguard saves the work in the "
        f"session {_name(conversation.store.session.key)}.]",
    )
    try:
        refuse(conversation.workspace, conversation.store.session, change)
    except GitguardError as unwritable:
        conversation.note_fault(unwritable)


def _at_new_session(
    conversation: Conversation, change: BranchChange, followed: BranchFollowing | None
) -> Conversation:
    before = conversation
    conversation = Conversation(
        before.workspace, before.config, before.event, abilities=before.abilities
    )
    if followed is None or followed.session.name == before.store.session.name:
        return conversation
    try:
        knows_task = followed.moved and _has_its_own_task(conversation)
        conversation.has_changed_task = not knows_task
        # Who moved along with the task knows it. All others get the block, even one from before.
        delivery = before.record.delivery if knows_task else None
        with conversation.recording():
            head = conversation.store.readable_head().committed
            conversation.record = conversation.record.replace(delivery=delivery, head=head)
    except GitguardError as error:
        conversation.note_fault(error)  # it is at the session all the same
    conversation.offer(BRANCH, _line(change.branch, followed, before.store.session.key))
    return conversation


def _has_its_own_task(conversation: Conversation) -> bool:
    """Say whether the session's goal came from no other conversation."""
    goal_from = conversation.store.state_or_copy().state.goal_from
    own = ("", conversation.event.host_session)
    return goal_from is None or goal_from.conversation in own


def _line(branch: str, followed: BranchFollowing, source_key: str) -> str:
    from gitguard.sessions.following import BEGUN, JOINED, REOPENED

    session, source = _name(followed.session.key), _name(source_key)
    if followed.moved:
        what = f"the task moved along from the session {source} into {session}"
    elif followed.how == BEGUN and followed.origin:
        what = (
            f"its new session {session} copied decisions and constraints from "
            f"{_name(followed.origin)}; not its task"
        )
    elif followed.how == BEGUN:
        what = f"its new session {session} begins empty; the previous task stays in {source}"
    elif followed.how == JOINED:
        what = (
            f"its session {session} continues from another machine; the previous task stays in "
            f"{source}"
        )
    elif followed.how == REOPENED:
        what = f"its archived session {session} was reopened; the previous task stays in {source}"
    else:
        what = f"its session {session} continues; the previous task stays in {source}"
    return f"[gitguard: the branch {_name(branch)} is checked out: {what}.]"


def _name(text: str) -> str:
    return f"`{shorten(one_line(text), _NAME_LIMIT)}`"
