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
)
from gitguard.model.digest import sha256
from gitguard.model.value import Value
from gitguard.store.disk import files

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from gitguard.model.redaction.redactor import Finding
    from gitguard.store.session.anchor import AnchorFile, Written
    from gitguard.store.session.naming import Session
    from gitguard.store.session.task import TaskState
    from gitguard.store.session.workspace import Workspace

FORMAT = 1

ABSENT = "absent"
"""Neither state nor summary is there."""
MISSING = "missing"
"""The summary is there, the state is not."""
BROKEN = "broken"
"""The state does not read."""
EDITED = "edited"
"""The state reads, and gitguard did not write it."""
PENDING = "pending"
"""The state was written by us while the state directory could not be."""
OURS = "ours"


class Found(Value):
    """What lies in the working files, and the newest state gitguard knows to be its own."""

    standing: str
    state: TaskState | None = None
    """The state in force: the working file's, or the copy's when that is not ours."""
    sha256: str = ""
    written: Written | None = None
    edited: TaskState | None = None
    edited_sha256: str = ""
    has_summary: bool = False
    problem: str = ""
    journal_id: str = ""
    """The journal that is folded into the state in force."""
    journal_offset: int = 0
    """Up to which byte."""
    needs_rewrite: bool = False
    """A crash came between the copy and the working file, or another worktree wrote the copy."""
    in_file: str = ""
    """The hash of what the working file holds, if that is ours."""
    redacted: tuple[Finding, ...] = ()
    """What was taken out of the state as it was written."""
    keeps_file: bool = False
    """The working file is broken and stays as it lies; only the copy goes on."""

    @property
    def document(self) -> bytes:
        """The state in force as it was written, empty where only the working file holds it."""
        written = self.written
        return written.state.encode() if written and written.sha256 == self.sha256 else b""


def decode_state(data: bytes, what: str) -> TaskState:
    """Read a state from bytes, or raise `InvalidDocument`."""
    from gitguard.store.session.task import read_state

    return read_state(load_json(data, what=what))


NEEDED = {
    "schema_version": int,
    "task_id": str,
    "session_id": str,
    "goal": str,
    "status": str,
    "current_phase": str,
    "next_action": str,
    "completed_steps": str,
    "open_issues": str,
    "constraints": str,
    "artifacts": dict,
    "state_confidence": float,
    "updated_at": str,
}
"""Every required field of a state, and the type of its value, or of each item where it has items.

It stands here as well because reading it off `TaskState` would cost every tool call the import.
"""
OPTIONAL_LISTS = {
    **dict.fromkeys(("decisions", "failed_attempts", "tool_outputs", "plan", "exchanges"), dict),
    **dict.fromkeys(("blockers", "invariants", "learnings", "pending_assumptions"), str),
    **dict.fromkeys(("mechanical", "files_read", "tools_used"), str),
}
"""Every optional field of a state that is a list, and the type of its items."""
NEWEST = 1
"""The newest version of a state that we read; it stands here as well for the same reason."""
_NEVER_EMPTY = ("goal", "next_action")


def seems_whole(data: bytes) -> bool:
    """Say whether a state seems fit to go on with; cheap, for every tool call.

    It finds what is torn, foreign or incomplete; whoever uses the state reads it whole.
    """
    try:
        document = load_json(data, what="the state")
    except InvalidDocument:
        return False
    if not NEEDED.keys() <= document.keys():
        return False
    whole = all(_is_of(kind, document[name], name) for name, kind in NEEDED.items())
    lists = (name for name in OPTIONAL_LISTS if name in document)
    whole = whole and all(_is_list_of(OPTIONAL_LISTS[name], document[name]) for name in lists)
    whole = whole and document["schema_version"] <= NEWEST
    return whole and all(document[name].strip() for name in _NEVER_EMPTY)


def _is_of(kind: type, value: object, name: str) -> bool:
    if name in ("completed_steps", "open_issues", "constraints", "artifacts"):
        return _is_list_of(kind, value)
    return type(value) is kind or (kind is float and type(value) is int)


