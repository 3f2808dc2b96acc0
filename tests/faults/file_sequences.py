"""Random work on files, snapshots, restores and undos, held against what every file has to be.

A sequence is decided by its seed. The agent edits with tools and commands, others edit beside it,
somebody commits and switches branches, and gitguard takes snapshots, restores, is killed and goes
on. After each act every byte is what `file_model.py` says, and what others wrote is still there.
"""

from __future__ import annotations

import random
import stat
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from gitguard.errors import GitguardError, NotWritable
from gitguard.guard import Guard
from gitguard.model import events
from gitguard.model.events import Abilities, HookEvent, ToolCall
from gitguard.sessions.file_restore import FilePlan
from gitguard.store.session.workspace import UserDirs
from tests.conftest import Clock, Git
from tests.faults.file_hands import Act, Dated, Hands
from tests.faults.file_model import (
    ATTRIBUTES,
    CONVERTED,
    IGNORED_NAMES,
    NONE,
    SECRET,
    History,
    Restored,
    Snapshot,
    Span,
    as_stored,
    blocking,
    different,
    fits,
    folders_above,
    is_converted,
    is_ignored,
    occupied,
    replaced,
    without_endings,
)
from tests.support.kept_files import Files, tree_of

LENGTH = 12
_MOST_STEPS = 60
"""More than a restore announces, so that some of those that may be killed are not."""
_CLEANING = "git clean -fdx"
"""It removes what git ignores as well, and so the working files of gitguard."""
_DESTRUCTIVE = (
    *("git reset --hard", "git checkout -- .", "git clean -fd", _CLEANING),
    *("rm -rf x z", "rm -f a b"),
)
_CONFIGURATION = "files:\n  seconds: 60\n"
"""A busy machine leaves out no file."""
_ABILITIES = Abilities()
_HOST_SESSION = "S1"


class Dies(BaseException):
    """The process is killed."""


