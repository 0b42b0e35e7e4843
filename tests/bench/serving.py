"""What the MCP server costs over stdio, beside the same work in process and a trivial server on the same SDK.

Its name is not `mcp`, because that would hide the SDK from every script in this folder. All ways are measured in turn,
question by question; each has a copy of the log of its own, so that none follows what another one wrote.
"""

from __future__ import annotations

import json
import os
import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, closing
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import anyio
import orjson
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp_types import CallToolResult

sys.path.insert(0, str(Path(__file__).parents[1]))
from bench.log import PAYLOAD, Row, print_table, shown
from bench.scale import SESSION, p95, questions, write_log
from zaxy.memory import Memory
from zaxy.token_count import count_tokens

TRIVIAL = Path(__file__).with_name("trivial_server.py")
INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}},
}
MARK = "process "


class Sizes(NamedTuple):
    events: tuple[int, ...]
    questions: int
    appends: int
    starts: int


FULL = Sizes(events=(300, 3_000, 10_000), questions=60, appends=10_000, starts=11)
QUICK = Sizes(events=(300, 3_000), questions=20, appends=1_000, starts=7)


# Servers and clients


def environment() -> dict[str, str]:
    """Calls are not limited here: the bench makes more of them in a minute than an agent would."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("ZAXY_", "EVENTLOOM_", "MCP_"))}
    return {**kept, "ZAXY_MAX_CALLS_PER_MINUTE": "1000000"}


OURS = (sys.executable, "-m", "zaxy", "serve")
THEIRS = (sys.executable, "-P", str(TRIVIAL))


class Connected(NamedTuple):
    client: Client
    process: int

    async def call(self, tool: str, given: dict[str, Any]) -> tuple[float, CallToolResult]:
        """Milliseconds, and the answer."""
        began = time.perf_counter()
        result = await self.client.call_tool(tool, given)
        spent = (time.perf_counter() - began) * 1000
        if result.is_error:
            raise RuntimeError(f"{tool} failed: {result.structured_content}")
        return spent, result

    def megabytes(self) -> float:
        """What the server holds now."""
        told = subprocess.run(["ps", "-o", "rss=", "-p", str(self.process)], capture_output=True, text=True, check=True)
        return int(told.stdout) / 1024


@asynccontextmanager
async def connected(command: Sequence[str], folder: Path) -> AsyncIterator[Connected]:
    """A server, told apart by the process that the shell becomes."""
    script = f'echo "{MARK}$$" >&2; exec "$@"'
    parameters = StdioServerParameters(
        command="/bin/sh", args=["-c", script, "sh", *command], env=environment(), cwd=str(folder)
    )
    with open(folder / "server.log", "w+") as told:
        async with Client(stdio_client(parameters, errlog=told)) as client:
            told.seek(0)
            yield Connected(client, int(told.readline().removeprefix(MARK)))


# Starting


def start(command: Sequence[str], folder: Path) -> float:
    """Milliseconds from the spawn until `initialize` is answered."""
    began = time.perf_counter()
    pipe = subprocess.PIPE
    with subprocess.Popen(command, cwd=folder, env=environment(), stdin=pipe, stdout=pipe) as process:
        assert process.stdin and process.stdout
        process.stdin.write(json.dumps(INITIALIZE).encode() + b"\n")
        process.stdin.flush()
        answer = process.stdout.readline()
        spent = (time.perf_counter() - began) * 1000
        process.stdin.close()
    if b'"result"' not in answer:
        raise RuntimeError(f"the server did not answer: {answer[:200]!r}")
    return spent


def starting(folder: Path, starts: int) -> Iterator[Row]:
    ours: list[float] = []
    trivial: list[float] = []
    for turn in range(starts + 1):
        for command, spent in ((OURS, ours), (THEIRS, trivial)):
            took = start(command, folder)
            if turn:  # the first round warms the disk's cache
                spent.append(took)
    middle, theirs = statistics.median(ours), statistics.median(trivial)
    yield Row("spawn to initialize / trivial server", middle / theirs, 1.3, False, f"{middle:.0f} ms, {theirs:.0f}")


# Asking


class Asked(NamedTuple):
    """Milliseconds of each question, in the same order."""

    query: list[float]
    checkout: list[float]
    served_query: list[float]
    served_checkout: list[float]
    trivial: list[float]
    """A reply of as many bytes as the checkout's."""


class Replies(NamedTuple):
    query_bytes: list[int]
    checkout_bytes: list[int]
    checkout_tokens: list[int]


