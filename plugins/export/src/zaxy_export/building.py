"""Builds every export. All surfaces go through here, so that all bundles hold the same entries."""

from __future__ import annotations

from tempfile import TemporaryFile
from typing import BinaryIO

from zaxy.api import InvalidRequest, MemoryAccess, NotFound
from zaxy_export.bundle import Signer, Written, write_bundle
from zaxy_export.disclosure import disclose
from zaxy_export.projection import Progress, project
from zaxy_export.selector import EVERYTHING, Selector
from zaxy_export.verification import parts_of_file


def export_memory(
    memory: MemoryAccess,
    file: BinaryIO,
    selector: Selector | None = None,
    *,
    session: str = "",
    signer: Signer | None = None,
    disclosed: Selector | None = None,
    progress: Progress | None = None,
) -> Written:
    """Write the selected part of a session as a bundle, signed if there is a signer.

    With `disclosed` the whole bundle is signed, and only the part that `disclosed` selects is written.
    """
    selector, session = (selector or EVERYTHING).checked(), session or memory.session
    if session not in memory.sessions():
        raise NotFound(f"there is no session {session!r:.140}", "'zaxy sessions' lists them.")
    found = memory.fitting(selector.query, session, limit=selector.query_limit) if selector.query else None
    entries = project(memory, session, selector=selector, found=found, progress=progress)
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
