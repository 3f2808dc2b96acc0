"""Which settings of a host to change for a way of working; nothing is written here."""

from __future__ import annotations

import os
from hashlib import sha256

from gitguard.errors import GitguardError, InvalidDocument, InvalidInput, SettingsMoved
from gitguard.hosts.adviser import AdviserAccess
from gitguard.model.config.config import SMALLEST_WINDOW, Config
from gitguard.model.events import MOST_TOKENS, Window
from gitguard.model.value import Value
from gitguard.pressure.gauge import resolve_window
from gitguard.profile.patterns import MIXED, UNKNOWN
from gitguard.settings.changes_file import ChangesFile, MadeChange
from gitguard.settings.figures import Halting, figures_for, judge
from gitguard.store.disk import files
from gitguard.store.disk.changes import FileEdit, content
from gitguard.store.disk.lock import Lock
from gitguard.store.disk.program import ProgramOutcome, find_program
from gitguard.store.session.current import current_session
from gitguard.store.session.install_ledger import LedgerFile
from gitguard.store.session.store import SessionStore

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from gitguard.hosts.adviser import Adviser, HostConfiguration, Offer
    from gitguard.hosts.base import Ask
    from gitguard.model.host_settings import Figures, Setting
    from gitguard.profile.profiling import Profiled
    from gitguard.store.session.workspace import UserDirs, Workspace

_NAMED = ("named",)
"""The evidence for a way of working that nothing but its name tells."""
_USUAL = "usual: "
"""How the evidence for the way of working of most past sessions begins."""
_LIMIT = 4 << 20
"""Bytes of a host's settings file; one that is larger is none."""


class Desk(Value):
    """Where advice on hosts' settings is given and carried out: one user, in a project or not."""

    places: UserDirs
    config: Config
    clock: Callable[[], float]
    worktree: str = ""
    """The project's folder, empty outside of one."""
    common_dir: str = ""
    """That project's git directory."""
    state_folder: str = ""
    """gitguard's state of that project."""
    store: SessionStore | None = None
    """Its current session, None where none is begun."""
    at_question: Callable[[str], object] = str
    """Called with each command that a host's program is asked, before it runs for seconds."""

    def read(self, path: str) -> bytes | None:
        """Read a settings file, None where there is none; a repository's links are refused.

        Raises `InvalidDocument` for a path that is not absolute: a host may mean another folder.
        """
        if not os.path.isabs(path):
            raise InvalidDocument(
                f"`{path}` is not an absolute path, so the host may read another file",
                "Name the host's folder in full; nothing was changed",
            )
        project = self.project_of(path)
        if project:
            return content(project, os.path.relpath(path, project))
        return files.read_bytes(os.path.realpath(path), limit=_LIMIT)

    def project_of(self, path: str) -> str:
        """Return the project that a path lies in, if it is this one; else nothing."""
        return self.worktree if self.worktree and path.startswith(self.worktree + os.sep) else ""

    def surroundings(self, adviser: Adviser) -> AdviserAccess:
        """Return what an adviser may look at."""
        places = self.places
        environment = {"HOME": places.home, **places.environment}
        program = find_program(adviser.PROGRAM, environment, self.worktree)
        ask = self._asking(adviser.PROGRAM, program.run) if program else None
        return AdviserAccess(ask, self.read, environment, home=places.home, worktree=self.worktree)

    def _asking(self, name: str, run: Ask) -> Ask:
        def ask(arguments: tuple[str, ...]) -> ProgramOutcome:
            self.at_question(" ".join((name, *arguments)))
            return run(arguments)

        return ask

    def is_halted(self, host: str) -> bool:
        """Say whether gitguard's hooks are installed for a host, and so may halt its agent."""
        if LedgerFile(self.places.state_home, host).read():
            return True
        folder = self.state_folder
        return bool(folder) and self.worktree in LedgerFile(folder, host).read()


def desk_in(workspace: Workspace, config: Config) -> Desk:
    """Return the desk of a workspace, with its current session where one is begun and reads."""
    place = workspace.place
    try:
        store = SessionStore(workspace, current_session(workspace), config)
    except GitguardError:
        store = None
    return Desk(
        workspace.places,
        config,
        workspace.clock,
        worktree=place.worktree,
        common_dir=place.common_dir,
        state_folder=workspace.state_folder,
        store=store,
    )


class ObservedWork(Value):
    """What a conversation shows of the work."""

    host: str
    pattern: str
    evidence: tuple[str, ...]
    window: int = 0
    """Tokens; 0 where nobody said it."""
    runway: tuple[int, int] | None = None
    """The fewest and the most tool calls until the halt."""
    hours: float = 0.0
    """How long it has gone on; 0 where nothing tells."""


