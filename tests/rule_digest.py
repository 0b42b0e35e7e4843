"""What the built-in rules make of the sample events, as digests that stand beside the rules' version.

`python tests/rule_digest.py` records them again. It refuses where the rules give other rows under the same version.
"""

from __future__ import annotations

import json
import sys
from collections import defaultdict
from dataclasses import asdict
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

from zaxy.api.models import Event
from zaxy.extract import rules

GOLDEN = Path(__file__).parent / "golden"
SAMPLES = GOLDEN / "sample_events.jsonl"
RECORD = GOLDEN / "rule_digest.json"
COMMAND = "hatch run test:python tests/rule_digest.py"
RAISE = "Raise VERSION in zaxy/extract/rules.py, so that followers are rebuilt; then record the new digests:"


class Digest(NamedTuple):
    samples: str
    rows: str


def samples() -> dict[str, list[Event]]:
    """The fixed events by type."""
    found: dict[str, list[Event]] = defaultdict(list)
    for line in SAMPLES.read_text(encoding="utf-8").splitlines():
        sample = json.loads(line)
        time, hash_, before = "2026-06-15T00:00:00.000000Z", "9" * 64, "8" * 64
        event = Event("work", 9, "evt_9", sample["type"], sample["actor"], time, sample["payload"], hash_, before)
        found[event.type].append(event)
    return found


def digests() -> dict[str, Digest]:
    """By type: of its samples, and of the rows that the rules give for them now."""
    return {name: digest_of(events) for name, events in samples().items()}


def digest_of(events: list[Event]) -> Digest:
    rows = [asdict(rules.extract(event)) for event in events]
    for closing in [closing for of_event in rows for closing in of_event["closings"]]:
        assert closing.pop("extractor") == "", "a closing of the built-in rules ends any row"
    return Digest(_digest([asdict(event) for event in events]), _digest(rows))


def recorded() -> tuple[str, dict[str, Digest]]:
    read = json.loads(RECORD.read_text(encoding="utf-8")) if RECORD.exists() else {"version": "", "types": {}}
    return read["version"], {name: Digest(*both.split()) for name, both in read["types"].items()}


def problem() -> str:
    """What is wrong, and what to do about it; empty if the rules are as they were recorded."""
    version, before = recorded()
    now = digests()
    changed = [name for name in now if name in before and _rows_changed(before[name], now[name])]
    if version == rules.VERSION and changed:
        what = f"The rules give other rows for {', '.join(changed)}, and their version is still {version}."
        return f"{what}\n{RAISE}\n{COMMAND}"
    if (version, before) != (rules.VERSION, now):
        return f"The version of the rules or a sample event is new. Record the digests again:\n{COMMAND}"
    return ""


def record() -> str:
    """Write the digests down, unless the rules changed and their version did not: then say so."""
    found = problem()
    if RAISE not in found:
        types = {name: " ".join(digest) for name, digest in sorted(digests().items())}
        RECORD.write_text(json.dumps({"version": rules.VERSION, "types": types}, indent=1) + "\n", encoding="utf-8")
        return ""
    return found


def _rows_changed(before: Digest, now: Digest) -> bool:
    return before.samples == now.samples and before.rows != now.rows


def _digest(value: Any) -> str:
    return sha256(json.dumps(value, sort_keys=True, ensure_ascii=True).encode()).hexdigest()[:16]


if __name__ == "__main__":
    sys.exit(record() or 0)
