"""The gate of the HTTP server lets in only what certainly means this machine: generated hosts and origins."""

from __future__ import annotations

import ipaddress
from typing import Any

import anyio
import pytest
from hypothesis import given, settings, strategies as st
from starlette.responses import Response

from zaxy.serve.gate import Gate

LOOPBACK = ("localhost", "LocalHost", "127.0.0.1", "127.255.255.254", "[::1]", "[0:0:0:0:0:0:0:1]")
PORTS = ("", ":0", ":80", ":65535")
MARKS = "[]:/\\@?#%&=,;. \t\"'<>{}|^`~!$*()+_-\u2028\u00e9\x7f\x00"
letters = st.text(st.sampled_from([*MARKS, *"evil.example01:fA"]), min_size=1, max_size=8)


def passes(*headers: tuple[str, str]) -> bool:
    """Whether the gate passes on a request with these headers, in this order, as a server would hand them over."""
    reached: list[bool] = []

    async def inner(scope: Any, receive: Any, send: Any) -> None:
        reached.append(True)
        await Response()(scope, receive, send)

    async def receive() -> dict[str, Any]:
        return {"type": "http.disconnect"}

    async def send(message: dict[str, Any]) -> None:
        pass

    raw = [(name.encode(), value.encode("latin-1", "replace")) for name, value in headers]
    scope = {"type": "http", "method": "GET", "path": "/mcp", "headers": raw}
    anyio.run(Gate(inner), scope, receive, send)
    return bool(reached)


@pytest.mark.parametrize("port", PORTS)
@pytest.mark.parametrize("host", LOOPBACK)
def test_a_loopback_host_passes_on_every_port(host: str, port: str) -> None:
    assert passes(("host", host + port))
    assert passes(("host", host + port), ("origin", f"http://{host}{port}"))


@settings(max_examples=400)
@given(st.sampled_from(LOOPBACK), st.sampled_from(PORTS), letters, letters, st.integers(0, 3))
def test_whatever_is_put_before_into_or_behind_a_loopback_host_does_not_pass(
    host: str, port: str, before: str, behind: str, where: int
) -> None:
    middle = len(host) // 2
    given = (
        f"{before}{host}{port}",
        f"{host}{port}{behind}",
        f"{host}{behind}{port}",
        f"{host[:middle]}{before}{host[middle:]}{port}",
    )[where]
    if not _means_loopback(given):
        assert not passes(("host", given)), given
        assert not passes(("host", "localhost"), ("origin", f"http://{given}")), given


def _means_loopback(host: str) -> bool:
    """By another way than the gate's: the name before the last colon, and nothing but digits behind it."""
    name, colon, port = host.rpartition(":")
    if not colon or host.endswith("]"):
        name, port = host, ""
    if colon and port == "" and not host.endswith("]"):
        return False
    if port and not (port.isascii() and port.isdigit() and len(port) <= 5 and int(port) < 65536):
        return False
    if name.lower() == "localhost":
        return True
    bracketed = name.startswith("[") and name.endswith("]")
    try:
        address = ipaddress.ip_address(name[1:-1] if bracketed else name)
    except ValueError:
        return False
    return address.is_loopback and (address.version == 6) == bracketed and "%" not in name


@pytest.mark.parametrize(
    "host",
    [
        *("[::1]evil", "[::1].evil.example", "[::1]:80:80", "[::1]80", "[127.0.0.1]", "::1", "[::1%25lo]", "[]"),
        *("localhost:", "localhost:-1", "localhost:65536", "localhost:0x50", "localhost:8 0", "localhost.", "127.1"),
        *("127.0.0.01", "0177.0.0.1", "127.0.0.1:٣", "user@localhost", "localhost\\evil", "localhost#", "ｌocalhost"),
    ],
)
def test_a_host_that_programs_read_in_different_ways_does_not_pass(host: str) -> None:
    assert not passes(("host", host))
    assert not passes(("host", "localhost"), ("origin", f"https://{host}"))


@pytest.mark.parametrize("first", ["localhost", "evil.example", ""])
@pytest.mark.parametrize("second", ["localhost", "evil.example", ""])
@pytest.mark.parametrize("name", ["host", "origin"])
def test_a_header_that_comes_twice_does_not_pass_whatever_it_says(name: str, first: str, second: str) -> None:
    scheme = "http://" if name == "origin" else ""
    twice = [(name, scheme + first), (name, scheme + second)]
    assert not passes(*twice, *([("host", "localhost")] if name == "origin" else []))
    assert not passes(*([("host", "localhost")] if name == "origin" else []), *reversed(twice))


def test_a_request_without_a_host_does_not_pass() -> None:
    assert not passes()


@pytest.mark.parametrize("origin", ["http://", "http:localhost", "://localhost", "http://a http://localhost", "null"])
def test_an_origin_that_is_none_does_not_pass(origin: str) -> None:
    assert not passes(("host", "localhost"), ("origin", origin))
