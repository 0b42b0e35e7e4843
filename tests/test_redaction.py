"""Secrets are taken out of payloads, and little else: measured on made-up secrets, on code and on prose."""

from __future__ import annotations

import copy
import json
import random
import re
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from corpus.measured import (
    CORPUS,
    WITH_SECRETS,
    Measured,
    false_alarms,
    recall,
    recall_by_kind,
    table,
    total,
)
from corpus.secrets import PROVIDERS, positives
from zaxy.security.redaction import Redacted, redact, redact_text
from zaxy.security.secret_shapes import find_shapes
from zaxy.security.shape_table import shapes

TREE = Path(__file__).parents[1]
PAGE = (TREE / "docs" / "redaction.md").read_text(encoding="utf-8")

# Put together here, so that no scanner takes them for real ones.
GITHUB = "gh" + "p_" + "a1B2c3D4" * 5
OTHER_GITHUB = "gh" + "p_" + "z9Y8x7W6" * 5
STDLIB = (
    "argparse ast asyncio.sslproto asyncio.streams base64 cmd code configparser csv difflib dis email.header "
    "email.message ftplib getpass hashlib hmac html.parser http.client http.cookiejar http.cookies http.server imaplib "
    "inspect json.decoder json.scanner keyword logging.handlers netrc optparse poplib pydoc random secrets shlex "
    "smtplib socketserver ssl string subprocess tarfile token tokenize unittest.mock urllib.parse urllib.request "
    "urllib.robotparser uuid xmlrpc.client"
).split()


def test_secrets_are_replaced_and_what_stands_around_them_stays() -> None:
    for half in ("tuning", "report"):
        print(f"\n{f'made-up secrets, {half} half':42} {'cases':>7} {'found':>7} {'recall':>9}")
        print(*recall_by_kind(half), sep="\n")
    print(f"\n{table()}")
    rows = recall()
    for row in rows:
        assert row.found >= (0.98 if "made-up" in row.corpus else 0.93) * row.cases, row
        assert (row.corpus, str(row.cases), str(row.found)) in documented("found")
    assert total("all", rows).cases > 200
    assert total("all", rows).found >= 0.98 * total("all", rows).cases


def test_a_made_up_secret_is_called_by_its_kind() -> None:
    cases = [case for half in ("tuning", "report") for case in positives(half)]
    named = [case.kind in redact_text(case.text)[1] for case in cases]
    assert named.count(True) >= 0.95 * len(cases)


def test_code_prose_and_logs_without_secrets_are_left_alone() -> None:
    rows, wrong = false_alarms()
    others = [row for row in rows if row.corpus != "excerpts.txt"]
    lines = total("code, configuration, prose in 28 languages and logs", others)
    excerpts = total("excerpts of sessions", [row for row in rows if row.corpus == "excerpts.txt"])
    for row in (lines, excerpts):
        assert (row.corpus, str(row.cases), str(row.found)) in documented("false alarms")
    assert lines.cases + excerpts.cases > 500
    assert len(wrong) <= 0.005 * (lines.cases + excerpts.cases), wrong


def test_no_providers_key_stands_in_the_corpus_in_one_piece() -> None:
    """Hosters refuse a push that has one."""
    for file in [Path(__file__), *CORPUS.rglob("*.py"), *CORPUS.rglob("*.txt")]:
        found = find_shapes(file.read_text(encoding="utf-8"))
        assert not {span.kind for span in found} - {"url_password"}, file


def test_the_standard_librarys_own_lines_are_left_alone() -> None:
    lines = [line for name in STDLIB for line in source_of(name).splitlines()]
    alarms = [line for line in lines if redact_text(line)[1]]
    print(Measured(f"{len(STDLIB)} modules of the standard library", len(lines), len(alarms)), *alarms, sep="\n  ")
    assert len(lines) > 30_000
    assert len(alarms) <= 0.0005 * len(lines), alarms


def source_of(module: str) -> str:
    spec = find_spec(module)
    return Path(spec.origin).read_text(encoding="utf-8") if spec and spec.origin else ""


def documented(column: str) -> list[tuple[str, ...]]:
    """The first three cells of each row of the page's table with this third column, without percentages."""
    table = re.search(rf"^\| [^|]+ \| \w+ \| {column} \|.*\n\|[-|]+\|\n((?:\|.*\n)+)", PAGE, re.MULTILINE)
    assert table, f"docs/redaction.md has no table with a column {column!r}"
    rows = [[cell.strip() for cell in row.strip("|").split(" | ")] for row in table[1].splitlines()]
    return [(row[0], row[1].replace(",", ""), row[2].replace(",", "")) for row in rows]


