"""What changed between two task states, as sentences that a reviewer reads.

Each says one thing: what was added, changed or removed, why, who did it and when. They hold neither
control characters nor colours, so that a terminal, a report and a web page can take them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from json import dumps
from typing import Any

from gitguard.model.actions import ADDED, CHANGED, REMOVED
from gitguard.model.text import counted, spelled_out
from gitguard.model.value import Value
from gitguard.sessions.state_comparison import BOOKKEEPING
from gitguard.state import roles
from gitguard.state.conflicts import OpenConflict, shown_conflicts
from gitguard.state.items import (
    AGENT_KINDS,
    EVENT,
    UNFINISHED,
    Command,
    Exchange,
    Failure,
    Item,
    Note,
    Origin,
    PlanStep,
    source_label,
)
from gitguard.state.joining import open_conflicts
from gitguard.state.roles import NotedField
from gitguard.state.task import START, TaskState, new_task
from gitguard.store.session.anchor import marked


class Sentence(Value):
    """One thing that changed."""

    field: str
    """The state's field."""
    action: str
    """added, changed or removed."""
    text: str
    """What changed, in one printable line."""
    reason: str = ""
    who: str = ""
    """user, agent or hook; empty if nothing tells."""
    when: str = ""
    """ISO 8601, in UTC or with its zone; empty if nothing tells."""
    elsewhere: bool = False
    """Whether another machine wrote it."""

    def line(self, day: str = "") -> str:
        """Return it with its reason, who and when; of a time on that day only the hour is said."""
        because = f" — because {self.reason}" if self.reason else ""
        date, _, hour = self.when.partition("T")
        zone = hour[8:].lstrip(".0123456789Z")
        time = f"{hour[:5]} {zone}".strip()
        at = time if date == day else f"{date} {time}"
        source = source_label(self.who, elsewhere=self.elsewhere)
        by = ", ".join(part for part in (source, at.strip()) if part)
        return f"{self.text}{because}" + (f" ({by})" if by else "")


class _Wording(Value):
    """How the items of one list are spoken of."""

    noun: str
    main: str
    """The field that names an item."""
    added: Callable[[Any], str]
    removed: str = ""
    """With {} for the item; empty where it is dropped."""
    changed: Callable[[Any, Any], str] | None = None
    """Says what a reader cares about first; empty text leaves it to the general words."""


def sentences(before: TaskState | None, after: TaskState) -> tuple[Sentence, ...]:
    """Return what changed from one state to the next, what matters most first.

    Without a state before, everything that the next one holds is new. What a task that ended leaves
    behind was not removed, so it is counted and not listed.
    """
    old = before or _empty(after)
    changes = tuple(
        sentence for name in _ordered(old, after) for sentence in _of_field(name, old, after)
    )
    if old.task_id == after.task_id:
        return changes
    ended = Counter(s.field for s in changes if s.action == REMOVED and s.field in _WORDINGS)
    if not ended:
        return changes
    counts = ", ".join(counted(n, _WORDINGS[name].noun) for name, n in ended.items())
    with_task = Sentence("task_id", CHANGED, f"With the task ended: {counts}")
    remaining = (s for s in changes if s.action != REMOVED or s.field not in _WORDINGS)
    return (with_task, *remaining)


def _empty(state: TaskState) -> TaskState:
    """Return the state of a task of which nothing is known yet."""
    blank = new_task(state.session_id, "")
    return blank.replace(schema_version=state.schema_version, task_id=state.task_id)


def _ordered(before: TaskState, after: TaskState) -> list[str]:
    unknown = sorted({*before.extra, *after.extra})
    later = [name for name in TaskState.kinds if name not in _FIRST]
    return [name for name in (*_FIRST, *later, *unknown) if name not in BOOKKEEPING]


def _of_field(name: str, before: TaskState, after: TaskState) -> Iterator[Sentence]:
    if name not in TaskState.kinds:
        yield from _plain(name, before.extra.get(name), after.extra.get(name))
        return
    old, new = getattr(before, name), getattr(after, name)
    if name in _WORDINGS:
        yield from _items(name, old, new)
    elif name in _TEXTS:
        yield from _texts(name, old, new)
    elif name == "goal":
        yield from _stated(name, old, new, after.goal_from)
    elif name == "next_action":
        yield from _next_action(before, after)
    elif name in _REMARKS:
        yield from _stated(name, old, new, None)
    elif name == "task_id" and old != new:
        yield Sentence(name, CHANGED, "Another task began")  # its id tells a reader nothing
    elif name == "host_summary":
        yield from _host_summary(old, new)
    elif name == "last_action":
        yield from _last_action(old, new)
    elif name == "dropped":
        yield from _left_out(old, new)
    elif name == "conflicts":
        yield from _conflicts(before, after)
    elif old != new:
        yield from _plain(name, old, new)


