"""Arguments held against a tool's input schema; what does not fit is named, with what was expected."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import orjson

from zaxy.api.models import JsonObject
from zaxy.errors import InvalidRequest, ZaxyError, error_of

BOUNDS = {
    "minimum": ("at least {}", "invalid_request"),
    "maximum": ("at most {}", "invalid_request"),
    "minLength": ("of at least {} characters", "invalid_request"),
    "maxLength": ("of at most {} characters", "too_large"),
    "minItems": ("a list of at least {}", "invalid_request"),
    "maxItems": ("a list of at most {}", "too_large"),
}
KINDS: dict[type, str] = {
    str: "a text",
    bool: "true or false",
    int: "a whole number",
    float: "a number",
    list: "a list",
    dict: "an object",
    type(None): "null",
}
TYPES = {
    "string": "a text",
    "boolean": "true or false",
    "integer": "a whole number",
    "number": "a number",
    "array": "a list",
    "object": "an object",
    "null": "null",
}


def checked(tool: str, schema: JsonObject, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
    """The arguments, if they fit; numbers such as 5.0 where a whole one is wanted are made whole."""
    from jsonschema.exceptions import best_match

    error = best_match(_validator(orjson.dumps(schema)).iter_errors(arguments))
    if error is not None:
        raise _refused(tool, schema, error)
    properties = schema.get("properties", {})
    assert isinstance(properties, Mapping)
    return {name: _whole(properties.get(name, {}), value) for name, value in arguments.items()}


@lru_cache(maxsize=256)
def _validator(schema: bytes) -> Any:
    from jsonschema import Draft202012Validator

    return Draft202012Validator(orjson.loads(schema))


def _whole(kind: Any, value: Any) -> Any:
    wants_whole = isinstance(kind, Mapping) and kind.get("type") == "integer"
    return int(value) if wants_whole and isinstance(value, float) else value


def _refused(tool: str, schema: JsonObject, error: Any) -> ZaxyError:
    where = _place(error.absolute_path)
    keyword, wanted = error.validator, error.validator_value
    known = ", ".join(error.schema.get("properties", ()))
    if keyword == "required":
        missing = next(name for name in wanted if name not in error.instance)
        where = f"{where}.{missing}" if where else missing
        return InvalidRequest(f"{where} is missing", f"{tool} needs {', '.join(wanted)}.")
    if keyword == "additionalProperties":
        extra = next((name for name in error.instance if name not in error.schema.get("properties", ())), "")
        inside = f" in {where}" if where else ""
        return InvalidRequest(f"there is no argument {extra!r:.60}{inside}", f"The arguments are {known}.")
    if keyword in BOUNDS:
        said, code = BOUNDS[keyword]
        return error_of(code, f"{where or tool} must be {said.format(f'{wanted:,}')}", "Change it and call again.")
    if keyword == "type":
        types = [wanted] if isinstance(wanted, str) else wanted
        expected = " or ".join(TYPES.get(name, name) for name in types)
        got = KINDS.get(type(error.instance), type(error.instance).__name__)
        return InvalidRequest(f"{where or 'the arguments'} must be {expected}, not {got}", "Change it and call again.")
    if keyword == "enum":
        choices = ", ".join(map(str, wanted))
        return InvalidRequest(f"{where} is not one of {choices}", f"Give {where} as one of them.")
    return InvalidRequest(
        f"{where or 'the arguments'} does not fit the tool's input schema ({keyword})", "See tools/list."
    )


def _place(path: Any) -> str:
    """`events[0].actor`, as a person would write it."""
    place = ""
    for part in path:
        place += f"[{part}]" if isinstance(part, int) else f".{part:.60}" if place else f"{part:.60}"
    return place
