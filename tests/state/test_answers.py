"""Which sentences of an answer are kept: by place, form and evidence, in any language."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitguard.model.tokens import fit, quarters_of
from gitguard.state.answers import (
    Features,
    closing_question,
    conclusions,
    findings,
    newest_of,
    passages_of,
    telling,
    weight_of,
    without_offer,
)
from gitguard.state.sentences import Shape, in_one_line, sentences

ENGLISH = """\
The export is fast again. The cause was the lock in `store/rows.py`, which each request took twice.

## What changed
- `read_rows` takes the lock once
- The timeout went from 30 to 5 seconds
- `tests/test_rows.py` has 4 new tests

I looked at the importer as well. It is written in another way, so nothing there has to change. \
Nobody has complained about it so far.

All 212 tests pass. The old index stays until the next release. Shall I remove `legacy_index` now?
"""
TRANSLATED = {
    "German": """\
Der Export ist wieder schnell. Die Ursache war die Sperre in `store/rows.py`, die jede Anfrage \
zweimal nahm.

## Was sich geändert hat
- `read_rows` nimmt die Sperre einmal
- Die Wartezeit sank von 30 auf 5 Sekunden
- `tests/test_rows.py` hat 4 neue Tests

Den Import habe ich auch angesehen. Er ist anders geschrieben, also muss sich dort nichts ändern. \
Bisher hat sich niemand darüber beschwert.

Alle 212 Tests laufen durch. Der alte Index bleibt bis zur nächsten Version. Soll ich \
`legacy_index` jetzt entfernen?
""",
    "Serbian": """\
Izvoz je ponovo brz. Uzrok je bilo zaključavanje u `store/rows.py`, koje je svaki zahtev uzimao \
dvaput.

## Šta je promenjeno
- `read_rows` zaključava samo jednom
- Vreme čekanja je spušteno sa 30 na 5 sekundi
- `tests/test_rows.py` ima 4 nova testa

Pogledao sam i uvoz. Napisan je drugačije, pa tamo ništa ne mora da se menja. Do sada se niko nije \
žalio na njega.

Svih 212 testova prolazi. Stari indeks ostaje do sledećeg izdanja. Da li da sada uklonim \
`legacy_index`?
""",
    "Serbian, Cyrillic": """\
Извоз је поново брз. Узрок је било закључавање у `store/rows.py`, које је сваки захтев узимао \
двапут.

## Шта је промењено
- `read_rows` закључава само једном
- Време чекања је спуштено са 30 на 5 секунди
- `tests/test_rows.py` има 4 нова теста

Погледао сам и увоз. Написан је другачије, па тамо ништа не мора да се мења. До сада се нико није \
жалио на њега.

Свих 212 тестова пролази. Стари индекс остаје до следећег издања. Да ли да сада уклоним \
`legacy_index`?
""",
    "Russian": """\
Экспорт снова быстрый. Причиной была блокировка в `store/rows.py`, которую каждый запрос брал \
дважды.

## Что изменилось
- `read_rows` берёт блокировку один раз
- Время ожидания снижено с 30 до 5 секунд
- В `tests/test_rows.py` 4 новых теста

Импорт я тоже посмотрел. Он написан иначе, поэтому там ничего менять не нужно. Пока никто на него \
не жаловался.

Все 212 тестов проходят. Старый индекс остаётся до следующего выпуска. Удалить \
`legacy_index` сейчас?
""",
    "Spanish": """\
La exportación vuelve a ser rápida. La causa era el bloqueo en `store/rows.py`, que cada petición \
tomaba dos veces.

## Qué ha cambiado
- `read_rows` toma el bloqueo una sola vez
- El tiempo de espera bajó de 30 a 5 segundos
- `tests/test_rows.py` tiene 4 pruebas nuevas

También miré la importación. Está escrita de otra manera, así que allí no hay nada que cambiar. \
Nadie se ha quejado de ella hasta ahora.

Las 212 pruebas pasan. El índice viejo se queda hasta la próxima versión. ¿Quito \
`legacy_index` ahora?
""",
    "Turkish": """\
