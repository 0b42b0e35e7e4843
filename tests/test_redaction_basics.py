"""Secrets are taken out of payloads, and only secrets: the cases that must never go wrong."""

from __future__ import annotations

import random
import string
import time

import pytest

from zaxy.security.redaction import redact, redact_text

RNG = random.Random(7)


def made(count: int, alphabet: str = string.ascii_letters + string.digits) -> str:
    return "".join(RNG.choice(alphabet) for _ in range(count))


SECRETS = [
    ("github_token", "ghp_" + made(36)),
    ("github_token", "github_pat_" + made(60)),
    ("slack_token", "xoxb-" + made(12, string.digits) + "-" + made(24)),
    ("aws_access_key", "AKIA" + made(16, string.ascii_uppercase + string.digits)),
    ("google_api_key", "AIza" + made(35)),
    ("openai_key", "sk-proj-" + made(48)),
    ("anthropic_key", "sk-ant-api03-" + made(60)),
    ("pypi_token", "pypi-AgEIcHlwaS5vcmc" + made(60)),
    ("npm_token", "npm_" + made(36)),
    ("stripe_key", "sk_live_" + made(24)),
    ("gitlab_token", "glpat-" + made(20)),
]


@pytest.mark.parametrize(("kind", "secret"), SECRETS, ids=[f"{kind}-{n}" for n, (kind, _) in enumerate(SECRETS)])
def test_a_providers_key_is_replaced_and_the_sentence_stays(kind: str, secret: str) -> None:
    text, kinds = redact_text(f"Please use {secret} for the deploy, thanks.")
    assert text == f"Please use [redacted:{kind}] for the deploy, thanks."
    assert kinds == [kind]


@pytest.mark.parametrize(
    ("before", "secret", "after"),
    [
        ("password is ", "hunter2", ""),
        ("postgres://app:", "s3cr3t-pw", "@db.example.com/app"),
        ("Authorization: Bearer ", made(32), ""),
        ("mysql --password=", "hunter2", " -u root"),
        ("export API_KEY=", made(32), ""),
    ],
)
def test_a_password_is_replaced_where_it_stands(before: str, secret: str, after: str) -> None:
    text, kinds = redact_text(before + secret + after)
    assert kinds
    assert secret not in text
    assert text.startswith(before)
    assert text.endswith(after)


def test_a_private_key_block_and_a_json_web_token_are_replaced() -> None:
    block = f"-----BEGIN RSA PRIVATE KEY-----\n{made(64)}\n{made(64)}\n-----END RSA PRIVATE KEY-----"
    token = f"eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.{made(43)}"
    assert redact_text(f"key:\n{block}\nend") == ("key:\n[redacted:private_key]\nend", ["private_key"])
    assert redact_text(f"got {token} back") == ("got [redacted:jwt] back", ["jwt"])


@pytest.mark.parametrize(
    "text",
    [
        "max_tokens=4096 and the tokenizer of the secretary",
        "import secrets; secrets.token_hex(16)",
        "auth.tokens.validate(request)",
        "the password field is required",
        "password: str",
        'password = os.environ["DB_PASSWORD"]',
        "def check_password(password: str) -> bool:",
        "commit 9f3c1a7e9f3c1a7e9f3c1a7e9f3c1a7e9f3c1a7e",
        "id 123e4567-e89b-12d3-a456-426614174000",
        "sha256 e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
        "set token to ${API_TOKEN}",
    ],
)
def test_what_is_no_secret_is_left_alone(text: str) -> None:
    assert redact_text(text) == (text, [])


def test_a_payload_without_secrets_comes_back_itself() -> None:
    payload = {"text": "nothing here", "nested": {"list": ["a", 1, None, True]}}
    assert redact(payload)[0] is payload


def test_a_value_under_a_telling_key_is_replaced_and_its_place_is_told() -> None:
    clean, found = redact({"config": {"db/pass word": "x", "password": "hunter2", "max_tokens": 12}})
    assert clean["config"]["password"] == "[redacted:password]"  # type: ignore[index]
    assert ("/config/password", "password") in [tuple(item) for item in found]


@pytest.mark.parametrize("unit", ["a", "password ", "-----BEGIN ", "eyJ", "://a:", "=", "token=", "@"])
def test_no_input_makes_it_slow(unit: str) -> None:
    text = unit * (262_144 // len(unit))
    began = time.process_time()
    redact_text(text)
    assert time.process_time() - began < 5, "an idle machine needs a fraction of this for a quarter of a mebibyte"
