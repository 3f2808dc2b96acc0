"""How much of what an agent knew is in the resume block (`make bench-fidelity`).

Scripted conversations run through the real hosts, sealed. Facts are planted as an agent would do
it; counted are those that stand whole between the block's fences in the first request after a
compaction, in a new conversation, and after kill -9. Each has a control run without gitguard.
"""

from __future__ import annotations

import argparse
import itertools
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from html import unescape
from pathlib import Path
from typing import NamedTuple

from gitguard.model.tokens import tokens_of
from tests.benches.fidelity_facts import (
    ALWAYS,
    LENGTH,
    NATURAL,
    SAID,
    SUMMARY_MARK,
    Fact,
    Kind,
    Turn,
    Unit,
    facts_for,
    lay_out,
    renewed,
    renewing,
    turns_of,
)
from tests.benches.fidelity_hosts import HOSTS, Host, Scene, Talk, final_step, first_request
from tests.e2e.scripted_model import Kind as RequestKind
from tests.e2e.scripted_model import Request, ScriptedModel, Step
from tests.support.measuring import markdown

COUNTS = (10, 30, 100, 200)
BUDGETS = (700, 1_500)
FLOORS = ((30, 700), (60, 1_500))
"""Facts and tokens at which every note and word of the user must be in every block."""


class Cell(NamedTuple):
    """Facts, tokens allowed, and whether the notes are as long as agents write them."""

    size: int
    allowed: int | None
    """None for the control run without gitguard."""
    is_natural: bool = False

    @property
    def facts(self) -> str:
        return f"{self.size}{' natural' if self.is_natural else ''} facts"

    @property
    def control(self) -> Cell:
        return self._replace(allowed=None)


CELLS = (
    *sorted(Cell(*cell) for cell in {*itertools.product(COUNTS, BUDGETS), *FLOORS}),
    *(Cell(*floor, is_natural=True) for floor in FLOORS),
)
SITUATIONS = ("a compaction", "a normal end", "kill -9")
PAGE = Path(__file__).parents[2] / "references" / "design" / "fidelity.md"
_BLOCK = re.compile(r"<gitguard-resume [^>]*>.*?</gitguard-resume>", re.DOTALL)


@dataclass(frozen=True)
class Seen:
    """One situation of one run: what there was to find, the request, and the block in it."""

    facts: tuple[Fact, ...]
    request: str
    block: str

    def found(self, *, anywhere: bool) -> list[Fact]:
        """The facts in the whole request, or those in the block."""
        text = self.request if anywhere else self.block
        return [fact for fact in self.facts if fact.is_in(text)]

    @property
    def missing(self) -> list[Fact]:
        return [fact for fact in self.facts if not fact.is_in(self.block)]


@dataclass(frozen=True)
class Outcome:
    """One run: its situations in the order of `SITUATIONS`, and gitguard's own faults."""

    seen: tuple[Seen, ...]
    faults: tuple[str, ...]

    @property
    def block_tokens(self) -> int:
        return max(tokens_of(seen.block) for seen in self.seen)


@dataclass(frozen=True)
class Row:
    """One line of the table."""

    host: Host
    cell: Cell
    ours: Outcome
    control: Outcome

    @property
    def growth(self) -> int:
        """The most tokens by which a request is longer than that of the control run."""
        pairs = zip(self.ours.seen, self.control.seen, strict=True)
        return max(tokens_of(ours.request) - tokens_of(other.request) for ours, other in pairs)

    @property
    def has_floor(self) -> bool:
        cell = self.cell
        return any(cell.size <= n and (cell.allowed or 0) >= tokens for n, tokens in FLOORS)

    def is_wanted(self, fact: Fact) -> bool:
        """Whether a fact has to be in every block; what the work tells may give way."""
        if not self.has_floor:
            return fact.kind in ALWAYS
        return not fact.by_work or fact.kind in SAID

    def problems(self) -> Iterator[str]:
        """Say what is wrong with it, beyond facts for which there was no room."""
        yield from (f"a fault of gitguard: {fault}" for fault in self.ours.faults)
        for situation, seen in zip(SITUATIONS, self.ours.seen, strict=True):
            if not seen.block:
                yield f"after {situation}: no block in the request"
                continue
            if tokens_of(seen.block) > (self.cell.allowed or 0):
                yield f"after {situation}: the block takes {tokens_of(seen.block)} tokens"
            missing = filter(self.is_wanted, seen.missing)
            yield from (f"after {situation}: missing `{fact.text}`" for fact in missing)
            yield from (f"after {situation}: {said}" for said in passed_over(seen))


