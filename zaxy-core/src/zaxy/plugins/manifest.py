"""`zaxy-plugin.json`, in which a plugin describes itself. It is read and checked without importing the plugin."""

from __future__ import annotations

from zaxy.api.catalog import API_CURRENT, version_text
from zaxy.api.event_types import EventType
from zaxy.errors import ZaxyError
from zaxy.plugins.manifest_fields import (
    API,
    BODY,
    CLIENT,
    EVENT_TYPE,
    HEADER,
    LANE,
    OPTION,
    PROVIDES,
    PURPOSE,
    PURPOSES,
    REQUIRED,
    SETTING,
    ManifestField,
)
from zaxy.plugins.package_files import ManifestError as ManifestError, read_package_file
from zaxy.security.small_files import parsed_json
from zaxy.settings import SETTINGS, Setting, parse
from zaxy.tuples import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

FILE_NAME = "zaxy-plugin.json"
FORMAT = 1
CLIENTS_POINT, LANES_POINT, COMMANDS_POINT = "ide_config_writers", "retrieval_lanes", "commands"
ROUTES_POINT = "http_routes"
FAMILIES_POINT = "event_types"


class LaneFacts(NamedTuple):
    """What a retrieval lane says of itself. The core bounds it, and the user may give it another weight."""

    weight: float = 0.5
    budget_ms: int = 500
    scale: str = ""
    """What its scores are; empty if only their order among each other says anything, and their proportions."""


ANY_LANE = LaneFacts()


class Provided(NamedTuple):
    point: str
    name: str
    stability: str
    capabilities: tuple[str, ...]
    target: str = ""
    """`package.module:Class`; empty where a hook names it."""
    summary: str = ""
    install_hint: str = ""
    words: str = ""
    """What is typed for a command, behind `zaxy`."""
    group: str = ""
    """The heading under which the help lists a command."""
    lane: LaneFacts | None = None
    paths: tuple[str, ...] = ()
    """The paths of the HTTP server that routes answer, with all that lies below them."""

    def as_dict(self) -> dict[str, object]:
        """What a listing shows of it."""
        shown = {key: getattr(self, key) for key in ("point", "name", "stability", "capabilities")}
        more = {"words": self.words, "paths": self.paths}
        return {**shown, **{key: value for key, value in more.items() if value}}


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


class PurposeFacts(NamedTuple):
    """A preset for the purpose of a checkout. It is data: its package is never imported for it."""

    name: str
    recall_floor: int
    scoring_profile: str
    evidence_policy: str
    suppresses: tuple[str, ...]
    terms: tuple[str, ...]
    emphases: tuple[tuple[str, float], ...]
    """What each kind of row gains."""
    floors: tuple[tuple[str, float], ...]


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
    secret_shapes: str = ""
    """The file beside the manifest that has its rows of secret shapes."""
    purposes: tuple[PurposeFacts, ...] = ()
    contract: str = ""
    """`package.module:function`, which gives what the package promises beside this."""
    event_types: tuple[EventType, ...] = ()
    """The types of the families that it owns."""

    @property
    def claims(self) -> list[tuple[str, str]]:
        """The names that it lays claim to, each with its point."""
        return [(one.point, one.name) for one in self.provides] + [(PURPOSES, one.name) for one in self.purposes]

    @property
    def points(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(provided.point for provided in self.provides))

    @property
    def api(self) -> str:
        low, high = version_text(self.api_min), version_text(self.api_max)
        return low if low == high else f"{low} to {high}"


def read_manifest(module: str, package: str) -> Manifest:
    """The manifest at the root of the package that holds `module`, announced by the distribution `package`."""
    return parse_manifest(read_package_file(module, FILE_NAME), package)


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
    if not provides and not body["secret_shapes"] and not body["purposes"]:
        raise ManifestError(f"{FILE_NAME}: 'provides' is empty; name at least one extension point")
    twice = [p for i, p in enumerate(provides) if (p.point, p.name) in {(q.point, q.name) for q in provides[:i]}]
    if twice:
        raise ManifestError(f"{FILE_NAME}: it provides {twice[0].name!r} twice at {twice[0].point}")
    settings = tuple(_setting(item, f"settings[{i}]", package, unknown) for i, item in enumerate(body["settings"]))
    clients = tuple(_client(item, f"clients[{i}]", provides, unknown) for i, item in enumerate(body["clients"]))
    more = {
        "needs": tuple(body["needs"]),
        "clients": clients,
        "secret_shapes": body["secret_shapes"],
        "purposes": _purposes(body["purposes"], unknown),
        "contract": body["contract"],
        "event_types": _event_types(body["event_types"], provides, unknown),
    }
    return Manifest(*known, provides, settings, unknown_keys=tuple(sorted(unknown)), **more)


