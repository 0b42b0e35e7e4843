"""A real Neo4j Community server without a container: its jars come from Maven Central and run on the machine's Java.

With `NEO4J_URI` set (and `NEO4J_USER`, `NEO4J_PASSWORD`) that server is used instead of one of our own.
"""

from __future__ import annotations

import atexit
import os
import shutil
import socket
import subprocess
import tempfile
import time
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

from cache_folder import cache_folder
from zaxy.eventloom.disk import Disk
from zaxy.eventloom.lock import SessionLock

VERSION, OLD_VERSION = "5.26.30", "4.4.42"
USER, PASSWORD = "neo4j", "only-for-tests"
OLDEST_JAVA = 17
ENTRY_POINT = "org.neo4j.server.CommunityEntryPoint"
SECONDS_TO_GET_IT = 180  # 35 s were measured
SECONDS_TO_START = 90  # 6 s on an idle machine of two cores; with both, the first test ends within its time
GIVEN = {name: os.environ[name] for name in ("NEO4J_URI", "NEO4J_USER", "NEO4J_PASSWORD") if name in os.environ}

POM = """\
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>tests</groupId>
  <artifactId>tests</artifactId>
  <version>1</version>
  <dependencies>
    <dependency><groupId>org.neo4j</groupId><artifactId>neo4j</artifactId><version>{}</version></dependency>
  </dependencies>
</project>
"""
OPENED = ("java.nio", "java.io", "sun.nio.ch", "java.util.concurrent")  # packages that the server looks into


class NotToBeHad(Exception):
    """Why there is no server on this machine."""


class DidNotStart(Exception):
    """The server is there and does not run, which is no reason to skip a test."""


class Address(NamedTuple):
    """Where a server is, as the settings name it."""

    uri: str
    user: str = USER
    password: str = PASSWORD

    @property
    def settings(self) -> dict[str, str]:
        return {"NEO4J_URI": self.uri, "NEO4J_USER": self.user, "NEO4J_PASSWORD": self.password}


class Neo4jServer:
    """One server process over a folder of its own, which it finds again when it is started once more."""

    version: str = VERSION
    opened: tuple[str, ...] = OPENED

    def __init__(
        self,
        home: Path,
        port: int | None = None,
        heap: str = "512m",
        password: str = PASSWORD,
        lasting: bool = False,
    ) -> None:
        """`lasting`: Java compiles as well as it can. That pays off after minutes; tests end sooner, twice as fast."""
        self.home = home
        self.port = port or free_port()
        self.address = Address(f"bolt://127.0.0.1:{self.port}", USER, password)
        self._heap = heap
        self._lasting = lasting
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Return when the server answers a query."""
        self._configure()
        with (self.home / "console.txt").open("ab") as console:
            self._process = subprocess.Popen(self._command(), stdin=subprocess.DEVNULL, stdout=console, stderr=console)
        self._wait()

    def kill(self) -> None:
        """As a power cut would end it; what it had committed is there when it starts again."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None

    @property
    def pid(self) -> int:
        assert self._process is not None, "the server does not run"
        return self._process.pid

    def _configure(self) -> None:
        (self.home / "conf").mkdir(parents=True, exist_ok=True)
        lines = "\n".join(self._lines())
        (self.home / "conf" / "neo4j.conf").write_text(f"{lines}\n", encoding="utf-8")

    def _lines(self) -> list[str]:
        return [
            f"server.bolt.listen_address=127.0.0.1:{self.port}",
            f"server.bolt.advertised_address=127.0.0.1:{self.port}",
            "server.http.enabled=false",
            "server.https.enabled=false",
            "dbms.usage_report.enabled=false",
            "server.memory.pagecache.size=64m",
            "db.logs.query.enabled=OFF",
            "db.tx_log.preallocate=false",  # 256 MB for each database otherwise
        ]

    def _command(self) -> list[str]:
        return [
            _java(),
            f"-Xmx{self._heap}",
            "-XX:+UseSerialGC",
            *(() if self._lasting else ("-XX:TieredStopAtLevel=1",)),
            *(f"--add-opens=java.base/{package}=ALL-UNNAMED" for package in self.opened),
            "-cp",
            str(jars(self.version) / "*"),
            ENTRY_POINT,
            f"--home-dir={self.home}",
            f"--config-dir={self.home / 'conf'}",
        ]

    def _wait(self) -> None:
        deadline = time.monotonic() + SECONDS_TO_START
        while True:
            if self._listens() and _answers(self.address):
                return
            ended = self._process is None or self._process.poll() is not None
            if ended or time.monotonic() > deadline:
                self.kill()
                told = (self.home / "console.txt").read_text(encoding="utf-8", errors="replace")[-1000:]
                raise DidNotStart(f"Neo4j {self.version} did not answer within {SECONDS_TO_START} s: {told}")
            time.sleep(0.1)

    def _listens(self) -> bool:
        try:
            socket.create_connection(("127.0.0.1", self.port), timeout=1).close()
        except OSError:
            return False
        return True


