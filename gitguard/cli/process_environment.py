"""What a command line finds around it: the workspace, the conversation, and who runs it."""

from __future__ import annotations

import os
import sys

from gitguard import process
from gitguard.process import places
from gitguard.store.session.conversations import THIS_SESSION
from gitguard.store.session.workspace import Workspace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitguard.guard import Guard


def open_guard(root: str = "", session: str = "") -> Guard:
    """Open the workspace that --root, GITGUARD_ROOT or the current folder names."""
    from gitguard.guard import Guard

    start = root or os.environ.get("GITGUARD_ROOT") or _current_folder()
    return Guard(start, places(os.environ, session), process.clock)


def bare_workspace(root: str = "") -> Workspace:
    """Open a workspace without its configuration, which may be what is broken."""
    from gitguard.model.config.config import DEFAULTS
    from gitguard.store.git.place import locate

    start = root or os.environ.get("GITGUARD_ROOT") or _current_folder()
    return Workspace(locate(start), places(os.environ), DEFAULTS.store.directory, process.clock)


def _current_folder() -> str:
    try:
        return os.getcwd()
    except FileNotFoundError:
        from gitguard.errors import NotARepository

        raise NotARepository("the current folder is gone", "Go to another one") from None


def executable() -> str:
    """Return the absolute path of this installation's command, empty where it has none."""
    beside_python = os.path.join(os.path.dirname(sys.executable), "gitguard")
    for candidate in (sys.argv[0], beside_python):
        runs = os.path.isfile(candidate) and os.access(candidate, os.X_OK)
        if runs and os.path.basename(candidate) == "gitguard":
            return os.path.abspath(candidate)
    return ""  # PATH may have another program of this name


def conversation_around(named: str = "") -> str:
    """Return the conversation a command runs in: named, or the host's around it; else empty."""
    from gitguard.hosts import surrounding_session

    named = named or os.environ.get("GITGUARD_HOST_SESSION", "")
    return named or surrounding_session(os.environ)


def host_session(named: str = "") -> str:
    """Return the conversation a command belongs to; outside of one, the session stands for it."""
    return conversation_around(named) or THIS_SESSION


def host_of(conversation: str) -> str:
    """Return the host that runs this command in a conversation, empty outside of one."""
    from gitguard.hosts import surrounding_host

    return surrounding_host(conversation, os.environ)


def halt_of(conversation: str) -> str:
    """Return why a conversation is halted, empty if it is not; needs no repository that opens."""
    from gitguard.guard import Anywhere

    return Anywhere.halt_of(conversation, places(os.environ))


def is_agents_shell() -> bool:
    """Say whether a host's agent runs this command, as far as its environment tells."""
    from gitguard.hosts import in_agents_shell

    return in_agents_shell(os.environ)


def refuse_agents(command: str, hint: str = "Run it in your own terminal") -> None:
    """Refuse a command for humans when a host's agent runs it, as far as can be told."""
    from gitguard.errors import OwnerOnly

    if is_agents_shell():
        raise OwnerOnly(
            f"`gitguard {command}` is for a human, and an agent's host runs this command", hint
        )
