"""Proof to the receiver that a bundle is from whoever shares the secret with it."""

from __future__ import annotations

import hashlib
import hmac
from typing import BinaryIO

from zaxy_webhook.deadline import Deadline

CHUNK = 1 << 16


def signature(secret: bytes, moment: int, body: BinaryIO, deadline: Deadline) -> str:
    """The value of `X-Zaxy-Signature`: the HMAC covers the moment too, so an old request can be told from a new one."""
    code = hmac.new(secret, f"{moment}.".encode(), hashlib.sha256)
    while chunk := body.read(CHUNK):
        deadline.step()
        code.update(chunk)
    return f"t={moment},v1={code.hexdigest()}"
