"""Makes the settings that were advised.

A change is written down and the file kept beside itself before the first setting is made. Whatever
goes wrong after that gives the file back, byte for byte, before it is said.
"""

from __future__ import annotations

import os
import stat
from json import loads

from gitguard.errors import GitguardError, HostFailed, InvalidDocument, InvalidInput
from gitguard.hosts.adviser import has_command
from gitguard.model.text import timestamp
from gitguard.model.value import Value
from gitguard.settings.advice import cut_off, digest, unfinished
from gitguard.settings.changes_file import ChangesFile, MadeChange
from gitguard.settings.hidden_lines import hide, lines_to_hide, unhide
from gitguard.settings.rollback import LOCK_TIMEOUT, put_back, refuse_moved
from gitguard.settings.rollback_document import rollback_command, rollback_document
from gitguard.store.disk import files
from gitguard.store.disk.changes import FileEdit
from gitguard.store.disk.lock import Lock
from gitguard.store.disk.settings_text import with_values

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from gitguard.hosts.adviser import Adviser, AdviserAccess, CommandAdviser, FileAdviser
    from gitguard.hosts.base import Ask
    from gitguard.model.host_settings import Setting
    from gitguard.settings.advice import Advice, Desk
    from gitguard.store.disk.program import ProgramOutcome

_AS_BEFORE = "The settings are as they were before"
_AGAIN = "ask for the advice again"


class Applied(Value):
    """What came of a change."""

    made: MadeChange
    left_out: tuple[str, ...] = ()
    """Keys that the host's version does not have."""
    checked_by: str = ""
    """The host's command that found its settings valid, empty where it has none."""


def plan_change(desk: Desk, adviser: Adviser, advice: Advice, folder: str) -> MadeChange:
    """Say where the backup and the rollback document of a change will be; nothing is written.

    folder is where people reach the document. Raises what keeps the change from being made.
    """
    if not advice.changes:
        raise InvalidInput("there is nothing to apply", "All settings are already as advised")
    if advice.unfinished is not None:
        raise cut_off(advice.unfinished)
    if advice.found.unfit:
        raise InvalidDocument(advice.found.unfit, "Make the changes yourself; nothing was changed")
    file = advice.found.file if has_command(adviser) else os.path.realpath(advice.found.file)
    _refuse_unfit(adviser, file, advice.seen)
    at = timestamp(desk.clock())
    stamp = at.replace(":", "").replace("-", "")
    # The document's name is the change's, and two files may be changed in one second.
    name = f"gitguard-{advice.host}-{stamp}-{digest(os.fsencode(file))[:6]}"
    mode = stat.S_IMODE(os.stat(file).st_mode) if advice.seen is not None else 0o600
    return MadeChange(
        host=advice.host,
        file=file,
        at=at,
        backup=files.free_name(f"{file}.gitguard-{stamp}.bak") if advice.seen is not None else "",
        document=files.free_name(os.path.join(folder, name), ".md"),
        before=digest(advice.seen),
        mode=mode,
        pattern=advice.pattern,
        project=desk.project_of(file),
        changes=tuple((setting.key, setting.before, setting.after) for setting in advice.changes),
    )


def _refuse_unfit(adviser: Adviser, file: str, seen: bytes | None) -> None:
    if has_command(adviser) and os.path.islink(file):
        raise InvalidDocument(
            f"`{file}` is a symbolic link, and {adviser.TITLE}'s own command would replace it "
            "with a file",
            f"Put the file there, or make the changes in `{os.path.realpath(file)}` yourself; "
            "nothing was changed",
        )
    FileEdit(file, file, seen, b"").refuse_unwritable()


def apply(
    desk: Desk,
    adviser: Adviser,
    advice: Advice,
    planned: MadeChange,
    tell: Callable[[int, int], object] = max,
) -> Applied:
    """Make the advised settings, as planned; raises after all is as it was.

    tell is called with how many settings the host's command has made, of how many.
    Raises `SettingsMoved` where somebody changed the file since the advice, and `HostFailed` where
    the host refuses.
    """
    record = ChangesFile(desk.places.state_home)
    with Lock(record.lock_path, timeout=LOCK_TIMEOUT, clock=desk.clock):
        interrupted = unfinished(record.of(advice.host, desk.worktree), planned.file)
        if interrupted is not None:
            raise cut_off(interrupted)
        refuse_moved(planned.file, advice.seen, desk.read(planned.file), _AGAIN)
        edited = None if has_command(adviser) else _edited(adviser, advice)
        hidden = lines_to_hide(desk.common_dir, planned)
        planned = planned.replace(hidden=hidden, wrote=digest(edited))
        # Backup, document and record come first: a change that is cut off can then be taken back.
        try:
            _keep(desk, adviser, advice, planned, record)
            refuse_moved(planned.file, advice.seen, desk.read(planned.file), _AGAIN)
        except BaseException as error:
            _drop(desk, planned, record)
            _say_what_is(error, "")
            raise
        try:
            left_out, checked_by = _make(desk, adviser, advice, planned, edited, tell)
            change = _finished(desk, adviser, advice, planned, left_out)
            record.put(change)
        except BaseException as error:
            kept_at = _take_back(desk, planned, advice.seen)
            _drop(desk, planned, record)
            _say_what_is(error, kept_at)
            raise
    return Applied(change, left_out, checked_by)