def timed(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return (time.perf_counter() - began) * 1000


async def ask(folder: Path, count: int, most: int) -> tuple[Asked, Replies, float]:
    """In process, over the server and of a trivial one, in turn; and what the server holds at the end."""
    here, there = folder / f"{count}-here", folder / f"{count}-there"
    write_log(here, count)
    shutil.copytree(here, there)
    asked, replies = Asked([], [], [], [], []), Replies([], [], [])
    texts = [f"what did they say about {' '.join(words)}" for words in questions(count)][:most]
    async with AsyncExitStack() as stack:
        memory = stack.enter_context(closing(Memory.open(here)))
        served = await stack.enter_async_context(connected(OURS, there))
        trivial = await stack.enter_async_context(connected(THEIRS, folder))
        await followed(memory, served, texts[0])
        for turn in range(2):
            for text in texts:
                given = {"query": text, "session_id": SESSION}
                spent = [
                    timed(partial(memory.query, text, session=SESSION)),
                    timed(partial(memory.checkout, text, session=SESSION)),
                ]
                took, found = await served.call("memory_query", given)
                spent.append(took)
                took, told = await served.call("memory_checkout", given)
                spent.append(took)
                size = bytes_of(told)
                took, _ = await trivial.call("give", {"bytes": size})
                spent.append(took)
                if turn:  # the first round warms the caches
                    for figures, took in zip(asked, spent, strict=True):
                        figures.append(took)
                    replies.query_bytes.append(bytes_of(found))
                    replies.checkout_bytes.append(size)
                    replies.checkout_tokens.append(tokens_of(told))
        return asked, replies, served.megabytes()


async def followed(memory: Memory, served: Connected, text: str) -> None:
    """Both have read the whole log."""
    if memory.query(text, session=SESSION).warnings:
        raise RuntimeError("not all was followed")
    while (await served.call("memory_query", {"query": text, "session_id": SESSION}))[1].structured_content["warnings"]:
        await anyio.sleep(0.2)


def bytes_of(result: CallToolResult) -> int:
    return len(result.model_dump_json(by_alias=True, exclude_none=True).encode())


def tokens_of(result: CallToolResult) -> int:
    return count_tokens(orjson.dumps(result.structured_content).decode())


def asking(count: int, asked: Asked, replies: Replies, largest: bool) -> Iterator[Row]:
    at = f"at {count:,}"
    query, checkout, _, served, trivial = map(statistics.median, asked)
    for name, spent in asked._asdict().items():
        yield shown(f"{name.replace('_', ' ')} {at}", f"p50 {statistics.median(spent):.2f} ms, p95 {p95(spent):.2f}")
    figures = f"{checkout:.2f} ms against {query:.2f}"
    yield Row(f"checkout {at} / query", checkout / query, 3, False, figures, judged=largest)
    allowed = checkout + 1.5 * trivial
    figures = f"{served:.2f} ms; {checkout:.2f} in process + 1.5 x {trivial:.2f}"
    yield Row(f"checkout over stdio {at} / allowed", served / allowed, 1, False, figures, judged=largest)
    sizes = f"{statistics.median(replies.query_bytes):,.0f} of a query, {max(replies.query_bytes):,} at most"
    sizes += f"; {statistics.median(replies.checkout_bytes):,.0f} of a checkout, {max(replies.checkout_bytes):,}"
    yield shown(f"bytes of a reply {at}", sizes)
    most = max(replies.checkout_tokens)
    yield Row(f"tokens of a default checkout {at}, most", most, 3_000, False, f"of {len(replies.checkout_tokens)}")


# Appending


async def appending(folder: Path, appends: int) -> Iterator[Row]:
    """What a server holds when it has appended all of it, and what a trivial one holds after as many calls."""
    place = folder / "appended"
    place.mkdir()
    ours: list[float] = []
    theirs: list[float] = []
    given = {"event_type": "fact.recorded", "actor": "bench", "payload": PAYLOAD, "session_id": SESSION}
    async with connected(OURS, place) as served, connected(THEIRS, folder) as trivial:
        for number in range(appends):
            took, result = await served.call("memory_append", {**given, "payload": {**PAYLOAD, "key": f"k{number}"}})
            ours.append(took)
            theirs.append((await trivial.call("give", {"bytes": bytes_of(result)}))[0])
        listing = await served.client.list_tools()
        held, theirs_held = served.megabytes(), trivial.megabytes()
    tokens = count_tokens(listing.model_dump_json(by_alias=True, exclude_none=True))
    figures = (
        f"p50 {statistics.median(ours):.2f} ms, p95 {p95(ours):.2f}; a trivial call {statistics.median(theirs):.2f}"
    )
    name = f"MB held after {appends:,} appends / trivial"
    return iter(
        [
            shown("append over stdio, 500 bytes", figures),
            Row(name, held / theirs_held, 2, False, f"{held:.0f} MB against {theirs_held:.0f}"),
            Row("tokens of tools/list, profile core", tokens, 2_500, False, f"{len(listing.tools)} tools"),
        ]
    )


# The table


def measure(sizes: Sizes) -> Iterator[Row]:
    with TemporaryDirectory() as name:
        folder = Path(name)
        yield from starting(folder, sizes.starts)
        for count in sizes.events:
            asked, replies, held = anyio.run(ask, folder, count, sizes.questions)
            yield from asking(count, asked, replies, count == sizes.events[-1])
            yield shown(f"MB held by the server at {count:,}", f"{held:.0f}")
        yield from anyio.run(appending, folder, sizes.appends)


def main() -> None:
    if os.name != "posix":
        sys.exit("bench:mcp asks ps what a server holds, which only POSIX systems have")
    print_table(measure(QUICK if "--quick" in sys.argv[1:] else FULL))


if __name__ == "__main__":
    main()
