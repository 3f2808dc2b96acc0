"""How full a conversation is, as its transcript says."""

from __future__ import annotations

from gitguard.model.value import Value


class Usage(Value):
    """The newest measured usage of a transcript."""

    tokens: int | None
    """Tokens in the context, None when nothing was measured since the last compaction."""
    at: float
    """Unix seconds of the measurement, or of the compaction."""
    model: str = ""
    after_compaction: bool = False
    """Whether a compaction lies at or before the measurement, as far as was read."""
