"""Who a commit is by, and when it was made."""

from __future__ import annotations

from gitguard.model.value import Value


class Stamp(Value):
    """Who a commit is by, and when it was made."""

    name: str
    email: str
    seconds: int

    def __str__(self) -> str:
        return f"{self.name} <{self.email}> {self.seconds} +0000"

    def to_environment(self) -> dict[str, str]:
        """Return what tells git the same."""
        parts = {"NAME": self.name, "EMAIL": self.email, "DATE": f"@{self.seconds} +0000"}
        return {f"GIT_{who}_{k}": v for who in ("AUTHOR", "COMMITTER") for k, v in parts.items()}
