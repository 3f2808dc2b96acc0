"""Configuration: defaults, what a user may set, and how far a repository may go.

A repository's file comes with a clone, so it can only tighten: lower thresholds, less text, more
destructive commands. Prefixes, folders and windows are the user's alone.
"""

from __future__ import annotations

from gitguard.errors import InvalidConfig, InvalidInput
from gitguard.model.config_maintenance import MaintenanceConfig, check_maintenance
from gitguard.model.config_transcripts import (
    BootstrapConfig,
    BudgetConfig,
    CompactionConfig,
    PruningConfig,
    check_budget,
    check_compaction,
)
from gitguard.model.record import Kind, Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any, ClassVar

    from gitguard.model.redaction import Redactor, Rule

SMALLEST_WINDOW = 16_000
SMALL_WINDOW = 32_000


class Thresholds(Record):
    """Shares of the window at which the gate changes its verdict."""

    kinds: ClassVar[Mapping[str, Kind]] = {
        "warning": Kind("share", "From here on state and summary are kept fresh."),
        "compress": Kind("share", "From here on a fresh summary comes before the next action."),
        "critical": Kind("share", "From here on the agent is halted."),
    }
    warning: float = 0.55
    compress: float = 0.70
    critical: float = 0.85
    extra: Mapping[str, Any] = {}


class GaugeConfig(Record):
    """When the gauge speaks and warns, and when it checkpoints by itself."""

    kinds: ClassVar[Mapping[str, Kind]] = {
        "show_from": Kind("share", "Pressure from which the agent is told how full it is."),
        "checkpoint_at": Kind("share", "Pressure at which `auto-80pct` is taken."),
        "checkpoint_step": Kind("share", "How far usage must move before the next `auto-80pct`."),
        "warn_hand_over": Kind("share", "Pressure at which a warning says to hand work over."),
        "warn_compact": Kind("share", "Pressure at which one says to compact; `auto-75pct`."),
        "warn_critical": Kind("share", "Pressure at which one says that the context is critical."),
    }
    show_from: float = 0.70
    checkpoint_at: float = 0.80
    checkpoint_step: float = 0.05
    warn_hand_over: float = 0.65
    warn_compact: float = 0.75
    warn_critical: float = 0.85
    extra: Mapping[str, Any] = {}


class WindowConfig(Record):
    """How large the context window is, in tokens."""

    kinds: ClassVar[Mapping[str, Kind]] = {
        "default": Kind("count", "The window that is assumed when nothing else is known."),
        "cap": Kind("count", "An upper limit on every window; 0 for none."),
        "models": Kind("counts", "Windows by `provider/model`, or by model alone."),
    }
    default: int = 200_000
    cap: int = 0
    models: Mapping[str, int] = {}
    extra: Mapping[str, Any] = {}


class ResumeConfig(Record):
    """The block that hands the state back."""

    kinds: ClassVar[Mapping[str, Kind]] = {
        "max_tokens": Kind("count", "Its size, in tokens of four characters."),
    }
    max_tokens: int = 700
    extra: Mapping[str, Any] = {}


