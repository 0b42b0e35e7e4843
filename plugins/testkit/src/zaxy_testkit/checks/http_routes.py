"""Checks of `http_routes`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from zaxy.api import Forbidden, HttpRequest, HttpResponse, MemoryAccess, ZaxyError
from zaxy.api.http_rules import response_problem
from zaxy_testkit.checks import Case, CheckFailed, Workbench, check, expect
from zaxy_testkit.checks.shape import check_shape
from zaxy_testkit.checks.trial_memory import events_in, trial_memory

POINT = "http_routes"
ODD_BODIES = (b"\x00\xff\xfe", b'{"unclosed": ', b"[[[[]]]]", b"null")
READING = ("GET", "HEAD")


@dataclass(frozen=True)
class HttpRoutesCase(Case):
    requests: Sequence[HttpRequest]
    """Requests that it answers with a status below 400, one after the other, on a memory that is empty at first."""


check_shape(POINT)


@check(POINT)
def its_examples_are_answered(case: HttpRoutesCase, bench: Workbench) -> None:
    """Answer each of the case's requests with an HttpResponse whose status is below 400."""
    expect(bool(case.requests), "the case has no request")
    routes = bench.make(case)
    with trial_memory(bench.scratch, routes) as memory:
        for request in case.requests:
            answer = answered(routes, request, memory)
            if isinstance(answer, ZaxyError):
                raise CheckFailed(f"{shown(request)} was refused: {answer.message}")
            expect(answer.status < 400, f"{shown(request)} was answered with status {answer.status}")


@check(POINT)
def a_request_that_reads_appends_nothing(case: HttpRoutesCase, bench: Workbench) -> None:
    """Append nothing on GET and HEAD: browsers send them again, ahead of time, and because of a link on any page."""
    routes = bench.make(case)
    with trial_memory(bench.scratch, routes) as memory:
        for request in case.requests:
            before = events_in(memory)
            answered(routes, request, memory)
            grown = events_in(memory) - before
            expect(request.method not in READING or not grown, f"{shown(request)} appended {grown} events")


@check(POINT)
def an_unknown_method_is_no_defect(case: HttpRoutesCase, bench: Workbench) -> None:
    """Refuse a method that you do not know with InvalidRequest, or answer it with status 405."""
    routes = bench.make(case)
    with trial_memory(bench.scratch, routes) as memory:
        for request in case.requests:
            answer = answered(routes, replace(request, method="BREW"), memory)
            refused = isinstance(answer, ZaxyError) or answer.status >= 400
            expect(refused, f"BREW {request.path} must be refused, and was answered as if it were {request.method}")


@check(POINT)
def an_odd_body_is_no_defect(case: HttpRoutesCase, bench: Workbench) -> None:
    """Refuse a body that you cannot read with InvalidRequest: any program can send one."""
    routes = bench.make(case)
    with trial_memory(bench.scratch, routes) as memory:
        for request in case.requests:
            for body in ODD_BODIES:
                answered(routes, replace(request, body=body), memory)


@check(POINT)
def an_odd_query_is_no_defect(case: HttpRoutesCase, bench: Workbench) -> None:
    """Refuse a query that you cannot use with InvalidRequest, also one that is missing, empty or malformed."""
    routes = bench.make(case)
    with trial_memory(bench.scratch, routes) as memory:
        for request in case.requests:
            for query in ("", "=", "%ff=%00&&", f"{request.query}&limit=x&session=../x"):
                answered(routes, replace(request, query=query), memory)


@check(POINT)
def what_memory_refuses_is_no_defect(case: HttpRoutesCase, bench: Workbench) -> None:
    """Let an error of memory through: the server makes a status of it. Who asks may have no access to the session."""
    routes = bench.make(case)
    for request in case.requests:
        answered(routes, request, _Refusing())


def answered(routes: Any, request: HttpRequest, memory: Any) -> HttpResponse | ZaxyError:
    """What a request came to, its stream begun and ended. An exception that is no refusal fails the check."""
    try:
        answer = routes.answer(request, memory)
        problem = response_problem(answer)
        if not problem and answer.chunks is not None:
            problem = _stream_problem(answer)
    except ZaxyError as error:
        return error
    except Exception as error:
        raise CheckFailed(f"{shown(request)} raised {error!r}") from error
    expect(not problem, f"the answer to {shown(request)} {problem}")
    assert isinstance(answer, HttpResponse)
    return answer


def _stream_problem(answer: HttpResponse) -> str:
    assert answer.chunks is not None
    chunk = next(answer.chunks, None)
    getattr(answer.chunks, "close", lambda: None)()
    return "" if chunk is None or isinstance(chunk, bytes) else f"has a chunk that is {type(chunk).__name__}, not bytes"


def shown(request: HttpRequest) -> str:
    query = f"?{request.query}" if request.query else ""
    return f"{request.method} {request.path}{query}"


class _Refusing:
    """Memory for somebody who may do nothing with it."""

    def __getattr__(self, name: str) -> MemoryAccess:
        raise Forbidden("you have no access to this session", "Name one of yours.")
