"""Removes secrets from a payload before anything else is done with it, and what a person marked as private.

Nearly every payload has neither. So a quick search for literals comes first, and patterns are compiled only if it finds
one.
"""

from __future__ import annotations

from zaxy.errors import InvalidRequest
from zaxy.security.private_text import without_private
from zaxy.security.secret_context import find_named, may_have_names
from zaxy.security.secret_forms import find_forms, may_have_forms
from zaxy.security.secret_names import SecretName, secret_named
from zaxy.security.secret_sentences import find_sentences, may_have_sentences
from zaxy.security.secret_shapes import find_shapes, may_have_shapes
from zaxy.security.secret_values import PASSWORD_KINDS, is_mixed, is_opaque, is_placeholder, is_sentence
from zaxy.security.shape_table import MIN_SHAPE_CHARS
from zaxy.security.spans import Span
from zaxy.tuples import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

    JsonObject = Mapping[str, object]

NAMING_KEYS = ("name", "key", "header", "variable", "Name", "Key")
VALUE_KEYS = ("value", "Value")
LIST_OF_NAMES = "argument_keys"
"""A tool call's names without their values: `["token", "query"]` holds no token."""
MAX_POINTERS_CHARS = 4 << 20
"""The bound for all pointers of a payload together. After that, pointers are empty."""


class Redacted(NamedTuple):
    """A kind of secret that was replaced in one string of a payload."""

    pointer: str
    """Where the string is in the redacted payload, as a JSON pointer (RFC 6901). Empty, which means the whole payload,
    if the pointers before it are too long already."""
    kind: str


class _Member(NamedTuple):
    key: Any
    """A string, or what a caller gave instead of one. It stays, and is refused when the payload is stored."""
    value: object
    named: SecretName | None
    """The kind of secret that its name stands for."""
    before: str = ""
    """The text before it, if the order matters, as in the arguments of a command."""


class _Copying(NamedTuple):
    """An object or list that is being copied, with its remaining members."""

    source: Any
    target: dict[str, Any] | list[Any]
    members: Iterator[_Member]
    name: str
    """Its own key or index in the object or list around it."""
    replaced: dict[str, int]
    """How often each redacted key occurred so far, so that the next one gets its number without a search."""


def redact(payload: JsonObject) -> tuple[JsonObject, list[Redacted]]:
    """The payload with every secret replaced by `[redacted:<kind>]`, and which were replaced, in order.

    What is private is replaced too, and not listed. The given payload is not changed. If there is nothing to replace,
    it is returned itself.
    """
    texts = _all_texts(payload if isinstance(payload, dict) else dict(payload))
    private = without_private(texts) is not texts
    if not private and not _may_have_secrets(texts):
        return payload, []
    found: list[Redacted] = []
    copy = _redacted_copy(payload, found)
    return (copy, found) if found or private else (payload, [])


def redact_text(text: str) -> tuple[str, list[str]]:
    """The same for one string: the redacted text, and the kinds of secrets in it, each once, in order."""
    text = without_private(text)
    if not _may_have_secrets(text):
        return text, []
    return _replaced(text, _spans(text))


def refuse_secrets(names: dict[str, object]) -> None:
    """Raise if a name would be redacted in a text. Names are kept as they are, so none may be a secret.

    `names`: what each is called in a message, and its value. The message does not repeat the value.
    """
    texts = [value for value in names.values() if isinstance(value, str)]
    for what, value in names.items():
        if isinstance(value, str) and without_private(value) is not value:
            raise InvalidRequest(
                f"{what} has private text in it", "Nothing was stored. Use a name that anyone may read."
            )
    if not _may_have_secrets(f" {' '.join(texts)} "):
        return
    for what, value in names.items():
        kinds = redact_text(value)[1] if isinstance(value, str) else []
        if kinds:
            raise InvalidRequest(
                f"{what} looks like a secret ({', '.join(kinds)})",
                "Nothing was stored. Use a name that anyone may read, and change the secret if it was sent in error.",
            )


def _may_have_secrets(text: str) -> bool:
    lowered = text.lower()
    return may_have_names(lowered) or may_have_forms(lowered) or may_have_shapes(text) or may_have_sentences(lowered)


def _all_texts(payload: object) -> str:
    """All strings of a payload, with its keys, at any depth. Spaces stand around each: some hints have a space."""
    texts: list[str] = []
    waiting = [payload]
    while waiting:
        value = waiting.pop()
        if isinstance(value, str):
            texts.append(value)
        elif isinstance(value, dict):
            texts += value
            waiting += value.values()
        elif isinstance(value, (list, tuple)):
            waiting += value
    try:
        return f" {' '.join(texts)} "
    except TypeError:  # some keys are not strings
        return f" {' '.join([text for text in texts if isinstance(text, str)])} "


def _redacted_copy(payload: JsonObject, found: list[Redacted]) -> dict[str, Any]:
    """A deep copy in the same order. It keeps its own stack, so that a deep payload does not fail."""
    root: dict[str, Any] = {}
    room = MAX_POINTERS_CHARS
    stack: list[_Copying] = [_Copying(payload, root, _members_of(payload, None), "", {})]
    while stack:
        target, members = (copying := stack[-1]).target, copying.members
        for key, value, named, before in members:
            name, kinds = key, list[str]()
            if isinstance(target, dict) and isinstance(key, str):
                name, kinds = _redacted_key(key, copying)
            new: Any = value
            if isinstance(value, str):
                new, more = _redacted_value(value, named, before)
                kinds = [*kinds, *more]
            elif isinstance(value, dict):
                new = {}
                stack.append(_Copying(value, new, _members_of(value, named), str(name), {}))
            elif isinstance(value, (list, tuple)):
                new = []
                items = _names_of(value) if key == LIST_OF_NAMES else _items_of(value, named)
                stack.append(_Copying(value, new, items, str(name), {}))
            if kinds:
                pointer = _pointer(stack, copying, str(name)) if room > 0 else ""
                room -= len(pointer)
                found += [Redacted(pointer, kind) for kind in dict.fromkeys(kinds)]
            if isinstance(target, dict):
                target[name] = new
            else:
                target.append(new)
            if stack[-1] is not copying:
                break
        else:
            stack.pop()
    return root


