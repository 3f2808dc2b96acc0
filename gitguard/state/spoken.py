"""How much of what was said is kept, by `capture.words` of the configuration.

Said are prompts, answers to questions, the agent's answers and the host's own summary. All of them
come in through the journal, so that is where they are cut; files, commands, failures, plans and
notes are no words in this sense.
"""

from __future__ import annotations

from gitguard.model.config.config import WORDS_OFF, WORDS_WHOLE
from gitguard.state import entries

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitguard.state.entries import JournalEntry

SHORT_WORDS = 200
"""Characters that `short` keeps of each message; the gist of most corrections fits in."""
_QUESTION = 100
"""Characters that it keeps of the question that an answer answers."""
ANSWERED = " → "
"""What stands between a question of the agent and the user's answer."""
_BY_USER = frozenset((entries.PROMPT, entries.PROMPT_READ, entries.PROMPT_UNCONFIRMED))
_BY_AGENT = frozenset((entries.TURN_ENDED, entries.SAID, entries.SUMMARY, entries.REPORTED))


def kept_entry(entry: JournalEntry, words: str) -> JournalEntry:
    """Return an entry with as much of what was said as is to be kept."""
    is_said = entry.event in _BY_USER or entry.event in _BY_AGENT
    if words == WORDS_WHOLE or not (is_said or entry.answers or entry.said):
        return entry
    if words == WORDS_OFF:
        summary = "" if is_said else entry.summary
        return entry.replace(summary=summary, settles="", answers=(), said="", whole="", length=0)
    from gitguard.model.text import shorten

    return entry.replace(
        summary=kept_words(entry.summary, words, by_user=entry.event in _BY_USER)
        if is_said
        else entry.summary,
        settles=shorten(entry.settles, _QUESTION),
        whole="",
        length=0,
        answers=tuple(_short_answer(answer) for answer in entry.answers),
        said=kept_words(entry.said, words),
    )


def kept_words(text: str, words: str, *, by_user: bool = True) -> str:
    """Return as much of a message as is to be kept."""
    if words == WORDS_WHOLE:
        return text
    if words == WORDS_OFF:
        return ""
    from gitguard.state.answers import conclusions
    from gitguard.state.prompts import gist

    return gist(text, SHORT_WORDS) if by_user else conclusions(text, SHORT_WORDS)


def _short_answer(answer: str) -> str:
    from gitguard.model.text import shorten
    from gitguard.state.prompts import gist

    question, _, words = answer.partition(ANSWERED)
    return f"{shorten(question, _QUESTION)}{ANSWERED}{gist(words, SHORT_WORDS)}"


def about_words(words: str) -> str:
    """Say what a reader of the state misses, empty where it misses nothing."""
    if words == WORDS_WHOLE:
        return ""
    if words == WORDS_OFF:
        return "nothing that was said is kept here (`capture.words: off`)"
    return f"{SHORT_WORDS} characters are kept of each message (`capture.words: short`)"
