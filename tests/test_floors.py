"""The house stands: floors, doors, sizes, silence, and what a hook may load."""

from __future__ import annotations

import ast
import itertools
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from graphlib import TopologicalSorter
from importlib import import_module
from pathlib import Path

import pytest

import gitguard
from gitguard.hosts import HOOKS, HOSTS, find_host, names
from gitguard.model.record import Record
from gitguard.model.value import Value
from tests.support.house import DOORS, FLOOR, HOUSED, MODULES, PACKAGE, room_of

PAYLOADS = Path(__file__).parent / "payloads"
HEAVY = ["click", "git", "gitdb", "jinja2", "ruamel", "subprocess"]
HEAVY += ["pathlib", "dataclasses", "hashlib", "sqlite3"]
"""What a calm hook must not load, because it starts at every tool call."""
LONG_FUNCTION, MEDIAN_FUNCTION, LONGEST_FILE = 60, 8, 600
MOST_LONG = 0.01
"""The share of functions that may be long: as long as their subject."""
LONGEST_COMMAND = 15
"""A command's most statements: parse, one call to the library, print."""


@cache
def nodes_of(module: str) -> tuple[ast.AST, ...]:
    """Return the nodes of a module's syntax tree, the tree itself first."""
    return tuple(ast.walk(ast.parse((PACKAGE / module).read_text())))


@pytest.fixture(scope="module", autouse=True)
def _forget_trees() -> Iterator[None]:
    """Hand the memory of the trees back: each test that forks would have to copy it."""
    yield
    nodes_of.cache_clear()


LIBRARY = [m for m in HOUSED if room_of(m) not in ("cli", "process")]
"""What is handed its surroundings; `process` looks at them, for whoever asks it to."""


def imported_names(module: str) -> Iterator[str]:
    for node in nodes_of(module):
        if isinstance(node, ast.ImportFrom):
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)


def names_of_node(node: ast.AST) -> str:
    """Return a dotted name such as `os.environ`, empty for anything else."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        return f"{names_of_node(node.value)}.{node.attr}"
    return ""


def imported_modules(module: str) -> set[str]:
    """Return the modules that one imports, wherever in its text and for whatever purpose."""
    imported = set()
    for name in imported_names(module):
        path = name.removeprefix("gitguard.").replace(".", "/")
        for candidate in (path, path.rpartition("/")[0]):
            imported |= {f"{candidate}.py", f"{candidate}/__init__.py"} & set(MODULES)
            if f"{candidate}.py" in MODULES:
                break
    return imported - {module}


def functions(module: str) -> Iterator[ast.FunctionDef]:
    return (node for node in nodes_of(module) if isinstance(node, ast.FunctionDef))


def body_lines(function: ast.FunctionDef) -> int:
    """Count a function's lines below its signature and docstring."""
    body = function.body[1:] if ast.get_docstring(function) else function.body
    if not body:
        return 0
    return (body[-1].end_lineno or 0) - body[0].lineno + 1


def test_imports_go_down() -> None:
    up = [
        f"{module} must not import {imported}"
        for module in HOUSED
        for imported in imported_modules(module)
        if (room := room_of(imported)) in FLOOR
        if room != room_of(module) and FLOOR[room] >= FLOOR[room_of(module)]
    ]
    assert up == []


def test_no_module_imports_itself_by_way_of_others() -> None:
    graph = {module: imported_modules(module) for module in MODULES}
    assert any(graph.values())
    TopologicalSorter(graph).prepare()


def test_a_library_has_one_door() -> None:
    elsewhere = [
        f"only {', '.join(doors)} may import {name}, not {module}"
        for module in MODULES
        for name in imported_names(module)
        if not module.startswith(doors := DOORS.get(name.split(".")[0], ("",)))
    ]
    assert elsewhere == []


def test_every_module_has_a_floor() -> None:
    assert set(MODULES) - set(HOUSED) <= {"__init__.py", "__main__.py", "store/__init__.py"}
    assert set(FLOOR) == {room_of(module) for module in HOUSED}


