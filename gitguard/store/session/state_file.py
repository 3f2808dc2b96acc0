"""The state on disk: the working file, and the copy that says whether it is ours.

Of a state, the copy in the state directory is written first, then `state.json`. So after a crash
the copy is the newer one, and a file that is neither is somebody else's edit.
"""

from __future__ import annotations

import os

from gitguard.errors import InvalidDocument, MissingState, NewerFormat, NotReadable, NotWritable
from gitguard.model.codec import (
    STATE_FILE,
    STATE_LIMIT,
    SUMMARY_FILE,
    check_format,
    check_size,
    dump_json,
    load_json,
    sha256,
)
from gitguard.model.value import Value
from gitguard.store.disk import files

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from gitguard.model.redaction.redactor import RuleMatch
    from gitguard.state.task import TaskState
    from gitguard.store.session.anchor import AnchorFile, StateCopy
    from gitguard.store.session.workspace import Session, Workspace

FORMAT = 1

ABSENT = "absent"
"""Neither state nor summary is there."""
MISSING = "missing"
"""The summary is there, the state is not."""
BROKEN = "broken"
"""The state cannot be read."""
EDITED = "edited"
"""The state reads, and gitguard did not write it."""
PENDING = "pending"
"""The state was written by us while the state directory could not be."""
OURS = "ours"


class OwnState(Value):
    """A state that this machine wrote, and what a write after it has to know."""

    state: TaskState
    sha256: str
    """Of the document, in hexadecimal."""
    written: StateCopy | None
    """The copy in the state directory; None where only the working file holds the state."""
    journal_id: str = ""
    """The journal that is folded into the state."""
    journal_offset: int = 0
    """Up to which byte of the journal."""
    standing: str = OURS
    """ours or pending."""
    problem: str = ""
    """Why the state directory could not be written, where that is known of a pending state."""
    in_file: str = ""
    """The hash of what the working file holds; empty if that is not ours, or there is no file."""
    has_summary: bool = False
    """Whether the summary was there when the state was read."""
    redacted: tuple[RuleMatch, ...] = ()
    """What was taken out of the state as it was written."""
    keeps_file: bool = False
    """The working file is broken and stays as it is; only the copy is written."""

    @property
    def document(self) -> bytes:
        """The state as it was written, empty where only the working file holds it."""
        written = self.written
        return written.state.encode() if written and written.sha256 == self.sha256 else b""

    @property
    def needs_rewrite(self) -> bool:
        """Whether the working file holds an older state of ours than the copy.

        A crash came between the two, or another worktree wrote the copy.
        """
        return self.in_file not in ("", self.sha256)


class Edited(Value):
    """A state in the working file that reads, and that gitguard did not write."""

    state: TaskState
    sha256: str


class UnusableState(Value):
    """Why the working file holds no state of ours, and what there is in its place."""

    standing: str
    """absent, missing, broken or edited."""
    copy: OwnState | None = None
    """The state in the state directory, the newest that this machine wrote."""
    problem: str = ""
    """Why the working file, or else the copy, cannot be read; empty where they can."""
    edited: Edited | None = None
    """Where somebody else wrote the working file."""
    has_summary: bool = False


def newest_own(reading: OwnState | UnusableState) -> OwnState | None:
    """Return the newest state this machine wrote: the working file's, or else the copy's."""
    return reading if isinstance(reading, OwnState) else reading.copy


def decode_state(data: bytes, what: str) -> TaskState:
    """Read a state from bytes, or raise `InvalidDocument`."""
    from gitguard.state.task import read_state

    return read_state(load_json(data, what=what))


DONE = frozenset((b"DONE", b"COMPLETE", b"FINISH"))
"""`task.DONE_ACTIONS`, whose import would cost every tool call."""
_COPY_LIMIT = 1 << 20
_PERMIT = "Permit writing there, then run `gitguard ensure`"
_NEVER_EMPTY = ("goal", "next_action")


def is_whole(data: bytes) -> bool:
    """Say whether a state is fit to go on with: it reads, and no field that counts is empty."""
    try:
        return not empty_field(decode_state(data, "the state"))
    except InvalidDocument:
        return False


def empty_field(state: TaskState) -> str:
    """Return the first field that is empty and must not be, none as "" where all say something."""
    return next((name for name in _NEVER_EMPTY if not getattr(state, name).strip()), "")


