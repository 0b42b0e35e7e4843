"""One delivery: its attempts, the pauses between them, and the redirects within each."""

from __future__ import annotations

import http.client
import random
import ssl
import time
from collections.abc import Sequence
from typing import BinaryIO, NamedTuple

from zaxy.api import Forbidden, InvalidRequest, Parcel, ProviderContext, Unavailable, ZaxyError
from zaxy_webhook import __version__
from zaxy_webhook.addresses import Endpoint, NoAnswer, resolve
from zaxy_webhook.answer import AGAIN, Trouble, detail_of, onward
from zaxy_webhook.deadline import Deadline, OutOfTime
from zaxy_webhook.destination import Allowed, Destination
from zaxy_webhook.request import post
from zaxy_webhook.signature import signature

MAX_REDIRECTS = 3
FIRST_PAUSE_SECONDS = 0.5
MAX_PAUSE_SECONDS = 30.0


class Terms(NamedTuple):
    """The settings, checked."""

    allow: Allowed
    timeout: float
    attempts: int
    ca_cert: str
    secret: bytes


class Delivery:
    """The host is looked up once, and one deadline holds for everything."""

    def __init__(
        self,
        context: ProviderContext,
        terms: Terms,
        *,
        there: Destination,
        token: str,
        parcel: Parcel,
        body: BinaryIO,
    ) -> None:
        self._context = context
        self._terms = terms
        self._there = there
        self._token = token
        self._parcel = parcel
        self._body = body
        self._deadline = Deadline(terms.timeout, terms.timeout / terms.attempts)
        self._tls = _tls(terms.ca_cert) if there.scheme == "https" else None
        self._endpoints: Sequence[Endpoint] = ()

    def run(self) -> str:
        """Deliver the bundle, in several attempts if needed. Returns what the receiver answered."""
        trouble = Trouble("there was no time for an attempt")
        for attempt in range(1, self._terms.attempts + 1):
            try:
                return self._attempt()
            except Trouble as error:
                trouble = error
            except OutOfTime:
                raise self._given_up(attempt, f"the {self._terms.timeout:g} s for it are over") from None
            except NoAnswer as error:
                trouble = Trouble(str(error))
            except ssl.SSLCertVerificationError as error:
                raise Unavailable(
                    f"the certificate of {self._there.origin} is not trusted: {error.verify_message}",
                    "If it is from an authority of your own, name that one's certificate in ZAXY_WEBHOOK_CA_CERT.",
                ) from None
            except (OSError, http.client.HTTPException, ValueError) as error:
                trouble = Trouble(f"{self._there.origin} {self._described(error)}")
            pause = min(FIRST_PAUSE_SECONDS * 2 ** (attempt - 1), MAX_PAUSE_SECONDS) * random.uniform(0.5, 1.0)
            pause = max(pause, trouble.wait)
            if attempt == self._terms.attempts:
                break
            if pause >= self._deadline.left():
                asked = f"; it asks to wait {trouble.wait:g} s" if trouble.wait else ""
                enough = f"the {self._terms.timeout:g} s for a delivery leave no time for another attempt"
                raise self._given_up(attempt, f"{trouble}{asked}; {enough}")
            time.sleep(pause)
        raise self._given_up(self._terms.attempts, str(trouble))

    def _attempt(self) -> str:
        if not self._endpoints:
            self._endpoints = resolve(self._there, self._terms.allow, self._deadline)
            self._warn_of_an_open_token()
        here = self._there
        for _ in range(MAX_REDIRECTS + 1):
            headers = self._headers(here)
            self._body.seek(0)
            reply = post(
                here,
                self._endpoints,
                tls=self._tls,
                headers=headers,
                body=self._body,
                parcel=self._parcel,
                deadline=self._deadline,
            )
            there = onward(reply, here, self._token)
            if there is None:
                return detail_of(reply, here, self._token, self._context.clock())
            here = there
        raise Forbidden(
            f"{here.origin} redirected more than {MAX_REDIRECTS} times",
            "Give the address that the receiver wants deliveries at.",
        )

    def _headers(self, here: Destination) -> dict[str, str]:
        parcel = self._parcel
        headers = {
            "Host": here.host_header,
            "User-Agent": f"zaxy-webhook/{__version__}",
            "Accept": "*/*",
            "Accept-Encoding": "identity",
            "Connection": "close",
            "Content-Type": parcel.media_type,
            "Content-Length": str(parcel.size),
            "Idempotency-Key": parcel.sha256,
            "X-Zaxy-Content-SHA256": parcel.sha256,
        }
        if self._token:
            headers["Authorization"] = f"Bearer {self._token}"
        if self._terms.secret:
            moment = int(self._context.clock().timestamp())
            self._body.seek(0)
            headers["X-Zaxy-Signature"] = signature(self._terms.secret, moment, self._body, self._deadline)
        return headers

    def _warn_of_an_open_token(self) -> None:
        loopback = all(endpoint.address.is_loopback for endpoint in self._endpoints)
        if self._token and self._tls is None and not loopback:
            self._context.warn(f"The token goes to {self._there.origin} unencrypted: use https.")

    def _described(self, error: Exception) -> str:
        if isinstance(error, TimeoutError):
            return f"was silent for {self._deadline.quiet:g} s"
        if isinstance(error, OSError):
            return f"refused or broke the connection: {error.strerror or type(error).__name__}"
        return "gave an answer that is not HTTP"

    def _given_up(self, attempts: int, why: str) -> ZaxyError:
        tries = "1 attempt" if attempts == 1 else f"{attempts} attempts"
        return Unavailable(
            f"not delivered after {tries}: {why}",
            f"See that {self._there.origin} is up, or raise ZAXY_WEBHOOK_TIMEOUT. {AGAIN}",
        )


def _tls(ca_cert: str) -> ssl.SSLContext:
    context = ssl.create_default_context()
    context.set_alpn_protocols(["http/1.1"])
    if ca_cert:
        try:
            context.load_verify_locations(cafile=ca_cert)
        except OSError as error:  # an SSLError too, if the file holds no certificate
            raise InvalidRequest(
                f"ZAXY_WEBHOOK_CA_CERT names {ca_cert}, which cannot be used: {error.strerror or error}",
                "Name a PEM file with the authority's certificate.",
            ) from None
    return context
