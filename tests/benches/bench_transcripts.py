"""How fast whole transcripts are read: 100 MB, side by side with Python's own `json`.

`make bench-transcripts`, or with options
`python -m tests.benches.bench_transcripts [--runs N] [--only PART] [--json]`.
"""

from __future__ import annotations

import json
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from gitguard.model.config.config import DEFAULTS
from gitguard.model.events import Transcript
from gitguard.model.redaction.redactor import Redactor
from gitguard.profile.profiling import profile_of
from gitguard.transcripts import find_format
from gitguard.transcripts.exporting import Selection, json_lines
from gitguard.transcripts.rewriting.repair import repair
from tests.support.measuring import (
    Row,
    compare,
    limited,
    peak_megabytes,
    report,
    row_of,
    table_parser,
    timed,
)

_LARGE, _SMALL = 100_000_000, 1_000_000
_ALLOWED_MS = _LARGE / 60_000
"""60 MB a second; slower is allowed up to 1.5 times what `json.loads` takes."""
_ALPHABET = "abcdefghijklmnopqrstuvwxyz"


def write_conversation(path: Path, size: int) -> Path:
    """A conversation as Claude Code keeps it: short answers, calls, results of 200 B to 30 kB."""
    chance = random.Random(7)
    words = ["".join(chance.choices(_ALPHABET, k=chance.randint(2, 10))) for _ in range(3_000)]
    words += ["\n", '"quoted"', "\\", "é", "{x: 1}"]
    with path.open("w", encoding="utf-8") as file:
        for number, entry in enumerate(_entries(chance, words)):
            common = {
                "uuid": f"{number:036}",
                "sessionId": "s",
                "cwd": "/repo",
                "version": "2.1.330",
            }
            minute, second = divmod(number, 60)
            stamp = f"2026-01-31T{minute // 60 % 24:02}:{minute % 60:02}:{second:02}.000Z"
            line = {**common, "isSidechain": False, "timestamp": stamp, **entry}
            file.write(json.dumps(line, ensure_ascii=False) + "\n")
            if file.tell() >= size and entry["type"] == "assistant":
                return path
    raise AssertionError("it never ends")


