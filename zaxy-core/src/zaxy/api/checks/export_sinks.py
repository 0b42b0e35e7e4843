"""Checks of `export_sinks`."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass

from zaxy.api.checks import Case, Workbench, check, expect, expect_refusal
from zaxy.api.checks.shape import check_shape
from zaxy.api.models import Parcel
from zaxy.atomic_write import atomic_write

POINT = "export_sinks"


@dataclass(frozen=True)
class ExportSinkCase(Case):
    destination: str
    """Where a delivery should succeed."""
    forbidden: str
    """A destination that must be refused."""
    received: Callable[[], bytes | None]
    """What has arrived at the destination; None as long as nothing has."""


def parcel(bench: Workbench, content: bytes) -> Parcel:
    path = bench.scratch / "bundle.json"
    atomic_write(str(path), content)
    return Parcel(path, len(content), hashlib.sha256(content).hexdigest())


check_shape(POINT)


@check(POINT)
def it_delivers_the_very_bytes(case: ExportSinkCase, bench: Workbench) -> None:
    """Read the parcel in binary mode and change nothing: receivers verify a hash over these bytes."""
    content = b'{"entries":["\xc3\xa9\r\n"]}\n' * 5000
    bench.make(case).deliver(parcel(bench, content), case.destination, "")
    arrived = case.received()
    expect(arrived == content, f"{len(content)} bytes were sent and {len(arrived or b'')} other ones arrived")


@check(POINT)
def its_receipt_tells_what_was_delivered(case: ExportSinkCase, bench: Workbench) -> None:
    """Return Receipt(destination, size, sha256) with the values of the parcel that was delivered."""
    sent = parcel(bench, b'{"entries":[]}')
    receipt = bench.make(case).deliver(sent, case.destination, "")
    expect(
        (receipt.size, receipt.sha256) == (sent.size, sent.sha256),
        f"the parcel was {sent.size} bytes, sha256 {sent.sha256}; the receipt says {receipt}",
    )


@check(POINT)
def it_accepts_a_good_destination(case: ExportSinkCase, bench: Workbench) -> None:
    """`check` must return for a destination that `deliver` will take, and must deliver nothing itself."""
    bench.make(case).check(case.destination)
    expect(case.received() is None, "check() delivered something")


@check(POINT)
def it_refuses_a_forbidden_destination_before_any_work(case: ExportSinkCase, bench: Workbench) -> None:
    """Raise ZaxyError in `check`, and again in `deliver`: not everybody calls `check` first."""
    sink = bench.make(case)
    expect_refusal(lambda: sink.check(case.forbidden), f"checking {case.forbidden!r}")
    expect_refusal(lambda: sink.deliver(parcel(bench, b"{}"), case.forbidden, ""), f"delivery to {case.forbidden!r}")


@check(POINT)
def a_second_delivery_replaces_the_first_whole(case: ExportSinkCase, bench: Workbench) -> None:
    """Do not append, and do not leave the tail of a longer bundle behind a shorter one."""
    sink = bench.make(case)
    sink.deliver(parcel(bench, b"the first and longer bundle"), case.destination, "")
    sink.deliver(parcel(bench, b"the second"), case.destination, "")
    expect(case.received() == b"the second", f"after two deliveries there is {case.received()!r}")


@check(POINT)
def it_leaves_the_parcel_where_it_is(case: ExportSinkCase, bench: Workbench) -> None:
    """Copy the parcel's file, do not move it: the core may deliver it elsewhere too, or try again."""
    sent = parcel(bench, b"{}")
    bench.make(case).deliver(sent, case.destination, "")
    expect(sent.path.is_file() and sent.path.read_bytes() == b"{}", "the parcel's file is gone or was changed")
