"""Holds a chain of checkpoints against what it has to be, from its head to its root.

Every object is hashed again by the reader. Beyond that a checkpoint has to be a commit of three
plain files with at most one parent, of this session, numbered one higher than its parent; the
newest one has to be the one that the anchor notes.
"""

from __future__ import annotations

from gitguard.errors import GitguardError, InvalidDocument, NewerFormat, Tampered
from gitguard.model.codec import STATE_FILE, STATE_LIMIT, sha256
from gitguard.model.value import Value
from gitguard.state.checkpoint import FILES, checkpoint_name, read_checkpoint
from gitguard.store.git.reader import TREE_LIMIT, entries_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Container, Iterator, Mapping, Sequence

    from gitguard.state.checkpoint import Checkpoint
    from gitguard.store.git.reader import Contents, ObjectReader
    from gitguard.store.session.anchor import Anchor
    from gitguard.store.session.workspace import Session


VERIFIED = 50
"""How many of the newest checkpoints are verified before anything of them is handed out."""
MOST_COMMITS = 1_000_000
GO_ON = (
    "Restore the object from a clone or a backup, or continue from this machine's copy of the "
    "state: `gitguard session fork NAME` begins a new history and leaves this one as it is"
)
LEAVE = "Leave it as it is, or begin another session with `gitguard session use NAME`"
_COMMIT_LIMIT = 64 * 1024
_FILES = tuple(sorted(FILES))
_AT_ONCE = 256