def test_every_kind_that_can_be_found_is_documented() -> None:
    kinds = {shape.kind for shape in shapes()}
    kinds |= {kind for half in ("tuning", "report") for case in positives(half) for kind in redact_text(case.text)[1]}
    kinds |= {kind for texts in WITH_SECRETS.values() for case in texts for kind in redact_text(case.text)[1]}
    assert kinds <= set(re.findall(r"`(\w+)`", PAGE))


@pytest.mark.parametrize(
    ("given_text", "kept"),
    [
        ("The password is hunter2.", "The password is [redacted:password]."),
        ("password is `swordfish`", "password is `[redacted:password]`"),
        ("the passphrase: correct horse battery staple.", "the passphrase: [redacted:passphrase]."),
        ("his password is Bobby!77 and hers is secret", "his password is [redacted:password] and hers is secret"),
        ("hunter2 is my password", "[redacted:password] is my password"),
        ("my pin is 1234.", "my pin is [redacted:pin]."),
        ("https://bob:hunter2@example.com/x", "https://bob:[redacted:url_password]@example.com/x"),
        ("redis://:p@ss#1@cache:6379/0", "redis://:[redacted:url_password]@cache:6379/0"),
        ("Server=a;Password=swordfish;Encrypt=true", "Server=a;Password=[redacted:password];Encrypt=true"),
        ("user=bob&password=swordfish&x=1", "user=bob&password=[redacted:password]&x=1"),
        ("mysql -uroot -pswordfish shop", "mysql -uroot -p[redacted:password] shop"),
        ("mysql -u root \\\n  -pswordfish shop", "mysql -u root \\\n  -p[redacted:password] shop"),
        ("cqlsh -u app -p swordfish db1", "cqlsh -u app -p [redacted:password] db1"),
        ("rabbitmqadmin -u a -p swordfish list", "rabbitmqadmin -u a -p [redacted:password] list"),
        ("mosquitto_pub -u a -P swordfish -t x", "mosquitto_pub -u a -P [redacted:password] -t x"),
        ("plink -pw swordfish bob@host", "plink -pw [redacted:password] bob@host"),
        ("cf login -u a -p swordfish", "cf login -u a -p [redacted:password]"),
        ("curl -u bob:hunter2 https://x", "curl -u bob:[redacted:password] https://x"),
        ("docker run -u 1000:1000 x && curl https://x", "docker run -u 1000:1000 x && curl https://x"),
        ("PGPASSWORD=swordfish psql -h db", "PGPASSWORD=[redacted:password] psql -h db"),
        ("export API_KEY=abc123def", "export API_KEY=[redacted:api_key]"),
        ("deploy --password swordfish --verbose", "deploy --password [redacted:password] --verbose"),
        ("echo 'hunter2' | sudo -S ls", "echo '[redacted:password]' | sudo -S ls"),
        ('{\\"n\\": 1, \\"password\\": \\"hunter2\\"}', '{\\"n\\": 1, \\"password\\": \\"[redacted:password]\\"}'),
        ("Authorization: Basic Ym9iOmh1bnRlcjI=", "Authorization: Basic [redacted:basic]"),
        ("Cookie: theme=dark; sid=0a1b2c3d4e5f", "Cookie: theme=dark; sid=[redacted:cookie]"),
        ("CREATE USER a IDENTIFIED BY 'swordfish';", "CREATE USER a IDENTIFIED BY '[redacted:password]';"),
        ("Authorization: Api-Token k7Qw2mZr9x", "Authorization: Api-Token [redacted:authorization]"),
        ("db:\n  password: c3dvcmRmaXNoMQ==\n", "db:\n  password: [redacted:password]\n"),
        ("password: str = 'swordfish'", "password: str = '[redacted:password]'"),
        ("password: str='swordfish'", "password: str='[redacted:password]'"),
        ('<add key="Password"\n     value="swordfish" />', '<add key="Password"\n     value="[redacted:password]" />'),
        ("kind: Secret\ndata:\n  conf: c3dvcmRmaXNoMQ==\n", "kind: Secret\ndata:\n  conf: [redacted:secret]\n"),
        (
            "stringData:\n  a.conf: |\n    c3dvcmRmaXNoIGFuZA==\n  b: ${B}\nkind: Secret\n---\ndata:\n  c: harmless1\n",
            "stringData:\n  a.conf: |\n    [redacted:secret]\n  b: ${B}\nkind: Secret\n---\ndata:\n  c: harmless1\n",
        ),
        ("kind: ConfigMap\ndata:\n  conf: c3dvcmRmaXNoMQ\n", "kind: ConfigMap\ndata:\n  conf: c3dvcmRmaXNoMQ\n"),
        ("Passwort: Sonne2024!", "Passwort: [redacted:password]"),
        ("token=" + "a1" * 3000 + " end", "token=[redacted:token] end"),
        ("Authorization: Bearer " + "a1B2" * 8, "Authorization: Bearer [redacted:bearer]"),
        ('user, password = "bob", "swordfish"', 'user, password = "bob", "[redacted:password]"'),
        ("insert into u (a, password) values (1, 'x y1'), (2, 'z2')",
         "insert into u (a, password) values (1, '[redacted:password]'), (2, '[redacted:password]')"),
        ("root:swordfish@tcp(db:3306)/shop", "root:[redacted:password]@tcp(db:3306)/shop"),
        ("https://" + "0a1b2c3d" * 4 + "@example.com/1", "https://[redacted:url_password]@example.com/1"),
        ("${PASSWORD:-swordfish1}", "${PASSWORD:-[redacted:password]}"),
    ],
)  # fmt: skip
def test_only_the_secret_is_replaced(given_text: str, kept: str) -> None:
    assert redact_text(given_text)[0] == kept


