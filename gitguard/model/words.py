"""What people and agents say, read by plain rules and without a model.

The marks are words that carry the meaning in question in nearly every sentence that has them; what
they miss is a request or a plain sentence, and is kept as such.
"""

from __future__ import annotations

import re

from gitguard.model.items import ANSWER, CONSTRAINT, CORRECTION, REQUEST, ROUTINE, SMALL_TALK
from gitguard.model.text import one_line, shorten

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

LONG_ANSWER, SHORT_REPLY = 500, 50
"""An agent's message is long above the one; below the other a user's is short."""
_SHORT_TALK, _SHORT_REQUEST = 60, 120
"""Characters above which no prompt is small talk, or asks only where the work stands."""
_BEGINNING, _END = 420, 330
"""Characters of a long answer's beginning and end that are kept."""
_QUESTION = 300
"""Characters of a question that a short reply answers."""
_READ = 16_384
"""Characters of a text that are looked at, half of them at its end."""

_PHRASES = (
    "hi|hey|hello|good morning|bye|thanks|thank you|thank you very much|thx|ok|okay|k|yes|y|yeah"
    "|yep|yup|sure|no problem|great|nice|good|perfect|cool|awesome|excellent|well done|good job"
    "|go|go on|go ahead|continue|proceed|carry on|keep going|next|do it|please|resume|done|lgtm"
    "|looks good|sounds good|that's all|where were we|what's next|whats next|what next|ready"
    "|ja|nein|danke|weiter|bitte|oui|merci|si|sí|gracias"
)
_SMALL_TALK = re.compile(
    # The longest first, so that "go on" is not "go" and something else.
    "|".join(sorted(map(re.escape, _PHRASES.split("|")), key=len, reverse=True))
    + r"|\d+\s*[+*/-]\s*\d+",
    re.IGNORECASE,
)
_BETWEEN_SMALL_TALK = re.compile(r"[\s,.!?;:…)(\"'-]*(?:(?:and|then|please|so|now|with it|all)\b)?")
_ROUTINE = re.compile(
    r"(?:(?:ok|okay|yes|yeah|great|now|please|can you|let'?s|then|and|just|we can)[,. ]+)*"
    r"(?:git )?(?:commit|push|merge|stage|rebase|deploy|format|lint|compact)\b"
    r"(?:[ ,]+(?:and|then|it|this|that|all|the|these|changes?|work|everything|commit|push|merge"
    r"|to|main|master|origin|now|please|again|force|branch|code|pr))*[.! ]*",
    re.IGNORECASE,
)
_ORIENTATION = re.compile(
    r"\bwhere (?:did |have )?we (?:last )?(?:left|leave|stop)|\bleft off\b|\bcatch up\b"
    r"|\bup to speed\b|\bfamiliari[sz]e yourself\b|\bwhat (?:did|have) we (?:do|done)\b",
    re.IGNORECASE,
)
_CORRECTION = re.compile(
    r"^(?:no|nope|nein|non)\b|^(?:stop|wait|hold on|undo|revert)\b|\bactually\b|\binstead\b"
    r"|\b(?:that|this|it)(?:'s| is| was) (?:not|wrong|incorrect)\b|\bwrong\b|\bi meant\b"
    r"|\bnot what i\b|\bi (?:said|asked|told)\b|\byou (?:forgot|missed|should have|didn'?t)\b"
    r"|\bstill (?:fail|broken|doesn'?t|not|wrong|get|see|the same)|\bwhy did you\b|\brather than\b"
    r"|\bchange of plan|\bforget (?:about|that|it)\b|\brevert\b|\bundo\b|\bstatt\b|\bfalsch\b",
    re.IGNORECASE,
)
_CONSTRAINT = re.compile(
    r"\bnever\b|\balways\b|\bmust(?:n'?t)?\b|\bdo(?: not|n'?t)\b|\bshould(?: not|n'?t)\b|\bcannot\b"
    r"|\bonly\b|\bmake sure\b|\bensure\b|\bwithout\b|\bavoid\b|\bno (?:more|less|fewer) than\b"
    r"|\bat (?:most|least)\b|\bunless\b|\bexcept\b|\brequire[sd]?\b|\bprefer\b|\bkeep (?:it|the)\b"
    r"|\bneeds? to\b|\bhas to\b|\bhave to\b|\bimportant\b|\bnot allowed\b|\bforbidden\b"
    r"|\bniemals?\b|\bimmer\b|\bnicht\b|\bmuss\b|\bjamais\b|\btoujours\b|\bnunca\b|\bsiempre\b",
    re.IGNORECASE,
)
_TELLING = re.compile(
    r"\b(?:found|because|caused?|root cause|result|fixed|resolved|turns? out|means|so that|decided"
    r"|chose|chosen|instead|pass(?:es|ed|ing)?|fail(?:s|ed|ing|ure)?|errors?|broken|works?|verified"
    r"|confirmed|measured|recommend|suggest|should|must|needs?|next|remaining|left|todo|open|still"
    r"|not yet|pending|blocked|question|default|limit|created|added|removed|renamed|changed|moved"
    r"|updated|implemented|committed|pushed|merged|deployed)\b|\d",
    re.IGNORECASE,
)
_STATES = re.compile(
    r"\b(?:found|because|caused?|root cause|results?|fixed|resolved|turns? out|decided|chose|chosen"
    r"|instead|pass(?:es|ed)?|fail(?:s|ed|ing|ure)?|errors?|broken|verified|confirmed|measured"
    r"|recommend|should|must|remaining|todo|open question|not yet|pending|blocked|limit|never"
    r"|only|twice|missing|faster|slower|percent|lost|leaks?|now (?:takes|uses|has|is)|works"
    r"|implemented|created|added|removed|renamed|changed|moved|updated|committed|written|wrote"
    r"|done|built|ported|tested|documented|merged|deployed|shipped|completed|finished|pushed"
    r"|installed|enabled|disabled|replaced|kept|left)\b|\d",
    re.IGNORECASE,
)
_WORDS = re.compile(r"[\w.:/-]+")
_SHARED, _SHORT_WORD = 2, 2
_COMMON_WORDS = (
    "the and for that this with use not are was were has have will would should could must can "
    "from into over your you our its it's instead actually please make set let now all any but "
    "also then than when what which who why how don't never always only just"
)
_COMMON = frozenset(_COMMON_WORDS.split())
_NEXT = re.compile(
    r"\bnext\b|\bremaining\b|\bleft to do\b|\bto ?do\b|\bstill (?:needs?|to)\b|\bnot yet\b"
    r"|\bi(?:'ll| will)\b|\blet me\b|\bneeds? to be\b|\bnächste",
    re.IGNORECASE,
)
_HEADINGS = re.compile(r"^\s*(?:#+|\d+\.|\*\*)\s*([A-Z][^\n:*]{2,60})[:*]*\s*$", re.MULTILINE)
_STANDING = re.compile(r"pending|current|next|open|remaining|progress|error|problem", re.IGNORECASE)
_SENTENCES = re.compile(r"(?<=[.!?。！？])\s+|\n+")
_NOISE = re.compile(r"^(?:```.*|\|?[-:| =_*]+\|?|#+)$")
_MARKUP = re.compile(r"^(?:#+\s+|[-*+•]\s+(?:\[[ xX]\]\s+)?|>\s+)|\*\*|__|`")


