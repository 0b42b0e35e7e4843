"""How the server is reached, and what is said when it cannot be: never the same, and never the password."""

from __future__ import annotations

import logging
import os
import socket
import stat
import time
from contextlib import closing, suppress
from pathlib import Path
from threading import Event, Thread
from typing import Any

import pytest
from neo4j.exceptions import Neo4jError

from servers.neo4j_server import Address, free_port
from zaxy.api import ZaxyError
from zaxy_neo4j import autostart, connection
from zaxy_neo4j.autostart import NAME
from zaxy_neo4j.connection import Connection
from zaxy_neo4j.server import LOCAL_PASSWORD, Server
from zaxy_neo4j.troubles import explained, too_old

SECRET = "hunter2-is-the-password"
on_server = pytest.mark.xdist_group("neo4j")
posix = pytest.mark.skipif(os.name != "posix", reason="the stand-in for docker is a shell script")


def refusal(settings: dict[str, Any]) -> ZaxyError:
    """What a server that these settings mean answers to the simplest question: an error."""
    with closing(Connection(Server.of(settings))) as opened, pytest.raises(ZaxyError) as refused:
        opened.read("RETURN 1")
    return refused.value


def down() -> dict[str, Any]:
    return {"NEO4J_URI": f"bolt://127.0.0.1:{free_port()}", "NEO4J_PASSWORD": SECRET}


# What is said


@on_server
def test_a_server_that_is_down_a_wrong_password_and_an_old_version_are_told_apart(neo4j_address: Address) -> None:
    wrong = refusal({**neo4j_address.settings, "NEO4J_PASSWORD": SECRET})
    none = refusal({**neo4j_address.settings, "NEO4J_PASSWORD": ""})
    away = refusal(down())
    old = too_old(Server.of({}), "Neo4j/4.4.42")
    assert old is not None
    assert "refuses the password of the user neo4j" in wrong.message and "NEO4J_PASSWORD_FILE" in wrong.remediation
    assert "without a password" in none.message
    assert "no Neo4j server answers at bolt://127.0.0.1:" in away.message and "Start it" in away.remediation
    assert "is Neo4j 4.4.42" in old.message and "Upgrade it" in old.remediation
    assert {error.code for error in (wrong, none, away, old)} == {"unavailable"}


@pytest.mark.parametrize(
    ("agent", "refused"),
    [
        ("Neo4j/3.5.35", True),
        ("Neo4j/4.4.42", True),
        ("Neo4j/5.0.0", False),
        ("Neo4j/5.26.30", False),
        ("Neo4j/2025.06.0", False),
        ("another server", False),
    ],
)
def test_five_and_later_will_do(agent: str, refused: bool) -> None:
    assert (too_old(Server.of({}), agent) is not None) is refused


@on_server
def test_a_database_that_is_not_there_is_named(neo4j_address: Address) -> None:
    error = refusal({**neo4j_address.settings, "NEO4J_DATABASE": "nowhere"})
    assert "has no database nowhere" in error.message and "NEO4J_DATABASE" in error.remediation


@on_server
def test_a_server_without_tls_is_not_taken_for_one_with_a_wrong_certificate(neo4j_address: Address) -> None:
    uri = neo4j_address.uri.replace("bolt://", "bolt+s://")
    assert "does not speak TLS" in refusal({**neo4j_address.settings, "NEO4J_URI": uri}).message


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("Neo.ClientError.Security.AuthenticationRateLimit", "too many wrong passwords"),
        ("Neo.ClientError.Security.CredentialsExpired", "first password"),
        ("Neo.ClientError.Security.Forbidden", "no right"),
        ("Neo.TransientError.General.MemoryPoolOutOfMemoryError", "no room"),
        ("Neo.TransientError.General.OutOfMemoryError", "no room"),
        ("Neo.TransientError.Transaction.DeadlockDetected", "at the moment"),
        ("Neo.DatabaseError.General.UnknownError", "UnknownError"),
    ],
)
def test_what_a_server_may_say_is_explained(code: str, said: str) -> None:
    """A server says these only in states that it cannot be brought into here: the texts are its own."""
    error = Neo4jError._hydrate_neo4j(code=code, message=f"with {SECRET} in it")
    told = explained(error, Server.of({"NEO4J_PASSWORD": SECRET}))
    assert said in told.message and told.remediation
    assert SECRET not in told.message + told.remediation


# The password