@pytest.mark.parametrize(
    "command", ["mysql -u root", "sshpass", "docker login -u bob", "mongosh -u a", "twine upload -u bob"], ids=str
)
def test_what_follows_p_is_a_password_after_a_program_that_is_known_for_it(command: str) -> None:
    assert redact_text(f"{command} -p hunter2 x")[0] == f"{command} -p [redacted:password] x"
    assert redact_text("ssh -p 2222 host; mkdir -p hunter2")[1] == []


@pytest.mark.parametrize(
    "text",
    [
        "password is required",
        "The password is 8 characters long.",
        "session_id=ws-1a2b3c4d",
        "session=6f1c2a3e-9f54-4a53-8a1d-2f3b4c5d6e7f",
        "He changed the password to make the tests pass.",
        "use the --password option of the client",
        "password: [redacted:password]",
        "https://user:${PASSWORD}@example.com",
        "gh" + "p_" + "x" * 36,
        "sk-" + "ant-api03-" + "X" * 40,
        "sk-your-key-here-xxxxxxxxxxxx",
        "mysql -u root -p shop",
        "if token == next_token:",
        "max_tokens=4096 and the tokenizer of the secretary",
        "import secrets; secrets.token_hex(16)",
        "auth.tokens.validate(request)",
        "password: str",
        'password = os.environ["DB_PASSWORD"]',
        "def check_password(password: str) -> bool:",
        "commit 9f3c1a7e9f3c1a7e9f3c1a7e9f3c1a7e9f3c1a7e",
        "id 123e4567-e89b-12d3-a456-426614174000",
        "sha256 e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
        "set token to ${API_TOKEN}",
        '"AWS::IAM::AccessKey": "72c2d9dd90025459"',
        "arn:aws:secretsmanager:eu-west-1:123456789012:secret:Shop-a1b2c3",
        "data:image/png;base64," + "iVBORw0KGgoAAAANSUhEUgAAAAUA" * 40,
        "-----BEGIN RSA PRIVATE KEY-----",
        "-----BEGIN PRIVATE KEY-----\n...\n-----END PRIVATE KEY-----",
    ],
)
def test_what_is_no_secret_is_left_alone(text: str) -> None:
    assert redact_text(text) == (text, [])


@pytest.mark.parametrize("kind", PROVIDERS)
def test_a_providers_key_is_replaced_and_the_sentence_stays(kind: str) -> None:
    for make in PROVIDERS[kind]:
        text, kinds = redact_text(f"Please use {make(random.Random(7))} for the deploy, thanks.")
        assert text == f"Please use [redacted:{kind}] for the deploy, thanks."
        assert kinds == [kind]


