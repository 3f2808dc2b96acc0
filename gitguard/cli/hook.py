"""`gitguard hook HOST`: one event in on standard input, one answer out.

It fails open: whatever goes wrong is marked for `gitguard status`, the answer is neutral, and the
exit code is 0, because hosts give exit codes meanings of their own. Only in a tool call it is
refused: what that says would be taken for the host's word.
"""

from __future__ import annotations

import gc
import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, BinaryIO

    from gitguard.errors import GitguardError
    from gitguard.hosts.base import Host
    from gitguard.model.events import Abilities, HookAnswer, HookEvent, HookReply

_HELD, _HELD_END = 64 << 20, 4 << 20
"""Bytes of an event that is looked at as a whole, and of each end of a larger one."""
_WHOLE = 256 << 10
"""Bytes up to which an event is parsed as it is; a larger one is cut first."""
MARGIN = 2.0
"""Seconds before the host would kill us; a kill leaves no mark."""
_SHORTEST_LIMIT = 8.0
"""Seconds that the most impatient event of all hosts is given; the input tells which it is."""
_LAST_WORDS = 1.0
"""Seconds in which a hook that ran out of time may leave its mark."""


_decided: list[HookAnswer] = []
"""The refusal that is answered should saving what belongs to it fail or take too long."""


class Overdue(BaseException):
    """Time is up. Not an `Exception`, so that nothing on the way takes it for its own fault."""


def run(arguments: list[str]) -> None:
    """Answer the event on standard input and end the process."""
    # The process lives for milliseconds: neither collecting nor tearing down pays.
    gc.disable()
    if runs_in_tool(arguments):
        _refuse_tool(arguments[0])
    _write_and_end(respond(arguments, sys.stdin.buffer if sys.stdin else None))


def _write_and_end(answer: HookAnswer | None) -> None:
    """Tell the host the answer, None for nothing, and end the process."""
    if answer is None:
        os._exit(0)
    for descriptor, text in ((1, answer.text), (2, answer.error)):
        try:  # noqa: SIM105 - contextlib costs more to import than the whole answer
            os.write(descriptor, text.encode("utf-8", "replace"))
        except OSError:
            pass
    os._exit(answer.code)


def runs_in_tool(arguments: list[str]) -> bool:
    """Say whether a tool call of the host that is named started this process."""
    from gitguard.hosts import HOSTS

    if len(arguments) != 1 or arguments[0] not in HOSTS:
        return False
    return HOSTS[arguments[0]].marks.has_tool_marks(os.environ)


def _refuse_tool(host: str) -> None:
    """End the process with an error; no host takes its exit code for a refusal of its own."""
    from gitguard.errors import OwnerOnly

    message = (
        f"error: `gitguard hook {host}` is for the host alone, and a tool call runs this command\n"
        "hint: Nothing was recorded. Use `gitguard note` to record what you know\n"
    )
    os.write(2, message.encode())
    os._exit(OwnerOnly.exit_code)


def respond(arguments: list[str], stream: BinaryIO | None) -> HookAnswer | None:
    """Answer the event in a stream; whatever goes wrong leaves a mark.

    The answer is None then, unless a refusal was decided before.
    """
    _decided.clear()
    try:
        _arm(_SHORTEST_LIMIT)
        data, end = stream.read(_HELD) if stream else b"", b""
        # Of an event that is too large to be held, its beginning and its end are looked at.
        while stream and len(data) == _HELD and (part := stream.read(_HELD_END)):
            end = part if len(part) == _HELD_END else (end + part)[-_HELD_END:]
        data, end = (data[:_HELD_END], end) if len(end) == _HELD_END else (data + end, b"")
        return answer(arguments, data, end)
    except BaseException as error:  # noqa: BLE001 - a hook must never break its host
        doing = "answering in time" if isinstance(error, Overdue) else "reading a hook's input"
        _mark(doing, error, _root(arguments))
        return _decided[0] if _decided else None


def _arm(limit: float) -> None:
    """Raise `Overdue` a little before the host stops waiting."""
    # `signal` itself would make three enumerations in every hook.
    import _signal  # type: ignore[import-not-found]

    if hasattr(_signal, "setitimer"):
        _signal.signal(_signal.SIGALRM, _overdue)
        _signal.setitimer(_signal.ITIMER_REAL, max(limit - MARGIN, 0.1))


def _overdue(_number: int, _frame: object) -> None:
    import _signal

    # Should even the mark hang, the process just ends; without a refusal that is neutral too.
    _signal.signal(_signal.SIGALRM, lambda *_: _write_and_end(_decided[0] if _decided else None))
    _signal.setitimer(_signal.ITIMER_REAL, _LAST_WORDS)
    raise Overdue("gitguard ended itself before the host would have ended it")


def answer(arguments: list[str], data: bytes, end: bytes = b"") -> HookAnswer | None:
    """Return the answer to one event; end is that of data that are too large to be held."""
    import gitguard.process as process  # noqa: PLR0402 - `from gitguard` would ask for its members
    from gitguard.errors import InvalidInput
    from gitguard.hosts import find_speaker
    from gitguard.model.events import HOOKS_OFF, HOOKS_VARIABLE, SPEAKING, STATUS_LINE

    if os.environ.get(HOOKS_VARIABLE) == HOOKS_OFF:
        return None  # a host that only summarizes for us is at work
    if len(arguments) != 1:
        raise InvalidInput("`gitguard hook` takes the name of one host")
    payload = _payload(data, end)
    host = find_speaker(arguments[0], payload, os.environ)
    event = host.parse_event(payload, os.environ, process.clock())
    if event.kind in SPEAKING and not event.from_tool:
        from gitguard.hosts import has_tool_marks

        # A host that was started in the shell of another one has its marks as well.
        event = event.replace(from_tool=has_tool_marks(os.environ))
    _arm(host.time_limit(event.kind))

    def decide(reply: HookReply) -> None:
        _decided[:] = [host.render_reply(event, reply.visible())]

    rendered = host.render_reply(event, _reply(event, host.abilities, decide))
    if event.kind == STATUS_LINE:
        return rendered.replace(text=_with_the_other_line(host, event, data, rendered.text))
    return rendered


