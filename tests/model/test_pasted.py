"""A console that a user pasted leaves room for what they say."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from gitguard.model.pasted import without_pastes

LOG = "\n".join(f"compiled unit {number} of the parser" for number in range(30))
CONSOLE = f"ada@mill parser % make all\n{LOG}\nlinker: symbol `walk` is missing\nada@mill parser %"


def test_the_users_words_stand_around_a_pasted_console() -> None:
    text = without_pastes(f"It breaks since today:\n\n{CONSOLE}\n\nKeep the old linker.")
    assert text.split("\n") == [
        "It breaks since today:",
        "[pasted: make all … linker: symbol `walk` is missing]",
        "Keep the old linker.",
    ]


def test_a_fenced_console_and_a_fence_that_never_ends_leave_the_last_line() -> None:
    for end in ("\n```\nWhy?", "\n```", ""):
        text = without_pastes(f"```\n{CONSOLE}{end}")
        assert text.startswith("[pasted: make all … linker: symbol `walk` is missing]")
        assert text.endswith("Why?") == ("Why?" in end)


def test_logs_and_stack_traces_are_pastes_too() -> None:
    log = "\n".join(f"2026-01-02 10:00:{n:02} unit {n} started" for n in range(20))
    assert without_pastes(f"Why?\n{log}") == "Why?\n[pasted: 2026-01-02 10:00:19 unit 19 started]"
    trace = "Why?\n" + "\n".join(f"    at walk{n} (/srv/app/walk.js:{n}:7)" for n in range(9))
    assert without_pastes(trace) == "Why?\n[pasted: at walk8 (/srv/app/walk.js:8:7)]"


def test_words_between_two_consoles_stay() -> None:
    words = "Please look at why a fails first.\nThen mend b."
    text = f"ada@host:~$ make\nerror: a\nerror: b\n\n{words}\n\nada@host:~$ make test\n1 failed\nx"
    assert words in without_pastes(text)


def test_a_prompt_that_is_not_mostly_pasted_stays_as_it_is() -> None:
    words = "# Plan\n\n" + "Port the parser to the new table and keep the tests green.\n" * 20
    for text in (words, f"{words}\n$ make\nok\nfine", "```\ndef walk(): ...\nx = 1\ny = 2\n```"):
        assert without_pastes(text) == text


@given(st.lists(st.sampled_from(["$ make", "```", "", "words", "a@b c % d", "10:11:12 x", "]"])))
def test_no_prompt_grows_and_nothing_fails(lines: list[str]) -> None:
    text = "\n".join(lines)
    assert len(without_pastes(text)) <= len(text) + 12 * (1 + len(lines))