def _is_list_of(kind: type, value: object) -> bool:
    return type(value) is list and all(type(item) is kind for item in value)


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

    def begin_start(self) -> None:
        """Note that state and summary are about to be written where neither may be."""
        files.write_bytes(self._starting_path, b"")
        self._workspace.at_step("start-marked")

    def end_start(self) -> None:
        """Note that both are there."""
        files.remove(self._starting_path)
        self._workspace.at_step("start-ended")

    def read(self) -> Found:
        """Read the working state and hold it against the copy."""
        self._workspace.refuse_links(self._session)
        found = self._copy().replace(has_summary=os.path.exists(self.summary_path))
        try:
            data = files.read_bytes(self.path, limit=STATE_LIMIT)
        except (InvalidDocument, NotReadable) as error:
            return found.replace(standing=BROKEN, problem=error.message)
        if data is None:
            return found.replace(standing=MISSING if found.has_summary else ABSENT)
        return self._compare(found, data)

    def _copy(self) -> Found:
        """Return the copy as the state in force, without it where none is there or it is broken."""
        written, problem = self._written()
        if written is None:
            return Found(ABSENT, problem=problem)
        try:
            state = self._decode_written(written)
        except NewerFormat:
            raise
        except InvalidDocument as error:
            return Found(ABSENT, problem=error.message)
        return Found(
            ABSENT,
            state=state,
            sha256=written.sha256,
            written=written,
            journal_id=written.journal_id,
            journal_offset=written.journal_offset,
        )

    def _decode_written(self, written: Written) -> TaskState:
        from gitguard.store.session.task import read_state

        document = load_json(written.state.encode(), what="the state's copy")
        state = read_state(document)
        if written.rules == self._workspace.redactor.rules_id:
            self._workspace.redactor.know(document, state)
        return state

    def _written(self) -> tuple[Written | None, str]:
        try:
            return self._copies.read_written(), ""
        except NewerFormat:
            raise
        except InvalidDocument as error:
            return None, error.message

    def _compare(self, found: Found, data: bytes) -> Found:
        digest, written = sha256(data), found.written
        if written is not None and digest == written.sha256:
            return found.replace(standing=OURS, in_file=digest)
        if written is not None and digest in written.known_to(self._git_dir):
            return found.replace(standing=OURS, needs_rewrite=True, in_file=digest)
        try:
            state = decode_state(data, f"`{self.path}`")
        except NewerFormat as error:
            # A newer gitguard replaces the copy first, or leaves its mark where it cannot.
            if written is None or self._is_pending(self._pending_mark(), digest, written):
                raise
            return found.replace(standing=BROKEN, problem=error.message)
        except InvalidDocument as error:
            return found.replace(standing=BROKEN, problem=error.message)
        mark = self._pending_mark()
        if self._is_pending(mark, digest, written):
            found = found.replace(standing=PENDING, state=state, sha256=digest, in_file=digest)
            return found.replace(**_folded_into(mark, digest))
        empty = empty_field(state)
        # Without a copy it may be what an older gitguard wrote: that began with an empty goal.
        if empty and (written is not None or empty != "goal"):
            return found.replace(standing=BROKEN, problem=f"`{empty}` is empty")
        return found.replace(standing=EDITED, edited=state, edited_sha256=digest)

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

    def _is_pending(self, mark: dict[str, Any], digest: str, written: Written | None) -> bool:
        known = (written.sha256, written.previous_sha256) if written is not None else ("",)
        marked = (mark.get("sha256"), mark.get("previous_sha256"))
        ours = mark.get("based_on") in known and digest in marked
        # Without a copy here nothing is sealed, and an archive may hold state and mark alike.
        return ours and (written is not None or self._is_made_here(mark)) and not self._is_tracked()

    def _is_made_here(self, mark: dict[str, Any]) -> bool:
        return mark.get("place") == self._whereabouts()

    def _whereabouts(self) -> str:
        from gitguard.store.session.anchor import whereabouts

        return whereabouts(self._workspace.place.common_dir)

    def _is_tracked(self) -> bool:
        # A clone could bring a state in together with the mark that calls it ours.
        from gitguard.store.git.repository import Repository

        workspace = self._workspace
        repository = Repository(workspace.place, workspace.places.environment, workspace.clock)
        folder = os.path.relpath(os.path.dirname(self.path), workspace.place.worktree)
        return bool(repository.tracked_under(folder))

    def write(
        self, state: TaskState, before: Found, *, journal_id: str = "", journal_offset: int = -1
    ) -> Found:
        """Make a state durable: the copy first, then the working file.

        Where the state directory cannot be written, the working file is, with a mark that lets
        the next run that can write adopt it. An empty goal or next action becomes `START`.
        """
        state = _begun(state)
        state, redacted = state.redacted(self._workspace.redactor)
        data = dump_json(state.to_document())
        check_size(len(data), what="the state")
        written = self._written_after(before, data, journal_id, journal_offset)
        try:
            written = written.written_in(self._git_dir, before.in_file)
            self._copies.write_written(written)
        except NotWritable as error:
            if before.keeps_file or not files.is_refusal(error):
                raise
            pending = self._write_pending(state, data, before, written, str(error))
            return pending.replace(redacted=redacted)
        self._workspace.at_step("state-copy-written")
        if before.keeps_file:
            return before.replace(
                state=state,
                sha256=written.sha256,
                written=written,
                journal_id=written.journal_id,
                journal_offset=written.journal_offset,
                redacted=redacted,
            )
        files.write_bytes(self.path, data)
        self._workspace.at_step("state-written")
        files.remove(self._pending_path)
        return Found(
            OURS,
            state,
            written.sha256,
            written,
            has_summary=before.has_summary,
            journal_id=written.journal_id,
            journal_offset=written.journal_offset,
            redacted=redacted,
            in_file=written.sha256,
        )

    def _written_after(
        self, before: Found, data: bytes, journal_id: str, journal_offset: int
    ) -> Written:
        from gitguard.store.session.anchor import Written

        old = before.written
        written = Written(
            state=data.decode(),
            sha256=sha256(data),
            previous_sha256=old.sha256 if old else "",
            journal_id=journal_id if journal_offset >= 0 else before.journal_id,
            journal_offset=journal_offset if journal_offset >= 0 else before.journal_offset,
            worktrees=old.worktrees if old else (),
            rules=self._workspace.redactor.rules_id,
        )
        if before.standing == PENDING and old is None:
            written = written.replace(previous_sha256=before.sha256)
        return written

    def _write_pending(
        self, state: TaskState, data: bytes, before: Found, wanted: Written, why: str
    ) -> Found:
        digest, journal_id, offset = wanted.sha256, wanted.journal_id, wanted.journal_offset
        # The mark comes first; it has to know the state that a crash would leave beside it.
        mark = {
            "format": FORMAT,
            "sha256": digest,
            "previous_sha256": before.sha256,
            "based_on": before.written.sha256 if before.written else "",
            "place": self._whereabouts(),
            "why": self._workspace.redactor.text(why),
            "folded": {
                before.sha256: [before.journal_id, before.journal_offset],
                digest: [journal_id, offset],
            },
        }
        sealed = self._workspace.seal.put_on(dump_json(mark), self._pending_place)
        files.write_bytes(self._pending_path, sealed)
        self._workspace.at_step("pending-marked")
        files.write_bytes(self.path, data)
        self._workspace.at_step("pending-written")
        return before.replace(
            standing=PENDING,
            state=state,
            sha256=digest,
            problem=why,
            journal_id=journal_id,
            journal_offset=offset,
            in_file=digest,
        )

    def rewrite(self, found: Found) -> Found:
        """Write the working file again from the copy, which notes first what the file will hold.

        Other worktrees may go on from there, and this one's file is to be known as ours then too.
        """
        assert found.written is not None
        self._note_rewrite(found.written, found.in_file)
        files.write_bytes(self.path, found.written.state.encode())
        self._workspace.at_step("state-rewritten")
        in_file = found.written.sha256
        return found.replace(standing=OURS, needs_rewrite=False, problem="", in_file=in_file)

    def _note_rewrite(self, written: Written, before: str) -> None:
        if any(t.sha256 == written.sha256 for t in written.worktrees if t.git_dir == self._git_dir):
            return
        try:
            self._copies.write_written(written.written_in(self._git_dir, before))
        except NotWritable as error:
            if not files.is_refusal(error):
                raise

    def read_summary(self) -> str | None:
        """Return the summary as it lies there, None where there is none.

        What cannot be read as one is set aside: it differs from any, and the state wins.
        """
        try:
            data = files.read_bytes(self.summary_path, limit=4 * STATE_LIMIT)
        except InvalidDocument:
            self._workspace.set_aside(self.summary_path)
            return ""
        return None if data is None else data.decode("utf-8", "replace")


