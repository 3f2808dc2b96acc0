"""Ids for tool calls of hosts whose hooks give none."""

from __future__ import annotations

from zlib import crc32

from gitguard.model.codec import encode_json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any


def invented_id(name: str, parameters: Mapping[str, Any]) -> str:
    """Return the same id for a call's start, its end and the host's record of it.

    Two calls with the same tool and parameters have the same id.
    """
    return f"{name}-{crc32(encode_json(parameters).encode('utf-8', 'replace')):08x}"
