"""Which addresses the sink connects to: no forbidden one, whatever names, redirects and spellings say."""

from __future__ import annotations

import errno
import socket
import ssl
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from certificates import Authority
from scripted_receiver import drips, never_reads, receiving, says

from zaxy.api import Parcel, Receipt, ZaxyError
from zaxy_testkit import Case, Workbench
from zaxy_testkit.checks.export_sinks import parcel
from zaxy_webhook.sink import Webhook

TOKEN = "tok-9f8e7d6c5b4a39281706"
PUBLIC = "93.184.216.34"
FORBIDDEN = [
    *("127.0.0.1", "127.255.0.9", "10.1.2.3", "172.16.0.1", "192.168.1.1", "169.254.169.254", "100.64.0.1"),
    *("0.0.0.0", "224.0.0.1", "240.0.0.1", "255.255.255.255", "192.0.2.1", "198.18.0.1"),
    *("::", "::1", "::127.0.0.1", "fe80::1", "fc00::1", "fec0::1", "ff02::1", "2001:db8::1", "64:ff9b:1::1"),
    *("::ffff:127.0.0.1", "::ffff:a9fe:a9fe", "64:ff9b::127.0.0.1", "64:ff9b::a9fe:a9fe"),
    *("2002:7f00:1::", "2002:a00:1::1", "2002:a9fe:a9fe::1"),
]
SPELLINGS = ["2130706433", "0x7f000001", "0x7f.1", "0177.0.0.1", "127.1", "0", "2852039166", "0xa9fea9fe", "127.0.0.1."]
Connections = list[tuple[object, ...]]


@pytest.fixture(autouse=True)
def connections(monkeypatch: pytest.MonkeyPatch) -> Connections:
    """What the sink connects to. Nothing leaves this machine: what is not loopback refuses the connection here."""
    monkeypatch.setattr("zaxy_webhook.delivery.FIRST_PAUSE_SECONDS", 0.02)
    seen: Connections = []
    connect = socket.socket.connect

    def watched(self: socket.socket, place: tuple[object, ...]) -> None:
        seen.append(place[:2])
        if place[0] != "127.0.0.1":
            raise ConnectionRefusedError(errno.ECONNREFUSED, "refused by the test")
        connect(self, place)

    monkeypatch.setattr(socket.socket, "connect", watched)
    return seen


@pytest.fixture
def bench(tmp_path: Path) -> Workbench:
    return Workbench(tmp_path)


@pytest.fixture
def sent(bench: Workbench) -> Parcel:
    return parcel(bench, b"{}")


@pytest.fixture
def sink(bench: Workbench) -> Callable[..., Webhook]:
    def make(*allow: str, **settings: object) -> Webhook:
        named = {f"ZAXY_WEBHOOK_{name.upper()}": value for name, value in settings.items()}
        made: Webhook = bench.make(Case(Webhook, settings={"ZAXY_WEBHOOK_ALLOW": allow, **named}))
        return made

    return make


@pytest.fixture
def resolves_to(monkeypatch: pytest.MonkeyPatch) -> Callable[..., list[str]]:
    """Let every name resolve to the given addresses, one list for each look-up; returns the names asked for."""

    def set_up(*answers: list[str]) -> list[str]:
        asked: list[str] = []

        def getaddrinfo(host: str, port: int, *_: object, **__: object) -> list[tuple[object, ...]]:
            asked.append(host)
            found = answers[min(len(asked), len(answers)) - 1]
            return [
                (socket.AF_INET6, socket.SOCK_STREAM, 6, "", (address, port, 0, 0))
                if ":" in address
                else (socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, port))
                for address in found
            ]

        monkeypatch.setattr(socket, "getaddrinfo", getaddrinfo)
        return asked

    return set_up


def refused(code: str, action: Callable[[], object]) -> str:
    with pytest.raises(ZaxyError) as caught:
        action()
    assert caught.value.code == code, caught.value.message
    return f"{caught.value.message}\n{caught.value.remediation}"


