"""Checks of `export_sinks`."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from zaxy.api.models import ExportRow, Parcel
from zaxy.atomic_write import atomic_write
from zaxy_testkit.checks import Case, Workbench, check, expect, expect_refusal
from zaxy_testkit.checks.overheard import listening
from zaxy_testkit.checks.shape import check_shape

POINT = "export_sinks"
TOKEN = "zq7-token-of-the-check-4f9c21"


def nothing_yet() -> None:
    """Nothing has arrived."""


@dataclass(frozen=True)
class ExportSinkCase(Case):
    destination: str
    """Where a delivery should succeed."""
    forbidden: str
    """A destination that must be refused."""
    received: Callable[[], bytes | None] = nothing_yet
    """What has arrived at the destination; None as long as nothing has."""
    received_rows: Callable[[], Sequence[str] | None] = nothing_yet
    """The same of a sink with the capability `rows`: the citations of the rows, in their order."""

    def expect_arrived(self, sent: Parcel) -> None:
        """Whether what is at the destination is the parcel, and nothing else."""
        if "rows" in self.capabilities:
            citations, arrived = [row.citation for row in sent.rows], list(self.received_rows() or ())
            expect(arrived == citations, f"the rows of {citations} were sent, and there are those of {arrived}")
        else:
            content, there = sent.path.read_bytes(), self.received()
            expect(there == content, f"{len(content)} bytes were sent, and {len(there or b'')} other ones are there")


def parcel(bench: Workbench, content: bytes, rows: int = 1) -> Parcel:
    """A parcel of these bytes, and of a number of rows: a sink delivers either."""
    path = bench.scratch / "bundle.json"
    atomic_write(str(path), content)
    manifest = {"version": "zaxy.export.unsigned.v1", "session_id": "asked", "signed": False}
    made = tuple(_row(number) for number in range(1, rows + 1))
    return Parcel(path, len(content), hashlib.sha256(content).hexdigest(), rows=made, manifest=manifest)


def _row(seq: int) -> ExportRow:
    said = {"actor": "keeper", "payload": {"text": f"remark {seq} \u00e9\r\n"}, "thread": "asked", "type": "note.taken"}
    citation = f"eventloom://asked/events/{seq}#{seq:064x}"
    return ExportRow(
        citation, seq, "event", "note.taken", said, "eventloom", f"2026-06-15T00:{seq // 60 % 60:02}:00.000000Z"
    )


check_shape(POINT)


@check(POINT)
def it_delivers_the_very_bytes(case: ExportSinkCase, bench: Workbench) -> None:
    """Read the parcel in binary mode and change nothing: receivers verify a hash over these bytes."""
    sent = parcel(bench, b'{"entries":["\xc3\xa9\r\n"]}\n' * 5000)
    bench.make(case).deliver(sent, case.destination, "")
    case.expect_arrived(sent)


@check(POINT, needs="rows")
def it_delivers_every_row(case: ExportSinkCase, bench: Workbench) -> None:
    """Go through `parcel.rows` to its end, however many there are, and keep their order."""
    sent = parcel(bench, b"{}", rows=5000)
    bench.make(case).deliver(sent, case.destination, "")
    case.expect_arrived(sent)


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
    expect(case.received() is None and not case.received_rows(), "check() delivered something")


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
    sink.deliver(parcel(bench, b"the first and longer bundle", rows=7), case.destination, "")
    second = parcel(bench, b"the second", rows=2)
    sink.deliver(second, case.destination, "")
    case.expect_arrived(second)


@check(POINT)
def it_leaves_the_parcel_where_it_is(case: ExportSinkCase, bench: Workbench) -> None:
    """Copy the parcel's file, do not move it: the core may deliver it elsewhere too, or try again."""
    sent = parcel(bench, b"{}")
    bench.make(case).deliver(sent, case.destination, "")
    expect(sent.path.is_file() and sent.path.read_bytes() == b"{}", "the parcel's file is gone or was changed")


@check(POINT)
def its_token_is_seen_by_the_receiver_alone(case: ExportSinkCase, bench: Workbench) -> None:
    """Keep the token out of receipts, errors, warnings, logs, output and your own files: others read all of those."""
    sink = bench.make(case)
    with listening() as heard:
        receipt = sink.deliver(parcel(bench, b"{}"), case.destination, TOKEN)
        refusal = expect_refusal(
            lambda: sink.deliver(parcel(bench, b"{}"), case.forbidden, TOKEN), f"delivery to {case.forbidden!r}"
        )
    kept = {
        file.name: file.read_bytes().decode(errors="replace")
        for file in sorted((bench.scratch / "state").rglob("*"))
        if file.is_file()
    }
    said = {
        "the receipt": repr(receipt),
        "the refusal": f"{refusal.message} {refusal.remediation}",
        "a warning": repr(bench.warnings),
        "the log": heard.log,
        "stdout": heard.stdout,
        "stderr": heard.stderr,
        **kept,
    }
    leaks = [place for place, text in said.items() if TOKEN in text]
    expect(not leaks, f"the token must be seen by the receiver alone, and it is also in {', '.join(leaks)}")