def test_a_private_key_is_replaced_up_to_its_end_and_no_further() -> None:
    key = next(case.secret for case in positives("tuning") if case.kind == "private_key")
    lines = key.splitlines()
    assert redact_text(f"{key}\nbob@example.com") == ("[redacted:private_key]\nbob@example.com", ["private_key"])
    assert (
        redact_text("\n".join(lines[:4]) + "\n\nThe rest is lost.")[0] == "[redacted:private_key]\n\nThe rest is lost."
    )
    assert redact_text("cut: " + "\n".join(lines[2:]))[0] == "cut:[redacted:private_key]"


@pytest.mark.parametrize(
    ("key", "value"),
    [
        *(("password", "hunter2"), ("password", "swordfish"), ("passwd", "x1"), ("dbPassword", "12345678")),
        *(("password", "correct horse battery staple"), ("pin", "1234"), ("secret", "swordfish")),
        *(("api_key", "abc"), ("apiKey", "abc"), ("x-api-key", "abc"), ("client_secret", "abc"), ("token", "abc123")),
        *(("access_token", "abc"), ("access-token", "abc"), ("refreshToken", "abc"), ("private_key", "abc")),
        *(("Authorization", "Bearer abcdef"), ("AWS_SECRET_ACCESS_KEY", "abc"), ("auth", "Ym9iOmh1bnRlcjI=")),
    ],
)
def test_what_stands_under_a_key_that_names_a_secret_is_replaced_whole(key: str, value: str) -> None:
    redacted, found = redact({"user": "bob", key: value})
    assert redacted == {"user": "bob", key: f"[redacted:{found[0].kind}]"}
    assert found == [Redacted(f"/{key}", found[0].kind)]


@pytest.mark.parametrize(
    ("key", "value"),
    [
        *(("password", ""), ("password", None), ("password", True), ("password", 5), ("password", "********")),
        *(("password", "<password>"), ("password", "${PASSWORD}"), ("password", "$PASSWORD"), ("password", "null")),
        *(("password", "{{ password }}"), ("password", "changeme"), ("password", "This field is required.")),
        *(("api_key", "your-api-key-here"), ("secret", "None"), ("token", "identifier"), ("token", "(")),
        *(("max_tokens", "4096"), ("token_count", "512"), ("tokenizer", "cl100k_base"), ("token_type", "bearer")),
        *(("next_page_token", "CAUQAA1234"), ("secret_santa", "bob123"), ("secretary", "bob123"), ("key", "abc123def")),
        *(("password_hash", "0a1b2c3d4e5f"), ("reset_password", "abc123"), ("public_key", "0a1b2c3d4e5f")),
        *(("secret_name", "prod/db1"), ("password_file", "/run/secrets/db"), ("session_id", "0a1b2c3d4e5f")),
    ],
)
def test_what_is_obviously_no_secret_stays_under_any_key(key: str, value: object) -> None:
    payload = {"user": "bob", key: value}
    assert redact(payload) == (payload, [])


@pytest.mark.parametrize(
    ("payload", "redacted"),
    [
        ({"env": [{"name": "PIN", "value": "1234"}]}, {"env": [{"name": "PIN", "value": "[redacted:pin]"}]}),
        ({"args": ["mysql", "--password", "a b"]}, {"args": ["mysql", "--password", "[redacted:password]"]}),
        ({"args": ["curl", "-u", "bob:hunter2"]}, {"args": ["curl", "-u", "bob:[redacted:password]"]}),
        ({"args": ["deploy", "--token=a1b2c3d4"]}, {"args": ["deploy", "--token=[redacted:token]"]}),
        ({"headers": [["x-api-key", "abc"]]}, {"headers": [["x-api-key", "[redacted:api_key]"]]}),
        ({"cookie": "theme=dark; sid=0a1b2c3d4e"}, {"cookie": "theme=dark; sid=[redacted:cookie]"}),
        ({"password": ["hunter2", ""]}, {"password": ["[redacted:password]", ""]}),
        ({"secrets": {"db": "a1b2c3d4", "name": "prod"}}, {"secrets": {"db": "[redacted:secret]", "name": "prod"}}),
    ],
)  # fmt: skip
def test_a_name_beside_a_value_counts_as_its_key(payload: dict[str, Any], redacted: dict[str, Any]) -> None:
    assert redact(payload)[0] == redacted


