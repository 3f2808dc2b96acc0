"""Conversations that were compacted, as their hosts write them."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gitguard.compaction.compacting import Tools
from gitguard.model.events import Transcript
from gitguard.model.redaction.redactor import Redactor
from gitguard.transcripts import find_format
from gitguard.transcripts.fitting.context import VisibleContext, context_of
from tests.conftest import Clock
from tests.support.spoken import DIALECTS, Said

Write = Callable[[Path, list[Said]], Transcript]


def tools(clock: Clock, **changes: Any) -> Tools:
    return Tools(clock=clock, random=random.Random(1).randbytes, redactor=Redactor()).replace(
        **changes
    )


def standing(transcript: Transcript) -> VisibleContext:
    return context_of(find_format(transcript.format).entries(transcript))


@pytest.fixture(params=DIALECTS)
def write(request: pytest.FixtureRequest) -> Write:
    found: Write = DIALECTS[request.param]
    return found
