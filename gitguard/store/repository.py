"""The one door to git: refs and objects by plumbing that runs nothing from the repository.

Objects are written in process with GitPython's object store. Everything else is a git command from
a short list with a scrubbed environment; porcelain is never called, because it runs the
repository's hooks, filters and drivers (RELIABILITY section 4).
"""

from __future__ import annotations

import os
from contextlib import suppress

from gitguard.errors import GitFailed, GitguardError, InvalidDocument, Pending, RefMoved
from gitguard.model.text import visible
from gitguard.model.value import Value
from gitguard.store import files
from gitguard.store.objects import LooseObjects, ObjectsGone

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from subprocess import CompletedProcess, Popen
    from typing import Self

    from gitguard.store.place import Place

    Clock = Callable[[], float]

_TIME_LIMIT = 30
_SETTINGS = (
    "core.fsmonitor=false",
    "core.hooksPath=/dev/null",
    "core.fsync=loose-object,reference",
    "core.filesRefLockTimeout=2000",
    "core.alternateRefsCommand=",
    "core.pager=cat",
    "commit.gpgSign=false",
    "gc.auto=0",
    "maintenance.auto=false",
    "protocol.ext.allow=never",
    "safe.bareRepository=explicit",
    "advice.graftFileDeprecated=false",
)
_ENVIRONMENT = {
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_ALLOW_PROTOCOL": "none",  # older gits would fetch a missing object of a partial clone
    "GIT_ATTR_NOSYSTEM": "1",
    "GIT_GRAFT_FILE": os.devnull,
    "GIT_LITERAL_PATHSPECS": "1",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
    "LC_ALL": "C",
}
_KEPT = ("PATH", "HOME", "XDG_CONFIG_HOME", "TMPDIR", "SYSTEMROOT")
_IDENTITY = "gitguard <gitguard@localhost>"
_REF_LOCK_AGE = 60
"""Seconds after which a ref's lock that did not change was left by a dead process."""
_HEX = frozenset("0123456789abcdef")


class Ref(Value):
    """A ref as git lists it."""

    name: str
    id: str
    points_to: str
    """The other ref it stands for, empty for an ordinary one."""
    checked_out_in: str
    """The worktree that has it checked out, empty if none has."""


def is_object_id(text: str) -> bool:
    """Say whether text is a full SHA-1 or SHA-256 object id."""
    return len(text) in (40, 64) and set(text) <= _HEX


