"""Fixtures of the tests of what serves a reviewer."""

from tests.support.session_branches import elsewhere

__all__ = ["elsewhere"]
