"""Delivers bundles: to a file that is complete or absent, or to a sink."""

from __future__ import annotations

import os
import shutil
import stat
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory, TemporaryFile
from typing import BinaryIO

from zaxy.api import (
    ExportSink,
    InvalidRequest,
    NotFound,
    Parcel,
    Receipt,
    Unavailable,
    atomic_file,
    make_folder_for,
    pass_on,
)
from zaxy_export.bundle import Written
from zaxy_export.rows import BundleRows
from zaxy_export.signing import opened

STANDARD = "-"
"""In the place of a file: what is piped in, or what goes on to the next program."""


@contextmanager
def bundle_in(path: str) -> Iterator[BinaryIO]:
    """A bundle that the caller named, open for reading."""
    if path != STANDARD:
        with opened(path) as file:
            yield file
        return
    with TemporaryFile(prefix="zaxy-export-") as kept:  # a bundle is read more than once
        if sys.stdin is not None:  # a closed one has nothing
            shutil.copyfileobj(sys.stdin.buffer, kept)
        yield kept


@contextmanager
def bundle_out(path: str) -> Iterator[BinaryIO]:
    """Where a bundle is to be written. Nothing of it is there before it is complete, on standard output too."""
    if path != STANDARD:
        with new_file(make_folder_for(path)) as file:
            yield file
        return
    with TemporaryFile(prefix="zaxy-export-") as kept:
        yield kept
        kept.seek(0)
        pass_on(kept)


@contextmanager
def new_file(destination: str | Path) -> Iterator[BinaryIO]:
    """A file that only its owner may read. It appears in one step when it is complete; a failure leaves nothing."""
    check_destination(str(destination))
    try:
        with atomic_file(str(destination)) as file:
            yield file
    except OSError as error:
        raise Unavailable(
            f"{destination} cannot be written: {error.strerror}",
            "Nothing was changed. Try another file.",
        ) from None


def check_destination(destination: str) -> None:
    path = Path(destination)
    if not destination or "\0" in destination:
        raise InvalidRequest("the destination is not a path", "Name the file to write.")
    if path.is_dir():
        raise InvalidRequest(f"{destination} is a folder", "Name a file in it.")
    if not path.parent.is_dir():
        raise NotFound(f"there is no folder {path.parent}", "Make it first, or name another one.")
    if os.path.lexists(path) and not stat.S_ISREG(os.lstat(path).st_mode):  # replacing it would destroy /dev/null
        raise InvalidRequest(f"{destination} is not an ordinary file", "Name an ordinary file, or a new one.")


def push(
    sink: ExportSink, *, destination: str, token: str, build: Callable[[BinaryIO], Written]
) -> tuple[Written, Receipt]:
    """Build a bundle and hand it to a sink. The sink refuses a bad destination before anything is built."""
    sink.check(destination)
    with TemporaryDirectory(prefix="zaxy-export-") as folder:
        path = Path(folder, "bundle.json")
        with new_file(path) as file:
            written = build(file)
        parcel = Parcel(path, written.size, written.sha256, rows=BundleRows(path), manifest=written.header)
        receipt = sink.deliver(parcel, destination, token)
    return written, receipt
