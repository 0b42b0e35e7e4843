"""A model on loopback that speaks three APIs and follows a script, so that whole sessions of real agents can run.

It keeps nothing between requests: which step comes next is how many tool results the conversation holds already.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

Json = dict[str, Any]


@dataclass(frozen=True)
class Call:
    """A call of one of the agent's own tools: the first of `tools` that it offers."""

    tools: tuple[str, ...]
    arguments: Json | str
    """A text for a tool that takes one as it is."""


@dataclass(frozen=True)
class Script:
    calls: Sequence[Call]
    """One in each turn of the model."""
    answer: str
    """What it says when all of them have been made."""

    def next_call(self, offered: Sequence[str], results: int) -> tuple[str, Json | str] | None:
        """The next call among the tools that are offered; None once there is nothing left but the answer."""
        if results >= len(self.calls):
            return None
        call = self.calls[results]
        name = next((tool for tool in call.tools if tool in offered), call.tools[-1])
        return (name, call.arguments) if offered else None


@contextmanager
def scripted_model(script: Script) -> Iterator[ScriptedModel]:
    model = ScriptedModel(script)
    thread = Thread(target=model.serve_forever, daemon=True)
    thread.start()
    try:
        yield model
    finally:
        model.shutdown()
        model.server_close()
        thread.join()


class ScriptedModel(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, script: Script) -> None:
        super().__init__(("127.0.0.1", 0), Answers)
        self.script = script
        self.asked: list[tuple[str, Json]] = []
        """Every request: its path and its body."""

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


class Answers(BaseHTTPRequestHandler):
    server: ScriptedModel
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        asked = self._body()
        path = self.path.partition("?")[0]
        self.server.asked.append((path, asked))
        if path.endswith("count_tokens"):
            self._reply({"input_tokens": 10})
        elif path.endswith("/messages"):
            self._reply_or_stream(messages_answer(self.server.script, asked), asked.get("stream"))
        elif path.endswith("/responses"):
            self._stream(responses_events(self.server.script, asked))
        elif path.endswith((":generateContent", ":streamGenerateContent")):
            answer = gemini_answer(self.server.script, asked)
            if path.endswith(":streamGenerateContent"):
                self._send("text/event-stream", f"data: {json.dumps(answer)}\n\n")
            else:
                self._reply(answer)
        elif path.endswith(":countTokens"):
            self._reply({"totalTokens": 10})
        else:
            self._reply({})

    def do_GET(self) -> None:
        self.server.asked.append((self.path, {}))
        self._reply({"data": [], "models": []})

    def do_HEAD(self) -> None:
        self._reply({})

    def _reply_or_stream(self, message: Json, streamed: object) -> None:
        if streamed:
            self._stream(messages_events(message))
        else:
            self._reply(message)

    def _body(self) -> Json:
        try:
            asked = json.loads(self.rfile.read(int(self.headers.get("content-length") or 0)) or b"{}")
        except ValueError:
            return {}
        return asked if isinstance(asked, dict) else {}

    def _reply(self, answer: Json) -> None:
        self._send("application/json", json.dumps(answer))

    def _stream(self, events: Sequence[Json]) -> None:
        lines = (f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in events)
        self._send("text/event-stream", "".join(lines))

    def _send(self, kind: str, text: str) -> None:
        body = text.encode()
        self.send_response(200)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


# The Messages API


def messages_answer(script: Script, asked: Json) -> Json:
    blocks = [
        block
        for message in asked.get("messages", ())
        if isinstance(message.get("content"), list)
        for block in message["content"]
    ]
    results = sum(block.get("type") == "tool_result" for block in blocks)
    call = script.next_call([tool.get("name", "") for tool in asked.get("tools", ())], results)
    content: Json = {"type": "text", "text": script.answer}
    if call:
        content = {"type": "tool_use", "id": f"toolu_{results:024}", "name": call[0], "input": call[1]}
    return {
        "id": f"msg_{len(asked.get('messages', ())):024}",
        "type": "message",
        "role": "assistant",
        "model": asked.get("model", "scripted"),
        "content": [content],
        "stop_reason": "tool_use" if call else "end_turn",
        "stop_sequence": None,
        "usage": {"input_tokens": 10, "output_tokens": 10},
    }


