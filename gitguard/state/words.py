"""What people and agents say, read by plain rules and without a model.

The marks are words that carry the meaning in question in nearly every sentence that has them; what
they miss is a request or a plain sentence, and is kept as such.
"""

from __future__ import annotations

import re

from gitguard.model.host_additions import QUOTED
from gitguard.model.text import late_pattern, one_line, shorten
from gitguard.state.items import ANSWER, CONSTRAINT, CORRECTION, REQUEST, ROUTINE, SMALL_TALK

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

LONG_ANSWER, SHORT_REPLY = 500, 50
"""An agent's message is long above so many characters, a user's is short below so many bytes."""
_SHORT_TALK, _SHORT_REQUEST = 60, 120
"""Characters above which no prompt is small talk, or asks only where the work stands."""
_BEGINNING, _END = 420, 330
"""Characters of a long answer's beginning and end that are kept."""
_FEW_WORDS = 3
"""Words that hardly say by themselves what they are about."""
_CLOSING = 4
"""Sentences at the end of an answer in which a question waits for the user."""
_QUESTION = 300
"""Characters of a question that a short reply answers."""
_READ = 16_384
"""Characters of a text that are looked at, half of them at its end."""


def _listed(phrases: str, between: str = " ") -> frozenset[str]:
    return frozenset(phrases.split(between))


class Marks:
    """Words and phrases that carry a meaning in nearly every sentence that has them.

    They are looked up, and not matched by an expression: compiling one of that size would take a
    hook longer than all else it does with a prompt.
    """

    def __init__(self, words: str, *phrases: str, starts: str = "") -> None:
        """Take words by blanks between them; starts only count as the first word."""
        self._words = frozenset(words.split())
        self._phrases = tuple(f" {phrase} " for phrase in phrases)
        self._starts = frozenset(starts.split())

    def are_in(self, sentence: str) -> bool:
        """Say whether a sentence has one of them."""
        words = words_of(sentence)
        if not self._words.isdisjoint(words) or bool(self._starts.intersection(words[:1])):
            return True
        joined = f" {' '.join(words)} "
        return any(phrase in joined for phrase in self._phrases)


_WORD = late_pattern(r"[\w']+")
_SMALL_PHRASES = _listed(
    "hi|hey|hello|good morning|bye|thanks|thank you|thank you very much|thx|ok|okay|k|yes|y"
    "|yeah|yep|yup|sure|no problem|great|nice|good|perfect|cool|awesome|excellent|well done"
    "|good job|go|go on|go ahead|continue|proceed|carry on|keep going|next|do it|please"
    "|resume|done|lgtm|looks good|sounds good|that's all|what's next|whats next|what next"
    "|ready|and|then|so|now|all|ja|nein|danke|weiter|bitte|oui|merci|si|sí|gracias",
    between="|",
)
_MOST_PHRASE = 4
"""Words of the longest of these phrases."""
_COMMAND = late_pattern(r"/[\w:-]+(?:\s+|$)")
_FEWEST_ARGUMENTS = 4
"""Words from which on the arguments of a command to the host are a request of their own."""
_SUM = late_pattern(r"\d+\s*[+*/-]\s*\d+\W*")
_ROUTINE = _listed("commit push merge stage rebase deploy format lint compact")
_AROUND_ROUTINE = _listed(
    "ok okay yes yeah great now please can you lets let's then and just we git it this that"
    " all the these change changes work everything to main master origin again force branch"
    " code pr"
)
_ORIENTATION = Marks(
    "",
    *("where did we leave", "where have we left", "where we left", "where we last", "left off"),
    *("where we stopped", "where were we", "catch up", "up to speed", "familiarize yourself"),
    *("what did we do", "what have we done"),
)
_CORRECTION = Marks(
    "actually instead wrong incorrect revert undo hate ugly weird statt falsch",
    *("that's not", "this is not", "that is not", "it's not", "i meant", "not what i", "hold on"),
    *("i said", "i asked", "i told", "you forgot", "you missed", "you should have", "you didn't"),
    *("don't like", "dont like", "not like", "too small", "too big", "too much", "still too"),
    *("still fails", "still failing", "still broken", "still doesn't", "still not", "still wrong"),
    *("the same error", "why did you", "rather than", "change of plan", "forget about"),
    *("forget that", "forget it"),
    starts="no nope nein non stop wait",
)
_CONSTRAINT = Marks(
    "never always must mustn't don't dont shouldn't shouldnt cannot cant only ensure without avoid "
    "unless except require requires required prefer important forbidden niemals immer nicht muss "
    "jamais toujours nunca siempre",
    *("do not", "should not", "make sure", "no more than", "no less than", "no fewer than"),
    *(
        "should be",
        "at most",
        "at least",
        "keep it",
        "keep the",
        "need to",
        "needs to",
        "has to",
        "have to",
    ),
    "not allowed",
)
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
_TERM = late_pattern(r"[\w.:/-]+")
_SHARED, _SHORT_WORD = 2, 2
_COMMON = _listed(
    "the and for that this with use not are was were has have will would should could must"
    " can from into over your you our its it's instead actually please make set let now all"
    " any but also then than when what which who why how don't never always only just"
)
_BLANK = r"[^\S\n]*"
"""Blanks within a line; matched across lines, each of many empty ones would be read many times."""
_HEADINGS = late_pattern(
    rf"^{_BLANK}(?:#+|\d+\.|\*\*){_BLANK}([A-Z][^\n:*]{{2,60}})[:*]*{_BLANK}$", re.MULTILINE
)
_ANALYSIS = late_pattern(r"<analysis>.*?</analysis>", re.DOTALL)
_SUMMARY_TAGS = late_pattern(r"</?summary>")
_STANDING = late_pattern(
    r"pending|current|next|open|remaining|progress|error|problem", re.IGNORECASE
)
_SENTENCE_ENDS = late_pattern(r"(?<=[.!?。！？])\s+")
_NOISE = late_pattern(r"^(?:```.*|\|?[-:| =_*]+\|?|#+)$")
_ORDINAL = late_pattern(r"^(\d{1,2})\.\s+")
_LIST_ITEM = late_pattern(r"[-*+•]\s|\d{1,2}[.)]\s")
_ENDS = frozenset(".:;,!?…。！？")
_MARKUP = late_pattern(r"^(?:#+\s+|[-*+•]\s+(?:\[[ xX]\]\s+)?|>\s+)|\*\*|`")


