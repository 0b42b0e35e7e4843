"""What can be expected to be observed of a client by everybody who works with it."""

from __future__ import annotations

from collections.abc import Set

from zaxy.clients.installed import Clients, InstalledClient
from zaxy.errors import ZaxyError
from zaxy.extract.observations import OBSERVATIONS
from zaxy.observe.hook_events import TRIGGERS
from zaxy.observe.recording import read_recording
from zaxy.workspace import Workspace


def expected_kinds(clients: Clients, workspace: Workspace, sources: Set[str]) -> Set[str]:
    """What the clients of some sources give; of no sources, the clients that were set up here; of none, everything."""
    by_name = {name: client for client in clients.all() for name in _names_of(client)}
    named = {source.partition(":")[0] for source in sources}
    if not named:
        named = read_recording(workspace.eventloom).choices.keys() & by_name.keys()
    if not named or named - by_name.keys():
        return set(OBSERVATIONS)
    return set().union(*(_given_by(by_name[name]) for name in named))


def _names_of(client: InstalledClient) -> list[str]:
    capture = client.client.capture
    return [client.name, *([capture.adapter] if capture is not None else [])]


def _given_by(client: InstalledClient) -> set[str]:
    if client.hooks is None:
        return set(OBSERVATIONS)
    try:
        triggers = client.hooks.usual_triggers  # type: ignore[attr-defined]
    except (AttributeError, ZaxyError):  # hooks that are no `JsonHooks` need not tell them apart
        triggers = client.hooks.triggers
    return {TRIGGERS[trigger].type for trigger in triggers if trigger in TRIGGERS} & set(OBSERVATIONS)
