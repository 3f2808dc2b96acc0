"""Finds what this machine knows of a repository that was moved or copied to another path.

A *move* is: the record carries the repository's identity or names the very same folder, nothing of
it is left at the old path, and a commit that the record is anchored at is here. Everything else
that the path leads to is held against the anchor as ever. Where the old path still has it, this is
a *copy*, which gets an identity and anchors of its own, at the commits that both are at.
"""

from __future__ import annotations

import os
from contextlib import ExitStack

from gitguard.errors import GitguardError, NotWritable
from gitguard.model.codec import dump_json, load_json
from gitguard.model.value import Value
from gitguard.store.disk import files
from gitguard.store.disk.lock import Lock
from gitguard.store.git.place import git_dirs_of
from gitguard.store.session import identity
from gitguard.store.session.anchor import AnchorFile, CurrentFile, identity_of
from gitguard.store.session.identity import RepositoryRecord
from gitguard.store.session.workspace import is_session_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

    from gitguard.store.git.reader import ObjectReader
    from gitguard.store.session.anchor import Anchor
    from gitguard.store.session.workspace import Workspace

_LOCK_TIMEOUT = 5.0
_LIMIT = 64 << 20


class Candidate(Value):
    """A folder of the state directory that may belong to the repository."""

    folder: str
    record: RepositoryRecord

    @property
    def is_there(self) -> bool:
        """Whether the repository still lies where the record says."""
        try:
            return identity.identity_in(self.record.path) == self.record.identity
        except (GitguardError, OSError):
            return False


def follow(workspace: Workspace, ref_prefix: str) -> None:
    """Take over the record of the repository, if it was moved or copied here from another path.

    The path comes first: where anchors are known for it, nothing is looked for.
    """
    if anchored_sessions(workspace.state_folder):
        return
    try:
        candidates = list(_candidates(workspace))
        # Moves come before copies: a record whose repository lies nowhere else has only us.
        moved = [candidate for candidate in candidates if not _is_elsewhere(candidate, workspace)]
        for candidate in moved:
            if _leads_here(candidate, workspace):
                _move(workspace, candidate)
                return
        for candidate in candidates:
            if candidate not in moved:
                _copy(workspace, candidate, ref_prefix)
                return
    except NotWritable as error:
        if not files.is_refusal(error):
            raise  # a sandbox: the next run that can write does it


def anchored_sessions(folder: str) -> list[str]:
    """Return the sessions that have an anchor in a repository's folder."""
    names = filter(is_session_name, files.names_in(folder))
    return sorted(n for n in names if AnchorFile(os.path.join(folder, n)).is_there)


def anchors_in(folder: str) -> dict[str, Anchor]:
    """Return the anchors in a repository's folder by session, without those that cannot be read."""
    anchors = {}
    for name in anchored_sessions(folder):
        try:
            anchor = AnchorFile(os.path.join(folder, name)).read()
        except GitguardError:
            continue
        if anchor is not None:
            anchors[name] = anchor
    return anchors


def _candidates(workspace: Workspace) -> Iterator[Candidate]:
    """Yield what this machine knows of the repository by its identity or as the same folder."""
    common_dir = workspace.place.common_dir
    folder_identity, carried = identity_of(common_dir), identity.carried(common_dir)
    for folder in identity.folders_in(workspace.places.state_home):
        if folder == workspace.state_folder:
            continue
        try:
            record = identity.read_record(folder)
        except GitguardError:
            continue  # whoever works there says so
        if record is None:
            continue
        is_same_folder = folder_identity.born and record.place == folder_identity
        if is_same_folder or (carried and record.identity == carried):
            yield Candidate(folder, record)


def _is_elsewhere(candidate: Candidate, workspace: Workspace) -> bool:
    """Say whether the repository also lies at its old path, as another folder than here."""
    if not candidate.is_there:
        return False
    try:
        return not os.path.samefile(candidate.record.path, workspace.place.common_dir)
    except OSError:
        return False


def _leads_here(candidate: Candidate, workspace: Workspace) -> bool:
    """Say whether a commit that the record is anchored at is in the repository."""
    commits = [a.committed for a in anchors_in(candidate.folder).values() if a.committed]
    if not commits:
        return candidate.record.place == identity_of(workspace.place.common_dir)
    with _reader(workspace) as reader:
        return any(reader.exists(commit) for commit in commits)


