"""The sink. It checks its settings and the destination before any work."""

from __future__ import annotations

import re

from zaxy.api import InvalidRequest, Parcel, ProviderContext, Receipt, ZaxyError
from zaxy_webhook.delivery import Delivery, Terms
from zaxy_webhook.destination import Destination, allowed, judge_spelling, parse
from zaxy_webhook.request import open_parcel

MAX_ATTEMPTS = 20
MAX_TIMEOUT = 600.0
TOKEN = re.compile(r"[!-~]*")


class Webhook:
    def __init__(self, context: ProviderContext) -> None:
        self._context = context

    def check(self, destination: str) -> None:
        self._checked(destination)

    def deliver(self, parcel: Parcel, destination: str, token: str) -> Receipt:
        there, terms = self._checked(destination)
        if not TOKEN.fullmatch(token):
            raise InvalidRequest(
                "the token has a space, a line end, a control character or a letter beyond ASCII",
                "Give the token alone, as the receiver issued it.",
            )
        with open_parcel(parcel) as body:
            delivery = Delivery(self._context, terms, there=there, token=token, parcel=parcel, body=body)
            return Receipt(destination, parcel.size, parcel.sha256, delivery.run())

    def _checked(self, destination: str) -> tuple[Destination, Terms]:
        there = parse(destination)
        terms = self._terms()
        judge_spelling(there, terms.allow)
        return there, terms

    def _terms(self) -> Terms:
        settings = self._context.settings
        timeout = settings.get("ZAXY_WEBHOOK_TIMEOUT", 60.0)
        if not isinstance(timeout, int | float) or not 0 < timeout <= MAX_TIMEOUT:
            raise _unusable("ZAXY_WEBHOOK_TIMEOUT", f"a number of seconds above 0 and up to {MAX_TIMEOUT:g}")
        attempts = settings.get("ZAXY_WEBHOOK_ATTEMPTS", 4)
        if not isinstance(attempts, int) or not 1 <= attempts <= MAX_ATTEMPTS:
            raise _unusable("ZAXY_WEBHOOK_ATTEMPTS", f"a number from 1 to {MAX_ATTEMPTS}")
        secret = settings.get("ZAXY_WEBHOOK_SECRET")
        if secret == "":
            raise _unusable("ZAXY_WEBHOOK_SECRET", "a text that is not empty, or unset")
        items = settings.get("ZAXY_WEBHOOK_ALLOW") or ()
        return Terms(
            allowed(items) if isinstance(items, list | tuple) else allowed(str(items).split(",")),
            float(timeout),
            attempts,
            str(settings.get("ZAXY_WEBHOOK_CA_CERT") or ""),
            str(secret or "").encode(),
        )


def _unusable(env: str, wanted: str) -> ZaxyError:
    return InvalidRequest(f"{env} must be {wanted}", f"Change {env}. 'zaxy config list' shows it.")
