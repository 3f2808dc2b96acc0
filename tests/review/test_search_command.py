"""`gitguard search` and `gitguard why`, as people and programs see them."""

from __future__ import annotations

import json
from pathlib import Path

from tests.support.command_place import Place
from tests.support.staged import staged_object


def begin_place(folder: Path) -> Place:
    place = Place(folder)
    place.type("gitguard ensure")
    for number in range(3):
        place.type(f'gitguard note --decision "Parser {number}" --why "It is fast"')
    place.type("gitguard checkpoint -m 'Parser is ready'")
    return place


tmp_path, place = staged_object("place", begin_place)


def test_a_match_says_what_where_when_and_whether_it_holds(place: Place) -> None:
    lines = place.type("gitguard search 'parser 2'").splitlines()
    assert lines[0].startswith("decision (still valid)  main  cp_")
    assert lines[0].endswith("Z  agent")
    assert lines[1:] == ["    Parser 2", "    why: It is fast"]


def test_what_is_left_out_is_said_with_the_way_to_see_it(place: Place) -> None:
    assert place.type("gitguard search parser -n 1").splitlines()[-1] == "3 more: -n 4"
    assert "more:" not in place.type("gitguard search parser -n 4")


def test_nothing_found_ends_with_1_and_prints_nothing_but_an_error(place: Place) -> None:
    done = place.run("gitguard search nowhere")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("error: nothing matches `nowhere` in 1 history\n")
    document = json.loads(place.run("gitguard search nowhere --json").stdout)
    assert document["matches"] == []
    assert document["error"]["kind"] == "NothingFound"


def test_json_has_all_of_a_match(place: Place) -> None:
    document = json.loads(place.type("gitguard search 'parser 1' --json"))
    (match,) = document["matches"]
    assert match["text"] == ["Parser 1", "It is fast"]
    assert (match["field"], match["match"], match["holds"]) == ("decision", "phrase", True)
    assert (document["count"], document["searched"], document["notes"]) == (1, 1, [])


def test_fields_are_chosen_and_a_wrong_one_is_refused(place: Place) -> None:
    both = place.type("gitguard search parser --field message --field decision")
    assert "message (checkpoint)" in both
    assert "decision (still valid)" in both
    assert "decision (still valid)" not in place.type("gitguard search parser --field message")
    assert place.run("gitguard search parser --field goal").returncode == 2


def test_a_foreign_session_is_noted_and_marked_if_asked_for(place: Place, tmp_path: Path) -> None:
    elsewhere = {"GITGUARD_STATE_DIR": str(tmp_path / "other-machine")}
    left_out = place.run("gitguard search parser", **elsewhere)
    assert left_out.returncode == 1
    assert "note: session `main` was not searched: " in left_out.stderr
    marked = place.run("gitguard search parser --untrusted", **elsewhere)
    assert marked.stdout.startswith("NOT OURS  ")


def test_why_names_the_commit_and_says_why_it_shows_what_it_shows(place: Place) -> None:
    place.type("echo one > parser.py; git add parser.py; git commit -qm 'Add the parser'")
    place.type("gitguard checkpoint -m 'The parser is there'")
    done = place.run("gitguard why parser.py:1")
    assert done.returncode == 0
    assert '"Add the parser", 1 line\n' in done.stderr
    assert "    Parser 2\n    why: It is fast\n    (shown because " in done.stdout
    document = json.loads(place.run("gitguard why parser.py:1 --json").stdout)
    assert document["line"] == 1
    assert document["reasons"][0]["item"]["field"] == "decision"


def test_why_ends_with_1_where_no_checkpoint_names_the_commit(place: Place) -> None:
    place.type("git commit -qm Old --allow-empty; echo a > a; git add a; git commit -qm New")
    done = place.run("gitguard why a")
    assert (done.returncode, done.stdout) == (1, "")
    assert "no agent's work on this file is known in it" in done.stderr
    assert "error: no decision or failure explains `a`" in done.stderr
