"""What leaving costs: exporting, signing, verifying and disclosing, each against its baseline in the same run.

Measurements are interleaved and medians of CPU time compared, so that a busy machine slows both sides alike.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import ExitStack
from hashlib import sha256
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory, TemporaryFile
from typing import Any, BinaryIO, NamedTuple

import orjson

sys.path.insert(0, str(Path(__file__).parents[1]))
from bench.log import SESSION, Row, alternate, fill, print_table, shown
from zaxy.eventloom.bulk import encode_quickly
from zaxy.memory import Memory
from zaxy.workspace import find_workspace
from zaxy_export.bundle import Signer, write_bundle
from zaxy_export.disclosure import disclose
from zaxy_export.entries import MAX_ENTRY_DEPTH
from zaxy_export.projection import project
from zaxy_export.selector import EVERYTHING, Selector
from zaxy_export.signing import KeyFiles, generate, signer_of
from zaxy_export.verification import parts_of_file, verify


class Sizes(NamedTuple):
    events: int
    """Each gives two entries: itself, and the fact that it records."""
    entries: int
    """Of the bundle of which half is disclosed: its events."""
    rounds: int


FULL = Sizes(events=20_000, entries=100_000, rounds=5)
QUICK = Sizes(events=5_000, entries=10_000, rounds=5)


class Nowhere(BytesIO):
    """Takes everything and keeps nothing: the disk is not what is measured."""

    def write(self, data: Any) -> int:
        return len(data)


def entries_of(memory: Memory, selector: Selector = EVERYTHING) -> Iterator[bytes]:
    return project(memory, SESSION, selector=selector.checked())


def exporting(folder: Path, sizes: Sizes, signer: Signer) -> Iterator[Row]:
    path = fill(folder / "log", sizes.events)
    written: list[int] = []
    with Memory(find_workspace(None, path)) as memory:

        def prove() -> None:
            if not memory.verify(SESSION).ok:
                raise RuntimeError("the log does not verify")

        def export(by: Signer | None, selector: Selector = EVERYTHING) -> None:
            written.append(write_bundle(entries_of(memory, selector), SESSION, by, Nowhere()).entries)

        proving, unsigned, events = alternate(
            sizes.rounds, prove, lambda: export(None), lambda: export(None, Selector(grains=("event",)))
        )
        # What is small beside what it is added to needs more rounds to be seen.
        before, signed = alternate(2 * sizes.rounds, lambda: export(None), lambda: export(signer))
    entries = max(written)
    rates = [sizes.events / cost.cpu * 1000 for cost in (unsigned, proving)]
    figures = f"{rates[0]:,.0f} events/s ({entries / unsigned.cpu * 1000:,.0f} entries/s) against {rates[1]:,.0f}"
    yield Row("export unsigned / verify the log, events/s", rates[0] / rates[1], 0.3, True, figures)
    added = (signed.cpu - before.cpu) / entries * 1000
    figures = f"{signed.cpu:,.0f} ms against {before.cpu:,.0f} for {entries:,} entries: {added:.1f} µs each"
    # A tenth of a short run is less than what a busy machine adds to it now and then.
    judged = sizes is FULL
    yield Row("signing: what it adds to the export", signed.cpu / before.cpu - 1, 0.1, False, figures, judged)
    yield shown("export of events alone", f"{sizes.events / events.cpu * 1000:,.0f} events/s")


def verifying(folder: Path, sizes: Sizes, signer: Signer) -> Iterator[Row]:
    """A bundle of so many entries; the baseline holds its entries' lines in memory."""
    path = fill(folder / "log", sizes.entries // 2)
    with Memory(find_workspace(None, path)) as memory, TemporaryFile() as bundle:
        entries = list(entries_of(memory))
        written = write_bundle(iter(entries), SESSION, signer, bundle)
        if written.entries != sizes.entries:
            raise RuntimeError(f"the bundle has {written.entries} entries")

        def hash_each() -> None:
            for entry in entries:
                sha256(encode_quickly(orjson.loads(entry), MAX_ENTRY_DEPTH)).hexdigest()

        def verify_all() -> None:
            if verify(parts_of_file(bundle)).entries != sizes.entries:
                raise RuntimeError("not all of the bundle was verified")

        def disclose_half() -> None:
            half = Selector(grains=("event",)).checked()
            if disclose(parts_of_file(bundle), half, _emptied(subset)).entries != sizes.entries // 2:
                raise RuntimeError("it is not half of the bundle that was disclosed")

        def verify_half() -> None:
            verify(parts_of_file(subset))

        with TemporaryFile() as subset:
            verified, hashed, disclosed, of_half = alternate(
                sizes.rounds, verify_all, hash_each, disclose_half, verify_half
            )
    rates = [sizes.entries / cost.cpu * 1000 for cost in (verified, hashed)]
    figures = f"{rates[0]:,.0f} entries/s against {rates[1]:,.0f}"
    yield Row("verify / parse, encode and hash each entry", rates[0] / rates[1], 0.5, True, figures)
    name, figures = (
        f"disclose half of {sizes.entries:,} / verify",
        f"{disclosed.cpu:,.0f} ms against {verified.cpu:,.0f}",
    )
    yield Row(name, disclosed.cpu / verified.cpu, 3.0, False, figures)
    yield shown("verify the half that was disclosed", f"{of_half.cpu:,.0f} ms")


def _emptied(file: BinaryIO) -> BinaryIO:
    file.seek(0)
    file.truncate()
    return file


def measure(sizes: Sizes) -> Iterator[Row]:
    for part in (exporting, verifying):
        with TemporaryDirectory() as name, ExitStack() as stack:
            files = KeyFiles(str(Path(name, "k.pem")), str(Path(name, "k.pub")))
            generate(files)
            yield from part(Path(name), sizes, stack.enter_context(signer_of(files)))


if __name__ == "__main__":
    print_table(measure(QUICK if "--quick" in sys.argv[1:] else FULL))
