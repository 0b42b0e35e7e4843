"""The MCP server: a thin skin over `Memory`, for stdio, HTTP and any other pair of byte streams."""
