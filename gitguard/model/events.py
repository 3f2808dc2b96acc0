"""What hosts tell us, what it comes to as pressure, and what we answer, in words no host owns.

Adapters in `hosts/` translate to and from these; everything else knows only this page.
"""

from __future__ import annotations

from gitguard.model import fields
from gitguard.model.record import Record
from gitguard.model.text import percent, thousands, visible
from gitguard.model.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitguard.model.redaction.redactor import Redactor

BOOTSTRAP = "bootstrap"
"""The host builds its system prompt anew, and what we answer becomes part of it."""
PROMPT = "prompt"
TOOL_START = "tool-start"
TOOL_END = "tool-end"
TOOL_FAILED = "tool-failed"
TURN_END = "turn-end"
COMPACTION_START = "compaction-start"
COMPACTION_END = "compaction-end"
SESSION_START = "session-start"
SESSION_END = "session-end"
SUB_AGENT_START = "sub-agent-start"
SUB_AGENT_END = "sub-agent-end"
STEP = "step"
"""The host is about to send the model what a turn's tool calls brought."""
STATUS_LINE = "status-line"
OTHER = "other"

SPEAKING = (PROMPT, COMPACTION_START, COMPACTION_END, SESSION_START, STATUS_LINE, TURN_END)
"""Events by which a host says what the user said, what is left of the context, or how full it is.

A tool call that sends one of them would speak in the host's name.
"""
WITNESSES = (TOOL_START, TOOL_END, TOOL_FAILED, TURN_END)
"""Events that show which turn is going on, and so confirm or discard what came unconfirmed."""

AUTOMATIC = "auto"
"""The `source` of a compaction that the host began by itself."""
STARTED_AFTER_COMPACTION = "compact"
"""The `source` of a session start that follows a compaction."""
RESUMED = "resume"
"""The `source` of a session start at which the host goes on in a conversation of before."""
STARTED_FROM_ANOTHER = ("clear", RESUMED)
"""The sources of a session start at which the host goes on from the conversation before."""
STARTED_ANEW = "new"
"""The `source` of a session start that ends what the host session was before."""

HOOKS_VARIABLE, HOOKS_OFF = "GITGUARD_HOOKS", "off"
"""The environment variable by which hooks are told to do nothing, and its value."""

FIRST_TURN = "first-turn"
"""The source of a pressure that nobody measured yet."""
MOST_TOKENS = 100_000_000
"""No window is larger; a number beyond it is a host's mistake, or somebody's attempt."""
MOST_SHARE = 1.5
"""A conversation may be beyond its window; what is more would be percent given for a share."""


def is_token_count(value: object) -> bool:
    """Say whether a number from outside can be a window or what is used of it."""
    return type(value) is int and 0 < value <= MOST_TOKENS  # a bool is an `int` too


class Reading(Value):
    """One host-owned measure of how full the context is.

    Either tokens (with the window where the host says it) or a share of the window is known.
    """

    source: str
    """given, status-line, hook, transcript or estimate."""
    at: float
    """Unix seconds at which the host measured it."""
    tokens: int | None = None
    window: int | None = None
    share: float | None = None
    model: str = ""
    after_compaction: bool = False
    """Whether this is what a compaction left, measured at its end."""


class Transcript(Value):
    """Where a host keeps a conversation, and the format it has."""

    path: str
    format: str
    session: str = ""
    """Which conversation it is, where one place holds many."""


HEARD = (PROMPT, TOOL_END, TOOL_FAILED, SESSION_START, BOOTSTRAP)
"""The events whose answer reaches the agent of most hosts."""


