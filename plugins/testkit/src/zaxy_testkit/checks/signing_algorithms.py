"""Checks of `signing_algorithms`."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from zaxy.api.models import KeyPair
from zaxy_testkit.checks import Case, CheckFailed, Workbench, check, expect, expect_no_error, expect_refusal
from zaxy_testkit.checks.shape import check_shape

POINT = "signing_algorithms"
MESSAGE = bytes(range(256)) + b'{"entries":["\xc3\xa9\r\n"]}'
PASSPHRASE = b"correct horse \xc3\xa9"
PEM = re.compile(rb"-----BEGIN ([A-Z0-9 ]+)-----\r?\n([A-Za-z0-9+/=\r\n]+)\r?\n-----END \1-----\s*")
MAX_BITS = 1024
"""Each bit of shorter data is flipped. In longer data it is this many, spread over it, and all near its ends."""

# X25519 agrees on keys and signs nothing; 1.2.3.4 is no algorithm at all.
OTHER_PUBLIC_KEYS = {
    "an X25519 public key": "MCowBQYDK2VuAyEAj0DFrbaPJWJK5bIU6nZ6bslNgp09e14a0bpvPiE4KF8=",
    "a public key of an unknown algorithm": "MCowBQYDKgMEAyEAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=",
    "a public key that is not ASN.1": "bm90IGEga2V5",
}
OTHER_PRIVATE_KEYS = {
    "an X25519 private key": "MC4CAQAwBQYDK2VuBCIEIAABAgMEBQYHCAkKCwwNDg8QERITFBUWFxgZGhscHR4f",
    "a private key of an unknown algorithm": "MC4CAQAwBQYDKgMEBCIEIAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
    "a private key that is not ASN.1": "bm90IGEga2V5",
}
NO_PEM = {"nothing": b"", "text that is no PEM": b"not a key", "bytes that are no text": b"\xff\x00\xfe"}


@dataclass(frozen=True)
class SigningAlgorithmCase(Case):
    """Only `make` is needed: the checks make their own keys and messages."""


check_shape(POINT)


@check(POINT)
def a_signature_verifies(case: SigningAlgorithmCase, bench: Workbench) -> None:
    """A key must sign any bytes, the empty message and a long one included, and verify must say True to each."""
    algorithm = bench.make(case)
    keys = generated(algorithm)
    for message in (MESSAGE, b"", b"\0", MESSAGE * 2000):
        signature = signed(algorithm, keys, message)
        expect(
            verified(algorithm, keys.public_key, message, signature),
            f"the signature of a message of {len(message)} bytes does not verify",
        )


@check(POINT)
def a_signature_verifies_elsewhere(case: SigningAlgorithmCase, bench: Workbench) -> None:
    """Keep nothing in the state folder that verifying needs: bundles are verified on other people's machines."""
    algorithm = bench.make(case)
    keys = generated(algorithm)
    signature = signed(algorithm, keys, MESSAGE)
    expect(
        verified(bench.make(case, "elsewhere"), keys.public_key, MESSAGE, signature),
        "a signature verifies where it was made and not with another state folder",
    )


@check(POINT)
def a_key_signs_elsewhere(case: SigningAlgorithmCase, bench: Workbench) -> None:
    """Put all that signing needs into the private PEM: people move their keys, and state folders may be lost."""
    algorithm = bench.make(case)
    keys = generated(algorithm, PASSPHRASE)
    signature = signed(bench.make(case, "elsewhere"), keys, MESSAGE, PASSPHRASE)
    expect(
        verified(algorithm, keys.public_key, MESSAGE, signature),
        "a signature made with the same private PEM and another state folder does not verify",
    )


@check(POINT)
def a_changed_message_does_not_verify(case: SigningAlgorithmCase, bench: Workbench) -> None:
    """Sign every byte of the message, in order and to its end: something of it was changed and it still verified."""
    algorithm = bench.make(case)
    keys = generated(algorithm)
    signature = signed(algorithm, keys, MESSAGE)
    changes = {"a zero byte added": MESSAGE + b"\0", "its last byte cut": MESSAGE[:-1], "nothing left": b""}
    for what, message in [*flipped(MESSAGE), *changes.items()]:
        expect(
            not verified(algorithm, keys.public_key, message, signature),
            f"the message was signed, then changed ({what}), and the signature still verifies",
        )


@check(POINT)
def a_changed_signature_does_not_verify(case: SigningAlgorithmCase, bench: Workbench) -> None:
    """Let every bit of the signature count: one was flipped and it still verified, so a copy can be passed as new."""
    algorithm = bench.make(case)
    keys = generated(algorithm)
    for what, signature in flipped(signed(algorithm, keys, MESSAGE)):
        expect(
            not verified(algorithm, keys.public_key, MESSAGE, signature),
            f"the signature was changed ({what}) and still verifies",
        )


