"""One append without what other stores need, where the log is in files: it would take three times as long to start."""

from __future__ import annotations

from functools import partial

from zaxy.api.event_types import CORE_FAMILIES, KEPT_FAMILIES, family_of
from zaxy.eventloom.admission import admit
from zaxy.eventloom.citation import Citation
from zaxy.eventloom.quick import is_in_files, quick_files
from zaxy.plugins.kept_manifests import kept_of_plugins
from zaxy.plugins.secret_rows import redact_rows_of_plugins

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from zaxy.eventloom.record import Entry
    from zaxy.workspace import Workspace


def quick_append(
    workspace: Workspace,
    session: Callable[[Workspace], str],
    *,
    package: str,
    event_type: str,
    actor: str,
    payload: object,
    **details: Any,
) -> dict[str, Any]:
    """What an append answers. `package`: on whose behalf it is; empty for nobody's."""
    redact_rows_of_plugins(workspace.stored_settings)
    admitted = partial(admit, event_type, actor, payload, **details)
    entry = _admitted_for(package, workspace, admitted) if _may_be_owned(event_type, workspace) else admitted()
    there = _append_to_files if is_in_files(workspace) else _append_elsewhere
    workspace.claim()  # the default session is named after what the project has from now on
    return there(workspace, session(workspace), entry)


def _may_be_owned(event_type: str, workspace: Workspace) -> bool:
    """Whether a package may own the type. If none does, manifests are not read: that takes time."""
    family = family_of(event_type)
    if family in CORE_FAMILIES or family in KEPT_FAMILIES:
        return family in KEPT_FAMILIES
    return family in kept_of_plugins(workspace.stored_settings)["families"]


def _admitted_for(package: str, workspace: Workspace, admitted: partial[Entry]) -> Entry:
    from zaxy.plugins.families import Families, context_of

    return context_of(package).run(admitted, families=Families.of(workspace))


def _append_to_files(workspace: Workspace, session: str, entry: Entry) -> dict[str, Any]:
    line = quick_files(workspace).append(session, [entry])[0]
    place = {"seq": line.seq, "id": line.record["id"], "hash": line.hash}
    reply = {**place, "citation": str(Citation(session, line.seq, line.hash)), "session_id": session}
    return reply if line.record["salt"] == entry.salt.hex() else {**reply, "replayed": True}


def _append_elsewhere(workspace: Workspace, session: str, entry: Entry) -> dict[str, Any]:
    from zaxy.eventloom.drafts import draft_of
    from zaxy.eventloom.opening import open_event_log
    from zaxy.retrieve.cited_replies import event_reply

    event, new = open_event_log(workspace).append_each(session, [draft_of(entry)])[0]
    return event_reply(event, replayed=not new)
