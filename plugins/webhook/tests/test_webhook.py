"""The sink against a real receiver on loopback that does everything a receiver should not."""

from __future__ import annotations

import hashlib
import re
import socket
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from scripted_receiver import (
    Receiver,
    drips,
    floods,
    is_silent,
    never_reads,
    read_head,
    reads_slowly,
    receiving,
    reply,
    resets,
    says,
    says_after_the_head,
    writes,
)

from zaxy.api import Parcel, Receipt, ZaxyError
from zaxy_testkit import Case, Workbench
from zaxy_webhook.sink import Webhook

TOKEN = "tok-9f8e7d6c5b4a39281706"
LARGE = 32 << 20
PATIENCE = 30.0
"""Far more than any bound that is tested here needs, for a machine that is busy with other things."""


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("zaxy_webhook.delivery.FIRST_PAUSE_SECONDS", 0.02)


@pytest.fixture
def bench(tmp_path: Path) -> Workbench:
    return Workbench(tmp_path)


@pytest.fixture
def deliver(bench: Workbench) -> Callable[..., Receipt]:
    def run(
        url: str, token: str = "", content: bytes = b'{"entries":[]}', sent: Parcel | None = None, **settings: object
    ) -> Receipt:
        named = {f"ZAXY_WEBHOOK_{name.upper()}": value for name, value in settings.items()}
        sink = bench.make(Case(Webhook, settings={"ZAXY_WEBHOOK_ALLOW": ("127.0.0.1",), **named}))
        return sink.deliver(sent or parcel(bench.scratch, content), url, token)

    return run


def parcel(folder: Path, content: bytes) -> Parcel:
    path = folder / "bundle.json"
    path.write_bytes(content)
    return Parcel(path, len(content), hashlib.sha256(content).hexdigest())


def refused(code: str, action: Callable[[], object]) -> str:
    """All that the refusal says."""
    with pytest.raises(ZaxyError) as caught:
        action()
    assert caught.value.code == code, caught.value.message
    assert caught.value.remediation
    return f"{caught.value.message}\n{caught.value.remediation}"


def test_the_request_has_the_headers_that_are_promised(deliver: Callable[..., Receipt]) -> None:
    with receiving(says(201, Location="/bundles/7")) as receiver:
        receipt = deliver(f"{receiver.url}?a=b", token=TOKEN)
    (request,) = receiver.requests
    assert request.line == "POST /hook?a=b HTTP/1.1"
    assert request.body == b'{"entries":[]}'
    assert request.headers["host"] == f"127.0.0.1:{receiver.port}"
    assert request.headers["content-type"] == "application/json"
    assert request.headers["content-length"] == "14"
    assert request.headers["authorization"] == f"Bearer {TOKEN}"
    assert request.headers["idempotency-key"] == request.headers["x-zaxy-content-sha256"] == receipt.sha256
    assert "x-zaxy-signature" not in request.headers
    assert receipt.detail == 'answered 201, id "/bundles/7"'


def test_without_a_token_there_is_no_authorization(deliver: Callable[..., Receipt]) -> None:
    with receiving(says(204, X_Request_Id="r-1")) as receiver:
        assert deliver(receiver.url).detail == 'answered 204, id "r-1"'
    assert "authorization" not in receiver.requests[0].headers


def test_the_signature_verifies_as_the_readme_tells_a_receiver(
    deliver: Callable[..., Receipt], bench: Workbench
) -> None:
    readme = (Path(__file__).parents[1] / "README.md").read_text(encoding="utf-8")
    match = re.search(r"<!-- receiver -->\n```python\n(.+?)```", readme, re.DOTALL)
    assert match
    told: dict[str, Callable[..., bool]] = {}
    exec(match[1], told)
    content = b"\x00body\r\n" * 50000
    with receiving() as receiver:
        deliver(receiver.url, content=content, secret="shared")
    header, now = receiver.requests[0].headers["x-zaxy-signature"], bench.now.timestamp()
    assert told["is_genuine"]("shared", header, content, now)
    assert not told["is_genuine"]("other", header, content, now)
    assert not told["is_genuine"]("shared", header, content + b"x", now)
    assert not told["is_genuine"]("shared", header, content, now + 3600)