def messages_events(message: Json) -> list[Json]:
    (block,) = message["content"]
    start, delta = {**block, "text": ""}, {"type": "text_delta", "text": block.get("text", "")}
    if block["type"] == "tool_use":
        start, delta = {**block, "input": {}}, {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
    ended = {"stop_reason": message["stop_reason"], "stop_sequence": None}
    return [
        {"type": "message_start", "message": {**message, "content": [], "stop_reason": None}},
        {"type": "content_block_start", "index": 0, "content_block": start},
        {"type": "content_block_delta", "index": 0, "delta": delta},
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": ended, "usage": {"output_tokens": 10}},
        {"type": "message_stop"},
    ]


# The Responses API

TOOL_SEARCH = "tool_search"
"""A tool without a name, which finds the tools of servers: they can be called after that."""


def responses_events(script: Script, asked: Json) -> list[Json]:
    results = sum(str(item.get("type", "")).endswith("_output") for item in asked.get("input", ()))
    call = script.next_call(_offered(asked.get("tools", ())), results)
    identity = f"resp_{results}"
    usage = {"input_tokens": 10, "output_tokens": 10, "total_tokens": 20}
    item = _call_item(*call, f"call_{results}") if call else _message_item(script.answer, results)
    return [
        {"type": "response.created", "response": {"id": identity}},
        {"type": "response.output_item.added", "output_index": 0, "item": item},
        {"type": "response.output_item.done", "output_index": 0, "item": item},
        {"type": "response.completed", "response": {"id": identity, "output": [item], "usage": usage}},
    ]


def _offered(tools: Sequence[Json]) -> list[str]:
    """The names of the tools; those of a namespace as `namespace.name`."""
    names = []
    for tool in tools:
        inner = tool.get("tools", ())
        named = str(tool.get("name") or tool.get("type"))
        names += [f"{named}.{one.get('name')}" for one in inner] if inner else [named]
    return names


def _call_item(name: str, arguments: Json | str, identity: str) -> Json:
    if isinstance(arguments, str):
        return {"type": "custom_tool_call", "call_id": identity, "name": name, "input": arguments}
    if name == TOOL_SEARCH:
        return {"type": f"{name}_call", "call_id": identity, "execution": "client", "arguments": arguments}
    namespace, _, inner = name.rpartition(".")
    spaced = {"namespace": namespace} if namespace else {}
    return {
        "type": "function_call",
        "call_id": identity,
        **spaced,
        "name": inner,
        "arguments": json.dumps(arguments),
    }


def _message_item(text: str, results: int) -> Json:
    content = [{"type": "output_text", "text": text, "annotations": []}]
    return {"type": "message", "id": f"msg_{results}", "role": "assistant", "status": "completed", "content": content}


# The Gemini API


def gemini_answer(script: Script, asked: Json) -> Json:
    parts = [part for content in asked.get("contents", ()) for part in content.get("parts", ())]
    results = sum("functionResponse" in part for part in parts)
    offered = [
        str(declared.get("name"))
        for tool in asked.get("tools", ())
        for declared in tool.get("functionDeclarations", ())
    ]
    call = script.next_call(offered, results)
    part: Json = {"functionCall": {"name": call[0], "args": call[1]}} if call else {"text": script.answer}
    return {
        "candidates": [{"content": {"role": "model", "parts": [part]}, "finishReason": "STOP", "index": 0}],
        "usageMetadata": {"promptTokenCount": 10, "candidatesTokenCount": 10, "totalTokenCount": 20},
    }