class Abilities(Value):
    """What a host does by itself, so that the engine need not know which one it is."""

    offers_pressure: bool = True
    """Whether the host tells how full the context is."""
    hears: tuple[str, ...] = HEARD
    """The events whose answer reaches the agent."""
    forgets: tuple[str, ...] = ()
    """The events whose answer is no longer in the conversation once it is resumed."""
    tells_prompts: bool = True
    """Whether an event tells of every prompt; else the transcript has those that none tells."""
    tells_answers: bool = True
    """Whether the end of a turn brings the answer; else the transcript has it."""
    tells_results: bool = True
    """Whether the end of a call is always told, and with its exit code; else the transcript has
    them."""
    tells_compactions: bool = True
    """Whether an event tells that a compaction ended, before the model is asked again."""
    ends_turns: bool = True
    """Whether the answer to a tool call can end the turn."""
    stops_compactions: bool = False
    """Whether the answer to the beginning of a compaction can end the turn in its place."""
    marks_sub_agents: bool = True
    """Whether a sub-agent's events name it; else only its beginning and its end are told."""
    keeps_refused_prompts: bool = False
    """Whether a refused prompt stays in the input line, where it spoils the next command."""
    settings_files: tuple[str, ...] = ()
    """Where the host's hooks may stand in a worktree; empty where they stand elsewhere."""
    compact_command: str = ""
    """The command by which a user compacts the context, empty where the host has none."""
    new_conversation: str = ""
    """The command by which a user begins a new conversation, empty where the host has none."""

    @property
    def hears_after_tools(self) -> bool:
        """Whether what answers the end of a tool call reaches the agent."""
        return TOOL_END in self.hears

    @property
    def room_commands(self) -> str:
        """The commands by which a user makes room, as `/a or /b`; empty without any."""
        return " or ".join(filter(None, (self.compact_command, self.new_conversation)))


class PlanItem(Record):
    """A step of a plan or to-do list that a host keeps."""

    id: str = fields.text("The host's number for it.")
    text: str = fields.text("What is to be done; empty where it stays as it was.", default="")
    done: bool = fields.flag("Whether it is done.", default=False)
    active: bool = fields.flag("Whether it is being worked at.", default=False)
    gone: bool = fields.flag("Whether it was taken off the list.", default=False)


COMMAND_LIMIT = 2_000
"""The most characters of a shell command that are kept to know its parts."""
_LONGEST_LINE = 64 << 10
"""Characters of a shell line up to which its commands are told from what it writes."""


def kept_line(line: str, redactor: Redactor) -> str:
    """Return a shell line without secrets, as much of it as is kept.

    A file that it writes by a here-document does not push out the commands behind it.
    """
    if COMMAND_LIMIT < len(line) <= _LONGEST_LINE:
        from gitguard.model.shell.scanner import with_short_bodies

        line = with_short_bodies(redactor.text(line), COMMAND_LIMIT)
    return redactor.shorten(line, COMMAND_LIMIT)


class ToolCall(Value):
    """A tool call as the host describes it."""

    name: str
    id: str = ""
    summary: str = ""
    """The parameters in one line, for people."""
    command: str = ""
    """The shell command, where the tool runs one."""
    kept_command: str = ""
    """The command without secrets, with its lines, if the summary does not hold all of it."""
    is_shell: bool = False
    """Whether the call runs that command in the user's shell as it is, and nothing besides."""
    paths_read: tuple[str, ...] = ()
    paths_written: tuple[str, ...] = ()
    output: str = ""
    """The end of what the command said, where the call ran one and it ended well."""
    error: str = ""
    interrupted: bool = False
    runs_on: bool = False
    """Whether the command was left running in the background, so that its end is not known."""
    milliseconds: int = 0
    """How long it ran, by the host's word; 0 where it does not say."""
    is_probe: bool = False
    """Whether the call only looks something up: one that fails is no failed attempt."""
    answers: tuple[str, ...] = ()
    """What the user answered to questions of the agent, each as `question → answer`."""
    plan: tuple[PlanItem, ...] = ()
    """Items of a plan or to-do list that the call wrote."""
    whole_plan: bool = False
    """Whether these are all items there are."""


class SubAgentReport(Value):
    """What a sub-agent told the agent that started it, by the host's word."""

    agent: str
    """The sub-agent's id or name."""
    call: str
    """The id of the call that started it, empty where the host does not tell."""
    text: str


