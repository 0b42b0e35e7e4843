"""Proves to the receiver that a bundle comes from somebody who shares its secret."""

from __future__ import annotations

import hashlib
import hmac
from typing import BinaryIO

from zaxy_webhook.deadline import Deadline

CHUNK = 1 << 16


def signature(secret: bytes, moment: int, body: BinaryIO, deadline: Deadline) -> str:
    """The value of `X-Zaxy-Signature`. The HMAC covers the time too, so that an old request can be recognised."""
    code = hmac.new(secret, f"{moment}.".encode(), hashlib.sha256)
    while chunk := body.read(CHUNK):
        deadline.step()
        code.update(chunk)
    return f"t={moment},v1={code.hexdigest()}"
