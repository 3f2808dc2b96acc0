"""Puts gitguard into a host's settings, and gives everything back.

All changes are planned and checked before the first is made, and when one cannot be made, those
before it are taken back.
"""

from __future__ import annotations

import os
from contextlib import nullcontext, suppress

from gitguard import hosts
from gitguard.errors import GitFailed, GitguardError, InvalidInput, Untrusted
from gitguard.hosts.base import DIRECTORY_HOOK, NO_TRIGGER, SHARED, WITHOUT_HOOKS
from gitguard.model.config.config import DEFAULT_WINDOW, Config
from gitguard.model.config.redaction import redactor_of
from gitguard.model.text import shell_word
from gitguard.model.value import Value
from gitguard.sessions.installed_plugin import installed_plugin
from gitguard.settings import instructions
from gitguard.settings.changes_file import ChangesFile
from gitguard.settings.install_plan import InstallPlan, Sites, plan_user_folder, plan_worktree
from gitguard.settings.path_program import program_on_path
from gitguard.settings.present_hosts import look_for
from gitguard.store.disk.changes import FileEdit, make_all
from gitguard.store.disk.lock import Lock
from gitguard.store.git import exclude
from gitguard.store.git.place import worktree_roots
from gitguard.store.git.worktree import Worktree
from gitguard.store.session.install_ledger import LedgerFile
from gitguard.store.session.removed_hosts import forget_removal, note_removal
from gitguard.store.session.workspace import Workspace
from gitguard.store.worktree.file_store import NAME

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from contextlib import AbstractContextManager

    from gitguard.hosts.base import Installation, InstallOptions
    from gitguard.sessions.startup import Startup

_LOCK_TIMEOUT = 10.0
_USER_LOCK_TIMEOUT = 60.0
"""Longer, because a host's own program is asked while the lock is held."""
_LACKS = {
    SHARED: "this host has no settings that are shared within a project",
    DIRECTORY_HOOK: "this host has no directory hooks",
    NO_TRIGGER: "this host has no compaction trigger that gitguard sets",
}
NOT_BEGUN = "`gitguard init` would also begin the session, or continue it"


class Outcome(Value):
    """What installing or uninstalling changed, or would change."""

    changes: tuple[FileEdit, ...]
    notes: tuple[str, ...]
    """Sentences for the person who asked."""
    warnings: tuple[str, ...] = ()
    startup: Startup | None = None
    """How the session came up; None when nothing was done."""
    commands: tuple[str, ...] = ()
    """What the host's own program was asked to do, or would be."""


def together(outcomes: Sequence[Outcome]) -> Outcome:
    """Return what installing or uninstalling for several hosts changed as one outcome."""
    return Outcome(
        tuple(change for outcome in outcomes for change in outcome.changes),
        tuple(dict.fromkeys(note for outcome in outcomes for note in outcome.notes)),
        tuple(dict.fromkeys(warning for outcome in outcomes for warning in outcome.warnings)),
        startup=next((outcome.startup for outcome in outcomes if outcome.startup), None),
        commands=tuple(command for outcome in outcomes for command in outcome.commands),
    )