class HandoffConfig(Record):
    """The hand-off file; every path is relative to the workspace's root."""

    kinds: ClassVar[Mapping[str, Kind]] = {
        "enabled": Kind(
            "flag", "Hooks write the file before a compaction, and hand it back in its place."
        ),
        "file": Kind("text", "The hand-off file."),
        "recovered": Kind("text", "Its name once it was handed back."),
        "recovery_file": Kind("text", "The block, for hosts that cannot be handed text."),
        "plan": Kind("text", "The plan that the agent keeps."),
        "failure_log": Kind("text", "The agent's log of failures, `---` between its entries."),
        "capabilities": Kind("text", "What the agent knows of itself; only its age is told."),
        "environment": Kind("text", "What it knows of its surroundings; only its age is told."),
        "daily_log": Kind("text", "The day's log; `{date}` stands for the date."),
        "max_age_minutes": Kind("count", "The file is handed back only if it is younger."),
        "recent_minutes": Kind("count", "How long ago a file was changed to be listed."),
        "depth": Kind("count", "How many folders deep changed files are looked for."),
        "shown_files": Kind("count", "Of changed files so many are named, the rest counted."),
        "section_characters": Kind("count", "The most that is handed back of one section."),
        "total_characters": Kind("count", "The most that is handed back in all."),
    }
    enabled: bool = False
    file: str = ".context-checkpoint.md"
    recovered: str = ".context-checkpoint.recovered.md"
    recovery_file: str = "CONTEXT_RECOVERY.md"
    plan: str = ".active-plan.md"
    failure_log: str = "skills/failure-recovery/failure-log.md"
    capabilities: str = "skills/self-model/capabilities.md"
    environment: str = "skills/env-model/environment.md"
    daily_log: str = "memory/{date}.md"
    max_age_minutes: int = 10
    recent_minutes: int = 30
    depth: int = 3
    shown_files: int = 20
    section_characters: int = 400
    total_characters: int = 2000
    extra: Mapping[str, Any] = {}

    @property
    def own_names(self) -> tuple[str, ...]:
        """The files that gitguard itself writes, renames and removes."""
        return (self.file, self.recovered, self.recovery_file)


class CustomRule(Record):
    """A shape of secret that only a project or its owner knows."""

    kinds: ClassVar[Mapping[str, Kind]] = {
        "name": Kind("text", "What the placeholder says: `[REDACTED:name]`."),
        "pattern": Kind(
            "text", "Literals, character classes, `\\b`, and one bounded repetition of a class."
        ),
    }
    name: str
    pattern: str
    extra: Mapping[str, Any] = {}


class RedactionConfig(Record):
    """What counts as a secret, besides the rules that are built in."""

    kinds: ClassVar[Mapping[str, Kind]] = {
        "rules": Kind("records", "Further rules.", record=CustomRule),
        "allow": Kind("texts", "SHA-256 of values that are no secrets, in hex."),
        "engine": Kind(
            "text", "A second engine, which has to be installed.", choices=("", "redact-secret")
        ),
    }
    rules: tuple[CustomRule, ...] = ()
    allow: tuple[str, ...] = ()
    engine: str = ""
    extra: Mapping[str, Any] = {}


class StoreConfig(Record):
    """Where checkpoints and working files lie."""

    kinds: ClassVar[Mapping[str, Kind]] = {
        "ref_prefix": Kind(
            "text", "`refs/heads/gitguard/`, or `refs/gitguard/` to keep them out of branches."
        ),
        "directory": Kind("text", "The folder of the working files, inside the workspace."),
    }
    ref_prefix: str = "refs/heads/gitguard/"
    directory: str = ".gitguard"
    extra: Mapping[str, Any] = {}


DESTRUCTIVE = (
    "rm -r|-f|--recursive|--force",
    "rmdir",
    "shred",
    "truncate",
    "dd of=*",
    "mkfs*",
    "find -delete",
    "git reset --hard",
    "git clean -f|--force",
    "git checkout --|-f|--force",
    "git restore",
    "git branch -D",
    "git push -f|--force|--force-with-lease*|--delete|--mirror",
    "git stash drop|clear",
    "git rebase",
    "git filter-branch",
    "git filter-repo",
    "git worktree remove",
    "docker prune",
    "kubectl delete",
    "terraform destroy",
    "drop table|database|schema|index",
    "delete from",
    "truncate table",
)
"""Words that must occur in this order in one simple command; `|` separates alternatives."""