def work_of(profiled: Profiled) -> ObservedWork:
    """Return what a profile shows of the work."""
    usage, pattern, runway = profiled.usage, profiled.pattern, profiled.profile.runway
    is_reported = not usage.window_source.startswith("assumed")
    return ObservedWork(
        usage.transcript.format,
        pattern.name,
        pattern.evidence,
        window=usage.window if is_reported else 0,
        runway=(runway.calls.low, runway.calls.high) if runway else None,
        hours=profiled.hours,
    )


class AdviceQuestion(Value):
    """What advice is asked for."""

    pattern: str = ""
    """The way of working as somebody named it, else empty."""
    hours: float = 0.0
    """How long the conversations go on; 0 for as long as the newest one shows."""
    spared: tuple[str, ...] = ()
    """Tools whose output is never to be cleared."""
    window: int = 0
    """The window as somebody named it, in tokens; else 0."""
    work: ObservedWork | None = None
    """What the newest conversation shows, where there is one."""
    usual: str = ""
    """The way of working of most past sessions, empty where none is usual."""
    why_usual: str = ""
    """How that is known, in words."""


class Withheld(Value):
    """A change that is not advised again, and what came of it before."""

    setting: Setting
    why: str


class Advice(Value):
    """What is right in a host's settings, and what is to change."""

    host: str
    title: str
    configuration: HostConfiguration
    figures: Figures
    pattern: str
    """The way of working as it is known; unknown where that of the figures is assumed."""
    evidence: tuple[str, ...]
    """How the pattern is known, in words."""
    window_source: str
    """host, given, config, model, conversation, or empty where nobody knows the window."""
    right: tuple[Setting, ...]
    changes: tuple[Setting, ...]
    offer: Offer
    seen: bytes | None
    """The file as it was when this was decided; None where there was none."""
    runway: tuple[int, int] | None = None
    """The fewest and the most tool calls until the halt, of the newest conversation of the host."""
    unfinished: MadeChange | None = None
    """A change that was cut off, and has to be taken back first."""
    withheld: tuple[Withheld, ...] = ()
    """What past sessions speak against."""
    is_again: bool = False
    """Whether somebody asks for changes that past sessions speak against."""

    @property
    def is_named(self) -> bool:
        """Whether somebody named the way of working, and the newest conversation shows another."""
        return self.evidence == _NAMED

    @property
    def is_usual(self) -> bool:
        """Whether the way of working is that of most past sessions, as no conversation tells."""
        return self.evidence[0].startswith(_USUAL)


def digest(data: bytes | None) -> str:
    """Return the SHA-256 of a file's content, empty for no file."""
    return "" if data is None else sha256(data).hexdigest()


def advise(desk: Desk, adviser: Adviser, question: AdviceQuestion) -> Advice:
    """Say what to change in a host's settings for a way of working, and why."""
    _refuse_meaningless(question)
    pattern, evidence = _pattern(question)
    installed, file_bytes = _read_configuration(desk, adviser)
    work = question.work if question.work and question.work.host == adviser.NAME else None
    measured = resolve_window(installed.model, installed.window, desk.config.window)
    if installed.window:
        _refuse_other_window(adviser, installed.window, question.window)
    window, source = _window(measured, installed, question.window, work)
    halting = _halting(desk, adviser, measured, installed)
    work_style = MIXED if pattern == UNKNOWN else pattern
    hours = question.hours or (work.hours if work else 0.0)
    figures = figures_for(work_style, window, halting=halting, hours=hours, spared=question.spared)
    offer = adviser.offer(installed, figures)
    verdict = judge(offer.settings)
    return Advice(
        adviser.NAME,
        adviser.TITLE,
        installed,
        figures=figures,
        pattern=pattern,
        evidence=evidence,
        window_source=source,
        right=verdict.right,
        changes=verdict.changes,
        offer=offer,
        seen=file_bytes,
        runway=work.runway if work else None,
        unfinished=unfinished(settled_changes(desk, adviser.NAME), installed.file),
    )


def _refuse_meaningless(question: AdviceQuestion) -> None:
    if not 0 <= question.hours < float("inf"):
        raise InvalidInput(
            f"`--hours {question.hours:g}` is not a number of hours", "Give 0 or more"
        )
    if question.window and not SMALLEST_WINDOW <= question.window <= MOST_TOKENS:
        raise InvalidInput(
            f"`--window {question.window}` is not a usable window",
            f"Give it in tokens, from {SMALLEST_WINDOW:,} to {MOST_TOKENS:,}",
        )
    if not all(tool.strip() for tool in question.spared):
        raise InvalidInput(
            "the name of a tool to protect is empty", "Use the host's name for the tool"
        )