def test_a_payload_without_secrets_comes_back_itself() -> None:
    for payload in ({"text": "nothing here", "n": [1, 2.5, None, True]}, {"text": "the token bucket is the key"}, {}):
        assert redact(payload)[0] is payload


def test_the_payload_given_is_not_changed() -> None:
    payload: dict[str, Any] = {"a": [{"password": "hunter2"}, f"x {GITHUB}"], GITHUB: {"n": 1}}
    before = copy.deepcopy(payload)
    redacted, found = redact(payload)
    assert payload == before
    assert redacted != before
    assert found


def test_pointers_name_the_strings_of_the_redacted_payload_in_order() -> None:
    payload = {"b": "password is hunter2", "a/b~c": [{"x": f"{GITHUB} and {OTHER_GITHUB}"}, "my pin is 1234"]}
    redacted, found = redact(payload)
    assert found == [
        Redacted("/b", "password"),
        Redacted("/a~1b~0c/0/x", "github_token"),
        Redacted("/a~1b~0c/1", "pin"),
    ]
    for pointer, kind in found:
        assert f"[redacted:{kind}]" in at(redacted, pointer)


def at(value: Any, pointer: str) -> Any:
    for part in pointer.split("/")[1:]:
        name = part.replace("~1", "/").replace("~0", "~")
        value = value[int(name)] if isinstance(value, list) else value[name]
    return value


def test_a_secret_used_as_a_key_is_replaced_too_and_no_key_is_lost() -> None:
    payload = {GITHUB: 1, OTHER_GITHUB: "hello", "[redacted:github_token]": 3}
    redacted, found = redact(payload)
    assert list(redacted.values()) == [1, "hello", 3]
    assert redacted["[redacted:github_token]"] == 3
    assert not any(secret in json.dumps([redacted, found]) for secret in (GITHUB, OTHER_GITHUB))


def test_a_secret_is_found_however_deep_it_stands() -> None:
    payload: dict[str, Any] = {"password": "hunter2"}
    for _ in range(5000):
        payload = {"a": payload}
    assert redact(payload)[1] == [Redacted("/a" * 5000 + "/password", "password")]


def test_keys_that_are_no_strings_are_left_for_others_to_refuse() -> None:
    payload: Any = {1: "password is hunter2", None: 2}
    redacted: Any = redact(payload)[0]
    assert redacted == {1: "password is [redacted:password]", None: 2}


@pytest.mark.parametrize("half", ["tuning", "report"])
def test_redacting_twice_changes_nothing_more(half: str) -> None:
    for case in positives(half):
        once, _ = redact_text(case.text)
        assert redact_text(once) == (once, [])


WORDS = st.sampled_from(
    [
        *(
            "password",
            "is",
            "token",
            "=",
            ": ",
            "hunter2",
            '"',
            "'",
            " ",
            "\n",
            "\\n",
            "--",
            "-p",
            "mysql",
            "curl",
            "-u",
        ),
        *("a:b", "://", "@", "İ", "[redacted:token]", "key", "api", "secret", "Bearer", "{", "}", GITHUB, "eyJ", "."),
        *("cookie", "-----BEGIN", "PRIVATE KEY-----", "insert into t (password) values (", "'),", "@tcp(", "::"),
    ]
)
TEXTS = st.lists(WORDS | st.text(max_size=4), max_size=24).map("".join)
PAYLOADS = st.recursive(
    st.none() | st.booleans() | st.integers() | TEXTS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4),
    max_leaves=12,
)


@settings(max_examples=150, deadline=None, derandomize=True)
@given(st.dictionaries(TEXTS, PAYLOADS, max_size=4))
def test_any_payload_keeps_its_shape_and_loses_its_tokens(payload: dict[str, Any]) -> None:
    redacted, found = redact(payload)
    assert shape_of(redacted) == shape_of(payload)
    assert bool(found) == (redacted is not payload)
    assert not re.search(rf"(?<![A-Za-z0-9]){GITHUB}", json.dumps([redacted, found], ensure_ascii=False))
    for pointer, kind in found:
        assert f"[redacted:{kind}]" in str(at(redacted, pointer)) + pointer


def shape_of(value: Any) -> Any:
    if isinstance(value, dict):
        return [shape_of(item) for item in value.values()]
    return [shape_of(item) for item in value] if isinstance(value, list) else type(value)