class Sequence:
    """One sequence: what it does is decided by its seed."""

    def __init__(self, git: Git, places: UserDirs, clock: Clock, seed: int) -> None:
        """Begin a session in a repository with a first commit."""
        self.seed = seed
        self.chance = random.Random(seed)
        self.git = git
        self.root = git.root
        self.done: list[str] = []
        self.killed_at: set[str] = set()
        """Steps of gitguard's at which it was killed."""
        self._dated = Dated(clock, git.root.parent / "probe")
        self._hands = Hands(git.root, self.chance)
        Path(places.config_home).mkdir(parents=True, exist_ok=True)
        (Path(places.config_home) / "config.yaml").write_text(_CONFIGURATION)
        # One session, whichever branch is checked out: what it keeps is found by one list.
        self._places = places.replace(session="main")
        (self.root / ".gitignore").write_text(IGNORED_NAMES)
        (self.root / ".gitattributes").write_text(ATTRIBUTES)
        self.guard = self._open()
        self.guard.ensure()
        self.snapshots: dict[str, Snapshot] = {}
        self._spans = [Span(tree_of(self.root))]
        self._last: Restored | None = None
        self._committed: dict[str, dict[str, bytes]] = {"main": {}}
        """By branch: what it has of files with converted line endings."""
        self._branch = "main"
        self.commit()

    def _open(self, at_step: Callable[[str], object] = str) -> Guard:
        return Guard(str(self.root), self._places.replace(at_step=at_step), self._dated.clock)

    @property
    def _span(self) -> Span:
        return self._spans[-1]

    def run(self, steps: int = LENGTH) -> None:
        """Do so many random acts, and check after each; a failure tells the seed and the acts."""
        acts: list[Act] = [self.edit] * 3 + [self.by_tools] * 2 + [self.by_shell] * 2
        acts += [self.snapshot] * 3 + [self.restore] * 2 + [self.undo] * 2 + [self.killed] * 3
        acts += [self.destroyed, self.end_turn, self.own_restore, self.own_restore, self.raced]
        acts += [self.commit, self.switch, self.partial, self.partial]
        try:
            with self._dated.in_force():
                self.edit()
                self.snapshot()
                for _ in range(steps):
                    self._do(self.chance.choice(acts))
                self._prove_what_is_kept()
        except Exception as error:
            acts_done = " ".join(self.done)
            raise AssertionError(f"seed {self.seed}, after {acts_done}: {error}") from error

    def _do(self, act: Act) -> None:
        self.done.append(act.__name__)
        self._dated.next_second()
        git_dir = self.root / ".git"
        mine = {name: (git_dir / name).read_bytes() for name in ("index", "HEAD", "config")}
        act()
        if act not in (self.commit, self.switch, self.destroyed):
            now = {name: (git_dir / name).read_bytes() for name in mine}
            assert now == mine, "the user's index, HEAD or configuration changed"

    def _prove_what_is_kept(self) -> None:
        """Check a snapshot's bytes in a folder of their own, and the repository."""
        name = self.chance.choice(sorted(self.snapshots))
        snapshot = self.snapshots[name]
        folder = self.root.parent / "exported"
        self.guard.files.export(name, str(folder))
        kept = {p: f for p, f in snapshot.tree.items() if not is_ignored(p) and p != SECRET}
        exported = tree_of(folder) if folder.exists() else {}
        _same(exported, kept, f"the export of {name}", snapshot.loose)
        self.git.fsck()

    # What people and agents do

    def edit(self) -> None:
        """Let somebody else change a few paths."""
        with self._hands.touching(self._span, by_agent=False):
            self._change_some()

    def _change_some(self) -> None:
        for _ in range(self.chance.randint(1, 4)):
            self._hands.change()

    def by_tools(self) -> None:
        """Let the agent write files with an edit tool, as its host tells the hooks."""
        for _ in range(self.chance.randint(1, 2)):
            self._dated.next_second()
            path = self._hands.tool_target()
            if path is None:
                continue
            with self._hands.touching(self._span, by_agent=True):
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(self._hands.content())
            inside = str(path.relative_to(self.root))
            self._span.by_agent.add(inside)
            self._tell(events.TOOL_END, ToolCall("Write", self._id(), paths_written=(inside,)))

    def by_shell(self) -> None:
        """Let the agent run a command that changes files."""
        call = self._command(f"python work{len(self.done)}.py")
        self._tell(events.TOOL_START, call)
        self._dated.catch_up()
        with self._hands.touching(self._span, by_agent=True):
            self._change_some()
        self._tell(events.TOOL_END, call)

    def destroyed(self) -> None:
        """Let the agent run what destroys files, cut off by chance, and perhaps put it all back."""
        line = self.chance.choice(_DESTRUCTIVE)
        call = self._command(line)
        before = tree_of(self.root)
        self._tell(events.TOOL_START, call)
        self._dated.catch_up()
        self._note_snapshot(before)
        # Of one that was cut off nobody knows whether it ran, as long as the host may live.
        ends = self.chance.random() < 0.7
        with self._hands.touching(self._span, by_agent=ends):
            self._hands.destroy(line, self.git)
        if not ends:
            self._dated.next_second(15)
            self._open().ensure()  # as the next conversation does
            return
        self._tell(events.TOOL_END, call.replace(milliseconds=10))
        if self.chance.random() < 0.5:
            self._dated.next_second()
            self._rescue(before)

    def _rescue(self, before: Files) -> None:
        """Put back what a command threw away, which needs no word about others."""
        snapshot = self.snapshots.get(self._newest())
        lost = {p for p in different(before, tree_of(self.root)) if not is_ignored(p)} - {SECRET}
        if not lost or snapshot is None or snapshot.tree != before:
            return
        plan = self.guard.files.plan(self._newest())
        chosen = {file.path for file in plan.chosen}
        refused = lost - snapshot.loose - chosen - occupied(tree_of(self.root), chosen)
        assert not refused, f"{refused} was thrown away by a command, and is not put back"
        if plan.chosen:  # all that is lost may be line endings
            self._carry_out(plan, snapshot.tree, snapshot.loose)

    def commit(self) -> None:
        """Let somebody commit everything, with line endings as git would write them."""
        with self._hands.touching(self._span, by_agent=False):
            for path, file in tree_of(self.root).items():
                # Of a text, which is what git stores otherwise with CRLF in it.
                lines = as_stored(path, file).replace(b"\n", b"\r\n")
                if is_converted(path, file) and lines != file[1]:
                    (self.root / path).write_bytes(lines)
        self.git("add", "--all", "--", ".", f":!{SECRET}")
        self.git("commit", "--quiet", "--allow-empty", "--message", "Work")
        self._committed[self._branch] = self._stored_now()

    def _stored_now(self) -> dict[str, bytes]:
        tree = tree_of(self.root)
        return {p: as_stored(p, f) for p, f in tree.items() if p.endswith(CONVERTED)}

    def switch(self) -> None:
        """Go on with another branch: a new one with the files as they are, or an earlier one."""
        others = [branch for branch in self._committed if branch != self._branch]
        if others and self.chance.random() < 0.6:
            self.commit()
            with self._hands.touching(self._span, by_agent=False):
                branch = self.chance.choice(others)
                # What git ignores may stand in the way of a branch.
                self.git("switch", "--quiet", branch, check=False)
                if self.git("branch", "--show-current") == branch:
                    self._branch = branch
            return
        branch = f"branch{len(self.done)}"
        self.git("switch", "--quiet", "--create", branch)
        self._committed[branch] = self._committed[self._branch]
        self._branch = branch

    def _command(self, line: str) -> ToolCall:
        return ToolCall("Bash", self._id(), summary=line, command=line, is_shell=True)

    def _id(self) -> str:
        return f"toolu_{self.chance.randrange(1 << 40)}"

    def _tell(self, kind: str, tool: ToolCall | None = None, answer: str = "") -> None:
        event = HookEvent(kind, _HOST_SESSION, str(self.root), tool=tool, answer=answer)
        before = tree_of(self.root)
        self._open().handle(event, _ABILITIES)
        _same(tree_of(self.root), before, "a hook")

    # What gitguard does

    def snapshot(self) -> None:
        """Take a checkpoint, and remember every file."""
        before = tree_of(self.root)
        self.guard.checkpoint("A snapshot")
        _same(tree_of(self.root), before, "a checkpoint")
        self._note_snapshot(before)

    def end_turn(self) -> None:
        """Let the agent end its turn, which takes a checkpoint."""
        self._tell(events.TURN_END, answer=f"Turn {len(self.done)} is done.")
        self._note_snapshot(tree_of(self.root))

    def _newest(self) -> str:
        return self.guard.log(1)[0].name

    def _note_snapshot(self, tree: Files, place: int = 0) -> None:
        """Remember the files of a checkpoint, counted from the newest, if it has them."""
        checkpoint = self.guard.log(place + 1)[place]
        if not checkpoint.files or checkpoint.name in self.snapshots:
            return
        self._span.end = tree
        self._spans.append(Span(tree))
        committed = self._committed[self._branch]
        loose = {p for p, f in tree.items() if committed.get(p) == as_stored(p, f)}
        self.snapshots[checkpoint.name] = Snapshot(tree, len(self._spans) - 1, frozenset(loose))

    def restore(self) -> None:
        """Put everything back to a random snapshot."""
        self._restore(())

    def partial(self) -> None:
        """Put back what stands below some of the names."""
        self._restore(self._hands.some_names())

    def _restore(self, below: tuple[str, ...]) -> None:
        name, snapshot = self._chosen_snapshot()
        before = tree_of(self.root)
        # A name of which the snapshot has nothing is refused, also where something ignored lies.
        there = {path for path in (*before, *snapshot.tree) if not is_ignored(path)}
        paths = tuple(n for n in below if any(p == n or p.startswith(f"{n}/") for p in there))
        if paths or not below:
            plan = self._planned(name, snapshot, before, paths)
            if plan.chosen:
                self._carry_out(plan, snapshot.tree, snapshot.loose)

    def _chosen_snapshot(self) -> tuple[str, Snapshot]:
        name = self.chance.choice(sorted(self.snapshots))
        return name, self.snapshots[name]

    def _planned(
        self, name: str, snapshot: Snapshot, before: Files, paths: tuple[str, ...] = ()
    ) -> FilePlan:
        """Plan a restore of all that differs, whoever changed it, and hold the plan to that."""
        plan = self.guard.files.plan(name, paths, theirs_too=True)
        chosen = {file.path for file in plan.chosen}
        in_the_way = occupied(before, chosen) | {
            path
            for path in snapshot.tree
            if any(above in before and above not in chosen for above in folders_above(path))
        }
        refused = {f.path: f.refusal for f in plan.refused if f.path not in in_the_way}
        assert all(is_ignored(path) or path == SECRET for path in refused), refused
        changed = different(before, snapshot.wanted(before, paths))
        _same_paths(chosen - snapshot.loose, changed - snapshot.loose - in_the_way)
        return plan

    def own_restore(self) -> None:
        """Put back what the agent changed; what somebody else changed stays."""
        name, snapshot = self._chosen_snapshot()
        before = tree_of(self.root)
        self._span.end = before
        history = History(self._spans)
        plan = self.guard.files.plan(name)
        chosen = {file.path for file in plan.chosen}
        foreign = history.foreign(snapshot.span) & before.keys()
        assert not chosen & foreign, f"{chosen & foreign} is somebody else's, and not spared"
        may_change = different(before, snapshot.wanted(before)) - {SECRET} - snapshot.loose
        refused = history.plainly_the_agents(snapshot.span) & may_change - chosen
        refused -= occupied(before, chosen)
        assert not refused, f"{refused} is the agent's, and not put back"
        if chosen:
            self._carry_out(plan, snapshot.tree, snapshot.loose)

    def undo(self) -> None:
        """Undo the last restore, or do it again; what changed since stays."""
        if self._last is None:
            return
        before = tree_of(self.root)
        plan = self.guard.files.plan_undo()
        _same_paths({file.path for file in plan.chosen}, self._last.undone(before))
        _same_paths({file.path for file in plan.refused}, self._last.refused(before))
        if plan.chosen:
            self._carry_out(plan, self._last.before)

    def _carry_out(self, plan: FilePlan, target: Files, loose: frozenset[str] = NONE) -> None:
        """Restore by a plan, and hold every byte against what it has to be."""
        before = tree_of(self.root)
        chosen = {file.path for file in plan.chosen}
        wanted = replaced(before, target, chosen)
        blockers = blocking(wanted, chosen)
        try:
            restored = self.guard.files.restore(plan)
        except NotWritable:
            if not blockers:
                raise
            self._note_snapshot(before)
            self._go_on_blocked(before, wanted, chosen, blockers)
            return
        assert not blockers, f"{blockers} stood in the way, and nothing was said"
        assert restored.stayed == {}, restored.stayed
        after = tree_of(self.root)
        _same(after, wanted, "a restore", loose)
        self._note_snapshot(before, 1)
        self._span.put_back(different(before, after))
        self._note_snapshot(after)
        self._last = Restored(before, after, frozenset(chosen))

    def _go_on_blocked(
        self, before: Files, wanted: Files, chosen: set[str], blockers: set[str]
    ) -> None:
        """Undo a restore that something stands in the way of, or clear the way and finish it."""
        after = tree_of(self.root)
        odd = {p for p in after.keys() | before.keys() if after.get(p) != before.get(p)}
        assert odd <= chosen, f"{odd - chosen} was not to change"
        for path in odd:
            file = after.get(path)
            same = file == wanted.get(path) or path.endswith(CONVERTED)
            assert same, f"{path} is neither old nor new"
        plan = self.guard.files.plan_undo()
        if plan.chosen and self.chance.random() < 0.5:
            self.guard.files.restore(plan)
            _same(tree_of(self.root), before, "the undo of a restore that was blocked")
            self._last = None
        else:
            for path in blockers:
                (self.root / path).unlink()
            finished = self.guard.files.finish()
            assert finished is not None
            assert finished.stayed == {}, finished.stayed
            after = tree_of(self.root)
            left = {path: file for path, file in wanted.items() if path not in blockers}
            _same(after, left, "a restore that was blocked", _converted(left))
            self._last = Restored(before, after, frozenset(chosen))
        self._span.put_back(chosen)
        self._span.by_others |= blockers
        self.snapshot()

    # What goes wrong

    def killed(self) -> None:
        """Be killed at any step of a restore or an undo, and let a later run go on."""
        plan, target, loose = self._something_to_restore()
        before = tree_of(self.root)
        chosen = {file.path for file in plan.chosen}
        wanted = replaced(before, target, chosen)
        if not chosen or blocking(wanted, chosen):
            return
        self._until_killed(lambda guard: guard.files.restore(plan))
        was_open = self.guard.files.unfinished() is not None
        edits: Files = {}
        if was_open and self.chance.random() < 0.4:
            edits = self._edits_of_others(chosen, before, wanted)
        if was_open and self.chance.random() < 0.25:
            self._undo_unfinished(before | edits)
            self._last = None
        else:
            self._finish(was_open, before, wanted, edits, loose, chosen)
        self._span.put_back(chosen - edits.keys())
        self._span.by_others |= edits.keys()
        self.snapshot()

    def _finish(
        self,
        was_open: bool,
        before: Files,
        wanted: Files,
        edits: Files,
        loose: frozenset[str],
        chosen: set[str],
    ) -> None:
        """Finish what was cut off, by chance at more than one attempt."""
        for _ in range(self.chance.choice((0, 0, 1, 2))):
            self._until_killed(lambda guard: guard.files.finish())
        finished = self.guard.files.finish()
        assert finished is None or finished.stayed.keys() <= edits.keys(), finished
        after = tree_of(self.root)
        if was_open or after != before:
            _same(after, wanted | edits, "a restore that was cut off", loose)
            self._last = Restored(before, replaced(after, wanted, edits.keys()), frozenset(chosen))

    def _undo_unfinished(self, wanted: Files) -> None:
        plan = self.guard.files.plan_undo()
        if plan.chosen:
            self.guard.files.restore(plan)
        else:
            self.guard.files.finish()
            undone = self.guard.files.plan_undo()
            if undone.chosen:
                self.guard.files.restore(undone)
        _same(tree_of(self.root), wanted, "the undo of a restore that was cut off")

    def _something_to_restore(self) -> tuple[FilePlan, Files, frozenset[str]]:
        if self._last is not None and self.chance.random() < 0.3:
            return self.guard.files.plan_undo(), self._last.before, NONE
        name, snapshot = self._chosen_snapshot()
        plan = self._planned(name, snapshot, tree_of(self.root))
        return plan, snapshot.tree, snapshot.loose

    def _until_killed(self, act: Callable[[Guard], object]) -> None:
        """Be killed at one of the steps that are announced, or at none if there are too few."""
        left = self.chance.randint(1, _MOST_STEPS)

        def at_step(step: str) -> None:
            nonlocal left
            left -= 1
            if not left:
                self.killed_at.add(step)
                raise Dies

        with suppress(Dies):
            act(self._open(at_step))

    def _edits_of_others(self, chosen: set[str], *trees: Files) -> Files:
        """Let somebody else write into one of some files; return it as it is then.

        It must not stand in the way of what the others become.
        """
        there = tree_of(self.root)
        plain = sorted(p for p in chosen & there.keys() if stat.S_ISREG(there[p][0]))
        plain = [path for path in plain if all(fits(tree, path) for tree in trees)]
        if not plain:
            return {}
        path = self.chance.choice(plain)
        (self.root / path).write_bytes(self._hands.unique())
        return {path: tree_of(self.root)[path]}

    def raced(self) -> None:
        """Let somebody else write into a file while it is put back."""
        name, snapshot = self._chosen_snapshot()
        before = tree_of(self.root)
        plan = self._planned(name, snapshot, before)
        chosen = {file.path for file in plan.chosen}
        wanted = replaced(before, snapshot.tree, chosen)
        if not chosen or blocking(wanted, chosen):
            return
        edits: Files = {}
        left = self.chance.randint(1, _MOST_STEPS)

        def at_step(step: str) -> None:
            nonlocal left, edits
            left -= 1
            if not left:
                edits = self._edits_of_others(chosen, wanted)

        try:
            restored = self._open(at_step).files.restore(plan)
        except GitguardError as error:
            if not edits or "changed meanwhile; nothing was restored" not in error.message:
                raise
            _same(tree_of(self.root), before | edits, "a restore that was refused")
        else:
            assert restored.stayed.keys() <= edits.keys(), restored.stayed
            after = tree_of(self.root)
            _same(after, wanted | edits, "a restore beside somebody's edit", snapshot.loose)
            self._last = Restored(before, replaced(after, wanted, edits.keys()), frozenset(chosen))
        self._span.put_back(chosen - edits.keys())
        self._span.by_others |= edits.keys()
        self.snapshot()


def _same_paths(paths: set[str], expected: set[str]) -> None:
    assert paths == expected, f"too many: {paths - expected}, too few: {expected - paths}"


def _converted(tree: Files) -> frozenset[str]:
    return frozenset(path for path in tree if path.endswith(CONVERTED))


def _same(tree: Files, expected: Files, what: str, loose: frozenset[str] = NONE) -> None:
    """Fail where a tree is not what it has to be, but for line endings of some files."""
    odd = different(without_endings(tree, loose), without_endings(expected, loose))
    lines = [f"{p}: {tree.get(p)}, not {expected.get(p)}" for p in sorted(odd)]
    assert not odd, f"after {what}: {'; '.join(lines)}"