class Config(Record):
    """The configuration in force."""

    kinds: ClassVar[Mapping[str, Kind]] = {
        "thresholds": Kind("record", "The gate's thresholds.", record=Thresholds),
        "gauge": Kind("record", "The gauge.", record=GaugeConfig),
        "window": Kind("record", "The context window.", record=WindowConfig),
        "resume": Kind("record", "The resume block.", record=ResumeConfig),
        "handoff": Kind("record", "The hand-off file.", record=HandoffConfig),
        "budget": Kind("record", "A conversation's budget.", record=BudgetConfig),
        "pruning": Kind("record", "Pruning of a transcript.", record=PruningConfig),
        "bootstrap": Kind("record", "Context files in the bundle.", record=BootstrapConfig),
        "compaction": Kind("record", "Compacting a transcript.", record=CompactionConfig),
        "summarizer": Kind("texts", "A command that summarizes what standard input gives it."),
        "store": Kind("record", "The store.", record=StoreConfig),
        "redaction": Kind(
            "record", "What is taken out before anything is written.", record=RedactionConfig
        ),
        "maintenance": Kind("record", "When sessions are archived.", record=MaintenanceConfig),
        "sign": Kind("flag", "Sign checkpoints with your git key, and take over signed ones."),
        "signers": Kind(
            "texts", "Whose signatures count, by SSH principal or fingerprint; empty: all of git's."
        ),
        "destructive": Kind("texts", "Further commands that count as destructive."),
        "reference_mode": Kind(
            "flag", "Estimate pressure from characters; for tests and reference only."
        ),
    }
    thresholds: Thresholds = Thresholds()
    gauge: GaugeConfig = GaugeConfig()
    window: WindowConfig = WindowConfig()
    resume: ResumeConfig = ResumeConfig()
    handoff: HandoffConfig = HandoffConfig()
    budget: BudgetConfig = BudgetConfig()
    pruning: PruningConfig = PruningConfig()
    bootstrap: BootstrapConfig = BootstrapConfig()
    compaction: CompactionConfig = CompactionConfig()
    summarizer: tuple[str, ...] = ()
    store: StoreConfig = StoreConfig()
    redaction: RedactionConfig = RedactionConfig()
    maintenance: MaintenanceConfig = MaintenanceConfig()
    sign: bool = False
    signers: tuple[str, ...] = ()
    destructive: tuple[str, ...] = ()
    reference_mode: bool = False
    extra: Mapping[str, Any] = {}


DEFAULTS = Config()
TIGHTENING = ("thresholds", "gauge", "window.cap", "resume", "redaction.rules", "destructive")
"""What a repository's configuration may contain."""


def read_config(document: dict[str, Any], *, what: str) -> Config:
    """Read a configuration file's mapping, or raise `InvalidConfig` naming key and value."""
    config = parse_config(document, what=what)
    check_config(config, what=what)
    return config


def parse_config(document: dict[str, Any], *, what: str) -> Config:
    """Read a mapping whose values need not fit together yet."""
    try:
        config = Config.from_document(document)
    except InvalidInput as error:
        raise InvalidConfig(f"{what}: {error.message}") from error
    _refuse_unknown(config, what, "")
    return config


def _refuse_unknown(record: Record, what: str, prefix: str) -> None:
    for name in getattr(record, "extra"):  # noqa: B009
        known = ", ".join(f"`{prefix}{key}`" for key in record.kinds)
        said = f"{what}: `{prefix}{name:.80}` is not a setting"
        raise InvalidConfig(said, f"Settings: {known}")
    for name in record.kinds:
        value = getattr(record, name)
        if isinstance(value, Record):
            _refuse_unknown(value, what, f"{prefix}{name}.")
        elif isinstance(value, tuple):
            for i, item in enumerate(value):
                if isinstance(item, Record):
                    _refuse_unknown(item, what, f"{prefix}{name}[{i}].")


