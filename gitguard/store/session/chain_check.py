"""Holds a chain of checkpoints against what it has to be, from its head to its root.

Every object is hashed again by the reader. Beyond that a checkpoint has to be a commit of three
plain files with at most one parent, of this session, numbered one higher than its parent; the
newest one has to be the one that the anchor notes.
"""

from __future__ import annotations

from gitguard.errors import GitguardError, InvalidDocument, NewerFormat, Tampered
from gitguard.model.codec import STATE_FILE, STATE_LIMIT
from gitguard.model.digest import sha256
from gitguard.model.value import Value
from gitguard.store.git.reader import TREE_LIMIT, entries_of
from gitguard.store.session.checkpoint import FILES, checkpoint_name, parse_commit

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Container, Iterator, Mapping, Sequence

    from gitguard.store.git.reader import Contents, ObjectReader
    from gitguard.store.session.anchor import Anchor
    from gitguard.store.session.checkpoint import Checkpoint
    from gitguard.store.session.naming import Session


VERIFIED = 50
"""How many of the newest checkpoints are verified before anything of them is handed out."""
MOST_COMMITS = 1_000_000
GO_ON = (
    "Bring the object back from a clone or a copy, or go on with this machine's copy of the state: "
    "`gitguard session fork NAME` begins a new history and leaves this one as it is"
)
LEAVE = "Leave it as it is, or begin another session with `gitguard session use NAME`"
_COMMIT_LIMIT = 64 * 1024
_FILES = tuple(sorted(FILES))
_AT_ONCE = 256


class ChainLink(Value):
    """One checkpoint of a chain as it was found."""

    id: str
    checkpoint: Checkpoint | None = None
    """None where the commit does not read as one; the walk ends there."""
    tree: str = ""
    files: Mapping[str, str] = {}
    """The blob of each file; empty where the tree is not what it has to be."""
    contents: Mapping[str, bytes] = {}
    """The files, without those that were read with an earlier link of the walk."""
    problems: tuple[GitguardError, ...] = ()
    is_cut: bool = False
    """Whether the repository is shallow there, so that git shows nothing that came before."""
    ends_here: bool = False
    """Whether it holds nothing that came before either."""

    def but(self, problem: GitguardError) -> ChainLink:
        """Return the link with one more problem."""
        return self.replace(problems=(*self.problems, problem))


