"""Plans an installation: the host's settings, the skill, and what git is to ignore of them."""

from __future__ import annotations

from gitguard.errors import InvalidDocument
from gitguard.hosts.base import belongs_to_user
from gitguard.model.layout import Layout
from gitguard.model.value import Value
from gitguard.settings.install_plan import EXCLUDE, PlanDraft, settings_of, user_settings
from gitguard.store.disk.changes import content
from gitguard.store.git import exclude
from gitguard.store.session.install_ledger import Installed, InstalledFile

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from gitguard.hosts.base import HostSettings
    from gitguard.settings.install_plan import InstallPlan, Sites


class InstallOptions(Value):
    """What the person who installs asks for."""

    executable: str = ""
    """The absolute path of the installation that personal settings name."""
    shared: bool = False
    """Into the settings of everybody who works at the project, instead of one's own."""
    with_trigger: bool = True
    """Whether the host is to compact by itself before a halt."""
    directory_hook: bool = False
    """Whether a hook in a folder answers what the host has such hooks for, where it does."""


def plan_installation(sites: Sites, options: InstallOptions) -> InstallPlan:
    """Plan to install; twice is once."""
    return _Merger(sites, options).plan()


class _Merger:
    def __init__(self, sites: Sites, options: InstallOptions) -> None:
        self._sites = sites
        self._wishes = options
        self._draft = PlanDraft(sites)
        self._kept = dict(self._draft.own.files)
        self._status_line = ""
        self._sets_trigger = False

    def plan(self) -> InstallPlan:
        settings = self._sites.settings
        if not belongs_to_user(settings):
            self._place_settings(settings)
        self._place_skill()
        excluded = self._exclude()
        draft, root, common = self._draft, self._sites.root, self._sites.common
        in_worktree = Installed(
            self._kept,
            draft.folders(root, draft.own),
            self._status_line,
            executable=self._named_executable(),
        )
        in_git_dir = Installed(excluded, draft.folders(common, draft.shared))
        mine = {root: in_worktree, **({common: in_git_dir} if in_git_dir != Installed() else {})}
        return draft.finish(mine, sets_trigger=self._sets_trigger)

    def _named_executable(self) -> str:
        """Return the path that the hooks name; those of shared settings name none."""
        settings = self._sites.settings
        is_personal = not belongs_to_user(settings) and settings.PERSONAL in self._kept
        return self._wishes.executable if is_personal else ""

    # Settings

    def _place_settings(self, settings: HostSettings) -> None:
        if not self._wishes.shared and self._is_served_by_shared(settings):
            self._rely_on_shared(settings)
        else:
            self._merge(settings)

    def _is_served_by_shared(self, settings: HostSettings) -> bool:
        """Say whether shared settings run gitguard here already: two entries answer twice."""
        name = settings.SHARED
        shared = settings_of(self._draft.read(name), name)
        return self._sites.is_on_path and settings.is_installed(shared)

    def _rely_on_shared(self, settings: HostSettings) -> None:
        name = settings.SHARED
        self._draft.notes.append(f"`{name}` already runs gitguard, so it is not installed twice")
        self._remove_from(settings, settings.PERSONAL)
        self._stand_in_for(self._line_beneath(settings, name))

    def _remove_from(self, settings: HostSettings, name: str) -> None:
        self._draft.take_out(settings, name)
        self._kept.pop(name, None)

    def _merge(self, settings: HostSettings) -> None:
        options = self._wishes
        target = settings.SHARED if options.shared else settings.PERSONAL
        if options.shared:
            self._remove_from(settings, settings.PERSONAL)
            self._say_hidden(settings)
        before, original = self._draft.read(target), self._draft.given_back(settings, target)
        was, current = settings_of(original, target), settings_of(before, target)
        line = self._line_beneath(settings, target)
        theirs = settings.trigger_of(was) or self._trigger_elsewhere(settings, target)
        if not options.with_trigger:
            current = settings.without_trigger(current, was)
        try:
            merged = settings.merge(
                current,
                "" if options.shared else options.executable,
                status_line=line,
                with_trigger=options.with_trigger and not theirs,
            )
        except InvalidDocument as error:
            raise InvalidDocument(f"`{target}`: {error.message}", error.hint) from error
        after = _dumped(merged, before, target)
        self._kept[target] = InstalledFile.of(original, after)
        self._draft.change(self._sites.root, target, before, after)
        self._say_trigger(settings, theirs)
        self._stand_in_for(line)

    def _line_beneath(self, settings: HostSettings, target: str) -> dict[str, Any] | None:
        """Return the status line that ours hides, of the file itself, the project or the user.

        What git tracks came with the repository, so its command is not one of the user's own.
        """
        names = dict.fromkeys((target, settings.SHARED))
        tracked = self._sites.worktree.tracked(tuple(names))
        for name in sorted(tracked):
            if settings.other_status_line(self._draft.settings_in(settings, name)):
                self._draft.notes.append(
                    f"the status line in `{name}` is not shown beside gitguard's, because git "
                    "tracks that file; copy it to your own settings to show it"
                )
        levels = [self._draft.settings_in(settings, name) for name in names if name not in tracked]
        levels.append(user_settings(settings, self._sites.home))
        return next(filter(None, map(settings.other_status_line, levels)), None)

    def _stand_in_for(self, line: dict[str, Any] | None) -> None:
        if line is not None:
            self._status_line = str(line["command"])
            self._draft.notes.append(
                f"gitguard shows your status line above its own: `{self._status_line}`"
            )

    def _trigger_elsewhere(self, settings: HostSettings, target: str) -> str:
        names = (settings.PERSONAL, settings.SHARED)
        levels = [self._draft.settings_in(settings, name) for name in names if name != target]
        levels.append(user_settings(settings, self._sites.home))
        return next(filter(None, map(settings.trigger_of, levels)), "")

    def _say_trigger(self, settings: HostSettings, theirs: str) -> None:
        lowest, highest = settings.COMPACTS_AT
        if theirs:
            note = f"a compaction trigger is already set and is kept: `{theirs}`"
        elif self._wishes.with_trigger:
            self._sets_trigger = True
            note = (
                f"gitguard sets `{settings.TRIGGER}`, so that the host compacts at {lowest:.1%} to "
                f"{highest:.1%} of the window, before gitguard halts the agent; opt out with "
                "--no-compaction-trigger"
            )
        else:
            note = (
                "the host decides when to compact; gitguard halts the agent if the context fills up"
            )
        self._draft.notes.append(note)

    def _say_hidden(self, settings: HostSettings) -> None:
        personal = self._draft.settings_in(settings, settings.PERSONAL)
        if settings.other_status_line(personal):
            self._draft.notes.append(
                f"the status line in `{settings.PERSONAL}` hides gitguard's, so pressure is "
                "read from transcripts alone"
            )

    # Skill

    def _place_skill(self) -> None:
        name = self._sites.settings.SKILL
        current, skill = self._draft.read(name), self._sites.skill
        if current is not None and not self._draft.is_our_skill(current):
            self._draft.notes.append(f"`{name}` was edited, so gitguard leaves it unchanged")
            return
        self._kept[name] = InstalledFile.of(None, skill)
        self._draft.change(self._sites.root, name, current, skill)

    # What git ignores

    def _exclude(self) -> dict[str, InstalledFile]:
        """Plan what git is to ignore; return what the ledger has to remember of it."""
        before = content(self._sites.common, EXCLUDE)
        present = exclude.lines_of(before)
        mine = self._lines(present)
        is_mine = self._draft.is_line_of_host
        stays = [n for n in present if n in mine or self._sites.others or not is_mine(n)]
        lines = tuple(dict.fromkeys([*stays, *mine]))
        original = self._draft.exclude_given_back(before)
        after = before if lines == present else exclude.with_block(before, lines)
        if not lines:
            after = original
        self._draft.change(self._sites.common, EXCLUDE, before, after)
        return {EXCLUDE: InstalledFile.of(original, after)} if lines and after is not None else {}

    def _lines(self, present: tuple[str, ...]) -> list[str]:
        """Return our lines: what we create and git neither tracks nor ignores already.

        What is meant for everybody is to be committed, so git has to see it.
        """
        if self._wishes.shared:
            self._say_to_commit()
        names = tuple(name for name in self._hidden() if name in self._kept)
        tracked = self._sites.worktree.tracked(names) if names else frozenset()
        ignored = self._sites.worktree.ignored(names) if names else frozenset()
        self._say_visible(tracked)
        created = [n for n in names if self._kept[n].original is None and n not in tracked]
        return [f"/{n}" for n in created if f"/{n}" in present or n not in ignored]

    def _hidden(self) -> tuple[str, ...]:
        settings = self._sites.settings
        if belongs_to_user(settings):
            return (settings.SKILL,)
        files = (settings.PERSONAL, settings.SKILL)
        return files[:1] if settings.SHARED in self._kept else files

    def _say_visible(self, tracked: frozenset[str]) -> None:
        changed = {change.name for change in self._draft.changes}
        self._draft.notes.extend(
            f"git tracks `{name}`, so its change shows in `git status`"
            for name in sorted(changed & tracked)
        )

    def _say_to_commit(self) -> None:
        changed = {change.name for change in self._draft.changes}
        settings = self._sites.settings
        personal = "" if belongs_to_user(settings) else settings.PERSONAL
        names = [name for name in self._kept if name not in (EXCLUDE, personal)]
        if changed.intersection(names):
            files = " and ".join(f"`{name}`" for name in names)
            self._draft.notes.append(f"commit {files}, so that others get the same setup")


def _dumped(merged: dict[str, Any], before: bytes | None, name: str) -> bytes:
    """Lay settings out as they were; what says the same keeps its bytes."""
    if before is not None and merged == settings_of(before, name):
        return before
    return Layout.of(before or b"").dump(merged)