def passed_over(seen: Seen) -> Iterator[str]:
    """Name the facts that are missing though a less wanted one of their list is there.

    Of lists the newest is wanted most, of a plan the next step.
    """
    lists: dict[str, list[Fact]] = {}
    for fact in seen.facts:
        lists.setdefault(fact.list_name, []).append(fact)
    for name, facts in lists.items():
        wanted = facts if facts[0].kind is Kind.PLAN else facts[::-1]
        shown = [fact.is_in(seen.block) for fact in wanted]
        if shown != sorted(shown, reverse=True):
            first = wanted[shown.index(False)]
            yield f"`{first.text}` is missing before older ones of {name}"


# One conversation


def converse(host: Host, cell: Cell) -> Outcome:
    """Have the conversations of one cell."""
    units = facts_for(cell.size, has_plan=host.has_plan, is_natural=cell.is_natural)
    place = tempfile.TemporaryDirectory(prefix="gitguard-fidelity-", ignore_cleanup_errors=True)
    with place as name, ScriptedModel() as model:
        folder = Path(name)
        scene = Scene(folder, folder / "repo", model, cell.allowed)
        lay_out(scene.root, units)
        with host.open(scene) as talk:
            return _have(host, scene, talk, units)


def _have(host: Host, scene: Scene, talk: Talk, units: Sequence[Unit]) -> Outcome:
    model, calm = scene.model, host.usage[0][0]
    done = Step("Done.", input_tokens=calm)
    for turn in turns_of(units, talk.tools, host.usage):
        talk.say(turn)
    talk.compact()
    compacted = first_request(talk, model, Turn("Go on with the tables", (done,)))
    assert SUMMARY_MARK in compacted.text, "the conversation does not go on from a summary"

    talk.begin_anew()
    newer = renewed(1)
    steps = (renewing(newer, talk.tools, calm), done)
    anew = first_request(talk, model, Turn("Where were we with the parser?", steps))

    newest = renewed(2)
    steps = (renewing(newest, talk.tools, calm), final_step(scene.root, talk.tools, calm))
    talk.die_in(Turn("Run the slow checks, then go on", steps))
    talk.begin_anew()
    killed = first_request(talk, model, Turn("And where are we now with it?", (done,)))

    requests = zip((compacted, anew, killed), ((), (), newest), strict=True)
    seen = tuple(_look(request, units, newer) for request, newer in requests)
    return Outcome(seen, (*talk.faults(), *_never_known(talk.state(), seen[-1].facts)))


def _never_known(state: str, facts: Sequence[Fact]) -> Iterator[str]:
    """Name facts that are not even in the state, so that they are not taken for cut ones."""
    unknown = [fact for fact in facts if fact.text not in state] if state else []
    return (f"`{fact.text}` never reached the state" for fact in unknown)


def _look(request: Request, units: Sequence[Unit], newer: Unit) -> Seen:
    assert request.kind is RequestKind.MAIN
    replaced = {fact.kind for fact in newer}
    stay = [fact for unit in units for fact in unit if fact.kind not in replaced]
    text = unescape(request.text)  # some hosts quote what hooks say
    blocks = _BLOCK.findall(text)
    assert len(blocks) <= 1, f"{len(blocks)} blocks in one request"
    return Seen((*newer, *stay), text, blocks[0] if blocks else "")


# All of them


def measure(hosts: Sequence[Host], cells: Sequence[Cell], jobs: int) -> list[Row]:
    """Run every cell, and one control run for each number of facts."""
    for host in hosts:
        host.install()
    runs: list[tuple[Host, Cell]] = []
    for host in hosts:
        runs += [(host, cell) for cell in dict.fromkeys(cell.control for cell in cells)]
        runs += [(host, cell) for cell in cells]
    with ThreadPoolExecutor(jobs) as pool:
        outcomes = dict(zip(runs, pool.map(lambda run: _run(*run), runs), strict=True))
    return [
        Row(host, cell, outcomes[host, cell], outcomes[host, cell.control])
        for host in hosts
        for cell in cells
    ]


def _run(host: Host, cell: Cell) -> Outcome:
    allowed = "without gitguard" if cell.allowed is None else f"{cell.allowed:,} tokens"
    name = f"{host.name}, {cell.facts}, {allowed}"
    started = time.monotonic()
    try:
        outcome = converse(host, cell)
    except (AssertionError, subprocess.SubprocessError) as failure:
        # Of many conversations with real programs one may fail; twice is no accident.
        print(f"{name}: once more after: {str(failure)[:500]}", file=sys.stderr, flush=True)
        outcome = converse(host, cell)
    found = [len(seen.found(anywhere=cell.allowed is None)) for seen in outcome.seen]
    seconds = time.monotonic() - started
    print(f"{name}: {found}, {seconds:.0f} s", file=sys.stderr, flush=True)
    return outcome


# What is shown


def table(rows: Sequence[Row]) -> str:
    """Return the table in Markdown."""
    heads = ["host", "facts", "tokens allowed", "block tokens", "request grew by, tokens"]
    heads += [f"in the block after {situation}" for situation in SITUATIONS]
    heads += ["control"]
    below = ["---"] + ["---:"] * (len(heads) - 1)
    return markdown([heads, below, *map(_cells, rows)])


