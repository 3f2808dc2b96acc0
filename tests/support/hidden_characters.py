"""Text that attacks its reader, and what of it a reader does not see."""

from __future__ import annotations

import unicodedata

HIDDEN = frozenset({"Cc", "Cf", "Cs", "Co", "Cn"})


UGLY = (
    "\x1b[31mred\x1b]52;c;ZXZpbA==\x07\x9b2J\x7f\r\x00"
    "\u202egnp.exe\u2066x\u2069\u200bzero\ufeff\u00ad\u180e"
    "\U000e0041\U000e0042 tag \ue000 \uffff \U0001f98a\u200d"
)
"""What terminals obey, what readers do not see, and a fox."""


def hidden_in(text: str) -> set[str]:
    return {c for c in text if unicodedata.category(c) in HIDDEN and c not in "\n\t"}
