"""What a user's words are and which of them matter, read by plain rules and without a model.

The marks are words that carry the meaning in question in nearly every sentence that has them; what
they miss is a request, and is kept as such.
"""

from __future__ import annotations

import re

from gitguard.model.host_additions import QUOTED, command_in
from gitguard.model.text import late_pattern, one_line, shorten
from gitguard.state.answers import choices_apart
from gitguard.state.items import ANSWER, REQUEST
from gitguard.state.sentences import (
    READ,
    is_question,
    length_of,
    sentences,
    shape_of,
    telling_terms,
    without_code,
)

LONG_ANSWER, SHORT_REPLY = 80, 10
"""An agent's message is long above so many words, a user's is short below so many."""
FEW_WORDS, MOST_WORDS = 3, 8
"""Words that hardly say by themselves what they are about, and above which nothing is talk."""
REQUEST_LIMIT = 400
"""Characters of a prompt that are the goal or next action; the thread keeps more of it."""
_CLOSING = 4
"""Sentences at the end of an answer in which a question waits for the user."""
_GAP = " … "
"""What stands for the words between two sentences that are kept."""
_SHORT_SENTENCE = 120
"""Characters below which a sentence within a longer prompt is taken for a rule or a wish."""
_LAST_SENTENCE = 2
"""What a prompt's last sentence weighs more than its shape says."""
_CHOICE_SHOWN = 160
"""Characters of a choice that a short reply picks."""
_BEFORE_QUESTION = " — "
_PICKED = late_pattern(r"(?:[^\W\d_]+\W+)?(?P<label>\d{1,2}|[A-F])[^\W\d_]?\W*")
"""A reply of one number or letter, at most with a word before it: `2`, `option B`, `1번`."""
_NUMBERS = late_pattern(r"\s(?=\d{1,2}\)\s)")
_CHOICE = late_pattern(
    r"(?:[^\W\d_]+\s+)?(?P<label>\d{1,2}|[A-F])(?:\ufe0f?\u20e3|\s*[.)．、:：—–|-])"
)
"""A sentence that begins with a number or letter, or with a word and one: `2)`, `Option B:`."""
_QUESTION = 300
"""Characters of a question that a short reply answers."""
_AROUND_REPLY = " .,!。，！、"
"""What may stand around the words of a short reply."""


def kind_of_prompt(text: str, *, settles: bool = False) -> str:
    """Say whether a user's words are a request or an answer.

    settles says that the agent had said something that they answer. Whether they are talk, their
    turn tells (`state/talk.py`).
    """
    line = own_words(text)
    if not line:
        return REQUEST  # all of it is quoted, and says nothing of the user's own
    if settles:
        return ANSWER
    return REQUEST


def own_words(text: str) -> str:
    """Return a prompt in one line without what it quotes."""
    return QUOTED.sub(" ", one_line(text[:READ])).strip()


def is_few_words(text: str) -> bool:
    """Say whether a prompt hardly says by itself what it is about."""
    return is_brief(text) and length_of(own_words(text)) <= FEW_WORDS


def is_brief(text: str) -> bool:
    """Say whether a prompt may be talk: it is short, and names nothing by its form.

    A pasted output alone, such as of a command that the agent asked for, is none.
    """
    line = own_words(text)
    return bool(line) and shape_of(line).is_plain and length_of(line) <= MOST_WORDS


def is_lone_command(text: str) -> bool:
    """Say whether a prompt is a slash command and no more: what it is to do, the next one says."""
    words = text.split()
    return len(words) == 1 and bool(command_in(text)) and "/" not in words[0][1:]


def gist(text: str, limit: int) -> str:
    """Return the words of a user that matter most, in at most limit characters and one line.

    A longer text keeps its beginning, and then the sentences that say most: those that name
    something, the short ones and the last ones before the others, and no questions.
    """
    line = one_line(text[:READ])
    if len(line) <= limit:
        return line
    beginning = shorten(line, limit // 2).rstrip("…")
    own = [s for s in _own_sentences(text) if not (_is_begun(s, line, beginning) or is_question(s))]
    chosen: set[int] = set()
    room = limit - len(beginning)
    weights = [_weight(sentence) for sentence in own]
    if weights:
        weights[-1] += _LAST_SENTENCE  # where a long prompt often says what it asks
    for place in sorted(range(len(own)), key=lambda place: (-weights[place], -place)):
        if len(own[place]) + len(_GAP) <= room:
            chosen.add(place)
            room -= len(own[place]) + len(_GAP)
    if not chosen:
        return shorten(line, limit)
    beginning = shorten(line, len(beginning) + room).rstrip("…")
    return _GAP.join([beginning, *(own[place] for place in sorted(chosen))])


def _is_begun(sentence: str, line: str, beginning: str) -> bool:
    """Whether a sentence of a line stands in its beginning, at least in part."""
    return sentence in beginning or 0 <= line.find(sentence) < len(beginning)


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
    """Return what of an answer a short prompt replies to, empty if it stands for itself.

    That is the question with which a long answer closes, or a shorter one from which, or from the
    choices behind it, the reply takes something up; before it stands the choice that the reply
    picks by its number or letter. Where a long one asks nothing, a few words reply to the choice or
    to its end.
    """
    if not len(prompt.strip()) > 0 or not length_of(prompt) < SHORT_REPLY:
        return ""
    without_choices, choices = choices_apart(without_code(answer[-READ:]))
    whole = sentences(without_choices)
    is_long = length_of(answer) > LONG_ANSWER
    first, behind = _closing_questions(whole)
    choice = _choice_picked(answer, prompt)
    if first < behind:
        question = shorten(" ".join(whole[first:behind]), _QUESTION)
        if not (is_long or choice or _takes_up(prompt, " ".join([*whole[first:], choices]))):
            return ""
        return _BEFORE_QUESTION.join(filter(None, (choice, question)))
    if choice:
        return choice
    return shorten(whole[-1], _QUESTION) if is_long and length_of(prompt) <= FEW_WORDS else ""


def _closing_questions(whole: list[str]) -> tuple[int, int]:
    """Return where the last question of an answer begins, and the place behind it.

    One right before it counts to it: a reply may mean either. Both are 0 if nothing is asked.
    """
    for place in range(len(whole) - 1, max(len(whole) - 1 - _CLOSING, -1), -1):
        if is_question(whole[place]):
            is_second = place > 0 and is_question(whole[place - 1])
            return place - is_second, place + 1
    return 0, 0


def _takes_up(prompt: str, asked: str) -> bool:
    """Whether a prompt has a term of what was asked, or stands there word for word."""
    if not telling_terms(asked).isdisjoint(telling_terms(prompt)):
        return True
    words = own_words(prompt).strip(_AROUND_REPLY).lower()
    if not any(map(str.isalnum, words)):
        return False
    return re.search(rf"(?<!\w){re.escape(words)}(?!\w)", asked.lower()) is not None


def _choice_picked(answer: str, prompt: str) -> str:
    """Return the item of an answer's list that a few words pick by its number or letter."""
    picked = _PICKED.fullmatch(one_line(prompt))
    if picked is None or length_of(prompt) > FEW_WORDS:
        return ""
    label = picked["label"]
    whole = sentences(without_code(answer[-READ:]))
    # Of an answer that is kept in one line, several items may be one sentence.
    parts = [part for sentence in whole for part in _NUMBERS.split(sentence)]
    for part in reversed(parts):
        item = _CHOICE.match(part)
        if item is not None and item["label"] == label:
            return shorten(part, _CHOICE_SHOWN)
    return ""
