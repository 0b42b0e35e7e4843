"""Keys in files, and the algorithms that sign and verify with them. Signing is experimental and unaudited."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import suppress
from typing import NamedTuple

from zaxy.api import (
    DEFAULT_ALGORITHM as DEFAULT_ALGORITHM,
    Conflict,
    InvalidRequest,
    KeyFiles as KeyFiles,
    Unavailable,
    ZaxyError,
    atomic_file,
    is_signature as is_signature,
    opened as opened,
    read_key,
    read_passphrase,
    read_private as read_private,
    signer_of as signer_of,
    signing_algorithms,
)

UNAUDITED = "signing is EXPERIMENTAL and UNAUDITED: do not rely on it alone"
"""The notice wherever something is signed, or a signature was verified."""
SETTINGS = ("PRIVATE_KEY_FILE", "PUBLIC_KEY_FILE", "ALGORITHM", "PASSPHRASE_FILE")
"""Of `KeyFiles`, each in a setting of its own."""


class PublicKey(NamedTuple):
    algorithm: str
    key: bytes


def generate(files: KeyFiles) -> PublicKey:
    """Make a key pair. An existing file is never overwritten."""
    for path in (files.private, files.public):
        if os.path.lexists(path):
            raise Conflict(f"{path} already exists", "Name another file, or move it away yourself.")
    with signing_algorithms() as algorithms:
        pair = algorithms.get(files.algorithm).generate(read_passphrase(files.passphrase))
    _write_new(files.private, pair.private_pem, 0o600)
    try:
        _write_new(files.public, pair.public_pem, 0o644)
    except ZaxyError:
        with suppress(OSError):
            os.unlink(files.private)
        raise
    return PublicKey(files.algorithm, pair.public_key)


def public_key_of(path: str) -> PublicKey:
    """The key in the file of a public key, and the installed algorithm that it belongs to."""
    pem = read_key(path)
    if b"PRIVATE KEY" in pem:
        raise InvalidRequest(
            f"{path} is a private key",
            "Name the file of the public key. A private key is never shown.",
        )
    with signing_algorithms() as algorithms:
        names = algorithms.names
        for name in names:
            with suppress(ZaxyError):
                return PublicKey(name, bytes(algorithms.get(name).public_key(pem)))
    raise Conflict(
        f"{path} is not a public key of an installed algorithm ({', '.join(names)})",
        "Install the package of its algorithm, such as zaxy-mldsa, or name another file.",
    )


def configured(settings: Mapping[str, object]) -> KeyFiles:
    """The keys that a server signs with."""
    named = [str(settings.get(f"MCP_EXPORT_SIGNING_{name}") or "") for name in SETTINGS]
    private, public, algorithm, passphrase = named
    if private and public:
        return KeyFiles(private, public, algorithm or DEFAULT_ALGORITHM, passphrase)
    raise Unavailable(
        "this server has no key to sign with",
        "Make keys with 'zaxy export-keygen', and name their files in MCP_EXPORT_SIGNING_PRIVATE_KEY_FILE and "
        "MCP_EXPORT_SIGNING_PUBLIC_KEY_FILE.",
    )


def read_token(path: str) -> str:
    """The token in a file, without a line end."""
    try:
        token = read_private(path).decode("ascii").rstrip("\r\n")
    except UnicodeDecodeError:
        token = ""
    if token and token.isprintable():
        return token
    raise InvalidRequest(f"{path} holds no token", "Put the token into it, and nothing else.")


def _write_new(path: str, content: bytes, mode: int) -> None:
    try:
        with atomic_file(path, mode=mode, put=os.link) as file:
            file.write(content)
    except FileExistsError:
        raise Conflict(f"{path} already exists", "Name another file.") from None
    except OSError as error:
        raise Unavailable(f"{path} cannot be written: {error.strerror}", "Name another file.") from None
