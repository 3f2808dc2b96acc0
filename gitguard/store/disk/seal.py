"""Seals on working files that are read back: who can only write in the repository cannot make them.

The key lies in the user's state directory. Where there is none, as in a sandbox that hides it,
nothing is sealed and nothing is held against a seal.
"""

from __future__ import annotations

import os

from gitguard.errors import InvalidDocument, NotReadable
from gitguard.model.codec import load_json
from gitguard.store.disk import files

_NAME = "_seal.key"
_KEY_SIZE = 32
_MAC_SIZE = 16
_OPENING, _CLOSING = b',"seal":"', b'"}'
_WAY_OUT = (
    "Remove it: gitguard then makes another, and does not use the working files sealed before"
)
_LENGTH = len(_OPENING) + 2 * _MAC_SIZE + len(_CLOSING)


class Seal:
    """Seals the JSON objects that one repository's working files hold."""

    def __init__(self, state_folder: str) -> None:
        """Use the repository's key, which is read when it is first needed."""
        self._path = os.path.join(state_folder, _NAME)
        self._key_read: bytes | None = None

    def make(self) -> bool:
        """Make the key where there is none and one can be kept; say whether it was made now."""
        folder = os.path.dirname(self._path)
        if self._key_read or os.path.lexists(self._path) or not files.is_writable(folder):
            return False
        files.make_folder(folder)
        key = os.urandom(_KEY_SIZE)
        # Two processes may get here at once: the file is only created, never replaced, and both
        # go on with the key that stands there afterwards.
        files.create(self._path, key)
        return self._key() == key

    def check(self) -> None:
        """Raise `InvalidDocument` where the key is damaged."""
        self._key()

    @property
    def is_there(self) -> bool:
        """Whether there is a key to seal with."""
        return bool(self._key())

    def put_on(self, document: bytes, place: str) -> bytes:
        """Return a JSON object with a seal that holds for one place only."""
        key = self._key()
        if not key:
            return document
        # The seal is the object's last member, so that what it covers is a beginning of the bytes
        # as they lie there: checking it needs no parser, and no agreement on how JSON is written.
        body = document.rstrip()[:-1].rstrip()
        return body + _OPENING + _mac(key, place, body) + _CLOSING + b"\n"

    def put_on_file(self, path: str, place: str, *, limit: int) -> None:
        """Seal an object that was written before there was a key; what has a seal keeps it."""
        try:
            data = files.read_bytes(path, limit=limit)
            document = {} if data is None else load_json(data, what=f"`{path}`", limit=limit)
        except InvalidDocument:
            return  # whoever reads it says so
        if data and document and "seal" not in document:
            files.write_bytes(path, self.put_on(data, place))

    def holds(self, document: bytes, place: str) -> bool:
        """Say whether an object carries the seal of its place; without a key, any does."""
        key = self._key()
        if not key:
            return True
        document = document.rstrip()
        body, ending = document[:-_LENGTH], document[-_LENGTH:]
        return ending == _OPENING + _mac(key, place, body) + _CLOSING

    def mark(self, text: str) -> str:
        """Return what tells a text from others and does not give it away; empty without a key."""
        key = self._key()
        return _mac(key, "text", text.encode("utf-8", "surrogatepass")).decode() if key else ""

    def _key(self) -> bytes:
        """Return the key, empty only where there is none; a damaged one vouches for nothing."""
        if self._key_read:  # one that is missing is looked for again: it may be made meanwhile
            return self._key_read
        try:
            key = files.read_bytes(self._path, limit=_KEY_SIZE)
        except InvalidDocument as error:
            if not os.path.lexists(self._path):
                return b""  # some sandboxes hide a folder by closing it
            if isinstance(error, NotReadable):
                raise
            raise InvalidDocument(error.message, _WAY_OUT) from error
        if key is not None and len(key) != _KEY_SIZE:
            raise InvalidDocument(
                f"the key of the seals `{self._path}` is damaged: it has {len(key)} bytes", _WAY_OUT
            )
        self._key_read = key or b""
        return self._key_read


def _mac(key: bytes, place: str, body: bytes) -> bytes:
    # `hashlib` would cost every hook a library that has this function in it.
    from _blake2 import blake2b

    # The place is part of what is sealed, or a sealed file of one session would be good in another.
    mac = blake2b(place.encode() + b"\0", key=key, digest_size=_MAC_SIZE)
    mac.update(body)
    return mac.hexdigest().encode()
