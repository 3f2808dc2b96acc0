"""Installing for hosts: which of them are here, and several of them at once."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitguard.hosts.base import InstallOptions
    from gitguard.sessions.startup import Startup
    from gitguard.sessions.workspace_sessions import WorkspaceSessions
    from gitguard.settings.installer import Installer, Outcome
    from gitguard.settings.present_hosts import HostChoice


class WorkspaceHosts:
    """`Guard.hosts`: the hosts that are here, and installing for them."""

    def __init__(self, sessions: WorkspaceSessions) -> None:
        """Name the workspace; nothing is read yet."""
        self._sessions = sessions

    def choose(self, options: InstallOptions) -> HostChoice:
        """Return the hosts that are here, and for which of them to install without a question."""
        from gitguard.settings.present_hosts import choose, look_for_all

        return choose(look_for_all(self._sessions.workspace), options)

    def set_up(self) -> tuple[str, ...]:
        """Return the hosts that gitguard is installed for here."""
        from gitguard.settings.present_hosts import look_for_all

        present = look_for_all(self._sessions.workspace)
        return tuple(host.name for host in present if host.is_set_up)

    def install(
        self, names: tuple[str, ...], options: InstallOptions, *, dry_run: bool = False
    ) -> Outcome:
        """Install for hosts and begin the session, or show what would change.

        For several, all is planned before the first change is made, and an option that only some
        of them know is left out for the others.
        """
        from gitguard.settings.installer import together
        from gitguard.settings.present_hosts import options_for

        is_alone = len(names) == 1
        fitting = {name: options if is_alone else options_for(name, options) for name in names}
        if not is_alone and not dry_run:
            self.install(names, options, dry_run=True)
        begin = None if dry_run else self._begin
        return together([self._installer(name).install(fitting[name], begin) for name in names])

    def uninstall(self, names: tuple[str, ...], *, dry_run: bool = False) -> Outcome:
        """Give the settings of hosts back, planned in the same way."""
        from gitguard.settings.installer import together

        if len(names) > 1 and not dry_run:
            self.uninstall(names, dry_run=True)
        installers = [self._installer(name) for name in names]
        outcome = together(
            [installer.uninstall(dry_run=dry_run, beside=names) for installer in installers]
        )
        if not dry_run:
            from gitguard.review.histories import forget_indexes

            forget_indexes(self._sessions.workspace)
        return outcome

    def _begin(self) -> Startup:
        return self._sessions.begin(self._sessions.any_session())

    def _installer(self, host: str) -> Installer:
        from gitguard.settings.installer import Installer

        return Installer(self._sessions.workspace, self._sessions.config, host)
