"""What the real hosts hand back of a long conversation in Serbian, in which nobody took a note."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator

import pytest

from gitguard.model.tokens import tokens_of
from tests.support.waiting import wait_until

from .guarded import Guarded, block_in
from .guarded_openclaw import GuardedOpenClaw, Guarding, kill_in_its_turn, shell
from .openclaw import MAIN_KEY
from .scripted_model import Kind, ScriptedModel, Step, ToolCall, bash, summary, write, write_file
from .sealing import kill_group

GOAL = "Napiši modul izvestaj.py koji učitava podaci/prodaja.csv i sabira iznose po mesecu."
LIMIT = "Nikad ne menjaj fajl podaci/prodaja.csv, on stiže iz knjigovodstva."
FORMER = "Izveštaj neka bude u formatu XML, u fajlu izlaz/mesecno.xml."
NEWER = "Ipak bolje da izveštaj bude u formatu JSON, u fajlu izlaz/mesecno.json."
REQUEST = "Dodaj i zbir po kupcu, u fajl izlaz/kupci.json."
SAID = "U fajlu podaci/prodaja.csv nema kolone kupac_id u 17 od 4.812 redova; njih računam zasebno."
TALK = ("zdravo", "hvala", "važi, nastavi", "odlično, bravo")

WRITTEN = """Modul izvestaj.py je napisan i učitava svih 4.812 redova iz podaci/prodaja.csv.

- Najveći mesec je mart: 1.284.300 dinara.
- U 23 reda iznos ima zarez umesto tačke, pa se pretvara u funkciji `kao_broj`.
- Učitavanje traje 310 ms.

Ostaje da se napravi izlaz za štampu."""
CHANGED = """Prešao sam na JSON: funkcija `upisi_json` piše izlaz/mesecno.json, 12 meseci u 2 KB.

- Ključevi su oblika 2024-03, a iznosi su celi brojevi u parama.
- Zbir svih meseci je 9.640.118 dinara i slaže se sa knjigovodstvom."""


def sections(current: str, pending: str) -> str:
    """A summary of nine sections, as the host asks for it in the language of the conversation."""
    texts = (
        ("Glavni zahtev", GOAL),
        ("Pojmovi", "Zbir po mesecu, iznosi sa zarezom."),
        ("Fajlovi", "izvestaj.py čita podaci/prodaja.csv."),
        ("Greške", "Zarez u iznosu je rušio učitavanje."),
        ("Rešavanje", "Iznosi se pretvaraju u funkciji kao_broj."),
        ("Poruke korisnika", LIMIT),
        ("Šta još ostaje", pending),
        ("Trenutni rad", current),
        ("Sledeći korak", "Proveriti zbir za decembar sa računovođom Milicom."),
    )
    numbered = (f"{at}. **{title}:**\n   {text}" for at, (title, text) in enumerate(texts, 1))
    return "\n".join(numbered)


FIRST_SUMMARY = sections("Izlaz u formatu XML je započet.", "Napisati uputstvo u README.md.")
SECOND_SUMMARY = sections(
    "Mesečni izveštaj je gotov i proveren na 3 godine.",
    "Uputstvo za knjigovodstvo u docs/uputstvo.md nije započeto.",
)


class Host(ABC):
    """A guarded host that has one conversation after another, in the session of a key."""

    key: str

    def __init__(self, guarded: Guarded | GuardedOpenClaw, model: ScriptedModel) -> None:
        self.guarded, self.model = guarded, model

    @abstractmethod
    def say(self, prompt: str, *steps: Step) -> None:
        """Have a turn, until it is saved."""

    @abstractmethod
    def say_and_compact(self, prompt: str, answer: str, summed_up: str) -> None:
        """Have a turn, after which the host sums up and compacts the conversation."""

    @abstractmethod
    def kill(self, prompt: str, *steps: Step) -> None:
        """Begin a turn, and kill the host once the last step's command has begun."""

    @abstractmethod
    def begin(self, prompt: str) -> None:
        """Begin a new conversation."""

    @abstractmethod
    def shell(self, command: str) -> ToolCall: ...

    @abstractmethod
    def write(self, path: str, content: str) -> ToolCall: ...

    @property
    def block(self) -> str:
        return block_in(self.model)


class ClaudeCode(Host):
    guarded: Guarded
    key = "main"
    _session: str | None = None

    def say(self, prompt: str, *steps: Step) -> None:
        self.model.script(*steps)
        self._session = self.guarded.claude.run(prompt, resume=self._session).session_id

    def say_and_compact(self, prompt: str, answer: str, summed_up: str) -> None:
        self.say(prompt, Step(answer))
        self.model.script_compaction(summary(summed_up))
        self.guarded.claude.run("/compact", resume=self._session)

    def kill(self, prompt: str, *steps: Step) -> None:
        self.model.script(*steps)
        process = self.guarded.claude.start(prompt, resume=self._session)
        wait_until((self.guarded.repo / "started").exists, 60)
        kill_group(process)
        self.guarded.claude.end_leftovers()

    def begin(self, prompt: str) -> None:
        self._session = None
        self.say(prompt, Step("U redu."))

    def shell(self, command: str) -> ToolCall:
        return bash(command)

    def write(self, path: str, content: str) -> ToolCall:
        return write(self.guarded.repo / path, content)


