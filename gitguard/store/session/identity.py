"""Which repository a folder in the state directory belongs to, wherever that repository lies.

A repository carries a random identity in its common git directory. The state directory keeps the
same identity in a record beside the anchors, with the path as a hint. The record decides: whoever
can write in the repository can change the file, and the anchor stays in force all the same.
"""

from __future__ import annotations

import os

from gitguard.errors import GitguardError, InvalidDocument, NewerFormat, NotReadable, Tampered
from gitguard.model import fields
from gitguard.model.codec import dump_json
from gitguard.model.record import Record
from gitguard.store.disk import files
from gitguard.store.session.anchor import FORMAT, Identity, identity_of, load_record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from gitguard.store.session.workspace import Workspace

RECORD = "_repository.json"
"""The record's name in a repository's folder; the names of sessions never begin with `_`."""
_BYTES = 16
_LIMIT = 4096
_FOLDER_NAME = 16
"""Hexadecimal digits of a folder's name, which comes from the common git directory's path."""


class RepositoryRecord(Record):
    """What the state directory knows of one repository."""

    identity: str = fields.text("The identity in the common git directory.")
    path: str = fields.text("The common git directory.")
    worktree: str = fields.text(
        "The root of its main worktree, empty where it has none.", default=""
    )
    place: Identity | None = fields.record(
        "The common git directory, as the system knows it.", of=Identity, default=None
    )
    copied_from: str = fields.text(
        "The identity of the repository that this is a copy of.", default=""
    )
    unsaid: str = fields.text("A sentence that no person has read yet.", default="")


def file_of(common_dir: str) -> str:
    """Return the path of a repository's identity."""
    return os.path.join(common_dir, "gitguard", "identity")


def identity_in(common_dir: str) -> str:
    """Return a repository's identity, empty where it has none; raise where that cannot be read."""
    data = files.read_bytes(file_of(common_dir), limit=_LIMIT)
    if data is None:
        return ""
    identity = data.decode("ascii", "replace").strip()
    if not is_identity(identity):
        raise InvalidDocument(f"`{file_of(common_dir)}` holds no identity of ours")
    return identity


def is_identity(text: str) -> bool:
    """Say whether a text is one that `new_identity` makes."""
    return _is_hexadecimal(text, 2 * _BYTES)


def new_identity() -> str:
    """Return an identity that no other repository has."""
    return os.urandom(_BYTES).hex()


def read_record(folder: str) -> RepositoryRecord | None:
    """Return the record in a folder of the state directory, None where there is none.

    One that is damaged is as good as none: the path leads to the anchors as well.
    """
    try:
        record = load_record(os.path.join(folder, RECORD), "the record", RepositoryRecord)
    except (NewerFormat, NotReadable):
        raise
    except InvalidDocument:
        return None
    return record if record is not None and is_identity(record.identity) else None


def write_record(folder: str, record: RepositoryRecord) -> None:
    """Replace a folder's record, durable."""
    files.make_folder(folder)
    document = {"format": FORMAT, **record.to_document()}
    files.write_bytes(os.path.join(folder, RECORD), dump_json(document))


def write_identity(common_dir: str, identity: str) -> None:
    """Put the identity into a repository, durable."""
    path = file_of(common_dir)
    files.make_folder(os.path.dirname(path))
    # Where users share a repository, each of them knows it by this.
    files.write_bytes(path, f"{identity}\n".encode(), mode=0o644)


def folders_in(state_home: str) -> Iterator[str]:
    """Yield the folders of repositories in the state directory, those set aside as well."""
    for name in sorted(files.names_in(state_home)):
        folder, dot, aside = name.partition(".")
        if _is_hexadecimal(folder, _FOLDER_NAME) and (is_identity(aside) or not dot):
            yield os.path.join(state_home, name)


def _is_hexadecimal(text: str, length: int) -> bool:
    return len(text) == length and all(digit in "0123456789abcdef" for digit in text)


