from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from zaxy.api import HttpRefusal, HttpRequest, Identity
from zaxy_testkit.checks.http_auth import HttpAuthCase
from zaxy_testkit.templates.http_auth import SETTING, TEAM, Auth

RIGHT = Auth


def case(make: Callable[..., Any], scratch: Path) -> HttpAuthCase:
    return HttpAuthCase(
        make,
        admitted=HttpRequest("POST", "/mcp", headers=(("authorization", "Bearer let-me-in"),)),
        identity=TEAM,
        refused=(HttpRequest("POST", "/mcp", headers=(("authorization", "Basic let-me-in"),)),),
        settings={SETTING: "let-me-in"},
    )


class WithoutPublicPaths:
    def __init__(self, context: object) -> None:
        pass

    def identify(self, request: HttpRequest) -> HttpRefusal:
        return HttpRefusal("Nobody is let in.", 403)


class Promoting(Auth):
    def identify(self, request: HttpRequest) -> Identity | HttpRefusal:
        verdict = super().identify(request)
        return Identity("acme", "root", ("*",)) if isinstance(verdict, Identity) else verdict


class TrustsThisMachine(Auth):
    def identify(self, request: HttpRequest) -> Identity | HttpRefusal:
        return TEAM if request.peer == "::1" else super().identify(request)


class AnyKind(Auth):
    def identify(self, request: HttpRequest) -> Identity | HttpRefusal:
        _, _, token = request.header("authorization").partition(" ")
        return TEAM if token == self._token else super().identify(request)


class Beginnings(Auth):
    def identify(self, request: HttpRequest) -> Identity | HttpRefusal:
        given = request.header("authorization")
        return TEAM if given.startswith("Bearer let") else super().identify(request)


class Careless(Auth):
    def identify(self, request: HttpRequest) -> Identity | HttpRefusal:
        given = request.header("authorization")
        given.encode("ascii")
        return super().identify(request)


class Curt(Auth):
    def identify(self, request: HttpRequest) -> Identity | HttpRefusal:
        verdict = super().identify(request)
        return HttpRefusal("No.") if isinstance(verdict, HttpRefusal) else verdict


class WideOpen(Auth):
    @property
    def public_paths(self) -> Sequence[str]:
        return ("/mcp",)


WRONG = {
    "it_has_the_methods_of_its_protocol": WithoutPublicPaths,
    "it_knows_who_is_let_in": Promoting,
    "without_credentials_nobody_is_let_in": TrustsThisMachine,
    "the_cases_other_requests_are_refused": AnyKind,
    "nearly_the_right_credentials_are_refused": Beginnings,
    "odd_credentials_are_refused_and_no_defect": Careless,
    "a_refusal_says_what_to_send": Curt,
    "its_public_paths_are_a_list_of_paths": WideOpen,
}
