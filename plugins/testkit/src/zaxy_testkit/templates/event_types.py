"""Reviews: what is to be reviewed is open until somebody has reviewed it, whichever of its names they use."""

from __future__ import annotations

from zaxy.api import Closing, Edge, Entity, EntityRef, Event, Extraction, JsonObject, ProviderContext


class Family:
    version = "1"  # raise it whenever the same event would give other rows: followers are then rebuilt

    def __init__(self, context: ProviderContext) -> None:
        pass

    def extract(self, event: Event) -> Extraction:
        payload = event.payload or {}
        ids, titles = _texts(payload, "id"), _texts(payload, "subject")
        if not ids and not titles:
            return Extraction()
        review = EntityRef("review", (ids or titles)[0])
        if event.type.endswith(".done"):
            return Extraction(closings=(Closing(event.time, entity=review),))
        asked = Edge(EntityRef("actor", event.actor), review, "asked_for_review")
        entity = Entity(
            review.name,
            review.entity_type,
            f"{(titles or ids)[0]} is to be reviewed",
            {"status": "open", **{name: payload[name] for name in ("why",) if name in payload}},
            merges=True,  # who asks again changes what they mention, and keeps the rest
            default_summary=not titles,
            ids=ids,
            titles=titles,
        )
        return Extraction((entity,), (asked,))


def _texts(payload: JsonObject, field: str) -> tuple[str, ...]:
    text = payload.get(field)
    return (text.strip(),) if isinstance(text, str) and text.strip() else ()
