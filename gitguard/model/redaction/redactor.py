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
from gitguard.model.redaction.concealed import joins, may_conceal
from gitguard.model.redaction.names import (
    BARE,
    KEY_WORDS,
    NAMED_BY_ANOTHER,
    NONE,
    PARTS_OF_NAMES,
    is_placeholder,
    is_secret_leaf,
    looks_random,
    name_of,
    strength,
)
from gitguard.model.redaction.rules import (
    KEY_SCANS,
    OPENING,
    PHRASES,
    PLACEHOLDER,
    SCANS,
    WORDS,
    is_wall,
    rule_of,
    walls,
    without_walls,
)
from gitguard.model.redaction.tokens import (
    SHORTEST,
    SHORTEST_ENCODED,
    TOKENS,
    begins_word,
    encoded,
    end_of_token,
    goes_on,
    is_by_chance,
    is_token,
    is_within,
    tokens_in,
    words_with,
)
from gitguard.model.text import shorten
from gitguard.model.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Any

    from gitguard.model.redaction.keyed import Span
    from gitguard.model.redaction.rules import Rule
    from gitguard.model.redaction.second_engine import SecondEngine
    from gitguard.model.redaction.views import View

    _Groups = Sequence[tuple[str, Sequence[tuple[str, tuple[str, int]]]]]

_LONGEST_SECRET = 8192
"""A cut looks so many characters behind itself for a secret that it would go through."""
_VIEWS = "views 7"
"""Changed with what views show and scans find, so that texts searched before are searched again."""
LEAF = "secret-name"
"""The rule that finds a leaf by its name."""
_LONGEST_NAME, _MOST_NAMES = 256, 1024
_LONGEST_KNOWN, _MOST_KNOWN = 4096, 20_000
"""Of texts that were searched in vain so many are remembered."""
_MOST_ORDINARY, _MOST_NEW = 500_000, 1024
"""So many characters of words that hold nothing are remembered, and so many words of one text."""
_CONCEALING = "\\%\"'`"
"""Of what is printed, all that may write a secret in another way, or in parts."""
_ROUNDS = 4
_OF_A_VIEW = 10_000
"""The rank of what is found behind how a text is written, after all that stands in it plainly."""
WINDOW, OVERLAP = 131_072, 20_480
"""A longer text is searched in windows, which overlap by more than the longest private key."""


_SHARED = ("hook", "+a", "az", "integration", ":a", "sess", "sig", "mysql", "pass")
"""What many literals have in common: texts without it need no search for each of them."""


class RuleMatch(Value):
    """Where a secret was found, never the secret."""

    rule: str
    path: str


class _SearchPlan:
    """Which rules a text can match at all."""

    __slots__ = ("is_encoding", "key_words", "literals", "scans", "tokens")

    def __init__(
        self,
        tokens: Sequence[tuple[int, Sequence[str]]] = (),
        literals: Sequence[tuple[str, int]] = (),
        scans: Sequence[int] = (),
        key_words: Sequence[str] = (),
        is_encoding: bool = False,  # noqa: FBT001
    ) -> None:
        self.tokens, self.literals, self.scans, self.key_words = tokens, literals, scans, key_words
        self.is_encoding = is_encoding

    @property
    def any(self) -> bool:
        """Say whether there is any."""
        searches = self.key_words or self.literals or self.tokens or self.scans
        return self.is_encoding or bool(searches)


_NOTHING = _SearchPlan()


