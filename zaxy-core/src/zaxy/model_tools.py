"""The tools of a memory for a program that runs a model's tool loop itself, in the shapes of the API that it uses."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal, NamedTuple, Protocol

import orjson

from zaxy.errors import InvalidRequest, ZaxyError

OPENAI: Literal["openai"] = "openai"
ANTHROPIC: Literal["anthropic"] = "anthropic"


class ShownTool(NamedTuple):
    """A tool as a model is shown it."""

    name: str
    description: str
    input_schema: dict[str, Any]


class ModelCall(NamedTuple):
    """A call as the model made it. Nothing of it is known to be right."""

    id: str
    name: str
    arguments: object


class Answered(NamedTuple):
    id: str
    text: str
    failed: bool


class ServedTools(Protocol):
    """What answers the tools of a memory."""

    def shown(self, profile: str) -> Sequence[ShownTool]: ...

    def has(self, name: str) -> bool: ...

    def answer(
        self, name: str, arguments: Mapping[str, Any], *, session: str, refusal: ZaxyError | None
    ) -> tuple[dict[str, Any], bool]:
        """What the tool answers, and whether that is an error. It never raises."""
        ...


class ModelTools:
    """`schemas` goes to the model, and what comes back goes to `answer`."""

    def __init__(self, api: Literal["openai", "anthropic"], served: ServedTools, *, profile: str, session: str) -> None:
        if api not in (OPENAI, ANTHROPIC):
            raise InvalidRequest(f"there are no tools for {api!r:.40}", f"Say {OPENAI!r} or {ANTHROPIC!r}.")
        self._api = api
        self._served = served
        self._session = session
        self._shown = tuple(served.shown(profile))

    @property
    def schemas(self) -> list[Any]:
        """What the API takes as `tools`."""
        return [self._schema(tool) for tool in self._shown]

    def __contains__(self, name: object) -> bool:
        """Whether a tool of that name is one of memory's."""
        return isinstance(name, str) and self._served.has(name)

    def call(self, name: str, arguments: Mapping[str, Any] | str | None = None, *, call_id: str = "") -> Any:
        """The message that answers one call. Arguments may be JSON. An error is an answer too: this never raises."""
        return self._messages([self._answered(ModelCall(call_id, name, arguments))])[0]

    def answer(self, turn: object) -> list[Any]:
        """The messages that answer all calls of a model's turn; none where it made no call. This never raises.

        `turn` is what the API replied, its message, a list of its calls or content blocks, or one of these: as the SDK
        has it, or as plain JSON.
        """
        return self._messages([self._answered(call) for call in self._calls_in(turn)])

    def _answered(self, call: ModelCall) -> Answered:
        refusal = None
        arguments: Mapping[str, Any] = {}
        try:
            arguments = _object(call)
        except InvalidRequest as error:
            refusal = error
        reply, failed = self._served.answer(call.name, arguments, session=self._session, refusal=refusal)
        return Answered(call.id, orjson.dumps(reply).decode(), failed)

    def _calls_in(self, turn: object) -> Iterator[ModelCall]:
        if call := _call_for_openai(turn) if self._api == OPENAI else _call_for_anthropic(turn):
            yield call
            return
        inside = turn if isinstance(turn, list | tuple) else [_field(turn, name) for name in _HOLD_CALLS[self._api]]
        for one in inside:
            if one is not None and not isinstance(one, str):
                yield from self._calls_in(one)

    def _schema(self, tool: ShownTool) -> dict[str, Any]:
        if self._api == ANTHROPIC:
            return tool._asdict()
        function = {"name": tool.name, "description": tool.description, "parameters": tool.input_schema}
        return {"type": "function", "function": function}

    def _messages(self, answers: Iterable[Answered]) -> list[Any]:
        """OpenAI has a message for each call. Anthropic wants all of a turn in one; without any there is none."""
        if self._api == OPENAI:
            return [{"role": "tool", "tool_call_id": one.id, "content": one.text} for one in answers]
        results = [
            {"type": "tool_result", "tool_use_id": one.id, "content": one.text, "is_error": one.failed}
            for one in answers
        ]
        return [{"role": "user", "content": results}] if results else []


_HOLD_CALLS = {OPENAI: ("choices", "message", "tool_calls"), ANTHROPIC: ("content",)}
"""The fields of a reply and of a message in which calls are."""


def _call_for_openai(given: object) -> ModelCall | None:
    function = _field(given, "function")
    if function is None:
        return None
    return ModelCall(_text(given, "id"), _text(function, "name"), _field(function, "arguments"))


def _call_for_anthropic(given: object) -> ModelCall | None:
    if _field(given, "type") != "tool_use":
        return None
    return ModelCall(_text(given, "id"), _text(given, "name"), _field(given, "input"))


def _object(call: ModelCall) -> dict[str, Any]:
    """The arguments as JSON would carry them. A model that has none to give may send nothing at all."""
    given = call.arguments
    try:
        plain = orjson.loads(given if isinstance(given, str) else orjson.dumps(given)) if given != "" else None
    except (TypeError, ValueError) as error:
        raise InvalidRequest(
            f"the arguments of {call.name[:128]} are not JSON: {error!s:.120}", _AS_DESCRIBED
        ) from None
    if plain is not None and not isinstance(plain, dict):
        raise InvalidRequest(f"the arguments of {call.name[:128]} must be an object", _AS_DESCRIBED)
    return plain or {}


_AS_DESCRIBED = "Send a JSON object, as the tool's schema describes it."


def _field(given: object, name: str) -> Any:
    """A field of plain JSON, or of an object that an SDK made of it."""
    return given.get(name) if isinstance(given, Mapping) else getattr(given, name, None)


def _text(given: object, name: str) -> str:
    found = _field(given, name)
    return found if isinstance(found, str) else ""
