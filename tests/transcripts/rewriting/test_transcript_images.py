"""Images that are too large for a request of many are named, and can be replaced."""

from __future__ import annotations

import base64
import json
import struct
from pathlib import Path
from typing import Any

import pytest

from gitguard.compaction.transcripts import Transcripts
from gitguard.model.config.config import DEFAULTS
from gitguard.model.events import Transcript
from gitguard.transcripts.rewriting.images import size_of
from gitguard.transcripts.rewriting.repair import repair
from tests.support.written_conversations import PAIRED, Document, Result, agent, user, write

NOW = 1_795_000_000.0
SAID = (user("look"), agent("", "c1"), Result("c1"), agent("seen"), user("look again"))


def png(width: int, height: int) -> bytes:
    return b"\x89PNG\r\n\x1a\n" + struct.pack(">I4sII", 13, b"IHDR", width, height) + b"\0" * 40


def gif(width: int, height: int) -> bytes:
    return b"GIF89a" + struct.pack("<HH", width, height) + b"\0" * 40


def jpeg(width: int, height: int) -> bytes:
    exif = b"\xff\xe1" + struct.pack(">H", 60_002) + b"\0" * 60_000
    frame = b"\xff\xc2" + struct.pack(">HBHHB", 11, 8, height, width, 1) + b"\0" * 3
    return b"\xff\xd8" + exif + b"\xff\xff\xff\xdb" + struct.pack(">H", 3) + b"\0" + frame + b"\0"


def webp(width: int, height: int) -> bytes:
    size = struct.pack("<I", width - 1)[:3] + struct.pack("<I", height - 1)[:3]
    return b"RIFF\0\0\0\0WEBPVP8X" + struct.pack("<I", 10) + b"\0" * 4 + size + b"\0" * 10


def webp_lossless(width: int, height: int) -> bytes:
    bits = struct.pack("<I", (width - 1) | (height - 1) << 14)
    return b"RIFF\0\0\0\0WEBPVP8L" + b"\0" * 4 + b"\x2f" + bits + b"\0" * 10


def webp_lossy(width: int, height: int) -> bytes:
    size = struct.pack("<HH", width, height)
    return b"RIFF\0\0\0\0WEBPVP8 " + b"\0" * 4 + b"\0\0\0\x9d\x01\x2a" + size + b"\0" * 10


KINDS = (png, gif, jpeg, webp, webp_lossless, webp_lossy)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("size", [(2_500, 1), (1, 2_001), (16_000, 12_345)])
def test_the_size_of_an_image_is_read_from_its_header(kind: Any, size: tuple[int, int]) -> None:
    assert size_of(base64.b64encode(kind(*size)).decode()) == size


@pytest.mark.parametrize("data", ["", "?", "AAAA", base64.b64encode(b"\xff\xd8\xff").decode()])
def test_what_is_no_image_has_no_size(data: str) -> None:
    assert size_of(data) == (0, 0)


def conversation(path: Path, name: str, image: bytes) -> Path:
    """Write a conversation with an image in a prompt, in a result and in what was summarized."""
    documents = PAIRED[name](SAID)
    data = base64.b64encode(image).decode()
    block: Document = {"type": "image", "mimeType": "image/png", "data": data}
    if name == "claude-code":
        source = {"type": "base64", "media_type": "image/png", "data": data}
        block = {"type": "image", "source": source}
    text = {"type": "text", "text": "see"}
    result = next(d for d in documents if _is_result(d))
    message = result["message"]
    content = [text, block]
    if name == "claude-code":
        message["content"][0]["content"] = content
    else:
        message["content"] = content
    documents[-1]["message"]["content"] = content
    return write(path, documents)


def _is_result(document: Document) -> bool:
    message = document.get("message", {})
    return message.get("role") == "toolResult" or "toolUseResult" in document


@pytest.mark.parametrize("name", PAIRED)
def test_a_repair_names_large_images_and_replaces_them_on_request(
    tmp_path: Path, name: str
) -> None:
    path = conversation(tmp_path / "x_01a1-ffc5.jsonl", name, png(2_500, 2_100))
    whole, transcript = path.read_bytes(), Transcript(str(path), name)
    report = repair(transcript, lambda: NOW)
    assert [(image.width, image.height) for image in report.images] == [(2_500, 2_100)] * 2
    assert report.needs_nothing
    assert path.read_bytes() == whole
    tried = repair(transcript, lambda: NOW, replace_images=True, rehearse=True)
    assert tried.counts == {"images": 2}
    assert path.read_bytes() == whole
    assert repair(transcript, lambda: NOW, replace_images=True).counts == {"images": 2}
    text = path.read_text()
    assert text.count("[gitguard: an image of 2,500 x 2,100 pixels stood here]") == 2
    assert text.count('"see"') == 2
    assert '"image"' not in text
    assert not repair(transcript, lambda: NOW, replace_images=True).images


@pytest.mark.parametrize("name", PAIRED)
def test_small_images_stay(tmp_path: Path, name: str) -> None:
    path = conversation(tmp_path / "x_01a1-ffc5.jsonl", name, png(2_000, 2_000))
    report = repair(Transcript(str(path), name), lambda: NOW, replace_images=True)
    assert (report.images, report.counts) == ((), {})


@pytest.mark.parametrize("name", PAIRED)
def test_prune_names_large_images_too_and_replaces_them_on_request(
    tmp_path: Path, name: str
) -> None:
    path = conversation(tmp_path / "x_01a1-ffc5.jsonl", name, jpeg(100, 4_000))
    whole = path.read_bytes()
    transcripts, transcript = Transcripts(DEFAULTS, lambda: NOW), Transcript(str(path), name)
    planned = transcripts.prune(transcript, dry_run=True, replace_images=True)
    assert len(planned.images) == 2
    assert not transcripts.prune(transcript).backup
    assert path.read_bytes() == whole
    done = transcripts.prune(transcript, replace_images=True)
    assert Path(done.backup).read_bytes() == whole
    assert path.read_text().count("100 x 4,000 pixels") == 2


def test_what_the_model_no_longer_sees_is_not_named(tmp_path: Path) -> None:
    path = conversation(tmp_path / "x_01a1-ffc5.jsonl", "pi", png(9_000, 9))
    last = json.loads(path.read_bytes().splitlines()[-1])["id"]
    compaction = {"type": "compaction", "id": "dead", "parentId": last, "summary": "s"}
    with path.open("a") as file:
        file.write(json.dumps({**compaction, "firstKeptEntryId": last}) + "\n")
    assert len(repair(Transcript(str(path), "pi"), lambda: NOW).images) == 1
