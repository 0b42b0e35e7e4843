"""The tables of the text index, and what a read gets of them."""

from __future__ import annotations

from typing import NamedTuple

from zaxy.text import tokens

FORMAT = f"9, tokens {tokens.FORMAT}"
WORD_LISTS = "CREATE VIRTUAL TABLE fts USING fts5 (words, names, content = '', tokenize = 'ascii')"
ASIDE_LISTS = "CREATE VIRTUAL TABLE fts_asked USING fts5 (words, content = '', tokenize = 'ascii')"
SCHEMA = f"""
CREATE TABLE about (cursor TEXT, feedback INTEGER, asides INTEGER, seal INTEGER);
CREATE TABLE passages (
    id INTEGER PRIMARY KEY, seq INTEGER, part INTEGER, hash TEXT, episode INTEGER, place INTEGER, length INTEGER,
    words_by_now INTEGER, words_of_episode INTEGER, kind TEXT, actor TEXT, speaker TEXT, time TEXT, entity TEXT,
    words TEXT, seal INTEGER, type TEXT, metadata TEXT, text TEXT, content_seal INTEGER
);
CREATE UNIQUE INDEX by_event ON passages (seq, part);
CREATE UNIQUE INDEX by_place ON passages (episode, place);
CREATE TABLE episodes (id INTEGER PRIMARY KEY, source TEXT, passages INTEGER, words INTEGER, last TEXT, seal INTEGER);
CREATE INDEX by_source ON episodes (source, id);
CREATE TABLE reinforced (seq INTEGER PRIMARY KEY, target INTEGER, entity TEXT, weight REAL, seal INTEGER);
CREATE INDEX by_target ON reinforced (target);
CREATE INDEX by_entity ON reinforced (entity);
CREATE TABLE marks (
    term TEXT, block INTEGER, by_now INTEGER, seal INTEGER, PRIMARY KEY (term, block)
) WITHOUT ROWID;
CREATE TABLE bits (term TEXT, block INTEGER, bits BLOB, PRIMARY KEY (term, block)) WITHOUT ROWID;
CREATE INDEX by_block ON bits (block);
CREATE TABLE times (block INTEGER PRIMARY KEY, earliest TEXT, latest TEXT, seconds BLOB);
CREATE TABLE asides (
    id INTEGER PRIMARY KEY, seq INTEGER, part INTEGER, hash TEXT, episode INTEGER, place INTEGER, passage INTEGER,
    kind TEXT, actor TEXT, speaker TEXT, time TEXT, entity TEXT, words TEXT, text TEXT, seal INTEGER
);
CREATE UNIQUE INDEX asides_by_event ON asides (seq, part);
{WORD_LISTS};
{ASIDE_LISTS};
"""


class Text(NamedTuple):
    """What ranking needs of a passage: hundreds are looked at for the few that are shown."""

    id: int
    seq: int
    part: int
    """Its number among the event's passages."""
    hash: str
    """The event's."""
    episode: int
    place: int
    """Its number within the episode."""
    length: int
    """How many words it has, without those of its type."""
    words_by_now: int
    """Of all passages up to this one."""
    words_of_episode: int
    """Up to this passage."""
    kind: str
    actor: str
    speaker: str
    time: str
    entity: str
    """The event's own entity, as JSON: its type and its folded name."""
    words: str
    """Its stems, each with a space before it and one after it, so that the same word twice is counted twice."""


class Aside(NamedTuple):
    """What a part of an event asks; if it has no words, the event is a record of memory's own use."""

    id: int
    seq: int
    part: int
    hash: str
    episode: int
    place: int
    """The place of the passage that it stands behind, or in; 0 if it comes first in its episode."""
    passage: int
    """The number of the passage that the part is as well; 0 if it tells nothing."""
    kind: str
    """As that of a passage; of a record of memory's own use the type of the event."""
    actor: str
    speaker: str
    time: str
    entity: str
    words: str
    """The stems of what asks."""
    text: str
    """The whole part, if it only asks."""


class Content(NamedTuple):
    """The rest of it, for those that are shown."""

    hash: str
    type: str
    metadata: str
    text: str


PLACE_BITS = 31
"""Of a place of an episode as one number: the episode, then its place."""
MAX_LENGTH = 255
"""A row of the index ends in the length of its passage, which ranking so knows without looking at the passage."""
TEXT_COLUMNS = ", ".join(f"passages.{field}" for field in (*Text._fields, "seal"))
CONTENT_COLUMNS = ", ".join(("id", *Content._fields, "content_seal"))
COLUMNS = {
    "passages": f"{', '.join(Text._fields)}, type, metadata, text",
    "episodes": "id, source, passages, words, last",
    "reinforced": "seq, target, entity, weight",
    "asides": ", ".join(Aside._fields),
    "marks": "term, block, by_now",
    "bits": "term, block, bits",
    "times": "block, earliest, latest, seconds",
}
"""The tables, ordered by what their first columns hold, with all that the log says of them: not the seals."""
