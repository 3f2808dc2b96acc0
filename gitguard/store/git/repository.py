"""The one door to git: the refs and objects of a repository, and what is checked out.

Objects are written in process (`objects`), because that saves a start of git for each; everything
else is plumbing. `code_history` is the door for what people read about their own commits.
"""

from __future__ import annotations

import os

from gitguard.errors import (
    GitFailed,
    GitguardError,
    InvalidDocument,
    NotARepository,
    NotReadable,
    Pending,
    RefMoved,
)
from gitguard.model.commit import Stamp, flat_tree, format_commit, is_object_id
from gitguard.model.value import Value
from gitguard.store.disk import files
from gitguard.store.git.objects import GitObjects, LooseObjects, ObjectsGone
from gitguard.store.git.packed_refs import REF_LOCK_AGE, PackedRefs
from gitguard.store.git.place import Place, locate
from gitguard.store.git.plumbing import GitOutcome, Plumbing

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from typing import Self

    from gitguard.store.git.reader import Disguises, ObjectReader

    Clock = Callable[[], float]
    ObjectWriter = LooseObjects | GitObjects

_NAME, _EMAIL = "gitguard", "gitguard@localhost"
_CREATED, _RENAMED = "branch: Created from ", "Branch: renamed refs/heads/"
"""How git begins its messages in a branch's reflog."""
_CHECKED_OUT = "checkout: moving from "
"""How git begins its message of a switch in the reflog of HEAD."""
_SAME_COMMAND = 1
"""Seconds within which one command creates a branch and switches to it."""
_SYMBOLIC = "ref: "
_REFLOG = 4 << 20
"""Bytes of a reflog; of a longer one nothing is read."""
_PACKED_REFS = 4 << 20
"""Bytes of packed refs up to which a branch is looked for in them."""
_FIRST_MOMENT = 100_000_000
"""The first second that git takes for a time; what is less counts entries of a reflog."""


class Ref(Value):
    """A ref as git lists it."""

    name: str
    id: str
    points_to: str
    """The other ref it stands for, empty for an ordinary one."""
    checked_out_in: str
    """The worktree that has it checked out, empty if none has."""


class BranchHistory(Value):
    """What a branch's reflog says of it; nothing where git keeps none."""

    names: tuple[str, ...] = ()
    """What it was called before, the newest name first."""
    cut_from: str = ""
    """What it was created from, as it was named: a branch or a commit.

    Empty where it was HEAD, and no reflog says on which branch that was.
    """