def _payload(data: bytes, end: bytes) -> dict[str, Any]:
    """Read an event. An agent chooses what its tool calls hold: no nesting may hide one from us."""
    from gitguard.errors import InvalidDocument
    from gitguard.model.codec import load_json

    if end or len(data) > _WHOLE:
        from gitguard.model.bounded_json import bounded

        data = bounded(data, end)
    what, limit = "the hook's input", len(data)
    try:
        return load_json(data, what=what, limit=limit)
    except InvalidDocument as error:
        if not isinstance(error.__cause__, RecursionError):
            raise
        from gitguard.model.codec import cut_nesting

        return load_json(cut_nesting(data), what=what, limit=limit)


def _with_the_other_line(host: Host, event: HookEvent, data: bytes, our_line: str) -> str:
    from gitguard.cli.status_line import beside_the_other
    from gitguard.errors import NotARepository

    try:
        return beside_the_other(host, event, data, our_line)
    except NotARepository:
        return our_line
    except Exception as error:  # noqa: BLE001 - our own line is shown all the same
        _mark("calling the other status line", error, event.project_dir)
        return our_line


def _reply(
    event: HookEvent, abilities: Abilities, decide: Callable[[HookReply], None]
) -> HookReply:
    from gitguard import process
    from gitguard.errors import ForeignRepository, MissingState, NotARepository, OtherUser
    from gitguard.hooks.answering import (
        answer_unreachable,
        answer_without_repository,
        first_refusal,
        handle,
    )
    from gitguard.model.events import NEUTRAL
    from gitguard.store.session.current import open_workspace
    from gitguard.store.session.told_events import is_told_before

    # A host of many sessions may have been started from the shell of one of them.
    named = "" if event.session else os.environ.get("GITGUARD_ROOT", "")
    root, places = named or event.project_dir, process.places(os.environ, event.session)
    # First of all, so that nothing in the repository can keep a refusal from the agent.
    refusal = first_refusal(event, abilities, places, process.clock(), decide=decide)
    if refusal is not None:
        return refusal.visible()
    neutral, is_ours, workspace = NEUTRAL, False, None
    try:
        workspace, config = open_workspace(root, places, process.clock, for_hook=True)
        if is_told_before(workspace, event):
            return NEUTRAL
        return handle(workspace, config, event, abilities=abilities, decide=decide)
    except NotARepository:
        pass
    except OtherUser as error:
        neutral = _nothing_is_saved(event, error)
    except Exception as error:  # noqa: BLE001 - whatever it is, the agent goes on
        _mark(f"answering {event.kind}", error, root)
        is_ours = _is_ours(root)
        if isinstance(error, MissingState) and (workspace is not None or _is_recorded(root)):
            return answer_unreachable(
                event, abilities, places, now=process.clock(), error=error
            ).visible()
        if isinstance(error, ForeignRepository):
            neutral = _nothing_is_saved(event, error)
    now = process.clock()
    halted = answer_without_repository(event, abilities, places, now, is_ours=is_ours)
    return neutral if halted is None else halted.visible()


def _nothing_is_saved(event: HookEvent, error: GitguardError) -> HookReply:
    """Tell the agent that hooks do nothing in a place of another user, where it can be told."""
    from gitguard.model import events

    if event.kind not in (events.SESSION_START, events.BOOTSTRAP, events.PROMPT):
        return events.NEUTRAL
    line = f"[gitguard: hooks save nothing here. {error.message}. {error.hint}.]"
    return events.HookReply(context=line).visible()


def _is_ours(root: str) -> bool:
    """Say whether gitguard was set up for a repository that could not be read just now."""
    from gitguard.cli.process_environment import bare_workspace

    try:
        return bare_workspace(root).is_initialised
    except Exception:  # noqa: BLE001 - then nothing tells
        return False


def _is_recorded(root: str) -> bool:
    """Say whether the state directory vouches for a repository; a clone may bring in anything."""
    from gitguard.cli.process_environment import bare_workspace

    try:
        return bare_workspace(root).is_recorded
    except Exception:  # noqa: BLE001 - then nothing tells
        return False


def _root(arguments: list[str]) -> str:
    """Return the workspace as far as it is known without input; the shell may be elsewhere."""
    named = os.environ.get("GITGUARD_ROOT", "")
    if named or len(arguments) != 1:
        return named
    from gitguard.hosts import HOOKS, find_host, names

    return find_host(arguments[0]).project_dir(os.environ) if arguments[0] in names(HOOKS) else ""


def _mark(doing: str, error: BaseException, root: str = "") -> None:
    """Leave a mark for `gitguard status`, even where the configuration cannot be read."""
    try:
        from gitguard.cli.process_environment import bare_workspace

        bare_workspace(root).note_fault(doing, error)
    except Exception:  # noqa: BLE001, S110 - there is nowhere to leave a mark
        pass
