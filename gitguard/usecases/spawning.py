"""Answers whether a task goes to a sub-agent, and shows what is advised at the moment."""

from __future__ import annotations

import os

from gitguard.errors import GitguardError, InvalidConfig, InvalidDocument, InvalidInput
from gitguard.model.codec import load_yaml
from gitguard.model.text import one_line, shorten
from gitguard.model.value import Value
from gitguard.policy.bands import Band, band_of
from gitguard.policy.policy_file import LARGEST, NAME, read_policy, unknown_category
from gitguard.policy.spawning import Decision, SpawnPolicy, Task, decide
from gitguard.store.files import read_bytes
from gitguard.usecases.measuring import measure_pressure
from gitguard.usecases.speaking import calls_left

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from gitguard.context.gauge import Pressure
    from gitguard.model.host_session import HostSession
    from gitguard.session_store import SessionStore
    from gitguard.store.workspace import Workspace


_UNQUOTED = b": >"
_QUOTE_IT = 'What begins with `>` needs quotes: `spawn_if: ">3 tool calls"`'
_LARGEST_SHARE = 1.5
"""What is more is no share; percent given by mistake would be."""


class Standing(Value):
    """Where a conversation stands, and what is advised for the work that remains."""

    conversation: str
    """The conversation that was measured, empty where none is known."""
    pressure: Pressure | None
    band: Band | None
    """None where the pressure is not known."""
    warning: int
    """The gravest warning whose level is reached, 1 to 3; else 0."""
    calls: int
    """Tool calls of the conversation that have ended."""
    runway: int | None
    """Tool calls left before the halt, None when it is not known."""
    policy: SpawnPolicy
    problem: str = ""
    """Why the pressure could not be read."""


def policy_of(workspace: Workspace) -> SpawnPolicy:
    """Return the spawn policy in force: what is built in, and what the workspace's file says.

    Raises `InvalidDocument` where the file does not read, and `InvalidConfig` where it is wrong.
    """
    path = os.path.join(workspace.place.worktree, NAME)
    data = read_bytes(path, limit=LARGEST)
    if data is None:
        _refuse_other_ending(path)
        return SpawnPolicy()
    try:
        return read_policy(load_yaml(data, what=f"`{NAME}`", limit=LARGEST))
    except InvalidDocument as error:
        hint = _QUOTE_IT if _UNQUOTED in data else error.hint
        raise InvalidDocument(error.message, hint) from error


def _refuse_other_ending(path: str) -> None:
    other = os.path.splitext(path)[0] + ".yaml"
    if os.path.lexists(other):
        said = f"`{os.path.basename(other)}` is not read"
        raise InvalidConfig(said, f"Name it `{NAME}`")


def answer(workspace: Workspace, task: Task, pressure: float | None) -> Decision:
    """Say whether a task goes to a sub-agent.

    Raises `InvalidInput` for a category that no rule is about and for a pressure that is no share.
    """
    if pressure is not None and not 0 <= pressure <= _LARGEST_SHARE:
        raise InvalidInput(
            f"the pressure `{pressure:g}` is not a share of the window", "Write 0.6 for 60 %"
        )
    policy = policy_of(workspace)
    if task.category and task.category not in policy.categories:
        raise unknown_category(task.category, policy)
    return decide(task, pressure, policy)


def newest_pressure(store: SessionStore | None, named: str = "", around: str = "") -> float | None:
    """Return the newest measured share of the window, None where nothing tells.

    named and around are as for `standing`.
    """
    if store is None:
        return None
    _, _, pressure, _ = _measured(store, named, around)
    return pressure.share if pressure else None


def standing(store: SessionStore, named: str = "", around: str = "") -> Standing:
    """Say where a conversation stands: the named one, else the one around if it is known, else the
    session's newest.

    Raises `InvalidInput` for a named one that is not known: another's pressure is no answer.
    """
    key, known, pressure, problem = _measured(store, named, around)
    calls = store.journal.calls(key) if key else 0
    share = pressure.share if pressure else 0.0
    return Standing(
        conversation=key,
        pressure=pressure,
        band=band_of(share) if pressure else None,
        warning=store.config.gauge.warning_at(share) if pressure else 0,
        calls=calls,
        runway=calls_left(known, pressure, store.config, calls) if known and pressure else None,
        policy=policy_of(store.workspace),
        problem=problem,
    )


def _measured(
    store: SessionStore, named: str, around: str
) -> tuple[str, HostSession | None, Pressure | None, str]:
    """Return a conversation's name, record and pressure, and why that is not known."""
    conversations = store.workspace.read_record(store.session).host_sessions
    if named and named not in conversations:
        raise InvalidInput(
            f"the conversation `{shorten(one_line(named), 80)}` is not known to this session",
            "Leave --host-session out for the newest one, or give the pressure with --pressure",
        )
    key = named or (around if around in conversations else _newest(conversations))
    if not key:
        return "", None, None, "no conversation of this session is known"
    known = conversations[key]
    try:
        pressure = measure_pressure(known, store.config, first_turn=False)
    except GitguardError as error:
        return key, known, None, error.message
    return key, known, pressure, "" if pressure else "nothing has told the pressure yet"


def _newest(conversations: Mapping[str, HostSession]) -> str:
    newest = max(conversations.items(), key=lambda item: item[1].last_use, default=("", None))
    return newest[0]
