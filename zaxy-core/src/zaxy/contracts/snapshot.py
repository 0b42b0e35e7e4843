"""The live contracts: every public surface described as data, read off the code itself.

The surfaces are named by strings and resolved when this runs, so nothing here depends on what it describes.
"""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable, Collection, Iterable, Iterator
from importlib import import_module
from itertools import chain
from types import ModuleType
from typing import Any

from zaxy.api.catalog import ABILITIES, API_CURRENT, POINTS, version_text
from zaxy.contracts.sample_memory import naming, without_settings
from zaxy.errors import CODES
from zaxy.plugins.kit import part_of_kit
from zaxy.plugins.manifest_fields import FIELDS, REQUIRED
from zaxy.settings import SETTINGS, Setting

FORMAT = 1
DISTRIBUTION = "zaxy-core"
KIT = "plugins/testkit"
"""The contract of the author kit, whose items a pin names too."""

Item = dict[str, Any]
Items = dict[str, Item]
Contract = dict[str, Any]

# Who makes the values of a model: the core hands it out, a plugin returns it, or both do.
MODEL_SIDES = {
    "core": "AsOf Batch Checkup Damage ExportRow ExtractedEvent FollowerFindings FollowerState HookCommand HttpRequest "
    "ImportReceipt NewLine Parcel PlannedAppend Position ProviderContext Query Report Signer",
    "plugin": "Argument Candidate ClientCapture ClientSigns EdgeRow EntityRow Finding ForeignEvent GraphStats "
    "HookEvent HookHandler HttpRefusal HttpResponse KeyFiles KeyPair Observation Option Page Prompt PromptArgument "
    "PromptMessage Provider Reading Receipt Resource ResourceContent Source Tool",
    "both": "Citation Closing Cursor Draft Edge Entity EntityRef Event Extraction Identity ServerEntry",
}
CONSTANTS = {
    "API_CURRENT": "tuple[int, int]",
    "API_FLOOR": "tuple[int, int]",
    "BOLD": "str",
    "DEFAULT_ALGORITHM": "str",
    "DIM": "str",
    "EVENT": "str",
    "JSON": "Option",
    "JsonObject": "Mapping[str, object]",
    "KINDS": "Mapping[str, Kind]",
    "KNOWN_TYPES": "Mapping[str, tuple[str, str]]",
    "MAX_ANSWERS": "int",
    "MAX_DEPTH": "int",
    "MAX_INTEGER": "int",
    "PLACE": "tuple[Option, ...]",
    "POINTS": "Mapping[str, Point]",
    "PROFILES": "Mapping[str, Profile]",
    "PURPOSE": "Option",
    "SENSITIVITIES": "tuple[str, ...]",
    "SESSION_ID": "Option",
}
RULES_OF_VERSIONS = (
    "as_known beginning comes_last content_of earlier_ends earlier_text end_versions holds last_of open_version seen"
)
ANSWERS = (
    "Answer Bootstrap Capabilities Checkout CommandCall Context Erasure Quality RecordedTurn Result SubagentCleanup"
    " SynthesisRecord"
)
"""What the methods of `MemoryAccess` answer with, and what a command is called with."""
OF_LINES = "erase_payload plan_append prove_line verify_lines"
OF_REPLIES = "appended cited_for count_tokens cursor_text position_of short_citation with_short_citations"
OF_HTTP = "json_response sse_chunk"
OF_TEXTS = "after_damage install_hint passages_of without_private"
OF_FILES = "make_folder_for own_folder_within read_named_file read_small_json"
OF_COMMANDS = (
    "bootstrap_page capabilities_page checkout_page event_meant event_page event_reply given_text history_page "
    "hot_command judgement_page kind_of moment near_type one_line parent_session pass_on payload_of_kind plain "
    "print_page print_rows purpose_of query_page row_page rows_page say say_wrapped stats_of stats_page "
    "verbatim_page wrapped"
)
OF_EDITS = "bytes_in hunks_of lines_in numbers_of_edit whole_file"
OF_EXPORTS = (
    "atomic_file canonical_json canonical_object extract open_named_file parse_citation shown signing_algorithms "
    "utc_now utc_text"
)
OF_KEYS = "is_signature opened read_key read_passphrase read_private signer_of"
OF_PACKAGES = "as_package purpose_profile read_sealed write_sealed"
OPTIONS = "AsJson EventloomPath SessionId WorkspaceFolder"
PROTOCOLS = ("ClientHooks", "StoredLog", *ABILITIES.values(), *(point.protocol for point in POINTS.values()))
EXPERIMENTAL = {"stability": "experimental", "since": "0.1"}


