"""Small files that are believed only as this user's own Zaxy wrote them: what was worked out, and is worked out again
where such a file is missing, was changed, or came from elsewhere."""

from __future__ import annotations

import os
from hashlib import blake2b
from hmac import compare_digest

from zaxy.atomic_write import atomic_file
from zaxy.security.paths import is_own_file
from zaxy.security.small_files import open_named_file
from zaxy.user_state import user_key

SEAL_BYTES = 32
MAX_BYTES = 64 << 20


def write_sealed(path: str, data: bytes, about: str) -> None:
    """Write a file whole or not at all. Only `read_sealed` with the same `about` gives it back."""
    with atomic_file(path) as file:
        file.write(_seal(data, about))
        file.write(data)


def read_sealed(path: str, about: str) -> bytes | None:
    """What `write_sealed` wrote here about the same thing; None for a file that is not there, was changed, or is not
    this user's."""
    try:
        if not is_own_file(path) or os.stat(path).st_size > MAX_BYTES:
            return None
        with open_named_file(path) as file:
            kept = file.read()
    except (OSError, ValueError):
        return None
    seal, data = kept[:SEAL_BYTES], kept[SEAL_BYTES:]
    return data if compare_digest(seal, _seal(data, about)) else None


def _seal(data: bytes, about: str) -> bytes:
    keyed = blake2b(about.encode(), key=user_key(), digest_size=SEAL_BYTES).digest()
    return blake2b(data, key=keyed, digest_size=SEAL_BYTES).digest()
