"""What the receiver's answer means: delivered, worth another attempt, or final."""

from __future__ import annotations

import email.utils
from datetime import UTC, datetime

from zaxy.api import Forbidden, Unavailable, ZaxyError
from zaxy_webhook.destination import Destination, redirected
from zaxy_webhook.excerpt import excerpt
from zaxy_webhook.request import Reply

AGAIN = "Push again: the Idempotency-Key of the same bundle is the same."
REFUSALS = {
    401: ("forbidden", "Give the token that the receiver expects."),
    403: ("forbidden", "Give a token that may deliver there."),
    404: ("not_found", "Check the path of the destination."),
    408: ("unavailable", AGAIN),
    409: ("conflict", "The receiver has something else there already: see what its answer says."),
    410: ("not_found", "The receiver takes nothing there any more: ask for its new address."),
    412: ("conflict", "The receiver has something else there already: see what its answer says."),
    413: ("too_large", "Export less, or let the receiver take larger requests."),
}


class Trouble(Exception):
    """An attempt failed, and a later one may succeed."""

    def __init__(self, message: str, wait: float = 0.0) -> None:
        super().__init__(message)
        self.wait = wait
        """How many seconds the receiver asks to wait."""


def onward(reply: Reply, here: Destination, token: str) -> Destination | None:
    """Where the receiver wants the bundle instead; None if it wants it here. Other places are refused."""
    if reply.status not in (301, 302, 303, 307, 308):
        return None
    asked = (
        f"{here.origin} answered {reply.status} and asked to go to {excerpt(reply.headers.get('location', ''), token)}"
    )
    if reply.status not in (307, 308):
        raise Forbidden(
            f"{asked}; that would not be a POST any more",
            "Give the address that the receiver wants deliveries at.",
        )
    there = redirected(here, reply.headers.get("location", ""))
    if there is None:
        raise Forbidden(
            f"{asked}; a redirect is followed on the same scheme, host and port only",
            "If that is the right place, give it as the destination.",
        )
    return there


def detail_of(reply: Reply, here: Destination, token: str, now: datetime) -> str:
    """What the receiver says about a bundle that it took. It is an error if it did not take it."""
    if 200 <= reply.status < 300 and reply.whole:
        given = reply.headers.get("location") or reply.headers.get("x-request-id") or ""
        return f"answered {reply.status}" + (f", id {excerpt(given, token)}" if given else "")
    said = f"{here.origin} answered {reply.status}" + (f": {excerpt(reply.text, token)}" if reply.text.strip() else "")
    if 200 <= reply.status < 300:
        raise Trouble(f"{said}, before it had all of the bundle")
    if reply.status == 429 or reply.status >= 500:
        raise Trouble(said, _wait(reply.headers.get("retry-after", ""), now))
    if 400 <= reply.status < 500:
        code, advice = REFUSALS.get(reply.status, ("unavailable", "See what the receiver's answer says."))
        raise ZaxyError(code, said, advice)
    raise Unavailable(said, "A receiver answers a delivery with 2xx: check the destination.")


def _wait(asked: str, now: datetime) -> float:
    """The seconds of a Retry-After, which has them or a date; 0 if it has neither."""
    asked = asked.strip()
    if asked.isascii() and asked.isdigit():
        return float(asked[:12])
    try:
        moment = email.utils.parsedate_to_datetime(asked)
    except ValueError:
        return 0.0
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return max((moment - now).total_seconds(), 0.0)
