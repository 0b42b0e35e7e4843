"""The live contracts: every public surface described as data, read off the code itself.

The surfaces are named by strings and resolved when this runs, so nothing here depends on what it describes.
"""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Iterable, Iterator
from importlib import import_module
from itertools import chain
from typing import Any, get_args, get_type_hints

from zaxy.api.catalog import API_CURRENT, POINTS, version_text
from zaxy.errors import CODES
from zaxy.plugins.manifest import FIELDS, REQUIRED, Manifest
from zaxy.settings import SETTINGS, Setting

FORMAT = 1
DISTRIBUTION = "zaxy-core"

Item = dict[str, Any]
Items = dict[str, Item]
Contract = dict[str, Any]

# Who makes the values of a model: the core hands it out, a plugin returns it, or both do.
MODEL_SIDES = {
    "core": "AsOf Batch Damage ExtractedEvent HookCommand NewLine Parcel PlannedAppend ProviderContext Query Report",
    "plugin": "Candidate ClientCapture ClientSigns EdgeRow EntityRow GraphStats HookEvent HookHandler KeyPair "
    "Observation Page Provider Reading Receipt Source Tool",
    "both": "Closing Cursor Draft Edge Entity EntityRef Event Extraction ServerEntry",
}
CONSTANTS = {
    "API_CURRENT": "tuple[int, int]",
    "API_FLOOR": "tuple[int, int]",
    "JsonObject": "Mapping[str, object]",
    "POINTS": "Mapping[str, Point]",
}
RULES_OF_VERSIONS = (
    "as_known beginning comes_last content_of earlier_ends earlier_text end_versions holds last_of open_version seen"
)
OF_LINES = "erase_payload plan_append prove_line verify_lines"
OF_FILES = "own_folder_within read_named_file read_small_json"
PROTOCOLS = ("Follower", "ClientHooks", "StoredLog", *(point.protocol for point in POINTS.values()))
EXPERIMENTAL = {"stability": "experimental", "since": "0.1"}


def live_contracts() -> dict[str, Contract]:
    """Every contract of the core by name, as the code is now."""
    described = {
        "plugin-api": _plugin_api(),
        "manifest": _manifest(),
        "settings": _items(_setting(setting) for setting in SETTINGS),
        "errors": _items(_error(code, meaning) for code, meaning in CODES.items()),
        "cli": _items(_commands()),
        "mcp-tools": _items(_tools()),
        "memory-checkout": _items(_checkout()),
        "mcp-responses": _items(_fields_of_replies("tool_fields")),
        "export-formats": _items(_export_formats()),
        "event-types": _items(_event_types()),
    }
    return {name: contract(name, DISTRIBUTION, items) for name, items in described.items()}


