"""What the names of things meant at an event of a session, and what events teach of them."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any

from zaxy.api.models import Entity, EntityRef
from zaxy.api.names import folded_name
from zaxy.eventloom.sealed_connection import SealedConnection

Alias = tuple[str, str, int]
"""A type, a folded name of a thing of that type, and the kind of that name."""
TITLE, ID, HAS_ID = 0, 1, 2
"""The kinds of aliases. The last one is kept under a thing's own name, once it has an id."""
ALIAS = "a.session, a.alias, a.type, a.kind, a.seq, a.name, a.seal"
NAME = (
    f"SELECT {ALIAS} FROM aliases AS a WHERE session = ? AND alias = ? AND type = ? AND kind = ? AND seq < ? "
    "ORDER BY seq DESC LIMIT 1"
)


class KnownNames:
    """What some names of a session meant after an event."""

    def __init__(self, known: dict[Alias, str], *, with_ids: Collection[str]) -> None:
        """`with_ids`: the types of things that have other names than their own."""
        self.known = known
        self._with_ids = with_ids

    def name(self, entity_type: str, alias: str, kind: int) -> str:
        return self.known.get((entity_type, folded_name(alias), kind), "")

    def called(self, entity_type: str, name: str) -> str:
        """The thing that a name alone means: the one with that id, else the one last known by that title."""
        return self.name(entity_type, name, ID) or self.name(entity_type, name, TITLE)

    def meant(self, ref: EntityRef) -> EntityRef:
        """The thing that a type and a name mean."""
        known = self.called(*ref) if ref.entity_type in self._with_ids else ""
        return spelled(ref, known) if known else ref


class LearningNames(KnownNames):
    """What was known of a session's names before an event, each asked for when it is needed; and what events teach."""

    def __init__(
        self, db: SealedConnection, session: int, known: dict[Alias, str], *, with_ids: Collection[str]
    ) -> None:
        """`known` is what was asked before, as long as it is still so."""
        super().__init__(known, with_ids=with_ids)
        self.seq = 0
        """The event before which things are asked."""
        self.taught: list[tuple[object, ...]] = []
        self._db = db
        self._session = session

    def name(self, entity_type: str, alias: str, kind: int) -> str:
        key = (entity_type, folded_name(alias), kind)
        if key not in self.known:
            found = self._db.execute(NAME, (self._session, key[1], entity_type, kind, self.seq)).fetchone()
            self.known[key] = checked(self._db, found)[5] if found else ""
        return self.known[key]

    def of(self, entity: Entity) -> str:
        """The name of the thing that an entity is: of a known id, or of a title whose thing has no other id. One that
        does not live through several events has its own name, and an id is another one."""
        if not entity.merges:
            return entity.name
        for known in (self.name(entity.entity_type, name, ID) for name in entity.ids):
            if known:
                return known
        for title in (*entity.titles, *entity.ids):
            if entity.ids:
                known = self.name(entity.entity_type, title, TITLE)
                if known and not self.name(entity.entity_type, known, HAS_ID):
                    return known
            elif known := self.called(entity.entity_type, title):
                return known
        return entity.name

    def learn(self, entity: Entity, name: str) -> Iterator[tuple[Alias, str]]:
        """By which names an entity was called, as far as that is new. It counts for later events."""
        kinds = [(alias, ID) for alias in entity.ids] + [(alias, TITLE) for alias in entity.titles]
        if entity.ids and entity.merges:
            kinds.append((name, HAS_ID))
        for alias, kind in kinds:
            known = self.name(entity.entity_type, alias, kind)
            if known != name and not (known and kind == ID):  # an id means one thing for ever
                yield (entity.entity_type, folded_name(alias), kind), name

    def keep(self, learned: dict[Alias, str]) -> None:
        """What the event has taught is known to those after it."""
        self.known.update(learned)
        for (kind, alias, of), name in learned.items():
            row = (self._session, alias, kind, of, self.seq, name)
            self.taught.append((*row, self._db.seal(row)))


def checked(db: SealedConnection, row: Any) -> Any:
    """A row whose last field is the seal of the others."""
    db.check(row[:-1], row[-1])
    return row


def spelled(ref: EntityRef, name: str) -> EntityRef:
    """A thing by its name, spelled as the event does where that matches."""
    return ref if folded_name(ref.name) == folded_name(name) else EntityRef(ref.entity_type, name)
