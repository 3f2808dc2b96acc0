"""Puts files of the worktree back to what a snapshot has, and never loses what lies there.

What is about to change is kept first, byte by byte; then a record is written of what every file is
and will be; then the files change one by one, each at once. Whoever dies in between leaves the
record, and the next run goes on where it ended: a file is either what it was, or what it will be,
or somebody else changed it, and then it stays as it is and is named.
"""

from __future__ import annotations

import os
from difflib import unified_diff

from gitguard.errors import GitguardError, InvalidDocument, InvalidInput, NotReadable, NotWritable
from gitguard.model.actions import ADDED, CHANGED, REMOVED
from gitguard.model.redaction.names import is_secret_file
from gitguard.model.text import shell_word
from gitguard.store.disk import files, users_files
from gitguard.store.git.conversions import CONVERTED, FILTERED, Conversions
from gitguard.store.git.trees import LINK, PLAIN, PROGRAM, SUBMODULE, TreeEntry, Trees, file_at
from gitguard.store.git.worktree_files import LARGEST, UNLIMITED, WorktreeFiles
from gitguard.store.worktree.manifest import escaped, unescaped
from gitguard.store.worktree.refusals import RULES, Refusals
from gitguard.store.worktree.restore_record import (
    BY_OTHERS,
    FileRecord,
    PlannedFile,
    RestoreRecord,
    Version,
    is_below,
)
from gitguard.store.worktree.secret_search import searched_parts

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

    from gitguard.model.redaction.redactor import Redactor
    from gitguard.store.git.differences import Differences
    from gitguard.store.git.reader import ObjectReader
    from gitguard.store.git.repository import Repository
    from gitguard.store.git.trees import Write
    from gitguard.store.worktree.file_store import FileStore
    from gitguard.store.worktree.overlays import StoredSnapshot

_OBJECT_LIMIT = 20 << 20
"""Bytes above which a file that is replaced is kept beside the repository, and not in it."""


