"""Delivers exported bundles into a folder, under the name that the destination gives."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from zaxy.api import InvalidRequest, Parcel, ProviderContext, Receipt


class Sink:
    def __init__(self, context: ProviderContext) -> None:
        self._folder = context.state_dir

    def check(self, destination: str) -> None:
        if not destination or destination != Path(destination).name:
            raise InvalidRequest(f"{destination!r} is not a file name", "Name a file, without a folder.")

    def deliver(self, parcel: Parcel, destination: str, token: str) -> Receipt:
        self.check(destination)
        partial = self._folder / f".{destination}.partial"
        shutil.copyfile(parcel.path, partial)
        os.replace(partial, self._folder / destination)
        return Receipt(destination, parcel.size, parcel.sha256)
