"""One timeline of checkpoints and items serves the report, the page, the search and the links."""

from __future__ import annotations

from importlib import import_module
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from gitguard.model.value import Value
from gitguard.review.report import ReportCheckpoint
from gitguard.review.timeline import Timeline
from gitguard.state.checkpoint import Checkpoint, CheckpointRecord
from gitguard.store.git.commits import CommitFile
from tests.support.house import MODULES, PACKAGE


@given(st.lists(st.dictionaries(st.sampled_from("abcd"), st.integers(0, 3)), max_size=12))
def test_an_item_is_followed_through_every_checkpoint_that_had_it(
    states: list[dict[str, int]],
) -> None:
    timeline = Timeline()
    for age, items in enumerate(states):
        timeline.add(age, items)
    timeline.end()
    assert timeline.length == len(states)
    assert timeline.items.keys() == {key for items in states for key in items}
    for key, history in timeline.items.items():
        ages = [age for age, items in enumerate(states) if key in items]
        followed = [age for new, old in history.spans for age in range(new, old + 1)]
        assert followed == ages
        assert all(old + 1 < new for (_, old), (new, _) in pairwise(history.spans))
        assert history.gone_at == (ages[0] - 1 if ages[0] else None)
        assert history.first == ages[-1]
        assert (history.item, history.earliest) == (states[ages[0]][key], states[ages[-1]][key])


def values(of: type[Value] = Value) -> set[type[Value]]:
    return {of}.union(*map(values, of.__subclasses__()))


def test_a_checkpoint_comes_to_the_page_in_two_classes_and_a_changed_file_in_one() -> None:
    for module in MODULES:
        if module.startswith(("review/", "state/", "store/git/")):
            import_module(f"gitguard.{module.removesuffix('.py').replace('/', '.')}")
    fields = {value: set(value.field_names) for value in values()}
    checkpoints = {value for value, names in fields.items() if names >= {"trigger", "pressure"}}
    assert checkpoints == {CheckpointRecord, Checkpoint, ReportCheckpoint}
    files = {value for value, names in fields.items() if names >= {"path", "added", "removed"}}
    assert files == {CommitFile}


def test_only_the_timeline_reads_the_states_of_a_whole_history_for_a_reviewer() -> None:
    readers = {m for m in MODULES if m.startswith("review/") and "SimilarObjects" in text_of(m)}
    assert readers == {"review/timeline.py"}


def text_of(module: str) -> str:
    return (PACKAGE / module).read_text()