# Fields with one value


def _stated(name: str, old: str, new: str, origin: Origin | None) -> Iterator[Sentence]:
    """Speak of the goal or the next action, of which START says that there is none."""
    label = _label(name)
    was, now = ("" if text.strip() == START else printable(text) for text in (old, new))
    if old == new:
        return
    by: dict[str, Any] = {}
    if origin is not None:
        by = {"who": origin.by, "when": origin.when, "elsewhere": origin.elsewhere}
    if was and now:
        yield Sentence(name, CHANGED, f"{label}: {_arrow(was, now)}", **by)
    elif now:
        yield Sentence(name, ADDED, f"{label}: {now}", **by)
    elif was:
        yield Sentence(name, REMOVED, f"Dropped the {label.lower()} {_quoted(was)}")


def _next_action(before: TaskState, after: TaskState) -> Iterator[Sentence]:
    """Speak of what comes next, which a prompt that was answered does not."""
    name = "next_action"
    if not after.is_answered:
        was, now = before.stated_next_action, after.stated_next_action
        yield from _stated(name, was, now, after.next_from)
    elif not before.is_answered or before.next_from != after.next_from:
        yield Sentence(name, CHANGED, "The last request was answered")


def _plain(name: str, old: Any, new: Any) -> Iterator[Sentence]:
    if old == new:
        return
    label = _label(name)
    if old is None:
        yield Sentence(name, ADDED, f"{label}: {_shown(name, new)}")
    elif new is None:
        yield Sentence(name, REMOVED, f"Dropped {label}: {_shown(name, old)}")
    else:
        yield Sentence(name, CHANGED, f"{label}: {_arrow(_shown(name, old), _shown(name, new))}")


def _label(name: str) -> str:
    return _LABELS.get(name) or printable(name.replace("_", " ").capitalize())


def _shown(name: str, value: Any) -> str:
    if value in (None, ""):
        return "(none)"
    if name == "state_confidence":
        return f"{value:.0%}"
    if name == "status":
        return str(value).replace("_", " ")
    if isinstance(value, str):
        return printable(value)
    from json import dumps

    return printable(dumps(value, ensure_ascii=False, sort_keys=True, default=str))


def _host_summary(old: Any, new: Any) -> Iterator[Sentence]:
    if new is None and old is not None:
        text = f"Dropped the host's summary {_quoted(old.text)}"
        yield Sentence("host_summary", REMOVED, text)
    elif new is not None and (old is None or old.text != new.text):
        action = CHANGED if old else ADDED
        text = f"The host compacted the conversation and summarized: {printable(new.text)}"
        yield Sentence("host_summary", action, text, when=new.when)


def _last_action(old: Any, new: Any) -> Iterator[Sentence]:
    if old == new:
        return
    if new is None:
        text = f"Dropped the last action {_quoted(old.summary)}"
        yield Sentence("last_action", REMOVED, text)
        return
    text = f"Last action: {printable(new.summary)} ({new.outcome})"
    yield Sentence("last_action", CHANGED if old else ADDED, text, who=new.by, when=new.at)


def _left_out(old: Mapping[str, int], new: Mapping[str, int]) -> Iterator[Sentence]:
    for name in sorted({*old, *new}):
        more = new.get(name, 0) - old.get(name, 0)
        what = f"of {printable(name).replace('_', ' ')}"
        if more > 0:
            text = f"Had no room for {counted(more, 'more item')} {what}"
            yield Sentence("dropped", CHANGED, text)
        elif more < 0:
            text = f"Counts {counted(-more, 'item')} fewer {what} that had no room"
            yield Sentence("dropped", CHANGED, text)


def _conflicts(before: TaskState, after: TaskState) -> Iterator[Sentence]:
    """Speak of conflicts that appeared or were settled; another variant gives one another id."""
    was, now = _open_conflicts(before), _open_conflicts(after)
    for part, conflict in now.items():
        if part not in was or was[part].id != conflict.id:
            texts = " or ".join(f"{_quoted(v.text)} ({v.author})" for v in conflict.variants)
            text = f"Conflict about the {printable(conflict.subject)}: {texts}"
            yield Sentence("conflicts", CHANGED if part in was else ADDED, text)
    for part, conflict in was.items():
        if part not in now:
            text = f"Settled the conflict about the {printable(conflict.subject)}"
            yield Sentence("conflicts", REMOVED, text)


def _open_conflicts(state: TaskState) -> dict[tuple[str, str], OpenConflict]:
    """Return the open conflicts by the field and the item that they are about."""
    state = marked(state, ())  # as the variants of a conflict are
    parts = ((conflict.field, conflict.item) for conflict in open_conflicts(state))
    return dict(zip(parts, shown_conflicts(state, (), {}), strict=True))


# Lists


