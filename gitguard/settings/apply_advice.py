"""Makes the settings that were advised.

A change is written down and the file kept beside itself before the first setting is made. Whatever
goes wrong after that gives the file back, byte for byte, before it is said.
"""

from __future__ import annotations

import os
import stat
from json import loads
from shlex import quote

from gitguard.errors import GitguardError, HostFailed, InvalidDocument, InvalidInput
from gitguard.hosts.adviser import UndoHelp, has_command
from gitguard.model.text import timestamp
from gitguard.model.value import Value
from gitguard.settings.advice import Advice, Desk, cut_off, digest, unfinished
from gitguard.settings.changes_file import ChangesFile, MadeChange
from gitguard.settings.hidden_lines import hide, lines_to_hide, unhide
from gitguard.settings.rollback import LOCK_TIMEOUT, put_back, refuse_moved
from gitguard.store.disk import files
from gitguard.store.disk.changes import FileEdit
from gitguard.store.disk.lock import Lock
from gitguard.store.disk.settings_text import with_values

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from gitguard.hosts.adviser import Adviser, AdviserAccess, CommandAdviser
    from gitguard.hosts.base import Ask

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
    file, unfit = advice.configuration.file, advice.configuration.unfit
    if unfit:
        raise InvalidDocument(unfit, "Make the changes yourself; nothing was changed")
    file = file if has_command(adviser) else os.path.realpath(file)
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
    change = FileEdit(file, file, seen, b"")
    change.refuse_unwritable()
    change.refuse_hard_link()


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
        application = _Application(desk, adviser, advice, planned)
        application.refuse_moved()
        return application.carry_out(record, tell)


class _Application:
    """One change while it is made."""

    def __init__(self, desk: Desk, adviser: Adviser, advice: Advice, planned: MadeChange) -> None:
        self._desk, self._adviser, self._advice = desk, adviser, advice
        self._edited: bytes | None = None
        if not has_command(adviser):
            values = {setting.key: setting.after for setting in advice.changes}
            what = "the settings file"
            self._edited = with_values(adviser.FORMAT, advice.seen, values, what=what)
        hidden = lines_to_hide(desk.common_dir, planned)
        self._planned = planned.replace(hidden=hidden, wrote=digest(self._edited))

    def refuse_moved(self) -> None:
        file = self._planned.file
        refuse_moved(file, self._advice.seen, self._desk.read(file), _AGAIN)

    def carry_out(self, record: ChangesFile, tell: Callable[[int, int], object]) -> Applied:
        # Backup, document and record come first: a change that is cut off can then be taken back.
        kept_at, is_begun = "", False
        try:
            record.put(self._planned)
            self._keep()
            self.refuse_moved()
            is_begun = True
            left_out, checked_by = self._make(tell)
            change = self._finished(left_out)
            record.put(change)
        except BaseException as error:
            if is_begun:
                kept_at = self._take_back()
            for path in filter(None, (self._planned.backup, self._planned.document)):
                files.remove(path)
            unhide(self._desk.common_dir, self._planned, self._desk.clock)
            record.forget(self._planned)
            _say_what_is(error, kept_at)
            raise
        return Applied(change, left_out, checked_by)

    def _keep(self) -> None:
        """Write down what is about to happen: the backup, and how to go back."""
        planned, seen = self._planned, self._advice.seen
        hide(self._desk.common_dir, planned, self._desk.clock)
        if seen is not None:
            owner = os.stat(planned.file)
            files.write_bytes(planned.backup, seen, mode=planned.mode & 0o600, owner=owner)
        self._write_document(planned)
        self._desk.places.at_step("settings kept")

    def _write_document(self, change: MadeChange) -> None:
        document = rollback_document(change, self._advice, self._adviser.UNDO)
        files.make_folder(os.path.dirname(change.document))
        files.write_bytes(change.document, document.encode())

    def _take_back(self) -> str:
        try:
            return put_back(self._desk, self._planned, self._advice.seen)
        except GitguardError as error:
            error.hint = (
                f"`{self._planned.file}` may be half changed; once the cause is fixed, "
                f"`{self._planned.rollback_command}` restores it"
            )
            raise

    def _finished(self, left_out: tuple[str, ...]) -> MadeChange:
        """Return the change as it was made; its document names no setting that was left out."""
        change = self._planned.replace(
            after=digest(self._desk.read(self._planned.file)),
            changes=tuple(each for each in self._planned.changes if each[0] not in left_out),
        )
        if left_out:
            self._write_document(change)
        return change

    def _make(self, tell: Callable[[int, int], object]) -> tuple[tuple[str, ...], str]:
        """Make the settings; return keys that were left out, and the command that checked."""
        at, adviser, planned = self._desk.surroundings(self._adviser), self._adviser, self._planned
        left_out: tuple[str, ...] = ()
        if has_command(adviser):
            if at.ask is None:
                raise HostFailed(f"`{adviser.PROGRAM}` is no longer on PATH", _AS_BEFORE)
            left_out = self._make_by_command(adviser, at.ask, tell)
        else:
            FileEdit(planned.file, planned.file, self._advice.seen, self._edited).make()
        self._desk.places.at_step("settings made")
        return left_out, self._confirm(at, left_out)

    def _make_by_command(
        self, adviser: CommandAdviser, ask: Ask, tell: Callable[[int, int], object]
    ) -> tuple[str, ...]:
        """Make settings one key at a time; return those that this version does not have."""
        left_out = []
        file, before = self._advice.configuration.file, self._advice.seen
        changes = self._advice.changes
        for number, setting in enumerate(changes):
            tell(number, len(changes))
            answer = ask(adviser.write_command(setting.key, setting.after))
            now = self._desk.read(file)
            self._desk.places.at_step(f"setting {setting.key}")
            if adviser.is_unknown(answer):
                left_out.append(setting.key)
                continue
            if answer.returncode:
                raise HostFailed(
                    f"{adviser.TITLE} did not set `{setting.key}` to `{setting.after}`: "
                    f"{answer.complaint}",
                    _AS_BEFORE,
                )
            if now == before:
                raise HostFailed(
                    f"{adviser.TITLE} reported that it set `{setting.key}`, but did not change "
                    f"`{file}`",
                    "That file is unchanged; check where the setting went",
                )
            before = now
        if len(left_out) == len(changes):
            none = f"this version of {adviser.TITLE} has none of these settings"
            raise HostFailed(none, _AS_BEFORE)
        return tuple(left_out)

    def _confirm(self, at: AdviserAccess, left_out: tuple[str, ...]) -> str:
        """Read all back through the host; return by which command it checked, if it has one."""
        title = self._adviser.TITLE
        try:
            installed = self._adviser.read_configuration(at, self._advice.configuration)
        except InvalidDocument as error:
            message = f"{title} refuses what was changed: {error.message}"
            raise HostFailed(message, _AS_BEFORE) from error
        for setting in self._advice.changes:
            value = installed.set_values.get(setting.key, "")
            if setting.key not in left_out and (not value or loads(value) != loads(setting.after)):
                raise HostFailed(
                    f"`{setting.key}` is `{value or 'not set'}` and not `{setting.after}`, though "
                    f"{title} did not refuse it",
                    _AS_BEFORE,
                )
        return installed.checked_by


