"""Which hosts `init` and `uninstall` are about where `--host` is left out."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from gitguard.cli.console import Console, can_ask, confirm, fields_of
from gitguard.errors import NotConfirmed
from gitguard.model.text import enumerated

if TYPE_CHECKING:
    from gitguard.hosts.base import InstallOptions
    from gitguard.settings.present_hosts import PresentHost


def hosts_to_set_up(
    console: Console, options: InstallOptions, *, yes: bool, dry_run: bool
) -> tuple[str, ...]:
    """Return the hosts that need no question and those that the user confirms, all with yes.

    Without a terminal the others are listed; raises `NotConfirmed` where none is left. dry_run
    shows what happens without a question, and where each is asked for, what all of them change.
    """
    choice = console.guard.hosts.choose(options)
    if yes or not choice.asked:
        return (*choice.chosen, *choice.asked)
    listed = "\n".join(_host_line(host) for host in choice.present)
    if dry_run:
        unconfirmed = enumerated(choice.asked, "and")
        console.remark(f"{listed}\nNot set up before you confirm, or with --yes: {unconfirmed}.")
        return choice.chosen or choice.asked
    if console.as_json or not can_ask():
        if choice.chosen:
            console.remark(f"{listed}\nTo set gitguard up for all of them, use --yes.")
            return choice.chosen
        problem = NotConfirmed(
            "nothing was changed: several hosts are here",
            "Use --yes for all of them, or name one with --host",
        )
        documents = [fields_of(host) for host in choice.present]
        console.say(listed, {"present_hosts": documents}, problem)
    click.echo(listed)
    confirmed = [name for name in choice.asked if _is_confirmed(name)]
    if not confirmed and not choice.chosen:
        raise NotConfirmed(
            "nothing was changed: you took none of the hosts",
            "For an agent of another host, use --host none",
        )
    return (*choice.chosen, *confirmed)


def _is_confirmed(name: str) -> bool:
    try:
        confirm(f"Set up gitguard for {name}?", yes=False)
    except NotConfirmed:
        return False
    return True


def _host_line(host: PresentHost) -> str:
    by = [f"`{path}`" for path in (host.program, host.folder) if path]
    by += [f"`{host.in_project}` in this project"] if host.in_project else []
    by += ["set up here"] if host.is_set_up else []
    return f"Found {host.name}: {', '.join(by) or 'it runs this command'}"
