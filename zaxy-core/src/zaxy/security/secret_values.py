"""Judges a value in the place of a secret: is it one, or a placeholder, a label, a reference or code?"""

from __future__ import annotations

import re
from binascii import a2b_base64
from functools import cache

PASSWORD_KINDS = frozenset(("password", "passphrase", "secret", "pin"))
"""Kinds that people choose, so that a plain word may be one. Machines make all others."""

_FILLERS = frozenset(
    "password passwd passphrase passwort kennwort pass pwd pw token tokens secret secrets key keys apikey credential "
    "credentials auth authorization authentication bearer basic jwt oauth api access private public client user "
    "username login signin field value val string str text char varchar bytes int integer number float bool boolean "
    "object array list dict any type var let const self this params args data req request res response result form "
    "label error message prompt input hash hashed encrypted plain plaintext raw env environment config settings "
    "secretstr name id none null nil undefined nan na true false yes no on off test testing example sample dummy fake "
    "placeholder changeme changeit change me replace replaceme todo fixme tbd hidden redacted masked removed omitted "
    "filtered required optional invalid valid missing wrong incorrect correct expired unset set empty unknown default "
    "disabled enabled encoded sealed my your yours here goes the a an some new old current real actual this that with "
    "foo bar baz generated auto automatic external inherit inherited provided supplied "
    "stored needed mandatory protected confidential sensitive shared strong weak short long same different "
    "contraseña senha motdepasse пароль 密码 密碼 パスワード".split()
)
_LEADS = frozenset("your insert enter replace change put add example sample dummy placeholder".split())
_TAILS = frozenset("password passwd token secret key here".split())
_SENTENCE_WORDS = frozenset(
    "the a an is are was were be been to of for in on at by from with without and or not no must should shall can "
    "cannot could may might will would your you we i they it its this that these those please enter type choose use "
    "used using has have had do does if when as than too least most characters character required invalid field "
    "again new current forgot reset confirm repeat hello".split()
)
_UNITS = frozenset(
    "character characters char chars byte bytes bit bits digit digits letter letters symbol symbols word words second "
    "seconds minute minutes hour hours day days week weeks month months year years time times token tokens attempt "
    "attempts of percent ms s kb mb".split()
)
_TECHNIQUE = (
    r"(?i:sha|md|aes|rsa|utf|base|oauth|argon|pbkdf|tls|ssl|http|ipv|ed|ec|es|hs|rs|ps|des|rc|blake|crc|x|v|p|h|rfc|"
    r"iso|hmac|curve)[-_]?[0-9]+(?:[-_.][A-Za-z0-9]{1,12}){0,4}"
)
_TEMPLATE = (
    r"\$[{(].*|\$[A-Za-z_][A-Za-z_0-9:.]*[}\])]*|\$[0-9@*#]|(?:\$\w{1,8}){1,2}\$"  # variables, prefixes of hashes
    r"|\{.*\}|\{[^}]*|<[^<>]*>|\[.*\]|\(\w+\)|#\{.*|%[A-Za-z_]\w*%|%[sdrvq]|%\(\w+\)[sd]|@[A-Z_]+@|\?|:\w+"  # templates
    r"|[*•●·.xX_#?…=~|:>\\-]+|.{0,8}(?:\.\.\.|…)|#[0-9a-fA-F]{3,8}|(?:\\[ux][0-9a-fA-F]{2,8})+"  # masks, escapes
    r"|[a-z_]+(?:\|[a-z_]+(?::[\w,.]+)?)+"  # rules of a form: `required|string|min:8`
    r"|!(?:vault|secret|Ref|Sub|env|ENV)\b.*|ENC[\[(].*"  # tags of YAML and Java
    r"|(?:env|vault|op|ref|ssm|arn|file|https?|keyring|doppler|sops):\S*"  # where it is kept
    r"|(?:~|\.{1,2})?(?:/[\w.@{}$%+-]{1,24})+/?|[A-Za-z]:\\[\w .\\-]*|[\w.-]+(?:/[\w.-]+)+\.[a-z]{1,5}"  # paths
)
_EXPRESSION = (
    r"[A-Za-z_$][\w.$]*\??[(\[{)].*|(?:[A-Za-z_]+[0-9]{0,2}(?:\.|\?\.|->|::))+[A-Za-z_]+[0-9]{0,2}\W*"
    r"|[&*!@^-][A-Za-z_]+|[A-Za-z_]\w*\|\w+|0x[0-9a-fA-F]{1,16}|[A-Za-z_]+\[\]|[a-z]+<.*|\W+|new|await|lambda|function"
)
_SLOT = r"%[sdrvq]|%\(\w+\)[sd]|\{\w*\}|(?<![A-Za-z0-9])\$\w+"
_REGEX = r"\[\^?\w-\w|\(\?|\]\{|\][*+]|\\[wdsSWDb]"
_VERSION_OR_DATE = r"v?[0-9]+(?:\.[0-9]+)+\S*|[0-9]{4}-[0-9]{2}-[0-9]{2}\S*|[0-9]{1,2}:[0-9]{2}\S*"
_NUMBERED_NAME = r"[A-Za-z]+(?:[-_. ][A-Za-z]+)+(?:[-_.]?v?[0-9]{1,3})?|[a-z]{1,12}[-_]v?[0-9]{1,3}"
_WORDS = r"[^\W\d_]+"
_PAIRS = frozenset(
    group[0] + second
    for group in (
        "aabcdghijklmnprstuvyz baeiloru caehikortu daeinoruz eabcdefghijklmnprstuvxz faeior gaeiloruy haeiotu "
        "iabcdegijklmnoprstuvz jaeiou kaeilorstu ladeilmostuy mabeimopu nacdegiknostuy obcdgijklmnoprstuvwz paeilopru "
        "qu racdegiklmnorstuvyz saceiklopstuz taehiorstuy uabcdegiklmnoprstz vaeio waeio yaest zaeio"
    ).split()
    for second in group[1:]
)
"""Letters that follow each other in words: the 252 pairs that make up 93 % of the common words of twenty languages. Of
random letters they make up 37 %."""
MIN_RANDOM_LETTERS = 12


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.DOTALL)


