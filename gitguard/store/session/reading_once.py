"""One look at many sessions of a workspace, for which git lists the refs once."""

from __future__ import annotations

from gitguard.store.git.read_once import RepositoryReadOnce

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Self

    from gitguard.store.session.workspace import Workspace


class ReadingOnce:
    """A context in which a workspace's sessions see the refs as they were at its start."""

    def __init__(self, workspace: Workspace) -> None:
        """Prepare the look; nothing is read yet."""
        self._workspace = workspace

    def __enter__(self) -> Self:
        workspace = self._workspace
        self._repository = RepositoryReadOnce(
            workspace.place, workspace.places.environment, workspace.clock
        )
        workspace.read_once = self._repository
        return self

    def __exit__(self, *exception: object) -> None:
        self._workspace.read_once = None
        self._repository.close()