class StateFiles:
    """Reads and writes the state of one session; the caller holds the session's lock."""

    def __init__(self, workspace: Workspace, session: Session) -> None:
        """Describe the files; nothing is read yet."""
        self._workspace = workspace
        self._session = session
        self.path = workspace.working_file(session, STATE_FILE)
        self.summary_path = workspace.working_file(session, SUMMARY_FILE)
        self._starting_path = workspace.working_file(session, "starting")
        self._pending_path = workspace.working_file(session, "pending.json")
        self._git_dir = workspace.place.git_dir

    @property
    def _copies(self) -> AnchorFile:
        from gitguard.store.session.anchor import AnchorFile

        return AnchorFile(self._workspace.anchor_folder(self._session))

    @property
    def is_starting(self) -> bool:
        """Whether a start died before state and summary were both there."""
        return os.path.exists(self._starting_path)

    def seems_fit(self) -> bool:
        """Say whether the working files are fit to go on with; cheap, for every tool call.

        What this machine wrote is whole, and its hash tells it; only what differs is read.
        """
        try:
            data = files.read_bytes(self.path, limit=STATE_LIMIT)
        except (InvalidDocument, NotReadable):
            return False
        if data is None or not os.path.exists(self.summary_path):
            return False
        path = os.path.join(self._workspace.anchor_folder(self._session), STATE_FILE)
        try:
            copy = files.read_bytes(path, limit=_COPY_LIMIT)
        except (InvalidDocument, NotReadable):
            copy = None
        # In the copy the state is one text, so the quotes of whatever it holds are escaped.
        is_as_written = copy is not None and f'"sha256": "{sha256(data)}"'.encode() in copy
        return is_as_written or is_whole(data)

    def has_own_summary(self) -> bool:
        """Say whether the summary has the state's time, as gitguard gives it; cheap."""
        try:
            return os.stat(self.summary_path).st_mtime_ns == os.stat(self.path).st_mtime_ns
        except OSError:
            return True  # what is missing is told elsewhere

    def may_be_done(self) -> bool:
        """Say whether the next action says that the task is done; cheap, for calls that write."""
        try:
            data = files.read_bytes(self.path, limit=STATE_LIMIT) or b""
        except (InvalidDocument, NotReadable):
            return False
        # In any text of the state the quotes would be escaped.
        _, _, behind = data.partition(b'"next_action": "')
        return behind.partition(b'"')[0].strip().upper() in DONE

    def require_writable(self) -> None:
        """Raise `MissingState` where the folder of the working file takes no new files."""
        folder = os.path.dirname(self.path)
        if not files.is_writable(folder):
            raise unwritable(NotWritable(f"cannot write in `{folder}`", _PERMIT))

    def begin_start(self) -> None:
        """Note that state and summary are about to be written where neither may be."""
        files.write_bytes(self._starting_path, b"")
        self._workspace.at_step("start-marked")

    def end_start(self) -> None:
        """Note that both are there.

        Where nothing can be written, the mark of an older start stays: it stops nobody. Any other
        failure is raised, because whoever hears of success never comes back to remove it.
        """
        try:
            files.remove_for_sure(self._starting_path)
        except NotWritable as error:
            if not files.is_refusal(error):
                raise
        self._workspace.at_step("start-ended")

    def read(self) -> OwnState | UnusableState:
        """Read the working state and compare it with the copy.

        Raises `NewerFormat` for what a newer gitguard wrote, and `Tampered` for a link in the way.
        """
        self._workspace.refuse_links(self._session)
        copy, problem = self._copy()
        has_summary = os.path.exists(self.summary_path)
        lacking = UnusableState(BROKEN, copy, problem, has_summary=has_summary)
        try:
            data = files.read_bytes(self.path, limit=STATE_LIMIT)
        except (InvalidDocument, NotReadable) as error:
            return lacking.replace(problem=error.message)
        if data is None:
            return lacking.replace(standing=MISSING if has_summary else ABSENT)
        return self._compare(lacking, data)

    def _copy(self) -> tuple[OwnState | None, str]:
        """Return the state in the state directory, None without one, and why it cannot be read."""
        try:
            written = self._copies.read_copy()
            if written is None:
                return None, ""
            state = self._decode_written(written)
        except NewerFormat:
            raise
        except InvalidDocument as error:
            return None, error.message
        position = (written.journal_id, written.journal_offset)
        return OwnState(state, written.sha256, written, *position), ""

    def _decode_written(self, written: StateCopy) -> TaskState:
        """Return the copy's state, marked with what another machine wrote in it."""
        from gitguard.state.task import read_state

        document = load_json(written.state.encode(), what="the state's copy")
        state = read_state(document)
        if written.rules == self._workspace.redactor.rules_id:
            self._workspace.redactor.know(document, state)
        from gitguard.store.session.anchor import marked

        return marked(state, written.elsewhere)

    def marked(self, state: TaskState) -> TaskState:
        """Return a state, such as a checkpoint's, with what another machine wrote marked in it."""
        from gitguard.store.session.anchor import marked

        try:
            written = self._copies.read_copy()
        except InvalidDocument:
            written = None
        return marked(state, written.every_elsewhere if written is not None else ())

    def _compare(self, lacking: UnusableState, data: bytes) -> OwnState | UnusableState:
        """Say whose state the working file's bytes are; lacking has all but that."""
        digest, copy, has_summary = sha256(data), lacking.copy, lacking.has_summary
        written = copy.written if copy is not None else None
        hashes: tuple[str, ...] = ()
        if written is not None:
            hashes = (written.sha256, *written.older_hashes(self._git_dir))
        # An older state of ours is no edit: a crash came between copy and file, or another
        # worktree wrote the copy since. The copy is the newer one, so it is what counts.
        if copy is not None and digest in hashes:
            return copy.replace(in_file=digest, has_summary=has_summary)
        try:
            state = decode_state(data, f"`{self.path}`")
        except NewerFormat as error:
            # A newer gitguard replaces the copy first, or leaves its mark where it cannot.
            if written is None or self._is_pending(self._pending_mark(), digest, written):
                raise
            return lacking.replace(problem=error.message)
        except InvalidDocument as error:
            return lacking.replace(problem=error.message)
        mark = self._pending_mark()
        if self._is_pending(mark, digest, written):
            position = _folded_into(mark, digest)
            if position is None:
                position = (copy.journal_id, copy.journal_offset) if copy is not None else ("", 0)
            return OwnState(
                state,
                digest,
                written,
                *position,
                standing=PENDING,
                problem=lacking.problem,
                in_file=digest,
                has_summary=has_summary,
            )
        empty = empty_field(state)
        if empty:
            return lacking.replace(problem=f"`{empty}` is empty")
        return lacking.replace(standing=EDITED, edited=Edited(state, digest))

    def older_in_file(self, reading: OwnState) -> Edited | None:
        """Return the older state of ours that the working file holds, None where it is the newest.

        It is no edit, and the newest counts; but a person may ask for this one.
        """
        if not reading.needs_rewrite:
            return None
        data = files.read_bytes(self.path, limit=STATE_LIMIT)
        if data is None or sha256(data) != reading.in_file:
            return None
        return Edited(decode_state(data, f"`{self.path}`"), reading.in_file)

    def _pending_mark(self) -> dict[str, Any]:
        try:
            data = files.read_bytes(self._pending_path, limit=4096)
            mark = {} if data is None else load_json(data, what="the pending mark")
            check_format(mark, FORMAT, what=f"`{self._pending_path}`")
        except NewerFormat:
            raise
        except InvalidDocument:
            return {}
        is_ours = data is not None and self._workspace.seal.holds(data, self._pending_place)
        return mark if is_ours else {}

    @property
    def _pending_place(self) -> str:
        return f"pending.json {self._session.name}"

    def _is_pending(self, mark: dict[str, Any], digest: str, written: StateCopy | None) -> bool:
        bases = (written.sha256, written.previous_sha256) if written is not None else ("",)
        marked = (mark.get("sha256"), mark.get("previous_sha256"))
        ours = mark.get("based_on") in bases and digest in marked
        # Without a copy here nothing is sealed, and an archive may hold state and mark alike.
        return ours and (written is not None or self._is_made_here(mark)) and not self._is_tracked()

    def _is_made_here(self, mark: dict[str, Any]) -> bool:
        return mark.get("place") == self._whereabouts()

    def _whereabouts(self) -> str:
        from gitguard.store.session.anchor import whereabouts

        return whereabouts(self._workspace.place.common_dir)

    def _is_tracked(self) -> bool:
        # A clone could bring a state in together with the mark that calls it ours.
        workspace = self._workspace
        folder = os.path.relpath(os.path.dirname(self.path), workspace.place.worktree)
        return bool(workspace.repository().tracked_under(folder))

    def write(
        self,
        state: TaskState,
        before: OwnState | None,
        *,
        journal_id: str = "",
        journal_offset: int = -1,
    ) -> OwnState:
        """Make a state durable: the copy first, then the working file.

        before is the newest state of ours, None for the first; marks go into the copy alone.
        The journal is folded into it up to journal_offset, by default as far as before. A working
        file without a copy is adopted later. Raises `NotWritable` and `InvalidInput`.
        """
        from gitguard.store.session.anchor import marked

        if before is not None and self._copies.has_joined_lane:
            from gitguard.store.session.lane_memory import settle_join  # a sync was killed

            settle_join(self._copies.folder, before.state, state)
        state, redacted = _begun(state).redacted(self._workspace.redactor)
        data = dump_json(marked(state, ()).to_document())
        check_size(len(data), what="the state")
        written = self._copy_after(before, data, journal_id, journal_offset)
        written = written.with_marks_of(state, before.written if before is not None else None)
        keeps_file = before is not None and before.keeps_file
        try:
            self._copies.write_copy(written)
        except NotWritable as error:
            if keeps_file or not files.is_refusal(error):
                raise
            return self._write_pending(
                state, data, before, refused=written, why=str(error), redacted=redacted
            )
        self._workspace.at_step("state-copy-written")
        if not keeps_file:
            files.write_bytes(self.path, data)
            self._workspace.at_step("state-written")
            # The mark goes last: as long as the file holds the pending state, it says whose it is.
            files.remove(self._pending_path)
        position = (written.journal_id, written.journal_offset)
        return OwnState(
            state,
            written.sha256,
            written,
            *position,
            in_file="" if keeps_file else written.sha256,
            has_summary=before is not None and before.has_summary,
            redacted=redacted,
            keeps_file=keeps_file,
        )

    def _copy_after(
        self, before: OwnState | None, data: bytes, journal_id: str, journal_offset: int
    ) -> StateCopy:
        """Return the copy of a state that follows before, noted as this worktree's last write.

        A journal_offset below 0 is as far as the journal was folded into the state before.
        """
        if journal_offset < 0 and before is not None:
            journal_id, journal_offset = before.journal_id, before.journal_offset
        from gitguard.store.session.anchor import StateCopy

        old = before.written if before else None
        previous = old.sha256 if old else ""
        # A state that is pending without any copy stands in the file alone. After a crash between
        # copy and file it stands there still, and has to be known as ours.
        if before is not None and before.standing == PENDING and old is None:
            previous = before.sha256
        copy = StateCopy(
            state=data.decode(),
            sha256=sha256(data),
            previous_sha256=previous,
            journal_id=journal_id,
            journal_offset=max(journal_offset, 0),
            worktrees=old.worktrees if old else (),
            rules=self._workspace.redactor.rules_id,
        )
        return copy.with_write_of(self._git_dir, before.in_file if before else "")

    def _write_pending(
        self,
        state: TaskState,
        data: bytes,
        before: OwnState | None,
        refused: StateCopy,
        why: str,
        redacted: tuple[RuleMatch, ...],
    ) -> OwnState:
        """Write a state whose copy was refused into the working file, with a mark beside it."""
        # The mark comes first; it has to know the state that a crash would leave beside it.
        mark = self._new_mark(before, refused, why)
        sealed = self._workspace.seal.put_on(dump_json(mark), self._pending_place)
        files.write_bytes(self._pending_path, sealed)
        self._workspace.at_step("pending-marked")
        files.write_bytes(self.path, data)
        self._workspace.at_step("pending-written")
        return OwnState(
            state,
            refused.sha256,
            before.written if before else None,
            journal_id=refused.journal_id,
            journal_offset=refused.journal_offset,
            standing=PENDING,
            problem=why,
            in_file=refused.sha256,
            has_summary=before is not None and before.has_summary,
            redacted=redacted,
        )

    def _new_mark(self, before: OwnState | None, refused: StateCopy, why: str) -> dict[str, Any]:
        copy = before.written if before else None
        previous = before.sha256 if before else ""
        folded = [before.journal_id, before.journal_offset] if before else ["", 0]
        return {
            "format": FORMAT,
            "sha256": refused.sha256,
            "previous_sha256": previous,
            "based_on": copy.sha256 if copy else "",
            "place": self._whereabouts(),
            "why": self._workspace.redactor.text(why),
            "folded": {
                previous: folded,
                refused.sha256: [refused.journal_id, refused.journal_offset],
            },
        }

    def rewrite(self, ready: OwnState) -> OwnState:
        """Write the working file again from the copy, which notes first what the file will hold.

        Other worktrees may go on from there, and this one's file is to be known as ours then too.
        """
        written = ready.written
        if written is None:
            return ready  # the working file is all there is
        self._note_rewrite(written, ready.in_file)
        files.write_bytes(self.path, written.state.encode())
        self._workspace.at_step("state-rewritten")
        return ready.replace(standing=OURS, problem="", in_file=written.sha256)

    def _note_rewrite(self, written: StateCopy, before: str) -> None:
        if any(t.sha256 == written.sha256 for t in written.worktrees if t.git_dir == self._git_dir):
            return
        try:
            self._copies.write_copy(written.with_write_of(self._git_dir, before))
        except NotWritable as error:
            if not files.is_refusal(error):
                raise

    def read_summary(self, *, sets_aside: bool = True) -> str | None:
        """Return the summary as it lies there, None where there is none.

        What cannot be read as one is set aside, or else raised: it differs from any, and the state
        wins.
        """
        try:
            data = files.read_bytes(self.summary_path, limit=4 * STATE_LIMIT)
        except InvalidDocument:
            if not sets_aside:
                raise
            self._workspace.set_aside(self.summary_path)
            return ""
        return None if data is None else data.decode("utf-8", "replace")


