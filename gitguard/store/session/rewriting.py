"""Writes a history anew without what must not be in it; the one exception to "never rewritten".

The old commits stay in the object store until git collects them: nothing is removed here but refs
and reflogs that would keep them alive.
"""

from __future__ import annotations

import os

from gitguard.model.commit import parse_commit
from gitguard.model.value import Value
from gitguard.state.checkpoint import FOLLOWS, purged_message
from gitguard.store.disk.files import read_bytes
from gitguard.store.git.remote import PUBLISHED_REFS
from gitguard.store.session.anchor import Anchor
from gitguard.store.session.chain_check import refuse

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from gitguard.state.checkpoint import Checkpoint
    from gitguard.store.git.repository import Repository
    from gitguard.store.session.chain import Chain


_COMMIT_LIMIT = 1 << 16
_LOG_LIMIT = 1 << 28
_NAMING = ("HEAD", "ORIG_HEAD", "logs/HEAD", "logs/refs/stash")
"""Files of a git directory that may name a commit and are no refs of ours."""


class Remains(Value):
    """What of a purged history is left until git collects it."""

    objects: tuple[str, ...] = ()
    """Commits, trees and blobs that stay until git collects them."""
    held: tuple[str, ...] = ()
    """Those that it will not collect, because something still leads to them."""
    refs: tuple[str, ...] = ()
    """What does: refs, and heads and reflogs as files of the git directory."""


class PastCheckpoint(Value):
    """A checkpoint of a history, with all that is needed to write it again."""

    checkpoint: Checkpoint
    contents: Mapping[str, bytes]
    message: str
    objects: tuple[str, ...]
    """Its commit, tree and files."""


class Rewriting:
    """Writes checkpoints of one session anew; the caller holds the session's lock."""

    def __init__(self, repository: Repository, chain: Chain) -> None:
        """Write through the repository's door."""
        self._repository = repository
        self._chain = chain

    def past(self, head: str) -> list[PastCheckpoint]:
        """Return the checkpoints of a history, newest first; raise where one is not sound."""
        links = list(self._chain.links(head, None))
        for link in links:
            refuse(link)
        with self._repository.reader() as reader:
            bodies = reader.read_all([link.id for link in links], "commit", limit=_COMMIT_LIMIT)
        blobs: dict[str, bytes] = {}
        history = []
        for link in links:
            # Newest first, so a file that checkpoints share was read with the newest of them.
            blobs.update((link.files[name], data) for name, data in link.contents.items())
            body, checkpoint = bodies[link.id], link.checkpoint
            assert isinstance(body, bytes)
            assert checkpoint is not None
            history.append(
                PastCheckpoint(
                    checkpoint,
                    {name: blobs[blob] for name, blob in link.files.items()},
                    parse_commit(body).message,
                    (link.id, link.tree, *link.files.values()),
                )
            )
        return history

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
        # As for a new checkpoint: the anchor names what the ref is about to point at, so that a
        # crash on either side of the move leaves a head of ours.
        planned = anchor.replace(
            pending=new, pending_sha256=state_sha256, pending_sequence=anchor.sequence
        )
        self._chain.anchors.write(planned)
        self._chain.point_at(new, anchor.committed, f"gitguard: {reason}")
        # The head before holds what was purged: it must not count as ours any more.
        settled = planned.promoted().replace(previous="", reason=reason)
        self._chain.anchors.write(settled)
        return settled

    def drop(self, ref: str, commit: str) -> None:
        """Remove a ref of ours that still points at a commit."""
        self._repository.delete_ref(ref, commit)

    def forget_published(self, session: str) -> None:
        """Remove what remembers a session's publications, which would keep the old states alive."""
        for name, ref in self._repository.refs(PUBLISHED_REFS.rstrip("/")).items():
            if f"/{session}/" in name.removeprefix(PUBLISHED_REFS):
                self.drop(name, ref.id)

    def forget_movements(self) -> None:
        """Empty the reflogs of the session's refs, which would keep the old commits alive."""
        for ref in (self._chain.ref, *self._chain.archives()):
            self._repository.expire_reflog(ref)

    def remains(self, old: Mapping[str, tuple[str, ...]]) -> Remains:
        """Say what is left of old commits, given with their objects, oldest first."""
        chain, repository = self._chain, self._repository
        in_session = repository.reachable("--objects", chain.ref, *chain.archives())
        with repository.reader() as reader:
            parts = dict.fromkeys(part for parts in old.values() for part in parts)
            left = [part for part in parts if part not in in_session and reader.exists(part)]
        our_refs = ("--glob=refs/heads/gitguard", "--glob=refs/gitguard")
        held_objects = set(repository.reachable("--objects", *our_refs))
        # Of other refs only the commits are listed: the objects of a large repository are many.
        for commit in repository.reachable("--all", "--reflog") & old.keys():
            held_objects.update(old[commit])
        return Remains(
            objects=tuple(part for part in left if part not in held_objects),
            held=tuple(part for part in left if part in held_objects),
            refs=self._holders(tuple(old)),
        )

    def _holders(self, old: tuple[str, ...]) -> tuple[str, ...]:
        """Name the refs that lead to old commits, and the heads and reflogs that name one."""
        # Every worktree has a HEAD, an ORIG_HEAD and reflogs of its own, which are no refs.
        holders = dict.fromkeys(self._repository.refs_containing(old[0]) if old else ())
        common = self._repository.place.common_dir
        folders = ["", *(f"worktrees/{name}/" for name in _names_in(f"{common}/worktrees"))]
        for path in (f"{folder}{name}" for folder in folders for name in _NAMING):
            text = (read_bytes(f"{common}/{path}", limit=_LOG_LIMIT) or b"").decode(
                "ascii", "replace"
            )
            if any(commit in text for commit in old):
                holders[path] = None
        return tuple(holders)


def _names_in(folder: str) -> list[str]:
    return sorted(os.listdir(folder)) if os.path.isdir(folder) else []
