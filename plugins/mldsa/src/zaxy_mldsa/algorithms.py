"""ML-DSA (FIPS 204) through `cryptography`. Experimental and unaudited.

Private keys are PKCS 8 PEM texts that hold the 32-byte seed (RFC 9881), encrypted where a passphrase is given.
Signatures are the pure variant with an empty context string.
"""

from __future__ import annotations

from typing import ClassVar

from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.mldsa import (
    MLDSA44PrivateKey,
    MLDSA44PublicKey,
    MLDSA65PrivateKey,
    MLDSA65PublicKey,
    MLDSA87PrivateKey,
    MLDSA87PublicKey,
)
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
    load_pem_private_key,
    load_pem_public_key,
)

from zaxy.api import InvalidRequest, KeyPair, ProviderContext, Unavailable, ZaxyError, install_hint

PrivateKey = MLDSA44PrivateKey | MLDSA65PrivateKey | MLDSA87PrivateKey
PublicKey = MLDSA44PublicKey | MLDSA65PublicKey | MLDSA87PublicKey


class MlDsa:
    """One parameter set; the classes below say which."""

    name: ClassVar[str]
    private: ClassVar[type[PrivateKey]]
    public: ClassVar[type[PublicKey]]

    def __init__(self, context: ProviderContext) -> None:
        pass

    def generate(self, passphrase: bytes) -> KeyPair:
        try:
            private = self.private.generate()
        except UnsupportedAlgorithm:
            raise self._unsupported() from None
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
        if isinstance(key, self.public):
            return key.public_bytes_raw()
        raise InvalidRequest(f"that is not an {self.name} public key", f"Pass the PEM file of an {self.name} key.")

    def sign(self, private_pem: bytes, passphrase: bytes, message: bytes) -> bytes:
        try:
            key = load_pem_private_key(private_pem, passphrase or None)
        except (ValueError, TypeError, UnsupportedAlgorithm):
            key = None
        if isinstance(key, self.private):
            return key.sign(message)
        raise InvalidRequest(
            f"the private key cannot be opened as an {self.name} key",
            f"Pass the PEM file of an {self.name} key, and its passphrase if it has one.",
        )

    def verify(self, public_key: bytes, message: bytes, signature: bytes) -> bool:
        try:
            self.public.from_public_bytes(public_key).verify(signature, message)
        except (ValueError, InvalidSignature):
            return False
        except UnsupportedAlgorithm:
            # Not False: the signature may well be good, and this machine cannot tell.
            raise self._unsupported() from None
        return True

    def _unsupported(self) -> ZaxyError:
        return Unavailable(
            f"the installed cryptography was built without {self.name}",
            f"Remove it, and install the wheel of its authors instead: {install_hint('cryptography>=48,<51')}",
        )


class MlDsa44(MlDsa):
    name = "ml-dsa-44"
    private = MLDSA44PrivateKey
    public = MLDSA44PublicKey


class MlDsa65(MlDsa):
    name = "ml-dsa-65"
    private = MLDSA65PrivateKey
    public = MLDSA65PublicKey


class MlDsa87(MlDsa):
    name = "ml-dsa-87"
    private = MLDSA87PrivateKey
    public = MLDSA87PublicKey
