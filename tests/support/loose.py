"""Loose objects: their names, and a repository that seems to have many."""

from __future__ import annotations

from pathlib import Path


def loose(root: Path) -> set[str]:
    """Return the ids of all loose objects of a repository."""
    folders = (root / ".git" / "objects").glob("[0-9a-f][0-9a-f]")
    return {folder.name + file.name for folder in folders for file in folder.iterdir()}


def seem_many(root: Path) -> None:
    """Let a repository seem to have 5,000: git estimates by one folder, and so does gitguard."""
    sample = root / ".git" / "objects" / "17"
    sample.mkdir(exist_ok=True)
    for number in range(20):
        (sample / f"{number:038x}").write_bytes(b"")
