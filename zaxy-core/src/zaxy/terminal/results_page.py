"""What a search found, as a person reads it: the text first, then who said it and when, its score and citation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from zaxy.eventloom.citation import short_citation
from zaxy.extract.known_types import label_of
from zaxy.terminal.screen import DIM, Terminal, one_line, plain, source_lines, wrapped

OF_WORDS = frozenset(("keyword", "verbatim"))
OWN_WORDS = frozenset(("words", "name"))
"""What a score over words has of the row itself, and not of what stands beside it."""
BESIDE = "beside a match"
MAX_TEXT_CHARS = 400
MAX_ACTOR_CHARS = 40


def query_page(reply: Mapping[str, Any], width: int, colour: bool) -> str:
    """`reply` is the object of the command's `--json`."""
    return _page(reply, Terminal(width, colour), MAX_TEXT_CHARS)


def verbatim_page(reply: Mapping[str, Any], width: int, colour: bool) -> str:
    """The same, with each passage as it was written."""
    return _page(reply, Terminal(width, colour), None)


def _page(reply: Mapping[str, Any], terminal: Terminal, max_chars: int | None) -> str:
    lines = list[str]()
    for row in reply["results"]:
        text = plain(row["content"])
        lines += wrapped(text if max_chars is None else one_line(text, max_chars), terminal.width)
        lines += source_lines(_source(row), short_citation(row["citation"]), terminal)
        for seen in row.get("derived", ()):
            name = plain(f"{seen['entity_type']} {seen['entity_name']}")
            said = wrapped(f"{name}, as the extractor {seen['extractor']} sees it", terminal.width, "    ")
            lines += [terminal.painted(line, DIM) for line in said]
    return "\n".join(lines)


def _source(row: Mapping[str, Any]) -> str:
    until = f" to {row['valid_to'][:10]}" if row["valid_to"] else ""
    foreign = "foreign " if row.get("foreign") else ""
    parts = (
        f"{foreign}{label_of(row['event_type'])} by {one_line(row['actor'], MAX_ACTOR_CHARS)}",
        f"{row['valid_from'][:10]}{until}",
        f"score {row['score']:.2f}",
        BESIDE if stands_beside(row) else "",
    )
    return plain(", ".join(filter(None, parts)))


def stands_beside(row: Mapping[str, Any]) -> bool:
    """Whether a row has none of the words itself, and nothing else found it either: it came along with one that has."""
    why = row["score_explanation"]
    counted = {step["lane"] for step in why["steps"] if step["raw"] and step["lane"] != "recency"}
    return "words" in why and counted <= OF_WORDS and OWN_WORDS.isdisjoint(why["words"])
