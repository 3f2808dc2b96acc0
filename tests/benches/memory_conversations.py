"""Generated conversations of agents that never note, and the facts a successor must know.

Kinds, wording and distractors are drawn with a seed. A fact counts as found where its needle stands
in the block; a needle that must not come back is of something that was replaced or mended.
"""

from __future__ import annotations

import random
import re
from dataclasses import dataclass, field

from tests.benches.memory_wordings import LANGUAGES, Wordings

USER, HOOK, AGENT = "user", "hook", "agent"
STALE = "stale"
_FOLDED = re.compile(r"([^\s{}]+)\{([^{}]+)\}")
"""Paths of one folder, as a block names them: `src/{routes.py,models.py}`."""


def unfolded(block: str) -> str:
    """Return a block in which each path stands whole, as a shell expands it."""

    def paths(folded: re.Match[str]) -> str:
        return " ".join(f"{folded[1]}{name}" for name in folded[2].split(","))

    return _FOLDED.sub(paths, block)


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

        It may stand beside what took its place, because nothing but understanding tells a word that
        replaces another one from one that holds as well.
        """
        is_replaced = bool(self.newer) and self.newer in block
        return self.needle in block and not is_replaced


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
    answer: str = ""
    todos: list[tuple[str, str]] = field(default_factory=list)
    notes: list[tuple[str, str]] = field(default_factory=list)
    """What an agent would note of the turn if it does: the list of the state, and the sentence."""


_NOUNS = (
    "ledger", "tenant", "cursor", "voucher", "schema", "header", "bucket", "thumbnail", "webhook",
    "locale", "checksum", "timezone", "payload", "tokenizer", "retention", "pagination", "quota",
    "signature", "archive", "throttle", "footer", "backoff", "manifest", "palette", "workspace",
)  # fmt: skip
_NOISE_TOOLS = ("git status", "ls -la", "cat README.md", "grep -rn TODO src", "find . -name '*.py'")
_SHORTEST_NOTE, _LONGEST_NOTE = 40, 160
"""Characters of a note of natural length."""


class Writer:
    """Draws the words of one conversation; every fact has words of its own."""

    def __init__(self, seed: int, wordings: Wordings) -> None:
        """Begin with a seed."""
        self.random = random.Random(seed)
        self.wordings = wordings
        self.number = self.random.randrange(100, 900)
        self.things = self.random.sample(wordings.things, len(wordings.things))

    def name(self) -> str:
        """Return a term that nothing else in the conversation has."""
        self.number += self.random.randrange(1, 9)
        return f"{self.random.choice(_NOUNS)}-{self.number}"

    def say(self, wordings: tuple[str, ...], **names: str) -> str:
        """Return one of some wordings with its names, about any part of the product."""
        return self.random.choice(wordings).format(
            area=self.random.choice(self.wordings.areas), **names
        )

    def note(self, text: str) -> str:
        """Return a note of natural length that says a text."""
        for reason in self.random.sample(self.wordings.reasons, len(self.wordings.reasons)):
            longer = f"{text} {reason}"
            if len(text) < _SHORTEST_NOTE and len(longer) <= _LONGEST_NOTE:
                text = longer
        return text


def _request(w: Writer) -> tuple[str, list[Fact]]:
    name = w.name()
    return w.say(w.wordings.requests, name=name), [Fact("request", USER, name)]


def _constraint(w: Writer) -> tuple[str, list[Fact]]:
    name = w.name()
    return w.say(w.wordings.constraints, name=name), [Fact("constraint", USER, name)]


def _decision(w: Writer) -> tuple[str, list[Fact]]:
    name, other = w.name(), w.name()
    return w.say(w.wordings.decisions, name=name, other=other), [Fact("decision", USER, name)]


def _correction(w: Writer) -> tuple[str, str, list[Fact]]:
    """Return what is said first, what takes its place, and the facts."""
    thing, old, new = w.things.pop(), w.name(), w.name()
    first = w.say(w.wordings.choices, old=old, thing=thing)
    then = w.say(w.wordings.corrections, new=new, thing=thing)
    return first, then, [Fact("correction", USER, new), Fact("superseded", STALE, old, newer=new)]


def _value(w: Writer) -> tuple[str, list[Fact]]:
    name, number = w.name(), str(w.random.randrange(1_000, 99_999))
    return w.say(w.wordings.values, name=name, number=number), [Fact("fact", USER, number)]


def _conclusion(w: Writer) -> tuple[str, list[Fact]]:
    name = w.name()
    return w.say(w.wordings.conclusions, name=name), [Fact("conclusion", AGENT, name)]


def _number(w: Writer) -> tuple[str, list[Fact]]:
    name, number = w.name(), f"{w.random.randrange(100, 999)}.{w.random.randrange(1, 9)} ms"
    text = f"{name}: {w.say(w.wordings.measures, number=number)}"
    return text, [Fact("number", AGENT, number)]


_NOTED_IN = {"constraint": "constraints", "decision": "decisions", "correction": "constraints"}
_PROMPTS = (_constraint, _decision, _value, _constraint, _request, _decision)
_ANSWERS = (_conclusion, _number, _conclusion)


def conversation(seed: int, count: int, language: str = "english") -> tuple[list[Turn], list[Fact]]:
    """Return a conversation with about so many facts to find, and the facts."""
    w = Writer(seed, LANGUAGES[language])
    first, facts = _request(w)
    facts = [Fact("goal", USER, facts[0].needle)]
    turns = [Turn(first, answer=w.wordings.done)]
    kinds = 0
    while sum(fact.way != STALE for fact in facts) < count:
        kinds += 1
        turn = Turn("")
        if kinds % 4 == 0:
            before, turn.prompt, new = _correction(w)
            turns.append(Turn(before, answer=w.random.choice(w.wordings.fillers)))
        else:
            turn.prompt, new = _PROMPTS[kinds % len(_PROMPTS)](w)
        turns.append(turn)
        facts += new
        turn.notes += [(_NOTED_IN.get(new[0].kind, "learnings"), w.note(turn.prompt))]
        _work(w, turn, facts, kinds)
        _answer(w, turn, facts, kinds)
        if w.random.random() < 0.3:
            turns.append(Turn(w.random.choice(w.wordings.talk), answer=w.wordings.welcome))
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
    sentences = w.random.sample(w.wordings.fillers, 3)
    if number % 2 == 0:
        text, new = _ANSWERS[number // 2 % len(_ANSWERS)](w)
        sentences.insert(w.random.randrange(1, 4), text)
        turn.notes.append(("learnings", w.note(text)))
        facts += new
    turn.answer = w.wordings.between.join(sentences)


def _plan(w: Writer, turn: Turn, facts: list[Fact]) -> None:
    done, active, pending = (w.name() for _ in range(3))
    write, wire, document = w.wordings.steps
    turn.todos = [
        (write.format(name=done), "completed"),
        (wire.format(name=active), "in_progress"),
        (document.format(name=pending), "pending"),
    ]
    facts += [Fact("plan", HOOK, active), Fact("plan", HOOK, pending)]
