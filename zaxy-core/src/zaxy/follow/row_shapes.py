"""Whether rows that a plugin made are what they should be, whatever they say: of the right kinds, and bounded."""

from __future__ import annotations

import json
import math

import orjson

from zaxy.api.models import Closing, Edge, Entity, Extraction
from zaxy.extract.times import utc_text

MAX_ROWS = 1000
"""Rows that one plugin may make of one event."""
MAX_NAMES = 16
"""Ids of one thing, and titles of it."""
MAX_TEXT_CHARS = 10_000
"""Characters of any text in such a row, and of all its properties together."""


def is_extraction(made: object) -> bool:
    """Whether it has rows of the right kinds, and not too many."""
    if not isinstance(made, Extraction):
        return False
    rows: tuple[object, ...] = (made.entities, made.edges, made.closings)
    if not all(isinstance(kind, tuple) for kind in rows):
        return False
    if len(made.entities) + len(made.edges) + len(made.closings) > MAX_ROWS:
        return False
    return (
        all(map(_is_entity, made.entities)) and all(map(_is_edge, made.edges)) and all(map(_is_closing, made.closings))
    )


def is_text(value: object) -> bool:
    """Whether it is a text that any store can keep: bounded, and without half characters."""
    return isinstance(value, str) and len(value) <= MAX_TEXT_CHARS and not any("\ud800" <= c <= "\udfff" for c in value)


def _is_entity(row: object) -> bool:
    return (
        isinstance(row, Entity)
        and _is_ref((row.entity_type, row.name))
        and is_text(row.summary)
        and _is_time(row.observed_at)
        and _is_json_object(row.properties)
        and isinstance(row.merges, bool)
        and isinstance(row.default_summary, bool)
        and _are_names(row.ids)
        and _are_names(row.titles)
    )


def _are_names(names: object) -> bool:
    return isinstance(names, tuple) and len(names) <= MAX_NAMES and all(is_text(one) and one.strip() for one in names)


def _is_edge(row: object) -> bool:
    return (
        isinstance(row, Edge)
        and _is_ref(row.source)
        and _is_ref(row.target)
        and is_text(row.relation_type)
        and row.relation_type != ""
        and type(row.confidence) in (int, float)
        and math.isfinite(row.confidence)
        and isinstance(row.inferred, bool)
        and is_text(row.inference_method)
        and is_text(row.evidence)
        and _is_time(row.valid_from)
        and _is_time(row.valid_to)
    )


def _is_closing(row: object) -> bool:
    if not isinstance(row, Closing) or not row.at or not _is_time(row.at):
        return False
    if row.entity is None:
        return type(row.seq) is int and row.seq > 0
    return row.seq is None and _is_ref(row.entity)


def _is_ref(ref: object) -> bool:
    return isinstance(ref, tuple) and len(ref) == 2 and all(is_text(part) and part.strip() for part in ref)


def _is_time(value: object) -> bool:
    """Whether it is a moment as the log writes it, or none."""
    return value == "" or (isinstance(value, str) and utc_text(value) == value)


def _is_json_object(value: object) -> bool:
    """Whether a store can keep it. orjson would let NaN pass, and `json` large numbers, which orjson cannot write."""
    try:
        text = json.dumps(value, ensure_ascii=False, allow_nan=False, sort_keys=True)
        return isinstance(value, dict) and is_text(text) and bool(orjson.dumps(value))
    except (TypeError, ValueError, RecursionError):
        return False
