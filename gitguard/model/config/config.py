"""Configuration: defaults, what a user may set, and how far a repository may go.

Here are the sections that every hook needs; the others have modules of their own.

A repository's file comes with a clone, so it can only tighten: lower thresholds, less text, fewer
words kept, more destructive commands. Prefixes, folders and windows are the user's alone.
"""

from __future__ import annotations

from gitguard.errors import InvalidConfig, InvalidInput
from gitguard.model import fields
from gitguard.model.fields import Later
from gitguard.model.record import ConfigSection, Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any

    from gitguard.model.config.files import FilesConfig
    from gitguard.model.config.handoff import HandoffConfig
    from gitguard.model.config.maintenance import MaintenanceConfig
    from gitguard.model.config.redaction import RedactionConfig
    from gitguard.model.config.sync import SyncConfig
    from gitguard.model.config.transcripts import (
        BootstrapConfig,
        BudgetConfig,
        CompactionConfig,
        PruningConfig,
    )

_HANDOFF = Later("gitguard.model.config.handoff", "HandoffConfig")
_BUDGET = Later("gitguard.model.config.transcripts", "BudgetConfig")
_PRUNING = Later("gitguard.model.config.transcripts", "PruningConfig")
_BOOTSTRAP = Later("gitguard.model.config.transcripts", "BootstrapConfig")
_COMPACTION = Later("gitguard.model.config.transcripts", "CompactionConfig")
_REDACTION = Later("gitguard.model.config.redaction", "RedactionConfig")
_FILES = Later("gitguard.model.config.files", "FilesConfig")
_MAINTENANCE = Later("gitguard.model.config.maintenance", "MaintenanceConfig")
_SYNC = Later("gitguard.model.config.sync", "SyncConfig")

DEFAULT_WINDOW = 200_000
"""What is assumed where nobody names a window."""
SMALLEST_WINDOW = 16_000
SMALL_WINDOW = 32_000
CRITICAL = 0.85
"""Where the gate halts, and the last warning comes, unless the user sets either of them."""
WORDS_WHOLE, WORDS_SHORT, WORDS_OFF = WORDS = ("whole", "short", "off")
"""How much of what is said is kept; each is stricter than the one before."""
FOLLOW_BRANCH, FOLLOW_FIXED = FOLLOWS = ("branch", "fixed")
_WARNINGS = ("warn_hand_over", "warn_compact", "warn_critical")
_HAND_OVERS = ("hand_over_heavy", "hand_over_any")
"""Both are levels of the gauge that have to rise."""


class Thresholds(ConfigSection):
    """Shares of the window at which the gate changes its verdict."""

    warning: float = fields.share(
        "Pressure from which the gate warns, and state and summary are kept fresh.", default=0.55
    )
    compress: float = fields.share(
        "Pressure from which the gate asks for a fresh summary before the next action.",
        default=0.70,
    )
    critical: float = fields.share(
        "Pressure from which the gate halts the agent.", default=CRITICAL
    )

    def check(self, what: str) -> None:
        """Refuse thresholds that do not rise."""
        if not 0 < self.warning < self.compress < self.critical <= 1:
            raise InvalidConfig(
                f"{what}: thresholds must rise between 0 and 1, not `warning {self.warning}`, "
                f"`compress {self.compress}`, `critical {self.critical}`"
            )


