"""Where a bundle may go: web addresses are parsed strictly, and hosts are judged by what they resolve to."""

from __future__ import annotations

import ipaddress
import re
import socket
from collections.abc import Iterable
from typing import NamedTuple
from urllib.parse import urljoin, urlsplit

from zaxy.api import Forbidden, InvalidRequest, ZaxyError

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
PORTS = {"http": 80, "https": 443}
NAMES = re.compile(r"(?=.{1,253}$)[a-z0-9_-]{1,63}(\.[a-z0-9_-]{1,63})*")
BRACKETED = re.compile(r"\[([0-9a-fA-F:.]+)\](:[0-9]*)?")
PLAIN = re.compile(r"[!-\[\]-~]+")  # printable ASCII; a backslash is a slash to some parsers and not to others
NAT64 = ipaddress.IPv6Network("64:ff9b::/96")
SHARED = ipaddress.IPv4Network("100.64.0.0/10")
ADVICE = "Give an address such as https://example.com/hook."


class Destination(NamedTuple):
    scheme: str
    host: str
    port: int
    target: str
    """The path and the query. Often a secret in itself, so no message shows it."""

    @property
    def host_header(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == PORTS[self.scheme] else f"{host}:{self.port}"

    @property
    def origin(self) -> str:
        return f"{self.scheme}://{self.host_header}"


class Allowed(NamedTuple):
    """What the user allows besides public addresses."""

    hosts: frozenset[str]
    networks: tuple[ipaddress.IPv4Network | ipaddress.IPv6Network, ...]


def parse(url: str) -> Destination:
    if not PLAIN.fullmatch(url):
        raise _refused(
            "it is empty, or has a space, a backslash, a control character or a letter beyond ASCII",
            "Write other characters percent-encoded, and the host in its xn-- form.",
        )
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        raise _refused("its host or port is malformed") from None
    if parts.scheme not in PORTS:
        raise _refused("it does not begin with http:// or https://")
    if "@" in parts.netloc:
        raise _refused("it has a user or a password in it", "Take them out, and give the token in a file instead.")
    host = _host(parts.netloc, (parts.hostname or "").removesuffix("."))
    if port == 0:
        raise _refused("there is no port 0")
    target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    return Destination(parts.scheme, host, port or PORTS[parts.scheme], target)


def _host(netloc: str, host: str) -> str:
    bracketed = BRACKETED.fullmatch(netloc)
    if bracketed:
        try:
            return str(ipaddress.IPv6Address(bracketed[1]))
        except ValueError:
            raise _refused("what stands in brackets is not an IPv6 address") from None
    if "[" in netloc or not NAMES.fullmatch(host):
        raise _refused("its host is missing or malformed")
    return host


def redirected(here: Destination, location: str) -> Destination | None:
    """Where a redirect leads, if that is the same scheme, host and port."""
    if not PLAIN.fullmatch(location):
        return None
    try:
        there = parse(urljoin(here.origin + here.target, location))
    except (ZaxyError, ValueError):
        return None
    return there if there[:3] == here[:3] else None


def allowed(items: Iterable[str]) -> Allowed:
    hosts, networks = set(), []
    for item in items:
        bare = item.strip().lower().removeprefix("[").removesuffix("]").removesuffix(".")
        try:
            networks.append(ipaddress.ip_network(bare, strict=False))
        except ValueError:
            if not NAMES.fullmatch(bare):
                raise InvalidRequest(
                    f"ZAXY_WEBHOOK_ALLOW has {item!r}, which is no host, address or network",
                    "Write for example 127.0.0.1, 10.0.0.0/8 or hooks.example.internal, without scheme and port.",
                ) from None
            hosts.add(bare)
    return Allowed(frozenset(hosts), tuple(networks))


def judge_spelling(destination: Destination, allow: Allowed) -> None:
    """Refuse a forbidden address that is written out, in any notation; a name is judged when it is resolved."""
    try:
        address: Address = ipaddress.ip_address(destination.host)
    except ValueError:
        try:
            address = ipaddress.IPv4Address(socket.inet_aton(destination.host))  # 2130706433, 0x7f.1, 0177.0.0.1
        except OSError:
            return
    judge(destination, address, allow)


def judge(destination: Destination, address: Address, allow: Allowed) -> None:
    meant = _meant(address)
    kind = _kind(meant)
    if not kind or destination.host in allow.hosts:
        return
    if any(one in network for one in (address, meant) for network in allow.networks):
        return
    raise Forbidden(
        f"{destination.host} is {kind} address" + ("" if destination.host == str(address) else f", {address}"),
        f"Give a public destination. If this one is meant: ZAXY_WEBHOOK_ALLOW={address}",
    )


def _meant(address: Address) -> Address:
    """The IPv4 address that traffic to an IPv6 address ends at, where that is so."""
    if isinstance(address, ipaddress.IPv4Address):
        return address
    if address in NAT64:
        return ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
    return address.ipv4_mapped or address.sixtofour or address


def _kind(address: Address) -> str:
    """What is not public about an address; empty if nothing."""
    kinds = {
        "an unspecified": address.is_unspecified,
        "a loopback": address.is_loopback,
        "a link-local": address.is_link_local,
        "a multicast": address.is_multicast,
        "a shared": address in SHARED,
        "a private": address.is_private or getattr(address, "is_site_local", False),
        "a reserved": address.is_reserved or not address.is_global,
    }
    return next((kind for kind, is_so in kinds.items() if is_so), "")


def _refused(why: str, advice: str = ADVICE) -> ZaxyError:
    return InvalidRequest(f"the destination cannot be used: {why}", advice)
