"""What gitguard pruned, the real hosts go on from."""

from __future__ import annotations

import json
from pathlib import Path

from .scripted_model import Step
from .talks import Talk

PRINTS = "seq -f 'line %g of the output' 1 700"
"""About 15,000 characters, which no host cuts by itself."""
AT_ONCE = "pruning: {idle_seconds: 0, keep_exchanges: 1, min_characters: 5000}\n"


def newest_messages(talk: Talk) -> str:
    return json.dumps(talk.newest_request.body["messages"])


def test_a_host_goes_on_with_a_trimmed_result(talk: Talk, tmp_path: Path) -> None:
    talk.say("print a lot", Step("I look", (talk.shell(PRINTS),)), Step("I saw it"))
    before = newest_messages(talk)
    talk.say("thanks", Step("You are welcome"))
    config = tmp_path / "home/.config/gitguard/config.yaml"
    config.parent.mkdir(parents=True, exist_ok=True)
    config.write_text(AT_ONCE)
    done = talk.gitguard("prune")
    assert done["pruned"] == 1
    assert "line 350 of the output" in Path(done["backup"]).read_text()

    assert talk.say("what now?", Step("I go on")) == "I go on"
    assert_is_trimmed(newest_messages(talk), before)


def assert_is_trimmed(said: str, before: str) -> None:
    """The model is given the head and tail of the result, in a request that is much smaller."""
    assert "line 1 of the output" in said
    assert "line 700 of the output" in said
    assert "line 350 of the output" not in said
    assert said.count("characters left out]") == 1
    assert len(said) < len(before) - 10_000
