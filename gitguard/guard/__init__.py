"""The library's front door: every use case, for the command line, hooks and other programs.

What a use case decides lies in the floors below; here they are put in order under the session's
lock. Nothing here prints or exits. `Guard.open` and `Anywhere.open` look at the process's
environment and clock; everything else is handed them.
"""

from __future__ import annotations

from gitguard.errors import GitguardError, InvalidInput, MissingState
from gitguard.model import triggers
from gitguard.sessions.workspace_sessions import WorkspaceSessions
from gitguard.state.circumstances import Circumstances
from gitguard.store.session.conversations import THIS_SESSION, read_conversation
from gitguard.store.session.current import load_user_config, open_workspace
from gitguard.store.session.state_file import Durable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, Self

    from gitguard.compaction.transcripts import Transcripts
    from gitguard.guard.delegation import Delegation
    from gitguard.guard.files import Files
    from gitguard.guard.history import CheckpointHistory
    from gitguard.guard.lanes import Lanes
    from gitguard.guard.profile import Profiles
    from gitguard.guard.review import Reviews
    from gitguard.guard.secrets import WorkspaceSecrets
    from gitguard.guard.settings import Settings
    from gitguard.guard.workspace_hosts import WorkspaceHosts
    from gitguard.hooks.bundle import Bundle, ContextItem
    from gitguard.hooks.gate_question import Gated
    from gitguard.hosts.base import InstallOptions
    from gitguard.model.config.config import Config
    from gitguard.model.events import Abilities, HookEvent, HookReply, Reading
    from gitguard.sessions.diagnosis import Problem
    from gitguard.sessions.handoff.handoff_file import Handoff
    from gitguard.sessions.history import Difference
    from gitguard.sessions.notes import Noted
    from gitguard.sessions.startup import Startup
    from gitguard.sessions.state_comparison import StateChange
    from gitguard.sessions.status import Overview
    from gitguard.sessions.verification import VerificationReport
    from gitguard.settings.advice import Desk
    from gitguard.settings.installer import Outcome
    from gitguard.state.checkpoint import Checkpoint
    from gitguard.state.task import TaskState
    from gitguard.store.git.code_history import CodeCommit
    from gitguard.store.git.repository import Repository
    from gitguard.store.session.host_session import HostSession
    from gitguard.store.session.store import Saved, SessionStore
    from gitguard.store.session.workspace import Session, UserDirs


class Anywhere:
    """What works outside of a repository too: transcripts, profiles and hosts' settings."""

    def __init__(self, places: UserDirs, config: Config, clock: Callable[[], float]) -> None:
        """Judge by a configuration; clock returns Unix seconds."""
        self.places = places
        self.config = config
        self.clock = clock

    @classmethod
    def open(cls) -> Self:
        """Open what the user of this process has set up; raise `InvalidConfig`."""
        from gitguard import process

        return cls.at(process.places(process.environment()), process.clock)

    @classmethod
    def at(cls, places: UserDirs, clock: Callable[[], float]) -> Self:
        """Open what a user has set up at places; raise `InvalidConfig`."""
        return cls(places, load_user_config(places.config_home, places.state_home), clock)

    @staticmethod
    def halt_of(conversation: str, places: UserDirs) -> str:
        """Return why a conversation of this user is halted, empty if it is not.

        It is read from the state directory alone, so it answers where no repository opens.
        """
        from gitguard.hooks.gate import halt_reason
        from gitguard.store.session.conversations import all_holds

        for hold in all_holds(places.state_home):
            if hold.conversation == conversation and hold.halt:
                return halt_reason(hold.halt)
        return ""

    @property
    def transcripts(self) -> Transcripts:
        """What is done with conversations of hosts."""
        from gitguard.compaction.transcripts import Transcripts

        return Transcripts(self.config, self.clock)

    @property
    def profile(self) -> Profiles:
        """What eats a conversation's context, and what past sessions advise."""
        from gitguard.guard.profile import Profiles

        return Profiles(self.config, self.transcripts.host_session)

    @property
    def settings(self) -> Settings:
        """Hosts' settings: advised, changed, and put back."""
        from gitguard.guard.settings import Settings

        return Settings(self._desk(), self.profile)

    def _desk(self) -> Desk:
        from gitguard.settings.advice import Desk

        return Desk(self.places, self.config, self.clock)


