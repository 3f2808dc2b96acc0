"""A secret goes however a shell or a database quotes it, and wherever its text holds it again."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitguard.model.redaction.redactor import Redactor

REDACTOR = Redactor()
VALUE = "bluefish93"

QUOTED = [
    f"'{VALUE}'",
    f'"{VALUE}"',
    f"'\"'\"'{VALUE}'\"'\"'",
    f"'\\''{VALUE}'\\''",
    f"'\"'\"'\"'\"'\"'\"'\"'{VALUE}'\"'\"'\"'\"'\"'\"'\"'",
    f'"\'"\'"{VALUE}"\'"\'"',
    f'\\"{VALUE}\\"',
    f"\\'{VALUE}\\'",
    f'\\\\\\"{VALUE}\\\\\\"',
    f"\\\\\\'{VALUE}\\\\\\'",
    f"''{VALUE}''",
    f"$'{VALUE}'",
]
COMMANDS = [
    'sudo -u postgres psql -c "CREATE USER app WITH ENCRYPTED PASSWORD {};"',
    "psql -c 'ALTER USER app WITH PASSWORD {};' shop",
    "ALTER ROLE app WITH LOGIN PASSWORD {} VALID UNTIL '2030-01-01';",
    "mysql -e \"CREATE USER 'app'@'%' IDENTIFIED BY {};\"",
    "ALTER USER app IDENTIFIED WITH mysql_native_password BY {};",
    "tool --password {} --quiet",
    "tool --password={}",
    "mysql -u root -p{} shop",
    "PGPASSWORD={} psql shop",
    "sshpass -p {} ssh host",
    "docker login -u app -p {} registry.example",
    "redis-cli -a {} ping",
    "curl -u bob:{} https://x.example",
]


@pytest.mark.parametrize("quoted", QUOTED)
@pytest.mark.parametrize("command", COMMANDS)
def test_a_password_goes_however_a_shell_quotes_it(command: str, quoted: str) -> None:
    line = command.format(quoted)
    for text in (line, "log line 1\n" * 500 + line):  # of a long text `re` finds the places
        clean = REDACTOR.text(text)
        assert VALUE not in clean
        assert text.startswith(clean[: clean.index("[REDACTED:")]), "what stands before it stays"
        assert REDACTOR.text(clean) == clean


@pytest.mark.parametrize(
    "text",
    [
        f"CREATE ROLE app PASSWORD E'{VALUE}';",
        f"CREATE ROLE app PASSWORD $${VALUE}$$;",
        f'psql -c "CREATE ROLE app PASSWORD \\$\\${VALUE}\\$\\$"',
        f'curl -d \'{{\\"password\\": \\"{VALUE}\\"}}\' https://x.example',
        f'bash -c "curl -d \'{{\\\\\\"password\\\\\\": \\\\\\"{VALUE}\\\\\\"}}\'"',
        f'1,"{{""password"": ""{VALUE}""}}",2',
        f"psql -c 'ALTER USER app PASSWORD '\"'\"'{VALUE}",
        f"- **User:** app\n- **Password:** {VALUE}\n",
        "- **User:** app\n" * 500 + f"- **Password:** `{VALUE}`\n",
    ],
)
def test_a_password_in_another_language_language_goes(text: str) -> None:
    assert VALUE not in REDACTOR.text(text)


@pytest.mark.parametrize(
    "text",
    [
        'curl -d \'{"password": "\'"$PASSWORD"\'"}\' https://x.example',
        'curl -u "user:$PASSWORD" https://x.example',
        "mysql -u root -p'\"$PASSWORD\"' shop",
        "mysql -u root -p\\n and then the prompt",
        "psql -c \"ALTER USER app PASSWORD '${PASSWORD}'\"",
        "psql -c 'ALTER USER app PASSWORD '\"'\"'<password>'\"'\"''",
        "password = ''; user = 'app2'",
        'password: "", port: "8080"',
        "raise ValueError('password \\'' + name2 + '\\' is wrong')",
        "if password == '\"' or token == '\\'':",
    ],
)
def test_quotes_without_a_password_stay(text: str) -> None:
    assert REDACTOR.text(text) == text


@pytest.mark.parametrize("value", ["bluefish93", "harbor!lamp", "q7Kx2vRb9wLm"])
def test_a_value_that_a_text_names_once_goes_wherever_it_stands_again(value: str) -> None:
    text = f"use {value}\nexport DB_PASSWORD='{value}'\nthen type {value}, or app:{value}@"
    clean = REDACTOR.text(text)
    assert value not in clean
    assert clean.count("[REDACTED:") == 4
    assert REDACTOR.text(clean) == clean


def test_the_password_of_a_user_goes_without_the_user_too() -> None:
    clean = REDACTOR.text(f"curl -u bob:{VALUE} https://x.example asks bob for {VALUE}")
    assert VALUE not in clean
    assert clean.endswith("asks bob for [REDACTED:cli-option]")


@pytest.mark.parametrize("word", ["sunshine", "lamp7", "src/app2/main"])
def test_a_word_that_is_a_password_somewhere_stays_elsewhere(word: str) -> None:
    clean = REDACTOR.text(f"export DB_PASSWORD='{word}' # see {word} there")
    assert clean.endswith(f"see {word} there")


def test_a_text_with_very_many_values_is_searched_for_a_few_of_them() -> None:
    text = "\n".join(f"password: 'bluefish{number}'" for number in range(2000))
    assert "bluefish" not in REDACTOR.text(text)


@given(st.text(alphabet="\"'\\$ EN;xa1!=:(pass)", max_size=60))
def test_any_run_of_quotes_is_redacted_once_and_for_all(text: str) -> None:
    for line in (f"PASSWORD {text}", f"curl -u bob:{text}", f"IDENTIFIED BY {text}"):
        clean = REDACTOR.text(line)
        assert REDACTOR.text(clean) == clean
