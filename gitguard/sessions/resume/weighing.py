"""Weighs the sentences of all earlier turns together, by what shows of them in any language.

The weights are a logistic regression's, on the facts that whoever takes over must know of real
conversations: `tests/benches/weigh_sentences.py` fits them. They say how likely a sentence tells a
fact. Room goes to those that are likeliest to tell one for their length and tell what no sentence
before them does, and to a prompt together with its answer.
"""

from __future__ import annotations

import heapq
import math
from collections import Counter
from itertools import zip_longest

from gitguard.model.host_additions import QUOTED
from gitguard.model.text import late_pattern
from gitguard.model.tokens import quarters_of
from gitguard.model.transcript import USER
from gitguard.model.value import Value
from gitguard.state.answers import Passage, passages_of, weight_of
from gitguard.state.items import UNFINISHED
from gitguard.state.sentences import is_question, length_of, sentences, shape_of
from gitguard.state.subjects import telling_words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from gitguard.state.items import Exchange
    from gitguard.state.task import TaskState

WEIGHTS = {
    "is_prompt": 0.22,
    "age": -0.05,
    "length": 0.4,
    "terms": 0.37,
    "new": -0.16,
    "new_in_prompt": 0.18,
    "signs_in_prompt": -4.85,
    "long_in_prompt": -0.5,
    "of_prompt": 0.74,
    "shape": 0.05,
    "written": 0.33,
    "followers": -0.2,
    "identifier": 0.25,
    "plain": -0.26,
    "end": -0.32,
    "steps": -0.41,
    "exclaims": -1.07,
}
BIAS = -3.5
_WHOLE_PROMPT = 200
"""Quarters up to which a prompt is not taken apart: its second half is often its point."""
_LONG_PROMPT = 60
"""Words of a prompt's sentence from which on it is mostly pasted."""
_RARE, _RARE_SHARE = 2, 6
"""Messages in which a rare term stands at most: so many, or the part that this gives of all."""
_STEPS = late_pattern(r"(?:^|\s)\d{1,2}[.)]\s")
"""The number of a list's item."""
GAP = "…"
"""What stands for the sentences that are left out."""
_OVERHEAD = 120
"""Quarters that count for a sentence besides its own, so that no fragment wins by being short."""
_LEAST = 0.12
"""The chance below which a sentence of the agent's is not shown, whatever room there is."""
_NOVELTY = 0.6
"""How much less a sentence is worth whose terms all stand in the block already."""
_PAIR = 1.4
"""How many times as much a prompt is worth once something of its answer is shown, and an answer
once something of its prompt is."""
_ALONE = 1e-6
"""What a prompt is worth that says hardly anything alone."""
_FEWEST_TERMS, _FEWEST_IN_A_PROMPT = 4, 2
"""Terms of a sentence without a name, number or code that says something by itself, and of a
prompt."""
_NEWEST = 5
"""Turns of which a question is shown without anything of the answer to it."""


class SaidSentence(Value):
    """A sentence of an earlier turn."""

    text: str
    turn: int
    message: Exchange
    place: int
    """Its place in the message; where the message has a gap, one is left out."""
    weight: float = 0
    """What it weighs within an answer, by its shape and place."""
    says_little: bool = False
    """Whether it says hardly anything without the other half of its turn."""
    heading: str = ""
    """The heading right above it, or what leads to the list that it is of."""
    has_heading: bool = False
    """Whether the text itself says that."""
    section: int = 0
    """Which of the message's headings is above it, or was last."""
    is_answered: bool = False
    """Whether it is a prompt, and the agent ended the turn with an answer."""
    is_since_request: bool = False
    """Whether it answers the last request, or is of a turn that the host began since."""

    @property
    def is_prompt(self) -> bool:
        """Whether the user said it."""
        return self.message.origin.by == USER


