"""The least that an MCP server on this SDK can be, over stdio: one tool, which gives as many bytes as are asked for."""

from __future__ import annotations

from typing import Any

import anyio
import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server

Context = ServerRequestContext[Any, Any]
SCHEMA = {"type": "object", "properties": {"bytes": {"type": "integer"}}, "required": ["bytes"]}


async def list_tools(ctx: Context, params: types.PaginatedRequestParams | None) -> types.ListToolsResult:
    return types.ListToolsResult(tools=[types.Tool(name="give", description="Give bytes.", input_schema=SCHEMA)])


async def call_tool(ctx: Context, params: types.CallToolRequestParams) -> types.CallToolResult:
    text = "x" * (params.arguments or {})["bytes"]
    return types.CallToolResult(content=[types.TextContent(type="text", text=text)])


async def main() -> None:
    server: Server[Any] = Server("trivial", on_list_tools=list_tools, on_call_tool=call_tool)
    async with stdio_server() as (read, write):
        await server.run(read, write, server.create_initialization_options())


if __name__ == "__main__":
    anyio.run(main)
