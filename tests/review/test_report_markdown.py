"""The report as Markdown: nothing in a state is more than text, and the page stays small."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitguard.model.text import one_line
from gitguard.review.markdown import MOST, USUAL, inert, markdown
from gitguard.review.sections import sections_of

from .injections import INJECTIONS
from .made_reports import WEB, long_report, report_with
from .rendered import Page, html_of

LIVE = {
    "a mention": r"@[\w/]",
    "an issue or a merge request": r"[#!%~]\w",
    "an issue by its prefix": r"(?i)\b(?:gh|ghsa|[a-z]{2,})-\d|GHSA-\w",
    "a commit": r"(?i)(?<![0-9a-z])[0-9a-f]{7,64}(?![0-9a-z])",
    "a closing keyword": r"(?i)\b(?:close[sd]?|fix(?:e[sd])?|resolve[sd]?):?\s+(?:[\w./-]*#\d|GH-\d|https?://)",
    "an address": r"://|(?i:www)\.\w",
    "an emoji": r":[\w+-]+:",
}
"""What hosts of code make something of, in a text that is neither code nor a link."""
TEXTS = (
    st.text(max_size=40)
    | st.text("<>&`*_[]()#!|~\\@-=+.:/$ \n1aF", max_size=30)
    | st.lists(st.sampled_from(INJECTIONS), max_size=3).map(" ".join)
)


def alive_in(texts: list[str]) -> list[str]:
    return [what for text in texts for what, live in LIVE.items() if re.search(live, text)]


def shape(html: str) -> list[str]:
    return [tag for tag, _ in Page(html).tags]


PLAIN = html_of(markdown(report_with("plain"), WEB))


@pytest.mark.parametrize("text", INJECTIONS)
def test_no_text_breaks_out_of_its_place(text: str) -> None:
    if not text.strip():
        return
    html = html_of(markdown(report_with(text), WEB))
    assert shape(html) == shape(PLAIN)
    page = Page(html)
    for tag, attributes in page.tags:
        assert set(attributes) == ({"href"} if tag == "a" else set()), tag
        assert tag != "a" or str(attributes["href"]).startswith(f"{WEB}/commit/")
    assert alive_in(page.texts) == []


@given(TEXTS)
def test_what_is_inert_reads_as_it_was_written(text: str) -> None:
    html = html_of(f"- {inert(text)}\n")
    page = Page(html)
    assert {tag for tag, _ in page.tags} <= {"ul", "li"}
    assert "".join(page.texts).strip().replace("\u200b", "") == one_line(text)


@given(TEXTS)
def test_what_is_inert_begins_no_block_either(text: str) -> None:
    html = html_of(inert(text))
    assert shape(html) == (["p"] if one_line(text) else [])
    assert alive_in(Page(html).texts) == []


@given(TEXTS)
def test_what_is_inert_is_inert_in_the_source_as_well(text: str) -> None:
    # A squash takes the body of a pull request into a commit's message as it is written.
    shown = re.sub(r"&(?:lt|gt|amp|#124|#36|#47);", " ", inert(text)).replace("\\", "")
    shown = shown.replace("&#8203;", "\u200b")
    assert alive_in([shown]) == []


def test_the_longest_report_stays_below_the_limit_and_says_what_is_left_out() -> None:
    for text in (
        "A long sentence about nothing in particular. " * 20,
        "<@>|" * 400,
        "\u4e2d" * 900,
    ):
        page = markdown(long_report(300, text), WEB)
        assert len(page) <= MOST
        assert "more left out" in page


def test_a_report_shows_at_most_a_screen_unfolded() -> None:
    page = markdown(long_report(300, "A long sentence about nothing in particular."), WEB)
    unfolded = page.partition("<details>")[0] + page.rpartition("</details>")[2].partition("\n[")[0]
    assert len(unfolded.splitlines()) <= 30
    assert len(page.encode()) <= 2 * USUAL


def test_the_same_work_gives_the_same_bytes() -> None:
    pages = {markdown(report_with("plain"), WEB) for _ in range(3)}
    assert len(pages) == 1


def test_where_room_is_short_what_failed_stays_and_what_passed_goes() -> None:
    (claims,) = [part for part in sections_of(report_with("pytest")) if "claims" in part.lead]
    failed = claims.lines[0]
    passed = failed.replace(label="passed", weight=1)
    (line,) = claims.replace(lines=(failed, passed)).fitting(1).lines
    assert line.label == "failed"
