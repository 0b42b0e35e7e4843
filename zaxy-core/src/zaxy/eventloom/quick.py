"""The files that a command writes to which must start fast: it opens no other store, and imports little."""

from __future__ import annotations

import os

from zaxy.eventloom.loom import Eventloom
from zaxy.settings import FILES_STORE, Settings
from zaxy.trust import SPOOL as SPOOL

TYPE_CHECKING = False
if TYPE_CHECKING:
    from zaxy.workspace import Workspace


def is_in_files(workspace: Workspace) -> bool:
    """Whether the log is in files. Nothing is imported to find out."""
    return Settings(stored=workspace.stored_settings()).event_store == FILES_STORE


def quick_files(workspace: Workspace) -> Eventloom:
    """The files of the log, or of the spool where the log is elsewhere."""
    folder = workspace.eventloom if is_in_files(workspace) else os.path.join(workspace.eventloom, SPOOL)
    return Eventloom(folder, begin=workspace.claim)