class Restorer:
    """Puts files back in the worktree of one repository."""

    def __init__(
        self,
        repository: Repository,
        store: FileStore,
        redactor: Redactor,
        folder: str,
        at_step: Callable[[str], object],
    ) -> None:
        """Describe the worktree, and the store of its snapshots; at_step is told of each step,
        where tests crash.

        folder is where the records are, and beside them what may not become an object.
        """
        self._folder = folder
        self.root = repository.place.worktree
        self._repository = repository
        self._redactor = redactor
        self._at_step = at_step
        self._conversions = Conversions(repository, store.objects)
        self._objects = store.objects
        self._id_length = 0

    # What would change

    def plan(
        self,
        reader: ObjectReader,
        target: StoredSnapshot,
        look: Differences,
        hidden: frozenset[str],
        paths: Sequence[str] = (),
    ) -> tuple[PlannedFile, ...]:
        """Return the files that are not what a snapshot has, by path, or those below some paths.

        look is what the worktree looks like now, against the commit that is checked out; hidden is
        what git is told not to look at.
        """
        trees = Trees(reader)
        head = trees.of_commit(look.commit) if look.commit else ""
        seen_now = {file.path for file in look.files}
        raw = target.raw_paths
        # Git may take the bytes of a raw path for unchanged, since it compares what it stores.
        different = {*trees.differences(head, target.tree), *seen_now, *raw}
        if target.is_base_lost:
            different &= target.overlay.keys() | target.manifest.removed_paths
        chosen = sorted(path for path in different if is_below(path.rstrip("/"), paths))
        entries = {path: file_at(trees, target.tree, path) for path in chosen}
        self._refuse_unknown(trees, target.tree, paths, different)
        kinds = self._conversions.of(
            path
            for path, entry in entries.items()
            if entry is not None and entry.mode != LINK and path not in raw
        )
        worktree_files = self._files()
        planned = []
        for path, entry in entries.items():
            before = self._version(worktree_files, path)
            if entry is not None and entry.mode == LINK and path not in raw:
                entry = self._link_as_git_writes_it(entry)
            after, refusal = self._version_of(
                worktree_files, path, entry, kind=kinds.get(path, ""), target=target
            )
            file = PlannedFile(path, _action(before, after), before, after=after, refusal=refusal)
            if refusal or before.is_unlike(after):
                is_committed = file_at(trees, head, path) is not None
                planned.append(
                    file.replace(is_committed=is_committed, is_unchanged=path not in seen_now)
                )
        rules = {
            os.path.basename(path)
            for path in different
            if os.path.basename(path) in RULES
            and self._version(worktree_files, path).id != _id_of(file_at(trees, target.tree, path))
        }
        refusals = Refusals(
            self._repository,
            self._redactor,
            trees,
            target=target,
            hidden=hidden,
            changed_rules=rules,
        )
        return refusals.applied(tuple(planned), paths)

    def _refuse_unknown(
        self, trees: Trees, tree: str, paths: Sequence[str], different: Collection[str] = ()
    ) -> None:
        """Refuse a name of which the snapshot has nothing, and which is not among the different."""
        for path in paths:
            name = path.rstrip("/")
            if trees.at(tree, name) is not None or any(is_below(p, [name]) for p in different):
                continue
            if os.path.lexists(os.path.join(self.root, path)):
                raise InvalidInput(
                    f"the snapshot has nothing at `{path:.200}`",
                    "What git ignores, git's own files and what was left out are in no snapshot",
                )
            raise InvalidInput(
                f"there is no `{path:.200}`, neither here nor in the snapshot",
                "`gitguard diff --files` lists what changed since a checkpoint",
            )

    def plan_versions(
        self, versions: Mapping[str, tuple[Version, Version]], *, theirs_too: bool
    ) -> tuple[PlannedFile, ...]:
        """Return what would change if files became other versions, each given as what it is said
        to be now and what it is to be.
        """
        worktree_files = self._files()
        planned = []
        for path, (expected, after) in sorted(versions.items()):
            before = self._version(worktree_files, path)
            if before.is_unlike(after):
                is_theirs = before.is_unlike(expected) and not theirs_too
                refusal = f"{BY_OTHERS} since" if is_theirs else ""
                planned.append(
                    PlannedFile(path, _action(before, after), before, after=after, refusal=refusal)
                )
        return tuple(planned)

    def _files(self) -> WorktreeFiles:
        # A fresh one for each file that is put in place: what lies around it may have changed.
        if not self._id_length:
            self._id_length = 40 if self._repository.object_format() == "sha1" else 64
        return WorktreeFiles(self.root, self._id_length, UNLIMITED)

    def _version(self, worktree_files: WorktreeFiles, path: str) -> Version:
        content = worktree_files.content(path)
        data = content.data
        return Version(content.mode, worktree_files.id_of(data) if data is not None else "")

    def _version_of(
        self,
        worktree_files: WorktreeFiles,
        path: str,
        entry: TreeEntry | None,
        kind: str,
        target: StoredSnapshot,
    ) -> tuple[Version, str]:
        """Return what a file is to be, and why it cannot be put back; empty where it can."""
        if path.endswith("/") or (entry is not None and entry.mode == SUBMODULE):
            return Version(), "it is a repository of its own"
        if entry is None:
            return Version(), ""
        if kind == FILTERED:
            return Version(entry.mode, entry.id), (
                "a filter of the repository makes its content, and filters are not run here; "
                f"`{self.git_restore(target, path)} -- {shell_word(path)}` runs it"
            )
        if kind == CONVERTED:
            data = self._conversions.converted(path, entry.id)
            return Version(entry.mode, worktree_files.id_of(data), f"converted:{entry.id}"), ""
        return Version(entry.mode, entry.id, f"blob:{entry.id}"), ""

    def git_restore(self, target: StoredSnapshot, path: str, git: str = "git") -> str:
        """Return the beginning of a git command that puts back what a snapshot has at a path."""
        source, is_stored = target.source(path)
        # The store's objects are added for this command alone.
        objects = f"GIT_ALTERNATE_OBJECT_DIRECTORIES={shell_word(self._objects)} "
        return f"{objects if is_stored else ''}{git} restore --source={source} --worktree"

    def _link_as_git_writes_it(self, entry: TreeEntry) -> TreeEntry:
        return TreeEntry(PLAIN if self._conversions.writes_links_as_files() else LINK, entry.id)

    def patch(self, reader: ObjectReader, planned: Iterable[PlannedFile]) -> Iterator[str]:
        """Yield what would change as a patch."""
        worktree_files = self._files()
        for file in planned:
            old = worktree_files.content(file.path).data or b""
            new = self._content(reader, file.path, file.after) if file.after.mode else b""
            yield from patch_of(file.path, file.before, file.after, old=old, new=new)

    def export(
        self, reader: ObjectReader, target: StoredSnapshot, folder: str, paths: Sequence[str]
    ) -> int:
        """Write a snapshot's files into a folder, which is made if need be; return how many."""
        if target.is_base_lost:
            raise InvalidDocument(
                f"commit {target.base}, which has the other files of the snapshot, is gone",
                "Put back those that it has itself with `gitguard restore --files`",
            )
        entries = {
            path: entry
            for path, entry in Trees(reader).files(target.tree)
            if entry.mode != SUBMODULE and is_below(path, paths)
        }
        self._refuse_unknown(Trees(reader), target.tree, paths)
        users_files.make_folder(folder)
        kinds = self._conversions.of(entries)
        raw = target.raw_paths
        for path, entry in entries.items():
            is_converted = kinds.get(path) == CONVERTED and path not in raw and entry.mode != LINK
            source = f"converted:{entry.id}" if is_converted else f"blob:{entry.id}"
            data = self._bytes(reader, path, source)
            if os.path.lexists(os.path.join(folder, path)):
                raise InvalidInput(
                    f"`{path:.200}` and another file have one name in `{folder}`",
                    "Name a folder on a file system where capital letters make another name",
                )
            self._place(
                folder,
                path,
                Version(entry.mode),
                data=data,
                temporary=users_files.temporary_name("new"),
            )
        users_files.settle(folder, entries)
        return len(entries)

    # Keeping what lies there

    def keep(
        self, planned: Iterable[PlannedFile], write: Write, aside: str
    ) -> tuple[FileRecord, ...]:
        """Keep the bytes of every file that is about to change; return the record of each.

        They become objects, and files in the record's own folder aside where they may not: secrets
        and large ones. Raises where any of them cannot be kept, or changed since it was planned.
        """
        worktree_files = self._files()
        records = []
        for number, file in enumerate(planned):
            before = file.before
            if before.mode:
                before = self._kept(worktree_files, file, write, f"{aside}/{number}")
            records.append(FileRecord(escaped(file.path), before, file.after))
        return tuple(records)

    def _kept(
        self, worktree_files: WorktreeFiles, file: PlannedFile, write: Write, aside: str
    ) -> Version:
        content = worktree_files.content(file.path)
        if content.data is None:
            raise NotReadable(
                f"`{file.path}` cannot be read, so it cannot be kept before it changes",
                "Nothing was restored. Leave it out by naming the other paths",
            )
        if (content.mode, worktree_files.id_of(content.data)) != (file.before.mode, file.before.id):
            raise GitguardError(f"`{file.path}` changed meanwhile; nothing was restored")
        if self._may_be_object(file.path, content.data):
            source = f"blob:{write('blob', content.data)}"
        else:
            # Named from the folder of the records, which moves with the repository.
            files.write_bytes(os.path.join(self._folder, aside), content.data)
            source = f"aside:{aside}"
        return file.before.replace(source=source, permissions=content.permissions)

    def _may_be_object(self, path: str, data: bytes) -> bool:
        if len(data) > _OBJECT_LIMIT or is_secret_file(path):
            return False
        return not any(searched_parts(self._redactor, data))

    # Putting back

    def apply(
        self, reader: ObjectReader, record: RestoreRecord, tell: Callable[[int, int], object]
    ) -> dict[str, str]:
        """Make every file of a record what it is to be; return those that stay, and why.

        tell is called with how many files are done, of how many.

        A file that is neither what it was nor what it is to be was changed by somebody else. Where
        the system refuses one, the others are still put back, and `NotWritable` is raised then.
        """
        stay: dict[str, str] = {}
        failures: dict[str, str] = {}
        temporary = _temporary(record)
        deleted = [file for file in record.files if not file.after.mode]
        put = [file for file in record.files if file.after.mode]
        # Deepest first, so that a folder is gone where a file takes its place.
        deleted.sort(key=lambda file: -file.path.count("/"))
        for number, file in enumerate((*deleted, *put)):
            tell(number, len(record.files))
            path = unescaped(file.path)
            try:
                reason = self._put(reader, path, file, temporary)
            except (OSError, GitguardError) as error:
                failures[path] = _reason(error)
                continue
            if reason:
                stay[path] = reason
            self._at_step("file-restored")
        users_files.settle(self.root, (unescaped(file.path) for file in record.files))
        _refuse_failures(failures)
        return stay

    def still_in_place(self, record: RestoreRecord) -> frozenset[str]:
        """Return the paths at which there is still what a restore put there."""
        worktree_files = self._files()
        files_now = ((unescaped(file.path), file.after) for file in record.files)
        return frozenset(
            path
            for path, after in files_now
            if not self._version(worktree_files, path).is_unlike(after)
        )

    def remove_unfinished(self, record: RestoreRecord) -> None:
        """Remove what a restore that was cut off may have left beside the files it was to put."""
        paths = (unescaped(file.path) for file in record.files)
        users_files.remove_unfinished(self.root, paths, _temporary(record))

    def _put(self, reader: ObjectReader, path: str, file: FileRecord, temporary: str) -> str:
        """Put one file in place; return why it stays, empty where it does not."""
        present = self._version(self._files(), path)
        if present.is_unread:
            raise NotReadable(f"`{path}` cannot be read")
        if not present.is_unlike(file.after):
            return ""
        if present.is_unlike(file.before):
            return "somebody changed it meanwhile"
        if not file.after.mode:
            users_files.remove(self.root, path, temporary)
            return ""
        data = self._content(reader, path, file.after)
        self._place(self.root, path, file.after, data=data, temporary=temporary)
        return ""

    def _place(self, root: str, path: str, version: Version, data: bytes, temporary: str) -> None:
        if version.mode == LINK:
            users_files.put_link(root, path, data, temporary)
        elif version.permissions:
            users_files.put(
                root,
                path,
                data,
                permissions=version.permissions,
                temporary=temporary,
                is_exact=True,
            )
        else:
            permissions = 0o777 if version.mode == PROGRAM else 0o666
            users_files.put(root, path, data, permissions=permissions, temporary=temporary)

    def _content(self, reader: ObjectReader, path: str, version: Version) -> bytes:
        """Return the bytes of a version, hashed again."""
        data = self._bytes(reader, path, version.source)
        if self._files().id_of(data) != version.id:
            raise InvalidDocument("its kept content is not what it was")
        return data

    def _bytes(self, reader: ObjectReader, path: str, source: str) -> bytes:
        kind, _, name = source.partition(":")
        if kind == "aside":
            kept_path = os.path.join(self._folder, name)
            data = files.read_bytes(kept_path, limit=LARGEST)
            if data is None:
                raise InvalidDocument(f"`{kept_path}`, where its content was kept, is gone")
            return data
        data = reader.read(name, "blob", limit=LARGEST)
        return self._conversions.converted(path, name) if kind == "converted" else data


