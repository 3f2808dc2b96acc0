"""Checkpoints: when one is taken, what its commit message says, and how it reads back."""

from __future__ import annotations

from gitguard.errors import InvalidDocument, NewerFormat
from gitguard.model import fields
from gitguard.model.codec import STATE_FILE, SUMMARY_FILE
from gitguard.model.commit import is_object_id, parse_commit
from gitguard.model.record import Record
from gitguard.model.text import encodable, one_line, shorten
from gitguard.model.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

FORMAT = 1
"""The version of the tree and the trailers."""
SNAPSHOT_FILE = "snapshot.yaml"
FILES = (STATE_FILE, SUMMARY_FILE, SNAPSHOT_FILE)
_SUBJECT_LIMIT = 72
_WHY_LIMIT = 1000
_MOST_DIGITS = 12
_MOST_PRESSURE = 100.0
_PURGED = "Gitguard-Purged: "
_WROTE = "Gitguard-Wrote: "
_SEEN = "Gitguard-Seen: "
_LANE = "Gitguard-Lane: "
_MACHINE = "Gitguard-Machine: "
_FILES = "Gitguard-Files: "
_WRITER_LENGTH = 16
_MACHINE_LIMIT = 48
FOLLOWS = "follows"
"""What a rewritten checkpoint says from which nothing had to be taken."""
_SHA1_LENGTH = 40
TOOLS, SHELL, UNSEEN = WRITERS = "tools", "shell", "unseen"
"""What wrote a file: the agent's edit tools, its shell commands, or nobody knows what, as in a
session without hooks."""
_NO_FILE = "-"


class Code(Value):
    """What was checked out in the workspace."""

    head: str = ""
    """The commit id, empty before the first commit."""
    branch: str = ""
    """The branch's short name, empty when detached."""


class WrittenFile(Record):
    """A content that the agent wrote into a file which git tracks."""

    path: str = fields.text("From the worktree's root, escaped as Python's `os` does.")
    new: str = fields.text("The id of the content.")
    author: str = fields.text("What wrote it.", choices=WRITERS)
    turns: tuple[str, ...] = fields.texts("The numbers of the checkpoints after the work.")
    old: str = fields.text(
        "The id of the content before; empty where there was none.",
        default="",
    )


class LaneMark(Value):
    """What a commit of a lane says of itself, beside what the checkpoint said that it copies."""

    writer: str
    """The id of the worktree that writes the lane."""
    counter: int
    """How many commits the lane has up to here."""
    checkpoint: str
    """The commit of the checkpoint, as the writer has it."""
    machine: str = ""
    """What the writer's machine calls itself; empty where it does not say."""


def lane_author(writer: str, machine: str) -> str:
    """Return who writes a lane, as people tell writers apart."""
    return f"{machine} (writer {writer})" if machine else f"writer {writer}"


class CheckpointRecord(Value):
    """What a checkpoint's commit says about it, beside its three files."""

    session_key: str
    sequence: int
    trigger: str
    phase: str
    headline: str
    """What comes next, or how the last request was answered."""
    why: str
    pressure: float | None = None
    code: Code = Code()
    forked_from: str = ""
    files: str = ""
    """The snapshot of the worktree's files, by its id; empty where none was taken."""
    written: tuple[WrittenFile, ...] = ()
    """What the agent wrote into files that git tracks."""
    seen: Mapping[str, str] = {}
    """The commits of other writers' lanes that were joined so far, where some were since."""


class Checkpoint(Value):
    """A checkpoint as it was read from a commit."""

    id: str
    parent: str
    subject: str
    why: str
    at: int
    """Committer time in Unix seconds."""
    session_key: str
    sequence: int
    trigger: str
    pressure: float | None
    code: Code
    forked_from: str = ""
    purged: str = ""
    """The rules by which secrets were taken out of it later, or that it follows such a one."""
    files: str = ""
    """The snapshot of the worktree's files at that moment, by its id; empty where there is none."""
    written: tuple[WrittenFile, ...] = ()
    """What the agent wrote into files that git tracks."""
    signature: str = ""
    """How its signature begins, which says of what kind it is; empty where it has none."""
    seen: Mapping[str, str] = {}
    """The commits of other writers' lanes that its state holds; empty where none was joined since
    the checkpoint before."""
    lane: LaneMark | None = None
    """What it says of itself in a lane; None in a session's branch."""

    @property
    def name(self) -> str:
        """The snapshot's `checkpoint_id`, cp_001 and so on."""
        return checkpoint_name(self.sequence)


