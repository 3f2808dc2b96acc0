"""What a command line gives, in its order: nothing that was given is dropped without a word."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import click

from gitguard.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Callable


class OptionsInOrder(click.Command):
    """A command that keeps in which order its options were given."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse as click does, and keep the order of the options' names."""
        _, _, order = self.make_parser(ctx).parse_args(list(args))
        ctx.meta[__name__] = [parameter.name for parameter in order]
        return super().parse_args(ctx, args)


def pairs(
    context: click.Context, subject: str, detail: str, values: dict[str, tuple[str, ...]]
) -> list[tuple[str, str]]:
    """Return each value of the option subject with that of detail which belongs to it, or "".

    Of as many of both, the first belongs to the first. Of fewer details, each belongs to the
    subject right before it. Raises `InvalidInput` where that leaves a detail without a subject.
    """
    subjects, details = values[subject], values[detail]
    if len(subjects) == len(details):
        return list(zip(subjects, details, strict=True))
    matched: list[tuple[str, str]] = []
    unread = {subject: iter(subjects), detail: iter(details)}
    may_follow = False
    for name in context.meta[__name__]:
        if name == subject:
            matched.append((next(unread[subject]), ""))
        elif name == detail:
            text = next(unread[detail])
            if not may_follow:
                raise InvalidInput(
                    f"--{detail} `{text:.80}` requires --{subject}; nothing was noted",
                    f"Put each --{detail} right after its --{subject}",
                )
            matched[-1] = (matched[-1][0], text)
        may_follow = name == subject or (may_follow and name != detail)
    return matched


# A share of the window as an option: 0.6, or 60% as policy files write it


def share_up_to(most: float) -> Callable[[object], float]:
    """Return what reads a share of at most so much, as the type of an option."""

    def read_share(text: object) -> float:
        share = _number(str(text).strip())
        if not 0 <= share <= most:
            raise click.BadParameter(f"'{text}' is not a share of the window: write 0.6 or 60%")
        return share

    return read_share


def _number(text: str) -> float:
    try:
        return float(text[:-1]) / 100 if text.endswith("%") else float(text)
    except ValueError:
        return math.nan
