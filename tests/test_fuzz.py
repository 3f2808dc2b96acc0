"""Whatever is read may be anything: there are errors of ours, and no others.

Hooks answer even then, neutrally, and mark nothing that is not an error of ours.
"""

from __future__ import annotations

import contextlib
import copy
import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gitguard import errors
from gitguard.errors import GitguardError
from gitguard.hosts import find_host
from gitguard.model.codec import STATE_LIMIT, load_json, load_yaml
from gitguard.model.config.config import DEFAULTS, read_config
from gitguard.model.events import Transcript
from gitguard.state.checkpoint import read_checkpoint
from gitguard.state.snapshot import folded_upto, read_snapshot
from gitguard.store.session.anchor import AnchorFile
from gitguard.store.session.current import load_config
from gitguard.store.session.host_session import decode_record
from gitguard.store.session.journal import JournalFile
from gitguard.store.session.state_file import decode_state, is_whole
from gitguard.transcripts import find_format
from tests.conftest import Git
from tests.support.hostile import PAYLOADS, answer, gitguard, inside, payload, recorded

FUZZ = settings(
    max_examples=200,
    derandomize=True,
    database=None,
    suppress_health_check=list(HealthCheck),
)
ROOT = Path("/nowhere")
OURS = {name for name, of in vars(errors).items() if isinstance(of, type)}
EVENTS = [(host, document) for host, document in recorded(ROOT)]
ODD: tuple[Any, ...] = (
    None, True, False, 0, -1, 1, 0.5, 1e308, 1e400, -1e400, float("nan"), 10**400, 2**63, "", " ",
    "\0", "a\nb", "\ud800", "\U000e0041", "../" * 40, "/etc/passwd", "~/x", "--output=x",
    "x" * 70_000,
    "2026-13-45T99:99:99Z", "9" * 5000, [], {}, [[]], [None], [{}], {"": {}}, [1] * 5000,
    {"a": {"a": {"a": []}}}, ["x" * 5000] * 3, {f"k{n}": n for n in range(300)},
)  # fmt: skip


def deep(levels: int) -> Any:
    value: Any = 1
    for _ in range(levels):
        value = [value]
    return value


odd = st.one_of(
    st.sampled_from(ODD).map(copy.deepcopy), st.integers(2, 600).map(deep), st.text(max_size=20)
)
cuts = st.tuples(st.integers(0, 10**6), st.binary(max_size=12), st.integers(0, 40))


@st.composite
def changed(draw: st.DrawFn, document: Any, most: int = 3) -> Any:
    """Return a document with a few values taken out, exchanged or put in."""
    document = copy.deepcopy(document)
    for _ in range(draw(st.integers(1, most))):
        places = list(_places(document))
        holder, key = places[draw(st.integers(0, len(places) - 1))] if places else (document, "x")
        what = draw(st.sampled_from(("remove", "exchange", "put in")))
        if what == "remove" and places:
            del holder[key]
        elif what == "exchange" or isinstance(holder, list):
            holder[key] = draw(odd)
        else:
            holder[draw(st.text(max_size=8))] = draw(odd)
    return document


def _places(value: Any) -> Iterator[tuple[Any, Any]]:
    items = value.items() if isinstance(value, dict) else enumerate(value)
    for key, item in list(items):
        yield value, key
        if isinstance(item, dict | list):
            yield from _places(item)


def torn(data: bytes, cut: tuple[int, bytes, int]) -> bytes:
    """Return bytes with some of them taken out and others put in."""
    at, put, gone = cut[0] % (len(data) + 1), cut[1], cut[2]
    return data[:at] + put + data[at + gone :]


def dumped(document: Any) -> bytes:
    return json.dumps(document).encode()


def only_ours(call: Callable[..., object], *given: object) -> None:
    with contextlib.suppress(GitguardError):
        call(*given)


# Hooks


