"""What the fault tests share: events that can be told apart, children that are killed, and what must hold afterwards.

Functions whose first line says that they run in a child are started by `in_child`, in a process of their own.
"""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from zaxy.errors import ZaxyError
from zaxy.eventloom.admission import admit, checked_entry
from zaxy.eventloom.loom import Eventloom
from zaxy.eventloom.record import Entry, Line

SESSION = "faults"
TESTS = Path(__file__).parents[1]
SEED = int(os.environ.get("ZAXY_FAULT_SEED", "20260615"))
KILLS = int(os.environ.get("ZAXY_FAULT_KILLS", "1000"))
"""How many processes are killed in a run of all the tests in `test_kills.py` together."""
WRITERS = 8
CHECKS = 100
AIMED = 4
"""So many kills of each round are aimed at the middle of a large write."""
LARGE = 1_000_000
PATIENCE = 25.0
"""Seconds that the next append after a kill may take: a lock that outlived its holder would be waited for longer."""


def event(tag: str, size: int = 0, key: str = "") -> Entry:
    """An event that can be found again by its tag, with so many bytes more."""
    return admit("fault.rehearsed", "tester", {"tag": tag, "filling": "x" * size}, idempotency_key=key)


def large_event(tag: str) -> Entry:
    """The same of a megabyte, which is known to hold no secret: looking for one would take longer than the write."""
    return checked_entry("fault.rehearsed", "tester", {"tag": tag, "filling": "x" * LARGE})


def tag_of(line: Line) -> str:
    payload = line.record.get("payload", {})
    return str(payload.get("tag") or payload.get("command") or "")


def in_child(function: Callable[..., None], *arguments: object, under: Sequence[str] = (), timeout: float = 120) -> str:
    """Run a function of a module in `tests/` in a process of its own; what it prints."""
    done = subprocess.run(
        [*under, *child_command(function, *arguments)],
        env=child_environment(),
        capture_output=True,
        text=True,
        timeout=timeout,
    )
    assert done.returncode == 0, f"{function.__name__} ended with {done.returncode}:\n{done.stdout}{done.stderr}"
    return done.stdout


def child_command(function: Callable[..., None], *arguments: object) -> list[str]:
    program = (
        f"import json, sys; from {function.__module__} import {function.__name__} as run; run(*json.loads(sys.argv[1]))"
    )
    return [sys.executable, "-c", program, json.dumps(arguments)]


def child_environment() -> dict[str, str]:
    places = (str(TESTS), str(TESTS.parent), os.environ.get("PYTHONPATH", ""))
    return {**os.environ, "PYTHONPATH": os.pathsep.join(places)}


def fork(function: Callable[[], None], errors: str) -> int:
    """The pid of a fork that runs the function; an exception goes to the file `errors`."""
    pid = os.fork()
    if pid:
        return pid
    try:
        function()
    except BaseException as error:
        with open(errors, "a") as file:
            file.write(f"{type(error).__name__}: {error}\n")
        os._exit(1)
    os._exit(0)


def kill(pid: int) -> bool:
    """Whether the child was still alive to be killed."""
    os.kill(pid, signal.SIGKILL)
    _, status = os.waitpid(pid, 0)
    return os.WIFSIGNALED(status)


# Acknowledgements


class Acknowledged(NamedTuple):
    seq: int
    hash: str
    tag: str


def acknowledge(fd: int, lines: Sequence[Line]) -> None:
    """Note that an append has returned; the writer may be killed while it does this."""
    os.write(fd, "".join(f"{line.seq} {line.hash} {tag_of(line)}\n" for line in lines).encode())


def acknowledged(folder: str) -> Iterator[Acknowledged]:
    """What all writers have noted; the last line of a writer that was killed may be torn."""
    for path in sorted(Path(folder).iterdir()):
        *whole, _torn = path.read_text().split("\n")
        for line in whole:
            seq, hash_, tag = line.split(" ")
            yield Acknowledged(int(seq), hash_, tag)


