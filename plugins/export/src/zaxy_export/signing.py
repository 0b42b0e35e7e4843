"""Keys in files, and the algorithms that sign and verify with them. Signing is experimental and unaudited."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import BinaryIO, NamedTuple

from zaxy.api import (
    Conflict,
    Forbidden,
    InvalidRequest,
    NotFound,
    TooLarge,
    Unavailable,
    ZaxyError,
    atomic_file,
    open_named_file,
    signing_algorithms,
)
from zaxy_export.bundle import Signer

DEFAULT_ALGORITHM = "ed25519"
UNAUDITED = "signing is EXPERIMENTAL and UNAUDITED: do not rely on it alone"
"""The notice wherever something is signed, or a signature was verified."""
MAX_KEY_FILE_BYTES = 1 << 16
SETTINGS = ("PRIVATE_KEY_FILE", "PUBLIC_KEY_FILE", "ALGORITHM", "PASSPHRASE_FILE")
"""Of `KeyFiles`, each in a setting of its own."""
TRIAL_MESSAGE = b"zaxy: do these two keys belong together?"


class PublicKey(NamedTuple):
    algorithm: str
    key: bytes


class KeyFiles(NamedTuple):
    """The files of a key pair, and of the private key's passphrase if it has one."""

    private: str
    public: str
    algorithm: str = DEFAULT_ALGORITHM
    passphrase: str = ""


def is_signature(algorithm: str, public_key: bytes, message: bytes, signature: bytes) -> bool:
    """Whether a signature is good. An algorithm that is not installed is an error: the signature may still be good."""
    with signing_algorithms() as algorithms:
        return bool(algorithms.get(algorithm).verify(public_key, message, signature))


def generate(files: KeyFiles) -> PublicKey:
    """Make a key pair. An existing file is never overwritten."""
    for path in (files.private, files.public):
        if os.path.lexists(path):
            raise Conflict(f"{path} already exists", "Name another file, or move it away yourself.")
    with signing_algorithms() as algorithms:
        pair = algorithms.get(files.algorithm).generate(_passphrase(files.passphrase))
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
    pem = _read(path)
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


@contextmanager
def signer_of(files: KeyFiles) -> Iterator[Signer]:
    """A signer with a key pair. A trial signature shows first that the two keys belong together."""
    passphrase, private, pem = _passphrase(files.passphrase), read_private(files.private), _read(files.public)
    with signing_algorithms() as algorithms:
        algorithm = algorithms.get(files.algorithm)
        key = bytes(algorithm.public_key(pem))

        def sign(message: bytes) -> bytes:
            return bytes(algorithm.sign(private, passphrase, message))

        if not algorithm.verify(key, TRIAL_MESSAGE, sign(TRIAL_MESSAGE)):
            raise Conflict(
                f"{files.public} does not belong to {files.private}",
                "Name the two files that one 'zaxy export-keygen' wrote.",
            )
        yield Signer(files.algorithm, key, sign)


def read_private(path: str) -> bytes:
    """The content of a file that nobody but its owner may read."""
    if os.name == "posix":
        with suppress(OSError):
            if stat.S_IMODE(os.stat(path).st_mode) & 0o077:
                raise Forbidden(f"{path} can be read by others", f"Run: chmod 600 {path}")
    return _read(path)


@contextmanager
def opened(path: str) -> Iterator[BinaryIO]:
    """A file that the caller named, open for reading; a pipe or a device in its place is not waited for."""
    try:
        file = open_named_file(path)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise NotFound(f"{path} cannot be read: {reason}", "Check the path.") from None
    with file:
        yield file


def read_token(path: str) -> str:
    """The token in a file, without a line end."""
    try:
        token = read_private(path).decode("ascii").rstrip("\r\n")
    except UnicodeDecodeError:
        token = ""
    if token and token.isprintable():
        return token
    raise InvalidRequest(f"{path} holds no token", "Put the token into it, and nothing else.")


def _passphrase(path: str) -> bytes:
    """The content of the file, without the line end that editors add."""
    if not path:
        return b""
    passphrase = _read(path).removesuffix(b"\n").removesuffix(b"\r")
    if passphrase:
        return passphrase
    raise InvalidRequest(f"{path} is empty", "Put the passphrase into it, or leave it out.")


def _read(path: str) -> bytes:
    with opened(path) as file:
        content = file.read(MAX_KEY_FILE_BYTES + 1)
    if len(content) > MAX_KEY_FILE_BYTES:
        raise TooLarge(f"{path} is too large for a key", "Name a PEM file.")
    return content


def _write_new(path: str, content: bytes, mode: int) -> None:
    try:
        with atomic_file(path, mode=mode, put=os.link) as file:
            file.write(content)
    except FileExistsError:
        raise Conflict(f"{path} already exists", "Name another file.") from None
    except OSError as error:
        raise Unavailable(f"{path} cannot be written: {error.strerror}", "Name another file.") from None
