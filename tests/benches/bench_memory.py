"""How much of a conversation comes back whose agent notes nothing, now and then, or everything.

Generated conversations go through the hooks of Claude Code; then a new conversation begins, and the
facts that stand in its block are counted, by the way in which they came.
"""

from __future__ import annotations

import argparse
import random
import tempfile
from collections import Counter
from pathlib import Path

from gitguard.model.tokens import tokens_of
from tests.benches.memory_conversations import STALE, Fact, Turn, conversation
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
    seed: int, count: int, tokens: int, likely: float, folder: Path
) -> tuple[str, list[Fact]]:
    """Return the block that a new conversation gets, and the facts to look for."""
    turns, facts = conversation(seed, count)
    talk = Conversation(folder)
    (folder / "config").mkdir(exist_ok=True)
    (folder / "config" / "config.yaml").write_text(
        f"resume: {{after_compaction: {tokens}, new_conversation: {tokens}}}\n"
    )
    replay(talk, turns, likely, random.Random(seed))
    talk.clock.pass_by(3600)
    return talk.beside("S2").prompt("What is next?"), facts


def main() -> None:
    """Measure and print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--first", type=int, default=1)
    parser.add_argument(
        "--noting", type=float, action="append", help="Only an agent that notes with this share"
    )
    parser.add_argument("--show", action="store_true", help="Print each block and what it lacks")
    options = parser.parse_args()
    for likely in options.noting or LIKELY:
        for count, tokens in CELLS:
            seeds = range(options.first, options.first + options.seeds)
            _print_cell(count, tokens, likely, seeds, shows=options.show)


def _print_cell(count: int, tokens: int, likely: float, seeds: range, *, shows: bool) -> None:
    have: Counter[str] = Counter()
    there: Counter[str] = Counter()
    used = 0
    for seed in seeds:
        with tempfile.TemporaryDirectory() as folder:
            block, facts = block_after(seed, count, tokens, likely, Path(folder))
        used += tokens_of(block)
        for fact in facts:
            for name in (fact.way, f"  {fact.kind}"):
                there[name] += 1
                have[name] += fact.is_in(block)
        if shows:
            print(block)
            print("lacks:", [f for f in facts if f.way != STALE and not f.is_in(block)])
            print("stale:", [f for f in facts if f.way == STALE and f.is_in(block)])
    print(
        f"{count} facts, {tokens} tokens ({used // len(seeds)} used), an agent that notes "
        f"{likely:.0%} of what it could"
    )
    for name in sorted(there, key=str.strip):
        print(f"  {name:14} {have[name]:4} of {there[name]:4}  {have[name] / there[name]:.0%}")


if __name__ == "__main__":
    main()
