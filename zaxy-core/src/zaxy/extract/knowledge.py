"""What is known: facts and what they are about, preferences and whose they are, documents and where they came from."""

from __future__ import annotations

from zaxy.api.models import Event, JsonObject
from zaxy.extract.rule import NAMED_BY, TEXTS, Mention, Rule
from zaxy.extract.texts import first_text

FACT_TEXTS = ("summary", "fact", *TEXTS)


RELATIONS = ("predicate", "attribute", "relation", "property")


def fact_name(event: Event, payload: JsonObject) -> str:
    """Its key or all that it says; not its subject alone, of which there are many facts that all hold. Two values for
    one thing are two facts: only a key, or a closing, says that one replaces the other."""
    return first_text(payload, (*NAMED_BY, "fact_id", "fact", *FACT_TEXTS)) or fact_text(payload)


def fact_text(payload: JsonObject) -> str:
    """A fact in parts: `subject predicate object`, or `subject attribute: value`."""
    parts = [first_text(payload, ("subject",)), first_text(payload, RELATIONS)]
    label = " ".join(part for part in parts if part) if parts[1] else first_text(payload, ("key", "subject"))
    object_, value = first_text(payload, ("object",)), first_text(payload, ("value",))
    said = f"{label} {object_}".strip()
    return f"{said}: {value}" if said and value else said or value


def preference_name(event: Event, payload: JsonObject) -> str:
    """Its key or name; a preference that is named by its text belongs to its user."""
    given = first_text(payload, (*NAMED_BY, "preference_id"))
    said = first_text(payload, ("subject", "preference", "summary", *TEXTS))
    whose = first_text(payload, ("user", "user_id"))
    return given or (f"{whose}: {said}" if whose and said else said)


def preference_text(payload: JsonObject) -> str:
    said, value = first_text(payload, ("preference", *TEXTS, *NAMED_BY, "subject")), first_text(payload, ("value",))
    return f"{said}: {value}" if said and value else said or value


def document_name(event: Event, payload: JsonObject) -> str:
    """Its key or id, else its path with the lines that this event holds: the parts of a file are not its versions."""
    given = first_text(payload, ("key", "id", "document_id"))
    whole = first_text(payload, ("path", "name", "title", "document", "source", "subject", "summary", *TEXTS))
    lines = [first_text(payload, (field,)) for field in ("start_line", "end_line")]
    return given or (f"{whole[:120]}:{lines[0]}-{lines[1]}" if whole and all(lines) else whole)


SUBJECT = Mention(("subject",), "subject", "about", becomes_entity=True)
SOURCE = Mention(("source", "path"), "source", "from_source", becomes_entity=True)

RULES = {
    "fact.recorded": Rule(
        "fact",
        named_by=(*NAMED_BY, "fact_id", "fact", *FACT_TEXTS),
        texts=FACT_TEXTS,
        keeps=("subject", *RELATIONS, "object", "value", "unit", "confidence"),
        mentions=(SUBJECT,),
        name=fact_name,
        describe=fact_text,
        ids=("id", "fact_id"),
    ),
    "user.preference_changed": Rule(
        "preference",
        named_by=(*NAMED_BY, "preference_id", "subject", "preference", "summary", *TEXTS),
        texts=("summary",),
        keeps=("user", "preference", "value", "previous", "reason"),
        teller="user",
        relation="prefers",
        name=preference_name,
        describe=preference_text,
    ),
    "document.indexed": Rule(
        "document",
        named_by=("key", "id", "document_id", "path", "name", "title", "document", "source"),
        texts=("summary", "text", "content", "description", "title"),
        keeps=("path", "title", "start_line", "end_line", "lines", "size", "sha256"),
        mentions=(SOURCE,),
        name=document_name,
        heading="artifacts",
    ),
}
