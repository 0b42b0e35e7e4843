"""Ed25519, through the package `cryptography` of the extra `export`. Experimental and unaudited."""

from __future__ import annotations

from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
    load_pem_private_key,
    load_pem_public_key,
)

from zaxy.api import InvalidRequest, KeyPair, ProviderContext


class Ed25519:
    def __init__(self, context: ProviderContext) -> None:
        pass

    def generate(self, passphrase: bytes) -> KeyPair:
        private = Ed25519PrivateKey.generate()
        public = private.public_key()
        sealing = BestAvailableEncryption(passphrase) if passphrase else NoEncryption()
        return KeyPair(
            private.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, sealing),
            public.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo),
            public.public_bytes_raw(),
        )

    def public_key(self, pem: bytes) -> bytes:
        try:
            key = load_pem_public_key(pem)
        except (ValueError, UnsupportedAlgorithm):
            key = None
        if isinstance(key, Ed25519PublicKey):
            return key.public_bytes_raw()
        raise InvalidRequest("that is not an ed25519 public key", "Pass the PEM file of an ed25519 key.")

    def sign(self, private_pem: bytes, passphrase: bytes, message: bytes) -> bytes:
        try:
            key = load_pem_private_key(private_pem, passphrase or None)
        except (ValueError, TypeError, UnsupportedAlgorithm):
            key = None
        if isinstance(key, Ed25519PrivateKey):
            return key.sign(message)
        raise InvalidRequest(
            "the private key cannot be opened as an ed25519 key",
            "Pass the PEM file of an ed25519 key, and its passphrase if it has one.",
        )

    def verify(self, public_key: bytes, message: bytes, signature: bytes) -> bool:
        try:
            Ed25519PublicKey.from_public_bytes(public_key).verify(signature, message)
        except (ValueError, InvalidSignature):
            return False
        return True