def url_of(address: str) -> str:
    return f"http://[{address}]/hook" if ":" in address else f"http://{address}/hook"


# Addresses


@pytest.mark.parametrize("host", FORBIDDEN + SPELLINGS)
def test_a_forbidden_address_is_refused_in_every_spelling_before_any_lookup(
    sink: Callable[..., Webhook],
    sent: Parcel,
    connections: Connections,
    resolves_to: Callable[..., list[str]],
    host: str,
) -> None:
    asked = resolves_to([PUBLIC])
    assert "ZAXY_WEBHOOK_ALLOW" in refused("forbidden", lambda: sink().check(url_of(host)))
    refused("forbidden", lambda: sink().deliver(sent, url_of(host), TOKEN))
    assert connections == []
    assert asked == []


@pytest.mark.parametrize("address", [*FORBIDDEN, "fe80::1%lo"])
def test_a_name_is_judged_by_what_it_resolves_to(
    sink: Callable[..., Webhook],
    sent: Parcel,
    connections: Connections,
    resolves_to: Callable[..., list[str]],
    address: str,
) -> None:
    resolves_to([address])
    sink().check("http://inside.example.com/")
    refused("forbidden", lambda: sink().deliver(sent, "http://inside.example.com/", TOKEN))
    resolves_to([PUBLIC, address])
    refused("forbidden", lambda: sink().deliver(sent, "http://inside.example.com/", TOKEN))
    assert connections == []


def test_the_real_name_of_this_machine_is_refused(
    sink: Callable[..., Webhook], sent: Parcel, connections: Connections
) -> None:
    with receiving() as receiver:
        refused("forbidden", lambda: sink().deliver(sent, f"http://localhost:{receiver.port}/", TOKEN))
    assert connections == []


@pytest.mark.parametrize(
    "host",
    [PUBLIC, "[2606:2800:220:1:248:1893:25c8:1946]", "[64:ff9b::5db8:d822]", "[2002:5db8:d822::1]", "example.com"],
)
def test_a_public_destination_passes_the_check_without_a_lookup(
    sink: Callable[..., Webhook], connections: Connections, resolves_to: Callable[..., list[str]], host: str
) -> None:
    asked = resolves_to([PUBLIC])
    sink().check(f"https://{host}:8443/hook")
    assert asked == []
    assert connections == []


@pytest.mark.parametrize(
    "allow", ["127.0.0.1", "127.0.0.0/8", "127.0.0.1/8", "receiver.example.com", "Receiver.Example.COM."]
)
def test_what_is_allowed_is_reached(
    sink: Callable[..., Webhook], sent: Parcel, resolves_to: Callable[..., list[str]], allow: str
) -> None:
    resolves_to(["127.0.0.1"])
    with receiving() as receiver:
        sink("10.0.0.0/8", allow).deliver(sent, f"http://receiver.example.com:{receiver.port}/", "")
    assert receiver.requests[0].headers["host"] == f"receiver.example.com:{receiver.port}"


def test_allowing_one_address_allows_no_other(sink: Callable[..., Webhook]) -> None:
    for host in ("127.0.0.2", "10.0.0.1", "[::1]", "169.254.169.254"):
        refused("forbidden", lambda host=host: sink("127.0.0.1").check(f"http://{host}/"))
    sink("127.0.0.1").check("http://[::ffff:127.0.0.1]/")


@pytest.mark.parametrize("item", ["http://127.0.0.1", "10.0.0.0/99", "127.0.0.1:80", "*", "a b"])
def test_an_exception_that_means_nothing_is_refused(sink: Callable[..., Webhook], item: str) -> None:
    assert repr(item) in refused("invalid_request", lambda: sink(item).check("https://example.com/"))


def test_a_name_that_changes_its_address_is_looked_up_only_once(
    sink: Callable[..., Webhook], sent: Parcel, connections: Connections, resolves_to: Callable[..., list[str]]
) -> None:
    asked = resolves_to([PUBLIC], ["127.0.0.1"], ["169.254.169.254"])
    refused("unavailable", lambda: sink().deliver(sent, "http://rebound.example.com:8080/", TOKEN))
    assert asked == ["rebound.example.com"]
    assert connections == [(PUBLIC, 8080)] * 4


