"""Tests of gitguard; run them with `make test`."""
