"""How fast histories are verified: rows of `make bench`."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from gitguard.errors import GitguardError
from gitguard.model.codec import STATE_FILE, sha256
from gitguard.sessions.verification import verify
from gitguard.state.checkpoint import FILES, CheckpointRecord, format_message
from gitguard.store.session.anchor import identity_of
from gitguard.store.session.store import SessionStore

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from tests.benches.bench_workspace import Scratch

FAST_ENOUGH = 4000
"""Checkpoints a second on a packed history."""


def import_history(
    scratch: Scratch,
    record: CheckpointRecord,
    contents: Mapping[str, bytes],
    count: int,
    *,
    differing: bool = False,
    version: Callable[[int], tuple[str, Mapping[str, bytes]]] | None = None,
) -> SessionStore:
    """Give a session a packed history of count more checkpoints, as if we had written it.

    All have the same files, unless they are to differ. version returns for a number why that
    checkpoint is taken, and its files.
    """

    def same(_: int) -> tuple[str, Mapping[str, bytes]]:
        return record.why, contents

    history = History(scratch.store(), record, count, version or same)
    history.differs = differing or version is not None
    import_histories(scratch, [history])
    return history.store


class History:
    """Checkpoints that a session is to get behind its newest one."""

    def __init__(
        self,
        store: SessionStore,
        record: CheckpointRecord,
        count: int,
        version: Callable[[int], tuple[str, Mapping[str, bytes]]],
    ) -> None:
        """Plan them; version returns for a number why a checkpoint is taken, and its files."""
        self.store = store
        self.count = count
        self.differs = True
        """Whether each has other files."""
        self._record, self._version = record, version
        self._head = store.own_head()
        self._newest: Mapping[str, bytes] = {}

    def stream(self) -> Iterator[bytes]:
        """Yield them in the language of `git fast-import`."""
        ref, base = self.store.chain.ref.encode(), self._head.own_anchor.sequence
        yield b"reset %s\nfrom %s\n\n" % (ref, self._head.id.encode())
        for number in range(self.count):
            why, contents = self._version(number)
            numbered = self._record.replace(sequence=base + number + 1, why=why)
            message = format_message(numbered).encode()
            yield (
                b"commit %s\ncommitter gitguard <gitguard@localhost> %d +0000\ndata %d\n%s"
                % (ref, time.time(), len(message), message)
            )
            if number == 0 or self.differs:
                self._newest = {name: _changed(data, number) for name, data in contents.items()}
                for name, data in self._newest.items():
                    yield b"M 100644 inline %s\ndata %d\n%s\n" % (name.encode(), len(data), data)
            yield b"\n"

    def anchor(self, commit: str) -> None:
        """Note the newest of them, as whoever writes one does."""
        anchor = self._head.own_anchor.replace(
            committed=commit,
            sequence=self._head.own_anchor.sequence + self.count,
            state_sha256=sha256(self._newest[STATE_FILE]),
            identity=identity_of(self.store.workspace.place.common_dir),
        )
        self.store.chain.anchors.write(anchor)


def import_histories(scratch: Scratch, histories: Sequence[History]) -> None:
    """Write the checkpoints of several sessions into one pack."""
    packed = ("-c", "fastimport.unpackLimit=0")
    stream = b"".join(part for history in histories for part in history.stream())
    scratch.git(*packed, "fast-import", "--quiet", "--force", stdin=stream)
    listed = scratch.git("for-each-ref", "--format=%(refname) %(objectname)").decode()
    commits = dict(line.split() for line in listed.splitlines())
    for history in histories:
        history.anchor(commits[history.store.chain.ref])


def _changed(data: bytes, number: int) -> bytes:
    return data.replace(b"Run the slow tests", b"For the %d. time, run the slow tests" % number)


def unverified_read(store: SessionStore) -> Callable[[], object]:
    """Read the newest checkpoint's objects through one git, believing whatever it says."""
    chain = store.chain
    commit = chain.head().id
    git = chain._repository.git  # noqa: SLF001

    def read() -> list[bytes]:
        process = git.start("cat-file", "--batch")
        names = [commit, f"{commit}^{{tree}}", *(f"{commit}:{name}" for name in FILES)]
        try:
            found = []
            for name in names:
                size = int(process.ask(name)[2])
                while len(process._unread) <= size:  # noqa: SLF001
                    process._take_more()  # noqa: SLF001
                found.append(bytes(process._unread[:size]))  # noqa: SLF001
                del process._unread[: size + 1]  # noqa: SLF001
            return found
        finally:
            process.finish()

    return read


def verified_read(store: SessionStore) -> Callable[[], object]:
    """Read the newest checkpoint as a commit does before it builds on it."""
    head = store.own_head()
    return lambda: store.chain.verify(head, most=1)


def checkpoints_a_second(store: SessionStore, runs: int) -> float:
    """Verify a whole history a few times; return the best rate, for disturbances only slow."""
    rates = []
    for _ in range(runs):
        started = time.perf_counter()
        report = verify(store)
        rates.append(report.checkpoints / (time.perf_counter() - started))
        if report.findings:
            raise GitguardError(f"the history is not sound: {report.findings[0]}")
    return max(rates)