def plugin_contract(manifest: Manifest, package: str) -> Contract:
    """The contract of one plugin's package: what it offers, by its manifest."""
    offered = [
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
    settings = [_setting(setting) for setting in manifest.settings]
    return contract(manifest.name, package, _items([*offered, *settings, *_client_words(manifest)]))


def _client_words(manifest: Manifest) -> Iterator[tuple[str, Item]]:
    """The presets and options that a plugin's clients bring to the command line."""
    for client in manifest.clients:
        if client.preset:
            yield f"preset {client.preset}", _offered(client=client.name)
        for option in client.options:
            described = {"sets": option.sets, "choices": list(option.choices), "summary": option.help}
            yield f"option ide-config {option.flag}", _offered(**described)


def _offered(**described: Any) -> Item:
    """An item that the core offers."""
    return {"side": "core", **EXPERIMENTAL, **described}


def contract(name: str, distribution: str, items: Items) -> Contract:
    return {
        "contract": name,
        "kind": "snapshot",
        "format": FORMAT,
        "distribution": distribution,
        "api": version_text(API_CURRENT),
        "items": items,
    }


def _plugin_api() -> Items:
    groups = (_hooks(), _protocols(), _models(), _cases(), _names(), _for_clients(), _error_types(), [_memory_access()])
    return _items(chain.from_iterable(groups))


def _hooks() -> Iterator[tuple[str, Item]]:
    hookspecs = import_module("zaxy.api.hookspecs")
    for point in POINTS.values():
        hook = getattr(hookspecs, point.hook)
        yield (
            f"hook {point.hook}",
            {
                "side": "plugin",
                "stability": point.stability,
                "since": point.since,
                "summary": inspect.getdoc(hook),
                **_signature(hook),
            },
        )


def _protocols() -> Iterator[tuple[str, Item]]:
    points = {point.protocol: point for point in POINTS.values()}
    for name in PROTOCOLS:
        protocol = getattr(import_module("zaxy.api.points"), name)
        known = points.get(name)
        grade = {"stability": known.stability, "since": known.since} if known else EXPERIMENTAL
        for member, described in _members(protocol):
            yield f"method {name}.{member}", {"side": "plugin", **grade, **described}


def _memory_access() -> tuple[str, Item]:
    """What a tool pack is handed: offered by the core, so it is one item with methods to call."""
    protocol = import_module("zaxy.api.points").MemoryAccess
    methods = [{"name": name, **described} for name, described in _members(protocol)]
    return "model MemoryAccess", _offered(methods=methods)


def _members(protocol: type) -> Iterator[tuple[str, Item]]:
    for base in reversed(protocol.__mro__):
        if base.__module__ != protocol.__module__:
            continue
        for name, member in vars(base).items():
            if name.startswith("_"):
                continue
            if isinstance(member, property):
                yield name, {"property": True, **_signature(member.fget, skip=1), "summary": inspect.getdoc(member)}
            elif inspect.isfunction(member):
                yield name, {**_signature(member, skip=1), "summary": inspect.getdoc(member)}


def _models() -> Iterator[tuple[str, Item]]:
    api = import_module("zaxy.api")
    for side, names in MODEL_SIDES.items():
        for name in names.split():
            model = getattr(api, name)
            yield f"model {name}", {"side": side, **EXPERIMENTAL, "fields": _fields(model)}


def _cases() -> Iterator[tuple[str, Item]]:
    """The cases that authors build for the conformance suites."""
    for point in POINTS.values():
        checks = import_module(f"zaxy.api.checks.{point.name}")
        name = f"{point.protocol}Case"
        yield f"case {name}", {"side": "plugin", **EXPERIMENTAL, "fields": _fields(getattr(checks, name))}


def _names() -> Iterator[tuple[str, Item]]:
    """What `zaxy.api` offers besides: the marker of hook implementations, how names match, and plain values."""
    yield "function hookimpl", _offered(summary="Marks a function as a hook's implementation.")
    fold = import_module("zaxy.api").folded_name
    yield "function folded_name", _offered(summary=inspect.getdoc(fold), **_signature(fold))
    for name, kind in CONSTANTS.items():
        yield f"constant {name}", _offered(type=kind)
    yield from _rules_of_versions()
    for name in f"{OF_LINES} {OF_FILES}".split():
        signature = _signature(getattr(import_module("zaxy.api"), name))
        yield f"function {name}", {"side": "core", **EXPERIMENTAL, "since": "0.3", **signature}


def _rules_of_versions() -> Iterator[tuple[str, Item]]:
    """What a graph asks which of its rows open, end and hold."""
    versions = import_module("zaxy.api.versions")
    yield "model Version", {"side": "both", **EXPERIMENTAL, "fields": _fields(versions.Version)}
    for name in RULES_OF_VERSIONS.split():
        yield f"function {name}", _offered(**_signature(getattr(versions, name)))


def _error_types() -> Iterator[tuple[str, Item]]:
    errors = import_module("zaxy.errors")
    for name, kind in vars(errors).items():
        if inspect.isclass(kind) and issubclass(kind, errors.ZaxyError) and not name.startswith("_"):
            yield f"function {name}", _offered(**_signature(kind.__init__, skip=1))


def _for_clients() -> Iterator[tuple[str, Item]]:
    """What an author of a client builds on: the class to fill in, the hooks in JSON, and the editors of texts."""
    client, hooks = (import_module(f"zaxy.api.{module}") for module in ("clients", "client_hooks"))
    annotations = inspect.get_annotations(client.FileClient)
    fields = [
        {"name": name, "type": kind, "required": not hasattr(client.FileClient, name)}
        for name, kind in annotations.items()
    ]
    methods = [{"name": name, **described} for name, described in _members(client.FileClient)]
    yield "model FileClient", _offered(fields=fields, methods=methods)
    yield "model JsonHooks", _offered(fields=_fields(hooks.JsonHooks))
    yield "function server_entry", _offered(**_signature(client.server_entry))
    for part in ("json", "lines", "toml"):
        module = import_module(f"zaxy.api.edit.{part}")
        for name, member in vars(module).items():
            if inspect.isfunction(member) and member.__module__ == module.__name__ and not name.startswith("_"):
                yield f"function edit.{part}.{name}", _offered(**_signature(member))


def _manifest() -> Items:
    return _items(
        (
            f"field {place}.{field.key}" if place else f"field {field.key}",
            {
                "side": "plugin",
                **EXPERIMENTAL,
                "type": field.kind,
                "required": field.default is REQUIRED,
                "summary": field.meaning,
            },
        )
        for place, fields in FIELDS.items()
        for field in fields
    )


def _setting(setting: Setting) -> tuple[str, Item]:
    bounds = {} if setting.bounds is None else {"bounds": list(setting.bounds)}
    return (
        f"setting {setting.env}",
        {
            "side": "core",
            "stability": setting.stability,
            "since": setting.since,
            "type": setting.kind,
            "default": list(setting.default) if isinstance(setting.default, tuple) else setting.default,
            "secret": setting.secret,
            "workspace": setting.in_workspace,
            **bounds,
            "summary": setting.meaning,
        },
    )


def _error(code: str, meaning: str) -> tuple[str, Item]:
    return f"error {code}", _offered(summary=meaning)


def _checkout() -> Iterator[tuple[str, Item]]:
    """The fields of a checkout, the sections of its prompt, and two of its verdicts worked out."""
    replies = import_module("zaxy.contracts.replies")
    yield from _fields_of_replies("checkout_fields")
    for heading in replies.checkout_sections():
        yield f"section {heading}", _offered()
    for case, quality in replies.worked_qualities().items():
        yield f"quality {case}", _offered(quality=quality)


def _fields_of_replies(of: str) -> Iterator[tuple[str, Item]]:
    kinds: dict[str, list[str]] = {}
    for path, kind in getattr(import_module("zaxy.contracts.replies"), of)():
        kinds[path] = sorted({*kinds.get(path, []), kind})
    return ((f"field {path}", _offered(type=" or ".join(kind))) for path, kind in kinds.items())


def _export_formats() -> Iterator[tuple[str, Item]]:
    """The shapes of bundles with their versions and fields, and the axes of a selector."""
    formats = import_module("zaxy.contracts.formats")
    for shape, version in formats.versions().items():
        yield f"version {shape}", _offered(value=version)
    for field, kinds in formats.fields_of_bundles().items():
        yield f"field {field}", _offered(type=" or ".join(sorted(kinds)))
    for axis, described in formats.axes().items():
        yield f"axis {axis}", _offered(**described)


def _event_types() -> Iterator[tuple[str, Item]]:
    """Events of reserved types are Zaxy's own; the others are written by anybody."""
    for name, described in import_module("zaxy.contracts.event_types").described_types():
        yield name, {"side": "core" if described["reserved"] else "both", **EXPERIMENTAL, **described}


def _tools() -> Iterator[tuple[str, Item]]:
    """The MCP tools of the core, each with its whole input schema, argument by argument."""
    catalog = import_module("zaxy.serve.catalog")
    for served in catalog.own_tools():
        schema = served.tool.input_schema
        parameters = [
            {"name": name, "required": name in schema.get("required", ()), "schema": kind}
            for name, kind in sorted(schema["properties"].items())
        ]
        described = _offered(
            summary=served.tool.description,
            parameters=parameters,
            additional_arguments=schema["additionalProperties"],
            profiles=list(served.tool.profiles),
            annotations=catalog.hints_of(served.tool),
            admin_in_production=served.needs_admin,
        )
        yield f"tool {served.tool.name}", described


def _commands() -> Iterator[tuple[str, Item]]:
    for command in import_module("zaxy.__main__").COMMANDS:
        module = import_module(command.module)
        if command.hot:
            parameters = list(getattr(getattr(module, command.hot), "parameters", ()) or module.PARAMETERS)
        else:
            parameters = list(_typer_parameters(module.app, command.words.split()[-1]))
        yield f"command {command.words}", _offered(parameters=parameters, summary=command.summary)


def _typer_parameters(app: Any, name: str) -> Iterator[Item]:
    """The parameters of one command of a typer app, read off its function rather than typer's insides."""
    function = next(command.callback for command in app.registered_commands if command.name == name)
    hints = get_type_hints(function, include_extras=True)
    for parameter in inspect.signature(function).parameters.values():
        kind, declared = get_args(hints[parameter.name])
        if getattr(declared, "rich_help_panel", None):
            continue  # a package brings it, and its contract has it
        # typer.Option("--json") keeps its first word where a default would be.
        words = [word for word in (declared.default, *(declared.param_decls or ())) if isinstance(word, str)]
        shown = next((word for word in words if word.startswith("--")), parameter.name.upper())
        described = " | ".join(part.__name__ for part in get_args(kind) or (kind,) if part is not type(None))
        yield {"name": shown, "type": described, "required": parameter.default is inspect.Parameter.empty}


def _signature(function: Any, skip: int = 0) -> Item:
    signature = inspect.signature(function)
    parameters = [
        {"name": p.name, "type": str(p.annotation), "required": p.default is inspect.Parameter.empty}
        for p in list(signature.parameters.values())[skip:]
    ]
    return {"parameters": parameters, "returns": str(signature.return_annotation)}


def _fields(model: Any) -> list[Item]:
    if not dataclasses.is_dataclass(model):  # a named tuple
        annotations = inspect.get_annotations(model)
        return [{"name": n, "type": str(t), "required": n not in model._field_defaults} for n, t in annotations.items()]
    return [
        {
            "name": field.name,
            "type": str(field.type),
            "required": field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING,
        }
        for field in dataclasses.fields(model)
    ]


def _items(pairs: Iterable[tuple[str, Item]]) -> Items:
    return dict(sorted(pairs))