Dışa aktarma yeniden hızlı. Sebep, her isteğin iki kez aldığı `store/rows.py` içindeki kilitti.

## Ne değişti
- `read_rows` kilidi bir kez alıyor
- Bekleme süresi 30 saniyeden 5 saniyeye indi
- `tests/test_rows.py` içinde 4 yeni test var

İçe aktarmaya da baktım. Başka türlü yazılmış, orada bir şeyin değişmesi gerekmiyor. Şimdiye kadar \
kimse ondan yakınmadı.

212 testin hepsi geçiyor. Eski dizin bir sonraki sürüme kadar kalıyor. `legacy_index` şimdi \
kaldırılsın mı?
""",
    "Chinese": """\
导出又快了。原因是 `store/rows.py` 里的锁，每个请求都取了两次。

## 改了什么
- `read_rows` 只取一次锁
- 超时从 30 秒降到 5 秒
- `tests/test_rows.py` 有 4 个新测试

导入我也看了。它的写法不同，所以那里不用改。到现在没有人抱怨过它。

212 个测试全部通过。旧索引保留到下一个版本。现在要删除 `legacy_index` 吗？
""",
    "Japanese": """\
エクスポートはまた速くなりました。原因は `store/rows.py` のロックで、各リクエストが二回取って\
いました。

## 変更点
- `read_rows` はロックを一回だけ取ります
- タイムアウトは 30 秒から 5 秒になりました
- `tests/test_rows.py` に新しいテストが 4 件あります

インポートも見ました。書き方が違うので、そちらは変える必要がありません。今のところ苦情はありません。

