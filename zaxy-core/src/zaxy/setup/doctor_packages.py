"""What packages let the doctor look at: their own checks, guarded as all outside code is, after those of the core."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from zaxy.access import access_to, reading_access_to
from zaxy.api.health import STATUSES, WARNING, Checkup, Finding
from zaxy.errors import InternalError, NotFound, ZaxyError, error_of
from zaxy.owner.client import memory_of
from zaxy.plugins.host import PluginHost
from zaxy.plugins.roster import load_roster, owner_of
from zaxy.settings import Settings
from zaxy.setup.doctor import DoctorCheck, DoctorContext

if TYPE_CHECKING:
    from zaxy.api.access import MemoryAccess
    from zaxy.memory import Memory
    from zaxy.plugins.host import BoundProvider

POINT = "doctor_checks"
CAN_FIX = "fix"
NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,47}")
MAX_ROWS = 20
MAX_CHARS = 500


def package_checks(context: DoctorContext) -> Iterator[DoctorCheck]:
    """The checks of installed packages, each named with its plugin. One that cannot be made is an error row too."""
    with tempfile.TemporaryDirectory(prefix="zaxy-doctor-") as scratch:
        try:
            host = _host(context, scratch)
        except ZaxyError:
            return  # the row about plugins has said it
        for name in host.names(POINT):
            owner = owner_of(host.roster, POINT, name)
            if owner is not None:
                row, provided = owner
                shown = row.name if row.name == name else f"{row.name}:{name}"
                check = _PackageCheck(host, name, plugin=row.name, package=row.package)
                yield DoctorCheck(shown, check.look, check.fix if CAN_FIX in provided.capabilities else None)


def _host(context: DoctorContext, scratch: str) -> PluginHost:
    """Where there is no memory yet, none is begun: the packages' state lies in a folder that goes again."""
    workspace = context.workspace
    settings = Settings(stored=workspace.stored_settings())
    root, identity = (context.eventloom, workspace.identity()) if context.has_memory else (scratch, "doctor")
    return PluginHost(load_roster(settings), settings.lenient(), Path(root), identity)


class _PackageCheck:
    def __init__(self, host: PluginHost, name: str, *, plugin: str, package: str) -> None:
        self._host = host
        self._name = name
        self._plugin = plugin
        self._package = package

    def look(self, context: DoctorContext) -> list[Finding]:
        before = len(self._host.notices)
        found = self._guarded(lambda check: check.call("check", _checkup(context, reading_access_to)))
        if not isinstance(found, list | tuple) or len(found) > MAX_ROWS:
            raise self._malformed(f"no list of at most {MAX_ROWS} findings")
        warned = [Finding("notice", WARNING, notice) for notice in self._host.notices[before:]]
        return [self._row(finding) for finding in (*found, *warned)]

    def fix(self, context: DoctorContext) -> None:
        own = partial(access_to, package=self._package)
        self._guarded(lambda check: check.call("fix", _checkup(context, own)))

    def _guarded(self, call: Callable[[BoundProvider], object]) -> object:
        try:
            return call(self._host.get(POINT, self._name))
        except ZaxyError as error:
            if self._package in error.message:
                raise
            raise error_of(error.code, f"{self._package}: {error.message}", error.remediation) from None

    def _row(self, finding: object) -> Finding:
        """The finding as it is shown: a package may return anything."""
        if not isinstance(finding, Finding) or not all(isinstance(text, str) for text in finding[:4]):
            raise self._malformed("something that is not a zaxy.api.Finding of texts")
        if finding.status not in STATUSES or not NAME.fullmatch(finding.name):
            raise self._malformed(f"a finding {finding.name!r:.60} with the status {finding.status!r:.40}")
        advice = f"Look into the documentation of {self._package}." if finding.status != STATUSES[0] else ""
        return Finding(
            f"{self._plugin}:{finding.name}",
            finding.status,
            finding.message[:MAX_CHARS],
            finding.action[:MAX_CHARS] or advice,
        )

    def _malformed(self, what: str) -> ZaxyError:
        return InternalError(
            f"the check {self._name!r} of {self._package} returned {what}",
            f"Report it to its authors, or disable it: ZAXY_PLUGINS_DISABLE={self._plugin}",
        )


def _checkup(context: DoctorContext, access: Callable[[Memory], MemoryAccess]) -> Checkup:
    def open_memory() -> AbstractContextManager[MemoryAccess]:
        if not context.has_memory:
            raise NotFound(f"{context.workspace.root} has no memory yet", context.command("init --yes"))
        return _opened(context, access)

    return Checkup(Path(context.workspace.root), context.has_memory, open_memory)


@contextmanager
def _opened(context: DoctorContext, access: Callable[[Memory], MemoryAccess]) -> Iterator[MemoryAccess]:
    with memory_of(context.workspace) as memory:
        yield access(memory)
