"""The methods of MCP for resources and prompts, which the server has only where an installed pack offers some."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Any

import anyio.to_thread
import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.shared.exceptions import MCPError

from zaxy.api.pack_models import PROMPTS, RESOURCES, Prompt, Resource
from zaxy.serve.application import GET, READ, Application, Reply

if TYPE_CHECKING:
    from zaxy.serve.pack_offers import PackOffers

Context = ServerRequestContext[Any, Any]
Answer = Callable[[Context, str, Mapping[str, Any]], Awaitable[Reply]]
"""Answers a method as a call of a tool is answered: in its turn, counted and recorded."""
FAULTS_OF_CALLERS = ("invalid_request", "not_found", "too_large", "forbidden")


class PackHandlers:
    def __init__(self, application: Application, answer: Answer) -> None:
        self._application = application
        self._answer = answer

    def add_to(self, server: Server[Any], offered: frozenset[str]) -> None:
        """The server announces what it has handlers for."""
        page = types.PaginatedRequestParams
        if RESOURCES in offered:
            server.add_request_handler("resources/list", page, self._list_resources)
            server.add_request_handler("resources/templates/list", page, self._list_templates)
            server.add_request_handler(READ, types.ReadResourceRequestParams, self._read)
        if PROMPTS in offered:
            server.add_request_handler("prompts/list", page, self._list_prompts)
            server.add_request_handler(GET, types.GetPromptRequestParams, self._get)

    async def _offers(self) -> PackOffers:
        return await anyio.to_thread.run_sync(lambda: self._application.offers, abandon_on_cancel=True)

    async def _list_resources(self, ctx: Context, params: types.PaginatedRequestParams) -> types.ListResourcesResult:
        found = (await self._offers()).resources.items()
        return types.ListResourcesResult(
            resources=[types.Resource(uri=uri, **_shown(one)) for uri, one in found if not one.is_template]
        )

    async def _list_templates(
        self, ctx: Context, params: types.PaginatedRequestParams
    ) -> types.ListResourceTemplatesResult:
        found = (await self._offers()).resources.items()
        return types.ListResourceTemplatesResult(
            resource_templates=[
                types.ResourceTemplate(uri_template=uri, **_shown(one)) for uri, one in found if one.is_template
            ]
        )

    async def _read(self, ctx: Context, params: types.ReadResourceRequestParams) -> types.ReadResourceResult:
        content = await self._content(ctx, READ, {"uri": params.uri})
        return types.ReadResourceResult(
            contents=[
                types.BlobResourceContents(**part) if "blob" in part else types.TextResourceContents(**part)
                for part in content["contents"]
            ]
        )

    async def _list_prompts(self, ctx: Context, params: types.PaginatedRequestParams) -> types.ListPromptsResult:
        return types.ListPromptsResult(prompts=[_prompt(one) for one in (await self._offers()).prompts.values()])

    async def _get(self, ctx: Context, params: types.GetPromptRequestParams) -> types.GetPromptResult:
        content = await self._content(ctx, GET, {"name": params.name, "arguments": params.arguments or {}})
        messages = [
            types.PromptMessage(role=one["role"], content=types.TextContent(type="text", text=one["text"]))
            for one in content["messages"]
        ]
        return types.GetPromptResult(description=content["description"], messages=messages)

    async def _content(self, ctx: Context, method: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
        reply = await self._answer(ctx, method, arguments)
        if not reply.failed:
            return reply.content
        error = reply.content["error"]
        code = types.INVALID_PARAMS if error["code"] in FAULTS_OF_CALLERS else types.INTERNAL_ERROR
        about = {"uri": arguments["uri"]} if "uri" in arguments else {}
        raise MCPError(code, f"{error['message']} {error['remediation']}".strip(), {**about, "error": error})


def _shown(resource: Resource) -> dict[str, Any]:
    described = {"description": resource.description} if resource.description else {}
    return {"name": resource.name, "mime_type": resource.mime_type, **described}


def _prompt(prompt: Prompt) -> types.Prompt:
    arguments = [
        types.PromptArgument(name=one.name, description=one.description or None, required=bool(one.required))
        for one in prompt.arguments
    ]
    return types.Prompt(name=prompt.name, description=prompt.description, arguments=arguments)
