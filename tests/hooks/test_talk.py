"""Talk is told by what its turn does: in no language does it become what is worked at."""

from __future__ import annotations

import pytest

from tests.support.conversation import Conversation
from tests.support.staged import staged_object

tmp_path, talk = staged_object("talk", Conversation)

GOAL = "Port the invoice parser in src/invoice.py to Rust"
TALK = {
    "English": ("thanks", "got it", "hello there", "good morning", "go on", "yes", "great work"),
    "German": ("danke", "alles klar", "hallo", "guten Morgen", "mach weiter", "ja", "super"),
    "French": ("merci", "d'accord", "bonjour", "bonsoir", "continue", "oui", "parfait"),
    "Spanish": ("gracias", "de acuerdo", "hola", "buenos días", "sigue", "sí", "genial"),
    "Portuguese": ("obrigado", "entendi", "olá", "bom dia", "continua", "sim", "ótimo"),
    "Italian": ("grazie", "va bene", "ciao", "buongiorno", "continua pure", "sì", "perfetto"),
    "Dutch": ("bedankt", "begrepen", "hallo", "goedemorgen", "ga door", "ja", "prima"),
    "Swedish": ("tack", "okej", "hej", "god morgon", "fortsätt", "ja", "toppen"),
    "Polish": ("dzięki", "rozumiem", "cześć", "dzień dobry", "kontynuuj", "tak", "świetnie"),
    "Czech": ("díky", "jasně", "ahoj", "dobré ráno", "pokračuj", "ano", "výborně"),
    "Serbian": ("hvala", "važi", "zdravo", "dobro jutro", "nastavi", "da", "odlično"),
    "Russian": ("спасибо", "понял", "привет", "доброе утро", "продолжай", "да", "отлично"),
    "Ukrainian": ("дякую", "зрозумів", "привіт", "доброго ранку", "продовжуй", "так", "чудово"),
    "Greek": ("ευχαριστώ", "εντάξει", "γεια σου", "καλημέρα", "συνέχισε", "ναι", "τέλεια"),
    "Turkish": ("teşekkürler", "anladım", "merhaba", "günaydın", "devam et", "evet", "harika"),
    "Arabic": ("شكرا", "فهمت", "مرحبا", "صباح الخير", "تابع", "نعم", "ممتاز"),
    "Hebrew": ("תודה", "הבנתי", "שלום", "בוקר טוב", "תמשיך", "כן", "מעולה"),
    "Hindi": ("धन्यवाद", "समझ गया", "नमस्ते", "सुप्रभात", "जारी रखो", "हाँ", "बहुत बढ़िया"),
    "Chinese": ("谢谢", "明白了", "你好", "早上好", "继续", "好的", "太棒了"),
    "Japanese": ("ありがとう", "了解です", "こんにちは", "おはよう", "続けて", "はい", "いいね"),
    "Korean": ("고마워", "알겠어", "안녕하세요", "좋은 아침", "계속해", "네", "훌륭해"),
    "Thai": ("ขอบคุณ", "เข้าใจแล้ว", "สวัสดี", "อรุณสวัสดิ์", "ทำต่อเลย", "ใช่", "เยี่ยมมาก"),
    "Vietnamese": ("cảm ơn", "hiểu rồi", "xin chào", "tiếp tục đi", "vâng", "tuyệt vời"),
    "Indonesian": ("terima kasih", "baiklah", "halo", "selamat pagi", "lanjutkan", "ya", "bagus"),
    "Signs": ("👍", "🎉🎉", "...", "?", ":-)", "!", "ok", "OK", "k"),
}  # fmt: skip
LONG = "The parser is ported, and every test of it passes. " * 12


def turn(talk: Conversation, prompt: str, answer: str, *paths: str, command: str = "") -> None:
    """One turn, in which some files are written and perhaps a command is run."""
    talk.clock.pass_by(60)
    talk.prompt(prompt)
    output = {"stdout": "", "stderr": ""}
    for number, path in enumerate(paths):
        name = f"write{talk.clock():.0f}{number}"
        given = {"file_path": str(talk.root / path), "content": "x"}
        talk.send("PostToolUse.Write", tool_name="Write", tool_use_id=name, tool_input=given)
    if command:
        given = {"command": command}
        name = f"run{talk.clock():.0f}"
        call = {"tool_name": "Bash", "tool_use_id": name, "tool_input": given}
        talk.send("PostToolUse.Bash", **call, tool_response=output)
    talk.send("Stop", last_assistant_message=answer)


