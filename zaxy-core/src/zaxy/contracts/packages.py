"""The contract of a plugin's package: what its manifest offers, its commands and tools, and what it adds itself."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from zaxy.api.catalog import version_text
from zaxy.api.provider import ProviderContext
from zaxy.contracts.command_lines import target_parameters
from zaxy.contracts.sample_memory import naming, sample_memory
from zaxy.contracts.snapshot import (
    Contract,
    Item,
    contract,
    items_of,
    kit_items,
    offered,
    setting_item,
    tool_item,
)
from zaxy.plugins.kit import PACKAGE
from zaxy.plugins.manifest import COMMANDS_POINT, FAMILIES_POINT, Manifest, Provided, PurposeFacts

TOOLS_POINT = "tool_packs"


def plugin_contract(manifest: Manifest, package: str) -> Contract:
    """What a package offers. Its code is imported if it brings commands or tools, or more to promise."""
    providers = [
        (
            f"provider {provided.point}/{provided.name}",
            {
                "side": "core",
                "stability": provided.stability,
                "since": version_text(manifest.api_min),
                "capabilities": list(provided.capabilities),
            },
        )
        for provided in manifest.provides
    ]
    settings = [setting_item(setting) for setting in manifest.settings]
    purposes = [_purpose(facts) for facts in manifest.purposes]
    with naming(f"the contract of {package}"):
        words = [*_client_words(manifest), *_commands(manifest), *_tools(manifest), *_families(manifest)]
        words += _own_items(manifest)
        words += kit_items().items() if package == PACKAGE else ()
    return contract(manifest.name, package, items_of([*providers, *settings, *purposes, *words]))


def _families(manifest: Manifest) -> Iterator[tuple[str, Item]]:
    """The event types that a plugin owns."""
    describe = import_module("zaxy.contracts.event_types").described_type
    grades = {one.name: one.stability for one in manifest.provides if one.point == FAMILIES_POINT}
    for declared in manifest.event_types:
        name, described = describe(declared)
        grade = {"stability": grades[described["family"]], "since": version_text(manifest.api_min)}
        yield name, {"side": "core" if described["reserved"] else "both", **grade, **described}


def _client_words(manifest: Manifest) -> Iterator[tuple[str, Item]]:
    """The presets and options that a plugin's clients bring to the command line."""
    for client in manifest.clients:
        if client.preset:
            yield f"preset {client.preset}", offered(client=client.name)
        for option in client.options:
            described = {"sets": option.sets, "choices": list(option.choices), "summary": option.help}
            yield f"option ide-config {option.flag}", offered(**described)


def _purpose(facts: PurposeFacts) -> tuple[str, Item]:
    lists = {"suppresses": list(facts.suppresses), "terms": list(facts.terms)}
    numbers = {"emphases": dict(facts.emphases), "floors": dict(facts.floors)}
    return f"purpose {facts.name}", offered(**{**facts._asdict(), **lists, **numbers, "since": "0.4"})


def _commands(manifest: Manifest) -> Iterator[tuple[str, Item]]:
    """The commands, with their arguments and options where they are made with typer, or are hot commands."""
    for provided in manifest.provides:
        if provided.point == COMMANDS_POINT:
            parameters = target_parameters(_named(provided.target), provided.words)
            yield f"command {provided.words}", offered(parameters=parameters, summary=provided.summary)


def _tools(manifest: Manifest) -> Iterator[tuple[str, Item]]:
    """The tools of its packs, as they are served."""
    for provided in manifest.provides:
        if provided.point == TOOLS_POINT and provided.target:
            with_token = import_module("zaxy.serve.packs").with_token
            yield from (tool_item(with_token(tool)) for tool in _made(provided).tools())


def _own_items(manifest: Manifest) -> Iterator[tuple[str, Item]]:
    """What its own function adds, from a memory that is empty at first."""
    if not manifest.contract:
        return
    with sample_memory() as memory:
        for name, described in _named(manifest.contract)(memory):
            yield name, offered(**described)


def _made(provided: Provided) -> Any:
    with TemporaryDirectory() as folder:
        context = ProviderContext({}, Path(folder), "", warn=lambda text: None, clock=lambda: datetime.now(UTC))
        return _named(provided.target)(context)


def _named(target: str) -> Any:
    module, _, attribute = target.partition(":")
    return getattr(import_module(module), attribute)
