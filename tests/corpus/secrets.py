"""Made-up secrets in realistic sentences, put together from parts when the tests run.

No provider's key stands in this file in one piece: hosters refuse a push that has one. The sentences come in two halves
with different seeds: those for tuning may be looked at while rules are changed, those for the report may not.
"""

from __future__ import annotations

import base64
import json
import random
import string
from collections.abc import Callable, Iterator
from typing import NamedTuple

Make = Callable[[random.Random], str]

LETTERS = string.ascii_letters
ALNUM = LETTERS + string.digits
HEX = "0123456789abcdef"
URLSAFE = ALNUM + "-_"
BASE64 = ALNUM + "+/"
UPPER = string.ascii_uppercase + string.digits
WORDS = "otter maple copper violin harbour lantern meadow glacier pepper walnut saddle comet ribbon thistle".split()


class Positive(NamedTuple):
    kind: str
    before: str
    secret: str
    after: str

    @property
    def text(self) -> str:
        return self.before + self.secret + self.after


def chars(alphabet: str, count: int) -> Make:
    return lambda rng: "".join(rng.choice(alphabet) for _ in range(count))


def joined(*parts: str | Make) -> Make:
    """Literal parts and made ones, in order."""
    return lambda rng: "".join(part if isinstance(part, str) else part(rng) for part in parts)


def one_of(*makes: Make) -> Make:
    return lambda rng: rng.choice(makes)(rng)


def uuid(rng: random.Random) -> str:
    return "-".join(chars(HEX, count)(rng) for count in (8, 4, 4, 4, 12))


