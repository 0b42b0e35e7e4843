"""The clients that are installed, ours or not: each is a provider, called through the plugin host's guard."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple, cast

from zaxy.api.clients import ClientSigns
from zaxy.api.models import ServerEntry
from zaxy.api.points import Client, ClientHooks
from zaxy.errors import InvalidRequest, Unavailable, ZaxyError
from zaxy.plugins.host import BoundProvider, PluginHost
from zaxy.plugins.manifest import CLIENTS_POINT
from zaxy.plugins.roster import advice_on, clients_of, load_roster, owner_of
from zaxy.settings import Settings, Stored


class InstalledClient(NamedTuple):
    name: str
    client: Client
    hooks: ClientHooks | None
    project_variable: str = ""
    """How its files name the project's folder, where it starts servers somewhere else."""


class Clients:
    """Every client that a plugin provides, by name."""

    def __init__(self, host: PluginHost) -> None:
        self._host = host
        self.facts = {facts.name: facts for facts in clients_of(host.roster)}
        """What is known of some of them without their code."""

    @property
    def names(self) -> list[str]:
        return sorted(self._host.names(CLIENTS_POINT))

    @property
    def presets(self) -> dict[str, str]:
        """The client of each preset that sets one up."""
        return {facts.preset: name for name, facts in self.facts.items() if facts.preset}

    def how_to_get(self, name: str) -> str:
        """What to do for a client, a preset or an option of a package that is not in use; empty for any other."""
        return advice_on(name, self._host.roster)

    def get(self, name: str) -> InstalledClient:
        bound = self._host.get(CLIENTS_POINT, name)
        client = _guarded(bound, self._host)
        variable = self._host.run(
            bound.row, "call", f"{name}.project_variable", lambda: getattr(bound.instance, "project_variable", "")
        )
        return InstalledClient(name, client, client.hooks, str(variable))

    def all(self) -> list[InstalledClient]:
        """Those that work; a broken one has a row of its own at the doctor's."""
        working = []
        for name in self.names:
            try:
                working.append(self.get(name))
            except ZaxyError:
                continue
        return working

    def with_hooks(self) -> list[tuple[InstalledClient, ClientHooks]]:
        return [(one, one.hooks) for one in self.all() if one.hooks is not None]

    def option(self, name: str, sets: str) -> str:
        """The flag with which a client's scope, path or trust is set; empty if it has none."""
        options = self.facts[name].options if name in self.facts else ()
        return next((option.flag for option in options if option.sets == sets), "")

    def reads_sessions_of(self, client: Client) -> bool:
        """Whether an adapter is installed that reads what this client keeps of its sessions."""
        capture = client.capture
        return capture is not None and owner_of(self._host.roster, "capture_adapters", capture.adapter) is not None

    def sources_of(self, client: Client, root: str) -> int:
        """How many sessions this client has written in a project; 0 where no adapter is installed that reads them."""
        if client.capture is None or not self.reads_sessions_of(client):
            return 0
        try:
            adapter = self._host.get("capture_adapters", client.capture.adapter)
            return len(list(adapter.call("sources", Path(root))))
        except (ZaxyError, TypeError):  # its row at the doctor's says what is wrong
            return 0


@contextmanager
def open_clients(stored: Stored) -> Iterator[Clients]:
    """The clients, without a workspace: a client keeps nothing, and what it may keep is thrown away."""
    settings = Settings(stored=stored).lenient()
    with tempfile.TemporaryDirectory(prefix="zaxy-clients-") as scratch:
        yield Clients(PluginHost(load_roster(settings), settings, Path(scratch), "clients"))


def target_of(client: Client, scope: str, *, workspace: Path, home: Path | None, environ: Mapping[str, str]) -> Path:
    """The file of a scope; a home folder that is not known is an error only where it is needed."""
    nowhere = Path("~")
    target = Path(client.target(scope, workspace, home or nowhere, environ))
    if nowhere in target.parents:
        raise Unavailable("the home folder is not known: HOME is not set", "Set HOME, or name the file itself.")
    return Path(os.path.abspath(target))


def no_such_client(clients: Clients, name: str, *, what: str, known: list[str]) -> ZaxyError:
    advice = clients.how_to_get(name) or f"Use one of {', '.join(known)}."
    return InvalidRequest(f"{name!r:.40} is not a client {what}", advice)


def _guarded(bound: BoundProvider, host: PluginHost) -> Client:
    target = bound.instance if hasattr(bound.instance, "find") else ConfigOnly(bound.name, bound.instance)
    return cast(Client, _Guarded(target, bound, host))


class _Guarded:
    """A provider, or its hooks, each of whose members is asked for and called through the host's guard."""

    def __init__(self, target: object, bound: BoundProvider, host: PluginHost) -> None:
        self._target, self._bound, self._host = target, bound, host

    def __getattr__(self, member: str) -> Any:
        what = f"{self._bound.name}.{member}"
        value = self._host.run(self._bound.row, "call", what, lambda: getattr(self._target, member))
        if member == "hooks" and value is not None:
            return _Guarded(value, self._bound, self._host)
        if not callable(value):
            return value
        return lambda *given: self._host.run(self._bound.row, "call", f"{what}()", lambda: value(*given))


class ConfigOnly:
    """A writer of plugin API 0.1 as a client: it edits its configuration, and nothing else is known of it."""

    signs = ClientSigns()
    hooks = None
    capture = None

    def __init__(self, name: str, writer: object) -> None:
        self.title = name
        self.next_step = f"{name}: start it here again."
        self._writer = writer

    def __getattr__(self, member: str) -> Any:
        return getattr(self._writer, member)

    def own_command(self, server: ServerEntry) -> str:
        return ""

    def find(self, text: str, name: str) -> ServerEntry | None:
        """What the entry says is not known to it, only that it is there."""
        return ServerEntry(name) if self._writer.remove(text, name) != text else None  # type: ignore[attr-defined]
