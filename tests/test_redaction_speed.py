"""Redaction costs little where there is nothing to find, and no input makes it slow."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from typing import Any

import pytest

from zaxy.security.redaction import redact, redact_text

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
