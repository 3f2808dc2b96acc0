"""The command that compacts a conversation."""

from __future__ import annotations

import os
import random
import time
from typing import TYPE_CHECKING

import click

from gitguard.cli.console import Console, progress, with_console
from gitguard.cli.transcript_naming import (
    MOST_TURNS,
    config_of,
    find_transcript,
    naming_a_transcript,
    transcripts_of,
)
from gitguard.errors import InvalidConfig, NotARepository
from gitguard.model.config import SMALLEST_WINDOW
from gitguard.model.config_redaction import redactor_of
from gitguard.model.events import MOST_TOKENS
from gitguard.model.text import counted, one_line

if TYPE_CHECKING:
    from collections.abc import Callable

    from gitguard.model.config import Config
    from gitguard.model.events import Transcript
    from gitguard.model.transcript import Answer
    from gitguard.usecases.compacting import Compacted, Tools
    from gitguard.usecases.compaction_hooks import SessionHooks


@click.command()
@naming_a_transcript
@click.option(
    "--keep-turns",
    type=click.IntRange(1, MOST_TURNS),
    metavar="N",
    help="The last turns that stay word for word; `compaction.keep_turns` by default",
)
@click.option(
    "--window",
    type=click.IntRange(SMALLEST_WINDOW, MOST_TOKENS),
    metavar="TOKENS",
    help="The window; by default as `transcript usage` shows it",
)
@click.option("--mechanical", is_flag=True, help="Do not ask the summarizer that is set up")
@click.option("--dry-run", is_flag=True, help="Show the summary, and what would change")
@with_console
def compact(
    console: Console,
    path: str | None,
    format_name: str,
    conversation: str | None,
    keep_turns: int | None,
    window: int | None,
    mechanical: bool,
    dry_run: bool,
) -> None:
    """Put a summary in the place of a conversation's older turns

    The last turns stay word for word; nothing is taken out of the file, to which the summary is
    added as its host adds one. The host goes on from there when the conversation is resumed; end
    it first. The summary needs no model: it holds what was said in a few lines, the session's state
    with its decisions, failed tool calls, files, and the workspace's rules. `summarizer` in your
    own config.yaml names a command that is asked instead. The session is checkpointed before and
    after.
    """
    named = find_transcript(console, path, format_name, conversation)
    with progress("bytes") as tell_read, progress("parts") as tell:
        telling = _Telling(max if console.as_json else tell)
        tools, own = _tools(console, named, telling, asked=not (mechanical or dry_run))
        if not console.as_json:
            tools = tools.replace(tell_read=tell_read)
        done = transcripts_of(console).compact(
            named,
            tools,
            keep_turns=keep_turns or 0,
            window=window or 0,
            dry_run=dry_run,
        )
    console.say(_text(done, own), _document(done, own))


class _Telling:
    """Shows how many parts are done, and again while one takes long."""

    def __init__(self, tell: Callable[[int, int], object]) -> None:
        """Show it by a function."""
        self._tell = tell
        self._newest = (0, 0)

    def __call__(self, done: int, of: int) -> None:
        """Show how many are done."""
        self._newest = (done, of)
        self.again()

    def again(self) -> None:
        """Show the same once more."""
        self._tell(*self._newest)


def _tools(
    console: Console, named: Transcript, telling: _Telling, *, asked: bool
) -> tuple[Tools, SessionHooks | None]:
    """Return what compacting needs, and the session whose conversation it is, if it is one."""
    from gitguard.usecases.compacting import Tools

    config = config_of(console)
    own, folder, foreign = _own_session(console, named)
    tools = Tools(
        clock=time.time,
        random=os.urandom,
        redactor=redactor_of(config.redaction),
        ask=_summarizer(config, foreign, telling) if asked and config.summarizer else None,
        tell=telling,
        folder=folder,
        session_key=own.session_key if own else "",
        hooks=(own,) if own else (),
    )
    return tools, own


