"""What holds a conversation, its halt or the override that lifted it, out of an agent's reach.

One small file a conversation in the user's state directory, named after the host and the host's id
of the conversation. Neither the repository, its path nor the session has a part in that name, so
nothing that an agent does inside of a repository can lift a halt. A file that is absent says
nothing, one that cannot be read means a halt.
"""

from __future__ import annotations

import os

from gitguard.errors import GitguardError, InvalidDocument, InvalidInput, NotWritable
from gitguard.model.codec import check_format, dump_json, load_json, sha256
from gitguard.store.disk import files
from gitguard.store.session.host_session import NEVER, Halt, Hold

TYPE_CHECKING = False
if TYPE_CHECKING:
    pass

FORMAT = 1
_FOLDER = "conversations"
_LIMIT = 1 << 16
_MOST = 500
"""So many records are kept; of those above, the overrides that are oldest go."""
_DEAD_AFTER = 90 * 86_400
"""Seconds behind the newest record after which a halted conversation is over."""


def folder_in(state_home: str) -> str:
    """Return where the records of all conversations lie."""
    return os.path.join(state_home, _FOLDER)


def path_of(state_home: str, host: str, conversation: str) -> str:
    """Return where a conversation's record lies."""
    name = sha256(f"{host}\0{conversation}".encode("utf-8", "surrogatepass"))[:32]
    return os.path.join(state_home, _FOLDER, f"{name}.json")


def read(path: str) -> Hold | None:
    """Return what holds a conversation.

    None where there is no record, and where the state directory is out of reach: then the sealed
    record in the repository decides.
    """
    try:
        data = files.read_bytes(path, limit=_LIMIT)
        return None if data is None else _decoded(data, path)
    except GitguardError as error:
        return _damaged(error) if os.path.lexists(path) else None


def _decoded(data: bytes, path: str) -> Hold:
    what = f"the conversation's record `{path}`"
    document = load_json(data, what=what, limit=_LIMIT)
    check_format(document, FORMAT, what=what)
    del document["format"]
    try:
        return Hold.from_document(document)
    except InvalidInput as error:
        raise InvalidDocument(f"{what} is damaged: {error.message}") from error


def _damaged(error: GitguardError) -> Hold:
    return Hold("", "", halt=Halt(NEVER, 1.0, error.message))


def keep(path: str, hold: Hold, now: float) -> bool:
    """Replace a record, durable; say whether the state directory let us.

    One that holds nothing is removed.
    """
    before = read(path)
    if hold.halt is None and hold.override is None:
        return before is None or files.remove(path)
    if before is not None and (before.halt, before.override) == (hold.halt, hold.override):
        return True
    if before is not None and before.halt is not None and hold.halt is not None:
        hold = hold.replace(denied=before.denied)  # the same halt, with what was saved since
    return _write(path, hold, now)


def count_denial(path: str, now: float) -> int:
    """Count a denied tool call; return how many there are since the last prompt, 0 if unknown."""
    hold = read(path)
    if hold is None or not hold.conversation:
        return 0
    counted = hold.replace(denied=hold.denied + 1)
    return counted.denied if _write(path, counted, now) else 0


def forget_denials(path: str, hold: Hold, now: float) -> None:
    """Count denied tool calls from 0 again, because the user has said something."""
    if hold.denied:
        _write(path, hold.replace(denied=0), now)


def _write(path: str, hold: Hold, now: float) -> bool:
    folder = os.path.dirname(path)
    try:
        is_new = not os.path.lexists(path)
        files.make_folder(folder)
        files.write_bytes(path, dump_json({"format": FORMAT, **hold.to_document()}))
    except NotWritable as error:
        if not files.is_refusal(error):
            raise
        return False
    if is_new:
        sweep(folder, now)
    return True


def all_in(state_home: str) -> list[Hold]:
    """Return every record, damaged ones included, in no order."""
    folder = folder_in(state_home)
    names = [name for name in files.names_in(folder) if name.endswith(".json")]
    holds = (read(os.path.join(folder, name)) for name in names)
    return [hold for hold in holds if hold is not None]


def sweep(folder: str, now: float) -> None:
    """Remove records of conversations that are over.

    A halted conversation is over when nothing was recorded of it for 90 days; it is never removed
    before, however many there are.
    """
    files.sweep(folder, now)
    names = [name for name in files.names_in(folder) if name.endswith(".json")]
    paths = sorted((os.path.join(folder, name) for name in names), key=files.changed_at)
    surplus = len(paths) - _MOST
    # By the newest record's own time: a clock that was set wrong must not end every halt.
    newest = files.changed_at(paths[-1]) if paths else 0
    for path in paths:
        is_old = newest - files.changed_at(path) > _DEAD_AFTER
        if not is_old and surplus <= 0:
            return
        hold = read(path)
        is_halted = hold is not None and hold.halt is not None
        if is_old or not is_halted:
            surplus -= files.remove(path)
