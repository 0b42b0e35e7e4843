"""What the values of a manifest may be: each function returns a checked value, or raises with what it must be."""

from __future__ import annotations

from zaxy.api.catalog import HOOK_FIELDS
from zaxy.api.event_types import FIELD_KINDS
from zaxy.plugins.http_paths import PATH_RULE, is_path
from zaxy.plugins.package_files import ManifestError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

NEEDS = ("network", "server", "secret")
MAX_WORDS = 3
NAME_RULE = "lower-case letters, digits and single hyphens, at most 64 characters"


def anything(value: object) -> object:
    return value


def integer(value: object) -> int:
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    raise ManifestError("must be an integer")


def positive(value: object) -> int:
    if (number := integer(value)) > 0:
        return number
    raise ManifestError("must be above 0")


def share(value: object) -> float:
    if isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= 1:
        return float(value)
    raise ManifestError("must be a number from 0 to 1")


def boolean(value: object) -> bool:
    if isinstance(value, bool):
        return value
    raise ManifestError("must be true or false")


def text(value: object) -> str:
    if isinstance(value, str) and value.strip():
        return value.strip()
    raise ManifestError("must be a text that is not empty")


def a_list(value: object) -> list[object]:
    if isinstance(value, list):
        return value
    raise ManifestError("must be a list")


def name(value: object) -> str:
    if isinstance(value, str) and is_name(value):
        return value
    raise ManifestError(f"must be a name ({NAME_RULE})")


def names(value: object) -> list[str]:
    return [name(item) for item in a_list(value)]


def name_or_nothing(value: object) -> str:
    return "" if value == "" else name(value)


def text_or_nothing(value: object) -> str:
    return "" if value == "" else text(value)


def target(value: object) -> str:
    module, colon, attribute = value.partition(":") if isinstance(value, str) else ("", "", "")
    if value == "" or (colon and attribute.isidentifier() and all(map(str.isidentifier, module.split(".")))):
        return str(value)
    raise ManifestError("must be a text such as acme_notes.lane:Lane")


def words(value: object) -> str:
    parts = value.split(" ") if isinstance(value, str) else [""]
    if value == "" or (len(parts) <= MAX_WORDS and all(map(is_name, parts))):
        return str(value)
    raise ManifestError(f"must be at most {MAX_WORDS} words such as 'acme status', each a name ({NAME_RULE})")


def file_or_nothing(value: object) -> str:
    if isinstance(value, str) and (value == "" or (value.endswith(".txt") and is_name(value[:-4]))):
        return value
    raise ManifestError("must be the name of a text file beside the manifest, such as secret-shapes.txt")


def flag(value: object) -> str:
    if isinstance(value, str) and value.startswith("--") and is_name(value[2:]):
        return value
    raise ManifestError("must be an option such as --acme-config")


def paths(value: object) -> tuple[str, ...]:
    for item in a_list(value):
        if not isinstance(item, str) or not is_path(item):
            raise ManifestError(f"has {item!r:.140}, and wants {PATH_RULE}")
    return tuple(str(item) for item in a_list(value))


def texts(value: object) -> tuple[str, ...]:
    return tuple(text(item) for item in a_list(value))


def numbers(value: object) -> tuple[tuple[str, float], ...]:
    if not isinstance(value, dict):
        raise ManifestError("must be an object of numbers")
    for number in value.values():
        if not isinstance(number, int | float) or isinstance(number, bool):
            raise ManifestError("must be an object of numbers")
    return tuple((name, float(number)) for name, number in value.items())


def places(value: object) -> tuple[tuple[str, tuple[str, ...]], ...]:
    if not isinstance(value, dict):
        raise ManifestError("must be an object")
    for field in value:
        if field not in HOOK_FIELDS:
            raise ManifestError(f"has {field!r:.40}; the fields are {', '.join(HOOK_FIELDS)}")
    return tuple((field, texts(places)) for field, places in value.items())


def env(value: object) -> str:
    plain = isinstance(value, str) and value.replace("_", "").isalnum() and value.isascii()
    if isinstance(value, str) and plain and value == value.upper() and not value[0].isdigit():
        return value
    raise ManifestError("must be the name of an environment variable, such as ACME_NOTES_FOLDER")


def kinds(value: object) -> tuple[tuple[str, str], ...]:
    if not isinstance(value, dict):
        raise ManifestError("must be an object")
    return tuple((name, one_of(FIELD_KINDS)(kind)) for name, kind in value.items())


def needs(value: object) -> list[str]:
    return [one_of(NEEDS)(item) for item in a_list(value)]


def version(value: object) -> tuple[int, int]:
    parts = value.split(".") if isinstance(value, str) else []
    if len(parts) == 2 and all(part.isdecimal() and part.isascii() and len(part) < 6 for part in parts):
        return (int(parts[0]), int(parts[1]))
    raise ManifestError('must be a pair such as "0.1"')


def one_of(choices: tuple[str, ...]) -> Callable[[object], str]:
    def check(value: object) -> str:
        if isinstance(value, str) and value in choices:
            return value
        raise ManifestError(f"must be one of {', '.join(choices)}")

    return check


def is_name(text: str) -> bool:
    parts = text.split("-")
    return len(text) <= 64 and all(p and p.isascii() and p.isalnum() and p == p.lower() for p in parts)
