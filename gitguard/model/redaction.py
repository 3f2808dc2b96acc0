"""Takes secrets out of texts before they are written anywhere.

A text is searched once per round: where something was found, a placeholder stands afterwards, and
a placeholder is a wall. The pieces between walls are searched again, each alone, until a round
finds nothing in them. That is why redacting twice changes nothing: the second time meets the same
walls and the same pieces, whatever the rules are. After a fixed number of rounds a piece that
still has a find is taken out as a whole, so the time is linear as well.

Most texts hold none of the rules' literals and cost a few substring tests; `re` is imported and a
rule compiled when a text holds what the rule needs.
"""

from __future__ import annotations

from gitguard import __version__
from gitguard.model.redaction_keyed import KEY_WORDS, assigned_secrets
from gitguard.model.redaction_names import (
    BARE,
    is_placeholder,
    is_secret_leaf,
    looks_random,
    strength,
)
from gitguard.model.redaction_rules import KEY_SCANS, PHRASES, SCANS, WORDS
from gitguard.model.redaction_rules import Rule as Rule
from gitguard.model.redaction_tokens import (
    SHORTEST,
    TOKENS,
    begins_word,
    end_of_token,
    goes_on,
    is_token,
    tokens_in,
)
from gitguard.model.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Any

    from gitguard.model.redaction_keyed import Span

PLACEHOLDER = "[REDACTED:{rule}]"
LEAF = "secret-name"
"""The rule that finds a leaf by its name."""
_OPENING = "[REDACTED:"
RULE_NAME = "abcdefghijklmnopqrstuvwxyz0123456789-"
LONGEST_RULE_NAME = 64
_LONGEST_NAME, _MOST_NAMES = 256, 1024
_LONGEST_KNOWN, _MOST_KNOWN = 4096, 20_000
"""Of texts that were searched in vain so many are remembered."""
_ROUNDS = 4
_WINDOW, _OVERLAP = 65536, 20480
"""A longer text is searched in windows, which overlap by more than the longest private key."""


class Finding(Value):
    """Where a secret was found, never the secret."""

    rule: str
    path: str


class _Plan:
    """Which rules a text can match at all."""

    __slots__ = ("key_words", "literals", "scans", "tokens")

    def __init__(
        self,
        tokens: Sequence[tuple[int, Sequence[str]]] = (),
        literals: Sequence[tuple[str, int]] = (),
        scans: Sequence[int] = (),
        key_words: Sequence[str] = (),
    ) -> None:
        self.tokens, self.literals, self.scans, self.key_words = tokens, literals, scans, key_words

    @property
    def any(self) -> bool:
        """Say whether there is any."""
        return bool(self.key_words or self.literals or self.tokens or self.scans)