def _provided(item: object, where: str, unknown: set[str]) -> Provided:
    fields, rest = _fields(item, where, PROVIDES)
    unknown |= {f"{where}.{key}" for key in rest}
    is_command = fields["point"] == COMMANDS_POINT
    name = fields["name"] or fields["words"].replace(" ", "-")
    if not name:
        raise ManifestError(f"{FILE_NAME}: {where}.name is missing")
    for key in ("words", "target", "summary"):
        if is_command and not fields[key]:
            raise ManifestError(f"{FILE_NAME}: {where}.{key} is missing: help lists a command without its code")
    for key in ("words", "group"):
        if fields[key] and not is_command:
            raise ManifestError(f"{FILE_NAME}: {where}.{key} is only for {COMMANDS_POINT}")
    if bool(fields["paths"]) != (fields["point"] == ROUTES_POINT):
        raise ManifestError(f"{FILE_NAME}: {where}.paths is for {ROUTES_POINT}, which must have it")
    if fields["target"] and not fields["summary"]:
        raise ManifestError(f"{FILE_NAME}: {where}.summary is missing beside its target")
    return Provided(
        fields["point"],
        name,
        fields["stability"],
        tuple(fields["capabilities"]),
        *(fields[key] for key in ("target", "summary", "install_hint", "words", "group")),
    )._replace(lane=_lane(fields, where, unknown), paths=fields["paths"])


def _lane(fields: dict[str, Any], where: str, unknown: set[str]) -> LaneFacts | None:
    """What a retrieval lane says of itself; None where nothing is said."""
    if fields["lane"] is None:
        return None
    if fields["point"] != LANES_POINT:
        raise ManifestError(f"{FILE_NAME}: {where}.lane is only for {LANES_POINT}")
    values, rest = _fields(fields["lane"], f"{where}.lane", LANE)
    unknown |= {f"{where}.lane.{key}" for key in rest}
    return LaneFacts(*(values[field.key] for field in LANE))


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


def _purposes(items: list[object], unknown: set[str]) -> tuple[PurposeFacts, ...]:
    if not items:
        return ()
    from zaxy.plugins.purpose_check import misfit_of, misfit_of_all

    purposes = []
    for number, item in enumerate(items):
        where = f"purposes[{number}]"
        fields, rest = _fields(item, where, PURPOSE)
        unknown |= {f"{where}.{key}" for key in rest}
        purposes.append(PurposeFacts(*(fields[field.key] for field in PURPOSE)))
        if misfit := misfit_of(purposes[-1]):
            raise ManifestError(f"{FILE_NAME}: {where}.{misfit}")
    if misfit := misfit_of_all(purposes):
        raise ManifestError(f"{FILE_NAME}: {misfit}")
    return tuple(purposes)


def _event_types(items: list[object], provides: tuple[Provided, ...], unknown: set[str]) -> tuple[EventType, ...]:
    families = [provided.name for provided in provides if provided.point == FAMILIES_POINT]
    if not items and not families:
        return ()
    from zaxy.plugins.event_type_check import families_misfit, misfit_of

    types = []
    for number, item in enumerate(items):
        where = f"event_types[{number}]"
        fields, rest = _fields(item, where, EVENT_TYPE)
        unknown |= {f"{where}.{key}" for key in rest}
        types.append(EventType(*(fields[field.key] for field in EVENT_TYPE)))
        if misfit := misfit_of(types[-1]):
            raise ManifestError(f"{FILE_NAME}: {where}.{misfit}")
    if misfit := families_misfit(families, types):
        raise ManifestError(f"{FILE_NAME}: {misfit}")
    return tuple(types)


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
