"""The pages that people read, and what each of them is held to."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from tests.support.scratch import console_blocks, is_as_promised, shell

ROOT = Path(__file__).parents[2]
PAGES = sorted(
    [
        ROOT / "README.md",
        ROOT / "CHANGELOG.md",
        ROOT / "CONTRIBUTING.md",
        ROOT / "SECURITY.md",
        ROOT / "templates" / "SKILL.md",
        ROOT / "templates" / "instructions.md",
        *(ROOT / "references").rglob("*.md"),
    ]
)


def on_every(paths: list[Path]) -> Callable[[Callable[[Path], None]], Callable[[], None]]:
    """Let one test look at each file; its failure names all those that fail, and why."""

    def to_one_test(look_at: Callable[[Path], None]) -> Callable[[], None]:
        def test() -> None:
            failures = []
            for path in paths:
                try:
                    look_at(path)
                except AssertionError as error:
                    failures.append(f"{path.relative_to(ROOT)}: {error}")
            assert not failures, "\n".join(failures)

        return test

    return to_one_test


def check_console(page: Path, root: Path, home: Path) -> None:
    """Run the commands of a page, and compare what they print."""
    blocks = console_blocks(page)
    assert blocks
    for command, promised in blocks:
        seen = shell(command, root, home)
        assert is_as_promised(promised, seen), f"$ {command}\n{seen}\n-- promised --\n{promised}"
