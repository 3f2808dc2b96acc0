"""How well secrets are redacted, and how fast (`make bench-redaction`).

Measured against `tests/support/secret_corpus.py`, which was written without the rules, and they
without it. The held-out part is the honest figure; the development part is there to look into
while working on the rules. A secret counts as found only if nothing of it is left in the document.
"""

from __future__ import annotations

import argparse
import os
import sys
import sysconfig
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from random import Random
from typing import NamedTuple

from gitguard.model.redaction.redactor import Redactor
from gitguard.model.redaction.rules import OPENING
from gitguard.model.redaction.second_engine import SecondEngine
from tests.benches.bench_workspace import full_state
from tests.support.measuring import markdown, median
from tests.support.secret_corpus import (
    Document,
    Sample,
    Shape,
    development,
    held_out,
    is_left,
    samples,
    texts_of,
)
from tests.support.secret_kinds import KINDS
from tests.support.secret_lookalikes import lookalikes
from tests.support.secret_shapes import SHAPES
from tests.support.secret_surroundings import GLUED, SURROUNDINGS, recall_in, recall_of
from tests.support.secret_surroundings import LEAST_RECALL as LEAST_CELL

SEEDS = range(1, 11)
LEAST_RECALL, MOST_FALSE, LEAST_SPEED = 0.85, 0.01, 5.0
"""What is promised: of the held-out part, of the look-alikes, and in MB/s."""
_RUNS = 7
HOSTS = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "gitguard" / "hosts"
"""Where the e2e tests keep pinned hosts."""
_LEAF, _DOCUMENT = 2_000, 1_000_000
_TRIGGERS = (
    *("token", "secret", "password", "api_key", "key", "=", ":", '"', "Bearer", "Authorization:"),
    *("ghp_", "sk-", "AKIA", "eyJ", "xoxb-", "https://", "@", "-----BEGIN", "PRIVATE", "KEY-----"),
    *("client_secret=", "passwd", "AccountKey=", "--token", "postgres://", "auth", "credentials"),
)


_second: list[SecondEngine] = []
"""The second engine, where it is to be measured with the rules."""


def redactor() -> Redactor:
    return Redactor(engine=_second[0] if _second else None)


@dataclass
class Recall:
    """How many samples of some shapes were redacted wholly, and which were not."""

    name: str
    shapes: Sequence[Shape]
    found: list[Sample] = field(default_factory=list)
    missed: list[Sample] = field(default_factory=list)

    @property
    def total(self) -> int:
        return len(self.found) + len(self.missed)

    @property
    def share(self) -> float:
        return len(self.found) / self.total

    @property
    def providers(self) -> int:
        return len({shape.provider for shape in self.shapes})

    def part(self, name: str, has_prefix: bool) -> Recall:
        """Return the same of the secrets with a prefix only, or without one only."""
        return Recall(
            name,
            [shape for shape in self.shapes if shape.has_prefix is has_prefix],
            [sample for sample in self.found if sample.shape.has_prefix is has_prefix],
            [sample for sample in self.missed if sample.shape.has_prefix is has_prefix],
        )


@dataclass
class FalsePositives:
    """How many look-alikes were changed, by kind, and the first that was."""

    total: Counter[str] = field(default_factory=Counter)
    changed: Counter[str] = field(default_factory=Counter)
    examples: dict[str, Document] = field(default_factory=dict)

    @property
    def share(self) -> float:
        return self.changed.total() / self.total.total()


def measure_recall(name: str, shapes: Sequence[Shape], seeds: Iterable[int]) -> Recall:
    """Redact every sample and see what is left of its secret."""
    own, recall = redactor(), Recall(name, shapes)
    for seed in seeds:
        for sample in samples(shapes, seed):
            redacted = own.document(sample.document)[0]
            missed = is_left(sample.secret, redacted)
            (recall.missed if missed else recall.found).append(sample)
    return recall


