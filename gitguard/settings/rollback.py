"""Takes changes of hosts' settings back, and loses nothing that somebody wrote into the file."""

from __future__ import annotations

import os
import re
import stat

from gitguard import hosts
from gitguard.errors import InvalidDocument, InvalidInput, SettingsMoved
from gitguard.hosts.adviser import find_adviser
from gitguard.hosts.base import belongs_to_user
from gitguard.model.document_edits import has_entries
from gitguard.model.value import Value
from gitguard.settings.advice import Desk, digest, settled_changes, unfinished
from gitguard.settings.changes_file import ChangesFile, MadeChange
from gitguard.settings.folder_edits import without_ours
from gitguard.settings.hidden_lines import unhide
from gitguard.store.disk import files, settings_text
from gitguard.store.disk.changes import FileEdit
from gitguard.store.disk.lock import Lock
from gitguard.store.session.install_ledger import Installed, LedgerFile

_OF_PLUGIN = re.compile(rb"""["']?gitguard["']?\s*:""")
"""The plugin's entry in a host's own settings, by its name."""
LOCK_TIMEOUT = 10.0
"""Seconds; a host's command that is left over may still write."""


class Rollback(Value):
    """What taking a change back would do."""

    made: MadeChange
    before: bytes | None
    """The file as it was before the change, and will be again."""
    now: bytes | None
    is_moved: bool
    """Whether the file is not as the change left it."""
    newer: tuple[MadeChange, ...] = ()
    """Later changes of the same file, whose backups are lost; they are taken back with it."""
    is_installed_over: bool = False
    """Whether the file is as installing gitguard for the host left it."""

    def difference(self) -> str:
        """Return what taking it back does to the file."""
        return _difference(self.made.file, self.now, self.before)


def plan_rollback(desk: Desk, host: str) -> Rollback:
    """Return what taking the newest change of a host's settings back would do.

    Without a host it is the newest of all; one that was cut off goes before others, and one whose
    backup is gone after them. Raises `InvalidInput` where there is none, and `InvalidDocument`
    where no backup is what was kept.
    """
    changes = _made(desk, host)
    interrupted = unfinished(changes)
    for change in (interrupted,) if interrupted else reversed(changes):
        now, before = desk.read(change.file), _before(desk, change)
        if digest(now) == change.before:
            before = now
        if digest(before) == change.before:
            moved = change.is_finished and digest(now) not in (change.before, change.after)
            later = changes[changes.index(change) + 1 :] if change.is_finished else ()
            newer = tuple(
                later_change for later_change in later if later_change.file == change.file
            )
            if moved:
                before = _without_hooks(change, before, now)
            return Rollback(
                change,
                before,
                now,
                is_moved=moved,
                newer=newer,
                is_installed_over=_is_as_installed(desk, change, now),
            )
    lost = newest_change(desk, host)
    left = [f"`{path}`" for path in (lost.backup, lost.document) if os.path.lexists(path)]
    look = f"Look at {' and '.join(left)}; " if left else ""
    raise InvalidDocument(
        f"the backup {_what_of_backup(lost)}",
        f"{look}`{lost.rollback_command} --forget` keeps `{lost.file}` as it is and forgets the "
        "change",
    )


def _without_hooks(change: MadeChange, before: bytes | None, now: bytes | None) -> bytes | None:
    """Return what is put back without hooks of gitguard that were taken out since.

    Raises `SettingsMoved` where only the host itself could take them out again.
    """
    if before is None or change.host not in hosts.names(hosts.INSTALLING):
        return before
    settings = hosts.find_installing(change.host)
    if belongs_to_user(settings):
        if _OF_PLUGIN.search(before) and not _OF_PLUGIN.search(now or b""):
            raise SettingsMoved(
                f"the backup `{change.backup}` has gitguard's hooks in it, which were uninstalled "
                f"after gitguard changed `{change.file}` at {change.at}",
                f"Run `gitguard init --host {change.host}` and roll back again, or run "
                f"`{change.rollback_command} --forget` to keep the file as it is",
            )
        return before
    format = settings.SETTINGS[os.path.relpath(change.file, change.project)]
    was = settings_text.load(format, before, what=f"`{change.backup}`")
    try:
        current = settings_text.load(format, now, what=f"`{change.file}`")
    except InvalidDocument:
        current = {}
    if has_entries(current, settings.is_ours):
        return before
    left = without_ours(was, settings, beneath=current)
    if left == was:
        return before
    return settings_text.rewritten(format, before, left, what=f"`{change.file}`") if left else None


def _what_of_backup(change: MadeChange) -> str:
    wrong = "has other content" if os.path.lexists(change.backup) else "is gone"
    return f"`{change.backup}` {wrong}"


def _is_as_installed(desk: Desk, change: MadeChange, now: bytes | None) -> bool:
    if not change.project or now is None:
        return False
    installed = LedgerFile(desk.state_folder, change.host).read().get(change.project, Installed())
    entry = installed.files.get(os.path.relpath(change.file, change.project))
    return entry is not None and entry.is_unchanged(now)


def _before(desk: Desk, change: MadeChange) -> bytes | None:
    try:
        return desk.read(change.backup) if change.backup else None
    except InvalidDocument:
        return None


def newest_change(desk: Desk, host: str) -> MadeChange:
    """Return a host's change that was cut off, else the newest; without a host that of all.

    Raises `InvalidInput` where there is none.
    """
    changes = _made(desk, host)
    return unfinished(changes) or changes[-1]


