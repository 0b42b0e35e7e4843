from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

from zaxy.api import InvalidRequest, Parcel, Receipt
from zaxy_testkit.checks.export_sinks import ExportSinkCase
from zaxy_testkit.templates.export_sinks import Sink

RIGHT = Sink


def case(make: Callable[..., Any], scratch: Path) -> ExportSinkCase:
    arrived = scratch / "state" / "bundle.json"
    return ExportSinkCase(
        make,
        destination="bundle.json",
        forbidden="../outside.json",
        received=lambda: arrived.read_bytes() if arrived.exists() else None,
        received_rows=lambda: arrived.read_text().split() if arrived.exists() else None,
        capabilities=frozenset({"rows"} if make is FirstRows else ()),
    )


class WithoutCheck:
    def __init__(self, context: object) -> None:
        pass

    def deliver(self, parcel: Parcel, destination: str, token: str) -> Receipt:
        raise NotImplementedError


class TextMode(Sink):
    def deliver(self, parcel: Parcel, destination: str, token: str) -> Receipt:
        receipt = super().deliver(parcel, destination, token)
        written = self._folder / destination
        written.write_bytes(written.read_bytes().replace(b"\r\n", b"\n"))
        return receipt


class FirstRows(Sink):
    """Delivers citations, and stops at a limit of its own."""

    def deliver(self, parcel: Parcel, destination: str, token: str) -> Receipt:
        self.check(destination)
        (self._folder / destination).write_text("\n".join(row.citation for row in islice(parcel.rows, 1000)))
        return Receipt(destination, parcel.size, parcel.sha256)


class EmptyReceipt(Sink):
    def deliver(self, parcel: Parcel, destination: str, token: str) -> Receipt:
        super().deliver(parcel, destination, token)
        return Receipt(destination, 0, "")


class EagerCheck(Sink):
    def check(self, destination: str) -> None:
        super().check(destination)
        (self._folder / destination).touch()


class TrustingDeliver(Sink):
    def deliver(self, parcel: Parcel, destination: str, token: str) -> Receipt:
        return super().deliver(parcel, Path(destination).name, token)


class Appending(Sink):
    def deliver(self, parcel: Parcel, destination: str, token: str) -> Receipt:
        self.check(destination)
        with open(self._folder / destination, "ab") as out:
            out.write(parcel.path.read_bytes())
        return Receipt(destination, parcel.size, parcel.sha256)


class Moving(Sink):
    def deliver(self, parcel: Parcel, destination: str, token: str) -> Receipt:
        receipt = super().deliver(parcel, destination, token)
        parcel.path.unlink()
        return receipt


class Talkative(Sink):
    def deliver(self, parcel: Parcel, destination: str, token: str) -> Receipt:
        logging.getLogger(__name__).debug("delivering to %s with %s", destination, token)
        return super().deliver(parcel, destination, token)


class QuotingReceipt(Sink):
    def deliver(self, parcel: Parcel, destination: str, token: str) -> Receipt:
        return replace(super().deliver(parcel, destination, token), detail=f"sent with {token}")


class QuotingRefusal(Sink):
    def deliver(self, parcel: Parcel, destination: str, token: str) -> Receipt:
        try:
            return super().deliver(parcel, destination, token)
        except InvalidRequest as refused:
            raise InvalidRequest(f"{refused.message} (token {token})", refused.remediation) from None


class KeepingTheToken(Sink):
    def deliver(self, parcel: Parcel, destination: str, token: str) -> Receipt:
        (self._folder / "last-token").write_text(token)
        return super().deliver(parcel, destination, token)


LEAKS = (Talkative, QuotingReceipt, QuotingRefusal, KeepingTheToken)

WRONG = {
    "it_has_the_methods_of_its_protocol": WithoutCheck,
    "it_delivers_the_very_bytes": TextMode,
    "it_delivers_every_row": FirstRows,
    "its_receipt_tells_what_was_delivered": EmptyReceipt,
    "it_accepts_a_good_destination": EagerCheck,
    "it_refuses_a_forbidden_destination_before_any_work": TrustingDeliver,
    "a_second_delivery_replaces_the_first_whole": Appending,
    "it_leaves_the_parcel_where_it_is": Moving,
    "its_token_is_seen_by_the_receiver_alone": Talkative,
}
