"""Makes tickets that are mentioned anywhere in an event, such as ABC-123, entities of their own."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from zaxy.api import Edge, Entity, EntityRef, Event, Extraction, ProviderContext

TICKET = re.compile(r"\b[A-Z][A-Z0-9]{1,9}-[1-9][0-9]{0,6}\b")


class Extractor:
    version = "1"  # raise it whenever the same event would give other rows: followers are then rebuilt

    def __init__(self, context: ProviderContext) -> None:
        pass

    def extract(self, event: Event) -> Extraction:
        mentioned = {ticket: text for text in _texts(event.payload) for ticket in TICKET.findall(text)}
        return Extraction(
            entities=tuple(Entity(ticket, "ticket", f"Ticket {ticket}") for ticket in mentioned),
            edges=tuple(
                Edge(
                    EntityRef("actor", event.actor),
                    EntityRef("ticket", ticket),
                    "mentions",
                    inferred=True,
                    inference_method="pattern",
                    evidence=text[:240],
                )
                for ticket, text in mentioned.items()
            ),
        )


def _texts(value: object) -> Iterator[str]:
    """Every text in a JSON value, however deep."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from _texts(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _texts(item)
