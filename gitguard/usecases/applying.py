"""Makes the settings that were advised, and takes them back.

A change is written down and the file kept beside itself before the first setting is made. Whatever
goes wrong after that gives the file back, byte for byte, before it is said.
"""

from __future__ import annotations

import os
import stat
from json import loads

from gitguard.errors import HostFailed, InvalidDocument, InvalidInput, SettingsMoved
from gitguard.hosts.advising import has_command
from gitguard.model.text import timestamp
from gitguard.model.value import Value
from gitguard.store import exclude, files
from gitguard.store.disk import FileChange, content
from gitguard.store.lock import Lock
from gitguard.store.settings_changes import ChangesFile, MadeChange
from gitguard.usecases.advising import cut_off, digest, unfinished
from gitguard.usecases.planning import EXCLUDE
from gitguard.usecases.rollback_document import rollback_document

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from gitguard.hosts.advising import Adviser, CommandAdviser, Surroundings
    from gitguard.hosts.base import Ask
    from gitguard.model.host_settings import Setting
    from gitguard.usecases.advising import Advice, Desk

_LOCK_TIMEOUT = 10.0
_AS_BEFORE = "The settings are as they were before"


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
        raise InvalidInput("there is nothing to apply", "All settings are as advised")
    if advice.unfinished is not None:
        raise cut_off(advice.unfinished)
    file = advice.found.file if has_command(adviser) else os.path.realpath(advice.found.file)
    _refuse_unfit(adviser, file, advice.seen)
    at = timestamp(desk.clock())
    stamp = at.replace(":", "").replace("-", "")
    mode = stat.S_IMODE(os.stat(file).st_mode) if advice.seen is not None else 0o600
    return MadeChange(
        host=advice.host,
        file=file,
        at=at,
        backup=files.free_name(f"{file}.gitguard-{stamp}.bak") if advice.seen is not None else "",
        document=files.free_name(os.path.join(folder, f"gitguard-{advice.host}-{stamp}.md")),
        before=digest(advice.seen),
        mode=mode,
        pattern=advice.figures.pattern,
        project=desk.project_of(file),
        changes=tuple((one.key, one.before, one.after) for one in advice.changes),
    )


def _refuse_unfit(adviser: Adviser, file: str, seen: bytes | None) -> None:
    if has_command(adviser) and os.path.islink(file):
        raise InvalidDocument(
            f"`{file}` is a symbolic link, and {adviser.TITLE}'s own command would put a file in "
            "its place",
            f"Put the file there, or make the changes in `{os.path.realpath(file)}` yourself; "
            "nothing was changed",
        )
    FileChange(file, file, seen, b"").refuse_unwritable()


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
    with Lock(record.lock_path, timeout=_LOCK_TIMEOUT, clock=desk.clock):
        cut = unfinished(desk, advice.host, planned.file)
        if cut is not None:
            raise cut_off(cut)
        refuse_moved(planned.file, advice.seen, desk.read(planned.file))
        _keep(desk, adviser, advice, planned, record)
        try:
            left_out, checked_by = _make(desk, adviser, advice, planned, tell)
        except BaseException:
            _give_back(desk, planned, advice.seen, record)
            raise
        made = planned.replace(after=digest(desk.read(planned.file)))
        record.put(made)
    return Applied(made, left_out, checked_by)


def _keep(
    desk: Desk, adviser: Adviser, advice: Advice, planned: MadeChange, record: ChangesFile
) -> None:
    """Write down what is about to happen: the backup, how to go back, the change itself."""
    _hide(desk, planned)
    if advice.seen is not None:
        files.write_bytes(planned.backup, advice.seen, mode=planned.mode & 0o600)
    text = rollback_document(planned, advice, adviser.UNDO)
    files.make_folder(os.path.dirname(planned.document))
    files.write_bytes(planned.document, text.encode())
    record.put(planned)
    desk.places.at_step("settings kept")


def _hide(desk: Desk, planned: MadeChange) -> None:
    """Keep what a change puts beside a project's file, and a new file, out of `git status`."""
    if not planned.project:
        return
    name = os.path.relpath(planned.file, planned.project)
    before = content(desk.common_dir, EXCLUDE)
    known = exclude.lines_of(before)
    wanted = [f"/{name}.gitguard-*", *([] if planned.backup else [f"/{name}"])]
    lines = tuple(dict.fromkeys([*known, *wanted]))
    if lines != known:
        after = exclude.with_block(before, lines)
        FileChange(os.path.join(desk.common_dir, EXCLUDE), EXCLUDE, before, after).make()


def _make(
    desk: Desk,
    adviser: Adviser,
    advice: Advice,
    planned: MadeChange,
    tell: Callable[[int, int], object],
) -> tuple[tuple[str, ...], str]:
    """Make the settings; return keys that were left out, and the host's command that checked."""
    at = desk.surroundings(adviser)
    left_out: tuple[str, ...] = ()
    if has_command(adviser):
        if at.ask is None:
            raise HostFailed(f"`{adviser.PROGRAM}` is gone from PATH", _AS_BEFORE)
        left_out = _make_by_command(desk, adviser, at.ask, advice.changes, tell)
    else:
        values = {one.key: one.after for one in advice.changes}
        edited = adviser.edit(advice.seen, values)
        FileChange(planned.file, planned.file, advice.seen, edited).make()
    desk.places.at_step("settings made")
    return left_out, _confirm(adviser, at, advice, left_out)