def test_nothing_has_two_docstrings() -> None:
    for module in WRITTEN_BY_HAND:
        for node in nodes_of(module):
            body = getattr(node, "body", None)
            for pair in itertools.pairwise(body if isinstance(body, list) else ()):
                assert not all(map(is_text, pair)), f"{module}:{pair[1].lineno}"


def is_text(node: ast.AST) -> bool:
    """Say whether a statement is a text alone, which documents what stands before it."""
    value = node.value if isinstance(node, ast.Expr) else None
    return isinstance(value, ast.Constant) and isinstance(value.value, str)


def surroundings_read(module: str) -> set[str]:
    """Return what a module of the library looks up or prints, and must be handed instead."""
    forbidden = {"print", "input", "sys.exit", "os.environ", "os.getenv", "Path.home"}
    forbidden |= {"os.path.expanduser", "time.time", "datetime.now", "datetime.utcnow"}
    if module not in ("store/disk/lock.py", "transcripts/rewriting/locks.py"):
        forbidden |= {"time.monotonic", "time.sleep"}
    if module == "store/git/code_history.py":
        # GitPython starts git while it is imported, unless two of its variables say otherwise.
        forbidden -= {"os.environ"}
    return forbidden & {names_of_node(node) for node in nodes_of(module)}


def test_the_library_is_mute() -> None:
    assert {module: read for module in LIBRARY if (read := surroundings_read(module))} == {}


KNOW_HOSTS = ("hosts", "transcripts")


ENGINE = [module for module in MODULES if room_of(module) not in KNOW_HOSTS]


def hosts_named(module: str) -> list[str]:
    text = (PACKAGE / module).read_text().lower().replace("openclaw/checkpoint", "")
    text = re.sub(r'"claude-[a-z0-9-]+"|claude-(haiku|sonnet|opus)-[0-9-]+', "", text)
    text = re.sub(r"\(as claude code [0-9.]+ reports them\)|as claude code [0-9.]+ ", "", text)
    text = re.sub(r"~/\.\S+", "", text)  # a host's folder in an example
    if module == "pressure/models.py":
        text = re.sub(r'"[^"]*"', "", text)  # models are called after the hosts' makers and hosts
    names = "|".join(re.escape(name).replace("-", "[-_ ]?") for name in HOSTS)
    return re.findall(rf".*(?:claude|\b(?:{names})(?![a-z])).*", text)


def test_only_adapters_name_a_host() -> None:
    assert {module: lines for module in ENGINE if (lines := hosts_named(module))} == {}


def commands_of_hosts() -> set[str]:
    abilities = [find_host(name).abilities for name in names(HOOKS)]
    return {c for a in abilities for c in (a.compact_command, a.new_conversation)}


def names_of_hosts() -> set[str]:
    """Return hosts' tools and events whose names are no words of English: `TaskCreate`."""
    adapters = [module for module in MODULES if module.startswith("hosts/")]
    constants = (n for m in adapters for n in nodes_of(m) if isinstance(n, ast.Constant))
    values = {value for each in constants if isinstance(value := each.value, str)}
    return {value for value in values if re.fullmatch(r"(?:[A-Z][a-z]+){2,}", value)}


def test_only_adapters_know_a_hosts_commands_tools_and_events() -> None:
    commands = (rf"(?<![\w./-]){re.escape(command)}\b" for command in sorted(commands_of_hosts()))
    names = (rf"\b{name}\b" for name in sorted(names_of_hosts()))
    words = re.compile("|".join((*commands, *names)))
    texts = {module: (PACKAGE / module).read_text() for module in ENGINE}
    assert {module: read for module in ENGINE if (read := words.findall(texts[module]))} == {}


def test_the_words_that_the_engine_avoids_are_those_that_hosts_have() -> None:
    assert {"/compact", "/clear", "/new"} <= commands_of_hosts()
    assert {"TaskCreate", "TaskUpdate", "TodoWrite", "PreToolUse"} <= names_of_hosts()


def test_the_hosts_whose_names_the_engine_avoids_are_all_of_the_table() -> None:
    assert {"claude-code", "openclaw", "codex", "gemini", "opencode", "pi"} <= set(HOSTS)


WRITTEN_BY_HAND = [module for module in MODULES if module != "compiled_templates.py"]