def _reader(workspace: Workspace) -> ObjectReader:
    return workspace.repository().reader()


# Moved


def _move(workspace: Workspace, candidate: Candidate) -> None:
    """Let the record follow the repository; the rename at the end is what counts."""
    folder, target = candidate.folder, workspace.state_folder
    with _locks(workspace.place.common_dir, anchored_sessions(folder), workspace):
        if anchored_sessions(target) or not os.path.isdir(folder):
            return  # somebody else was faster
        # Everything is rewritten where it lies. A crash on the way leaves the folder under its
        # old name, and the next run finds it again and does the rest.
        _relocate(workspace, candidate, folder, candidate.record.identity)
        _relocate_shared(workspace, candidate.record)
        record = _record_here(workspace, candidate.record.identity, candidate.record)
        record = record.replace(unsaid=_moved_text(candidate.record, workspace))
        identity.write_record(folder, record)
        workspace.at_step("record-relocated")
        _rename(folder, target, workspace)
        workspace.at_step("record-moved")
    workspace.forget_seal()


def _moved_text(record: RepositoryRecord, workspace: Workspace) -> str:
    old, new = record.worktree or record.path or "another path", workspace.place.worktree
    return f"the repository was moved from `{old}` to `{new}`; its sessions continue"


def _record_here(
    workspace: Workspace, repository_id: str, before: RepositoryRecord
) -> RepositoryRecord:
    common_dir, root = workspace.place.common_dir, _main_worktree(workspace, before)
    return RepositoryRecord(repository_id, common_dir, root, place=identity_of(common_dir))


def _main_worktree(workspace: Workspace, before: RepositoryRecord) -> str:
    """Return the root of the main worktree, empty where it cannot be told from a linked one."""
    place = workspace.place
    if place.git_dir == place.common_dir:
        return place.worktree
    beside = before.worktree == os.path.dirname(before.path)
    return os.path.dirname(place.common_dir) if beside else ""


def _locks(common_dir: str, sessions: list[str], workspace: Workspace) -> ExitStack:
    """Return the held locks of sessions, in one order for everybody."""
    stack = ExitStack()
    for name in sessions:
        path = os.path.join(common_dir, "gitguard", f"{name}.lock")
        stack.enter_context(Lock(path, timeout=_LOCK_TIMEOUT, clock=workspace.clock))
    return stack


def _rename(folder: str, target: str, workspace: Workspace) -> None:
    try:
        if os.path.lexists(target):  # what was kept before anything was known of the repository
            files.rename(target, files.free_name(f"{target}.{workspace.clock():.0f}"))
        files.rename(folder, target)
    except OSError as error:
        raise files.refused(target, error) from error


# What paths a record holds


def _relocate(workspace: Workspace, candidate: Candidate, folder: str, repository_id: str) -> None:
    """Write the new paths into a record's files; done twice, nothing more is changed."""
    place, paths = workspace.place, _moved_paths(workspace, candidate.record)
    for path in _documents(folder):
        _relocate_file(path, paths)
    for name, anchor in anchors_in(folder).items():
        moved = anchor.replace(identity=identity_of(place.common_dir), repository=repository_id)
        AnchorFile(os.path.join(folder, name)).write(moved)
    _relocate_current(folder, candidate.record.path, place.common_dir)


def _moved_paths(workspace: Workspace, record: RepositoryRecord) -> dict[str, str]:
    """Return the folders that moved: old path and new."""
    root, common_dir = _main_worktree(workspace, record), workspace.place.common_dir
    moved = {record.worktree: root, record.path: common_dir}
    return {old: new for old, new in moved.items() if old and new and old != new}


def _relocate_shared(workspace: Workspace, record: RepositoryRecord) -> None:
    """Write the new paths into what all repositories share: installations, changed settings."""
    home, paths = workspace.places.state_home, _moved_paths(workspace, record)
    with ExitStack() as locks:
        for name in ("_install.lock", "_settings.lock"):
            path = os.path.join(home, name)
            locks.enter_context(Lock(path, timeout=_LOCK_TIMEOUT, clock=workspace.clock))
        for name in files.names_in(home):
            if name.startswith("_") and name.endswith(".json"):
                _relocate_file(os.path.join(home, name), paths)


