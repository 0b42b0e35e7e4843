"""Which versions of an entity or an edge open, end and move: decided here once, for every graph.

A backend fetches the versions around a new row, calls one of two pure functions, and stores what comes back. Nothing
here looks at a clock: the same log gives the same rows whenever it is followed. What holds is decided by reads.

The versions of one thing never overlap. An end may lie in the future, and may move: the version then keeps its earlier
ends, so that a read as known before the move still sees them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from typing import NamedTuple

import orjson

from zaxy.api.models import AsOf, Closing, Edge, Entity, Event, JsonObject

Content = tuple[object, ...]
"""In what two versions differ: the first value is an entity's summary, the second its properties as one text."""


class Version(NamedTuple):
    """A version of an entity or an edge, as far as the rules need it."""

    number: int
    """The backend's own number of the row. Of two versions that begin together the greater number counts."""
    valid_from: str
    valid_to: str
    """Empty where no end is known."""
    opened_seq: int
    closed_seq: int | None
    """The event that brought the end."""
    content: Content
    earlier: tuple[tuple[int, str], ...] = ()
    """The ends before this one, oldest first: the event that brought each, and the end."""
    moved: bool = False
    """Of a version that has just ended: whether it had an end before."""

    @property
    def is_void(self) -> bool:
        """Whether it holds at no time, as one does that was closed before it began: no rule looks at it again."""
        return self.valid_to != "" and self.valid_to <= self.valid_from


_as_version = partial(tuple.__new__, Version)
"""What `Version._make` does, without a call for each."""

Changes = tuple[Version | None, tuple[Version, ...]]
"""What a new row changes: store the version that opens, if one does, and those that end by their numbers."""

NOTHING: Changes = (None, ())
PLAIN_EDGE_CONTENT: Content = (1.0, False, "", "", "")
"""That of an edge that was given, and of which nothing else is said, as of most: one for all of them."""
SUMMARY_SEQ = "summary_seq"
"""Of a version that kept its summary: the property that names the event which gave it."""
EXTRACTOR = "extractor"
"""Of an entity that an extractor of a plugin made: the property that names the extractor. The core writes it."""


# Writing


def beginning(row: Entity | Edge, event: Event) -> str:
    """When a row begins to hold: when it says so itself, else at its event's time."""
    return (row.observed_at if isinstance(row, Entity) else row.valid_from) or event.time


def comes_last(last: Version | None, moment: str) -> bool:
    """Whether no version begins after that moment: then `around` need have no other than the last, void ones aside."""
    return last is None or last.valid_from <= moment


def last_of(versions: Iterable[Version]) -> Version | None:
    """The version that begins last; void ones do not count."""
    return max((one for one in versions if not one.is_void), key=lambda one: (one.valid_from, one.number), default=None)


def open_version(around: Iterable[Version], row: Entity | Edge, event: Event, number: int = 0) -> Changes:
    """File a row among the versions of its thing; `number` is the one that the version gets if it opens.

    `around` must have the last version that begins by then and the first that begins later, void ones aside; it may
    have others.
    """
    begins = beginning(row, event)
    if around == ():  # most rows are the first of their thing
        ends = row.valid_to if isinstance(row, Edge) else ""
        closed = event.seq if ends else None
        return _as_version((number, begins, ends, event.seq, closed, content_of(row), (), False)), ()
    before: Version | None = None
    later = ""
    ended: tuple[Version, ...] = ()
    for version in around:
        since, until = version.valid_from, version.valid_to
        if until and until <= since:  # it is void
            continue
        if since > begins:
            later = min(later, since) if later else since
        elif before is None or (since, version.number) >= (before.valid_from, before.number):
            before = version
    if before is None or (before.valid_to and before.valid_to <= begins):
        content, ends = content_of(row), later
    else:
        if isinstance(row, Entity) and EXTRACTOR in row.properties and _maker(before) != row.properties[EXTRACTOR]:
            return NOTHING  # as long as another extractor's row holds, the name is that one's
        content, ends = content_of(row, before.content, before_seq=before.opened_seq), before.valid_to
        if content == before.content:
            return NOTHING
        ended = (_ended(before, begins, event.seq),)
    if isinstance(row, Edge) and row.valid_to and (not ends or row.valid_to < ends):
        ends = row.valid_to
    return Version(number, begins, ends, event.seq, event.seq if ends else None, content), ended


