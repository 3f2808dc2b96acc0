"""The hosts' own summaries of a session, whole, in the store of file snapshots.

Each is a pack of its own. Its name says of which session it is, when it was kept and what its id
is, so there is no list that could be lost, and packing snapshots together leaves it alone.
"""

from __future__ import annotations

from contextlib import suppress

from gitguard.errors import Locked
from gitguard.model.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitguard.store.worktree.file_store import FileStore

MOST = 20
"""Summaries of a session that are kept, about 300 KB; older checkpoints name the older ones."""
_LIMIT = 1 << 20
"""Bytes of a pack that are read."""
_PATIENCE = 30.0
"""Seconds to wait for those who write."""


class KeptSummary(Value):
    """A summary that is kept."""

    id: str
    pack: str
    """The name of its pack."""


class KeptSummaries:
    """The summaries of one session."""

    def __init__(self, store: FileStore, session_name: str) -> None:
        """Describe them; nothing is read yet."""
        self._store = store
        self._session_name = session_name

    def list(self) -> tuple[KeptSummary, ...]:
        """Return the session's summaries, oldest first."""
        own = self._store.summaries_of(self._session_name)
        return tuple(KeptSummary(name.rpartition("-")[2], name) for name in own)

    def keep(self, text: str, at: float, id_length: int) -> str:
        """Keep a summary, durable, and remove the oldest beyond `MOST`; return its id."""
        with self._store.shared():
            data = text.encode("utf-8", "replace")
            kept = self._store.write_summary(self._session_name, int(at), data, id_length)
        with suppress(Locked):  # the next one tries again
            self.remove(self.list()[:-MOST], patience=0)
        return kept

    def read(self, summary_id: str) -> str | None:
        """Return a summary of this session by its id, None where it is not kept.

        Raises `InvalidDocument` where its pack is damaged.
        """
        for kept in self.list():
            if kept.id == summary_id:
                return self._store.read_summary(kept.pack, _LIMIT).decode("utf-8", "replace")
        return None

    def remove(self, summaries: tuple[KeptSummary, ...], patience: float = _PATIENCE) -> None:
        """Remove summaries; raise `Locked` if somebody writes for longer than patience seconds."""
        if not summaries:
            return
        with self._store.alone(patience):
            for kept in summaries:
                self._store.remove_pack(kept.pack)
