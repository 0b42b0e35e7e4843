"""Finds secrets in sentences of other languages than English: `la senha é …`, `密码是…`, `пароль: …`.

The words are in `secret_words`. A pattern finds one of them, and what connects it to a value; then the value is judged.
"""

from __future__ import annotations

import re
from functools import cache

from zaxy.security.secret_values import (
    counts_something,
    is_expression,
    is_mixed,
    is_opaque,
    is_placeholder,
    is_sentence,
    is_strong,
    is_wordy,
)
from zaxy.security.secret_words import JOINING, SPACED, UNSPACED
from zaxy.security.spans import Span, compiled, contains_any
from zaxy.security.value_ends import MAX_VALUE_CHARS, OPENING, bare_value, end_of_bare, end_of_quoted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_VALUE = r"(?=[\"'`“‘«„»「『]|[!-~]{0,64}?[0-9@#$%^&+~!*]|[!-~]{12})"
_ANY_VALUE = r"[0-9@#$%^&+~!*\"'`“‘«„»「『]|[!-~]{12}"
_SHARED = "password passwort token api_key pin"
"""Words of English that other languages use as they are."""
_SHARED_LINKS = "è é är ist war lautet est était era este jest brzmi luidt είναι это — adalah là és yra es foi será"
_STOP = r"[^\n:=;.!?]"


def may_have_sentences(lowered: str) -> bool:
    """Whether the text may have such a word. A quick test: only a yes can be wrong."""
    plain, others = _hints()
    return contains_any(lowered, plain) or (not lowered.isascii() and contains_any(lowered, others))


def find_sentences(text: str, lowered: str) -> Iterator[Span]:
    """`lowered`: the text in lower case, each character in its place."""
    if not compiled(_ANY_VALUE).search(lowered):
        return
    if may_have_sentences(lowered):
        yield from _find(_spaced_pattern(), text, lowered)
    if not lowered.isascii():
        yield from _find(_unspaced_pattern(), text, lowered)
    if contains_any(lowered, _shared_links()):
        yield from _find(_shared_pattern(), text, lowered)


def _find(pattern: str, text: str, lowered: str) -> Iterator[Span]:
    position = 0
    while match := compiled(pattern).search(lowered, position):
        span = _value_after(text, match)
        if span:
            yield span
        position = span.end if span else max(match.end("password"), match.end("key"))


def _value_after(text: str, match: re.Match[str]) -> Span | None:
    opening = compiled(OPENING).match(text, match.end())
    if opening:
        first, last = opening.end(), end_of_quoted(text, opening)
    else:
        first, last = bare_value(text, match.end(), query=False)
    value = text[first : min(last, first + MAX_VALUE_CHARS)]
    if not value or is_placeholder(value) or counts_something(value, text[last : last + 16]):
        return None
    if match["key"]:
        return Span(first, last, "token") if is_opaque(value, 8) and not is_wordy(value) else None
    if opening:
        return Span(first, last, "password") if len(value) > 3 and not is_sentence(value) else None
    chosen = is_strong(value) if match.lastgroup == "near" else is_mixed(value, 5)
    if not chosen or is_expression(value) or contains_any(value, ("://", "/", "\\")):
        return None
    return Span(first, end_of_bare(text, first, last), "password")


@cache
def _hints() -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The words that are ASCII, and the others."""
    words = {
        word.replace("_", " ")
        for one in (*SPACED.values(), *UNSPACED.values())
        for word in f"{one[0]} {one[1]}".split()
    }
    plain = {word for word in words if word.isascii()}
    return _distinct(plain), _distinct(words - plain)


def _distinct(words: set[str]) -> tuple[str, ...]:
    """Without those of which another one is a part."""
    return tuple(word for word in sorted(words) if not any(part in word for part in words if part != word))


def _words(lists: Iterable[str]) -> list[str]:
    return sorted({word.replace("_", " ") for words in lists for word in words.split()}, key=len, reverse=True)


def _either(words: Iterable[str]) -> str:
    return "(?:" + "|".join(re.escape(word) for word in words) + ")"


@cache
def _spaced_pattern() -> str:
    joining = [name for name in SPACED if name in JOINING]
    passwords, keys = (
        rf"(?:(?<![^\W\d_]){_either(_words(language[kind] for language in SPACED.values()))}"
        rf"|{_either(_words(SPACED[name][kind] for name in joining))})"
        for kind in (0, 1)
    )
    links = _either(_words(language.links for language in SPACED.values()))
    return rf"(?:(?P<password>{passwords})|(?P<key>{keys}))[^\W\d_]{{0,5}}+{_followed(links)}{_VALUE}"


def _followed(links: str) -> str:
    """What may stand between the word and its value."""
    return (
        rf"(?:[\"'`]?(?P<said>(?:[ \t(]{_STOP}{{1,48}}?)??(?:[ \t]{links}[ \t:]{{1,3}}"
        rf"|[ \t\u00a0]?[:：][ \t\u00a0]{{0,3}}"
        rf"|[ \t][—–-]{{1,2}}>?[ \t])|[ \t]?=[ \t]?)|(?P<near>[ \t]{{1,3}}(?:[^\W\d_]{{1,16}}[ \t]){{0,2}}))"
    )


@cache
def _shared_pattern() -> str:
    words = _either(_words([_SHARED]))
    return rf"(?P<password>(?<![a-z_]){words})(?P<key>(?!))?{_followed(_either(_SHARED_LINKS.split()))}{_VALUE}"


@cache
def _shared_links() -> tuple[str, ...]:
    return tuple(f" {link} " for link in _SHARED_LINKS.split())


@cache
def _unspaced_pattern() -> str:
    passwords, keys = (_either(_words(language[kind] for language in UNSPACED.values())) for kind in (0, 1))
    links = _either(_words(language.links for language in UNSPACED.values()))
    return (
        rf"(?:(?P<password>{passwords})|(?P<key>{keys}))[^\n!-~。？！]{{0,12}}?"
        rf"(?P<said>(?:{links}|[:：=＝])[ \t:：]{{0,3}}|[「『“])[「『]?{_VALUE}"
    )
