"""Commands that tell which sessions there are, and what belongs to one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from gitguard.cli.console import Console, fields_of, named, with_console
from gitguard.errors import GitguardError
from gitguard.model.text import counted, one_line
from gitguard.store.session.naming import Session

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gitguard.sessions.stored_sessions import StoredConversation
    from gitguard.store.session.archive import Archived


@click.command("list")
@with_console
def list_sessions(console: Console) -> None:
    """List the sessions of this repository

    `*` marks the current one. If a session's key and name differ, the key follows the name.
    Sessions that exist only on a remote, and archived ones, come last and are marked. --json adds
    each session's conversations.

    Example: `gitguard session list`
    """
    guard = console.guard
    current, found = guard.sessions.current_name(), guard.sessions.heads()
    keys = guard.sessions.keys()
    archived, remote = guard.sessions.archived(), guard.sessions.remote()
    ordered = sorted(found.items())
    lines = [_line(name, head, keys.get(name, name), current) for name, head in ordered]
    lines += [_remote_line(name, head) for name, head in sorted(remote.items())]
    lines += [_put_away_line(one) for one in archived]
    document = {
        "current": current,
        "sessions": found,
        "keys": keys,
        "archived": archived,
        "remote": remote,
    }
    if console.as_json:
        document["conversations"] = _conversations(console, keys)
    console.say("\n".join(lines) or "No sessions.", document)


def _line(name: str, head: str, key: str, current: str) -> str:
    mark = "*" if name == current else " "
    said = one_line(key) if key != name else ""
    return f"{mark} {name}  {head[:12] or 'no checkpoint'}  {said}".rstrip()


def _remote_line(name: str, head: str) -> str:
    adopt = f"`gitguard --session {name} repair --trust` adopts it"
    return f"  {name}  {head[:12]}  only on a remote-tracking branch; {adopt}"


def _put_away_line(one: Archived) -> str:
    problem = f"; {one_line(one.problem)}" if one.problem else ""
    return f"  {one.name}  {one.commit[:12]}  archived{problem}"


def _conversations(
    console: Console, keys: Mapping[str, str]
) -> dict[str, list[StoredConversation]]:
    found = {}
    for name, key in keys.items():
        try:
            found[name] = [*console.guard.sessions.conversations(Session(key, name))]
        except GitguardError:
            continue  # its own `session show` tells what is wrong with it
    return found


@click.command()
@click.argument("key", default=None, callback=named)
@with_console
def show(console: Console, key: str) -> None:
    """Show the session KEY and its conversations, by default the current one

    For each conversation: transcript, window, last counted tokens, and compactions. For an archived
    session: where its branch is, and how to restore it.

    Example: `gitguard session show payments`
    """
    found = console.guard.sessions.show(key)
    branch = f"Branch: {found.branch} {found.head[:12]} {found.standing}"
    where = [_archived_line(one) for one in found.archived] or [branch]
    told = [line for one in found.conversations for line in _lines(one)]
    lines = [f"Session: {found.session}", *where, *told]
    document = fields_of(found)
    console.say("\n".join(map(one_line, lines)), document)


def _archived_line(one: Archived) -> str:
    if one.problem:
        return f"Archived: {one.ref}; {one.problem}"
    return (
        f"Archived: {one.ref}; `gitguard session reopen {one.name} --head {one.commit[:12]}` "
        "brings it back"
    )


def _lines(one: StoredConversation) -> list[str]:
    tokens = "not counted" if one.total_tokens is None else f"{one.total_tokens:,}"
    stale = "" if one.total_tokens_fresh or one.total_tokens is None else ", as last known"
    lines = [
        f"Conversation {one.conversation}: {counted(one.turns, 'turn')}, "
        f"{counted(one.compaction_count, 'compaction')}, used {one.updated_at}",
        f"  Tokens: {tokens} of {one.context_tokens:,}{stale}",
    ]
    if one.assumption:
        lines.append(f"  Note: {one.assumption}")
    if one.transcript:
        lines.append(f"  Transcript: {one.transcript} ({one.format})")
    return lines + [f"  Problem: {one.problem}"] * bool(one.problem)


COMMANDS: list[click.Command] = [list_sessions, show]
