"""What a rule is: one line of the table says what an event is about, who said it, and what else it names."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from typing import NamedTuple

from zaxy.api.models import Edge, Entity, EntityRef, Event, Extraction, JsonObject
from zaxy.eventloom.admission import OWN_ACTOR
from zaxy.extract.housekeeping import HOOK_ACTOR
from zaxy.extract.texts import entity_name, first_text, text_of

NAMED_BY = ("key", "name", "title", "id")
TEXTS = ("text", "content", "description")
MAX_MENTIONS = 32


class Own(NamedTuple):
    """The event's own entity, as far as the functions of special rules need it."""

    event: Event
    payload: JsonObject
    ref: EntityRef
    since: str
    """`occurred_at` if it was given, else empty."""


class Mention(NamedTuple):
    """Another thing that the payload names, and the edge between it and the event's own entity."""

    fields: tuple[str, ...]
    entity_type: str
    relation: str
    inward: bool = False
    """Whether the edge leads from the other thing to the event's own."""
    becomes_entity: bool = False
    """Known by its name only. A thing that events of its own describe does not: the bare name would replace what they
    said."""


class Rule(NamedTuple):
    entity_type: str
    named_by: tuple[str, ...]
    """The fields that may hold the name, the first present one counts."""
    texts: tuple[str, ...]
    """The fields that may hold the summary."""
    keeps: tuple[str, ...] = ()
    """The fields that become properties."""
    teller: str = ""
    relation: str = ""
    """From who said it (one of `TELLERS`) to the event's own entity."""
    status: str = ""
    says_status: bool = False
    """Whether the payload may say another status than the rule's."""
    mentions: tuple[Mention, ...] = ()
    name: Callable[[Event, JsonObject], str] | None = None
    """Instead of `named_by`."""
    describe: Callable[[JsonObject], str] | None = None
    """The summary where none of `texts` is there."""
    properties: Callable[[JsonObject], dict[str, object]] | None = None
    """More properties than those kept as they are."""
    more: Callable[[Own], Extraction] | None = None
    also: tuple[str, ...] = ()
    """The types of the entities, and the relations, that `more` may give."""
    relations: tuple[str, ...] = ()
    heading: str = ""
    """Under which the working set shows what the event is about; empty for nowhere."""
    merges: bool = False
    """Whether the event continues the life of one thing: it keeps what the event does not mention."""
    ids: tuple[str, ...] = ()
    titles: tuple[str, ...] = ()
    """The fields that may hold an id of the thing, and those that may hold a title. If the rule does not merge, an id
    is only another name for what the event is about."""
    qualified: Callable[[JsonObject, str], str] | None = None
    """Makes a name out of the text of such a field, where that is not the name itself."""


def rule(
    entity_type: str,
    relation: str = "",
    *,
    teller: str = "actor",
    noun: str = "",
    keeps: Sequence[str] = (),
    status: str = "",
    mentions: Sequence[Mention] = (),
    heading: str = "",
) -> Rule:
    """An ordinary rule: named by key, name, title, id, subject or its noun, else by the beginning of its text."""
    noun = noun or entity_type
    texts = ("summary", noun, *TEXTS)
    named_by = (*NAMED_BY, f"{noun}_id", "subject", noun, *texts)
    teller = teller if relation else ""
    return Rule(
        entity_type,
        tuple(dict.fromkeys(named_by)),
        texts,
        tuple(keeps),
        teller,
        relation,
        status,
        mentions=tuple(mentions),
        heading=heading,
    )


def living(a_rule: Rule, noun: str = "") -> Rule:
    """The rule for a thing that lives through several events: known by key or id, else by title, name or its noun.

    What only names it is no summary: a version into which the event merges keeps its own.
    """
    noun = noun or a_rule.entity_type
    texts = ("summary", *TEXTS)
    ids, titles = ("key", "id", f"{noun}_id"), ("name", "title", "subject", noun)
    return a_rule._replace(named_by=(*ids, *titles, *texts), texts=texts, merges=True, ids=ids, titles=titles)


def entity_types(a_rule: Rule) -> tuple[str, ...]:
    """All types of entities that a rule may give, the event's own first."""
    said_by = (TELLERS[a_rule.teller].entity_type,) if a_rule.teller else ()
    mentioned = (mention.entity_type for mention in a_rule.mentions if mention.becomes_entity)
    return tuple(dict.fromkeys((a_rule.entity_type, *said_by, *mentioned, *a_rule.also)))


def relation_types(a_rule: Rule) -> tuple[str, ...]:
    """All relations that a rule may give, besides `supersedes`, which any event may."""
    mentioned = (mention.relation for mention in a_rule.mentions)
    return tuple(dict.fromkeys(name for name in (a_rule.relation, *mentioned, *a_rule.relations) if name))


# Who said it


def the_actor(event: Event, payload: JsonObject) -> str:
    return event.actor


def the_speaker(event: Event, payload: JsonObject) -> str:
    """Who said it; where it was only written down by a hook, the role."""
    recorder = event.actor in (HOOK_ACTOR, OWN_ACTOR)
    return first_text(payload, ("speaker", "role") if recorder else ("speaker",)) or event.actor


def the_session(event: Event, payload: JsonObject) -> str:
    return event.session


def the_parent_session(event: Event, payload: JsonObject) -> str:
    return first_text(payload, ("parent_session_id",)) or event.session


def the_user(event: Event, payload: JsonObject) -> str:
    return first_text(payload, ("user", "user_id")) or "user"


class Teller(NamedTuple):
    entity_type: str
    name: Callable[[Event, JsonObject], str]


TELLERS = {
    "actor": Teller("actor", the_actor),
    "speaker": Teller("actor", the_speaker),
    "session": Teller("session", the_session),
    "parent session": Teller("session", the_parent_session),
    "user": Teller("user", the_user),
}


# Rows


@lru_cache(maxsize=4096)
def bare(entity_type: str, name: str) -> Entity:
    """An entity of which only the name is known: always the same, so that it is written once.

    `Ada` and `ada` match, so their summaries are the same too.
    """
    return Entity(name, entity_type, f"{entity_type.replace('_', ' ')} {name.casefold()}")


@lru_cache(maxsize=4096)
def ref_to(entity_type: str, text: str) -> EntityRef:
    return EntityRef(entity_type, entity_name(text))


def edge(source: EntityRef, relation: str, target: EntityRef, since: str) -> Edge:
    return Edge(source, target, relation, valid_from=since)


def named(value: object) -> list[str]:
    """The names in a field that holds one or a list of them, each once."""
    if isinstance(value, str):
        return [name] if (name := entity_name(value)) else []
    items = value[:MAX_MENTIONS] if isinstance(value, list) else [value]
    return list(dict.fromkeys(name for item in items if (name := entity_name(text_of(item)))))


def part_name(whole: str, kind: str, part: object) -> str:
    """The name of a part of something, such as `<artifact>:candidate:1`; empty if either is unknown."""
    text = text_of(part)
    return f"{whole[:64]}:{kind}:{entity_name(text)[:64]}" if whole and text else ""


def objects(value: object, max_count: int) -> list[JsonObject]:
    """The JSON objects in a list."""
    return [item for item in value[:max_count] if isinstance(item, dict)] if isinstance(value, list) else []


def once(entities: Iterable[Entity]) -> tuple[Entity, ...]:
    """Each entity once, by type and name, the first one counting."""
    found: dict[tuple[str, str], Entity] = {}
    for entity in entities:
        found.setdefault((entity.entity_type, entity.name.casefold()), entity)
    return tuple(found.values())
