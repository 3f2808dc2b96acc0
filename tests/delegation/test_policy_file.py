"""`.context-policy.yml`: read strictly, and of a stranger."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitguard.delegation.policy_file import LARGEST, NAME, read_policy
from gitguard.delegation.spawn_answer import policy_of
from gitguard.delegation.spawn_policy import SpawnPolicy, Threshold
from gitguard.errors import GitguardError, InvalidConfig, InvalidDocument
from gitguard.guard import Guard
from gitguard.model.codec import load_yaml
from gitguard.model.config.config import DEFAULTS
from gitguard.store.session.workspace import UserDirs
from tests.conftest import OpenGuard

REFERENCE = Path(__file__).parents[2] / "references" / "guides" / "policy.md"


def written(guard: Guard, text: str) -> SpawnPolicy:
    (Path(guard.workspace.place.worktree) / NAME).write_text(text, encoding="utf-8")
    return policy_of(guard.workspace, guard.config.gauge)


def refused(guard: Guard, text: str) -> GitguardError:
    with pytest.raises((InvalidConfig, InvalidDocument)) as raised:
        written(guard, text)
    assert NAME in raised.value.message
    return raised.value


def refusals() -> contextlib.suppress:
    """Nothing else may come of a file, whatever it says."""
    return contextlib.suppress(InvalidConfig, InvalidDocument)


def thresholds(*entries: str) -> str:
    listed = ", ".join(f"{{{entry}}}" for entry in entries)
    return f"spawn_policy: {{context_thresholds: [{listed}]}}"


def test_without_the_file_what_is_built_in_holds(guard: Guard) -> None:
    assert policy_of(guard.workspace, guard.config.gauge) == SpawnPolicy()


def test_configured_levels_of_delegation_move_the_built_in_thresholds(
    open_guard: OpenGuard, places: UserDirs
) -> None:
    config = Path(places.config_home) / "config.yaml"
    config.parent.mkdir(exist_ok=True)
    config.write_text("gauge: {hand_over_heavy: 0.3, hand_over_any: 0.6}\n")
    guard = open_guard()
    without_file = policy_of(guard.workspace, guard.config.gauge)
    with_file = written(guard, "spawn_policy: {always_spawn: [audit]}")
    for policy in (without_file, with_file):
        assert [threshold.level for threshold in policy.thresholds] == ["30%", "60%"]


@pytest.mark.parametrize("text", ["", "{}", "spawn_policy:", "spawn_policy: {}"])
def test_a_file_that_says_nothing_changes_nothing(guard: Guard, text: str) -> None:
    assert written(guard, text) == SpawnPolicy(source=NAME)


def test_an_empty_list_of_thresholds_means_none(guard: Guard) -> None:
    read = written(guard, "spawn_policy: {context_thresholds: []}")
    assert read == SpawnPolicy(thresholds=(), source=NAME)


def test_a_wrong_action_is_told_the_actions_and_nothing_empty(guard: Guard) -> None:
    said = refused(guard, thresholds("above: 50%, action: compct")).message
    assert "must be one of spawn, keep," in said


@pytest.mark.parametrize("above", ["50", "0.5"])
def test_a_number_in_place_of_a_share_is_told_the_form(guard: Guard, above: str) -> None:
    assert "`above: 50%`" in refused(guard, thresholds(f"above: {above}, action: keep")).hint


def test_a_missing_quote_is_named(guard: Guard) -> None:
    text = "spawn_policy:\n  context_thresholds:\n    - above: 50%\n      spawn_if: >3 tool calls\n"
    assert '">3 tool calls"' in refused(guard, text).hint
    assert refused(guard, "a: b: c").hint == ""


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "spawn_policy:\n  never_spawn: [a]\n  never_spawn: [b]\n",
            'found duplicate key "never_spawn" in line 3, column 3',
        ),
        ("a: b: c", "mapping values are not allowed here in line 1, column 5"),
        ("[audit", "expected ',' or ']', but got '<stream end>' in line 1, column 7"),
        ("a: \x01", "special characters are not allowed at position 3"),
    ],
)
def test_what_does_not_read_is_said_with_its_place_and_nothing_of_the_parser(
    guard: Guard, text: str, said: str
) -> None:
    message = refused(guard, text).message
    assert message.startswith(f"`{NAME}` is not valid YAML: ")
    assert message.endswith(said)
    assert "unicode string" not in message


@pytest.mark.parametrize(
    "text", ["spawn_policy: {always_spawn: audit}", "spawn_policy: {never_spawn: 1}"]
)
def test_one_category_in_place_of_a_list_is_told_the_form(guard: Guard, text: str) -> None:
    assert "`always_spawn: [audit]`" in refused(guard, text).hint


@pytest.mark.parametrize(
    "entry", ["above: 50%", 'above: 5%, action: keep, spawn_if: ">1 tool call"']
)
def test_a_threshold_of_neither_or_both_is_told_the_form(guard: Guard, entry: str) -> None:
    assert "`action`" in refused(guard, thresholds(entry)).hint


def test_a_file_with_another_ending_is_not_passed_over_in_silence(guard: Guard) -> None:
    (Path(guard.workspace.place.worktree) / ".context-policy.yaml").write_text("{}")
    with pytest.raises(InvalidConfig, match=r"\.context-policy\.yaml"):
        policy_of(guard.workspace, guard.config.gauge)


def test_what_a_project_says_is_read(guard: Guard) -> None:
    read = written(
        guard,
        """
