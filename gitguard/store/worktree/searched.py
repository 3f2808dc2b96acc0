"""What a search for secrets came to, as it is remembered for the next one."""

from __future__ import annotations

from gitguard.model import fields
from gitguard.model.record import Record


class Searched(Record):
    """What the search of a large file came to."""

    path: str = fields.text("As a manifest has it.")
    size: int = fields.count("The bytes that it had.")
    digest: str = fields.text("SHA-256 of the rules and these bytes.")
    reason: str = fields.text("Why it is left out; empty where it holds no secret.", default="")