class Installer:
    """Installs gitguard in one worktree, for one host or for agents of hosts without hooks."""

    def __init__(self, workspace: Workspace, config: Config, host: str) -> None:
        """Describe the installation; nothing is read yet."""
        self._workspace = workspace
        self._config = config
        self._host = host
        self._installation: Installation = instructions
        if host != WITHOUT_HOOKS:
            self._installation = hosts.find_installing(host)
        self._ledger = LedgerFile(workspace.state_folder, host)
        self._user_ledger = LedgerFile(workspace.places.state_home, host)
        self._root = workspace.place.worktree
        self._worktree = Worktree(workspace.place, workspace.places.environment, workspace.clock)

    def install(self, options: InstallOptions, begin: Callable[[], Startup] | None) -> Outcome:
        """Install, after begin has brought the session up; without it, only say what would be."""
        refuse_blocking_branch(self._worktree, self._config)
        self._refuse_what_is_not_offered(options)
        options = options.replace(
            checkpoint_at=self._config.gauge.checkpoint_at,
            critical=self._config.thresholds.critical,
            window=self._config.window.default or DEFAULT_WINDOW,
        )
        plugin, unknown = self._plugin()
        if plugin and not options.shared:
            startup, doubt = (None, NOT_BEGUN) if begin is None else _begun(begin)
            if begin is not None:
                forget_removal(self._workspace, self._host)
            notes = (*self._leaves_to_plugin(plugin), *filter(None, (doubt,)))
            warnings = (
                *push_warnings(self._worktree, self._config),
                *self._unreachable(options),
            )
            return Outcome((), notes, warnings, startup=startup)
        absence = self._absence()  # the first file of ours may make the host's folder
        with self._user_lock(dry_run=begin is None):
            user, plan = self._plan_user(options), self._plan(options)
            startup, doubt = None, NOT_BEGUN
            if begin is not None:
                startup, doubt = _begun(begin)
                plan = self._carry_out(options)
                user = self._carry_out_user(user, removes=False)
                forget_removal(self._workspace, self._host)
        made = user.program.commands or user.changes
        notes = (
            *plan.notes,
            *user.notes,
            *user.program.notes,
            *filter(None, (absence, user.after_change if made else "", unknown, doubt)),
        )
        warnings = (
            *plan.warnings,
            *push_warnings(self._worktree, self._config),
            *user.program.warnings,
            *self._unreachable(options),
        )
        changes = (*plan.changes, *user.changes)
        return Outcome(changes, notes, warnings, startup=startup, commands=user.program.commands)

    def uninstall(self, *, dry_run: bool, beside: tuple[str, ...] = ()) -> Outcome:
        """Give back what the host's settings were; beside are others that it is removed for too."""
        with self._user_lock(dry_run=dry_run):
            user, plan = self._plan_user(None), self._plan(None)
            if not dry_run:
                user = self._carry_out_user(user, removes=True)
                plan = self._carry_out(None)
                if self._sites().known_to_user.users or self._plugin()[0]:
                    note_removal(self._workspace, self._host)
        sections = () if self._host == WITHOUT_HOOKS else instructions.sections_left(self._root)
        notes = (
            *plan.notes,
            *user.notes,
            *user.program.notes,
            *self._advised(),
            *self._other_hosts(beside),
            *self._plugin_left(),
            *sections,
            *remains(self._workspace, self._worktree, self._config),
        )
        program = user.program
        changes = (*plan.changes, *user.changes)
        return Outcome(changes, notes, program.warnings, commands=program.commands)

    # Plans; without options everything goes

    def _plan(self, options: InstallOptions | None) -> InstallPlan:
        """Plan what happens in the worktree."""
        return _checked(plan_worktree(self._sites(), options))

    def _plan_user(self, options: InstallOptions | None) -> InstallPlan:
        """Plan what happens in the host's folder of the user."""
        sites = self._sites()
        return _checked(plan_user_folder(sites, options)) if sites.user_folder else InstallPlan()

    def _sites(self) -> Sites:
        places, place = self._workspace.places, self._workspace.place
        roots = worktree_roots(place.common_dir) | {place.worktree}
        changes = ChangesFile(places.state_home).read()
        return Sites(
            self._installation,
            self._worktree,
            self._ledger.read(),
            user_ledger=self._user_ledger.read(),
            home=places.home,
            environment=places.environment,
            settings_changes=tuple(change for change in changes if change.project in roots),
        )

    # Doing

    def _user_lock(self, *, dry_run: bool) -> AbstractContextManager[object]:
        if dry_run or not self._sites().user_folder:
            return nullcontext()
        path = os.path.join(self._workspace.places.state_home, "_install.lock")
        return Lock(path, timeout=_USER_LOCK_TIMEOUT, clock=self._workspace.clock)

    def _carry_out(self, options: InstallOptions | None) -> InstallPlan:
        """Plan once more under the lock of everybody who installs here, and do it."""
        common, clock = self._workspace.place.common_dir, self._workspace.clock
        with exclude.lock_of(common, timeout=_LOCK_TIMEOUT, clock=clock):
            plan = self._plan(options)
            self._make(plan, self._ledger, removes=options is None)
        return plan

    def _carry_out_user(self, plan: InstallPlan, *, removes: bool) -> InstallPlan:
        sites = self._sites()
        if not sites.user_folder:
            return plan
        program = sites.program()
        if removes:
            made = program.make(plan.program)
            self._make(plan, self._user_ledger, removes=True)
        else:
            self._make(plan, self._user_ledger, removes=False)
            made = program.make(plan.program)
            installed = plan.ledger[sites.user_folder].replace(settings=made.remembered)
            self._user_ledger.write({**plan.ledger, sites.user_folder: installed})
        return plan.replace(program=made)

    def _make(self, plan: InstallPlan, ledger: LedgerFile, *, removes: bool) -> None:
        """Make the changes of a plan; the ledger knows of them as long as one may be there."""
        if not removes:
            ledger.write(plan.ledger)
        make_all(plan.changes)
        for folder in reversed(plan.leaving):
            with suppress(OSError):  # somebody else keeps something there
                os.rmdir(folder)
        if removes:
            ledger.write(plan.ledger)

    # The plugin, which the host itself installs

    def _plugin(self) -> tuple[str, str]:
        """Return what the host calls our plugin, if it runs it, and why that is unknown."""
        places = self._workspace.places
        try:
            environment = {"HOME": places.home, **places.environment}
            return installed_plugin(self._host, self._root, environment), ""
        except GitguardError as error:
            return "", f"whether {self._host} has gitguard's plugin is unknown: {error.message}"

    def _leaves_to_plugin(self, plugin: str) -> tuple[str, ...]:
        """Say why no settings are written, and what stands in settings from before."""
        notes = [f"the plugin `{plugin}` runs gitguard in {self._host}, so no settings are written"]
        if lacks := hosts.find_plugin(self._host).lacks:
            notes.append(lacks)
        users = [part.users for part in self._user_ledger.read().values()]
        if self._root in self._ledger.read() or any(self._root in users_ for users_ in users):
            notes.append(
                "settings from before the plugin are still there, and each event counts once; "
                f"remove them with `gitguard uninstall --host {self._host}`"
            )
        return tuple(notes)

    def _plugin_left(self) -> tuple[str, ...]:
        """Say how the host removes the plugin."""
        plugin, unknown = self._plugin()
        if not plugin:
            return (unknown,) if unknown else ()
        command = hosts.find_plugin(self._host).remove_command(plugin)
        return (f"{self._host} still has gitguard's plugin; remove it with `{command}`",)

    # What is said

    def _advised(self) -> tuple[str, ...]:
        """Name what `config advise --apply` changed, which is not the installation's to take."""
        return tuple(
            f"`{change.file}` keeps what `config advise` changed on {change.at[:10]}: "
            f"{', '.join(key for key, _, _ in change.changes)}; undo it with "
            f"`{change.rollback_command}`"
            for change in ChangesFile(self._workspace.places.state_home).read()
            if change.host == self._host and change.project in ("", self._root)
        )

    def _other_hosts(self, beside: tuple[str, ...]) -> Iterator[str]:
        for name in hosts.names(hosts.INSTALLING):
            is_left = name != self._host and name not in beside
            if is_left and look_for(self._workspace, name).is_set_up:
                yield (
                    f"it is still installed for `{name}`; remove it with `gitguard uninstall "
                    f"--host {name}`"
                )

    def _absence(self) -> str:
        if self._host == WITHOUT_HOOKS:
            return ""
        return look_for(self._workspace, self._host).absence

    def _refuse_what_is_not_offered(self, options: InstallOptions) -> None:
        for name in sorted(options.wishes.difference(self._installation.OFFERS)):
            raise InvalidInput(f"{name}: {_LACKS[name]}", f"Leave out {name}")

    def _unreachable(self, options: InstallOptions) -> tuple[str, ...]:
        program = program_on_path(self._workspace.places.environment)
        if program is not None:
            is_ours = program.is_ours(options.executable)
            return () if is_ours else (program.warning(options.executable),)
        folder = os.path.dirname(options.executable)
        way = f"add `{folder}` to it" if folder else "install it there"
        return (f"`gitguard` is not on PATH, where agents and shared hooks look for it; {way}",)


