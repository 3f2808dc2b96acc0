"""Seals on working files that are read back: who can only write in the repository cannot make them.

The key lies in the user's state directory. Where there is none, as in a sandbox that hides it,
nothing is sealed and nothing is held against a seal.
"""

from __future__ import annotations

import os

from gitguard.errors import InvalidDocument
from gitguard.store import files

_NAME = "_seal.key"
_KEY_SIZE = 32
_MAC_SIZE = 16
_OPENING, _CLOSING = b',"seal":"', b'"}'
_LENGTH = len(_OPENING) + 2 * _MAC_SIZE + len(_CLOSING)


class Seal:
    """Seals the JSON objects that one repository's working files hold."""

    def __init__(self, state_folder: str) -> None:
        """Use the repository's key, which is read when it is first needed."""
        self._path = os.path.join(state_folder, _NAME)
        self._known: bytes | None = None

    def make(self) -> None:
        """Make the key where there is none and one can be kept."""
        if self._known or os.path.exists(self._path):
            return
        folder = os.path.dirname(self._path)
        if files.is_writable(folder):
            files.make_folder(folder)
            files.create(self._path, os.urandom(_KEY_SIZE))

    @property
    def is_there(self) -> bool:
        """Whether there is a key to seal with."""
        return bool(self._key())

    def put_on(self, document: bytes, place: str) -> bytes:
        """Return a JSON object with a seal that holds for one place only."""
        key = self._key()
        if not key:
            return document
        body = document.rstrip()[:-1].rstrip()
        return body + _OPENING + _mac(key, place, body) + _CLOSING + b"\n"

    def holds(self, document: bytes, place: str) -> bool:
        """Say whether an object carries the seal of its place; without a key, any does."""
        key = self._key()
        if not key:
            return True
        document = document.rstrip()
        body, rest = document[:-_LENGTH], document[-_LENGTH:]
        return rest == _OPENING + _mac(key, place, body) + _CLOSING

    def _key(self) -> bytes:
        if not self._known:
            try:
                self._known = files.read_bytes(self._path, limit=_KEY_SIZE) or b""
            except InvalidDocument:
                self._known = b""
        return self._known if len(self._known) == _KEY_SIZE else b""


def _mac(key: bytes, place: str, body: bytes) -> bytes:
    # `hashlib` would cost every hook a library that has this function in it.
    from _blake2 import blake2b

    made = blake2b(place.encode() + b"\0", key=key, digest_size=_MAC_SIZE)
    made.update(body)
    return made.hexdigest().encode()
