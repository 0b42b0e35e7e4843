"""Finds secrets by their own shape, in any place: provider keys, JWTs, private keys, passwords in URLs.

Every pattern begins with a literal or a boundary, and its repetitions are bounded or possessive, so that the time is
linear in the length of the text.
"""

from __future__ import annotations

import re
from binascii import a2b_base64
from functools import cache

from zaxy.security.secret_values import is_opaque, is_placeholder, is_wordy
from zaxy.tuples import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator


class Span(NamedTuple):
    """A secret in a text. If two overlap, the kind with the higher rank is kept."""

    start: int
    end: int
    kind: str
    rank: int = 1


class Shape(NamedTuple):
    kind: str
    hints: tuple[str, ...]
    """Every secret of this shape has at least one of these literals."""
    pattern: str
    """Its first group is the secret; without a group, the whole match is."""


MIN_SHAPE_CHARS = 20
"""A shape has at least this many characters without a space, which keeps the search for hints cheap."""

_START = r"(?:(?<![\w-])|(?<=\\[nrt])|(?<=%[0-9A-Fa-f]{2})|(?<=\[0m)|(?<=[\[;][0-9]{2}m))"
"""Where a token may begin."""

SHAPES = (
    Shape("github_token", ("ghp_", "gho_", "ghu_", "ghs_", "ghr_"), r"gh[pousr]_[A-Za-z0-9]{30,}+"),
    Shape("github_token", ("github_pat_",), r"github_pat_[A-Za-z0-9_]{30,}+"),
    Shape(
        "gitlab_token",
        ("glpat-", "gldt-", "glrt-", "glptt-", "glcbt-"),
        r"gl(?:pat|dt|rt|ptt|cbt)-(?:[A-Za-z0-9_-]|\.(?=[A-Za-z0-9_-])){18,}+",
    ),
    Shape("slack_token", ("xox", "xapp-"), r"(?:xox[abeoprs]|xapp)-[A-Za-z0-9-]{15,}+"),
    Shape("slack_webhook", ("hooks.slack.com",), r"hooks\.slack\.com/(?:services|workflows|triggers)/([\w/-]{20,}+)"),
    Shape("aws_access_key", ("AKIA", "ASIA", "ABIA", "ACCA"), r"A(?:KIA|SIA|BIA|CCA)[A-Z0-9]{16}(?![A-Za-z0-9])"),
    Shape("google_api_key", ("AIza",), r"AIza[A-Za-z0-9_-]{35,}+"),
    Shape(
        "google_token",
        ("ya29.", "GOCSPX-", "1//0"),
        r"(?:ya29\.|GOCSPX-|1//0)(?:[A-Za-z0-9_-]|\.(?=[A-Za-z0-9_-])){20,}+",
    ),
    Shape("anthropic_key", ("sk-ant-",), r"sk-ant-[A-Za-z0-9_-]{20,}+"),
    Shape("openai_key", ("sk-",), r"sk-[A-Za-z0-9_-]{20,}+"),
    Shape("pypi_token", ("pypi-Ag",), r"pypi-Ag[A-Za-z0-9_-]{40,}+"),
    Shape("npm_token", ("npm_",), r"npm_[A-Za-z0-9]{36,}+"),
    Shape("stripe_key", ("sk_", "rk_", "whsec_"), r"(?:[sr]k_(?:live|test|prod)_|whsec_)[A-Za-z0-9+/=]{16,}+"),
    Shape("sendgrid_key", ("SG.",), r"SG\.[A-Za-z0-9_-]{16,32}\.[A-Za-z0-9_-]{16,}+"),
    Shape("twilio_key", ("SK",), r"SK[0-9a-f]{32}(?![0-9A-Za-z])"),
    Shape("telegram_token", (":A",), r"(?:bot)?([0-9]{8,12}:A[A-Za-z0-9_-]{33,}+)"),
    Shape(
        "discord_token",
        ("MT", "Mj", "Mz", "ND", "NT", "Nj", "Nz", "OD", "OT"),
        _START + r"[MNO][TjzD][\w-]{22,28}+\.[\w-]{6}+\.[\w-]{27,}+",
    ),
    Shape("discord_webhook", ("/api/webhooks/",), r"/api/webhooks/[0-9]{8,24}/([\w-]{30,}+)"),
    Shape("teams_webhook", ("/IncomingWebhook/",), r"/IncomingWebhook/([\w/-]{30,}+)"),
    Shape("huggingface_token", ("hf_",), r"hf_[A-Za-z0-9]{30,}+"),
    Shape("digitalocean_token", ("_v1_",), r"do[opr]_v1_[a-f0-9]{40,}+"),
    Shape(
        "azure_key",
        ("AccountKey", "SharedAccessKey"),
        r"(?:AccountKey|SharedAccessKey)[\"']?[=:][ \t]?[\"']?([A-Za-z0-9+/]{40,}+={0,2})",
    ),
    Shape("azure_signature", ("sig=",), r"sig=([A-Za-z0-9%+/=_-]{40,}+)"),
    Shape("azure_secret", ("Q~",), r"[A-Za-z0-9_~.-]{3,4}[0-9]Q~[A-Za-z0-9_~.-]{31,34}"),
    Shape("databricks_token", ("dapi",), r"dapi[a-f0-9]{32}"),
    Shape("shopify_token", ("shpat_", "shpca_", "shppa_", "shpss_"), r"shp(?:at|ca|pa|ss)_[a-fA-F0-9]{32}"),
    Shape("mailgun_key", ("key-",), r"key-[a-f0-9]{32}(?![0-9A-Za-z])"),
    Shape("square_token", ("sq0",), r"sq0[a-z]{3}-[A-Za-z0-9_-]{20,}+"),
    Shape("square_token", ("EAAA",), r"EAAA[A-Za-z0-9_-]{58,62}(?![\w-])"),
    Shape("facebook_token", ("EAA",), r"EAA[A-Za-z0-9]{90,}+"),
    Shape("docker_token", ("dckr_",), r"dckr_[po]at_[A-Za-z0-9_-]{20,}+"),
    Shape("vault_token", ("hvs.", "hvb.", "hvr."), r"hv[sbr]\.[A-Za-z0-9_-]{20,}+"),
    Shape("grafana_token", ("glsa_", "glc_"), r"(?:glsa|glc)_[A-Za-z0-9+/=_]{32,}+"),
    Shape("grafana_token", ("eyJrIjoi",), r"eyJrIjoi[A-Za-z0-9+/]{40,}+={0,2}"),
    Shape("linear_key", ("lin_api_", "lin_oauth_"), r"lin_(?:api|oauth)_[A-Za-z0-9]{32,}+"),
    Shape("notion_token", ("ntn_", "secret_"), r"(?:ntn|secret)_[A-Za-z0-9]{40,}+"),
    Shape(
        "doppler_token",
        ("dp.pt.", "dp.st.", "dp.ct.", "dp.sa."),
        r"dp\.(?:pt|st|ct|sa)\.(?:[A-Za-z0-9_-]|\.(?=[A-Za-z0-9_-])){40,}+",
    ),
    Shape("age_key", ("AGE-SECRET-KEY-1",), r"AGE-SECRET-KEY-1[A-Z0-9]{50,}+"),
    Shape("atlassian_token", ("ATATT3",), r"ATATT3[A-Za-z0-9_=-]{50,}+"),
    Shape("sentry_token", ("sntrys_", "sntryu_"), r"sntry[su]_[A-Za-z0-9+/=_-]{40,}+"),
    Shape("tailscale_key", ("tskey-",), r"tskey-[a-z]{2,12}-[A-Za-z0-9-]{16,}+"),
    Shape("postman_key", ("PMAK-",), r"PMAK-[a-f0-9]{24}-[a-f0-9]{34}"),
    Shape("api_key", ("gsk_", "xai-", "pplx-"), r"(?:gsk_|xai-|pplx-)[A-Za-z0-9]{40,}+"),
    Shape("api_key", ("sbp_", "r8_", "figd_", "nfp_", "sgp_"), r"(?:sbp|r8|figd|nfp|sgp)_[A-Za-z0-9_-]{32,}+"),
    Shape("api_key", ("squ_", "sqp_", "sqa_"), r"sq[upa]_[a-f0-9]{40}"),
    Shape("api_key", ("lsv2_", "tvly-", "rubygems_"), r"(?:lsv2_[ps][tk]_|tvly-(?:dev-)?|rubygems_)[A-Za-z0-9_]{28,}+"),
    Shape("jwt", ("eyJ",), _START + r"eyJ[\w-]{8,}+\.(?:eyJ[\w-]*+|[\w-]{8,}+(?=\.[\w-]))(?:\.[\w-]++){0,3}"),
)