def _begun(begin: Callable[[], Startup]) -> tuple[Startup | None, str]:
    """Bring the session up; where another home folder began it, hooks save until it is trusted."""
    try:
        return begin(), ""
    except Untrusted as error:
        return (
            None,
            f"{error.message}; until you run `gitguard repair --trust`, hooks save the work",
        )


def _checked(plan: InstallPlan) -> InstallPlan:
    for change in plan.changes:
        change.refuse_unwritable()
    return plan


# What installing and uninstalling check and say about a repository, whatever the host


_MOST_REFS = 5
"""Branches that are named; a host with a session for each of its users has many."""


def refuse_blocking_branch(worktree: Worktree, config: Config) -> None:
    """Raise `GitFailed` where a branch has the name of the folder of our branches."""
    blocking = config.store.ref_prefix.rstrip("/")
    if blocking in worktree.refs(blocking):
        raise GitFailed(
            f"the branch `{blocking.removeprefix('refs/heads/')}` is in the way of "
            "gitguard's branches",
            "Rename the branch, or set `store.ref_prefix: refs/gitguard/` in your config.yaml",
        )


def push_warnings(worktree: Worktree, config: Config) -> tuple[str, ...]:
    """Warn where a push of all branches, or of all refs, would publish the checkpoints."""
    remotes = worktree.remotes()
    if not remotes:
        return ()
    name = redactor_of(config.redaction).text(remotes[0])
    if not config.store.ref_prefix.startswith("refs/heads/"):
        return (
            f"`git push --mirror` would publish the checkpoints to `{name}`, and no git setting "
            "prevents that; `git push` and `git push --all` leave them out",
        )
    return (
        f"`git push --all` and `git push --mirror` would publish the `gitguard/*` branches to "
        f"`{name}`; to keep them out of `--all`, set `store.ref_prefix: refs/gitguard/` in your "
        "config.yaml",
    )


