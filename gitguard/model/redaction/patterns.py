"""Which patterns a repository may hand us: such as cannot take long, whatever the text.

A pattern is a row of single characters and classes. One of them may be repeated a varying number
of times, and what stands behind it is short, so a failed attempt costs a bounded number of steps.
"""

from __future__ import annotations

from gitguard.model.redaction.rules import LONGEST_RULE_NAME, RULE_NAME, Rule

LONGEST_PATTERN, LONGEST_REPETITION, MOST_STEPS, SHORTEST_LITERAL = 256, 512, 1024, 3
_CLASSES = "dwsDWS"
_GROUP = "(?P<secret>"
_ESCAPED = ".^$*+?{}[]()|\\/-_ #&~:;,=@%\"'`!<>"
_UNESCAPED = "{}]"


class _Refused(Exception):
    """A pattern holds what is not allowed; the message is the phrase that says it."""


class _PatternReader:
    """Reads a pattern into atoms: `(literal character or "", fewest, most)`."""

    def __init__(self, pattern: str) -> None:
        self.pattern = pattern
        self.at = 0
        self.atoms: list[tuple[str, int, int]] = []
        self.opened = self.closed = False

    def read(self) -> list[tuple[str, int, int]]:
        while self.at < len(self.pattern):
            self._item()
        if self.opened and not self.closed:
            raise _Refused("has a group that is not closed")
        return self.atoms

    def _item(self) -> None:
        char = self.pattern[self.at]
        if char in "()":
            self._group(char)
        elif self.pattern.startswith("\\b", self.at):
            self.at += 2
            self._not_repeated("`\\b`")
        else:
            literal = self._atom(char)
            fewest, most = self._repetition()
            self.atoms.append((literal if fewest == most == 1 else "", fewest, most))

    def _group(self, char: str) -> None:
        if char == "(":
            if self.opened or not self.pattern.startswith(_GROUP, self.at):
                raise _Refused("has a group other than one `(?P<secret>…)`")
            self.opened = True
            self.at += len(_GROUP)
            return
        if not self.opened or self.closed:
            raise _Refused("has a `)` without a group")
        self.closed = True
        self.at += 1
        self._not_repeated("the group")

    def _not_repeated(self, what: str) -> None:
        if self.pattern[self.at : self.at + 1] in ("*", "+", "?", "{"):
            raise _Refused(f"repeats {what}")

    def _atom(self, char: str) -> str:
        self.at += 1
        if char == "[":
            self._class()
            return ""
        if char == "\\":
            return self._escape()
        if char in "*+?|^$." or char in _UNESCAPED:
            raise _Refused(f"has a `{char}`; write `\\{char}` for the character itself")
        return char

    def _escape(self) -> str:
        char = self.pattern[self.at : self.at + 1]
        self.at += 1
        if char and char in _CLASSES:
            return ""
        if not char or char not in _ESCAPED:
            raise _Refused(f"has a `\\{char}`, which is not a plain escape")
        return char

    def _class(self) -> None:
        start = self.at
        while (char := self.pattern[self.at : self.at + 1]) != "]" or self.at == start:
            if not char:
                raise _Refused("has a class that is not closed")
            if char == "[" or self.pattern[self.at : self.at + 2] in ("--", "&&", "||", "~~"):
                raise _Refused(f"has a `{char}` in a class; write `\\{char}`")
            self.at += 1
            if char == "\\":
                self._escape()
        self.at += 1

    def _repetition(self) -> tuple[int, int]:
        char = self.pattern[self.at : self.at + 1]
        if char in ("*", "+"):
            raise _Refused(f"repeats without an end (`{char}`); write `{{1,{LONGEST_REPETITION}}}`")
        if char == "?":
            self.at += 1
            self._not_repeated("a repetition")
            return 0, 1
        if char != "{":
            return 1, 1
        end = self.pattern.find("}", self.at)
        low, comma, high = self.pattern[self.at + 1 : max(end, 0)].partition(",")
        if end < 0 or not _is_number(low) or (comma and not _is_number(high)):
            raise _Refused("has a repetition other than `{n}` or `{m,n}`")
        self.at = end + 1
        self._not_repeated("a repetition")
        fewest, most = int(low), int(high if comma else low)
        if not fewest <= most <= LONGEST_REPETITION or not most:
            raise _Refused(f"repeats not between 1 and {LONGEST_REPETITION} times")
        return fewest, most


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) < 5


def check_pattern(pattern: str) -> str:
    """Return why a custom rule's pattern is refused, as a phrase; empty if it is safe."""
    if len(pattern) > LONGEST_PATTERN:
        return f"is longer than {LONGEST_PATTERN} characters"
    try:
        atoms = _PatternReader(pattern).read()
    except _Refused as refused:
        return str(refused)
    varying = [at for at, (_literal, fewest, most) in enumerate(atoms) if fewest != most]
    if len(varying) > 1:
        return "has more than one repetition of varying length"
    steps = sum(most for _literal, _fewest, most in atoms)
    for at in varying:
        behind = sum(most for _literal, _fewest, most in atoms[at + 1 :])
        steps += (atoms[at][2] - atoms[at][1]) * behind
    if steps > MOST_STEPS:
        return f"may take {steps} steps at a character, more than {MOST_STEPS}"
    if len(longest_literal(pattern)) < SHORTEST_LITERAL:
        return f"has no {SHORTEST_LITERAL} plain characters in a row, by which to find it fast"
    return _compile_fault(pattern)


def _compile_fault(pattern: str) -> str:
    import re
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            re.compile(pattern)
        except (re.error, Warning, OverflowError, ValueError) as error:
            return f"is not a regular expression: {error}"
    return ""


def longest_literal(pattern: str) -> str:
    """Return the longest run of plain characters in a pattern that `check_pattern` could read."""
    longest = run = ""
    for literal, _fewest, _most in _PatternReader(pattern).read():
        run = run + literal if literal else ""
        longest = max(longest, run, key=len)
    return longest


def is_rule_name(name: str) -> bool:
    """Say whether a name may stand in a placeholder."""
    return 0 < len(name) <= LONGEST_RULE_NAME and not name.strip(RULE_NAME)


def custom_rule(name: str, pattern: str) -> Rule:
    """Return a rule whose name `is_rule_name` and whose pattern `check_pattern` accepts."""
    return Rule(name, (longest_literal(pattern).lower(),), pattern)
