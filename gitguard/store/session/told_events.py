"""Which events were told already: a host tells of each once a hook, wherever its hooks stand.

A plugin and settings, or two files of settings, make two processes that begin at the same time.
The first one leaves a file behind, and the other one says nothing. Should the first one fail, the
event is lost as any whose hook fails; refusals are decided before this.
"""

from __future__ import annotations

import os

from gitguard.errors import GitguardError
from gitguard.model import events
from gitguard.store.disk import files

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitguard.model.events import HookEvent
    from gitguard.store.session.workspace import Workspace

_FOLDER = "_told"
_KEPT = 60.0
"""Seconds for which an event is known by its mark."""
_NAME_SIZE = 12
"""Bytes of the digest by which an event is known."""
_REPEATED = (events.STATUS_LINE, events.BOOTSTRAP, events.OTHER, events.TOOL_START)
"""Events that are answered as often as they are asked: every beginning of a call is judged, since a
process that failed may have been the one to refuse it."""


def is_told_before(workspace: Workspace, event: HookEvent) -> bool:
    """Say whether another process was told of an event, and remember that this one was.

    Where nothing can be remembered, no event was told before.
    """
    if not event.mark or event.kind in _REPEATED or not workspace.is_recorded:
        return False  # without a mark nothing tells a repetition from the same event once more
    folder = os.path.join(workspace.state_folder, _FOLDER)
    path = os.path.join(folder, _name(event))
    now = workspace.clock()
    try:
        if not _leave(folder, path, now):
            return True
        # Only now, and by this process alone: the other one may remove the same files.
        if event.kind == events.PROMPT:
            _forget(folder, now)
    except (OSError, GitguardError):
        return False
    return False


def _name(event: HookEvent) -> str:
    # `hashlib` would cost more to import than the rest of a calm hook.
    from _blake2 import blake2b

    tool = event.tool
    words = event.prompt or event.answer
    subject = f"{tool.name} {tool.id}" if tool is not None else words
    parts = (event.host, event.host_session, event.kind, event.sub_agent, event.mark, subject)
    data = "\0".join(parts).encode("utf-8", "replace")
    return blake2b(data, digest_size=_NAME_SIZE).hexdigest()


def _leave(folder: str, path: str, now: float) -> bool:
    """Leave a file behind; say whether none was there that still counts."""
    for _ in range(2):
        try:
            os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        except FileExistsError:
            is_over = abs(now - os.stat(path).st_mtime) >= _KEPT
            if is_over:
                os.utime(path, (now, now))
            return is_over
        except FileNotFoundError:
            files.make_folder(folder)
        else:
            os.utime(path, (now, now))
            return True
    return True


def _forget(folder: str, now: float) -> None:
    """Remove what no longer counts."""
    for name in files.names_in(folder):
        path = os.path.join(folder, name)
        if abs(now - os.stat(path).st_mtime) > _KEPT:
            files.remove(path)