def _temporary(record: RestoreRecord) -> str:
    """Return the name of a restore's files that are not in their places yet."""
    return users_files.temporary_name(record.suffix)


def _id_of(entry: TreeEntry | None) -> str:
    return entry.id if entry is not None else ""


def _action(before: Version, after: Version) -> str:
    if not before.mode:
        return ADDED
    return CHANGED if after.mode else REMOVED


def _refuse_failures(failures: Mapping[str, str]) -> None:
    if not failures:
        return
    path, reason = next(iter(failures.items()))
    others = f", nor could {len(failures) - 1:,} more" if len(failures) > 1 else ""
    raise NotWritable(
        f"`{path}` could not be put back: {reason}{others}. What was there before is kept",
        "Mend that and run the command again, or take it all back with `gitguard restore --undo`",
    )


def _reason(error: Exception) -> str:
    if isinstance(error, OSError):
        return error.strerror or str(error)
    return error.message if isinstance(error, GitguardError) else str(error)


# What a restore would change, as a patch that `git apply` reads


_KIND = 0o170000
"""The part of a mode that tells a file from a link."""
_LONGEST = 1 << 20
"""Bytes of a file that is compared line by line."""
_IN_A_LINE = 52
"""Bytes of a binary content that a line of a patch holds."""
_LENGTHS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
"""By which letter a line begins that holds one byte, two bytes and so on."""
_QUOTED = {"\n": "\\n", "\t": "\\t", '"': '\\"', "\\": "\\\\"}


