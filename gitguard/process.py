"""The process that runs the library: its environment, its clock and where its user keeps files.

The one module of the library that looks at these, for `Guard.open` and the command line; everything
else is handed them.
"""

from __future__ import annotations

import os
import sys
import time

from gitguard.store.disk import files, folders
from gitguard.store.session.workspace import UserDirs

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from gitguard.errors import GitguardError

clock: Callable[[], float] = time.time
"""Tells Unix seconds; a test that moves the time puts its own here."""
at_step: Callable[[str], object] = str
"""Called with each step of writing; a test that stops or kills a command puts its own here."""


def environment() -> Mapping[str, str]:
    """Return the variables of this process."""
    return os.environ


def places(environment: Mapping[str, str], session: str = "") -> UserDirs:
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
    program = sys.argv[0]
    if os.path.basename(program) != "gitguard" or not os.path.isabs(program):
        # It need not be there; a look would cost every hook.
        program = os.path.join(os.path.dirname(sys.executable), "gitguard")
    # From here on no link below it is followed, and what others may do there is taken away.
    folders.claim(state, state)
    return UserDirs(
        state_home=state,
        config_home=_under(environment, "XDG_CONFIG_HOME", f"{home}/.config"),
        session=session or environment.get("GITGUARD_SESSION", ""),
        environment=environment,
        home=home,
        machine=environment.get("GITGUARD_MACHINE", os.uname().nodename),
        caller=os.getppid(),
        at_step=at_step,
        program=program,
    )


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


def page(text: bytes, worktree: str) -> bool:
    """Show a text in the pager that the environment names; say whether there was one to run."""
    from gitguard.store.disk.pager import page

    return page(text, environment(), worktree)


def keep_crash_report(report: str) -> str:
    """Add a report of a fault of ours to the user's crash log; return its path.

    Raises `OSError` or `GitguardError` where it cannot be written.
    """
    path = os.path.join(places(environment()).state_home, "crash.log")
    files.make_folder(os.path.dirname(path))
    files.append(path, report.encode("utf-8", "replace"))
    return path