def test_an_empty_secret_does_not_pass_for_none(deliver: Callable[..., Receipt]) -> None:
    assert "ZAXY_WEBHOOK_SECRET" in refused("invalid_request", lambda: deliver("https://example.com/", secret=""))


# Attempts


def test_a_receiver_that_is_down_is_unavailable(deliver: Callable[..., Receipt]) -> None:
    with receiving() as receiver:
        pass
    assert "after 4 attempts" in refused("unavailable", lambda: deliver(receiver.url))


def test_a_delivery_succeeds_after_server_errors_under_one_idempotency_key(deliver: Callable[..., Receipt]) -> None:
    with receiving(says(500), says(503), says(200)) as receiver:
        deliver(receiver.url)
    assert len(receiver.requests) == 3
    assert len({request.headers["idempotency-key"] for request in receiver.requests}) == 1
    assert len({request.body for request in receiver.requests}) == 1


def test_a_receiver_that_always_fails_is_given_up_and_quoted(deliver: Callable[..., Receipt]) -> None:
    with receiving(says(500, b"the disk\nis \x1b[31mfull")) as receiver:
        said = refused("unavailable", lambda: deliver(receiver.url, attempts=3))
    assert receiver.connections == 3
    assert 'answered 500: "the disk is [31mfull"' in said


@pytest.mark.parametrize(
    ("status", "code"),
    [
        (400, "unavailable"),
        (401, "forbidden"),
        (403, "forbidden"),
        (404, "not_found"),
        (408, "unavailable"),
        (409, "conflict"),
        (410, "not_found"),
        (413, "too_large"),
        (422, "unavailable"),
        (304, "unavailable"),
        (101, "unavailable"),
    ],
)
def test_a_refusal_is_final(deliver: Callable[..., Receipt], status: int, code: str) -> None:
    with receiving(says(status, b"no")) as receiver:
        assert f"answered {status}" in refused(code, lambda: deliver(receiver.url))
    assert receiver.connections == 1


def test_retry_after_is_respected(deliver: Callable[..., Receipt]) -> None:
    with receiving(says(429, Retry_After="1"), says(200)) as receiver:
        began = time.monotonic()
        deliver(receiver.url)
    assert time.monotonic() - began >= 0.99
    assert receiver.connections == 2


@pytest.mark.parametrize("asked", ["3600", "Mon, 15 Jun 2026 01:00:00 GMT"])
def test_a_retry_after_beyond_the_total_ends_the_delivery_at_once(deliver: Callable[..., Receipt], asked: str) -> None:
    with receiving(says(429, Retry_After=asked)) as receiver:
        began = time.monotonic()
        assert "3600 s" in refused("unavailable", lambda: deliver(receiver.url))
    assert time.monotonic() - began < PATIENCE
    assert receiver.connections == 1


def test_a_retry_after_that_is_nonsense_is_ignored(deliver: Callable[..., Receipt]) -> None:
    with receiving(says(503, Retry_After="soon"), says(503, Retry_After="-5"), says(200)) as receiver:
        deliver(receiver.url)
    assert receiver.connections == 3


def test_a_reset_in_the_middle_is_tried_again(deliver: Callable[..., Receipt]) -> None:
    content = b"x" * LARGE
    with receiving(resets, says(200)) as receiver:
        deliver(receiver.url, content=content)
    assert receiver.connections == 2
    assert receiver.requests[0].body == content


@pytest.mark.parametrize("cut", [b"", b"HTTP/1.1 200", b"HTTP/1.1 200 OK\r\n", b"HTTP/1.1 200 OK\r\nX-Request-Id: 1"])
def test_an_answer_that_breaks_off_is_no_success(deliver: Callable[..., Receipt], cut: bytes) -> None:
    with receiving(writes(cut), says(202)) as receiver:
        assert deliver(receiver.url).detail == "answered 202"
    assert receiver.connections == 2


def test_an_answer_that_is_not_http_is_no_success(deliver: Callable[..., Receipt]) -> None:
    with receiving(writes(b"220 mail.example ESMTP\r\n")) as receiver:
        assert "not HTTP" in refused("unavailable", lambda: deliver(receiver.url, attempts=2))


