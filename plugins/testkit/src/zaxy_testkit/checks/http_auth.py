"""Checks of `http_auth`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from zaxy.api import HttpRefusal, HttpRequest, Identity
from zaxy.api.http_rules import verdict_problem
from zaxy_testkit.checks import Case, CheckFailed, Workbench, check, expect
from zaxy_testkit.checks.shape import check_shape

POINT = "http_auth"
ODD_CREDENTIALS = (
    "",
    "Bearer",
    "Bearer ",
    "Basic Og==",
    "Bearer \x00",
    "Bearer " + "x" * 8000,
    "\xff\xfe",
    "None null",
)


@dataclass(frozen=True)
class HttpAuthCase(Case):
    admitted: HttpRequest
    """A request that is let in."""
    identity: Identity
    """Who that is."""
    refused: Sequence[HttpRequest] = ()
    """Requests that are not, besides those without credentials."""


check_shape(POINT)


@check(POINT)
def it_knows_who_is_let_in(case: HttpAuthCase, bench: Workbench) -> None:
    """Return the identity that the case expects, from every instance and every time."""
    for auth in (bench.make(case), bench.make(case, "elsewhere")):
        for _ in range(2):
            verdict = identified(auth, case.admitted)
            expect(verdict == case.identity, f"the case's request is {case.identity}, and {verdict} came instead")


@check(POINT)
def without_credentials_nobody_is_let_in(case: HttpAuthCase, bench: Workbench) -> None:
    """Refuse a request without headers, whatever its method, path and peer are."""
    auth = bench.make(case)
    bare = replace(case.admitted, headers=())
    for request in (bare, replace(bare, method="GET"), replace(bare, path="/elsewhere"), replace(bare, peer="::1")):
        expect_refused(auth, request, f"{request.method} {request.path} from {request.peer!r} without headers")


@check(POINT)
def the_cases_other_requests_are_refused(case: HttpAuthCase, bench: Workbench) -> None:
    """Refuse what the case says is refused."""
    auth = bench.make(case)
    for number, request in enumerate(case.refused):
        expect_refused(auth, request, f"refused[{number}]")


@check(POINT)
def nearly_the_right_credentials_are_refused(case: HttpAuthCase, bench: Workbench) -> None:
    """Compare credentials as a whole, with hmac.compare_digest: what is cut, longer or changed is not the same."""
    auth = bench.make(case)
    right = case.admitted.header("authorization")
    if not right:
        return
    for wrong in (right[:-1], right + "x", right[:-1] + chr(ord(right[-1]) ^ 1), right[: len(right) // 2]):
        expect_refused(auth, _with(case.admitted, wrong), "an authorization that is nearly right")
    twice = replace(case.admitted, headers=(*case.admitted.headers, ("authorization", right)))
    expect_refused(auth, twice, "an authorization that comes twice")


@check(POINT)
def odd_credentials_are_refused_and_no_defect(case: HttpAuthCase, bench: Workbench) -> None:
    """Return an HttpRefusal for credentials that you cannot read: any program can send them."""
    auth = bench.make(case)
    for odd in ODD_CREDENTIALS:
        expect_refused(auth, _with(case.admitted, odd), f"the authorization {odd[:20]!r}")


@check(POINT)
def a_refusal_says_what_to_send(case: HttpAuthCase, bench: Workbench) -> None:
    """Give a refusal with status 401 a challenge, the header WWW-Authenticate: HTTP demands it, and clients need it."""
    refusal = expect_refused(bench.make(case), replace(case.admitted, headers=()), "a request without headers")
    expect(bool(refusal.message.strip()), "a refusal must say why in its message")
    expect(refusal.status != 401 or bool(refusal.challenge), "a refusal with status 401 must have a challenge")


@check(POINT)
def its_public_paths_are_a_list_of_paths(case: HttpAuthCase, bench: Workbench) -> None:
    """Name whole paths that begin with /, in a list or a tuple, the same ones always; /mcp can't be public."""
    paths = bench.make(case).public_paths
    expect(isinstance(paths, list | tuple), f"public_paths must be a list or a tuple, not {type(paths).__name__}")
    for path in paths:
        expect(isinstance(path, str) and path.startswith("/"), f"{path!r} is no path")
        expect(path != "/mcp", "/mcp can't be public: who calls tools must be known")
    later = bench.make(case, "elsewhere").public_paths
    expect(list(later) == list(paths), f"public_paths was {paths!r} at first, and {later!r} later")


def identified(auth: Any, request: HttpRequest) -> Identity | HttpRefusal:
    """Who a request is from. An exception, or what the server would not take, fails the check."""
    try:
        verdict = auth.identify(request)
    except Exception as error:
        raise CheckFailed(f"identify() raised {error!r}") from error
    problem = verdict_problem(verdict)
    expect(not problem, f"identify() {problem}")
    assert isinstance(verdict, Identity | HttpRefusal)
    return verdict


def expect_refused(auth: Any, request: HttpRequest, what: str) -> HttpRefusal:
    verdict = identified(auth, request)
    if isinstance(verdict, HttpRefusal):
        return verdict
    raise CheckFailed(f"{what} must be refused, and was let in as {verdict.name!r}, {verdict.role}")


def _with(request: HttpRequest, authorization: str) -> HttpRequest:
    others = tuple(header for header in request.headers if header[0] != "authorization")
    return replace(request, headers=(*others, ("authorization", authorization)))
