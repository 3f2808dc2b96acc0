"""Scripted conversations that bring the real OpenClaw to where a test wants it."""

from __future__ import annotations

import time

from .openclaw import DEFAULT_WINDOW, MAIN_KEY, SealedOpenClaw
from .scripted_model import Kind, Request, ScriptedModel, Step, exec_

# Input tokens of the two model calls in each turn. The last one is over the threshold of both
# versions in the default window (30,000 and 32,000), and the text before it is enough to
# summarise: with less, the legacy version announces a compaction and then makes none.
_TURNS = ((12_000, 14_000), (16_000, 18_000), (24_000, 33_000))
_MAINTENANCE_SECONDS = 3.0
_POLL_SECONDS = 0.05


def fill_window(openclaw: SealedOpenClaw, model: ScriptedModel, session_key: str = MAIN_KEY) -> int:
    """Three turns, the third of which passes the threshold; return how many requests there were.

    The compaction comes at the end of the third turn, or at the latest at the start of the next:
    the current version in safeguard mode makes it once the answer is out.
    """
    assert openclaw.window == DEFAULT_WINDOW
    for calling, answering in _TURNS:
        model.script(
            Step(text="Counting.", calls=(exec_("seq 1 2000"),), input_tokens=calling),
            Step(text="These are the numbers. " * 60, input_tokens=answering),
        )
        openclaw.send("Please count up to 2000 and tell me what you saw.", session_key)
    return len(model.requests())


def compact(
    openclaw: SealedOpenClaw, model: ScriptedModel, session_key: str = MAIN_KEY
) -> tuple[Request, Request]:
    """Fill the window and take one more turn.

    Returns the (first) summarising request and the request to the model that came after it.
    """
    before = len(model.requests())
    fill_window(openclaw, model, session_key)
    _wait_for_summary(model, before)
    model.script(Step(text="We go on.", input_tokens=9_000))
    openclaw.send("And now?", session_key)
    later = model.requests()[before:]
    summarising = next(one for one in later if one.kind is Kind.COMPACTION)
    return summarising, [one for one in later if one.kind is Kind.MAIN][-1]


def _wait_for_summary(model: ScriptedModel, since: int) -> None:
    deadline = time.monotonic() + _MAINTENANCE_SECONDS
    while time.monotonic() < deadline:
        if any(one.kind is Kind.COMPACTION for one in model.requests()[since:]):
            return
        time.sleep(_POLL_SECONDS)
