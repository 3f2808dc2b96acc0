"""Commands about checkpoints: take one, show and compare them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from gitguard.cli.change_lines import change_lines, cut_hint, difference_lines, sentence_lines
from gitguard.cli.completing import offer_checkpoints, offer_shown
from gitguard.cli.console import Console, fields_of, with_console
from gitguard.cli.file_changes import asked_files, paths_from_root, say_file_changes
from gitguard.cli.notes import pending, saved_text
from gitguard.cli.paging import PageLine, no_pager_option, say_paged
from gitguard.cli.untrusted import mark_of, same_view, untrusted_option, writer_option
from gitguard.model.codec import STATE_FILE, SUMMARY_FILE
from gitguard.model.text import counted, one_line, timestamp
from gitguard.model.triggers import NO_MESSAGE
from gitguard.state.checkpoint import SNAPSHOT_FILE

if TYPE_CHECKING:
    from typing import Any

    from gitguard.review.comparing import Comparison
    from gitguard.store.git.code_history import CodeCommit

_CHANGE = "change"
"""What `show 17` prints: what changed in the checkpoint, in sentences."""
_HOST_SUMMARY = "host-summary"
_FILES = {"state": STATE_FILE, "summary": SUMMARY_FILE, "snapshot": SNAPSHOT_FILE}


@click.command()
@click.option("-m", "--message", default=NO_MESSAGE, metavar="TEXT", help="Why you take it")
@with_console
def checkpoint(console: Console, message: str) -> None:
    """Commit state, summary and snapshot to the session's branch

    Example: `gitguard checkpoint -m "Before the refactoring"`
    """
    saved = console.guard.checkpoint(message.strip() or NO_MESSAGE)
    console.say(saved_text(saved), {"saved": saved}, pending(saved))


@click.command()
@click.argument(
    "what",
    default=None,
    metavar="[state|summary|snapshot|host-summary]",
    shell_complete=offer_shown,
)
@click.argument("checkpoint", default="", shell_complete=offer_checkpoints)
@click.option("--files", is_flag=True, help="List your files that changed in CHECKPOINT, by whom")
@writer_option
@untrusted_option
@no_pager_option
@with_console
def show(
    console: Console,
    what: str | None,
    checkpoint: str,
    files: bool,
    writer: str,
    untrusted: bool,
    no_pager: bool,
) -> None:
    """Say what changed in CHECKPOINT, or print its state, summary, snapshot or host-summary

    Without arguments, says what the current state holds. CHECKPOINT is a number, a name such as
    cp_003, or a commit id. `show 17` says what checkpoint 17 changed, `show state 17` prints its
    state, and `show 17 --files` lists which of your files changed. `show host-summary` prints the
    whole summary with which the host replaced the conversation at the last compaction.
    For the file of a CHECKPOINT, standard error names the code commit that was checked out. Refuses
    a checkpoint that this machine did not write, except with --untrusted. `show 17 --writer 3f2a`
    is about checkpoint 17 of another machine.

    Example: `gitguard show 17`
    """
    _refuse_unfit(what, writer, files=files)
    if files:
        paths = paths_from_root(console, (checkpoint,) if checkpoint else ())
        changes = console.guard.history.files_of(what or "", paths)
        say_file_changes(console, changes, paths, no_pager=no_pager)
        return
    if what is None and not console.as_json:
        _say_now(console, writer, untrusted=untrusted, no_pager=no_pager)
        return
    name, chosen = ("state", "") if what is None else _what_to_show(what, checkpoint)
    say = {_CHANGE: _say_change, _HOST_SUMMARY: _say_host_summary}.get(name, _say_file)
    say(console, name, chosen, writer=writer, untrusted=untrusted, no_pager=no_pager)


def _refuse_unfit(what: str | None, writer: str, *, files: bool) -> None:
    """Refuse what does not go together; of a lane there is neither a file nor a host's summary."""
    if writer and (files or what == _HOST_SUMMARY):
        raise click.UsageError("files and the host's summaries stay on the writer's machine")
    if files and what in (*_FILES, _HOST_SUMMARY):
        raise click.UsageError(f"`show {what}` prints a file of a checkpoint; leave out --files")


