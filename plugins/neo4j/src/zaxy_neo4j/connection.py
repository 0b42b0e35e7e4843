"""The connection to the server: one driver with its pool, retries, bookmarks, and a bound on every wait."""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Callable
from typing import Any, TypeVar

from neo4j import READ_ACCESS, Driver, GraphDatabase, ManagedTransaction, Session, unit_of_work
from neo4j.exceptions import ConnectionAcquisitionTimeoutError, DriverError, Neo4jError, ServiceUnavailable

from zaxy.api import ZaxyError
from zaxy_neo4j.autostart import Container
from zaxy_neo4j.schema import SCHEMA, for_older
from zaxy_neo4j.server import Server
from zaxy_neo4j.troubles import explained, too_old, took_too_long, version_of
from zaxy_neo4j.watch import Watch

T = TypeVar("T")
SECONDS_TO_CONNECT = 3.0
SECONDS_TO_READ = 5.0
SECONDS_TO_WRITE = 40.0
SECONDS_FOR_ALL_ROWS = 100.0
"""For a digest or a wipe. The core allows 10 for a read, and 120 for a batch, a digest or a wipe."""
SECONDS_OF_RETRIES = 2.0
PAUSES = (0.0, 0.2, 0.6)
"""Before each further try of a read. The first is for a connection that the server had given up meanwhile."""
REST, REST_AFTER_REFUSAL = 1.0, 10.0
"""Seconds in which a server that failed is not asked again: a question makes several calls, and one wait is enough.

A server that is given a wrong password three times locks its user out for five."""
HAS = "SHOW INDEXES YIELD name, state WHERE name STARTS WITH 'zaxy_' AND state = 'ONLINE' RETURN name"
SCOPED_SUBQUERIES = (5, 23)
AWAIT = "CALL db.awaitIndexes(60)"

logging.getLogger("neo4j").addHandler(logging.NullHandler())  # what it would print, our own errors say


