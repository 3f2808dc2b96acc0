"""Commands that set gitguard up: init, uninstall, hook, completion."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click
from click.shell_completion import get_completion_class

from gitguard.cli.config import ask_with
from gitguard.cli.console import Console, with_console
from gitguard.cli.host_choice import hosts_to_set_up
from gitguard.cli.notes import pending
from gitguard.cli.plugin import init_plugin
from gitguard.cli.process_environment import executable, refuse_agents
from gitguard.cli.startup_lines import second_clone
from gitguard.guard.hosts import ANSWERED, INSTALLABLE, WITHOUT_HOOKS
from gitguard.hosts.base import InstallOptions
from gitguard.model.text import enumerated, one_line

if TYPE_CHECKING:
    from gitguard.settings.installer import Outcome

_HOST = click.option(
    "--host",
    type=click.Choice([*INSTALLABLE, WITHOUT_HOOKS]),
    help=f"The agent's host, or `{WITHOUT_HOOKS}` for one without hooks; else those that are here",
)
_YES = click.option("-y", "--yes", is_flag=True, help="Do not ask")


@click.command()
@_HOST
@click.option(
    "--shared", is_flag=True, help="Use the settings that everybody in this project shares"
)
@click.option("--dry-run", is_flag=True, help="Show what would change, and stop")
@click.option("--no-compaction-trigger", is_flag=True, help="Let the host decide when to compact")
@click.option("--directory-hook", is_flag=True, help="Also use the host's hook folder")
@click.option("--plugin", metavar="DIR", default="", help="Only write the hosts' plugin into DIR")
@_YES
@with_console
def init(
    console: Console,
    host: str | None,
    shared: bool,
    dry_run: bool,
    no_compaction_trigger: bool,
    directory_hook: bool,
    plugin: str,
    yes: bool,
) -> None:
    """Set gitguard up for the hosts of this repository

    Begins the session and adds hooks, and what else the host takes, to its settings for this
    repository or for you. A host that takes plugins gets a plugin instead, and the host's own
    program enables it. `git status` shows none of these files, except with --shared, where you
    commit them. A second run changes nothing; `gitguard uninstall` restores the settings.

    Without --host, init finds the hosts that are on PATH or have a folder in your home folder. It
    sets up the only one, and those that were set up here before; of several it asks for each.

    `--host none` is for a host without hooks: it shows a section that tells agents which commands
    to run, asks, and writes it into the instructions that the host loads, such as `AGENTS.md`.

    `--plugin DIR` sets up nothing here: it writes a plugin that several hosts can install, and
    prints their commands for it.

    Example: `gitguard init`
    """
    if plugin:
        init_plugin(console, plugin, dry_run=dry_run)
        return
    options = InstallOptions(
        executable(),
        shared=shared,
        with_trigger=not no_compaction_trigger,
        directory_hook=directory_hook,
    )
    if host == WITHOUT_HOOKS and not dry_run:
        _ask(console, console.guard.install(host, options, dry_run=True), yes=yes)
    names = (host,) if host else hosts_to_set_up(console, options, yes=yes, dry_run=dry_run)
    outcome = console.guard.hosts.install(names, options, dry_run=dry_run)
    _say_outcome(console, names, outcome, dry_run=dry_run)


@click.command()
@_HOST
@click.option("--dry-run", is_flag=True, help="Show what would change, and stop")
@_YES
@with_console
def uninstall(console: Console, host: str | None, dry_run: bool, yes: bool) -> None:
    """Remove gitguard from the settings of a host, or of all that are set up here

    A file that nobody changed since comes back byte for byte; from any other file, only gitguard's
    entries go. Checkpoints and working files stay.

    Example: `gitguard uninstall --dry-run`
    """
    refuse_agents("uninstall")
    if host == WITHOUT_HOOKS and not dry_run:
        _ask(console, console.guard.uninstall(host, dry_run=True), yes=yes)
    names = (host,) if host is not None else console.guard.hosts.set_up() or INSTALLABLE[:1]
    outcome = console.guard.hosts.uninstall(names, dry_run=dry_run)
    _say_outcome(console, names, outcome, dry_run=dry_run)


def _ask(console: Console, planned: Outcome, *, yes: bool) -> None:
    """Show the changes to a person's own files and ask; raises `NotConfirmed`."""
    if planned.changes:
        differences = "\n".join(change.diff().rstrip("\n") for change in planned.changes)
        document = {"dry_run": True, "changes": _changes_document(planned)}
        ask_with(console, differences, document, "Make these changes?", yes=yes)


def _changes_document(outcome: Outcome) -> list[dict[str, str]]:
    return [
        {"path": change.name, "what": change.what, "diff": change.diff()}
        for change in outcome.changes
    ]


def _say_outcome(
    console: Console, names: tuple[str, ...], outcome: Outcome, *, dry_run: bool
) -> None:
    startup = outcome.startup
    lines = [] if startup is None else [one_line(f"Session `{_session(console)}` {startup.how}.")]
    if dry_run:
        lines += [change.diff().rstrip("\n") for change in outcome.changes]
    else:
        lines += [f"{change.what.capitalize()} `{change.name}`." for change in outcome.changes]
    lines += [f"{'Would run' if dry_run else 'Ran'} `{run}`." for run in outcome.commands]
    lines += [] if outcome.changes or outcome.commands else ["Settings and files need no change."]
    notes = [*outcome.notes, *(startup.notes if startup else ())]
    lines += [f"Note: {note}." for note in notes]
    lines += [f"Warning: {warning}." for warning in outcome.warnings]
    about_clone = second_clone(console, startup) if startup is not None else ""
    lines += [about_clone] if about_clone else []
    if startup is not None and not dry_run:
        shown = "the host" if WITHOUT_HOOKS in names else enumerated(names, "or")
        lines.append(f"Start {shown} here as before; `gitguard status` shows what is saved.")
    document = {
        "dry_run": dry_run,
        "hosts": list(names),
        "session": _session(console) if startup else "",
        "how": startup.how if startup else "",
        "changes": _changes_document(outcome),
        "commands": list(outcome.commands),
        "notes": notes,
        "warnings": list(outcome.warnings),
    }
    saved = startup.saved if startup is not None and not about_clone else None
    console.say("\n".join(lines), document, pending(saved))


def _session(console: Console) -> str:
    return console.guard.current_session().key


_HOOK_HELP = f"""Answer one event of HOST, given as JSON on standard input

`gitguard init` installs it. It prints nothing when it has nothing to say, and exits with 0 even if
gitguard fails. In a tool call of the host it answers nothing and exits with 37.
`gitguard status` shows the errors of gitguard itself.

Example: `gitguard hook {ANSWERED[0]} < event.json`
"""


@click.command(help=_HOOK_HELP)
@click.argument("host", type=click.Choice(ANSWERED))
def hook(host: str) -> None:
    """Answer one event, as `run` does."""
    from gitguard.cli.hook import run

    run([host])


@click.command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion(shell: str) -> None:
    """Print the completion script for a SHELL

    Example: `gitguard completion bash >> ~/.bashrc`
    """
    app = click.get_current_context().find_root().command
    completion_class = get_completion_class(shell)
    assert completion_class is not None
    click.echo(completion_class(app, {}, "gitguard", "_GITGUARD_COMPLETE").source())


COMMANDS: list[click.Command] = [init, uninstall, hook, completion]
