"""Finds secrets in a fixed form: headers, cookies, short options of commands, SQL, `… is the password`.

Every pattern has a bounded length or is possessive, so that the time is linear in the length of the text.
"""

from __future__ import annotations

from zaxy.security.secret_names import secret_named
from zaxy.security.secret_values import (
    is_expression,
    is_login,
    is_mixed,
    is_opaque,
    is_placeholder,
    is_random,
    is_sentence,
)
from zaxy.security.spans import Span, compiled, contains_any

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

_BEARER = r"(?i:bearer|ssws)(?:[ \t]{1,4}|%20)[\"'`]?([A-Za-z0-9._~+/=-]{8,}+)"
_BASIC = r"(?i:basic)[ \t]{1,4}([A-Za-z0-9+/]{8,1024}+={0,2})"
_SQL = r"(?i:identified[ \t](?:with[ \t]\w{1,40}[ \t])?by)[ \t](?:(?i:password)[ \t])?['\"]([^'\"\n]{1,256})['\"]"
_POWERSHELL = r"(?i:convertto-securestring)[ \t](?:(?i:-string)[ \t])?['\"]([^'\"\n]{1,256})['\"]"
_INSERT = (
    r"(?i:insert(?:[ \t]or[ \t]\w{1,12}|[ \t]ignore)?|replace)[ \t](?i:into)\s{1,8}[\w.\"`\[\]]{1,80}+\s{0,8}"
    r"\(([^()]{1,400}+)\)\s{0,8}(?i:values)\s{0,8}"
)
_ROW = r"\(((?:[^()'\"]|'(?:[^'\n]|''){0,256}'|\"[^\"\n]{0,256}\"|\([^()]{0,80}\)){1,2000}+)\)\s{0,4},?\s{0,8}"
_CELL = r"(?:'((?:[^'\n]|''){0,256}+)'|[^,'\"(]|\"[^\"]{0,256}+\"|\([^()]{0,80}+\)|')++"
_GO_DSN = r"[\w.-]{1,64}:([^\s\"'`/@]{1,128}+)@(?:tcp|unix)\("
_PGPASS = r"(?m:^)(?:[\w.*-]{1,64}+:){4}(\S{4,128}+)(?m:$)"
_NET_USE = r"(?i:/user:)[\w.\\@-]{1,64}+[ \t]{1,4}([^\s/*\"'][^\s\"']{0,127}+)"
_NET_USER = (
    r"(?i:\bnet1?[ \t]{1,4}user)[ \t]{1,4}[^\s/]{1,64}+[ \t]{1,4}"
    r"((?=\S{0,64}?[0-9])[^\s/*\"'][^\s\"']{2,127}+|[^\s/*\"'][^\s\"']{2,127}+(?=[ \t]{1,4}/(?i:add|domain)))"
)
_SLASH_OPTION = (
    r"(?<=[ \t])/(?i:p|pw|pwd|pass|password|rp)(?::|(?<=rp)[ \t]{1,4})(?!\w{1,64}+=)([^\s/\"'][^\s\"']{2,127}+)"
)
_ORACLE = (
    r"(?:(?i:\b(?:sqlplus|sqlldr|impdp|expdp|imp|exp|rman)\b[^\n/]{0,60}?[ \t]"
    r"|\boracle:\w{1,8}:|\bconn(?:ect)?[ \t])[\w$#]{1,30}"
    r"|(?<![\w/.:@-])(?i:scott|system|sys|hr|sysdba))/\"?([^\s/\"'@]{3,64})\"?@(?!v?[0-9]+\.)[\w./(]"
)
_CHPASSWD = r"\becho[ \t](?:-\w[ \t])?[\"']?[\w.-]{1,32}:([^\s\"'|]{3,128}+)[\"']?[ \t]{0,4}\|[^|\n]{0,40}?chpasswd"
_CONNECT = (
    r"(?i:pdo|mysqli|connect|connection|credential)\([ \t]?[^,()\n]{1,120},[ \t]?[\"'][^\"'\n]{1,64}[\"'],[ \t]?"
    r"[\"']([^\"'\n]{3,128})[\"']"
)
_WIFI = r"(?i:wifi:)[^\n]{0,120}?(?<=[:;])P:([^;\n]{4,64}+);"
_PAIRED = r"\b(?i:u|user|login)[:=][ \t]?[^\s:=]{1,32}[ \t,;/]{1,3}(?i:p|pw|pass):[ \t]?([^\s\"',;]{4,128}+)"
_TOTP = (
    r"(?i:(?<![a-z])(?:totp|hotp|otp|2fa|mfa|two-factor|authenticator))[\w '-]{0,24}?[\"'`)]{0,2}[ \t]?"
    r"(?:[:=(]|is\b|was\b)[ \t]?[\"'`]?((?:[A-Z2-7]{16,128}+"
    r"|[A-Z2-7]{4}(?:[ -][A-Z2-7]{4}){3,31}|[a-z2-7]{4}(?: [a-z2-7]{4}){3,31}+)=*)(?!\w)"
)
_REVERSED = r" is (?:the|my|our|your) (?:[a-z]{1,20} )?(?:password|passwd|passphrase)\b"
_PIN = (
    r"(?<![\w-])(?i:pin)(?i:[ -](?:code|number))?(?: (?:for|of|to) [^\n:=]{1,40}?)?"
    r"(?:[\"']?[ \t]?[:=][ \t]?| is | was )[\"'`]?([0-9]{4,8})(?![\w-]|\.[0-9])"
)
_COOKIES = r"(?i:cookies?)[\"'`]?[ \t]?[:=][ \t]?[\"'`]?([^\n\"'`]{3,4096}+)"
_COOKIE = r"([\w.!#$%&*+^|~-]{1,80}+)=([^\s;,\"'`\\]{6,2048}+)"
_COOKIE_NAME = r"(?i)sess|sid|auth|token|jwt|csrf|xsrf|remember|login|identity|__secure|__host"
_SESSION = (
    r"(?<![\w.-])(?i:session|sessionid|phpsessid|jsessionid|connect\.sid|laravel_session|sid)"
    r"=([^\s;,&\"'`\\]{16,1024}+)"
)
_DOCUMENT = r"(?m:^)---"
_SECRET_OBJECT = r"(?m:^)[ \t]{0,16}kind:[ \t]{0,4}[\"']?Secret[\"']?[ \t]{0,16}(?m:$)"
_SECRET_DATA = r"(?m:^)([ \t]{0,16}+)(?:data|stringData):[ \t]{0,16}\n((?:\1[ \t]{1,16}[^\n]{1,4096}(?:\n|\Z))++)"
_SECRET_ITEM = (
    r"(?m:^)[ \t]{1,32}+(?:[\w.-]{1,253}+:[ \t]{1,4}[\"']?([^\s\"'#{|>][^\s\"']{5,}+)"
    r"|([A-Za-z0-9+/]{16,}+={0,2}(?=\s)))"
)
_UUID = r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}"