def test_files_stay_small() -> None:
    lengths = {m: len((PACKAGE / m).read_text().splitlines()) for m in WRITTEN_BY_HAND}
    assert {module: lines for module, lines in lengths.items() if lines > LONGEST_FILE} == {}


def test_most_functions_are_short_and_few_are_long() -> None:
    lengths = {(m, f.name, f.lineno): body_lines(f) for m in WRITTEN_BY_HAND for f in functions(m)}
    long = {function for function, lines in lengths.items() if lines > LONG_FUNCTION}
    assert statistics.median(lengths.values()) <= MEDIAN_FUNCTION
    assert len(long) <= MOST_LONG * len(lengths), f"too many functions are long: {sorted(long)}"


def test_no_name_of_a_class_stands_in_two_files() -> None:
    modules: dict[str, set[str]] = {}
    for module in WRITTEN_BY_HAND:
        for node in nodes_of(module):
            if isinstance(node, ast.ClassDef):
                modules.setdefault(node.name.lstrip("_"), set()).add(module)
    assert {name: where for name, where in modules.items() if len(where) > 1} == {}


MOST_POSITIONAL = 4


def takes_any_number(definition: ast.FunctionDef | ast.ClassDef) -> bool:
    """Say whether what is defined takes `*arguments`, a class by its `__init__`."""
    if isinstance(definition, ast.FunctionDef):
        return definition.args.vararg is not None
    return any(isinstance(f, ast.FunctionDef) and takes_any_number(f) for f in definition.body)


def test_a_call_names_its_arguments_from_the_fifth_on() -> None:
    nodes = [(module, node) for module in WRITTEN_BY_HAND for node in nodes_of(module)]
    defined = [node for _, node in nodes if isinstance(node, (ast.FunctionDef, ast.ClassDef))]
    ours = {d.name for d in defined} - {d.name for d in defined if takes_any_number(d)}
    long = [
        f"{module}:{node.lineno}: {names_of_node(node.func)}"
        for module, node in nodes
        if isinstance(node, ast.Call) and len(node.args) > MOST_POSITIONAL
        if names_of_node(node.func).rpartition(".")[2] in ours
    ]
    assert long == []


def is_command(function: ast.FunctionDef) -> bool:
    names = (
        names_of_node(d.func if isinstance(d, ast.Call) else d) for d in function.decorator_list
    )
    return any(name.endswith((".command", ".group")) for name in names)


CLI = [module for module in MODULES if room_of(module) == "cli"]


def test_commands_are_thin() -> None:
    lengths = {}
    for module in CLI:
        for function in filter(is_command, functions(module)):
            body = function.body[1:] if ast.get_docstring(function) else function.body
            statements = [n for part in body for n in ast.walk(part) if isinstance(n, ast.stmt)]
            lengths[module, function.name] = len(statements)
    assert {command: n for command, n in lengths.items() if n > LONGEST_COMMAND} == {}


STARTS = ("cli/hook.py", "cli/status_line.py", "cli/process_environment.py")
"""Modules of the command line that open a workspace, or answer a hook before anything is opened."""
OPEN_ROOMS = {"cli", "guard", "process", "errors", "model", "__init__"}
"""Rooms that the command line may import: the front door, errors, and values."""


def imports_at_run_time(module: str) -> Iterator[tuple[str, str]]:
    """Yield the module and name of each import, without those for type checkers only."""
    unread = [nodes_of(module)[0]]
    while unread:
        node = unread.pop()
        if isinstance(node, ast.If) and names_of_node(node.test) == "TYPE_CHECKING":
            continue
        if isinstance(node, ast.ImportFrom):
            yield from ((node.module or "", alias.name) for alias in node.names)
        elif isinstance(node, ast.Import):
            yield from ((alias.name, "") for alias in node.names)
        unread.extend(ast.iter_child_nodes(node))


def is_plain(value: object) -> bool:
    """Say whether a name stands for a value or a type of values, which do nothing by themselves."""
    if isinstance(value, type):
        return issubclass(value, (Value, Record, tuple))
    return isinstance(value, (str, int, float, tuple, frozenset, dict, Value))


