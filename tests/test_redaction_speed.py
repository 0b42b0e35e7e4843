"""Redaction costs little where there is nothing to find, and no input makes it slow."""

from __future__ import annotations

import json
import re
import time
from base64 import b64encode, urlsafe_b64encode
from collections.abc import Callable
from random import Random
from typing import Any

import pytest
from hypothesis import example, given, settings, strategies as st

from zaxy.security.redaction import redact, redact_text
from zaxy.security.repeats import Repeats

# What a naive search is slow on, and texts in which every word has to be looked at.
UNITS = [
    *(
        "a",
        "A1",
        "Ab9/",
        "=",
        ",",
        '"',
        "'",
        "`",
        "\n",
        "\\",
        "@",
        ":",
        "://",
        "://a:",
        "://a:b@",
        "-",
        "--",
        " ",
        "\t",
        "İ",
    ),
    *("eyJ", "eyJ.", "ghp_", "sk-", "AKIA", "xoxb-", "SG.", "Q~", "MT", "sig=", "1//0", "hooks.slack.com/services/"),
    *("-----BEGIN ", "-----BEGIN PRIVATE KEY-----", "-----END PRIVATE KEY-----", "Private-Lines: 1", "A-: x\n"),
    *("-----BEGIN PRIVATE KEY-----\n-----END PRIVATE KEY-----\n", "AAAAAAAA-----END PRIVATE KEY-----"),
    *("password ", "password=", "password: ", "password is ", 'password="', "password=${", "password=“", "İpassword "),
    *(
        "password for ",
        "password we ",
        "password=hunter2 ",
        '"password" {',
        "<password>",
        'password" value="',
        "a, password='",
    ),
    *("token", "token=", "token or '", "secret:", "api key: ", "--password ", "passphrase: word word ", "mnemonic: "),
    *(
        "authorization: ",
        "authorization: AWS4 ",
        "creds a/",
        "Bearer a1",
        "basic ",
        "cookie: ",
        "cookie: a=b; ",
        "sid=",
    ),
    *(
        "mysql -pa ",
        "mysql \\\n",
        "curl -u a:b ",
        "docker login ",
        "htpasswd -b a ",
        "echo a | ",
        "sudo -S echo ",
        "zip -P",
    ),
    *(
        "identified by '",
        "insert into t (password) values ",
        "insert into t (password) values ('a'), ",
        "into values ('",
    ),
    *("kind: Secret\n", "kind: Secret\ndata:\n  a: b\n", "kind: Secret\n---\n", "data:\n "),
    *("a:b@tcp", "a:5432:", "/user:a ", "pin ", "pin for ", "pin: 1", "a1 is the password ", "auth('a', "),
]


