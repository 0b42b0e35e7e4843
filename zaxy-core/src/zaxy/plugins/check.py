"""`zaxy plugins check`: import plugins, make their providers, and say what is wrong and what to do."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from zaxy.api.catalog import POINTS
from zaxy.api.checks import shape
from zaxy.api.models import Event, Query, ServerEntry
from zaxy.errors import ZaxyError
from zaxy.plugins.guard import capture_prints
from zaxy.plugins.host import ExtraMissing, PluginHost
from zaxy.plugins.manifest import CLIENTS_POINT, FILE_NAME, Provided
from zaxy.plugins.roster import InstalledPlugin, owner_of

PRINTING_HINT = "Its author should use `logging` or context.warn: on stdout a client expects nothing but MCP messages."
OLD_WRITER = "{!r} is written for plugin API 0.1: it edits its configuration, and has no hooks and no signs"
OLD_WRITER_HINT = "To make it a whole client, derive it from zaxy.api.FileClient, or add what zaxy.api.Client names."
SAMPLE = Event(
    "plugins-check", 1, "evt_1_00000000", "note.made", "zaxy", "2026-06-15T00:00:00.000000Z", {}, "0" * 64, None
)
TRIALS: dict[str, tuple[str, tuple[object, ...]]] = {
    "projection_backends": ("cursor", ("plugins-check",)),
    "event_stores": ("sessions", ()),
    "retrieval_lanes": ("search", (Query("Does this lane answer?", "plugins-check"),)),
    "extractors": ("extract", (SAMPLE,)),
    "capture_adapters": ("sources", (Path("/nonexistent"),)),
    "ide_config_writers": ("render", (ServerEntry("zaxy", "zaxy", ("serve",)),)),
    "export_sinks": ("check", ("",)),
    "signing_algorithms": ("verify", (b"", b"", b"")),
    "tool_packs": ("tools", ()),
}
"""One harmless call for each point. A provider answers it, or refuses it with a `ZaxyError`."""


class PluginProblem(NamedTuple):
    plugin: str
    package: str
    stage: str
    error: str
    hint: str

    @property
    def is_note(self) -> bool:
        """Whether it only says that an optional part is not installed."""
        return self.stage == "extra"


def check_plugin(host: PluginHost, row: InstalledPlugin) -> list[PluginProblem]:
    """Everything that is wrong with one plugin. A disabled plugin is not checked."""
    if row.state == "disabled":
        return []
    with capture_prints() as heard:
        problems = list(_problems(host, row))
        printed = heard()
    if printed:
        problems.append(("stdout", f"it printed to stdout: {printed.splitlines()[0]!r}", PRINTING_HINT))
    return [PluginProblem(row.name, row.package, *problem) for problem in problems]


def _problems(host: PluginHost, row: InstalledPlugin) -> Iterator[tuple[str, str, str]]:
    row = host.load(row.package if row.usable else row.name) if row.usable else row
    if row.error:
        yield row.stage, row.error, row.hint
        return
    if row.manifest is None:
        return
    for key in row.manifest.unknown_keys:
        yield "manifest", f"{FILE_NAME} has an unknown key {key!r}", "Remove it. Nothing reads it."
    for provided in row.manifest.provides:
        yield from _unknown_capabilities(provided)
        owner = owner_of(host.roster, provided.point, provided.name)
        if owner is not None and owner[0].package == row.package:
            yield from _provider_problems(host, provided)


def _unknown_capabilities(provided: Provided) -> Iterator[tuple[str, str, str]]:
    known = POINTS[provided.point].capabilities
    for capability in provided.capabilities:
        if capability not in known:
            message = f"{provided.point} knows no capability {capability!r}, which {provided.name!r} declares"
            yield "manifest", message, f"It knows {', '.join(known)}." if known else "It knows none."


def _provider_problems(host: PluginHost, provided: Provided) -> Iterator[tuple[str, str, str]]:
    """The quick part of the conformance suite: the provider can be made, and has the methods of its point."""
    try:
        bound = host.get(provided.point, provided.name)
    except ExtraMissing as error:
        yield "extra", error.message, error.remediation
        return
    except ZaxyError as error:
        yield "make", error.message, error.remediation
        return
    if provided.point == CLIENTS_POINT and not hasattr(bound.instance, "find"):
        yield "extra", OLD_WRITER.format(provided.name), OLD_WRITER_HINT
        return
    try:
        wrong = host.run(bound.row, "check", f"checking {provided.name!r}", lambda: _misfits(provided, bound.instance))
    except ZaxyError as error:
        wrong = [error.message]
    for misfit in wrong:
        yield (
            "shape",
            f"{provided.point} provider {provided.name!r}: {misfit}",
            "Compare it with its Protocol in zaxy.api.",
        )
    if wrong:
        return
    method, arguments = TRIALS[provided.point]
    try:
        host.run(bound.row, "call", f"{provided.name}.{method}()", lambda: _try(bound.instance, method, arguments))
    except ZaxyError as error:
        yield "call", error.message, error.remediation


def _try(instance: object, method: str, arguments: tuple[object, ...]) -> None:
    with suppress(ZaxyError):
        getattr(instance, method)(*arguments)


def _misfits(provided: Provided, instance: object) -> list[str]:
    misfits = shape.misfits(provided.point, instance)
    if "follower" in provided.capabilities:
        misfits += shape.follower_misfits(instance)
    return misfits