class Repository:
    """Git's refs and objects for one worktree."""

    def __init__(
        self, place: Place, environment: Mapping[str, str], clock: Clock, *, signs: bool = False
    ) -> None:
        """Open the door with the caller's environment; clock returns Unix seconds.

        signs is whether commits are signed with the user's key.
        """
        self.place = place
        self._signs = signs
        self.git = Plumbing(place, environment)
        self._clock = clock
        self._packed_refs = PackedRefs(place, clock)

    # Refs

    def refs(self, *patterns: str) -> dict[str, Ref]:
        """List the refs under the given full names or folders; a broken ref is an error."""
        refs = self._list_refs(patterns)
        if self._unread(patterns, refs):
            refs = self._list_refs(patterns)  # it may have been made meanwhile
        for name in self._unread(patterns, refs):
            text = self._text_of(self.place.common_dir, name)
            if text.startswith(_SYMBOLIC):  # to a ref that is not there, which git does not list
                refs[name] = Ref(name, "", text.removeprefix(_SYMBOLIC).strip(), "")
                continue
            raise GitFailed(
                f"`git for-each-ref` does not list `{name}`, which is there", "See `git fsck`"
            )
        return refs

    def _unread(self, patterns: tuple[str, ...], refs: Mapping[str, Ref]) -> list[str]:
        """Return the refs that git passed over; a file it cannot read is none to it."""
        absent = (name for name in patterns if name not in refs and "*" not in name)
        return [n for n in absent if os.path.isfile(os.path.join(self.place.common_dir, n))]

    def _list_refs(self, patterns: tuple[str, ...]) -> dict[str, Ref]:
        fields = "%(objectname)%00%(refname)%00%(symref)%00%(worktreepath)%00"
        outcome = self.git.attempt("for-each-ref", f"--format={fields}", *patterns)
        if outcome.returncode or b"broken ref" in outcome.stderr:
            raise self.git.failure("for-each-ref", outcome)
        parts = outcome.stdout.decode("utf-8", "surrogateescape").split("\0")[:-1]
        # Git ends each row with a line feed, which is left over at the start of the next one's id.
        rows = [parts[i : i + 4] for i in range(0, len(parts), 4)]
        refs = (Ref(row[1], row[0].strip(), row[2], row[3]) for row in rows)
        return {ref.name: ref for ref in refs}

    def move_ref(self, name: str, new: str, old: str, why: str) -> None:
        """Point a ref at new if it still points at old (zeros: if it does not exist)."""
        with self.ref_move(name, why) as move:
            move.to(new, old)

    def delete_ref(self, name: str, old: str) -> None:
        """Remove a ref that still points at old; one that is gone is removed."""
        with self._packed_refs.deleting():
            outcome = self.git.attempt(
                "update-ref", "--stdin", "--no-deref", stdin=f"delete {name} {old}\n".encode()
            )
        if outcome.returncode and name in self.refs(name):
            raise self._moved(name, old, outcome)

    def expire_reflog(self, name: str) -> None:
        """Empty a ref's reflog, which would keep what it pointed at before from being collected."""
        outcome = self.git.attempt(
            "reflog", "expire", "--expire=all", "--expire-unreachable=all", name
        )
        if outcome.returncode and b"points nowhere" not in outcome.stderr:
            raise self.git.failure("reflog", outcome)

    def worktrees(self) -> tuple[str, ...]:
        """Return the folders of the repository's worktrees, the main one first."""
        listed = self.git.run("worktree", "list", "--porcelain", "-z")
        lines = listed.decode("utf-8", "surrogateescape").split("\0")
        return tuple(x.removeprefix("worktree ") for x in lines if x.startswith("worktree "))

    def reachable(self, *options: str) -> frozenset[str]:
        """Return the ids that `git rev-list` names."""
        listed = self.git.run("rev-list", "--no-object-names", *options)
        return frozenset(listed.decode("ascii", "replace").split())

    def unreachable(self, commits: frozenset[str], head: str) -> frozenset[str]:
        """Return which of some commits neither HEAD nor a branch, tag or remote's branch reaches.

        head is what HEAD names; empty before the first commit.
        """
        if not commits:
            return frozenset()
        refs = ("--not", "--branches", "--tags", "--remotes", *filter(None, (head,)))
        # One that is gone already is reached by nothing, and git lists none.
        return self.reachable("--ignore-missing", *sorted(commits), *refs) & commits

    def is_ancestor(self, commit: str, of: str) -> bool:
        """Say whether a commit is another one or lies in its history."""
        question = ("merge-base", "--is-ancestor", commit, of)
        return is_object_id(commit) and self.git.attempt(*question).returncode == 0

    def refs_containing(self, commit: str) -> tuple[str, ...]:
        """Return the full names of the refs from which a commit can be reached."""
        listed = self.git.attempt("for-each-ref", "--format=%(refname)", f"--contains={commit}")
        return tuple(listed.stdout.decode("utf-8", "surrogateescape").split())

    def ref_move(self, name: str, why: str) -> RefMove:
        """Return a context in which git waits, ready to move a ref.

        Git starts while the caller still writes objects, which hides the time that takes.
        """
        self._refuse_links(name)
        self._clear_dead_lock(name)
        return RefMove(name, why, self.git, self._check_move)

    def _refuse_links(self, name: str) -> None:
        """Refuse links below `refs/heads`, through which git would write elsewhere."""
        for top in ("", "logs"):
            path = os.path.join(self.place.common_dir, top)
            for part in name.split("/"):
                path = os.path.join(path, part)
                if part not in ("refs", "heads"):  # some tools share these between repositories
                    files.refuse_link(path)

    def _check_move(self, name: str, new: str, old: str, outcome: GitOutcome) -> None:
        if outcome.returncode and b"nonexistent object" in outcome.stderr:
            raise ObjectsGone(f"`{name}` was not moved: somebody removed {new} while we wrote it")
        if outcome.returncode:
            raise self._moved(name, old, outcome)
        # Git syncs the ref's file, but not the folder in which it was renamed.
        self.settle(name)
        if self.ref_id(name) != new:
            raise RefMoved(f"`{name}` does not point at {new} after it was moved there")

    def _moved(self, name: str, old: str, outcome: GitOutcome) -> GitguardError:
        failure = self.git.failure("update-ref", outcome)
        # Git ends with the same code for a ref that moved and for any other failure, so the ref is
        # read again to tell them apart.
        current = self.refs(name).get(name)
        if (current.id if current else "0" * len(old)) != old:
            return RefMoved(f"`{name}` moved while we wrote: {failure.message}", failure.hint)
        complaint = outcome.stderr.decode("utf-8", "surrogateescape")
        if f"{name}.lock" in complaint or self._packed_refs.lock in complaint:
            return Pending(
                f"the lock of `{name}` cannot be taken: {failure.message}",
                "Another git process may hold it; a lock left by a dead one is cleared after "
                f"{REF_LOCK_AGE} s",
            )
        return failure

    def settle(self, name: str) -> None:
        """Make durable where a ref points; whoever moved it may have died before."""
        folder = os.path.dirname(os.path.join(self.place.common_dir, name))
        try:
            files.sync_folder(folder)
        except FileNotFoundError:
            return  # somebody may pack the ref at this very moment
        except OSError as error:
            raise files.refused(folder, error) from error

    def ref_id(self, name: str) -> str:
        """Return where a ref points, empty where there is none."""
        data = files.read_bytes(os.path.join(self.place.common_dir, name), limit=4096)
        if data is not None:
            return data.decode("ascii", "replace").strip()
        ref = self.refs(name).get(name)
        return ref.id if ref else ""

    def sweep(self, folder: str) -> None:
        """Clear the locks that dead gits left on the refs in a folder."""
        try:
            self._refuse_links(folder)
        except GitguardError:
            return
        path = os.path.join(self.place.common_dir, folder)
        files.sweep(path, self._clock(), ends=".lock")
        self._packed_refs.clear()

    def _clear_dead_lock(self, name: str) -> None:
        path = os.path.join(self.place.common_dir, name + ".lock")
        try:
            age = self._clock() - os.stat(path).st_mtime
        except (FileNotFoundError, NotADirectoryError):
            return
        if age > REF_LOCK_AGE:
            files.remove(path)

    def checked_out(self) -> str:
        """Return what the worktree's HEAD names: a full ref, or a commit id when detached."""
        text = self._text_of(self.place.git_dir, "HEAD").strip()
        # With reftables git leaves this stub in HEAD for older programs; then git has to be asked.
        if text.startswith("ref: ") and text != "ref: refs/heads/.invalid":
            return text.removeprefix("ref: ")
        if is_object_id(text):
            return text
        outcome = self.git.attempt("symbolic-ref", "--quiet", "HEAD")
        if outcome.returncode == 0:
            return outcome.stdout.decode().strip()
        return self.git.run("rev-parse", "--verify", "HEAD").decode().strip()

    def branch_history(self, branch: str) -> BranchHistory:
        """Return what a branch was called and cut from, by its reflog; git is not started."""
        name = os.path.join("logs", "refs", "heads", *branch.split("/"))
        try:
            text = self._text_of(self.place.common_dir, name, limit=_REFLOG)
        except (InvalidDocument, NotReadable):
            return BranchHistory()
        names: list[str] = []
        origin = ""
        for line in text.split("\n"):
            who, _, what = line.partition("\t")
            if what.startswith(_CREATED):
                origin = what.removeprefix(_CREATED).removeprefix("refs/heads/")
                if origin == "HEAD":
                    origin = self._branch_left_for(branch, _time_in(who))
            elif what.startswith(_RENAMED):
                before, _, after = what.removeprefix(_RENAMED).partition(" to refs/heads/")
                names = [before, *(name for name in names if name not in (before, after))]
        return BranchHistory(tuple(name for name in names if name != branch), origin)

    def _branch_left_for(self, branch: str, created: int) -> str:
        """Return on which branch HEAD was when a branch was created from it, empty if unknown."""
        try:
            text = self._text_of(self.place.git_dir, os.path.join("logs", "HEAD"), limit=_REFLOG)
        except (InvalidDocument, NotReadable):
            return ""
        checked_out = ""
        for line in text.split("\n"):
            who, _, what = line.partition("\t")
            if not what.startswith(_CHECKED_OUT):
                continue
            before, _, after = what.removeprefix(_CHECKED_OUT).partition(" to ")
            at = _time_in(who)
            if at > created + _SAME_COMMAND:
                return checked_out or before
            if at >= created and after == branch:
                return before  # `git switch -c` creates it, and goes there
            checked_out = after
        return checked_out

    def before_in_reflog(self, ref: str, commit: str) -> str:
        """Return where a ref pointed before it came to a commit, empty where no reflog says it."""
        try:
            text = self._text_of(self.place.common_dir, os.path.join("logs", ref), limit=_REFLOG)
        except (InvalidDocument, NotReadable):
            return ""
        moves = (line.split(" ", 2)[:2] for line in text.split("\n"))
        earlier = next((move[0] for move in moves if move[1:] == [commit]), "")
        return earlier if is_object_id(earlier) and earlier.strip("0") else ""

    def checked_out_commit(self) -> str:
        """Return the id of the commit that HEAD names, read from git's files without starting git.

        Empty before the first commit, and where refs are kept in another way than as files.
        """
        try:
            head = self._text_of(self.place.git_dir, "HEAD").removeprefix("ref: ")
            if is_object_id(head):
                return head
            loose = self._text_of(self.place.git_dir, head) or self._text_of(
                self.place.common_dir, head
            )
            if is_object_id(loose):
                return loose
            packed = self._text_of(self.place.common_dir, "packed-refs", limit=_PACKED_REFS)
        except (InvalidDocument, NotReadable):
            return ""
        # The last line has no line end any more.
        lines, name, _ = f"{packed}\n".partition(f" {head}\n")
        commit = lines.rpartition("\n")[2]
        return commit if name and is_object_id(commit) else ""

    def submodules(self, commit: str) -> tuple[str, ...]:
        """Return the paths at which a commit has a submodule."""
        if not is_object_id(commit):
            return ()
        listed = self.git.run("ls-tree", "-r", "-z", "--full-tree", commit)
        rows = (row.partition(b"\t") for row in listed.split(b"\0"))
        return tuple(os.fsdecode(path) for facts, _, path in rows if b" commit " in facts)

    def head_commit(self) -> str:
        """Return the id of the commit that HEAD names, empty before the first commit."""
        commit = self.checked_out_commit()
        if commit:
            return commit
        outcome = self.git.attempt("rev-parse", "--verify", "--quiet", "HEAD^{commit}")
        return outcome.stdout.decode("ascii", "replace").strip() if outcome.returncode == 0 else ""

    def commit_of_submodule(self, path: str) -> str:
        """Return the id of the commit checked out in a submodule; empty where none is known."""
        folder = os.path.join(self.place.worktree, path)
        if not os.path.lexists(os.path.join(folder, ".git")):
            return ""  # not cloned: what is found above it is not its own
        try:
            place = locate(folder)
        except NotARepository:
            return ""
        return Repository(place, {}, self._clock).checked_out_commit()

    def _text_of(self, folder: str, name: str, *, limit: int = 4096) -> str:
        data = files.read_bytes(os.path.join(folder, name), limit=limit) or b""
        return data.decode("utf-8", "surrogateescape").strip("\n")

    def head_at(self, seconds: float) -> str:
        """Return the commit that was checked out at a time, by the reflog of HEAD.

        Where the reflog is younger it is the first commit checked out here; where there is none, it
        is HEAD's. Empty before the first commit.
        """
        moment = max(int(seconds), _FIRST_MOMENT)
        for name in (f"HEAD@{{{moment}}}", "HEAD"):
            outcome = self.git.attempt("rev-parse", "--verify", "--quiet", f"{name}^{{commit}}")
            if outcome.returncode == 0:
                return outcome.stdout.decode().strip()
        return ""

    def head_moved_at(self) -> float:
        """Return when HEAD moved last, in Unix seconds by its reflog; 0 where there is none."""
        path = os.path.join(self.place.git_dir, "logs", "HEAD")
        try:
            newest = next(files.lines_backwards(path), b"")
        except OSError:
            return 0.0
        # `old new name <email> seconds zone`, a tab and what moved it
        words = newest.partition(b"\t")[0].split()
        return float(words[-2]) if len(words) > 2 and words[-2].isdigit() else 0.0

    def tracked_under(self, folder: str) -> list[str]:
        """List the files that the index tracks in a folder of the worktree."""
        listed = self.git.run("ls-files", "-z", "--cached", "--full-name", "--", folder + "/")
        return [name.decode("utf-8", "replace") for name in listed.split(b"\0") if name]

    def tracked_as(self, name: str) -> frozenset[str]:
        """Return the files with a name, in whichever folder, that the index tracks."""
        plain = "".join(f"\\{c}" if c in "*?[]\\" else c for c in name)
        listing = ("ls-files", "-z", "--cached", "--full-name", "--", f":(top,glob)**/{plain}")
        # The door asks for literal names elsewhere.
        listed = self.git.run("--no-literal-pathspecs", *listing)
        return frozenset(os.fsdecode(path) for path in listed.split(b"\0") if path)

    def without_tools_files(self, paths: Iterable[str]) -> tuple[str, ...]:
        """Return paths without `node_modules`, and without hidden ones that git does not track.

        Tools and caches write those, and nobody looks for them in a list of changed files.
        """
        listed = [path for path in paths if "node_modules" not in path.split("/")]
        hidden = {path: folder for path in listed if (folder := _hidden_part(path))}
        if not hidden:
            return tuple(listed)
        folders = sorted(set(hidden.values()))
        answer = self.git.run("ls-files", "-z", "--cached", "--full-name", "--", *folders)
        tracked = {os.fsdecode(name) for name in answer.split(b"\0")}
        return tuple(path for path in listed if path not in hidden or path in tracked)

    def unmerged(self) -> list[str]:
        """List the files of the index with a conflict that nobody resolved yet."""
        listed = self.git.run("ls-files", "-z", "--unmerged", "--full-name")
        # Each is listed once for each side of the conflict, as `mode id side`, a tab and the path.
        paths = {line.partition(b"\t")[2] for line in listed.split(b"\0") if line}
        return sorted(os.fsdecode(path) for path in paths)

    def ignore_rules(self) -> str:
        """Return a digest of the ignore rules that stand outside of the worktree."""
        from gitguard.store.git.exclude import rules_outside

        return rules_outside(self.place.common_dir, self.git.user_ignore_file)

    def hidden_paths(self) -> list[str]:
        """List the tracked files that git is told not to look at.

        They have the flag `assume-unchanged` or `skip-worktree`, as in a sparse checkout.
        """
        listed = self.git.run("ls-files", "-z", "-v", "--cached").split(b"\0")
        # A small letter stands for `assume-unchanged`, the letter S for `skip-worktree`.
        return [os.fsdecode(line[2:]) for line in listed if line[:1] == b"S" or line[:1].islower()]

    # Objects

    def object_format(self) -> str:
        """Return sha1 or sha256."""
        return self.git.run("rev-parse", "--show-object-format").decode().strip()

    def id_length(self, commit: str = "") -> int:
        """Return how long the repository's ids are; a commit of it tells without starting git."""
        return len(commit) or (40 if self.object_format() == "sha1" else 64)

    def write_commit(
        self,
        contents: Mapping[str, bytes],
        parent: str,
        message: str,
        *,
        at: float | None = None,
        aside: bool = False,
    ) -> str:
        """Write blobs, a flat tree and a commit, all durable; return the commit's id.

        at is the commit's time in Unix seconds, now by default. What is kept aside is never
        signed: somebody else may have made it, and a signature would let it in elsewhere. Raises
        `Pending` where the commit has to be signed and cannot be.
        """
        at = self._clock() if at is None else at
        with self.object_writer(parent) as writer:
            blobs = {name: writer.write("blob", data) for name, data in contents.items()}
            tree = writer.write("tree", flat_tree(blobs))
            if aside or not self._signs:
                return writer.write("commit", self.commit_body(tree, parent, message, at))
        return self.write_signed(tree, parent, message, at)

    @staticmethod
    def commit_body(tree: str, parent: str, message: str, at: float) -> bytes:
        """Return a commit of ours; at is its time in Unix seconds."""
        return format_commit(tree, parent, message, Stamp(_NAME, _EMAIL, int(at)))

    def write_signed(
        self, tree: str, parent: str, message: str, at: float, *, signs: bool = False
    ) -> str:
        """Write a commit, signed where commits are; its tree is written. Raises as above.

        signs is whether it is signed in any case.
        """
        if not (self._signs or signs):
            with self.object_writer(tree) as writer:
                return writer.write("commit", self.commit_body(tree, parent, message, at))
        from gitguard.store.git.signing import Signer

        return Signer(self.git).commit(tree, parent, message, Stamp(_NAME, _EMAIL, int(at)))

    def object_writer(self, parent: str = "") -> ObjectWriter:
        """Return a context manager that writes objects; they are durable when it ends.

        parent is the id of an object of the repository, which tells how long its ids are.
        """
        is_sha1 = len(parent) == 40 if parent else self.object_format() == "sha1"
        return LooseObjects(self.place.common_dir, self._clock) if is_sha1 else GitObjects(self.git)

    def reader(self) -> ObjectReader:
        """Return a context manager that reads objects and hashes each again."""
        from gitguard.store.git.reader import ObjectReader

        return ObjectReader(self.place.common_dir, self.git, self.disguises())

    def first_parents(self, commit: str) -> list[str]:
        """Return the ids from a commit back, as far as git knows them; a guess, not a fact."""
        if not is_object_id(commit):
            return []
        return self.git.attempt("rev-list", "--first-parent", commit).stdout.decode().split()

    def disguises(self) -> Disguises:
        """Return what git shows as something else than its id names, as it is now."""
        from gitguard.store.git.reader import Disguises

        return Disguises(self.place.common_dir, self.git)


