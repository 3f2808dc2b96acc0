"""How much of real conversations is in the resume block of whoever takes over.

The conversations are public Claude Code sessions, and none of their text is in this repository:
`real_conversations_data/facts.json` says where each stands, and which facts a successor must know,
in words of our own. Without the sources there is nothing to measure, and the exit code is 3.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from tests.benches.real_replay import (
    Entry,
    Replay,
    entries_of,
    events_of,
    is_by_user,
    prompt_of,
    text_of,
)

DATA = Path(__file__).parent / "real_conversations_data" / "facts.json"
RAW = 2_800
"""Characters at the conversation's end that the baseline hands over as they stand."""
NO_SOURCES = 3
SITUATIONS = ("new", "killed", "raw")


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
    """A conversation: its file's name among the sources, its public address, its facts."""

    name: str
    repository: str
    ref: str
    commit: str
    path: str
    facts: tuple[Fact, ...]


@dataclass(frozen=True)
class Score:
    """Which facts of a conversation are in each text, by place; the blocks' tokens."""

    source: Source
    present: dict[str, tuple[bool, ...]]
    tokens: dict[str, int]


def sources() -> list[Source]:
    """Return the development set."""
    loaded = json.loads(DATA.read_text(encoding="utf-8"))
    return [_source(document) for document in loaded]


def _source(document: dict[str, Any]) -> Source:
    facts = [Fact(f["text"], f["kind"], f["way"], tuple(f["terms"])) for f in document["facts"]]
    return Source(**{**document, "facts": tuple(facts)})


def score(source: Source, path: Path, budget: int, show: int) -> Score:
    """Replay a conversation to its end and to a kill, and look for its facts."""
    entries = entries_of(path)
    texts = {"raw": raw_end(entries)}
    for name in ("new", "killed"):
        with tempfile.TemporaryDirectory() as folder:
            events = events_of(entries, is_killed=name == "killed")
            texts[name] = Replay(Path(folder), budget).block_after(entries, events)
    present = {name: tuple(f.is_in(texts[name]) for f in source.facts) for name in SITUATIONS}
    if show:
        print(f"--- {source.name}\n{texts['new']}")
        for fact, is_there in zip(source.facts, present["new"], strict=True):
            print(f"{'+' if is_there else '-'} {fact.kind}: {fact.text}")
    return Score(source, present, {name: len(texts[name]) // 4 for name in SITUATIONS})


def raw_end(entries: Iterable[tuple[str, Entry]]) -> str:
    """Return the last characters of what the user and the agent said."""
    said = [
        text_of(entry)
        for _, entry in entries
        if is_by_user(prompt_of(entry))
        or (entry.get("type") == "assistant" and not entry.get("isSidechain"))
    ]
    return "\n".join(text for text in said if text.strip())[-RAW:]


def recall(scores: Sequence[Score], by: str) -> dict[str, dict[str, int]]:
    """Count facts, all and those present in each situation, by an attribute of the fact."""
    counts: dict[str, Counter[str]] = {}
    for each in scores:
        for place, fact in enumerate(each.source.facts):
            count = counts.setdefault(getattr(fact, by), Counter())
            count["facts"] += 1
            for name in SITUATIONS:
                count[name] += each.present[name][place]
    return {name: dict(count) for name, count in sorted(counts.items())}


def report(scores: Sequence[Score]) -> str:
    """Return the figures as Markdown tables."""
    lines = [
        "| conversation | facts | new | killed | raw text | tokens |",
        "| --- | ---: | ---: | ---: | ---: | ---: |",
    ]
    for each in scores:
        counts = " | ".join(str(sum(each.present[name])) for name in SITUATIONS)
        name, size = each.source.name, len(each.source.facts)
        lines.append(f"| {name} | {size} | {counts} | {each.tokens['new']} |")
    total = sum(len(each.source.facts) for each in scores)
    sums = [sum(sum(each.present[name]) for each in scores) for name in SITUATIONS]
    shares = " | ".join(f"{count} ({count / total:.0%})" for count in sums)
    lines.append(f"| all | {total} | {shares} | |")
    for by in ("kind", "way"):
        lines += [
            "",
            f"| {by} | facts | new | killed | raw text |",
            "| --- | ---: | ---: | ---: | ---: |",
        ]
        for name, count in recall(scores, by).items():
            cells = " | ".join(str(count.get(s, 0)) for s in SITUATIONS)
            lines.append(f"| {name} | {count['facts']} | {cells} |")
    return "\n".join(lines)


def main() -> int:
    """Measure the conversations whose files are there."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sources", type=Path, required=True, help="folder of NAME.jsonl files")
    parser.add_argument("--budget", type=int, choices=(700, 1500, 2000), default=700)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--show", type=int, default=0, metavar="N", help="show the first N blocks")
    options = parser.parse_args()
    paths = {each.name: options.sources / f"{each.name}.jsonl" for each in sources()}
    there = [each for each in sources() if paths[each.name].is_file()]
    for each in sources():
        if each not in there:
            where = f"{each.repository} {each.ref} {each.path}"
            print(f"not measured: {each.name} is not in the folder ({where})", file=sys.stderr)
    if not there:
        print("none of the sources is there, so nothing was measured", file=sys.stderr)
        return NO_SOURCES
    scores = [
        score(each, paths[each.name], options.budget, number < options.show)
        for number, each in enumerate(there)
    ]
    print(json.dumps([asdict(each) for each in scores]) if options.json else report(scores))
    return 0


if __name__ == "__main__":
    sys.exit(main())
