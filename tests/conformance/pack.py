"""The tools that the MCP conformance suite calls, as far as a tool pack can have them."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence

from zaxy.api import Conflict, MemoryAccess, ProviderContext, Tool

NOTHING = {"type": "object", "properties": {}, "additionalProperties": False}
ADDRESSED = {
    "type": "object",
    "properties": {"region": {"type": "string", "x-mcp-header": "Region"}, "thread": {"type": "string"}},
    "required": ["region"],
    "additionalProperties": False,
}
MANY_KEYWORDS = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "$defs": {
        "address": {
            "$anchor": "addressDef",
            "type": "object",
            "properties": {"street": {"type": "string"}, "city": {"type": "string"}},
        }
    },
    "properties": {
        "name": {"type": "string"},
        "address": {"$ref": "#/$defs/address"},
        "contactMethod": {"type": "string", "enum": ["phone", "email"]},
        "phone": {"type": "string"},
        "email": {"type": "string"},
    },
    "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
    "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
    "then": {"required": ["phone"]},
    "else": {"required": ["email"]},
    "additionalProperties": False,
}
"""The suite's own schema, of a tool whose name has digits; here it has a name that a pack may use."""
ANSWER = {"text": "This is a simple text response for testing."}
ERROR = Conflict("This tool intentionally returns an error for testing", "There is nothing to do.")
BETWEEN_STEPS = 0.25
"""Seconds; the server tells of progress ten times a second at most."""


class Pack:
    def __init__(self, context: ProviderContext) -> None:
        pass

    def tools(self) -> Sequence[Tool]:
        listed = ("core", "full")
        return (
            Tool("test_simple_text", "Answer with a text.", NOTHING, read_only=True, profiles=listed),
            Tool("test_error_handling", "Fail.", NOTHING, read_only=True, profiles=listed),
            Tool("test_tool_with_progress", "Take a while.", NOTHING, read_only=True, profiles=listed),
            Tool("test_region_header", "Take an argument twice.", ADDRESSED, read_only=True, profiles=listed),
            Tool("test_many_keywords", "Take a contact.", MANY_KEYWORDS, read_only=True, profiles=listed),
        )

    def call(
        self,
        tool: str,
        arguments: Mapping[str, object],
        memory: MemoryAccess,
        progress: Callable[[float, str], None],
    ) -> Mapping[str, object]:
        if tool == "test_error_handling":
            raise ERROR
        if tool == "test_tool_with_progress":
            for step in (0.0, 0.5, 1.0):
                progress(step, "")
                time.sleep(BETWEEN_STEPS)
        return ANSWER
