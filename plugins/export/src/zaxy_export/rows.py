"""The entries of a finished bundle as typed rows, read from its file as they are asked for."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from zaxy.api import ExportRow
from zaxy_export.reading import BundleItem, read_parts


class BundleRows:
    """Can be gone through more than once, as long as the file is there."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def __iter__(self) -> Iterator[ExportRow]:
        with open(self._path, "rb") as file:
            for part in read_parts(file):
                if isinstance(part, BundleItem):
                    yield _row(part.value)


def _row(item: dict[str, Any]) -> ExportRow:
    """An unsigned envelope has entries as they are; other bundles have them as a content, beside an id or a proof."""
    entry, own_id = (item, "") if "grain" in item else (item["content"], item.get("id", ""))
    return ExportRow(
        citation=entry["citation"],
        seq=entry["seq"],
        grain=entry["grain"],
        kind=entry["kind"],
        content=entry["content"],
        source=entry["source"],
        valid_from=entry["valid_from"] or "",
        valid_to=entry["valid_to"] or "",
        id=own_id,
    )
