"""Imports the events of a bundle. They become local events with local citations, and keep where they came from.

The whole bundle is verified before the first event is written. Only events are taken: what was extracted from them is
extracted again here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from shutil import copyfileobj
from tempfile import TemporaryFile
from typing import BinaryIO, NamedTuple

from zaxy.api import CannotImport, ForeignEvent, MemoryAccess, NotFound
from zaxy_export.entries import DEFAULT_SENSITIVITY
from zaxy_export.reading import BundleItem, refused
from zaxy_export.selector import EVENT
from zaxy_export.verification import BUNDLE, ENVELOPE, SUBSET, Parts, Verified, parts_of_file, verify

Progress = Callable[[int, int], None]


class Imported(NamedTuple):
    session: str
    new: int
    known: int
    """Events that an earlier import had brought."""
    as_data: int
    """Events that count as plain data here: erased ones, and those of types that only Zaxy or a package writes."""
    bundle: Verified
    citation: str
    """The event that records the import; empty if nothing was new."""


def import_into(
    memory: MemoryAccess,
    file: BinaryIO,
    session: str = "",
    *,
    expect_public_key: str | None = None,
    progress: Progress | None = None,
) -> Imported:
    """Append the events of a bundle in a file, which is proven first; each keeps the citation that it had."""
    with TemporaryFile() as own:  # it is read several times, and nobody may change it in between
        if file.seekable():
            file.seek(0)
        copyfileobj(file, own, 1 << 20)
        return import_bundle(
            memory, parts_of_file(own), session=session, expect_public_key=expect_public_key, progress=progress
        )


def import_bundle(
    memory: MemoryAccess,
    parts: Parts,
    *,
    session: str = "",
    expect_public_key: str | None = None,
    progress: Progress | None = None,
) -> Imported:
    """Append the events of a bundle to a session. A second import of the same bundle writes nothing."""
    session = session or memory.session
    bundle = verify(parts, expect_public_key, (BUNDLE, SUBSET, ENVELOPE))
    try:
        done = memory.import_events(
            _BundleEvents(parts, bundle.shape), session, source=_source(bundle), progress=progress
        )
    except CannotImport as error:
        raise refused(error.message) from None
    if not done.new and not done.known:
        raise NotFound(
            "the bundle holds no events to import",
            "Export with the grain 'event': everything else is extracted from events.",
        )
    return Imported(session, done.new, done.known, done.as_data, bundle, done.citation)


class _BundleEvents:
    """The entries of a bundle that are events, in order, from the start each time.

    Fields beside a signed entry are not signed, and ignored.
    """

    def __init__(self, parts: Parts, shape: str) -> None:
        self._parts = parts
        self._shape = shape

    def __iter__(self) -> Iterator[ForeignEvent]:
        for part in self._parts():
            if not isinstance(part, BundleItem):
                continue
            value = part.value if self._shape == ENVELOPE else part.value["content"]
            if value["grain"] != EVENT:
                continue
            content = value["content"]
            yield ForeignEvent(
                value["citation"],
                value["valid_from"],
                content.get("type"),
                content.get("actor"),
                content.get("payload"),
                sensitivity=content.get("sensitivity", DEFAULT_SENSITIVITY),
                erased=content.get("erased") is True,
                closings=content.get("closings") or (),
            )


def _source(bundle: Verified) -> dict[str, object]:
    """What the record of the import says of the bundle."""
    known = {
        "session_id": bundle.session_id,
        "shape": bundle.shape,
        "entries": bundle.entries,
        "algorithm": bundle.algorithm,
        "public_key": bundle.public_key,
        "pinned": bundle.pinned,
        "merkle_root": bundle.merkle_root,
        "created_at": bundle.created_at,
    }
    return {name: value for name, value in known.items() if value != ""}
