"""Settings of syncing: by itself or not, and where to."""

from __future__ import annotations

from gitguard.errors import InvalidConfig
from gitguard.model import fields
from gitguard.model.record import ConfigSection

AUTO_OFF, AUTO_TURN_END = AUTOMATIC = ("off", "turn-end")
REPOSITORY, SHARD = "{repository}", "{shard}"
"""What stands in an address for the repository's name, and for the number of a shard."""
_BOUNDS = {"shards": (1, 10_000)}


class SyncConfig(ConfigSection):
    """When sessions are synced, and with which remote."""

    auto: str = fields.text(
        "`turn-end` syncs in the background after each turn, with remotes that you agreed to once.",
        choices=AUTOMATIC,
        default=AUTO_OFF,
    )
    push: bool = fields.flag(
        "Whether `gitguard sync` pushes this machine's sessions; if not, it fetches and joins.",
        default=True,
    )
    remote: str = fields.text(
        "The remote for sessions, if it is not that of the current branch: a name as in `git "
        "remote`, or an address with `{repository}`, and perhaps `{shard}`, in it.",
        default="",
    )
    shards: int = fields.count(
        "Over how many remotes `{shard}` spreads sessions; the same on all machines.", default=16
    )

    def check(self, what: str) -> None:
        """Refuse an address at which sessions of several repositories would meet."""
        self.refuse_beyond(_BOUNDS, what, "sync")
        if is_address(self.remote) and REPOSITORY not in self.remote:
            raise InvalidConfig(
                f"{what}: `sync.remote` is `{self.remote}`, where sessions of all your "
                "repositories would meet",
                "Put `{repository}` into the address, or give the remote a name in each repository "
                "with `git remote add`",
            )


def is_address(remote: str) -> bool:
    """Say whether a remote is named by its address."""
    return "/" in remote or ":" in remote
