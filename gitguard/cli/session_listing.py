"""Commands that tell which sessions there are, and what belongs to one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from gitguard.cli.completing import offer_sessions
from gitguard.cli.console import Console, fields_of, named, with_console
from gitguard.errors import GitguardError
from gitguard.model.text import counted, local_times, one_line, shorten
from gitguard.store.session.workspace import Session

if TYPE_CHECKING:
    from gitguard.sessions.session_goals import SessionGoal, SessionListing
    from gitguard.sessions.stored_sessions import StoredConversation
    from gitguard.sessions.tasks import SessionTask
    from gitguard.store.session.archive import Archived

_LONGEST_GOAL = 72


@click.command("list")
@with_console
def list_sessions(console: Console) -> None:
    """List the sessions of this repository, with their goals

    `*` marks the current one. If a session's key and name differ, the key follows the commit. The
    goal comes last, with how long ago the session's state changed. Sessions that exist only on a
    remote, and archived ones, follow the others and are marked. The last line says of how many
    sessions the goals were not looked at. --json adds each session's conversations.

    Example: `gitguard session list`
    """
    listing = console.guard.sessions.listing()
    goals = {(goal.name, goal.archived_at): _goal_text(goal) for goal in listing.goals}
    lines = [
        _line(name, head, listing.keys.get(name, name), listing.current) + goals.get((name, ""), "")
        for name, head in sorted(listing.sessions.items())
    ]
    lines += [_remote_line(name, head) for name, head in sorted(listing.remote.items())]
    lines += [
        _archived_list_line(each) + goals.get((each.name, each.commit), "")
        for each in listing.archived
    ]
    lines += [_unread_line(len(listing.unread))] * bool(listing.unread)
    document = fields_of(listing)
    if console.as_json:
        document["conversations"] = _conversations(console, listing)
    console.say("\n".join(lines) or "No sessions.", document)


def _unread_line(number: int) -> str:
    return (
        f"The goals of {counted(number, 'session')} were not looked at, because this machine wrote "
        "nothing of them; `git show BRANCH:summary.md` shows one"
    )


def _line(name: str, head: str, key: str, current: str) -> str:
    mark = "*" if name == current else " "
    shown_key = one_line(key) if key != name else ""
    return f"{mark} {name}  {head[:12] or 'no checkpoint'}  {shown_key}".rstrip()


def _remote_line(name: str, head: str) -> str:
    adopt = f"`gitguard --session {name} repair --trust` adopts it"
    return f"  {name}  {head[:12]}  only on a remote-tracking branch; {adopt}"


def _goal_text(goal: SessionGoal) -> str:
    text = shorten(one_line(goal.goal), _LONGEST_GOAL) or "(no goal yet)"
    return f"  {text} ({goal.age} ago)"


def _archived_list_line(archived: Archived) -> str:
    problem = f"; {one_line(archived.problem)}" if archived.problem else ""
    return f"  {archived.name}  {archived.commit[:12]}  archived{problem}"


def _conversations(
    console: Console, listing: SessionListing
) -> dict[str, list[StoredConversation]]:
    conversations: dict[str, list[StoredConversation]] = {name: [] for name in listing.unread}
    for name, key in listing.keys.items():
        if name in conversations:
            continue
        try:
            conversations[name] = [*console.guard.sessions.conversations(Session(key, name))]
        except GitguardError:
            continue  # its own `session show` tells what is wrong with it
    return conversations


@click.command()
@click.argument("key", default=None, callback=named, shell_complete=offer_sessions)
@with_console
def show(console: Console, key: str) -> None:
    """Show a session and its conversations

    KEY is the current session by default. For each conversation: transcript, window, last counted
    tokens, and compactions. For an archived session: where its branch is, and how to restore it.

    Example: `gitguard session show payments`
    """
    session = console.guard.sessions.show(key)
    branch = f"Branch: {session.branch} {session.head[:12]} {session.standing}"
    where = [_archived_line(part) for part in session.archived] or [branch]
    conversations = [line for part in session.conversations for line in _lines(part)]
    lines = [f"Session: {session.session}", *where, *conversations]
    document = fields_of(session)
    console.say("\n".join(map(one_line, lines)), document)


def _archived_line(archived: Archived) -> str:
    if archived.problem:
        return f"Archived: {archived.ref}; {archived.problem}"
    return (
        f"Archived: {archived.ref}; `gitguard session reopen {archived.name} "
        f"--head {archived.commit[:12]}` restores it"
    )


def _lines(conversation: StoredConversation) -> list[str]:
    tokens, stale = "not counted", ""
    if conversation.total_tokens is not None:
        tokens = f"{conversation.total_tokens:,}"
        stale = "" if conversation.total_tokens_fresh else ", as last known"
    lines = [
        f"Conversation {conversation.conversation}: {counted(conversation.turns, 'turn')}, "
        f"{counted(conversation.compaction_count, 'compaction')}, "
        f"used {local_times(conversation.updated_at)}",
        f"  Tokens: {tokens} of {conversation.context_tokens:,}{stale}",
    ]
    if conversation.assumption:
        lines.append(f"  Note: {conversation.assumption}")
    if conversation.transcript:
        lines.append(f"  Transcript: {conversation.transcript} ({conversation.format})")
    return lines + [f"  Problem: {conversation.problem}"] * bool(conversation.problem)


@click.command()
@click.argument("key", default=None, callback=named, shell_complete=offer_sessions)
@with_console
def tasks(console: Console, key: str) -> None:
    """List the tasks of the session KEY, by default the current one

    The open task comes first, then the ended ones with their outcome and age, newest first.

    Example: `gitguard session tasks --json`
    """
    every = console.guard.sessions.tasks(key)
    lines = [_task_line(task) for task in every]
    console.say("\n".join(lines), {"tasks": every})


def _task_line(task: SessionTask) -> str:
    mark, when = ("*", f"changed {task.age} ago") if task.is_open else (" ", f"{task.age} ago")
    return f"{mark} {one_line(task.goal) or '(no goal yet)'}  ({one_line(task.outcome)}, {when})"


COMMANDS: list[click.Command] = [list_sessions, show, tasks]
