"""Tools of plugins: found through the hook `zaxy_tool_packs`, bounded in time, with a narrow view of memory."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar, cast

import orjson

from zaxy.access import access_to
from zaxy.api.access import MemoryAccess
from zaxy.api.catalog import WIDE_ACCESS
from zaxy.api.models import Candidate, Cursor, Draft, Event, Page, Query, Tool
from zaxy.api.tools import ADMIN_TOKEN, TEXT, Call, ToolFunction
from zaxy.errors import InternalError, ZaxyError
from zaxy.plugins.families import context_of
from zaxy.printing import say
from zaxy.rights import present_permission
from zaxy.serve.catalog import Catalog
from zaxy.serve.whole_memory import whole_memory

if TYPE_CHECKING:
    from zaxy.memory import Memory
    from zaxy.plugins.host import BoundProvider

T = TypeVar("T")
NAME = re.compile(r"[a-z_]{1,48}")
MAX_DESCRIPTION_CHARS = 1024
MAX_SECONDS = 900.0
"""No call of a tool takes longer, whatever the pack says."""


class NarrowAccess:
    """What a pack of the plugin API before 0.4 is given: append, read in order, and ask."""

    def __init__(self, memory: Memory, package: str) -> None:
        self._memory = memory
        self._session = present_permission().session or memory.session
        self._context = context_of(package)

    def append(self, session: str, draft: Draft) -> Event:
        return self._run(self._memory.append_many, [draft], self._named(session))[0]

    def read(self, session: str, after: Cursor | None, limit: int) -> Page:
        return self._run(self._memory.recall.store.read, self._named(session), after, limit)

    def query(self, query: Query) -> Sequence[Candidate]:
        as_of = query.as_of
        asked = partial(self._memory.query, temporal_filter=as_of.valid_at, known_at=as_of.known_at, limit=query.limit)
        answer = self._run(asked, query.text, self._named(query.session))
        return [Candidate(row.seq, row.score, row.content, dict(row.metadata)) for row in answer.results]

    def _named(self, session: str) -> str:
        return session or self._session

    def _run(self, function: Callable[..., T], *arguments: object) -> T:
        """As the request itself would: with its keys, and as far as the one who asks may."""
        return self._context.copy().run(function, *arguments)


def pack_tools(memory: Memory, taken: Catalog, notice: Callable[[str], None]) -> list[ToolFunction]:
    """The tools of all installed packs; one whose name is taken or ill-formed is left out with a notice."""
    found: dict[str, ToolFunction] = {}
    for pack in memory.recall.host.all("tool_packs"):
        try:
            tools = pack.call("tools")
        except ZaxyError as error:
            notice(f"the tool pack {pack.name} is left out: {error.message}")
            continue
        for tool in _listed(pack, tools, notice):
            problem = "its name is taken" if tool.name in taken or tool.name in found else _problem(tool)
            if problem:
                notice(f"the tool {str(tool.name)!r:.80} of the pack {pack.name} is left out: {problem}")
            else:
                found[tool.name] = ToolFunction(with_token(tool), _answering(pack, tool))
    return list(found.values())


def _listed(pack: BoundProvider, tools: object, notice: Callable[[str], None]) -> Iterator[Tool]:
    if not isinstance(tools, list | tuple):
        notice(f"the tool pack {pack.name} is left out: it returned no list of tools")
        return
    for tool in tools:
        if isinstance(tool, Tool):
            yield tool
        else:
            notice(f"the tool pack {pack.name} listed something that is not a tool")


def _problem(tool: Tool) -> str:
    if not isinstance(tool.name, str) or not NAME.fullmatch(tool.name):
        return "a name has 1 to 48 of the characters a-z and _"
    if not isinstance(tool.description, str) or not 0 < len(tool.description) <= MAX_DESCRIPTION_CHARS:
        return f"a description has 1 to {MAX_DESCRIPTION_CHARS:,} characters"
    schema = tool.input_schema
    if not isinstance(schema, Mapping) or schema.get("type") != "object":
        return 'its input schema has no "type": "object"'
    try:
        from jsonschema import Draft202012Validator

        Draft202012Validator.check_schema(orjson.loads(orjson.dumps(dict(schema))))
    except Exception as error:  # a plugin's schema may be wrong in any way
        return f"its input schema is wrong: {error!s:.120}"
    return ""


def with_token(tool: Tool) -> Tool:
    """A tool for admins takes their token; the pack never sees it."""
    if not tool.admin:
        return tool
    properties = {**_object(tool.input_schema.get("properties")), ADMIN_TOKEN: TEXT}
    return replace(tool, input_schema={**tool.input_schema, "properties": properties})


def _object(value: object) -> Mapping[str, object]:
    return value if isinstance(value, Mapping) else {}


def _answering(pack: BoundProvider, tool: Tool) -> Callable[[Call], Mapping[str, Any]]:
    name, budget = tool.name, min(tool.seconds, MAX_SECONDS) or None

    def answer(call: Call) -> Mapping[str, Any]:
        def progress(fraction: float, message: str) -> None:
            call.progress(round(1000 * fraction), 1000)

        arguments = {key: value for key, value in call.arguments.items() if not tool.admin or key != ADMIN_TOKEN}
        try:
            reply = pack.call("call", name, arguments, _access(pack, call), progress, budget=budget)
            return _plain(pack, name, reply)
        except ZaxyError as error:
            raise without_details(pack, name, error) from None

    return answer


def _access(pack: BoundProvider, call: Call) -> MemoryAccess:
    manifest = pack.row.manifest
    if manifest is not None and manifest.api_max < WIDE_ACCESS:
        return cast(MemoryAccess, NarrowAccess(whole_memory(call), pack.row.package))
    permission = present_permission()._replace(session=call.default_session)
    return access_to(whole_memory(call), permission, package=pack.row.package)


def without_details(pack: BoundProvider, name: str, error: ZaxyError) -> ZaxyError:
    """What a plugin's own exception says is for its author, on stderr: it may tell paths and secrets."""
    if error.code != "internal_error":
        return error
    say(f"zaxy: {name}: {error.message}", err=True)
    return InternalError(f"the tool pack {pack.name} ({pack.row.package}) failed", error.remediation)


def _plain(pack: BoundProvider, name: str, result: object) -> dict[str, Any]:
    """The result as JSON would carry it: a plugin may return anything."""
    try:
        plain = orjson.loads(orjson.dumps(result)) if isinstance(result, Mapping) else None
    except (TypeError, ValueError):
        plain = None
    if not isinstance(plain, dict):
        raise InternalError(
            f"{name} of the tool pack {pack.name} did not answer with a JSON object",
            f"Report it to the authors of {pack.row.package}, or disable it: ZAXY_PLUGINS_DISABLE={pack.row.name}",
        )
    return plain