_ARGUMENT = r"(?:\"([^\"\n]{1,256})\"|'([^'\n]{1,256})'|([^\s\"'`]{1,256}+))"
_LOGIN_ARGUMENT = r"[\"']?(?![0-9]+:[0-9])[^\s:\"'$<{]{1,64}+:([^\s\"']{1,256}+)"
_LOGIN_CALL = (
    r"(?i:auth|login|credentials?)(?:[ \t]?=[ \t]?)?"
    r"\([ \t]?[\"'][^\"'\n]{1,64}[\"'],[ \t]?[\"']([^\"'\n]{3,128})[\"'][ \t]?[,)]"
)
_PIPED = (
    rf"\becho[ \t](?:-n[ \t])?{_ARGUMENT}[ \t]{{0,4}}\|[^|\n]{{0,120}}?"
    r"(?:sudo[ \t]-\w{0,8}S|--password-stdin|secret create)"
)
_MYSQL = r"\b(?:mysql|mariadb)[\w-]{0,16}"
_COMMANDS = (
    (("mysql", "mariadb"), _MYSQL, rf"[ \t]-p{_ARGUMENT}"),
    (("sshpass",), r"\bsshpass", rf"[ \t]-p[ \t]{{0,4}}{_ARGUMENT}"),
    (
        ("login",),
        r"\b(?:docker|podman|helm|nerdctl|oc|az|skopeo|buildah|crane|oras|regctl|cf|ibmcloud)\b.{1,40}?\blogin",
        rf"[ \t]-p[ \t]{{1,4}}{_ARGUMENT}",
    ),
    (
        ("cqlsh", "rabbitmqadmin", "couchbase-cli", "cbq ", "hdbsql", "beeline", "twine"),
        r"\b(?:cqlsh|rabbitmqadmin|couchbase-cli|cbq|hdbsql|beeline|twine)\b",
        rf"[ \t]-p[ \t]{{1,4}}{_ARGUMENT}",
    ),
    (
        ("mosquitto_", "ipmitool", "tsql "),
        r"\b(?:mosquitto_(?:pub|sub|rr)|ipmitool|tsql)\b",
        rf"[ \t]-P[ \t]{{1,4}}{_ARGUMENT}",
    ),
    (("plink", "pscp", "psftp"), r"\b(?:plink|pscp|psftp)\b", rf"[ \t]-pw[ \t]{{1,4}}{_ARGUMENT}"),
    (("redis-cli",), r"\bredis-cli", rf"[ \t]-a[ \t]{{0,4}}{_ARGUMENT}"),
    (("sqlcmd", "bcp "), r"\b(?:sqlcmd|bcp)\b", rf"[ \t]-P[ \t]{{0,4}}{_ARGUMENT}"),
    (("ldap",), r"\bldap\w{1,16}", rf"[ \t]-w[ \t]{{1,4}}{_ARGUMENT}"),
    (("zip",), r"\b(?:un)?zip\b", rf"[ \t]-P[ \t]{{0,4}}{_ARGUMENT}"),
    (("7z",), r"\b7za?\b", rf"[ \t]-p{_ARGUMENT}"),
    (("openssl",), r"\bopenssl\b", rf"[ \t](?:-k[ \t]{{1,4}}|-pass(?:in|out)?[ \t]{{1,4}}[\"']?pass:){_ARGUMENT}"),
    (("keytool", "jarsigner"), r"\b(?:keytool|jarsigner)\b", rf"[ \t]-(?:store|key)pass[ \t]{{1,4}}{_ARGUMENT}"),
    (
        ("curl", "wget", "http"),
        r"\b(?:curl|wget)\b|(?m:^)(?:https?|xh)(?= )",
        rf"[ \t](?:-u|-a|-U|--user|--proxy-user|--auth)(?:[ \t]{{1,4}}|=){_LOGIN_ARGUMENT}",
    ),
    (
        ("htpasswd",),
        r"\bhtpasswd\b",
        rf"[ \t]-\w{{0,6}}b\w{{0,6}}[ \t]{{1,4}}\S{{1,128}}+[ \t]{{1,4}}[^\s-]\S{{0,64}}+[ \t]{{1,4}}{_ARGUMENT}",
    ),
    (("rdesktop", "freerdp"), r"\b(?:rdesktop|[xw]freerdp)\b", rf"[ \t]-p[ \t]{{1,4}}{_ARGUMENT}"),
    (("ssh-keygen",), r"\bssh-keygen\b", rf"[ \t]-[NP][ \t]{{1,4}}{_ARGUMENT}"),
    (("smbclient",), r"\bsmbclient\b", r"[ \t]-U[ \t]?[^\s%]{1,64}+%([^\s\"']{1,256}+)"),
)
_SPACED_PASSWORD = rf"[ \t]-p[ \t]{{1,4}}{_ARGUMENT}"
"""For MySQL, the word after `-p` and a space is a database. But people who write a password there mean it."""

