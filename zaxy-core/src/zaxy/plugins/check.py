"""`zaxy plugins check`: import plugins, make their providers, and say what is wrong and what to do."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from types import ModuleType
from typing import NamedTuple

from zaxy.api.catalog import POINTS
from zaxy.api.event_types import family_of
from zaxy.errors import ZaxyError
from zaxy.plugins.guard import capture_prints
from zaxy.plugins.host import BoundProvider, ExtraMissing, PluginHost
from zaxy.plugins.kit import part_of_kit
from zaxy.plugins.manifest import CLIENTS_POINT, FILE_NAME, Provided
from zaxy.plugins.roster import InstalledPlugin, owner_of
from zaxy.plugins.route_table import routes_left_out
from zaxy.plugins.secret_rows import refusals

PRINTING_HINT = "Its author should use `logging` or context.warn: on stdout a client expects nothing but MCP messages."
ROUTES_HINT = "Its author gives it another path. Its other routes, and all else that it brings, are in use."
CALL_HINT = "Report it to the authors of {0.package}, or disable it: ZAXY_PLUGINS_DISABLE={0.name}"
SHAPES_HINT = "It does not count. Its author corrects it, as docs/plugins/README.md says under Secret shapes."
OLD_WRITER = "{!r} is written for plugin API 0.1: it edits its configuration, and has no hooks and no signs"
OLD_WRITER_HINT = "To make it a whole client, derive it from zaxy.api.FileClient, or add what zaxy.api.Client names."


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


def check_plugin(host: PluginHost, row: InstalledPlugin, *, not_called: Collection[str] = ()) -> list[PluginProblem]:
    """Everything that is wrong with one plugin. A disabled plugin is not checked.

    `not_called`: points whose providers are made, and called by somebody else.
    """
    if row.state == "disabled":
        return []
    with capture_prints() as heard:
        problems = list(_problems(host, row, not_called))
        printed = heard()
    if printed:
        problems.append(("stdout", f"it printed to stdout: {printed.splitlines()[0]!r}", PRINTING_HINT))
    return [PluginProblem(row.name, row.package, *problem) for problem in problems]


def _problems(host: PluginHost, row: InstalledPlugin, not_called: Collection[str]) -> Iterator[tuple[str, str, str]]:
    row = host.load(row.package if row.usable else row.name) if row.usable else row
    if row.error:
        yield row.stage, row.error, row.hint
        return
    if row.manifest is None:
        return
    for key in row.manifest.unknown_keys:
        yield "manifest", f"{FILE_NAME} has an unknown key {key!r}", "Remove it. Nothing reads it."
    for refused in refusals(row):
        yield "secret_shapes", refused, SHAPES_HINT
    for left_out in routes_left_out(host.roster, row):
        yield "manifest", left_out, ROUTES_HINT
    for provided in row.manifest.provides:
        yield from _unknown_capabilities(provided)
        owner = owner_of(host.roster, provided.point, provided.name)
        if owner is not None and owner[0].package == row.package:
            yield from _provider_problems(host, provided, calls=provided.point not in not_called)


def _unknown_capabilities(provided: Provided) -> Iterator[tuple[str, str, str]]:
    known = POINTS[provided.point].capabilities
    for capability in provided.capabilities:
        if capability not in known:
            message = f"{provided.point} knows no capability {capability!r}, which {provided.name!r} declares"
            yield "manifest", message, f"It knows {', '.join(known)}." if known else "It knows none."


def _provider_problems(host: PluginHost, provided: Provided, *, calls: bool) -> Iterator[tuple[str, str, str]]:
    """Whether the provider can be made, and what the kit finds in it."""
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
    trial = part_of_kit("trial")
    if trial is None:
        return
    misfits = list(_misfits(host, bound, trial))
    yield from misfits
    if calls and not misfits:
        yield from _failed_calls(host, bound, trial, provided=provided)


def _misfits(host: PluginHost, bound: BoundProvider, trial: ModuleType) -> Iterator[tuple[str, str, str]]:
    """The methods of the point that it lacks, as the quick part of the conformance suite finds them."""
    point, instance = bound.point, bound.instance
    try:
        found = host.run(
            bound.row,
            "check",
            f"checking {bound.name!r}",
            lambda: trial.misfits(point, instance, bound.provider.capabilities),
        )
    except ZaxyError as error:
        yield "shape", error.message, error.remediation
        return
    for misfit in found:
        yield "shape", f"{point} provider {bound.name!r}: {misfit}", "Compare it with its Protocol in zaxy.api."


def _failed_calls(
    host: PluginHost, bound: BoundProvider, trial: ModuleType, *, provided: Provided
) -> Iterator[tuple[str, str, str]]:
    """The harmless calls of the kit, up to the first that fails: a provider that hangs is waited for once."""
    manifest = bound.row.manifest
    types = [one for one in manifest.event_types if family_of(one.name) == bound.name] if manifest else []
    tried = trial.Tried(bound.point, bound.name, bound.instance, provided.capabilities, provided.paths, types)
    with trial.memory_for(tried) as memory:
        for call in trial.calls_of(tried, memory):
            what = f"{bound.name}.{call.what}"
            try:
                problem = host.run(bound.row, "call", what, call.make)
            except ZaxyError as error:
                yield "call", error.message, error.remediation
                return
            if problem:
                yield "call", f"{what} {problem}", CALL_HINT.format(bound.row)
                return
