"""What is due when pressure rises, and due again once it has fallen.

Decisions over a conversation's record and the pressure of now; nothing is written here.
"""

from __future__ import annotations

from gitguard.model import triggers
from gitguard.model.events import FIRST_TURN
from gitguard.pressure.gauge import crosses_checkpoint

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitguard.model.config.config import Config
    from gitguard.model.events import Pressure
    from gitguard.store.session.host_session import HostSession

ASSESS_EVERY = 5
"""Tool calls after which hooks look at the pressure band of a conversation again."""
OVERRIDE_ROOM = 0.05
"""How far pressure may rise above that of an overridden halt before the next halt.

See references/design/contract.md, "Halt".
"""


def risen_to(record: HostSession, pressure: Pressure | None, config: Config) -> str:
    """Return the trigger of the checkpoint that pressure has risen to, empty where there is none.

    A reading that jumps past several levels brings one checkpoint, which is named after the
    gravest of them (references/design/policy.md, "Checkpoints of a rise").
    """
    if pressure is None:
        return ""
    gauge, last = config.gauge, record.checkpointed_tokens
    if _is_first_above(gauge.warn_critical, pressure, last):
        return triggers.AUTO_85
    if crosses_checkpoint(pressure, last, at=gauge.checkpoint_at, step=gauge.checkpoint_step):
        return triggers.AUTO_80
    if _is_first_above(gauge.warn_compact, pressure, last):
        return triggers.AUTO_75
    return ""


def _is_first_above(level: float, pressure: Pressure, last_tokens: float) -> bool:
    """Say whether pressure is at or above a level, and the last checkpoint was taken below it."""
    return pressure.share >= level and last_tokens < level * pressure.window.tokens


def rearmed(record: HostSession, pressure: Pressure, config: Config) -> HostSession:
    """Return the record after a fall, from which on warnings and checkpoints are due again."""
    if pressure.source == FIRST_TURN:
        return record
    gauge, share, window = config.gauge, pressure.share, pressure.window.tokens
    saved = record.checkpointed_tokens
    if gauge.is_below(share, min(gauge.warn_compact, gauge.checkpoint_at)):
        saved = -1
    elif saved >= gauge.warn_critical * window and gauge.is_below(share, gauge.warn_critical):
        saved = gauge.warn_compact * window
    warned = min(record.warned, gauge.warning_at(share, record.warned))
    return record.replace(checkpointed_tokens=saved, warned=warned)


def is_calm(record: HostSession, pressure: Pressure | None, config: Config) -> bool:
    """Say whether pressure asks for nothing after a tool call: no checkpoint, and no warning."""
    if pressure is None:
        return True
    is_said = config.gauge.warning_at(pressure.share, record.warned) <= record.warned
    return is_said and not is_to_keep(record, pressure, config)


def is_to_keep(record: HostSession, pressure: Pressure, config: Config) -> bool:
    """Say whether pressure has risen to a checkpoint, or fallen so that one is due again."""
    has_fallen = rearmed(record, pressure, config) != record
    return has_fallen or bool(risen_to(record, pressure, config))


def has_shrunk(record: HostSession, pressure: Pressure) -> bool:
    """Say whether less is used than when usage was looked at last, as after a host's pruning."""
    return pressure.used < max(record.paced_tokens, record.paced_upto)


def checkpointed(record: HostSession, pressure: Pressure) -> HostSession:
    """Remember the usage at which such a checkpoint was taken."""
    return record.replace(checkpointed_tokens=pressure.used)