def measure_false_positives(seeds: Iterable[int]) -> FalsePositives:
    """Redact every look-alike; each that changes is one too many."""
    own, result = redactor(), FalsePositives()
    for seed in seeds:
        for sample in lookalikes(seed):
            result.total[sample.kind] += 1
            redacted = own.document(sample.document)[0]
            if redacted != sample.document:
                result.changed[sample.kind] += 1
                result.examples.setdefault(sample.kind, redacted)
    return result


def recalls(seeds: Iterable[int]) -> tuple[Recall, ...]:
    """Measure both parts, and of the held-out one the secrets with and without a prefix."""
    held = measure_recall("held out", held_out(SHAPES), seeds)
    return (
        held,
        held.part("of these, known by a prefix", has_prefix=True),
        held.part("of these, known by their context", has_prefix=False),
        measure_recall("development", development(SHAPES), seeds),
    )


# Speed


def ordinary_texts() -> Iterator[str]:
    """Return code and prose that nobody wrote for this: Python's own library, in leaves."""
    for path in sorted(Path(sysconfig.get_path("stdlib")).glob("*.py")):
        text = path.read_text(encoding="utf-8", errors="replace")
        yield from (text[at : at + _LEAF] for at in range(0, len(text), _LEAF))


def trigger_texts() -> Iterator[str]:
    """Return texts of nothing but what makes rules look twice, without end."""
    random = Random(1)
    while True:
        words = random.choices(_TRIGGERS, k=_LEAF // 6)
        yield "".join(word + random.choice((" ", "\n", "")) for word in words)


def sized(texts: Iterable[str], size: int) -> list[str]:
    leaves: list[str] = []
    for text in texts:
        if size <= 0:
            break
        leaves.append(text)
        size -= len(text)
    return leaves


def seconds(work: Callable[[], object]) -> float:
    """Return the time of the processor: there is nothing to wait for but other programs."""
    return median(work, _RUNS, time.process_time)


def speeds() -> dict[str, tuple[float, str]]:
    """Return what was measured, with its unit; ordinary text is held to the promise.

    Every run has a redactor of its own, because one that saw a text before remembers it.
    """
    ordinary = sized(ordinary_texts(), _DOCUMENT)
    documents: dict[str, Document] = {
        "ordinary text, leaves of 2 KB": {"learnings": ordinary},
        "full of trigger words, leaves of 2 KB": {"learnings": sized(trigger_texts(), _DOCUMENT)},
        "ordinary text, one leaf of 1 MB": {"summary": "".join(ordinary)},
    }
    table: dict[str, tuple[float, str]] = {}
    for name, document in documents.items():
        taken = seconds(lambda document=document: redactor().document(document))  # type: ignore[misc]
        table[name] = size_of(document) / taken / 1e6, "MB/s"
    state = full_state(40).to_document()
    name = f"a state of {size_of(state) / 1000:.0f} KB"
    table[name] = seconds(lambda: redactor().document(state)) * 1e3, "ms"
    line = "Run the slow tests on src/parser.py and fix what they find"
    lines = [f"{line} {number}" for number in range(1000)]
    table["a line of 60 characters"] = seconds(lambda: redactor().document(lines)) * 1e3, "µs"
    table["making the redactor"] = seconds(redactor) * 1e3, "ms"
    return table


def size_of(document: Document) -> int:
    return sum(len(text.encode()) for text in texts_of(document))


# Ordinary text


class Tree(NamedTuple):
    """A source tree that everybody has or can get, and how much may be found in it."""

    name: str
    source: str
    folder: Path
    endings: tuple[str, ...]
    without: tuple[str, ...]
    most: float
    """Findings in a MB."""

    def files(self) -> list[Path]:
        """Return the files of the tree, of the same ones only the first."""
        listed: dict[bytes, Path] = {}
        for path in sorted(self.folder.rglob("*")):
            inner = path.relative_to(self.folder).parts
            if path.suffix in self.endings and path.is_file() and not {*inner} & {*self.without}:
                listed.setdefault(sha256(path.read_bytes()).digest(), path)
        return list(listed.values())


_STDLIB = Path(sysconfig.get_path("stdlib"))
TREES = (
    Tree("Python", "standard library", _STDLIB, (".py",), ("site-packages", "test", "tests"), 0.5),
    Tree("Python, with tests", "standard library", _STDLIB, (".py",), ("site-packages",), 0.5),
    Tree("Markdown", "openclaw 2026.3.13", HOSTS / "openclaw-2026.3.13", (".md",), (), 1.0),
    Tree("JavaScript", "pi 0.73.1", HOSTS / "pi-0.73.1", (".js", ".cjs", ".mjs"), (), 0.5),
)
"""The two npm packages are with all they depend on, as the e2e tests fetch them."""


def findings_in(paths: Iterable[Path]) -> tuple[int, int, int]:
    """Return how many secrets are found in files, in how many of them, and their size in bytes."""
    findings = files = size = 0
    searching = redactor()
    for path in paths:
        data = path.read_bytes()
        size += len(data)
        text = data.decode("utf-8", "replace")
        count = searching.text(text).count(OPENING) - text.count(OPENING)
        findings += count
        files += count > 0
    return findings, files, size


def measure_trees() -> dict[Tree, tuple[int, int, int]]:
    """Return the findings in each tree that is on this machine."""
    return {tree: findings_in(tree.files()) for tree in TREES if tree.folder.is_dir()}


# What is shown


def rows_of(
    parts: Sequence[Recall], false: FalsePositives, fast: dict[str, tuple[float, str]]
) -> Iterator[tuple[str, str, str]]:
    """Return the lines of the table: what, the figure, and what it is over."""
    for part in parts:
        over = f"{len(part.shapes)} shapes of {part.providers} providers, {part.total:,} samples"
        yield f"recall, {part.name}", f"{part.share:.1%}", over
    over = f"{len(false.total)} kinds, {false.total.total():,} samples"
    yield "look-alikes changed", f"{false.share:.2%}", over
    for name, (figure, unit) in fast.items():
        yield name, f"{figure:.2f} {unit}", f"median of {_RUNS}"


def table(rows: Iterable[tuple[str, str, str]]) -> str:
    """Return the table in Markdown."""
    return markdown([("what", "measured", "over"), ("---", "---:", "---"), *rows])


def trees_table(measured: Mapping[Tree, tuple[int, int, int]]) -> str:
    """Return the findings in ordinary text in Markdown."""
    rows = [
        (tree.name, tree.source, f"{findings / size * 1e6:.2f} per MB", f"{size / 1e6:.1f} MB")
        for tree, (findings, _files, size) in measured.items()
    ]
    return markdown([("findings in", "of", "measured", "over"), ("---",) * 4, *rows])


def kinds_table(measured: Mapping[str, tuple[float, float, str]]) -> str:
    """Return the recall by kind in Markdown."""
    rows = [
        (name, f"{plain:.0%}", f"{least:.0%}, {surrounding}")
        for name, (plain, least, surrounding) in measured.items()
    ]
    heads = ("kind", "recall", "least in a surrounding within reach")
    return markdown([heads, ("---", "---:", "---"), *rows])


def measure_kinds(seeds: Sequence[int]) -> dict[str, tuple[float, float, str]]:
    """Return the recall of each kind, and where within reach it is least."""
    measured: dict[str, tuple[float, float, str]] = {}
    for kind in KINDS:
        shares = {
            surrounding.name: recall_of(kind, surrounding, seeds)[0]
            for surrounding in SURROUNDINGS
            if surrounding.name not in kind.out_of_reach
        }
        least = min(shares, key=lambda name: shares[name])
        measured[kind.name] = shares[SURROUNDINGS[0].name], shares[least], least
    return measured


def surroundings_table(cells: Mapping[str, tuple[float, int]]) -> str:
    """Return the recall by surrounding in Markdown."""
    rows = [(name, f"{share:.1%}", f"{count:,} samples") for name, (share, count) in cells.items()]
    return markdown([("how it is written", "recall", "over"), ("---", "---:", "---"), *rows])


def missing_cells(cells: Mapping[str, tuple[float, int]]) -> Iterator[str]:
    """Say in which surroundings too few secrets are found."""
    for name, (share, _count) in cells.items():
        if share < LEAST_CELL:
            yield f"{name}: recall is {share:.1%}, promised are {LEAST_CELL:.0%}"


def many_findings(measured: Mapping[Tree, tuple[int, int, int]]) -> Iterator[str]:
    """Say in which trees too much is found, and which are not on this machine."""
    for tree, (findings, files, size) in measured.items():
        share = findings / size * 1e6
        if share > tree.most:
            over = f"{share:.2f} findings in a MB, in {files} files"
            yield f"{tree.name}: {over}, promised are {tree.most}"
    for tree in TREES:
        if tree not in measured:
            yield f"{tree.name}: not measured, {tree.source} is not in {tree.folder}"


def details(parts: Sequence[Recall], false: FalsePositives) -> Iterator[str]:
    """Name the providers and forms that were missed, and the kinds that were changed."""
    for part in (parts[0], parts[-1]):
        yield f"\n{part.name}: missed, by provider"
        missed = Counter(sample.shape.provider for sample in part.missed)
        for provider, count in missed.most_common():
            mine = [sample for sample in part.missed if sample.shape.provider == provider]
            forms = Counter(sample.form for sample in mine)
            shown = ", ".join(f"{form} {n}" for form, n in forms.most_common(6))
            yield f"  {provider:24} {count:4}  {shown}"
        yield f"\n{part.name}: missed, by form"
        forms = Counter(sample.form for sample in part.missed)
        yield from (f"  {form:28} {count:4}" for form, count in forms.most_common())
    yield "\nlook-alikes changed, by kind"
    for kind, count in false.changed.most_common():
        yield f"  {kind:28} {count} of {false.total[kind]}: {str(false.examples[kind])[:120]}"


def problems(
    parts: Sequence[Recall], false: FalsePositives, fast: dict[str, tuple[float, str]]
) -> Iterator[str]:
    """Say which promises do not hold."""
    if parts[0].share < LEAST_RECALL:
        yield f"held-out recall is {parts[0].share:.1%}, promised are {LEAST_RECALL:.0%}"
    if false.share > MOST_FALSE:
        yield f"{false.share:.2%} of the look-alikes changed, promised are {MOST_FALSE:.0%}"
    for name, (figure, unit) in fast.items():
        if name.startswith("ordinary") and unit == "MB/s" and figure < LEAST_SPEED:
            yield f"{name}: {figure:.2f} MB/s, promised are {LEAST_SPEED:.0f}"


def main() -> None:
    """Print the table; the exit code says whether the promises hold."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--markdown", action="store_true", help="only the table, for the page")
    parser.add_argument("--seeds", type=int, default=len(SEEDS), help="how many of the seeds")
    parser.add_argument("--engine", action="store_true", help="with the second engine")
    options = parser.parse_args()
    if options.engine:
        _second.append(SecondEngine())
    parts = recalls(SEEDS[: options.seeds])
    false, fast = measure_false_positives(SEEDS[: options.seeds]), speeds()
    print(table(rows_of(parts, false, fast)))
    cells = {
        surrounding.name: recall_in(surrounding, SEEDS[: options.seeds])
        for surrounding in (*SURROUNDINGS, *GLUED)
    }
    print(f"\n{surroundings_table(cells)}")
    kinds, trees = measure_kinds(SEEDS[: options.seeds]), measure_trees()
    print(f"\n{kinds_table(kinds)}\n\n{trees_table(trees)}")
    if not options.markdown:
        print("\n".join(details(parts, false)))
    cells |= {f"{name}, {where}": (least, 0) for name, (_p, least, where) in kinds.items()}
    wrong = [*problems(parts, false, fast), *missing_cells(cells), *many_findings(trees)]
    print("\n".join(wrong), file=sys.stderr)
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
