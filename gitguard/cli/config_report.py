"""What the commands about hosts' settings say, for people and for programs.

Lists, as tables read badly on small screens. Each change is spelled out: nobody is asked to agree
to a number of changes.
"""

from __future__ import annotations

from shlex import quote
from typing import TYPE_CHECKING, Any

from gitguard.model.text import local_times

if TYPE_CHECKING:
    from gitguard.hosts.adviser import UndoHelp
    from gitguard.model.host_settings import Setting
    from gitguard.model.redaction.redactor import Redactor
    from gitguard.settings.advice import Advice
    from gitguard.settings.apply_advice import Applied
    from gitguard.settings.changes_file import MadeChange
    from gitguard.settings.rollback import Rollback

_SOURCES = {
    "given": "as named",
    "config": "from your config.yaml",
    "host": "from the host",
    "model": "from its model",
    "conversation": "from the newest conversation",
}


def advice_text(advice: Advice, planned: MadeChange | None = None, *, problem: str = "") -> str:
    """Return the advice; planned says where the backup will be, once it is to be applied.

    problem is why it is not remembered.
    """
    lines = [*_unfinished(advice), _heading(advice), *_right(advice), *_withheld(advice)]
    lines += _changes(advice)
    if advice.changes:
        lines += [
            "Consequences:",
            *(f"- {consequence}" for consequence in advice.offer.consequences),
        ]
        lines += _safety(advice, planned)
    if advice.runway is not None:
        low, high = advice.runway
        calls = f"{low:,}" if low == high else f"{low:,} to {high:,}"
        lines.append(f"Runway now: about {calls} tool calls until the halt.")
    lines += [f"Note: {note}." for note in advice.offer.notes]
    if advice.changes and planned is None:
        lines.append(_how_to_apply(advice))
    lines += _forgotten(problem)
    return "\n".join(lines)


def _how_to_apply(advice: Advice) -> str:
    if advice.configuration.unfit:
        return f"gitguard does not apply it: {advice.configuration.unfit}."
    if advice.unfinished is not None:
        return "Roll the interrupted change back first; then this can be applied."
    return f"Apply it: `{apply_command(advice)}`"


def _forgotten(problem: str) -> list[str]:
    return (
        [f"Warning: gitguard cannot remember this for later advice: {problem}."] if problem else []
    )


def apply_command(advice: Advice) -> str:
    """Return what to type to apply an advice."""
    figures = advice.figures
    parts = [f"gitguard config advise {advice.host} --pattern {figures.pattern}"]
    parts += [f"--window {figures.window}"] if advice.window_source == "given" else []
    parts += ["--hours 3"] if figures.is_long else []
    parts += [f"--protect {quote(tool)}" for tool in figures.spared]
    parts += ["--again"] * advice.is_again
    return " ".join([*parts, "--apply"])


def _unfinished(advice: Advice) -> list[str]:
    if advice.unfinished is None:
        return []
    return [
        f"Warning: a change of `{advice.unfinished.file}` at "
        f"{local_times(advice.unfinished.at)} was interrupted and may be half done; "
        f"`gitguard config rollback {advice.host}` undoes it."
    ]


def _heading(advice: Advice) -> str:
    version = f" {advice.configuration.version}" if advice.configuration.version else ""
    window = "not known"
    if advice.figures.window:
        window = f"{advice.figures.window:,} tokens ({_source(advice.window_source)})"
    evidence = "; ".join(advice.evidence)
    return (
        f"{advice.title}{version}. Work: {advice.figures.pattern} ({evidence}). Window: {window}."
    )


def _source(source: str) -> str:
    first, _, cap = source.partition(", ")
    return ", ".join(filter(None, (_SOURCES.get(first, first), cap)))


def _right(advice: Advice) -> list[str]:
    if not advice.right:
        return []
    return [
        "Already right:",
        *(f"- {setting.title}: `{setting.key}` is {setting.now}" for setting in advice.right),
    ]


def _withheld(advice: Advice) -> list[str]:
    if not advice.withheld:
        return []
    withheld_lines = [
        f"- {advised.setting.title}: `{advised.setting.key}`, {advised.setting.now} → "
        f"{advised.setting.after}, which {advised.why}"
        for advised in advice.withheld
    ]
    return ["Not repeated for this kind of work, except with --again:", *withheld_lines]


def _changes(advice: Advice) -> list[str]:
    if not advice.changes and advice.withheld:
        return ["Nothing else to change."]
    if not advice.changes:
        return ["Nothing to change."] if advice.right else ["There is nothing to advise here."]
    lines = [f"To change in `{advice.configuration.file}`:"]
    for setting in advice.changes:
        lines += [
            f"- {setting.title}: `{setting.key}`, {setting.now} → {setting.after}",
            f"  {setting.practice}.",
        ]
    return lines


def _safety(advice: Advice, planned: MadeChange | None) -> list[str]:
    if advice.configuration.unfit:
        return []
    if planned is None and advice.seen is not None:
        return ["- gitguard first makes a backup beside the file and writes a rollback document"]
    backup = f"the backup will be `{planned.backup}`" if planned else ""
    if advice.seen is None:
        backup = "the file does not exist yet; --apply creates it, and a rollback removes it"
    document = f"`{planned.document}`" if planned else "a rollback document"
    return [f"- {backup}", f"- {document} will say how to undo the change"]