def _texts(name: str, old: tuple[str, ...], new: tuple[str, ...]) -> Iterator[Sentence]:
    added = [printable(text) for text in new if text not in old]
    removed = [printable(text) for text in old if text not in new]
    singular, plural, began, ended = _TEXTS[name]
    for action, listed, verb in ((ADDED, added, began), (REMOVED, removed, ended)):
        if listed:
            count = counted(len(listed), singular, plural)
            yield Sentence(name, action, f"{verb} {count}: {', '.join(listed)}")


def _items(name: str, old: tuple[Item, ...], new: tuple[Item, ...]) -> Iterator[Sentence]:
    wording = _WORDINGS[name]
    for before, after in matched(old, new):
        if before is None:
            assert after is not None
            yield _about(name, ADDED, wording.added(after), after)
        elif after is None:
            gone = printable(getattr(before, wording.main))
            text = (wording.removed or f'Dropped the {wording.noun} "{{}}"').format(gone)
            yield Sentence(name, REMOVED, text)
        elif content_of(before) != content_of(after):
            text = wording.changed(before, after) if wording.changed else ""
            sentence = _about(name, CHANGED, text or _changed(wording, before, after), after)
            # An origin that stayed says who added the item, not who changed it.
            if before.origin == after.origin:
                sentence = sentence.replace(
                    who="", when=getattr(after, "fixed_at", ""), elsewhere=False
                )
            yield sentence


def _about(name: str, action: str, text: str, item: Item) -> Sentence:
    reason = printable(getattr(item, "why", ""))
    if name == "earlier":  # its origin is that of the goal, and says nothing of how the task ended
        return Sentence(name, action, text)
    return Sentence(
        field=name,
        action=action,
        text=text,
        reason=reason,
        who=item.origin.by,
        when=item.origin.when,
        elsewhere=item.origin.elsewhere,
    )


def _changed(wording: _Wording, before: Item, after: Item) -> str:
    old, new = content_of(before), content_of(after)
    old_name, new_name = (printable(each.pop(wording.main)) for each in (old, new))
    old.pop("why", None), new.pop("why", None)  # the reason is said behind every decision
    others = [
        f"{printable(name).replace('_', ' ')} {_arrow(_shown(name, was), _shown(name, now))}"
        for name in sorted({*old, *new})
        for was, now in [(old.get(name), new.get(name))]
        if was != now
    ]
    text = f"Changed the {wording.noun} {_quoted(old_name)}"
    if old_name != new_name:
        text += f" → {_quoted(new_name)}"
    elif not others:
        text += " in its white space"
    return text + (f": {', '.join(others)}" if others else "")


def _arrow(before: str, after: str) -> str:
    return f"{before} → {after}" + (" (only white space differs)" if before == after else "")


def _quoted(text: str) -> str:
    return f'"{printable(text)}"'


def printable(text: str) -> str:
    """Return a text in one line, with escapes for what a reader could not see."""
    return spelled_out(" ".join(text.split()))


# Words


def _notes(*roles: str) -> dict[str, _Wording]:
    return {field.name: _note(field) for field in TaskState.noted(*roles) if field.is_list}


def _note(field: NotedField) -> _Wording:
    def added(note: Note) -> str:
        return f"{field.added}: {printable(note.text)}"

    return _Wording(field.noun, "text", added, field.removed)


def _failed(failure: Failure) -> str:
    text = f"Failed: {printable(failure.what)}: {printable(failure.error)}"
    return f"{text} (fixed since)" if failure.fixed_at else text


def _fixed(before: Failure, after: Failure) -> str:
    is_same = (before.what, before.error) == (after.what, after.error)
    if is_same and after.fixed_at and not before.fixed_at:
        return f"Fixed: {printable(after.what)}, which had failed"
    return ""


def _redecided(before: Any, after: Any) -> str:
    if before.what == after.what and before.why != after.why:
        return f"Gave another reason for the decision {_quoted(after.what)}"
    return ""


def _ran(command: Command) -> str:
    ending = f": {printable(command.ending)}" if command.ending else ""
    return f"Ran {printable(command.command)} ({_outcome(command)}){ending}"


def _ran_again(before: Command, after: Command) -> str:
    if before.command != after.command or before.runs >= after.runs:
        return ""
    times = counted(after.runs - before.runs, "more time")
    was = f"{_outcome(before)}, now " if before.outcome != after.outcome else ""
    ending = f": {printable(after.ending)}" if after.ending != before.ending else ""
    return f"Ran {printable(after.command)} {times} ({was}{_outcome(after)}){ending.rstrip(': ')}"


def _outcome(command: Command) -> str:
    return "outcome unknown" if command.outcome == "ran" else command.outcome


def _planned(step: PlanStep) -> str:
    return f"Planned: {printable(step.text)}" + (f" ({step.state})" if step.state != "open" else "")


