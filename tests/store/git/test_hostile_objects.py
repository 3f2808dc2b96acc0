"""A hostile history made by hand: trees, commits and contents that git itself would never write."""

from __future__ import annotations

import subprocess
import zlib
from collections.abc import Callable
from hashlib import sha1
from pathlib import Path

import pytest

from tests.conftest import Git
from tests.support.hostile import answer, gitguard, inside, payload

BRANCH = "refs/heads/gitguard/main"
FILES = ("snapshot.yaml", "state.json", "summary.md")
Entries = list[tuple[str, str, str]]
"""Mode, name and object of each."""


def put(git: Git, kind: str, data: bytes) -> str:
    """Write an object whatever it holds."""
    done = subprocess.run(
        ["git", "hash-object", "-t", kind, "-w", "--stdin", "--literally"],
        cwd=git.root,
        input=data,
        capture_output=True,
        check=True,
    )
    return done.stdout.decode().strip()


def entries_of(git: Git) -> Entries:
    listed = [line.split() for line in git("ls-tree", BRANCH).splitlines()]
    return [(mode, name, name_of) for mode, _, name_of, name in listed]


def with_mode(mode: str) -> Callable[[Git, Entries], Entries]:
    return lambda _, entries: [
        (mode, n, o) if n == "state.json" else (m, n, o) for m, n, o in entries
    ]


def with_entry(mode: str, name: str) -> Callable[[Git, Entries], Entries]:
    return lambda _, entries: sorted([*entries, (mode, name, entries[0][2])], key=lambda e: e[1])


def with_state(data: bytes) -> Callable[[Git, Entries], Entries]:
    def change(git: Git, entries: Entries) -> Entries:
        made = put(git, "blob", data)
        return [(m, n, made if n == "state.json" else o) for m, n, o in entries]

    return change


def twice(git: Git, entries: Entries) -> Entries:
    other = put(git, "blob", b"{}")
    return [entries[0], ("100644", "state.json", other), *entries[1:]]


TREES: dict[str, Callable[[Git, Entries], Entries]] = {
    "a link": with_mode("120000"),
    "a submodule": with_mode("160000"),
    "a folder": with_mode("40000"),
    "an executable": with_mode("100755"),
    "an odd mode": with_mode("0100644"),
    "no mode": with_mode(""),
    "a .git": with_entry("100644", ".git"),
    "a .GIT folder": with_entry("40000", ".GIT"),
    "a way out": with_entry("100644", "../victim"),
    "a name with a folder": with_entry("100644", "sessions/main/current"),
    "one more": with_entry("100644", "zzz"),
    "no name": with_entry("100644", ""),
    "the same name twice": twice,
    "the wrong order": lambda _, entries: entries[::-1],
    "one fewer": lambda _, entries: entries[:2],
    "nothing": lambda _, entries: [],
    "very many": lambda _, entries: [("100644", f"f{n}", entries[0][2]) for n in range(5000)],
    "a state of 300 KB": with_state(b" " * 300_000 + b"{}"),
    "a state of nothing": with_state(b""),
    "a state of zeros": with_state(b"\0" * 1000),
    "a deep state": with_state(b'{"a":' * 100_000 + b"1" + b"}" * 100_000),
    "a state twice over": with_state(b'{"schema_version": 1, "schema_version": 1}'),
    "a state of NaN": with_state(b'{"schema_version": NaN}'),
    "a state with a long number": with_state(b'{"schema_version": ' + b"1" * 5000 + b"}"),
    "a state with a mark": with_state(b'\xef\xbb\xbf{"schema_version": 1}'),
    "a state that is no text": with_state(b'{"schema_version": "\xff"}'),
    "half a surrogate": with_state(b'{"schema_version": 1, "x": "\\ud800"}'),
}


def tree_object(entries: Entries) -> bytes:
    return b"".join(f"{m} {n}\0".encode() + bytes.fromhex(o) for m, n, o in entries)


@pytest.fixture
def theirs(git: Git, tmp_path: Path) -> Git:
    """A repository with a session of somebody else's."""
    with inside(git.root, XDG_STATE_HOME=str(tmp_path / "theirs")):
        assert gitguard("ensure").code == 0
    (tmp_path / "kept").mkdir()
    (git.root / ".gitguard").rename(tmp_path / "kept" / "gitguard")
    return git


def refuse_it(git: Git) -> None:
    """Show that nobody adopts, hands out or trips over the branch, and that it stays."""
    head = (git.root / ".git" / BRANCH).read_text()
    with inside(git.root, CLAUDE_PROJECT_DIR=str(git.root)):
        for arguments in (
            ("ensure",), ("log",), ("show", "state", "1"), ("repair", "--trust", "--dry-run"),
            ("repair", "--trust", "--yes"), ("repair", "--take-theirs", "--yes"), ("resume",),
            ("status",),
        ):  # fmt: skip
            outcome = gitguard(*arguments)
            if arguments[0] in ("ensure", "repair", "resume"):
                assert outcome.code not in (0, 13), (arguments, outcome)
        (git.root / ".gitguard").mkdir(exist_ok=True)
        (git.root / ".gitguard" / "current").write_text("main\n")
        for name in ("UserPromptSubmit", "PreToolUse.Bash", "Stop"):
            assert "additionalContext" not in answer("claude-code", payload(name, git.root))
    assert (git.root / ".git" / BRANCH).read_text() == head


