"""What is eating a conversation's context, and what the patterns of past sessions advise."""

from __future__ import annotations

import os
import shutil
import sys
from typing import TYPE_CHECKING, Any

import click

from gitguard.cli.console import Console, printable, progress, wants_colour, with_console
from gitguard.cli.transcript_naming import (
    TranscriptName,
    naming_a_model,
    naming_a_transcript,
    telling,
)
from gitguard.errors import InvalidDocument, InvalidInput
from gitguard.model.text import counted, local_times, one_line, shorten, timestamp
from gitguard.profile.profile import COUNTED, DEDUCED, HIDDEN, Component, Profile, Range, Runway

if TYPE_CHECKING:
    from gitguard.profile.habits import Advised
    from gitguard.profile.learning import Past
    from gitguard.profile.profiling import Profiled

_LONGEST_BAR, _SHORTEST_BAR = 40, 4
_MOST_TOOLS, _LONGEST_NAME = 12, 60
_SOURCES = {
    DEDUCED: "rest of the total",
    f"{DEDUCED}, {COUNTED}": "partly measured, partly counted",
}
"""Where a number comes from, in words that need no explanation; programs get the short ones."""
_COLOURS = {"baseline": "blue", "summaries": "magenta", "tool results": "yellow"}


@click.command()
@naming_a_transcript
@naming_a_model
@click.option(
    "--history", is_flag=True, help="Show past sessions: their patterns and the advice given"
)
@with_console
def profile(console: Console, name: TranscriptName, model: str, history: bool) -> None:
    """Show what fills a conversation's context

    Hosts report only a total; the breakdown by component, tool and result is a range estimated from
    character counts, and the baseline is the rest of the first request. Each figure names its
    source. Also shows the tool calls left until the halt, and the usage pattern with its evidence.

    --history shows the patterns of past sessions, the advice given and what became of it.

    Example: `gitguard profile --history`
    """
    if history:
        _refuse_named(*name, model)
        _show_history(console)
        return
    named = name.find(console)
    with progress("bytes") as tell:
        seen = telling(named, tell)
        profiled = console.anywhere.profile.of(named, model=model, seen=seen)
    _refuse_nothing(profiled, name.path)
    if console.as_json:
        console.say("", _document(profiled))
    else:
        _show(profiled)


def _refuse_nothing(profiled: Profiled, path: str | None) -> None:
    """Refuse a named transcript that says nothing: all its numbers would be rules of thumb."""
    if (
        path
        and profiled.usage.tokens is None
        and not any(part.count for part in profiled.profile.components)
    ):
        raise InvalidDocument(
            f"nothing in `{path}` reads as a conversation of {profiled.usage.transcript.format}",
            "Look at its path and --format",
        )


def _refuse_named(*names: str | None) -> None:
    options = ("the transcript", "--format", "--conversation", "--model")
    named = [option for option, name in zip(options, names, strict=True) if name]
    if named:
        raise InvalidInput(
            "--history covers all sessions, so it takes no conversation",
            f"Leave out {', '.join(named)}",
        )


def _show_history(console: Console) -> None:
    guard = console.guard
    past = guard.profile.past_advice()
    console.say(_history(past), {name: getattr(past, name) for name in past.field_names})


def _history(past: Past) -> str:
    lines = [_advised(each) for each in past.advised]
    if not lines:
        lines = ["No advice was given yet. Ask for it with `gitguard config advise`."]
    habit = past.habit
    if habit.sessions:
        shares = (f"{name} {counted(count, 'session')}" for name, count in habit.patterns)
        lines.append(f"Patterns: {', '.join(shares)}")
        lines.append(f"Usual: {habit.usual or 'none'} ({habit.why})")
    lessons = [lesson for lesson in habit.lessons if lesson.verdict]
    lines += ["Lessons:"] * bool(lessons)
    lines += [
        f"  {one_line(lesson.change)}: {lesson.verdict}, for {lesson.pattern} work"
        for lesson in lessons
    ]
    return "\n".join([*lines, *(f"Not looked through: {one_line(why)}" for why in past.problems)])


def _advised(each: Advised) -> str:
    day, advice = local_times(timestamp(each.at))[:10], each.advice
    named = " (named)" if advice.is_named else " (usual)" if advice.is_usual else ""
    return one_line(
        f"{day} {each.session}: {advice.pattern}{named}, advice {advice.outcome}: {advice.words}"
    )


def _document(profiled: Profiled) -> dict[str, Any]:
    parts = (profiled.profile, profiled)
    document = {name: getattr(part, name) for part in parts for name in part.field_names}
    document.pop("profile")
    return document


def _show(profiled: Profiled) -> None:
    """Print line by line; only what we colour ourselves may hold colours."""
    for line in _headline(profiled):
        click.echo(printable(one_line(line)))
    width = shutil.get_terminal_size((80, 24)).columns
    for name, bar, colour, numbers in _rows(profiled, width):
        shown = click.style(bar, fg=colour) if bar.strip() and wants_colour() else bar
        click.echo(f"{printable(name)} {shown}{printable(numbers)}")
    for line in (*_details(profiled.profile, profiled.usage.window), *_pattern(profiled)):
        click.echo(printable(line))