def test_interim_answers_are_passed_over(deliver: Callable[..., Receipt]) -> None:
    interim = b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n"
    with receiving(writes(interim + reply(202))) as receiver:
        assert deliver(receiver.url).detail == "answered 202"


def test_a_refusal_before_the_body_is_through_is_understood(deliver: Callable[..., Receipt]) -> None:
    with receiving(says_after_the_head(413, b"at most 1 MB")) as receiver:
        said = refused("too_large", lambda: deliver(receiver.url, content=b"x" * LARGE))
    assert "at most 1 MB" in said


def test_a_success_before_the_body_is_through_is_none(deliver: Callable[..., Receipt]) -> None:
    with receiving(says_after_the_head(200)) as receiver:
        said = refused("unavailable", lambda: deliver(receiver.url, content=b"x" * LARGE, attempts=2))
    assert receiver.connections == 2
    assert "not delivered" in said


# Time


@pytest.mark.parametrize(
    ("script", "content"),
    [
        (is_silent, b"{}"),
        (never_reads, b"x" * LARGE),
        (reads_slowly, b"x" * LARGE),
        (drips(b"HTTP/1.1 200 OK\r\nX-Slow: "), b"{}"),
        (drips(b""), b"{}"),
    ],
    ids=["silent", "never reads", "reads slowly", "drips a header", "drips the status"],
)
def test_the_total_is_bounded(deliver: Callable[..., Receipt], script: Callable[..., None], content: bytes) -> None:
    with receiving(script) as receiver:
        began = time.monotonic()
        said = refused("unavailable", lambda: deliver(receiver.url, content=content, timeout=2.0, attempts=1))
        assert time.monotonic() - began < PATIENCE
    assert "not delivered" in said


def test_silence_is_tried_again_within_the_total(deliver: Callable[..., Receipt]) -> None:
    with receiving(is_silent, says(200)) as receiver:
        deliver(receiver.url, timeout=20.0, attempts=10)
    assert receiver.connections == 2