def _documents(folder: str) -> Iterator[str]:
    for parent, _, names in os.walk(folder):
        for name in names:
            current = name.startswith("_current-")
            if name.endswith(".json") and not current and name != identity.RECORD:
                yield os.path.join(parent, name)


def _relocate_file(path: str, paths: Mapping[str, str]) -> None:
    try:
        data = files.read_bytes(path, limit=_LIMIT)
        document = load_json(data or b"{}", what=f"`{path}`", limit=_LIMIT)
    except GitguardError:
        return  # whoever reads it says so
    relocated = relocate(document, paths)
    if relocated != document:
        files.write_bytes(path, dump_json(relocated))


def relocate(value: Any, paths: Mapping[str, str]) -> Any:
    """Return a document in which paths below old folders are below the new ones, keys as well."""
    if isinstance(value, dict):
        return {relocate(key, paths): relocate(item, paths) for key, item in value.items()}
    if isinstance(value, list):
        return [relocate(item, paths) for item in value]
    if not isinstance(value, str):
        return value
    for old in sorted(paths, key=len, reverse=True):
        if value == old or value.startswith(old + os.sep):
            return paths[old] + value[len(old) :]
    return value


def _relocate_current(folder: str, old_common: str, common_dir: str) -> None:
    """Let each worktree's current session be known by the worktree's new git directory."""
    for git_dir in git_dirs_of(common_dir):
        old = old_common + git_dir[len(common_dir) :]
        before, after = CurrentFile(folder, old), CurrentFile(folder, git_dir)
        current = before.recorded()
        if current is not None and old_common:
            after.write(current.name)
            if old != git_dir:
                before.forget()


# Copied


def _copy(workspace: Workspace, candidate: Candidate, ref_prefix: str) -> None:
    """Give a copy an identity, and anchors of its own where its heads are the anchored ones."""
    target, record = workspace.state_folder, candidate.record
    temporary = f"{target}.{os.getpid()}.copy"
    with _locks(workspace.place.common_dir, anchored_sessions(candidate.folder), workspace):
        if anchored_sessions(target):
            return
        with _locks(record.path, _locked_before(candidate), workspace):
            identity.copy_folder(candidate.folder, temporary)
        files.remove(os.path.join(temporary, "faults.jsonl"))
        from gitguard.store.session.lanes import WRITER  # repositories are seldom copied

        for name in files.names_in(temporary):
            if name.startswith(WRITER):  # the original goes on under its id
                files.remove(os.path.join(temporary, name))
        if not _keep_same_heads(workspace, temporary, ref_prefix):
            identity.remove_folder(temporary)  # a stranger, or a copy of an older state
            return
        new_record = _record_here(workspace, identity.new_identity(), record).replace(
            copied_from=record.identity, unsaid=_copied_text(record)
        )
        _relocate(workspace, candidate, temporary, new_record.identity)
        identity.write_record(temporary, new_record)
        _rename(temporary, target, workspace)
        workspace.at_step("record-copied")
        # Last, because until then it still carries the original's identity, which the record
        # allows as the one that it was copied from.
        identity.write_identity(workspace.place.common_dir, new_record.identity)
        workspace.at_step("identity-written")
    workspace.forget_seal()


def _locked_before(candidate: Candidate) -> list[str]:
    """Return the sessions whose locks are there: nothing is written into the other repository."""
    folder = os.path.join(candidate.record.path, "gitguard")
    names = anchored_sessions(candidate.folder)
    return [name for name in names if os.path.exists(os.path.join(folder, f"{name}.lock"))]


def _copied_text(record: RepositoryRecord) -> str:
    return (
        f"this is a copy of the repository in `{record.worktree or record.path}`; from now on each "
        "goes its own way"
    )


def _keep_same_heads(workspace: Workspace, folder: str, ref_prefix: str) -> bool:
    """Drop the anchors and states of sessions whose heads here are not the anchored ones.

    Returns whether any is left.
    """
    refs = workspace.repository().refs(ref_prefix.rstrip("/"))
    anchors: dict[str, Anchor | None] = dict(anchors_in(folder))
    for name in anchored_sessions(folder):
        anchor, ref = anchors.get(name), refs.get(ref_prefix + name)
        heads = {anchor.committed, anchor.pending} if anchor else set()
        if ref is None or ref.points_to or ref.id not in heads - {""}:
            AnchorFile(os.path.join(folder, name)).forget()
    return bool(anchored_sessions(folder))
