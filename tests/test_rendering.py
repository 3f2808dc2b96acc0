"""Compiled templates: what runs is what Jinja would have rendered."""

from __future__ import annotations

import inspect
import re
import subprocess
import sys
from types import SimpleNamespace
from typing import Any

import markupsafe
import pytest
from hypothesis import given
from hypothesis import strategies as st
from jinja2 import UndefinedError

from gitguard.compiled_templates import ROOTS, SOURCES
from gitguard.rendering import TEMPLATES, jinja_environment, render
from gitguard.template_runtime import Markup, TemplateRuntimeError, escape
from tests.generating.compile_templates import digest, module

TEXT = st.text(max_size=12) | st.sampled_from(["", "a\nb", "<x>&", "\x1b[1m", "\u200b", "{{ x }}"])
TEXTS = st.lists(TEXT, max_size=3)


def records(**fields: st.SearchStrategy[Any]) -> st.SearchStrategy[SimpleNamespace]:
    return st.builds(SimpleNamespace, **fields)


def lists_of(**fields: st.SearchStrategy[Any]) -> st.SearchStrategy[list[SimpleNamespace]]:
    return st.lists(records(**fields), max_size=2)


ORIGIN = records(by=TEXT, is_read=st.booleans(), elsewhere=st.booleans())
STATE: st.SearchStrategy[SimpleNamespace] = records(
    **dict.fromkeys(("stated_goal", "task_id", "session_id", "status", "current_phase"), TEXT),
    **dict.fromkeys(("next_action", "state_confidence", "updated_at"), TEXT),
    is_answered=st.booleans(),
    last_action=st.none() | records(summary=TEXT, outcome=TEXT, at=TEXT),
    failed_attempts=lists_of(what=TEXT, error=TEXT, when=TEXT, origin=ORIGIN),
    decisions=lists_of(label=TEXT, what=TEXT, why=TEXT, when=TEXT, origin=ORIGIN),
    artifacts=lists_of(path=TEXT, kind=TEXT, description=TEXT, by_shell=st.booleans()),
    tool_outputs=lists_of(tool=TEXT, summary=TEXT, when=TEXT),
    commands=lists_of(command=TEXT, outcome=TEXT, ending=TEXT, when=TEXT),
    plan=lists_of(text=TEXT, state=TEXT, is_done=st.booleans()),
    exchanges=lists_of(
        text=TEXT,
        settles=TEXT,
        when=TEXT,
        origin=ORIGIN,
    ),
    earlier=lists_of(task_id=TEXT, goal=TEXT, outcome=TEXT, when=TEXT),
    earlier_notes=lists_of(task_id=TEXT, kind=TEXT, text=TEXT),
)
NOTED = st.lists(st.tuples(TEXT, lists_of(text=TEXT, origin=ORIGIN)), max_size=3)
AROUND = records(
    **dict.fromkeys(("plan", "last_failure", "self_model", "env_model"), TEXT),
    changed_besides=st.integers(0, 3),
    unseen=st.just("") | TEXT,
)
SHOWN = {"a": "c0", "b": "c1"}


def checkpoints(*ids: str) -> st.SearchStrategy[SimpleNamespace | None]:
    texts = dict.fromkeys(("name", "commit", "code", "trigger", "next_action"), TEXT)
    return st.none() | records(id=st.sampled_from(ids), **texts)


