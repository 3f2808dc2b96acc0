"""Which words speak of the same subject, in languages that no rule knows."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitguard.state.subjects import Subjects

REPLACED = [
    ("The export page has 20 rows.", "No, 50 rows on the export page."),
    ("Izveštaj ima 20 redova na strani.", "Ne, na strani izveštaj treba da ima 50 redova."),
    ("Der Bericht zeigt 20 Zeilen.", "Nein, der Bericht zeigt besser 50 Zeilen."),
    ("报表每页显示20行。", "不对，报表每页应该显示50行。"),
    ("レポートは1ページに20行表示する。", "いや、レポートは1ページに50行表示して。"),
    ("Порт сервера 8080.", "Нет, порт сервера 9090."),
    ("The helper font is 17px.", "The helper font has to be 21px."),
]
BESIDE = [
    ("Keep the export below 300 ms.", "Keep the import below 500 ms."),
    ("Never touch ledger-12 while you do that.", "Never touch voucher-80 while you do that."),
    ("The parser has 9 functions.", "It does two things: 1) it calls functions the parser has."),
    ("Fixed in 6730a6f on main.", "Fixed in 5d6a5e2 on main."),
    ("Nikad ne diraj modul parsera.", "Nikad ne diraj ni modul leksera."),
    ("Der Export läuft mit Python 3.12.", "Die Tests im Export brauchen 40 Sekunden."),
    ("导出时间不要超过300毫秒。", "导入时间不要超过500毫秒。"),
    ("不要使用数据库。", "数据库用SQLite。"),
    ("src/reader.pyは変更しない。", "src/writer2.pyは変更しない。"),
]


@pytest.mark.parametrize(("older", "newer"), REPLACED)
def test_a_newer_value_of_the_same_subject_replaces_an_older_one(older: str, newer: str) -> None:
    subjects = Subjects((older, newer))
    assert subjects.is_replaced(older, newer)
    assert not subjects.is_replaced(older, older)


@pytest.mark.parametrize(("older", "newer"), BESIDE)
def test_what_may_hold_beside_a_newer_word_is_not_replaced(older: str, newer: str) -> None:
    assert not Subjects((older, newer)).is_replaced(older, newer)


def test_what_names_the_older_value_as_well_replaces_nothing() -> None:
    older, newer = "The export page has 20 rows.", "The export page has 20 rows, the import 50."
    assert not Subjects((older, newer)).is_replaced(older, newer)


def test_terms_that_every_message_has_tell_nothing() -> None:
    subjects = Subjects(f"Write module part{n}" for n in range(20))
    assert subjects.of("Write module part3 twice") == {"part3", "twice"}


@pytest.mark.parametrize(
    "asked",
    ["Is the reader slow?", "Da li je čitač spor?", "Ist der Leser langsam?", "读取很慢吗？"],
)
def test_a_text_that_only_asks_says_little(asked: str) -> None:
    assert Subjects(()).says_little(asked)
    assert not Subjects(()).says_little(f"{asked} Use the faster reader instead.")


@given(st.text(), st.text())
def test_no_text_replaces_itself_and_any_text_is_read(older: str, newer: str) -> None:
    subjects = Subjects((older, newer))
    assert not subjects.is_replaced(older, older)
    assert subjects.is_replaced(older, newer) in (True, False)


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("The site deploys in 1 to 2 minutes.", "Pushed, the site deploys in 3 minutes."),
        ("Sajt se objavljuje za 2 minuta.", "Gotovo, sajt se objavljuje za 3 minuta."),
        ("网站将在两分钟内部署完成。", "已推送，网站将在三分钟内部署完成。"),
        ("freelang: 5 projects are complete (50%).", "freelang: 9 projects are complete (82%)."),
    ],
)
def test_what_an_agent_says_again_in_other_numbers_or_words_is_told(older: str, newer: str) -> None:
    assert Subjects(()).is_said_again(older, newer)


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("All 12 tests of src/reader.py pass.", "All 9 tests of src/writer.py pass."),
        ("The reader locks each row twice.", "The writer waits for its turn."),
        ("It works now.", "It works now as well."),
    ],
)
def test_what_is_said_of_another_subject_is_not_said_again(older: str, newer: str) -> None:
    assert not Subjects(()).is_said_again(older, newer)