class Repository:
    """Git's refs and objects for one worktree."""

    def __init__(self, place: Place, environment: Mapping[str, str], clock: Clock) -> None:
        """Open the door; environment is the caller's, of which only a few names are kept."""
        self.place = place
        kept = {name: environment[name] for name in _KEPT if name in environment}
        self._environment = {**kept, **_ENVIRONMENT}
        self._plain_environment = kept
        self._git = _find_git(kept.get("PATH", os.defpath), place)
        self._trusted: tuple[str, ...] = ()
        self._clock = clock

    # Commands

    def _command(self, arguments: Sequence[str]) -> list[str]:
        settings = [word for s in (*_SETTINGS, *self._trusted) for word in ("-c", s)]
        return [self._git, *settings, f"--git-dir={self.place.git_dir}", *arguments]

    def _try(self, *arguments: str, stdin: bytes = b"") -> CompletedProcess[bytes]:
        import subprocess

        try:
            done = subprocess.run(
                self._command(arguments),
                input=stdin,
                capture_output=True,
                env=self._environment,
                cwd=self.place.worktree,
                timeout=_TIME_LIMIT,
                check=False,
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            raise GitFailed(f"`git {arguments[0]}` did not run: {error}") from error
        if done.returncode and b"dubious ownership" in done.stderr and self._is_trusted_by_user():
            return self._try(*arguments, stdin=stdin)
        return done

    def _run(self, *arguments: str, stdin: bytes = b"") -> bytes:
        done = self._try(*arguments, stdin=stdin)
        if done.returncode:
            raise self._failure(arguments[0], done)
        return done.stdout

    def _failure(self, command: str, done: CompletedProcess[bytes]) -> GitFailed:
        said = visible(done.stderr.decode("utf-8", "replace")).strip() or "nothing"
        hint = "Look at the repository with `git fsck`"
        if "dubious ownership" in said:
            hint = f"Run `git config --global --add safe.directory {self.place.worktree}`"
        return GitFailed(f"`git {command}` ended with {done.returncode} and said: {said}", hint)

    def _is_trusted_by_user(self) -> bool:
        # Our environment hides the user's own safe.directory, so ask with theirs, once.
        import subprocess

        if self._trusted:
            return False
        asked = subprocess.run(
            [self._git, "config", "--get-all", "safe.directory"],
            capture_output=True,
            env=self._plain_environment,
            cwd="/",
            timeout=_TIME_LIMIT,
            check=False,
        )
        allowed = asked.stdout.decode("utf-8", "replace").split("\n")
        places = (self.place.worktree, self.place.git_dir, "*")
        listed = next((place for place in places if place in allowed), "")
        self._trusted = (f"safe.directory={listed}",) if listed else ()
        return bool(listed)

    # Refs

    def refs(self, *patterns: str) -> dict[str, Ref]:
        """List the refs under the given full names or folders; a broken ref is an error."""
        fields = "%(objectname)%00%(refname)%00%(symref)%00%(worktreepath)%00"
        done = self._try("for-each-ref", f"--format={fields}", *patterns)
        if done.returncode or b"broken ref" in done.stderr:
            raise self._failure("for-each-ref", done)
        parts = done.stdout.decode("utf-8", "surrogateescape").split("\0")[:-1]
        rows = [parts[i : i + 4] for i in range(0, len(parts), 4)]
        found = (Ref(row[1], row[0].strip(), row[2], row[3]) for row in rows)
        return {ref.name: ref for ref in found}

    def move_ref(self, name: str, new: str, old: str, why: str) -> None:
        """Point a ref at new if it still points at old (zeros: if it does not exist)."""
        with self.ref_move(name, why) as move:
            move.to(new, old)

    def ref_move(self, name: str, why: str) -> RefMove:
        """Return a context in which git waits, ready to move a ref.

        Git starts while the caller still writes objects, which hides the time that takes.
        """
        self._clear_dead_lock(name)
        command = self._command(["update-ref", "--stdin", "--no-deref", "-m", why])
        return RefMove(name, command, self._environment, self._check_move)

    def _check_move(self, name: str, new: str, old: str, done: CompletedProcess[bytes]) -> None:
        if done.returncode and b"nonexistent object" in done.stderr:
            raise ObjectsGone(f"`{name}` was not moved: somebody removed {new} while we wrote it")
        if done.returncode:
            raise self._moved(name, old, done)
        path = os.path.join(self.place.common_dir, name)
        with suppress(FileNotFoundError):  # somebody may pack the ref at this very moment
            files.sync_folder(os.path.dirname(path))
        if self._read_back(name, path) != new:
            raise RefMoved(f"`{name}` does not point at {new} after it was moved there")

    def _moved(self, name: str, old: str, done: CompletedProcess[bytes]) -> GitguardError:
        failure = self._failure("update-ref", done)
        current = self.refs(name).get(name)
        if (current.id if current else "0" * len(old)) != old:
            return RefMoved(f"`{name}` moved while we wrote: {failure.message}", failure.hint)
        if f"{name}.lock" in failure.message:
            return Pending(
                f"the lock of `{name}` cannot be taken: {failure.message}",
                "Another git process may hold it; a lock left by a dead one is cleared after "
                f"{_REF_LOCK_AGE} s",
            )
        return failure

    def _read_back(self, name: str, path: str) -> str:
        data = files.read_bytes(path, limit=4096)
        if data is not None:
            return data.decode("ascii", "replace").strip()
        found = self.refs(name).get(name)
        return found.id if found else ""

    def _clear_dead_lock(self, name: str) -> None:
        path = os.path.join(self.place.common_dir, name + ".lock")
        try:
            age = self._clock() - os.stat(path).st_mtime
        except (FileNotFoundError, NotADirectoryError):
            return
        if age > _REF_LOCK_AGE:
            files.remove(path)

    def checked_out(self) -> str:
        """Return what the worktree's HEAD names: a full ref, or a commit id when detached."""
        data = files.read_bytes(os.path.join(self.place.git_dir, "HEAD"), limit=4096) or b""
        text = data.decode("utf-8", "surrogateescape").strip()
        if text.startswith("ref: ") and text != "ref: refs/heads/.invalid":
            return text.removeprefix("ref: ")
        if is_object_id(text):
            return text
        done = self._try("symbolic-ref", "--quiet", "HEAD")
        if done.returncode == 0:
            return done.stdout.decode().strip()
        return self._run("rev-parse", "--verify", "HEAD").decode().strip()

    def tracked_under(self, folder: str) -> list[str]:
        """List the files that the index tracks in a folder of the worktree."""
        listed = self._run("ls-files", "-z", "--cached", "--full-name", "--", folder + "/")
        return [name.decode("utf-8", "replace") for name in listed.split(b"\0") if name]

    # Objects

    def object_format(self) -> str:
        """Return sha1 or sha256."""
        return self._run("rev-parse", "--show-object-format").decode().strip()

    def write_commit(self, contents: Mapping[str, bytes], parent: str, message: str) -> str:
        """Write blobs, a flat tree and a commit, all durable; return the commit's id."""
        writer = self._object_writer(parent)
        blobs = {name: writer.write("blob", contents[name]) for name in sorted(contents)}
        entries = (b"100644 %s\0%s" % (n.encode(), bytes.fromhex(blobs[n])) for n in blobs)
        tree = writer.write("tree", b"".join(entries))
        stamp = f"{_IDENTITY} {int(self._clock())} +0000"
        lines = [f"tree {tree}", *([f"parent {parent}"] if parent else [])]
        lines += [f"author {stamp}", f"committer {stamp}", "", message]
        return writer.write("commit", "\n".join(lines).encode())

    def _object_writer(self, parent: str) -> LooseObjects | _GitWriter:
        is_sha1 = len(parent) == 40 if parent else self.object_format() == "sha1"
        return (
            LooseObjects(self.place.common_dir, _encode_loose, self._clock)
            if is_sha1
            else _GitWriter(self._run)
        )

    def reader(self) -> ObjectReader:
        """Return a context manager that reads and verifies objects."""
        return ObjectReader(self._command(["cat-file", "--batch-command"]), self._environment)


def _find_git(path: str, place: Place) -> str:
    # A relative entry of PATH, or one inside the worktree, would run the repository's own `git`.
    inside = place.worktree + os.sep
    for folder in path.split(os.pathsep):
        candidate = os.path.join(folder, "git")
        outside = os.path.isabs(folder) and not os.path.realpath(candidate).startswith(inside)
        if outside and os.path.isfile(candidate) and os.access(candidate, os.X_OK):
            return candidate
    raise GitFailed("there is no `git` on PATH", "Install git 2.36 or newer")


def _encode_loose(kind: str, data: bytes) -> tuple[str, bytes]:
    """Return an object's id and the content of its file."""
    from gitdb.fun import loose_object_header
    from gitdb.stream import ZippedStoreShaWriter

    writer = ZippedStoreShaWriter()
    writer.write(loose_object_header(kind.encode(), len(data)))
    writer.write(data)
    writer.close()
    return str(writer.sha(as_hex=True)), bytes(writer.getvalue())


class RefMove:
    """A git that waits to move one ref; leaving the context without a move leaves the ref alone."""

    def __init__(
        self,
        name: str,
        command: Sequence[str],
        environment: Mapping[str, str],
        check: Callable[[str, str, str, CompletedProcess[bytes]], None],
    ) -> None:
        """Prepare the command; it starts when the context is entered."""
        self._name = name
        self._command = command
        self._environment = environment
        self._check = check

    def __enter__(self) -> Self:
        import subprocess

        try:
            self._process = subprocess.Popen(
                self._command,
                env=self._environment,
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
            )
        except OSError as error:
            raise GitFailed(f"`git update-ref` did not run: {error}") from error
        return self

    def to(self, new: str, old: str) -> None:
        """Point the ref at new if it still points at old, durable, and read it back."""
        import subprocess

        request = f"update {self._name} {new} {old}\n".encode()
        try:
            _, said = self._process.communicate(request, timeout=_TIME_LIMIT)
        except subprocess.TimeoutExpired as error:
            self._process.kill()
            raise GitFailed(f"`git update-ref` did not end: {error}") from error
        done = subprocess.CompletedProcess(self._command, self._process.returncode, b"", said)
        self._check(self._name, new, old, done)

    def __exit__(self, *exception: object) -> None:
        if self._process.returncode is None:
            self._process.communicate()  # the end of input without a request moves nothing


class _GitWriter:
    """Writes objects with git itself, for object formats that GitPython does not know."""

    def __init__(self, run: _Run) -> None:
        self._run = run

    def write(self, kind: str, data: bytes) -> str:
        """Store an object of a kind; return its id."""
        return self._run("hash-object", "-w", "-t", kind, "--stdin", stdin=data).decode().strip()


class ObjectReader:
    """Reads objects through one `git cat-file` and hashes each again, which git does not do."""

    def __init__(self, command: Sequence[str], environment: Mapping[str, str]) -> None:
        """Prepare the command; it starts when the context is entered."""
        self._command = command
        self._environment = environment

    def __enter__(self) -> Self:
        import subprocess

        self._process: Popen[bytes] = subprocess.Popen(
            self._command,
            env=self._environment,
            cwd="/" if os.name == "posix" else None,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        return self

    def __exit__(self, *exception: object) -> None:
        for stream in (self._process.stdin, self._process.stdout):
            if stream is not None:
                with suppress(BrokenPipeError):
                    stream.close()
        self._process.wait()

    def exists(self, object_id: str) -> bool:
        """Say whether the repository has the object."""
        return self._ask("info", object_id)[1] != "missing"

    def read(self, object_id: str, kind: str, *, limit: int) -> bytes:
        """Return an object's content, or raise when it is missing, too large or not its id."""
        if not is_object_id(object_id):
            raise InvalidDocument(f"`{object_id[:80]}` is not an object id")
        found = self._ask("info", object_id)
        if found[1] != kind:
            raise InvalidDocument(f"object {object_id} is {found[1]}, not a {kind}")
        if int(found[2]) > limit:
            raise InvalidDocument(
                f"object {object_id} has {int(found[2]):,} bytes; the limit is {limit:,}"
            )
        size = int(self._ask("contents", object_id)[2])
        assert self._process.stdout is not None
        data = self._process.stdout.read(size)
        self._process.stdout.read(1)
        if _hash(kind, data, len(object_id)) != object_id:
            raise InvalidDocument(f"object {object_id} does not have the content of its id")
        return data

    def entries(self, tree: str) -> Iterator[tuple[str, str]]:
        """Yield name and blob id of a flat tree of plain files; anything else is refused."""
        data = self.read(tree, "tree", limit=4096)
        width = len(tree) // 2
        while data:
            head, _, data = data.partition(b"\0")
            mode, _, name = head.partition(b" ")
            if mode != b"100644":
                raise InvalidDocument(f"tree {tree} has an entry of mode {mode.decode()}")
            yield name.decode("utf-8", "replace"), data[:width].hex()
            data = data[width:]

    def _ask(self, question: str, object_id: str) -> list[str]:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        try:
            self._process.stdin.write(f"{question} {object_id}\n".encode())
            self._process.stdin.flush()
        except BrokenPipeError as error:
            raise GitFailed("`git cat-file` ended early", "Look with `git fsck`") from error
        answer = self._process.stdout.readline().decode().split()
        if len(answer) < 2:
            raise GitFailed(f"`git cat-file` cannot read {object_id}", "Look with `git fsck`")
        return answer


def _hash(kind: str, data: bytes, length: int) -> str:
    import hashlib

    algorithm = hashlib.sha1 if length == 40 else hashlib.sha256
    return algorithm(b"%s %d\0" % (kind.encode(), len(data)) + data).hexdigest()


if TYPE_CHECKING:
    from typing import Protocol

    class _Run(Protocol):
        def __call__(self, *arguments: str, stdin: bytes = b"") -> bytes: ...
