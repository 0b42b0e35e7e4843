"""A client's requests as the pump keeps them until they are answered."""

from __future__ import annotations

import json

from zaxy.tuples import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from zaxy.errors import ZaxyError

FAILED = -32000


class Waiting(NamedTuple):
    """A request that is not answered yet."""

    line: bytes
    id: object
    since: float
    is_call: bool
    is_stateless: bool


def parsed_message(line: bytes) -> dict[str, Any]:
    """A message; empty for a line that is none, which is passed on all the same."""
    try:
        message = json.loads(line)
    except (ValueError, RecursionError):
        return {}
    return message if isinstance(message, dict) else {}


def params_of(message: dict[str, Any]) -> dict[str, Any]:
    params = message.get("params")
    return params if isinstance(params, dict) else {}


def request_key(id_: object) -> str:
    """An id as a key: 1 and "1" are two."""
    return json.dumps(id_)


def refusal(waiting: Waiting, error: ZaxyError) -> bytes:
    content = error.as_dict()
    reply: dict[str, Any] = {"jsonrpc": "2.0", "id": waiting.id}
    if waiting.is_call:
        text = {"type": "text", "text": json.dumps(content)}
        reply["result"] = {"content": [text], "structuredContent": content, "isError": True}
        if waiting.is_stateless:
            reply["result"]["resultType"] = "complete"
    else:
        reply["error"] = {"code": FAILED, "message": f"{error.message}. {error.remediation}", "data": content}
    return json.dumps(reply).encode() + b"\n"
