"""Finds secrets that only a name beside them reveals: `password = …`, `--token …`, `the api key is …`.

A pattern finds a word that names a secret, and what connects it to a value. Then the value is judged. Every pattern has
a bounded length, and the search continues behind it, so that the time is linear in the length of the text.
"""

from __future__ import annotations

from zaxy.security.repeats import Repeats
from zaxy.security.secret_names import SecretName, is_other_token, secret_named
from zaxy.security.secret_values import (
    PASSWORD_KINDS,
    counts_something,
    is_expression,
    is_login,
    is_mixed,
    is_opaque,
    is_passphrase,
    is_placeholder,
    is_sentence,
    is_variable,
    is_wordy,
)
from zaxy.security.spans import Span, compiled, contains_any
from zaxy.security.value_ends import MAX_VALUE_CHARS, OPENING, bare_value, end_of_bare, end_of_quoted

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re
    from collections.abc import Iterator

# Matched against the text in lower case.
_NAME = (
    r"(?:pass(?:w(?:or)?d|wort|code|[ -]?phrase|(?![a-z]))|pwd?(?![a-z])|psk|secret|token|(?<=[a-z _-])key(?![a-z])"
    r"|authorization|cred(?:ential)?s|_?auth(?=[\"'=])|(?:seed|recovery)[ _-]phrase"
    r"|mnemonic|contrase[nñ]a|mot de passe|пароль|密[码碼]|パスワード)[a-z0-9_-]{0,32}+"
)
_FOLLOWED = (
    r"(?:(?P<assigned>\\{0,3}[\"'`]?\]?(?:\[\w{0,8}\])?[ \t]{0,8}+"
    r"(?::[ \t]?&?(?:'\w{1,12}[ \t])?[\w.:\[\]<>?|]{1,32}(?:[ \t](?==)|(?==[^\s=])))?"  # a type; base64 ends in `=`
    r"(?P<operator>=>|->|→|:=|:-(?=\w)|[?]=|\|\|=|\?\?=|<-|<<<|[!=]={1,2}|=|:(?![:=])|：|%3[ad])[ \t]{0,8}+)(?=\S)"
    r"|(?P<default>\"\s{0,4}\{[^{}]{0,200}?\bdefault\s{0,16}=\s{0,4})(?=\")"
    r"|(?P<listed>\\{0,3}[\"'`],[ \t]{0,4}+)(?=\\{0,3}[\"'`])"
    r"|(?P<fallback>[\"'`)\]]{0,3}[ \t]{0,2}(?:\?\?|\|\||[ \t]or)[ \t]{0,2})(?=[\"'`])"
    r"|(?P<attribute>[\"']\s{1,24}+value=)(?=[\"'])"
    r"|(?P<tag>[\"']?>)(?=[^<>\s])"
    r"|(?P<called>(?:[\"'`)\]]{1,3}\.(?:type|fill|send_?keys|set_?value))?[({])(?=(?:some\(|string::from\(|[@n])?[\"'`])"
    r"|(?P<said>(?:[ \t]\([^()\n]{1,40}\)|[ \t](?:value|base|string))?"
    r"(?:[ \t](?:for|of|on|to|at|in|from|i|you|we|they|he|she|that|which"
    r"|de|del|della|di|da|do|du|des|der|vom|von|van|voor|för|till|für|zum|pour|para|per|dla)"
    r"[ \t][^\n:=;]{1,48}?)?[ \t]{0,2}"
    r"(?:[ \t](?:is|was|are|equals|will be|should be|(?:(?:is|was|has been)[ \t])?(?:set|changed|reset|updated|rotated)"
    r"[ \t](?:to|from)|to|as|now|ist|war|lautet|est|es)(?: now| still)?[ \t:]{1,3}"
    r"|(?:[:=]|->|=>|→)[ \t]{1,4})[*_]{0,2})"
    r"(?=[\"'`“‘]|\S{0,64}?[0-9@#$%^&+~]|[a-z]{16})"
    r"|(?P<beside>[ \t]{1,4})(?=[\"'`“‘]|\S{0,64}?[0-9]))"
)
_ANY_VALUE = r"[0-9@#$%^&+~\"'`“‘=:<>：→|]|[a-z]{16}"
"""Without one of these, nothing that follows a name is its value."""
_FLAG = (
    rf"(?<![a-z0-9_-])--?(?:[a-z0-9]{{1,24}}-){{0,3}}+{_NAME}"
    r"(?P<flag>[ \t]{1,4}|=[ \t]?|[\"'`],[ \t]{0,4}(?=[\"'`]))(?=\S)"
)
_PHRASE = (
    r"(?:(?:pass|seed|recovery)[ _-]?phrase|mnemonic)[\"'`]?[ \t]{0,4}(?:[:=]|[ \t](?:is|was):?)[ \t]{1,4}"
    r"([a-z][a-z ]{8,300}+)"
)