def _made(desk: Desk, host: str) -> tuple[MadeChange, ...]:
    changes = settled_changes(desk, host)
    if changes:
        return changes
    whose = f"settings of `{host}`" if host else "host's settings"
    none = f"gitguard has changed no {whose} that it could undo"
    everywhere = ChangesFile(desk.places.state_home).read()
    commands = [
        f"`{change.rollback_command}`" for change in everywhere if host in ("", change.host)
    ]
    if commands:
        raise InvalidInput(
            f"{none} here, but some in other projects", ", ".join(dict.fromkeys(commands))
        )
    raise InvalidInput(none, "`gitguard config advise --apply` makes changes")


def forget(desk: Desk, change: MadeChange) -> None:
    """Forget a change; its file and what is beside it stay as they are."""
    record = ChangesFile(desk.places.state_home)
    with Lock(record.lock_path, timeout=LOCK_TIMEOUT, clock=desk.clock):
        record.forget(change)


def roll_back(desk: Desk, planned: Rollback, *, even_if_moved: bool = False) -> str:
    """Take a change back; return where the file as it was found is kept, empty for nowhere.

    Raises `SettingsMoved` where the file is not as the change left it, unless told to go on, and
    where it changed since this was planned.
    """
    record, change = ChangesFile(desk.places.state_home), planned.made
    with Lock(record.lock_path, timeout=LOCK_TIMEOUT, clock=desk.clock):
        refuse_moved(change.file, planned.now, desk.read(change.file), "run the command again")
        refuse_moved_since(planned, even_if_moved=even_if_moved)
        kept_at = put_back(desk, change, planned.before)
        _sweep(desk, change)
        for undone in (change, *planned.newer):
            unhide(desk.common_dir, undone, desk.clock)
            record.forget(undone)
    return kept_at


def _sweep(desk: Desk, change: MadeChange) -> None:
    """Remove what a kill left of a file that was being written."""
    folder, name = os.path.split(change.file)
    begins, ends = f"{name}.", ".tmp"

    def is_ours(middle: str) -> bool:
        return middle[len(begins) : -len(ends)].isdigit()

    files.sweep(folder, desk.clock(), begins=begins, ends=ends, is_ours=is_ours)


def refuse_moved_since(planned: Rollback, *, even_if_moved: bool) -> None:
    """Refuse to take back what somebody changed since, unless told to."""
    if not planned.is_moved or even_if_moved:
        return
    change = planned.made
    by, way = "", "Use"
    if planned.is_installed_over:
        by = f", by `gitguard init --host {change.host}`"
        way = f"Run `gitguard uninstall --host {change.host}` first, or use"
    elif planned.newer:
        newest = planned.newer[-1]
        by = f", by its change at {newest.at}, whose backup {_what_of_backup(newest)}"
    raise SettingsMoved(
        f"`{change.file}` was changed after gitguard changed it at {change.at}{by}",
        f"{way} --even-if-changed to roll back anyway; gitguard saves the current file beside it",
        planned.difference(),
    )


def put_back(desk: Desk, change: MadeChange, before: bytes | None) -> str:
    """Give a file the bytes that it had; return where it is kept as it was found.

    Nothing is kept of a file that is not there, is as before, or is what gitguard itself wrote: all
    else may be somebody's work, done while the host made its settings or looked at them.
    """
    now = desk.read(change.file)
    kept_at = ""
    if now is not None and digest(now) not in (change.before, change.wrote):
        kept_at = files.free_name(f"{change.backup or f'{change.file}.gitguard-new'}.undone")
        files.write_bytes(kept_at, now, mode=change.mode & 0o600, owner=os.stat(change.file))
    _give(change, before, now)
    _outlast_the_host(desk, change, before)
    if digest(desk.read(change.file)) != digest(before):
        raise InvalidDocument(
            f"`{change.file}` could not be restored", f"Copy `{change.backup}` over it by hand"
        )
    return kept_at


def _give(change: MadeChange, before: bytes | None, now: bytes | None) -> None:
    owner = os.stat(change.backup) if os.path.exists(change.backup) else None
    if now != before:
        FileEdit(change.file, change.file, now, before).make(mode=change.mode, owner=owner)
    try:
        if before is not None and stat.S_IMODE(os.stat(change.file).st_mode) != change.mode:
            os.chmod(change.file, change.mode)
    except OSError as error:
        raise files.refused(change.file, error) from error


def _outlast_the_host(desk: Desk, change: MadeChange, before: bytes | None) -> None:
    """Give a file back once more where the host takes its own backup instead when it reads it.

    That backup is of the time of the change; without it the host takes the file as it is.
    """
    adviser = find_adviser(change.host)
    host_backup = adviser.UNDO.own_backup
    if (
        host_backup is None
        or before is None
        or not os.path.lexists(change.file + host_backup.suffix)
    ):
        return
    backup, ask = change.file + host_backup.suffix, desk.surroundings(adviser).ask
    if ask is None:
        return
    ask(host_backup.reading)
    now = desk.read(change.file)
    if now == before or now != desk.read(backup):
        return
    try:
        os.rename(backup, files.free_name(f"{change.backup}.host"))
    except OSError as error:
        raise files.refused(backup, error) from error
    _give(change, before, now)
    ask(host_backup.reading)


def refuse_moved(file: str, seen: bytes | None, now: bytes | None, then: str) -> None:
    """Refuse to go on with a file that somebody changed since it was looked at.

    then is what to do when the difference was looked at.
    """
    if seen == now:
        return
    raise SettingsMoved(
        f"`{file}` changed since it was read; gitguard changed nothing",
        f"Review the difference, and {then}",
        _difference(file, seen, now),
    )


def _difference(file: str, old: bytes | None, new: bytes | None) -> str:
    return FileEdit(file, file.lstrip("/"), old, new).diff()
