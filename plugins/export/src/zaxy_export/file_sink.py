"""The sink `file`: a file, replaced in one step."""

from __future__ import annotations

import shutil

from zaxy.api import Parcel, ProviderContext, Receipt
from zaxy_export.delivery import check_destination, new_file


class FileSink:
    def __init__(self, context: ProviderContext) -> None:
        pass

    def check(self, destination: str) -> None:
        check_destination(destination)

    def deliver(self, parcel: Parcel, destination: str, token: str) -> Receipt:
        with new_file(destination) as out, open(parcel.path, "rb") as bundle:
            shutil.copyfileobj(bundle, out, 1 << 20)
        return Receipt(destination, parcel.size, parcel.sha256)