def _say_now(console: Console, writer: str, *, untrusted: bool, no_pager: bool) -> None:
    stated = console.guard.history.now(untrusted=untrusted, writer=writer)
    mark = mark_of(console, writer=writer) if writer and untrusted else ""
    now = timestamp(console.guard.clock())
    whole = f"gitguard show state{same_view(console, writer, untrusted=untrusted)}"
    lines = [*sentence_lines(stated, now), *cut_hint(stated, whole)]
    lines = lines or [PageLine("Nothing is noted yet.")]
    say_paged(console, lines, {}, mark=mark, no_pager=no_pager)


def _say_change(
    console: Console, name: str, chosen: str, *, writer: str, untrusted: bool, no_pager: bool
) -> None:
    change = console.guard.history.change(chosen, untrusted=untrusted, writer=writer)
    code = console.guard.history.code_of(chosen, untrusted=untrusted, writer=writer)
    mark = mark_of(console, chosen, writer=writer) if untrusted else ""
    shown = f"{chosen}{same_view(console, writer, untrusted=untrusted)}"
    lines = change_lines(change, _code_line(code), one_line(shown))
    document = {"what": name, "wanted": chosen, **fields_of(change), "code": code}
    say_paged(console, lines, document, mark=mark, no_pager=no_pager)


def _say_file(
    console: Console, name: str, chosen: str, *, writer: str, untrusted: bool, no_pager: bool
) -> None:
    data = console.guard.history.show(_FILES[name], chosen, untrusted=untrusted, writer=writer)
    text = data.decode("utf-8", "replace")
    is_working = not chosen and name != "snapshot" and not writer
    mark = mark_of(console, chosen, writer=writer) if untrusted and not is_working else ""
    document: dict[str, Any] = {"what": name, "checkpoint": chosen, "text": text}
    if chosen:
        code = console.guard.history.code_of(chosen, untrusted=untrusted, writer=writer)
        document["code"] = code
        console.remark(_code_line(code))
    lines = [PageLine(line) for line in text.rstrip("\n").split("\n")]
    say_paged(console, lines, document, mark=mark, no_pager=no_pager)


def _say_host_summary(
    console: Console, name: str, chosen: str, *, writer: str, untrusted: bool, no_pager: bool
) -> None:
    assert not writer  # `_refuse_unfit` refuses one
    shown = console.guard.history.host_summary(chosen, untrusted=untrusted)
    mark = mark_of(console, chosen) if untrusted and chosen else ""
    document = {"what": name, "checkpoint": chosen, **fields_of(shown)}
    lines = [PageLine(line) for line in shown.text.rstrip("\n").split("\n")]
    say_paged(console, lines, document, mark=mark, no_pager=no_pager)


def _what_to_show(what: str, checkpoint: str) -> tuple[str, str]:
    """Return which file of which checkpoint; a checkpoint alone means what it changed."""
    printed = (*_FILES, _HOST_SUMMARY)
    if what in printed:
        return what, checkpoint
    if checkpoint or not what:
        raise click.BadParameter(f"`{what:.80}` is none of {', '.join(printed)}")
    return _CHANGE, what


