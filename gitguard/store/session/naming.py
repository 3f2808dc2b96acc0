"""Session keys and the names they get on disk and in refs.

A key may be anything a host or a branch is called; its name has to be safe as a folder, as a ref
component and in a terminal, and two keys must never share one.
"""

from __future__ import annotations

from gitguard.errors import InvalidInput
from gitguard.model.text import encodable
from gitguard.model.value import Value

_HEX = frozenset("0123456789abcdef")
_ENDS = frozenset("abcdefghijklmnopqrstuvwxyz0123456789")
_LETTERS = _ENDS | frozenset("._-")
_LONGEST = 64
_DEVICES = {"con", "prn", "aux", "nul"} | {f"{d}{n}" for d in ("com", "lpt") for n in range(1, 10)}
_KEY_LIMIT = 1024
_ARCHIVE = "archive"
"""With the prefix `refs/gitguard/` the archive of old heads lies beside the sessions."""


class Session(Value):
    """One line of work: the key as it was given, and its name in refs and folders."""

    key: str
    name: str

    @classmethod
    def of(cls, key: str) -> Session:
        """Name the session of a key (references/design/formats.md, "Branch and commits")."""
        key = encodable(key)
        if not key or len(key) > _KEY_LIMIT:
            raise InvalidInput(
                f"the session key has {len(key)} characters; it needs 1 to {_KEY_LIMIT}"
            )
        return cls(key, key if _is_plain(key) else _slug(key))

    def is_known_as(self, key: str) -> bool:
        """Say whether a key is this session's; of one known by its name only, whether it fits."""
        return key == self.key or (self.key == self.name and _fits(key, self.name))


def _fits(key: str, name: str) -> bool:
    try:
        return Session.of(key).name == name
    except InvalidInput:
        return False


def _is_plain(key: str) -> bool:
    return (
        is_session_name(key)
        and key.split(".")[0] not in _DEVICES
        and key != _ARCHIVE
        and not (key[-9:-8] == "-" and _HEX.issuperset(key[-8:]))
    )


def _slug(key: str) -> str:
    from gitguard.model.digest import sha256

    digest = sha256(key.encode("utf-8", "surrogatepass"))[:8]
    letters = "".join(c if c in _ENDS or c == "-" else "_" for c in key.lower())
    stem = letters.strip("-_")[:48] or "session"
    return f"{stem}-{digest}"


def is_session_name(name: str) -> bool:
    """Say whether a folder or ref component can be a session's name."""
    return (
        0 < len(name) <= _LONGEST
        and _LETTERS.issuperset(name)
        and name[0] in _ENDS
        and name[-1] in _ENDS
        and ".." not in name
        and not name.endswith(".lock")
    )
