"""Answers whether a task goes to a sub-agent, and shows what is advised at the moment."""

from __future__ import annotations

import os

from gitguard.delegation.policy_file import LARGEST, NAME, read_policy, unknown_category
from gitguard.delegation.spawn_policy import (
    SpawnDecision,
    SpawnPolicy,
    Task,
    built_in_thresholds,
    decide,
)
from gitguard.errors import GitguardError, InvalidConfig, InvalidDocument, InvalidInput
from gitguard.hooks.notices import calls_left
from gitguard.model.codec import load_yaml
from gitguard.model.events import MOST_SHARE, Pressure, Transcript
from gitguard.model.text import one_line, shorten
from gitguard.model.value import Value
from gitguard.pressure.bands import Band, band_of
from gitguard.pressure.gauge import has_reading, newest_pressure, transcript_of
from gitguard.store.disk.files import read_bytes
from gitguard.store.session.host_session import HostSession, read_record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from gitguard.model.config.config import GaugeConfig
    from gitguard.store.session.store import SessionStore
    from gitguard.store.session.workspace import Workspace


_UNQUOTED = b": >"
_QUOTE_IT = 'What begins with `>` needs quotes: `spawn_if: ">3 tool calls"`'
_TRANSCRIPT = "transcript"
"""The source of a pressure to which a runway by the transcript belongs."""


class ReportedPressure(Value):
    """The pressure for which is decided, and who told it."""

    share: float | None = None
    source: str = ""
    """As `SpawnDecision.pressure_source`."""
    conversation: str = ""


class ConversationStanding(Value):
    """Where a conversation stands, and what is advised for the work that remains."""

    conversation: str
    """The conversation that was measured, empty where none is known."""
    pressure: Pressure | None
    band: Band | None
    """None where the pressure is not known."""
    warning: int
    """The gravest warning whose level is reached, 1 to 3; else 0."""
    calls: int | None
    """Tool calls of the conversation that have ended, as the hooks or else its transcript tell;
    None where neither does."""
    runway: int | None
    """Tool calls left before the halt, by the transcript at least; None when it is not known."""
    policy: SpawnPolicy
    notes: tuple[str, ...] = ()
    """What may be a mistake in the project's file of rules."""
    problem: str = ""
    """Why the pressure could not be read."""


def policy_of(workspace: Workspace, gauge: GaugeConfig) -> SpawnPolicy:
    """Return the spawn policy in force: what is built in, and what the workspace's file says.

    Raises `InvalidDocument` where the file cannot be read, and `InvalidConfig` where it is wrong.
    """
    path = os.path.join(workspace.place.worktree, NAME)
    data = read_bytes(path, limit=LARGEST)
    if data is None:
        _refuse_other_ending(path)
        return SpawnPolicy(thresholds=built_in_thresholds(gauge))
    try:
        return read_policy(load_yaml(data, what=f"`{NAME}`", limit=LARGEST), gauge)
    except InvalidDocument as error:
        hint = _QUOTE_IT if _UNQUOTED in data else error.hint
        raise InvalidDocument(error.message, hint) from error


def _refuse_other_ending(path: str) -> None:
    misnamed = os.path.splitext(path)[0] + ".yaml"
    if os.path.lexists(misnamed):
        problem = f"`{os.path.basename(misnamed)}` is not read"
        raise InvalidConfig(problem, f"Name it `{NAME}`")


def answer(
    workspace: Workspace, gauge: GaugeConfig, task: Task, reported: ReportedPressure
) -> SpawnDecision:
    """Say whether a task goes to a sub-agent.

    Raises `InvalidInput` for a category without a rule, and for a pressure that is not a share.
    """
    share = reported.share
    if share is not None and not 0 <= share <= MOST_SHARE:
        raise InvalidInput(
            f"the pressure `{share:g}` is not a share of the window", "Write 0.6 for 60 %"
        )
    policy = policy_of(workspace, gauge)
    if task.category and task.category not in policy.categories:
        raise unknown_category(task.category, policy)
    decision = decide(task, share, policy)
    return decision.replace(pressure_source=reported.source, conversation=reported.conversation)


def reported_pressure(
    store: SessionStore | None, named: str = "", around: str = ""
) -> ReportedPressure:
    """Return the newest pressure that is known; named and around are as for `standing`."""
    if store is None:
        return ReportedPressure()
    key, _, pressure, _ = _measured(store, named, around)
    return (
        ReportedPressure(pressure.share, pressure.source, key)
        if pressure
        else ReportedPressure(conversation=key)
    )


def standing(store: SessionStore, named: str = "", around: str = "") -> ConversationStanding:
    """Say where a conversation stands: the named one, else the one around, else the newest.

    A conversation of which nothing tells how full it is hides none of which something does.

    Raises `InvalidInput` for a named one that is not known: another's pressure is no answer.
    """
    key, record, pressure, problem = _measured(store, named, around)
    policy = policy_of(store.workspace, store.config.gauge)
    calls, runway = _pace(store, key, record, pressure) if record else (None, None)
    share = pressure.share if pressure else 0.0
    return ConversationStanding(
        conversation=key,
        pressure=pressure,
        band=band_of(share, store.config) if pressure else None,
        warning=store.config.gauge.warning_at(share) if pressure else 0,
        calls=calls,
        runway=runway,
        policy=policy,
        notes=policy.notes,
        problem=problem,
    )


def _pace(
    store: SessionStore, key: str, record: HostSession, pressure: Pressure | None
) -> tuple[int | None, int | None]:
    """Return the calls of a conversation that have ended, and those that are left."""
    calls = store.journal.calls(key)
    if calls:
        return calls, calls_left(record, pressure, store.config, calls) if pressure else None
    transcript = transcript_of(record)
    if transcript is None:
        return None, None
    try:
        calls, runway = _pace_in(transcript, store, record)
    except GitguardError:
        return None, None  # why it cannot be read is said of the pressure
    return calls, runway if pressure and pressure.source == _TRANSCRIPT else None


def _pace_in(
    transcript: Transcript, store: SessionStore, record: HostSession
) -> tuple[int, int | None]:
    from gitguard.profile.profiling import profile_of
    from gitguard.profile.tally import TOOL_RESULTS, Teller

    teller = Teller()
    redactor = store.workspace.redactor
    profiled = profile_of(transcript, store.config, redactor, host_session=record, seen=teller.take)
    runway = profiled.profile.runway
    return teller.story().count(TOOL_RESULTS), runway.calls.low if runway else None


def _measured(
    store: SessionStore, named: str, around: str
) -> tuple[str, HostSession | None, Pressure | None, str]:
    """Return a conversation's name, record and pressure, and why that is not known."""
    conversations = read_record(store.workspace, store.session).host_sessions
    if named and named not in conversations:
        raise InvalidInput(
            f"this session has no conversation `{shorten(one_line(named), 80)}`",
            "Leave out --host-session for the newest one, or give the pressure with --pressure",
        )
    key = named or _speaking(conversations, around)
    if not key:
        return "", None, None, "this session has no conversations"
    record = conversations[key]
    try:
        pressure = newest_pressure(record, store.config)
    except GitguardError as error:
        return key, record, None, error.message
    return key, record, pressure, "" if pressure else "no pressure has been reported yet"


def _speaking(conversations: Mapping[str, HostSession], around: str) -> str:
    """Return the conversation whose pressure counts where none is named, empty if there is none."""
    telling = {key: record for key, record in conversations.items() if has_reading(record)}
    among = telling or conversations
    if around in among:
        return around
    return max(among, key=lambda key: among[key].last_use, default="")
