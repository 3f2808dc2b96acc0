"""Configuration: what a user may set, how far a repository may go, and the cache of both."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from gitguard.errors import GitguardError, InvalidConfig, InvalidDocument, MissingState
from gitguard.guard import Guard
from gitguard.model.config.config import DEFAULTS
from gitguard.store.session.workspace import UserDirs
from tests.conftest import OpenGuard
from tests.support.conversation import Conversation


@pytest.fixture
def user(places: UserDirs) -> Path:
    """The user's configuration file."""
    path = Path(places.config_home) / "config.yaml"
    path.parent.mkdir()
    return path


@pytest.fixture
def repository(repo: Path) -> Path:
    """The repository's configuration file."""
    path = repo / ".gitguard" / "config.yaml"
    path.parent.mkdir()
    return path


@pytest.mark.parametrize(
    ("text", "warns_at"),
    [
        ("thresholds: {critical: 0.92}", 0.92),
        ("thresholds: {critical: 0.8}", 0.8),
        ("thresholds: {critical: 0.92}\ngauge: {warn_critical: 0.88}", 0.88),
        ("gauge: {warn_critical: 0.9}", 0.9),
        ("thresholds: {critical: 0.75}", 0.85),  # it has to stay above `warn_compact`
    ],
)
def test_the_last_warning_comes_where_the_gate_halts_unless_it_is_set(
    open_guard: OpenGuard, user: Path, text: str, warns_at: float
) -> None:
    user.write_text(text)
    assert open_guard().config.gauge.warn_critical == warns_at


def test_a_repository_that_lowers_the_halt_lowers_the_last_warning_with_it(
    open_guard: OpenGuard, user: Path, repository: Path
) -> None:
    repository.write_text("thresholds: {critical: 0.8}")
    assert open_guard().config.gauge.warn_critical == 0.8
    user.write_text("gauge: {warn_critical: 0.84}")
    assert open_guard().config.gauge.warn_critical == 0.84, "the user set it apart from the halt"


def test_a_repository_may_lower_the_levels_of_delegation_and_not_raise_them(
    open_guard: OpenGuard, repository: Path
) -> None:
    repository.write_text("gauge: {hand_over_heavy: 0.6, hand_over_any: 0.4}")
    gauge = open_guard().config.gauge
    assert gauge.hand_over_any == 0.4
    assert 0 < gauge.hand_over_heavy < 0.4


def test_without_files_the_defaults_are_in_force(guard: Guard) -> None:
    assert guard.config == DEFAULTS
    limits = guard.config.thresholds
    assert (limits.warning, limits.compress, limits.critical) == (0.55, 0.70, 0.85)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("thresholds: {warning: 0.8}", "rise between 0 and 1"),
        ("thresholds: {warning: 0.7}", "rise between 0 and 1"),
        ("thresholds: {critical: 1.2}", "`thresholds.critical` must be a number from 0 to 1"),
        ("thresholds: {critical: .nan}", "thresholds.critical"),
        ("thresholds: {warning: -0.1}", "thresholds.warning"),
        ("thresholds: {warning: 0}", "rise between 0 and 1"),
        ("thresholds: {warning: high}", "`thresholds.warning`"),
        ("thresholds: {warn: 0.5}", "`thresholds.warn` is not a setting"),
        ("thresholds: 5", "`thresholds` must be an object"),
        ("gauge: {warn_hand_over: 0.9, warn_compact: 0.7, warn_critical: 0.5}", "must rise"),
        ("gauge: {warn_compact: 0.65}", "the gauge's warnings must rise"),
        ("gauge: {warn_hand_over: 0}", "the gauge's warnings must rise"),
        ("gauge: {hand_over_heavy: 0.7}", "the gauge's levels of delegation must rise"),
        ("treshholds: {}", "`treshholds` is not a setting"),
        ("resume: {max_tokens: 500}", "`resume.max_tokens` is not a setting"),
        ("window: {default: 15999}", "15,999"),
        ("window: {cap: 15999}", "15,999"),
        ("window: {models: {m: 15999}}", "15,999"),
        ("window: {models: {m: big}}", "window.models.m"),
        ("store: {ref_prefix: refs/heads/}", "store.ref_prefix"),
        ("store: {directory: ../x}", "store.directory"),
        ("store: {directory: /tmp/x}", "store.directory"),
        ("store: {directory: .git}", "store.directory"),
        ("store: {directory: ''}", "store.directory"),
        ("reference_mode: maybe", "`reference_mode` must be true or false"),
        ("1: x", "which is not text"),
        ("[a, b]", "must be a YAML mapping"),
        ("a: &x 1\nb: *x", "alias"),
        ("a: !!python/object/apply:os.getcwd []", "not valid YAML"),
        ("thresholds: {}\nthresholds: {}", "not valid YAML"),
        ("{" * 200_000, "nested too deeply"),
        ("a: '" + "x" * 300_000 + "'", "the limit is"),
        ("a: \x00", "not valid YAML"),
    ],
    ids=lambda item: item[:30],
)
def test_a_wrong_setting_is_a_clear_error(
    user: Path, open_guard: OpenGuard, text: str, said: str
) -> None:
    user.write_text(text)
    with pytest.raises((InvalidConfig, InvalidDocument)) as caught:
        open_guard()
    assert said in caught.value.message
    assert str(user) in caught.value.message


