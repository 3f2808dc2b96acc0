"""The command that brings an earlier checkpoint back: its state, its files, or both."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

import click

from gitguard.cli.change_lines import SIGNS
from gitguard.cli.changed_state import ask_about, say_changed, show_plan, shown_changes
from gitguard.cli.completing import offer_checkpoints
from gitguard.cli.console import Console, asking, can_ask, confirm, named, progress, with_console
from gitguard.cli.file_changes import path_word, paths_from_root
from gitguard.cli.notes import saved_text
from gitguard.cli.process_environment import is_agents_shell, refuse_agents
from gitguard.errors import GitguardError, NotConfirmed
from gitguard.model.text import counted, local_times, one_line
from gitguard.store.worktree.restore_record import BY_OTHERS, RestoreRecord

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any

    from gitguard.sessions.file_restore import FilePlan
    from gitguard.sessions.state_comparison import StateChange

_SHOWN = 200
"""Files that a preview names; --json names all."""


class _Choice(NamedTuple):
    """What a person asked for."""

    paths: tuple[str, ...]
    is_files: bool
    is_state: bool
    undo: bool
    theirs_too: bool
    folder: str
    patch: bool
    explain: bool
    force: bool
    untrusted: bool
    dry_run: bool
    yes: bool

    @property
    def about_files(self) -> str:
        """The first option that is about files, empty for none."""
        options = {
            "--files": self.is_files,
            "--undo": self.undo,
            "--to": self.folder,
            "--patch": self.patch,
            "--explain": self.explain,
            "--theirs-too": self.theirs_too,
            "--force": self.force,
            "PATH": self.paths,
        }
        return next((option for option, is_given in options.items() if is_given), "")


@click.command()
@click.argument("checkpoint", default="", shell_complete=offer_checkpoints)
@click.argument("paths", nargs=-1, metavar="[PATH]...", type=click.Path())
@click.option("--files", "is_files", is_flag=True, help="Put the files back, or those named")
@click.option("--state", "is_state", is_flag=True, help="Restore the task state")
@click.option("--undo", is_flag=True, help="Undo the last restore of files, or that of a TIME")
@click.option("--theirs-too", is_flag=True, help="Also files that somebody else changed since")
@click.option("--force", is_flag=True, help="Also during a merge, and while others write")
@click.option("--to", "folder", callback=named, metavar="DIR", help="Write the files into DIR")
@click.option("--patch", is_flag=True, help="Print what would change in the files as a patch")
@click.option("--explain", is_flag=True, help="Print git commands that put the files back")
@click.option(
    "--untrusted",
    is_flag=True,
    help="Also take an archived state that another machine may have written",
)
@asking
@with_console
def restore(console: Console, checkpoint: str, **given: Any) -> None:
    """Restore the task state or the files of an earlier CHECKPOINT

    On a terminal, shows what differs in both and asks for each; elsewhere, and with --state, it
    restores the state alone, and your files stay as they are. --files puts back the files that this
    session changed since, all of them or those named by PATH. It saves the current files first;
    --undo restores them. `--undo TIME` undoes an earlier restore, as `gitguard status --files`
    lists them. Only a person may use --files, --undo and --untrusted.

    Example: `gitguard restore 17 --files src --dry-run`
    """
    choice = _Choice(**given)
    _refuse_contradictions(checkpoint, choice, as_json=console.as_json)
    about_files = choice.about_files
    if about_files:
        refuse_agents(f"restore {about_files}")
        _restore_files(console, checkpoint, choice)
    if choice.is_state or not about_files:
        _restore_state(console, checkpoint, choice)


def _refuse_contradictions(checkpoint: str, choice: _Choice, *, as_json: bool) -> None:
    if not checkpoint and not choice.undo:
        raise click.MissingParameter(param_hint="'CHECKPOINT'", param_type="argument")
    if choice.undo and choice.paths:
        raise click.UsageError("--undo takes no paths; `--files` takes some, with a checkpoint")
    if choice.undo and (choice.folder or choice.explain):
        raise click.UsageError("--undo goes with --patch and --dry-run, not with --to or --explain")
    if choice.undo and choice.is_state:
        raise click.UsageError("--undo and --state cannot be combined: an undo is of files")
    outputs = {"--to": choice.folder, "--patch": choice.patch, "--explain": choice.explain}
    named = [option for option, is_given in outputs.items() if is_given]
    if len(named) > 1 or (named and choice.is_state):
        raise click.UsageError(f"{named[0]} and {(*named[1:], '--state')[0]} cannot be combined")
    if as_json and (choice.patch or choice.explain):
        raise click.UsageError(f"{named[0]} prints text, and no document")
    if as_json and choice.is_state and choice.about_files:
        raise click.UsageError(
            f"--json prints one document: leave out --state or {choice.about_files}"
        )


# The state


def _restore_state(console: Console, checkpoint: str, choice: _Choice) -> None:
    untrusted = choice.untrusted
    if untrusted:
        refuse_agents("restore --untrusted")
    plan = console.guard.restore(checkpoint, dry_run=True, untrusted=untrusted)
    if choice.dry_run:
        show_plan(console, plan, in_sentences=True)
    elif shown_changes(plan):
        try:
            ask_about(console, plan, "Restore this state?", yes=choice.yes, in_sentences=True)
        except NotConfirmed:
            # Whoever leaves the state as it is may still want the files.
            if choice.is_state or not (can_ask() and _offer_files(console, plan, choice)):
                raise
            return
        say_changed(console, console.guard.restore(checkpoint, untrusted=untrusted))
    else:
        document: dict[str, Any] = {"notes": [], "saved": None, "state": plan.after}
        console.say("Nothing to restore: the state is the same.", document)
    if not choice.is_state:
        _offer_files(console, plan, choice)


def _offer_files(console: Console, restored: StateChange, choice: _Choice) -> bool:
    """Say whether the files differ too; on a terminal, ask whether to put them back.

    Return whether they were.
    """
    if console.as_json or restored.checkpoint is None or not restored.checkpoint.files:
        return False
    name = restored.checkpoint.name
    try:
        plan = console.guard.files.plan(name)
    except GitguardError as error:
        console.remark(f"note: the files were not compared: {error.message}")
        return False
    if not plan.files:
        return False
    differ = f"{counted(len(plan.files), 'file')} not as at {name}"
    if choice.dry_run or choice.yes or not can_ask() or is_agents_shell():
        console.remark(f"note: {differ}; `gitguard restore {name} --files --dry-run` shows them")
        return False
    click.echo("\n".join(_plan_lines(plan)))
    is_possible = plan.chosen and not plan.obstacle
    if not is_possible or not click.confirm("Put these files back?", default=False):
        return False
    _put_back(console, plan)
    return True


# The files


def _restore_files(console: Console, checkpoint: str, choice: _Choice) -> None:
    files = console.guard.files
    paths = paths_from_root(console, choice.paths)
    theirs_too = choice.theirs_too
    if choice.folder:
        _export(console, checkpoint, paths, choice)
        return
    plan = (
        files.plan_undo(checkpoint, theirs_too=theirs_too)
        if choice.undo
        else files.plan(checkpoint, paths, theirs_too=theirs_too)
    )
    if not plan.chosen and (choice.patch or choice.explain):
        console.remark("note: nothing is left to restore; --dry-run says why")
    if choice.patch:
        # Bytes, because a file's content need not be UTF-8.
        click.echo(files.patch(plan).encode("utf-8", "surrogateescape"), nl=False)
    elif choice.explain:
        for command in files.commands(checkpoint, plan):
            click.echo(command)
    else:
        _carry_out(console, plan, choice)


def _export(console: Console, checkpoint: str, paths: tuple[str, ...], choice: _Choice) -> None:
    folder = choice.folder
    if choice.dry_run:
        raise click.UsageError("--to writes into a new folder, and has no --dry-run")
    written = console.guard.files.export(checkpoint, folder, paths)
    text = f"Written: {counted(written, 'file')} into {one_line(folder)}"
    console.say(text, {"folder": folder, "files": written})


def _carry_out(console: Console, plan: FilePlan, choice: _Choice) -> None:
    files = console.guard.files
    # An undo takes back what a restore that was cut off has done so far.
    cut_off = files.unfinished()
    if cut_off is not None and choice.dry_run and not choice.undo:
        source = one_line(cut_off.source)
        console.remark(f"note: a restore of {source} was cut off, and will be finished first")
    elif cut_off is not None and not choice.undo:
        _finish(console, cut_off, choice)
    if choice.dry_run or not plan.files:
        if choice.undo and not choice.dry_run and files.give_up():
            console.remark("note: the restore that was cut off is given up: it changed nothing")
        console.say("\n".join(_plan_lines(plan, force=choice.force)), _document(plan))
        return
    if not console.as_json:
        click.echo("\n".join(_plan_lines(plan, force=choice.force)))
    if plan.chosen and (choice.force or not plan.obstacle):
        confirm(f"Put back {counted(len(plan.chosen), 'file')}?", yes=choice.yes)
    _put_back(console, plan, force=choice.force)


def _finish(console: Console, cut_off: RestoreRecord, choice: _Choice) -> None:
    """Finish a restore that was cut off, and end there: the files are others than a plan saw."""
    source = one_line(cut_off.source)
    console.remark(f"note: a restore of {source} was cut off, and has to be finished first")
    confirm("Finish it?", yes=choice.yes)
    with progress("files") as tell:
        console.guard.files.finish(force=choice.force, tell=tell)
    raise GitguardError(
        f"the restore of {source} is finished now; nothing else was put back",
        "Run the command again, with the files as they are now",
    )


def _plan_lines(plan: FilePlan, *, force: bool = False) -> Iterator[str]:
    chosen, refused = plan.chosen, plan.refused
    if plan.files:
        yield f"Files as at {local_times(one_line(plan.source))}:"
    else:
        yield f"Nothing to restore: the files are as at {local_times(one_line(plan.source))}."
    yield from _shown(f"{SIGNS[file.action][0]} {path_word(file.path)}" for file in chosen)
    if refused:
        is_theirs = any(file.refusal.startswith(BY_OTHERS) for file in refused)
        hint = "; --theirs-too takes those that somebody else changed" if is_theirs else ""
        yield f"Left as they are{hint}:"
        yield from _shown(f"{path_word(file.path)}: {one_line(file.refusal)}" for file in refused)
    yield from (f"Not checked: {one_line(unseen)}" for unseen in plan.unseen)
    if plan.remark:
        yield f"Note: {plan.remark}."
    if plan.obstacle and not force:
        obstacle = plan.obstacle
        yield f"Not now: {one_line(obstacle.reason)}. {one_line(obstacle.way_out)}."


def _shown(lines: Iterable[str]) -> Iterator[str]:
    """Yield the first lines, and how many there are beyond them."""
    unread = iter(lines)
    yield from (f"  {line}" for line in islice(unread, _SHOWN))
    if more := sum(1 for _ in unread):
        yield f"  … {more:,} more"


def _document(plan: FilePlan) -> dict[str, Any]:
    return {
        "source": plan.source,
        "files": [{"path": f.path, "action": f.action, "refusal": f.refusal} for f in plan.files],
        "unseen": list(plan.unseen),
        "remark": plan.remark,
        "obstacle": plan.obstacle.reason if plan.obstacle else "",
    }


def _put_back(console: Console, plan: FilePlan, *, force: bool = False) -> None:
    with progress("files") as tell:
        restored = console.guard.files.restore(plan, force=force, tell=tell)
    lines = [
        f"Put back: {counted(len(restored.files), 'file')} as at {local_times(restored.source)}"
    ]
    lines += [f"  stays: {path_word(p)}: {one_line(why)}" for p, why in restored.stayed.items()]
    if restored.saved is not None:
        lines.append(saved_text(restored.saved))
    lines.append("`gitguard restore --undo` brings back what was there before.")
    document = {
        "source": restored.source,
        "files": list(restored.files),
        "stayed": restored.stayed,
        "saved": restored.saved,
    }
    console.say("\n".join(lines), document)


COMMANDS: list[click.Command] = [restore]
