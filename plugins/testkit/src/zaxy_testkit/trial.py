"""What `zaxy plugins check` tries of a provider: that it has the methods of its point, and answers some of them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from dataclasses import dataclass, replace
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

from zaxy.api import (
    Checkup,
    Event,
    Finding,
    HttpRequest,
    MemoryAccess,
    NotFound,
    Prompt,
    PromptMessage,
    Query,
    Resource,
    ResourceContent,
    ServerEntry,
    ZaxyError,
)
from zaxy.api.event_types import EventType
from zaxy.api.http_rules import response_problem, verdict_problem
from zaxy_testkit.checks import shape

SAMPLE = Event(
    "plugins-check", 1, "evt_1_00000000", "note.made", "zaxy", "2026-06-15T00:00:00.000000Z", {}, "0" * 64, None
)
PLAIN_CALLS: dict[str, tuple[str, tuple[object, ...]]] = {
    "projection_backends": ("cursor", ("plugins-check",)),
    "event_stores": ("sessions", ()),
    "retrieval_lanes": ("search", (Query("Does this lane answer?", "plugins-check"),)),
    "extractors": ("extract", (SAMPLE,)),
    "capture_adapters": ("sources", (Path("/nonexistent"),)),
    "ide_config_writers": ("render", (ServerEntry("zaxy", "zaxy", ("serve",)),)),
    "export_sinks": ("check", ("",)),
    "signing_algorithms": ("verify", (b"", b"", b"")),
}
TRIED: dict[str, tuple[str, ...]] = {
    **{point: (method,) for point, (method, _) in PLAIN_CALLS.items()},
    "tool_packs": ("tools", "resources", "read", "prompts", "prompt"),
    "doctor_checks": ("check",),
    "http_routes": ("answer",),
    "http_auth": ("identify",),
    "event_types": ("extract",),
}
"""The methods that are called. A provider answers, or refuses with a `ZaxyError`. A command has none: it would act."""
VALUES: dict[str, object] = {"text": "sample", "number": 1, "boolean": True, "list": [], "object": {}}
"""A value for a field of each kind."""


@dataclass(frozen=True)
class Tried:
    """A provider, and what its manifest says of it."""

    point: str
    name: str
    provider: Any
    capabilities: Collection[str] = ()
    paths: Sequence[str] = ()
    """Of routes."""
    event_types: Sequence[EventType] = ()
    """Of a family."""

    @property
    def reads_memory(self) -> bool:
        return self.point == "http_routes" or bool({"resources", "prompts"} & set(self.capabilities))


class Call(NamedTuple):
    """One harmless call: it says what is wrong with the answer, or nothing."""

    what: str
    make: Callable[[], str]


def misfits(point: str, provider: object, capabilities: Collection[str]) -> list[str]:
    """Why the core cannot call the provider as its point says; empty if it can."""
    of_capabilities = [wrong for capability in capabilities for wrong in shape.ability_misfits(capability, provider)]
    return [*shape.misfits(point, provider), *of_capabilities]


def memory_for(tried: Tried) -> AbstractContextManager[MemoryAccess | None]:
    """An empty memory for those that read one, in which no plugin takes part; only they pay for it."""
    return _empty_memory() if tried.reads_memory else nullcontext()


def calls_of(tried: Tried, memory: MemoryAccess | None) -> Iterator[Call]:
    """The calls to make of a provider, one after the other: some are known only when the one before was made."""
    if tried.point in PLAIN_CALLS:
        method, arguments = PLAIN_CALLS[tried.point]
        yield Call(f"{method}()", partial(_refusable, lambda: _nothing(getattr(tried.provider, method)(*arguments))))
    for call in _CALLS.get(tried.point, _no_calls)(tried, memory):
        yield call._replace(make=partial(_refusable, call.make))


def _refusable(call: Callable[[], str]) -> str:
    with suppress(ZaxyError):
        return call()
    return ""


def _nothing(answer: object) -> str:
    return ""


def _no_calls(tried: Tried, memory: MemoryAccess | None) -> Iterator[Call]:
    yield from ()


@contextmanager
def _empty_memory() -> Iterator[MemoryAccess]:
    with import_module("zaxy.contracts.sample_memory").sample_memory() as memory:
        yield import_module("zaxy.access").reading_access_to(memory)


# What is called at the points that need more than a few arguments


def _of_pack(tried: Tried, memory: MemoryAccess | None) -> Iterator[Call]:
    pack = tried.provider
    yield Call("tools()", lambda: _nothing(pack.tools()))
    if "resources" in tried.capabilities:
        resources: list[Resource] = []
        yield Call("resources()", lambda: _listed(pack.resources(), Resource, into=resources))
        for one in resources:
            if not one.is_template:
                yield Call(f"read({one.path!r:.80})", partial(_read, pack, one, memory))
    if "prompts" in tried.capabilities:
        prompts: list[Prompt] = []
        yield Call("prompts()", lambda: _listed(pack.prompts(), Prompt, into=prompts))
        for prompt in prompts:
            if not any(argument.required for argument in prompt.arguments):
                yield Call(f"prompt({prompt.name!r:.80})", partial(_prompted, pack, prompt, memory))


def _listed(found: object, kind: type, *, into: list[Any]) -> str:
    if not isinstance(found, list | tuple) or not all(isinstance(one, kind) for one in found):
        return f"returned no list of zaxy.api.{kind.__name__}"
    into += found
    return ""


def _read(pack: Any, resource: Resource, memory: MemoryAccess | None) -> str:
    return _listed(pack.read(resource.path, memory), ResourceContent, into=[])


def _prompted(pack: Any, prompt: Prompt, memory: MemoryAccess | None) -> str:
    return _listed(pack.prompt(prompt.name, {}, memory), PromptMessage, into=[])


def _of_health(tried: Tried, memory: MemoryAccess | None) -> Iterator[Call]:
    """As in a folder where nothing is recorded yet."""
    checkup = Checkup(Path("/nonexistent"), False, _no_memory)
    yield Call("check()", lambda: _listed(tried.provider.check(checkup), Finding, into=[]))


def _no_memory() -> AbstractContextManager[MemoryAccess]:
    raise NotFound("there is no memory yet", "zaxy init --yes")


def _of_routes(tried: Tried, memory: MemoryAccess | None) -> Iterator[Call]:
    for path in tried.paths:
        request = HttpRequest("GET", path)
        yield Call(f"answer() to GET {path}", partial(_answered, tried.provider, request, memory))


def _answered(routes: Any, request: HttpRequest, memory: MemoryAccess | None) -> str:
    return response_problem(routes.answer(request, memory))


def _of_auth(tried: Tried, memory: MemoryAccess | None) -> Iterator[Call]:
    request = HttpRequest("GET", "/plugins-check")
    yield Call("identify()", lambda: verdict_problem(tried.provider.identify(request)))


def _of_family(tried: Tried, memory: MemoryAccess | None) -> Iterator[Call]:
    """An event of each type, whose fields are of the kinds that the manifest names."""
    for declared in tried.event_types:
        if not declared.housekeeping:
            payload = {name: VALUES[kind] for name, kind in declared.fields}
            event = replace(SAMPLE, type=declared.name, payload=payload)
            yield Call(f"extract() of {declared.name}", partial(_extracted, tried, declared, event))


def _extracted(tried: Tried, declared: EventType, event: Event) -> str:
    problem: str = import_module("zaxy.follow.family_rows").rows_problem(
        tried.provider.extract(event), declared, tried.event_types
    )
    return problem


_CALLS: dict[str, Callable[[Tried, MemoryAccess | None], Iterator[Call]]] = {
    "tool_packs": _of_pack,
    "doctor_checks": _of_health,
    "http_routes": _of_routes,
    "http_auth": _of_auth,
    "event_types": _of_family,
}