def live_contracts(only: Collection[str] | None = None) -> dict[str, Contract]:
    """Every contract of the core by name, or only some of them, as the code is now."""
    described: dict[str, Callable[[], Items]] = {
        "plugin-api": _plugin_api,
        "manifest": _manifest,
        "settings": lambda: items_of(setting_item(setting) for setting in SETTINGS),
        "errors": lambda: items_of(_error(code, meaning) for code, meaning in CODES.items()),
        "cli": lambda: items_of(_commands()),
        "mcp-tools": lambda: items_of(_tools()),
        "memory-checkout": lambda: items_of(_checkout()),
        "mcp-responses": lambda: items_of(_fields_of_replies("tool_fields")),
        "event-types": lambda: items_of(_event_types()),
        "python": lambda: items_of(_python_names()),
    }
    contracts = {}
    for name, describe in described.items():
        if only is None or name in only:
            with naming(f"the contract {name}"), without_settings():
                contracts[name] = contract(name, DISTRIBUTION, describe())
    return contracts


def offered(**described: Any) -> Item:
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
    groups = (_hooks(), _protocols(), _models(), _names(), _for_clients(), _error_types(), _memory_access())
    return items_of(chain(_for_tools(), _for_synthesis(), *groups))


def _hooks() -> Iterator[tuple[str, Item]]:
    hookspecs = import_module("zaxy.api.hookspecs")
    for point in POINTS.values():
        with naming(f"hook {point.hook}"):
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


def _memory_access() -> Iterator[tuple[str, Item]]:
    """What packages are handed: offered by the core, so each is one item, with methods to call and what they answer."""
    api = import_module("zaxy.api")
    for name in ("LogAccess", "MemoryAccess", "Terminal", "TyperCommand"):
        methods = [{"name": member, **described} for member, described in _members(getattr(api, name))]
        yield f"model {name}", offered(methods=methods)
    for name in ANSWERS.split():
        answer = getattr(api, name)
        properties = [{"name": member, **described} for member, described in _members(answer)]
        yield f"model {name}", offered(fields=_fields(answer), methods=properties)


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
            with naming(f"model {name}"):
                fields = _fields(getattr(api, name))
            yield f"model {name}", {"side": side, **EXPERIMENTAL, "fields": fields}


def kit_items() -> Items:
    """What plugin authors use of the kit: cases to build, suites to derive from, and its command."""
    kit, commands = part_of_kit("checks"), part_of_kit("command")
    if kit is None or commands is None:
        return {}
    read = import_module("zaxy.contracts.command_lines").typer_parameters
    command = offered(parameters=list(read(commands.app, "new")))
    return items_of([*_cases(), *_suites(), *_names_of_checks(kit), ("command plugins new", command)])


def _cases() -> Iterator[tuple[str, Item]]:
    """The cases that authors build for the conformance suites."""
    for point in POINTS.values():
        name = f"{point.protocol}Case"
        case = getattr(part_of_kit(f"checks.{point.name}"), name)
        yield f"case {name}", {"side": "plugin", **EXPERIMENTAL, "fields": _fields(case)}


def _suites() -> Iterator[tuple[str, Item]]:
    """Their names alone: loading them needs pytest."""
    for name in ("PluginSuite", *(f"{point.protocol}Suite" for point in POINTS.values())):
        yield f"suite {name}", offered()


def _names_of_checks(kit: ModuleType) -> Iterator[tuple[str, Item]]:
    for name in ("Check", "Workbench"):
        yield f"model {name}", offered(fields=_fields(getattr(kit, name)))
    yield "function checks_of", offered(**_signature(kit.checks_of))