class GaugeConfig(ConfigSection):
    """When the gauge speaks and warns, and when it checkpoints by itself."""

    show_from: float = fields.share(
        "Pressure from which the agent is told how full it is.", default=0.70
    )
    checkpoint_at: float = fields.share(
        "Pressure at which gitguard saves the checkpoint `auto-80pct`.", default=0.80
    )
    checkpoint_step: float = fields.share(
        "Rise of the pressure that brings the next `auto-80pct`.", default=0.05
    )
    warn_hand_over: float = fields.share(
        "Pressure at which a warning says to delegate work.", default=0.65
    )
    warn_compact: float = fields.share(
        "Pressure at which a warning says to compact, with the checkpoint `auto-75pct`.",
        default=0.75,
    )
    warn_critical: float = fields.share(
        "Pressure at which a warning says that the context is nearly full. Unless you set it, it "
        "follows `thresholds.critical` wherever that is above `gauge.warn_compact`.",
        default=CRITICAL,
    )
    hand_over_heavy: float = fields.share(
        "Pressure from which gitguard advises to delegate large tasks: the remaining work if it "
        "takes more than 3 tool calls, or a single task of more than 5.",
        default=0.50,
    )
    hand_over_any: float = fields.share(
        "Pressure from which it advises so for the remaining work of more than 1 tool call, or a "
        "single task of more than 2.",
        default=0.70,
    )
    ask_notes_after: int = fields.count(
        "Tool calls without a note after which the next prompt asks the agent for one.", default=30
    )

    def check(self, what: str) -> None:
        """Refuse levels that do not rise."""
        _refuse_unless_rising(self, _WARNINGS, f"{what}: the gauge's warnings")
        _refuse_unless_rising(self, _HAND_OVERS, f"{what}: the gauge's levels of delegation")

    def warning_at(self, pressure: float, last_warning: int = 0) -> int:
        """Return the gravest warning whose level a pressure has reached: 1 to 3, or 0 for none.

        All up to the last warning count as reached until pressure is a step below their level.
        """
        levels = (self.warn_hand_over, self.warn_compact, self.warn_critical)
        gravest = 0
        for warning, level in enumerate(levels, start=1):
            was_given = warning <= last_warning
            if pressure >= level or (was_given and not self.is_below(pressure, level)):
                gravest = warning
        return gravest

    def is_below(self, pressure: float, level: float) -> bool:
        """Say whether a pressure is so far below a level that reaching it counts once more."""
        return pressure <= round(level - self.checkpoint_step, 9)  # shares are decimal to people


def _refuse_unless_rising(section: ConfigSection, names: tuple[str, ...], what: str) -> None:
    levels = [getattr(section, name) for name in names]
    if levels[0] <= 0 or levels[-1] > 1 or levels != sorted(set(levels)):
        shown = ", ".join(f"`{name} {level}`" for name, level in zip(names, levels, strict=True))
        raise InvalidConfig(f"{what} must rise between 0 and 1, not {shown}")


class WindowConfig(ConfigSection):
    """How large the context window is, in tokens."""

    default: int = fields.count(
        "The window if nothing else tells it; 0 assumes 200,000, which never halts an agent.",
        default=0,
    )
    cap: int = fields.count("The largest window that gitguard uses; 0 for no limit.", default=0)
    models: Mapping[str, int] = fields.counts(
        "Windows by `provider/model`, or by model alone.", default={}
    )

    def check(self, what: str) -> None:
        """Refuse windows in which nothing fits."""
        for name, tokens in (
            ("default", self.default or SMALL_WINDOW),
            ("cap", self.cap or SMALL_WINDOW),
            *((f"models.{model}", size) for model, size in self.models.items()),
        ):
            if tokens < SMALLEST_WINDOW:
                raise InvalidConfig(
                    f"{what}: `window.{name}` is {tokens:,} tokens; the smallest usable window is "
                    f"{SMALLEST_WINDOW:,}"
                )


class ResumeConfig(ConfigSection):
    """The block that hands the state back."""

    after_compaction: int = fields.count(
        "Tokens of the resume block after a compaction, where the host's summary stands beside it; "
        "also in a conversation that you clear or resume, and once the task is done.",
        default=700,
    )
    new_conversation: int = fields.count(
        "Tokens of the block in a new conversation, after a crash too, and of `gitguard resume`.",
        default=2000,
    )


class StoreConfig(ConfigSection):
    """Where checkpoints and working files lie."""

    ref_prefix: str = fields.text(
        "Where session branches are; `refs/gitguard/` hides them from `git branch`.",
        default="refs/heads/gitguard/",
    )
    directory: str = fields.text(
        "Folder for working files, inside the workspace.", default=".gitguard"
    )

    def check(self, what: str) -> None:
        """Refuse places outside of what gitguard keeps for itself."""
        if self.ref_prefix not in ("refs/heads/gitguard/", "refs/gitguard/"):
            raise InvalidConfig(
                f"{what}: `store.ref_prefix` is `{self.ref_prefix}`",
                "Use `refs/heads/gitguard/` or `refs/gitguard/`",
            )
        folder = self.directory
        parts = folder.split("/")
        if not folder or folder.startswith("/") or {"..", "", ".", ".git"} & set(parts):
            raise InvalidConfig(
                f"{what}: `store.directory` is `{folder}`; it must be a folder inside the workspace"
            )