_HINTS = ("bearer", "ssws ", "basic ", "identified", "cookie")
_OBJECT_HINTS = ("kind: secret", 'kind: "secret', "kind: 'secret")
_PIN_HINTS = ("pin ", "pin:", "pin=")
_SESSION_HINTS = ("session=", "sessionid=", "sessid=", "sid=")
_PIPE_HINTS = ("sudo -", "password-stdin", "secret create")
_COMMAND_HINTS = (*(hint for hints, _, _ in _COMMANDS for hint in hints), "mongo", "securestring", *_PIPE_HINTS)
_DSN_HINTS = ("@tcp(", "@unix(")
_PGPASS_HINTS = (":5432:", ":*:")
_CALL_HINTS = ("auth(", "auth=(", "auth = (", "login(", "credential(", "credentials(")
_CONNECT_HINTS = ("pdo(", "mysqli(", "connect(", "connection(", "credential(")
_PAREN_HINTS = (*_CALL_HINTS, *_DSN_HINTS, *_CONNECT_HINTS)
_SLASH_HINTS = (" /p:", " /pw:", " /pwd:", " /pass:", " /password:", " /rp ")
_COLON_HINTS = (*_PGPASS_HINTS, *_SLASH_HINTS, *_OBJECT_HINTS, "/user:", "wifi:", " p:", " pw:", " pass:")
_ORACLE_HINTS = (
    "scott/",
    "system/",
    "sys/",
    "hr/",
    "sysdba/",
    "sqlplus",
    "sqlldr",
    "imp",
    "exp",
    "rman",
    "oracle:",
    "conn",
)
_TOTP_HINTS = ("totp", "hotp", "otp", "2fa", "mfa", "two-factor", "authenticator")
_OTHER_HINTS = (" /rp ", "net user", "net1 user", "chpasswd", *_TOTP_HINTS)
_PASSWORD_FORMS: tuple[tuple[tuple[str, ...], str], ...] = (
    (("identified",), _SQL),
    (("securestring",), _POWERSHELL),
    (_PIPE_HINTS, _PIPED),
    (_CALL_HINTS, _LOGIN_CALL),
    (_DSN_HINTS, _GO_DSN),
    (_PGPASS_HINTS, _PGPASS),
    (("/user:",), _NET_USE),
    (("net user", "net1 user"), _NET_USER),
    (_SLASH_HINTS, _SLASH_OPTION),
    (("@",), _ORACLE),
    (("chpasswd",), _CHPASSWD),
    (("wifi:",), _WIFI),
)
_MIXED_FORMS: tuple[tuple[tuple[str, ...], str], ...] = (
    (_CONNECT_HINTS, _CONNECT),
    ((" p:", " pw:", " pass:", "/p:"), _PAIRED),
)
"""Only a value that is no plain word is a password here."""


