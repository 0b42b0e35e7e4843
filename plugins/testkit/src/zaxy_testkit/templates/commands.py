"""A command that counts the latest facts of a session."""

from __future__ import annotations

import argparse
import json

from zaxy.api import CommandCall, ProviderContext


class Commands:
    def __init__(self, context: ProviderContext) -> None:
        pass

    def run(self, call: CommandCall) -> int:
        options = _parser(call.words).parse_args(call.arguments)
        with call.open_memory(options.workspace) as memory:
            facts = memory.latest(options.session_id, options.limit, types=("fact.*",))
        if options.json:
            call.say(json.dumps({"facts": len(facts), "citations": [fact.citation for fact in facts]}))
        else:
            call.say(f"{len(facts)} facts" + "".join(f"\n  {fact.citation}" for fact in facts))
        return 0


def _parser(words: str) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(f"zaxy {words}", description="Count the latest facts of a session.")
    parser.add_argument("--session-id", default="", help="the session; default: the workspace's own")
    parser.add_argument("--limit", type=int, default=10, help="how many at most")
    parser.add_argument("--workspace", help="the project's folder; default: the current one")
    parser.add_argument("--json", action="store_true", help="print JSON")
    return parser