class Redactor:
    """Replaces secrets by `[REDACTED:rule]`; the same texts always give the same texts."""

    def __init__(
        self,
        custom: tuple[Rule, ...] = (),
        allowed: tuple[str, ...] = (),
        engine: SecondEngine | None = None,
    ) -> None:
        self._custom = custom
        self._all_rules: tuple[Rule, ...] = ()  # made when one of them applies
        self._engine = engine
        self._in_phrases, self._in_words = _literals_with(custom)
        self._allowed = frozenset(allowed)
        self._clean: set[str] = set()
        self._ordinary: set[str] = set()  # words that hold nothing a rule needs
        self._size_of_ordinary = 0
        self.whole: tuple[object, ...] = ()  # the last records that hold nothing, by identity
        self._rules_id = ""
        self._strengths: dict[str, int] = {}
        self._compiled: dict[str, re.Pattern[str]] = {}

    def text(self, text: str, name: str = "") -> str:
        """Return one leaf without its secrets; name is the key it stands under."""
        if not name and self._holds_nothing(text):
            return text
        return self._leaf(text, name, None, [])

    def _holds_nothing(self, text: str) -> bool:
        """Say whether a text is surely without secrets; most are, and need no search.

        It has no quote, escape or character that may conceal one, and no word that a rule needs.
        """
        if self._engine is not None or len(text) > WINDOW:
            return False
        is_plain = text.isascii() and text.isprintable()
        is_plain = is_plain and not any(mark in text for mark in _CONCEALING)
        return is_plain and self._plan(text) is _NOTHING

    def holds_secret(self, part: str) -> bool:
        """Say whether a secret is in a text, or in a part of `WINDOW` + `OVERLAP` of a long one."""
        plan = self._plan(part)
        if not (plan.any or self._engine or "\n" in part or may_conceal(part) or joins(part)):
            return False
        start = 0
        for begin, end in (*walls(part), (len(part), len(part))):
            piece = part[start:begin]
            if len(piece) > 2 and any(True for _find in self._search_window(piece, plan)):
                return True
            start = end
        return False

    def rules_of_glued(self, part: str) -> Iterator[str]:
        """Yield the rules of the tokens in a text whose fields nothing parts, as in a database."""
        from gitguard.model.redaction.glued import glued_tokens

        return (rule for rule, token in glued_tokens(part) if not self._is_allowed(token))

    def shorten(self, text: str, limit: int) -> str:
        """Take the secrets out, then cut as `model.text.shorten` does.

        In the other order the cut could leave half a secret, which matches no rule any more.
        """
        return shorten(self.text(text[: limit + _LONGEST_SECRET]), limit)

    def document(self, value: Any, path: str = "") -> tuple[Any, tuple[RuleMatch, ...]]:
        """Return a document without the secrets in its leaves and keys, and what was found where.

        The same object comes back if nothing was found.
        """
        texts, names = _parts_of(value)
        unknown = texts - self._clean
        joined = " ".join(unknown)
        # Most documents hold nothing, and need no look at what stands where.
        may_tell = [n for n in names if any(part in n.lower() for part in PARTS_OF_NAMES)]
        tell_more = "Secret" in texts or not names.isdisjoint(NAMED_BY_ANOTHER)
        tell_more = tell_more or any(self._strength(name) != NONE for name in may_tell)
        if not tell_more and self._holds_nothing(joined):
            return value, ()
        # What a large document holds somewhere says little about each of its leaves.
        plan = self._plan(joined) if len(joined) <= WINDOW else None
        findings: list[RuleMatch] = []
        if tell_more or any(self._leaf(text, "", plan, []) is not text for text in unknown):
            value = self._walk(value, "", path, plan=plan, findings=findings)
        return value, tuple(findings)

    def know(self, value: Any, record: object = None) -> None:
        """Take a document, and its record, for clean, as after the same rules redacted them."""
        self._clean |= _parts_of(value)[0]
        self.whole = (*self.whole, record)

    @property
    def _rules(self) -> tuple[Rule, ...]:
        if not self._all_rules:
            self._all_rules = (*self._custom, *map(rule_of, PHRASES), *map(rule_of, WORDS))
        return self._all_rules

    @property
    def rules_id(self) -> str:
        """What tells sets of rules apart: with the same one, texts need not be searched again."""
        if not self._rules_id:
            from gitguard.model.codec import sha256

            parts = [f"{rule.name}\0{rule.pattern}" for rule in self._rules]
            parts += ["\0".join(map(str, token)) for token in TOKENS]
            parts += [self._engine.version] if self._engine else []
            identity_parts = [__version__, _VIEWS, *parts, *KEY_WORDS, *sorted(self._allowed)]
            self._rules_id = sha256("\n".join(identity_parts).encode())[:16]
        return self._rules_id

    def find(self, value: Any, path: str = "") -> tuple[RuleMatch, ...]:
        """Return what would be taken out of a document."""
        return self.document(value, path)[1]

    def _walk(
        self, value: Any, name: str, path: str, plan: _SearchPlan | None, findings: list[RuleMatch]
    ) -> Any:
        if isinstance(value, str):
            rules: list[str] = []
            clean = self._leaf(value, name, plan, rules)
            findings.extend(RuleMatch(rule, path) for rule in dict.fromkeys(rules))
            return clean
        if isinstance(value, dict):
            return self._walk_mapping(value, path, plan, findings)
        if isinstance(value, (list, tuple)):
            items = [
                self._walk(item, name, f"{path}[{at}]", plan=plan, findings=findings)
                for at, item in enumerate(value)
            ]
            same = all(new is old for new, old in zip(items, value, strict=True))
            return value if same else type(value)(items)
        return value

    def _walk_mapping(
        self,
        value: Mapping[Any, Any],
        path: str,
        plan: _SearchPlan | None,
        findings: list[RuleMatch],
    ) -> Any:
        clean: dict[Any, Any] = {}
        same = True
        secret = value.get("kind") == "Secret"
        for key, item in value.items():
            rules: list[str] = []
            shown = self._leaf(key, "", plan, rules) if isinstance(key, str) else key
            item_path = f"{path}.{shown}" if path else str(shown)
            findings.extend(RuleMatch(rule, item_path) for rule in dict.fromkeys(rules))
            while shown in clean:
                shown = f"{shown} again"
            name = name_of(key, value)
            if path and self._strength(name) == BARE:
                name = f"{path.rpartition('.')[2]}.{name}"
            if secret and key in ("data", "stringData") and isinstance(item, dict):
                new: Any = self._secret_values(item, item_path, findings)
            else:
                new = self._walk(item, name, item_path, plan=plan, findings=findings)
            same = same and shown is key and new is item
            clean[shown] = new
        return value if same else clean

    def _secret_values(
        self, value: Mapping[Any, Any], path: str, findings: list[RuleMatch]
    ) -> dict[Any, Any]:
        named = {key: (item, "password") for key, item in value.items()}
        return {
            key: self._walk(item, name, f"{path}.{key}", plan=_NOTHING, findings=findings)
            for key, (item, name) in named.items()
        }

    def _leaf(self, text: str, name: str, plan: _SearchPlan | None, rules: list[str]) -> str:
        if len(text) < 3:
            return text
        rule_names: list[str] = []
        clean = text
        if text not in self._clean:
            plan = plan or self._plan(text)
            may_hide = "\n" in text or may_conceal(text) or joins(text)
            if plan.any or self._engine or may_hide:
                clean = self._without(text, plan, 0, rule_names)
            if clean == text and len(text) <= _LONGEST_KNOWN:
                if len(self._clean) >= _MOST_KNOWN:
                    self._clean.clear()
                self._clean.add(text)
        is_secret = bool(name) and is_secret_leaf(self._strength(name), clean)
        if is_secret and not is_wall(clean) and not self._is_allowed(clean):
            clean = PLACEHOLDER.format(rule=LEAF)
            rule_names = [LEAF]
        rules.extend(rule_names)
        return text if clean == text else clean

    def _strength(self, name: str) -> int:
        sure = self._strengths.get(name)
        if sure is None:
            if len(self._strengths) >= _MOST_NAMES:
                self._strengths.clear()
            clean_name = without_walls(self._leaf(name, "", None, []))
            sure = self._strengths[name] = strength(clean_name[-_LONGEST_NAME:])
        return sure

    def _without(self, text: str, plan: _SearchPlan, turn: int, rule_names: list[str]) -> str:
        if OPENING not in text:
            return self._piece(text, plan, turn, rule_names)
        parts: list[str] = []
        start = 0
        for begin, end in walls(text):
            parts += (self._piece(text[start:begin], plan, turn, rule_names), text[begin:end])
            start = end
        parts.append(self._piece(text[start:], plan, turn, rule_names))
        return "".join(parts)

    def _piece(self, text: str, plan: _SearchPlan, turn: int, rule_names: list[str]) -> str:
        spans = self._spans(text, plan) if len(text) > 2 else []
        if not spans:
            return text
        if turn == _ROUNDS:
            rule_names.append(spans[0][2])
            return PLACEHOLDER.format(rule=spans[0][2])
        parts: list[str] = []
        start = 0
        for begin, end, rule in spans:
            rule_names.append(rule)
            parts.append(self._piece(text[start:begin], plan, turn + 1, rule_names))
            parts.append(PLACEHOLDER.format(rule=rule))
            start = end
        parts.append(self._piece(text[start:], plan, turn + 1, rule_names))
        return "".join(parts)

    def _spans(self, text: str, plan: _SearchPlan) -> list[Span]:
        ranked: list[tuple[int, int, int, str]] = []
        for start in range(0, len(text), WINDOW):
            window = text if len(text) <= WINDOW else text[start : start + WINDOW + OVERLAP]
            for rank, (begin, end, rule) in self._search_window(window, plan):
                ranked.append((start + begin, start + end, rank, rule))
        if not ranked:
            return []
        from gitguard.model.redaction.keyed import merged
        from gitguard.model.redaction.repeated import with_repeats

        return with_repeats(text, merged(ranked))

    def _search_window(self, text: str, plan: _SearchPlan) -> Iterator[tuple[int, Span]]:
        """Yield all finds in a text as it is written, and in what it says behind that."""
        may_be_split = "\n" in text
        for rank, (begin, end, rule) in self._search(text, plan):
            if end > begin and not self._is_allowed(text[begin:end]):
                if may_be_split:
                    from gitguard.model.redaction.views import end_of_continued

                    end = end_of_continued(text, end)
                yield rank, (begin, end, rule)
        if plan.is_encoding:
            yield from self._search_encoded(text)
        if may_conceal(text):
            from gitguard.model.redaction.views import revealed

            for view in revealed(text):
                yield from self._search_view(view)
        quotes = joins(text)
        if quotes or may_be_split:
            from gitguard.model.redaction.views import joined

            for view in joined(text, quotes):
                yield from self._search_view(view)

    def _search_view(self, view: View) -> Iterator[tuple[int, Span]]:
        for rank, (begin, end, rule) in self._search(view.text, self._plan(view.text)):
            if end > begin and not self._is_allowed(view.text[begin:end]):
                yield _OF_A_VIEW + rank, (*view.original(begin, end), rule)
        for rank, (begin, end, rule) in self._search_encoded(view.text):
            yield rank, (*view.original(begin, end), rule)

    def _search_encoded(self, text: str) -> Iterator[tuple[int, Span]]:
        """Yield the words that say a secret in base64 or hex; all of a word goes."""
        for begin, end, plain in encoded(text):
            finds = self._search(plain, self._plan(plain))
            for rank, (first, last, rule) in finds:
                if last > first and not self._is_allowed(plain[first:last]):
                    yield _OF_A_VIEW + rank, (begin, end, rule)
                    break

    def _search(self, text: str, plan: _SearchPlan) -> Iterator[tuple[int, Span]]:
        """Yield all finds with the rank of their rule: what is most specific comes first."""
        from gitguard.model.redaction.keyed import assigned_secrets

        low = _lower(text)
        for at in sorted({at for literal, at in plan.literals if literal in low}):
            rank = at if at < len(self._custom) else 3000 + at
            yield from ((rank, span) for span in self._matches(self._rules[at], text))
        for at in plan.scans:
            if SCANS[at][0] in low:
                rank = 1000 + at if at < KEY_SCANS else 3900 + at
                yield from ((rank, span) for span in SCANS[at][1](text, low))
        for at, prefixes in plan.tokens:
            yield from ((2000 + at, span) for span in self._tokens(at, prefixes, text))
        yield from ((4000, span) for span in assigned_secrets(text, low, plan.key_words))
        if self._engine is not None:
            yield from ((5000, span) for span in self._engine.find(text))

    def _plan(self, text: str) -> _SearchPlan:
        # Most words stand in a text more than once and in other texts too, and what the rules need
        # lies within a word. So only words that are new, or that held something, are searched.
        words = set(text.split()) - self._ordinary
        if not words:
            return _NOTHING
        joined = " ".join(words)
        low = _lower(joined)
        long = " ".join([word for word in words if len(word) >= SHORTEST])
        literals = _held(self._in_phrases, low)
        if long:
            literals += _held(self._in_words, long.lower())
        scans = [scan for scan in _IN_SCANS if scan[0] in low]
        key_words = [word for word in KEY_WORDS if word in low]
        tokens = tokens_in(long) if long else ()
        encoding = list(encoded(long)) if len(long) >= SHORTEST_ENCODED else []
        is_needed = bool(literals or scans or key_words or tokens or encoding)
        if is_needed and len(words) <= _MOST_NEW:
            in_low = [*key_words, *[word for word, _at in (*literals, *scans)]]
            prefixes = [prefix for _at, rule_prefixes in tokens for prefix in rule_prefixes]
            holding = words_with(in_low, low, joined) | words_with(prefixes, joined, joined)
            holding |= words_with([long[begin:end] for begin, end, _plain in encoding], long, long)
            words -= holding
        if not is_needed or len(words) <= _MOST_NEW:
            # Words that hold nothing a rule needs are not searched again.
            self._size_of_ordinary += len(joined)
            if self._size_of_ordinary > _MOST_ORDINARY:
                self._ordinary.clear()
                self._size_of_ordinary = len(joined)
            if len(joined) <= _MOST_ORDINARY:
                self._ordinary |= words
        if not is_needed:
            return _NOTHING
        needed = [literal for _word, literal in literals]
        return _SearchPlan(
            tokens,
            needed,
            [at for _word, at in scans],
            key_words=key_words,
            is_encoding=bool(encoding),
        )

    def _tokens(self, token: int, prefixes: Sequence[str], text: str) -> Iterator[Span]:
        name, _all, tail_pattern = TOKENS[token]
        for prefix in prefixes:
            at = text.find(prefix)
            while at >= 0:
                behind = at + len(prefix)
                if begins_word(text, at, prefix) and goes_on(text, behind):
                    match = self._pattern(tail_pattern).match(text, behind)
                    is_found = match is not None and is_token(match[0], name)
                    if match and is_found and is_within(text, at, prefix):
                        is_found = is_by_chance(match[0])
                    if match and is_found:
                        behind = end_of_token(text, match.end())
                        yield at, behind, name
                at = text.find(prefix, behind)

    def _matches(self, rule: Rule, text: str) -> Iterator[Span]:
        pattern = self._pattern(rule.pattern)
        group: str | int = "secret" if "secret" in pattern.groupindex else 0
        for match in pattern.finditer(text):
            value = match[group] or ""
            is_custom = rule in self._custom
            if is_custom or not (
                is_placeholder(value) or (rule.random and not looks_random(value, 8))
            ):
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


