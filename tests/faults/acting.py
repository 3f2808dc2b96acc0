"""Runs an act in a process of its own, which may die in it, and says how it ended."""

from __future__ import annotations

import ctypes
import os
import pickle
import signal
import socket
from collections.abc import Callable
from contextlib import suppress
from typing import NamedTuple

from gitguard.errors import GitguardError
from gitguard.store.session.store import Saved

_SET_TRACER = 0x59616D61


class Outcome(NamedTuple):
    """How an act ended."""

    signal: int = 0
    error: str = ""
    """The error it raised: its class and what it said."""
    is_ours: bool = True
    """Whether that was an error on purpose."""
    commit: str = ""
    """The checkpoint that was acknowledged."""
    is_acknowledged: bool = False
    """Whether the act ended as it should, and so what it did has to stay."""
    pending: str = ""

    def __str__(self) -> str:
        if self.signal:
            return f"died of signal {self.signal}"
        if self.error:
            return f"raised {self.error}"
        if not self.is_acknowledged:
            return "did not end"
        return f"acknowledged {self.commit or 'a pending checkpoint' * bool(self.pending)}".strip()


def act_apart(
    act: Callable[[], object],
    *,
    attach: Callable[[int], None] | None = None,
    started: Callable[[int], None] | None = None,
) -> Outcome:
    """Run an act in a forked process, which waits until attach was called with its id.

    started is called with the same id once it no longer waits.
    """
    reader, writer = os.pipe()
    gate, opener = socket.socketpair()  # whose calls are none of those that faults are tried at
    child = os.fork()
    if child == 0:
        os.close(reader)
        opener.close()
        _act(act, gate, writer)
    os.close(writer)
    if attach is not None:
        attach(child)
    opener.close()
    gate.close()
    if started is not None:
        started(child)
    return _ended(child, reader)


def _act(act: Callable[[], object], gate: socket.socket, writer: int) -> None:
    try:
        _let_anybody_trace()
        gate.recv(1)
        outcome = describe(act())
    except GitguardError as error:
        outcome = Outcome(error=f"{type(error).__name__}: {error}")
    except BaseException as error:
        outcome = Outcome(error=f"{type(error).__name__}: {error}", is_ours=False)
    try:
        os.write(writer, pickle.dumps(tuple(outcome)))
    finally:
        os._exit(0)


def _let_anybody_trace() -> None:
    # Some systems let only parents trace their children, and strace is a sister of ours.
    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(_SET_TRACER, ctypes.c_ulong(-1), 0, 0, 0)


def describe(result: object) -> Outcome:
    """Return what a command acknowledged."""
    saved = getattr(result, "saved", result)
    if isinstance(saved, Saved):
        return Outcome(commit=saved.commit, pending=saved.pending, is_acknowledged=True)
    return Outcome(is_acknowledged=True)


def _ended(child: int, reader: int) -> Outcome:
    with os.fdopen(reader, "rb") as pipe:
        said = pipe.read()
    status = os.waitpid(child, 0)[1]
    if os.WIFSIGNALED(status):
        return Outcome(signal=os.WTERMSIG(status))
    return Outcome(*pickle.loads(said)) if said else Outcome(signal=signal.SIGKILL)
