"""Keys in files, and signing with them by any installed algorithm. Signing is experimental and unaudited."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import BinaryIO, NamedTuple

from zaxy.errors import Conflict, Forbidden, InvalidRequest, NotFound, TooLarge
from zaxy.plugins.calls import signing_algorithms
from zaxy.security.small_files import open_named_file

DEFAULT_ALGORITHM = "ed25519"
MAX_KEY_FILE_BYTES = 1 << 16
TRIAL_MESSAGE = b"zaxy: do these two keys belong together?"


class Signer(NamedTuple):
    """A key pair, ready to sign."""

    algorithm: str
    public_key: bytes
    sign: Callable[[bytes], bytes]


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


@contextmanager
def signer_of(files: KeyFiles) -> Iterator[Signer]:
    """A signer with a key pair. A trial signature shows first that the two keys belong together."""
    passphrase, private, pem = read_passphrase(files.passphrase), read_private(files.private), read_key(files.public)
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
    return read_key(path)


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


def read_passphrase(path: str) -> bytes:
    """The content of the file, without the line end that editors add."""
    if not path:
        return b""
    passphrase = read_key(path).removesuffix(b"\n").removesuffix(b"\r")
    if passphrase:
        return passphrase
    raise InvalidRequest(f"{path} is empty", "Put the passphrase into it, or leave it out.")


def read_key(path: str) -> bytes:
    """The content of a small file that the caller named."""
    with opened(path) as file:
        content = file.read(MAX_KEY_FILE_BYTES + 1)
    if len(content) > MAX_KEY_FILE_BYTES:
        raise TooLarge(f"{path} is too large for a key", "Name a PEM file.")
    return content
