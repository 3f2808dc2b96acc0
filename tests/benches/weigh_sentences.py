"""Fit the weights by which the resume block chooses sentences of earlier turns.

`--sources DIR` replays the real conversations of the development set and writes what shows of each
sentence, how much it tells of the facts that the rest of the block lacks, and what a reader judged
it to be worth at the conversation's end: numbers, no words. A reader's judgement is found by the
sentence's digest, so one that the rules come to cut otherwise has none until it is read again.
Without it the weights are fitted on the numbers that are in the repository, and printed.
`--sources DIR --measure` measures the blocks of each conversation with the weights that those of
other owners give.
"""

from __future__ import annotations

import argparse
import csv
import hashlib
import math
import re
import sys
import tempfile
import time
from collections.abc import Collection, Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from itertools import chain
from pathlib import Path

from gitguard.model.text import one_line
from gitguard.sessions.resume import weighing
from gitguard.sessions.resume.turns import earlier_sentences
from gitguard.sessions.resume.weighing import WEIGHTS, features_of
from tests.benches.real_conversations import (
    DATA,
    Fact,
    Score,
    Source,
    chosen,
    report,
    score,
    sources,
)
from tests.benches.real_replay import Replay, entries_of, events_of, moved_in_time

NUMBERS = DATA.with_name("sentences.csv")
READ = DATA.with_name("read_sentences.csv")
WORTH = {"good": 1.0, "history": 0.3}
"""What a sentence is worth by a reader's judgement: one that still tells what a successor needs, or
one that is true and hardly of use. Others are worth nothing: stale, contradicted, repeated ones,
fragments and noise."""
_BY_READER = 0.6
"""The part of the target that is the reader's judgement."""
PLACES = 2
"""Decimal places of a weight: the facts are too few for more."""
_TELLS, _WORTH, _CONVERSATION = "tells", "worth", "conversation"
_TITLE = "Earlier turns"
_PENALTY = 10.0
"""How strongly weights are drawn to zero, in sentences."""
_STEPS = 25
_TOLD_TWICE = 2
"""Sentences with a fact's term; where more have it, each tells less."""
_WHOLE = 0.7
"""What a sentence tells at least that has all of a fact."""


@dataclass(frozen=True)
class Row:
    """What shows of a sentence, and what it tells, from 0 to 1."""

    conversation: str
    features: dict[str, float]
    tells: float
    worth: float | None = None
    """By a reader's judgement, from 0 to 1; none where nobody read it."""

    @property
    def target(self) -> float:
        """What the regression is to say of it."""
        worth = self.tells if self.worth is None else self.worth
        return _BY_READER * worth + (1 - _BY_READER) * self.tells


def told_by(sentences: Sequence[str], facts: Iterable[Fact], rest: str) -> list[float]:
    """Return what each sentence tells of the facts that the rest of a block lacks."""
    told = [0.0] * len(sentences)
    least = [0.0] * len(sentences)
    for fact in facts:
        missing = [t for t in fact.terms if not re.search(t, rest, re.IGNORECASE)]
        having = [
            {i for i, text in enumerate(sentences) if re.search(term, text, re.IGNORECASE)}
            for term in missing
        ]
        for places in having:
            for i in places:
                told[i] += min(1, _TOLD_TWICE / len(places)) / len(missing)
        for i in set.intersection(*having) if having else ():
            least[i] = _WHOLE
    return [min(1.0, max(pair)) for pair in zip(told, least, strict=True)]


def rows_of(source: Source, folder: Path) -> list[Row]:
    """Replay a conversation; return its earlier sentences as a new conversation has them."""
    entries = moved_in_time(entries_of(folder / f"{source.name}.jsonl"), time.time() - 3600)
    events = events_of(entries)
    with tempfile.TemporaryDirectory() as place:
        replay = Replay(Path(place), entries)
        replay.begin(events[0].at)
        replay.tell(events)
        block, state = replay.block_of_new_conversation(700), replay.state()
    before, _, earlier = block.partition(_TITLE)
    rest = before + earlier.partition("\nLast request")[2]
    sentences = earlier_sentences(state)
    tells = told_by([sentence.text for sentence in sentences], source.facts, rest)
    features = features_of(sentences, state)
    judged = judgements(source.name)
    worth = [
        WORTH.get(judged[digest], 0.0) if (digest := digest_of(s.text)) in judged else None
        for s in sentences
    ]
    return [Row(source.name, *parts) for parts in zip(features, tells, worth, strict=True)]


def digest_of(sentence: str) -> str:
    """Return by what a sentence is told from the others of its conversation, without its words."""
    return hashlib.sha256(one_line(sentence).encode()).hexdigest()[:16]


def judgements(conversation: str) -> dict[str, str]:
    """Return what a reader judged the sentences of a conversation to be, by their digests."""
    with READ.open(encoding="utf-8", newline="") as file:
        return {
            line["digest"]: line["judgement"]
            for line in csv.DictReader(file)
            if line[_CONVERSATION] == conversation
        }


