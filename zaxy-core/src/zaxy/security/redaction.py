"""Secrets are taken out of a payload before anything else is done with it.

Nearly every payload has none, so the question whether it may have one comes first, and looking for some literals
answers it. Only then are patterns compiled.
"""

from __future__ import annotations

from zaxy.security.secret_context import find_named, may_have_names
from zaxy.security.secret_forms import find_forms, may_have_forms
from zaxy.security.secret_names import Named, secret_named
from zaxy.security.secret_shapes import SHORTEST, Span, find_shapes, may_have_shapes
from zaxy.security.secret_values import PASSWORD_KINDS, is_mixed, is_opaque, is_placeholder, is_sentence
from zaxy.tuples import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from zaxy.api.models import JsonObject

NAMING_KEYS = ("name", "key", "header", "variable", "Name", "Key")
VALUE_KEYS = ("value", "Value")


class Redacted(NamedTuple):
    """A kind of secret that was replaced in one string of a payload."""

    pointer: str
    """Where the string stands in the redacted payload, as a JSON pointer (RFC 6901)."""
    kind: str


class _Member(NamedTuple):
    key: str
    value: object
    named: Named | None
    """The kind of secret that its name says it is."""
    before: str = ""
    """What stands before it where order means something, as in the arguments of a command."""


def redact(payload: JsonObject) -> tuple[JsonObject, list[Redacted]]:
    """The payload with every secret replaced by `[redacted:<kind>]`, and what was replaced, in order.

    The payload given is not changed. If there is nothing to replace, it is what comes back, itself.
    """
    if not _may_have_secrets(" ".join(_texts(payload))):
        return payload, []
    found: list[Redacted] = []
    copy = _redacted_copy(payload, found)
    return (copy, found) if found else (payload, [])


def redact_text(text: str) -> tuple[str, list[str]]:
    """The same for one string: the text, and the kinds of the secrets replaced in it, each once, in order."""
    if not _may_have_secrets(text):
        return text, []
    return _replaced(text, _spans(text))


def _may_have_secrets(text: str) -> bool:
    lowered = text.lower()
    return may_have_names(lowered) or may_have_forms(lowered) or may_have_shapes(text)


def _texts(payload: object) -> list[str]:
    """All strings of a payload, keys too, however deep."""
    texts: list[str] = []
    waiting = [payload]
    while waiting:
        value = waiting.pop()
        if isinstance(value, str):
            texts.append(value)
        elif isinstance(value, dict):
            texts += value
            waiting += value.values()
        elif isinstance(value, list | tuple):
            waiting += value
    return texts


def _redacted_copy(payload: JsonObject, found: list[Redacted]) -> dict[str, Any]:
    """A deep copy in the same order. It keeps its own stack, so that a deep payload is only slow."""
    root: dict[str, Any] = {}
    stack: list[tuple[dict[str, Any] | list[Any], Iterator[_Member], str]] = [(root, _members_of(payload, None), "")]
    while stack:
        target, members, pointer = stack[-1]
        for key, value, named, before in members:
            name = key if isinstance(target, list) else _redacted_key(key, target, pointer, found)
            here = f"{pointer}/{name.replace('~', '~0').replace('/', '~1')}"
            new: Any = value
            if isinstance(value, str):
                new, kinds = _redacted_value(value, named, before)
                found += [Redacted(here, kind) for kind in kinds]
            elif isinstance(value, dict):
                new = {}
                stack.append((new, _members_of(value, named), here))
            elif isinstance(value, list | tuple):
                new = []
                stack.append((new, _items_of(value, named), here))
            if isinstance(target, list):
                target.append(new)
            else:
                target[name] = new
            if stack[-1][0] is not target:
                break
        else:
            stack.pop()
    return root