class ChainLink(Value):
    """One checkpoint of a chain as it was found."""

    id: str
    checkpoint: Checkpoint | None = None
    """None where the commit cannot be read as one; the walk ends there."""
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

    def __init__(
        self,
        reader: ObjectReader,
        session: Session,
        *,
        way_out: str = GO_ON,
        may_have: str = "",
        writer: str = "",
    ) -> None:
        """Verify with an open reader; way_out is what to do about an object that is damaged.

        may_have is a file that a commit may hold beside a checkpoint's three. writer is whose lane
        all of it has to be; empty for a session's own checkpoints.
        """
        self._reader = reader
        self._session = session
        self._writer = writer
        self._way_out = way_out
        self._allowed = {_FILES, tuple(sorted((*_FILES, may_have)))} if may_have else {_FILES}
        self._blobs: dict[str, InvalidDocument | None] = {}
        self._ahead: Contents = {}
        self._order: Sequence[str] = ()
        self._places: dict[str, int] = {}
        self._end_at: Container[str] = ()

    def links(
        self,
        head: str,
        anchor: Anchor | None,
        *,
        most: int,
        end_at: Container[str] = (),
        order: Sequence[str] = (),
    ) -> Iterator[ChainLink]:
        """Yield the checkpoints of a chain, newest first, at most so many.

        The newest is held against an anchor, if one is given. The walk ends with a commit of
        end_at, which another walk saw. order is a guess at the ids that follow one another, so
        that many are read at once; nothing is believed of it.
        """
        self._order, self._places = order, {commit: n for n, commit in enumerate(order)}
        self._end_at = end_at
        chunks: Iterator[list[ChainLink]] = map(self._with_files, self._chunks(head, most))
        # A thread costs more than it saves on what is read in one go.
        if most > _AT_ONCE and not 0 < len(order) <= _AT_ONCE:
            chunks = _read_ahead(chunks)
        # Only the newest is anchored; those below it are vouched for by the parents' hashes.
        is_newest = True
        for links in chunks:
            for link in links:
                yield _held_against(link, anchor) if is_newest and anchor is not None else link
                is_newest = False

    def commits(
        self, head: str, *, at_once: int = 1, order: Sequence[str] = ()
    ) -> Iterator[ChainLink]:
        """Yield the commits of a chain without looking at their files; order is as in `links`."""
        self._order, self._places = order, {commit: n for n, commit in enumerate(order)}
        for links in self._chunks(head, MOST_COMMITS, at_once):
            yield from links

    # Commits

    def _chunks(self, head: str, most: int, at_once: int = _AT_ONCE) -> Iterator[list[ChainLink]]:
        commit, sequence = head, 0
        while commit and most > 0:
            links: list[ChainLink] = []
            while commit and len(links) < min(most, at_once):
                link = self._commit(commit, sequence)
                links.append(link)
                checkpoint = link.checkpoint
                if checkpoint is None or link.ends_here or link.id in self._end_at:
                    commit = ""
                else:
                    # The parent is the one that the hashed commit names, never the guessed one.
                    commit, sequence = checkpoint.parent, checkpoint.sequence - 1
            most -= len(links)
            yield links

    def _commit(self, commit: str, sequence: int) -> ChainLink:
        """Read a commit; sequence is the number it has to have, 0 for any."""
        if commit not in self._ahead:
            place = self._places.get(commit)
            ids = [commit] if place is None else self._order[place : place + _AT_ONCE]
            self._ahead = self._reader.read_all(ids, "commit", limit=_COMMIT_LIMIT)
        body = self._ahead.pop(commit)
        if isinstance(body, InvalidDocument):
            return ChainLink(commit, problems=(self._as_tampered(body),))
        try:
            checkpoint, tree = read_checkpoint(commit, body)
        except InvalidDocument as error:
            return ChainLink(commit, problems=(self._as_tampered(error),))
        # Git lists a shallow border in a file that anybody can write, so a listed commit alone
        # ends no walk: the parent has to be missing as well.
        is_cut = bool(checkpoint.parent) and commit in self._reader.disguises.cut
        ends_here = is_cut and not self._reader.exists(checkpoint.parent)
        link = ChainLink(commit, checkpoint, tree, is_cut=is_cut, ends_here=ends_here)
        for problem in self._problems_of(checkpoint, sequence):
            link = link.but(problem)
        return link

    def _problems_of(self, checkpoint: Checkpoint, sequence: int) -> Iterator[Tampered]:
        if not self._session.is_known_as(checkpoint.session_key):
            yield Tampered(
                f"commit {checkpoint.id} belongs to the session `{checkpoint.session_key[:80]}`, "
                f"not to `{self._session.key[:80]}`",
                LEAVE,
            )
        mark = checkpoint.lane
        if self._writer and (mark is None or mark.writer != self._writer):
            yield Tampered(
                f"commit {checkpoint.id} is not of the lane of the writer {self._writer}", LEAVE
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
        blob_ids: set[str] = set()
        for by_name in files:
            if isinstance(by_name, dict):
                blob_ids.update(by_name.values())
        # Checkpoints in a row share most of their files: a blob is hashed once a walk, and only
        # whether it was sound is remembered, as a long history's contents would fill the memory.
        blobs = self._reader.read_all(
            sorted(blob_ids - self._blobs.keys()), "blob", limit=STATE_LIMIT
        )
        for blob, data in blobs.items():
            self._blobs[blob] = data if isinstance(data, InvalidDocument) else None
        return [
            self._with(link, by_name, blobs) for link, by_name in zip(links, files, strict=True)
        ]

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
        if names in self._allowed:  # each once, in the order in which git itself writes them
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
        contents: dict[str, bytes] = {}
        problems = list(link.problems)
        for name, blob in files.items():
            problem, data = self._blobs[blob], blobs.get(blob)
            if problem is not None:
                problems.append(self._as_tampered(problem))
            if isinstance(data, bytes):
                contents[name] = data
        return link.replace(files=files, contents=contents, problems=tuple(problems))

    def _as_tampered(self, error: InvalidDocument) -> GitguardError:
        # What a newer gitguard wrote is no tampering: the way out is an update, not a repair.
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


def has_checkpoint(reader: ObjectReader, commit: str) -> bool:
    """Say whether a checkpoint's commit, tree and files are there; `InvalidDocument` if damaged."""
    if not reader.exists(commit):
        return False
    _, tree = read_checkpoint(commit, reader.read(commit, "commit", limit=_COMMIT_LIMIT))
    if not reader.exists(tree):
        return False
    return all(reader.exists(blob) for _, blob in reader.entries(tree))


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
