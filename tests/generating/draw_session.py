"""Draws one real session as `references/session.svg`: `make references`.

The session runs in a scratch repository, through the hook command that a host runs. Each row of the
picture is one step: how full the context was, what happened, and the checkpoints that git then
holds. A test draws it again, so the picture shows what the program does today.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

from tests.demo import GITGUARD, KILLER, WINDOW, Conversation, Stage, context_of

PICTURE = Path(__file__).parents[2] / "references" / "session.svg"
WIDTH, TOP, ROW = 860, 64, 30
BAR, TEXT, BRANCH = 24, 136, 640
"""Where the three columns begin: the bar of the context, what happens, the branch."""
CALM, FULL = "#4c956c", "#c1121f"
TRIGGER = "%(trailers:key=Gitguard-Trigger,valueonly,separator=)"


@dataclass(frozen=True)
class Step:
    """One row: tokens in the context, what happened, and the triggers of new checkpoints."""

    tokens: int
    text: str
    checkpoints: tuple[str, ...]
    is_beginning: bool = False


class Session:
    """A session while it runs; each step is kept with the checkpoints that it brought."""

    def __init__(self, stage: Stage) -> None:
        """Install gitguard in the repository; this begins the session."""
        self.stage = stage
        self.steps: list[Step] = []
        self.tokens = 0
        self._checkpoints = 0
        stage.run(GITGUARD, "init", "--host", "claude-code")
        self.step("You run `gitguard init`")

    def step(self, text: str, *, is_beginning: bool = False) -> None:
        """Keep what happened, and every checkpoint since the step before."""
        log = self.stage.git("log", "--reverse", f"--format={TRIGGER}", "gitguard/main")
        triggers = log.split()[self._checkpoints :]
        self._checkpoints += len(triggers)
        self.steps.append(Step(self.tokens, text, tuple(triggers), is_beginning))

    def use(self, conversation: Conversation, tokens: int) -> None:
        """Let the model answer with so many tokens in its context."""
        self.tokens = tokens
        conversation.uses(tokens)


def run(stage: Stage) -> list[Step]:
    """Run the session, from its first prompt to its end."""
    session = Session(stage)
    conversation = _work(session)
    _fill_the_context(session, conversation)
    _kill_a_hook(session, conversation)
    _go_on(session)
    return session.steps


def _work(session: Session) -> Conversation:
    talk = Conversation(session.stage, "65b2bad0-edbb-4ea2-8b60-da268310cce0")
    talk.hook("SessionStart.startup")
    talk.hook("UserPromptSubmit", prompt="Port the parser")
    session.use(talk, 24_000)
    session.step("First conversation: you ask the agent to port the parser", is_beginning=True)
    decision = ("--decision", "Hand-written", "--why", "A generator would be a dependency")
    talk.note("--goal", "Port the parser", "--phase", "build", *decision)
    session.use(talk, 60_000)
    session.step("The agent notes its goal and a decision")
    talk.hook("PreToolUse.Bash", tool_input={"command": "false"}, tool_use_id="toolu_0006")
    talk.hook("PostToolUseFailure")
    session.step("A command fails: the hook notes it")
    talk.hook("Stop")
    session.step("The turn ends")
    return talk


def _fill_the_context(session: Session, talk: Conversation) -> None:
    session.use(talk, WINDOW * 66 // 100)
    session.step(f"The agent is told: {_words(_call(talk, 1), 'Delegate tool-heavy work')}")
    session.use(talk, WINDOW * 76 // 100)
    session.step(f"The agent is told: {_words(_call(talk, 2), 'Compact soon; state saved')}")
    session.use(talk, WINDOW * 92 // 100)
    answer = talk.hook("PreToolUse.Bash")["hookSpecificOutput"]
    assert answer["permissionDecision"] == "deny"
    session.step("The gate stops the agent before its next tool call")
    before, session.tokens = session.tokens, 3_000
    block = context_of(talk.compacts(before, session.tokens))
    session.step(f"You run /compact: {_handed_back(block)}")


def _call(talk: Conversation, number: int) -> str:
    """Let a tool run; return what the agent reads behind its result."""
    names: dict[str, Any] = {"tool_use_id": f"toolu_1{number}"}
    talk.hook("PreToolUse.Bash", **names)
    return context_of(talk.hook("PostToolUse.Bash", **names))


def _words(answer: str, words: str) -> str:
    assert words in answer, answer
    return f"“{words}”"


def _handed_back(block: str) -> str:
    assert "Hand-written" in block, "the decision is handed back"
    assert "false" in block, "the failure is handed back"
    return "the agent gets its goal, decision and failure back"


def _kill_a_hook(session: Session, talk: Conversation) -> None:
    talk.note("--learning", "The CI runs on Python 3.11 only")
    session.use(talk, 40_000)
    session.step("The agent notes what it learned")
    shim = session.stage.folder / "shim"
    shim.mkdir()
    (shim / "git").write_text(KILLER.format(git=shutil.which("git")))
    (shim / "git").chmod(0o755)
    assert talk.raw_hook("Stop", path=str(shim)).returncode == -9
    session.step("kill -9, in the middle of a checkpoint")


def _go_on(session: Session) -> None:
    talk = Conversation(session.stage, "0b4a7c1e-8d0f-4b62-9a53-5c9d2f3e7a10")
    session.tokens = 0
    talk.hook("SessionStart.startup")
    block = context_of(talk.hook("UserPromptSubmit", prompt="Where were we?"))
    assert "The CI runs on Python 3.11 only" in block, "what was learned is handed back"
    session.use(talk, 22_000)
    session.step("Second conversation: the agent gets all of it back", is_beginning=True)
    talk.note("--next", "DONE")
    talk.hook("Stop")
    session.step("The agent notes that the task is done")


# Drawing


def draw(steps: list[Step]) -> str:
    """Return the picture as SVG."""
    height = TOP + ROW * len(steps) + 18
    rows = [line for number, step in enumerate(steps) for line in _row(step, TOP + ROW * number)]
    return "\n".join(
        (
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" '
            f'viewBox="0 0 {WIDTH} {height}" font-family="sans-serif" font-size="14">',
            "<title>One session: context, events and checkpoints</title>",
            f'<rect width="{WIDTH}" height="{height}" rx="8" fill="#ffffff" stroke="#d0d7de"/>',
            *_heads(("context", BAR), ("what happens", TEXT), ("branch gitguard/main", BRANCH)),
            *_branch(steps),
            *rows,
            *_numbers(steps),
            "</svg>\n",
        )
    )


def _heads(*heads: tuple[str, int]) -> Iterator[str]:
    for head, left in heads:
        yield f'<text x="{left}" y="34" font-weight="bold" fill="#24292f">{head}</text>'


def _row(step: Step, top: int) -> Iterator[str]:
    share = step.tokens / WINDOW
    colour = FULL if share >= 0.85 else CALM
    if step.is_beginning:
        end = BRANCH - 16
        line = f'x1="{BAR}" y1="{top - 4}" x2="{end}" y2="{top - 4}"'
        yield f'<line {line} stroke="#d0d7de" stroke-dasharray="4 3"/>'
    yield f'<rect x="{BAR}" y="{top + 5}" width="60" height="12" rx="2" fill="#eaeef2"/>'
    if share:
        width = max(1, round(60 * share))
        yield f'<rect x="{BAR}" y="{top + 5}" width="{width}" height="12" rx="2" fill="{colour}"/>'
    yield f'<text x="{BAR + 66}" y="{top + 16}" font-size="12" fill="#57606a">{share:.0%}</text>'
    yield f'<text x="{TEXT}" y="{top + 16}" fill="#24292f">{escape(step.text)}</text>'


def _branch(steps: list[Step]) -> Iterator[str]:
    with_checkpoint = [number for number, step in enumerate(steps) if step.checkpoints]
    first, last = (TOP + ROW * number + 11 for number in (with_checkpoint[0], with_checkpoint[-1]))
    line = f'x1="{BRANCH + 8}" y1="{first}" x2="{BRANCH + 8}" y2="{last}"'
    yield f'<line {line} stroke="#8250df" stroke-width="2"/>'


def _numbers(steps: Iterable[Step]) -> Iterator[str]:
    """Draw each row's checkpoints beside the branch, with their numbers."""
    newest = 0
    for number, step in enumerate(steps):
        if not step.checkpoints:
            continue
        middle = TOP + ROW * number + 11
        labels = []
        for trigger in step.checkpoints:
            newest += 1
            labels.append(f"{newest} {trigger}")
        yield f'<circle cx="{BRANCH + 8}" cy="{middle}" r="5" fill="#8250df"/>'
        label = f'x="{BRANCH + 24}" y="{middle + 5}" font-family="monospace" font-size="13"'
        yield f'<text {label} fill="#24292f">{escape(", ".join(labels))}</text>'


def picture() -> str:
    """Run the session in a folder of its own; return its picture."""
    with tempfile.TemporaryDirectory(prefix="gitguard-session-") as folder:
        return draw(run(Stage(Path(folder).resolve())))