class Connection:
    """Opened when first used. A cluster's replica answers only when it has what this connection wrote or saw last."""

    def __init__(self, server: Server) -> None:
        self.server = server
        self._container = Container(server)
        self._bookmarks = GraphDatabase.bookmark_manager()
        self._watch = Watch()
        self._driver: Driver | None = None
        self._pid = os.getpid()
        self._inherited: list[Driver] = []
        self._checked = self._is_older = self._has_schema = False
        self._rest: tuple[float, ZaxyError] | None = None

    def read(self, statement: str, seconds: float = SECONDS_TO_READ, **values: object) -> list[list[Any]]:
        """The rows of a statement that changes nothing, in one round trip."""

        def ask(driver: Driver) -> list[list[Any]]:
            with self._session(driver, default_access_mode=READ_ACCESS) as session:
                return session.run(self.adapted(statement), values).values()

        def persist(driver: Driver) -> list[list[Any]]:
            for pause in PAUSES:
                try:
                    return ask(driver)
                except (DriverError, Neo4jError) as error:
                    gone = isinstance(error, ServiceUnavailable)
                    if self._watch.struck or not error.is_retryable() or (gone and pause):
                        raise
                    time.sleep(pause)
            return ask(driver)

        return self._within(seconds, persist)

    def write(self, work: Callable[[ManagedTransaction], T], seconds: float = SECONDS_TO_WRITE) -> T:
        """Do work in one transaction, and all of it again if the server asks for that."""

        def act(driver: Driver) -> T:
            if not self._has_schema:
                self._make_schema(driver)
            with self._session(driver) as session:
                return session.execute_write(unit_of_work(timeout=seconds)(work))

        return self._within(seconds, act)

    def adapted(self, statement: str) -> str:
        """A statement as this server, whose version is known by now, understands it."""
        return for_older(statement) if self._is_older else statement

    def close(self) -> None:
        driver, self._driver = self._driver, None
        if driver is not None and self._pid == os.getpid():
            driver.close()

    def _within(self, seconds: float, act: Callable[[Driver], T]) -> T:
        """Act within a time. Whatever fails comes as an error of ours."""
        if self._rest is not None and time.monotonic() < self._rest[0]:
            known = self._rest[1]
            raise ZaxyError(known.code, known.message, known.remediation)
        try:
            driver = self._opened()
            self._watch.begin(seconds, driver.close)
            try:
                self._check_version(driver)
                done = act(driver)
            finally:
                self._watch.end()
        except ZaxyError:
            raise
        except Exception as error:
            if self._watch.struck:
                self._driver = None
                raise self._resting(took_too_long(self.server, seconds), REST) from None
            if not isinstance(error, DriverError | Neo4jError | OSError):
                raise
            raise self._failed(error) from None
        self._rest = None
        if self._watch.struck:  # it was done in the same moment, and its connections are closed
            self._driver = None
        return done

    def _failed(self, error: Exception) -> ZaxyError:
        if isinstance(error, ConnectionAcquisitionTimeoutError):
            return self._resting(took_too_long(self.server, SECONDS_TO_CONNECT), REST)
        trouble = explained(error, self.server)
        if isinstance(error, ServiceUnavailable):  # another server may be there next
            self._checked = self._has_schema = False
        if isinstance(error, ServiceUnavailable) and self.server.auto_start:
            return self._resting(self._container.start(), REST)
        if isinstance(error, ServiceUnavailable):
            return self._resting(trouble, REST)
        if isinstance(error, Neo4jError) and "Security" in (error.code or ""):
            return self._resting(trouble, REST_AFTER_REFUSAL)
        return trouble

    def _resting(self, error: ZaxyError, seconds: float) -> ZaxyError:
        self._rest = (time.monotonic() + seconds, error)
        return error

    def _opened(self) -> Driver:
        if self._driver is not None and self._pid != os.getpid():
            # Its sockets are the parent's too: closing them here would end the parent's connections.
            self._inherited.append(self._driver)
            self._driver, self._watch = None, Watch()
        if self._driver is None:
            self._pid = os.getpid()
            self._checked = False
            self._driver = GraphDatabase.driver(
                self.server.uri,
                **self.server.access,
                user_agent="zaxy-neo4j",
                connection_timeout=SECONDS_TO_CONNECT,
                connection_acquisition_timeout=SECONDS_TO_CONNECT,
                connection_write_timeout=SECONDS_TO_WRITE,
                liveness_check_timeout=30.0,
                max_connection_pool_size=8,
                max_transaction_retry_time=SECONDS_OF_RETRIES,
                initial_retry_delay=0.1,
                telemetry_disabled=True,
            )
        return self._driver

    def _session(self, driver: Driver, **options: Any) -> Session:
        database = self.server.database or None
        return driver.session(database=database, bookmark_manager=self._bookmarks, fetch_size=-1, **options)

    def _check_version(self, driver: Driver) -> None:
        if self._checked:
            return
        agent = driver.get_server_info().agent
        refused = too_old(self.server, agent)
        if refused is not None:
            raise self._resting(refused, REST_AFTER_REFUSAL)
        self._is_older = version_of(agent) < SCOPED_SUBQUERIES
        self._checked = True

    def _make_schema(self, driver: Driver) -> None:
        """Make the constraints and indexes that are not there yet; without them every lookup would be a scan."""
        for pause in PAUSES:
            try:
                return self._make_missing(driver)
            except Neo4jError as error:  # another process makes them in this moment
                if not error.is_retryable() and ".Schema." not in (error.code or ""):
                    raise
                time.sleep(pause)
        return self._make_missing(driver)

    def _make_missing(self, driver: Driver) -> None:
        with self._session(driver) as session:
            there = {name for (name,) in session.run(HAS).values()}
            missing = [statement for name, statement in SCHEMA.items() if name not in there]
            for statement in missing:
                session.run(statement).consume()
            if missing:
                session.run(AWAIT).consume()
        self._has_schema = True