def _names() -> Iterator[tuple[str, Item]]:
    """What `zaxy.api` offers besides: the marker of hook implementations, how names match, and plain values."""
    yield "function hookimpl", offered(summary="Marks a function as a hook's implementation.")
    fold = import_module("zaxy.api").folded_name
    yield "function folded_name", offered(summary=inspect.getdoc(fold), **_signature(fold))
    yield "function current_call", offered(**_signature(import_module("zaxy.api").current_call))
    for name, kind in CONSTANTS.items():
        yield f"constant {name}", offered(type=kind)
    yield from _rules_of_versions()
    for name in f"{OF_LINES} {OF_FILES}".split():
        signature = _signature(getattr(import_module("zaxy.api"), name))
        yield f"function {name}", {"side": "core", **EXPERIMENTAL, "since": "0.3", **signature}
    for name in f"{OF_COMMANDS} {OF_EDITS} {OF_HTTP} {OF_REPLIES} {OF_TEXTS}".split():
        signature = _signature(getattr(import_module("zaxy.api"), name))
        yield f"function {name}", {"side": "core", **EXPERIMENTAL, "since": "0.4", **signature}
    yield from _names_for_exports()


def _names_for_exports() -> Iterator[tuple[str, Item]]:
    """What a package needs that writes and reads memory in a form of its own, signs, or keeps what it worked out."""
    api = import_module("zaxy.api")
    for name in f"{OF_EXPORTS} {OF_KEYS} {OF_PACKAGES}".split():
        yield f"function {name}", {**offered(**_signature(getattr(api, name))), "since": "0.4"}
    for name in OPTIONS.split():
        yield f"constant {name}", {**offered(type="an option of typer"), "since": "0.4"}
    yield "function NotCanonical", {**offered(summary=inspect.getdoc(api.NotCanonical)), "since": "0.4"}


def _for_tools() -> Iterator[tuple[str, Item]]:
    """What tools are made of: the functions of `zaxy.api.tools`, its schemas and its models."""
    tools = import_module("zaxy.api.tools")
    since = {"since": "0.4"}
    for name, member in vars(tools).items():
        if inspect.isfunction(member) and member.__module__ == tools.__name__ and not name.startswith("_"):
            yield f"function tools.{name}", offered(**since, **_signature(member))
        elif name.isupper() and name != "TYPE_CHECKING":
            value = list(member) if isinstance(member, tuple) else member
            yield f"constant tools.{name}", offered(**since, type=type(value).__name__, value=value)
    for name in ("Call", "ToolFunction"):
        yield f"model tools.{name}", offered(**since, fields=_fields(getattr(tools, name)))
    methods = [{"name": name, **described} for name, described in _members(tools.FunctionPack)]
    yield "model tools.FunctionPack", offered(**since, methods=methods)


def _for_synthesis() -> Iterator[tuple[str, Item]]:
    """What a package builds composed answers of: the models and functions of `zaxy.api.synthesis`."""
    synthesis = import_module("zaxy.api.synthesis")
    for name, member in vars(synthesis).items():
        own = getattr(member, "__module__", "") == synthesis.__name__
        if inspect.isfunction(member) and own and not name.startswith("_"):
            yield f"function synthesis.{name}", offered(since="0.4", **_signature(member))
        elif inspect.isclass(member) and own:
            yield f"model synthesis.{name}", offered(since="0.4", fields=_fields(member))
        elif name in ("OUTCOME_TYPES", "EVIDENCE_TYPES", "AUTHORITIES"):
            value = list(member) if isinstance(member, tuple) else member
            yield f"constant synthesis.{name}", offered(since="0.4", type=type(value).__name__, value=value)


def _rules_of_versions() -> Iterator[tuple[str, Item]]:
    """What a graph asks which of its rows open, end and hold."""
    versions = import_module("zaxy.api.versions")
    yield "model Version", {"side": "both", **EXPERIMENTAL, "fields": _fields(versions.Version)}
    for name in RULES_OF_VERSIONS.split():
        yield f"function {name}", offered(**_signature(getattr(versions, name)))