def _make_by_command(
    desk: Desk,
    adviser: CommandAdviser,
    ask: Ask,
    changes: tuple[Setting, ...],
    tell: Callable[[int, int], object],
) -> tuple[str, ...]:
    """Make settings one key at a time; return those that this version does not have."""
    left_out = []
    for done, setting in enumerate(changes):
        tell(done, len(changes))
        answer = ask(adviser.write_command(setting.key, setting.after))
        desk.places.at_step(f"setting {setting.key}")
        if answer.returncode == 0:
            continue
        if not adviser.is_unknown(answer):
            raise HostFailed(
                f"{adviser.TITLE} did not set `{setting.key}` to `{setting.after}`: "
                f"{answer.complaint}",
                _AS_BEFORE,
            )
        left_out.append(setting.key)
    return tuple(left_out)


def _confirm(adviser: Adviser, at: Surroundings, advice: Advice, left_out: tuple[str, ...]) -> str:
    """Read all back through the host; return by which command it checked, if it has one."""
    try:
        found = adviser.look(at, advice.found)
    except InvalidDocument as error:
        raise HostFailed(
            f"{adviser.TITLE} refuses what was changed: {error.message}", _AS_BEFORE
        ) from error
    for setting in advice.changes:
        now = found.standing.get(setting.key, "")
        if setting.key not in left_out and (not now or loads(now) != loads(setting.after)):
            raise HostFailed(
                f"`{setting.key}` is `{now or 'not set'}` and not `{setting.after}`, though "
                f"{adviser.TITLE} did not refuse it",
                _AS_BEFORE,
            )
    return found.checked_by


# Back


class Rollback(Value):
    """What taking a change back would do."""

    made: MadeChange
    before: bytes | None
    """The file as it was before the change, and will be again."""
    now: bytes | None
    is_moved: bool
    """Whether the file is not as the change left it."""

    def difference(self) -> str:
        """Return what taking it back does to the file."""
        return _difference(self.made.file, self.now, self.before)


def plan_rollback(desk: Desk, host: str) -> Rollback:
    """Return what taking the newest change of a host's settings back would do.

    Without a host it is the newest of all, and one that was cut off goes before others. Raises
    `InvalidInput` where there is none, and `InvalidDocument` where the backup is not what was kept.
    """
    made = ChangesFile(desk.places.state_home).of(host, desk.worktree)
    if not made:
        whose = f"settings of `{host}`" if host else "host's settings"
        raise InvalidInput(
            f"gitguard has changed no {whose} that could be taken back",
            "`gitguard config advise --apply` makes changes",
        )
    newest = next((one for one in made if not one.is_finished), made[-1])
    before = desk.read(newest.backup) if newest.backup else None
    if digest(before) != newest.before:
        raise InvalidDocument(
            f"the backup `{newest.backup}` is not what was kept",
            f"Look at it, and at `{newest.document}`; nothing was changed",
        )
    now = desk.read(newest.file)
    moved = newest.is_finished and digest(now) != newest.after
    return Rollback(newest, before, now, moved)


def roll_back(desk: Desk, planned: Rollback, *, even_if_moved: bool = False) -> str:
    """Take a change back; return where the file as it was found is kept, empty for nowhere.

    Raises `SettingsMoved` where the file is not as the change left it, unless told to go on, and
    where it changed since this was planned.
    """
    record, made = ChangesFile(desk.places.state_home), planned.made
    with Lock(record.lock_path, timeout=_LOCK_TIMEOUT, clock=desk.clock):
        now = desk.read(made.file)
        refuse_moved(made.file, planned.now, now)
        refuse_moved_since(planned, even_if_moved=even_if_moved)
        kept = ""
        foreign = planned.is_moved or not made.is_finished
        if now is not None and now != planned.before and foreign:
            kept = files.free_name(f"{made.backup or f'{made.file}.gitguard-new'}.undone")
            files.write_bytes(kept, now, mode=made.mode & 0o600)
        _restore(desk, made, planned.before)
        record.forget(made)
    return kept


def refuse_moved_since(planned: Rollback, *, even_if_moved: bool) -> None:
    """Refuse to take back what somebody changed since, unless told to."""
    if planned.is_moved and not even_if_moved:
        raise SettingsMoved(
            f"`{planned.made.file}` was changed after gitguard changed it",
            "Say --even-if-changed to go back all the same; what is there now is kept beside it",
            planned.difference(),
        )


def _restore(desk: Desk, made: MadeChange, before: bytes | None) -> None:
    if before is None:
        files.remove(made.file)
    else:
        files.write_bytes(made.file, before, mode=made.mode)
        os.chmod(made.file, made.mode)
    if digest(desk.read(made.file)) != made.before:
        raise InvalidDocument(
            f"`{made.file}` is not as it was", f"Copy `{made.backup}` over it by hand"
        )


def _give_back(desk: Desk, planned: MadeChange, before: bytes | None, record: ChangesFile) -> None:
    """Undo a change that failed; what was written down of it goes, as nothing has changed."""
    _restore(desk, planned, before)
    record.forget(planned)
    for path in filter(None, (planned.backup, planned.document)):
        files.remove(path)


def refuse_moved(file: str, seen: bytes | None, now: bytes | None) -> None:
    """Refuse to go on with a file that somebody changed since it was looked at."""
    if seen == now:
        return
    raise SettingsMoved(
        f"somebody changed `{file}` since it was looked at; gitguard changed nothing",
        "Look at the difference, and ask for the advice again",
        _difference(file, seen, now),
    )


def _difference(file: str, old: bytes | None, new: bytes | None) -> str:
    return FileChange(file, file.lstrip("/"), old, new).diff()