def words_of(sentence: str) -> list[str]:
    """Return a sentence's words in lower case."""
    return _WORD.findall(sentence.lower())


def kind_of_prompt(text: str, *, settles: bool = False) -> str:
    """Say what a user's words are: a request, correction, constraint, answer or small talk.

    settles says that the agent had said something at length that this answers.
    """
    line = QUOTED.sub(" ", one_line(text[:_READ])).strip()
    if not line:
        return REQUEST  # all of it is quoted, and says nothing of the user's own
    command = _COMMAND.match(line) if line.startswith("/") else None
    if command is not None:
        line = line[command.end() :]
        if not _asks(line):
            return SMALL_TALK  # a command to the host
    if len(line) <= _SHORT_TALK and _is_routine(line):
        return ROUTINE
    if settles:
        return ANSWER
    if is_small_talk(line) or (len(line) <= _SHORT_REQUEST and _ORIENTATION.are_in(line)):
        return SMALL_TALK
    if _CORRECTION.are_in(line):
        return CORRECTION
    return CONSTRAINT if _CONSTRAINT.are_in(line) else REQUEST


def _asks(arguments: str) -> bool:
    """Say whether a command's arguments are a request, as sentences and addresses of issues are."""
    words = arguments.split()
    return len(words) >= _FEWEST_ARGUMENTS or "://" in "".join(words[:1])


def _is_routine(line: str) -> bool:
    words = set(words_of(line))
    return bool(words & _ROUTINE) and words <= _ROUTINE | _AROUND_ROUTINE


def is_small_talk(line: str) -> bool:
    """Say whether a line is nothing but thanks, a greeting or "go on"."""
    if len(line) > _SHORT_TALK:
        return False
    if _SUM.fullmatch(line):
        return True
    words = words_of(line)
    place = 0
    while place < len(words):
        for length in range(_MOST_PHRASE, 0, -1):
            phrase = words[place : place + length]
            if len(phrase) == length and " ".join(phrase) in _SMALL_PHRASES:
                place += length
                break
        else:
            return False
    return bool(words)


