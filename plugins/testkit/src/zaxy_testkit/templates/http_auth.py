"""One bearer token, from a setting: who has it may record in the sessions of a team, and read them."""

from __future__ import annotations

import hmac
from collections.abc import Sequence

from zaxy.api import HttpRefusal, HttpRequest, Identity, ProviderContext

SETTING = "ACME_TOKEN"
TEAM = Identity("acme", role="writer", sessions=("acme", "acme-*"))


class Auth:
    def __init__(self, context: ProviderContext) -> None:
        self._token = str(context.settings.get(SETTING) or "")

    @property
    def public_paths(self) -> Sequence[str]:
        return ()

    def identify(self, request: HttpRequest) -> Identity | HttpRefusal:
        kind, _, token = request.header("authorization").partition(" ")
        if self._token and kind == "Bearer" and hmac.compare_digest(token.encode(), self._token.encode()):
            return TEAM
        return HttpRefusal(f"The token is missing or wrong: it is in {SETTING}.", challenge='Bearer realm="acme"')