class HookEvent(Value):
    """One event of a host session."""

    kind: str
    host_session: str
    project_dir: str
    """The host's project directory; it stays when the agent's shell changes folders."""
    folder: str = ""
    """Where the agent's shell stands by now, or the call names; empty where the host tells not."""
    host: str = ""
    """The host's name, which tells its conversations from those of another host."""
    version: str = ""
    """The host's version, empty where it does not tell."""
    session: str = ""
    """The host's own key for the line of work, where it has one; it names our session then."""
    source: str = ""
    """What started the session, or what asked for the compaction."""
    prompt: str = ""
    answer: str = ""
    """What the agent said last, at the end of its turn."""
    summary: str = ""
    """The host's own summary of what it compacted."""
    tool: ToolCall | None = None
    sub_agent: str = ""
    """The id of the sub-agent that acts, empty for the main conversation."""
    report: SubAgentReport | None = None
    """What a sub-agent found, where the event brings it."""
    reading: Reading | None = None
    transcript: Transcript | None = None
    model: str = ""
    agent: str = ""
    """The host's name for the agent, where it has several."""
    channel: str = ""
    """Where the user speaks from, where the host has several ways."""
    turn_id: str = ""
    """The host's id of the turn, where it has one; a prompt typed during a turn has the same."""
    from_tool: bool = False
    """Whether a host's tool call started the process that brought it, as its marks tell."""
    mark: str = ""
    """What tells it from every other event of its kind: the host's own time or id, if any."""


class HookReply(Value):
    """What the host should do; the empty reply is neutral."""

    context: str = ""
    """Text for the agent."""
    refuse: str = ""
    """Why the tool call (for the agent) or the prompt (for the user) must not go ahead."""
    stop: str = ""
    """Why the agent must stop altogether, for the user; for the agent too without `refuse`."""
    line: str = ""
    """What the status line shows."""
    notice: str = ""
    """One line for the person, where the host shows such lines."""

    def visible(self) -> HookReply:
        """Return the same without characters that a reader cannot see."""
        return HookReply(*(visible(getattr(self, name)) for name in self.field_names))


NEUTRAL = HookReply()


class HookAnswer(Value):
    """What our process tells a host: the reply in the host's words."""

    text: str = ""
    """What is printed; nothing at all is neutral."""
    error: str = ""
    """What is printed on standard error."""
    code: int = 0
    """How the process ends."""


class Window(Value):
    """A context window, and where its size comes from."""

    tokens: int
    source: str
    """config, host, model or assumed; `raised` is added where a reading proved it too small, and
    `cap` where the user lowered it."""
    model: str = ""
    """The model whose window is assumed, where it has a name."""

    @property
    def is_assumed(self) -> bool:
        """Whether nobody named this size: neither the user, as with a cap, nor host or table."""
        return self.source.startswith("assumed") and not self.source.endswith("cap")

    @property
    def assumption(self) -> str:
        """Say that the window is assumed, and the setting that ends it; empty where it is not."""
        if not self.is_assumed:
            return ""
        size = f"the window of {self.tokens:,} tokens is assumed"
        if "raised" in self.source:
            size += ", raised as more than before is in use"
        return f"{size}: {self.remedy}"

    @property
    def remedy(self) -> str:
        """Say which setting names the window."""
        setting = "window.default" if not self.model else f"window.models.{self.model}"
        return f"set `{setting}` in your config.yaml"


class Pressure(Value):
    """How full the context is."""

    share: float
    """Used share of the window, 0.0 to 1.0."""
    tokens: int | None
    window: Window
    source: str
    """given, status-line, hook, transcript, estimate or first-turn."""
    is_assumed: bool = False
    """Whether the share was reckoned from tokens and a window that is assumed."""

    @property
    def is_known(self) -> bool:
        """Whether anybody measured it; else it only counts as 0.0, on the first turn."""
        return self.source != FIRST_TURN

    @property
    def used(self) -> float:
        """Tokens in the context; more than the window holds, where a cap lowered that."""
        return self.share * self.window.tokens if self.tokens is None else self.tokens

    def gauge_line(self, *, saved: bool = False) -> str:
        """Return the one line of the gauge."""
        if not self.is_known:
            return "[Context: unknown]"
        assumed = f" ({self.window.assumption})" if self.window.is_assumed else ""
        parts = [
            f"Context: {percent(self.share)}",
            f"{thousands(self.used)}/{thousands(self.window.tokens)} tokens{assumed}",
        ]
        return "[" + " | ".join(parts + ["Checkpoint saved"] * saved) + "]"
