"""`zaxy types`: the known types of events."""

from __future__ import annotations

import json

from zaxy.api import JSON, KNOWN_TYPES, hot_command, say


@hot_command(JSON)
def types(*, as_json: bool = False) -> None:
    if as_json:
        rows = [{"type": name, "label": label, "summary": sentence} for name, (label, sentence) in KNOWN_TYPES.items()]
        say(json.dumps({"types": rows}, indent=2, ensure_ascii=False))
        return
    from zaxy.api import print_page, rows_page

    print_page(rows_page, {name: sentence for name, (_, sentence) in KNOWN_TYPES.items()})