def checkpoint_name(sequence: int) -> str:
    """Return the snapshot's `checkpoint_id` for a sequence number."""
    return f"cp_{sequence:03d}"


def format_message(record: CheckpointRecord) -> str:
    """Write the commit message of a checkpoint."""
    start = f"checkpoint {record.sequence}: "
    phase = shorten(one_line(record.phase) or "-", 30)
    headline = one_line(record.headline) or one_line(record.why)
    subject = shorten(f"{start}{phase}: {headline}", _SUBJECT_LIMIT)
    trailers = {
        "Session": _trailer_text(record.session_key),
        "Sequence": str(record.sequence),
        "Trigger": record.trigger,
        "Pressure": "unknown" if record.pressure is None else f"{record.pressure:.3f}",
        "Head": record.code.head or "none",
        "Branch": _trailer_text(record.code.branch) if record.code.branch else "none",
        "Format": str(FORMAT),
    }
    if record.forked_from:
        trailers["Forked-From"] = record.forked_from
    if record.files:
        trailers["Files"] = record.files
    lines = [f"Gitguard-{name}: {value}" for name, value in trailers.items()]
    lines += [f"{_WROTE}{_written_line(file)}" for file in record.written]
    lines += [f"{_SEEN}{writer}={commit}" for writer, commit in sorted(record.seen.items())]
    why = shorten(one_line(record.why), _WHY_LIMIT) or "No reason was given."
    return "\n".join([subject, "", why, "", *lines, ""])


def lane_message(message: str, mark: LaneMark) -> str:
    """Return a checkpoint's message for a lane, where no snapshot of files comes along."""
    lines = message.rstrip("\n").split("\n")
    kept = [line for line in lines if not line.startswith(_FILES)]
    named = [f"{_MACHINE}{_trailer_text(mark.machine)}"] if mark.machine else []
    return "\n".join([*kept, f"{_LANE}{mark.writer} {mark.counter} {mark.checkpoint}", *named, ""])


def is_writer(text: str) -> bool:
    """Say whether a text can be a writer's id."""
    return len(text) == _WRITER_LENGTH and set("0123456789abcdef").issuperset(text)


def _seen_in(message: str) -> Mapping[str, str]:
    last = message.rstrip("\n").rpartition("\n\n")[2]
    pairs = (
        line.removeprefix(_SEEN).partition("=")
        for line in last.split("\n")
        if line.startswith(_SEEN)
    )
    return {w: commit for w, _, commit in pairs if is_writer(w) and is_object_id(commit)}


def _lane_mark(text: str, machine: str) -> LaneMark | None:
    writer, counter, checkpoint = [*text.split(" "), "", "", ""][:3]
    is_whole = is_writer(writer) and _is_number(counter) and is_object_id(checkpoint)
    if not is_whole:
        return None
    name = shorten(one_line(_trailer_value(machine)), _MACHINE_LIMIT)
    return LaneMark(writer, int(counter), checkpoint, name)


def _written_line(file: WrittenFile) -> str:
    words = (",".join(file.turns), file.author, file.old or _NO_FILE, file.new)
    return " ".join((*words, _trailer_text(file.path)))


def _written_files(message: str) -> Iterator[WrittenFile]:
    """Yield what trailers say was written; one that cannot be read says nothing."""
    last = message.rstrip("\n").rpartition("\n\n")[2]
    for line in last.split("\n"):
        turns, author, old, new, path = [*line.removeprefix(_WROTE).split(" ", 4), *[""] * 4][:5]
        ids = [blob for blob in (old, new) if blob != _NO_FILE]
        numbers = tuple(turns.split(","))
        is_whole = all(map(is_object_id, ids)) and all(map(_is_number, numbers))
        if line.startswith(_WROTE) and is_whole and author in WRITERS:
            old = "" if old == _NO_FILE else old
            yield WrittenFile(
                path=_trailer_value(path), old=old, new=new, author=author, turns=numbers
            )


