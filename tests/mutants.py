"""`python -m tests.mutants`: whether a test fails where a line of gitguard is wrong.

A seed chooses one-line mutants over all rooms of `gitguard/`. Each is tried in a clone of HEAD,
first with the tests that name its function or module, until one fails. What is alive after that
is put into the clone at once, all tests run, and each is tried with those that failed. A test
counts if it passes without the mutant.
`--again FILE` tries the mutants of an earlier `--json FILE`, wherever their lines are now.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import copy
import json
import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path

ROOT = Path(__file__).parent.parent
GENERATED = {"gitguard/compiled_templates.py"}
# What reads the source itself would fail for the wrong reason.
READS_SOURCE = {"tests/test_floors.py"}
NEAR_FILES, NEAR_SECONDS = 8, 120
"""How many files are near a mutant, and how long they may take; all tests follow."""
ALL_SECONDS = 3600

FLIPPED: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}


@dataclass(frozen=True)
class Mutant:
    """One line of a module, and what is wrong there; `killer` is the test that failed."""

    path: str
    line: int
    function: str
    kind: str
    before: str
    after: str
    killer: str = ""

    @property
    def room(self) -> str:
        """Return the folder below `gitguard/`, or `gitguard` for its own modules."""
        parts = self.path.split("/")
        return parts[1] if len(parts) > 2 else parts[0]

    def __str__(self) -> str:
        """Return it as a person reads it."""
        return (
            f"{self.path}:{self.line} {self.kind}: {self.before.strip()}  →  {self.after.strip()}"
        )


def variant(node: ast.AST) -> tuple[str, str]:
    """Return the kind of mutation and the new text for a node; both are empty where none fits."""
    changed = copy.deepcopy(node)
    match changed:
        case ast.Compare(ops=[op]):
            changed.ops = [FLIPPED[type(op)]()]
            return "comparison flipped", f"({ast.unparse(changed)})"
        case ast.BoolOp(op=op):
            changed.op = ast.Or() if isinstance(op, ast.And) else ast.And()
            return "and/or", f"({ast.unparse(changed)})"
        case ast.Constant(value=bool(value)):
            return "constant changed", str(not value)
        case ast.Constant(value=int(value)):
            return "constant changed", str(value + 1)
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return "not dropped", f"({ast.unparse(operand)})"
        case ast.Return(value=ast.expr() as value) if not isinstance(value, ast.Constant):
            return "return of None", "return None"
        case ast.Expr(value=ast.Call()) | ast.AugAssign() | ast.Raise() | ast.Continue():
            return "statement deleted", "pass"
    return "", ""


def nodes(parent: ast.AST, function: str = "") -> Iterator[tuple[ast.AST, str]]:
    """Yield what runs, each with its function; annotations and parts of f-strings do not count."""
    for name, value in ast.iter_fields(parent):
        if name in ("annotation", "returns", "decorator_list"):
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST) and not isinstance(child, ast.JoinedStr):
                inner = child.name if isinstance(child, ast.FunctionDef) else function
                yield child, inner
                yield from nodes(child, inner)


def mutants_of(path: str, source: str) -> Iterator[Mutant]:
    """Yield each mutant of a module that changes one line."""
    lines = source.splitlines(keepends=True)
    for node, function in nodes(ast.parse(source)):
        kind, text = variant(node)
        if not kind or not isinstance(node, ast.expr | ast.stmt) or node.lineno != node.end_lineno:
            continue
        before = lines[node.lineno - 1]
        data = before.encode()
        start, end = data[: node.col_offset], data[node.end_col_offset :]
        after = (start + text.encode() + end).decode()
        yield Mutant(path, node.lineno, function, kind, before, after)


def is_python(tree: Path, mutant: Mutant) -> bool:
    """Tell whether a module can be read with a mutant in it."""
    with contextlib.suppress(SyntaxError):
        ast.parse(mutated((tree / mutant.path).read_text(), mutant))
        return True
    return False


def mutated(source: str, mutant: Mutant) -> str:
    """Return a module with one line as the mutant has it."""
    lines = source.splitlines(keepends=True)
    lines[mutant.line - 1] = mutant.after
    return "".join(lines)


def choose(tree: Path, seed: int, count: int) -> list[Mutant]:
    """Return `count` mutants: one of each room, then more by size, and of each kind alike."""
    chance = random.Random(seed)
    by_room: defaultdict[str, list[Mutant]] = defaultdict(list)
    for file in sorted(tree.glob("gitguard/**/*.py")):
        path = file.relative_to(tree).as_posix()
        if path not in GENERATED:
            for mutant in mutants_of(path, file.read_text()):
                by_room[mutant.room].append(mutant)
    rooms = sorted(by_room)
    rooms += chance.choices(rooms, [len(by_room[room]) for room in rooms], k=2 * count)
    chosen: dict[tuple[str, int], Mutant] = {}
    for room in rooms:
        kind = chance.choice(sorted({mutant.kind for mutant in by_room[room]}))
        mutant = chance.choice([each for each in by_room[room] if each.kind == kind])
        if len(chosen) < count and is_python(tree, mutant):
            chosen.setdefault((mutant.path, mutant.line), mutant)
    return sorted(chosen.values(), key=lambda mutant: (mutant.path, mutant.line))


def relocate(tree: Path, mutant: Mutant) -> Mutant | None:
    """Return a mutant of another commit at the place where its line is now, if it still is."""
    places: list[tuple[bool, bool, int, Mutant]] = []
    for file in sorted(tree.glob("gitguard/**/*.py")):
        path = file.relative_to(tree).as_posix()
        text = file.read_text()
        if mutant.before.strip() not in text:
            continue
        for each in mutants_of(path, text):
            same = each.before.strip(), each.after.strip()
            if same == (mutant.before.strip(), mutant.after.strip()):
                far = abs(each.line - mutant.line)
                elsewhere = each.path != mutant.path
                places.append((each.function != mutant.function, elsewhere, far, each))
    if not places:
        return None
    nearest = min(places, key=lambda place: place[:3])
    return replace(nearest[3], killer=mutant.killer)


def put_in(tree: Path, mutants: list[Mutant]) -> None:
    """Write these mutants into a clean tree."""
    run_git(tree, "checkout", "--quiet", "gitguard")
    for mutant in mutants:
        file = tree / mutant.path
        file.write_text(mutated(file.read_text(), mutant))


def run_git(tree: Path, *words: str) -> None:
    """Run git in a tree."""
    subprocess.run(["git", "-C", str(tree), *words], check=True)


def near(tree: Path, mutant: Mutant) -> list[str]:
    """Return the tests that name a mutant's function or module, or are named for it; best first."""
    module = Path(mutant.path)
    package = ".".join(module.parent.parts)
    function = re.compile(rf"\b{re.escape(mutant.function)}\b")
    ranked: list[tuple[int, int, str]] = []
    for test in all_tests(tree):
        text = (tree / test).read_text()
        imports = f"{package}.{module.stem}" in text or bool(
            re.search(rf"from {re.escape(package)} import [^)]*?\b{module.stem}\b", text)
        )
        calls = bool(mutant.function and function.search(text))
        named = module.stem in Path(test).stem
        neighbour = Path(test).parts[1:-1] == module.parts[1:-1]
        score = 8 * (imports and calls) + 6 * named + 4 * imports + 2 * calls + neighbour
        if score:
            ranked.append((-score, len(text), test))
    return [test for _, _, test in sorted(ranked)][:NEAR_FILES]