def _parts_of(value: Any) -> tuple[set[str], set[str]]:
    """Return the texts of a document, its keys among them, and the keys that texts stand under."""
    texts: set[str] = set()
    names: set[str] = set()
    values: list[Any] = [value]
    for item in values:
        if isinstance(item, str):
            texts.add(item)
        elif isinstance(item, (list, tuple)):
            values += item
        elif isinstance(item, dict):
            values += item
            values += item.values()
            for name, value in item.items():
                is_list = isinstance(value, (list, tuple))
                lists_texts = is_list and any(not isinstance(listed, dict) for listed in value)
                if isinstance(name, str) and (lists_texts or isinstance(value, str)):
                    names.add(name)
    return texts, names


def _literals_with(custom: tuple[Rule, ...]) -> tuple[_Groups, _Groups]:
    """Return the rules' literals grouped: those of custom rules and phrases, and others.

    Those of the built-in rules alone are sorted once, because a hook makes several redactors.
    """
    if not custom and _BUILT_IN:
        return _BUILT_IN[0]
    literals = [*(rule.literals for rule in custom), *(line[1].split() for line in PHRASES)]
    phrases = [(_longest_word(word), (word, at)) for at, of in enumerate(literals) for word in of]
    first = len(literals)
    words = [(w, (w, first + at)) for at, line in enumerate(WORDS) for w in line[1].split()]
    groups = (_grouped(phrases), _grouped(words))
    if not custom:
        _BUILT_IN.append(groups)
    return groups


def _grouped(needed: Sequence[tuple[str, tuple[str, int]]]) -> _Groups:
    """Return literals, each behind what a text must hold for it, by what many of them share."""
    groups: dict[str, list[tuple[str, tuple[str, int]]]] = {}
    for word, literal in needed:
        shared = next((part for part in _SHARED if part in word), word)
        groups.setdefault(shared, []).append((word, literal))
    return tuple(groups.items())


def _held(groups: _Groups, low: str) -> list[tuple[str, tuple[str, int]]]:
    """Return the literals for which a text in lower case holds what it must."""
    shared = [literals for part, literals in groups if part in low]
    return [literal for literals in shared for literal in literals if literal[0] in low]


def _longest_word(literal: str) -> str:
    return max(literal.split(), key=len)


_BUILT_IN: list[tuple[_Groups, _Groups]] = []
"""The literals without those of custom rules, once they are sorted."""
_IN_SCANS = [(_longest_word(literal), at) for at, (literal, _scan) in enumerate(SCANS)]
"""The scans by a word that a text must hold."""


def _lower(text: str) -> str:
    """Return text in lower case with every character where it was."""
    low = text.lower()
    return low if len(low) == len(text) else text.replace("\u0130", "i").lower()
