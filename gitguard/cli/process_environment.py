"""The process's surroundings, read once here and handed to the library as values."""

from __future__ import annotations

import os
import sys
import time

from gitguard.store.disk import folders
from gitguard.store.session.conversations import THIS_SESSION
from gitguard.store.session.workspace import Places, Workspace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from gitguard.errors import GitguardError
    from gitguard.guard import Guard

clock: Callable[[], float] = time.time
"""Tells Unix seconds; a test that moves the time puts its own here."""
at_step: Callable[[str], object] = str
"""Called with each step of writing; a test that stops or kills a command puts its own here."""


def places(environment: Mapping[str, str], session: str = "") -> Places:
    """Return where gitguard's files are for this user (XDG base directories).

    Raises `InvalidConfig` where nothing tells it: a seal's key must not end up in the worktree.
    """
    home = _home(environment)
    state = environment.get("GITGUARD_STATE_DIR") or _under(
        environment, "XDG_STATE_HOME", f"{home}/.local/state"
    )
    if not os.path.isabs(state):
        raise _not_absolute("GITGUARD_STATE_DIR", state)
    state = os.path.normpath(state)
    folders.claim(state, state)
    return Places(
        state_home=state,
        config_home=_under(environment, "XDG_CONFIG_HOME", f"{home}/.config"),
        session=session or environment.get("GITGUARD_SESSION", ""),
        environment=environment,
        home=home,
        at_step=at_step,
        program=_program(),
    )


def _program() -> str:
    """Return the path of our command, which need not be there; a look would cost every hook."""
    if os.path.basename(sys.argv[0]) == "gitguard" and os.path.isabs(sys.argv[0]):
        return sys.argv[0]
    return os.path.join(os.path.dirname(sys.executable), "gitguard")


def _home(environment: Mapping[str, str]) -> str:
    home = environment.get("HOME") or os.path.expanduser("~")
    if os.path.isabs(home):
        return home
    if environment.get("HOME"):
        raise _not_absolute("HOME", home)
    from gitguard.errors import InvalidConfig

    raise InvalidConfig(
        f"HOME is not set, and the user {os.getuid()} has no entry in the password file, so there "
        "is no place for gitguard's state",
        "Set HOME to the absolute path of a folder that only you can write, and run it again",
    )


def _not_absolute(name: str, path: str) -> GitguardError:
    from gitguard.errors import InvalidConfig

    return InvalidConfig(
        f"{name} is `{path}`, which is not an absolute path", f"Set {name} to an absolute path"
    )


def _under(environment: Mapping[str, str], name: str, default: str) -> str:
    base = environment.get(name, "")
    return os.path.join(base if os.path.isabs(base) else default, "gitguard")


def open_guard(root: str = "", session: str = "") -> Guard:
    """Open the workspace that --root, GITGUARD_ROOT or the current folder names."""
    from gitguard.guard import Guard

    start = root or os.environ.get("GITGUARD_ROOT") or _current_folder()
    return Guard(start, places(os.environ, session), clock)


def bare_workspace(root: str = "") -> Workspace:
    """Open a workspace without its configuration, which may be what is broken."""
    from gitguard.model.config.config import DEFAULTS
    from gitguard.store.git.place import locate

    start = root or os.environ.get("GITGUARD_ROOT") or _current_folder()
    return Workspace(locate(start), places(os.environ), DEFAULTS.store.directory, clock)


def _current_folder() -> str:
    try:
        return os.getcwd()
    except FileNotFoundError:
        from gitguard.errors import NotARepository

        raise NotARepository("the current folder is gone", "Go to another one") from None


def executable() -> str:
    """Return the absolute path of this installation's command, empty where it has none."""
    import shutil

    beside_python = os.path.join(os.path.dirname(sys.executable), "gitguard")
    for candidate in (sys.argv[0], beside_python):
        runs = os.path.isfile(candidate) and os.access(candidate, os.X_OK)
        if runs and os.path.basename(candidate) == "gitguard":
            return os.path.abspath(candidate)
    found = shutil.which("gitguard")
    return os.path.abspath(found) if found else ""


def host_session(given: str = "") -> str:
    """Return the conversation a command belongs to: named, the host's around it, the session."""
    from gitguard.hosts import surrounding_session

    found = given or os.environ.get("GITGUARD_HOST_SESSION", "") or surrounding_session(os.environ)
    return found or THIS_SESSION


def refuse_agents(command: str, hint: str = "Run it in your own terminal") -> None:
    """Refuse a command for humans when a host's agent runs it, as far as can be told."""
    from gitguard.errors import OwnerOnly
    from gitguard.hosts import surrounding_session

    if surrounding_session(os.environ):
        raise OwnerOnly(
            f"`gitguard {command}` is for a human, and an agent's host runs this command",
            hint,
        )


def shell() -> str:
    """Return the name by which earlier versions knew the conversation of a bare shell."""
    for stream in (sys.stdin, sys.stdout, sys.stderr):
        try:
            return "terminal-" + os.ttyname(stream.fileno())
        except (OSError, ValueError, AttributeError):
            continue
    return f"process-{os.getsid(0)}" if hasattr(os, "getsid") else "process"