def sentences_of(turn: int, message: Exchange) -> list[SaidSentence]:
    """Return the sentences of a message; what hardly says anything stands with the next one.

    A short prompt is not taken apart. What ends the middle of a turn, without a number, announces a
    call that has run since: it is left out.
    """
    is_prompt = message.origin.by == USER
    if is_prompt and says_little(message.text):
        has_words = any(map(str.isalpha, message.text))
        return [SaidSentence(message.text, turn, message, 0, says_little=True)] * has_words
    parts = _prompt_parts(message.text) if is_prompt else _answer_parts(message)
    whole: list[SaidSentence] = []
    before, place = "", 0
    for part, following in zip_longest(parts, parts[1:]):
        text = f"{before} {part.text}".lstrip()
        before = ""
        if part.text == GAP:
            place += 1
        elif _is_hollow(part.text, _FEWEST_TERMS) and _goes_with(part, following):
            before = text
        else:
            sentence = SaidSentence(text, turn, message, place, weight=weight_of(part.features))
            whole.append(
                sentence.replace(
                    heading=part.heading,
                    has_heading=bool(part.heading) and part.heading in text,
                    section=part.section,
                )
            )
            place += 1
    return whole


def _prompt_parts(prompt: str) -> list[Passage]:
    is_short = quarters_of(prompt) <= _WHOLE_PROMPT
    return [Passage(text) for text in ([prompt] if is_short else sentences(prompt))]


def _answer_parts(answer: Exchange) -> list[Passage]:
    parts = passages_of(answer.text, has_code=True)
    is_announced = answer.kind == UNFINISHED and parts
    if is_announced and not parts[-1].features.shape.has_number:
        parts.pop()
    return parts


def _goes_with(part: Passage, following: Passage | None) -> bool:
    """Say whether what hardly says anything stands with the next sentence: not beyond its list."""
    return following is not None and (not part.heading or part.section == following.section)


def says_little(prompt: str) -> bool:
    """Say whether a prompt hardly names anything of its own."""
    return _is_hollow(QUOTED.sub(" ", prompt), _FEWEST_IN_A_PROMPT)


def _is_hollow(text: str, fewest: int) -> bool:
    """Whether a text has neither so many terms nor a name, or is but a list's number."""
    if not any(map(str.isalpha, text)):
        return True
    return shape_of(text).is_plain and len(telling_words(text)) < fewest


def features_of(sentences: Sequence[SaidSentence], state: TaskState) -> list[dict[str, float]]:
    """Return what shows of each sentence of earlier turns, the oldest first."""
    first_said: dict[str, str] = {}
    messages: Counter[str] = Counter()
    for exchange in state.exchanges:
        terms = telling_words(exchange.text)
        messages.update(terms)
        for term in terms:
            first_said.setdefault(term, exchange.id)
    asked: dict[int, frozenset[str]] = {}
    for sentence in sentences:
        if sentence.is_prompt:
            asked[sentence.turn] = asked.get(sentence.turn, frozenset()) | telling_words(
                sentence.message.text
            )
    written = Counter(
        (artifact.origin.conversation, artifact.origin.turn)
        for artifact in state.artifacts
        if artifact.kind == "file"
    )
    terms_of = [telling_words(sentence.text) for sentence in sentences]
    followers = _followers(sentences, terms_of, messages)
    lengths = Counter(sentence.message.id for sentence in sentences)
    newest = max((sentence.turn for sentence in sentences), default=0)
    features = []
    for sentence, terms, later in zip(sentences, terms_of, followers, strict=True):
        is_prompt, message = sentence.is_prompt, sentence.message
        of_prompt = frozenset() if is_prompt else asked.get(sentence.turn, frozenset())
        number = max(len(terms), 1)
        new = sum(first_said.get(term, message.id) == message.id for term in terms) / number
        shape = shape_of(sentence.text)
        of_turn = written[message.origin.conversation, message.origin.turn]
        features.append(
            {
                "is_prompt": float(is_prompt),
                "age": math.log1p(newest - sentence.turn),
                "length": math.log1p(quarters_of(sentence.text)),
                "terms": math.log1p(len(terms)),
                "new": new,
                "new_in_prompt": new * is_prompt,
                "signs_in_prompt": is_prompt * _share_of_signs(sentence.text),
                "long_in_prompt": float(is_prompt and length_of(sentence.text) > _LONG_PROMPT),
                "of_prompt": len(terms & of_prompt) / number,
                "shape": sentence.weight,
                "written": math.log1p(of_turn) * (not is_prompt),
                "followers": math.log1p(later) * (not is_prompt),
                "identifier": float(shape.has_identifier and not is_prompt),
                "plain": float(shape.is_plain and not is_prompt),
                "end": (not is_prompt) * sentence.place / max(lengths[message.id] - 1, 1),
                "steps": float(not is_prompt and bool(_STEPS.search(sentence.text))),
                "exclaims": float(not is_prompt and sentence.text.endswith(("!", "！"))),
            }
        )
    return features