def _error_types() -> Iterator[tuple[str, Item]]:
    errors = import_module("zaxy.errors")
    for name, kind in vars(errors).items():
        if inspect.isclass(kind) and issubclass(kind, errors.ZaxyError) and not name.startswith("_"):
            yield f"function {name}", offered(**_signature(kind.__init__, skip=1))


def _for_clients() -> Iterator[tuple[str, Item]]:
    """What an author of a client builds on: the class to fill in, the hooks in JSON, and the editors of texts."""
    client, hooks = (import_module(f"zaxy.api.{module}") for module in ("clients", "client_hooks"))
    annotations = inspect.get_annotations(client.FileClient)
    fields = [
        {"name": name, "type": kind, "required": not hasattr(client.FileClient, name)}
        for name, kind in annotations.items()
    ]
    methods = [{"name": name, **described} for name, described in _members(client.FileClient)]
    yield "model FileClient", offered(fields=fields, methods=methods)
    yield "model JsonHooks", offered(fields=_fields(hooks.JsonHooks))
    yield "function server_entry", offered(**_signature(client.server_entry))
    for part in ("json", "lines", "toml"):
        module = import_module(f"zaxy.api.edit.{part}")
        for name, member in vars(module).items():
            if inspect.isfunction(member) and member.__module__ == module.__name__ and not name.startswith("_"):
                yield f"function edit.{part}.{name}", offered(**_signature(member))


def _manifest() -> Items:
    return items_of(
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


def setting_item(setting: Setting) -> tuple[str, Item]:
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
    return f"error {code}", offered(summary=meaning)


def _checkout() -> Iterator[tuple[str, Item]]:
    """The fields of a checkout, the sections of its prompt, and two of its verdicts worked out."""
    replies = import_module("zaxy.contracts.replies")
    yield from _fields_of_replies("checkout_fields")
    for heading in replies.checkout_sections():
        yield f"section {heading}", offered()
    for case, quality in replies.worked_qualities().items():
        yield f"quality {case}", offered(quality=quality)


def _fields_of_replies(of: str) -> Iterator[tuple[str, Item]]:
    kinds: dict[str, list[str]] = {}
    for path, kind in getattr(import_module("zaxy.contracts.replies"), of)():
        kinds[path] = sorted({*kinds.get(path, []), kind})
    return ((f"field {path}", offered(type=" or ".join(kind))) for path, kind in kinds.items())


def _event_types() -> Iterator[tuple[str, Item]]:
    """Events of reserved types are Zaxy's own; the others are written by anybody."""
    for name, described in import_module("zaxy.contracts.event_types").described_types():
        yield name, {"side": "core" if described["reserved"] else "both", **EXPERIMENTAL, **described}


def _python_names() -> Iterator[tuple[str, Item]]:
    for name, described in import_module("zaxy.contracts.python_names").described_names():
        yield name, offered(**described)


def _tools() -> Iterator[tuple[str, Item]]:
    """The MCP tools of the core, each with its whole input schema, argument by argument."""
    catalog = import_module("zaxy.serve.catalog")
    return (tool_item(served.tool) for served in catalog.own_tools())


def tool_item(tool: Any) -> tuple[str, Item]:
    schema = tool.input_schema
    parameters = [
        {"name": name, "required": name in schema.get("required", ()), "schema": kind}
        for name, kind in sorted(schema.get("properties", {}).items())
    ]
    described = offered(
        summary=tool.description,
        parameters=parameters,
        additional_arguments=schema.get("additionalProperties", True),
        profiles=list(tool.profiles),
        annotations=import_module("zaxy.serve.catalog").hints_of(tool),
        admin_in_production=tool.admin,
    )
    return f"tool {tool.name}", described


def _commands() -> Iterator[tuple[str, Item]]:
    for command, parameters in import_module("zaxy.contracts.command_lines").described_commands():
        yield f"command {command.words}", offered(parameters=parameters, summary=command.summary)


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


def items_of(pairs: Iterable[tuple[str, Item]]) -> Items:
    return dict(sorted(dict(pairs).items()))