class Verification:
    """One walk over a chain; objects that several checkpoints share are looked at once."""

    def __init__(self, reader: ObjectReader, session: Session, *, way_out: str = GO_ON) -> None:
        """Verify with an open reader; way_out is what to do about an object that is damaged."""
        self._reader = reader
        self._session = session
        self._way_out = way_out
        self._blobs: dict[str, InvalidDocument | None] = {}
        self._ahead: Contents = {}
        self._order: Sequence[str] = ()
        self._places: dict[str, int] = {}
        self._known: Container[str] = ()

    def links(
        self,
        head: str,
        anchor: Anchor | None,
        *,
        most: int,
        known: Container[str] = (),
        order: Sequence[str] = (),
    ) -> Iterator[ChainLink]:
        """Yield the checkpoints of a chain, newest first, at most so many.

        The newest is held against an anchor, if one is given. The walk ends with one that is known
        from another walk. order is a guess at the ids that follow one another, so that many are
        read at once; nothing is believed of it.
        """
        self._order, self._places = order, {commit: n for n, commit in enumerate(order)}
        self._known = known
        chunks = (self._with_files(found) for found in self._chunks(head, most))
        newest = True
        for found in _read_ahead(chunks) if most > _AT_ONCE else chunks:
            for link in found:
                yield _held_against(link, anchor) if newest and anchor is not None else link
                newest = False

    def commits(self, head: str, *, at_once: int = 1) -> Iterator[ChainLink]:
        """Yield the commits of a chain without looking at their files."""
        for found in self._chunks(head, MOST_COMMITS, at_once):
            yield from found

    # Commits

    def _chunks(self, head: str, most: int, at_once: int = _AT_ONCE) -> Iterator[list[ChainLink]]:
        wanted, sequence = head, 0
        while wanted and most > 0:
            found: list[ChainLink] = []
            while wanted and len(found) < min(most, at_once):
                link = self._commit(wanted, sequence)
                found.append(link)
                checkpoint = link.checkpoint
                goes_on = checkpoint and not link.ends_here and link.id not in self._known
                wanted = checkpoint.parent if checkpoint and goes_on else ""
                sequence = checkpoint.sequence - 1 if checkpoint else 0
            most -= len(found)
            yield found

    def _commit(self, commit: str, sequence: int) -> ChainLink:
        """Read a commit; sequence is the number it has to have, 0 for any."""
        body = self._body(commit)
        if isinstance(body, InvalidDocument):
            return ChainLink(commit, problems=(self._as_tampered(body),))
        try:
            checkpoint, tree = parse_commit(commit, body)
        except InvalidDocument as error:
            return ChainLink(commit, problems=(self._as_tampered(error),))
        is_cut = bool(checkpoint.parent) and commit in self._reader.disguises.cut
        ends_here = is_cut and not self._reader.exists(checkpoint.parent)
        link = ChainLink(commit, checkpoint, tree, is_cut=is_cut, ends_here=ends_here)
        for problem in self._problems_of(checkpoint, sequence):
            link = link.but(problem)
        return link

    def _body(self, commit: str) -> bytes | InvalidDocument:
        if commit not in self._ahead:
            place = self._places.get(commit)
            ids = [commit] if place is None else self._order[place : place + _AT_ONCE]
            self._ahead = self._reader.read_all(ids, "commit", limit=_COMMIT_LIMIT)
        return self._ahead.pop(commit)

    def _problems_of(self, checkpoint: Checkpoint, sequence: int) -> Iterator[Tampered]:
        if not self._session.is_known_as(checkpoint.session_key):
            yield Tampered(
                f"commit {checkpoint.id} belongs to the session `{checkpoint.session_key[:80]}`, "
                f"not to `{self._session.key[:80]}`",
                LEAVE,
            )
        if sequence and checkpoint.sequence != sequence:
            yield Tampered(
                f"commit {checkpoint.id} is checkpoint {checkpoint.sequence}, where number "
                f"{sequence} has to be",
                LEAVE,
            )
        if not checkpoint.parent and checkpoint.sequence != 1:
            yield Tampered(
                f"the history begins with checkpoint {checkpoint.sequence}, commit "
                f"{checkpoint.id}; what came before is cut off",
                LEAVE,
            )

    # Trees and files

    def _with_files(self, links: list[ChainLink]) -> list[ChainLink]:
        trees = self._reader.read_all([k.tree for k in links if k.tree], "tree", limit=TREE_LIMIT)
        files = [self._files_of(link, trees[link.tree]) if link.tree else {} for link in links]
        wanted = {blob for found in files if isinstance(found, dict) for blob in found.values()}
        blobs = self._reader.read_all(
            sorted(wanted - self._blobs.keys()), "blob", limit=STATE_LIMIT
        )
        for blob, data in blobs.items():
            self._blobs[blob] = data if isinstance(data, InvalidDocument) else None
        return [self._with(k, found, blobs) for k, found in zip(links, files, strict=True)]

    def _files_of(
        self, link: ChainLink, data: bytes | InvalidDocument
    ) -> dict[str, str] | InvalidDocument:
        if isinstance(data, InvalidDocument):
            return data
        try:
            files = tuple(entries_of(link.tree, data))
        except InvalidDocument as error:
            return error
        names = tuple(name for name, _ in files)
        if names == _FILES:  # each once, in the order in which git itself writes them
            return dict(files)
        return InvalidDocument(
            f"commit {link.id} holds {', '.join(names)[:200] or 'nothing'}; "
            f"a checkpoint holds {', '.join(FILES)}"
        )

    def _with(
        self, link: ChainLink, files: dict[str, str] | InvalidDocument, blobs: Contents
    ) -> ChainLink:
        """Return a link with its files, and with what is wrong with them."""
        if isinstance(files, InvalidDocument):
            return link.but(self._as_tampered(files))
        wrong = [problem for blob in files.values() if (problem := self._blobs[blob]) is not None]
        contents = {name: blobs[blob] for name, blob in files.items() if blob in blobs}
        return link.replace(
            files=files,
            contents={name: data for name, data in contents.items() if isinstance(data, bytes)},
            problems=(*link.problems, *map(self._as_tampered, wrong)),
        )

    def _as_tampered(self, error: InvalidDocument) -> GitguardError:
        if isinstance(error, NewerFormat):
            return error
        return Tampered(error.message, error.hint or self._way_out)


def _read_ahead(chunks: Iterator[list[ChainLink]]) -> Iterator[list[ChainLink]]:
    """Yield chunks, and read the next one while the caller looks at the one before."""
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(1) as worker:
        following = worker.submit(next, chunks, None)
        while (chunk := following.result()) is not None:
            following = worker.submit(next, chunks, None)
            yield chunk


def _held_against(link: ChainLink, anchor: Anchor) -> ChainLink:
    """Return the newest link with what the anchor says against it."""
    hint = (
        "Look at the history with `gitguard verify`; if it is right, set the anchor aside with "
        "`gitguard repair --forget` and take the branch with `gitguard repair --trust`"
    )
    checkpoint = link.checkpoint
    if checkpoint is not None and checkpoint.sequence != anchor.sequence:
        link = link.but(
            Tampered(
                f"commit {link.id} is {checkpoint.name}; the anchor notes it as "
                f"{checkpoint_name(anchor.sequence)}",
                hint,
            )
        )
    state = link.contents.get(STATE_FILE)
    if anchor.state_sha256 and state is not None and sha256(state) != anchor.state_sha256:
        link = link.but(Tampered(f"the state in commit {link.id} is not the anchored one", hint))
    return link


class Verified(Value):
    """A checkpoint with which nothing is wrong, and its three files."""

    checkpoint: Checkpoint
    contents: Mapping[str, bytes]


def refuse(link: ChainLink) -> Verified:
    """Return a checkpoint with which nothing is wrong, or raise what is."""
    for problem in link.problems:
        raise problem
    assert link.checkpoint is not None  # or a problem would say why
    return Verified(link.checkpoint, link.contents)
