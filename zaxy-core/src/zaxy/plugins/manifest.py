"""`zaxy-plugin.json`, in which a plugin describes itself. It is read and checked without importing the plugin."""

from __future__ import annotations

import os

from zaxy.api.catalog import API_CURRENT, HOOK_FIELDS, POINTS, STABILITIES, version_text
from zaxy.errors import ZaxyError
from zaxy.plugins.discovery import locate
from zaxy.security.small_files import parsed_json, read_named_file
from zaxy.settings import KINDS, SETTINGS, Setting, parse
from zaxy.tuples import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

FILE_NAME = "zaxy-plugin.json"
REQUIRED = ...
FORMAT = 1
CLIENTS_POINT = "ide_config_writers"
NEEDS = ("network", "server", "secret")
NAME_RULE = "lower-case letters, digits and single hyphens, at most 64 characters"


class Provided(NamedTuple):
    point: str
    name: str
    stability: str
    capabilities: tuple[str, ...]


class ClientOption(NamedTuple):
    """An option of `zaxy ide-config` that a client brings."""

    client: str
    flag: str
    sets: str
    """`scope`: its value is the scope to write; `path`: the file to write; `trust`: a switch, needed for `project`."""
    choices: tuple[str, ...]
    help: str


class ClientFacts(NamedTuple):
    """What is known of a client without its code: for help texts, for reading options, and for `zaxy hook-event`."""

    name: str
    preset: str
    options: tuple[ClientOption, ...]
    hook_json: tuple[tuple[str, tuple[str, ...]], ...]
    """Where its hooks' JSON says what, before the places of `HOOK_FIELDS`."""


class Manifest(NamedTuple):
    name: str
    summary: str
    api_min: tuple[int, int]
    api_max: tuple[int, int]
    provides: tuple[Provided, ...]
    settings: tuple[Setting, ...]
    needs: tuple[str, ...]
    unknown_keys: tuple[str, ...]
    """Keys that this version does not know. They are ignored, and `zaxy plugins check` reports them."""
    clients: tuple[ClientFacts, ...] = ()

    @property
    def points(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(provided.point for provided in self.provides))

    @property
    def api(self) -> str:
        low, high = version_text(self.api_min), version_text(self.api_max)
        return low if low == high else f"{low} to {high}"


class ManifestField(NamedTuple):
    key: str
    kind: str
    check: Callable[[object], Any]
    meaning: str
    default: object = REQUIRED


class ManifestError(Exception):
    """The manifest is missing or malformed. The message says where."""


def read_manifest(module: str, package: str) -> Manifest:
    """The manifest at the root of the package that holds `module`, announced by the distribution `package`."""
    parent = module.rpartition(".")[0] or module
    try:
        spec = locate(parent)
    except Exception as error:  # a broken import hook must not stop the listing
        raise ManifestError(f"looking for the package {parent} failed: {error!r}") from None
    if spec is None or not spec.submodule_search_locations:
        raise ManifestError(f"the package {parent} that it announces is not installed")
    for folder in spec.submodule_search_locations:
        path = os.path.join(folder, FILE_NAME)
        try:
            data = read_named_file(path)
        except (FileNotFoundError, NotADirectoryError):
            get_data = getattr(spec.loader, "get_data", None)  # a package inside a zip
            try:
                data = get_data(path) if get_data else b""
            except OSError:
                continue
        except OSError as error:
            raise ManifestError(f"{FILE_NAME} cannot be read: {error.strerror}") from None
        if data:
            return parse_manifest(data, package)
    raise ManifestError(f"the package {parent} has no {FILE_NAME}")


def parse_manifest(data: bytes, package: str) -> Manifest:
    try:
        manifest = parsed_json(data)
    except ValueError as error:
        raise ManifestError(f"{FILE_NAME} is not JSON: {error}") from None
    header, rest = _fields(manifest, "", HEADER)
    api, api_rest = _fields(header["api"], "api", API)
    if header["manifest"] != FORMAT:
        raise ManifestError(f"{FILE_NAME}: 'manifest' must be {FORMAT}, the only format this zaxy-core reads")
    if api["min"] > api["max"]:
        raise ManifestError(
            f"{FILE_NAME}: api.min {version_text(api['min'])} is above api.max {version_text(api['max'])}"
        )
    known = (header["name"], header["summary"], api["min"], api["max"])
    if api["min"] > API_CURRENT:
        # It was written for a later core, so this one may not understand the rest.
        return Manifest(*known, (), (), (), ())
    body, rest = _fields(rest, "", BODY)
    unknown = set(rest) | {f"api.{key}" for key in api_rest}
    provides = tuple(_provided(item, f"provides[{i}]", unknown) for i, item in enumerate(body["provides"]))
    if not provides:
        raise ManifestError(f"{FILE_NAME}: 'provides' is empty; name at least one extension point")
    twice = [p for i, p in enumerate(provides) if (p.point, p.name) in {(q.point, q.name) for q in provides[:i]}]
    if twice:
        raise ManifestError(f"{FILE_NAME}: it provides {twice[0].name!r} twice at {twice[0].point}")
    settings = tuple(_setting(item, f"settings[{i}]", package, unknown) for i, item in enumerate(body["settings"]))
    clients = tuple(_client(item, f"clients[{i}]", provides, unknown) for i, item in enumerate(body["clients"]))
    return Manifest(*known, provides, settings, tuple(body["needs"]), tuple(sorted(unknown)), clients)