def _cells(row: Row) -> list[str]:
    control = " / ".join(str(len(seen.found(anywhere=True))) for seen in row.control.seen)
    return [
        row.host.name,
        row.cell.facts.removesuffix(" facts"),
        f"{row.cell.allowed:,}",
        f"{row.ours.block_tokens:,}",
        f"{row.growth:,}",
        *(f"{len(seen.found(anywhere=False))}" for seen in row.ours.seen),
        control,
    ]


_REAL = "\n## Real conversations\n"
"""Begins the part of the page that another bench measures."""
_PAGE = """# Resume fidelity

How much of what an agent knew is in the resume block. `make bench-fidelity` measures it;
`python -m tests.benches.bench_fidelity --markdown` also writes this page. Last run: {date}.

{table}

- **Conversations** are scripted and run through the real {hosts}, sealed. In three turns the agent
  notes facts with `gitguard note`, writes files whose paths are facts, fails checks, and fills the
  host's plan if there is one. Other files, failures, tools and long answers compete with them.
- **A fact** has {length} characters: goal, phase, next action, decision, its reason, constraint,
  invariant, failure, its error, blocker, open issue, plan item, file. It counts if it stands whole
  between the block's fences; of a path, its name.
- **Natural facts** are as long as agents write notes, {natural[0]} to {natural[1]} characters. Of
  30, 16 are noted, also done steps, assumptions and numbers; the user says a limit and a
  correction.
- **Situations**, one after the other: the host's own compaction; a new conversation after one that
  ended normally; kill -9 while a tool runs, in a turn that noted a new phase and next action. Then
  Claude Code begins a new conversation, and OpenClaw continues the same one. The first request of
  the main conversation counts.
- **Control** is the same script with a `gitguard` that does nothing, with facts counted anywhere in
  the request. Its summary is a fixed text that quotes no fact, so its numbers do not show how well
  a model summarizes.
- **Tokens** are quarters of ASCII characters (`model/tokens.py`). Block and growth are the largest
  of the three.
- **Floors**: {floors}, in all three situations. Beyond them, goal, phase and next action must be
  whole, and each list keeps its newest facts, noted ones and captured ones counted apart; a plan
  keeps its next steps. {verdict}
"""


def page(rows: Sequence[Row]) -> str:
    """Return `references/design/fidelity.md`."""
    hosts = {row.host.name: f"{row.host.name} {row.host.version}" for row in rows}
    missed = [_name(row) for row in rows if any(row.problems())]
    return _PAGE.format(
        date=time.strftime("%Y-%m-%d", time.gmtime()),
        table=table(rows),
        hosts=" and ".join(hosts.values()),
        length=LENGTH,
        natural=NATURAL,
        floors=" and ".join(f"all notes of {n} facts at {tokens:,} tokens" for n, tokens in FLOORS),
        verdict=f"Missed in this run: {'; '.join(missed)}." if missed else "This run met them.",
    )


def main() -> None:
    """Print the table; the exit code says whether the floors are met and the right ones win."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--facts", type=int, help="only cells with so many facts")
    parser.add_argument("--tokens", type=int, help="only cells with so many tokens allowed")
    parser.add_argument("--host", choices=[host.name for host in HOSTS], help="only this host")
    parser.add_argument("--jobs", type=int, default=2, help="conversations side by side")
    parser.add_argument("--markdown", action="store_true", help=f"write {PAGE.name} as well")
    options = parser.parse_args()
    if options.markdown and (options.facts or options.tokens or options.host):
        parser.error("the page shows every cell")
    hosts = [host for host in HOSTS if options.host in (None, host.name)]
    rows = measure(hosts, _chosen(options.facts, options.tokens), options.jobs)
    print(table(rows))
    if options.markdown:
        _, mark, real = PAGE.read_text(encoding="utf-8").partition(_REAL)
        PAGE.write_text(page(rows) + mark + real, encoding="utf-8")
    problems = [f"{_name(row)}: {problem}" for row in rows for problem in row.problems()]
    print("\n".join(problems) if problems else _praise(rows))
    sys.exit(1 if problems else 0)


def _chosen(facts: int | None, allowed: int | None) -> list[Cell]:
    cells = [c for c in CELLS if facts in (None, c.size) and allowed in (None, c.allowed)]
    if cells or facts is None:
        return cells
    return [Cell(facts, most) for most in ((allowed,) if allowed else BUDGETS)]


def _name(row: Row) -> str:
    return f"{row.host.name}, {row.cell.facts}, {row.cell.allowed:,} tokens"


def _praise(rows: Sequence[Row]) -> str:
    floors = sum(row.has_floor for row in rows)
    return (
        f"Floors met ({floors} of {len(rows)} cells have one). Goal, phase and next action are "
        "whole in every block; of every list the newest are kept, of plans the next steps."
    )


if __name__ == "__main__":
    main()