def write_short_lines(path: Path, size: int, width: int) -> Path:
    """Claude Code's lines of about so many bytes each: prompts, calls, results and answers."""
    chance = random.Random(7)
    filling = "".join(chance.choices(f"{_ALPHABET}    ", k=1 << 16))
    parent = None
    with path.open("w", encoding="utf-8") as file:
        for number in range(size // width // 4 * 4):
            line = {"uuid": f"{number:036}", "parentUuid": parent, **_short_entry(number, "%")}
            parent = line["uuid"]
            text = json.dumps(line, separators=(",", ":"))
            begin = chance.randrange(1 << 15)
            file.write(text.replace("%", filling[begin : begin + max(width - len(text), 1)]) + "\n")
    return path


def _short_entry(number: int, text: str) -> dict[str, Any]:
    said = {"id": f"msg_{number}", "role": "assistant"}
    call = f"toolu_{number // 4}"
    use = {"type": "tool_use", "id": call, "name": "Bash", "input": {"command": text}}
    result = {"type": "tool_result", "tool_use_id": call, "content": text}
    kinds: tuple[dict[str, Any], ...] = (
        {"type": "user", "message": {"role": "user", "content": text}},
        {"type": "assistant", "message": {**said, "content": [use]}},
        {"type": "user", "message": {"role": "user", "content": [result]}},
        {"type": "assistant", "message": {**said, "content": [{"type": "text", "text": text}]}},
    )
    return kinds[number % 4]


def write_two_lines(path: Path, size: int) -> Path:
    """A prompt and an answer of so many bytes each."""
    with path.open("w", encoding="utf-8") as file:
        for number, parent in ((0, None), (3, "0")):
            entry = _short_entry(number, "word " * (size // 5))
            file.write(json.dumps({"uuid": str(number), "parentUuid": parent, **entry}) + "\n")
    return path


def _entries(chance: random.Random, words: list[str]) -> Iterator[dict[str, Any]]:
    def text(least: int, most: int) -> str:
        return " ".join(chance.choices(words, k=chance.randint(least, most) // 7 + 1))

    number = 0
    while True:
        number += 1
        if number % 12 == 1:
            yield {"type": "user", "message": {"role": "user", "content": text(50, 400)}}
        usage = {"input_tokens": number % 150_000 + 1, "output_tokens": 50}
        said = {"id": f"msg_{number}", "role": "assistant", "model": "claude-haiku-4-5"}
        blocks = {"type": "text", "text": text(20, 500)}
        yield {"type": "assistant", "message": {**said, "content": [blocks], "usage": usage}}
        use: dict[str, Any] = {"type": "tool_use", "id": f"toolu_{number}", "name": "Bash"}
        use["input"] = {"command": text(20, 120), "description": text(10, 40)}
        yield {"type": "assistant", "message": {**said, "content": [use], "usage": usage}}
        out = text(200, int(min(30_000, 200 + chance.lognormvariate(6.5, 1.2))))
        result = {"type": "tool_result", "tool_use_id": f"toolu_{number}", "content": out}
        message = {"role": "user", "content": [result]}
        yield {"type": "user", "message": message, "toolUseResult": {"stdout": out, "stderr": ""}}


def export(large: Path, _small: Path, runs: int) -> Row:
    transcript = Transcript(str(large), "claude-code")

    def ours() -> None:
        with open("/dev/null", "wb") as sink:
            sink.writelines(json_lines(transcript, Selection()))

    return against_json("export of 100 MB", ours, large, runs)


def entries(large: Path, _small: Path, runs: int) -> Row:
    transcript = Transcript(str(large), "claude-code")

    def ours() -> None:
        for _ in find_format("claude-code").entries(transcript):
            pass

    return against_json("entries of 100 MB", ours, large, runs)


def short_export(large: Path, _small: Path, runs: int) -> Row:
    short = write_short_lines(large.with_name("350.jsonl"), _LARGE, 350)
    transcript = Transcript(str(short), "claude-code")

    def ours() -> None:
        with open("/dev/null", "wb") as sink:
            sink.writelines(json_lines(transcript, Selection()))

    return against_json("export of lines of 350 bytes", ours, short, runs)


def short_repair(large: Path, _small: Path, runs: int) -> Row:
    """40 MB a second, of a file that needs nothing."""
    short = write_short_lines(large.with_name("257.jsonl"), _LARGE, 257)
    transcript = Transcript(str(short), "claude-code")
    row = compare(
        "repair of lines of 257 bytes",
        lambda: repair(transcript, time.time),
        "json.loads of its lines",
        loads(short),
        0,
        runs,
    )
    return replace(row, target=_LARGE / 40_000 / row.theirs_ms)


def short_repair_memory(large: Path, _small: Path, _runs: int) -> Row:
    short = write_short_lines(large.with_name("257.jsonl"), _LARGE, 257)
    peak = peak_of_gitguard("transcript", "repair", str(short))
    return limited("peak memory of that repair, MB", peak, 150)


def two_lines_export_memory(large: Path, _small: Path, _runs: int) -> Row:
    return _of_two_lines("export", large)


def two_lines_repair_memory(large: Path, _small: Path, _runs: int) -> Row:
    return _of_two_lines("repair", large)


def _of_two_lines(name: str, large: Path) -> Row:
    two = write_two_lines(large.with_name("two.jsonl"), _LARGE // 2)
    peak = peak_of_gitguard("transcript", name, str(two))
    return limited(f"peak memory of `{name}` of 2 lines, MB", peak, 220)


def repairing(large: Path, _small: Path, runs: int) -> Row:
    """A thousandth of the lines are lost, and as many torn; the repaired file is durable."""
    damaged, kept = large.with_name("damaged.jsonl"), large.with_name("kept.jsonl")
    with large.open("rb") as lines, kept.open("wb") as file:
        for number, line in enumerate(lines):
            if number % 1_000 != 500:
                file.write(line[:100] + b"\n" if number % 1_000 == 900 else line)
    transcript, pairs = Transcript(str(damaged), "claude-code"), []
    for _ in range(runs):
        shutil.copyfile(kept, damaged)
        pairs.append((timed(lambda: repair(transcript, time.time)), timed(loads(large))))
        for left in large.parent.glob("damaged.jsonl*"):
            left.unlink()
    return at_least_60_mb(row_of("repair of 100 MB", "json.loads of its lines", 1.5, pairs))


def against_json(what: str, ours: Callable[[], object], large: Path, runs: int) -> Row:
    return at_least_60_mb(compare(what, ours, "json.loads of its lines", loads(large), 1.5, runs))


def at_least_60_mb(row: Row) -> Row:
    """Allow as much as takes 60 MB a second, where that is more."""
    return replace(row, target=max(row.target, _ALLOWED_MS / row.theirs_ms))


def loads(path: Path) -> Callable[[], None]:
    def read() -> None:
        with path.open("rb") as file:
            for line in file:
                json.loads(line)

    return read


def usage(large: Path, small: Path, runs: int) -> Row:
    """The tokens alone, 100 times: what a hook reads."""
    read = find_format("claude-code").newest_reading

    def of(path: Path) -> Callable[[], object]:
        return lambda: [read(Transcript(str(path), "claude-code")) for _ in range(100)]

    return compare("tokens of 100 MB, 100 times", of(large), "of 1 MB", of(small), 1.2, runs)


def counting(large: Path, _small: Path, runs: int) -> Row:
    """Compactions from the start on, which `usage` counts where the session knows no number."""
    transcript = Transcript(str(large), "claude-code")

    def ours() -> None:
        find_format("claude-code").compactions(transcript)

    return compare(
        "compactions of 100 MB", ours, "json.loads of its lines", loads(large), 0.15, runs
    )


def command_usage(large: Path, small: Path, runs: int) -> Row:
    """The whole command on a file that no session knows; most of it is the program's start."""
    mine, yours = command("usage", large), command("usage", small)
    return compare("`transcript usage` of 100 MB", mine, "of 1 MB", yours, 2, runs)


def memory(large: Path, _small: Path, _runs: int) -> Row:
    return peak_of("export", large)


def repair_memory(large: Path, _small: Path, _runs: int) -> Row:
    return peak_of("repair", large)


def profiling(large: Path, _small: Path, runs: int) -> Row:
    """Beside reading, all is counted."""
    transcript = Transcript(str(large), "claude-code")

    def ours() -> None:
        profile_of(transcript, DEFAULTS, Redactor())

    return compare("profile of 100 MB", ours, "json.loads of its lines", loads(large), 5, runs)


def profile_memory(large: Path, _small: Path, _runs: int) -> Row:
    return limited("peak memory of `profile`, MB", peak_of_gitguard("profile", str(large)), 100)


def peak_of(name: str, large: Path) -> Row:
    peak = peak_of_gitguard("transcript", name, str(large))
    return limited(f"peak memory of `{name}`, MB", peak, 150)


def peak_of_gitguard(*words: str) -> float:
    program = (
        "import runpy; sys.argv[0] = 'gitguard'; runpy.run_module('gitguard', run_name='__main__')"
    )
    return peak_megabytes(program, *words)


def command(name: str, path: Path) -> Callable[[], object]:
    words = [sys.executable, "-m", "gitguard", "transcript", name, str(path)]
    return lambda: subprocess.run(words, stdout=subprocess.DEVNULL, check=True)


ROWS = (
    *(usage, counting, command_usage, entries, export, repairing, profiling),
    *(memory, repair_memory, profile_memory),
    *(short_export, short_repair, short_repair_memory),
    *(two_lines_export_memory, two_lines_repair_memory),
)


def main() -> None:
    """Print the table, or JSON; the exit code says whether every target holds."""
    options = table_parser(__doc__, runs=7).parse_args()
    with tempfile.TemporaryDirectory(prefix="gitguard-bench-") as folder:
        large = write_conversation(Path(folder) / "large.jsonl", _LARGE)
        small = write_conversation(Path(folder) / "small.jsonl", _SMALL)
        wanted = [measure for measure in ROWS if options.only in measure.__name__]
        rows = (measure(large, small, options.runs) for measure in wanted)
        report(rows, as_json=options.json)


if __name__ == "__main__":
    main()