MAX_NAMED_CHARS = 288
"""A name, what connects it to its value, and as much of the value as is judged."""
MIN_BARREN_CHARS = 1024
_WITHOUT_DIGITS = rf"[^0-9]{{{MIN_BARREN_CHARS},4096}}+"
_MANY_LETTERS = r"[a-z+/]{12}"
_CHOSEN_HINTS = ("pass", "pw", "psk", "secret", "phrase", "mnemonic", "cred", "auth", "contrase", "парол", "密", "パス")
"""Names of what people choose, and of pairs with it: that may be without digits."""
_LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789_-"
_PAIR = r"[\w.@+-]{1,64}[ \t]?[/:|][ \t]?(?P<password>[^\s\"'`<>,;/][^\s\"'`<>,;]{3,127})"
_PAIR_NAME = r"(?i)\b(?:id|user|username|login|account) ?/ ?\Z"
_SCHEME = r"[\"'`]?(?i:(bearer|basic|token|api-?token|api-?key|bot)[ \t]{1,4})?[\"'`]?([A-Za-z0-9._~+/=:-]{6,}+)"
_PREPOSITION = r"\b(?:to|as|in|for|of|on|at|from)\b"
_ELSEWHERE = (
    r"\A[ \t](?:for|of|on|to|at|in|from)[ \t].*(?:[ \t](?:to|as)[ \t:]+|\b(?:user|username|account|name)[:=][ \t]+)"
    r"[*_]*\Z"
)
"""Between a name and a value: the value is something else, as in "the passphrase of the signing key to `sign`"."""
_SETTER = r"(?i)\b(?:define|set\w{0,20}|put\w{0,20}|add\w{0,20}|append|header)\([\"'`]\Z"
_NAMED_TAG = r"<[\w:-]{1,24}[ \t](?:name|key)=[\"'][\w.:-]{0,32}\Z"
_USER = r"(?i)\b(?:user|username|login)[:=]?[ \t]\S{1,32}?(?:,|;|[ \t]/|[ \t]and)[ \t]\Z"
_SHELL_WORDS = frozenset(("export", "set", "setx", "env", "local", "declare", "readonly", "-e", "--env"))
_WORDS_AFTER_FLAGS = frozenset(
    "option options flag flags argument arguments parameter parameters switch switches and or is are was to for in on "
    "with without instead if when then must can cannot may should will the a an it from as at by of value".split()
)
_HINTS = ("pw", "psk", "secret", "token", "key", "phrase", "mnemonic", "cred")
_AUTH_HINTS = ("authoriz", "_auth", 'auth"', "auth ")
_FOREIGN_HINTS = ("contrase", "пароль", "密码", "密碼", "パスワード")


def may_have_names(lowered: str) -> bool:
    """Whether the text may have such names. A quick test: only a yes can be wrong."""
    return (
        contains_any(lowered, _HINTS)
        or (
            "pass" in lowered and "pass" in lowered.replace("passed", "")
        )  # "tests passed" is common in the results of tools
        or ("auth" in lowered and contains_any(lowered, _AUTH_HINTS))
        or (not lowered.isascii() and contains_any(lowered, _FOREIGN_HINTS))
    )


def find_named(text: str, lowered: str) -> Iterator[Span]:
    """`lowered`: the text in lower case, each character in its place."""
    if compiled(_ANY_VALUE).search(lowered):
        yield from _find(compiled(_NAME + _FOLLOWED), text, lowered)
    if "-" in text:
        yield from _find(compiled(_FLAG), text, lowered)
    for match in compiled(_PHRASE).finditer(lowered) if contains_any(lowered, ("phrase", "mnemonic")) else ():
        phrase = match[1].rstrip()
        if is_passphrase(phrase):
            yield Span(match.start(1), match.start(1) + len(phrase), "passphrase", 0)