@on_server
def test_the_password_is_in_no_error_no_log_and_no_repr(
    neo4j_address: Address, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    wrong = [
        {**neo4j_address.settings, "NEO4J_PASSWORD": SECRET},
        {**neo4j_address.settings, "NEO4J_PASSWORD": SECRET, "NEO4J_URI": neo4j_address.uri.replace("bolt", "neo4j")},
        down(),
        {"NEO4J_URI": f"bolt://neo4j:{SECRET}@localhost:7687"},
        {"NEO4J_URI": f"bolt://localhost:{SECRET}"},
        {"NEO4J_URI": f"mysql://{SECRET}"},
        {**down(), "NEO4J_CA_CERT": "/nowhere.pem"},
    ]
    for settings in wrong:
        with pytest.raises(ZaxyError) as refused:
            opened = Connection(Server.of(settings))
            assert SECRET not in f"{opened!r} {opened.server!r} {vars(opened)}"
            with closing(opened):
                opened.read("RETURN 1")
        told = f"{refused.value!r} {refused.value.message} {refused.value.remediation} {refused.getrepr(style='short')}"
        assert SECRET not in told
        assert refused.value.__cause__ is None
    assert SECRET not in caplog.text


# The settings


def test_the_default_is_a_server_on_this_machine() -> None:
    server = Server.of({"NEO4J_URI": None, "NEO4J_PASSWORD": None})
    assert (server.shown, server.user, server.password, server.auto_start) == (
        "bolt://localhost:7687",
        "neo4j",
        "",
        False,
    )
    assert server.access["auth"] is None


@pytest.mark.parametrize(
    "uri", ["localhost:7687", "http://localhost", "bolt://", "bolt://host:0x", "bolt://h/database"]
)
def test_what_is_no_address_is_refused(uri: str) -> None:
    with pytest.raises(ZaxyError, match="not the address") as refused:
        Server.of({"NEO4J_URI": uri})
    assert "bolt://localhost:7687" in refused.value.remediation


def test_a_certificate_is_trusted_by_every_scheme_that_can_be_encrypted(tmp_path: Path) -> None:
    import ssl

    authorities = ssl.create_default_context().get_ca_certs(binary_form=True)
    if not authorities:
        pytest.skip("this machine has no authorities to take a certificate from")
    pem = tmp_path / "ca.pem"
    pem.write_text(ssl.DER_cert_to_PEM_cert(authorities[0]))
    for scheme, driven in (("bolt", "bolt"), ("neo4j", "neo4j"), ("bolt+s", "bolt"), ("neo4j+s", "neo4j")):
        server = Server.of({"NEO4J_URI": f"{scheme}://graph.example:7000", "NEO4J_CA_CERT": str(pem)})
        assert server.uri == f"{driven}://graph.example:7000"
        assert server.access["encrypted"] is True
        assert server.access["trusted_certificates"].certs == (str(pem),)
    with pytest.raises(ZaxyError, match="trusts any certificate"):
        Server.of({"NEO4J_URI": "bolt+ssc://graph.example", "NEO4J_CA_CERT": str(pem)})


def test_a_certificate_that_is_none_is_refused(tmp_path: Path) -> None:
    pem = tmp_path / "ca.pem"
    pem.write_text("no certificate")
    for path, said in ((pem, "it holds no certificate"), (tmp_path / "missing.pem", "No such file")):
        with pytest.raises(ZaxyError, match=said):
            Server.of({"NEO4J_CA_CERT": str(path)})


# A server that does not answer


class Way:
    """A way to the server on which everything passes until it is silenced or cut."""

    def __init__(self, address: Address) -> None:
        host, _, port = address.uri.rpartition("//")[2].partition(":")
        self.silence = Event()
        self._far = (host, int(port))
        self._ends: list[socket.socket] = []
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.uri = f"bolt://127.0.0.1:{self._listening.getsockname()[1]}"
        Thread(target=self._serve, daemon=True).start()

    def cut(self) -> None:
        """End every connection; new ones can be made."""
        while self._ends:
            with suppress(OSError):
                self._ends.pop().shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        self.silence.clear()
        self._listening.close()
        self.cut()

    def _serve(self) -> None:
        with suppress(OSError):
            while True:
                near, far = self._listening.accept()[0], socket.create_connection(self._far)
                self._ends += (near, far)
                for pair in ((near, far), (far, near)):
                    Thread(target=self._pump, args=pair, daemon=True).start()

    def _pump(self, source: socket.socket, target: socket.socket) -> None:
        with suppress(OSError):
            while data := source.recv(65536):
                while self.silence.is_set():
                    time.sleep(0.02)
                target.sendall(data)


@on_server
def test_a_server_that_falls_silent_costs_one_wait_and_is_used_again_when_it_answers(
    neo4j_address: Address, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connection, "REST", 30.0)
    with closing(Way(neo4j_address)) as way:
        server = Server.of({**neo4j_address.settings, "NEO4J_URI": way.uri})
        with closing(Connection(server)) as opened:
            assert opened.read("RETURN 1") == [[1]]
            way.silence.set()
            began = time.monotonic()
            with pytest.raises(ZaxyError, match="did not answer within 1 s"):
                opened.read("RETURN 1", 1.0)
            assert time.monotonic() - began < 20
            began = time.monotonic()
            for _ in range(20):
                with pytest.raises(ZaxyError, match="did not answer within 1 s"):
                    opened.read("RETURN 1", 1.0)
            assert time.monotonic() - began < 10, "while it rests, nobody waits for it"
            way.silence.clear()
            opened._rest = None  # the time is over
            assert opened.read("RETURN 1") == [[1]]


def test_a_listener_that_never_speaks_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "SECONDS_TO_CONNECT", 1.0)
    with socket.create_server(("127.0.0.1", 0)) as listening:
        began = time.monotonic()
        error = refusal({"NEO4J_URI": f"bolt://127.0.0.1:{listening.getsockname()[1]}", "NEO4J_PASSWORD": SECRET})
        assert error.code == "unavailable"
        assert time.monotonic() - began < 20