def asked_last(talk: Conversation) -> str:
    """Return what the block of a new conversation shows as asked for."""
    block = talk.beside("S9").prompt("?")
    lines = [line for line in block.splitlines() if line.startswith(("Goal", "Last request"))]
    return "\n".join(lines)


@pytest.mark.parametrize("language", TALK)
def test_talk_is_never_what_is_worked_at(talk: Conversation, language: str) -> None:
    turn(talk, GOAL, LONG, "src/invoice.rs")
    for words in TALK[language]:
        turn(talk, words, "…")
        turn(talk, words, LONG, "src/lexer.rs", "src/table.rs", command="cargo test")
    state = talk.guard.state()
    assert (state.goal, state.next_action) == (GOAL, GOAL)
    shown = asked_last(talk)
    assert GOAL in shown
    assert len(shown.splitlines()) == 1


@pytest.mark.parametrize("language", TALK)
def test_a_request_takes_the_place_of_the_talk_that_a_conversation_began_with(
    talk: Conversation, language: str
) -> None:
    for words in TALK[language][:3]:
        turn(talk, words, "…")
    turn(talk, GOAL, LONG, "src/invoice.rs")
    state = talk.guard.state()
    assert (state.goal, state.next_action) == (GOAL, GOAL)


@pytest.mark.parametrize("language", TALK)
def test_talk_begins_no_task_in_a_new_conversation(talk: Conversation, language: str) -> None:
    turn(talk, GOAL, LONG, "src/invoice.rs")
    talk.clock.pass_by(7_200)
    other = talk.beside("S2")
    for words in TALK[language]:
        turn(other, words, "…")
    assert talk.guard.state().goal == GOAL
    request = "Rewrite the page of the exporter in docs/export.md"
    turn(other, request, LONG, "docs/export.md")
    state = talk.guard.state()
    assert (state.goal, state.next_action) == (request, request)


SHORT_REQUESTS = {
    "English": ("Add dark colors", "Dark colors are in place now."),
    "German": ("Füge dunkle Farben hinzu", "Nun kamen dunkle Farben hinzu."),
    "Serbian": ("Dodaj tamne boje", "Gotovo, tamne boje su dodate."),
    "Russian": ("Добавь тёмные цвета", "Готово, тёмные цвета на месте."),
    "Chinese": ("添加深色主题", "已添加深色主题，所有页面都能切换。"),
    "Turkish": ("Koyu renkler ekle", "Koyu renkler eklendi."),
}  # fmt: skip


@pytest.mark.parametrize("language", SHORT_REQUESTS)
def test_a_few_words_are_a_request_once_their_turn_takes_them_up(
    talk: Conversation, language: str
) -> None:
    request, answer = SHORT_REQUESTS[language]
    turn(talk, GOAL, LONG, "src/invoice.rs")
    turn(talk, request, answer, "src/theme.css")
    assert talk.guard.state().next_action == request


AGREED_LIMITS = {
    "English": ("Always show prices without taxes", "Right: prices are shown without taxes."),
    "German": ("Preise bitte immer ohne Steuern zeigen", "Klar, Preise ohne Steuern zeigen."),
    "Serbian": ("Cene uvek prikazuj bez poreza", "U redu, cene prikazujem bez poreza."),
    "Russian": ("Цены всегда показывай без налога", "Хорошо, показываю цены без налога."),
}  # fmt: skip


@pytest.mark.parametrize("language", AGREED_LIMITS)
def test_a_limit_that_the_agent_agrees_to_without_a_call_is_kept(
    talk: Conversation, language: str
) -> None:
    limit, answer = AGREED_LIMITS[language]
    turn(talk, GOAL, LONG, "src/invoice.rs")
    turn(talk, limit, answer)
    turn(talk, "Write the page in docs/export.md", LONG, "docs/export.md")
    assert limit in talk.beside("S9").prompt("?")


