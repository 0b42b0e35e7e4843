"""Keys in files, and the algorithms that sign and verify with them. Signing is experimental and unaudited."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import BinaryIO, NamedTuple

from zaxy.atomic_write import atomic_write
from zaxy.errors import Conflict, Forbidden, InvalidRequest, NotFound, TooLarge, Unavailable, ZaxyError
from zaxy.export.bundle import Signer
from zaxy.plugins.host import PluginHost
from zaxy.plugins.roster import load_roster
from zaxy.security.small_files import open_named_file
from zaxy.settings import Settings

POINT = "signing_algorithms"
DEFAULT_ALGORITHM = "ed25519"
UNAUDITED = "signing is EXPERIMENTAL and UNAUDITED: do not rely on it alone"
"""The notice wherever something is signed, or a signature was verified."""
MAX_KEY_FILE_BYTES = 1 << 16
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


@contextmanager
def _algorithms() -> Iterator[PluginHost]:
    """A host for all installed algorithms. They keep no state, so it needs no workspace."""
    settings = Settings()
    with TemporaryDirectory(prefix="zaxy-keys-") as folder:
        yield PluginHost(load_roster(settings), settings, Path(folder), "")


def is_signature(algorithm: str, public_key: bytes, message: bytes, signature: bytes) -> bool:
    """Whether a signature is good. An algorithm that is not installed is an error: the signature may still be good."""
    with _algorithms() as host:
        return bool(host.get(POINT, algorithm).call("verify", public_key, message, signature))


def generate(files: KeyFiles) -> PublicKey:
    """Make a key pair. An existing file is never overwritten."""
    for path in (files.private, files.public):
        if os.path.lexists(path):
            raise Conflict(f"{path} already exists", "Name another file, or move it away yourself.")
    with _algorithms() as host:
        pair = host.get(POINT, files.algorithm).call("generate", _passphrase(files.passphrase))
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
    with _algorithms() as host:
        names = host.names(POINT)
        for name in names:
            with suppress(ZaxyError):
                return PublicKey(name, bytes(host.get(POINT, name).call("public_key", pem)))
    raise Conflict(
        f"{path} is not a public key of an installed algorithm ({', '.join(names)})",
        "Install the package of its algorithm, such as zaxy-mldsa, or name another file.",
    )


def configured(settings: Settings) -> KeyFiles:
    """The keys that a server signs with."""
    private, public = settings.export_signing_private_key_file, settings.export_signing_public_key_file
    if private and public:
        passphrase = settings.export_signing_passphrase_file or ""
        return KeyFiles(private, public, settings.export_signing_algorithm, passphrase)
    raise Unavailable(
        "this server has no key to sign with",
        "Make keys with 'zaxy export-keygen', and name their files in MCP_EXPORT_SIGNING_PRIVATE_KEY_FILE and "
        "MCP_EXPORT_SIGNING_PUBLIC_KEY_FILE.",
    )


@contextmanager
def signer_of(files: KeyFiles) -> Iterator[Signer]:
    """A signer with a key pair. A trial signature shows first that the two keys belong together."""
    passphrase, private, pem = _passphrase(files.passphrase), read_private(files.private), _read(files.public)
    with _algorithms() as host:
        algorithm = host.get(POINT, files.algorithm)
        key = bytes(algorithm.call("public_key", pem))

        def sign(message: bytes) -> bytes:
            return bytes(algorithm.call("sign", private, passphrase, message))

        if not algorithm.call("verify", key, TRIAL_MESSAGE, sign(TRIAL_MESSAGE)):
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
        atomic_write(path, content, mode=mode, put=os.link)
    except FileExistsError:
        raise Conflict(f"{path} already exists", "Name another file.") from None
    except OSError as error:
        raise Unavailable(f"{path} cannot be written: {error.strerror}", "Name another file.") from None
