"""`gitguard hook HOST`: one event in on standard input, one answer out.

It fails open: whatever goes wrong is marked for `gitguard status`, the answer is neutral, and the
exit code is 0, because hosts give exit codes meanings of their own.
"""

from __future__ import annotations

import gc
import os
import sys
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitguard.hosts.base import Host
    from gitguard.model.events import HookEvent, HookReply

INPUT_LIMIT = 64 << 20
"""The largest event that is read, in bytes; tool results can be large."""


def run(arguments: list[str]) -> None:
    """Answer the event on standard input and end the process."""
    # The process lives for milliseconds: neither collecting nor tearing down pays.
    gc.disable()
    text = ""
    try:
        text = answer(arguments, sys.stdin.buffer.read(INPUT_LIMIT + 1))
    except BaseException as error:  # noqa: BLE001 - a hook must never break its host
        _mark("reading a hook's input", error)
    try:  # noqa: SIM105 - contextlib costs more to import than the whole answer
        os.write(1, text.encode("utf-8", "replace"))
    except OSError:
        pass
    os._exit(0)


def answer(arguments: list[str], data: bytes) -> str:
    """Return the answer to one event."""
    from gitguard.errors import InvalidInput
    from gitguard.hosts import find_host
    from gitguard.model.codec import load_json
    from gitguard.model.events import STATUS_LINE

    if len(arguments) != 1:
        raise InvalidInput("`gitguard hook` takes the name of one host")
    host = find_host(arguments[0])
    payload = load_json(data, what="the hook's input", limit=INPUT_LIMIT)
    event = host.parse_event(payload, os.environ, time.time())
    text = host.render_reply(event, _reply(event, offers_pressure=host.OFFERS_PRESSURE))
    return _with_the_other_line(host, event, data, text) if event.kind == STATUS_LINE else text


def _with_the_other_line(host: Host, event: HookEvent, data: bytes, own: str) -> str:
    from gitguard.cli.status_line import beside_the_other
    from gitguard.errors import NotARepository

    try:
        return beside_the_other(host, event, data, own)
    except NotARepository:
        return own
    except Exception as error:  # noqa: BLE001 - our own line is shown all the same
        _mark("calling the other status line", error, event.project_dir)
        return own


def _reply(event: HookEvent, *, offers_pressure: bool) -> HookReply:
    from gitguard.cli.surroundings import places
    from gitguard.errors import NotARepository
    from gitguard.model.events import NEUTRAL
    from gitguard.store.settings import open_workspace
    from gitguard.usecases.hooks import handle

    root = os.environ.get("GITGUARD_ROOT") or event.project_dir
    try:
        workspace, config = open_workspace(root, places(os.environ), time.time)
        return handle(workspace, config, event, offers_pressure=offers_pressure)
    except NotARepository:
        return NEUTRAL
    except Exception as error:  # noqa: BLE001 - whatever it is, the agent goes on
        _mark(f"answering {event.kind}", error, root)
        return NEUTRAL


def _mark(doing: str, error: BaseException, root: str = "") -> None:
    """Leave a mark for `gitguard status`, even where the configuration does not read."""
    try:
        from gitguard.cli.surroundings import places
        from gitguard.model.config import DEFAULTS
        from gitguard.store.place import locate
        from gitguard.store.workspace import Workspace

        place = locate(root or os.getcwd())
        known = places(os.environ)
        workspace = Workspace(place, known, DEFAULTS.store.directory, time.time)
        workspace.note_fault(doing, error)
    except Exception:  # noqa: BLE001, S110 - there is nowhere to leave a mark
        pass