def _provided(item: object, where: str, unknown: set[str]) -> Provided:
    fields, rest = _fields(item, where, PROVIDES)
    unknown |= {f"{where}.{key}" for key in rest}
    return Provided(fields["point"], fields["name"], fields["stability"], tuple(fields["capabilities"]))


def _client(item: object, where: str, provides: tuple[Provided, ...], unknown: set[str]) -> ClientFacts:
    fields, rest = _fields(item, where, CLIENT)
    unknown |= {f"{where}.{key}" for key in rest}
    if not any((provided.point, provided.name) == (CLIENTS_POINT, fields["name"]) for provided in provides):
        raise ManifestError(f"{FILE_NAME}: {where}.name {fields['name']!r} is not among its {CLIENTS_POINT}")
    word = fields["name"].partition("-")[0]  # an option that is named after its client cannot take another's place
    if fields["preset"] and not fields["preset"].startswith("local-"):
        raise ManifestError(f"{FILE_NAME}: {where}.preset must begin with local-")
    options = []
    for number, option in enumerate(fields["options"]):
        values, more = _fields(option, f"{where}.options[{number}]", OPTION)
        unknown |= {f"{where}.options[{number}].{key}" for key in more}
        if not values["flag"].startswith(f"--{word}-"):
            raise ManifestError(f"{FILE_NAME}: {where}.options[{number}].flag must begin with --{word}-")
        options.append(ClientOption(fields["name"], *(values[field.key] for field in OPTION)))
    return ClientFacts(fields["name"], fields["preset"], tuple(options), fields["hook_json"])


def _setting(item: object, where: str, package: str, unknown: set[str]) -> Setting:
    fields, rest = _fields(item, where, SETTING)
    unknown |= {f"{where}.{key}" for key in rest}
    setting = Setting(
        fields["env"],
        fields["type"],
        fields["default"],
        fields["meaning"],
        secret=fields["secret"],
        in_workspace=fields["workspace"],
        stability=fields["stability"],
        owner=package,
    )
    if any(setting.env == core.env for core in SETTINGS):
        raise ManifestError(f"{FILE_NAME}: {where}.env {setting.env} is a setting of the core")
    if setting.default is None:
        return setting
    if setting.secret:
        raise ManifestError(f"{FILE_NAME}: {where}.default must be absent: a secret has none")
    try:
        parsed = parse(setting, setting.default)
    except ZaxyError as error:
        raise ManifestError(f"{FILE_NAME}: {where}.default: {error}") from None
    # The default of a path stays as written: `~` is another folder on another machine.
    return setting if setting.kind == "path" else setting._replace(default=parsed)


def _fields(value: object, where: str, fields: tuple[ManifestField, ...]) -> tuple[dict[str, Any], dict[str, object]]:
    """The checked values of the known fields of an object, and its other fields."""
    if not isinstance(value, dict):
        raise ManifestError(f"{FILE_NAME}: {where or 'the file'} must be an object")
    dot = f"{where}." if where else ""
    rest = dict(value)
    taken = {}
    for field in fields:
        if field.key not in rest and field.default is REQUIRED:
            raise ManifestError(f"{FILE_NAME}: {dot}{field.key} is missing")
        try:
            taken[field.key] = field.check(rest.pop(field.key, field.default))
        except ManifestError as error:
            raise ManifestError(f"{FILE_NAME}: {dot}{field.key} {error}") from None
    return taken, rest


def _anything(value: object) -> object:
    return value


def _integer(value: object) -> int:
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    raise ManifestError("must be an integer")


def _boolean(value: object) -> bool:
    if isinstance(value, bool):
        return value
    raise ManifestError("must be true or false")


def _text(value: object) -> str:
    if isinstance(value, str) and value.strip():
        return value.strip()
    raise ManifestError("must be a text that is not empty")


def _list(value: object) -> list[object]:
    if isinstance(value, list):
        return value
    raise ManifestError("must be a list")


def _name(value: object) -> str:
    if isinstance(value, str) and is_name(value):
        return value
    raise ManifestError(f"must be a name ({NAME_RULE})")


def _names(value: object) -> list[str]:
    return [_name(item) for item in _list(value)]


def _name_or_nothing(value: object) -> str:
    return "" if value == "" else _name(value)


def _flag(value: object) -> str:
    if isinstance(value, str) and value.startswith("--") and is_name(value[2:]):
        return value
    raise ManifestError("must be an option such as --acme-config")