@on_server
def test_a_connection_that_the_server_gave_up_is_made_anew_without_a_word(neo4j_address: Address) -> None:
    with closing(Way(neo4j_address)) as way:
        server = Server.of({**neo4j_address.settings, "NEO4J_URI": way.uri})
        with closing(Connection(server)) as opened:
            assert opened.read("RETURN 1") == [[1]]
            way.cut()
            assert opened.read("RETURN 1") == [[1]]
            way.cut()
            assert opened.write(lambda tx: tx.run("RETURN 2").values()) == [[2]]


@on_server
@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_a_forked_child_has_a_connection_of_its_own(neo4j_address: Address) -> None:
    with closing(Connection(Server.of(neo4j_address.settings))) as opened:
        assert opened.read("RETURN 1") == [[1]]
        child = os.fork()
        if not child:
            done = False
            with suppress(BaseException):
                done = opened.read("RETURN 1") == [[1]]
                opened.close()
            os._exit(0 if done else 1)
        assert os.waitpid(child, 0)[1] == 0
        assert opened.read("RETURN 1") == [[1]]


# The container


def stand_in(folder: Path, script: str) -> Path:
    """A `docker` that notes what it was asked, since no engine can be had here."""
    docker = folder / "docker"
    docker.write_text(
        f'#!/bin/sh\nprintf "%s " "$@" >> {folder}/asked\necho "$NEO4J_AUTH" >> {folder}/asked\n{script}\n'
    )
    docker.chmod(docker.stat().st_mode | stat.S_IXUSR)
    return docker


def asked_of(folder: Path, lines: int) -> list[str]:
    deadline = time.monotonic() + 30
    while True:
        asked = (folder / "asked").read_text().splitlines() if (folder / "asked").exists() else []
        if len(asked) >= lines:
            return asked
        assert time.monotonic() < deadline, asked
        time.sleep(0.02)


def test_without_docker_that_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    error = refusal({**down(), "NEO4J_AUTO_START": True})
    assert "there is no Docker here" in error.message and "PROJECTION_BACKEND=embedded" in error.remediation


@posix
def test_a_container_is_made_with_the_password_out_of_sight(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stand_in(tmp_path, '[ "$1" = start ] && { echo "Error: No such container: zaxy-neo4j" >&2; exit 1; }; exit 0')
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    settings = {**down(), "NEO4J_PASSWORD": None, "NEO4J_AUTO_START": True}
    error = refusal(settings)
    assert f"being started in the container {NAME}" in error.message and "again in a minute" in error.remediation
    started, made = asked_of(tmp_path, 2)
    port = Server.of(settings).port
    assert started.startswith(f"start {NAME}")
    assert f"run --detach --name {NAME} --publish 127.0.0.1:{port}:7687" in made
    assert made.endswith(f"neo4j/{LOCAL_PASSWORD}"), "the container must know the password that we send"
    assert LOCAL_PASSWORD not in made.rpartition(" ")[0]


@posix
def test_what_docker_cannot_do_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(autostart, "SECONDS_TO_SAY_NO", 60.0)
    stand_in(tmp_path, 'echo "Cannot connect to the Docker daemon" >&2; exit 1')
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    error = refusal({**down(), "NEO4J_AUTO_START": True})
    assert "Docker cannot start one: Cannot connect to the Docker daemon" in error.message
    assert f"docker logs {NAME}" in error.remediation


@posix
@pytest.mark.parametrize(
    "settings",
    [
        {"NEO4J_URI": f"bolt://127.0.0.2:{free_port()}", "NEO4J_AUTO_START": True},
        {"NEO4J_URI": f"bolt://127.0.0.1:{free_port()}", "NEO4J_AUTO_START": False},
    ],
)
def test_a_server_that_is_not_named_as_local_or_not_asked_for_is_never_started(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, settings: dict[str, Any]
) -> None:
    stand_in(tmp_path, "exit 0")
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    assert Server.of(settings).password == ""
    error = refusal(settings)
    assert "being started" not in error.message
    assert not (tmp_path / "asked").exists()


@on_server
@posix
def test_a_server_that_answers_is_used_and_none_is_started(
    neo4j_address: Address, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stand_in(tmp_path, "exit 0")
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    with closing(Connection(Server.of({**neo4j_address.settings, "NEO4J_AUTO_START": True}))) as opened:
        assert opened.read("RETURN 1") == [[1]]
    assert not (tmp_path / "asked").exists()