spawn_policy:
  always_spawn: [audit, migrations]
  never_spawn: [research]
  context_thresholds:
    - {above: 80%, action: compact}
    - {above: 40.5 %, spawn_if: ">3 tool calls"}
    - above: 0%
      spawn_if: "> 1 tool call"
""",
    )
    assert (read.always, read.never) == (("audit", "migrations"), ("research",))
    assert read.thresholds == (
        Threshold(0.0, 1),
        Threshold(0.405, 3),
        Threshold(0.8, action="compact"),
    )


def test_the_example_of_the_reference_is_read(guard: Guard) -> None:
    example = REFERENCE.read_text().split("```yaml\n")[1].split("```")[0]
    read = written(guard, example)
    assert read.always
    assert read.never
    assert {threshold.action for threshold in read.thresholds} == {"", "compact"}


@pytest.mark.parametrize(
    ("text", "named", "hint"),
    [
        ("spawn_polcy: {}", "`spawn_polcy`", "`spawn_policy`"),
        ("spawn_policy: {always_spwan: []}", "`spawn_policy.always_spwan`", "`always_spawn`"),
        (thresholds("above: 50%, spawn_when: x"), "context_thresholds[0].spawn_when", "`spawn_if`"),
        ("spawn_policy: {run: rm}", "`spawn_policy.run`", "Known: "),
    ],
)
def test_a_typo_is_named_with_what_is_meant(guard: Guard, text: str, named: str, hint: str) -> None:
    error = refused(guard, text)
    assert named in error.message
    assert hint in error.hint


@pytest.mark.parametrize("name", ["audio", "built", "builds", "edits", "commands", "research-x"])
def test_a_category_of_the_projects_own_may_resemble_a_built_in_one(
    guard: Guard, name: str
) -> None:
    read = written(guard, f"spawn_policy: {{always_spawn: [{name}]}}")
    assert read.always == (name,)
    assert len(read.notes) == 1


@pytest.mark.parametrize(
    "text",
    [
        thresholds("above: 150%, action: keep"),
        thresholds("above: 100.1%, action: keep"),
        thresholds("above: -5%, action: keep"),
        thresholds("above: 50, action: keep"),
        thresholds("above: 0.5, action: keep"),
        thresholds("above: half, action: keep"),
        thresholds("above: ٥0%, action: keep"),
        thresholds("above: 50%"),
        "spawn_policy: {context_thresholds: }",
        thresholds("action: keep"),
        thresholds('above: 50%, action: keep, spawn_if: ">3 tool calls"'),
        thresholds("above: 50%, action: rm -rf /"),
        thresholds('above: 50%, spawn_if: "3 tool calls"'),
        thresholds('above: 50%, spawn_if: ">3"'),
        thresholds('above: 50%, spawn_if: ">999999 tool calls"'),
        thresholds("above: 50%, action: keep", "above: 50.0%, action: spawn"),
        thresholds(*(f"above: {n}%, action: keep" for n in range(51))),
        "spawn_policy: []",
        "spawn_policy: {always_spawn: audit}",
        "spawn_policy: {always_spawn: [1]}",
        "spawn_policy: {always_spawn: [Audit]}",
        "spawn_policy: {always_spawn: ['a b']}",
        "spawn_policy: {always_spawn: [audit], never_spawn: [audit]}",
        f"spawn_policy: {{always_spawn: {[f'c{n}' for n in range(51)]}}}",
        "- spawn_policy",
        "spawn_policy: {never_spawn: [a], never_spawn: [b]}",
        "spawn_policy: &a {always_spawn: *a}",
        "a: &a [x, x]\nb: &b [*a, *a]\nspawn_policy: {always_spawn: *b}",
        "spawn_policy: !!python/object/apply:os.system [id]",
        "[" * 40,
        "spawn_policy: {}\n" + "#" * LARGEST,
        "a: b: c",
    ],
)
def test_whatever_else_is_wrong_is_refused(guard: Guard, text: str) -> None:
    refused(guard, text)


def test_a_link_a_folder_or_a_pipe_is_not_read(guard: Guard, tmp_path: Path) -> None:
    path = Path(guard.workspace.place.worktree) / NAME
    (tmp_path / "elsewhere.yml").write_text("spawn_policy: {}")
    path.symlink_to(tmp_path / "elsewhere.yml")
    with pytest.raises(InvalidDocument, match="symbolic link"):
        policy_of(guard.workspace, guard.config.gauge)
    path.unlink()
    path.mkdir()
    with pytest.raises(InvalidDocument):
        policy_of(guard.workspace, guard.config.gauge)
    path.rmdir()
    os.mkfifo(path)
    with pytest.raises(InvalidDocument):
        policy_of(guard.workspace, guard.config.gauge)


WORDS = st.sampled_from(
    ["spawn_policy", "always_spawn", "never_spawn", "context_thresholds", "above", "action", "x"]
)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS, inner, max_size=3),
    max_leaves=12,
)


@given(st.dictionaries(WORDS, VALUES, max_size=3))
def test_any_mapping_is_read_or_refused_by_name(document: dict[str, Any]) -> None:
    with refusals():
        read = read_policy(document, DEFAULTS.gauge)
        assert all(0 <= threshold.above <= 1 for threshold in read.thresholds)


@given(st.binary(max_size=200) | st.text(max_size=200).map(str.encode))
def test_any_bytes_are_read_or_refused(data: bytes) -> None:
    with refusals():
        read_policy(load_yaml(data, what=NAME, limit=LARGEST), DEFAULTS.gauge)
