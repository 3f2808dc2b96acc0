"""Generated conversations of agents that never note, and the facts a successor must know.

Kinds, wording and distractors are drawn with a seed. A fact counts as found where its needle stands
in the block; a needle that must not come back is of something that was replaced or mended.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field

USER, HOOK, AGENT = "user", "hook", "agent"
STALE = "stale"


@dataclass(frozen=True)
class Fact:
    """Something that was said or seen once."""

    kind: str
    way: str
    """user, hook or agent; stale for what must not come back."""
    needle: str
    newer: str = ""
    """Of what was replaced: what took its place."""

    def is_in(self, block: str) -> bool:
        """Say whether a block has it; of what was replaced, whether it stands there as if it held.

        It may stand behind what took its place, because nothing but understanding tells a word that
        replaces another one from one that holds beside it.
        """
        before, _, _ = block.partition(self.newer) if self.newer else (block, "", "")
        return self.needle in before


@dataclass(frozen=True)
class ToolUse:
    """One tool call as the host reports it."""

    tool: str
    value: str
    """The command, or the path."""
    output: str = ""
    error: str = ""


@dataclass
class Turn:
    """What one turn of the conversation holds."""

    prompt: str
    tools: list[ToolUse] = field(default_factory=list)
    answer: str = "Done."
    todos: list[tuple[str, str]] = field(default_factory=list)
    notes: list[tuple[str, str]] = field(default_factory=list)
    """What an agent would note of the turn if it does: the list of the state, and the sentence."""


_AREAS = (
    "invoice parser", "login page", "export job", "search index", "billing worker", "map view",
    "mail digest", "image cache", "import wizard", "audit trail", "rate limiter", "chat widget",
    "tax report", "device sync", "feature flags", "session store", "upload queue", "price table",
)  # fmt: skip
_NOUNS = (
    "ledger", "tenant", "cursor", "voucher", "schema", "header", "bucket", "thumbnail", "webhook",
    "locale", "checksum", "timezone", "payload", "tokenizer", "retention", "pagination", "quota",
    "signature", "archive", "throttle", "footer", "backoff", "manifest", "palette", "workspace",
)  # fmt: skip
_SMALL = ("thanks!", "great", "ok, go on", "yes", "continue", "nice, thank you", "go ahead")
_NOISE_TOOLS = ("git status", "ls -la", "cat README.md", "grep -rn TODO src", "find . -name '*.py'")


class Writer:
    """Draws the words of one conversation; every fact has words of its own."""

    def __init__(self, seed: int) -> None:
        """Begin with a seed."""
        self.random = random.Random(seed)
        self.number = self.random.randrange(100, 900)
        self.things = self.random.sample(_NOUNS, len(_NOUNS))

    def name(self) -> str:
        """Return a term that nothing else in the conversation has."""
        self.number += self.random.randrange(1, 9)
        return f"{self.random.choice(_NOUNS)}-{self.number}"

    def area(self) -> str:
        """Return a part of a product."""
        return self.random.choice(_AREAS)

    def thing(self) -> str:
        """Return a thing that was not named so before."""
        return self.things.pop()

    def pick(self, *options: str) -> str:
        """Return one of some wordings."""
        return self.random.choice(options)


def _request(w: Writer) -> tuple[str, list[Fact]]:
    name = w.name()
    text = w.pick(
        f"Please add a {name} step to the {w.area()}.",
        f"Implement the {name} for the {w.area()} and cover it with tests.",
        f"The {w.area()} needs a {name}, build it.",
    )
    return text, [Fact("request", USER, name)]


def _constraint(w: Writer) -> tuple[str, list[Fact]]:
    name = w.name()
    text = w.pick(
        f"Never touch the {name} while you do that.",
        f"Make sure that the {name} stays readable by old clients.",
        f"The {name} must not grow beyond two pages.",
        f"Do not add dependencies for the {name}.",
    )
    return text, [Fact("constraint", USER, name)]


def _decision(w: Writer) -> tuple[str, list[Fact]]:
    name, other = w.name(), w.name()
    text = w.pick(
        f"We go with {name} for this, the team has agreed.",
        f"Let's take {name} and leave {other} for later.",
        f"I decided that {name} is the way to do it.",
    )
    return text, [Fact("decision", USER, name)]


def _correction(w: Writer) -> tuple[str, list[Fact]]:
    thing = w.thing()
    old, new = w.name(), w.name()
    first = w.pick(f"Use {old} as the {thing} separator.", f"Set the {thing} separator to {old}.")
    then = w.pick(
        f"No, use {new} as the {thing} separator, not {old.split('-')[0]}s.",
        f"Actually the {thing} separator should be {new} instead.",
    )
    return f"{first}\0{then}", [
        Fact("correction", USER, new),
        Fact("superseded", STALE, old, newer=new),
    ]


def _value(w: Writer) -> tuple[str, list[Fact]]:
    name, number = w.name(), str(w.random.randrange(1_000, 99_999))
    text = w.pick(
        f"For your information: the {name} of our biggest customer has {number} rows.",
        f"The {name} runs on port {number} in staging.",
    )
    return text, [Fact("fact", USER, number)]


def _conclusion(w: Writer) -> tuple[str, list[Fact]]:
    name = w.name()
    text = w.pick(
        f"The root cause is the {name}: it is read before it is written.",
        f"I found that the {name} is never released.",
        f"It turns out that the {name} is computed twice.",
    )
    return text, [Fact("conclusion", AGENT, name)]


def _number(w: Writer) -> tuple[str, list[Fact]]:
    name, number = w.name(), f"{w.random.randrange(100, 999)}.{w.random.randrange(1, 9)} ms"
    text = w.pick(
        f"The query of the {name} now takes {number} on the large set.",
        f"Measured: {number} per call of the {name} with a warm cache.",
    )
    return text, [Fact("number", AGENT, number)]


_FILLER = (
    "Let me look at the code first.", "I will start with the reader.", "This is a small change.",
    "The code follows the style of the module.", "Everything is in place as described.",
    "I looked through the files of this folder.", "The names follow what is there already.",
)  # fmt: skip
_NOTED_IN = {"constraint": "constraints", "decision": "decisions", "correction": "constraints"}
_PROMPTS = (_constraint, _decision, _value, _constraint, _request, _decision)
_ANSWERS = (_conclusion, _number, _conclusion)


def conversation(seed: int, count: int) -> tuple[list[Turn], list[Fact]]:
    """Return a conversation with about so many facts to find, and the facts."""
    w = Writer(seed)
    first, facts = _request(w)
    facts = [Fact("goal", USER, facts[0].needle)]
    turns = [Turn(first)]
    kinds = 0
    while sum(fact.way != STALE for fact in facts) < count:
        kinds += 1
        turn = Turn("")
        turns.append(turn)
        if kinds % 4 == 0:
            text, new = _correction(w)
            before, turn.prompt = text.split("\0")
            turns.insert(-1, Turn(before, answer=w.random.choice(_FILLER)))
        else:
            turn.prompt, new = _PROMPTS[kinds % len(_PROMPTS)](w)
        facts += new
        turn.notes += [(_NOTED_IN.get(new[0].kind, "learnings"), turn.prompt)]
        _work(w, turn, facts, kinds)
        _answer(w, turn, facts, kinds)
        if w.random.random() < 0.3:
            turns.append(Turn(w.random.choice(_SMALL), answer="You're welcome."))
    _plan(w, turns[-1], facts)
    return turns, facts


def _work(w: Writer, turn: Turn, facts: list[Fact], number: int) -> None:
    turn.tools += [ToolUse("Bash", w.random.choice(_NOISE_TOOLS), "some output")]
    if number % 3 == 0:
        path = f"src/{w.name().replace('-', '_')}.py"
        turn.tools.append(ToolUse("Write", path))
        facts.append(Fact("file", HOOK, path))
    if number % 4 == 1:
        test, why = f"pytest tests/test_{w.name().replace('-', '_')}.py", w.name()
        failure = "\n".join(["collected 12 items", "." * 40, f"E   AssertionError: {why} differs"])
        turn.tools.append(ToolUse("Bash", test, error=f"Exit code 1\n{failure}"))
        if number % 8 == 1:
            facts += [Fact("failure", HOOK, why), Fact("command", HOOK, test)]
        else:
            turn.tools.append(ToolUse("Bash", test, "12 passed in 0.4s"))
            facts += [Fact("mended", STALE, why), Fact("command", HOOK, test)]


def _answer(w: Writer, turn: Turn, facts: list[Fact], number: int) -> None:
    sentences = w.random.sample(_FILLER, 3)
    if number % 2 == 0:
        text, new = _ANSWERS[number // 2 % len(_ANSWERS)](w)
        sentences.insert(w.random.randrange(1, 4), text)
        turn.notes.append(("learnings", text))
        facts += new
    turn.answer = " ".join(sentences)


def _plan(w: Writer, turn: Turn, facts: list[Fact]) -> None:
    done, active, pending = (w.name() for _ in range(3))
    turn.todos = [
        (f"Write the {done}", "completed"),
        (f"Wire up the {active}", "in_progress"),
        (f"Document the {pending}", "pending"),
    ]
    facts += [Fact("plan", HOOK, active), Fact("plan", HOOK, pending)]