def open_notes(folder: str, name: str) -> int:
    return os.open(os.path.join(folder, name), os.O_CREAT | os.O_WRONLY | os.O_APPEND, 0o600)


def assert_nothing_was_lost(folder: str, acks: Sequence[Acknowledged]) -> list[Line]:
    """The chain holds, every acknowledged event is in its place, and no event is there twice; all events."""
    loom = Eventloom(folder)
    report = loom.verify(SESSION)
    assert report.ok, report
    lines = list(loom.read(SESSION))
    loom.close()
    assert [line.seq for line in lines] == list(range(1, len(lines) + 1))
    assert report.events == len(lines)
    lost = [ack for ack in acks if ack.seq > len(lines) or lines[ack.seq - 1].hash != ack.hash]
    assert not lost, f"{len(lost)} acknowledged events are lost, such as {lost[0]}"
    tags = [tag for line in lines if (tag := tag_of(line))]
    assert len(set(tags)) == len(tags), "an event was written twice"
    return lines


# Writers that are killed


def write_until_killed(folder: str, acks: str, number: int, seed: int, large: bool) -> None:
    """Append single events and batches of three, or batches of three large ones."""
    rng = random.Random(f"{seed}/{number}")
    loom = Eventloom(folder)
    notes = open_notes(acks, str(number))
    for turn in range(1_000_000):
        tags = [f"{number}.{turn}.{index}" for index in range(3 if large else rng.choice((1, 1, 3)))]
        entries = [large_event(tag) if large else event(tag, rng.randrange(400)) for tag in tags]
        acknowledge(notes, loom.append(SESSION, entries))


def kill_writers(folder: str, acks: str, errors: str, kills: int, seed: int) -> None:
    """In a child: eight writers, killed at random moments and started again. Prints how long the next appends took.

    The writers are forks of this process, which has imported everything and opened nothing: so a start costs 1 ms.
    """
    event("so that no fork has to compile what finds secrets")
    rng = random.Random(seed)
    log = os.path.join(folder, f"{SESSION}.jsonl")
    started = 0

    def start(large: bool = False) -> int:
        nonlocal started
        started += 1
        return fork(lambda: write_until_killed(folder, acks, started, seed, large), errors)

    def kill_half_way() -> bool:
        """A large write takes long enough to be met in the middle: the file has begun to grow, and is not done yet."""
        size = os.stat(log).st_size
        pid = start(large=True)
        deadline = time.monotonic() + 1
        while os.stat(log).st_size == size and time.monotonic() < deadline:
            pass
        return kill(pid)

    writers = [start() for _ in range(WRITERS)]
    killed = 0
    waits: list[float] = []
    while killed < kills:
        time.sleep(rng.uniform(0, 0.025))
        slot = rng.randrange(WRITERS)
        killed += kill(writers[slot])
        writers[slot] = start()
        if killed // CHECKS * AIMED > len(waits):
            # All die in the same moment: then nobody is in the way of the next append but the dead.
            killed += sum(kill(pid) for pid in writers)
            for _ in range(AIMED):
                killed += kill_half_way()
                waits.append(seconds_of_an_append(folder))
            writers = [start() for _ in range(WRITERS)]
    killed += sum(kill(pid) for pid in writers)
    waits.append(seconds_of_an_append(folder))
    print(json.dumps({"killed": killed, "waits": waits}))


COMMANDS = {
    "hook-event": ["hook-event", "command", "--strict", "--command", "{tag}"],
    "append": ["append", "fault.rehearsed", "--actor", "tester", "--payload", '{{"tag": "{tag}"}}'],
}
"""What is run as `zaxy ...`; each prints its event's place in the log as JSON when it was acknowledged."""