def _advanced(before: PlanStep, after: PlanStep) -> str:
    if before.text == after.text and before.state != after.state:
        return f"Plan step {_quoted(after.text)}: {before.state} → {after.state}"
    return ""


def _touched(artifact: Any) -> str:
    text = f"Touched the {artifact.kind} {printable(artifact.path)}"
    if artifact.kind == "other":
        text = f"Touched {printable(artifact.path)}"
    return text + (f": {printable(artifact.description)}" if artifact.description else "")


def _written(before: Any, after: Any) -> str:
    if before.replace(writes=0, by_shell=False, id="", origin=after.origin) != after.replace(
        writes=0, by_shell=False, id=""
    ):
        return ""
    times = counted(max(after.writes - before.writes, 1), "more time")
    return f"Wrote {printable(after.path)} {times}"


def _message_text(exchange: Exchange) -> str:
    if exchange.kind == EVENT:
        return printable(exchange.text)
    if exchange.kind in AGENT_KINDS:
        cut_off = " in a turn that did not end" if exchange.kind == UNFINISHED else ""
        return f"The agent said{cut_off}: {_quoted(exchange.text)}"
    verb = _USER_VERBS.get(exchange.kind, "said")
    settles = f", about {_quoted(exchange.settles)}" if exchange.settles else ""
    return f"The user {verb}: {_quoted(exchange.text)}{settles}"


_USER_VERBS = {
    "request": "asked",
    "correction": "corrected",
    "constraint": "set a limit",
    "answer": "answered",
}
_WORDINGS: dict[str, _Wording] = {
    "decisions": _Wording(
        noun="decision",
        main="what",
        added=lambda item: f"Decided: {printable(item.what)}",
        removed='Withdrew the decision "{}"',
        changed=_redecided,
    ),
    **_notes(roles.LIMIT, roles.OBSTACLE, roles.OPEN_WORK),
    "failed_attempts": _Wording("failed attempt", "what", _failed, changed=_fixed),
    **_notes(roles.DONE_WORK, roles.LESSON, roles.ASSUMPTION, roles.REMARK),
    "plan": _Wording("plan step", "text", _planned, changed=_advanced),
    "commands": _Wording("command", "command", _ran, changed=_ran_again),
    "artifacts": _Wording("artifact", "path", _touched, changed=_written),
    "exchanges": _Wording("message", "text", _message_text, 'No longer keeps the words "{}"'),
    "tool_outputs": _Wording(
        "tool output",
        "summary",
        lambda item: f"{printable(item.tool)} said: {printable(item.summary)}",
    ),
    "earlier": _Wording(
        "earlier task",
        "goal",
        lambda item: f"The earlier task {_quoted(item.goal)} was {item.outcome}",
        'No longer remembers the earlier task "{}"',
    ),
}
_TEXTS = {
    "files_read": ("file", "files", "Read", "No longer lists as read"),
    "tools_used": ("tool", "tools", "Used", "No longer lists as used"),
}
_REMARKS = {field.name for field in TaskState.noted(*roles.SENTENCES) if not field.is_list}
_LABELS = {
    "goal": "Goal",
    "next_action": "Next action",
    "current_phase": "Phase",
    "status": "Status",
    "session_id": "Session",
    "state_confidence": "Confidence",
    "schema_version": "State format",
}
_FIRST = ("task_id", "goal", "status", "current_phase", "next_action", *_WORDINGS)


# Which item of one state is which item of another


_NOT_CONTENT = ("id", "origin", "label")
"""What can differ while an item says the same: a label is the item's place in its list."""


def content_of(item: Item) -> dict[str, Any]:
    """Return what an item says, without its id, its label and where it comes from."""
    document = item.to_document()
    return {name: value for name, value in document.items() if name not in _NOT_CONTENT}


def matched(
    before: Sequence[Item], after: Sequence[Item]
) -> Iterator[tuple[Item | None, Item | None]]:
    """Yield each item with what it was before; None stands for one that is new, or gone.

    An item keeps its id. One that was taken out and put back gets another, so what is left is
    matched by what it says.
    """
    partners: dict[int, int] = {}
    for key in (lambda item: item.id, _content_key):
        taken = set(partners.values())
        waiting: dict[str, list[int]] = {}
        for place, item in reversed([*enumerate(before)]):
            if place not in taken and key(item):
                waiting.setdefault(key(item), []).append(place)
        for place, item in enumerate(after):
            if place not in partners and waiting.get(key(item)):
                partners[place] = waiting[key(item)].pop()
    for place, item in enumerate(after):
        yield (before[partners[place]] if place in partners else None), item
    for place in sorted({*range(len(before))} - {*partners.values()}):
        yield before[place], None


def _content_key(item: Item) -> str:
    return dumps(content_of(item), sort_keys=True)
