"""A scripted model in the dialects of other providers, one dialect at a time."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from .scripted_model import Step
from .scripted_server import Posted, Reply, ScriptedServer

SUMMARY = "<state_snapshot>SCRIPTED-SUMMARY of the work</state_snapshot>"
Dialect = Callable[["ScriptedAnswers", Step, Mapping[str, Any], str], bytes]


class ScriptedAnswers(ScriptedServer):
    """Answers requests from its script, those that ask for a summary with SUMMARY.

    `is_aside` tells which requests take nothing from the script.
    """

    def __init__(self, dialect: Dialect, is_aside: Callable[[str], bool]) -> None:
        super().__init__()
        self.requests: list[str] = []
        self._dialect, self._is_aside = dialect, is_aside
        self._steps: list[Step] = []

    def script(self, *steps: Step) -> None:
        """Append answers."""
        with self._lock:
            self._steps.extend(steps)

    def answer(self, posted: Posted) -> Reply:
        if "countTokens" in posted.path:
            return Reply(b'{"totalTokens": 1000}')
        if not posted.path.split("?")[0].endswith(("/completions", "/responses", "Content")):
            return Reply(b"{}")
        step = self._take(posted.body.decode(errors="replace"))
        body = self._dialect(self, step, posted.document, posted.path)
        return Reply(body, is_stream=body.startswith((b"data:", b"event:")))

    def _take(self, request: str) -> Step:
        with self._lock:
            self.requests.append(request)
            if self._is_aside(request):
                return Step(SUMMARY, input_tokens=3_000)
            return self._steps.pop(0) if self._steps else Step("ok", input_tokens=1_000)


def chat_completions(
    model: ScriptedAnswers, step: Step, request: Mapping[str, Any], _path: str
) -> bytes:
    """OpenAI's Chat Completions, streamed."""
    calls = [
        {
            "index": at,
            "id": model.next_id("call"),
            "type": "function",
            "function": {"name": call.name, "arguments": json.dumps(call.input)},
        }
        for at, call in enumerate(step.calls)
    ]
    counted = {"prompt_tokens": step.input_tokens, "completion_tokens": step.output_tokens}
    usage = {**counted, "total_tokens": step.input_tokens + step.output_tokens}
    base: dict[str, Any] = {
        "id": model.next_id("chat"),
        "created": 1_700_000_000,
        "model": request.get("model"),
    }
    deltas: list[dict[str, Any]] = [{"role": "assistant", "content": step.text}]
    deltas += [{"tool_calls": [call]} for call in calls]
    choices: list[dict[str, Any]] = [
        {"index": 0, "delta": delta, "finish_reason": None} for delta in deltas
    ]
    finish = "tool_calls" if calls else "stop"
    choices.append({"index": 0, "delta": {}, "finish_reason": finish})
    chunks: list[dict[str, Any]] = [{"choices": [choice]} for choice in choices]
    chunks.append({"choices": [], "usage": usage})
    kind: dict[str, Any] = {**base, "object": "chat.completion.chunk"}
    lines = [f"data: {json.dumps({**kind, **chunk})}\n\n" for chunk in chunks]
    return "".join([*lines, "data: [DONE]\n\n"]).encode()


def responses(model: ScriptedAnswers, step: Step, request: Mapping[str, Any], _path: str) -> bytes:
    """OpenAI's Responses, streamed; a call whose input is one text `input` is a custom one."""
    events = "".join(
        f"event: {event['type']}\ndata: {json.dumps({**event, 'sequence_number': at})}\n\n"
        for at, event in enumerate(_response_events(model, step, request))
    )
    return events.encode()


def _response_events(
    model: ScriptedAnswers, step: Step, request: Mapping[str, Any]
) -> Iterator[dict[str, Any]]:
    base = {"id": model.next_id("resp"), "object": "response", "created_at": 1_700_000_000}
    base |= {"model": request.get("model"), "status": "in_progress", "output": []}
    yield {"type": "response.created", "response": base}
    items = list(_response_items(model, step))
    for at, item in enumerate(items):
        yield {"type": "response.output_item.added", "output_index": at, "item": item}
        yield {"type": "response.output_item.done", "output_index": at, "item": item}
    usage = {
        "input_tokens": step.input_tokens,
        "input_tokens_details": {"cached_tokens": 0},
        "output_tokens": step.output_tokens,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": step.input_tokens + step.output_tokens,
    }
    done = {**base, "status": "completed", "output": items, "usage": usage}
    yield {"type": "response.completed", "response": done}


def _response_items(model: ScriptedAnswers, step: Step) -> Iterator[dict[str, Any]]:
    if step.text:
        content = [{"type": "output_text", "text": step.text, "annotations": []}]
        item = {"type": "message", "id": model.next_id("msg"), "role": "assistant"}
        yield {**item, "status": "completed", "content": content}
    for call in step.calls:
        named = {"name": call.name, "call_id": model.next_id("call"), "status": "completed"}
        if set(call.input) == {"input"}:
            kind = {"type": "custom_tool_call", "id": model.next_id("ctc"), **call.input}
        else:
            arguments = json.dumps(call.input)
            kind = {"type": "function_call", "id": model.next_id("fc"), "arguments": arguments}
        yield {**kind, **named}


def generate_content(
    model: ScriptedAnswers, step: Step, _request: Mapping[str, Any], path: str
) -> bytes:
    """Google's generateContent, streamed or whole."""
    parts: list[dict[str, Any]] = [{"text": step.text}] if step.text else []
    parts += [
        {"functionCall": {"id": model.next_id("fc"), "name": call.name, "args": dict(call.input)}}
        for call in step.calls
    ]
    content = {"role": "model", "parts": parts}
    counted = {"promptTokenCount": step.input_tokens, "candidatesTokenCount": step.output_tokens}
    total = step.input_tokens + step.output_tokens
    answer = {
        "candidates": [{"content": content, "finishReason": "STOP", "index": 0}],
        "usageMetadata": {**counted, "totalTokenCount": total, "cachedContentTokenCount": 0},
        "modelVersion": "scripted",
        "responseId": model.next_id("resp"),
    }
    text = json.dumps(answer)
    return f"data: {text}\r\n\r\n".encode() if "stream" in path else text.encode()