def _begun(state: TaskState) -> TaskState:
    """Return a state whose goal and next action say `START` where they are empty."""
    from gitguard.state.task import START

    unset = {name: START for name in _NEVER_EMPTY if not getattr(state, name).strip()}
    return state.replace(**unset) if unset else state


def _folded_into(mark: dict[str, Any], digest: str) -> tuple[str, int] | None:
    """Return how far the journal is folded into a pending state: its id, and a byte of it.

    None where the mark does not say so.
    """
    folded = mark.get("folded")
    position = folded.get(digest) if isinstance(folded, dict) else None
    if not isinstance(position, list) or [type(part) for part in position] != [str, int]:
        return None
    journal_id, offset = position
    return journal_id, max(offset, 0)


def diagnose(reading: OwnState | UnusableState) -> MissingState | None:
    """Return why the task may not go on without a repair, None where it may.

    A foreign edit is no missing state: it has ways out of its own.
    """
    if isinstance(reading, UnusableState) and reading.standing != EDITED:
        return _missing(reading)
    if not reading.has_summary:
        return MissingState(
            "the summary is missing", "Run `gitguard repair --local`: it renders the summary again"
        )
    return None


def _missing(diagnosed: UnusableState) -> MissingState:
    if diagnosed.standing == ABSENT:
        return MissingState(
            "there is no task state and no summary",
            "Run `gitguard ensure` to begin or restore it; see `gitguard session list` for others",
        )
    if diagnosed.standing == MISSING:
        return MissingState(
            "the summary is there, the durable task state is missing",
            "Run `gitguard repair --local`: it takes the newest good copy",
        )
    return MissingState(
        f"the durable task state cannot be used: {diagnosed.problem}",
        "Run `gitguard repair --local`: it archives the bad file and takes the newest good copy",
    )


class Durable:
    """A context that raises `MissingState` where a place refuses what the contract has to keep."""

    def __enter__(self) -> None:
        """Nothing is tried beforehand."""

    def __exit__(self, _kind: object, error: BaseException | None, _trace: object) -> None:
        """Say by the contract what the place refused."""
        if isinstance(error, NotWritable) and files.is_refusal(error):
            raise unwritable(error) from error


def unwritable(error: NotWritable) -> MissingState:
    """Return what a place that refuses the durable state means by the contract."""
    return MissingState(f"cannot save the task state: {error.message}", error.hint)
