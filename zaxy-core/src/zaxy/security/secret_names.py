"""Knows which names stand for a secret: keys, variables, options, headers, words of a sentence."""

from __future__ import annotations

import re
from functools import lru_cache

from zaxy.tuples import NamedTuple


class SecretName(NamedTuple):
    kind: str
    generic: bool = False
    """The name often means something else, such as the `token` of a lexer. So its value must look like a secret."""


_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+|[^\W\d_]+")
_ENDINGS = (
    ("passphrase", "passphrase"),
    ("seedphrase", "passphrase"),
    ("recoveryphrase", "passphrase"),
    ("mnemonic", "passphrase"),
    *((word, "password") for word in ("password", "passwd", "passwort", "passcode", "pwd", "contraseña")),
    *((word, "password") for word in ("contrasena", "motdepasse", "пароль", "密码", "密碼", "パスワード", "psk")),
    *(
        (f"{owner}pass", "password")
        for owner in "require user db root admin smtp mail store key ldap bind proxy".split()
    ),
    ("privatekey", "private_key"),
    ("secretaccesskey", "aws_secret_key"),
    ("apikey", "api_key"),
    *(
        (f"{owner}key", "secret_key")
        for owner in (
            "access secret account signing encryption decryption master auth hmac admin aes cipher symmetric jwt"
        ).split()
    ),
    ("secret", "secret"),
    ("token", "token"),
    ("authorization", "authorization"),
)
_LOOSE_ENDINGS = tuple(
    f"{owner}key"
    for owner in (
        "shared storage app application service deploy webhook root subscription licence license consumer integration "
        "global bot cloudflare heroku datadog twilio stripe openai anthropic sendgrid mailgun algolia crypto function "
        "functions azure gcp"
    ).split()
)
_SHORT = {
    **dict.fromkeys(("pass", "pw", "passwords"), SecretName("password")),
    **dict.fromkeys(("auth", "jwt", "bearer"), SecretName("token")),
    **dict.fromkeys(("credential", "credentials", "creds"), SecretName("credential")),
    "pin": SecretName("pin"),
    "secrets": SecretName("secret"),
}
_QUALIFIERS = frozenset(
    "value plain plaintext raw confirmation confirm confirmed again repeat old new current default prod production "
    "staging stage dev test live primary secondary backup main b64 base64 base".split()
)
_NOT_SECRET_BEFORE = frozenset(
    "is has have had show hide no not use uses using reset forgot forget forgotten change verify validate validated "
    "get fetch check require requires required needs need allow enable enabled disable missing invalid wrong bad "
    "expired empty update rotate generate create delete remove revoke hash hashed encrypted masked redacted public "
    "without if count num number total max min by on last parse read load store save accept prompt ask "
    "enter type lost incorrect find split encode decode extract".split()
)
_OTHER_TOKENS = frozenset(
    "next page nextpage previous prev backward forward continuation continue sync cancellation cancel cancelled start "
    "end eos bos pad unk mask sep cls special stop input output prompt completion cached reasoning max min per last "
    "first second peek current_ punctuation operator name number string comment keyword identifier each every "
    "expected unexpected pagination starting paging lexer parser syntax word sub subword image text audio delimiter "
    "separator design color native erc reserved unknown line newline indent dedent whitespace trailing leading single "
    "this that any some idempotency resume resumption resource vocab vocabulary chat".split()
)


@lru_cache(maxsize=1024)
def secret_named(name: str) -> SecretName | None:
    """The kind of secret that a name stands for, or None: `DB_PASSWORD`, `clientSecret`, but not `max_tokens`."""
    words = [word.lower() for word in _WORDS.findall(name)]
    while len(words) > 1 and (words[-1].isdigit() or words[-1] in _QUALIFIERS):
        words.pop()
    if not words or (words[0] in _NOT_SECRET_BEFORE and len(words) > 1):
        return None
    if words[-1] in _SHORT:
        return _SHORT[words[-1]]._replace(generic=len(words) == 1 and words[0] != "pw")
    flat = "".join(words)
    for ending, kind in _ENDINGS:
        if flat.endswith(ending):
            if kind == "token":
                return _token(words, flat)
            return SecretName(kind)
    return SecretName("secret_key", generic=True) if flat.endswith(_LOOSE_ENDINGS) else None


def _token(words: list[str], flat: str) -> SecretName | None:
    before = words[-2] if len(words) > 1 else flat.removesuffix("token")
    if before in _OTHER_TOKENS:
        return None
    return SecretName("token", generic=not before)


def is_other_token(before: str) -> bool:
    """Whether the words before `token` show that it is no secret: `next page`, `lexer`."""
    return before.split()[-1].lower() in _OTHER_TOKENS