def test_a_success_whose_body_drips_is_not_waited_for(
    deliver: Callable[..., Receipt], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("zaxy_webhook.request.REPLY_SECONDS", 0.3)
    with receiving(drips(b"HTTP/1.1 200 OK\r\n\r\n")) as receiver:
        began = time.monotonic()
        assert deliver(receiver.url, timeout=300.0).detail == "answered 200"
        assert time.monotonic() - began < PATIENCE


@pytest.mark.parametrize("status", [200, 400])
def test_a_huge_reply_is_not_read_to_its_end(deliver: Callable[..., Receipt], status: int) -> None:
    with receiving(floods(status)) as receiver:
        if status == 200:
            deliver(receiver.url)
        else:
            said = refused("unavailable", lambda: deliver(receiver.url))
            assert "flood flood" in said
            assert len(said) < 500


def test_a_resolver_that_hangs_is_not_waited_for(
    deliver: Callable[..., Receipt], monkeypatch: pytest.MonkeyPatch
) -> None:
    over = threading.Event()

    def hangs(*_: object, **__: object) -> list[object]:
        over.wait(60)
        return []

    monkeypatch.setattr(socket, "getaddrinfo", hangs)
    began = time.monotonic()
    refused("unavailable", lambda: deliver("http://example.com/", timeout=1.0, attempts=2))
    assert time.monotonic() - began < PATIENCE
    over.set()


@pytest.mark.parametrize("wrong", [{"timeout": 0.0}, {"timeout": 1e9}, {"attempts": 0}, {"attempts": 1000}])
def test_settings_that_bound_nothing_are_refused(deliver: Callable[..., Receipt], wrong: dict[str, object]) -> None:
    refused("invalid_request", lambda: deliver("https://example.com/", **wrong))


# The bundle


def test_a_bundle_that_was_cut_or_grew_is_not_sent(deliver: Callable[..., Receipt], tmp_path: Path) -> None:
    for content in (b"shorter", b"much longer than it was before"):
        sent = parcel(tmp_path, b"what it was before")
        sent.path.write_bytes(content)
        with receiving() as receiver:
            assert "changed" in refused("conflict", lambda sent=sent, url=receiver.url: deliver(url, sent=sent))
        assert receiver.connections == 0


def test_a_bundle_with_other_bytes_never_arrives_whole(deliver: Callable[..., Receipt], tmp_path: Path) -> None:
    sent = parcel(tmp_path, b"what it was")
    sent.path.write_bytes(b"What it was")
    with receiving() as receiver:
        refused("conflict", lambda: deliver(receiver.url, sent=sent))
    assert receiver.requests == []


def test_a_bundle_that_changes_while_it_is_sent_never_arrives_whole(
    deliver: Callable[..., Receipt], tmp_path: Path
) -> None:
    sent = parcel(tmp_path, b"x" * LARGE)
    arrived = []

    def meddles(receiver: Receiver, link: socket.socket) -> None:
        read_head(link)
        with open(sent.path, "r+b") as file:
            file.seek(LARGE - 10)
            file.write(b"y")
        while chunk := link.recv(1 << 20):
            arrived.append(len(chunk))

    with receiving(meddles) as receiver:
        refused("conflict", lambda: deliver(receiver.url, sent=sent))
    assert receiver.connections == 1
    assert sum(arrived) < LARGE


def test_a_bundle_that_is_gone_is_told(deliver: Callable[..., Receipt], tmp_path: Path) -> None:
    sent = Parcel(tmp_path / "gone", 1, "0" * 64)
    assert "cannot be read" in refused("unavailable", lambda: deliver("https://example.com/", sent=sent))


# The token


@pytest.mark.parametrize("token", ["a\r\nX-Evil: 1", "a\nb", "a b", "tök", "a\x00", "a\x7f", "\ud800"])
def test_a_token_that_no_header_can_hold_is_refused_unshown(deliver: Callable[..., Receipt], token: str) -> None:
    with receiving() as receiver:
        said = refused("invalid_request", lambda: deliver(receiver.url, token=token))
    assert token not in said and repr(token)[1:-1] not in said
    assert receiver.connections == 0


@pytest.mark.parametrize(
    "answer",
    [
        reply(400, f"you sent {TOKEN}".encode()),
        reply(400, f"you sent {TOKEN[:12]}\r\n{TOKEN[12:]}".encode()),
        reply(400, b" " * 190 + TOKEN.encode()),
        reply(500, TOKEN.encode()),
        reply(302, Location=f"/?token={TOKEN}"),
        reply(308, Location=f"http://127.0.0.1:1/{TOKEN}"),
        reply(308, Location=f"https://{TOKEN}.example.com/"),
        f"HTTP/1.1 400 {TOKEN}\r\n\r\n".encode(),
        f"{TOKEN} is not HTTP\r\n\r\n".encode(),
    ],
)
def test_the_token_is_not_in_an_error_even_if_the_receiver_repeats_it(
    deliver: Callable[..., Receipt], answer: bytes
) -> None:
    with receiving(writes(answer)) as receiver, pytest.raises(ZaxyError) as caught:
        deliver(receiver.url, token=TOKEN, attempts=2)
    said = str(caught.value.as_dict()) + repr(caught.value)
    assert not [start for start in range(len(TOKEN) - 7) if TOKEN[start : start + 8] in said], said


def test_the_token_is_not_in_a_receipt_even_if_the_receiver_repeats_it(deliver: Callable[..., Receipt]) -> None:
    for header in ("Location", "X-Request-Id"):
        with receiving(says(200, **{header: f"/{TOKEN}"})) as receiver:
            assert TOKEN[:8] not in str(deliver(receiver.url, token=TOKEN))


def test_a_media_type_cannot_add_a_header(deliver: Callable[..., Receipt], tmp_path: Path) -> None:
    good = parcel(tmp_path, b"{}")
    sent = Parcel(good.path, good.size, good.sha256, "text/plain\r\nX-Evil: 1")
    with receiving() as receiver:
        refused("invalid_request", lambda: deliver(receiver.url, sent=sent))
    assert receiver.connections == 0
