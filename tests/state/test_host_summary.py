"""A host's summary is read by its shape, in any language; what has passed is not said again."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitguard.state.host_summary import (
    CURRENT,
    DECISIONS,
    ERRORS,
    MOST_KEPT,
    NEXT,
    PENDING,
    Since,
    SummarySection,
    by_worth,
    in_force,
    kept_whole,
    later_than,
    sections_of,
    standing_of,
    without_thinking,
)
from gitguard.state.items import CONCLUSION, PASSED, Artifact, Command, Exchange, Origin
from gitguard.state.task import new_task

ENGLISH = (
    ("Primary Request and Intent", "Import invoices from CSV files."),
    ("Key Technical Concepts", "- Dialects of CSV"),
    ("Files and Code Sections", "- `importer/dialect.py`\n```python\n# 8. Sniff\n## Next\n```"),
    ("Errors and fixes", "- Wrong delimiter: 4,096 bytes are sniffed now."),
    ("Problem Solving", "Sniffing was chosen, and no list of banks."),
    ("All user messages", '- "import these"\n- "no pandas"'),
    ("Pending Tasks", "1. Document the option\n2. Still need to run the tests"),
    ("Current Work", "Writing the reader of quoted fields."),
    ("Optional Next Step", "Read the bank's second file."),
)
SERBIAN = (
    ("Zahtev i namera", "Uvoz računa iz CSV datoteka."),
    ("Pojmovi", "- dijalekti"),
    ("Datoteke i kod", "- `importer/dialect.py`"),
    ("Greške i ispravke", "- Pogrešan razdelnik."),
    ("Rešavanje problema", "Izabrano je prepoznavanje."),
    ("Poruke korisnika", "- „uvezi ovo“"),
    ("Preostali zadaci", "- dokumentovati opciju"),
    ("Trenutni rad", "Čitanje navedenih polja."),
    ("Sledeći korak", "Pročitati drugu datoteku."),
)
CHINESE = tuple(
    (heading, f"内容{place}在这里。")
    for place, heading in enumerate(
        (
            "请求与意图",
            "概念",
            "文件",
            "错误与修复",
            "解决问题",
            "用户消息",
            "待办",
            "当前工作",
            "下一步",
        )
    )
)
SHAPES = {
    "numbered and bold": "{number}. **{heading}:**\n{body}\n",
    "bold before the colon": "{number}. **{heading}**:\n   {body}\n",
    "numbered": "{number}. {heading}:\n{body}\n",
    "in one line": "{number}. {heading}: {body}\n",
    "numbered headings": "## {number}. {heading}\n\n{body}\n",
    "headings": "## {heading}\n\n{body}\n",
    "bold headings": "### **{number}. {heading}**\n{body}\n",
    "bold": "**{heading}**\n{body}\n",
    "colons": "{heading}:\n{body}\n",
    "full-width": "{number}、{heading}：\n{body}\n",
}


def summary_of(shape: str, sections: tuple[tuple[str, str], ...]) -> str:
    return "\n".join(
        SHAPES[shape].format(number=number, heading=heading, body=body)
        for number, (heading, body) in enumerate(sections, start=1)
    )


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("form", [ENGLISH, SERBIAN, CHINESE], ids=["en", "sr", "zh"])
def test_the_sections_are_told_by_number_and_order(
    shape: str, form: tuple[tuple[str, str], ...]
) -> None:
    sections = sections_of(summary_of(shape, form))

    assert [section.heading for section in sections] == [heading for heading, _ in form]
    assert [section.about for section in by_worth(sections)][:5] == [
        CURRENT,
        NEXT,
        PENDING,
        DECISIONS,
        ERRORS,
    ]


@pytest.mark.parametrize("shape", SHAPES)
def test_a_form_without_its_optional_last_section_keeps_its_order(shape: str) -> None:
    sections = sections_of(summary_of(shape, SERBIAN[:8]))

    assert [section.heading for section in by_worth(sections)][:2] == [
        "Trenutni rad",
        "Preostali zadaci",
    ]


def test_headings_by_name_are_told_without_numbers() -> None:
    summary = (
        "## Goal\nImport invoices.\n## Progress\n### In Progress\n1. read\n2. parse\n3. store\n"
        "## Key Decisions\n- **Sniffing**: no list\n## Next Steps\n1. **Read** the file\n"
    )
    sections = sections_of(summary)
    assert [section.heading for section in by_worth(sections)] == [
        "Next Steps",
        "Key Decisions",
        "Progress",
        "Goal",
    ]


def test_the_short_form_begins_with_the_current_work_and_says_nothing_of_the_request() -> None:
    text = standing_of(summary_of("numbered and bold", ENGLISH), 1_500)

    assert text.splitlines()[0] == "Current Work: Writing the reader of quoted fields."
    assert text.splitlines()[1].startswith("Optional Next Step: ")
    assert "Import invoices" not in text


def test_a_long_section_leaves_room_for_the_others() -> None:
    form = (*ENGLISH[:7], ("Current Work", "It grew and grew again. " * 200), ENGLISH[8])
    text = standing_of(summary_of("numbered", form), 1_500)

    assert len(text) <= 1_500
    assert "Read the bank's second file." in text
    assert "Document the option." in text
    assert "Wrong delimiter" in text


def test_what_the_model_thought_aloud_is_no_part_of_the_summary() -> None:
    summary = f"<analysis>\n1. Think:\n2. More:\n</analysis>\n<summary>\n{ENGLISH[0][1]}</summary>"
    assert without_thinking(summary) == ENGLISH[0][1]


def test_thoughts_as_a_transcript_has_them_are_no_part_of_the_summary_either() -> None:
    summary = f"Analysis:\n1. **First**: a\n2. **Then**: b\n\nSummary:\n{ENGLISH[0][1]}"
    assert without_thinking(summary) == ENGLISH[0][1]


def test_a_summary_that_is_too_long_keeps_every_section() -> None:
    form = (*ENGLISH[:2], ("Files and Code Sections", "word " * 8_000), *ENGLISH[3:])
    kept = kept_whole(summary_of("numbered and bold", form))

    assert len(kept) <= MOST_KEPT
    assert [section.heading for section in sections_of(kept)] == [heading for heading, _ in form]
    assert standing_of(kept, 1_500) == standing_of(summary_of("numbered and bold", form), 1_500)


@given(st.text(max_size=2_000), st.integers(1, 1_500))
def test_any_text_is_read(text: str, limit: int) -> None:
    assert len(standing_of(text, limit)) <= limit
    assert len(kept_whole(text)) <= MOST_KEPT


@pytest.mark.parametrize(
    "part", ["```\n", "1. a:\n", "**", "## 1. a\n", "<analysis>", "：", "a:\n", " "]
)
def test_many_marks_are_read(part: str) -> None:
    text = part * (262_144 // len(part))

    assert len(standing_of(without_thinking(text), 1_500)) <= 1_500
    assert len(kept_whole(text)) <= MOST_KEPT


# What has passed


def _spoken(words: str) -> Since:
    origin = Origin(when="2026-01-01T10:00:00Z")
    state = new_task("s", "2026-01-01T08:00:00Z").replace(
        exchanges=(Exchange(words, CONCLUSION, origin=origin),)
    )
    return later_than(state, "2026-01-01T09:00:00Z")


def _pending(text: str, later: Since) -> str:
    return in_force(SummarySection("Pending", text, PENDING), later)


@pytest.mark.parametrize(
    ("pending", "later"),
    [
        ("Document the option.", "The option is documented."),
        ("Dokumentovati opciju.", "Dokumentovana je opcija."),
        ("Описать параметр.", "Я описал параметр."),
        ("编写选项文档。", "选项文档已写好。"),
    ],
)
def test_a_pending_item_of_which_a_later_answer_speaks_is_not_shown(
    pending: str, later: str
) -> None:
    assert _pending(f"- {pending}", _spoken(later)) == ""


def test_a_pending_item_stands_beside_an_answer_about_something_else() -> None:
    later = _spoken("The reader of quoted fields is ready.")
    assert _pending("- Document the option", later) == "Document the option."


def test_what_was_said_before_the_summary_ends_none_of_its_items() -> None:
    origin = Origin(when="2026-01-01T08:30:00Z")
    state = new_task("s", "2026-01-01T08:00:00Z").replace(
        exchanges=(Exchange("The option is documented.", CONCLUSION, origin=origin),)
    )
    later = later_than(state, "2026-01-01T09:00:00Z")
    assert _pending("- Document the option", later) == "Document the option."


def test_tests_that_passed_since_are_not_still_to_be_run() -> None:
    origin = Origin(when="2026-01-01T10:00:00Z")
    state = new_task("s", "2026-01-01T08:00:00Z").replace(
        commands=(Command("pytest -q", PASSED, origin=origin),)
    )
    later = later_than(state, "2026-01-01T09:00:00Z")
    text = "1. Still need to run the tests.\n2. Document the option."
    assert _pending(text, later) == "2) Document the option."


def test_a_file_that_was_written_since_is_not_still_to_be_written() -> None:
    origin = Origin(when="2026-01-01T10:00:00Z")
    state = new_task("s", "2026-01-01T08:00:00Z").replace(
        artifacts=(Artifact("docs/importing.md", origin=origin),)
    )
    later = later_than(state, "2026-01-01T09:00:00Z")
    assert _pending("- Write `docs/importing.md`", later) == ""


def test_what_was_decided_stays_although_something_later_speaks_of_it() -> None:
    section = SummarySection("Decisions", "The option is documented.", DECISIONS)
    assert in_force(section, _spoken("The option is documented.")) == section.body