def _finished(
    desk: Desk, adviser: Adviser, advice: Advice, planned: MadeChange, left_out: tuple[str, ...]
) -> MadeChange:
    """Return a change as it was made; its document names no setting that the host does not have."""
    change = planned.replace(
        after=digest(desk.read(planned.file)),
        changes=tuple(setting for setting in planned.changes if setting[0] not in left_out),
    )
    if left_out:
        _write_document(change, advice, adviser)
    return change


def _edited(adviser: FileAdviser, advice: Advice) -> bytes:
    values = {setting.key: setting.after for setting in advice.changes}
    return with_values(adviser.FORMAT, advice.seen, values, what="the settings file")


def _drop(desk: Desk, planned: MadeChange, record: ChangesFile) -> None:
    """Let nothing stay of a change that was not made, or is given back."""
    for path in filter(None, (planned.backup, planned.document)):
        files.remove(path)
    unhide(desk.common_dir, planned, desk.clock)
    record.forget(planned)


def _take_back(desk: Desk, planned: MadeChange, before: bytes | None) -> str:
    try:
        return put_back(desk, planned, before)
    except GitguardError as error:
        error.hint = (
            f"`{planned.file}` may be half changed; once the cause is fixed, "
            f"`{rollback_command(planned)}` restores it"
        )
        raise


def _say_what_is(error: BaseException, kept_at: str) -> None:
    """Add to an error that all is as before, and that the file as found is at kept_at.

    An interrupt has no words of its own, so it takes them as notes.
    """
    note = f"the file as it was then is kept in `{kept_at}`" if kept_at else ""
    if not isinstance(error, GitguardError):
        error.add_note("; ".join(filter(None, (_AS_BEFORE, note))))
    elif note:
        error.hint = "; ".join(filter(None, (error.hint, note)))


def _keep(
    desk: Desk, adviser: Adviser, advice: Advice, planned: MadeChange, record: ChangesFile
) -> None:
    """Write down what is about to happen: the backup, how to go back, the change itself."""
    record.put(planned)
    hide(desk.common_dir, planned, desk.clock)
    if advice.seen is not None:
        owner = os.stat(planned.file)
        files.write_bytes(planned.backup, advice.seen, mode=planned.mode & 0o600, owner=owner)
    _write_document(planned, advice, adviser)
    desk.places.at_step("settings kept")


def _write_document(change: MadeChange, advice: Advice, adviser: Adviser) -> None:
    files.make_folder(os.path.dirname(change.document))
    files.write_bytes(change.document, rollback_document(change, advice, adviser.UNDO).encode())


def _make(
    desk: Desk,
    adviser: Adviser,
    advice: Advice,
    planned: MadeChange,
    edited: bytes | None,
    tell: Callable[[int, int], object],
) -> tuple[tuple[str, ...], str]:
    """Make the settings; return keys that were left out, and the host's command that checked."""
    at = desk.surroundings(adviser)
    left_out: tuple[str, ...] = ()
    if has_command(adviser):
        if at.ask is None:
            raise HostFailed(f"`{adviser.PROGRAM}` is no longer on PATH", _AS_BEFORE)
        left_out = _make_by_command(desk, adviser, at.ask, advice, tell)
    else:
        FileEdit(planned.file, planned.file, advice.seen, edited).make()
    desk.places.at_step("settings made")
    return left_out, _confirm(adviser, at, advice, left_out)


def _make_by_command(
    desk: Desk,
    adviser: CommandAdviser,
    ask: Ask,
    advice: Advice,
    tell: Callable[[int, int], object],
) -> tuple[str, ...]:
    """Make settings one key at a time; return those that this version does not have."""
    left_out = []
    before = advice.seen
    for done, setting in enumerate(advice.changes):
        tell(done, len(advice.changes))
        answer = ask(adviser.write_command(setting.key, setting.after))
        now = desk.read(advice.found.file)
        desk.places.at_step(f"setting {setting.key}")
        if adviser.is_unknown(answer):
            left_out.append(setting.key)
            continue
        _refuse_failed(adviser, setting, answer)
        if now == before:
            raise HostFailed(
                f"{adviser.TITLE} reported that it set `{setting.key}`, but did not change "
                f"`{advice.found.file}`",
                "That file is unchanged; check where the setting went",
            )
        before = now
    if len(left_out) == len(advice.changes):
        raise HostFailed(f"this version of {adviser.TITLE} has none of these settings", _AS_BEFORE)
    return tuple(left_out)


def _refuse_failed(adviser: Adviser, setting: Setting, answer: ProgramOutcome) -> None:
    if answer.returncode:
        raise HostFailed(
            f"{adviser.TITLE} did not set `{setting.key}` to `{setting.after}`: {answer.complaint}",
            _AS_BEFORE,
        )


def _confirm(adviser: Adviser, at: AdviserAccess, advice: Advice, left_out: tuple[str, ...]) -> str:
    """Read all back through the host; return by which command it checked, if it has one."""
    try:
        installed = adviser.look(at, advice.found)
    except InvalidDocument as error:
        raise HostFailed(
            f"{adviser.TITLE} refuses what was changed: {error.message}", _AS_BEFORE
        ) from error
    for setting in advice.changes:
        value = installed.set_values.get(setting.key, "")
        if setting.key not in left_out and (not value or loads(value) != loads(setting.after)):
            raise HostFailed(
                f"`{setting.key}` is `{value or 'not set'}` and not `{setting.after}`, though "
                f"{adviser.TITLE} did not refuse it",
                _AS_BEFORE,
            )
    return installed.checked_by
