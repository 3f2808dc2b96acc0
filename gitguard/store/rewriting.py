"""Writes a history anew without what must not be in it; the one exception to "never rewritten".

The old commits stay in the object store until git collects them: nothing is removed here but refs
and reflogs that would keep them alive.
"""

from __future__ import annotations

from gitguard.model.checkpoint import FOLLOWS, parse_commit, purged_message
from gitguard.model.value import Value
from gitguard.store.anchor import Anchor

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from gitguard.model.checkpoint import Checkpoint
    from gitguard.store.checkpoints import Chain
    from gitguard.store.repository import Repository


class Remains(Value):
    """What of a purged history is left until git collects it."""

    objects: tuple[str, ...]
    """Commits, trees and blobs that the repository still has and the new history does not use."""
    refs: tuple[str, ...]
    """Other refs that still lead to the old history."""


class Rewriting:
    """Writes checkpoints of one session anew; the caller holds the session's lock."""

    def __init__(self, repository: Repository, chain: Chain) -> None:
        """Write through the repository's door."""
        self._repository = repository
        self._chain = chain

    def message(self, commit: str) -> str:
        """Return a commit's message as it stands in the object."""
        with self._repository.reader() as reader:
            body = reader.read(commit, "commit", limit=1 << 16)
        return body.decode("utf-8", "replace").partition("\n\n")[2]

    def write(
        self,
        checkpoint: Checkpoint,
        contents: Mapping[str, bytes],
        message: str,
        parent: str,
        rules: tuple[str, ...],
        *,
        aside: bool,
    ) -> str:
        """Write a checkpoint again on another parent, at its own time; return the commit's id.

        rules name what was taken out of it, none where only its parent is another. aside is
        whether it is none of ours for certain, and so is not signed.
        """
        message = purged_message(message, rules or (FOLLOWS,))
        return self._repository.write_commit(
            contents, parent, message, at=checkpoint.at, aside=aside
        )

    def replace_head(self, anchor: Anchor, new: str, state_sha256: str, reason: str) -> Anchor:
        """Point ref and anchor at the rewritten head, which has the same number."""
        planned = anchor.replace(
            pending=new, pending_sha256=state_sha256, pending_sequence=anchor.sequence
        )
        self._chain.anchors.write(planned)
        self._chain.point_at(new, anchor.committed, f"gitguard: {reason}")
        settled = planned.promoted().replace(previous="", reason=reason)
        self._chain.anchors.write(settled)
        return settled

    def drop(self, ref: str, commit: str) -> None:
        """Remove a ref of ours that still points at a commit."""
        self._repository.delete_ref(ref, commit)

    def forget_movements(self) -> None:
        """Empty the reflogs of the session's refs, which would keep the old commits alive."""
        for ref in (self._chain.ref, *self._chain.archives()):
            self._repository.expire_reflog(ref)

    def remains(self, old: Iterable[str], heads: Iterable[str]) -> Remains:
        """Say what is left of old commits once refs lead to new heads."""
        chain, repository = self._chain, self._repository
        used = {part for head in heads for c in chain.history(head) for part in self._parts(c.id)}
        left = [part for commit in old for part in self._parts(commit) if part not in used]
        with repository.reader() as reader:
            objects = tuple(part for part in dict.fromkeys(left) if reader.exists(part))
        refs = (repository.refs_containing(commit) for commit in old)
        return Remains(objects, tuple(dict.fromkeys(name for names in refs for name in names)))

    def _parts(self, commit: str) -> tuple[str, ...]:
        """Return a checkpoint's objects: commit, tree and files."""
        with self._repository.reader() as reader:
            body = reader.read(commit, "commit", limit=1 << 16)
            tree = parse_commit(commit, body)[1]
            return (commit, tree, *(blob for _, blob in reader.entries(tree)))
