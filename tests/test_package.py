"""What is shipped works: wheel and sdist carry the templates, and run without the checkout."""

from __future__ import annotations

import subprocess
import sys
import tarfile
import tomllib
import venv
import zipfile
from pathlib import Path

import pytest

import gitguard
from tests.support.scratch import environment, make_repository

ROOT = Path(__file__).parent.parent
TEMPLATES = {
    path.relative_to(ROOT).as_posix() for path in (ROOT / "templates").rglob("*") if path.is_file()
}


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build both, offline, with the build library of this environment."""
    folder = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "hatchling", "build", "--directory", str(folder)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return folder


def only(folder: Path, pattern: str) -> Path:
    (found,) = folder.glob(pattern)
    return found


def test_the_wheel_holds_package_and_templates(built: Path) -> None:
    with zipfile.ZipFile(only(built, "*.whl")) as wheel:
        names = set(wheel.namelist())
    assert TEMPLATES
    assert {f"gitguard/{name}" for name in TEMPLATES} <= names
    assert {"gitguard/guard/__init__.py", "gitguard/py.typed"} <= names
    assert not [name for name in names if name.startswith("tests/")]


def test_the_sdist_holds_what_the_tests_need(built: Path) -> None:
    with tarfile.open(only(built, "*.tar.gz")) as sdist:
        names = {name.partition("/")[2] for name in sdist.getnames()}
    wanted = {"README.md", "CHANGELOG.md", "LICENSE", "Makefile", "pyproject.toml"}
    wanted |= {"references/reference/commands.md", "tests/test_package.py"}
    assert wanted | TEMPLATES <= names


def test_the_wheel_runs_in_an_environment_of_its_own(built: Path, tmp_path: Path) -> None:
    root, home = tmp_path / "repo", tmp_path / "home"
    make_repository(root, home)
    venv.create(tmp_path / "venv", with_pip=False)
    python = tmp_path / "venv" / "bin" / "python"
    site = next((tmp_path / "venv").glob("lib/python*/site-packages"))
    with zipfile.ZipFile(only(built, "*.whl")) as wheel:
        wheel.extractall(site)
    # Its dependencies come from this environment, but not this checkout, which is a .pth file.
    dependencies = Path(gitguard_dependency()).parent.parent
    command = f"import sys; sys.path.append({str(dependencies)!r}); "
    command += "import gitguard; assert gitguard.__file__.startswith(sys.prefix), gitguard; "
    command += "from gitguard.cli import main; main()"
    for arguments in (["ensure"], ["note", "--goal", "Ship"], ["show", "summary"], ["resume"]):
        done = subprocess.run(
            [str(python), "-I", "-c", command, *arguments],
            cwd=root,
            env=environment(home),
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
    assert "Goal: Ship\n" in done.stdout


def gitguard_dependency() -> str:
    import jinja2

    return str(jinja2.__file__)


def test_the_version_is_said_in_one_place() -> None:
    from importlib.metadata import version

    assert version("gitguard-workspace") == gitguard.__version__


def test_every_python_from_the_oldest_to_the_newest_is_declared() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    stems = [name.rpartition(" 3.") for name in project["classifiers"]]
    minors = [int(minor) for stem, _, minor in stems if stem == "Programming Language :: Python ::"]
    assert project["requires-python"] == f">=3.{minors[0]}"
    assert minors == list(range(minors[0], minors[-1] + 1))
