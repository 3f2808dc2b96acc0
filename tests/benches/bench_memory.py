"""How much of a conversation comes back whose agent notes nothing, now and then, or everything.

Generated conversations go through the hooks of Claude Code; then a new conversation begins, and the
facts that stand in its block are counted, by the way in which they came.
"""

from __future__ import annotations

import argparse
import random
import tempfile
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from gitguard.model.tokens import tokens_of
from tests.benches.memory_conversations import (
    AGENT,
    HOOK,
    STALE,
    USER,
    Fact,
    Turn,
    conversation,
    unfolded,
)
from tests.benches.memory_wordings import LANGUAGES
from tests.support.conversation import Conversation

CELLS = ((30, 700), (60, 1_500))
LIKELY = (0, 0.3, 1)
"""How likely the agent notes a thing when it could."""
_MINUTE = 60.0


def replay(talk: Conversation, turns: list[Turn], likely: float, chance: random.Random) -> None:
    """Let a conversation happen in which the agent notes each thing with a probability."""
    for turn in turns:
        talk.clock.pass_by(_MINUTE)
        talk.prompt(turn.prompt)
        for number, use in enumerate(turn.tools):
            name = f"toolu_{talk.clock():.0f}_{number}"
            if use.tool == "Write":
                tool_input = {"file_path": str(talk.root / use.value), "content": "x"}
            else:
                tool_input = {"command": use.value}
            event = "PostToolUseFailure" if use.error else f"PostToolUse.{use.tool}"
            talk.send(
                event,
                tool_name=use.tool,
                tool_use_id=name,
                tool_input=tool_input,
                **(
                    {"error": use.error}
                    if use.error
                    else {"tool_response": {"stdout": use.output, "stderr": ""}}
                ),
            )
        if turn.todos:
            todos = [{"content": text, "status": status} for text, status in turn.todos]
            talk.send("PostToolUse.Bash", tool_name="TodoWrite", tool_input={"todos": todos})
        for name, text in turn.notes:
            if chance.random() < likely:
                item = {"what": text, "why": "it was agreed"} if name == "decisions" else text
                talk.guard.note({name: [item]}, host_session=talk.session)
        talk.send("Stop", last_assistant_message=turn.answer)


def block_after(
    seed: int, count: int, tokens: int, likely: float, folder: Path, language: str = "english"
) -> tuple[str, list[Fact]]:
    """Return the block that a new conversation gets, and the facts to look for."""
    turns, facts = conversation(seed, count, language)
    talk = Conversation(folder)
    (folder / "config").mkdir(exist_ok=True)
    (folder / "config" / "config.yaml").write_text(
        f"resume: {{after_compaction: {tokens}, new_conversation: {tokens}}}\n"
    )
    replay(talk, turns, likely, random.Random(seed))
    talk.clock.pass_by(3600)
    return talk.beside("S2").prompt("What is next?"), facts


@dataclass(frozen=True)
class Cell:
    """One kind of conversation: its language, its facts, its room, and how much is noted."""

    language: str
    count: int
    tokens: int
    likely: float


@dataclass
class Counted:
    """How many facts the blocks of some seeds have, and how many there are, by way and by kind."""

    have: Counter[str]
    there: Counter[str]
    used: int = 0
    """Tokens of all blocks."""

    def share(self, *ways: str) -> float:
        """Return the share of the facts that came in some ways which the blocks have."""
        return sum(self.have[way] for way in ways) / sum(self.there[way] for way in ways)


def measure(cell: Cell, seeds: Iterable[int], *, shows: bool = False) -> Counted:
    """Count the facts of some conversations."""
    counted = Counted(Counter(), Counter())
    for seed in seeds:
        with tempfile.TemporaryDirectory() as folder:
            block, facts = block_after(
                seed, cell.count, cell.tokens, cell.likely, Path(folder), cell.language
            )
        counted.used += tokens_of(block)
        text = unfolded(block)
        for fact in facts:
            for name in (fact.way, f"  {fact.kind}"):
                counted.there[name] += 1
                counted.have[name] += fact.is_in(text)
        if shows:
            print(block)
            print("lacks:", [f for f in facts if f.way != STALE and not f.is_in(text)])
            print("stale:", [f for f in facts if f.way == STALE and f.is_in(text)])
    return counted


def same_content(language: str, seeds: Iterable[int], count: int) -> float:
    """Return how many times the tokens of English the conversations of a language take."""
    own = english = 0
    for seed in seeds:
        own += _spoken_tokens(conversation(seed, count, language)[0])
        english += _spoken_tokens(conversation(seed, count)[0])
    return own / english


def _spoken_tokens(turns: list[Turn]) -> int:
    return sum(tokens_of(turn.prompt) + tokens_of(turn.answer) for turn in turns)


def main() -> None:
    """Measure and print a table of each language, and then one by language."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--first", type=int, default=1)
    parser.add_argument(
        "--noting", type=float, action="append", help="Only an agent that notes with this share"
    )
    parser.add_argument(
        "--language", action="append", choices=[*LANGUAGES, "all"], help="English by default"
    )
    parser.add_argument(
        "--same-content",
        action="store_true",
        help="Allow each language as many times the tokens of English as its conversations take",
    )
    parser.add_argument("--show", action="store_true", help="Print each block and what it lacks")
    options = parser.parse_args()
    languages = options.language or ["english"]
    if "all" in languages:
        languages = list(LANGUAGES)
    seeds = range(options.first, options.first + options.seeds)
    rows = []
    for likely in LIKELY if options.noting is None else options.noting:
        for count, tokens in CELLS:
            for language in languages:
                times = same_content(language, seeds, count) if options.same_content else 1
                cell = Cell(language, count, round(tokens * times), likely)
                counted = measure(cell, seeds, shows=options.show)
                rows.append((cell, counted))
                if len(languages) == 1:
                    _print_kinds(cell, counted, len(seeds))
    if len(languages) > 1:
        _print_languages(rows)


def _print_kinds(cell: Cell, counted: Counted, seeds: int) -> None:
    print(
        f"{cell.count} facts, {cell.tokens} tokens ({counted.used // seeds} used), an agent that "
        f"notes {cell.likely:.0%} of what it could"
    )
    for name in sorted(counted.there, key=str.strip):
        have, there = counted.have[name], counted.there[name]
        print(f"  {name:14} {have:4} of {there:4}  {have / there:.0%}")


def _print_languages(rows: list[tuple[Cell, Counted]]) -> None:
    print("| noted | facts, tokens | language | user | hooks | answers | all | stale |")
    print("| ---: | --- | --- | ---: | ---: | ---: | ---: | ---: |")
    for cell, counted in rows:
        shares = [f"{counted.share(way):.0%}" for way in (USER, HOOK, AGENT)]
        shares.append(f"{counted.share(USER, HOOK, AGENT):.0%}")
        stale = f"{counted.have[STALE]} of {counted.there[STALE]}"
        print(
            f"| {cell.likely:.0%} | {cell.count}, {cell.tokens:,} | {cell.language} | "
            f"{' | '.join(shares)} | {stale} |"
        )


if __name__ == "__main__":
    main()