def purged_message(message: str, rules: tuple[str, ...]) -> str:
    """Add to a commit's message what was taken out of the checkpoint, or that it only follows."""
    before = _trailers(message).get("Purged", "")
    rule_names = dict.fromkeys((*(rule for rule in before.split(", ") if rule), *rules))
    named = ", ".join(rule for rule in rule_names if rule != FOLLOWS) or FOLLOWS
    lines = [line for line in message.rstrip("\n").split("\n") if not line.startswith(_PURGED)]
    return "\n".join([*lines, f"{_PURGED}{named}", ""])


def _trailer_text(text: str) -> str:
    plain = text.isprintable() and text == text.strip() and not text.startswith('"')
    plain = plain and text != "none"
    if plain:
        return text
    import json  # here, because few trailers need it and a hook pays for every import

    return json.dumps(text)


def _trailer_value(text: str) -> str:
    if not text.startswith('"'):
        return text
    import json

    return encodable(json.loads(text))


def read_checkpoint(commit_id: str, body: bytes) -> tuple[Checkpoint, str]:
    """Read a commit object of ours; return the checkpoint and its tree's id."""
    commit = parse_commit(body)
    parents, trailers = commit.parents, _trailers(commit.message)
    version = trailers.get("Format", "")
    if version.isdecimal() and version.isascii() and int(version[:9]) > FORMAT:
        raise NewerFormat(f"commit {commit_id} has format {version[:9]}", "upgrade gitguard")
    lines = commit.message.split("\n")
    signed = "gpgsig" if len(commit_id) == _SHA1_LENGTH else "gpgsig-sha256"
    snapshot = trailers.get("Files", "")
    try:
        checkpoint = Checkpoint(
            id=commit_id,
            parent=parents[0] if parents else "",
            subject=lines[0],
            why=lines[2] if len(lines) > 2 else "",
            at=_whole(commit.first("committer").split()[-2]),
            session_key=_trailer_value(trailers["Session"]),
            sequence=_whole(trailers["Sequence"]),
            trigger=trailers["Trigger"],
            pressure=_pressure(trailers["Pressure"]),
            code=Code(
                _unless_none(trailers["Head"]), _trailer_value(_unless_none(trailers["Branch"]))
            ),
            forked_from=trailers.get("Forked-From", ""),
            purged=trailers.get("Purged", ""),
            files=snapshot if is_object_id(snapshot) else "",
            written=tuple(_written_files(commit.message)) if _WROTE in commit.message else (),
            signature="\n".join(commit.headers.get(signed, ())),
            seen=_seen_in(commit.message) if _SEEN in commit.message else {},
            lane=_lane_mark(trailers.get("Lane", ""), trailers.get("Machine", "")),
        )
        (tree,) = commit.headers.get("tree", ())
        if len(parents) > 1:
            raise ValueError(f"it has {len(parents)} parents")
        if trailers["Format"] != str(FORMAT):
            raise ValueError(f"it has the format `{trailers['Format'][:20]}`")
    except (KeyError, ValueError, IndexError) as error:
        lacking = isinstance(error, KeyError)
        why = f"it has no trailer `Gitguard-{error.args[0]}`" if lacking else str(error)
        raise InvalidDocument(f"commit {commit_id[:12]} is not a checkpoint: {why}") from error
    return checkpoint, tree


def _trailers(message: str) -> Mapping[str, str]:
    last = message.rstrip("\n").rpartition("\n\n")[2]
    trailers = (line.partition(": ") for line in last.split("\n") if line.startswith("Gitguard-"))
    return {name.removeprefix("Gitguard-"): value for name, _, value in trailers}


def _is_number(text: str) -> bool:
    # Anything longer is a number, too, but no time and no count.
    return text.isascii() and text.isdecimal() and len(text) <= _MOST_DIGITS


def _whole(text: str) -> int:
    if not _is_number(text):
        raise ValueError(f"`{text[:20]}` is not a checkpoint number")
    return int(text)


def _pressure(text: str) -> float | None:
    share = 0.0 if text == "unknown" else float(text)
    if not 0 <= share <= _MOST_PRESSURE:
        raise ValueError(f"`{text[:20]}` is not a pressure")
    return None if text == "unknown" else share


def _unless_none(text: str) -> str:
    return "" if text == "none" else text