def _begun(state: TaskState) -> TaskState:
    from gitguard.store.session.task import START

    unset = {name: START for name in _NEVER_EMPTY if not getattr(state, name).strip()}
    return state.replace(**unset) if unset else state


def _folded_into(mark: dict[str, Any], digest: str) -> dict[str, Any]:
    """Return how far the journal is folded into a pending state, nothing where it is not said."""
    folded = mark.get("folded")
    said = folded.get(digest) if isinstance(folded, dict) else None
    if not isinstance(said, list) or [type(part) for part in said] != [str, int]:
        return {}
    return {"journal_id": said[0], "journal_offset": max(said[1], 0)}


def diagnose(found: Found) -> MissingState | None:
    """Say whether the state is missing or broken by the contract (seed: startup branch)."""
    if found.standing == ABSENT:
        return MissingState(
            "there is no task state and no summary", "Run `gitguard ensure` to begin or restore"
        )
    if found.standing == MISSING:
        return MissingState(
            "the summary is there, the durable task state is missing",
            "Run `gitguard repair --local`: it takes the newest good copy",
        )
    if found.standing == BROKEN:
        return MissingState(
            f"the durable task state cannot be used: {found.problem}",
            "Run `gitguard repair --local`: it archives the bad file and takes the newest good "
            "copy",
        )
    state = found.state if found.standing != EDITED else None  # an edit has ways out of its own
    if state is not None and not state.next_action.strip():
        return MissingState("`next_action` is empty", "Set it: `gitguard note --next …`")
    if not found.has_summary:
        return MissingState(
            "the summary is missing", "Run `gitguard repair --local`: it renders the summary again"
        )
    return None


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
    return MissingState(f"the durable state cannot be kept: {error.message}", error.hint)