@pytest.mark.parametrize("text", ["", "# nothing\n", "thresholds:\n", "window:\n  models: {}\n"])
def test_empty_parts_are_the_defaults(user: Path, open_guard: OpenGuard, text: str) -> None:
    user.write_text(text)
    assert open_guard().config == DEFAULTS


def test_a_configuration_that_is_a_link_is_read(
    user: Path, open_guard: OpenGuard, tmp_path: Path
) -> None:
    """People keep their settings in a repository of their own and link to them."""
    (tmp_path / "dotfiles.yaml").write_text("window: {default: 64000}")
    user.symlink_to(tmp_path / "dotfiles.yaml")
    assert open_guard().config.window.default == 64_000


def test_a_repository_only_tightens(user: Path, repository: Path, open_guard: OpenGuard) -> None:
    user.write_text(
        "thresholds: {warning: 0.5}\nwindow: {cap: 100000}\nresume: {after_compaction: 500}"
    )
    repository.write_text(
        "thresholds: {warning: 0.6, compress: 0.65, critical: 0.95}\n"
        "window: {cap: 150000, default: 900000, models: {m: 900000}}\n"
        "resume: {after_compaction: 9000, new_conversation: 900}\n"
        "gauge: {show_from: 0.9, checkpoint_at: 0.75}\n"
        "store: {ref_prefix: refs/gitguard/, directory: elsewhere}\n"
        "destructive: [make clean]\n"
        "reference_mode: true\n"
    )
    config = open_guard().config
    limits = config.thresholds
    assert (limits.warning, limits.compress, limits.critical) == (0.5, 0.65, 0.85)
    assert (config.window.cap, config.window.default, dict(config.window.models)) == (
        100_000,
        0,
        {},
    )
    assert (config.resume.after_compaction, config.resume.new_conversation) == (500, 900)
    assert (config.gauge.show_from, config.gauge.checkpoint_at) == (0.70, 0.75)
    assert config.store == DEFAULTS.store
    assert config.destructive == ("make clean",)
    assert config.reference_mode is False


def test_a_repository_cannot_let_every_tool_call_take_a_checkpoint(tmp_path: Path) -> None:
    talk = Conversation(tmp_path)
    own = "gauge: {checkpoint_step: 0, checkpoint_at: 0.001, warn_hand_over: 0.0001}"
    (talk.root / ".gitguard" / "config.yaml").write_text(own)
    talk.prompt("Begin")
    talk.uses(2_000)
    for _ in range(3):
        talk.send("PostToolUse.Bash")
    assert talk.triggers() == ["start", "auto-80pct"]
    gauge = talk.guard.config.gauge
    assert (gauge.checkpoint_step, gauge.checkpoint_at) == (0.05, 0.001)
    assert "`gauge.checkpoint_step`" in " ".join(talk.guard.status().warnings)


