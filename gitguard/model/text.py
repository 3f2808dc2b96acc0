"""Text on its way out: to terminals, to agents, into commit messages.

State is written by agents and may hold anything; control, bidirectional and zero-width characters
could forge lines or hide instructions, so they are dropped at every output.
"""

from __future__ import annotations

import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re
    from collections.abc import Sequence

    late_pattern = re.compile
else:

    class late_pattern:  # noqa: N801 - used as `re.compile` is
        """A regular expression that is compiled at its first use.

        A hook uses few of those that it loads, and compiling one takes as long as loading a module.
        """

        def __init__(self, pattern, flags=0) -> None:
            self.pattern, self._flags = pattern, flags

        def __getattr__(self, name):
            from re import compile

            compiled = getattr(compile(self.pattern, self._flags), name)
            setattr(self, name, compiled)
            return compiled


_KEPT = "\n\t"
_DROPPED = frozenset({"Cc", "Cf", "Cs", "Co", "Cn"})
_STAMPS = late_pattern(r"\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z")
_LINE_ENDS = str.maketrans("\u2028\u2029", "  ")


def visible(text: str) -> str:
    """Return text without characters that a reader cannot see, line ends and tabs kept."""
    if text.isascii() and text.isprintable():
        return text
    dropped = unseen_in(text)
    text = text.translate(_LINE_ENDS)
    return "".join([c for c in text if c not in dropped]) if dropped else text


def unseen_in(text: str) -> set[str]:
    """Return the characters of a text that a reader cannot see, which `visible` drops."""
    from unicodedata import category

    return {c for c in set(text) if c not in _KEPT and category(c) in _DROPPED}


def shell_word(path: str) -> str:
    """Return a path as a word of a shell command, without a character that nobody can see.

    `visible` would drop it, and the command would name another file.
    """
    import os
    from shlex import quote

    if path.isprintable():
        return quote(path)
    spelled = (
        c if c.isprintable() and c not in "\\'" else "".join(f"\\{b:03o}" for b in os.fsencode(c))
        for c in path
    )
    return f"$'{''.join(spelled)}'"


def spelled_out(text: str) -> str:
    """Return JSON text with what `visible` drops as escapes: nothing is lost, nothing hidden."""
    if visible(text) == text:
        return text
    from json import dumps

    return "".join(c if visible(c) == c else dumps(c)[1:-1] for c in text)


def one_line(text: str) -> str:
    """Return the visible text with every run of white space folded to one blank."""
    return " ".join(visible(text).split())


def counted(number: int, singular: str, plural: str = "") -> str:
    """Return a number of things in words: `1 turn`, `1,200 turns`; plural is for other endings."""
    return f"{number:,} {singular if number == 1 else plural or singular + 's'}"


def enumerated(names: Sequence[str], joint: str) -> str:
    """Return names as a sentence lists them: `a`, `a or b`, `a, b or c`."""
    *first, last = names
    return f"{', '.join(first)} {joint} {last}" if first else last


def floored(share: float, digits: int = 2) -> str:
    """Return a share that is not rounded up, since that could reach a level that it is below."""
    scale = 10**digits
    return f"{int(share * scale + 1e-6) / scale:.{digits}f}"


def percent(share: float) -> str:
    """Return a share in whole percent, not rounded up."""
    return f"{int(share * 100 + 1e-6)}%"


def thousands(tokens: float) -> str:
    """Return tokens in whole thousands, not rounded up either, such as `149k`."""
    return f"{int(tokens / 1000 + 1e-6)}k"