def _refuse_other_window(adviser: Adviser, window: int, named: int) -> None:
    """Refuse a window that is not the host's: it reckons with its own, whatever is named here."""
    if named and named != window:
        raise InvalidInput(
            f"`--window {named}`: {adviser.TITLE} works with {window:,} tokens",
            "Leave out `--window`; if the host's window is wrong, correct it in the host",
        )


def _read_configuration(desk: Desk, adviser: Adviser) -> tuple[HostConfiguration, bytes | None]:
    """Return what a host has set, and its file; raises `SettingsMoved` where it changed meanwhile.

    A host's commands take seconds, and what they said is shown to people as what stands there.
    """
    first: dict[str, bytes | None] = {}

    def read(path: str) -> bytes | None:
        data = desk.read(path)
        first.setdefault(path, data)
        return data

    try:
        installed = adviser.read_configuration(desk.surroundings(adviser).replace(read=read))
    except InvalidDocument as error:
        interrupted = unfinished(settled_changes(desk, adviser.NAME))
        raise cut_off(interrupted) if interrupted else error from None
    file_bytes = desk.read(installed.file)
    if first.get(installed.file, file_bytes) != file_bytes:
        raise SettingsMoved(
            f"`{installed.file}` changed while {adviser.TITLE} was asked about it",
            "Ask for the advice again",
            FileEdit(
                installed.file, installed.file.lstrip("/"), first[installed.file], file_bytes
            ).diff(),
        )
    return installed, file_bytes


def _halting(
    desk: Desk, adviser: Adviser, measured: Window, installed: HostConfiguration
) -> Halting | None:
    """Return where gitguard halts the host's agent, None where it does not.

    Its thresholds are shares of the window that it measures by, which the user may have capped.
    """
    if not desk.is_halted(adviser.NAME):
        return None
    share = measured.tokens / installed.window if installed.window else 1.0
    gauge, thresholds = desk.config.gauge, desk.config.thresholds
    return Halting(gauge.checkpoint_at * share, thresholds.critical * share)


def _pattern(question: AdviceQuestion) -> tuple[str, tuple[str, ...]]:
    shown = question.work.pattern if question.work else UNKNOWN
    why = question.work.evidence if question.work else ("no conversation tells",)
    if question.pattern:
        figures_for(question.pattern, 0)  # refused before the host is asked, which takes seconds
        return question.pattern, (*_NAMED, *why) if shown == question.pattern else _NAMED
    if shown != UNKNOWN:
        return shown, why
    if question.usual:
        return question.usual, (f"{_USUAL}{question.why_usual}", *why)
    return UNKNOWN, ("assumed; name it with --pattern", *why)


def settled_changes(desk: Desk, host: str) -> tuple[MadeChange, ...]:
    """Return the changes of a host's settings, or of all hosts' where it is empty.

    Raises `Locked` where another process is making one, which is not cut off.
    """
    record = ChangesFile(desk.places.state_home)
    changes = record.of(host, desk.worktree)
    if all(change.is_finished for change in changes):
        return changes
    with Lock(record.lock_path, timeout=0, clock=desk.clock):
        return record.of(host, desk.worktree)


def unfinished(changes: Iterable[MadeChange], file: str = "") -> MadeChange | None:
    """Return the first change that was cut off, of a file if that is named."""
    real = os.path.realpath(file)
    interrupted = (change for change in changes if not change.is_finished)
    return next(
        (change for change in interrupted if not file or os.path.realpath(change.file) == real),
        None,
    )


def cut_off(change: MadeChange) -> SettingsMoved:
    """Return the refusal to go on before a change that was cut off is taken back."""
    return SettingsMoved(
        f"a change of `{change.file}` at {change.at} was interrupted and may be half done",
        f"`gitguard config rollback {change.host}` shows what it did and undoes it",
    )


def _window(
    measured: Window, installed: HostConfiguration, named: int, work: ObservedWork | None
) -> tuple[int, str]:
    """Return the window and who says so; an assumed one is none, as settings outlive a mistake.

    The host's own goes before the one that is measured by, as the settings are reckoned with it.
    """
    if installed.window:
        return installed.window, "host"
    if named:
        return named, "given"
    if not measured.source.startswith("assumed"):
        return measured.tokens, measured.source
    return (work.window, "conversation") if work and work.window else (0, "")
