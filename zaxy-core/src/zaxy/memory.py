"""Memory: the one object over log, followers and retrieval. Every surface is a thin skin on it.

What it reads is in `direct_reads` and `questions`, what it records in `writes`. What only some methods need is imported
by them: a command starts, calls one, and ends.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from importlib import import_module
from pathlib import Path
from threading import Event as Signal, Lock
from typing import TYPE_CHECKING, BinaryIO, Literal, cast

from zaxy.assemble.use_marks import UseMarks
from zaxy.direct_reads import ClosedRecall
from zaxy.errors import NotFound, ZaxyError
from zaxy.follow.loop import FOREVER
from zaxy.plugins.secret_rows import redact_rows_of_plugins
from zaxy.retrieve.recall import Recall
from zaxy.security.session_ids import check_session_id
from zaxy.workspace import find_workspace, workspace_at
from zaxy.writes import Writes

if TYPE_CHECKING:
    from types import TracebackType

    from zaxy.api.models import ForeignEvent, ImportReceipt, JsonObject
    from zaxy.api.points import ExportSink
    from zaxy.follow.background import Background
    from zaxy.follow.loop import Progress
    from zaxy.model_tools import ModelTools, ServedTools
    from zaxy.plugins.bundles import Imported, Selector, Signer, Written
    from zaxy.workspace import Workspace

SERVED_BY = "zaxy.serve.in_process"
"""A skin on memory, so it is not imported here: found when tools are asked for."""


class Memory(Writes):
    """What an agent did and learned, in a workspace. It may be used by several threads and several processes."""

    def __init__(
        self,
        workspace: Workspace,
        *,
        patience: float = FOREVER,
        progress: Progress | None = None,
        withheld: ZaxyError | None = None,
    ) -> None:
        """`patience`: seconds that a read waits for the followers before it answers with what they have, and warns.

        `withheld`: why the graph is not opened, where another process holds it and cannot be asked. Reads warn.
        """
        self.workspace = workspace
        redact_rows_of_plugins(workspace.stored_settings)
        self.recall = Recall(workspace, patience, progress=progress, withheld=withheld)
        self._closed, self._looking = Signal(), Lock()
        self._marks = UseMarks(self._write_own)
        self._background: list[Background] = []

    @classmethod
    def open(cls, path: str | Path | None = None, *, patience: float = FOREVER) -> Memory:
        """The memory of a project's folder; without a path, that of the workspace the current folder belongs to."""
        workspace = find_workspace() if path is None else workspace_at(str(path))
        if not Path(workspace.root).is_dir():
            raise NotFound(f"{workspace.root} is not a folder", "Name the folder of a project, or make it first.")
        return cls(workspace, patience=patience)

    # For a model

    def tools(self, api: Literal["openai", "anthropic"], *, profile: str = "", session: str = "") -> ModelTools:
        """Memory's tools for a program that runs a model's tool loop itself: their schemas, and answers to its calls.

        A call does what it does over MCP. `session` is meant where the model names none.
        """
        from zaxy.model_tools import ModelTools

        session = check_session_id(session) if session else ""
        return ModelTools(api, self._served, profile=profile, session=session)

    @cached_property
    def _served(self) -> ServedTools:
        served: ServedTools = import_module(SERVED_BY).InProcess(self)
        return served

    # Leaving and coming back

    def export(
        self,
        file: BinaryIO,
        selector: Selector | None = None,
        *,
        session: str = "",
        signer: Signer | None = None,
        disclosed: Selector | None = None,
        progress: Progress | None = None,
    ) -> Written:
        """Write a session's memory as a bundle that others can check: all of it, or what a selector takes."""
        from zaxy.plugins.bundles import package_of_bundles

        written: Written = package_of_bundles(self.recall.host).export_memory(
            self, file, selector, session=session, signer=signer, disclosed=disclosed, progress=progress
        )
        return written

    def import_bundle(
        self,
        file: BinaryIO,
        session: str = "",
        *,
        expect_public_key: str | None = None,
        progress: Progress | None = None,
    ) -> Imported:
        """Append the events of a bundle, which is proven first; each keeps the citation that it had."""
        from zaxy.plugins.bundles import package_of_bundles

        imported: Imported = package_of_bundles(self.recall.host).import_into(
            self, file, session, expect_public_key=expect_public_key, progress=progress
        )
        return imported

    def import_events(
        self,
        events: Iterable[ForeignEvent],
        session: str = "",
        *,
        source: JsonObject,
        progress: Progress | None = None,
    ) -> ImportReceipt:
        """Append events that were recorded elsewhere; each keeps what named it there, and none comes twice.

        All are checked before the first is written, so `events` must begin again each time it is gone through.
        Those of types that only Zaxy or a package writes come as plain data. `source` is kept in the import's record.
        """
        from zaxy.importing import import_events

        return import_events(
            self._log,
            events,
            session=session or self.session,
            families=self.recall.families,
            source=source,
            progress=progress,
        )

    def export_sink(self, name: str) -> ExportSink:
        """The sink of that name, with the settings of this workspace. Its calls cannot hang."""
        from zaxy.plugins.calls import export_sink

        return export_sink(self.recall.host, name)

    # As long as it is open

    def follow_in_background(self) -> None:
        """From now on bring all sessions' followers up to the log as it grows, until `close`; for a server."""
        from zaxy.follow.background import Background

        if not self._background:
            self._background = [Background(loop, self._log.sessions) for loop in self.recall.all_loops]
            for following in self._background:
                following.start()

    def close(self) -> None:
        if self._closed.is_set():
            return
        for following in self._background:
            following.stop()
        self._background = []
        if served := self.__dict__.pop("_served", None):
            served.close()
        self._marks.flush()
        with self._looking:
            self._closed.set()
            ended, self.recall = self.recall, cast(Recall, ClosedRecall())
        ended.close()

    def __enter__(self) -> Memory:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
