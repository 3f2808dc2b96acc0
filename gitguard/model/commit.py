"""The one parser of commit objects, of checkpoints as of the user's own, and the forms of ours."""

from __future__ import annotations

from gitguard.model.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


class Stamp(Value):
    """Who a commit is by, and when it was made."""

    name: str
    email: str
    seconds: int

    def __str__(self) -> str:
        return f"{self.name} <{self.email}> {self.seconds} +0000"

    def to_environment(self) -> dict[str, str]:
        """Return what tells git the same."""
        parts = {"NAME": self.name, "EMAIL": self.email, "DATE": f"@{self.seconds} +0000"}
        return {f"GIT_{who}_{k}": v for who in ("AUTHOR", "COMMITTER") for k, v in parts.items()}


_HEX = "0123456789abcdef"


class CommitObject(Value):
    """A commit as its object has it; nothing in it was checked."""

    headers: Mapping[str, Sequence[str]]
    """The values of each header in their order; of one with several lines the first."""
    message: str

    @property
    def parents(self) -> tuple[str, ...]:
        """The ids of the commits that it follows."""
        return tuple(self.headers.get("parent", ()))

    def first(self, name: str) -> str:
        """Return the first value of a header, empty where the commit lacks it."""
        return next(iter(self.headers.get(name, ())), "")


def header_of(body: bytes) -> str:
    """Return the header of a commit object as it stands, with all lines of its signature."""
    return body.partition(b"\n\n")[0].decode("utf-8", "replace")


def parse_commit(body: bytes) -> CommitObject:
    """Read a commit object; a message in another encoding than UTF-8 is read as its header says."""
    head, _, message = body.partition(b"\n\n")
    encoding = "utf-8"
    if b"\nencoding " in head:
        named = head.partition(b"\nencoding ")[2].partition(b"\n")[0]
        encoding = named.decode("ascii", "replace")
    headers: dict[str, list[str]] = {}
    for line in head.decode("utf-8", "replace").split("\n"):
        if not line.startswith(" "):
            name, _, value = line.partition(" ")
            headers.setdefault(name, []).append(value)
    try:
        text = message.decode(encoding, "replace")
    except (LookupError, ValueError):  # an encoding that Python does not know
        text = message.decode("utf-8", "replace")
    return CommitObject(headers, text)


def format_commit(tree: str, parent: str, message: str, stamp: Stamp) -> bytes:
    """Return a commit object whose author is its committer; parent is empty for a first one."""
    lines = [f"tree {tree}", *([f"parent {parent}"] if parent else [])]
    return "\n".join((*lines, f"author {stamp}", f"committer {stamp}", "", message)).encode()


def flat_tree(blobs: Mapping[str, str]) -> bytes:
    """Return a tree object of plain files, sorted by bytes of the name, as git requires."""
    return b"".join(b"100644 %s\0%s" % (n.encode(), bytes.fromhex(blobs[n])) for n in sorted(blobs))


def is_object_id(text: str) -> bool:
    """Say whether text is a full SHA-1 or SHA-256 object id."""
    return len(text) in (40, 64) and not text.strip(_HEX)