class SessionConfig(ConfigSection):
    """Which session a conversation's hooks work at."""

    follow: str = fields.text(
        "`branch`: after a branch is switched, the hooks go on with that branch's session; "
        "`fixed`: only `gitguard session use` changes the session.",
        choices=FOLLOWS,
        default=FOLLOW_BRANCH,
    )


class CaptureConfig(ConfigSection):
    """What hooks keep of a conversation."""

    words: str = fields.text(
        "How much is kept of what the user and the agent say, and of the host's summaries. "
        "`whole`: what matters, up to 1,500 characters each; `short`: 200 characters each; `off`: "
        "nothing.",
        choices=WORDS,
        default=WORDS_WHOLE,
    )


class Config(Record):
    """The configuration in force."""

    thresholds: Thresholds = fields.record(
        "The gate's thresholds.", of=Thresholds, default=Thresholds()
    )
    gauge: GaugeConfig = fields.record("The gauge.", of=GaugeConfig, default=GaugeConfig())
    window: WindowConfig = fields.record(
        "The context window.", of=WindowConfig, default=WindowConfig()
    )
    resume: ResumeConfig = fields.record(
        "The resume block.", of=ResumeConfig, default=ResumeConfig()
    )
    handoff: HandoffConfig = fields.record(
        "Name of the hand-off file.", of=_HANDOFF, default=_HANDOFF.default()
    )
    budget: BudgetConfig = fields.record(
        "A conversation's budget.", of=_BUDGET, default=_BUDGET.default()
    )
    pruning: PruningConfig = fields.record(
        "Pruning of a transcript.", of=_PRUNING, default=_PRUNING.default()
    )
    bootstrap: BootstrapConfig = fields.record(
        "Context files in the bundle.", of=_BOOTSTRAP, default=_BOOTSTRAP.default()
    )
    compaction: CompactionConfig = fields.record(
        "Compacting a transcript.", of=_COMPACTION, default=_COMPACTION.default()
    )
    summarizer: tuple[str, ...] = fields.texts(
        "Command that reads text on standard input and prints a summary.", default=()
    )
    store: StoreConfig = fields.record("The store.", of=StoreConfig, default=StoreConfig())
    session: SessionConfig = fields.record(
        "Which session hooks work at.", of=SessionConfig, default=SessionConfig()
    )
    capture: CaptureConfig = fields.record(
        "What hooks keep of a conversation.", of=CaptureConfig, default=CaptureConfig()
    )
    redaction: RedactionConfig = fields.record(
        "What is taken out before anything is written.", of=_REDACTION, default=_REDACTION.default()
    )
    files: FilesConfig = fields.record(
        "Snapshots of the worktree's files.", of=_FILES, default=_FILES.default()
    )
    maintenance: MaintenanceConfig = fields.record(
        "When sessions are archived.", of=_MAINTENANCE, default=_MAINTENANCE.default()
    )
    sync: SyncConfig = fields.record("Syncing with git remotes.", of=_SYNC, default=_SYNC.default())
    sign: bool = fields.flag(
        "Sign checkpoints with your git key, and accept signed ones.", default=False
    )
    signers: tuple[str, ...] = fields.texts(
        "Signers you accept, by SSH principal or fingerprint; empty for all that git knows.",
        default=(),
    )
    destructive: tuple[str, ...] = fields.texts(
        "Your own rules for destructive commands.", default=()
    )
    reference_mode: bool = fields.flag(
        "Estimate pressure from characters; for tests only.", default=False
    )

    def names(self, setting: str) -> bool:
        """Whether a setting was given, even as its default."""
        return setting in vars(self)


DEFAULTS = Config()
TIGHTENING = (
    "thresholds",
    "gauge",
    "window.cap",
    "resume",
    "capture.words",
    "redaction.rules",
    "destructive",
)
"""What a repository's configuration may contain."""
NOT_TIGHTENING = ("gauge.checkpoint_step",)
"""What it may not of these: a smaller step would take a checkpoint at every tool call."""