_MASK_OR_NAME = r"[A-Za-z0-9]{0,12}[-_]?[xX*.0_-]+|[a-z]{1,12}(?:[-_][a-z0-9]{1,12})+"
_BOUNDARY = r"(?:[^A-Za-z0-9]|\\[nrt]|%[0-9A-Fa-f]{2}|\[[0-9;]{1,8}m)\Z"
_KEY_BEGIN = r"-{4,5} ?BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)? ?-{4,5}|Private-Lines: [0-9]{1,3}"
_KEY_END = r"-{4,5} ?END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)? ?-{4,5}"
_KEY_HEADER = r"(?:\s|\\[nr]){0,16}+[A-Z][A-Za-z-]{2,20}+: ?[^\n\\]{1,100}+"
_NOT_A_WORD = r"(?![a-z]++(?![A-Za-z0-9+/=]))"
_KEY_LINE = rf"(?:[ \t]|\r?\n|\\r|\\n){{0,16}}+{_NOT_A_WORD}[A-Za-z0-9+/=]{{8,}}+"
_KEY_NEXT_LINE = rf"(?:[ \t]|\\r){{0,16}}+(?:\r?\n|\\n)?[ \t]{{0,16}}+{_NOT_A_WORD}[A-Za-z0-9+/=]++(?=[\s\\\"'`,;<]|\Z)"
_KEY_RUN = r"[A-Za-z0-9+/=]{32}"
_BASE64 = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/="
_URL_PASSWORD = r":(?:\\?/){2}[^\s:/?#@\"'<>`\\]{0,128}+:([^\s/\"'<>`?]{1,256})@(?=[\w.\[$%{-])"
_URL_TOKEN = r":(?:\\?/){2}([^\s:/?#@\"'<>`\\]{20,256}+)@(?=[\w.\[-])"
_AWS_SECRET = r"(?<![A-Za-z0-9/+=])[A-Za-z0-9/+]{40}(?![A-Za-z0-9/+=])"