class Redactor:
    """Replaces secrets by `[REDACTED:rule]`; the same texts always give the same texts."""

    def __init__(self, custom: tuple[Rule, ...] = (), allowed: tuple[str, ...] = ()) -> None:
        self._custom = len(custom)
        self._rules = [
            *custom,
            *(_rule(line) for line in PHRASES),
            *(_rule(line) for line in WORDS),
        ]
        literals = [(word, at) for at, rule in enumerate(self._rules) for word in rule.literals]
        first_word = len(custom) + len(PHRASES)
        self._in_phrases = [found for found in literals if found[1] < first_word]
        self._in_words = [found for found in literals if found[1] >= first_word]
        self._allowed = frozenset(allowed)
        self._clean: set[str] = set()
        self.whole: tuple[object, ...] = ()  # the last records that hold nothing, by identity
        self._rules_id = ""
        self._strengths: dict[str, int] = {}
        self._compiled: dict[str, re.Pattern[str]] = {}

    def text(self, text: str, name: str = "") -> str:
        """Return one leaf without its secrets; name is the key it stands under."""
        return self._leaf(text, name, None, [])

    def document(self, value: Any, path: str = "") -> tuple[Any, tuple[Finding, ...]]:
        """Return a document without the secrets in its leaves and keys, and what was found where.

        The same object comes back if nothing was found.
        """
        findings: list[Finding] = []
        joined = "\n".join(text for text in _texts_of(value) if text not in self._clean)
        # What a large document holds somewhere says little about each of its leaves.
        plan = self._plan(joined) if len(joined) <= _WINDOW else None
        return self._walk(value, "", path, plan, findings), tuple(findings)

    def know(self, value: Any, record: object = None) -> None:
        """Take a document, and its record, for clean, as after the same rules redacted them."""
        self._clean.update(_texts_of(value))
        self.whole = (*self.whole, record)

    @property
    def rules_id(self) -> str:
        """What tells sets of rules apart: with the same one, texts need not be searched again."""
        if not self._rules_id:
            from gitguard.model.codec import sha256

            parts = [f"{rule.name}\0{rule.pattern}" for rule in self._rules]
            parts += ["\0".join(map(str, token)) for token in TOKENS]
            told = [__version__, *parts, *KEY_WORDS, *sorted(self._allowed)]
            self._rules_id = sha256("\n".join(told).encode())[:16]
        return self._rules_id

    def find(self, value: Any, path: str = "") -> tuple[Finding, ...]:
        """Return what would be taken out of a document."""
        return self.document(value, path)[1]

    def _walk(
        self, value: Any, name: str, path: str, plan: _Plan | None, findings: list[Finding]
    ) -> Any:
        if isinstance(value, str):
            rules: list[str] = []
            clean = self._leaf(value, name, plan, rules)
            findings.extend(Finding(rule, path) for rule in dict.fromkeys(rules))
            return clean
        if isinstance(value, dict):
            return self._walk_mapping(value, path, plan, findings)
        if isinstance(value, (list, tuple)):
            items = [
                self._walk(item, name, f"{path}[{at}]", plan, findings)
                for at, item in enumerate(value)
            ]
            same = all(new is old for new, old in zip(items, value, strict=True))
            return value if same else type(value)(items)
        return value

    def _walk_mapping(
        self, value: Mapping[Any, Any], path: str, plan: _Plan | None, findings: list[Finding]
    ) -> Any:
        clean: dict[Any, Any] = {}
        same = True
        secret = value.get("kind") == "Secret"
        for key, item in value.items():
            rules: list[str] = []
            shown = self._leaf(key, "", plan, rules) if isinstance(key, str) else key
            here = f"{path}.{shown}" if path else str(shown)
            findings.extend(Finding(rule, here) for rule in dict.fromkeys(rules))
            while shown in clean:
                shown = f"{shown} again"
            name = _name_of(key, value)
            if path and self._strength(name) == BARE:
                name = f"{path.rpartition('.')[2]}.{name}"
            if secret and key in ("data", "stringData") and isinstance(item, dict):
                new: Any = self._secret_values(item, here, findings)
            else:
                new = self._walk(item, name, here, plan, findings)
            same = same and shown is key and new is item
            clean[shown] = new
        return value if same else clean

    def _secret_values(
        self, value: Mapping[Any, Any], path: str, findings: list[Finding]
    ) -> dict[Any, Any]:
        nothing = _Plan()
        named = {key: (item, "password") for key, item in value.items()}
        return {
            key: self._walk(item, name, f"{path}.{key}", nothing, findings)
            for key, (item, name) in named.items()
        }

    def _leaf(self, text: str, name: str, plan: _Plan | None, rules: list[str]) -> str:
        if len(text) < 3:
            return text
        found: list[str] = []
        clean = text if text in self._clean else self._searched(text, plan, found)
        if name and self._is_secret_under(name, clean):
            clean = PLACEHOLDER.format(rule=LEAF)
            found = [LEAF]
        rules.extend(found)
        return text if clean == text else clean

    def _is_secret_under(self, name: str, text: str) -> bool:
        named = not _is_wall(text) and is_secret_leaf(self._strength(name), text)
        return named and not self._is_allowed(text)

    def _searched(self, text: str, plan: _Plan | None, found: list[str]) -> str:
        plan = plan or self._plan(text)
        clean = self._without(text, plan, 0, found) if plan.any else text
        if clean == text and len(text) <= _LONGEST_KNOWN:
            if len(self._clean) >= _MOST_KNOWN:
                self._clean.clear()
            self._clean.add(text)
        return clean

    def _strength(self, name: str) -> int:
        sure = self._strengths.get(name)
        if sure is None:
            if len(self._strengths) >= _MOST_NAMES:
                self._strengths.clear()
            told = _without_walls(self._leaf(name, "", None, []))
            sure = self._strengths[name] = strength(told[-_LONGEST_NAME:])
        return sure

    def _without(self, text: str, plan: _Plan, turn: int, found: list[str]) -> str:
        if _OPENING not in text:
            return self._piece(text, plan, turn, found)
        parts: list[str] = []
        start = 0
        for begin, end in _walls(text):
            parts += (self._piece(text[start:begin], plan, turn, found), text[begin:end])
            start = end
        parts.append(self._piece(text[start:], plan, turn, found))
        return "".join(parts)

    def _piece(self, text: str, plan: _Plan, turn: int, found: list[str]) -> str:
        spans = self._spans(text, plan) if len(text) > 2 else []
        if not spans:
            return text
        if turn == _ROUNDS:
            found.append(spans[0][2])
            return PLACEHOLDER.format(rule=spans[0][2])
        parts: list[str] = []
        start = 0
        for begin, end, rule in spans:
            found.append(rule)
            parts.append(self._piece(text[start:begin], plan, turn + 1, found))
            parts.append(PLACEHOLDER.format(rule=rule))
            start = end
        parts.append(self._piece(text[start:], plan, turn + 1, found))
        return "".join(parts)

    def _spans(self, text: str, plan: _Plan) -> list[Span]:
        ranked: list[tuple[int, int, int, str]] = []
        for start in range(0, len(text), _WINDOW):
            window = text if len(text) <= _WINDOW else text[start : start + _WINDOW + _OVERLAP]
            for rank, (begin, end, rule) in self._search(window, plan):
                if end > begin and not self._is_allowed(window[begin:end]):
                    ranked.append((start + begin, start + end, rank, rule))
        return _merged(ranked)

    def _search(self, text: str, plan: _Plan) -> Iterator[tuple[int, Span]]:
        """Yield all finds with the rank of their rule: what is most specific comes first."""
        low = _lower(text)
        for at in sorted({at for literal, at in plan.literals if literal in low}):
            rank = at if at < self._custom else 3000 + at
            yield from ((rank, span) for span in self._matches(self._rules[at], text))
        for at in plan.scans:
            if SCANS[at][0] in low:
                rank = 1000 + at if at < KEY_SCANS else 3900 + at
                yield from ((rank, span) for span in SCANS[at][1](text, low))
        for at, prefixes in plan.tokens:
            yield from ((2000 + at, span) for span in self._tokens(at, prefixes, text))
        yield from ((4000, span) for span in assigned_secrets(text, low, plan.key_words))

    def _plan(self, text: str) -> _Plan:
        low = _lower(text)
        long = " ".join([word for word in text.split() if len(word) >= SHORTEST])
        literals = [found for found in self._in_phrases if found[0] in low]
        if long:
            low_long = _lower(long)
            literals += [found for found in self._in_words if found[0] in low_long]
        scans = [at for at, (literal, _scan) in enumerate(SCANS) if literal in low]
        key_words = [word for word in KEY_WORDS if word in low]
        tokens = tokens_in(long) if long else ()
        return _Plan(tokens, literals, scans, key_words)

    def _tokens(self, token: int, prefixes: Sequence[str], text: str) -> Iterator[Span]:
        name, _all, rest = TOKENS[token]
        for prefix in prefixes:
            at = text.find(prefix)
            while at >= 0:
                behind = at + len(prefix)
                if begins_word(text, at, prefix) and goes_on(text, behind):
                    match = self._pattern(rest).match(text, behind)
                    if match and is_token(match[0]):
                        behind = end_of_token(text, match.end())
                        yield at, behind, name
                at = text.find(prefix, behind)

    def _matches(self, rule: Rule, text: str) -> Iterator[Span]:
        pattern = self._pattern(rule.pattern)
        group: str | int = "secret" if "secret" in pattern.groupindex else 0
        for match in pattern.finditer(text):
            value = match[group] or ""
            if not rule.random or (looks_random(value, 8) and not is_placeholder(value)):
                yield match.start(group), match.end(group), rule.name

    def _pattern(self, pattern: str) -> re.Pattern[str]:
        compiled = self._compiled.get(pattern)
        if compiled is None:
            import re

            compiled = self._compiled[pattern] = re.compile(pattern)
        return compiled

    def _is_allowed(self, value: str) -> bool:
        if not self._allowed:
            return False
        import hashlib

        return hashlib.sha256(value.encode("utf-8", "surrogatepass")).hexdigest() in self._allowed


