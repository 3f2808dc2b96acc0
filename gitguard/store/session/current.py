"""What is in force in a worktree: its configuration, its workspace, and the session it works at.

Parsing YAML costs twice a bare Python start. So the values of a configuration file are kept as JSON
beside its size and modification time: the user's in the state directory, where no repository can
reach; a repository's in its own folder, which is safe because a repository's values only tighten.
"""

from __future__ import annotations

import os

from gitguard.errors import (
    GitguardError,
    InvalidDocument,
    InvalidInput,
    NewerFormat,
    NotInitialised,
    NotReadable,
)
from gitguard.model import fields
from gitguard.model.codec import STATE_LIMIT, check_format, dump_json, load_json
from gitguard.model.config.config import (
    DEFAULTS,
    Config,
    check_config,
    loosening,
    parse_config,
    read_config,
    tighten,
)
from gitguard.model.record import Record
from gitguard.model.text import one_line, shorten
from gitguard.model.value import Value
from gitguard.store.disk import files
from gitguard.store.git.place import locate
from gitguard.store.session.host_session import FORMAT, SessionRecord, read_record
from gitguard.store.session.workspace import LIMIT, Session, Workspace, is_session_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from gitguard.store.session.workspace import UserDirs

_RACY = 2 * 10**9
"""Nanoseconds within which file systems may give two changes of a file the same time."""


_LARGEST = 1 << 14
"""Bytes of a repository's file; reading more of YAML would take a hook all the time it has."""


def open_workspace(
    root: str, places: UserDirs, clock: Callable[[], float], *, for_hook: bool = False
) -> tuple[Workspace, Config]:
    """Find the workspace that root lies in, and the configuration in force there.

    clock returns Unix seconds. Raises `NotARepository` and `InvalidConfig`. A hook is not kept from
    its work by a repository's file, which a clone may bring in broken: it gets a mark instead.
    """
    user = load_user_config(places.config_home, places.state_home)
    workspace = Workspace(locate(root), places, user.store.directory, clock)
    workspace.refuse_links()
    try:
        config = load_config(user, workspace.folder)
    except GitguardError as error:
        if not for_hook:
            raise
        workspace.note_fault("reading the repository's configuration", error)
        config = user
    if "redaction" in vars(config):  # a look at its defaults would import what they are made of
        from gitguard.model.config.redaction import redactor_of

        workspace.redactor = redactor_of(config.redaction)
    try:
        if not workspace.is_recorded:
            _find_record(workspace, config.store.ref_prefix)
    except GitguardError as error:
        if not for_hook:
            raise
        workspace.note_fault("looking for the repository's record", error)
    return workspace, config


def _find_record(workspace: Workspace, ref_prefix: str) -> None:
    """Find the record of a repository that was moved or copied to this path."""
    traces = (
        os.path.join(workspace.folder, "current"),
        os.path.join(workspace.place.common_dir, "gitguard", "identity"),
    )
    if any(map(os.path.lexists, traces)):
        from gitguard.store.session import moves

        moves.follow(workspace, ref_prefix)


def load_user_config(config_home: str, state_home: str) -> Config:
    """Read the user's `config.yaml` over the defaults."""
    path = os.path.join(config_home, "config.yaml")
    # People keep their settings elsewhere and link to them; only a repository's links are refused.
    document = _document(os.path.realpath(path), os.path.join(state_home, "config.json"))
    return DEFAULTS if document is None else read_config(document, what=f"`{path}`")


def load_config(user: Config, folder: str) -> Config:
    """Let a workspace's `config.yaml` tighten the user's configuration."""
    path = os.path.join(folder, "config.yaml")
    document = _document(path, _cache_in(folder), limit=_LARGEST) if os.path.lexists(path) else None
    if not document:
        return user
    allowed = _without(document, loosening(document))
    merged = parse_config(_overlay(user.to_document(), allowed), what=f"`{path}`")
    tightened = tighten(user, merged)
    check_config(tightened, what=f"`{path}`")
    return tightened