def read_config(document: dict[str, Any], *, what: str) -> Config:
    """Read a configuration file's mapping, or raise `InvalidConfig` naming key and value."""
    config = parse_config(document, what=what)
    if "warn_critical" not in vars(config.gauge):
        config = _with_last_warning_at_halt(config)
    check_config(config, what=what)
    return config


def _with_last_warning_at_halt(config: Config) -> Config:
    """Let the last warning come where the gate halts.

    A halt at or below the warning before it leaves it alone: warnings have to rise, and the halt's
    own message says the last one anyway.
    """
    halts_at = config.thresholds.critical
    if halts_at <= config.gauge.warn_compact:
        return config
    return config.replace(gauge=config.gauge.replace(warn_critical=halts_at))


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
        setting_names = ", ".join(f"`{prefix}{key}`" for key in record.kinds)
        message = f"{what}: `{prefix}{name:.80}` is not a setting"
        raise InvalidConfig(message, f"Settings: {setting_names}")
    for name, value in vars(record).items():
        if isinstance(value, Record):
            _refuse_unknown(value, what, f"{prefix}{name}.")
        elif isinstance(value, tuple):
            for i, item in enumerate(value):
                if isinstance(item, Record):
                    _refuse_unknown(item, what, f"{prefix}{name}[{i}].")


def check_config(config: Config, *, what: str) -> None:
    """Refuse values that cannot be in force; the defaults can."""
    for section in vars(config).values():
        if isinstance(section, ConfigSection):
            section.check(what)


def tighten(user: Config, repository: Config) -> Config:
    """Apply a repository's configuration: every number only gets stricter, lists only grow."""
    caps = [cap for cap in (user.window.cap, repository.window.cap) if cap]
    gauge, other = user.gauge, repository.gauge
    least = {name: min(getattr(gauge, name), getattr(other, name)) for name in gauge.kinds}
    rising = _lower(gauge, other, _WARNINGS) | _lower(gauge, other, _HAND_OVERS)
    config = user.replace(
        thresholds=Thresholds(**_lower(user.thresholds, repository.thresholds, Thresholds.kinds)),
        gauge=GaugeConfig(**least | rising),
        window=user.window.replace(cap=min(caps, default=0)),
        resume=ResumeConfig(
            **{
                n: min(getattr(user.resume, n), getattr(repository.resume, n))
                for n in ResumeConfig.kinds
            }
        ),
        capture=CaptureConfig(max(user.capture.words, repository.capture.words, key=WORDS.index)),
        destructive=tuple(dict.fromkeys(user.destructive + repository.destructive)),
    )
    # By now nobody can tell whether the user set the last warning. One that stands at the user's
    # halt stays at the halt, unless the repository puts it still lower.
    stands_at_halt = gauge.warn_critical == user.thresholds.critical
    if stands_at_halt and config.gauge.warn_critical > config.thresholds.critical:
        config = _with_last_warning_at_halt(config)
    if not repository.names("redaction"):
        return config
    user_rules = user.redaction.rules
    added_rules = tuple(rule for rule in repository.redaction.rules if rule not in user_rules)
    return config.replace(redaction=user.redaction.replace(rules=user_rules + added_rules))


def _lower(user: ConfigSection, repository: ConfigSection, names: Iterable[str]) -> dict[str, Any]:
    """Take the lower of rising levels; one above the next keeps the user's distance below it."""
    lowered: dict[str, Any] = {}
    above = ""
    for name in reversed(tuple(names)):
        own = getattr(user, name)
        level = min(own, getattr(repository, name))
        if above and level >= lowered[above]:
            level = lowered[above] * own / getattr(user, above)
        lowered[name] = level
        above = name
    return lowered


def loosening(repository: dict[str, Any]) -> tuple[str, ...]:
    """Name the settings in a repository's file that only a user may make; they are ignored."""
    ignored = []
    for name, value in repository.items():
        within = [f"{name}.{key}" for key in value] if isinstance(value, dict) else []
        if name in TIGHTENING:
            ignored += [setting for setting in within if setting in NOT_TIGHTENING]
        elif any(setting.startswith(f"{name}.") for setting in TIGHTENING) and within:
            ignored += [setting for setting in within if setting not in TIGHTENING]
        else:
            ignored.append(name)
    return tuple(ignored)
