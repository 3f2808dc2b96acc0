"""What is said to an agent about its context: at most one line an event, and when it is said.

The one place that picks among warning, advice and gauge. What was said is kept in the record of the
conversation, so that each warning comes once a rise.
"""

from __future__ import annotations

from gitguard.hooks.gate import has_shrunk, override_ends, rearmed
from gitguard.hooks.warnings import (
    CRITICAL,
    highest,
    spiral_line,
    tokens_per_call,
    warning_line,
)
from gitguard.model.events import FIRST_TURN
from gitguard.model.value import Value
from gitguard.pressure.bands import band_of
from gitguard.pressure.runway import runway, spiral_reason

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitguard.model.config.config import Config
    from gitguard.model.events import Pressure
    from gitguard.store.session.host_session import HostSession


class Occasion(Value):
    """At what event something may be said."""

    calls: int
    """Tool calls of the conversation that have ended."""
    assess: bool = False
    """Whether advice on the work that remains is due."""
    saved: bool = False
    """Whether a checkpoint was taken because of the pressure."""
    begins_turn: bool = False
    """Whether a turn begins, and with it the gauge is shown from its threshold on."""
    room_commands: str = ""
    """The host's commands that make room, empty where no host is known."""


def line_of(
    record: HostSession, pressure: Pressure, config: Config, occasion: Occasion
) -> tuple[HostSession, str]:
    """Return the record after the event, and the one line that the agent reads, if any."""
    if pressure.source == FIRST_TURN:
        warned = ""
    else:
        record, warned = _warn(paced(record, pressure, occasion.calls), pressure, config, occasion)
    spiral = "" if record.told_spiral else _spiral(record, pressure)
    advice = ""
    if occasion.assess:
        if _reaches_band(record, pressure, config):
            advice = advice_line(pressure, config)
        record = record.replace(told_calls=occasion.calls)
    gauge = pressure.gauge_line(saved=occasion.saved)
    is_shown = occasion.begins_turn and pressure.share >= config.gauge.show_from
    is_shown = is_shown and _has_risen(record, pressure, config)
    shown = gauge if occasion.saved or is_shown else ""
    line = highest(warned, spiral, advice, shown)
    if line:
        record = record.replace(told_tokens=pressure.used)
    if line and line != shown:
        record = record.replace(advised_tokens=pressure.used)
    return record.replace(told_spiral=record.told_spiral or line == spiral != ""), line


def _reaches_band(record: HostSession, pressure: Pressure, config: Config) -> bool:
    """Say whether a band's advice is new: neither advice nor a warning came in it or above it."""
    advised = record.advised_tokens / pressure.window.tokens
    return band_of(pressure.share, config).begins > band_of(advised, config).begins


def _has_risen(record: HostSession, pressure: Pressure, config: Config) -> bool:
    """Say whether the gauge is new: it was told below its level, or a step of the window ago."""
    tokens, window = record.told_tokens, pressure.window.tokens
    is_first = tokens < config.gauge.show_from * window
    return is_first or pressure.used >= tokens + config.gauge.checkpoint_step * window


def _warn(
    record: HostSession, pressure: Pressure, config: Config, occasion: Occasion
) -> tuple[HostSession, str]:
    """Return the record and the warning that is due; a fall of a step arms it again."""
    record = rearmed(record, pressure, config)
    warning = config.gauge.warning_at(pressure.share, record.warned)
    line = ""
    if warning > record.warned:
        left = calls_left(record, pressure, config, occasion.calls)
        line = warning_line(
            warning,
            pressure.share,
            pressure.used,
            window=pressure.window.tokens,
            left=left,
            saved=occasion.saved,
            room_commands=occasion.room_commands,
        )
        line += _assumption(pressure)
    return record.replace(warned=warning), line


def _spiral(record: HostSession, pressure: Pressure) -> str:
    reason = spiral_reason(record.epoch, record.summary_tokens, pressure.window.tokens)
    return spiral_line(reason) + _assumption(pressure) if reason else ""


def _assumption(pressure: Pressure) -> str:
    """Return a last sentence for a share that rests on an assumed window, with its setting."""
    assumption = pressure.window.assumption if pressure.is_assumed else ""
    return f" {assumption[:1].upper()}{assumption[1:]}." if assumption else ""


def paced(record: HostSession, pressure: Pressure, calls: int) -> HostSession:
    """Return the record with a usage to count the average of a call from.

    A context that shrank since it was looked at tells nothing about calls, so it begins anew there.
    """
    begun = record.paced_tokens >= 0 and record.paced_calls <= calls
    if not begun or has_shrunk(record, pressure):
        record = record.replace(paced_tokens=pressure.used, paced_calls=calls)
    return record.replace(paced_upto=pressure.used)


def calls_left(record: HostSession, pressure: Pressure, config: Config, calls: int) -> int | None:
    """Return the runway in tool calls, None when it is not known."""
    record = paced(record, pressure, calls)
    average = tokens_per_call(record.paced_tokens, record.paced_calls, pressure.used, calls)
    critical = config.thresholds.critical
    if record.override is not None:
        critical = max(critical, override_ends(record.override))
    return runway(int(pressure.used), pressure.window.tokens, average, critical)


def advice_line(pressure: Pressure, config: Config) -> str:
    """Return what the pressure's band advises, with the gauge before it; empty below the bands."""
    advice = band_of(pressure.share, config).advice
    return f"{pressure.gauge_line()} {advice}" if advice else ""


def halt_line(
    record: HostSession,
    pressure: Pressure | None,
    config: Config,
    *,
    saved: bool = False,
    room_commands: str = "",
) -> tuple[HostSession, str]:
    """Return the record and the critical warning, which is part of a halt's message.

    There is none where pressure is not why the agent halts. The runway is over then.
    """
    if pressure is None or pressure.share < config.thresholds.critical:
        return record, ""
    window = pressure.window.tokens
    line = warning_line(
        CRITICAL,
        pressure.share,
        pressure.used,
        window=window,
        left=0,
        saved=saved,
        room_commands=room_commands,
    )
    return record.replace(warned=CRITICAL), line
