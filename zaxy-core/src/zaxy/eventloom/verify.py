"""Verifies a whole log: each line's bytes, digest and hash, the chain, the batches, and the record of erasures."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from zaxy.api.models import Damage, Report
from zaxy.eventloom.bulk import prove
from zaxy.eventloom.erase import ERASED
from zaxy.eventloom.grammar import fault_of
from zaxy.eventloom.record import Damaged, NewerFormat

if TYPE_CHECKING:
    from zaxy.eventloom.citation import Citation
    from zaxy.eventloom.reader import Reader

PROGRESS_EVENTS = 4096
REPLACED = "it is not the event that the citation names: the history was replaced"


def verify(reader: Reader, progress: Callable[[int, int], None] | None = None, since: Citation | None = None) -> Report:
    """Read the log once, from the first line to the durable end. `since` is an event that it must hold."""
    chain = _Chain(reader.session)
    damage, log_at_fault = None, True
    for count, (offset, data) in enumerate(reader.lines()):
        try:
            chain.take(prove(data), offset)
        except (Damaged, NewerFormat) as error:
            damage = Damage(chain.seq + 1, offset, str(error))
            # Lines after one of a later format are of that format too: this version would not have appended there.
            log_at_fault = not all(_is_newer(line) for _, line in reader.lines(offset))
            break
        if since is not None and chain.seq == since.seq and not since.names(chain.hash or ""):
            damage = Damage(since.seq, offset, REPLACED)
            log_at_fault = False
            break
        if progress and not count % PROGRESS_EVENTS:
            progress(offset, reader.size)
    damage = damage or chain.unexplained() or chain.first_malformed()
    if damage is None and since is not None and chain.seq < since.seq:
        damage = Damage(chain.seq + 1, reader.size, f"the log was cut back: it ends before event {since.seq}")
        log_at_fault = False
    if progress:
        progress(reader.size, reader.size)
    return Report(
        session=reader.session,
        events=chain.seq,
        head=chain.hash or "",
        erased=len(chain.erased),
        torn=reader.tail.torn,
        damage=damage,
        log_at_fault=damage is not None and log_at_fault,
        malformed=tuple(chain.malformed),
    )


def verify_lines(
    session: str,
    lines: Iterable[bytes],
    *,
    progress: Callable[[int, int], None] | None = None,
    since: Citation | None = None,
    size: int = 0,
) -> Report:
    """Verify the lines of a whole log, from the first on, wherever they are kept. `size`: how many there are."""
    chain = _Chain(session)
    damage = None
    for count, data in enumerate(lines):
        try:
            chain.take(prove(data), 0)
        except (Damaged, NewerFormat) as error:
            damage = Damage(chain.seq + 1, 0, str(error))
            break
        if since is not None and chain.seq == since.seq and not since.names(chain.hash or ""):
            damage = Damage(since.seq, 0, REPLACED)
            break
        if progress and not count % PROGRESS_EVENTS:
            progress(count, size)
    damage = damage or chain.unexplained() or chain.first_malformed()
    if damage is None and since is not None and chain.seq < since.seq:
        damage = Damage(chain.seq + 1, 0, f"the log was cut back: it ends before event {since.seq}")
    if progress:
        progress(1, 1)
    return Report(session, chain.seq, chain.hash or "", len(chain.erased), 0, damage, malformed=tuple(chain.malformed))


def _is_newer(data: bytes) -> bool:
    try:
        prove(data)
    except NewerFormat:
        return True
    except Damaged:
        pass
    return False


class _Chain:
    """The state of the chain after the lines so far."""

    def __init__(self, session: str) -> None:
        self.session = session
        self.seq = 0
        self.hash: str | None = None
        self.erased: dict[int, tuple[str, int]] = {}
        self.malformed: list[Damage] = []
        """Events that break the grammar. The chain goes on through them."""
        self._on_record: set[tuple[Any, Any]] = set()
        self._batch: dict[str, Any] | None = None

    def take(self, record: dict[str, Any], offset: int) -> None:
        if record["seq"] != self.seq + 1:
            raise Damaged(f"it has the number {record['seq']}")
        if record["prev"] != self.hash:
            raise Damaged("it does not continue the event before it")
        if record["thread"] != self.session:
            raise Damaged(f"it belongs to the session {record['thread']!r:.80}")
        if "batch" in record or self._batch is not None:
            self._follow_batch(record.get("batch"))
        if "payload" not in record:
            self.erased[record["seq"]] = (record["hash"], offset)
        elif record["type"] == ERASED:
            named = (record["payload"].get("seq"), record["payload"].get("hash"))
            if (type(named[0]), type(named[1])) == (int, str):
                self._on_record.add(named)
        if reason := fault_of(record):
            self.malformed.append(Damage(record["seq"], offset, reason))
        self.seq, self.hash = record["seq"], record["hash"]

    def first_malformed(self) -> Damage | None:
        return self.malformed[0] if self.malformed else None

    def _follow_batch(self, batch: dict[str, Any] | None) -> None:
        open_batch = self._batch is not None and self._batch["index"] + 1 < self._batch["count"]
        if open_batch and (batch is None or self._batch is None or batch != {**self._batch, "index": batch["index"]}):
            raise Damaged("the batch before it is not complete")
        expected = self._batch["index"] + 1 if open_batch and self._batch else 0
        if batch is not None and batch["index"] != expected:
            raise Damaged(f"it is number {batch['index']} of its batch, and {expected} was expected")
        self._batch = batch

    def unexplained(self) -> Damage | None:
        """The first event whose payload is missing without an erasure on record."""
        for seq, (hash_, offset) in sorted(self.erased.items()):
            if (seq, hash_) not in self._on_record:
                return Damage(seq, offset, "its payload is missing, and no erasure of it is on record")
        return None