def test_what_a_repository_may_not_set_is_shown(repository: Path, open_guard: OpenGuard) -> None:
    repository.write_text("window: {default: 900000}\nstore: {directory: x}\nreference_mode: yes")
    open_guard().ensure()
    warnings = " ".join(open_guard().status().warnings)
    for name in ("window.default", "store", "reference_mode"):
        assert f"`{name}`" in warnings


def test_a_forged_cache_in_the_repository_cannot_loosen(
    user: Path, repository: Path, open_guard: OpenGuard
) -> None:
    repository.write_text("thresholds: {warning: 0.5}")
    found = repository.stat()
    signature = [found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_ino]
    values = {
        "thresholds": {"warning": 0.9, "compress": 0.95, "critical": 1.0},
        "reference_mode": True,
        "store": {"directory": "elsewhere"},
        "window": {"models": {"m": 10**9}},
    }
    forged = {"format": 1, "signature": signature, "values": values}
    repository.with_name(".gitignore").write_text("*\n")
    cache = repository.with_name("config.json")
    cache.write_text(json.dumps(forged))
    later = found.st_mtime + 60
    os.utime(cache, (later, later))
    config = open_guard().config
    assert config.thresholds == DEFAULTS.thresholds
    assert not config.reference_mode
    assert config.store == DEFAULTS.store
    assert not config.window.models


@pytest.mark.parametrize("damage", [b"", b"{}", b"[]", b'{"signature": 5}', b"\0"])
def test_a_damaged_cache_is_no_cache(
    user: Path, places: UserDirs, open_guard: OpenGuard, damage: bytes
) -> None:
    user.write_text("window: {default: 64000}")
    open_guard()
    (Path(places.state_home) / "config.json").write_bytes(damage)
    assert open_guard().config.window.default == 64_000


def test_a_changed_file_is_seen_even_with_the_same_size_and_in_the_same_instant(
    user: Path, open_guard: OpenGuard
) -> None:
    user.write_text("window: {default: 64000}")
    found = user.stat()
    assert open_guard().config.window.default == 64_000
    assert open_guard().config.window.default == 64_000
    with user.open("r+") as file:
        file.write("window: {default: 32000}")
    os.utime(user, ns=(found.st_atime_ns, found.st_mtime_ns))
    assert open_guard().config.window.default == 32_000


def test_the_second_opening_parses_no_yaml(
    user: Path, places: UserDirs, open_guard: OpenGuard
) -> None:
    user.write_text("window: {default: 64000}")
    open_guard()
    path = Path(places.state_home) / "config.json"
    cache = json.loads(path.read_text())
    assert cache["values"] == {"window": {"default": 64_000}}
    cache["values"]["window"]["default"] = 65_000
    path.write_text(json.dumps(cache))
    later = user.stat().st_ctime + 60
    os.utime(path, (later, later))
    assert open_guard().config.window.default == 65_000


def test_a_configuration_that_cannot_be_read_is_one_sentence(
    user: Path, open_guard: OpenGuard
) -> None:
    user.mkdir()
    with pytest.raises(GitguardError, match="config.yaml"):
        open_guard()
    user.rmdir()
    user.parent.rmdir()
    user.parent.write_text("a file where the folder should be")
    assert open_guard().config == DEFAULTS


def test_the_folder_can_be_placed_elsewhere_in_the_workspace(
    user: Path, repo: Path, open_guard: OpenGuard
) -> None:
    user.write_text("store: {directory: build/guard}")
    guard = open_guard()
    guard.ensure()
    assert (repo / "build" / "guard" / "sessions" / "main" / "state.json").exists()
    (repo / "build").rename(repo / "real")
    (repo / "build").symlink_to("real")
    with pytest.raises(MissingState, match="symbolic link"):
        open_guard()


@pytest.mark.parametrize("text", ["{critical: 0.5}", "{compress: 0.4}", "{critical: 0.001}"])
def test_a_repository_that_lowers_one_threshold_lowers_those_below_it(
    repository: Path, open_guard: OpenGuard, text: str
) -> None:
    repository.write_text(f"thresholds: {text}")
    limits = open_guard().config.thresholds
    assert 0 < limits.warning < limits.compress < limits.critical
    assert limits.critical == (0.85 if "compress" in text else float(text.split()[1][:-1]))
