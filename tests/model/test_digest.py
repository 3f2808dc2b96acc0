"""Digests are those of `hashlib`, whichever functions compute them."""

from __future__ import annotations

import hashlib

from hypothesis import given
from hypothesis import strategies as st

from gitguard.model.codec import sha256
from gitguard.store.git.objects import digest


@given(st.lists(st.binary(max_size=200), max_size=3))
def test_digests_are_those_of_hashlib(parts: list[bytes]) -> None:
    whole = b"".join(parts)
    assert sha256(whole) == hashlib.sha256(whole).hexdigest()
    assert digest(40, *parts) == hashlib.sha1(whole, usedforsecurity=False).hexdigest()
    assert digest(64, *parts) == sha256(whole)
