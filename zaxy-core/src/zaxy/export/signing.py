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
from zaxy.settings import Settings

POINT = "signing_algorithms"
DEFAULT_ALGORITHM = "ed25519"
UNAUDITED = "signing is EXPERIMENTAL and UNAUDITED: do not rely on it alone"
"""What is said wherever something is signed or a signature was found good."""
MAX_KEY_FILE = 1 << 16
TRIAL = b"zaxy: do these two keys belong together?"


class PublicKey(NamedTuple):
    algorithm: str
    key: bytes


class KeyFiles(NamedTuple):
    """Where a key pair lies, and the passphrase of its private key, if it has one."""

    private: str
    public: str
    algorithm: str = DEFAULT_ALGORITHM
    passphrase: str = ""


@contextmanager
def _algorithms() -> Iterator[PluginHost]:
    """All algorithms that are installed. They keep no state, so it needs no workspace."""
    settings = Settings()
    with TemporaryDirectory(prefix="zaxy-keys-") as folder:
        yield PluginHost(load_roster(settings), settings, Path(folder), "")


def is_signature(algorithm: str, public_key: bytes, message: bytes, signature: bytes) -> bool:
    """Whether a signature is good; an algorithm that is not installed is an error, since it may well be."""
    with _algorithms() as host:
        return bool(host.get(POINT, algorithm).call("verify", public_key, message, signature))


def generate(files: KeyFiles) -> PublicKey:
    """Make a key pair. A file that is there already is never written over."""
    for path in (files.private, files.public):
        if os.path.lexists(path):
            raise Conflict(f"{path} is there already", "Name another file, or move it away yourself.")
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
    """The key in a public key's file, and which of the installed algorithms it is for."""
    pem = _read(path)
    if b"PRIVATE KEY" in pem:
        raise InvalidRequest(
            f"{path} is a private key",
            "Name the public key's file: a private key is shown to nobody.",
        )
    with _algorithms() as host:
        names = host.names(POINT)
        for name in names:
            with suppress(ZaxyError):
                return PublicKey(name, bytes(host.get(POINT, name).call("public_key", pem)))
    raise Conflict(
        f"{path} is no public key of an algorithm that is installed ({', '.join(names)})",
        "Install the package of its algorithm, such as zaxy-mldsa, or name another file.",
    )


def configured(settings: Settings) -> KeyFiles:
    """The keys that a server signs with."""
    names = ("PRIVATE_KEY_FILE", "PUBLIC_KEY_FILE", "ALGORITHM", "PASSPHRASE_FILE")
    private, public, algorithm, passphrase = (str(settings[f"MCP_EXPORT_SIGNING_{name}"] or "") for name in names)
    if private and public:
        return KeyFiles(private, public, algorithm, passphrase)
    raise Unavailable(
        "this server has no key to sign with",
        "Make keys with 'zaxy export-keygen', and name their files in MCP_EXPORT_SIGNING_PRIVATE_KEY_FILE and "
        "MCP_EXPORT_SIGNING_PUBLIC_KEY_FILE.",
    )


@contextmanager
def signer_of(files: KeyFiles) -> Iterator[Signer]:
    """Whoever signs with a key pair; the two keys are tried on each other first."""
    passphrase, private, pem = _passphrase(files.passphrase), read_private(files.private), _read(files.public)
    with _algorithms() as host:
        algorithm = host.get(POINT, files.algorithm)
        key = bytes(algorithm.call("public_key", pem))

        def sign(message: bytes) -> bytes:
            return bytes(algorithm.call("sign", private, passphrase, message))

        if not algorithm.call("verify", key, TRIAL, sign(TRIAL)):
            raise Conflict(
                f"{files.public} does not belong to {files.private}",
                "Name the two files that one 'zaxy export-keygen' wrote.",
            )
        yield Signer(files.algorithm, key, sign)


def read_private(path: str) -> bytes:
    """A file that only its owner should be able to read."""
    if os.name == "posix":
        with suppress(OSError):
            if stat.S_IMODE(os.stat(path).st_mode) & 0o077:
                raise Forbidden(f"{path} can be read by others than its owner", f"Run: chmod 600 {path}")
    return _read(path)


@contextmanager
def opened(path: str) -> Iterator[BinaryIO]:
    """A file that somebody named, to be read."""
    try:
        file = open(path, "rb")  # noqa: SIM115 - what goes wrong in the body is not about opening
    except OSError as error:
        raise NotFound(f"{path} cannot be read: {error.strerror}", "Check the path.") from None
    with file:
        yield file


def read_token(path: str) -> str:
    """The token in a file, without the line end behind it."""
    try:
        token = read_private(path).decode("ascii").rstrip("\r\n")
    except UnicodeDecodeError:
        token = ""
    if token and token.isprintable():
        return token
    raise InvalidRequest(f"{path} holds no token", "Put the token into it, and nothing else.")


def _passphrase(path: str) -> bytes:
    """The file's content without the line end that editors put behind it."""
    if not path:
        return b""
    passphrase = _read(path).removesuffix(b"\n").removesuffix(b"\r")
    if passphrase:
        return passphrase
    raise InvalidRequest(f"{path} is empty", "Put the passphrase into it, or leave it out.")


def _read(path: str) -> bytes:
    with opened(path) as file:
        content = file.read(MAX_KEY_FILE + 1)
    if len(content) > MAX_KEY_FILE:
        raise TooLarge(f"{path} is too large for a key", "Name a PEM file.")
    return content


def _write_new(path: str, content: bytes, mode: int) -> None:
    try:
        atomic_write(path, content, mode=mode, put=os.link)
    except FileExistsError:
        raise Conflict(f"{path} is there already", "Name another file.") from None
    except OSError as error:
        raise Unavailable(f"{path} cannot be written: {error.strerror}", "Name another file.") from None