@pytest.mark.parametrize("unit", UNITS, ids=repr)
def test_the_time_spent_grows_with_the_text_and_not_faster(unit: str) -> None:
    text = (unit * ((1 << 16) // len(unit) + 1))[: 1 << 16]
    assert_linear(redact_text, text[: 1 << 14], text)
    if len(unit) < 6:
        assert_linear(redact_text, f"password is {text[: 1 << 14]}", f"password is {text}")


def nested(levels: int, innermost: dict[str, Any], **beside: str) -> dict[str, Any]:
    for _ in range(levels):
        innermost = {"a": innermost, **beside}
    return innermost


MADE_TO_BE_SLOW: dict[str, Callable[[int], dict[str, Any]]] = {
    "keys that are secrets": lambda n: {"gh" + "p_" + f"{i:06}aBcD" * 5: 1 for i in range(n)},
    "secrets below a long key": lambda n: {"k" * 50 * n: ["token=a1b2c3d4"] * n},
    "secrets at every level": lambda n: nested(n, {}, token="a1b2c3d4"),
    "nothing but levels": lambda n: nested(n, {"password": "hunter2"}),
    "options with values": lambda n: {"args": ["--token", "a1b2c3d4"] * n},
    "options": lambda n: {"args": ["--password"] * n},
    "names with values": lambda n: {"env": [{"name": "TOKEN", "value": "a1b2c3d4"}] * n},
}


@pytest.mark.parametrize("made", MADE_TO_BE_SLOW.values(), ids=MADE_TO_BE_SLOW)
def test_the_time_spent_grows_with_the_payload_and_not_faster(made: Callable[[int], dict[str, Any]]) -> None:
    assert_linear(redact, made(1000), made(4000))


def assert_linear(function: Callable[[Any], object], quarter: Any, whole: Any) -> None:
    """Four times as much takes about four times as long; an unquiet machine gets further tries."""
    function(quarter)  # compiles what is needed
    for _ in range(4):
        short, long = timed(function, quarter), timed(function, whole)
        if long <= 6 * max(short, 0.005):
            break
    else:
        pytest.fail(f"{short:.3f} s for a quarter, {long:.3f} s for the whole")
    assert long <= 2.5


def timed(function: Any, argument: Any) -> float:
    started = time.process_time()
    function(argument)
    return time.process_time() - started


MEBIBYTE = 1 << 20
LITERAL_PASSES = 20
"""How many times one pass of a compiled literal over a text of harmless names the search for secrets may take."""
HARMLESS_UNITS = [
    *("token=", "token=token2=", "token2=", "token=1", "key: ", "password is ", "token: token1 ", "api_key=key2&"),
    *('"token":"', "secret: {", "next_token = token; "),
]
_random = Random(7)
GENERATED = {
    "long base64": b64encode(_random.randbytes(MEBIBYTE * 3 // 4)).decode(),
    "long base64 for URLs": urlsafe_b64encode(_random.randbytes(MEBIBYTE * 3 // 4)).decode(),
    "lines of base64": "\n".join(b64encode(_random.randbytes(57)).decode() for _ in range(MEBIBYTE // 77)),
    "hexadecimal": _random.randbytes(MEBIBYTE // 2).hex(),
    "minified code": "function a1(b,c){var d=b.token2||c.key;return d&&d.pass?e(d.token,f=1):g[h]=k.secret3}" * 12_000,
    "minified code that does not repeat itself": "".join(
        f"function a{n}(b,c){{var d=b.token{n}||c.key;return d&&d.pass?e(d.token,f={n}):g[h]=k.secret3}}"
        for n in range(10_000)
    ),
    "names with numbers": "".join(f"token{n}=token{n + 1}=" for n in range(50_000)),
    "deep JSON": '{"a":' * 90_000 + "1" + "}" * 90_000,
    "deep JSON with names": '{"token":{"key":[' * 40_000,
    "repeated quotes": "\"'`" * (MEBIBYTE // 3),
    "quotes behind names": "password='" * (MEBIBYTE // 10),
}


@pytest.mark.parametrize("unit", HARMLESS_UNITS)
def test_a_mebibyte_of_names_takes_some_passes_of_a_literal(unit: str) -> None:
    text, literal = (unit * (MEBIBYTE // len(unit) + 1))[:MEBIBYTE], re.compile(re.escape(unit))
    redact_text(text[:4096])  # compiles what is needed
    ratios = []
    for _ in range(4):
        one_pass = min(timed(lambda given: sum(1 for _ in literal.finditer(given)), text) for _ in range(3))
        ratios.append(timed(redact_text, text) / one_pass)
        if ratios[-1] <= LITERAL_PASSES:
            break
    print(f"{unit!r}: {min(ratios):.1f} passes of a literal")
    assert min(ratios) <= 2 * LITERAL_PASSES  # a wide margin: the machine may be busy


@pytest.mark.parametrize("text", [*GENERATED.values()], ids=GENERATED)
def test_a_mebibyte_takes_about_eight_times_as_long_as_an_eighth_of_it(text: str) -> None:
    """Where a quadratic search would take 64 times as long. Random text has more literals of providers by and by."""
    eighth = text[: len(text) // 8]
    redact_text(eighth)
    ratios = []
    for _ in range(4):
        short = min(timed(redact_text, eighth) for _ in range(3))
        ratios.append(timed(redact_text, text) / short)
        if ratios[-1] <= 16:
            break
    print(f"{min(ratios):.1f} times as long as an eighth")
    assert min(ratios) <= 32


PIECES = [
    *("token=", "token2=", "pwd=", "password is ", "key: ", "--token ", "a, b="),
    *("x1;", '"', "'", "hunter2", " ", "\n"),
]


@settings(max_examples=300, deadline=None)
@example("token=token=", 1042, "")
@given(
    st.lists(st.sampled_from(PIECES), min_size=1, max_size=6).map("".join),
    st.integers(200, 1500),
    st.lists(st.sampled_from(PIECES), max_size=8).map("".join),
)
def test_what_is_left_out_where_a_text_repeats_itself_changes_nothing(unit: str, times: int, rest: str) -> None:
    text = f"{rest}{unit * times}{rest}password=Tr0ub4dor&3x {unit * 300}"
    found = redact_text(text)
    with pytest.MonkeyPatch.context() as judged_each:
        judged_each.setattr(Repeats, "length_at", lambda repeats, place: 0)
        assert redact_text(text) == found


def test_an_ordinary_payload_costs_little() -> None:
    payload = {
        "decision": "ship the follower with the batch size at 512",
        "summary": "The build finished in 3.2 s; 1,204 events are in the graph, and its digest is the same. " * 4,
        "tags": ["release", "follower"],
        "files": ["src/zaxy/follow/loop.py", "tests/test_follow.py"],
        "turn_index": 42,
    }
    assert len(json.dumps(payload)) > 490
    rounds = 500
    best = min(timed(lambda given: [redact(given) for _ in range(rounds)], payload) for _ in range(7)) / rounds
    print(f"{len(json.dumps(payload))} bytes without secrets: {best * 1e6:.1f} µs, target 25, limit 60")
    assert best <= 60e-6
