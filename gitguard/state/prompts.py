"""What a user's words are and which of them matter, read by plain rules and without a model.

The marks are words that carry the meaning in question in nearly every sentence that has them; what
they miss is a request, and is kept as such.
"""

from __future__ import annotations

from gitguard.model.host_additions import QUOTED
from gitguard.model.text import late_pattern, one_line, shorten
from gitguard.state.items import ANSWER, REQUEST, ROUTINE, SMALL_TALK
from gitguard.state.sentences import (
    READ,
    Marks,
    is_question,
    sentences,
    shape_of,
    without_code,
    words_of,
)

LONG_ANSWER, SHORT_REPLY = 500, 50
"""An agent's message is long above so many characters, a user's is short below so many bytes."""
_SHORT_TALK, _SHORT_REQUEST = 60, 120
"""Characters above which no prompt is small talk, or asks only where the work stands."""
_FEW_WORDS = 3
"""Words that hardly say by themselves what they are about."""
_CLOSING = 4
"""Sentences at the end of an answer in which a question waits for the user."""
_GAP = " … "
"""What stands for the words between two sentences that are kept."""
_SHORT_SENTENCE = 120
"""Characters below which a sentence within a longer prompt is taken for a rule or a wish."""
_QUESTION = 300
"""Characters of a question that a short reply answers."""


def _listed(phrases: str, between: str = " ") -> frozenset[str]:
    return frozenset(phrases.split(between))


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


def kind_of_prompt(text: str, *, settles: bool = False) -> str:
    """Say what a user's words are: a request, an answer, a routine or small talk.

    settles says that the agent had said something at length that this answers.
    """
    line = QUOTED.sub(" ", one_line(text[:READ])).strip()
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
    return REQUEST


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

    A longer text keeps its beginning, and then the sentences that say most: those that name
    something, the short ones and the last ones before the others, and no questions.
    """
    line = one_line(text[:READ])
    if len(line) <= limit:
        return line
    beginning = shorten(line, limit // 2).rstrip("…")
    own = [s for s in _own_sentences(text) if s not in beginning and not is_question(s)]
    chosen: set[int] = set()
    room = limit - len(beginning)
    for place in sorted(range(len(own)), key=lambda place: (-_weight(own[place]), -place)):
        if len(own[place]) + len(_GAP) <= room:
            chosen.add(place)
            room -= len(own[place]) + len(_GAP)
    if not chosen:
        return shorten(line, limit)
    beginning = shorten(line, len(beginning) + room).rstrip("…")
    return _GAP.join([beginning, *(own[place] for place in sorted(chosen))])


def _own_sentences(text: str) -> list[str]:
    """Return what a prompt says behind its first sentence, each once and nothing that is cut."""
    parts = QUOTED.sub("", text[:READ]).split(_GAP)
    own = sentences(parts[0])[1:]
    if len(parts) > 1:
        own = own[:-1]  # the beginning of a text that was shortened before
    return list(dict.fromkeys([*own, *(s for part in parts[1:] for s in sentences(part))]))


def _weight(sentence: str) -> int:
    """Return how much a sentence within a longer prompt says of its own, by its shape."""
    shape = shape_of(sentence)
    names = (shape.has_path, shape.has_identifier, shape.has_number, shape.has_quotation)
    return sum(names) + (len(sentence) <= _SHORT_SENTENCE)


def question_answered(answer: str, prompt: str) -> str:
    """Return what of a long answer a short prompt replies to, empty if it stands for itself.

    That is the question with which the answer closes. Where it asks nothing, a few words, such as
    "as you say" in any language, reply to its end.
    """
    # In bytes, because a character of Chinese says as much as a word of a few letters.
    if len(answer) <= LONG_ANSWER or not 0 < len(prompt.strip().encode()) < SHORT_REPLY:
        return ""
    whole = sentences(without_code(answer[-READ:]))
    questions = [sentence for sentence in whole[-_CLOSING:] if sentence.endswith(("?", "？"))]
    if questions:
        return shorten(questions[-1], _QUESTION)
    return shorten(whole[-1], _QUESTION) if len(words_of(prompt)) <= _FEW_WORDS else ""
