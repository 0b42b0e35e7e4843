"""The MCP configuration of Hermes Agent, edited for Zaxy."""

__version__ = "0.1.0"
