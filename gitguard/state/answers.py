"""What of an agent's answer is kept, read by plain rules and without a model."""

from __future__ import annotations

from gitguard.model.text import late_pattern, one_line, shorten
from gitguard.model.value import Value
from gitguard.state.sentences import (
    BULLET,
    LEADS,
    READ,
    Shape,
    ends_as_sentence,
    is_question,
    sentences,
    shape_of,
    terms_of,
    without_code,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re
    from collections.abc import Callable, Iterable, Iterator, Sequence

_GAP = "…"
"""What stands for the sentences that are left out between two that are kept."""
_WORTH_A_CUT = 60
"""Characters of room from which on a sentence is shown in part that does not fit in whole."""
_MIDDLE_READ = 8_192
"""Characters of what was said within a turn that are read, from their end."""
_EDGE = 3
"""Sentences at the beginning of the first paragraph, and at the end of the last one, that weigh
more for their place, each less than the one nearer to the edge."""
_LONG = 300
"""Characters of a sentence that takes the room of two."""
_MOST_SPANS = 64
"""Spans of code that are looked for in an answer's sentences."""
_CODE = late_pattern(r"`([^`\n]{2,120})`")
_LINK = late_pattern(r"\[([^\[\]\n]{1,200})\]\(([^()\s]{1,400})\)")
_AROUND_NAME = "`*_#"
"""What may stand around a name in the words of a link."""
_MARKED_HEADING = late_pattern(r"#{1,6}\s")
_EMPHASIS = late_pattern(r"\*\*([^*]+)\*\*:?$")
_LISTED = late_pattern(r"[-*+•]\s|\d{1,2}[.)]\s")
_BULLETED = late_pattern(r"[-*+•]\s")
_CUT_END = late_pattern(rf"(?<=\S{_GAP})\s+")
_RULER = late_pattern(r"[-:|=_*+~─━\s]+")
_CELL_BORDER = late_pattern(r"(?<!\\)\|")
_FENCE = "```"
_LINE_BREAK = " ⏎ "
"""What stands for the end of a line of code, whose lines are not one command."""
_CLOSING = 4
"""Sentences at the end of an answer in which a question waits for the user."""
_OFFERED = late_pattern(r"(?:[-*+•]|(?:\d{1,2}|[A-F])[.)])\s")
"""How a line begins that is one of the choices below a question."""
_QUOTING = "\"'*_”’»」』"
"""Marks behind which a question is one that the answer speaks of."""
_NUMBERS = late_pattern(r"\s(?=\d{1,2}\)\s)")
_IN_A_LIST = late_pattern(rf"\d{{1,2}}\)\s|{_GAP}$")
_CHECK_MARKS = frozenset("✅✓✔☑")
_LONGEST_COLUMN = 20
"""Characters of a column's name that stands beside each of its cells."""
_BESIDE_STEP = 60
"""Characters that stand beside a step where it is marked; a longer sentence marks other things."""


def conclusions(
    answer: str,
    limit: int,
    *,
    size_of: Callable[[str], int] = len,
    cut: Callable[[str, int], str] = shorten,
    is_open: bool = True,
) -> str:
    """Return the sentences of an answer that weigh most, in their order and at most limit long.

    What is left out between them is marked. Code blocks are left out first: what was written is
    in the files. cut brings a text to a length, in characters unless size_of tells another one.
    is_open says that nobody has gone on from the answer, so a question at its end may wait.
    """
    passages = passages_of(answer)
    whole = _joined(passages) or one_line(answer[:READ])
    if size_of(whole) <= limit:
        with_code = _joined(passages_of(answer, has_code=True)) if _FENCE in answer else whole
        return with_code if size_of(with_code) <= limit else whole
    if not is_open:
        passages = [_without_question(passage) for passage in passages]
    return _heaviest(passages, limit, size_of, cut) or cut(whole, limit)


def telling(text: str, limit: int) -> str:
    """Return the sentences of a text that show something, in at most limit characters.

    That is a number, a path, a name, code or a quotation. Empty where none does.
    """
    return _evident(passages_of(text), limit)


def findings(messages: Iterable[str], limit: int) -> str:
    """Return what messages within a turn show, in at most limit characters.

    The last sentence of each is left out if it has no number: it announces the call that follows,
    and is over when that has run.
    """
    passages: list[Passage] = []
    for message in messages:
        newer = [_behind(passage, len(passages)) for passage in passages_of(message)]
        is_announced = bool(newer) and not newer[-1].features.shape.has_number
        passages += [*newer[:-1], _LEFT_OUT] if is_announced else newer
    return _evident(passages, limit)


def _behind(passage: Passage, lines: int) -> Passage:
    """Return a passage of a message that stands behind another one, of so many lines at most."""
    if passage is _LEFT_OUT:
        return passage
    return passage.replace(line=passage.line + lines, section=passage.section + lines)


def newest_of(messages: Sequence[str]) -> list[str]:
    """Return the newest messages within a turn, as much of them as is read."""
    newest: list[str] = []
    room = _MIDDLE_READ
    for message in reversed(messages):
        if room <= 0:
            break
        newest.append(message[-room:])
        room -= len(message)
    return newest[::-1]


def _evident(passages: list[Passage], limit: int) -> str:
    evident = [p if p.features.is_evident else _LEFT_OUT for p in passages]
    text = _heaviest(evident, limit, len, shorten)
    return text.removeprefix(f"{_GAP}\n").removesuffix(f"\n{_GAP}")


def _heaviest(
    passages: list[Passage],
    limit: int,
    size_of: Callable[[str], int],
    cut: Callable[[str, int], str],
) -> str:
    """Return the passages that weigh most, as many as fit in, and part of the next one."""
    order = sorted(range(len(passages)), key=lambda i: -weight_of(passages[i].features))
    chosen: dict[int, Passage] = {}
    headings: set[int] = set()
    joint = size_of(f"\n{_GAP}\n{BULLET}")
    room, is_one_cut = limit - joint, False
    for i in order:
        passage = passages[i]
        if passage is _LEFT_OUT:
            continue
        above = 0
        if passage.heading and passage.section not in headings:
            above = size_of(f"{passage.heading}\n")
        if size_of(passage.sentence) + above + joint > room:
            if is_one_cut or passage.features.is_cut or room < above + _WORTH_A_CUT:
                continue
            shortened = cut(passage.sentence, room - above - joint)
            passage, is_one_cut = passage.replace(sentence=shortened), True
        chosen[i] = passage
        if passage.heading:
            headings.add(passage.section)
        room -= size_of(passage.sentence) + above + joint
    return _joined([chosen.get(i, _LEFT_OUT) for i in range(len(passages))])


def _joined(passages: Iterable[Passage]) -> str:
    """Return passages in the lines that they are of; what is left out between them has one mark.

    What leads to a list stands above the first of its items that is there.
    """
    lines: list[str] = []
    headings: set[int] = set()
    before, is_gap = Passage(""), False
    for passage in passages:
        if passage is _LEFT_OUT:
            is_gap = True
            continue
        if lines and passage.line == before.line:
            lines[-1] += f" {_GAP} {passage.sentence}" if is_gap else f" {passage.sentence}"
        else:
            lines += [_GAP] * is_gap
            if passage.heading and passage.section not in headings:
                headings.add(passage.section)
                lines.append(passage.heading)
            lines.append(f"{passage.marker}{passage.sentence}")
        before, is_gap = passage, False
    return "\n".join([*lines, _GAP] if lines and is_gap else lines)


# What is weighed


class Features(Value):
    """What shows of a sentence in any language."""

    shape: Shape = Shape()
    opens: float = 0
    """1 if the first paragraph begins with it, less for the next ones, 0 beyond."""
    closes: float = 0
    """1 if the last paragraph ends with it, less for those before, 0 beyond."""
    is_first: bool = False
    """Whether its paragraph, or its item of a list, begins with it."""
    is_listed: bool = False
    is_headed: bool = False
    is_long: bool = False
    is_cut: bool = False
    """Whether its end was left out before: what is cut once more is a fragment."""

    @property
    def asks(self) -> bool:
        """Whether it is the question with which the answer waits for the user."""
        return bool(self.closes) and self.shape.is_question

    @property
    def is_evident(self) -> bool:
        """Whether it states something that can be looked up."""
        return not (self.shape.is_plain or self.shape.is_question)


_WEIGHTS = {
    "opens": 1.5,
    "closes": 1.2,
    "asks": 2.0,
    "is_first": 0.4,
    "is_listed": 0.3,
    "is_headed": 0.2,
    "is_long": -0.4,
    "is_cut": -0.5,
}
_WEIGHTS_OF_SHAPE = {
    "has_path": 0.6,
    "has_identifier": 0.5,
    "has_number": 0.8,
    "has_code": 0.5,
    "has_quotation": 0.4,
    "is_question": -0.3,
}


def weight_of(features: Features) -> float:
    """Return how much a sentence is worth to whoever takes over."""
    by_place = sum(weight * getattr(features, name) for name, weight in _WEIGHTS.items())
    shape = features.shape
    by_shape = sum(w * getattr(shape, name) for name, w in _WEIGHTS_OF_SHAPE.items())
    return float(by_place + by_shape)


class Passage(Value):
    """A sentence of an answer, with the heading or what else leads to it."""

    sentence: str
    features: Features = Features()
    heading: str = ""
    """The heading right above it, or what leads to the list that it is of."""
    section: int = 0
    """Which of the answer's headings that is."""
    line: int = -1
    """Which of the answer's lines it is of."""
    marker: str = ""
    """What its line begins with in a list."""

    @property
    def text(self) -> str:
        """The sentence, behind its heading if it is the first below it."""
        return f"{self.heading} {self.sentence}" if self.features.is_headed else self.sentence


_LEFT_OUT = Passage(_GAP)


def _without_question(passage: Passage) -> Passage:
    """Return a gap in place of a question at an answer's end, which waits no more."""
    return _LEFT_OUT if passage.features.asks else passage


def passages_of(answer: str, *, has_code: bool = False) -> list[Passage]:
    """Return the sentences of an answer, each with what shows of it, and marks of earlier gaps.

    has_code says that each code block is one of them, in one line.
    """
    text = answer.strip()
    if len(text) > READ:
        text = text[: READ // 2] + "\n" + text[-READ // 2 :]
    text = _LINK.sub(_linked, text)
    spans = frozenset(_CODE.findall(text)[:_MOST_SPANS])
    lines = _lines_of(_with_code_in_lines(text) if has_code else without_code(text, _GAP))
    sizes: dict[int, int] = {}
    for line in lines:
        sizes[line.paragraph] = sizes.get(line.paragraph, 0) + len(line.sentences)
    first, last = min(sizes, default=0), max(sizes, default=0)
    passages: list[Passage] = []
    places = dict.fromkeys(sizes, 0)
    section = 0
    for line_number, line in enumerate(lines):
        section += line.is_headed
        for number, sentence in enumerate(line.sentences):
            place = places[line.paragraph]
            places[line.paragraph] += 1
            if sentence == _GAP:
                passages.append(_LEFT_OUT)
                continue
            is_headed = line.is_headed and number == 0
            features = Features(
                _shape_of(sentence, spans),
                opens=_nearness(place) * (line.paragraph == first),
                closes=_nearness(sizes[last] - 1 - place) * (line.paragraph == last),
                is_first=number == 0,
                is_listed=line.is_listed,
                is_headed=is_headed,
                is_long=len(sentence) > _LONG,
                is_cut=sentence.endswith(_GAP),
            )
            passages.append(
                Passage(
                    sentence,
                    features,
                    heading=line.heading if is_headed or line.is_listed else "",
                    section=section,
                    line=line_number,
                    marker=line.marker if number == 0 else "",
                )
            )
    return passages


def _linked(link: re.Match[str]) -> str:
    """Return a link's words alone where they end as its target does, and all of it elsewhere."""
    words, target = link[1], link[2]
    name = words.strip(_AROUND_NAME).rpartition(" ")[2].strip(_AROUND_NAME)
    return words if name and target.rstrip("/").endswith(name) else link[0]


def _with_code_in_lines(text: str) -> str:
    """Return a text in which each code block stands in a line of its own."""
    parts = text.split(_FENCE)
    if len(parts) % 2 == 0:
        return text  # a fence is left open
    parts[1::2] = [f"\n{_FENCE}{_one_line_of(code)}{_FENCE}\n" for code in parts[1::2]]
    return "".join(parts)


def _one_line_of(code: str) -> str:
    return _LINE_BREAK.join(filter(None, map(one_line, code.strip().splitlines())))


def _nearness(distance: int) -> float:
    return max(1 - distance / _EDGE, 0)


def _shape_of(sentence: str, spans: frozenset[str]) -> Shape:
    """Return a sentence's shape, with the code that lost its marks."""
    shape = shape_of(sentence)
    if shape.has_code or not any(span in sentence for span in spans):
        return shape
    return shape.replace(has_code=True)


class _SentenceLine(Value):
    """A line of an answer: the paragraph that it is of, and what stands above it."""

    paragraph: int
    sentences: tuple[str, ...]
    heading: str = ""
    """The heading right above it, or what leads to the list that it is of."""
    is_headed: bool = False
    """Whether it is the first below the heading."""
    is_listed: bool = False
    marker: str = ""


def _lines_of(text: str) -> list[_SentenceLine]:
    """Return the lines that say something.

    A heading is none of its own, and is gone if another one follows it. Nor is a ruler, a number or
    the cell of a table; the row of a table is one.
    """
    lines: list[_SentenceLine] = []
    paragraph, heading = 0, ""
    is_new, is_behind_gap = False, False
    columns: list[str] = []
    raw_lines = [line.strip() for line in text.splitlines()]
    for number, line in enumerate(raw_lines):
        line_sentences: tuple[str, ...] = ()
        lead, is_listed, marker = "", bool(_LISTED.match(line)), ""
        if not line:
            paragraph += bool(lines) and lines[-1].paragraph == paragraph
        elif _RULER.fullmatch(line):
            continue
        elif line.startswith(_FENCE):
            line_sentences = (line,)
        elif _is_heading(line, raw_lines[number + 1 :]):
            title = " ".join(sentences(line)).rstrip("".join(LEADS))
            lead = f"{title}:" if _has_letters(title) else ""
        elif line.startswith("|"):
            if any(map(_is_ruler_of_table, raw_lines[number + 1 : number + 2])):
                columns = _cells_of(line)
                continue
            line_sentences, is_listed, marker = _row(line, columns), True, BULLET
        else:
            line_sentences = tuple(_parts_of(line))
            marker = BULLET if _BULLETED.match(line) else ""
            # What leads to the next line is a heading, and what stands before it is none.
            if line_sentences and line_sentences[-1].endswith(LEADS):
                line_sentences, lead = line_sentences[:-1], line_sentences[-1]
        if line_sentences == (_GAP,):
            is_behind_gap = True
            lines.append(_SentenceLine(paragraph, line_sentences))
        elif line_sentences:
            # A heading leads beyond a gap to the items of its list alone.
            if not is_listed and (is_behind_gap or not is_new):
                heading, is_new = "", False
            lines.append(
                _SentenceLine(
                    paragraph,
                    line_sentences,
                    heading,
                    is_headed=is_new,
                    is_listed=is_listed,
                    marker=marker,
                )
            )
            is_new, is_behind_gap = False, False
        if lead:
            heading, is_new, is_behind_gap = lead, True, False
    return lines


def _is_heading(line: str, following: Sequence[str]) -> bool:
    """Say whether a line is a heading: marked as one, or all of it stressed.

    A stressed line that ends as a sentence is a sentence: agents often write questions and
    conclusions this way. Right above a list or a table it still leads to that.
    """
    if _MARKED_HEADING.match(line):
        return True
    stressed = _EMPHASIS.match(line)
    if stressed is None:
        return False
    below = next(filter(None, following), "")
    return not ends_as_sentence(stressed[1]) or bool(_LISTED.match(below)) or below[:1] == "|"


def _is_ruler_of_table(line: str) -> bool:
    return line.startswith("|") and bool(_RULER.fullmatch(line))


def _row(line: str, columns: list[str]) -> tuple[str, ...]:
    """Return a row of a table as a sentence, none if but one cell has words.

    Of three cells and more, only the name of its column tells what a number or a mark is.
    """
    cells = _cells_of(line)
    if len(list(filter(None, cells))) < 2 or not any(_has_letters(cell) for cell in cells):
        return ()
    names = columns if len(columns) == len(cells) > 2 else [""] * len(cells)
    values = [
        cell if _has_letters(cell) or len(name) > _LONGEST_COLUMN else f"{name} {cell}".lstrip()
        for name, cell in zip(names[1:], cells[1:], strict=True)
        if cell
    ]
    heading = f"{cells[0]}: " if cells[0] else ""
    return (f"{heading}{', '.join(values)}.",)


def _cells_of(line: str) -> list[str]:
    cells = _CELL_BORDER.split(line.strip("|"))
    return [" ".join(sentences(cell.replace("\\|", "|"))) for cell in cells]


def _parts_of(line: str) -> Iterator[str]:
    """Yield the sentences of a line that have words, and a mark for each gap between them.

    What was cut before ends with a mark of its own.
    """
    for sentence in sentences(line):
        for number, kept in enumerate(f" {sentence} ".split(f" {_GAP} ")):
            if number:
                yield _GAP
            yield from filter(_has_letters, _CUT_END.split(kept.strip()))


def _has_letters(text: str) -> bool:
    return any(map(str.isalpha, text))


# What comes next


def choices_apart(answer: str) -> tuple[str, str]:
    """Return an answer without the lines of choices below a question at its end, and these."""
    lines = [line.strip() for line in answer.splitlines() if line.strip()]
    begin = len(lines)
    while begin and _OFFERED.match(lines[begin - 1]):
        begin -= 1
    is_offered = 0 < begin < len(lines) and is_question(sentences(lines[begin - 1])[-1])
    if not is_offered:
        return answer, ""
    return "\n".join(lines[:begin]), "\n".join(lines[begin:])


def closing_question(answer: str) -> str:
    """Return the question with which an answer waits for the user, empty if it asks nothing.

    A question that ends with a mark of quotation or emphasis is one that the answer speaks of.
    """
    without_choices, _ = choices_apart(without_code(answer[-READ:]))
    closing = sentences(without_choices)[-_CLOSING:]
    questions = [s for s in closing if is_question(s) and s[-1] not in _QUOTING]
    return questions[-1].removeprefix(f"{_GAP} ") if questions else ""


def without_offer(answer: str) -> str:
    """Return an answer without the questions with which it closes, and the choices below them.

    These stand behind the question, and are numbered from 1 on where that is a heading.
    """
    parts = [part for sentence in sentences(answer) for part in _NUMBERS.split(sentence)]
    asked = _place_of_question(parts)
    first = asked
    while first and _IN_A_LIST.match(parts[first - 1]):
        first -= 1
    is_list = first < asked and parts[first].startswith("1)")
    if is_list and first and is_question(parts[first - 1].rstrip(":：")):
        asked = first - 1
    if asked == len(parts):
        return answer
    begin = answer.rfind(parts[asked])
    if begin < 0:
        return " ".join(parts[:asked])
    lines = answer[:begin].rstrip(f"{BULLET}\n").split("\n")
    if len(lines) > 1 and lines[-1].endswith(LEADS):
        lines.pop()  # it led to what was asked alone
    return "\n".join(lines)


def _place_of_question(parts: list[str]) -> int:
    """Return where the questions at an answer's end begin, behind all if there are none."""
    for place in range(len(parts) - 1, max(len(parts) - 1 - _CLOSING, -1), -1):
        if is_question(parts[place]) and parts[place][-1] not in _QUOTING:
            while place and is_question(parts[place - 1]):
                place -= 1
            return place
    return len(parts)


def reports_done(answer: str, step: str) -> bool:
    """Say whether an answer marks a step of a plan as done: its words stand beside a check mark."""
    terms = terms_of(step)
    return bool(terms) and any(
        not _CHECK_MARKS.isdisjoint(sentence) and terms <= terms_of(sentence)
        for sentence in sentences(answer)
        if len(sentence) <= len(step) + _BESIDE_STEP
    )


def names_step(answer: str, step: str) -> bool:
    """Say whether a sentence of an answer has at least half of the terms of a plan's step."""
    terms = terms_of(step)
    return any(len(terms & terms_of(s)) * 2 >= max(len(terms), 2) for s in sentences(answer))
