"""How a conversation stands to its window: what each part may take, and what it takes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import chain
from typing import Any

from gitguard.model.config.config import Config
from gitguard.model.conversation import TranscriptEntry
from gitguard.model.events import Transcript, Window
from gitguard.model.value import Value
from gitguard.pressure.gauge import window_warning
from gitguard.pressure.usage import UNKNOWN, Usage, usage_of
from gitguard.store.session.host_session import HostSession
from gitguard.transcripts import find_format
from gitguard.transcripts.fitting.budget import Budget, caps_reserve, divide
from gitguard.transcripts.fitting.context import context_of
from gitguard.transcripts.fitting.limits import (
    TurnLimit,
    first_within_limit,
    history_limit,
    is_turn,
    lightened,
    limits_of,
)
from gitguard.transcripts.fitting.tokens import estimate, tokens_of


class BudgetUse(Value):
    """A conversation held against its budget."""

    usage: Usage
    budget: Budget
    turns: int
    """Of the user, in the context."""
    history: int
    """Tokens of the history, by our own guess: a fourth of its characters."""
    limit: TurnLimit | None
    """The history limit for the session, None where there is none."""
    limited_turns: int
    """Turns that stay with it; more than it says where a call and its result are kept together."""
    limited_history: int
    """Tokens of the history that stay with it."""
    warning: str = ""

    @property
    def over_history(self) -> int:
        """Tokens by which the history is over its share, 0 where it is not."""
        return max(self.history - self.budget.history, 0)

    @property
    def over_safeguard(self) -> int:
        """Tokens by which the history is over the safeguard budget, 0 where it is not."""
        return max(self.history - self.budget.safeguard, 0)


def budget_of(
    transcript: Transcript,
    config: Config,
    *,
    host_session: HostSession = UNKNOWN,
    session_key: str = "",
    channels: Mapping[str, Any] | None = None,
    turns: int = 0,
    model: str = "",
    seen: Callable[[TranscriptEntry], object] = bool,
) -> BudgetUse:
    """Hold a conversation against its budget; nothing is changed.

    host_session is what its session knows of it. channels are a host's settings, of which our own
    limits take the place by name; turns takes the place of any limit that is set for the session
    key. seen is shown each entry as it is read. Raises `InvalidDocument` if it cannot be read, and
    `InvalidConfig` for a window that is too small.
    """
    usage = usage_of(transcript, config, host_session=host_session, model=model)
    passed = find_format(transcript.format).entries(transcript)
    first = next(passed, None)
    context = context_of(lightened(_shown(first, passed, seen)))
    entries, summary = context.entries, estimate(len(context.summary))
    limits = {**limits_of(channels), **config.budget.history_limits}
    limit = TurnLimit(turns, "given") if turns else history_limit(session_key, limits)
    stays = entries[first_within_limit(entries, limit.turns if limit else 0) :]
    return BudgetUse(
        usage=usage,
        budget=divide(usage.window, config.budget, capped=caps_reserve(first)),
        turns=sum(map(is_turn, entries)),
        history=summary + tokens_of(entries),
        limit=limit,
        limited_turns=sum(map(is_turn, stays)),
        limited_history=summary + tokens_of(stays),
        warning=window_warning(Window(usage.window, usage.window_source)),
    )


def _shown(
    first: TranscriptEntry | None,
    others: Iterator[TranscriptEntry],
    seen: Callable[[TranscriptEntry], object],
) -> Iterator[TranscriptEntry]:
    for entry in chain(() if first is None else (first,), others):
        seen(entry)
        yield entry
