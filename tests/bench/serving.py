"""What the MCP server costs over stdio, beside the same work in process and a bare server on the same SDK.

Its name is not `mcp`, because that would hide the SDK from every script in this folder. All ways are measured in turn,
question by question; each has a copy of the log of its own, so that none follows what another one wrote. Reads are
counted in echoes: how often the bare server could have answered with a few bytes meanwhile, which is as true on a slow
machine as on a fast one.
"""

from __future__ import annotations

import json
import os
import shutil
import statistics
import subprocess
import sys
import time
from argparse import ArgumentParser
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
from bench.scale import SESSION, moment_of, p95, questions, write_log
from zaxy.memory import Memory
from zaxy.token_count import count_tokens
from zaxy.user_state import state_folder

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


FULL = Sizes(events=(300, 3_000, 10_000, 30_000, 100_000), questions=60, appends=10_000, starts=11)
QUICK = Sizes(events=(300, 3_000, 10_000), questions=15, appends=400, starts=5)
MILLION = FULL._replace(events=(*FULL.events, 1_000_000))
READS = ("query", "verbatim", "checkout")
OF_THE_PAST = ("query_known_at", "query_at_a_moment")
"""What was known when half of the events were there, and what held at that time by all that is known."""
ECHOES = {
    10_000: {"query": 6, "verbatim": 6, "checkout": 14},
    100_000: {"query": 9, "verbatim": 9, "checkout": 20},
}
"""How many echoes a read may take at a size."""
GROWTH = {30_000: (3_000, 1.5), 1_000_000: (100_000, 1.3)}
"""How many times as many echoes a read may take at a size as at a smaller one."""


# Servers and clients