def ignored_settings(folder: str) -> tuple[str, ...]:
    """Name what a workspace's `config.yaml` says and only a user may say."""
    path = os.path.join(folder, "config.yaml")
    return loosening(_document(path, _cache_in(folder), limit=_LARGEST) or {})


def _cache_in(folder: str) -> str:
    """Return where a workspace's values are remembered, empty where git would see them."""
    hidden = os.path.exists(os.path.join(folder, ".gitignore"))
    return os.path.join(folder, "config.json") if hidden else ""


def _document(path: str, cache: str, *, limit: int = STATE_LIMIT) -> dict[str, Any] | None:
    try:
        status = os.stat(path)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise files.unreadable(path, error) from error
    signature = [status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino]
    cached = _cached(cache, status.st_ctime_ns)
    if cached is not None and cached.get("signature") == signature:
        values = cached.get("values")
        if isinstance(values, dict):
            return values
    from gitguard.model.codec import load_yaml

    data = files.read_bytes(path, limit=limit) or b""
    document = load_yaml(data, what=f"`{path}`", limit=limit)
    _remember(cache, {"format": 1, "signature": signature, "values": document})
    return document


def _cached(cache: str, changed: int) -> dict[str, Any] | None:
    """Return what was remembered, unless the file changed so soon before that nobody can tell."""
    try:
        if os.stat(cache).st_mtime_ns - changed < _RACY:
            return None
        data = files.read_bytes(cache, limit=STATE_LIMIT)
        return None if data is None else load_json(data, what="the configuration's cache")
    except (OSError, GitguardError):
        return None


def _remember(cache: str, document: dict[str, Any]) -> None:
    if not cache:
        return
    try:
        files.make_folder(os.path.dirname(cache))
        files.write_bytes(cache, dump_json(document))
    except (GitguardError, TypeError, ValueError):
        return  # without the cache the next hook only starts slower


def _without(document: dict[str, Any], names: tuple[str, ...]) -> dict[str, Any]:
    remaining = {name: value for name, value in document.items() if name not in names}
    for name in names:
        group, _, key = name.partition(".")
        if key and isinstance(remaining.get(group), dict):
            remaining[group] = {k: v for k, v in remaining[group].items() if k != key}
    return remaining


def _overlay(base: dict[str, Any], over: dict[str, Any]) -> dict[str, Any]:
    merged = dict(base)
    for name, value in over.items():
        below = merged.get(name)
        are_objects = isinstance(value, dict) and isinstance(below, dict)
        merged[name] = _overlay(below, value) if are_objects else value  # type: ignore[arg-type]
    return merged


_CHOSEN = "branch.json"


class CurrentSession(Value):
    """The session that a workspace works at."""

    session: Session
    record: SessionRecord | None = None
    """Its `session.json`, where looking up the key has read the whole of it; else none."""


def current_session(workspace: Workspace) -> Session:
    """Return the session that work in this workspace belongs to."""
    current = find_current(workspace)
    if current is None:
        raise NotInitialised(
            f"`{workspace.place.worktree}` has no gitguard session",
            "Run `gitguard ensure`, or `gitguard init` to set up a host as well",
        )
    return current.session


def find_current(workspace: Workspace) -> CurrentSession | None:
    """Return the session that work in this workspace belongs to, none where there is none.

    Every hook starts with this, so it hands on the record that it had to read for the key.
    """
    if workspace.places.session:
        return CurrentSession(Session.of(workspace.places.session))
    name = current_name(workspace)
    if not name:
        return None
    # The session's key is looked up also where `session.json` is damaged or gone.
    session = Session(name, name)
    try:
        record = read_record(workspace, session)
    except NewerFormat:
        raise
    except InvalidDocument:
        record = SessionRecord(format=FORMAT, key=session.key)
    if record.owner:
        return CurrentSession(Session(record.key, name), record)
    # Only a record that was read from a sealed file names an owner. What stands in for a missing
    # or damaged one depends on the key, so it is not handed on.
    return CurrentSession(Session(read_owner(workspace, session).key or record.key, name))


