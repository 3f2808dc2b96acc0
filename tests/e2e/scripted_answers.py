"""What a scripted step looks like in the dialect of each provider, streamed or whole."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from .scripted_server import Reply, ScriptedServer

if TYPE_CHECKING:
    from .scripted_model import Step, ToolCall

Body = Mapping[str, Any]
Dialect = Callable[[ScriptedServer, "Step", Body, str], Reply]
"""Renders a step as the answer to a request with that body, sent to that path."""


def dialect_of(path: str) -> Dialect | None:
    """In which dialect a model is asked at this path; none where it is not a model's."""
    route = path.partition("?")[0]
    for ending, dialect in _DIALECTS.items():
        if route.endswith(ending):
            return dialect
    return None


def error(step: Step) -> bytes:
    """A refusal that every dialect understands."""
    described = {"type": "api_error", "message": step.error_message}
    return json.dumps({"type": "error", "error": described}).encode()


def _events(events: Sequence[Mapping[str, Any]]) -> Reply:
    """Named events, one after the other."""
    lines = [f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in events]
    return Reply("".join(lines).encode(), is_stream=True)


def _whole(document: Mapping[str, Any]) -> Reply:
    return Reply(json.dumps(document).encode())


def messages(model: ScriptedServer, step: Step, body: Body, _path: str) -> Reply:
    """Anthropic's Messages."""
    message = _message(model, step, body)
    return _events(list(_message_events(message))) if body.get("stream") else _whole(message)


def _message(model: ScriptedServer, step: Step, body: Body) -> dict[str, Any]:
    return {
        "id": model.next_id("msg"),
        "type": "message",
        "role": "assistant",
        "model": body.get("model", "scripted"),
        "content": _blocks(model, step),
        "stop_reason": "tool_use" if step.calls else "end_turn",
        "stop_sequence": None,
        "usage": {
            "input_tokens": step.input_tokens,
            "cache_creation_input_tokens": 0,
            "cache_read_input_tokens": 0,
            "output_tokens": step.output_tokens,
        },
    }


def _blocks(model: ScriptedServer, step: Step) -> list[dict[str, Any]]:
    blocks: list[dict[str, Any]] = []
    if step.text:
        blocks.append({"type": "text", "text": step.text})
    for call in step.calls:
        use = {"type": "tool_use", "id": model.next_id("toolu"), "name": call.name}
        blocks.append({**use, "input": dict(call.input)})
    return blocks


def _message_events(message: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    opening = {**message, "content": [], "stop_reason": None}
    yield {"type": "message_start", "message": opening}
    for index, block in enumerate(message["content"]):
        empty, delta = _split(block)
        yield {"type": "content_block_start", "index": index, "content_block": empty}
        yield {"type": "content_block_delta", "index": index, "delta": delta}
        yield {"type": "content_block_stop", "index": index}
    closing = {"stop_reason": message["stop_reason"], "stop_sequence": None}
    usage = {"output_tokens": message["usage"]["output_tokens"]}
    yield {"type": "message_delta", "delta": closing, "usage": usage}
    yield {"type": "message_stop"}


def _split(block: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    if block["type"] == "text":
        return {**block, "text": ""}, {"type": "text_delta", "text": block["text"]}
    arguments = {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
    return {**block, "input": {}}, arguments


def chat_completions(model: ScriptedServer, step: Step, body: Body, _path: str) -> Reply:
    """OpenAI's Chat Completions."""
    calls = [_function_call(model, call) for call in step.calls]
    counted = {"prompt_tokens": step.input_tokens, "completion_tokens": step.output_tokens}
    usage = {**counted, "total_tokens": step.input_tokens + step.output_tokens}
    base: dict[str, Any] = {
        "id": model.next_id("chat"),
        "created": 1_700_000_000,
        "model": body.get("model"),
    }
    finish = "tool_calls" if calls else "stop"
    if not body.get("stream"):
        message: dict[str, Any] = {"role": "assistant", "content": step.text}
        if calls:
            message["tool_calls"] = calls
        choice = {"index": 0, "message": message, "finish_reason": finish}
        return _whole({**base, "object": "chat.completion", "choices": [choice], "usage": usage})
    deltas: list[dict[str, Any]] = [{"role": "assistant", "content": step.text}]
    deltas += [{"tool_calls": [{"index": at, **call}]} for at, call in enumerate(calls)]
    choices: list[dict[str, Any]] = [
        {"index": 0, "delta": delta, "finish_reason": None} for delta in deltas
    ]
    choices.append({"index": 0, "delta": {}, "finish_reason": finish})
    chunks: list[dict[str, Any]] = [{"choices": [choice]} for choice in choices]
    chunks.append({"choices": [], "usage": usage})
    kind: dict[str, Any] = {**base, "object": "chat.completion.chunk"}
    lines = [f"data: {json.dumps({**kind, **chunk})}\n\n" for chunk in chunks]
    return Reply("".join([*lines, "data: [DONE]\n\n"]).encode(), is_stream=True)


def _function_call(model: ScriptedServer, call: ToolCall) -> dict[str, Any]:
    function = {"name": call.name, "arguments": json.dumps(call.input)}
    return {"id": model.next_id("call"), "type": "function", "function": function}


def responses(model: ScriptedServer, step: Step, body: Body, _path: str) -> Reply:
    """OpenAI's Responses, streamed; a call whose input is one text `input` is a custom one.

    A tool of a namespace is called by `namespace/name`.
    """
    events = enumerate(_response_events(model, step, body))
    return _events([{**event, "sequence_number": at} for at, event in events])


def _response_events(model: ScriptedServer, step: Step, body: Body) -> Iterator[dict[str, Any]]:
    base = {"id": model.next_id("resp"), "object": "response", "created_at": 1_700_000_000}
    base |= {"model": body.get("model"), "status": "in_progress", "output": []}
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


def _response_items(model: ScriptedServer, step: Step) -> Iterator[dict[str, Any]]:
    if step.text:
        content = [{"type": "output_text", "text": step.text, "annotations": []}]
        item = {"type": "message", "id": model.next_id("msg"), "role": "assistant"}
        yield {**item, "status": "completed", "content": content}
    for call in step.calls:
        space, _, name = call.name.rpartition("/")
        named = {"name": name, "call_id": model.next_id("call"), "status": "completed"}
        named |= {"namespace": space} if space else {}
        if set(call.input) == {"input"}:
            kind = {"type": "custom_tool_call", "id": model.next_id("ctc"), **call.input}
        else:
            arguments = json.dumps(call.input)
            kind = {"type": "function_call", "id": model.next_id("fc"), "arguments": arguments}
        yield {**kind, **named}


def generate_content(model: ScriptedServer, step: Step, _body: Body, path: str) -> Reply:
    """Google's generateContent."""
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
    if "stream" in path:
        return Reply(f"data: {json.dumps(answer)}\r\n\r\n".encode(), is_stream=True)
    return _whole(answer)


_DIALECTS: Mapping[str, Dialect] = {
    "/messages": messages,
    "/count_tokens": messages,
    "/chat/completions": chat_completions,
    "/responses": responses,
    "Content": generate_content,
    "countTokens": generate_content,
}
"""The dialects by the ends of the paths that requests come to."""