def test_a_short_first_request_is_the_goal_once_its_turn_works(talk: Conversation) -> None:
    turn(talk, "hey", "Hey.")
    turn(talk, "Tidy up", "Tidied.", "src/a.py", command="ruff format")
    assert talk.guard.state().goal == "Tidy up"


def test_a_no_to_a_question_is_kept_with_the_question(talk: Conversation) -> None:
    turn(talk, GOAL, f"{LONG}Shall I also delete the old reader?", "src/invoice.rs")
    turn(talk, "Ne", "…")
    block = talk.beside("S9").prompt("?")
    assert "Ne — to: Shall I also delete the old reader?" in block
    assert "last request: Ne" not in block


@pytest.mark.parametrize("command", ["/deploy staging", "/pr review", "/review", "/init"])
def test_a_command_that_is_a_prompt_is_a_request(talk: Conversation, command: str) -> None:
    turn(talk, GOAL, LONG, "src/invoice.rs")
    turn(talk, command, "…")
    assert talk.guard.state().next_action == command


@pytest.mark.parametrize("command", ["/compact", "/model opus", "/clear", "/context", "/mcp list"])
def test_a_command_of_the_hosts_own_is_nothing(talk: Conversation, command: str) -> None:
    turn(talk, GOAL, LONG, "src/invoice.rs")
    turn(talk, command, "…")
    state = talk.guard.state()
    assert state.next_action == GOAL
    assert not any(command in exchange.text for exchange in state.exchanges)


def test_a_question_is_no_limit(talk: Conversation) -> None:
    turn(talk, "What do I need to install for src/invoice.py?", "Nothing.")
    assert [e.kind for e in talk.guard.state().exchanges][:1] == ["request"]


@pytest.mark.parametrize(
    "ending",
    ["Fehler: 2 Zeilen fehlen", "ошибка: 2 строки", "错误：缺少2行"],
)
def test_an_output_that_the_user_pastes_without_a_word_is_the_running_request(
    talk: Conversation, ending: str
) -> None:
    turn(talk, GOAL, "Run `cargo test` and show me what it says.", "src/invoice.rs")
    pasted = f"```\n$ cargo test\nrunning 12 tests\n{ending}\n```"
    turn(talk, pasted, "Two rows are dropped by the loader; wait for the next nightly build.")
    assert ending in asked_last(talk)


@pytest.mark.parametrize(
    ("command", "wish"),
    [
        ("/brainstorming", "Bring the invoices of all tenants into one ledger"),
        ("/plan", "Sve fakture idu u jednu knjigu po zakupcu"),
        ("/设计", "把所有租户的发票合并到一个账本里"),
    ],
)
def test_after_a_command_without_a_word_the_next_prompt_is_the_goal(
    talk: Conversation, command: str, wish: str
) -> None:
    turn(talk, command, "What shall we look at?")
    turn(talk, wish, "Done.", "src/ledger.rs")
    assert talk.guard.state().goal == wish


def test_a_command_with_words_stays_the_goal(talk: Conversation) -> None:
    turn(talk, "/plan the ledger of tenants", "Done.", "src/ledger.rs")
    turn(talk, "Now write src/ledger.rs", "Done.", "src/ledger.rs")
    assert talk.guard.state().goal == "/plan the ledger of tenants"


@pytest.mark.parametrize(
    "limit",
    [
        "Nothing may leave our own network",
        "Unsere Kunden sehen davon bitte nichts",
        "Ništa ne sme da napusti mrežu",
        "任何数据都不能离开我们的内部网络",
    ],
)
def test_plain_words_that_nothing_took_up_are_kept_and_are_no_request(
    talk: Conversation, limit: str
) -> None:
    turn(talk, GOAL, LONG, "src/invoice.rs")
    turn(talk, limit, "OK.")
    turn(talk, "Now port src/lexer.py as well", "Done.", "src/lexer.rs")
    block = talk.beside("S9").prompt("?")
    assert f"- {limit}" in block
    assert limit not in asked_last(talk)
