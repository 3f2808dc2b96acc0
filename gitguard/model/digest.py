"""Digests by the C functions that `hashlib` is made of.

`hashlib` loads OpenSSL, which costs a hook more than all it has to digest.
"""

from __future__ import annotations

try:
    from _sha2 import sha256 as _sha256  # type: ignore[import-not-found]
except ImportError:
    try:
        from _sha256 import sha256 as _sha256  # type: ignore[import-not-found]
    except ImportError:
        from hashlib import sha256 as _sha256


def sha256(data: bytes) -> str:
    """Return the SHA-256 of data in hexadecimal digits."""
    return str(_sha256(data).hexdigest())


def sha1(*parts: bytes) -> str:
    """Return the SHA-1 of all parts, one after the other, in hexadecimal digits."""
    # Imported only now: a calm hook hashes nothing for git.
    try:
        from _sha1 import sha1 as new_sha1  # type: ignore[import-not-found]
    except ImportError:
        from hashlib import sha1 as new_sha1
    digest = new_sha1()
    for part in parts:
        digest.update(part)
    return str(digest.hexdigest())
