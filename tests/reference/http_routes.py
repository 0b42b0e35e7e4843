from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from zaxy.api import HttpRequest, HttpResponse, MemoryAccess, ZaxyError, json_response
from zaxy_testkit.checks.http_routes import HttpRoutesCase
from zaxy_testkit.templates.http_routes import Routes

RIGHT = Routes


def case(make: Callable[..., Any], scratch: Path) -> HttpRoutesCase:
    find = HttpRequest("GET", "/acme-pages/find", "q=what+is+decided&session=agent-1")
    return HttpRoutesCase(make, requests=(find, HttpRequest("GET", "/acme-pages/follow", "session=agent-1")))


class WithoutMemory(Routes):
    def answer(self, request: HttpRequest) -> HttpResponse:  # type: ignore[override]
        return json_response({})


class TextChunks(Routes):
    def answer(self, request: HttpRequest, memory: MemoryAccess) -> HttpResponse:
        answer = super().answer(request, memory)
        chunks: Iterator[Any] = iter(["text"])
        return replace(answer, chunks=chunks) if answer.chunks else answer


class Writing(Routes):
    def answer(self, request: HttpRequest, memory: MemoryAccess) -> HttpResponse:
        memory.append("fact.recorded", {"text": "Somebody looked."}, session="agent-1")
        return super().answer(request, memory)


class AnyMethod(Routes):
    def answer(self, request: HttpRequest, memory: MemoryAccess) -> HttpResponse:
        return super().answer(replace(request, method="GET"), memory)


class ReadsBodies(Routes):
    def answer(self, request: HttpRequest, memory: MemoryAccess) -> HttpResponse:
        request.body.decode()
        return super().answer(request, memory)


class Trusting(Routes):
    def answer(self, request: HttpRequest, memory: MemoryAccess) -> HttpResponse:
        int(request.parameter("limit") or "10")
        return super().answer(request, memory)


class HidesRefusals(Routes):
    def answer(self, request: HttpRequest, memory: MemoryAccess) -> HttpResponse:
        try:
            return super().answer(request, memory)
        except ZaxyError as error:
            if error.code == "forbidden":
                raise RuntimeError("what now?") from error
            raise


WRONG = {
    "it_has_the_methods_of_its_protocol": WithoutMemory,
    "its_examples_are_answered": TextChunks,
    "a_request_that_reads_appends_nothing": Writing,
    "an_unknown_method_is_no_defect": AnyMethod,
    "an_odd_body_is_no_defect": ReadsBodies,
    "an_odd_query_is_no_defect": Trusting,
    "what_memory_refuses_is_no_defect": HidesRefusals,
}
