"""FORS, the few-time signature inside SLH-DSA, from hashes alone. A TEACHING EXAMPLE: do not use it in production.

A key is 32 Merkle trees over 1,024 secrets each, all derived from one seed. The digest of a message picks one secret
in each tree, and the signature reveals these with their paths to the roots. So every signature gives a little away:
a key stays safe for some 64 messages, nobody has reviewed this code, and nothing in it runs in constant time.
Replace it by a library's algorithm and keep the shape.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import secrets
import textwrap
from collections.abc import Iterator

from zaxy.api import InvalidRequest, KeyPair, ProviderContext

TREES, HEIGHT, SIZE = 32, 10, 32  # SIZE is that of a hash, in bytes
SIGNATURE_SIZE = SIZE + TREES * (1 + HEIGHT) * SIZE
PRIVATE, PUBLIC = "FORS EXAMPLE PRIVATE KEY", "FORS EXAMPLE PUBLIC KEY"


class Algorithm:
    def __init__(self, context: ProviderContext) -> None:
        pass

    def generate(self, passphrase: bytes) -> KeyPair:
        seed = secrets.token_bytes(SIZE)
        public_key = _hash(b"roots", *(_tree(seed, tree)[-1][0] for tree in range(TREES)))
        return KeyPair(_pem(PRIVATE, _sealed(seed, passphrase)), _pem(PUBLIC, public_key), public_key)

    def public_key(self, pem: bytes) -> bytes:
        return _unwrapped(PUBLIC, pem, SIZE)

    def sign(self, private_pem: bytes, passphrase: bytes, message: bytes) -> bytes:
        seed = _opened(_unwrapped(PRIVATE, private_pem, 3 * SIZE), passphrase)
        trees = [_tree(seed, tree) for tree in range(TREES)]
        public_key = _hash(b"roots", *(levels[-1][0] for levels in trees))
        nonce = hmac.digest(seed, message, "sha256")
        parts = [nonce]
        for tree, leaf in enumerate(_leaves(nonce, public_key, message)):
            parts.append(_secret(seed, tree, leaf))
            parts.extend(trees[tree][level][leaf >> level ^ 1] for level in range(HEIGHT))
        return b"".join(parts)

    def verify(self, public_key: bytes, message: bytes, signature: bytes) -> bool:
        if len(public_key) != SIZE or len(signature) != SIGNATURE_SIZE:
            return False
        parts = [signature[i : i + SIZE] for i in range(0, SIGNATURE_SIZE, SIZE)]
        roots = []
        for tree, leaf in enumerate(_leaves(parts[0], public_key, message)):
            secret, *path = parts[1 + tree * (1 + HEIGHT) :][: 1 + HEIGHT]
            node = _hash(b"leaf", secret)
            for level, sibling in enumerate(path):
                node = _hash(b"node", sibling, node) if leaf >> level & 1 else _hash(b"node", node, sibling)
            roots.append(node)
        return hmac.compare_digest(_hash(b"roots", *roots), public_key)


def _hash(purpose: bytes, *parts: bytes) -> bytes:
    return hashlib.sha256(b"".join((purpose, b":", *parts))).digest()


def _secret(seed: bytes, tree: int, leaf: int) -> bytes:
    return _hash(b"secret", seed, b"%d/%d" % (tree, leaf))


def _tree(seed: bytes, tree: int) -> list[list[bytes]]:
    """All levels of a Merkle tree, the leaves first, the root last."""
    levels = [[_hash(b"leaf", _secret(seed, tree, leaf)) for leaf in range(1 << HEIGHT)]]
    while len(levels[-1]) > 1:
        below = levels[-1]
        levels.append([_hash(b"node", below[i], below[i + 1]) for i in range(0, len(below), 2)])
    return levels


def _leaves(nonce: bytes, public_key: bytes, message: bytes) -> Iterator[int]:
    """Which leaf of each tree stands for the message: HEIGHT bits of its digest each."""
    digest = int.from_bytes(hashlib.sha512(nonce + public_key + message).digest())
    return (digest >> tree * HEIGHT & (1 << HEIGHT) - 1 for tree in range(TREES))


def _sealed(seed: bytes, passphrase: bytes) -> bytes:
    """Salt, veiled seed, and a tag that gives a wrong passphrase away. The empty passphrase protects nothing."""
    salt = secrets.token_bytes(SIZE)
    veiled, key = _veil(seed, passphrase, salt)
    return salt + veiled + hmac.digest(key, veiled, "sha256")


def _opened(sealed: bytes, passphrase: bytes) -> bytes:
    salt, veiled, tag = sealed[:SIZE], sealed[SIZE : 2 * SIZE], sealed[2 * SIZE :]
    seed, key = _veil(veiled, passphrase, salt)
    if hmac.compare_digest(hmac.digest(key, veiled, "sha256"), tag):
        return seed
    raise InvalidRequest("the passphrase does not open the key", "Give the one it was made with.")


def _veil(seed: bytes, passphrase: bytes, salt: bytes) -> tuple[bytes, bytes]:
    """The seed veiled, or a veiled one unveiled, and the key of its tag."""
    both = hashlib.scrypt(passphrase, salt=salt, n=1 << 14, r=8, p=1, dklen=2 * SIZE)
    return bytes(a ^ b for a, b in zip(seed, both[:SIZE], strict=True)), both[SIZE:]


def _pem(label: str, content: bytes) -> bytes:
    lines = textwrap.wrap(base64.b64encode(content).decode(), 64)
    return "\n".join((f"-----BEGIN {label}-----", *lines, f"-----END {label}-----", "")).encode()


def _unwrapped(label: str, pem: bytes, size: int) -> bytes:
    head, foot = f"-----BEGIN {label}-----".encode(), f"-----END {label}-----".encode()
    text = pem.strip()
    if text.startswith(head) and text.endswith(foot):
        try:
            content = base64.b64decode(b"".join(text[len(head) : -len(foot)].split()), validate=True)
        except ValueError:
            content = b""
        if len(content) == size:
            return content
    raise InvalidRequest(f"that is not a PEM of a {label}", "Pass a file that this algorithm has made.")