def shorten(text: str, limit: int) -> str:
    """Cut to at most limit characters, at a word's end where there is one, marked with `…`."""
    if len(text) <= limit:
        return text
    head = text[: max(limit - 1, 0)]
    word_end = head.rfind(" ")
    return (head[:word_end] if word_end > limit // 2 else head).rstrip() + "…"


def cut_middle(text: str, head: int, tail: int) -> str:
    """Return a text's beginning and end, and between them how much is left out."""
    if len(text) <= head + tail:
        return text
    return text[:head] + left_out(len(text) - head - tail) + text[len(text) - tail :]


def cut_to(text: str, most: int) -> str:
    """Cut the middle out of a text that is longer than most characters, so that it fits in."""
    if len(text) <= most:
        return text
    room = max(most - len(left_out(len(text))), 0)
    return cut_middle(text, room - room // 4, room // 4)[:most]


def left_out(characters: int) -> str:
    """Return what stands in the place of characters that were left out."""
    return f"\n[gitguard: {characters:,} characters left out]\n"


def diff_texts(before: str, after: str, *, names: tuple[str, str]) -> str:
    """Return the unified diff of two texts, empty when they are the same."""
    import difflib

    lines = difflib.unified_diff(
        before.splitlines(keepends=True), after.splitlines(keepends=True), *names
    )
    return "".join(line if line.endswith("\n") else line + "\n" for line in lines)


def encodable(text: str) -> str:
    """Spell out lone surrogates, which JSON and file names may carry and UTF-8 cannot."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


_minutes: dict[str, int] = {}
"""Unix seconds of minutes: a transcript has a hundred thousand times, of a few days."""
_MOST_MINUTES = 10_000


def unquoted(text: str) -> str:
    """Take off the quotes that a host's command line puts around a prompt of several words."""
    inner = text.removeprefix('"').removesuffix('"')
    return inner.replace('\\"', '"') if len(inner) == len(text) - 2 else text


def seconds(stamp: str) -> float:
    """Return the Unix seconds of an ISO 8601 time in UTC; raise `ValueError` for any other text.

    `datetime` would take a tenth of a bare Python start to import, in every hook.
    """
    fraction = stamp[19:-1]
    is_fraction = fraction[:1] == "." and fraction.isascii() and fraction[1:].isdigit()
    if len(stamp) < 20 or stamp[-1] != "Z" or (fraction and not is_fraction):
        raise ValueError(f"`{stamp[:40]}` is not a time in UTC")
    minute = _minutes.get(stamp[:16])
    if minute is None:
        year, month, day = int(stamp[:4]), int(stamp[5:7]), int(stamp[8:10])
        # Days since 1970; a year that begins in March has its leap day at its end.
        year, month = (year, month - 3) if month > 2 else (year - 1, month + 9)
        leap_days = year // 4 - year // 100 + year // 400
        days = year * 365 + leap_days + (153 * month + 2) // 5 + day - 719469
        minute = days * 86400 + int(stamp[11:13]) * 3600 + int(stamp[14:16]) * 60
        if len(_minutes) < _MOST_MINUTES:
            _minutes[stamp[:16]] = minute
    return minute + int(stamp[17:19]) + float(f"0{fraction}")


def is_timestamp(text: str) -> bool:
    """Say whether text is a real time in the form that `seconds` reads."""
    try:
        return timestamp(seconds(text))[:19] == text[:19]
    except (ValueError, OverflowError):
        return False


def timestamp(seconds: float) -> str:
    """Return Unix seconds as ISO 8601 in UTC, as every file and message of ours carries it."""
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(seconds))


def local_times(text: str) -> str:
    """Return a text with the times of `timestamp` in it as the reader's clock has them.

    Each keeps its form, and says its zone: `2026-11-26T22:05:12Z`, or `2026-11-26T23:05:12+01:00`.
    """
    return _STAMPS.sub(lambda stamp: _local_time(stamp[0]), text)


def _local_time(stamp: str) -> str:
    try:
        local = time.localtime(seconds(stamp))
    except (ValueError, OverflowError, OSError):
        return stamp
    offset = local.tm_gmtoff // 60
    if not offset:
        return stamp
    sign, minutes = "-" if offset < 0 else "+", abs(offset)
    zone = f"{sign}{minutes // 60:02}:{minutes % 60:02}"
    return time.strftime("%Y-%m-%dT%H:%M:%S", local) + zone


def exact_timestamp(seconds: float) -> str:
    """Return Unix seconds with milliseconds, as hosts write them and we do in files of theirs."""
    return f"{timestamp(seconds)[:-1]}.{int(seconds % 1 * 1000):03}Z"