def is_placeholder(value: str) -> bool:
    """Whether it is empty, masked, a template, a path, an address, or words such as `your-api-key-here` or `None`."""
    bare = value.strip()
    if bare.rstrip(".,:;").lower() in _FILLERS:
        return True
    if len(bare) < 2 or _compiled(_TEMPLATE).fullmatch(bare) or _compiled(_REGEX).search(bare):
        return True
    if len(_compiled(_SLOT).sub("", bare)) < 4 and _compiled(_SLOT).search(bare):
        return True
    if len(bare) > 64 or _compiled("[0-9]").search(bare):
        return bare[:5].lower() in ("your-", "your_", "your ")
    words = [word.lower() for word in _compiled(_WORDS).findall(re.sub(r"(?<=[a-z])(?=[A-Z])", " ", bare))]
    if not words or _compiled("[!@#%^&*+=~]").search(bare):
        return False
    return (
        all(word in _FILLERS for word in words)
        or words[0] in _LEADS
        or (1 < len(words) <= 3 and words[-1] in _TAILS)
        or bare.lower().startswith(("your", "my_", "my-"))
    )


def is_expression(value: str) -> bool:
    """Whether it is code and not a value: a call, an index, an attribute, a type, an operator."""
    return _compiled(_EXPRESSION).fullmatch(value) is not None


def is_variable(value: str) -> bool:
    """Whether it is a name such as `token2`: in code, a variable is often assigned to one of a similar name."""
    name = _compiled(r"([A-Za-z_]+)[0-9]{0,2}").fullmatch(value)
    return name is not None and all(word.lower() in _FILLERS for word in _compiled(_WORDS).findall(name[1]))


def is_sentence(value: str) -> bool:
    """Whether it is several words that mean something, such as a label. A passphrase means nothing."""
    words = value.lower().split()
    if len(words) < 2:
        return False
    named = any(word.strip(".,:;!?'\"()") in _SENTENCE_WORDS for word in words)
    return named or value.rstrip()[-1] in ".:?!" or any(word.strip(".,:") in _TAILS for word in words)