def all_tests(tree: Path) -> list[str]:
    """Return the files of `make test`, without those that read the source itself."""
    files = {file.relative_to(tree).as_posix() for file in tree.glob("tests/**/test_*.py")}
    return sorted(file for file in files - READS_SOURCE if not file.startswith("tests/e2e/"))


def failures(tree: Path, tests: list[str], *options: str, seconds: float) -> list[str]:
    """Return the tests that fail in a tree, without their parameters, in at most some seconds."""
    command = [str(tree / ".venv/bin/python"), "-m", "pytest", "-q", "--tb=no", "-rfE"]
    command += ["-p", "no:cacheprovider", "--timeout=120", *options, *tests]
    process = subprocess.Popen(
        command,
        cwd=tree,
        env=os.environ | {"PYTEST_DEBUG_TEMPROOT": str(tree.parent)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    try:
        output, _ = process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        return []
    return list(dict.fromkeys(re.findall(r"^(?:FAILED|ERROR) ([^\s[]+)", output, re.MULTILINE)))


def killer_of(tree: Path, mutant: Mutant, tests: list[str], seconds: float) -> str:
    """Return the first of these tests that fails with a mutant, if it does not without it."""
    if not tests:
        return ""
    put_in(tree, [mutant])
    failed = failures(tree, tests, "-x", seconds=seconds)[:1]
    put_in(tree, [])
    return failed[0] if failed and not failures(tree, failed, seconds=seconds) else ""


def kill_together(tree: Path, alive: list[Mutant], jobs: int) -> list[Mutant]:
    """Run all tests with all these mutants, then each with what failed; return them tried."""
    put_in(tree, alive)
    options = ("-n", str(jobs), "--dist", "worksteal")
    failed = failures(tree, all_tests(tree), *options, seconds=ALL_SECONDS)
    return [
        replace(mutant, killer=killer_of(tree, mutant, failed, ALL_SECONDS)) for mutant in alive
    ]


def try_all(tree: Path, mutants: list[Mutant], near_only: bool, jobs: int) -> Iterator[Mutant]:
    """Yield each mutant with the test that kills it."""
    alive = []
    for mutant in mutants:
        begun = time.monotonic()
        last = [mutant.killer] if mutant.killer else []
        killer = killer_of(tree, mutant, last, NEAR_SECONDS)
        killer = killer or killer_of(tree, mutant, near(tree, mutant), NEAR_SECONDS)
        taken = f"{time.monotonic() - begun:.0f} s"
        print(f"{'killed' if killer else 'alive '} {taken:>6}  {mutant}  {killer}", flush=True)
        if killer:
            yield replace(mutant, killer=killer)
        else:
            alive.append(replace(mutant, killer=""))
    yield from alive if near_only or not alive else kill_together(tree, alive, jobs)


def main() -> int:
    """List or try the mutants; return 1 where one is alive."""
    parser = argparse.ArgumentParser(prog="python -m tests.mutants", description=__doc__)
    parser.add_argument("--seed", type=int, default=29)
    parser.add_argument("--count", type=int, default=40)
    parser.add_argument("--list", action="store_true", help="list them, and try none")
    parser.add_argument("--only", type=int, metavar="N", help="try the one with this number")
    parser.add_argument("--near", action="store_true", help="run only the tests near each")
    parser.add_argument("--again", type=Path, metavar="FILE", help="try those of an earlier --json")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write what became of each")
    parser.add_argument("--jobs", type=int, default=2, help="processes for a run of all tests")
    options = parser.parse_args()
    if options.again:
        mutants = []
        for fields in json.loads(options.again.read_text()):
            mutant = relocate(ROOT, Mutant(**fields))
            if mutant is None:
                print(f"gone: {Mutant(**fields)}")
            else:
                mutants.append(mutant)
    else:
        mutants = choose(ROOT, options.seed, options.count)
    if options.list:
        for number, mutant in enumerate(mutants, 1):
            print(f"{number:3} {mutant}")
        return 0
    if options.only:
        mutants = mutants[options.only - 1 : options.only]
    with tempfile.TemporaryDirectory(prefix="gitguard-mutants-") as name:
        tree = Path(name).resolve() / "tree"
        subprocess.run(["git", "clone", "--quiet", str(ROOT), str(tree)], check=True)
        subprocess.run(["make", "--silent", "-C", str(tree), "setup"], check=True)
        tried = []
        for mutant in try_all(tree, mutants, options.near, options.jobs):
            tried.append(mutant)
            if options.json:
                options.json.write_text(json.dumps([asdict(each) for each in tried], indent=1))
    alive = [mutant for mutant in tried if not mutant.killer]
    for mutant in alive:
        print(f"SURVIVES {mutant}")
    print(f"{len(tried) - len(alive)} killed, {len(alive)} alive")
    return 1 if alive else 0


if __name__ == "__main__":
    sys.exit(main())
