"""How much of real conversations is in the resume block of whoever takes over.

The conversations are public Claude Code sessions, and none of their text is in this repository:
`real_conversations_data/facts.json` says where each stands, and which facts a successor must know,
in words of our own. Without the sources there is nothing to measure, and the exit code is 3.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

from tests.benches.real_replay import (
    Entry,
    Replay,
    entries_of,
    events_of,
    is_by_user,
    moved_in_time,
    prompt_of,
    text_of,
    without_end,
)

DATA = Path(__file__).parent / "real_conversations_data" / "facts.json"
BUDGETS = (700, 1_400, 2_000)
LENGTH = 2_800
"""Characters of a block of 700 tokens, which chance and the tail get as well."""
SEEDS = 20
"""Draws of random sentences; the share of facts in them then varies by about one in a hundred."""
NO_SOURCES = 3
BASELINES = ("chance", "tail", "summary")
SITUATIONS = ("new", "killed", "compacted", "with summary")

_SENTENCE_END = re.compile(r"(?<=[.!?])\s+|(?<=[。！？])|\n+")


@dataclass(frozen=True)
class Fact:
    """What a successor must know: its kind, its way in, and terms that any rendering has."""

    text: str
    kind: str
    way: str
    terms: tuple[str, ...]

    def is_in(self, text: str) -> bool:
        """Say whether every term, a regular expression, occurs in a text."""
        return all(re.search(term, text, re.IGNORECASE) for term in self.terms)


@dataclass(frozen=True)
class Source:
    """A conversation: its file's name among the sources, its public address, its facts.

    A conversation that is held out was never looked at while rules were made.
    """

    name: str
    repository: str
    ref: str
    commit: str
    path: str
    language: str
    subject: str
    compactions: int
    facts: tuple[Fact, ...]
    held_out: bool = False


@dataclass(frozen=True)
class FactScore:
    """A fact's share in each column: 0 or 1, but for chance; and what it is counted by."""

    shares: dict[str, float]
    attributes: dict[str, str]


@dataclass(frozen=True)
class Score:
    """The share of each fact, by place, in each column that a conversation has; texts' sizes."""

    source: Source
    shares: dict[str, tuple[float, ...]]
    sizes: dict[str, int]

    def facts(self) -> list[FactScore]:
        """Return each fact's score."""
        source = self.source
        about = {
            "conversation": source.name,
            "language": source.language,
            "subject": source.subject,
            "compactions": str(source.compactions),
        }
        return [
            FactScore(
                {column: shares[place] for column, shares in self.shares.items()},
                {**about, "kind": fact.kind, "way": fact.way},
            )
            for place, fact in enumerate(source.facts)
        ]


def sources() -> list[Source]:
    """Return the development set and the conversations that are held out."""
    loaded = json.loads(DATA.read_text(encoding="utf-8"))
    return [_source(document) for document in loaded]


def chosen(names: Sequence[str] | None, *, held_out: bool) -> list[Source]:
    """Return the conversations of these names, or all: those that are held out, or the others."""
    part = [source for source in sources() if source.held_out == held_out]
    return [source for source in part if not names or source.name in names]


def _source(document: dict[str, Any]) -> Source:
    facts = [Fact(f["text"], f["kind"], f["way"], tuple(f["terms"])) for f in document["facts"]]
    return Source(**{**document, "facts": tuple(facts)})


def said(entries: Iterable[tuple[str, Entry]]) -> str:
    """Return what the user and the agent said."""
    texts = [
        text_of(entry)
        for _, entry in entries
        if is_by_user(prompt_of(entry))
        or (entry.get("type") == "assistant" and not entry.get("isSidechain"))
    ]
    return "\n".join(text for text in texts if text.strip())


def random_sentences(text: str, seed: int) -> str:
    """Return sentences of a text, drawn with a seed, that fill as many characters as a block."""
    sentences = [part.strip() for part in _SENTENCE_END.split(text) if part.strip()]
    random.Random(seed).shuffle(sentences)
    return "\n".join(sentences)[:LENGTH]


def host_summary(entries: Iterable[tuple[str, Entry]]) -> str:
    """Return the host's newest summary of the conversation, empty if it made none."""
    summaries = [text_of(entry) for _, entry in entries if entry.get("isCompactSummary")]
    return summaries[-1] if summaries else ""


def blocks(entries: list[tuple[str, Entry]]) -> Iterator[tuple[str, str]]:
    """Yield the blocks of a conversation with their columns: killed, ended and compacted."""
    entries = moved_in_time(entries, time.time() - 3600)
    events = events_of(entries)
    before = without_end(events)
    with tempfile.TemporaryDirectory() as folder:
        replay = Replay(Path(folder), entries)
        replay.begin(events[0].at)
        replay.tell(before)
        for budget in BUDGETS:
            yield f"killed {budget}", replay.block_of_new_conversation(budget)
        replay.tell(events[len(before) :])
        replay.end()
        for budget in BUDGETS:
            yield f"new {budget}", replay.block_of_new_conversation(budget)
            yield f"compacted {budget}", replay.block_after_compaction(budget)