def advice_document(advice: Advice) -> dict[str, Any]:
    """Return the advice for programs."""
    return {
        "applied": False,
        "host": advice.host,
        "version": advice.configuration.version,
        "pattern": advice.figures.pattern,
        "evidence": list(advice.evidence),
        "window": advice.figures.window or None,
        "window_source": advice.window_source,
        "file": advice.configuration.file,
        "right": [_setting(setting) for setting in advice.right],
        "changes": [_setting(setting) for setting in advice.changes],
        "not_again": [
            {**_setting(withheld.setting), "why": withheld.why} for withheld in advice.withheld
        ],
        "notes": list(advice.offer.notes),
        "consequences": list(advice.offer.consequences),
        "runway": list(advice.runway) if advice.runway else None,
        "unfinished": advice.unfinished,
        "not_applicable": advice.configuration.unfit,
    }


def _setting(setting: Setting) -> dict[str, Any]:
    names = ("key", "title", "before", "default", "after", "practice")
    return {name: getattr(setting, name) for name in names}


def applied_text(
    advice: Advice, applied: Applied, undo: UndoHelp, *, rollback: str, problem: str
) -> str:
    """Return what was changed, and all that is needed to go on or back."""
    change = applied.made
    changes = [setting for setting in advice.changes if setting.key not in applied.left_out]
    lines = [f"Changed in `{change.file}`, and read back:"]
    lines += [f"- `{setting.key}`: {setting.now} → {setting.after}" for setting in changes]
    lines += [f"Left out, as this version has no `{key}`." for key in applied.left_out]
    if applied.checked_by:
        lines.append(f"`{applied.checked_by}` says that it is valid.")
    else:
        lines.append("The host itself has not checked it.")
    lines += [f"- {consequence}" for consequence in advice.offer.consequences[:1]]
    lines += [f"Backup: `{change.backup}`."] if change.backup else []
    lines += [f"Undo it with `{rollback}`; `{change.document}` has the details."]
    lines.append(
        "Check the result with " + ", ".join(f"`{command}`" for command in undo.health) + "."
    )
    lines += _forgotten(problem)
    return "\n".join(lines)


def planned_document(advice: Advice, planned: MadeChange) -> dict[str, Any]:
    """Return what would be changed, for programs."""
    return {
        **advice_document(advice),
        "backup": planned.backup,
        "rollback_document": planned.document,
    }


def applied_document(advice: Advice, applied: Applied, *, problem: str) -> dict[str, Any]:
    """Return what was changed, for programs."""
    return {
        **advice_document(advice),
        "applied": True,
        "left_out": list(applied.left_out),
        "checked_by": applied.checked_by,
        "backup": applied.made.backup,
        "rollback_document": applied.made.document,
        "not_remembered": problem,
    }


def rollback_text(planned: Rollback, redactor: Redactor) -> str:
    """Return what taking a change back would do; what looks like a secret is left out."""
    change = planned.made
    cut = "" if change.is_finished else ", which was interrupted"
    lines = [f"The change of `{change.file}` at {local_times(change.at)}{cut}:"]
    lines += [
        f"- `{key}`: {now or 'not set'} → {was or 'not set'}" for key, was, now in change.changes
    ]
    lines += [
        f"This also undoes the change at {local_times(newer_change.at)}, "
        "which cannot be undone alone."
        for newer_change in planned.newer
    ]
    difference = redactor.text(planned.difference()).rstrip("\n")
    return "\n".join([*lines, difference or "The file is already as it was before the change."])


def forgetting_text(change: MadeChange) -> str:
    """Return what forgetting a change means."""
    backup = f" `{change.backup}` stays too, if it is there." if change.backup else ""
    return (
        f"The change of `{change.file}` at {local_times(change.at)} will be forgotten: the "
        f"file stays as it is, and gitguard can no longer undo the change.{backup}"
    )


def rolled_back_text(planned: Rollback, kept_copy: str, undo: UndoHelp, *, problem: str) -> str:
    """Return that a change was taken back."""
    lines = [f"`{planned.made.file}` has the same bytes as before the change."]
    if planned.before is None:
        lines = [f"`{planned.made.file}` is removed; it did not exist before the change."]
    lines += [f"Its previous content is kept in `{kept_copy}`."] if kept_copy else []
    lines.append(f"{undo.counts[:1].upper()}{undo.counts[1:]}.")
    return "\n".join([*lines, *_forgotten(problem)])


def rollback_outcome(
    planned: Rollback, redactor: Redactor, kept_copy: str = "", *, problem: str = ""
) -> dict[str, Any]:
    """Return a rollback for programs."""
    change = planned.made
    return {
        "rolled_back": False,
        "host": change.host,
        "file": change.file,
        "at": change.at,
        "changes": [{"key": key, "before": now, "after": was} for key, was, now in change.changes],
        "finished": change.is_finished,
        "changed_since": planned.is_moved,
        "taken_back_with_it": [newer_change.at for newer_change in planned.newer],
        "difference": redactor.text(planned.difference()),
        "kept": kept_copy,
        "not_remembered": problem,
    }