@check(POINT)
def a_changed_key_does_not_verify(case: SigningAlgorithmCase, bench: Workbench) -> None:
    """Let every bit of the public key count, and answer False for bytes that are no key of yours."""
    algorithm = bench.make(case)
    keys = generated(algorithm)
    signature = signed(algorithm, keys, MESSAGE)
    for what, key in flipped(keys.public_key):
        expect(
            not verified(algorithm, key, MESSAGE, signature),
            f"the public key was changed ({what}) and the signature still verifies",
        )


@check(POINT)
def another_keys_signature_does_not_verify(case: SigningAlgorithmCase, bench: Workbench) -> None:
    """Verify against the public key that was handed over, not against any key that has signed before."""
    algorithm = bench.make(case)
    ours, theirs = generated(algorithm), generated(algorithm)
    own, foreign = signed(algorithm, ours, MESSAGE), signed(algorithm, theirs, MESSAGE)
    expect(not verified(algorithm, ours.public_key, MESSAGE, foreign), "another key's signature verifies as ours")
    expect(not verified(algorithm, theirs.public_key, MESSAGE, own), "our signature verifies as another key's")


@check(POINT)
def a_malformed_signature_is_false_and_no_error(case: SigningAlgorithmCase, bench: Workbench) -> None:
    """Check a signature's length and form before use and return False: bundles come from strangers."""
    algorithm = bench.make(case)
    keys = generated(algorithm)
    for what, signature in malformed(signed(algorithm, keys, MESSAGE)):
        expect(not verified(algorithm, keys.public_key, MESSAGE, signature), f"a signature that is {what} verifies")


@check(POINT)
def a_malformed_key_is_false_and_no_error(case: SigningAlgorithmCase, bench: Workbench) -> None:
    """Check a public key's length and form before use and return False: bundles carry their keys with them."""
    algorithm = bench.make(case)
    keys = generated(algorithm)
    signature = signed(algorithm, keys, MESSAGE)
    for what, key in malformed(keys.public_key):
        expect(not verified(algorithm, key, MESSAGE, signature), f"a signature verifies under a key that is {what}")


@check(POINT)
def its_keys_are_pem_texts(case: SigningAlgorithmCase, bench: Workbench) -> None:
    """Wrap base64 between -----BEGIN X----- and -----END X-----, for both keys, with and without a passphrase."""
    algorithm = bench.make(case)
    for keys in (generated(algorithm), generated(algorithm, PASSPHRASE)):
        expect(_is_pem(keys.public_pem), f"public_pem is not a PEM text: {keys.public_pem[:60]!r}")
        expect(_is_pem(keys.private_pem), f"private_pem is not a PEM text; it has {len(keys.private_pem)} bytes")


@check(POINT)
def two_generated_keys_differ(case: SigningAlgorithmCase, bench: Workbench) -> None:
    """Take new randomness from `secrets` or the library for each key, and derive nothing from the passphrase."""
    algorithm = bench.make(case)
    for passphrase in (b"", PASSPHRASE):
        one, two = generated(algorithm, passphrase), generated(algorithm, passphrase)
        expect(one.public_key != two.public_key, f"two key pairs have the same public key {one.public_key.hex()[:32]}…")


@check(POINT)
def the_public_pem_yields_the_raw_public_key(case: SigningAlgorithmCase, bench: Workbench) -> None:
    """`public_key(pair.public_pem)` must be `pair.public_key`, the very bytes that `verify` takes."""
    algorithm = bench.make(case)
    keys = generated(algorithm, PASSPHRASE)
    with expect_no_error("reading the pair's own public PEM"):
        raw = algorithm.public_key(keys.public_pem)
    expect(raw == keys.public_key, f"the pair's public key is {keys.public_key!r}, its public PEM yields {raw!r}")


@check(POINT)
def a_wrong_public_pem_is_refused(case: SigningAlgorithmCase, bench: Workbench) -> None:
    """Turn every way in which a PEM can be wrong into a ZaxyError; a library may raise more than ValueError."""
    algorithm = bench.make(case)
    keys = generated(algorithm)
    wrong = {what: _pem("PUBLIC KEY", body) for what, body in OTHER_PUBLIC_KEYS.items()}
    wrong |= {"the private PEM": keys.private_pem, "half of the public PEM": _half(keys.public_pem)}
    for what, pem in {**NO_PEM, **wrong}.items():
        _expect_refused(f"{what} as a public key", algorithm.public_key, pem)


@check(POINT)
def a_wrong_private_pem_is_refused(case: SigningAlgorithmCase, bench: Workbench) -> None:
    """Turn every way in which a PEM can be wrong into a ZaxyError; a library may raise more than ValueError."""
    algorithm = bench.make(case)
    keys = generated(algorithm)
    wrong = {what: _pem("PRIVATE KEY", body) for what, body in OTHER_PRIVATE_KEYS.items()}
    wrong |= {"the public PEM": keys.public_pem, "half of the private PEM": _half(keys.private_pem)}
    for what, pem in {**NO_PEM, **wrong}.items():
        _expect_refused(f"{what} as a private key", algorithm.sign, pem, b"", MESSAGE)


