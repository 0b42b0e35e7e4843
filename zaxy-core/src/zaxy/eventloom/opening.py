"""The one door to a workspace's log: a setting chooses the store, and nothing else opens one."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from zaxy.api.provider import ProviderContext
from zaxy.eventloom.event_log import EventLog
from zaxy.eventloom.files_log import FilesLog
from zaxy.eventloom.quick import SPOOL, is_in_files
from zaxy.eventloom.store import JsonlStore
from zaxy.plugins.secret_rows import redact_rows_of_plugins
from zaxy.settings import Settings
from zaxy.workspace import Workspace

if TYPE_CHECKING:
    from zaxy.plugins.host import PluginHost

POINT = "event_stores"


def open_event_log(workspace: Workspace, host: Callable[[], PluginHost] | None = None) -> EventLog:
    """The log of a workspace in the store that it chose. If that does not work this says so: no other takes its place.

    What is appended is then also searched for the secrets that this workspace's plugins describe.

    `host`: the plugins that are already open, if there are any. The built-in store needs none.
    """
    redact_rows_of_plugins(workspace.stored_settings)
    if is_in_files(workspace):  # always the files of the workspace: a hook writes there too
        return FilesLog(_files(workspace.eventloom, workspace.claim))
    from zaxy.eventloom.outside_store import outside_log
    from zaxy.eventloom.spool import Spool
    from zaxy.plugins.host import PluginHost

    plugins = host() if host else PluginHost.of(workspace)
    spool = Spool(_files(os.path.join(workspace.eventloom, SPOOL), workspace.claim), plugins.notice)
    return outside_log(plugins.get(POINT, Settings(stored=workspace.stored_settings()).event_store), spool)


def files_log(folder: str) -> FilesLog:
    """The log in the files of a folder."""
    return FilesLog(_files(folder))


def _files(folder: str, begin: Callable[[], None] | None = None) -> JsonlStore:
    return JsonlStore(ProviderContext({}, Path(folder), "", _silent, _now), begin)


def _silent(_: str) -> None:
    pass


def _now() -> datetime:
    return datetime.fromtimestamp(time.time(), UTC)