def current_name(workspace: Workspace) -> str:
    """Return the name in `current`, or where that is gone what it said; empty without both."""
    data = files.read_bytes(os.path.join(workspace.folder, "current"), limit=4096)
    if data is None:
        from gitguard.store.session.anchor import CurrentFile

        return CurrentFile(workspace.state_folder, workspace.place.git_dir).read()
    name = data.decode("utf-8", "replace").strip()
    if name and not is_session_name(name):
        raise InvalidDocument(
            f"`{workspace.folder}/current` names the session `{shorten(one_line(name), 80)}`",
            "Run `gitguard session use KEY`",
        )
    return name


def use_session(workspace: Workspace, session: Session) -> None:
    """Make a session the current one."""
    path, line = os.path.join(workspace.folder, "current"), f"{session.name}\n".encode()
    if files.read_bytes(path, limit=4096) != line:
        files.write_bytes(path, line)
    from gitguard.store.session.anchor import CurrentFile

    CurrentFile(workspace.state_folder, workspace.place.git_dir).write(session.name)


def leave_session(workspace: Workspace) -> None:
    """Work at no session from now on."""
    from gitguard.store.session.anchor import CurrentFile

    CurrentFile(workspace.state_folder, workspace.place.git_dir).forget()
    files.remove(os.path.join(workspace.folder, "current"))


class ChosenBranch(Record):
    """`branch.json`: the branch on which a worktree's current session was chosen.

    As long as that branch is checked out, the choice stands.
    """

    session: str = fields.text("The session's name; the file counts for no other.", default="")
    branch: str = fields.text("The branch, or the commit of a detached HEAD.", default="")
    refused: str = fields.text(
        "A branch whose session could not be used, as the agent was told.", default=""
    )


def chosen_branch(workspace: Workspace, session: Session) -> ChosenBranch | None:
    """Return on which branch a session was chosen; None where nothing that reads tells."""
    path = os.path.join(workspace.folder, _CHOSEN)
    try:
        data = files.read_bytes(path, limit=LIMIT)
        document = load_json(data or b"{}", what=f"`{path}`", limit=LIMIT)
        chosen = ChosenBranch.from_document(document)
    except (InvalidDocument, InvalidInput, NotReadable):
        return None
    return chosen if chosen.session == session.name else None


def choose_branch(workspace: Workspace, chosen: ChosenBranch) -> None:
    """Note on which branch a session is chosen.

    It is written before the session becomes the current one: after a crash in between it names
    another session than the current one, and does not count.
    """
    # Anybody names branches; one whose name holds a secret is followed by no session.
    clean, _ = workspace.redactor.document(chosen.to_document())
    document = {"format": FORMAT, **clean}
    files.write_bytes(os.path.join(workspace.folder, _CHOSEN), dump_json(document))


class Owner(Record):
    """The worktree that works at a session."""

    git_dir: str = fields.text("The git directory of the worktree.", default="")
    key: str = fields.text("The session's key as it was given.", default="")


def read_owner(workspace: Workspace, session: Session) -> Owner:
    """Return which worktree owns a session, an empty one if none does."""
    path = _owner_path(workspace, session)
    data = files.read_bytes(path, limit=LIMIT)
    if data is None:
        return Owner()
    try:
        document = load_json(data, what="the session's owner", limit=LIMIT)
        check_format(document, FORMAT, what=f"`{path}`")
        del document["format"]
        return Owner.from_document(document)
    except NewerFormat:
        raise
    except (InvalidDocument, InvalidInput):
        return Owner()


def own_session(workspace: Workspace, session: Session) -> None:
    """Make the worktree the owner of a session that no other one owns."""
    git_dir = workspace.place.git_dir
    owner = Owner(git_dir=git_dir, key=session.key)
    before = read_owner(workspace, session)
    path = _owner_path(workspace, session)
    may_own = before.git_dir in ("", git_dir) and files.is_writable(os.path.dirname(path))
    if may_own and before != owner:
        files.make_folder(os.path.dirname(path))
        files.write_bytes(path, dump_json({**owner.to_document(), "format": FORMAT}))


def _owner_path(workspace: Workspace, session: Session) -> str:
    return os.path.join(workspace.anchor_folder(session), "owner.json")