def is_passphrase(value: str) -> bool:
    """Whether it is three or more plain words, but no sentence. Some of twelve, as in a seed phrase, may be common."""
    words = value.split()
    common = sum(word in _SENTENCE_WORDS or word in _TAILS for word in words)
    return (
        len(words) > 2 and all(word.isalpha() and len(word) < 13 for word in words) and common <= len(words) // 12 * 3
    )


def is_mixed(value: str, min_chars: int = 4) -> bool:
    """Whether it is letters with digits or marks, or digits alone, like a password that is no plain word."""
    core = value.rstrip("!?.:,*")
    if len(value) < min_chars or _compiled(_TECHNIQUE).fullmatch(core) or _compiled(_VERSION_OR_DATE).fullmatch(core):
        return False
    if core.isdigit():
        return len(core) > 3
    if not _compiled(_WORDS).search(core):
        return len(core) > 5 and not _compiled("[^0-9]+|[0-9.,:/ +-]+").fullmatch(core)
    return _compiled("[0-9@#$%^&*+=~!]").search(core) is not None or core.count("-") > 2


def is_strong(value: str) -> bool:
    """Whether it is such a mixture of small letters, capitals, digits and marks that it is hardly anything else."""
    kinds = sum(
        _compiled(pattern).search(value) is not None for pattern in ("[a-z]", "[A-Z]", "[0-9]", "[!@#$%^&*+=~]")
    )
    return is_mixed(value, 7) and kinds > 2


def is_opaque(value: str, min_chars: int) -> bool:
    """Whether it is letters with digits, as machines make them, and no words."""
    if len(value) < min_chars or " " in value:
        return False
    if value.isalpha():
        return is_random_letters(value)
    if value.isdigit():
        return len(value) > 15
    if _compiled("[0-9]").search(value):
        named = (_NUMBERED_NAME, _VERSION_OR_DATE, _TECHNIQUE)
        return not any(_compiled(pattern).fullmatch(value) for pattern in named) and bool(
            _compiled(_WORDS).search(value)
        )
    return len(value) > 11 and len(value) % 4 == 0 and is_login(value)


def is_random(value: str) -> bool:
    """Whether it has digits, or its letters follow each other as they do in no word."""
    return _compiled("[0-9]").search(value) is not None or is_random_letters(value)


def is_random_letters(value: str) -> bool:
    """Whether it is letters alone, too many and too oddly mixed to be words: `kXbWqPzRtYvNmLsD`."""
    letters = "".join(_compiled("[A-Za-z]+").findall(value))
    if len(letters) < MIN_RANDOM_LETTERS:
        return False
    humps = _compiled("[A-Z]+(?![a-z])|[A-Z]?[a-z]+").findall(letters)
    if len(humps) * 5 > len(letters) * 2:  # camel case has longer words
        return True
    lowered = letters.lower()
    known = sum(lowered[at : at + 2] in _PAIRS for at in range(len(lowered) - 1))
    return known * 100 < (len(lowered) - 1) * 64


def is_wordy(value: str) -> bool:
    """Whether it is mostly words, as in `CertificateKeyTypes2`: a name, and nothing random."""
    words = [word for word in _compiled(r"[A-Z]?[a-z]{3,}").findall(value) if _compiled("[aeiou]").search(word)]
    return sum(map(len, words)) * 10 >= len(value) * 6


def is_login(encoded: str) -> bool:
    """Whether this is `user:password` in base64."""
    if not _compiled("[A-Za-z0-9+/]{8,}+={0,2}").fullmatch(encoded):
        return False
    try:
        user, _, password = a2b_base64(encoded + "=" * (-len(encoded) % 4)).decode().partition(":")
    except ValueError:
        return False
    return user.isprintable() and password != "" and password.isprintable()


def counts_something(value: str, after: str) -> bool:
    """Whether it is a number with a unit: `8 characters`, `5 minutes`."""
    following = after.split(None, 1)
    return value[:1].isdigit() and bool(following) and following[0].strip(".,;:)").lower() in _UNITS