212 件のテストはすべて通ります。古い索引は次のリリースまで残ります。今 `legacy_index` を消しますか？
""",
}
FACTS = ("store/rows.py", "read_rows", "30", "tests/test_rows.py", "212", "legacy_index")


def places_kept(answer: str, kept: str) -> list[int]:
    """Say which sentences of an answer are kept whole, by their numbers."""
    return [i for i, passage in enumerate(passages_of(answer)) if passage.text in kept]


@pytest.mark.parametrize("language", TRANSLATED)
def test_each_sentence_of_an_answer_weighs_the_same_in_another_language(language: str) -> None:
    weights = [weight_of(passage.features) for passage in passages_of(TRANSLATED[language])]
    assert weights == [weight_of(passage.features) for passage in passages_of(ENGLISH)]


@pytest.mark.parametrize("language", TRANSLATED)
@pytest.mark.parametrize("limit", [200, 300, 400])
def test_the_same_room_keeps_as_many_facts_in_any_language(language: str, limit: int) -> None:
    in_english = conclusions(ENGLISH, limit)
    kept = conclusions(TRANSLATED[language], limit)
    facts = [fact for fact in FACTS if fact in in_english]
    assert len([fact for fact in FACTS if fact in kept]) >= len(facts) - 1


@pytest.mark.parametrize("language", TRANSLATED)
def test_what_an_answer_shows_is_told_in_every_language(language: str) -> None:
    answer = TRANSLATED[language]
    assert places_kept(answer, telling(answer, 2_000)) == places_kept(
        ENGLISH, telling(ENGLISH, 2_000)
    )


def test_what_is_over_gives_way_to_the_beginning_the_end_and_what_is_named() -> None:
    kept = conclusions(ENGLISH, 330)
    for words in (
        "The export is fast again.",
        "store/rows.py",
        "What changed:\n- read_rows",
        "212",
    ):
        assert words in kept
    assert "Nobody has complained" not in kept


@pytest.mark.parametrize(
    ("answer", "kept"),
    [
        ("## Summary\n\n## Changes\n- The reader is ported", "Changes: The reader is ported."),
        ("The reader is ported.\n\n## Summary", "The reader is ported."),
        ("It is ported.\n\n---\n\n42\n\n3.\n\nIt leaks.", "It is ported. It leaks."),
        ("Two reasons:\n\n1. It leaks\n2. It waits", "Two reasons: 1) It leaks. 2) It waits."),
        ("It waits\n\n**1. Ask it**\nBy hand", "It waits 1) Ask it: By hand"),
        ("It waits\n\n## 1. Ask it\nBy hand", "It waits 1) Ask it: By hand"),
        ("It is ported. Two reasons:\n- It leaks", "It is ported. Two reasons: It leaks."),
        ("原因有两个：\n- 它漏了\n- 它在等", "原因有两个： 它漏了. 它在等."),
        (
            "| Check | Result |\n| --- | --- |\n| lint | 0 errors |\n| 7 | 9 |\n| | |",
            "lint: 0 errors.",
        ),
        ("42", "42"),
    ],
)
def test_fragments_are_no_sentences(answer: str, kept: str) -> None:
    assert in_one_line(conclusions(answer, 400)) == kept


def test_what_leads_to_a_list_stays_with_the_items_that_are_kept() -> None:
    items = [f"- Step {'abcdefgh'[n]} takes a while and then it goes on" for n in range(8)]
    items[5] += " to `rows.py` with 12 rows"
    answer = "\n".join(["It is ported.\n", "Not done yet:", *items, "", "All 12 tests pass."])
    kept = conclusions(answer, 160)
    assert kept.splitlines() == [
        "It is ported.",
        "…",
        "Not done yet:",
        "- Step f takes a while and then it goes on to rows.py with 12 rows.",
        "…",
        "All 12 tests pass.",
    ]
    assert passages_of(kept)[2].heading == "Not done yet:"


@pytest.mark.parametrize("answer", [ENGLISH, *TRANSLATED.values()])
def test_what_is_kept_is_kept_the_same_when_it_is_read_again(answer: str) -> None:
    kept = conclusions(answer, 330)
    assert conclusions(kept, 330) == kept


def test_the_lists_of_two_messages_keep_what_leads_to_each() -> None:
    said = ["Ported:\n- 12 rows of `a.py`\n- 9 rows of `b.py`", "Left:\n- 7 rows of `c.py`"]
    assert findings(said, 400).splitlines() == [
        "Ported:",
        "- 12 rows of a.py.",
        "- 9 rows of b.py.",
        "Left:",
        "- 7 rows of c.py.",
    ]


def test_a_mark_stands_wherever_something_is_left_out() -> None:
    sentences = [f"Step {'abcdefgh'[n]} took a while and then went on. " for n in range(8)]
    answer = f"The port is done. {''.join(sentences)}All 12 tests pass."
    kept = conclusions(answer, 140)
    assert kept.startswith("The port is done.")
    assert kept.endswith("All 12 tests pass.")
    assert " … " in kept
    again = conclusions(kept, 60)
    assert again == "The port is done. … All 12 tests pass."


def test_a_sentence_that_was_cut_before_is_not_cut_to_a_fragment_of_it() -> None:
    cut = "The reader of `rows.py` waits for the lock of the writer, which waits for the…"
    answer = f"The port is done in 3 files. … {cut} … All 12 tests pass."
    assert conclusions(answer, 75) == "The port is done in 3 files. … All 12 tests pass."


@pytest.mark.parametrize(
    ("link", "shown"),
    [
        ("[PR #330](https://forge.example/one/two/pull/330)", "PR #330"),
        ("[src/rows.py](src/rows.py)", "src/rows.py"),
        ("[`rows.py`](src/rows.py)", "rows.py"),
        ("[the post](https://blog.example/keys/)", "[the post](https://blog.example/keys/)"),
    ],
)
def test_of_a_link_only_its_words_stay_where_they_name_its_target(link: str, shown: str) -> None:
    assert conclusions(f"It stands in {link} now.", 400) == f"It stands in {shown} now."


@pytest.mark.parametrize(
    ("answer", "left"),
    [
        ("The reader is ported. Shall I port the writer?", "The reader is ported."),
        (
            "The reader is ported. What comes next?: 1) Port the writer. 2) Port the tests.",
            "The reader is ported.",
        ),
        ("The reader is ported. Is it fast enough? Shall I go on?", "The reader is ported."),
        ("读取器完成。下一步？ 1) 移植写入器。 2) 测试。 3) 其他。", "读取器完成。"),
        (
            "Two flaws: 1) The reader leaks. 2) The writer waits. Shall I mend them?",
            "Two flaws: 1) The reader leaks. 2) The writer waits.",
        ),
        ("It works. 1) The reader leaks. 2) The writer waits.", None),
        ('The title reads "Shall we go?"', None),
    ],
)
def test_what_an_answer_offered_is_over_once_the_user_has_gone_on(
    answer: str, left: str | None
) -> None:
    assert without_offer(answer) == (answer if left is None else left)


def test_a_question_takes_no_room_of_an_answer_once_the_user_has_gone_on() -> None:
    answer = f"rows.py is ported, in 3 files. {'It went well. ' * 9}Shall I port the writer.py now?"
    assert conclusions(answer, 90).endswith("Shall I port the writer.py now?")
    assert "Shall I" not in conclusions(answer, 90, is_open=False)


def test_a_heading_is_not_kept_with_a_word_of_what_follows() -> None:
    answer = "## Changes\n" + "The reader reads each of the rows of the table twice " * 8
    kept = conclusions(f"It is ported in `rows.py`.\n\n{answer}", 90)
    assert "Changes:" not in kept.removesuffix("…")[-12:]


def test_what_announces_a_call_is_over_when_it_has_run() -> None:
    said = [
        "Let me look at `rows.py`.",
        "The lock in `rows.py` is taken twice. Let me see `io.py`.",
    ]
    assert findings([*said, "All 12 tests pass."], 400) == (
        "The lock in rows.py is taken twice.\n…\nAll 12 tests pass."
    )
    assert findings(said[:1], 400) == ""


def test_of_a_long_turn_the_newest_words_are_read() -> None:
    said = [f"Row {n} is read. " * 40 for n in range(100)]
    newest = newest_of(said)
    assert newest[-1] == said[-1]
    assert sum(map(len, newest)) <= 8_192


def test_features_weigh_the_same_wherever_the_sentence_comes_from() -> None:
    plain, evident = Features(), Features(shape=Shape(has_number=True, has_path=True))
    assert weight_of(plain) < weight_of(evident)
    assert weight_of(evident) < weight_of(evident.replace(opens=1))


PIECES = st.sampled_from(
    ["The key", "lacks `tenant_id`.", "12", "…", " … ", "\n", "\n\n", "## ", "- ", "| a | b |",
     "| --- |", "```", "：", "？", "因为", "。", "#", "**x**", ":", "a" * 90, "\u2028", "\x00", "`"]
)  # fmt: skip
TEXTS = st.one_of(st.text(max_size=300), st.lists(PIECES, max_size=80).map(" ".join))


@given(TEXTS)
def test_without_its_offer_an_answer_says_nothing_new(answer: str) -> None:
    assert set(without_offer(answer).split()) <= set(answer.split()) | set(
        " ".join(sentences(answer)).split()
    )


@given(TEXTS, st.integers(20, 300))
def test_no_answer_is_longer_than_it_may_be(answer: str, limit: int) -> None:
    kept = conclusions(answer, limit)
    assert len(kept) <= limit
    assert len(telling(answer, limit)) <= limit
    assert quarters_of(conclusions(answer, limit, size_of=quarters_of, cut=fit)) <= limit


@given(TEXTS, st.integers(20, 300))
def test_an_answer_is_never_cut_to_nothing(answer: str, limit: int) -> None:
    assert bool(conclusions(answer, limit)) == bool(conclusions(answer, 10_000))


@pytest.mark.parametrize(
    "piece", ["a.", "`a", "| ", "**", "a: ", "# ", "… ", "(a", "a/", "1) ", "。"]
)
def test_the_longest_answer_of_any_sign_is_read(piece: str) -> None:
    assert len(conclusions(piece * (1 << 16), 400)) <= 400


@pytest.mark.parametrize("words", ["Run this:", "Pokreni ovo:", "运行：", "実行："])
def test_the_code_of_an_answer_stays_while_there_is_room_and_goes_first(words: str) -> None:
    answer = f"Done.\n\n{words}\n\n```bash\ncd src\nmake all\n```\n\nThen 12 rows are left."
    whole = conclusions(answer, 400)
    assert (
        in_one_line(whole) == f"Done. {words} ```bash ⏎ cd src ⏎ make all``` Then 12 rows are left."
    )
    assert conclusions(whole, 400) == whole
    assert "make all" not in conclusions(answer, 50)
    assert "12 rows" in conclusions(answer, 50)


def test_a_heading_whose_code_is_left_out_does_not_lead_to_what_follows() -> None:
    answer = "Run this:\n\n```bash\nmake all\n```\n\nThen 12 rows are left."
    assert [passage.text for passage in passages_of(answer)] == ["…", "Then 12 rows are left."]


def test_a_number_in_a_row_of_three_cells_stands_with_the_name_of_its_column() -> None:
    table = "| part | rows | state |\n|---|---|---|\n| reader | 12 | ported |"
    assert [passage.text for passage in passages_of(table)] == ["reader: rows 12, ported."]
    pairs = "| part | rows |\n|---|---|\n| reader | 12 |"
    assert [passage.text for passage in passages_of(pairs)] == ["reader: 12."]


def test_a_sign_within_a_cell_is_no_border_of_it() -> None:
    table = "| tool | call |\n|---|---|\n| search | grep 'a\\|b' |"
    assert [passage.text for passage in passages_of(table)] == ["search: grep 'a|b'."]


def test_a_heading_that_a_later_sentence_did_not_pay_for_is_paid_by_the_first() -> None:
    heading = "## What the long run of last night has shown of all the tables and their rows"
    answer = (
        f"{heading}\nIt ran. The table users in db/prod.sql has 1200 rows.\n\n{'And so on. ' * 40}"
    )
    for limit in range(60, 300, 7):
        assert len(conclusions(answer, limit)) <= limit


def test_what_led_to_an_offer_alone_goes_with_it() -> None:
    assert without_offer("All is done.\nOpen questions:\n- Shall I push?") == "All is done."


@pytest.mark.parametrize(
    "answer",
    [
        "Both logs are read.\n\n**Nothing is pushed.**\n\n**Next**\n\nI wait.",
        "Both logs are read.\n\n**Done!** \n\n## Next\n\nI wait.",
        "Both logs are read.\n\n**All of it is pushed. ✅**",
        "Two logs are left.\n\n**¿Aplico estos cambios?**",
        "두 개가 남았습니다\n\n**남은 프로젝트를 어떻게 처리할까요?**",
    ],
)
def test_a_sentence_that_stands_out_is_no_heading(answer: str) -> None:
    stressed = answer.split("**")[1].removesuffix(" ✅")
    assert stressed in conclusions(answer, 400).splitlines()


@pytest.mark.parametrize("sign", ["", " 🚀", ")", " ➡️"])
def test_a_question_waits_whatever_sign_stands_behind_it(sign: str) -> None:
    assert closing_question(f"It is built.\n\n**Shall I push it?{sign}**").startswith("Shall I")


def test_what_stands_out_above_a_list_leads_to_it_also_as_a_sentence() -> None:
    lists = [
        "\n".join(f"- {name}_{n}() in {name}{n}.py is one of these" for n in range(4))
        for name in ("read", "write")
    ]
    answer = f"**What is fixed?**\n{lists[0]}\n\n**What still fails?**\n\n{lists[1]}"
    lines = conclusions(answer, 300).splitlines()
    failing = lines.index("What still fails?:")
    assert lines[0] == "What is fixed?:"
    assert all("read_" in line for line in lines[1:failing] if line != "…")
    assert all("write_" in line for line in lines[failing + 1 :] if line != "…")