@click.command()
@click.argument("older", default="", shell_complete=offer_checkpoints)
@click.argument("newer", default="", shell_complete=offer_checkpoints)
@click.argument("paths", nargs=-1, metavar="[PATH]...", type=click.Path())
@click.option("--text", "with_text", is_flag=True, help="Compare the stored files line by line")
@click.option("--files", is_flag=True, help="List your files that changed, and who changed them")
@writer_option
@untrusted_option
@no_pager_option
@with_console
def diff(
    console: Console,
    older: str,
    newer: str,
    paths: tuple[str, ...],
    with_text: bool,
    files: bool,
    writer: str,
    untrusted: bool,
    no_pager: bool,
) -> None:
    """Say what changed between two checkpoints

    Without arguments, compares the newest checkpoint with the current state. `1..3` means `1 3`.
    `+` marks what was added, `~` what changed, and `-` what was removed. The first line names the
    code commit of the newer side and counts the files that were changed by commits since the older
    one. Refuses checkpoints that this machine did not write, except with --untrusted. With
    --writer, compares checkpoints of another machine's lane, by default with its newest one.
    With --files it lists instead the files of your worktree that changed, those below PATH if it is
    given; one checkpoint alone is compared with the files as they are now.

    Example: `gitguard diff 1..3`
    """
    if writer and (files or not older):
        raise click.UsageError("--writer compares checkpoints of a lane, such as `diff 1..3`")
    if files:
        if with_text:
            raise click.UsageError("--text compares the stored files of checkpoints, not yours")
        older, newer, paths = asked_files(console, (older, newer, *paths))
        changes = console.guard.history.files(older, newer, paths)
        say_file_changes(console, changes, paths, no_pager=no_pager)
        return
    if ".." in older:
        paths = (newer, *paths) if newer else paths
        older, _, newer = older.replace("...", "..").partition("..")
    if paths:
        raise click.UsageError(f"`{paths[0]:.80}` is one too many; --files takes PATH")
    _say_compared(
        console,
        older,
        newer,
        writer=writer,
        with_text=with_text,
        untrusted=untrusted,
        no_pager=no_pager,
    )


def _say_compared(
    console: Console,
    older: str,
    newer: str,
    *,
    writer: str,
    with_text: bool,
    untrusted: bool,
    no_pager: bool,
) -> None:
    compared = console.guard.history.diff(
        older, newer, with_text=with_text, untrusted=untrusted, writer=writer
    )
    older = compared.difference.older
    newer = newer if not writer else compared.difference.newer
    code = console.guard.history.code_of(newer, older, untrusted=untrusted, writer=writer)
    mark = mark_of(console, older, newer, writer=writer) if untrusted else ""
    view = same_view(console, writer, untrusted=untrusted)
    change = _compared_lines(console, compared, view, with_text=with_text)
    lines = [PageLine(_code_line(code)), *change]
    document = {**fields_of(compared.difference), "sentences": compared.sentences, "code": code}
    if with_text:
        document["text"] = compared.text
    say_paged(console, lines, document, mark=mark, no_pager=no_pager)


def _compared_lines(
    console: Console, compared: Comparison, view: str, *, with_text: bool
) -> list[PageLine]:
    if with_text:
        text = compared.text.rstrip("\n") or "No difference."
        return [PageLine(line, _diff_colour(line)) for line in text.split("\n")]
    difference = compared.difference
    newer = "" if difference.newer == "now" else f" {difference.newer}"
    whole = one_line(f"gitguard diff {difference.older}{newer} --text{view}")
    return difference_lines(compared.sentences, console.guard.clock(), whole)


def _diff_colour(line: str) -> str:
    return {"+": "green", "-": "red", "@": "cyan"}.get(line[:1], "")


def _code_line(code: CodeCommit) -> str:
    """Return what a reviewer wants to know of the code that goes with a checkpoint."""
    if not code.id:
        return "Code: nothing was committed yet"
    if not code.is_there:
        return f"Code: {one_line(code.id)[:7]} is no longer in this repository"
    remarks = []
    if code.compared_with:
        changes = "unknown changes"
        if code.files_changed is not None:
            changes = f"{counted(code.files_changed, 'file')} changed"
        number = int(code.compared_with.removeprefix("cp_"))
        remarks.append(f"{changes} since checkpoint {number}")
    if not code.is_reachable:
        remarks.append("not in the history of HEAD")
    subject = f' "{code.subject}"' if code.subject else ""
    return f"Code: {code.id[:7]}{subject}" + (f" ({', '.join(remarks)})" if remarks else "")


COMMANDS: list[click.Command] = [checkpoint, show, diff]
