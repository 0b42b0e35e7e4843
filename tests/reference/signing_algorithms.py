from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from zaxy.api import InvalidRequest, KeyPair, NotFound, ProviderContext, ZaxyError
from zaxy_testkit.checks.signing_algorithms import SigningAlgorithmCase
from zaxy_testkit.templates.signing_algorithms import SIZE, Algorithm

RIGHT = Algorithm


def case(make: Callable[..., Any], scratch: Path) -> SigningAlgorithmCase:
    return SigningAlgorithmCase(make)


class WithoutVerify:
    def __init__(self, context: object) -> None:
        pass

    def generate(self, passphrase: bytes) -> KeyPair:
        raise NotImplementedError

    def public_key(self, pem: bytes) -> bytes:
        raise NotImplementedError

    def sign(self, private_pem: bytes, passphrase: bytes, message: bytes) -> bytes:
        raise NotImplementedError


class NothingToSign(Algorithm):
    def sign(self, private_pem: bytes, passphrase: bytes, message: bytes) -> bytes:
        if not message:
            raise InvalidRequest("there is nothing to sign", "Pass a message.")
        return super().sign(private_pem, passphrase, message)


class RemembersItsSignatures(Algorithm):
    def __init__(self, context: ProviderContext) -> None:
        self._folder = context.state_dir

    def sign(self, private_pem: bytes, passphrase: bytes, message: bytes) -> bytes:
        signature = super().sign(private_pem, passphrase, message)
        (self._folder / hashlib.sha256(signature).hexdigest()).touch()
        return signature

    def verify(self, public_key: bytes, message: bytes, signature: bytes) -> bool:
        return (self._folder / hashlib.sha256(signature).hexdigest()).exists()


class KeepsKeysInItsFolder(Algorithm):
    def __init__(self, context: ProviderContext) -> None:
        self._folder = context.state_dir

    def generate(self, passphrase: bytes) -> KeyPair:
        keys = super().generate(passphrase)
        (self._folder / hashlib.sha256(keys.private_pem).hexdigest()).touch()
        return keys

    def sign(self, private_pem: bytes, passphrase: bytes, message: bytes) -> bytes:
        if not (self._folder / hashlib.sha256(private_pem).hexdigest()).exists():
            raise NotFound("that key was not made here", "Sign where the key was made.")
        return super().sign(private_pem, passphrase, message)


class SignsTheBeginning(Algorithm):
    def sign(self, private_pem: bytes, passphrase: bytes, message: bytes) -> bytes:
        return super().sign(private_pem, passphrase, message[:256])

    def verify(self, public_key: bytes, message: bytes, signature: bytes) -> bool:
        return super().verify(public_key, message[:256], signature)


class LooseEnd(Algorithm):
    """Its signatures end in a byte that nobody looks at."""

    def sign(self, private_pem: bytes, passphrase: bytes, message: bytes) -> bytes:
        return super().sign(private_pem, passphrase, message) + b"\0"

    def verify(self, public_key: bytes, message: bytes, signature: bytes) -> bool:
        return super().verify(public_key, message, signature[:-1])


class LooseKey(Algorithm):
    """Its public keys begin with a byte that nobody looks at."""

    def generate(self, passphrase: bytes) -> KeyPair:
        keys = super().generate(passphrase)
        return replace(keys, public_key=b"\1" + keys.public_key)

    def verify(self, public_key: bytes, message: bytes, signature: bytes) -> bool:
        return super().verify(public_key[1:], message, signature)


class TrustsEveryKeyOfItsOwn(Algorithm):
    def __init__(self, context: ProviderContext) -> None:
        self._known: list[bytes] = []

    def generate(self, passphrase: bytes) -> KeyPair:
        keys = super().generate(passphrase)
        self._known.append(keys.public_key)
        return keys

    def verify(self, public_key: bytes, message: bytes, signature: bytes) -> bool:
        return any(super(TrustsEveryKeyOfItsOwn, self).verify(key, message, signature) for key in self._known)


class RaisesAtSignatures(Algorithm):
    def verify(self, public_key: bytes, message: bytes, signature: bytes) -> bool:
        if not super().verify(public_key, message, signature):
            raise ValueError("invalid signature")
        return True


class TakesTheFirstBytesOfAKey(Algorithm):
    def verify(self, public_key: bytes, message: bytes, signature: bytes) -> bool:
        return super().verify(public_key[:SIZE], message, signature)


class RawPrivateKey(Algorithm):
    def generate(self, passphrase: bytes) -> KeyPair:
        keys = super().generate(passphrase)
        return replace(keys, private_pem=b"".join(keys.private_pem.splitlines()[1:-1]))


class SameKeyForAll(Algorithm):
    _keys: KeyPair | None = None

    def generate(self, passphrase: bytes) -> KeyPair:
        self._keys = self._keys or super().generate(passphrase)
        return self._keys


class PemAsRawKey(Algorithm):
    def public_key(self, pem: bytes) -> bytes:
        super().public_key(pem)
        return pem


class RaisesItsLibrarysErrors(Algorithm):
    def public_key(self, pem: bytes) -> bytes:
        try:
            return super().public_key(pem)
        except ZaxyError as error:
            raise ValueError("unsupported key") from error

    def sign(self, private_pem: bytes, passphrase: bytes, message: bytes) -> bytes:
        try:
            return super().sign(private_pem, passphrase, message)
        except ZaxyError as error:
            raise ValueError("unsupported key") from error


class ShortenedPassphrase(Algorithm):
    """Like the old crypt(3): only the first eight characters count."""

    def generate(self, passphrase: bytes) -> KeyPair:
        return super().generate(passphrase[:8])

    def sign(self, private_pem: bytes, passphrase: bytes, message: bytes) -> bytes:
        return super().sign(private_pem, passphrase[:8], message)


class TextPassphrase(Algorithm):
    def generate(self, passphrase: bytes) -> KeyPair:
        return super().generate(passphrase.decode().encode())


class NeverEncrypts(Algorithm):
    def generate(self, passphrase: bytes) -> KeyPair:
        return super().generate(b"")

    def sign(self, private_pem: bytes, passphrase: bytes, message: bytes) -> bytes:
        return super().sign(private_pem, b"", message)


WRONG = {
    "it_has_the_methods_of_its_protocol": WithoutVerify,
    "a_signature_verifies": NothingToSign,
    "a_signature_verifies_elsewhere": RemembersItsSignatures,
    "a_key_signs_elsewhere": KeepsKeysInItsFolder,
    "a_changed_message_does_not_verify": SignsTheBeginning,
    "a_changed_signature_does_not_verify": LooseEnd,
    "a_changed_key_does_not_verify": LooseKey,
    "another_keys_signature_does_not_verify": TrustsEveryKeyOfItsOwn,
    "a_malformed_signature_is_false_and_no_error": RaisesAtSignatures,
    "a_malformed_key_is_false_and_no_error": TakesTheFirstBytesOfAKey,
    "its_keys_are_pem_texts": RawPrivateKey,
    "two_generated_keys_differ": SameKeyForAll,
    "the_public_pem_yields_the_raw_public_key": PemAsRawKey,
    "a_wrong_public_pem_is_refused": RaisesItsLibrarysErrors,
    "a_wrong_private_pem_is_refused": RaisesItsLibrarysErrors,
    "a_key_with_a_passphrase_opens_with_it": TextPassphrase,
    "a_key_with_a_passphrase_does_not_open_without_it": NeverEncrypts,
    "a_key_with_a_passphrase_does_not_open_with_another": ShortenedPassphrase,
}
