"""`make dist`: builds wheel and sdist into `dist/`, and tries them in empty environments.

Each is installed and passes the demonstration. Then a newer version replaces the wheel while a
conversation is in a turn, and the conversation goes on. Nothing of this checkout is used for it.
"""

from __future__ import annotations

import contextlib
import io
import json
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import venv
from pathlib import Path

from tests import demo

ROOT = Path(__file__).parent.parent
DIST = ROOT / "dist"
NEXT = "99.0.0"


class Environment:
    """An environment of Python that has pip alone."""

    def __init__(self, folder: Path) -> None:
        """Make it."""
        venv.create(folder, with_pip=True)
        self.gitguard = str(folder / "bin" / "gitguard")
        self._python = str(folder / "bin" / "python")

    def install(self, package: Path) -> None:
        """Install a wheel or an sdist, with what it needs."""
        run([self._python, "-I", "-m", "pip", "install", "--quiet", str(package)])


def run(command: list[str]) -> None:
    """Run a program, which has to succeed."""
    done = subprocess.run(command, cwd="/", capture_output=True, text=True, check=False)
    if done.returncode:
        raise demo.Failed(f"{' '.join(command)} ended with {done.returncode}: {done.stderr}")


def build(source: Path, target: Path, *options: str) -> None:
    """Build what options name, by default both, with the pinned library of this environment."""
    tool = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(target), *options]
    run([*tool, str(source)])


def only(folder: Path, pattern: str) -> Path:
    """Return the one file that matches."""
    (path,) = folder.glob(pattern)
    return path


def newer(sdist: Path, folder: Path) -> Path:
    """Return a wheel of the same source with a higher version."""
    with tarfile.open(sdist) as archive:
        archive.extractall(folder, filter="data")
    source = only(folder, "gitguard_workspace-*")
    module = source / "gitguard" / "__init__.py"
    text = re.sub(r'(?m)^__version__ = ".*"$', f'__version__ = "{NEXT}"', module.read_text())
    module.write_text(text)
    (source / "PKG-INFO").unlink()  # it has the version that the sdist was built with
    build(source, folder, "--wheel")
    return only(folder, "*.whl")


def pass_the_demo(package: Path, folder: Path) -> None:
    """Play the demonstration with what an empty environment has of a package."""
    environment = Environment(folder)
    environment.install(package)
    output = io.StringIO()
    with contextlib.redirect_stdout(output):
        ended = demo.main(environment.gitguard)
    demo.check(
        ended == 0, f"{package.name}, installed alone, passes the demo{output.getvalue() * ended}"
    )


def upgrade_in_a_turn(wheel: Path, replacement: Path, folder: Path) -> None:
    """Replace the installation while a call runs; hooks, status and verify go on."""
    environment = Environment(folder / "environment")
    environment.install(wheel)
    stage = demo.Stage(folder, environment.gitguard)
    stage.run(stage.gitguard, "init", "--host", "claude-code")
    talk = demo.Conversation(stage, "65b2bad0-edbb-4ea2-8b60-da268310cce0")
    talk.hook("SessionStart.startup")
    talk.hook("UserPromptSubmit")
    talk.uses(60_000)
    talk.note("--decision", "No third-party logger", "--why", "The project has no dependencies")
    talk.hook("PreToolUse.Write")
    environment.install(replacement)
    demo.check(NEXT in stage.run(stage.gitguard, "--version"), "a newer version is installed")
    (stage.root / "hello.py").write_text("print('hi')\n")
    talk.hook("PostToolUse.Write")
    talk.note("--next", "Log what it prints")
    talk.hook("Stop")
    demo.check(stage.newest_trigger() == "turn-end", "the turn ends with a checkpoint")
    block = demo.context_of(talk.compacts(60_000, 2_000))
    words = ("No third-party logger", "Log what it prints", "hello.py")
    demo.check(all(text in block for text in words), "what both versions noted is handed back")
    status = json.loads(stage.run(stage.gitguard, "status", "--json"))
    demo.check(not status["faults"] and not status["warnings"], "status has no fault, no warning")
    stage.run(stage.gitguard, "verify", "--all")
    demo.check(True, "verify --all finds nothing")


def main() -> int:
    """Build and try; return the exit code."""
    shutil.rmtree(DIST, ignore_errors=True)
    try:
        build(ROOT, DIST)
        wheel, sdist = only(DIST, "*.whl"), only(DIST, "*.tar.gz")
        with tempfile.TemporaryDirectory(prefix="gitguard-dist-") as name:
            folder = Path(name).resolve()
            pass_the_demo(wheel, folder / "wheel")
            pass_the_demo(sdist, folder / "sdist")
            (folder / "upgrade").mkdir()
            upgrade_in_a_turn(wheel, newer(sdist, folder / "newer"), folder / "upgrade")
    except demo.Failed as failure:
        demo.say(f"\nFAILED: {failure}")
        return 1
    demo.say(f"\n{wheel.relative_to(ROOT)}\n{sdist.relative_to(ROOT)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