def _find(pattern: re.Pattern[str], text: str, lowered: str) -> Iterator[Span]:
    position = looked = barren = 0
    repeats = Repeats(text)
    while match := pattern.search(lowered, position):
        end = match.start(match.lastgroup or 0)
        before = lowered[max(0, match.start() - 48) : match.start()]
        before = before[before.rfind("--") + 1 :]
        start = match.start() - len(before) + len(before.rstrip(_LETTERS))
        named = None if text.endswith("[redacted:", 0, start) else _named(text, lowered, start, end)
        span = _value_after(text, start, named, match) if named else None
        if span:
            yield span
            position = span.end
            repeats.forget()
            continue
        if match.end() >= looked:
            looked, barren = _barren(lowered, match.end())
        position = max(end, match.start() + 1, barren, match.start() + repeats.length_at(match.start()))


def _barren(lowered: str, position: int) -> tuple[int, int]:
    """How far the text was looked at, and where a part of it ends in which no name has a value that could be a secret.

    What machines make has digits, or more letters in a row than words have. So a text full of names costs little.
    """
    run = compiled(_WITHOUT_DIGITS).match(lowered, position)
    if not run:
        return position + MIN_BARREN_CHARS, 0
    if contains_any(run[0], _CHOSEN_HINTS) or compiled(_MANY_LETTERS).search(run[0]):
        return run.end(), 0
    end = run.end() if run.end() == len(lowered) else run.end() - MAX_NAMED_CHARS
    return end, end


def _named(text: str, lowered: str, start: int, end: int) -> SecretName | None:
    """What the name stands for, with the words before it if they decide: `api key`, `page token`."""
    name = text[start:end]
    if lowered[start:end] not in ("key", "token"):
        return secret_named(name)
    before = compiled(r"(?:[A-Za-z]{1,16} )?[A-Za-z]{1,16} \Z").search(text[max(0, start - 24) : start])
    if lowered[start:end] == "key":
        return secret_named(before[0] + name) if before else None
    return None if before and is_other_token(before[0]) else secret_named(name)


def _value_after(text: str, start: int, named: SecretName, match: re.Match[str]) -> Span | None:
    """The value that follows a name, if it is a secret."""
    at, way = match.end(), match.lastgroup or ""
    if text.endswith("::" if way != "assigned" or match[way] != ":" else ":", 0, start) and way != "flag":
        return None  # part of a name: `arn:aws:secretsmanager:…:secret:…`, `"AWS::IAM::AccessKey": …`
    if way == "beside" and text.endswith("/", 0, start):  # the end of a path
        return None
    if named.kind == "authorization":
        return _authorization_at(text, at)
    if named.kind == "credential" or compiled(_PAIR_NAME).search(text[max(0, start - 12) : start]):
        return _pair_at(text, at)
    opening = compiled(OPENING).match(text, at)
    if opening:
        opening = _unpacked(text, start, opening) if way == "assigned" and match["operator"] == "=" else opening
        first, last = opening.end(), end_of_quoted(text, opening)
        way = "quoted" if way in ("assigned", "default", "attribute") else way
    elif way == "assigned" and match["operator"] in ("==", "===", "!=", "!=="):
        return None
    else:
        first, last = bare_value(text, at, query=text[start - 1 : start] in ("?", "&"))
    value = text[first : min(last, first + MAX_VALUE_CHARS)]
    if named.kind not in PASSWORD_KINDS and not is_opaque(value, 6):
        return None
    if way == "flag" and value.startswith(("(", "pass:")):  # a command in brackets, or a form of its own
        return None
    if not value or is_placeholder(value) or counts_something(value, text[last : last + 16]):
        return None
    if way == "said" and compiled(_PREPOSITION if named.generic else _ELSEWHERE).search(match["said"]):
        return None
    if _is_sure(text, match, start=start, last=last, value=value):
        way = "sure"
    if not _is_secret(value, named, way, opening is not None):
        return None
    return Span(first, last if opening else end_of_bare(text, first, last), named.kind, 0)


def _unpacked(text: str, start: int, first: re.Match[str]) -> re.Match[str]:
    """The value that belongs to the name in `user, password = "bob", "…"`."""
    names = compiled(r"(?:\w{1,32},[ \t]?){1,4}\Z").search(text[max(0, start - 80) : start])
    opening = first
    for _ in range(names[0].count(",") if names else 0):
        comma = compiled(r"[\"'`],[ \t]{0,2}").match(text, end_of_quoted(text, opening))
        following = compiled(OPENING).match(text, comma.end()) if comma else None
        if not following:
            return first
        opening = following
    return opening


