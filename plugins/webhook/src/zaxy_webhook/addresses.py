"""The addresses of a host. They are looked up once for a delivery and checked; no other is connected to."""

from __future__ import annotations

import ipaddress
import socket
import threading
from collections.abc import Sequence
from typing import NamedTuple

from zaxy.api import Unavailable, ZaxyError
from zaxy_webhook.deadline import Deadline, OutOfTime
from zaxy_webhook.destination import Address, Allowed, Destination, judge


class Endpoint(NamedTuple):
    """A place to connect to, as the resolver gave it."""

    family: int
    place: tuple[str, int] | tuple[str, int, int, int] | tuple[int, bytes]

    @property
    def address(self) -> Address:
        return ipaddress.ip_address(str(self.place[0]).partition("%")[0])


class NoAnswer(Exception):
    """The resolver does not work at the moment."""


def resolve(destination: Destination, allow: Allowed, deadline: Deadline) -> Sequence[Endpoint]:
    """All addresses of the host. If one of them is forbidden, the host is refused."""
    endpoints = [one for one in _looked_up(destination, deadline) if one.family in (socket.AF_INET, socket.AF_INET6)]
    for endpoint in endpoints:
        judge(destination, endpoint.address, allow)
    if not endpoints:
        raise _unknown(destination)
    return list(dict.fromkeys(endpoints))


def _looked_up(destination: Destination, deadline: Deadline) -> list[Endpoint]:
    found: list[Endpoint] = []
    failed: list[OSError | UnicodeError] = []
    done = threading.Event()

    def look_up() -> None:
        try:
            rows = socket.getaddrinfo(destination.host, destination.port, type=socket.SOCK_STREAM)
            found.extend(Endpoint(family, place) for family, _, _, _, place in rows)
        except (OSError, UnicodeError) as error:
            failed.append(error)
        finally:
            done.set()

    # The resolver has no time limit, so it works in a thread that can be left behind.
    threading.Thread(target=look_up, name="zaxy-webhook-resolver", daemon=True).start()
    if not done.wait(deadline.step()):
        if deadline.left() <= 0:
            raise OutOfTime
        raise NoAnswer(f"looking up {destination.host} took more than {deadline.quiet:g} s")
    if not failed:
        return found
    if isinstance(failed[0], socket.gaierror) and failed[0].errno != socket.EAI_NONAME:
        raise NoAnswer(f"{destination.host} cannot be looked up at the moment: {failed[0].strerror}")
    raise _unknown(destination)


def _unknown(destination: Destination) -> ZaxyError:
    return Unavailable(f"the host {destination.host} has no address", "Check the spelling, and that the network is up.")
