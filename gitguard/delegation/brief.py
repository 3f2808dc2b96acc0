"""The description of a task for a sub-agent, which has no context of its own.

Only the description goes there, and only the answer comes back, so both have a size
(references/design/policy.md, "The brief").
"""

from __future__ import annotations

import os
import re

from gitguard.errors import InvalidInput
from gitguard.hooks.bundle import relevant_artifacts
from gitguard.model.text import cut_to, one_line, shorten, visible
from gitguard.model.value import Value
from gitguard.rendering import render
from gitguard.state.items import texts

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from gitguard.model.redaction.redactor import Redactor
    from gitguard.state.task import TaskState
    from gitguard.store.session.store import SessionStore

LONGEST = 8_000
"""Characters of a whole description, about 2,000 tokens."""
ANSWER_TOKENS = 500
"""What the answer of a sub-agent may take, by the source."""
_LEAST_ROOM = 3_000
"""Characters that are left to the task, quoted; lists are cut for them."""
_QUOTE = len("> \n")
_MOST_LINES = 100
_LONGEST_GOAL = 300
_LONGEST_ITEM = 200
_MOST_ITEMS = 8
_FENCE = "gitguard-brief"
_IN_DATA = re.compile(re.escape(_FENCE), re.IGNORECASE)
_UNTIL_DONE = "the task is done"
_ONLY_NAMED = "only to files that the task names; if it names none, write nothing"
_NOT_THE_STATE = "change gitguard's state; the conversation that started you records your findings"


class BriefOptions(Value):
    """What the one who sends a sub-agent says besides the task."""

    success: tuple[str, ...] = ()
    read: tuple[str, ...] = ()
    """Files to read first."""
    write: tuple[str, ...] = ()
    """Files or folders to write to."""
    avoid: tuple[str, ...] = ()
    tokens: int = ANSWER_TOKENS
    """What the answer may take."""


class BriefSection(Value):
    """One list of a description, and how many of its items found no room."""

    title: str
    items: tuple[str, ...]
    wished: int
    """How many of the items were said with the task; they come first."""
    more: int = 0

    @property
    def keeps_wishes(self) -> bool:
        """Whether what found no room stands in the state."""
        return len(self.items) >= self.wished


def build_brief(task: str, state: TaskState, options: BriefOptions, files: tuple[str, ...]) -> str:
    """Return a task's description, at most `LONGEST` characters.

    Everything is given without secrets. files are those that task and state speak of, the nearest
    first. Long lists are cut until there is room for the task, which takes what is left, and what
    was said with the task goes last; what is cut says how much is left out.
    """
    # A closing tag in the task looks like a path.
    files = tuple(path for path in files if path.strip("/").casefold() != _FENCE)
    sections = _sections(state, options, files)
    for most in range(_MOST_ITEMS, -1, -1):
        cut_sections = [
            _cut(section, max(most, section.wished if most else 1)) for section in sections
        ]
        room = LONGEST - len(_render([], state, options, cut_sections))
        if room >= _LEAST_ROOM:
            break
    return _render(_lines(task, room), state, options, cut_sections)


def _render(
    task: list[str], state: TaskState, options: BriefOptions, sections: list[BriefSection]
) -> str:
    return render(
        "brief.md.j2",
        fence=_FENCE,
        goal=shorten(_safe(state.stated_goal), _LONGEST_GOAL),
        task=task,
        sections=[section for section in sections if section.items],
        tokens=options.tokens,
    ).strip()


def _lines(task: str, room: int) -> list[str]:
    """Return a task's lines, each of which is quoted; where too many find no room, they are one."""
    text = _unfenced(visible(task)).strip()
    lines = text.count("\n") + 1
    if len(text) + lines * _QUOTE <= room:
        return text.split("\n")
    if lines > _MOST_LINES:
        text, lines = one_line(text), 1
    of_the_cut = 2
    return cut_to(text, room - (lines + of_the_cut) * _QUOTE).split("\n")