def write(rows: Iterable[Row]) -> None:
    """Write the numbers."""
    with NUMBERS.open("w", encoding="utf-8", newline="") as file:
        lines = csv.writer(file, lineterminator="\n")
        lines.writerow([_CONVERSATION, *WEIGHTS, _TELLS, _WORTH])
        for row in rows:
            numbers = (*(row.features[name] for name in WEIGHTS), row.tells)
            worth = "" if row.worth is None else f"{row.worth:.4g}"
            lines.writerow([row.conversation, *(f"{number:.4g}" for number in numbers), worth])


def read() -> list[Row]:
    """Return the numbers that are in the repository."""
    with NUMBERS.open(encoding="utf-8", newline="") as file:
        return [
            Row(
                line[_CONVERSATION],
                {name: float(line[name]) for name in WEIGHTS},
                float(line[_TELLS]),
                float(line[_WORTH]) if line[_WORTH] else None,
            )
            for line in csv.DictReader(file)
        ]


def fitted(rows: Sequence[Row], *, without: Collection[str] = ()) -> tuple[dict[str, float], float]:
    """Return weights and bias of a logistic regression, without some conversations.

    It is fitted by Newton's method on features of mean 0 and variance 1.
    """
    rows = [row for row in rows if row.conversation not in without]
    columns = {name: [row.features[name] for row in rows] for name in WEIGHTS}
    means = {name: sum(column) / len(rows) for name, column in columns.items()}
    scales = {
        name: math.sqrt(sum((x - means[name]) ** 2 for x in column) / len(rows)) or 1.0
        for name, column in columns.items()
    }
    table = [
        [*((row.features[name] - means[name]) / scales[name] for name in WEIGHTS), 1.0]
        for row in rows
    ]
    size = len(WEIGHTS) + 1
    penalty = [_PENALTY] * len(WEIGHTS) + [0.0]
    weights = [0.0] * size
    for _ in range(_STEPS):
        slope = [p * w for p, w in zip(penalty, weights, strict=True)]
        bend = [[penalty[i] * (i == j) for j in range(size)] for i in range(size)]
        for x, row in zip(table, rows, strict=True):
            chance = 1 / (1 + math.exp(-sum(w * v for w, v in zip(weights, x, strict=True))))
            for i, value in enumerate(x):
                slope[i] += (chance - row.target) * value
                part = chance * (1 - chance) * value
                for j in range(size):
                    bend[i][j] += part * x[j]
        step = _solved(bend, slope)
        weights = [w - s for w, s in zip(weights, step, strict=True)]
    scaled = {name: w / scales[name] for name, w in zip(WEIGHTS, weights, strict=False)}
    bias = weights[-1] - sum(scaled[name] * means[name] for name in WEIGHTS)
    return {name: round(w, PLACES) for name, w in scaled.items()}, round(bias, PLACES)


def _solved(matrix: list[list[float]], right: list[float]) -> list[float]:
    """Solve linear equations by elimination."""
    rows = [[*row, value] for row, value in zip(matrix, right, strict=True)]
    for i in range(len(rows)):
        pivot = max(range(i, len(rows)), key=lambda k: abs(rows[k][i]))
        rows[i], rows[pivot] = rows[pivot], rows[i]
        for k in range(len(rows)):
            if k != i:
                times = rows[k][i] / rows[i][i]
                rows[k] = [a - times * b for a, b in zip(rows[k], rows[i], strict=True)]
    return [row[-1] / row[i] for i, row in enumerate(rows)]


def score_unseen(source: Source, folder: Path) -> Score:
    """Measure a conversation with the weights of the conversations of other owners."""
    owner = source.repository.partition("/")[0]
    own = [s.name for s in sources() if s.repository.partition("/")[0] == owner]
    weighing.WEIGHTS, weighing.BIAS = fitted(read(), without=own)
    return score(source, folder)[0]


def main() -> int:
    """Write the numbers if the sources are there, and print the weights that they give."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sources", type=Path, help="folder of NAME.jsonl files")
    parser.add_argument("--measure", action="store_true", help="measure what is not trained on")
    parser.add_argument("--jobs", type=int, default=2, help="conversations replayed at once")
    options = parser.parse_args()
    with ProcessPoolExecutor(options.jobs) as pool:
        if options.measure:
            measured = partial(score_unseen, folder=options.sources)
            print(report(list(pool.map(measured, chosen(None, held_out=False)))))
            return 0
        if options.sources:
            replayed = partial(rows_of, folder=options.sources)
            rows = chain.from_iterable(pool.map(replayed, chosen(None, held_out=False)))
            write(rows)
    weights, bias = fitted(read())
    print(f"WEIGHTS = {weights}\nBIAS = {bias}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