class RefMove:
    """A git that waits to move one ref; leaving the context without a move leaves the ref alone."""

    def __init__(
        self, name: str, why: str, git: Plumbing, check: Callable[[str, str, str, GitOutcome], None]
    ) -> None:
        """Prepare the move; git starts when the context is entered."""
        self.why = why
        self._name = name
        self._git = git
        self._check = check

    def __enter__(self) -> Self:
        options = ("--stdin", "--no-deref", "-m", self.why)
        self._process = self._git.start("update-ref", *options)
        return self

    def to(self, new: str, old: str) -> None:
        """Point the ref at new if it still points at old, durable, and read it back."""
        outcome = self._process.finish(f"update {self._name} {new} {old}\n".encode())
        self._check(self._name, new, old, outcome)

    def __exit__(self, *exception: object) -> None:
        if not self._process.has_ended:
            self._process.finish()  # the end of input without a request moves nothing


def _time_in(who: str) -> int:
    """Return the Unix seconds in what a line of a reflog begins with, 0 where there are none."""
    seconds = who.rpartition(" ")[0].rpartition(" ")[2]
    return int(seconds) if seconds.isdecimal() else 0


def _hidden_part(path: str) -> str:
    """Return a path up to its first part that begins with a dot, empty without one."""
    parts = path.split("/")
    place = next((n for n, part in enumerate(parts) if part.startswith(".")), -1)
    return "/".join(parts[: place + 1])