@pytest.mark.parametrize("name", TREES)
def test_a_tree_made_by_hand_is_never_adopted(theirs: Git, name: str) -> None:
    tree = put(theirs, "tree", tree_object(TREES[name](theirs, entries_of(theirs))))
    commit = subprocess.run(
        ["git", "cat-file", "commit", BRANCH], cwd=theirs.root, capture_output=True, check=True
    ).stdout
    old = theirs("rev-parse", f"{BRANCH}^{{tree}}").encode()
    theirs("update-ref", BRANCH, put(theirs, "commit", commit.replace(old, tree.encode())))
    refuse_it(theirs)


def test_the_branch_as_it_was_is_adopted(theirs: Git) -> None:
    """The control of the tests around it."""
    with inside(theirs.root):
        assert gitguard("repair", "--trust", "--yes").code == 0


DATES = ("0", "-1", "99999999999999999999", "9" * 5000, "x", "١٢", "1e9")
COMMITS: dict[str, tuple[bytes, bytes]] = {
    **{f"the time {d[:24]}": (b" +0000\n\n", b" %s +0000\n\n" % d.encode()) for d in DATES[1:]},
    "a message of 1 MB": (b"\n\n", b"\n\n" + b"x" * 1_000_000),
    "a header of 1 MB": (b"committer", b"x " + b"x" * 1_000_000 + b"\ncommitter"),
    "no sequence": (b"Gitguard-Sequence: 1", b"Gitguard-Sequence: one"),
    "a sequence below one": (b"Gitguard-Sequence: 1", b"Gitguard-Sequence: -1"),
    "an endless sequence": (b"Gitguard-Sequence: 1", b"Gitguard-Sequence: " + b"1" * 5000),
    "no pressure": (b"Gitguard-Pressure: unknown", b"Gitguard-Pressure: nan"),
    "an endless pressure": (b"Gitguard-Pressure: unknown", b"Gitguard-Pressure: inf"),
    "half a quote": (b"Gitguard-Session: main", b'Gitguard-Session: "main'),
    "a hidden session": (b"Gitguard-Session: main", b'Gitguard-Session: "ma\\ud800in"'),
    "no tree": (b"tree ", b"treee "),
    "two trees": (b"tree ", b"tree " + b"0" * 40 + b"\ntree "),
    "itself as parent": (b"author", b"parent " + b"0" * 40 + b"\nauthor"),
    "a parent that is an option": (b"author", b"parent --output=victim\nauthor"),
    "a tree that is an option": (b"tree ", b"tree --output=victim"),
}


@pytest.mark.parametrize("name", COMMITS)
def test_a_commit_made_by_hand_is_never_adopted(theirs: Git, name: str) -> None:
    commit = subprocess.run(
        ["git", "cat-file", "commit", BRANCH], cwd=theirs.root, capture_output=True, check=True
    ).stdout
    before, after = COMMITS[name]
    if name.startswith("the time"):
        head, _, rest = commit.partition(b" +0000\n\n")
        changed = head.rpartition(b" ")[0] + after + rest
    else:
        changed = commit.replace(before, after, 1)
    assert changed != commit
    # Git itself would not point a branch at some of these.
    (theirs.root / ".git" / BRANCH).write_text(put(theirs, "commit", changed) + "\n")
    refuse_it(theirs)


BOMB = 64 << 20


@pytest.mark.parametrize("packed", [False, True], ids=["loose", "packed"])
def test_a_bomb_is_refused_in_no_time_and_no_space(theirs: Git, packed: bool) -> None:
    made = put(theirs, "blob", bytes(BOMB))
    entries = [(m, n, made if n == "state.json" else o) for m, n, o in entries_of(theirs)]
    tree = put(theirs, "tree", tree_object(entries))
    commit = theirs("cat-file", "commit", BRANCH) + "\n"
    old = theirs("rev-parse", f"{BRANCH}^{{tree}}")
    theirs("update-ref", BRANCH, put(theirs, "commit", commit.replace(old, tree).encode()))
    if packed:
        theirs("repack", "-adq")
        theirs("prune-packed", "--quiet")
    with inside(theirs.root):
        said = gitguard("repair", "--trust", "--dry-run")
    assert said.code != 0
    refuse_it(theirs)


def test_an_object_that_lies_of_its_size_is_refused(theirs: Git) -> None:
    """A loose object whose header names a few bytes, with many behind it."""
    name = theirs("rev-parse", f"{BRANCH}:state.json")
    path = theirs.root / ".git" / "objects" / name[:2] / name[2:]
    path.unlink()
    path.write_bytes(zlib.compress(b"blob 10\0" + bytes(BOMB)))
    with inside(theirs.root):
        assert gitguard("repair", "--trust", "--dry-run").code != 0
    assert sha1(b"blob 10\0" + bytes(10)).hexdigest() != name