class Guard:
    """gitguard for one workspace: its current session here, and the rest by subject.

    The subjects are `sessions`, `transcripts`, `settings`, `profile`, `delegation`, `handoff`,
    `files`, `history`, `lanes`, `review`, `secrets` and `hosts`.
    """

    def __init__(self, root: str, places: UserDirs, clock: Callable[[], float]) -> None:
        """Open the workspace that root lies in.

        clock returns Unix seconds. Raises `NotARepository` and `InvalidConfig`.
        """
        self.workspace, self.config = open_workspace(root, places, clock)
        self.clock = clock
        self.sessions = WorkspaceSessions(self.workspace, self.config)
        self._folder = root

    @classmethod
    def open(cls, path: str = ".", session: str = "") -> Self:
        """Open the workspace that a path lies in, as the command line does in this process.

        session is the key of the one to work at; else it is `GITGUARD_SESSION`, or the workspace's
        current one. Raises `NotARepository` and `InvalidConfig`.
        """
        from gitguard import process

        return cls(path, process.places(process.environment(), session), process.clock)

    # By subject

    @property
    def transcripts(self) -> Transcripts:
        """What is done with conversations of hosts, this workspace's or any."""
        from gitguard.compaction.transcripts import Transcripts

        return Transcripts(self.config, self.clock, self.workspace)

    @property
    def profile(self) -> Profiles:
        """What eats a conversation's context, and what past sessions advise."""
        from gitguard.guard.profile import Profiles

        return Profiles(self.config, self.transcripts.host_session, self.sessions)

    @property
    def settings(self) -> Settings:
        """Hosts' settings: advised, changed, and put back."""
        from gitguard.guard.settings import Settings
        from gitguard.settings.advice import desk_in

        return Settings(desk_in(self.workspace, self.config), self.profile)

    @property
    def delegation(self) -> Delegation:
        """What goes to a sub-agent, and what the sub-agent has to know."""
        from gitguard.guard.delegation import Delegation

        return Delegation(self.sessions)

    @property
    def handoff(self) -> Handoff:
        """The hand-off file: written, read back once, cleared."""
        from gitguard.sessions.handoff.handoff_file import Handoff

        return Handoff(self.store(self.any_session()), self.config.handoff)

    @property
    def files(self) -> Files:
        """The worktree's files at a checkpoint, and putting them back."""
        from gitguard.guard.files import Files

        return Files(self.sessions)

    @property
    def history(self) -> CheckpointHistory:
        """What a reviewer reads of checkpoints: lists of them, and what changed, in sentences."""
        from gitguard.guard.history import CheckpointHistory

        return CheckpointHistory(self.sessions)

    @property
    def lanes(self) -> Lanes:
        """What this machine and others show each other of their sessions, through git remotes."""
        from gitguard.guard.lanes import Lanes

        return Lanes(self.sessions)

    @property
    def secrets(self) -> WorkspaceSecrets:
        """The secrets that were written: found, and taken out."""
        from gitguard.guard.secrets import WorkspaceSecrets

        return WorkspaceSecrets(self.sessions)

    @property
    def review(self) -> Reviews:
        """What serves a reviewer: links from commits to checkpoints, searches, and a report."""
        from gitguard.guard.review import Reviews

        return Reviews(self.sessions)

    @property
    def hosts(self) -> WorkspaceHosts:
        """The hosts that are here, and installing for them."""
        from gitguard.guard.workspace_hosts import WorkspaceHosts

        return WorkspaceHosts(self.sessions)

    # The session

    def current_session(self) -> Session:
        """Return the session that work in this workspace belongs to.

        Raises `NotInitialised` where none was begun.
        """
        return self.sessions.current()

    def any_session(self) -> Session:
        """Return the current session, or the one that `ensure` would begin."""
        return self.sessions.any_session()

    def store(self, session: Session | None = None) -> SessionStore:
        """Return a session's store, the current session's by default."""
        return self.sessions.store(session)

    def repository(self) -> Repository:
        """Return the door to git."""
        return self.sessions.repository()

    def ensure(self, circumstances: Circumstances | None = None) -> Startup:
        """Begin, restore or continue the session (references/design/contract.md, "Startup").

        Raises `Complete` when the task says it is done, after its final state is written.
        """
        from gitguard.sessions.hook_health import hook_problems

        startup = self.sessions.ensure(circumstances)
        return startup.replace(notes=(*startup.notes, *hook_problems(self.workspace)))

    def begin(self, session: Session, circumstances: Circumstances | None = None) -> Startup:
        """Begin, restore or continue a session, without asking whose it is."""
        return self.sessions.begin(session, circumstances)

    def take_notice(self) -> str:
        """Return once what a person should hear of this repository, such as that it was moved."""
        return self.sessions.take_notice()

    # State

    def state(self) -> TaskState:
        """Return the task state in force."""
        return self.store().read_unlocked().state

    def note(
        self,
        changes: dict[str, Any],
        *,
        new_task: bool = False,
        host_session: str = "",
        by_person: bool = False,
    ) -> Noted:
        """Add to the state what the agent knows; the same as `update`, with lists appended.

        host_session is the conversation in which it notes, empty outside of one. by_person says
        that no agent runs this, as far as can be told; a call of an agent's that runs disproves it.
        """
        from gitguard.state.changes import APPEND

        return self._change(changes, APPEND, host_session, new_task=new_task, by_person=by_person)

    def update(
        self,
        document: dict[str, Any],
        *,
        replace: bool = False,
        host_session: str = "",
        by_person: bool = False,
    ) -> Noted:
        """Apply a document of fields, whole or not at all; replace does so with every list."""
        from gitguard.state.changes import BY_FIELD, REPLACE

        lists = REPLACE if replace else BY_FIELD
        return self._change(document, lists, host_session, new_task=False, by_person=by_person)

    def _change(
        self, document: dict[str, Any], lists: str, conversation: str, **how: bool
    ) -> Noted:
        from gitguard.sessions.notes import change, keep_apart

        pending = keep_apart(self.workspace, document, new_task=how["new_task"], lists=lists)
        if pending is not None:
            return pending
        store = self.store()
        with Durable(), store.lock():
            store.states.require_writable()
            return change(store, document, lists=lists, conversation=conversation, **how)

    # Gate and context

    def gate(
        self,
        host_session: str,
        reading: Reading | None = None,
        *,
        characters: int | None = None,
        action_changed_state: bool = False,
        phase_or_goal_changed: bool = False,
        compacted: bool = False,
        host: str = "",
    ) -> Gated:
        """Ask before a major action; writes what the verdict demands.

        reading is the host's own pressure. Without one, the first asked gate of a host session
        counts as its first turn. compacted says that the context was compacted since, which ends a
        halt. host is the one whose conversation asks, as far as the caller knows. Raises
        `MissingState` and `Complete`.
        """
        from gitguard.hooks.gate_question import GateRequest, ask

        if reading is not None and reading.share is not None and not reading.share >= 0:
            raise InvalidInput(f"the pressure `{reading.share}` is not a share of the window")
        store = self.store()
        reading = reading or self._estimate(characters)
        with Durable(), store.lock():
            store.states.require_writable()
            return ask(
                store,
                GateRequest(
                    host_session,
                    reading,
                    action_changed_state,
                    phase_or_goal_changed=phase_or_goal_changed,
                    compacted=compacted,
                    host=host,
                ),
            )

    def _estimate(self, characters: int | None) -> Reading | None:
        if characters is None:
            return None
        if not self.config.reference_mode:
            raise InvalidInput(
                "pressure is not guessed from characters",
                "Give the host's own pressure; `reference_mode: true` is for tests only",
            )
        from gitguard.model.events import Reading
        from gitguard.pressure.estimate import estimate_tokens

        return Reading("estimate", self.clock(), tokens=estimate_tokens(characters))

    def checkpoint(self, why: str) -> Saved:
        """Commit the state as it is."""
        from gitguard.sessions.stopped_calls import journal_stops

        store = self.store()
        with Durable(), store.lock():
            store.states.require_writable()
            journal_stops(store)
            return store.checkpoint(triggers.MANUAL, why, Circumstances())

    def bundle(
        self,
        items: tuple[ContextItem, ...] = (),
        *,
        with_summary: bool = False,
        with_bootstrap: bool = False,
        host: str = "",
        pressure: float = 0.0,
    ) -> Bundle:
        """Return the working context for the next major action; host is whose context files."""
        from gitguard.hooks.bundling import Wanted, bundle

        parts = Wanted(with_summary, with_bootstrap, host, self._folder)
        return bundle(self.store(), items, parts, pressure=pressure)

    def resume(self, host_session: str = "") -> str:
        """Return the block that hands the state back; the history is verified first.

        host_session is the conversation that asks; how often it was compacted is said. Outside of
        one a person asks, who sees the task that conversations are at.
        """
        from gitguard.pressure.runway import spiral_reason
        from gitguard.sessions.resume.building import resume_block, take_over

        store = self.store()
        record = read_conversation(self.workspace, store.session, host_session)
        spiral = spiral_reason(record.epoch, record.summary_tokens, record.window)
        asking = "" if host_session == THIS_SESSION else host_session
        return resume_block(store, spiral=spiral, notes=take_over(store), conversation=asking)

    def override(self, host_session: str, reason: str) -> HostSession:
        """Lift a conversation's halt until the next compaction, or pressure 0.05 above it."""
        from gitguard.hooks.gate_question import override

        if not reason.strip():
            raise InvalidInput("an override needs a reason", "Say why with --reason")
        store = self.store()
        with store.lock():
            return override(store, host_session, reason)

    # Repair

    def diagnose(self) -> tuple[Problem, ...]:
        """Say what is wrong with the session, and the ways out; nothing is changed."""
        from gitguard.sessions.diagnosis import diagnose

        return diagnose(self.store(self.any_session()))

    def repair_local(self) -> tuple[str, ...]:
        """Repair this machine's own files, and no branch; return what was done."""
        from gitguard.sessions import repair

        store = self.store(self.any_session())
        with store.lock():
            return repair.repair_local(store)

    def archive_theirs(self) -> tuple[str, ...]:
        """Put what is ours back in the place of what is not; return what was done.

        That is a branch that somebody moved or deleted, or the state of another tool.
        """
        from gitguard.sessions import other_tools, repair

        moved = other_tools.archive_state(self.workspace, f"{self.clock():.0f}")
        if moved:
            return tuple(f"moved `{old}` to `{new}`" for old, new in moved.items())
        store = self.store(self.any_session())
        with store.lock():
            return repair.archive_theirs(store)

    def restore(
        self, checkpoint_name: str, *, dry_run: bool = False, untrusted: bool = False
    ) -> StateChange:
        """Make the state of an earlier checkpoint the newest, or show what that would change.

        What is kept aside and not known to be ours is refused, unless untrusted is given.
        """
        from gitguard.sessions import restore

        store = self.store()
        act = restore.plan_restore if dry_run else restore.restore
        with store.lock():
            return act(store, checkpoint_name, untrusted=untrusted)

    def accept(self, shown: str = "", *, dry_run: bool = False) -> StateChange:
        """Take an edited `state.json` as ours, or show what that would change.

        shown is the hash of what somebody looked at; anything else is refused.
        """
        from gitguard.sessions import taking

        store = self.store()
        with store.lock():
            return (taking.plan_accept if dry_run else taking.accept)(store, shown)

    def trust(self, head: str = "", *, dry_run: bool = False) -> StateChange:
        """Make a branch that this machine did not write its own, or show what it holds."""
        from gitguard.sessions import taking

        store = self.store(self.any_session())
        with store.lock():
            return (taking.plan_trust if dry_run else taking.trust)(store, head)

    def forget(self) -> str:
        """Set this machine's anchor of the session aside."""
        from gitguard.sessions import repair

        store = self.store(self.any_session())
        with store.lock():
            return repair.forget(store)

    # Review

    def log(self, most: int = 20, *, untrusted: bool = False) -> list[Checkpoint]:
        """Return the newest checkpoints of the session, verified, newest first.

        A branch that this machine did not write is refused, unless an untrusted one is asked for.
        """
        from gitguard.sessions.history import newest

        return newest(self.store(self.any_session()), most, untrusted=untrusted)

    def show(self, name: str, checkpoint_name: str = "", *, untrusted: bool = False) -> bytes:
        """Return a checkpoint's file, or the working one when no checkpoint is named."""
        return self.history.show(name, checkpoint_name, untrusted=untrusted)

    def diff(self, older: str = "", newer: str = "", *, untrusted: bool = False) -> Difference:
        """Compare two checkpoints; by default the newest with the state as it is now."""
        from gitguard.sessions.history import diff

        return diff(self.store(self.any_session()), older, newer, untrusted=untrusted)

    def code_of(
        self, checkpoint: str = "", older: str = "", *, untrusted: bool = False
    ) -> CodeCommit:
        """Describe the code commit of a checkpoint, or HEAD's when none is named.

        Files are counted from an older checkpoint's code commit, by default the one before.
        """
        return self.history.code_of(checkpoint, older, untrusted=untrusted)

    def why_not_ours(self, *checkpoint_names: str) -> str:
        """Say why the session's branch, or a checkpoint kept aside, is not ours; empty if it is."""
        return self.history.why_not_ours(*checkpoint_names)

    def verify(
        self, *, every_session: bool = False, tell: Callable[[int, int], None] | None = None
    ) -> list[VerificationReport]:
        """Look at the whole history of the session, or of every one; a finding is not raised.

        tell is called with how many checkpoints are verified, of how many.
        """
        from gitguard.sessions.hook_health import hook_problems
        from gitguard.sessions.verification import verify, verify_each

        store = self.store(self.any_session())
        if every_session:
            keys = {name: name for name in self.sessions.remote()} | self.sessions.keys()
            reports = verify_each(store, keys, tell=tell)
        else:
            reports = [verify(store, tell=tell)]
        # Hooks belong to the worktree, so the first report speaks for all sessions.
        notes = hook_problems(self.workspace)
        first = [report.replace(notes=(*report.notes, *notes)) for report in reports[:1]]
        return first + reports[1:]

    @staticmethod
    def problem_of(reports: list[VerificationReport]) -> GitguardError | None:
        """Return the error that reports of `verify` amount to, None if nothing is wrong."""
        from gitguard.sessions.verification import problem_of

        return problem_of(reports)

    def status(self) -> Overview:
        """Describe the session, and whether hooks run, without changing anything."""
        from gitguard.sessions.status import describe

        return describe(self.workspace, self.config)

    def forget_faults(self) -> None:
        """Remove the marks of faults that somebody has seen."""
        self.workspace.forget_faults()

    # Installation

    def install(self, host: str, options: InstallOptions, *, dry_run: bool = False) -> Outcome:
        """Put gitguard into a host's settings and begin the session, or show what would change.

        The host `none` gets a section in the instructions for agents instead, such as `AGENTS.md`.
        """
        return self.hosts.install((host,), options, dry_run=dry_run)

    def uninstall(self, host: str, *, dry_run: bool = False) -> Outcome:
        """Give a host's settings back; checkpoints and working files stay, and no search index."""
        return self.hosts.uninstall((host,), dry_run=dry_run)

    # Hooks

    def handle(self, event: HookEvent, abilities: Abilities) -> HookReply:
        """Answer one event of a host with these abilities."""
        from gitguard.hooks.answering import answer_unreachable, first_refusal, handle

        workspace = self.workspace.naming(event.session) if event.session else self.workspace
        refusal = first_refusal(event, abilities, workspace.places, self.clock())
        if refusal is not None:
            return refusal.visible()
        try:
            return handle(workspace, self.config, event, abilities=abilities)
        except MissingState as error:
            workspace.note_fault(f"answering {event.kind}", error)
            now = self.clock()
            return answer_unreachable(
                event, abilities, workspace.places, now=now, error=error
            ).visible()
