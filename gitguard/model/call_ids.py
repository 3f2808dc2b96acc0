"""Ids for tool calls of hosts whose hooks give none."""

from __future__ import annotations

from gitguard.model.codec import encode_json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any


_SIZE = 6
"""Bytes of the digest of a call's parameters."""


def invented_id(name: str, parameters: Mapping[str, Any]) -> str:
    """Return the same id for a call's start, its end and the host's record of it.

    Two calls with the same tool and parameters have the same id.
    """
    # `hashlib` would cost a calm hook more to import than the rest of it.
    from _blake2 import blake2b

    data = encode_json(parameters).encode("utf-8", "replace")
    return f"{name}-{blake2b(data, digest_size=_SIZE).hexdigest()}"