class OldServer(Neo4jServer):
    """One of before Neo4j 5, whose settings have other names."""

    version, opened = OLD_VERSION, (*OPENED, "java.lang")

    def _lines(self) -> list[str]:
        return [
            f"dbms.connector.bolt.listen_address=127.0.0.1:{self.port}",
            f"dbms.connector.bolt.advertised_address=127.0.0.1:{self.port}",
            "dbms.connector.http.enabled=false",
            "dbms.connector.https.enabled=false",
            "dbms.memory.pagecache.size=64m",
        ]


def _answers(address: Address) -> bool:
    """Whether the server answers; a fresh one wants its first password to be changed before anything else."""
    from neo4j import GraphDatabase
    from neo4j.exceptions import AuthError, Neo4jError, ServiceUnavailable, SessionExpired

    change = "ALTER CURRENT USER SET PASSWORD FROM $first TO $ours"
    with suppress(ServiceUnavailable, SessionExpired, OSError):
        try:
            with GraphDatabase.driver(address.uri, auth=(USER, USER), max_transaction_retry_time=0) as driver:
                driver.execute_query(change, first=USER, ours=address.password, database_="system")
        except AuthError:
            pass  # it was changed at an earlier start
        with suppress(Neo4jError), GraphDatabase.driver(address.uri, auth=(USER, address.password)) as driver:
            driver.execute_query("RETURN 1")
            return True
    return False


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@cache
def jars(version: str = VERSION) -> Path:
    """The folder with the server's jars; a second process waits for the one that is getting them."""
    home = cache_folder() / f"neo4j-{version}"
    try:
        home.parent.mkdir(parents=True, exist_ok=True)
        lock = SessionLock(f"{home}.lock", Disk())
        try:
            with lock.exclusive(SECONDS_TO_GET_IT):
                if not home.is_dir():
                    _get(home, version)
        finally:
            lock.close()
    except (OSError, subprocess.SubprocessError) as error:
        raise NotToBeHad(f"Maven could not get Neo4j {version}: {error!s:.400}") from error
    return home


def _get(home: Path, version: str) -> None:
    """Into a folder beside it first: what is half there must not be taken for the whole."""
    maven = shutil.which("mvn")
    if maven is None:
        raise NotToBeHad("there is no Maven (mvn) on this machine and NEO4J_URI is not set")
    with tempfile.TemporaryDirectory(dir=home.parent, ignore_cleanup_errors=True) as scratch:
        Path(scratch, "pom.xml").write_text(POM.format(version), encoding="utf-8")
        goal = ["dependency:copy-dependencies", "-DincludeScope=runtime", "-DoutputDirectory=jars"]
        done = subprocess.run(
            [maven, "-q", "-B", *goal], cwd=scratch, capture_output=True, text=True, timeout=SECONDS_TO_GET_IT
        )
        if done.returncode:
            raise NotToBeHad(f"Maven could not get Neo4j {version}: {(done.stdout + done.stderr).strip()[-400:]}")
        Path(scratch, "jars").rename(home)


@cache
def _java() -> str:
    home = os.environ.get("JAVA_HOME")
    java = shutil.which("java", path=str(Path(home, "bin"))) if home else shutil.which("java")
    if java is None:
        raise NotToBeHad("there is no Java on this machine and NEO4J_URI is not set")
    told = subprocess.run([java, "-version"], capture_output=True, text=True).stderr
    version = told.partition('version "')[2].partition(".")[0]
    if not version.isdecimal() or int(version) < OLDEST_JAVA:
        raise NotToBeHad(f"Java {OLDEST_JAVA} or newer is needed to run Neo4j; this machine has: {told.strip()[:100]}")
    return java


def new_server(home: Path, of: type[Neo4jServer] = Neo4jServer) -> Neo4jServer:
    """A started server for a test that kills it; whoever asks ends it. Without one the test is skipped."""
    pytest.importorskip("neo4j", reason="the driver (package neo4j) is not installed")
    server = of(home)
    try:
        server.start()
    except NotToBeHad as reason:
        pytest.skip(str(reason))
    return server


@cache
def _shared() -> Address | NotToBeHad | DidNotStart:
    """The one server of this process, or why there is none: neither is tried for twice."""
    if GIVEN.get("NEO4J_URI"):
        return Address(GIVEN["NEO4J_URI"], GIVEN.get("NEO4J_USER", USER), GIVEN.get("NEO4J_PASSWORD", ""))
    home = Path(tempfile.mkdtemp(prefix="zaxy-neo4j-"))
    server = Neo4jServer(home)

    def end() -> None:
        server.kill()
        shutil.rmtree(home, ignore_errors=True)

    atexit.register(end)
    try:
        server.start()
    except (NotToBeHad, DidNotStart) as reason:
        return reason
    return server.address


@pytest.fixture(scope="session")
def neo4j_address() -> Address:
    """The server that all tests of a run share; they are marked `xdist_group("neo4j")`, so that one worker has it."""
    pytest.importorskip("neo4j", reason="the driver (package neo4j) is not installed")
    found = _shared()
    if isinstance(found, NotToBeHad):
        pytest.skip(str(found))
    if isinstance(found, DidNotStart):
        raise found
    return found