def _sections(
    state: TaskState, options: BriefOptions, files: tuple[str, ...]
) -> tuple[BriefSection, ...]:
    described = {artifact.path: artifact.description for artifact in state.artifacts}
    to_read = dict.fromkeys(options.read)
    near = (path for path in dict.fromkeys(files) if path not in to_read)
    decided = (f"{d.what} — because {d.why}" if d.why else d.what for d in state.decisions[::-1])
    failed = (f"repeat: {f.what} — it failed: {f.error}" for f in state.failed_attempts[::-1])
    constraints = _section("Constraints", (), texts(state.constraints[::-1]))
    invariants = _section("Invariants", (), texts(state.invariants[::-1]))
    return (
        _section("Read first", *(_named(paths, described) for paths in (to_read, near))),
        _section(
            "What success looks like", options.success or (_until_done(constraints, invariants),)
        ),
        _section("Where to write", options.write or (_ONLY_NAMED,)),
        _section("Do not", (*options.avoid, _NOT_THE_STATE), failed),
        constraints,
        invariants,
        _section("Already decided", (), decided),
    )


def _until_done(*to_hold: BriefSection) -> str:
    """Return what success is where nobody says: the task is done, and what is noted holds."""
    names = [section.title.removesuffix("s").lower() for section in to_hold if section.items]
    and_holds = f", and every {' and '.join(names)} below still holds" if names else ""
    return f"{_UNTIL_DONE}{and_holds}"


def _named(paths: Iterable[str], described: Mapping[str, str]) -> Iterator[str]:
    """Return paths with what the state says of them."""
    for path in paths:
        yield f"{path} — {described[path]}" if described.get(path) else path


def _section(title: str, requested: Iterable[str], noted: Iterable[str] = ()) -> BriefSection:
    first, then = _items(requested), _items(noted)
    return BriefSection(title, (*first, *then), len(first))


def _items(texts: Iterable[str]) -> tuple[str, ...]:
    shown = (shorten(_safe(text), _LONGEST_ITEM) for text in texts)
    return tuple(text for text in shown if text)


def _cut(section: BriefSection, most: int) -> BriefSection:
    left_out = max(len(section.items) - most, 0)
    return section.replace(items=section.items[:most], more=left_out)


def _safe(text: str) -> str:
    return _unfenced(one_line(text))


def _unfenced(text: str) -> str:
    # The fence's own name never stands inside it, so that data cannot close it.
    return _IN_DATA.sub("gitguard_brief", text)


# Writes a task's description for a sub-agent from the state in force


_LONGEST_GIVEN = 100_000
"""Characters of a task that are looked at; of what is shown there are far fewer."""


def brief(store: SessionStore, task: str, options: BriefOptions) -> str:
    """Return what a sub-agent has to know of a task, without the secrets in it.

    Raises `InvalidInput` for a task that says nothing, and what `SessionStore.look` raises.
    """
    redactor = store.workspace.redactor
    task = redactor.text(task[:_LONGEST_GIVEN]).strip()
    if not task:
        raise InvalidInput("the task is empty", 'Say what to do: `gitguard policy brief "…"`')
    state, _ = store.read_unlocked().state.redacted(redactor)
    words = relevant_artifacts(state.replace(next_action=task, artifacts=()))
    root = store.workspace.place.worktree
    named_files = (word for word in words if _is_file(word, root))
    noted_paths = (artifact.path for artifact in reversed(state.artifacts))
    return build_brief(task, state, _clean(options, redactor), (*named_files, *noted_paths))


def _is_file(word: str, root: str) -> bool:
    """Say whether a word that looks like a path is one, which `e.g` and `and/or` are not."""
    is_surely = "/" in word and os.path.splitext(word)[1]
    return bool(is_surely) or os.path.lexists(os.path.join(root, word))


def _clean(options: BriefOptions, redactor: Redactor) -> BriefOptions:
    lists = ("success", "read", "write", "avoid")
    clean = {name: tuple(map(redactor.text, getattr(options, name))) for name in lists}
    return options.replace(**clean)
