"""Whether a file's content holds a secret: searched part by part, within a budget of time.

What the time does not reach is left out. A large file whose share of the time was not enough, or in
which a secret was found, is not searched again while it is unchanged or only grew. Of one that was
searched in vain and only grew, the new part is searched.

Of a binary file its strings are searched, as `strings` shows them. What is compressed or encrypted
has none, and no rule tells a secret in it.
"""

from __future__ import annotations

from gitguard.model.redaction.redactor import OVERLAP, WINDOW, Redactor
from gitguard.model.value import Value
from gitguard.store.worktree.manifest import escaped
from gitguard.store.worktree.searched import Searched

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator


_UTF_16 = (b"\xff\xfe", b"\xfe\xff")
"""How a text of that encoding begins."""
_REMEMBERED = 1 << 18
"""Bytes of the smallest file whose search is remembered; others are searched at once."""
_SECRET = "a secret was found in it"
_CUT_CHARACTER = 4
"""Bytes of the longest character that a file may have ended within."""


class SearchVerdict(Value):
    """Whether a content may be kept."""

    reason: str = ""
    """Why it is left out; empty where it holds no secret."""
    is_final: bool = True
    """Whether another search of the same content would end in the same way."""


class SecretSearch:
    """One search through many files, in which all of them share a time."""

    def __init__(
        self,
        redactor: Redactor,
        clock: Callable[[], float],
        seconds: float,
        earlier: Iterable[Searched] = (),
    ) -> None:
        """Begin; earlier is what the search before this one came to."""
        self.searched: list[Searched] = []
        """What is to be remembered of this search."""
        self._redactor = redactor
        self._clock = clock
        self._seconds = seconds
        self._ends_at = clock() + seconds
        self._earlier = {search.path: search for search in earlier}

    @property
    def is_over(self) -> bool:
        """Whether no time is left."""
        return self._clock() > self._ends_at

    @property
    def out_of_time(self) -> SearchVerdict:
        """The verdict on a file that was not reached."""
        return SearchVerdict(f"the snapshot took more than {self._seconds:g} s", is_final=False)

    def verdict(self, path: str, data: bytes) -> SearchVerdict:
        """Search a content, as far as the time reaches."""
        digest, earlier = self._identified(path, data)
        too_long = f"the search for secrets in it takes more than {self._seconds:g} s"
        if earlier is not None and earlier.reason in (_SECRET, too_long):
            reason = earlier.reason
        else:
            begins_at = self._clock()
            is_clean = earlier is not None and not earlier.reason
            holds_secret = self._holds_secret(data, earlier.size if earlier and is_clean else 0)
            had_most_of_the_time = self._ends_at - begins_at > self._seconds / 2
            if holds_secret is None and not (digest and had_most_of_the_time):
                return self.out_of_time  # because of others, so it is tried again
            reason = too_long if holds_secret is None else _SECRET if holds_secret else ""
        if digest:
            self.searched.append(Searched(escaped(path), len(data), digest, reason))
        return SearchVerdict(reason)

    def remember_unchanged(self, path: str) -> None:
        """Carry over what is known of a file that nobody changed."""
        earlier = self._earlier.get(escaped(path))
        if earlier is not None:
            self.searched.append(earlier)

    def _identified(self, path: str, data: bytes) -> tuple[str, Searched | None]:
        """Return a large content's digest, and the earlier search if it only grew since."""
        if len(data) < _REMEMBERED:
            return "", None
        from hashlib import sha256  # its library is worth its loading for a large content alone

        earlier = self._earlier.get(escaped(path))
        size = earlier.size if earlier is not None else 0
        view, digest = memoryview(data), sha256(self._redactor.rules_id.encode())
        digest.update(view[:size])
        only_grew = earlier is not None and digest.hexdigest() == earlier.digest
        digest.update(view[size:])
        return digest.hexdigest(), earlier if only_grew else None

    def _holds_secret(self, data: bytes, searched_before: int) -> bool | None:
        """Say whether a content holds a secret; None where the time does not suffice."""
        parts = searched_parts(self._redactor, data, searched_before)
        while not self.is_over:
            holds_secret = next(parts, None)
            if holds_secret is not False:
                return holds_secret is not None
        return None


def is_binary(data: bytes) -> bool:
    """Say whether a content is no text."""
    return data[:2] not in _UTF_16 and b"\0" in data


def searched_parts(redactor: Redactor, data: bytes, searched_before: int = 0) -> Iterator[bool]:
    """Yield of each part of a content whether it holds a secret; it is searched only then."""
    has_fields = is_binary(data)
    for part in parts_of(data, searched_before):
        yield redactor.holds_secret(part) or (has_fields and any(redactor.rules_of_glued(part)))


def parts_of(data: bytes, searched_before: int = 0) -> Iterator[str]:
    """Yield the text of a content in overlapping parts, each of which can be searched alone.

    Of so many bytes at its beginning it is known that they hold no secret.
    """
    if is_binary(data):
        from gitguard.store.worktree.binary_strings import strings_in

        yield from strings_in(data)
        return
    text, first = _decoded(data), 0
    if searched_before:
        length = len(_decoded(data[:searched_before])) - _CUT_CHARACTER
        first = max(0, (length - OVERLAP) // WINDOW * WINDOW)
    for start in range(first, len(text), WINDOW):
        yield text[start : start + WINDOW + OVERLAP]


def _decoded(data: bytes) -> str:
    return data.decode("utf-16" if data[:2] in _UTF_16 else "utf-8", "replace")
