"""Changing a transcript's file: repair, and lines that go, come or are replaced."""
