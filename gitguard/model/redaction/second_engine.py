"""A second engine beside the rules of our own, for who installs it: `pip install gitguard[redact]`.

Its finds are taken out like those of the rules, in the same rounds, so that redacting twice still
changes nothing. It is a young package of one author, and therefore pinned and never needed.
"""

from __future__ import annotations

from gitguard.errors import InvalidConfig
from gitguard.model.redaction.rules import LONGEST_RULE_NAME, RULE_NAME

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from gitguard.model.redaction.keyed import Span

NAME = "redact-secret"
_HARMLESS = ("allow", "warn")
"""What it says of finds that are not to be taken out."""


class SecondEngine:
    """Finds secrets by the package `redact-secret`."""

    def __init__(self) -> None:
        """Load the package; raise `InvalidConfig` where it is not installed."""
        try:
            import redact_secret
        except ImportError as error:
            raise InvalidConfig(
                f"`redaction.engine` is `{NAME}`, which is not installed",
                "Install it with `pip install 'gitguard-workspace[redact]'`, or take the setting "
                "out of your config.yaml",
            ) from error
        self._package = redact_secret
        self.version = f"{NAME} {redact_secret.VERSION}"

    def find(self, text: str) -> Iterator[Span]:
        """Yield where secrets stand in a text, each with the name of what found it."""
        # Halves of surrogate pairs cannot be handed over; what stands for them is as long.
        readable = text.encode("utf-8", "replace").decode("utf-8")
        try:
            findings = self._package.scan(readable)
        except self._package.SecretScanError:
            yield 0, len(text), NAME  # it could not look, so nobody knows what is in there
            return
        for finding in findings:
            if finding.action not in _HARMLESS:
                yield finding.start, finding.end, _rule(finding.detector)


def _rule(name: str) -> str:
    is_fit = 0 < len(name) <= LONGEST_RULE_NAME and not name.strip(RULE_NAME)
    return name if is_fit else NAME