@FUZZ
@given(st.sampled_from(EVENTS).flatmap(lambda e: st.tuples(st.just(e[0]), changed(e[1]))))
def test_an_event_that_is_not_one_is_an_error_of_ours(event: tuple[str, Any]) -> None:
    host, document = event
    environment = {"HOME": "/home/user", "CLAUDE_PROJECT_DIR": "/repo"}
    only_ours(lambda: find_host(host).parse_event(document, environment, 1e9))


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository that a whole fuzz test works in."""
    root = tmp_path_factory.mktemp("kept") / "repo"
    root.mkdir()
    Git(root).start()
    return root


@FUZZ
@given(st.sampled_from(EVENTS).flatmap(lambda e: st.tuples(st.just(e[0]), changed(e[1]))), cuts)
def test_a_hook_always_answers_and_marks_only_errors_of_ours(
    kept: Path, event: tuple[str, Any], cut: tuple[int, bytes, int]
) -> None:
    host, document = event
    data = dumped(document).replace(dumped(str(ROOT)), dumped(str(kept)))
    data = torn(data, cut) if cut[0] % 4 == 0 else data
    with inside(kept, CLAUDE_PROJECT_DIR=str(kept)):
        if not (kept / ".gitguard").exists():
            gitguard("ensure")
        reply = answer(host, data)
    assert not reply.startswith("{") or json.loads(reply)
    faults = kept / ".gitguard" / "faults.jsonl"
    for line in faults.read_text().splitlines() if faults.exists() else ():
        assert json.loads(line)["error"].partition(":")[0] in OURS, line
    faults.unlink(missing_ok=True)


# Documents


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """One of every file that gitguard writes, by its name."""
    folder = tmp_path_factory.mktemp("written")
    root = folder / "repo"
    root.mkdir()
    git = Git(root)
    git.start()
    with inside(root, CLAUDE_PROJECT_DIR=str(root), GITGUARD_STATE_DIR=str(folder / "state")):
        gitguard("ensure")
        note = (
            "--goal",
            "G",
            "--decision",
            "d",
            "--failure",
            "f",
            "--artifact",
            "a",
            "--done",
            "s",
        )
        gitguard("note", *note, "--output", "t:o")
        for host, document in recorded(root):
            if host == "claude-code":
                answer(host, dumped({**document, "session_id": "S1"}))
        gitguard("checkpoint")
    found = {path.name: path.read_bytes() for path in (root / ".gitguard").rglob("*.*")}
    found |= {"written.json": next((folder / "state").rglob("main/state.json")).read_bytes()}
    found |= {"anchor.json": next((folder / "state").rglob("main/anchor.json")).read_bytes()}
    found["commit"] = git("cat-file", "commit", "gitguard/main").encode() + b"\n"
    return found


JSON_READERS: dict[str, Callable[[bytes], object]] = {
    "state.json": lambda data: (is_whole(data), decode_state(data, "the state")),
    "session.json": lambda data: decode_record(data, "session.json"),
}


@pytest.mark.parametrize("name", JSON_READERS)
@FUZZ
@given(st.data())
def test_a_document_that_is_not_one_is_an_error_of_ours(
    written: dict[str, bytes], name: str, data: st.DataObject
) -> None:
    read = JSON_READERS[name]
    document = data.draw(changed(json.loads(written[name])))
    only_ours(lambda: read(dumped(document)))
    only_ours(lambda: read(torn(written[name], data.draw(cuts))))


@pytest.mark.parametrize("name", ["anchor.json", "written.json"])
@FUZZ
@given(st.data())
def test_what_the_state_directory_holds_is_read_or_an_error_of_ours(
    written: dict[str, bytes],
    tmp_path_factory: pytest.TempPathFactory,
    name: str,
    data: st.DataObject,
) -> None:
    folder = tmp_path_factory.getbasetemp() / "fuzzed"
    folder.mkdir(exist_ok=True)
    shutil.rmtree(folder)
    folder.mkdir()
    anchors = AnchorFile(str(folder))
    for content in (
        dumped(data.draw(changed(json.loads(written[name])))),
        torn(written[name], data.draw(cuts)),
    ):
        (folder / name.replace("written", "state")).write_bytes(content)
        only_ours(anchors.read)
        only_ours(anchors.read_copy)


@FUZZ
@given(cuts, cuts)
def test_a_snapshot_that_is_not_one_is_an_error_of_ours(
    written: dict[str, bytes], first: tuple[int, bytes, int], second: tuple[int, bytes, int]
) -> None:
    whole = written["snapshot.yaml"]
    for data in (torn(whole, first), torn(torn(whole, first), second)):
        only_ours(read_snapshot, data)
        only_ours(folded_upto, data)


@FUZZ
@given(st.data())
def test_any_commit_is_a_checkpoint_or_an_error_of_ours(
    written: dict[str, bytes], data: st.DataObject
) -> None:
    body = torn(torn(written["commit"], data.draw(cuts)), data.draw(cuts))
    lines = body.split(b"\n")
    lines[data.draw(st.integers(0, len(lines) - 1))] += dumped(data.draw(odd))[:5000]
    for content in (body, b"\n".join(lines)):
        only_ours(read_checkpoint, "0" * 40, content)


@FUZZ
@given(st.data())
def test_any_journal_is_read(
    written: dict[str, bytes], tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    path = tmp_path_factory.getbasetemp() / "journal.jsonl"
    lines = written["journal.jsonl"].splitlines()
    number = data.draw(st.integers(0, len(lines) - 1))
    lines[number] = dumped(data.draw(changed(json.loads(lines[number]))))
    path.write_bytes(torn(b"\n".join(lines) + b"\n", data.draw(cuts)))
    journal = JournalFile(str(path), lambda: 1e9)
    only_ours(lambda: journal.read("x", data.draw(st.integers(0, 10**6))))
    only_ours(journal.open_calls)


# Configuration

CONFIG = DEFAULTS.to_document() | {"destructive": ["make clean"]}


@settings(FUZZ, max_examples=100)
@given(changed(CONFIG, 2), cuts)
def test_any_configuration_is_read_or_an_error_of_ours(
    tmp_path_factory: pytest.TempPathFactory, document: Any, cut: tuple[int, bytes, int]
) -> None:
    only_ours(lambda: read_config(document, what="config.yaml"))
    folder = tmp_path_factory.getbasetemp() / "configured"
    folder.mkdir(exist_ok=True)
    for data in (dumped(document), torn(dumped(document), cut)):
        (folder / "config.yaml").write_bytes(data)
        try:
            found = load_config(DEFAULTS, str(folder))
        except GitguardError:
            continue
        for name in ("warning", "compress", "critical"):
            assert getattr(found.thresholds, name) <= getattr(DEFAULTS.thresholds, name)
        assert found.gauge.checkpoint_at <= DEFAULTS.gauge.checkpoint_at
        assert found.gauge.show_from <= DEFAULTS.gauge.show_from
        for name in found.resume.kinds:
            assert getattr(found.resume, name) <= getattr(DEFAULTS.resume, name)
        assert (found.store, found.handoff) == (DEFAULTS.store, DEFAULTS.handoff)
        assert found.redaction.allow == DEFAULTS.redaction.allow
        assert not found.reference_mode


EVIL_YAML = (
    "a: &a [1]\nb: *a", "a: &a [*a]", "!!python/object/apply:os.system [id]", "!!binary x", "!x y",
    "[" * 20_000, "{a: " * 5000, "- " * 5000, "? a\n? b", "a: 1\na: 2", "--- 1\n--- 2",
    "%YAML 9.9\n",
    "2001-99-99", "a: 2001-99-99", "a: 9999999999:99", "a: .nan", "a: !!int x", "a: !!float ''",
    "a: !!timestamp x", "a: !!set {x, y}", "a: !!omap [x]", "[a]: b", "{a: b}: c", "1: 2", "\t- a",
    "a: |\n" + " " * 9000, "\ufeffa: 1", "a: \x85", "'", '"\\', '"\\ud800"', "\0", "a: <<", "<<: 1",
    "<<: {a: 1}\n<<: [b]", "a: 0o9", "a: 0x", "a: 1_0", "a: " + "1" * 9000, "=: 1", "a: =",
    "!!null x",
)  # fmt: skip


@pytest.mark.parametrize("text", EVIL_YAML, ids=lambda text: repr(text[:24]))
def test_no_yaml_is_more_than_plain_values(text: str) -> None:
    try:
        found = load_yaml(text.encode("utf-8", "surrogatepass"), what="it")
    except GitguardError:
        return
    only_ours(lambda: read_config(found, what="it"))
    assert len(repr(found)) < 20_000


@FUZZ
@given(st.binary(max_size=60), st.text(max_size=60))
def test_any_bytes_are_a_document_or_an_error_of_ours(data: bytes, text: str) -> None:
    for content in (data, text.encode("utf-8", "surrogatepass")):
        only_ours(lambda given: load_json(given, what="it", limit=STATE_LIMIT), content)
        only_ours(lambda given: load_yaml(given, what="it"), content)


# Transcripts


TRANSCRIPTS = sorted((PAYLOADS / "claude_code").glob("transcript*.jsonl"))
SESSIONS = sorted((PAYLOADS / "openclaw").glob("*/transcript*.jsonl"))


@pytest.mark.parametrize("host", ["claude-code", "openclaw"])
@FUZZ
@given(st.data())
def test_any_transcript_is_read_or_an_error_of_ours(
    tmp_path_factory: pytest.TempPathFactory, host: str, data: st.DataObject
) -> None:
    source = data.draw(st.sampled_from(TRANSCRIPTS if host == "claude-code" else SESSIONS))
    lines = source.read_bytes().splitlines()
    for _ in range(3):
        number = data.draw(st.integers(0, len(lines) - 1))
        try:
            lines[number] = dumped(data.draw(changed(json.loads(lines[number]))))
        except ValueError:
            lines[number] = b""
    folder = tmp_path_factory.getbasetemp() / "agent"
    (folder / "sessions").mkdir(parents=True, exist_ok=True)
    path = folder / "sessions" / "s1.jsonl"
    path.write_bytes(torn(b"\n".join(lines) + b"\n", data.draw(cuts)))
    told = Transcript(str(path if host == "claude-code" else folder), host, "s1")
    read = find_format(host)
    only_ours(lambda: read.newest_reading(told))
    only_ours(lambda: list(read.messages(told)))
    only_ours(lambda: read.compactions(told, data.draw(st.integers(0, 10**6))))


CONTENTS = [b"", b"\0\xff", b"[]", b'{"format": 1}', b'{"format": 1e9}']


@pytest.mark.parametrize("content", CONTENTS)
def test_any_content_of_any_file_of_ours_is_an_error_of_ours(
    git: Git, tmp_path: Path, content: bytes
) -> None:
    with inside(
        git.root, CLAUDE_PROJECT_DIR=str(git.root), GITGUARD_STATE_DIR=str(tmp_path / "state")
    ):
        gitguard("ensure")
        gitguard("gate", "--pressure", "0.95")
        for _ in range(2):
            answer("claude-code", payload("UserPromptSubmit", git.root))
        folders = (git.root / ".gitguard", git.root / ".git" / "gitguard", tmp_path / "state")
        paths = sorted(path for folder in folders for path in folder.rglob("*") if path.is_file())
        for path in paths[CONTENTS.index(content) % 2 :: 2]:
            whole = path.read_bytes()
            path.write_bytes(content)
            for name in ("PreToolUse.Bash", "UserPromptSubmit"):
                answer("claude-code", payload(name, git.root))
            for arguments in (("status",), ("note", "--goal", "On")):
                gitguard(*arguments)
            marks = [*folders[0].glob("faults.jsonl"), *folders[2].rglob("faults.jsonl")]
            for line in b"\n".join(mark.read_bytes() for mark in marks).splitlines():
                with contextlib.suppress(ValueError, TypeError, KeyError):
                    assert json.loads(line)["error"].partition(":")[0] in OURS, (path, line)
            path.write_bytes(whole)
            gitguard("repair", "--local")