class OpenClaw(Host):
    guarded: GuardedOpenClaw
    key = MAIN_KEY

    def say(self, prompt: str, *steps: Step) -> None:
        self.model.script(*steps)
        self.guarded.say(prompt)

    def say_and_compact(self, prompt: str, answer: str, summed_up: str) -> None:
        # What was read fills the window; some compact at this turn's end, some at the next prompt.
        self.model.script_compaction(Step(summed_up))
        self.model.script(
            Step(calls=(shell("seq 1 3000"),), input_tokens=24_000),
            Step(answer, input_tokens=36_000),
        )
        before = self.guarded.head()
        self.guarded.openclaw.send(prompt)
        wait_until(lambda: self.guarded.head() != before, 60)

    def kill(self, prompt: str, *steps: Step) -> None:
        self.model.script(*steps)
        kill_in_its_turn(self.guarded, prompt)
        self.guarded.openclaw.start_gateway()

    def begin(self, prompt: str) -> None:
        self.guarded.openclaw.call("sessions.reset", {"key": MAIN_KEY, "reason": "new"})
        self.model.script(Step("U redu."))
        self.guarded.openclaw.send(prompt)

    def shell(self, command: str) -> ToolCall:
        return shell(command)

    def write(self, path: str, content: str) -> ToolCall:
        return write_file(path, content)


def talk_for_long(host: Host) -> None:
    """A goal, a limit, a decision that is taken back, thanks in between, and two compactions."""
    host.say("zdravo", Step("Zdravo! Kako mogu da pomognem?"))
    module = host.write("izvestaj.py", "def kao_broj(iznos): ...\n")
    host.say(GOAL, Step("Pišem modul.", (module,)), Step(WRITTEN))
    host.say("hvala", Step("Nema na čemu."))
    host.say(LIMIT, Step("U redu, taj fajl samo čitam."))
    host.say_and_compact(FORMER, "Važi, izlaz će biti XML u izlaz/mesecno.xml.", FIRST_SUMMARY)
    output = host.write("izlaz/mesecno.json", "{}\n")
    host.say(NEWER, Step("Menjam izlaz.", (output,)), Step(CHANGED))
    host.say("važi, nastavi", Step("Gledam izlaz.", (host.shell("ls izlaz"),)), Step("Sve je tu."))
    host.say_and_compact("odlično, bravo", "Hvala!", SECOND_SUMMARY)


def assert_of_the_task(block: str, most: int) -> None:
    """What every block of the task has, and what none has."""
    assert tokens_of(block) <= most, block
    assert GOAL in block, block
    assert LIMIT in block, block
    assert NEWER in block, block
    # Turns stand oldest first; the request and the answer behind them are the newest.
    newer, former = block.rfind("mesecno.json"), block.rfind("mesecno.xml")
    assert former < newer, block
    fields = [line.partition(": ") for line in block.splitlines()]
    talk = [
        text
        for name, _, text in fields
        if name.startswith(("Goal", "First", "Last request", "Next"))
    ]
    assert not set(talk) & set(TALK), block


def hands_on_a_long_conversation(host: Host) -> None:
    talk_for_long(host)
    host.say("nastavi", Step("Nastavljam."))
    assert_of_the_task(host.block, most=700)
    assert "12 meseci u 2 KB" in host.block, host.block
    assert len(host.model.requests(Kind.COMPACTION)) >= 2
    key = {"GITGUARD_SESSION": host.key}
    assert SECOND_SUMMARY in host.guarded.run("show", "host-summary", env=key)
    customers = host.write("izlaz/kupci.json", "{}\n")
    host.kill(
        REQUEST,
        Step(SAID, (customers,)),
        Step("Proveravam.", (host.shell("touch started; sleep 60"),)),
    )
    host.begin("gde smo stali?")
    block = host.block
    assert_of_the_task(block, most=2_000)
    assert f"Last request: {REQUEST}" in block
    assert "touch started" in block
    assert "9.640.118" in block, block
    assert "At the last compaction, by the host's summary" in block, block
    assert host.guarded.faults() == []


def test_a_long_conversation_in_serbian_is_handed_on_in_claude_code(
    guarded: Guarded, model: ScriptedModel
) -> None:
    hands_on_a_long_conversation(ClaudeCode(guarded, model))
    block = block_in(model)
    for words in (SAID, "u docs/uputstvo.md nije", "`gitguard show host-summary`"):
        assert words in block, (words, block)


@pytest.fixture
def openclaw(guard_openclaw: Guarding, model: ScriptedModel) -> Iterator[OpenClaw]:
    with guard_openclaw() as guarded:
        guarded.openclaw.start_gateway()
        yield OpenClaw(guarded, model)


def test_a_long_conversation_in_serbian_is_handed_on_in_openclaw(openclaw: OpenClaw) -> None:
    hands_on_a_long_conversation(openclaw)
