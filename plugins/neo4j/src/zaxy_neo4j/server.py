"""Which server the settings mean, and how it is reached: checked before anything is sent."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import SplitResult, urlsplit

from zaxy.api import InvalidRequest

SCHEMES = ("bolt", "bolt+s", "bolt+ssc", "neo4j", "neo4j+s", "neo4j+ssc")
LOCAL = ("localhost", "127.0.0.1", "::1")
PORT = 7687
LOCAL_PASSWORD = "zaxy-local-only"
"""Of the container that we start where no password is set. It is bound to this machine, and so no secret."""


@dataclass(frozen=True)
class Server:
    scheme: str
    host: str
    port: int
    user: str
    password: str = field(repr=False)
    """Empty where none is sent."""
    ca_cert: str = ""
    database: str = ""
    auto_start: bool = False

    @classmethod
    def of(cls, settings: Mapping[str, object]) -> Server:
        parts = _split(str(settings.get("NEO4J_URI") or f"bolt://localhost:{PORT}"))
        ca_cert = str(settings.get("NEO4J_CA_CERT") or "")
        if ca_cert:
            _check_certificate(ca_cert, parts.scheme)
        auto_start = bool(settings.get("NEO4J_AUTO_START")) and parts.hostname in LOCAL
        return cls(
            scheme=parts.scheme,
            host=parts.hostname or "",
            port=parts.port or PORT,
            user=str(settings.get("NEO4J_USER") or "neo4j"),
            password=str(settings.get("NEO4J_PASSWORD") or (LOCAL_PASSWORD if auto_start else "")),
            ca_cert=ca_cert,
            database=str(settings.get("NEO4J_DATABASE") or ""),
            auto_start=auto_start,
        )

    @property
    def shown(self) -> str:
        """Where it is, for people."""
        return self._uri(self.scheme)

    @property
    def uri(self) -> str:
        """Where it is, for the driver, which takes a certificate apart from the scheme."""
        return self._uri(self.scheme.removesuffix("+s") if self.ca_cert else self.scheme)

    @property
    def access(self) -> dict[str, Any]:
        """The driver's options that open the door."""
        from neo4j import TrustCustomCAs

        options: dict[str, Any] = {"auth": (self.user, self.password) if self.password else None}
        if self.ca_cert:
            options |= {"encrypted": True, "trusted_certificates": TrustCustomCAs(self.ca_cert)}
        return options

    def _uri(self, scheme: str) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{scheme}://{host}:{self.port}"


def _split(uri: str) -> SplitResult:
    """The parts of NEO4J_URI. An error never shows it: a password may stand in it where none belongs."""
    try:
        parts = urlsplit(uri.strip())
        port_is_right = parts.port is None or parts.port > 0
    except ValueError:
        parts, port_is_right = SplitResult("", "", "", "", ""), False
    if parts.username is not None or parts.password is not None:
        raise InvalidRequest(
            "NEO4J_URI names a user or a password",
            "Leave them out of it, and set NEO4J_USER and NEO4J_PASSWORD or NEO4J_PASSWORD_FILE.",
        )
    plain = parts.path in ("", "/") and not parts.query and not parts.fragment
    if parts.scheme not in SCHEMES or not parts.hostname or not port_is_right or not plain:
        raise InvalidRequest(
            "NEO4J_URI is not the address of a Neo4j server",
            f"Set it to one such as bolt://localhost:{PORT}; it may begin with {', '.join(SCHEMES)}.",
        )
    return parts


def _check_certificate(path: str, scheme: str) -> None:
    if scheme.endswith("+ssc"):
        raise InvalidRequest(
            f"NEO4J_CA_CERT is set, and NEO4J_URI begins with {scheme}, which trusts any certificate",
            f"Let NEO4J_URI begin with {scheme.removesuffix('sc')}, or unset NEO4J_CA_CERT.",
        )
    import ssl

    try:
        Path(path).read_bytes()
        ssl.create_default_context(cafile=path)
    except OSError as error:  # an SSLError is one too
        reason = "it holds no certificate" if isinstance(error, ssl.SSLError) else error.strerror
        raise InvalidRequest(
            f"NEO4J_CA_CERT names {path}, which cannot be used: {reason}",
            "Set it to a readable PEM file with the authority that signed the server's certificate.",
        ) from None
