"""What a checkpoint records beside the state."""

from __future__ import annotations

from gitguard.model.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitguard.model.events import Pressure, Transcript


class Circumstances(Value):
    """What a checkpoint records beside the state."""

    pressure: Pressure | None = None
    transcript: Transcript | None = None
    compaction_count: int = 0
    forked_from: str = ""
    channel: str = ""
    agent: str = ""