def _texts(value: object) -> tuple[str, ...]:
    return tuple(_text(item) for item in _list(value))


def _places(value: object) -> tuple[tuple[str, tuple[str, ...]], ...]:
    if not isinstance(value, dict):
        raise ManifestError("must be an object")
    for field in value:
        if field not in HOOK_FIELDS:
            raise ManifestError(f"has {field!r:.40}; the fields are {', '.join(HOOK_FIELDS)}")
    return tuple((field, _texts(places)) for field, places in value.items())


def _env(value: object) -> str:
    plain = isinstance(value, str) and value.replace("_", "").isalnum() and value.isascii()
    if isinstance(value, str) and plain and value == value.upper() and not value[0].isdigit():
        return value
    raise ManifestError("must be the name of an environment variable, such as ACME_NOTES_FOLDER")


def _needs(value: object) -> list[str]:
    return [_one_of(NEEDS)(item) for item in _list(value)]


def _version(value: object) -> tuple[int, int]:
    parts = value.split(".") if isinstance(value, str) else []
    if len(parts) == 2 and all(part.isdecimal() and part.isascii() and len(part) < 6 for part in parts):
        return (int(parts[0]), int(parts[1]))
    raise ManifestError('must be a pair such as "0.1"')


def _one_of(choices: tuple[str, ...]) -> Callable[[object], str]:
    def check(value: object) -> str:
        if isinstance(value, str) and value in choices:
            return value
        raise ManifestError(f"must be one of {', '.join(choices)}")

    return check


def is_name(text: str) -> bool:
    parts = text.split("-")
    return len(text) <= 64 and all(p and p.isascii() and p.isalnum() and p == p.lower() for p in parts)


HEADER = (
    ManifestField("manifest", "integer", _integer, "The format of this file: 1."),
    ManifestField("name", "name", _name, "The plugin's name, as its entry point announces it."),
    ManifestField("summary", "text", _text, "What it is for, in a sentence."),
    ManifestField("api", "object", _anything, "The plugin API that it was written for."),
)
API = (
    ManifestField("min", "version", _version, "The lowest plugin API it works with."),
    ManifestField("max", "version", _version, "The highest plugin API it was tested with."),
)
BODY = (
    ManifestField("provides", "list", _list, "The providers that its hooks offer."),
    ManifestField("settings", "list", _list, "The settings that it reads.", []),
    ManifestField("needs", "list of network, server, secret", _needs, "What must be there for it to work.", []),
    ManifestField("clients", "list", _list, "What must be known of its clients before their code is imported.", []),
)
CLIENT = (
    ManifestField("name", "name", _name, "The client, one of its `ide_config_writers`."),
    ManifestField(
        "preset", "name", _name_or_nothing, "The preset of `zaxy init` that sets it up, such as `local-acme`.", ""
    ),
    ManifestField("options", "list", _list, "The options that it brings to `zaxy ide-config`.", []),
    ManifestField(
        "hook_json", "object of lists", _places, "Where the JSON of its hooks says what, as dotted paths.", {}
    ),
)
OPTION = (
    ManifestField("flag", "option", _flag, "The option, such as `--acme-config`."),
    ManifestField("sets", "scope, path or trust", _one_of(("scope", "path", "trust")), "What it sets."),
    ManifestField("choices", "list of texts", _texts, "The values that it takes.", []),
    ManifestField("help", "text", _text, "What it does, for the help."),
)
PROVIDES = (
    ManifestField("point", "extension point", _one_of(tuple(POINTS)), "The extension point."),
    ManifestField("name", "name", _name, "The provider's name at that point."),
    ManifestField("stability", "stability", _one_of(STABILITIES), "stable, beta or experimental.", "experimental"),
    ManifestField("capabilities", "list of names", _names, "Optional abilities that the point knows.", []),
)
SETTING = (
    ManifestField("env", "environment variable", _env, "The environment variable."),
    ManifestField("type", "setting type", _one_of(KINDS), ", ".join(KINDS) + ".", "string"),
    ManifestField("default", "any", _anything, "The value when nothing is set.", None),
    ManifestField("meaning", "text", _text, "What it does, in a sentence."),
    ManifestField(
        "secret", "boolean", _boolean, "Masked in listings, and readable from the file that <env>_FILE names.", False
    ),
    ManifestField(
        "workspace",
        "boolean",
        _boolean,
        "Whether a workspace's own file may set it: only what can reach no network, key, path, program or gate.",
        False,
    ),
    ManifestField("stability", "stability", _one_of(STABILITIES), "stable, beta or experimental.", "experimental"),
)
FIELDS = {
    "": (*HEADER, *BODY),
    "api": API,
    "provides[]": PROVIDES,
    "settings[]": SETTING,
    "clients[]": CLIENT,
    "clients[].options[]": OPTION,
}
"""All fields of the manifest, by the object that holds them. This is the manifest's contract."""