def remains(workspace: Workspace, worktree: Worktree, config: Config) -> tuple[str, ...]:
    """Say what uninstalling leaves alone, and how to remove it."""
    folder = os.path.relpath(workspace.folder, workspace.place.worktree)
    notes = []
    refs = list(worktree.refs(config.store.ref_prefix[:-1]))
    if refs:
        shown = ", ".join(f"`{ref}`" for ref in refs[:_MOST_REFS])
        more = f" and {len(refs) - _MOST_REFS} more" * (len(refs) > _MOST_REFS)
        notes.append(
            f"the checkpoints are kept on {shown}{more}; delete all of a session with "
            f"`git update-ref -d {refs[0] if len(refs) == 1 else 'REF'}`"
        )
    snapshots = os.path.join(workspace.place.common_dir, NAME)
    if os.path.isdir(snapshots):
        command = f"rm -rf {shell_word(snapshots)}"
        notes.append(f"the snapshots of your files are kept; delete them with `{command}`")
    if os.path.isdir(workspace.folder):
        notes.append(f"the working files are kept; delete them with `rm -r {shell_word(folder)}`")
    if os.path.isdir(workspace.state_folder):
        state = shell_word(workspace.state_folder)
        notes.append(f"this machine's records of them are kept; delete them with `rm -r {state}`")
    return tuple(notes)