def kind_of_prompt(text: str, *, settles: bool = False) -> str:
    """Say what a user's words are: a request, correction, constraint, answer or small talk.

    settles says that the agent had said something at length that this answers.
    """
    line = one_line(text[:_READ])
    if line.startswith("/") and re.match(r"/[\w:-]+(?:\s|$)", line):
        return SMALL_TALK  # a command to the host
    if len(line) <= _SHORT_TALK and _ROUTINE.fullmatch(line):
        return ROUTINE
    if settles:
        return ANSWER
    if is_small_talk(line) or (len(line) <= _SHORT_REQUEST and _ORIENTATION.search(line)):
        return SMALL_TALK
    if _CORRECTION.search(line):
        return CORRECTION
    return CONSTRAINT if _CONSTRAINT.search(line) else REQUEST


def is_small_talk(line: str) -> bool:
    """Say whether a line is nothing but thanks, a greeting or "go on"."""
    rest = line if len(line) <= _SHORT_TALK else ""
    if not rest:
        return False
    while rest:
        beginning = _SMALL_TALK.match(rest)
        if beginning is None or rest[beginning.end() : beginning.end() + 1].isalnum():
            return False
        rest = rest[beginning.end() :]
        between = _BETWEEN_SMALL_TALK.match(rest)
        rest = rest[between.end() :] if between is not None else rest
    return True