@cache
def compiled(pattern: str, flags: int = 0) -> re.Pattern[str]:
    """A pattern that is compiled when it is first needed. Most payloads need none."""
    return re.compile(pattern, flags)


def contains_any(text: str, literals: tuple[str, ...]) -> bool:
    for literal in literals:  # noqa: SIM110 - any() with a generator takes twice as long
        if literal in text:
            return True
    return False


_KEY_HINTS = ("PRIVATE KEY", "Private-Lines")
_URL_HINTS = (":/", ":\\/")
_LOWER_HINTS = tuple(dict.fromkeys(hint for shape in SHAPES for hint in shape.hints if hint == hint.lower()))
_OTHER_HINTS = tuple(dict.fromkeys(hint for shape in SHAPES for hint in shape.hints if hint != hint.lower()))


def may_have_shapes(text: str) -> bool:
    """Whether the text may have such shapes. A quick test: only a yes can be wrong."""
    if contains_any(text, _KEY_HINTS) or ("@" in text and contains_any(text, _URL_HINTS)):
        return True
    long = " ".join([word for word in text.split() if len(word) >= MIN_SHAPE_CHARS])
    if not long:
        return False
    return contains_any(long, _LOWER_HINTS) or (long != long.lower() and contains_any(long, _OTHER_HINTS))


