"""The report as HTML: one file without requests, in which no text is more than text."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitguard.model.text import one_line
from gitguard.review.page import MOST_BYTES, MOST_SHOWN, chart_of, embedded, page, shown_of

from .injections import INJECTIONS
from .made_reports import WEB, long_report, report_with
from .rendered import Page

PLAIN = Page(page(report_with("plain"), WEB))


def element(html: str, opening: str, closing: str) -> str:
    return html.partition(opening)[2].partition(closing)[0]


def data_of(html: str) -> dict[str, list[Any]]:
    read: dict[str, list[Any]] = json.loads(element(html, 'id="data">', "</script>"))
    return read


@pytest.mark.parametrize("text", [text for text in INJECTIONS if text.strip()])
def test_no_text_breaks_out_of_its_place(text: str) -> None:
    html = page(report_with(text), WEB)
    read = Page(html)
    assert [tag for tag, _ in read.tags] == [tag for tag, _ in PLAIN.tags]
    assert [set(names) for _, names in read.tags] == [set(names) for _, names in PLAIN.tags]
    for tag, attributes in read.tags:
        address = attributes.get("href") or ""
        assert tag != "a" or address.startswith(("#", f"{WEB}/commit/")), address
    words = one_line(text)
    assert any(words in item[1] for item in data_of(html)["items"])
    assert any(words in block for block in read.blocks)


@given(st.text() | st.sampled_from(INJECTIONS))
def test_data_for_the_script_is_read_back_and_ends_no_element(text: str) -> None:
    written = embedded({"text": text})
    assert not set("<>&") & set(written)
    assert set(json.loads(written)) == {"text"}


def test_the_policy_allows_this_style_and_this_script_and_no_request() -> None:
    html = page(report_with("plain"), WEB)
    policies = [a["content"] for t, a in Page(html).tags if a.get("http-equiv")]
    assert len(policies) == 1
    rules = dict(rule.strip().split(" ", 1) for rule in str(policies[0]).split(";"))
    for kind, opening in (("style", "<style>"), ("script", "<script>")):
        text = element(html, opening, f"</{kind}>")
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert rules[f"{kind}-src"] == f"'sha256-{digest}'"
    assert rules["default-src"] == rules["base-uri"] == rules["form-action"] == "'none'"
    assert not re.search(r"\s(?:on\w+|style)=|url\(|@import|<(?:iframe|object|embed)", html)


def test_the_script_puts_text_in_as_text_only() -> None:
    script = element(page(report_with("plain"), WEB), "<script>", "</script>")
    assert "textContent" in script
    refused = ["innerHTML", "outerHTML", "insertAdjacent", "document.write", "eval", "Function("]
    refused += ["fetch", "XMLHttp", "import(", "setAttribute", "href", "src"]
    assert [word for word in refused if word in script] == []


@pytest.mark.parametrize("text", ["A sentence of a usual length about the work", "<\u4e2d&" * 200])
def test_a_page_of_a_thousand_checkpoints_stays_small(text: str) -> None:
    report = long_report(1000, text)
    html = page(report, WEB)
    assert len(html.encode()) <= MOST_BYTES
    assert len(data_of(html)["stops"]) == len(shown_of(report)) == MOST_SHOWN
    assert "more, cp_" in html


def test_the_ends_and_what_was_taken_for_something_are_shown() -> None:
    report = long_report(500, "text")
    stops = list(report.stops)
    stops[77] = stops[77].replace(trigger="halt")
    stops[78] = stops[78].replace(trigger="compaction")
    shown = shown_of(report.replace(stops=tuple(stops)))
    assert {0, 77, 78, 499} <= {*shown}
    assert shown == tuple(sorted({*shown}))


def test_the_chart_draws_each_stretch_with_a_known_pressure() -> None:
    report = long_report(6, "text")
    pressures = (0.1, 0.2, None, 0.4, None, 1.7)
    pairs = zip(report.stops, pressures, strict=True)
    stops = [stop.replace(pressure=pressure) for stop, pressure in pairs]
    stops[3] = stops[3].replace(trigger="halt")
    chart = chart_of(report.replace(stops=tuple(stops)))
    assert chart.paths == ("M0 90 L200 80", "M600 60 h2", "M1000 0 h2")
    assert [mark.kind for mark in chart.marks] == ["halt"]


def test_every_control_has_a_name_and_every_section_a_heading() -> None:
    ids = {a["id"] for _, a in PLAIN.tags if "id" in a}
    named = {a["aria-labelledby"] for _, a in PLAIN.tags if "aria-labelledby" in a}
    assert named <= ids
    assert [a for t, a in PLAIN.tags if t == "svg" and not a.get("aria-label")] == []
    assert [t for t, _ in PLAIN.tags].count("select") == 2
    assert [t for t, _ in PLAIN.tags].count("label") == 2
    assert [t for t, _ in PLAIN.tags].count("h1") == 1
