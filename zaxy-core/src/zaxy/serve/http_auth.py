"""Who is let in over HTTP: the provider that the user chose is asked about every request, and if it fails nobody is."""

from __future__ import annotations

from collections.abc import Sequence

import anyio
from starlette.types import ASGIApp, Receive, Scope, Send

from zaxy.api.http_models import NOBODY, HttpRefusal, HttpRequest, Identity
from zaxy.api.http_rules import verdict_problem
from zaxy.errors import Forbidden, Unavailable, ZaxyError
from zaxy.plugins.host import BoundProvider, PluginHost
from zaxy.plugins.http_paths import is_within
from zaxy.plugins.route_table import PluginRoute
from zaxy.printing import say
from zaxy.serve.http_requests import error_response, request_of
from zaxy.serve.protocol import IDENTITY
from zaxy.serve.turns import Turns

POINT = "http_auth"
SECONDS_TO_WAIT = 30.0
"""For the requests that came before: the provider is asked about one after the other."""
TRY_AGAIN = "Try again later. Who runs the server finds the reason on its standard error."


class ChosenAuth:
    """The provider that was chosen, proven to be one before anybody is served."""

    def __init__(self, host: PluginHost, name: str, routes: Sequence[PluginRoute]) -> None:
        self._provider = host.get(POINT, name)
        self._provider.guarded("identify", lambda: self._provider.instance.identify)
        manifest = self._provider.row.manifest
        self.settings = frozenset(setting.env for setting in manifest.settings) if manifest else frozenset()
        """The settings that it declares, and so looks after."""
        self.public_paths = frozenset(_public_paths(self._provider, routes))

    def identify(self, request: HttpRequest) -> Identity | HttpRefusal:
        """What the provider says; `unavailable` if that is nothing that can be relied on."""
        verdict = self._provider.call("identify", request)
        problem = verdict_problem(verdict)
        if problem:
            raise Unavailable(f"{self._provider.name} ({self._provider.row.package}) {problem}", TRY_AGAIN)
        assert isinstance(verdict, Identity | HttpRefusal)
        return verdict


class Authentication:
    """An ASGI application around another, which only those reach whom the chosen provider names."""

    def __init__(self, inner: ASGIApp, chosen: ChosenAuth) -> None:
        self._inner = inner
        self._chosen = chosen
        self._turns: Turns | None = None
        self._problem = ""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._inner(scope, receive, send)
            return
        if scope["path"] in self._chosen.public_paths:
            await self._inner({**scope, IDENTITY: NOBODY}, receive, send)
            return
        try:
            verdict = await self._identified(request_of(scope))
        except (ZaxyError, TimeoutError) as error:
            self._explain(error)
            nobody = Unavailable("authentication does not work at the moment, so nobody is let in", TRY_AGAIN)
            await error_response(nobody)(scope, receive, send)
            return
        if isinstance(verdict, Identity):
            await self._inner({**scope, IDENTITY: verdict}, receive, send)
            return
        refused = Forbidden(verdict.message, "Send credentials that the server accepts.")
        challenge = {"www-authenticate": verdict.challenge} if verdict.challenge else {}
        await error_response(refused, verdict.status, challenge)(scope, receive, send)

    async def _identified(self, request: HttpRequest) -> Identity | HttpRefusal:
        if self._turns is None:
            self._turns = Turns(1)
        with anyio.fail_after(SECONDS_TO_WAIT):
            return await self._turns.run(lambda: self._chosen.identify(request))

    def _explain(self, error: Exception) -> None:
        """On standard error, once for each reason in a row: requests may come by the thousand."""
        problem = error.message if isinstance(error, ZaxyError) else "it is asked more than it can answer"
        if problem != self._problem:
            self._problem = problem
            say(f"zaxy: nobody is let in: {problem}", err=True)


def _public_paths(provider: BoundProvider, routes: Sequence[PluginRoute]) -> list[str]:
    package = provider.row.package
    own = [route.path for route in routes if route.package == package]
    named = provider.value("public_paths")
    if not isinstance(named, list | tuple):
        raise Unavailable(f"{provider.name} ({package}) has no list of public paths", f"Upgrade {package}.")
    for path in named:
        if not isinstance(path, str) or not any(is_within(path, route) for route in own):
            raise Unavailable(
                f"{provider.name} ({package}) makes {path!r:.128} public, which is no route of its own",
                f"Upgrade {package}, or look with 'zaxy plugins check' why its route is left out.",
            )
    return list(named)
