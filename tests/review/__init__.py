"""Tests of what serves a reviewer."""
