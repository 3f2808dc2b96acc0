"""The documents are true: generated pages are current, commands do what is shown, links lead on."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import click
import pytest

from gitguard.cli.app import app
from gitguard.model.codec import load_json, load_yaml
from gitguard.model.config.config import DEFAULTS, read_config
from gitguard.model.tokens import tokens_of
from gitguard.model.triggers import TRIGGERS
from gitguard.state.checkpoint import read_checkpoint
from gitguard.state.task import read_state
from tests.generating import generate_references as generated
from tests.support import written_conversations as written
from tests.support.pages import check_console
from tests.support.scratch import console_blocks, make_repository, shell

ROOT = Path(__file__).parent.parent
REFERENCES = ROOT / "references"
PAGES = sorted(
    [
        *(ROOT / name for name in ("README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md")),
        *REFERENCES.rglob("*.md"),
    ]
)


@pytest.mark.parametrize("name", generated.PAGES)
def test_generated_pages_are_current(name: str) -> None:
    page = generated.PAGES[name]()
    assert (REFERENCES / name).read_text() == page, "run `make references`"


def test_the_configuration_example_is_the_defaults() -> None:
    text = (REFERENCES / "reference" / "config-example.yaml").read_bytes()
    config = read_config(load_yaml(text, what="the example"), what="the example")
    assert config == DEFAULTS


def test_the_state_example_reads() -> None:
    data = (REFERENCES / "reference" / "persisted-state.example.json").read_bytes()
    assert read_state(load_json(data, what="the example")) == generated.example_state()


def test_the_snapshot_example_reads() -> None:
    data = (REFERENCES / "reference" / "snapshot.example.yaml").read_bytes()
    document = load_yaml(data, what="the example")
    assert (document["schema"], document["schema_version"]) == ("openclaw/checkpoint", 1)
    assert document["meta"]["trigger"] in TRIGGERS


def test_the_message_example_is_a_checkpoint() -> None:
    message = generated.example_message().strip("`").lstrip("\n")
    body = f"tree {'0' * 40}\ncommitter a <a@b> 1 +0000\n\n{message}"
    checkpoint, _ = read_checkpoint("1" * 40, body.encode())
    assert (checkpoint.sequence, checkpoint.trigger) == (7, "compaction")


def test_the_resume_example_keeps_its_budget() -> None:
    block = generated.example_resume().split("```\n")[1]
    assert tokens_of(block) <= DEFAULTS.resume.after_compaction


def test_links_lead_somewhere() -> None:
    dead = [
        f"{page.name}: {target}"
        for page in PAGES
        for target in re.findall(r"\]\(([^)#]+)", re.sub(r"`[^`]*`", "", page.read_text()))
        if not target.startswith("https://") and not (page.parent / target).exists()
    ]
    assert dead == []


def test_named_commands_exist() -> None:
    groups = {"session", "handoff", "policy", "transcript", "config", "trust"}
    known = {name.removeprefix("gitguard ") for name, _ in generated.commands()} | groups
    options = {opt for _, command in generated.commands() for p in command.params for opt in p.opts}
    for page in PAGES:
        for words in re.findall(r"`gitguard ([a-z][^`]*)`", " ".join(page.read_text().split())):
            first, *rest = words.split()
            is_nested = first in groups and rest and not rest[0].startswith("-")
            name = f"{first} {rest[0]}" if is_nested else first
            where = f"{page.name}: `gitguard {words}`"
            assert name in known, where
            assert {w for w in rest if w.startswith("--")} <= options | {"--help"}, where


@pytest.mark.parametrize(
    ("name", "command"), [*generated.commands()], ids=[name for name, _ in generated.commands()]
)
def test_every_command_has_help_an_example_that_parses_and_a_row_for_each_option(
    name: str, command: click.Command
) -> None:
    summary = (command.help or "").partition("\n")[0]
    assert summary
    assert not summary.endswith(".")
    [example] = re.findall(r"^ *Example: `(.*)`$", command.help or "", re.MULTILINE)
    words = shlex.split(re.split(r" [<>]", example)[0])
    assert words[: len(name.split())] == name.split()
    # click remembers the help option of the first context, for the tests after this one as well.
    with click.Context(command, **app.context_settings) as context:
        command.parse_args(context, words[len(name.split()) :])
    page = (REFERENCES / "reference" / "commands.md").read_text()
    _, _, section = page.partition(f"\n## {name}\n")
    rows = section.partition("\n## ")[0] + page.partition("\n## ")[0]
    for parameter in command.params:
        if isinstance(parameter, click.Option):
            assert parameter.help
            assert all(f"`{option}" in rows for option in parameter.opts), parameter.opts


def test_plain_git_recipes_run(tmp_path: Path) -> None:
    root, home = tmp_path / "repo", tmp_path / "home"
    make_repository(root, home)
    shell("git init --quiet --bare ../origin && git remote add origin ../origin", root, home)
    notes = {"design": "Choose a parser", "build": "Write the tokenizer's tests"}
    shell("gitguard ensure", root, home)
    for phase, action in notes.items():
        note = f'gitguard note --goal "Port the parser" --phase {phase} --next "{action}"'
        assert "Saved checkpoint" in shell(note, root, home)
    before = (root / ".git" / "HEAD").read_bytes()
    check_console(REFERENCES / "guides" / "plain-git.md", root, home)
    assert (root / ".git" / "HEAD").read_bytes() == before


def test_the_readme_is_what_happens(tmp_path: Path) -> None:
    root, home = tmp_path / "repo", tmp_path / "home"
    make_repository(root, home)
    check_console(ROOT / "README.md", root, home)
    assert shell("git status --short", root, home) == ""


TOLD = (
    "design/links.md",
    "guides/first-day.md",
    "guides/handoff.md",
    "guides/hosts.md",
    "guides/moving.md",
    "guides/plugin.md",
    "guides/policy.md",
    "guides/publishing.md",
    "guides/pull-requests.md",
    "guides/recovering.md",
    "guides/files.md",
    "guides/report.md",
    "guides/reviewing.md",
    "guides/searching.md",
    "guides/security.md",
    "guides/sessions.md",
    "guides/setup.md",
    "guides/two-machines.md",
    "guides/without-hooks.md",
)
"""Pages whose commands run in a repository with a session and nothing else."""
WITH_CONVERSATION = ("guides/transcripts.md",)
"""Pages whose commands also need a conversation, `chat.jsonl`."""


@pytest.mark.parametrize("page", TOLD)
def test_a_page_tells_what_happens(tmp_path: Path, page: str) -> None:
    root, home = tmp_path / "repo", tmp_path / "home"
    make_repository(root, home)
    shell("gitguard ensure", root, home)
    check_console(REFERENCES / page, root, home)


@pytest.mark.parametrize("page", WITH_CONVERSATION)
def test_a_page_tells_what_happens_to_a_conversation(tmp_path: Path, page: str) -> None:
    root, home = tmp_path / "repo", tmp_path / "home"
    make_repository(root, home)
    shell("gitguard ensure", root, home)
    written.write_parser_conversation(root / "chat.jsonl")
    check_console(REFERENCES / page, root, home)


def test_a_session_moves_to_another_machine_as_its_guide_says(tmp_path: Path) -> None:
    page = (REFERENCES / "guides" / "two-machines.md").read_text().split("## Sign checkpoints")[0]
    push, *steps = [line.strip() for line in page.splitlines() if line.startswith("    g")]
    root, home, other_root, other_home = (tmp_path / name for name in ("a", "h", "b", "other"))
    make_repository(root, home)
    shell("git init --quiet --bare ../origin && git remote add origin ../origin", root, home)
    shell('gitguard ensure; gitguard note --goal "Port the parser"', root, home)
    shell(f"{push} main", root, home)
    make_repository(other_root, other_home)
    shell("git remote add origin ../origin && git fetch --quiet origin", other_root, other_home)
    fetch, look, trust = steps
    shell(fetch, other_root, other_home)
    assert "NOT OURS" in shell(look, other_root, other_home)
    shell(f"{trust} --yes", other_root, other_home)
    assert "Goal: Port the parser" in shell("gitguard resume", other_root, other_home)


def test_every_console_block_is_run() -> None:
    run = {ROOT / "README.md", REFERENCES / "guides" / "plain-git.md"}
    run |= {REFERENCES / page for page in TOLD + WITH_CONVERSATION}
    run |= {REFERENCES / "guides" / "settings.md"}  # in test_settings_command.py, with a host
    run |= {REFERENCES / "guides" / "profile.md"}  # in test_profile.py, with a conversation
    assert {page for page in PAGES if console_blocks(page)} == run


GUIDES = sorted((REFERENCES / "guides").glob("*.md"))


def test_every_reference_is_in_the_index() -> None:
    index = (REFERENCES / "README.md").read_text()
    files = {path.relative_to(REFERENCES).as_posix() for path in REFERENCES.rglob("*.*")}
    files -= {"README.md", "session.svg"}
    assert {name for name in files if f"]({name})" not in index} == set()


def test_a_guide_is_at_most_two_screens_long() -> None:
    lengths = {page.name: len(page.read_text().splitlines()) for page in GUIDES}
    assert {name: lines for name, lines in lengths.items() if lines > 120} == {}


def test_schema_and_page_name_the_same_fields() -> None:
    schema = json.loads((REFERENCES / "reference" / "task-state.schema.json").read_text())
    page = (REFERENCES / "reference" / "task-state.md").read_text()
    assert all(f"| `{name}` |" in page for name in schema["properties"])


def test_the_readme_names_only_what_an_agent_can_note() -> None:
    from gitguard.cli.notes import note

    paragraph = (ROOT / "README.md").read_text(encoding="utf-8").split("\n\n")[1]
    listed = re.search(r"commit of the agent's\s+(.+?) and (\w+) on a branch", paragraph, re.DOTALL)
    assert listed is not None
    options = {option.removeprefix("--") for p in note.params for option in p.opts}
    for name in [*listed[1].split(", "), listed[2]]:
        assert name.split()[0].removesuffix("s") in options, f"nobody can note a {name}"