def patch_of(path: str, before: Version, after: Version, old: bytes, new: bytes) -> Iterator[str]:
    """Yield the lines of one file's patch; binary and large files are in it whole."""
    if before.mode and after.mode and before.mode & _KIND != after.mode & _KIND:
        # A file that becomes a link, or a link a file, is one that goes and one that comes.
        yield from patch_of(path, before, Version(), old=old, new=b"")
        yield from patch_of(path, Version(), after, old=b"", new=new)
        return
    old_name, new_name = _quoted(f"a/{path}"), _quoted(f"b/{path}")
    yield f"diff --git {old_name} {new_name}\n"
    if not before.mode:
        yield f"new file mode {after.mode:o}\n"
    elif not after.mode:
        yield f"deleted file mode {before.mode:o}\n"
    elif before.mode != after.mode:
        yield f"old mode {before.mode:o}\nnew mode {after.mode:o}\n"
    if old == new:
        return
    if b"\0" in old + new or len(old) + len(new) > _LONGEST:
        # Git takes a binary patch only with the ids of both sides.
        none = "0" * max(len(before.id), len(after.id))
        yield f"index {before.id or none}..{after.id or none}\n"
        yield "GIT binary patch\n"
        yield from _literal(new)
        yield from _literal(old)
        return
    names = old_name if before.mode else "/dev/null", new_name if after.mode else "/dev/null"
    for line in unified_diff(_lines(old), _lines(new), *names):
        # Git says where a last line has no end.
        yield line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n"


def _literal(data: bytes) -> Iterator[str]:
    """Yield a content as a binary patch has it: deflated, 52 bytes in a line, in base 85."""
    import zlib
    from base64 import b85encode

    yield f"literal {len(data)}\n"
    deflated = zlib.compress(data)
    for start in range(0, len(deflated), _IN_A_LINE):
        part = deflated[start : start + _IN_A_LINE]
        yield f"{_LENGTHS[len(part) - 1]}{b85encode(part, pad=True).decode()}\n"
    yield "\n"


def _lines(data: bytes) -> list[str]:
    text = data.decode("utf-8", "surrogateescape")
    return [f"{line}\n" for line in text.split("\n")[:-1]] + [t for t in text.split("\n")[-1:] if t]


def _quoted(path: str) -> str:
    if not any(c in _QUOTED or not c.isprintable() for c in path):
        return path
    parts = []
    for c in path:
        byte = c.encode("utf-8", "surrogateescape")
        plain = c.isprintable() and c not in _QUOTED
        parts.append(c if plain else _QUOTED.get(c) or "".join(f"\\{b:03o}" for b in byte))
    return f'"{"".join(parts)}"'
