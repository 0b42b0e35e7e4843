"""The built-in sink: a file, replaced in one step."""

from __future__ import annotations

import contextlib
import os
import shutil
from pathlib import Path

from zaxy.api.models import Parcel, Receipt
from zaxy.api.provider import ProviderContext
from zaxy.errors import ZaxyError


class FileSink:
    def __init__(self, context: ProviderContext) -> None:
        pass

    def check(self, destination: str) -> None:
        path = Path(destination)
        if not destination or "\0" in destination:
            raise ZaxyError("invalid_request", "the destination is not a path", "Name the file to write.")
        if path.is_dir():
            raise ZaxyError("invalid_request", f"{destination} is a folder", "Name a file in it.")
        if not path.parent.is_dir():
            raise ZaxyError("not_found", f"the folder {path.parent} is not there", "Make it first, or name another.")

    def deliver(self, parcel: Parcel, destination: str, token: str) -> Receipt:
        self.check(destination)
        partial = Path(f"{destination}.{os.getpid()}.partial")
        try:
            with open(partial, "xb") as out, open(parcel.path, "rb") as bundle:
                shutil.copyfileobj(bundle, out, 1 << 20)
                out.flush()
                os.fsync(out.fileno())
            os.replace(partial, destination)
        except OSError as error:
            with contextlib.suppress(OSError):
                partial.unlink()
            raise ZaxyError(
                "unavailable",
                f"{destination} cannot be written: {error.strerror}",
                "Nothing was changed; try another file.",
            ) from None
        return Receipt(destination, parcel.size, parcel.sha256)