def _authorization_at(text: str, position: int) -> Span | None:
    match = compiled(_SCHEME).match(text, position)
    if not match or is_placeholder(match[2]) or is_expression(match[2]) or is_wordy(match[2]):
        return None
    scheme = (match[1] or "").lower()
    if not scheme and compiled(r"[ \t]{1,4}\w{1,32}=").match(text, match.end()):  # a scheme with parameters
        return None
    if scheme == "basic":
        return Span(*match.span(2), "basic") if is_login(match[2]) else None
    if not is_opaque(match[2], 6 if scheme else 8):
        return None
    return Span(*match.span(2), "bearer" if scheme == "bearer" else "authorization")


def _pair_at(text: str, position: int) -> Span | None:
    """The secret part of `user/password` or `user:password`."""
    pair = compiled(_PAIR).match(text, position)
    if not pair or not is_mixed(pair["password"]) or is_placeholder(pair["password"]):
        return None
    return Span(pair.start("password"), bare_value(text, pair.start("password"), query=False)[1], "password", 0)


def _is_sure(text: str, match: re.Match[str], *, start: int, last: int, value: str) -> bool:
    """Whether the place alone shows that this is a value, and neither code nor a sentence."""
    way = match.lastgroup
    if way == "flag":
        prose = value.isalpha() and compiled(r" [a-z]{1,16} [a-z]{1,16}\b").match(text, last)
        return not prose and value.lower() not in _WORDS_AFTER_FLAGS
    if way == "tag":
        opened = text[start - 1 : start] == "<" or compiled(_NAMED_TAG).search(text[max(0, start - 64) : start])
        return bool(opened) and text.startswith("</", last)
    if way == "listed":
        return compiled(_SETTER).search(text[max(0, start - 24) : start]) is not None
    if way == "beside":
        before = text[max(0, start - 80) : start]
        return bool(
            compiled(r"\blogin \S{1,64} \Z").search(before)
            or (is_mixed(value, 6) and compiled(_USER).search(before[-48:]))
        )
    if way != "assigned":
        return False
    before = text[max(0, start - 80) : start].rpartition("\n")[2]
    ends_line = text[last : last + 1] in ("", "\n", "\r")
    if match["assigned"] == "=":
        return (
            text[start : match.start("assigned")].isupper()
            or before[-1:] in ("?", "&", ";")
            or compiled(r";[\w ]{2,30}=").match(text, last) is not None
            or _follows_setting(before)
            or (ends_line and compiled(r"[ \t]*[\w./:-]*").fullmatch(before) is not None)
        )
    yaml = match["operator"] == ":" and ends_line and compiled(r"[ \t]*(?:- )?[\w.-]*").fullmatch(before)
    return bool(yaml) and (is_mixed(value, 5) or (value.isalpha() and value.islower() and len(value) > 4))


def _follows_setting(before: str) -> bool:
    """Whether `export`, `-e` and the like come before it, or another `name=value` without a comma."""
    if not before[-1:].isspace():
        before = before.rpartition(" ")[0]  # the first parts of a dotted name
    last = (before.split() or [""])[-1]
    return last.lower() in _SHELL_WORDS or ("=" in last[1:] and not contains_any(last, (",", "(", ")", "==")))


def _is_secret(value: str, named: SecretName, way: str, quoted: bool) -> bool:
    if quoted and value[0] in " +,;).|&}]":  # these quotes close a text and do not open one
        return False
    if not quoted and is_expression(value):
        return False
    if not quoted and way != "sure" and "." in value and secret_named(value.rpartition(".")[2]):
        return False
    chosen = named.kind in PASSWORD_KINDS
    if way == "tag" or (way == "called" and not chosen) or (way == "beside" and chosen and named.generic):
        return False
    if " " in value:
        stated = way == "sure" or (way in ("quoted", "said") and named.kind != "secret" and not is_sentence(value))
        return quoted and chosen and stated
    if not chosen or (named.kind == "secret" and way in ("beside", "listed")):
        min_chars = {"said": 8, "beside": 20, "listed": 16}.get(way, 6)
        return is_opaque(value, min_chars) and (way in ("sure", "quoted") or not is_wordy(value))
    if named.generic and way != "sure":
        return is_mixed(value, 5)
    if way == "sure" or (quoted and way in ("quoted", "said")):
        return len(value) > 2
    if quoted and way == "beside":
        return len(value) > 3
    if way in ("beside", "listed", "called"):
        named_too = value.isidentifier() and secret_named(value)
        return is_mixed(value, 6) and not value.isdigit() and not named_too and not contains_any(value, (".", "/", ":"))
    return is_mixed(value, 5) and not (way == "assigned" and is_variable(value))