def end_versions(around: Iterable[Version], closing: Closing, event: Event) -> tuple[Version, ...]:
    """The versions that a closing ends: those that hold at its event's time or later. An end never moves later. One of
    an extractor ends no rows but the extractor's own, and one that names an event no rows but those that it opened.

    `around` must have the last version that begins by the event's time and all that begin later, void ones aside; or
    the rows of the event that the closing names.
    """
    return tuple(
        _ended(version, closing.at, event.seq)
        for version in around
        if (not version.valid_to or version.valid_to > max(event.time, closing.at, version.valid_from))
        and (not closing.extractor or _maker(version) == closing.extractor)
        and closing.seq in (None, version.opened_seq)
    )


def _maker(version: Version) -> object:
    """The extractor of a plugin that made an entity; None for a row of the built-in rules, and for an edge."""
    properties = version.content[1]
    if not isinstance(properties, str) or EXTRACTOR not in properties:
        return None
    return orjson.loads(properties).get(EXTRACTOR)


def content_of(row: Entity | Edge, before: Content | None = None, *, before_seq: int = 0) -> Content:
    """What the version of a row says. One that merges keeps what it does not mention of the version before, which the
    event `before_seq` opened. Where it keeps the summary, the property `summary_seq` is the event that gave that."""
    if isinstance(row, Edge):
        content = (float(row.confidence), bool(row.inferred), row.inference_method, row.evidence, row.valid_to)
        return PLAIN_EDGE_CONTENT if content == PLAIN_EDGE_CONTENT else content
    if not row.merges:
        properties = row.properties
        return (row.summary, orjson.dumps(properties, dict, orjson.OPT_SORT_KEYS).decode() if properties else "{}")
    if before is None:
        return (row.summary, properties_text(_given(row.properties)))
    kept: dict[str, object] = orjson.loads(str(before[1]))
    given_by = kept.pop(SUMMARY_SEQ, before_seq)
    summary = str(before[0]) if row.default_summary else row.summary
    merged = _given({**kept, **row.properties})
    if summary == before[0] and properties_text(merged) == properties_text(kept):
        return before  # an event that says nothing new opens no version
    return (summary, properties_text({**merged, SUMMARY_SEQ: given_by} if row.default_summary else merged))


def _given(properties: JsonObject) -> dict[str, object]:
    """Without those that are taken away; whose words a summary has is not for a row to say."""
    return {name: value for name, value in properties.items() if value is not None and name != SUMMARY_SEQ}


def properties_text(properties: JsonObject) -> str:
    """Properties as one text, the same whatever the order of their names."""
    return orjson.dumps(properties, dict, orjson.OPT_SORT_KEYS).decode()


def earlier_text(version: Version) -> str | None:
    """The earlier ends as JSON, for stores that keep a text; None where there are none."""
    return orjson.dumps(version.earlier).decode() if version.earlier else None


def earlier_ends(text: str | None) -> tuple[tuple[int, str], ...]:
    return tuple((seq, end) for seq, end in orjson.loads(text)) if text else ()


def _ended(version: Version, at: str, seq: int) -> Version:
    earlier = version.earlier
    if version.closed_seq is not None and version.closed_seq != seq:
        earlier = (*earlier, (version.closed_seq, version.valid_to))
    moved = version.closed_seq is not None
    return version._replace(valid_to=at, closed_seq=seq, earlier=earlier, moved=moved)


# Reading


def as_known(
    valid_to: str, closed_seq: int | None, earlier: Sequence[tuple[int, str]], known_at: int | None
) -> tuple[str, int | None]:
    """The end of a row as it was known after an event, and the event that brought it: "" and None if none had."""
    if closed_seq is None or known_at is None or closed_seq <= known_at:
        return valid_to, closed_seq
    for seq, end in reversed(earlier):
        if seq <= known_at:
            return end, seq
    return "", None


def holds(valid_from: str, valid_to: str, moment: str) -> bool:
    """Whether a row holds at a moment; the empty one is after all times, where only rows without an end hold."""
    if not moment:
        return not valid_to
    return valid_from <= moment and (not valid_to or moment < valid_to)


def holding(windows: Iterable[tuple[str, str]], moment: str) -> list[bool]:
    """Of each window, from its beginning to its end, whether it holds at a moment."""
    return [holds(valid_from, valid_to, moment) for valid_from, valid_to in windows]


def seen(version: Version, as_of: AsOf) -> Version | None:
    """A version as it was known then; None if it was not known, or did not hold at the moment."""
    if as_of.known_at is not None and version.opened_seq > as_of.known_at:
        return None
    ends, closed = as_known(version.valid_to, version.closed_seq, version.earlier, as_of.known_at)
    shown = version._replace(valid_to=ends, closed_seq=closed)
    return shown if holds(version.valid_from, ends, as_of.valid_at) else None