def check_config(config: Config, *, what: str) -> None:
    """Refuse values that cannot be in force together."""
    limits = config.thresholds
    if not 0 < limits.warning < limits.compress < limits.critical <= 1:
        raise InvalidConfig(
            f"{what}: thresholds must rise between 0 and 1, not `warning {limits.warning}`, "
            f"`compress {limits.compress}`, `critical {limits.critical}`"
        )
    if config.handoff != DEFAULTS.handoff:
        from gitguard.model.handoff import check_handoff

        check_handoff(config.handoff, what=what)
    check_budget(config.budget, what=what)
    check_compaction(config.compaction, what=what)
    if config.redaction != DEFAULTS.redaction:
        from gitguard.model.config_redaction import check_redaction

        check_redaction(config.redaction, what)
    check_maintenance(config.maintenance, what=what)
    prefix, folder = config.store.ref_prefix, config.store.directory
    if prefix not in ("refs/heads/gitguard/", "refs/gitguard/"):
        raise InvalidConfig(
            f"{what}: `store.ref_prefix` is `{prefix}`",
            "Use `refs/heads/gitguard/` or `refs/gitguard/`",
        )
    parts = folder.split("/")
    if not folder or folder.startswith("/") or {"..", "", ".", ".git"} & set(parts):
        raise InvalidConfig(
            f"{what}: `store.directory` is `{folder}`; it must be a folder inside the workspace"
        )
    for name, tokens in (
        ("default", config.window.default),
        ("cap", config.window.cap or SMALL_WINDOW),
        *((f"models.{model}", size) for model, size in config.window.models.items()),
    ):
        if tokens < SMALLEST_WINDOW:
            raise InvalidConfig(
                f"{what}: `window.{name}` is {tokens:,} tokens; the smallest usable window is "
                f"{SMALLEST_WINDOW:,}"
            )


def redactor_of(redaction: RedactionConfig, further: tuple[Rule, ...] = ()) -> Redactor:
    """Return what takes secrets out of everything, with a configuration's and further rules."""
    from gitguard.model.redaction import Redactor
    from gitguard.model.redaction_patterns import custom_rule

    rules = (custom_rule(rule.name, rule.pattern) for rule in redaction.rules)
    engine = None
    if redaction.engine:
        from gitguard.model.redaction_engine import SecondEngine

        engine = SecondEngine()
    return Redactor((*further, *rules), redaction.allow, engine)


def tighten(user: Config, repository: Config) -> Config:
    """Apply a repository's configuration: every number only gets stricter, lists only grow."""
    caps = [cap for cap in (user.window.cap, repository.window.cap) if cap]
    return user.replace(
        thresholds=_tighten_thresholds(user.thresholds, repository.thresholds),
        gauge=GaugeConfig(
            *(min(getattr(user.gauge, n), getattr(repository.gauge, n)) for n in GaugeConfig.kinds)
        ),
        window=user.window.replace(cap=min(caps, default=0)),
        resume=ResumeConfig(min(user.resume.max_tokens, repository.resume.max_tokens)),
        redaction=user.redaction.replace(
            rules=user.redaction.rules
            + tuple(rule for rule in repository.redaction.rules if rule not in user.redaction.rules)
        ),
        destructive=tuple(dict.fromkeys(user.destructive + repository.destructive)),
    )


def _tighten_thresholds(user: Thresholds, repository: Thresholds) -> Thresholds:
    """Take the lower ones; what would lie above the next keeps the user's distance below it."""
    critical = min(user.critical, repository.critical)
    compress = min(user.compress, repository.compress)
    if compress >= critical:
        compress = critical * user.compress / user.critical
    warning = min(user.warning, repository.warning)
    if warning >= compress:
        warning = compress * user.warning / user.compress
    return Thresholds(warning, compress, critical)


def loosening(repository: dict[str, Any]) -> tuple[str, ...]:
    """Name the settings in a repository's file that only a user may make; they are ignored."""
    ignored = []
    for name, value in repository.items():
        within = [f"{name}.{key}" for key in value] if isinstance(value, dict) else []
        if any(setting.startswith(f"{name}.") for setting in TIGHTENING) and within:
            ignored += [setting for setting in within if setting not in TIGHTENING]
        elif name not in TIGHTENING:
            ignored.append(name)
    return tuple(ignored)