def goes_by_the_front_door(source: str, name: str) -> bool:
    room = source.removeprefix("gitguard").lstrip(".").split(".")[0] or name
    if source.split(".")[0] != "gitguard" or room in OPEN_ROOMS:
        return True
    return is_plain(getattr(import_module(source), name, None) if name else None)


def test_the_command_line_asks_the_library_through_its_front_door() -> None:
    past = [
        f"{module} must ask the guard, not `{name}` of {source}"
        for module in CLI
        if module not in STARTS
        for source, name in imports_at_run_time(module)
        if not goes_by_the_front_door(source, name)
    ]
    assert past == []


def opens_for_writing(node: ast.AST) -> bool:
    if not isinstance(node, ast.Call) or names_of_node(node.func) not in ("open", "os.fdopen"):
        return False
    given = [*node.args[1:2], *(k.value for k in node.keywords if k.arg == "mode")]
    return any(isinstance(m, ast.Constant) and set("wax+") & set(str(m.value)) for m in given)


def test_one_writer_of_files() -> None:
    writing = [
        f"{module}:{getattr(node, 'lineno', 0)}"
        for module in LIBRARY
        if module != "store/disk/files.py"
        for node in nodes_of(module)
        if opens_for_writing(node) or names_of_node(node).rpartition(".")[2] == "write_text"
    ]
    assert writing == []


CHANGES_NAMES = {
    f"os.{name}"
    for name in ("replace", "rename", "link", "symlink", "unlink", "remove", "rmdir", "mkdir")
} | {"os.makedirs", "shutil.rmtree", "shutil.move"}
ELSEWHERE = {
    "store/disk/files.py": "the one module",
    "store/disk/folders.py": "it opens and makes our folders",
    "store/disk/changes.py": "hosts' settings",
    "store/disk/users_files.py": "files of the worktree, also through no link",
    "store/git/objects.py": "git's objects",
    "settings/installer.py": "hosts' folders",
    "settings/rollback.py": "hosts' backups",
}
"""Modules that change names in folders that are not ours, where links are the user's affair."""


def test_names_in_our_folders_change_through_one_module_that_follows_no_link() -> None:
    changing = [
        f"{module}:{getattr(node, 'lineno', 0)}"
        for module in LIBRARY
        if module not in ELSEWHERE and not module.startswith("transcripts/")
        for node in nodes_of(module)
        if names_of_node(node) in CHANGES_NAMES
    ]
    assert changing == []


def run_python(*arguments: str, home: Path, stdin: bytes = b"") -> subprocess.CompletedProcess[str]:
    environment = {"PATH": os.environ["PATH"], "HOME": str(home)}
    return subprocess.run(
        [sys.executable, *arguments],
        input=stdin.decode(),
        env=environment,
        capture_output=True,
        text=True,
        cwd=home,
        check=False,
        timeout=60,
    )