def _say_what_is(error: BaseException, kept_at: str) -> None:
    """Add to an error that all is as before, and that the file as found is at kept_at.

    An interrupt has no words of its own, so it takes them as notes.
    """
    note = f"the file as it was then is kept in `{kept_at}`" if kept_at else ""
    if not isinstance(error, GitguardError):
        error.add_note("; ".join(filter(None, (_AS_BEFORE, note))))
    elif note:
        error.hint = "; ".join(filter(None, (error.hint, note)))


# What people read who take a change of a host's settings back, with or without gitguard


def rollback_document(planned: MadeChange, advice: Advice, undo: UndoHelp) -> str:
    """Return the document, as markdown."""
    keys = {key for key, _, _ in planned.changes}
    rows = [
        f"| {setting.title} | `{setting.key}` "
        f"| `{_value(setting.before)}` | `{_value(setting.after)}` |"
        for setting in advice.changes
        if setting.key in keys
    ]
    parts = [
        f"# Settings of {advice.title} changed by gitguard, {planned.at}",
        f"- File: `{planned.file}`\n- Backup: {_backup(planned)}",
        "## What changed",
        "\n".join(["| what | setting | before | after |", "| --- | --- | --- | --- |", *rows]),
        "## How to roll back",
        f"    {planned.rollback_command}",
        "Or without gitguard:",
        _by_hand(planned, undo),
        "## When a change takes effect",
        undo.counts[:1].upper() + undo.counts[1:] + ".",
        "## How to check the host",
        "\n".join(f"    {command}" for command in undo.health),
        "## If it does not start",
        f"Roll back as described above; {undo.repair}.",
    ]
    return "\n\n".join(parts) + "\n"


def _value(text: str) -> str:
    return text or "not set"


def _backup(planned: MadeChange) -> str:
    return f"`{planned.backup}`" if planned.backup else "none, because there was no file"


def _by_hand(planned: MadeChange, undo: UndoHelp) -> str:
    if not planned.backup:
        return f"    rm {quote(planned.file)}"
    back = f"    cp {quote(planned.backup)} {quote(planned.file)}"
    if undo.own_backup is None:
        return back
    theirs = planned.file + undo.own_backup.suffix
    return (
        f"    mv {quote(theirs)} {quote(f'{theirs}.aside')}\n{back}\n\n"
        f"The first command is needed because {planned.host} may restore its own backup, made at "
        "the time of the change, if it does not trust the file."
    )