def _pointer(stack: list[_Copying], last: _Copying, name: str) -> str:
    """The pointer to the member `name` of `last`. `stack` may reach one level further, into that member."""
    around = stack[1:] if stack[-1] is last else stack[1:-1]
    return "".join("/" + part.replace("~", "~0").replace("/", "~1") for part in (*(one.name for one in around), name))


def _members_of(value: JsonObject, inherited: SecretName | None) -> Iterator[_Member]:
    """The members of an object, each with the secret that its key names, as does `{"name": "TOKEN", "value": …}`."""
    label = next((secret_named(str(value[key])) for key in NAMING_KEYS if isinstance(value.get(key), str)), None)
    weakly = inherited and inherited._replace(generic=True)
    for key, item in value.items():
        named = (
            (secret_named(key) if isinstance(key, str) else None) or (label if key in VALUE_KEYS else None) or weakly
        )
        yield _Member(key, item, named, "Cookie: " if str(key).lower() in ("cookie", "set-cookie", "cookies") else "")


def _items_of(value: list[Any] | tuple[Any, ...], inherited: SecretName | None) -> Iterator[_Member]:
    """The items of a list: arguments of a command with those before them, and the value of `["x-api-key", …]`."""
    command, last = "", ""
    for number, item in enumerate(value):
        named, before = inherited, ""
        if last.startswith("-") and isinstance(item, str) and not item.startswith("-"):
            before = f"{command} {last} "
        elif len(value) == 2 and number == 1:
            named = named or secret_named(last)
        yield _Member(str(number), item, named, before)
        if isinstance(item, str):
            last = item[:64]
            command = f"{command} {last}" if number < 3 else command


def _names_of(value: list[Any] | tuple[Any, ...]) -> Iterator[_Member]:
    return (_Member(str(number), item, None) for number, item in enumerate(value))


def _redacted_key(key: str, copying: _Copying) -> tuple[str, list[str]]:
    """The key without secrets, different from every other key of the object, and the kinds found in it."""
    if key.isidentifier() and len(key) < MIN_SHAPE_CHARS:
        return key, []
    name, kinds = redact_text(key)
    unique = name
    while name != key and (unique in copying.target or unique in copying.source):
        number = copying.replaced[name] = copying.replaced.get(name, 1) + 1
        unique = f"{name} ({number})"
    return unique, kinds


def _redacted_value(value: str, named: SecretName | None, before: str) -> tuple[str, list[str]]:
    value = without_private(value)
    if named is None and not _may_have_secrets(before + value):
        return value, []
    spans = _spans(value, before)
    if named is not None and _is_secret_member(value, named):
        kind = spans[0].kind if spans else named.kind
        return f"[redacted:{kind}]", [kind]
    return _replaced(value, spans)


def _is_secret_member(value: str, named: SecretName) -> bool:
    """Whether the value under a key that names a secret is one."""
    if named.kind == "authorization":
        scheme, _, rest = value.strip().partition(" ")
        value = rest if rest and scheme.isalpha() else scheme
        return len(value) > 5 and not is_placeholder(value) and not is_sentence(value)
    if is_placeholder(value) or is_sentence(value):
        return False
    if named.kind == "pin":
        return value.isdigit() and 3 < len(value) < 9
    if not named.generic:
        return True
    mixed = named.kind in PASSWORD_KINDS and is_mixed(value, 5) and not value.isdigit()
    return " " not in value and (mixed or is_opaque(value, 6))


def _spans(text: str, before: str = "") -> list[Span]:
    """The secrets of a text in order, without overlaps. The text is read as if it followed `before`."""
    after = ""
    if before and " " in text and not before.startswith("Cookie"):
        after = "'" if '"' in text else '"'
    whole, skipped = before + after + text + after, len(before + after)
    lowered = _in_lower_case(whole)
    spans = find_shapes(whole) if may_have_shapes(whole) else []
    spans += find_forms(whole, lowered)
    spans += find_named(whole, lowered) if may_have_names(lowered) else ()
    spans += find_sentences(whole, lowered)
    apart: list[Span] = []
    for span in sorted(spans):
        if span.start < skipped:
            continue
        span = span._replace(start=span.start - skipped, end=min(span.end - skipped, len(text)))
        if apart and span.start < apart[-1].end:
            last = apart.pop()
            kind = span.kind if span.rank > last.rank else last.kind
            span = Span(last.start, max(last.end, span.end), kind, max(span.rank, last.rank))
        apart.append(span)
    return apart


def _in_lower_case(text: str) -> str:
    """The text in lower case, with each character in its place: the letter İ would become two."""
    return text.replace("İ", "i").lower()


def _replaced(text: str, spans: list[Span]) -> tuple[str, list[str]]:
    parts, position = [], 0
    for span in spans:
        parts += [text[position : span.start], f"[redacted:{span.kind}]"]
        position = span.end
    return "".join(parts) + text[position:], list(dict.fromkeys(span.kind for span in spans))