@check(POINT)
def a_key_with_a_passphrase_opens_with_it(case: SigningAlgorithmCase, bench: Workbench) -> None:
    """Sign with the decrypted key; any bytes are a passphrase, so do not decode, strip or shorten them."""
    algorithm = bench.make(case)
    for passphrase in (b"x", PASSPHRASE, b"\x00\xff binary", b"long " * 50):
        keys = generated(algorithm, passphrase)
        signature = signed(algorithm, keys, MESSAGE, passphrase)
        expect(
            verified(algorithm, keys.public_key, MESSAGE, signature),
            f"a key that was opened with its passphrase {passphrase!r} makes signatures that do not verify",
        )


@check(POINT)
def a_key_with_a_passphrase_does_not_open_without_it(case: SigningAlgorithmCase, bench: Workbench) -> None:
    """Encrypt the private key when a passphrase is given, and raise ZaxyError when it is then left out."""
    algorithm = bench.make(case)
    keys = generated(algorithm, PASSPHRASE)
    _expect_refused("signing without the key's passphrase", algorithm.sign, keys.private_pem, b"", MESSAGE)


@check(POINT)
def a_key_with_a_passphrase_does_not_open_with_another(case: SigningAlgorithmCase, bench: Workbench) -> None:
    """Notice a wrong passphrase and raise ZaxyError: a key decrypted to garbage would sign, and nobody could verify."""
    algorithm = bench.make(case)
    keys = generated(algorithm, PASSPHRASE)
    for wrong in (b"wrong", PASSPHRASE + b" ", PASSPHRASE[:-1], PASSPHRASE.upper()):
        of = f"signing with {wrong!r} in place of the key's passphrase {PASSPHRASE!r}"
        _expect_refused(of, algorithm.sign, keys.private_pem, wrong, MESSAGE)


def generated(algorithm: Any, passphrase: bytes = b"") -> KeyPair:
    with expect_no_error(f"generating a key pair with the passphrase {passphrase!r}"):
        keys = algorithm.generate(passphrase)
    if not isinstance(keys, KeyPair):
        raise CheckFailed(f"generating a key pair gave {type(keys).__name__}, not a zaxy.api.KeyPair")
    for part in ("private_pem", "public_pem", "public_key"):
        value = getattr(keys, part)
        expect(isinstance(value, bytes) and value != b"", f"{part} of the pair must be bytes, and not empty")
    return keys


def signed(algorithm: Any, keys: KeyPair, message: bytes, passphrase: bytes = b"") -> bytes:
    with expect_no_error(f"signing {len(message)} bytes with a good key"):
        signature = algorithm.sign(keys.private_pem, passphrase, message)
    if not isinstance(signature, bytes) or not signature:
        raise CheckFailed(f"a signature must be bytes, and not empty; it is {signature!r}")
    return signature


def verified(algorithm: Any, public_key: bytes, message: bytes, signature: bytes) -> bool:
    """What `verify` says; an error, or an answer that is not True or False, fails the check."""
    sizes = f"a key of {len(public_key)} bytes and a signature of {len(signature)}"
    with expect_no_error(f"verifying with {sizes} must answer True or False and"):
        answer = algorithm.verify(public_key, message, signature)
    if not isinstance(answer, bool):
        raise CheckFailed(f"verify must answer True or False, not {answer!r}")
    return answer


def flipped(data: bytes) -> Iterator[tuple[str, bytes]]:
    """Copies of the data with one bit changed, and which bit it was."""
    size = 8 * len(data)
    bits = set(range(size))
    if size > MAX_BITS:
        step = size // MAX_BITS | 1  # an odd step meets all eight bits of a byte in turn
        bits = {*range(64), *range(0, size, step), *range(size - 64, size)}
    for bit in sorted(bits):
        changed = bytearray(data)
        changed[bit // 8] ^= 1 << bit % 8
        yield f"bit {bit % 8} of byte {bit // 8} flipped", bytes(changed)


def malformed(data: bytes) -> Iterator[tuple[str, bytes]]:
    size = len(data)
    yield "empty", b""
    yield "one byte long", data[:1]
    yield "a byte too short", data[:-1]
    yield "a byte too long", data + b"\0"
    yield "without its first byte", data[1:]
    yield "twice as long", data + data
    yield "all zeros", bytes(size)
    yield "all ones", b"\xff" * size
    yield "backwards", data[::-1]
    yield "written in hexadecimal", data.hex().encode()


def _expect_refused(of: str, method: Callable[..., bytes], *arguments: bytes) -> None:
    error = expect_refusal(lambda: f"{len(method(*arguments))} bytes", of)
    expect(bool(error.remediation), f"{of} must be refused with what to do next, and the ZaxyError has no remediation")


def _half(data: bytes) -> bytes:
    return data[: len(data) // 2]


def _is_pem(text: bytes) -> bool:
    match = PEM.fullmatch(text)
    if match is None:
        return False
    try:
        return bool(base64.b64decode(b"".join(match[2].split()), validate=True))
    except binascii.Error:
        return False


def _pem(label: str, body: str) -> bytes:
    return f"-----BEGIN {label}-----\n{body}\n-----END {label}-----\n".encode()
