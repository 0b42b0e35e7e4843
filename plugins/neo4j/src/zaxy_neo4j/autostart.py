"""Starts a Neo4j server in a container on this machine, where that is wanted and Docker is there."""

from __future__ import annotations

import os
import shutil
import subprocess
import threading

from zaxy.api import Unavailable, ZaxyError
from zaxy_neo4j.server import Server

NAME = "zaxy-neo4j"
IMAGE = "neo4j:5.26-community"
SECONDS_TO_SAY_NO = 2.0
"""In which Docker says so if it cannot do it."""
OTHERWISE = (
    "Start a server yourself, or unset NEO4J_AUTO_START and take the built-in graph: PROJECTION_BACKEND=embedded."
)


class Container:
    """The container `zaxy-neo4j`. Starting it takes longer than a question may, so it goes on beside."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._starting: threading.Thread | None = None
        self._failure = ""

    def start(self) -> ZaxyError:
        """Have it started, and what to answer meanwhile. One that runs already is left as it is."""
        docker = shutil.which("docker")
        if docker is None:
            message = f"no Neo4j server answers at {self._server.shown}, and there is no Docker here to start one with"
            return Unavailable(message, f"Install Docker. {OTHERWISE}")
        if self._starting is None or not self._starting.is_alive():
            self._failure = ""
            self._starting = threading.Thread(target=self._start, args=(docker,), name="zaxy-neo4j-start", daemon=True)
            self._starting.start()
        self._starting.join(SECONDS_TO_SAY_NO)
        if self._failure:
            message = f"no Neo4j server answers at {self._server.shown}, and Docker cannot start one: {self._failure}"
            return Unavailable(message, f"Look at 'docker logs {NAME}'. {OTHERWISE}")
        message = f"the Neo4j server at {self._server.shown} is being started in the container {NAME}"
        return Unavailable(message, f"Ask again in a minute: the first time its image is fetched. {OTHERWISE}")

    def _start(self, docker: str) -> None:
        """Start the container that was there before, or make one."""
        started = self._run([docker, "start", NAME])
        if started.returncode and "No such container" in started.stderr:
            publish = f"127.0.0.1:{self._server.port}:7687"
            kept = f"{NAME}:/data"
            # The password travels in the environment: a command line can be read by everybody.
            command = [docker, "run", "--detach", "--name", NAME, "--publish", publish, "--volume", kept]
            started = self._run([*command, "--env", "NEO4J_AUTH", IMAGE])
        if started.returncode:
            self._failure = (started.stderr.strip().splitlines() or ["it says nothing"])[-1][:200]

    def _run(self, command: list[str]) -> subprocess.CompletedProcess[str]:
        environ = {**os.environ, "NEO4J_AUTH": f"{self._server.user}/{self._server.password}"}
        try:
            return subprocess.run(
                command,
                env=environ,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                text=True,
                start_new_session=True,  # it goes on when a short command of ours has ended
            )
        except OSError as error:
            return subprocess.CompletedProcess(command, 1, "", str(error.strerror))
