"""What each failure of the driver or the server means, and what to do next."""

from __future__ import annotations

import re
import ssl
from collections.abc import Iterator

from neo4j.exceptions import (
    AuthError,
    ConfigurationError,
    Forbidden,
    Neo4jError,
    ServiceUnavailable,
    SessionExpired,
    TransientError,
    UnsupportedServerProduct,
)

from zaxy.api import InternalError, InvalidRequest, Unavailable, ZaxyError
from zaxy_neo4j.server import Server

OLDEST = 5
BUILT_IN = "The log goes on without it, and PROJECTION_BACKEND=embedded takes the built-in graph."
NEWER = (
    "Upgrade it to Neo4j 5.26 or a later release, or set NEO4J_URI to a server that is one. "
    "PROJECTION_BACKEND=embedded takes the built-in graph."
)
OUT_OF_ROOM = ("OutOfMemory", "OutOfDisk", "MemoryPool", "ReadOnly", "WriteOnRead", "No space left")


def version_of(agent: str) -> tuple[int, int]:
    """The version in the name that a server gives itself; the highest where it does not tell one."""
    found = re.match(r"Neo4j/(\d+)\.(\d+)", agent)
    return (int(found[1]), int(found[2])) if found else (9999, 0)


def too_old(server: Server, agent: str) -> ZaxyError | None:
    """The refusal of a server by the name and version that it reports; None if it will do."""
    if version_of(agent) >= (OLDEST, 0):
        return None
    message = f"the server at {server.shown} is {agent.replace('/', ' ')}, and Zaxy needs Neo4j {OLDEST} or later"
    return Unavailable(message, NEWER)


def took_too_long(server: Server, seconds: float) -> ZaxyError:
    return Unavailable(
        f"the Neo4j server at {server.shown} did not answer within {seconds:g} s",
        f"Look at its load, memory and disk, or start it again. {BUILT_IN}",
    )


def explained(error: Exception, server: Server) -> ZaxyError:
    """A failure as an error of ours. The password is in none of them."""
    if isinstance(error, UnsupportedServerProduct):
        message = f"the server at {server.shown} speaks only an old Bolt, and Zaxy needs Neo4j {OLDEST} or later"
        return Unavailable(message, NEWER)
    encryption = next((cause for cause in _causes(error) if isinstance(cause, ssl.SSLError)), None)
    if encryption is not None:
        return _of_encryption(encryption, server)
    if isinstance(error, ServiceUnavailable | SessionExpired | OSError):
        start = "" if server.auto_start else "Start it, or set NEO4J_URI to where it runs. "
        return Unavailable(f"no Neo4j server answers at {server.shown}", f"{start}{BUILT_IN}")
    if isinstance(error, ConfigurationError):
        return InvalidRequest(f"the Neo4j driver refuses its settings: {error}", "zaxy config list")
    if isinstance(error, Neo4jError):
        return _of_server(error, server)
    return InternalError(f"the Neo4j driver failed: {type(error).__name__}", BUILT_IN)


def _of_server(error: Neo4jError, server: Server) -> ZaxyError:
    code = error.code or ""
    if "RateLimit" in code:
        message = f"the Neo4j server at {server.shown} has seen too many wrong passwords and takes none for a while"
        return Unavailable(message, "Set NEO4J_USER and NEO4J_PASSWORD right, and wait some seconds.")
    if "CredentialsExpired" in code:
        message = f"the Neo4j server at {server.shown} wants the first password of {server.user} to be changed"
        return Unavailable(message, "Change it with cypher-shell, and set NEO4J_PASSWORD to the new one.")
    if isinstance(error, AuthError):
        sent = f"the password of the user {server.user}" if server.password else "a connection without a password"
        return Unavailable(
            f"the Neo4j server at {server.shown} refuses {sent}",
            "Set NEO4J_USER and NEO4J_PASSWORD, or NEO4J_PASSWORD_FILE, to what the server knows.",
        )
    if isinstance(error, Forbidden):
        message = f"the Neo4j user {server.user} has no right to do what Zaxy needs ({code})"
        return Unavailable(message, "Give it the role publisher, and architect for the first use.")
    if "DatabaseNotFound" in code:
        message = f"the Neo4j server at {server.shown} has no database {server.database or 'for this user'}"
        return Unavailable(message, "Make it, or set NEO4J_DATABASE to one that is there.")
    if any(word in f"{code} {error.message}" for word in OUT_OF_ROOM):
        message = f"the Neo4j server at {server.shown} has no room for more ({code})"
        return Unavailable(message, f"Give it disk or memory, or fewer tasks. {BUILT_IN}")
    if isinstance(error, TransientError):
        message = f"the Neo4j server at {server.shown} cannot do it at the moment ({code})"
        return Unavailable(message, f"Try again; its own log tells more. {BUILT_IN}")
    return InternalError(f"the Neo4j server at {server.shown} failed: {code}", "Its own log tells more.")


def _of_encryption(error: ssl.SSLError, server: Server) -> ZaxyError:
    if not isinstance(error, ssl.SSLCertVerificationError):
        message = f"the server at {server.shown} does not speak TLS, or none that is safe"
        return Unavailable(message, "Turn TLS on in its configuration, or let NEO4J_URI begin with bolt://.")
    if server.ca_cert:
        advice = "Set NEO4J_CA_CERT to the authority that signed its certificate, for the host name in NEO4J_URI."
    else:
        advice = "Set NEO4J_CA_CERT to a PEM file with the authority that signed its certificate."
    return Unavailable(f"no encrypted connection to {server.shown} can be made: its certificate is not trusted", advice)


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__
