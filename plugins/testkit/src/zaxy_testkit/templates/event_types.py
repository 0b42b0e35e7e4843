"""Reviews: what is to be reviewed is open until somebody has reviewed it."""

from __future__ import annotations

from zaxy.api import Closing, Edge, Entity, EntityRef, Event, Extraction, ProviderContext


class Family:
    version = "1"  # raise it whenever the same event would give other rows: followers are then rebuilt

    def __init__(self, context: ProviderContext) -> None:
        pass

    def extract(self, event: Event) -> Extraction:
        payload = event.payload or {}
        subject = payload.get("subject")
        if not isinstance(subject, str) or not subject.strip():
            return Extraction()
        review = EntityRef("review", subject.strip())
        if event.type.endswith(".done"):
            return Extraction(closings=(Closing(event.time, entity=review),))
        asked = Edge(EntityRef("actor", event.actor), review, "asked_for_review")
        summary = f"{review.name} is to be reviewed"
        return Extraction((Entity(review.name, "review", summary, {"status": "open"}),), (asked,))