def _members_of(value: JsonObject, inherited: Named | None) -> Iterator[_Member]:
    """The members of an object, each with what its key says; `{"name": "TOKEN", "value": …}` says it too."""
    label = next((secret_named(str(value[key])) for key in NAMING_KEYS if isinstance(value.get(key), str)), None)
    loosely = inherited and inherited._replace(generic=True)
    for key, item in value.items():
        named = secret_named(key) or (label if key in VALUE_KEYS else None) or loosely
        yield _Member(key, item, named, "Cookie: " if key.lower() in ("cookie", "set-cookie", "cookies") else "")


def _items_of(value: list[Any] | tuple[Any, ...], inherited: Named | None) -> Iterator[_Member]:
    """The items of a list: arguments of a command with those before them, and `["x-api-key", …]` with its name."""
    arguments: list[str] = []
    for number, item in enumerate(value):
        named, before = inherited, ""
        if arguments and arguments[-1].startswith("-"):
            before = " ".join(arguments)[-256:] + " "
        elif len(value) == 2 and arguments and number == 1:
            named = named or secret_named(arguments[0])
        yield _Member(str(number), item, named, before)
        if isinstance(item, str):
            arguments = [*arguments[-7:], item[:64]]


def _redacted_key(key: str, target: dict[str, Any], pointer: str, found: list[Redacted]) -> str:
    """The key without secrets, and unlike every key before it."""
    name, kinds = (key, []) if key.isidentifier() and len(key) < SHORTEST else redact_text(key)
    if not kinds:
        return key
    unique, number = name, 1
    while unique in target:
        number += 1
        unique = f"{name} ({number})"
    found += [Redacted(f"{pointer}/{unique.replace('~', '~0').replace('/', '~1')}", kind) for kind in kinds]
    return unique


def _redacted_value(value: str, named: Named | None, before: str) -> tuple[str, list[str]]:
    if named is None and not before and not _may_have_secrets(value):
        return value, []
    spans = _spans(value, before)
    if named is not None and _is_secret_member(value, named):
        kind = spans[0].kind if spans else named.kind
        return f"[redacted:{kind}]", [kind]
    return _replaced(value, spans)


def _is_secret_member(value: str, named: Named) -> bool:
    """Whether what stands under a key that names a secret is one."""
    if named.kind == "authorization":
        scheme, _, rest = value.strip().partition(" ")
        value = rest if rest and scheme.isalpha() else scheme
    if is_placeholder(value) or is_sentence(value):
        return False
    if named.kind == "pin":
        return value.isdigit() and 3 < len(value) < 9
    if not named.generic:
        return True
    mixed = named.kind in PASSWORD_KINDS and is_mixed(value, 5) and not value.isdigit()
    return " " not in value and (mixed or is_opaque(value, 6))


def _spans(text: str, before: str = "") -> list[Span]:
    """The secrets of a text, in order and apart from each other, read as if `before` stood before it."""
    if before and " " in text and not before.startswith("Cookie"):
        before += '"'
    whole, skipped = before + text, len(before)
    lowered = _in_lower_case(whole)
    spans = find_shapes(whole) if may_have_shapes(whole) or "PRIVATE" in whole else []
    spans += find_forms(whole, lowered)
    spans += find_named(whole, lowered) if may_have_names(lowered) else ()
    apart: list[Span] = []
    for span in sorted(spans):
        if span.start < skipped:
            continue
        span = span._replace(start=span.start - skipped, end=span.end - skipped)
        if apart and span.start < apart[-1].end:
            last = apart.pop()
            kind = span.kind if span.rank > last.rank else last.kind
            span = Span(last.start, max(last.end, span.end), kind, max(span.rank, last.rank))
        apart.append(span)
    return apart


def _in_lower_case(text: str) -> str:
    """The text in lower case with each character in its place; one letter, İ, would become two."""
    return text.replace("İ", "i").lower()


def _replaced(text: str, spans: list[Span]) -> tuple[str, list[str]]:
    pieces, position = [], 0
    for span in spans:
        pieces += [text[position : span.start], f"[redacted:{span.kind}]"]
        position = span.end
    return "".join(pieces) + text[position:], list(dict.fromkeys(span.kind for span in spans))
