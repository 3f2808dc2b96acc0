"""Whether a user's rules of what is a secret can be in force."""

from __future__ import annotations

from gitguard.errors import InvalidConfig

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitguard.model.config import RedactionConfig

_MOST_RULES = 50
"""So many rules of one's own, because every text is held against each of them."""


def check_redaction(redaction: RedactionConfig, what: str) -> None:
    """Refuse rules that could not be held against every text, and what is no hash."""
    from gitguard.model.redaction_patterns import check_pattern, is_rule_name

    if len(redaction.rules) > _MOST_RULES:
        raise InvalidConfig(
            f"{what}: `redaction.rules` has {len(redaction.rules)} rules; {_MOST_RULES} are allowed"
        )
    for i, rule in enumerate(redaction.rules):
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
    for digest in redaction.allow:
        if len(digest) != 64 or not set(digest) <= set("0123456789abcdef"):
            raise InvalidConfig(
                f"{what}: `redaction.allow` lists `{digest:.80}`, which is no SHA-256",
                "List what `printf %s VALUE | sha256sum` prints",
            )