def find_shapes(text: str) -> list[Span]:
    spans: list[Span] = []
    for shape in SHAPES:
        if contains_any(text, shape.hints):
            spans += _find_jwts(text, shape) if shape.kind == "jwt" else _find_shape(text, shape)
    if any(span.kind == "aws_access_key" for span in spans):
        spans += _find_aws_secrets(text)
    if contains_any(text, _KEY_HINTS):
        spans += _find_private_keys(text)
    if "@" in text and contains_any(text, _URL_HINTS):
        spans += _find_url_passwords(text)
    return spans


def _find_shape(text: str, shape: Shape) -> Iterator[Span]:
    for match in compiled(shape.pattern).finditer(text):
        group = 1 if match.re.groups else 0
        masked = len(set(match[group][-16:])) < 4 or compiled(_MASK_OR_NAME).fullmatch(match[group])
        if not masked and _begins(text, match.start()):
            yield Span(*match.span(group), shape.kind, 2)


def _begins(text: str, start: int) -> bool:
    """Whether a token may begin here: after a boundary, an escape, a percent code or a terminal colour."""
    if not start or not text[start].isalnum():
        return True
    return compiled(_BOUNDARY).search(text[max(0, start - 10) : start]) is not None


def _find_jwts(text: str, shape: Shape) -> Iterator[Span]:
    for match in compiled(shape.pattern).finditer(text):
        header = match[0].partition(".")[0].replace("-", "+").replace("_", "/")
        try:
            decoded = a2b_base64(header + "=" * (-len(header) % 4))
        except ValueError:
            continue
        if b'"alg"' in decoded:
            yield Span(*match.span(), shape.kind, 2)


def _find_aws_secrets(text: str) -> Iterator[Span]:
    for match in compiled(_AWS_SECRET).finditer(text):
        key = match[0]
        if key != key.lower() and key != key.upper() and compiled("[0-9]").search(key):
            yield Span(*match.span(), "aws_secret_key", 2)


def _find_private_keys(text: str) -> Iterator[Span]:
    """Whole blocks, blocks without an end, and blocks without a beginning."""
    begins = list(compiled(_KEY_BEGIN).finditer(text))
    ends = list(compiled(_KEY_END).finditer(text))
    used = 0
    for number, begin in enumerate(begins):
        limit = begins[number + 1].start() if number + 1 < len(begins) else len(text)
        while used < len(ends) and ends[used].start() < begin.end():
            yield from _find_headless_key(text, ends[used])
            used += 1
        body = _end_of_key_lines(text, begin.end(), limit)
        if used < len(ends) and ends[used].start() < limit:
            end = ends[used]
            used += 1
            whole = body > begin.end() and not text[body : end.start()].strip(" \t\r\n\\nr")
            if whole or compiled(_KEY_RUN).search(text, begin.end(), end.start()):
                yield Span(begin.start(), end.end(), "private_key", 3)
        elif body > begin.end() + 12:
            yield Span(begin.start(), body, "private_key", 3)
    for end in ends[used:]:
        yield from _find_headless_key(text, end)


def _end_of_key_lines(text: str, position: int, limit: int) -> int:
    while header := compiled(_KEY_HEADER).match(text, position, limit):
        position = header.end()
    line = compiled(_KEY_LINE).match(text, position, limit)
    while line:
        position = line.end()
        line = compiled(_KEY_NEXT_LINE).match(text, position, limit)
    return position


def _find_headless_key(text: str, end: re.Match[str]) -> Iterator[Span]:
    before = text[max(0, end.start() - 8192) : end.start()]
    kept = before.rstrip(_BASE64 + " \t\r\n\\")
    if compiled(_KEY_RUN).search(before, len(kept)):
        yield Span(end.start() - len(before) + len(kept), end.end(), "private_key", 3)


def _find_url_passwords(text: str) -> Iterator[Span]:
    for match in compiled(_URL_PASSWORD).finditer(text):
        if not is_placeholder(match[1]):
            yield Span(*match.span(1), "url_password")
    for match in compiled(_URL_TOKEN).finditer(text):
        if is_opaque(match[1], 20) and not is_wordy(match[1]) and not is_placeholder(match[1]):
            yield Span(*match.span(1), "url_password")