def _own_session(
    console: Console, named: Transcript
) -> tuple[SessionHooks | None, str, tuple[str, ...]]:
    """Return the session's hooks if it has any, the conversation's folder, and whose programs
    are none of the user's: those of the folder, and of the workspace that we stand in.

    Raises `NotInitialised` or `NotARepository` where a session is named that is not there.
    """
    from gitguard.transcripts.rewriting.writable import writer_of
    from gitguard.usecases.compaction_hooks import SessionHooks, owner_of
    from gitguard.usecases.sessions import refuse_unknown

    held_in = writer_of(named).folder
    try:
        guard = console.guard
    except NotARepository:
        if console.named_session:
            raise
        return None, held_in, (held_in,)
    worktree = guard.workspace.place.worktree
    if console.named_session:
        refuse_unknown(guard.store())
    owner = owner_of(guard.workspace, named, held_in)
    if owner is None:
        return None, held_in, (held_in, worktree)
    return SessionHooks(guard.store(owner), named), worktree, (held_in, worktree)


def _summarizer(
    config: Config, foreign: tuple[str, ...], telling: _Telling
) -> Callable[[str], Answer]:
    """Return the user's own command, asked with patience."""
    from gitguard.store.program import path_of
    from gitguard.store.summarizer import SummarizerCommand
    from gitguard.transcripts.fitting.summarizing import Patience, persistent

    name, *arguments = config.summarizer
    path = path_of(name, os.environ, *(os.path.realpath(each) for each in foreign if each))
    if not path:
        raise InvalidConfig(
            f"`summarizer` names `{name:.80}`, which is no program on your PATH",
            "Name one outside of the workspace, or say --mechanical",
        )
    command = SummarizerCommand(path, tuple(arguments), os.environ, time.monotonic, telling.again)
    until = time.monotonic() + config.compaction.timeout_seconds
    patience = Patience(time.monotonic, time.sleep, random.random, until)
    return persistent(command, patience, _say_trying)


def _say_trying(what: str) -> None:
    click.echo(f"summarizer: {one_line(what)}", err=True)


def _text(done: Compacted, own: SessionHooks | None) -> str:
    measured = "" if done.measured is None else f" ({done.measured:,} as the host measured)"
    lines = [
        _repaired_text(done) if done.repaired else "",
        f"Messages: {done.messages_before:,} before, {done.messages_after:,} after",
        f"Tokens: about {done.tokens_before:,} before{measured}, "
        f"about {done.tokens_after:,} after, of a window of {done.window:,}",
        _left_out_text(done) if done.left_out else "",
        "The first turn that is kept was split: its beginning is summarized."
        if done.splits_turn
        else "",
        *(f"The summarizer did not answer: {said}" for said in done.complaints),
        f"Summarized: {'by your summarizer' if _by_command(done) else 'mechanically'}, "
        f"{len(done.summary):,} characters",
        *(f"Note: {note}" for note in (own.notes if own else ())),
        f"Session: {own.session_key}"
        if own
        else "No session here is the conversation's, so there is no checkpoint.",
    ]
    shown = [one_line(line) for line in lines if line]
    if done.added:
        return "\n".join([*shown, f"Added: {done.added:,} bytes to {done.transcript.path}"])
    return "\n".join([*shown, "Nothing was changed.", "", done.summary])


def _left_out_text(done: Compacted) -> str:
    limit = f" of {counted(done.limit.turns, 'turn')} ({done.limit.source})" if done.limit else ""
    return (
        f"Left out: {counted(done.left_out, 'older turn')}, neither kept nor summarized, by the "
        f"history limit{limit}; the file keeps them"
    )


def _repaired_text(done: Compacted) -> str:
    counts = ", ".join(f"{kind} {count:,}" for kind, count in done.repaired.items())
    if done.added:
        return f"Repaired first: {counts}; the original is `{done.backup}`"
    return f"To repair first: {counts}; what follows is of the conversation as repaired"


def _by_command(done: Compacted) -> bool:
    return done.summarized_by == "command"


def _document(done: Compacted, own: SessionHooks | None) -> dict[str, object]:
    found = {name: getattr(done, name) for name in done.field_names}
    saved, notes = (own.saved, own.notes) if own else ((), ())
    session = own.session_key if own else ""
    return {**found, "session": session, "checkpoints": list(saved), "notes": list(notes)}


COMMANDS: list[click.Command] = [compact]