def _part(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def jwt(rng: random.Random) -> str:
    header = {"alg": rng.choice(["HS256", "RS256", "ES384"]), "typ": "JWT"}
    claims = {"sub": str(rng.randrange(10**9)), "iat": 1760000000 + rng.randrange(10**6), "name": rng.choice(WORDS)}
    return ".".join((_part(json.dumps(header).encode()), _part(json.dumps(claims).encode()), _part(rng.randbytes(32))))


def pem(label: str, *, newline: str = "\n", headers: str = "", ended: bool = True, lines: int = 6) -> Make:
    def make(rng: random.Random) -> str:
        body = newline.join(base64.b64encode(rng.randbytes(48)).decode() for _ in range(lines))
        end = f"{newline}-----END {label}-----" if ended else newline + chars(BASE64, rng.randrange(9, 40))(rng)
        return f"-----BEGIN {label}-----{newline}{headers}{body}{end}"

    return make


def discord(rng: random.Random) -> str:
    user = base64.b64encode(str(rng.randrange(10**17, 10**18)).encode()).rstrip(b"=").decode()
    return f"{user}.{chars(URLSAFE, 6)(rng)}.{chars(ALNUM, 27)(rng)}"


PROVIDERS: dict[str, list[Make]] = {
    "github_token": [
        *(joined(f"gh{letter}", "_", chars(ALNUM, 36)) for letter in "pousr"),
        joined("github", "_pat_", chars(ALNUM, 22), "_", chars(ALNUM, 59)),
    ],
    "gitlab_token": [joined("gl", "pat-", chars(URLSAFE, 19), chars(ALNUM, 1))],
    "slack_token": [
        joined("xo", "xb-", chars("123456789", 12), "-", chars("123456789", 13), "-", chars(ALNUM, 24)),
        joined("xo", "xp-", *[joined(chars("123456789", 12), "-")] * 3, chars(HEX, 32)),
        joined("xa", "pp-1-A", chars(UPPER, 10), "-", chars("123456789", 13), "-", chars(HEX, 64)),
    ],
    "aws_access_key": [joined("AK", "IA", chars(UPPER, 16)), joined("AS", "IA", chars(UPPER, 16))],
    "google_api_key": [joined("AI", "za", chars(URLSAFE, 34), chars(ALNUM, 1))],
    "google_token": [
        joined("ya", "29.a0", chars(URLSAFE, 120), chars(ALNUM, 1)),
        joined("GOC", "SPX-", chars(URLSAFE, 27), chars(ALNUM, 1)),
    ],
    "openai_key": [
        joined("sk", "-", chars(ALNUM, 48)),
        joined("sk", "-proj-", chars(URLSAFE, 90), chars(ALNUM, 1)),
    ],
    "anthropic_key": [joined("sk", "-ant-api03-", chars(URLSAFE, 93), "AA")],
    "pypi_token": [joined("py", "pi-AgEIcHlwaS5vcmc", chars(URLSAFE, 150), chars(ALNUM, 1))],
    "npm_token": [joined("np", "m_", chars(ALNUM, 36))],
    "stripe_key": [
        joined("sk", "_live_", chars(ALNUM, 24)),
        joined("rk", "_live_", chars(ALNUM, 24)),
        joined("sk", "_test_", chars(ALNUM, 99)),
        joined("wh", "sec_", chars(ALNUM, 32)),
    ],
    "sendgrid_key": [joined("S", "G.", chars(URLSAFE, 22), ".", chars(URLSAFE, 42), chars(ALNUM, 1))],
    "twilio_key": [joined("S", "K", chars(HEX, 32))],
    "telegram_token": [joined(chars("123456789", 10), ":", "AA", chars(URLSAFE, 32), chars(ALNUM, 1))],
    "discord_token": [discord],
    "huggingface_token": [joined("h", "f_", chars(LETTERS, 34))],
    "digitalocean_token": [joined("do", "p_v1_", chars(HEX, 64))],
    "databricks_token": [joined("da", "pi", chars(HEX, 32))],
    "shopify_token": [joined("shp", "at_", chars(HEX, 32)), joined("shp", "ss_", chars(HEX, 32))],
    "mailgun_key": [joined("ke", "y-", chars(HEX, 32))],
    "square_token": [joined("sq", "0atp-", chars(URLSAFE, 21), chars(ALNUM, 1)), joined("EA", "AA", chars(ALNUM, 60))],
    "docker_token": [joined("dc", "kr_pat_", chars(URLSAFE, 26), chars(ALNUM, 1))],
    "vault_token": [joined("hv", "s.", chars(URLSAFE, 94), chars(ALNUM, 1))],
    "grafana_token": [
        joined("gl", "sa_", chars(ALNUM, 32), "_", chars(HEX, 8)),
        joined("ey", "JrIjoi", chars(ALNUM, 70), "=="),
    ],
    "linear_key": [joined("lin", "_api_", chars(ALNUM, 40))],
    "notion_token": [joined("sec", "ret_", chars(ALNUM, 43)), joined("nt", "n_", chars(ALNUM, 46))],
    "doppler_token": [joined("d", "p.pt.", chars(ALNUM, 43))],
    "age_key": [joined("AGE-SEC", "RET-KEY-1", chars("QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L", 58))],
    "jwt": [jwt],
}

PRIVATE_KEYS: list[Make] = [
    pem("RSA PRIVATE KEY"),
    pem("PRIVATE KEY", lines=1),
    pem("EC PRIVATE KEY", lines=2),
    pem("OPENSSH PRIVATE KEY"),
    pem("ENCRYPTED PRIVATE KEY"),
    pem("RSA PRIVATE KEY", headers="Proc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,0F1E2D3C\n\n"),
    pem("PGP PRIVATE KEY BLOCK", headers="Version: GnuPG v2\n\n"),
    pem("PRIVATE KEY", newline="\\n"),
    pem("OPENSSH PRIVATE KEY", newline="\\n"),
    pem("RSA PRIVATE KEY", ended=False),
    pem("PRIVATE KEY", newline="\\n", ended=False),
]


def digits(count: int) -> Make:
    return chars("0123456789", count)


def word(rng: random.Random) -> str:
    return rng.choice(WORDS)


def named_password(rng: random.Random) -> str:
    """Such as people choose: a word with a number, perhaps a mark."""
    plain = rng.choice([word(rng), word(rng).capitalize()])
    return plain + str(rng.randrange(2, 9999)) + rng.choice(["", "", "!", "#", "$"])


def leet_password(rng: random.Random) -> str:
    return rng.choice(["P@ss", "S3cr", "Tr0u", "W1nt", "L3tm"]) + chars(LETTERS, 4)(rng) + rng.choice("!@#%^*") + "7"


def random_password(rng: random.Random) -> str:
    return chars(ALNUM, 3)(rng) + chars(ALNUM + "!@#%^*_+=-", 11)(rng) + chars("23456789", 1)(rng) + "x"


def passphrase(rng: random.Random) -> str:
    return " ".join(rng.sample(WORDS, rng.choice([4, 5, 6])))


strong: Make = one_of(named_password, leet_password, random_password)
any_password: Make = one_of(named_password, leet_password, random_password, word)
hex_token: Make = one_of(chars(HEX, 32), chars(HEX, 40), chars(HEX, 64))
opaque: Make = one_of(hex_token, chars(ALNUM, 24), chars(ALNUM, 40), joined(chars(URLSAFE, 31), chars(ALNUM, 1)))
aws_secret: Make = joined(chars(ALNUM, 1), chars(BASE64, 38), chars(ALNUM, 1))
slack_path: Make = joined("T", chars(UPPER, 8), "/B", chars(UPPER, 8), "/", chars(ALNUM, 24))


def basic(rng: random.Random) -> str:
    return base64.b64encode(f"{word(rng)}:{strong(rng)}".encode()).decode()


Template = tuple[str, str, Make]

# `@@` is where the secret stands.

PROVIDER_SENTENCES_FOR_TUNING = (
    "Use @@ for the deploy job.",
    "export SERVICE_TOKEN=@@",
    '{"name": "svc", "token": "@@", "region": "eu"}',
    "401 for key @@ (expired?)",
    "- account: main\n- value: @@\n- region: eu",
    "curl -s -H 'X-Api-Key: @@' https://api.example.com/v1/items",
    "client = Client('@@', timeout=5)",
    "@@",
    "first line\\n@@\\nlast line",
    "old=@@, new=none",
    "the bot printed @@, which must be rotated",
    "https://api.example.com/v1/items?access_token=@@&page=2",
)
PROVIDER_SENTENCES_FOR_REPORT = (
    "I pasted @@ into the issue by mistake.",
    '$env:SERVICE_KEY = "@@"',
    "GET /callback?key=@@&lang=en HTTP/1.1",
    '<add key="svc" value="@@"/>',
    "| staging | @@ | works |",
    "let api = new Api(`@@`);",
    "[@@]",
    "2026-05-01T10:00:00Z INFO start key=@@ pid=12",
    "config.set('service', '@@')",
    "\x1b[32m@@\x1b[0m ok",
    "It still answers to one of them (see @@).",
    "Which one? This: @@; the other is gone",
)

CONTEXTS_FOR_TUNING: tuple[Template, ...] = (
    ("password", "The password is @@ and it works.", strong),
    ("password", "my password: @@", strong),
    ("password", "Set the password to @@ before the demo.", strong),
    ("password", "password=@@", strong),
    ("password", "DB_PASSWORD=@@", any_password),
    ("password", 'export PGPASSWORD="@@"', any_password),
    ("password", "PGPASSWORD=@@ psql -h db -U app", any_password),
    ("password", "mysql -u root --password @@ shop", any_password),
    ("password", "mysqldump -uroot -p@@ shop > shop.sql", any_password),
    ("password", "mysql -u root -p @@", strong),
    ("password", "sshpass -p '@@' ssh deploy@example.com", any_password),
    ("password", "Server=db;Database=shop;User Id=sa;Password=@@;Encrypt=true", any_password),
    ("password", '{"user": "bob", "password": "@@"}', any_password),
    ("password", "password = '@@'", any_password),
    ("password", "  password: @@\n  port: 5432", strong),
    ("password", 'const dbPassword = "@@";', any_password),
    ("password", "CREATE USER app IDENTIFIED BY '@@';", any_password),
    ("password", "login with user bob and password @@", strong),
    ("passphrase", "the passphrase: @@.", passphrase),
    ("passphrase", 'The passphrase is "@@"', passphrase),
    ("pin", "my pin is @@", digits(4)),
    ("url_password", "postgres://app:@@@db.example.com:5432/shop", strong),
    ("url_password", "git clone https://bob:@@@git.example.com/x.git", any_password),
    ("url_password", "REDIS_URL=redis://:@@@cache:6379/0", any_password),
    ("password", "curl -u bob:@@ https://example.com", strong),
    ("bearer", "Authorization: Bearer @@", opaque),
    ("bearer", "curl -H 'Authorization: Bearer @@' https://example.com", opaque),
    ("basic", "Authorization: Basic @@", basic),
    ("cookie", "Cookie: theme=dark; session=@@", opaque),
    ("cookie", "Set-Cookie: sessionid=@@; HttpOnly; Path=/", opaque),
    ("token", "token: @@", opaque),
    ("token", "deploy --token=@@ --verbose", opaque),
    ("token", "The access token is @@.", opaque),
    ("api_key", "api key = @@", opaque),
    ("api_key", "export API_KEY=@@", opaque),
    ("api_key", 'apiKey: "@@",', opaque),
    ("api_key", "HEROKU_API_KEY=@@", uuid),
    ("api_key", "CLOUDFLARE_API_KEY=@@", chars(HEX, 37)),
    ("secret", "client_secret=@@&grant_type=client_credentials", opaque),
    ("secret", 'clientSecret: "@@"', opaque),
    ("aws_secret_key", "aws_secret_access_key = @@", aws_secret),
    ("aws_secret_key", "AWS_SECRET_ACCESS_KEY=@@", aws_secret),
    ("azure_key", "DefaultEndpointsProtocol=https;AccountName=x;AccountKey=@@", joined(chars(BASE64, 86), "==")),
    ("slack_webhook", "https://hooks.slack.com/services/@@", slack_path),
)
CONTEXTS_FOR_REPORT: tuple[Template, ...] = (
    ("password", "For the staging box the password was @@, don't tell anyone.", strong),
    ("password", "user: bob / password: @@ (changes on Friday)", strong),
    ("password", "I changed the admin password to @@ last night", strong),
    ("password", "2026-05-01 10:00:00 DEBUG connecting user=app password=@@ host=db", strong),
    ("password", "SMTP_PASS=@@\nSMTP_PORT=587", any_password),
    ("password", "docker run -e POSTGRES_PASSWORD=@@ -d postgres:16", any_password),
    ("password", "set MYSQL_PWD=@@", any_password),
    ("password", "restic backup --repo r --db-password=@@ /srv", any_password),
    ("password", "mariadb --user=root -p'@@' -e 'show tables'", any_password),
    ("password", "docker login -u bob -p @@ registry.example.com", any_password),
    ("password", "redis-cli -h cache -a @@ ping", any_password),
    ("password", "Data Source=sql1;Initial Catalog=x;uid=app;pwd=@@;", any_password),
    ("password", '{\\"login\\": \\"bob\\", \\"passwd\\": \\"@@\\"}', any_password),
    ("password", "conn = connect(host='db', user='app', passwd='@@', port=3306)", any_password),
    ("password", "spring.datasource.password=@@", any_password),
    ("password", "    adminPassword: '@@'", any_password),
    ("password", "<password>@@</password>", any_password),
    ("password", "ALTER ROLE app WITH PASSWORD '@@';", any_password),
    ("password", "machine example.com login bob password @@", any_password),
    ("password", 'if (password === "@@") { open(); }', any_password),
    ("password", "The database password (production) is `@@`", any_password),
    ("passphrase", "Unlock it with this passphrase: @@", passphrase),
    ("passphrase", "key passphrase = '@@'", passphrase),
    ("pin", "The PIN for the door: @@", digits(6)),
    ("url_password", "amqps://svc:@@@mq.example.com/vhost is down", strong),
    ("url_password", '"DATABASE_URL": "mysql://root:@@@127.0.0.1/app"', any_password),
    ("url_password", "proxy=http://user:@@@proxy.local:3128", strong),
    ("password", 'curl --user "alice:@@" -X POST https://example.com/jobs', strong),
    ("bearer", '"Authorization": "Bearer @@"', opaque),
    ("bearer", "headers = {'authorization': f'bearer @@'}", opaque),
    ("basic", "authorization: basic @@", basic),
    ("cookie", "-H 'cookie: lang=en; JSESSIONID=@@; x=1'", opaque),
    ("cookie", "cookies: connect.sid=@@", opaque),
    ("token", "x-auth-token: @@", opaque),
    ("token", "npm config set //registry.example.com/:_authToken=@@", opaque),
    ("token", "your new token is '@@' - keep it safe", opaque),
    ("token", "refresh_token => @@", opaque),
    ("api_key", "my api-key is @@, it has read rights", opaque),
    ("api_key", "os.environ['SERVICE_API_KEY'] = '@@'", opaque),
    ("api_key", "x-api-key:@@", opaque),
    ("api_key", "heroku api key: @@", uuid),
    ("api_key", "cloudflare global api key = @@", chars(HEX, 37)),
    ("secret", "webhook secret: @@", opaque),
    ("secret", "SECRET_KEY = '@@'", opaque),
    ("secret", "oauth:\n  client-secret: @@\n  scopes: all", opaque),
    ("aws_secret_key", "AWS secret access key: @@", aws_secret),
    ("aws_secret_key", '"SecretAccessKey": "@@",', aws_secret),
    ("azure_key", "Endpoint=sb://x.net/;SharedAccessKeyName=all;SharedAccessKey=@@", joined(chars(BASE64, 43), "=")),
    ("slack_webhook", "curl -d '{}' https://hooks.slack.com/services/@@", slack_path),
)


def positives(half: str) -> Iterator[Positive]:
    """All cases of one half, `tuning` or `report`: the same ones on every run."""
    tuning = half == "tuning"
    rng = random.Random(f"zaxy {half}")
    sentences = PROVIDER_SENTENCES_FOR_TUNING if tuning else PROVIDER_SENTENCES_FOR_REPORT
    contexts = CONTEXTS_FOR_TUNING if tuning else CONTEXTS_FOR_REPORT
    turn = 0
    for kind, makes in PROVIDERS.items():
        for number in range(max(6, 2 * len(makes))):
            turn += 5  # coprime to the number of sentences, so that every kind meets different ones
            yield _placed(kind, sentences[turn % len(sentences)], makes[number % len(makes)](rng))
    frames = (("key:\n", "\n"), ("", "")) if tuning else (('{"pem": "', '"}'), ("see\n\n", "\n\nbelow"))
    for make in PRIVATE_KEYS:
        for before, after in frames:
            yield Positive("private_key", before, make(rng), after)
    for kind, template, make in contexts:
        for _ in range(3):
            yield _placed(kind, template, make(rng))


def _placed(kind: str, template: str, secret: str) -> Positive:
    before, after = template.split("@@")
    return Positive(kind, before, secret, after)
