"""`zaxy-plugin.json`: what a plugin says of itself, read and checked without importing the plugin."""

from __future__ import annotations

import json
import os
from typing import NamedTuple, TypeVar

from zaxy.api.catalog import API_CURRENT, POINTS, STABILITIES, version_text
from zaxy.plugins.discovery import locate
from zaxy.settings import KINDS, SETTINGS, Setting, parse

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

FILE_NAME = "zaxy-plugin.json"
FORMAT = 1
NEEDS = ("network", "server", "secret")
T = TypeVar("T")
NAME_RULE = "lower-case letters, digits and single hyphens, at most 64 characters"


class Provided(NamedTuple):
    point: str
    name: str
    stability: str
    capabilities: tuple[str, ...]


class Manifest(NamedTuple):
    name: str
    summary: str
    api_min: tuple[int, int]
    api_max: tuple[int, int]
    provides: tuple[Provided, ...]
    settings: tuple[Setting, ...]
    needs: tuple[str, ...]
    unknown_keys: tuple[str, ...]
    """Keys that this version does not know: ignored, and reported by `zaxy plugins check`."""

    @property
    def points(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(provided.point for provided in self.provides))

    @property
    def api(self) -> str:
        low, high = version_text(self.api_min), version_text(self.api_max)
        return low if low == high else f"{low} to {high}"


class ManifestError(Exception):
    """The manifest is missing or malformed; the message says where."""


def read_manifest(module: str, package: str) -> Manifest:
    """The manifest at the root of the package that holds `module`, announced by the distribution `package`."""
    parent = module.rpartition(".")[0] or module
    try:
        spec = locate(parent)
    except Exception as error:  # a broken import hook of somebody else's must not stop the listing
        raise ManifestError(f"looking for the package {parent} failed: {error!r}") from None
    if spec is None or not spec.submodule_search_locations:
        raise ManifestError(f"the package {parent} that it announces is not installed")
    for folder in spec.submodule_search_locations:
        path = os.path.join(folder, FILE_NAME)
        try:
            with open(path, "rb") as file:
                data = file.read()
        except OSError:
            get_data = getattr(spec.loader, "get_data", None)  # a package inside a zip
            try:
                data = get_data(path) if get_data else b""
            except OSError:
                continue
        if data:
            return parse_manifest(data, package)
    raise ManifestError(f"the package {parent} has no {FILE_NAME}")


def parse_manifest(data: bytes, package: str) -> Manifest:
    try:
        manifest = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise ManifestError(f"{FILE_NAME} is not JSON: {error}") from None
    top = _Object(manifest, "")
    if top.take("manifest", _integer) != FORMAT:
        raise ManifestError(f"{FILE_NAME}: 'manifest' must be {FORMAT}, the only format this zaxy-core reads")
    api = _Object(top.take("api", _anything), "api")
    api_min, api_max = api.take("min", _version), api.take("max", _version)
    if api_min > api_max:
        raise ManifestError(f"{FILE_NAME}: api.min {version_text(api_min)} is above api.max {version_text(api_max)}")
    name, summary = top.take("name", _name), top.take("summary", _text)
    if api_min > API_CURRENT:
        # Written for a later core, so the rest may well say things that this one cannot understand.
        return Manifest(name, summary, api_min, api_max, (), (), (), ())
    provides = tuple(_provided(item, f"provides[{i}]") for i, item in enumerate(top.take("provides", _list)))
    if not provides:
        raise ManifestError(f"{FILE_NAME}: 'provides' is empty; name at least one extension point")
    twice = [p for i, p in enumerate(provides) if (p.point, p.name) in {(q.point, q.name) for q in provides[:i]}]
    if twice:
        raise ManifestError(f"{FILE_NAME}: it provides {twice[0].name!r} twice at {twice[0].point}")
    settings = tuple(
        _setting(item, f"settings[{i}]", package) for i, item in enumerate(top.take("settings", _list, []))
    )
    needs = tuple(top.take("needs", _needs, []))
    return Manifest(name, summary, api_min, api_max, provides, settings, needs, tuple(sorted(top.rest)))


def _provided(item: object, where: str) -> Provided:
    fields = _Object(item, where)
    return Provided(
        point=fields.take("point", _one_of(tuple(POINTS))),
        name=fields.take("name", _name),
        stability=fields.take("stability", _one_of(STABILITIES), "experimental"),
        capabilities=tuple(fields.take("capabilities", _names, [])),
    )


def _setting(item: object, where: str, package: str) -> Setting:
    fields = _Object(item, where)
    setting = Setting(
        env=fields.take("env", _env),
        kind=fields.take("type", _one_of(KINDS), "string"),
        default=fields.take("default", _anything, None),
        meaning=fields.take("meaning", _text),
        secret=fields.take("secret", _boolean, False),
        stability=fields.take("stability", _one_of(STABILITIES), "experimental"),
        owner=package,
    )
    if any(setting.env == core.env for core in SETTINGS):
        raise ManifestError(f"{FILE_NAME}: {where}.env {setting.env} is a setting of the core")
    if setting.default is None:
        return setting
    if setting.secret:
        raise ManifestError(f"{FILE_NAME}: {where}.default must be absent: a secret has none")
    try:
        return setting._replace(default=parse(setting, setting.default))
    except Exception as error:
        raise ManifestError(f"{FILE_NAME}: {where}.default: {error}") from None


class _Object:
    """A JSON object from which known keys are taken one by one, each checked."""

    def __init__(self, value: object, where: str) -> None:
        if not isinstance(value, dict):
            raise ManifestError(f"{FILE_NAME}: {where or 'the file'} must be an object")
        self.rest = dict(value)
        self._where = f"{where}." if where else ""

    def take(self, key: str, check: Callable[[object], T], default: object = ...) -> T:
        if key not in self.rest and default is ...:
            raise ManifestError(f"{FILE_NAME}: {self._where}{key} is missing")
        try:
            return check(self.rest.pop(key, default))
        except ManifestError as error:
            raise ManifestError(f"{FILE_NAME}: {self._where}{key} {error}") from None


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