def is_reply(answer_length: int, prompt: str) -> bool:
    """Say whether a short prompt answers a long message."""
    return answer_length > LONG_ANSWER and 0 < len(prompt.strip()) < SHORT_REPLY


def gist(text: str, limit: int) -> str:
    """Return the words of a user that matter most, in at most limit characters and one line.

    A longer text keeps its beginning, and then the sentences that correct or constrain.
    """
    line = one_line(text[:_READ])
    if len(line) <= limit:
        return line
    first, *others = sentences(text)
    marked = [s for s in others if _CONSTRAINT.search(s) or _CORRECTION.search(s)]
    beginning = limit if not marked else max(limit // 2, limit - sum(map(len, marked)))
    shown = line if not marked else first
    parts = [shorten(shown, beginning)]
    room = limit - len(parts[0])
    for sentence in marked:
        if len(sentence) + 3 > room:
            continue
        parts.append(sentence)
        room -= len(sentence) + 3
    return " … ".join(parts)


def sentences(text: str) -> list[str]:
    """Return a text's sentences, each in one line and without its markup; at least one."""
    lines = (part.strip() for part in _SENTENCES.split(text[:_READ]))
    plain = (one_line(_MARKUP.sub("", line)) for line in lines if not _NOISE.match(line))
    return [line for line in plain if line] or [one_line(text[:_READ])]


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
        if i not in chosen and _TELLING.search(sentence) and len(sentence) + 3 <= room:
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

    Empty where none does: what an agent says it will look at is over when it has looked.
    """
    chosen: list[str] = []
    room = limit
    for sentence in sentences(_without_code(text)):
        if _STATES.search(sentence) and len(sentence) + 1 <= room:
            chosen.append(sentence)
            room -= len(sentence) + 1
    return " ".join(chosen)


def is_replaced(sentence: str, correction: str) -> bool:
    """Say whether a correction speaks of what a sentence speaks of, so that it takes its place."""
    before, after = _content(sentence), _content(correction)
    shared = before & after
    return len(shared) >= _SHARED and len(shared) * 2 >= len(before) and bool(before - after)


def _content(sentence: str) -> frozenset[str]:
    words = (word.strip(".:/-") for word in _WORDS.findall(sentence.lower()))
    return frozenset(word for word in words if len(word) > _SHORT_WORD and word not in _COMMON)


def next_step_of(answer: str) -> str:
    """Return the last sentence of an answer that says what comes next, empty if none does."""
    announced = [sentence for sentence in sentences(answer) if _NEXT.search(sentence)]
    return announced[-1] if announced else ""


def question_of(answer: str) -> str:
    """Return what a short reply to an answer is about: its last question, or else its end."""
    whole = sentences(_without_code(answer[-_READ:]))
    asked = [sentence for sentence in whole if sentence.endswith(("?", "？"))]
    return shorten(asked[-1] if asked else whole[-1], _QUESTION)