def _followers(
    sentences: Sequence[SaidSentence], terms_of: Sequence[frozenset[str]], messages: Counter[str]
) -> list[int]:
    """Return how many sentences of later messages share a rare term with each."""
    rare = max(_RARE, len({sentence.message.id for sentence in sentences}) // _RARE_SHARE)
    having: dict[str, set[int]] = {}
    followers = []
    of_message: set[int] = set()
    message = ""
    for place in range(len(sentences) - 1, -1, -1):
        if sentences[place].message.id != message:
            message = sentences[place].message.id
            for earlier in of_message:
                for term in terms_of[earlier]:
                    having.setdefault(term, set()).add(earlier)
            of_message = set()
        of_message.add(place)
        terms = [term for term in terms_of[place] if messages[term] <= rare]
        followers.append(len(set().union(*(having.get(term, ()) for term in terms))))
    return followers[::-1]


def _share_of_signs(text: str) -> float:
    """Return the share of the characters that are neither of words nor blanks."""
    return sum(not (c.isalpha() or c.isspace()) for c in text) / max(len(text), 1)


def chance_of(features: Mapping[str, float]) -> float:
    """Return how likely a sentence tells a fact that whoever takes over must know."""
    total = BIAS + sum(weight * features[name] for name, weight in WEIGHTS.items())
    return 1 / (1 + math.exp(-total))


def in_order(
    sentences: Sequence[SaidSentence], state: TaskState, elsewhere: Iterable[str]
) -> list[int]:
    """Return the places of sentences in the order in which they get room.

    elsewhere is what the block says in its other sections. A prompt is shown from its first
    sentence on. One that says hardly anything comes last, and an older one that only asks not at
    all, while nothing of the answer to it is shown.
    """
    chances = [chance_of(features) for features in features_of(sentences, state)]
    terms = [telling_words(sentence.text) for sentence in sentences]
    seen = {term for text in elsewhere for term in telling_words(text)}
    shown: set[tuple[int | str, int]] = set()  # halves of turns, and headings of messages
    newest = max((sentence.turn for sentence in sentences), default=0)

    def worth(place: int) -> float:
        sentence = sentences[place]
        if chances[place] < _LEAST and not sentence.is_prompt:
            return 0
        own, other = (
            (sentence.turn, is_prompt) in shown
            for is_prompt in (sentence.is_prompt, not sentence.is_prompt)
        )
        if sentence.says_little and not other:
            is_over = newest - sentence.turn >= _NEWEST and is_question(sentence.text)
            return 0 if is_over else _ALONE * chances[place]
        if sentence.is_prompt and sentence.place and not own:
            return 0
        told = len(terms[place] & seen) / max(len(terms[place]), 1)
        pair = _PAIR if other and not own else 1
        cost = quarters_of(sentence.text) + _OVERHEAD
        if not sentence.has_heading and (sentence.message.id, sentence.section) not in shown:
            cost += quarters_of(sentence.heading)
        return pair * chances[place] * (1 - _NOVELTY * told) / cost

    # What is shown makes others worth less, and only what pairs with it, or stands below the same
    # heading, more; so the worth of the first in the queue is looked at again, that of others not.
    queue = [(-worth(place), place) for place in range(len(sentences))]
    heapq.heapify(queue)
    order: dict[int, None] = {}
    while queue:
        before, place = heapq.heappop(queue)
        now = worth(place)
        if place in order or not now:
            continue
        if queue and -now > queue[0][0] and now < -before:
            heapq.heappush(queue, (-now, place))
            continue
        order[place] = None
        seen |= terms[place]
        sentence = sentences[place]
        parts: set[tuple[int | str, int]] = {(sentence.turn, sentence.is_prompt)}
        if sentence.heading:
            parts.add((sentence.message.id, sentence.section))
        if not parts <= shown:
            shown |= parts
            for other, its in enumerate(sentences):
                if its.turn == sentence.turn and other not in order:
                    heapq.heappush(queue, (-worth(other), other))
    return list(order)