def test_importing_prints_and_writes_nothing(tmp_path: Path) -> None:
    names = [m.removesuffix(".py").removesuffix("/__init__").replace("/", ".") for m in HOUSED]
    lines = [f"import gitguard.{name}" for name in names]
    done = run_python("-B", "-c", "\n".join(["import gitguard", *lines]), home=tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert list(tmp_path.iterdir()) == []


def test_the_front_door_is_imported_on_first_use(tmp_path: Path) -> None:
    program = "import gitguard, sys; assert 'gitguard.guard' not in sys.modules; gitguard.Guard"
    assert run_python("-c", program, home=tmp_path).returncode == 0
    assert gitguard.__all__ == dir(gitguard)


def test_every_public_name_is_the_one_that_its_module_defines() -> None:
    values = {name: getattr(gitguard, name) for name in gitguard.__all__}
    types = {name: value for name, value in values.items() if isinstance(value, type)}
    assert {name: value.__name__ for name, value in types.items()} == {name: name for name in types}


DRIVER = """
import os, sys
from gitguard.cli import main
sys.argv = ["gitguard", "hook", sys.argv[1]]
leave = os._exit
def report(code):
    print("\\n".join(sorted(sys.modules)), file=sys.stderr, flush=True)
    leave(code)
os._exit = report
main()
"""


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    """A repository with a session; HOME is tmp_path."""
    git = shutil.which("git")
    assert git is not None
    root = tmp_path / "repo"
    subprocess.run([git, "init", "--quiet", str(root)], check=True)
    begun = run_python("-m", "gitguard", "--root", str(root), "ensure", home=tmp_path)
    assert begun.returncode == 0, begun.stderr
    return root


def as_sent(host: str, recorded: str, workspace: Path, home: Path) -> bytes:
    """Return a recording as a hook of this test gets it; a plugin adds where and how full."""
    payload = json.loads(recorded.replace("/repo", str(workspace)).replace("/home/user", str(home)))
    if host == "openclaw":
        payload["ctx"]["workspaceDir"] = str(workspace)
        payload["usage"] = {"input": 9_000, "window": 200_000, "model": "fake-1"}
    return json.dumps(payload).encode()


CALM = [("claude-code", f"claude_code/{name}.Bash.json") for name in ("PreToolUse", "PostToolUse")]
CALM += [
    ("openclaw", f"openclaw/2026.9.6/{name}_tool_call.exec.json") for name in ("before", "after")
]


@pytest.mark.parametrize(("host", "event"), CALM)
def test_a_calm_hook_loads_nothing_heavy(
    workspace: Path, tmp_path: Path, host: str, event: str
) -> None:
    payload = as_sent(host, (PAYLOADS / event).read_text(), workspace, tmp_path)
    if host == "openclaw":  # a session that its host keys begins at the first event of it
        run_python("-c", DRIVER, host, home=tmp_path, stdin=payload)
    done = run_python("-c", DRIVER, host, home=tmp_path, stdin=payload)
    assert done.stdout == ""
    loaded = set(done.stderr.split())
    assert "gitguard.hooks.answering" in loaded, "the event did not reach its answer"
    assert {name for name in HEAVY if name in loaded} == set()
    journal = workspace / ".gitguard" / "sessions"
    assert any("python3 hello.py" in j.read_text() for j in journal.glob("*/journal.jsonl"))
    faults = run_python("-m", "gitguard", "--root", str(workspace), "status", home=tmp_path)
    assert "FAULT" not in faults.stdout


COMMAND_DRIVER = """
import atexit, os, sys
from gitguard.cli import main
sys.argv = ["gitguard", *sys.argv[1:]]
leave = os._exit
def report():
    print("\\n".join(sorted(sys.modules)), file=sys.stderr, flush=True)
os._exit = lambda code: (report(), leave(code))
atexit.register(report)
main()
"""


@pytest.mark.parametrize(
    "arguments",
    ["hook claude-code", "checkpoint", "gate --pressure 0.2", "resume", "log", "status"],
)
def test_gitpython_is_loaded_for_reviewers_and_never_on_an_agents_way(
    workspace: Path, tmp_path: Path, arguments: str
) -> None:
    payload = as_sent(
        "claude-code", (PAYLOADS / "claude_code/PreCompact.json").read_text(), workspace, tmp_path
    )

    who = ("-c", "user.name=A", "-c", "user.email=a@example.invalid")
    commit = ("git", "-C", str(workspace), *who, "commit", "-q", "--allow-empty", "-m", "Code")
    subprocess.run(commit, check=True)

    def loaded_by(words: str) -> set[str]:
        root = [] if words.startswith("hook") else ["--root", str(workspace)]
        done = run_python("-c", COMMAND_DRIVER, *root, *words.split(), home=tmp_path, stdin=payload)
        loaded = set(done.stderr.split())
        assert "gitguard.store.session.workspace" in loaded, done.stderr
        return loaded

    assert not {"git", "gitdb", "gitguard.store.git.code_history"} & loaded_by(arguments)
    assert {"git", "gitguard.store.git.code_history"} <= loaded_by("diff")


def test_a_test_module_imports_no_other_one() -> None:
    """What two of them share belongs into support."""
    importing = [
        line
        for path in sorted(Path(__file__).parent.rglob("test_*.py"))
        for line in path.read_text().splitlines()
        if re.match(r"\s*from \S*\btest_\w+ import", line)
    ]
    assert importing == []