def gist(text: str, limit: int) -> str:
    """Return the words of a user that matter most, in at most limit characters and one line.

    A longer text keeps its beginning, and then the sentences that correct or constrain.
    """
    line = one_line(text[:_READ])
    if len(line) <= limit:
        return line
    own = sentences(QUOTED.sub("", text))
    marked = [s for s in own[1:] if _CONSTRAINT.are_in(s) or _CORRECTION.are_in(s)]
    beginning = max(limit // 2, limit - sum(len(s) + 3 for s in marked))
    parts = [shorten(line, beginning).rstrip("…")]
    marked = [sentence for sentence in marked if sentence not in parts[0]]
    if not marked:
        return shorten(line, limit)
    room = limit - len(parts[0])
    for sentence in marked:
        if len(sentence) + 3 > room:
            continue
        parts.append(sentence)
        room -= len(sentence) + 3
    return " … ".join(parts)


def sentences(text: str) -> list[str]:
    """Return a text's sentences, each in one line and without its markup; at least one."""
    whole: list[str] = []
    for line in text[:_READ].splitlines():
        if not _NOISE.match(line.strip()):
            whole += _SENTENCE_ENDS.split(_without_markup(line.strip()))
    return [sentence for sentence in whole if sentence] or [one_line(text[:_READ])]


def _without_markup(line: str) -> str:
    """Return a line so that it reads well before another one in the same paragraph."""
    # The number of a list's item keeps its place, and is not taken for a sentence.
    plain = one_line(_MARKUP.sub("", _ORDINAL.sub(r"\1) ", line)))
    if not plain or plain[-1] in _ENDS:
        return plain
    if line.startswith("#"):
        return f"{plain}:"
    return f"{plain}." if _LIST_ITEM.match(line) else plain


def conclusions(answer: str, limit: int) -> str:
    """Return what an answer states, in at most limit characters: its beginning, its end, and the
    telling sentences between, in their order.

    Code blocks are left out of a long one: what was written is in the files.
    """
    text = answer.strip()
    if len(text) > _READ:
        text = text[: _READ // 2] + "\n" + text[-_READ // 2 :]
    whole = sentences(_without_code(text))
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


def standing_of(summary: str, limit: int) -> str:
    """Return what a host's summary says of pending and current work, and of what comes next.

    Without headings of that name, it is read as an answer is.
    """
    # What the model thought aloud before it wrote the summary is no part of it.
    summary = _SUMMARY_TAGS.sub("", _ANALYSIS.sub("", summary))
    parts = _HEADINGS.split(summary)
    # The text before the first heading, then a heading and its text in turn.
    chosen = [
        f"{heading.strip()}: {body.strip()}"
        for heading, body in zip(parts[1::2], parts[2::2], strict=True)
        if _STANDING.search(heading)
    ]
    return conclusions("\n".join(chosen) or summary, limit)


def _without_code(text: str) -> str:
    parts = text.split("```")
    return "\n".join(parts[::2]) if len(parts) > 2 else text


def telling(text: str, limit: int) -> str:
    """Return the sentences of an answer that state something, in at most limit characters.

    Empty where none does: what an agent says it will look at is over when it has looked, and what
    it waits for has come by the next answer.
    """
    chosen: list[str] = []
    room = limit
    for sentence in sentences(_without_code(text)):
        is_lasting = _states(sentence) and not _PASSING.are_in(sentence)
        if is_lasting and len(sentence) + 1 <= room:
            chosen.append(sentence)
            room -= len(sentence) + 1
    return " ".join(chosen)


def _states(sentence: str) -> bool:
    return any(map(str.isdigit, sentence)) or _STATES.are_in(sentence)


def is_replaced(sentence: str, correction: str) -> bool:
    """Say whether a correction speaks of what a sentence speaks of, so that it takes its place."""
    before, after = _content(sentence), _content(correction)
    shared = before & after
    return len(shared) >= _SHARED and len(shared) * 2 >= len(before) and bool(before - after)


def _content(sentence: str) -> frozenset[str]:
    words = (word.strip(".:/-") for word in _TERM.findall(sentence.lower()))
    return frozenset(word for word in words if len(word) > _SHORT_WORD and word not in _COMMON)


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


def question_answered(answer: str, prompt: str) -> str:
    """Return what of a long answer a short prompt replies to, empty if it stands for itself.

    That is the question with which the answer closes. Where it asks nothing, a few words, such as
    "as you say" in any language, reply to its end.
    """
    # In bytes, because a character of Chinese says as much as a word of a few letters.
    if len(answer) <= LONG_ANSWER or not 0 < len(prompt.strip().encode()) < SHORT_REPLY:
        return ""
    whole = sentences(_without_code(answer[-_READ:]))
    questions = [sentence for sentence in whole[-_CLOSING:] if sentence.endswith(("?", "？"))]
    if questions:
        return shorten(questions[-1], _QUESTION)
    return shorten(whole[-1], _QUESTION) if len(words_of(prompt)) <= _FEW_WORDS else ""