def score(source: Source, folder: Path) -> tuple[Score, dict[str, str]]:
    """Look for a conversation's facts in all texts; return the blocks as well."""
    entries = entries_of(folder / f"{source.name}.jsonl")
    text, summary = said(entries), host_summary(entries)
    texts = {"tail": text[-LENGTH:], **dict(blocks(entries))}
    if summary:
        texts["summary"] = summary
        for budget in BUDGETS:
            texts[f"with summary {budget}"] = f"{summary}\n{texts[f'compacted {budget}']}"
    draws = [random_sentences(text, seed) for seed in range(SEEDS)]
    chance = tuple(sum(map(fact.is_in, draws)) / SEEDS for fact in source.facts)
    shares = {name: tuple(float(f.is_in(texts[name])) for f in source.facts) for name in texts}
    sizes = {name: len(text) for name, text in texts.items()}
    return Score(source, {"chance": chance, **shares}, sizes), texts


def table(title: str, rows: Mapping[str, Sequence[FactScore]]) -> list[str]:
    """Return a Markdown table of the shares of facts in percent, a block's at each budget."""
    lines = [
        f"| {title} | facts | {' | '.join((*BASELINES, *SITUATIONS))} |",
        f"| --- | {' | '.join(['---:'] * (len(BASELINES) + len(SITUATIONS) + 1))} |",
    ]
    for name, facts in rows.items():
        cells = [_share(facts, baseline) for baseline in BASELINES]
        for situation in SITUATIONS:
            cells.append(" · ".join(_share(facts, f"{situation} {size}") for size in BUDGETS))
        lines.append(f"| {name} | {len(facts)} | {' | '.join(cells)} |")
    return [*lines, ""]


def _share(facts: Sequence[FactScore], column: str) -> str:
    shares = [fact.shares[column] for fact in facts if column in fact.shares]
    return f"{100 * sum(shares) / len(shares):.0f}" if shares else "–"


def report(scores: Sequence[Score]) -> str:
    """Return the shares of facts, all and by each of their attributes."""
    facts = [fact for score in scores for fact in score.facts()]
    lines = [f"Blocks at {' · '.join(f'{size:,}' for size in BUDGETS)} tokens.", ""]
    lines += table("all", {"all": facts})
    for name in ("conversation", "kind", "way", "language", "subject", "compactions"):
        rows: dict[str, list[FactScore]] = {}
        for fact in facts:
            rows.setdefault(fact.attributes[name], []).append(fact)
        lines += table(name, rows)
    sizes = [f"{s.source.name} {s.sizes['summary']:,}" for s in scores if "summary" in s.sizes]
    return "\n".join([*lines, f"Characters of the host's summaries: {', '.join(sizes) or 'none'}"])


def show(result: Score, texts: dict[str, str], column: str) -> str:
    """Return a block, and which facts are in it."""
    lines = [f"--- {result.source.name}", texts[column]]
    for fact, share in zip(result.source.facts, result.shares[column], strict=True):
        lines.append(f"{'+' if share else '-'} {fact.kind}: {fact.text}")
    return "\n".join(lines)


def main() -> int:
    """Measure the conversations whose files are there."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sources", type=Path, required=True, help="folder of NAME.jsonl files")
    parser.add_argument("--only", nargs="*", metavar="NAME", help="conversations to measure")
    parser.add_argument("--held-out", action="store_true", help="measure what no rule was made on")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--show", type=int, default=0, metavar="N", help="show the first N blocks")
    parser.add_argument("--budget", type=int, choices=BUDGETS, default=700, help="which to show")
    parser.add_argument("--situation", choices=SITUATIONS[:3], default="new", help="which to show")
    parser.add_argument("--jobs", type=int, default=2, help="conversations replayed at once")
    options = parser.parse_args()
    there = []
    for source in chosen(options.only, held_out=options.held_out):
        if (options.sources / f"{source.name}.jsonl").is_file():
            there.append(source)
        else:
            where = f"{source.repository} {source.ref} {source.path}"
            print(f"not measured: {source.name} is not in the folder ({where})", file=sys.stderr)
    if not there:
        print("none of the sources is there, so nothing was measured", file=sys.stderr)
        return NO_SOURCES
    with ProcessPoolExecutor(options.jobs) as pool:
        results = list(pool.map(partial(score, folder=options.sources), there))
    for result, texts in results[: options.show]:
        print(show(result, texts, f"{options.situation} {options.budget}"))
    scores = [result for result, _ in results]
    print(json.dumps([asdict(each) for each in scores]) if options.json else report(scores))
    return 0


if __name__ == "__main__":
    sys.exit(main())
