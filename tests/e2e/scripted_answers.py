"""A scripted model on 127.0.0.1 in the dialects of other providers, one dialect at a time."""

from __future__ import annotations

import itertools
import json
import threading
from collections.abc import Callable, Iterator, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self

from .scripted_model import Step

SUMMARY = "<state_snapshot>SCRIPTED-SUMMARY of the work</state_snapshot>"
Dialect = Callable[["ScriptedAnswers", Step, Mapping[str, Any], str], bytes]


class ScriptedAnswers:
    """Answers requests from its script, those that ask for a summary with SUMMARY.

    `is_aside` tells which requests take nothing from the script. Context manager.
    """

    def __init__(self, dialect: Dialect, is_aside: Callable[[str], bool]) -> None:
        self.requests: list[str] = []
        self._dialect, self._is_aside = dialect, is_aside
        self._steps: list[Step] = []
        self._ids = itertools.count(1)
        self._lock = threading.Lock()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler_for(self))
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def script(self, *steps: Step) -> None:
        """Append answers."""
        with self._lock:
            self._steps.extend(steps)

    def next_id(self, prefix: str) -> str:
        with self._lock:
            return f"{prefix}_{next(self._ids):04d}"

    def answer(self, path: str, body: bytes) -> bytes:
        text = body.decode(errors="replace")
        with self._lock:
            self.requests.append(text)
            if self._is_aside(text):
                step = Step(SUMMARY, input_tokens=3_000)
            else:
                step = self._steps.pop(0) if self._steps else Step("ok", input_tokens=1_000)
        try:
            request = json.loads(text)
        except ValueError:
            request = {}
        return self._dialect(self, step, request, path)


def _handler_for(model: ScriptedAnswers) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, format: str, *args: object) -> None:
            pass

        def do_GET(self) -> None:
            self._reply(b'{"data": [], "models": []}')

        do_HEAD = do_GET

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers.get("content-length") or 0))
            if "countTokens" in self.path:
                self._reply(b'{"totalTokens": 1000}')
            elif self.path.split("?")[0].endswith(("/completions", "/responses", "Content")):
                self._reply(model.answer(self.path, body))
            else:
                self._reply(b"{}")

        def _reply(self, body: bytes) -> None:
            streamed = body.startswith((b"data:", b"event:"))
            self.send_response(200)
            kind = "text/event-stream" if streamed else "application/json"
            self.send_header("content-type", kind)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(body)

    return Handler


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