def _rule(line: tuple[str, str, str, bool]) -> Rule:
    name, literals, pattern, random = line
    return Rule(name, tuple(literals.split()), pattern, random)


def _texts_of(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from _texts_of(key)
            yield from _texts_of(item)
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from _texts_of(item)


def _name_of(key: Any, siblings: Mapping[Any, Any]) -> str:
    """Return the name of an entry; in `{name: DB_PASSWORD, value: …}` the value has the other's."""
    if key in ("value", "Value"):
        for naming in ("name", "key", "Name", "Key"):
            if isinstance(name := siblings.get(naming), str):
                return name
    return key if isinstance(key, str) else ""


def _is_wall(value: str) -> bool:
    return next(_walls(value), None) == (0, len(value))


def _walls(text: str) -> Iterator[tuple[int, int]]:
    """Yield where the placeholders of a text begin and end."""
    at = text.find(_OPENING)
    while at >= 0:
        behind = at + len(_OPENING)
        name = text[behind : behind + LONGEST_RULE_NAME + 1]
        size = len(name) - len(name.lstrip(RULE_NAME))
        if 0 < size <= LONGEST_RULE_NAME and text[behind + size : behind + size + 1] == "]":
            behind += size + 1
            yield at, behind
        at = text.find(_OPENING, behind)


def _without_walls(text: str) -> str:
    # A name has to be judged alike before and after a secret in it is taken out.
    for begin, end in reversed(list(_walls(text))):
        text = text[:begin] + text[end:]
    return text


def _merged(ranked: list[tuple[int, int, int, str]]) -> list[Span]:
    """Join finds that overlap; the most specific of them gives the name."""
    ranked.sort()
    merged: list[Span] = []
    best = 0
    for begin, end, rank, rule in ranked:
        if merged and begin < merged[-1][1]:
            first, last, name = merged[-1]
            merged[-1] = (first, max(last, end), rule if rank < best else name)
            best = min(best, rank)
        else:
            merged.append((begin, end, rule))
            best = rank
    return merged


def _lower(text: str) -> str:
    """Return text in lower case with every character where it was."""
    low = text.lower()
    return low if len(low) == len(text) else text.replace("\u0130", "i").lower()