def _headline(profiled: Profiled) -> list[str]:
    usage, used = profiled.usage, profiled.profile.used
    # Full is full, as the gauge and the gate have it; a note says that the window is wrong.
    full = Range(*(min(tokens, usage.window) for tokens in _ends(used)))
    share = _shares(full, usage.window)
    used_source = profiled.profile.used_source
    lines = [
        f"Context: {_tokens(used)} of {usage.window:,} tokens, {share} of the window "
        f"({_SOURCES.get(used_source, used_source)}; window: {usage.window_words})"
    ]
    if profiled.profile.answered:
        lines.append(f"{profiled.profile.answered:,} of these tokens are the last answer")
    if profiled.profile.since.high:
        lines.append(f"Since that measure: {_about(profiled.profile.since)} tokens more")
    return lines


def _rows(profiled: Profiled, width: int) -> list[tuple[str, str, str | None, str]]:
    """Return for each component its name, a bar, the bar's colour, and the numbers behind it.

    In a narrow terminal the numbers stand below the bar.
    """
    components = [
        part for part in profiled.profile.components if part.tokens.high or part.source == HIDDEN
    ]
    names = [f"{part.name}{f' ({part.count:,})' if part.count else ''}" for part in components]
    numbers = [_numbers(part, profiled.usage.window) for part in components]
    longest = max(map(len, names), default=0)
    room = width - longest - max(map(len, numbers), default=0) - 2
    is_narrow = room < _SHORTEST_BAR
    if is_narrow:
        room = max(width - longest - 1, _SHORTEST_BAR)
    bars = _bars(components, min(room, _LONGEST_BAR))
    colours = [_COLOURS.get(part.name) for part in components]
    names = [name.ljust(longest) for name in names]
    numbers = [f"\n  {number}" if is_narrow else f" {number}" for number in numbers]
    return list(zip(names, bars, colours, numbers, strict=True))


def _numbers(part: Component, window: int) -> str:
    if part.source == HIDDEN:
        return part.source
    source = _SOURCES.get(part.source, part.source)
    return f"{_tokens(part.tokens)} ({_shares(part.tokens, window)}), {source}"


def _bars(components: list[Component], room: int) -> list[str]:
    """Return bars as long as what they stand for: whole for the least, light up to the most."""
    whole, light = ("█", "░") if _speaks("█░") else ("#", "-")
    longest = max((component.tokens.high for component in components), default=0) or 1
    bars = []
    for component in components:
        low, high = (round(tokens * room / longest) for tokens in _ends(component.tokens))
        bars.append((whole * low + light * (high - low)).ljust(room))
    return bars


def _speaks(letters: str) -> bool:
    try:
        letters.encode(sys.stdout.encoding or "ascii")
    except (UnicodeError, LookupError):
        return False
    return os.environ.get("TERM") != "dumb"


def _details(profile: Profile, window: int) -> list[str]:
    lines = []
    if profile.share_of_tools is not None:
        share = round(profile.share_of_tools * 100)
        lines.append(
            f"Share of tools: {share} %, of conversation: {100 - share} %; usual: 60 % and 40 %"
        )
    lines += ["Tools:"] * bool(profile.tools)
    for tool in profile.tools[:_MOST_TOOLS]:
        failed = f", {tool.failed:,} failed" if tool.failed else ""
        lines.append(
            f"  {_name(tool.tool)}: {_tokens(tool.tokens)} in "
            f"{counted(tool.calls, 'call')}{failed}, largest result {_tokens(tool.largest)}"
        )
    if len(profile.tools) > _MOST_TOOLS:
        lines.append(f"  and {counted(len(profile.tools) - _MOST_TOOLS, 'tool')} more")
    lines += ["Largest results:"] * bool(profile.largest)
    for result in profile.largest:
        what = one_line(f"{_name(result.tool)} {result.given}")
        lines.append(f"  {_tokens(result.tokens)} tokens: {what}")
    lines += [_runway(profile.runway)] if profile.runway is not None else []
    lines += [f"{profile.spiral.capitalize()}: start a new conversation"] * bool(profile.spiral)
    return [*lines, *(f"Note: {note}" for note in profile.notes)]


def _name(tool: str) -> str:
    return shorten(one_line(tool), _LONGEST_NAME) or "a tool"


def _runway(runway: Runway) -> str:
    return (
        f"Runway: {_about(runway.calls)} tool calls until the halt at {runway.halt_at:.0%}, at "
        f"{_tokens(runway.per_call)} tokens each "
        f"(average of {counted(runway.from_calls, 'call')} here)"
    )


def _pattern(profiled: Profiled) -> list[str]:
    pattern = profiled.pattern
    near = f", nearly {pattern.near}" if pattern.near else ""
    return [f"Pattern: {pattern.name}{near}", *(f"  {why}" for why in pattern.evidence)]


def _ends(tokens: Range) -> tuple[int, int]:
    return tokens.low, tokens.high


def _tokens(tokens: Range) -> str:
    """Return a range in as many digits as a guess deserves, and a measured number whole."""
    if tokens.low == tokens.high:
        return f"{tokens.low:,}"
    low, high = _rounded(tokens.low), _rounded(tokens.high)
    return f"{low:,}–{high:,}" if low < high else f"about {high:,}"


def _about(numbers: Range) -> str:
    """Return the same of a number that is a guess, also where its ends are one."""
    return f"about {_tokens(numbers).removeprefix('about ')}"


def _rounded(number: int) -> int:
    """Round to two digits."""
    return round(number, 2 - len(str(number)))


def _shares(tokens: Range, window: int) -> str:
    low, high = (tokens / window * 100 for tokens in _ends(tokens))
    if tokens.low == tokens.high:
        return f"{low:.1f} %"
    if high < 1:
        return "under 1 %"
    return f"{low:.0f}–{high:.0f} %" if round(low) < round(high) else f"about {high:.0f} %"


COMMANDS: list[click.Command] = [profile]
