"""Secrets in checkpoints that were written already: what is found, and the same files without."""

from __future__ import annotations

from contextlib import suppress
from itertools import groupby

from gitguard.errors import InvalidDocument
from gitguard.model.codec import STATE_FILE, dump_json, load_json
from gitguard.model.redaction.redactor import RuleMatch
from gitguard.model.value import Value
from gitguard.state.checkpoint import SNAPSHOT_FILE
from gitguard.state.snapshot import read_snapshot, render_snapshot

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from gitguard.model.redaction.redactor import Redactor

UNREAD = "could-not-be-read"
"""Stands for a rule where nobody can say what is there."""
NAMED_VALUE = "named-value"
"""Stands for the rule of a value that a person gives."""
MESSAGE = "message"
"""Where a finding lies that is in the commit's message."""


class Leak(Value):
    """A secret that was written: where, and by which rule it was recognised; never the value."""

    where: str
    """A full ref or a path."""
    checkpoint: str
    """Its name, empty outside a history."""
    commit: str
    rule: str
    path: str
    """The file, and in a state the field."""

    @property
    def line(self) -> str:
        """Return the leak as a person reads it."""
        place = f"{self.checkpoint} {self.commit[:12]}" if self.checkpoint else self.where
        return f"{place}  {self.path}: {self.rule}"


class Cleaned(Value):
    """A checkpoint's files and message without secrets."""

    contents: Mapping[str, bytes]
    message: str
    findings: tuple[RuleMatch, ...]


def clean_checkpoint(contents: Mapping[str, bytes], message: str, redactor: Redactor) -> Cleaned:
    """Take the secrets out of a checkpoint's files and message; without any they stay the same."""
    cleaned: dict[str, bytes] = {}
    findings: list[RuleMatch] = []
    for name, data in contents.items():
        clean = {STATE_FILE: _clean_state, SNAPSHOT_FILE: _clean_snapshot}.get(name, _clean_text)
        cleaned[name], matches = clean(data, redactor)
        findings += [RuleMatch(f.rule, f"{name}:{f.path}" if f.path else name) for f in matches]
    clean_message, matches = _clean_message(message, redactor)
    return Cleaned(cleaned, clean_message, (*findings, *matches))


def _clean_state(data: bytes, redactor: Redactor) -> tuple[bytes, tuple[RuleMatch, ...]]:
    try:
        document = load_json(data, what="a state")
    except InvalidDocument:
        return _clean_text(data, redactor)
    cleaned, findings = redactor.document(document)
    return (dump_json(cleaned), findings) if findings else (data, ())


def _clean_snapshot(data: bytes, redactor: Redactor) -> tuple[bytes, tuple[RuleMatch, ...]]:
    findings = redactor.find(data.decode("utf-8", "replace"))
    if not findings:
        return data, ()
    with suppress(InvalidDocument):  # then as text, which keeps it as readable as it was
        data = render_snapshot(read_snapshot(data).redacted(redactor)[0])
    return _clean_text(data, redactor)[0], findings


def _clean_text(data: bytes, redactor: Redactor) -> tuple[bytes, tuple[RuleMatch, ...]]:
    text = data.decode("utf-8", "replace")
    findings = redactor.find(text)
    return (redactor.text(text).encode(), findings) if findings else (data, ())


def _clean_message(message: str, redactor: Redactor) -> tuple[str, tuple[RuleMatch, ...]]:
    """Clean what people wrote as a whole, because a secret may be split over lines."""
    parts: list[str] = []
    findings: list[RuleMatch] = []
    for is_bound, lines in groupby(message.split("\n"), _is_bound):
        text = "\n".join(lines)
        parts.append(text if is_bound else redactor.text(text))
        findings += () if is_bound else redactor.find(text)
    return "\n".join(parts), tuple(finding.replace(path=MESSAGE) for finding in findings)


def _is_bound(line: str) -> bool:
    # Which session and checkpoint a commit is, is bound to it; a branch's name is somebody's text.
    return line.startswith("Gitguard-") and not line.startswith("Gitguard-Branch: ")
