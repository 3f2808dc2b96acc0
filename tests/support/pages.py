"""Runs the commands of a page, and compares what they print."""

from __future__ import annotations

from pathlib import Path

from tests.support.scratch import console_blocks, is_as_promised, shell


def check_console(page: Path, root: Path, home: Path) -> None:
    blocks = console_blocks(page)
    assert blocks
    for command, promised in blocks:
        seen = shell(command, root, home)
        assert is_as_promised(promised, seen), f"$ {command}\n{seen}\n-- promised --\n{promised}"
