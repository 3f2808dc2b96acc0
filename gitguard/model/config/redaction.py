"""Settings of what is a secret: a user's own rules, and whether they can be in force."""

from __future__ import annotations

from gitguard.errors import InvalidConfig
from gitguard.model import fields
from gitguard.model.record import ConfigSection, Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitguard.model.redaction.redactor import Redactor
    from gitguard.model.redaction.rules import Rule

_MOST_RULES = 50
"""So many rules of one's own, because every text is held against each of them."""


class CustomRule(Record):
    """A shape of secret that only a project or its owner knows."""

    name: str = fields.text("What the placeholder says: `[REDACTED:name]`.")
    pattern: str = fields.text(
        "Literals, character classes, `\\b`, and one bounded repetition of a class."
    )


class RedactionConfig(ConfigSection):
    """What counts as a secret, besides the rules that are built in."""

    rules: tuple[CustomRule, ...] = fields.records(
        "Your own rules for secrets.", of=CustomRule, default=()
    )
    allow: tuple[str, ...] = fields.texts(
        "SHA-256, in hex, of values that are not secrets.", default=()
    )
    engine: str = fields.text(
        "A second engine, such as `redact-secret`; install it first.",
        choices=("", "redact-secret"),
        default="",
    )

    def check(self, what: str) -> None:
        """Refuse rules that could not be held against every text, and what is no hash."""
        from gitguard.model.redaction.patterns import check_pattern, is_rule_name

        if len(self.rules) > _MOST_RULES:
            raise InvalidConfig(
                f"{what}: `redaction.rules` has {len(self.rules)} rules; {_MOST_RULES} are allowed"
            )
        for i, rule in enumerate(self.rules):
            if not is_rule_name(rule.name):
                raise InvalidConfig(
                    f"{what}: `redaction.rules[{i}].name` is `{rule.name:.80}`",
                    "Use lower-case letters, digits and `-`",
                )
            reason = check_pattern(rule.pattern)
            if reason:
                raise InvalidConfig(
                    f"{what}: `redaction.rules[{i}].pattern` is `{rule.pattern:.80}`: {reason}"
                )
        for digest in self.allow:
            if len(digest) != 64 or not set(digest) <= set("0123456789abcdef"):
                raise InvalidConfig(
                    f"{what}: `redaction.allow` lists `{digest:.80}`, which is no SHA-256",
                    "List what `printf %s VALUE | sha256sum` prints",
                )


def redactor_of(redaction: RedactionConfig, further: tuple[Rule, ...] = ()) -> Redactor:
    """Return what takes secrets out of everything, with a configuration's and further rules."""
    from gitguard.model.redaction.patterns import custom_rule
    from gitguard.model.redaction.redactor import Redactor

    rules = (custom_rule(rule.name, rule.pattern) for rule in redaction.rules)
    engine = None
    if redaction.engine:
        from gitguard.model.redaction.second_engine import SecondEngine

        engine = SecondEngine()
    return Redactor((*further, *rules), redaction.allow, engine)