def may_have_forms(lowered: str) -> bool:
    """Whether the text may have such forms. A quick test: only a yes can be wrong."""
    return (
        contains_any(lowered, _HINTS)
        or ("pin" in lowered and contains_any(lowered, _PIN_HINTS))
        or ("=" in lowered and contains_any(lowered, _SESSION_HINTS))
        or ("(" in lowered and contains_any(lowered, _PAREN_HINTS))
        or (":" in lowered and contains_any(lowered, _COLON_HINTS))
        or ("-" in lowered and " -" in lowered and contains_any(lowered, _COMMAND_HINTS))
        or ("@" in lowered and "/" in lowered and contains_any(lowered, _ORACLE_HINTS))
        or contains_any(lowered, _OTHER_HINTS)
    )


def find_forms(text: str, lowered: str) -> Iterator[Span]:
    if "bearer" in lowered or "ssws " in lowered:
        for match in compiled(_BEARER).finditer(text):
            if is_opaque(match[1], 8) and not is_placeholder(match[1]):
                yield Span(match.start(1), match.end(1) - len(match[1]) + len(match[1].rstrip(".")), "bearer")
    if "basic " in lowered:
        for match in compiled(_BASIC).finditer(text):
            if is_login(match[1]):
                yield Span(*match.span(1), "basic")
    if "cookie" in lowered:
        yield from _find_cookies(text)
    if contains_any(lowered, _SESSION_HINTS):
        for match in compiled(_SESSION).finditer(text):
            if is_opaque(match[1], 16) and not compiled(_UUID).fullmatch(match[1]):
                yield Span(*match.span(1), "cookie")
    for hints, pattern in _PASSWORD_FORMS:
        for match in compiled(pattern).finditer(text) if contains_any(lowered, hints) else ():
            group = match.lastindex or 0
            if not is_placeholder(match[group]):
                yield Span(*match.span(group), "password")
    for hints, pattern in _MIXED_FORMS:
        for match in compiled(pattern).finditer(text) if contains_any(lowered, hints) else ():
            if is_mixed(match[1], 5) and not is_placeholder(match[1]):
                yield Span(*match.span(1), "password")
    if contains_any(lowered, _TOTP_HINTS):
        for match in compiled(_TOTP).finditer(text):
            if is_random(match[1]):
                yield Span(*match.span(1), "totp_secret")
    if "values" in lowered and "into" in lowered:
        yield from _find_inserted(text)
    if contains_any(lowered, _OBJECT_HINTS):
        yield from _find_in_secret_objects(text)
    if contains_any(lowered, _PIN_HINTS):
        for match in compiled(_PIN).finditer(text):
            yield Span(*match.span(1), "pin")
    if contains_any(lowered, (" is the ", " is my ", " is our ", " is your ")) and "pass" in lowered:
        yield from _find_reversed(text, lowered)
    if " -" in lowered and contains_any(lowered, _COMMAND_HINTS):
        yield from _find_in_commands(text, lowered)