def test_another_address_of_the_name_is_tried_where_one_does_not_answer(
    sink: Callable[..., Webhook], sent: Parcel, connections: Connections, resolves_to: Callable[..., list[str]]
) -> None:
    with receiving() as receiver:
        resolves_to([PUBLIC, "127.0.0.1"])
        sink("127.0.0.1").deliver(sent, f"http://two.example.com:{receiver.port}/", "")
    assert connections == [(PUBLIC, receiver.port), ("127.0.0.1", receiver.port)]


def test_a_name_that_is_not_there_is_told_at_once(
    sink: Callable[..., Webhook], sent: Parcel, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = []

    def unknown(*arguments: object, **_: object) -> None:
        asked.append(arguments)
        raise socket.gaierror(socket.EAI_NONAME, "unknown")

    monkeypatch.setattr(socket, "getaddrinfo", unknown)
    refused("unavailable", lambda: sink().deliver(sent, "https://nowhere.example.com/", ""))
    assert len(asked) == 1


def test_a_lookup_that_fails_for_now_is_tried_again(
    sink: Callable[..., Webhook], sent: Parcel, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = []

    def failing(*arguments: object, **_: object) -> None:
        asked.append(arguments)
        raise socket.gaierror(socket.EAI_AGAIN, "try again")

    monkeypatch.setattr(socket, "getaddrinfo", failing)
    refused("unavailable", lambda: sink(attempts=3).deliver(sent, "https://later.example.com/", ""))
    assert len(asked) == 3


def test_a_token_without_encryption_is_worth_a_notice(
    sink: Callable[..., Webhook], sent: Parcel, bench: Workbench, resolves_to: Callable[..., list[str]]
) -> None:
    resolves_to([PUBLIC])
    refused("unavailable", lambda: sink(attempts=2).deliver(sent, "http://example.com/", TOKEN))
    (notice,) = bench.warnings
    assert "https" in notice
    assert TOKEN not in notice


def test_proxies_of_the_environment_are_not_used(
    sink: Callable[..., Webhook], sent: Parcel, monkeypatch: pytest.MonkeyPatch
) -> None:
    with receiving() as proxy, receiving() as receiver:
        for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
            monkeypatch.setenv(name, f"http://127.0.0.1:{proxy.port}")
        sink("127.0.0.1").deliver(sent, receiver.url, TOKEN)
    assert proxy.connections == 0
    assert receiver.connections == 1


# Spellings of the destination


@pytest.mark.parametrize(
    "url",
    [
        *("", "example.com/hook", "ftp://example.com/", "file:///etc/passwd", "javascript:1", "//example.com/"),
        *("http://", "http:///hook", "http://:80/", "http://user@example.com/", "https://u:hidden@example.com/"),
        *(
            "http://example.com/\r\nX-Evil: 1",
            "http://exam\nple.com/",
            "http://example.com/a b",
            "\thttp://example.com/",
        ),
        *("http://example.com:0/", "http://example.com:99999/", "http://example.com:x/", "http://example.com:-1/"),
        *("http://a..b/", "http://[::1/", "http://[::1]evil/", "http://[fe80::1%25lo]/", "http://exa mple.com/"),
        *("http://ex\u00e4mple.com/", "http://\u2460\u2461\u2466.0.0.1/", "http://example.com\\@127.0.0.1/"),
        *("http://example.com/\x00", "http://" + "a" * 64 + ".com/", "http://example.com/\u00e4"),
    ],
)
def test_a_malformed_destination_is_refused(
    sink: Callable[..., Webhook], sent: Parcel, connections: Connections, url: str
) -> None:
    said = refused("invalid_request", lambda: sink("127.0.0.1").check(url))
    refused("invalid_request", lambda: sink("127.0.0.1").deliver(sent, url, TOKEN))
    assert connections == []
    assert "hidden" not in said


def test_no_message_shows_the_path(sink: Callable[..., Webhook], sent: Parcel) -> None:
    with receiving(says(404)) as receiver:
        said = refused("not_found", lambda: sink("127.0.0.1").deliver(sent, f"{receiver.url}/T000/key?k=key", ""))
    assert "key" not in said


# Redirects


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
@pytest.mark.parametrize(
    "location",
    [
        "http://169.254.169.254/latest/meta-data/",
        "http://localhost:{port}/",
        "http://127.0.0.1:{other}/",
        "//127.0.0.1:{other}/",
        "https://127.0.0.1:{port}/",
        "file:///etc/passwd",
        "http://u:p@127.0.0.1:{port}/",
        "http://evil.example.com/",
        "http://[::1]:{port}/",
        "\\\\evil.example.com/",
    ],
)
def test_a_redirect_elsewhere_is_refused_and_told(
    sink: Callable[..., Webhook], sent: Parcel, connections: Connections, status: int, location: str
) -> None:
    with receiving() as elsewhere:
        # The receiver's own port is not known before it is there, so the answer is made when it is asked.
        def redirects(receiver, link):  # type: ignore[no-untyped-def]
            says(status, Location=location.format(port=receiver.port, other=elsewhere.port))(receiver, link)

        with receiving(redirects) as receiver:
            said = refused("forbidden", lambda: sink("127.0.0.1").deliver(sent, receiver.url, TOKEN))
            assert location.format(port=receiver.port, other=elsewhere.port) in said
    assert connections == [("127.0.0.1", receiver.port)]
    assert elsewhere.connections == 0


@pytest.mark.parametrize("status", [301, 302, 303])
def test_a_redirect_that_makes_a_get_of_a_post_is_refused_at_home_too(
    sink: Callable[..., Webhook], sent: Parcel, status: int
) -> None:
    with receiving(says(status, Location="/there")) as receiver:
        assert "/there" in refused("forbidden", lambda: sink("127.0.0.1").deliver(sent, receiver.url, TOKEN))
    assert receiver.connections == 1


@pytest.mark.parametrize("status", [307, 308])
def test_a_redirect_within_the_origin_is_followed_with_body_and_token(
    sink: Callable[..., Webhook], sent: Parcel, status: int
) -> None:
    with receiving(says(status, Location="/there?x=1"), says(status, Location="here"), says(200)) as receiver:
        receipt: Receipt = sink("127.0.0.1").deliver(sent, receiver.url, TOKEN)
    assert [request.line.split()[1] for request in receiver.requests] == ["/hook", "/there?x=1", "/here"]
    assert {request.body for request in receiver.requests} == {b"{}"}
    assert {request.headers["authorization"] for request in receiver.requests} == {f"Bearer {TOKEN}"}
    assert receipt.detail == "answered 200"


def test_redirects_in_a_circle_end(sink: Callable[..., Webhook], sent: Parcel) -> None:
    with receiving(says(308, Location="/hook")) as receiver:
        refused("forbidden", lambda: sink("127.0.0.1").deliver(sent, receiver.url, TOKEN))
    assert receiver.connections == 4


def test_a_redirect_to_nowhere_is_refused(sink: Callable[..., Webhook], sent: Parcel) -> None:
    with receiving(says(308)) as receiver:
        refused("forbidden", lambda: sink("127.0.0.1").deliver(sent, receiver.url, TOKEN))


# TLS


@pytest.fixture
def authority(tmp_path: Path) -> Authority:
    return Authority(tmp_path / "authority")


def test_a_certificate_of_an_unknown_authority_is_refused_before_anything_is_sent(
    sink: Callable[..., Webhook], sent: Parcel, authority: Authority
) -> None:
    with receiving(tls=authority.server("127.0.0.1")) as receiver:
        said = refused("unavailable", lambda: sink("127.0.0.1").deliver(sent, receiver.url, TOKEN))
    assert "ZAXY_WEBHOOK_CA_CERT" in said
    assert receiver.connections == 1
    assert receiver.requests == []


def test_a_certificate_of_the_users_own_authority_is_trusted(
    sink: Callable[..., Webhook], sent: Parcel, authority: Authority
) -> None:
    with receiving(tls=authority.server("127.0.0.1")) as receiver:
        sink("127.0.0.1", ca_cert=str(authority.certificate)).deliver(sent, receiver.url, TOKEN)
    assert receiver.requests[0].body == b"{}"


def test_a_certificate_for_another_name_is_refused(
    sink: Callable[..., Webhook], sent: Parcel, authority: Authority, resolves_to: Callable[..., list[str]]
) -> None:
    resolves_to(["127.0.0.1"])
    with receiving(tls=authority.server("other.example.com")) as receiver:
        own = sink("127.0.0.1", ca_cert=str(authority.certificate))
        refused("unavailable", lambda: own.deliver(sent, f"https://this.example.com:{receiver.port}/", TOKEN))
    assert receiver.requests == []


def test_tls_asks_for_the_name_although_the_address_is_connected_to(
    sink: Callable[..., Webhook], sent: Parcel, authority: Authority, resolves_to: Callable[..., list[str]]
) -> None:
    names: list[str | None] = []
    tls = authority.server("receiver.example.com")
    tls.sni_callback = lambda _, name, __: names.append(name)
    resolves_to(["127.0.0.1"])
    with receiving(tls=tls) as receiver:
        own = sink("127.0.0.1", ca_cert=str(authority.certificate))
        own.deliver(sent, f"https://receiver.example.com:{receiver.port}/hook", TOKEN)
    assert names == ["receiver.example.com"]
    assert receiver.requests[0].headers["host"] == f"receiver.example.com:{receiver.port}"


def test_large_bundles_arrive_over_tls(sink: Callable[..., Webhook], bench: Workbench, authority: Authority) -> None:
    content = bytes(range(256)) * (1 << 15)
    with receiving(tls=authority.server("127.0.0.1")) as receiver:
        own = sink("127.0.0.1", ca_cert=str(authority.certificate))
        own.deliver(parcel(bench, content), receiver.url, TOKEN)
    assert receiver.requests[0].body == content


def test_a_plain_server_behind_https_is_unavailable(sink: Callable[..., Webhook], sent: Parcel) -> None:
    with receiving() as receiver:
        url = receiver.url.replace("http:", "https:")
        refused("unavailable", lambda: sink("127.0.0.1", attempts=2, timeout=4.0).deliver(sent, url, TOKEN))
    assert receiver.requests == []


@pytest.mark.parametrize("stage", ["handshake", "answer"])
def test_time_is_bounded_over_tls_too(
    sink: Callable[..., Webhook], sent: Parcel, authority: Authority, stage: str
) -> None:
    script, tls = (never_reads, None) if stage == "handshake" else (drips(b"HTTP/1.1 "), authority.server("127.0.0.1"))
    with receiving(script, tls=tls) as receiver:
        own = sink("127.0.0.1", ca_cert=str(authority.certificate), timeout=2.0, attempts=1)
        began = time.monotonic()
        refused("unavailable", lambda: own.deliver(sent, f"https://127.0.0.1:{receiver.port}/", TOKEN))
        assert time.monotonic() - began < 30


@pytest.mark.parametrize("content", [None, b"no certificate"])
def test_an_authority_that_cannot_be_read_is_told(
    sink: Callable[..., Webhook], sent: Parcel, tmp_path: Path, content: bytes | None
) -> None:
    path = tmp_path / "ca.pem"
    if content is not None:
        path.write_bytes(content)
    own = sink(ca_cert=str(path))
    assert str(path) in refused("invalid_request", lambda: own.deliver(sent, "https://example.com/", TOKEN))


def test_verification_is_on(authority: Authority) -> None:
    from zaxy_webhook.delivery import _tls

    context = _tls(str(authority.certificate))
    assert context.verify_mode == ssl.CERT_REQUIRED
    assert context.check_hostname
