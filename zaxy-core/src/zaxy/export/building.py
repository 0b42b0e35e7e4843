"""Builds every export. All surfaces go through here, so that all bundles hold the same entries."""

from __future__ import annotations

from tempfile import TemporaryFile
from typing import BinaryIO

from zaxy.errors import InvalidRequest, NotFound
from zaxy.export.bundle import Signer, Written, write_bundle
from zaxy.export.disclosure import disclose
from zaxy.export.projection import Progress, project
from zaxy.export.selector import Selector
from zaxy.export.verification import parts_of_file
from zaxy.retrieve.recall import Recall


def build_memory_export(
    recall: Recall,
    session: str,
    *,
    selector: Selector,
    file: BinaryIO,
    signer: Signer | None = None,
    disclosed: Selector | None = None,
    progress: Progress | None = None,
) -> Written:
    """Write the selected part of a session as a bundle, signed if there is a signer.

    With `disclosed` the whole bundle is signed, and only the part that `disclosed` selects is written.
    """
    selector = selector.checked()
    if session not in recall.store.sessions():
        raise NotFound(f"there is no session {session!r:.140}", "'zaxy sessions' lists them.")
    found = recall.fitting(session, selector.query, selector.query_limit) if selector.query else None
    entries = project(recall.store, session, selector=selector, found=found, progress=progress)
    if disclosed is None:
        return write_bundle(entries, session, signer, file)
    if signer is None:
        raise InvalidRequest(
            "only a signed bundle can be disclosed in part",
            "Sign it: an unsigned one has no root to prove an entry against.",
        )
    with TemporaryFile() as whole:
        write_bundle(entries, session, signer, whole)
        return disclose(parts_of_file(whole), disclosed.checked(), file)