def _find_cookies(text: str) -> Iterator[Span]:
    for header in compiled(_COOKIES).finditer(text):
        for match in compiled(_COOKIE).finditer(text, *header.span(1)):
            known = compiled(_COOKIE_NAME).search(match[1])
            if is_opaque(match[2], 6 if known else 24) and not is_placeholder(match[2]):
                yield Span(*match.span(2), "cookie")


def _find_inserted(text: str) -> Iterator[Span]:
    """`INSERT INTO users (name, password) VALUES ('bob', …)`: the column names the value."""
    for insert in compiled(_INSERT).finditer(text):
        kinds = [named and named.kind for named in map(secret_named, insert[1].split(","))]
        row = compiled(_ROW).match(text, insert.end()) if any(kinds) else None
        while row:
            cells = compiled(_CELL).finditer(text, *row.span(1))
            for kind, cell in zip(kinds, cells, strict=False):
                value = cell[1] or ""
                if kind and value and not is_placeholder(value) and not is_sentence(value):
                    yield Span(*cell.span(1), kind)
            row = compiled(_ROW).match(text, row.end())


def _find_in_secret_objects(text: str) -> Iterator[Span]:
    """The data of a Secret of Kubernetes: whatever its keys are called, the values are secrets."""
    starts = [0, *(match.start() for match in compiled(_DOCUMENT).finditer(text))]
    for first, last in zip(starts, [*starts[1:], len(text)], strict=True):
        is_secret = compiled(_SECRET_OBJECT).search(text, first, last)
        for data in compiled(_SECRET_DATA).finditer(text, first, last) if is_secret else ():
            for item in compiled(_SECRET_ITEM).finditer(text, *data.span(2)):
                group = item.lastindex or 0
                if not is_placeholder(item[group]):
                    yield Span(*item.span(group), "secret")


def _find_reversed(text: str, lowered: str) -> Iterator[Span]:
    for match in compiled(_REVERSED).finditer(lowered):
        words = text[max(0, match.start() - 64) : match.start()].split()
        value = words[-1].strip("\"'`“”‘’(") if words else ""
        if is_mixed(value, 6) and not is_placeholder(value) and not is_expression(value):
            first = text.rindex(value, 0, match.start())
            yield Span(first, first + len(value), "password")


def _find_in_commands(text: str, lowered: str) -> Iterator[Span]:
    position = 0
    while position < len(text):
        end = text.find("\n", position)
        while end > 0 and text[end - 1] == "\\":  # the command goes on in the next line
            end = text.find("\n", end + 1)
        end = len(text) if end < 0 else end
        yield from _find_in_command(text, lowered, position, end)
        position = end + 1


def _find_in_command(text: str, lowered: str, first: int, last: int) -> Iterator[Span]:
    line = lowered[first:last]
    if " -" not in line:
        return
    for hints, command, argument in _COMMANDS:
        called = compiled(command).search(lowered, first, last) if contains_any(line, hints) else None
        for match in compiled(argument).finditer(text, called.end(), last) if called else ():
            group = match.lastindex or 0
            if not is_placeholder(match[group]):
                yield Span(*match.span(group), "password")
    if contains_any(line, ("mysql", "mariadb", "mongo")):
        for match in compiled(_SPACED_PASSWORD).finditer(text, first, last):
            group = match.lastindex or 0
            if is_mixed(match[group]) and not match[group].isdigit() and not is_placeholder(match[group]):
                yield Span(*match.span(group), "password")