class Running:
    """One command on its way, and when it is to be killed."""

    def __init__(self, command: str, folder: str, tag: str, lifetime: float) -> None:
        words = [word.format(tag=tag) for word in COMMANDS[command]]
        place = ["--eventloom-path", folder, "--session-id", SESSION, "--json"]
        self.process = subprocess.Popen(
            [sys.executable, "-m", "zaxy", *words, *place], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        self.tag = tag
        self.began = time.monotonic()
        self._end = self.began + lifetime

    def is_over(self) -> bool:
        """Whether it has ended, or its time has come."""
        return self.process.poll() is not None or time.monotonic() >= self._end

    def end(self) -> tuple[Acknowledged | None, str]:
        """What was acknowledged before it ended, and what it complained about, if it was not killed."""
        self.process.kill()
        output, complaint = self.process.communicate()
        try:
            reply = json.loads(output)
        except ValueError:
            return None, complaint if self.process.returncode != -signal.SIGKILL else ""
        if "error" in reply:
            return None, output
        return Acknowledged(reply["seq"], reply["hash"], self.tag), ""


def kill_commands(command: str, folder: str, kills: int, seed: int) -> dict[str, Any]:
    """Eight commands at a time, killed at random moments of their lives; most late, since they start for long."""
    rng = random.Random(seed)
    started = killed = 0
    lives: list[float] = []
    acks: list[Acknowledged] = []
    complaints: list[str] = []

    def start() -> Running:
        nonlocal started
        started += 1
        usual = sorted(lives[-WRITERS:])[len(lives[-WRITERS:]) // 2] if lives else 30.0
        return Running(command, folder, f"{command}.{started}", usual * rng.uniform(0.75, 1.05))

    running = [start() for _ in range(WRITERS)]
    while killed < kills and not complaints:
        time.sleep(0.002)
        for slot, current in enumerate(running):
            if not current.is_over():
                continue
            ended = current.process.poll() is not None
            ack, complaint = current.end()
            if ended:
                lives.append(time.monotonic() - current.began)
            killed += not ended
            acks += [ack] if ack else []
            complaints += [complaint] if complaint else []
            running[slot] = start()
    for current in running:
        ack, _ = current.end()
        acks += [ack] if ack else []
    return {"killed": killed, "acks": acks, "complaints": complaints, "wait": seconds_of_an_append(folder)}


def leave_a_fork(folder: str) -> None:
    """In a child: a thread holds the lock while another forks, and all but the fork is killed. Prints the fork."""
    from threading import Event, Thread

    holds = Event()
    loom = Eventloom(folder)
    loom.append(SESSION, [event("before")])
    lock = loom._log(SESSION).lock

    def hold() -> None:
        with lock.exclusive(1):
            holds.set()
            time.sleep(600)

    def idle() -> None:
        os.closerange(0, 3)  # who reads what this process prints is not to wait for the fork
        time.sleep(600)

    Thread(target=hold, daemon=True).start()
    holds.wait()
    pid = fork(idle, os.devnull)
    print(pid, flush=True)
    os.kill(os.getpid(), signal.SIGKILL)


def seconds_of_an_append(folder: str) -> float:
    """By an object that knows nothing of the log yet."""
    began = time.monotonic()
    loom = Eventloom(folder)
    loom.append(SESSION, [event(f"probe.{began}")])
    loom.close()
    return time.monotonic() - began


def append_one(folder: str, tag: str, key: str = "") -> None:
    """In a child or here: append one event and print what came of it."""
    loom = Eventloom(folder)
    try:
        line = loom.append(SESSION, [event(tag, key=key)])[0]
        print(json.dumps({"seq": line.seq, "hash": line.hash}))
    except ZaxyError as error:
        print(json.dumps(error.as_dict()))
    finally:
        loom.close()


def text_under(folder: str, text: str) -> list[str]:
    """The files under a folder that hold a text."""
    return [str(path) for path in Path(folder).rglob("*") if path.is_file() and text.encode() in path.read_bytes()]