def establish(workspace: Workspace) -> str:
    """See to it that repository and state directory hold the same identity, and return it.

    The lock is held. Called before an anchor is written. An identity that was removed is put back.
    """
    common_dir, folder = workspace.place.common_dir, workspace.state_folder
    record, identity = read_record(folder), carried(common_dir)
    if record is None:
        # Without a record, what the repository carries is believed, unless another one of this
        # machine has it: then somebody planted it.
        needs_new = not identity or _is_taken(workspace, identity)
        record = RepositoryRecord(new_identity() if needs_new else identity, "")
    current = record.replace(path=common_dir, place=identity_of(common_dir))
    if workspace.place.git_dir == common_dir:
        current = current.replace(worktree=workspace.place.worktree)
    if identity != current.identity:
        refuse_changed(workspace)
        write_identity(common_dir, current.identity)
        workspace.at_step("identity-written")
    if current != record:
        write_record(folder, current)
        workspace.at_step("identity-recorded")
    return current.identity


def carried(common_dir: str) -> str:
    """Return a repository's identity, empty where it has none that reads."""
    try:
        return identity_in(common_dir)
    except NotReadable:
        raise
    except InvalidDocument:
        return ""


def _is_taken(workspace: Workspace, identity: str) -> bool:
    """Say whether another repository of this machine has an identity: somebody planted it here."""
    own_folder = workspace.state_folder
    others = (folder for folder in folders_in(workspace.places.state_home) if folder != own_folder)
    return any(record.identity == identity for record in _records(others))


def _records(folders: Iterator[str]) -> Iterator[RepositoryRecord]:
    for folder in folders:
        try:
            record = read_record(folder)
        except GitguardError:
            continue  # whoever works there says so
        if record is not None:
            yield record


def refuse_changed(workspace: Workspace) -> None:
    """Raise `Tampered` where somebody changed the identity or put something else in its place.

    One that is gone is no reason: it is put back when the next anchor is written.
    """
    record = read_record(workspace.state_folder)
    if record is None:
        return
    path = file_of(workspace.place.common_dir)
    try:
        identity = identity_in(workspace.place.common_dir)
        problem = f"`{path}` holds another identity than this machine wrote there"
    except NotReadable:
        raise
    except InvalidDocument as error:
        identity, problem = "-", error.message
    if identity not in ("", record.identity, record.copied_from or record.identity):
        raise Tampered(
            f"{problem}; the history is not used until it is put back",
            "Put it back with `gitguard repair --local`",
        )


def restore(workspace: Workspace) -> str:
    """Put an identity back that was changed or removed; say so, empty where nothing was to do."""
    record = read_record(workspace.state_folder)
    common_dir = workspace.place.common_dir
    if record is None or carried(common_dir) == record.identity:
        return ""
    bad_file = workspace.set_aside(file_of(common_dir))
    write_identity(common_dir, record.identity)
    where = f"; the old content is saved as `{bad_file}`" if bad_file else ""
    return f"put the repository's identity back{where}"


def set_aside(workspace: Workspace) -> None:
    """Keep all that is known of a repository whose place another one took; the lock is held.

    It may have been moved, and is found by its identity then.
    """
    record, folder = read_record(workspace.state_folder), workspace.state_folder
    if record is None:
        return
    aside = f"{folder}.{record.identity}"
    if not os.path.lexists(aside):
        copy_folder(folder, aside)
    files.remove(os.path.join(folder, RECORD))
    files.settle_folder(folder)


def copy_folder(folder: str, target: str) -> None:
    """Copy a folder of the state directory whole; until it is, it has a temporary's name."""
    import shutil

    temporary = f"{target}.{os.getpid()}.tmp"
    remove_folder(temporary)
    try:
        shutil.copytree(folder, temporary, symlinks=True)
        files.rename(temporary, target)
    except OSError as error:
        remove_folder(temporary)
        raise files.refused(target, error) from error


def remove_folder(folder: str) -> None:
    """Remove a folder of the state directory that did not come into force."""
    try:  # noqa: SIM105 - a calm hook loads this module, and not contextlib
        files.remove_tree(folder)
    except OSError:
        pass


def take_unsaid(workspace: Workspace) -> str:
    """Return the sentence that no person has read yet, and count it as read."""
    try:
        record = read_record(workspace.state_folder)
    except GitguardError:
        return ""  # whoever uses it says so
    if record is None or not record.unsaid:
        return ""
    try:
        write_record(workspace.state_folder, record.replace(unsaid=""))
    except GitguardError:
        return record.unsaid  # it is said again where that cannot be written down
    return record.unsaid