def environment() -> dict[str, str]:
    """Calls are not limited here: the bench makes more of them in a minute than an agent would."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("ZAXY_", "EVENTLOOM_", "MCP_"))}
    kept["ZAXY_STATE_DIR"] = state_folder()
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
    """Milliseconds of each call, in the same order; what is served goes over stdio."""

    echo: list[float]
    """The bare server, which gives a few bytes, asked before each read: the unit of them all."""
    query: list[float]
    verbatim: list[float]
    checkout: list[float]
    query_known_at: list[float]
    query_at_a_moment: list[float]
    same_bytes: list[float]
    """The bare server, which gives as many bytes as the checkout has."""
    query_in_process: list[float]
    checkout_in_process: list[float]


class Appended(NamedTuple):
    echo: list[float]
    append: list[float]
    query_after_it: list[float]


class Replies(NamedTuple):
    query_bytes: list[int]
    checkout_bytes: list[int]
    checkout_tokens: list[int]


class Measured(NamedTuple):
    asked: Asked
    appended: Appended
    replies: Replies
    megabytes: float
    """What the server holds at the end."""

    def echoes(self, read: str) -> float:
        return statistics.median(getattr(self.asked, read)) / statistics.median(self.asked.echo)


def timed(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return (time.perf_counter() - began) * 1000


def followed(kept: Path, count: int) -> Path:
    """A workspace whose log was followed, made where it is not there yet."""
    place = kept / f"{count}"
    if not place.exists():
        write_log(place, count)
    with closing(Memory.open(place)) as memory:
        if memory.query("anything", session=SESSION).warnings:
            raise RuntimeError("not all was followed")
    return place


async def ask(folder: Path, kept: Path, *, count: int, most: int) -> Measured:
    """Over the server, of a bare one and in process, in turn."""
    here, there = [shutil.copytree(followed(kept, count), folder / f"{count}-{name}") for name in ("here", "there")]
    texts = [f"what did they say about {' '.join(words)}" for words in questions(count)][:most]
    async with AsyncExitStack() as stack:
        memory = stack.enter_context(closing(Memory.open(here)))
        served = await stack.enter_async_context(connected(OURS, there))
        bare = await stack.enter_async_context(connected(THEIRS, folder))
        await up_to_the_log(served, texts[0])
        asked, replies = Asked([], [], [], [], [], [], [], [], []), Replies([], [], [])
        for turn in range(2):
            for text in texts:
                spent = await one_round(memory, served, bare, text=text, half=count // 2, replies=replies)
                if turn:  # the first round warms the caches
                    for figures, took in zip(asked, spent, strict=True):
                        figures.append(took)
        appended = await append_and_ask(served, bare, texts)
        return Measured(asked, appended, replies, served.megabytes())


async def one_round(
    memory: Memory, served: Connected, bare: Connected, *, text: str, half: int, replies: Replies
) -> tuple[float, ...]:
    """One question, asked in every way; of the past after half of the events."""
    given = {"query": text, "session_id": SESSION}
    echoes = [await echo(bare)]
    query, found = await served.call("memory_query", given)
    echoes.append(await echo(bare))
    verbatim, passages = await served.call("memory_verbatim", given)
    for result in (found, passages):
        if not (result.structured_content or {})["results"]:
            raise RuntimeError("a question about words that are there found nothing")
    echoes.append(await echo(bare))
    checkout, reply = await served.call("memory_checkout", given)
    known_at, _ = await served.call("memory_query", {**given, "known_at": half})
    at_a_moment, _ = await served.call("memory_query", {**given, "temporal_filter": moment_of(half)})
    same_bytes, _ = await bare.call("give", {"bytes": bytes_of(reply)})
    replies.query_bytes.append(bytes_of(found))
    replies.checkout_bytes.append(bytes_of(reply))
    replies.checkout_tokens.append(tokens_of(reply))
    query_here = timed(partial(memory.query, text, session=SESSION))
    checkout_here = timed(partial(memory.checkout, text, session=SESSION))
    of_the_past = (known_at, at_a_moment)
    return (statistics.median(echoes), query, verbatim, checkout, *of_the_past, same_bytes, query_here, checkout_here)


async def echo(bare: Connected) -> float:
    return (await bare.call("give", {"bytes": 2}))[0]


async def append_and_ask(served: Connected, bare: Connected, texts: list[str]) -> Appended:
    """What an append costs at this size, and a question that must see it."""
    appended = Appended([], [], [])
    event = {"event_type": "fact.recorded", "actor": "bench", "session_id": SESSION}
    for number, text in enumerate(texts):
        appended.echo.append(await echo(bare))
        payload = {**PAYLOAD, "key": f"appended {number}"}
        appended.append.append((await served.call("memory_append", {**event, "payload": payload}))[0])
        asked = {"query": text, "session_id": SESSION}
        appended.query_after_it.append((await served.call("memory_query", asked))[0])
    return appended


async def up_to_the_log(served: Connected, text: str) -> None:
    """The server has read the whole log."""
    while (await served.call("memory_query", {"query": text, "session_id": SESSION}))[1].structured_content["warnings"]:
        await anyio.sleep(0.2)


def bytes_of(result: CallToolResult) -> int:
    return len(result.model_dump_json(by_alias=True, exclude_none=True).encode())


def tokens_of(result: CallToolResult) -> int:
    return count_tokens(orjson.dumps(result.structured_content).decode())


def asking(count: int, sizes: dict[int, Measured]) -> Iterator[Row]:
    at, here = f"at {count:,}", sizes[count]
    for name, spent in (*here.asked._asdict().items(), *here.appended._asdict().items()):
        if name != "echo" and name not in READS:
            yield shown(f"{name.replace('_', ' ')} {at}", percentiles(spent))
    yield shown(f"echo {at}", percentiles(here.asked.echo))
    for read in READS:
        target = ECHOES.get(count, {}).get(read)
        figures = percentiles(getattr(here.asked, read))
        if target:
            yield Row(f"{read} {at}, echoes", here.echoes(read), target, False, figures)
        else:
            yield shown(f"{read} {at}", f"{figures}; {here.echoes(read):.1f} echoes")
    if count in GROWTH and GROWTH[count][0] in sizes:
        yield from growth(count, sizes)
    yield from checkouts(at, here, count == max(sizes))
    yield shown(f"MB held by the server {at}", f"{here.megabytes:.0f}")


def percentiles(spent: list[float]) -> str:
    return f"p50 {statistics.median(spent):.2f} ms, p95 {p95(spent):.2f}"


def growth(count: int, sizes: dict[int, Measured]) -> Iterator[Row]:
    smaller, target = GROWTH[count]
    for read in (*READS, *OF_THE_PAST):
        now, before = sizes[count].echoes(read), sizes[smaller].echoes(read)
        figures = f"{now:.1f} echoes against {before:.1f}"
        yield Row(f"{read.replace('_', ' ')} at {count:,} / at {smaller:,}", now / before, target, False, figures)


def checkouts(at: str, measured: Measured, largest: bool) -> Iterator[Row]:
    """What a checkout costs beside a query, and what serving adds to it."""
    asked, replies = measured.asked, measured.replies
    query, here, served, same = map(
        statistics.median, (asked.query_in_process, asked.checkout_in_process, asked.checkout, asked.same_bytes)
    )
    yield Row(f"checkout {at} / query, in process", here / query, 3, False, f"{here:.2f} ms against {query:.2f}")
    allowed = here + 1.5 * same
    figures = f"{served:.2f} ms; {here:.2f} in process + 1.5 x {same:.2f}"
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


def measure(sizes: Sizes, kept: str) -> Iterator[Row]:
    with TemporaryDirectory() as name:
        folder = Path(name)
        if sizes.starts:
            yield from starting(folder, sizes.starts)
        measured: dict[int, Measured] = {}
        for count in sizes.events:
            asked = partial(ask, folder, Path(kept or folder / "kept"), count=count, most=sizes.questions)
            measured[count] = anyio.run(asked)
            yield from asking(count, measured)
        if sizes.appends:
            yield from anyio.run(appending, folder, sizes.appends)


def main() -> None:
    if os.name != "posix":
        sys.exit("bench:mcp asks ps what a server holds, which only POSIX systems have")
    parser = ArgumentParser(prog="mcp", description=__doc__)
    sizes = parser.add_mutually_exclusive_group()
    sizes.add_argument(
        "--quick", dest="sizes", action="store_const", const=QUICK, default=FULL, help="up to 10,000 events"
    )
    sizes.add_argument("--million", dest="sizes", action="store_const", const=MILLION, help="up to 1,000,000 events")
    sizes.add_argument("--events", type=int, nargs="+", metavar="COUNT", help="reads with so many events, nothing else")
    parser.add_argument("--keep", default="", metavar="FOLDER", help="make the workspaces there, once")
    options = parser.parse_args()
    alone = FULL._replace(events=tuple(options.events or ()), appends=0, starts=0)
    print_table(measure(alone if options.events else options.sizes, options.keep))


if __name__ == "__main__":
    main()
