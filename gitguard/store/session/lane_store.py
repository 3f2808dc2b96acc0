"""A lane of another writer, looked at like a session; nothing of it is ever written here."""

from __future__ import annotations

from contextlib import nullcontext

from gitguard.state.checkpoint import lane_author
from gitguard.store.session.anchor import Anchor
from gitguard.store.session.chain import Chain
from gitguard.store.session.chain_check import GO_ON, LEAVE, Verification
from gitguard.store.session.lane_state import VERSIONS_FILE
from gitguard.store.session.standing import OF_OTHERS, OURS, Head
from gitguard.store.session.store import SessionStore
from gitguard.store.session.workspace import Session

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from contextlib import AbstractContextManager

    from gitguard.errors import GitguardError
    from gitguard.model.config.config import Config
    from gitguard.state.checkpoint import Checkpoint
    from gitguard.store.git.reader import ObjectReader
    from gitguard.store.session.lanes import Lane
    from gitguard.store.session.workspace import Workspace

_FEW = 200
"""Commits of a lane up to which they are read one by one."""


class LaneStore(SessionStore):
    """Reads one writer's lane of a session."""

    has_working_files = False

    def __init__(
        self,
        workspace: Workspace,
        lane: Lane,
        newest: Checkpoint,
        config: Config,
        *,
        trusted: bool,
        reader: ObjectReader | None = None,
    ) -> None:
        """Describe the lane; newest is its newest commit, trusted whether its writer is.

        reader reads many lanes, where the caller has one open; else each walk starts a git.
        """
        super().__init__(workspace, Session(newest.session_key, lane.session), config)
        self.lane = lane
        self.newest = newest
        self.is_trusted = trusted
        self.reader = reader

    @property
    def author(self) -> str:
        """Who wrote it: the writer's id, and what its machine calls itself."""
        machine = self.newest.lane.machine if self.newest.lane is not None else ""
        return lane_author(self.lane.writer, self.workspace.redactor.text(machine))

    @property
    def chain(self) -> Chain:
        """The lane's checkpoints."""
        if self._chain is None:
            self._chain = _LaneChain(self)
        return self._chain


class _LaneChain(Chain):
    """The checkpoints of a lane; what this machine has of the session itself counts nothing."""

    def __init__(self, store: LaneStore) -> None:
        super().__init__(store.workspace, store.repository(), store.session, "")
        self.ref = store.lane.ref
        self._lane = store.lane
        self._newest = store.newest
        self._is_trusted = store.is_trusted
        self._reader = store.reader

    def head(self, *, settle: bool = False) -> Head:
        """Return where the lane is; nothing settles it, as only its writer moves it."""
        if not self._is_trusted:
            return Head(OF_OTHERS, self._lane.commit)
        anchor = Anchor(committed=self._lane.commit, sequence=self._newest.sequence)
        return Head(OURS, self._lane.commit, anchor)

    def archives(self) -> dict[str, str]:
        """Return nothing: no lane is set aside."""
        return {}

    def archived(self) -> list[Anchor]:
        """Return nothing, too."""
        return []

    def damaged(self) -> dict[str, GitguardError]:
        """Return nothing, too."""
        return {}

    def before_in_reflog(self, commit: str) -> str:
        """Return nothing: a lane only grows."""
        return ""

    def _reading(self) -> AbstractContextManager[ObjectReader]:
        return nullcontext(self._reader) if self._reader is not None else super()._reading()

    def _order(self, commit: str) -> Sequence[str]:
        mark = self._newest.lane
        # Few commits are read in less time than git takes to start.
        is_short = mark is not None and mark.counter <= _FEW
        return (commit,) if is_short else super()._order(commit)

    def _walk(self, reader: ObjectReader, way_out: str = GO_ON) -> Verification:
        return Verification(
            reader,
            self._session,
            way_out=LEAVE,
            may_have=VERSIONS_FILE,
            writer=self._lane.writer,
        )