LINES = lists_of(
    **dict.fromkeys(("label", "text", "joiner", "detail", "source", "state"), TEXT),
    **dict.fromkeys(("at", "until"), checkpoints(*SHOWN, "folded")),
)
STEPS = lists_of(checkpoint=checkpoints(*SHOWN), place=st.integers(0, 60), folded=TEXT, names=TEXTS)
VALUES: dict[str, dict[str, st.SearchStrategy[Any]]] = {
    "brief.md.j2": {
        "fence": TEXT,
        "goal": TEXT,
        "task": TEXTS,
        "sections": lists_of(
            title=TEXT, items=TEXTS, more=st.integers(0, 2), keeps_wishes=st.booleans()
        ),
        "tokens": st.integers(0, 9_999),
    },
    "handoff.md.j2": {
        **dict.fromkeys(("written", "noted_files", "assumptions"), TEXT),
        **dict.fromkeys(("task", "key_state", "decisions", "changed", "next_steps"), TEXTS),
        "around": AROUND,
    },
    "report.html.j2": {
        **dict.fromkeys(("policy", "goal", "status", "summary", "commits", "first", "last"), TEXT),
        **dict.fromkeys(("style", "script", "data"), TEXT.map(Markup)),
        **dict.fromkeys(("width", "height", "count"), st.integers(0, 1000)),
        "unfolded": LINES,
        "anchors": st.just(SHOWN),
        "web": TEXT,
        **dict.fromkeys(("moment", "pressure"), st.just(lambda checkpoint: checkpoint.name)),
        "chart": records(
            paths=TEXTS,
            marks=lists_of(x=st.integers(0, 9), kind=TEXT, title=TEXT),
            description=TEXT,
        ),
        "steps": STEPS,
        "parts": lists_of(
            **dict.fromkeys(("anchor", "title", "source", "lead"), TEXT),
            **dict.fromkeys(("count", "left_out"), st.integers(0, 2)),
            lines=LINES,
        ),
    },
    "report.md.j2": {
        **dict.fromkeys(("goal", "status", "summary", "empty", "example", "range"), TEXT),
        **dict.fromkeys(("unfolded", "commits"), TEXTS),
        "sections": lists_of(
            **dict.fromkeys(("title", "source", "lead"), TEXT),
            **dict.fromkeys(("count", "left_out"), st.integers(0, 2)),
            lines=TEXTS,
        ),
    },
    "resume.md.j2": {
        **dict.fromkeys(("fence", "session", "branch", "upstream", "absent"), TEXT),
        "header": records(checkpoint=TEXT, age=TEXT),
        "sections": lists_of(
            heading=TEXT, is_list=st.booleans(), texts=st.lists(TEXT, min_size=1, max_size=3)
        ),
    },
    "summary.md.j2": {"state": STATE, "prompted": TEXTS, "done": NOTED, "noted": NOTED},
}


@pytest.mark.parametrize("template", TEMPLATES)
@given(data=st.data())
def test_a_compiled_template_renders_what_jinja_renders(template: str, data: st.DataObject) -> None:
    values = data.draw(st.fixed_dictionaries(VALUES[template]))
    assert render(template, **values) == jinja_environment().get_template(template).render(values)


@pytest.mark.parametrize("template", TEMPLATES)
def test_a_value_that_a_template_was_not_given_is_an_error_with_its_name(template: str) -> None:
    with pytest.raises(UndefinedError):
        jinja_environment().get_template(template).render()
    with pytest.raises(TemplateRuntimeError, match="was not given"):
        render(template)


@given(TEXT | st.text())
def test_html_is_escaped_as_jinja_escapes_it(text: str) -> None:
    assert escape(text) == str(markupsafe.escape(text))
    assert escape(Markup(text)) == text


def test_a_template_for_html_puts_in_nothing_unescaped() -> None:
    source = inspect.getsource(ROOTS["report.html.j2"])
    put_in = re.findall(r"(\S*)environment\.finalize\(", source)
    assert len(put_in) > 40
    assert {call.removeprefix("(") for call in put_in} == {"escape("}


def test_the_compiled_templates_are_those_of_today() -> None:
    assert set(ROOTS) == set(SOURCES) == set(TEMPLATES) == set(VALUES)
    assert {name: digest(name) for name in TEMPLATES} == SOURCES, "run `make references`"
    names: dict[str, Any] = {}
    exec(compile(module(), "compiled", "exec", dont_inherit=True), names)  # noqa: S102
    assert names["SOURCES"] == SOURCES


def test_rendering_does_not_import_jinja() -> None:
    program = (
        "import sys; from gitguard.store.session.composing import render_summary; "
        "from gitguard.state.task import new_task; "
        "render_summary(new_task('main', '2026-01-31T09:30:00Z')); print('jinja2' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    assert done.stdout.decode().strip() == "False"
