"""What of an agent's answer is kept, read by plain rules and without a model."""

from __future__ import annotations

import re

from gitguard.model.text import late_pattern, shorten
from gitguard.state.sentences import READ, Marks, sentences, without_code

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

_BEGINNING, _END = 420, 330
"""Characters of a long answer's beginning and end that are kept."""
_STATES = Marks(
    "found because cause causes caused result results fixed resolved decided chose chosen instead "
    "pass passes passed fail fails failed failing failure error errors broken verified confirmed "
    "measured recommend should must remaining todo pending blocked limit never only twice missing "
    "faster slower percent lost leak leaks works implemented created added removed renamed changed "
    "moved updated committed written wrote done built ported tested documented merged deployed "
    "shipped completed finished pushed installed enabled disabled replaced kept left",
    *("turns out", "turned out", "root cause", "open question", "not yet", "now takes"),
    *("now uses", "now has", "now is"),
)
_NEXT = Marks(
    "next todo i'll nächste",
    *("remaining work", "remaining steps", "remaining tasks", "remaining items", "remaining:"),
    *("remain to", "remains to", "left to do", "to do", "still needs", "still need", "still to"),
    *("not yet", "i will"),
    *("let me", "needs to be"),
)
_OFFER = Marks(
    "whenever",
    *("let me know", "if you", "want me to", "do you want", "would you like", "say the word"),
    *("your call", "happy to", "feel free"),
)
"""What an agent would do if it were asked, which is no step."""
_PASSING = Marks(
    "waiting awaiting watching polling running uncommitted",
    *("in progress", "nothing committed", "not committed", "not pushed", "i'll report"),
    *("i'll let you know", "i will report", "when it finishes", "once it finishes", "still open"),
)
"""What is true for minutes: an answer that is not the last tells nothing by it."""
_STEP_LABEL = late_pattern(
    r"(?:the )?(?:next(?: steps?| up)?|todo|remaining)\s*[:—–]\s*(?=\S)", re.I
)


def conclusions(answer: str, limit: int) -> str:
    """Return what an answer states, in at most limit characters: its beginning, its end, and the
    telling sentences between, in their order.

    Code blocks are left out of a long one: what was written is in the files.
    """
    text = answer.strip()
    if len(text) > READ:
        text = text[: READ // 2] + "\n" + text[-READ // 2 :]
    whole = sentences(without_code(text))
    if sum(map(len, whole)) + len(whole) <= limit:
        return " ".join(whole)
    chosen = _within(whole, range(len(whole)), limit * _BEGINNING // (_BEGINNING + _END) // 2)
    chosen |= _within(whole, reversed(range(len(whole))), limit * _END // (_BEGINNING + _END) // 2)
    room = limit - sum(len(whole[i]) + 1 for i in chosen)
    for i, sentence in enumerate(whole):
        if i not in chosen and _states(sentence) and len(sentence) + 3 <= room:
            chosen.add(i)
            room -= len(sentence) + 3
    return shorten(" ".join(whole[i] for i in sorted(chosen)), limit)


def _within(whole: list[str], places: Iterable[int], room: int) -> set[int]:
    """Return the places of the first sentences that fit into room; of one there is at least one."""
    chosen: set[int] = set()
    for i in places:
        if chosen and len(whole[i]) + 1 > room:
            break
        chosen.add(i)
        room -= len(whole[i]) + 1
    return chosen


def telling(text: str, limit: int) -> str:
    """Return the sentences of an answer that state something, in at most limit characters.

    Empty where none does: what an agent says it will look at is over when it has looked, and what
    it waits for has come by the next answer.
    """
    chosen: list[str] = []
    room = limit
    for sentence in sentences(without_code(text)):
        is_lasting = _states(sentence) and not _PASSING.are_in(sentence)
        if is_lasting and len(sentence) + 1 <= room:
            chosen.append(sentence)
            room -= len(sentence) + 1
    return " ".join(chosen)


def _states(sentence: str) -> bool:
    return any(map(str.isdigit, sentence)) or _STATES.are_in(sentence)


def next_step_of(answer: str) -> str:
    """Return the last sentence of an answer that says what comes next, empty if none does.

    An offer is no step, and what the agent would watch for ended with its conversation.
    """
    announced = [
        sentence
        for sentence in sentences(answer)
        if _NEXT.are_in(sentence) and not _OFFER.are_in(sentence) and not _PASSING.are_in(sentence)
    ]
    return announced[-1] if announced else ""


def without_label(step: str) -> str:
    """Return an announced step without the words that only say that it is one."""
    return _STEP_LABEL.sub("", step, count=1)
