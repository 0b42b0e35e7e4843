"""Everything that a plugin may import. Each name is loaded when it is first used."""

from __future__ import annotations

TYPE_CHECKING = False

if TYPE_CHECKING:
    from zaxy.api.catalog import API_CURRENT as API_CURRENT, API_FLOOR as API_FLOOR, POINTS as POINTS
    from zaxy.api.client_hooks import (
        HookCommand as HookCommand,
        HookEvent as HookEvent,
        HookHandler as HookHandler,
        JsonHooks as JsonHooks,
    )
    from zaxy.api.clients import (
        ClientCapture as ClientCapture,
        ClientSigns as ClientSigns,
        FileClient as FileClient,
        server_entry as server_entry,
    )
    from zaxy.api.hookspecs import hookimpl as hookimpl
    from zaxy.api.models import (
        AsOf as AsOf,
        Batch as Batch,
        Candidate as Candidate,
        Closing as Closing,
        Cursor as Cursor,
        Damage as Damage,
        Draft as Draft,
        Edge as Edge,
        EdgeRow as EdgeRow,
        Entity as Entity,
        EntityRef as EntityRef,
        EntityRow as EntityRow,
        Event as Event,
        ExtractedEvent as ExtractedEvent,
        Extraction as Extraction,
        GraphStats as GraphStats,
        JsonObject as JsonObject,
        KeyPair as KeyPair,
        NewLine as NewLine,
        Observation as Observation,
        Page as Page,
        Parcel as Parcel,
        PlannedAppend as PlannedAppend,
        Query as Query,
        Reading as Reading,
        Receipt as Receipt,
        Report as Report,
        ServerEntry as ServerEntry,
        Source as Source,
        Tool as Tool,
    )
    from zaxy.api.names import folded_name as folded_name
    from zaxy.api.points import (
        CaptureAdapter as CaptureAdapter,
        Client as Client,
        ClientHooks as ClientHooks,
        EventStore as EventStore,
        ExportSink as ExportSink,
        Extractor as Extractor,
        Follower as Follower,
        MemoryAccess as MemoryAccess,
        ProjectionBackend as ProjectionBackend,
        RetrievalLane as RetrievalLane,
        SigningAlgorithm as SigningAlgorithm,
        StoredLog as StoredLog,
        ToolPack as ToolPack,
    )
    from zaxy.api.provider import Provider as Provider, ProviderContext as ProviderContext
    from zaxy.api.versions import (
        Version as Version,
        as_known as as_known,
        beginning as beginning,
        comes_last as comes_last,
        content_of as content_of,
        earlier_ends as earlier_ends,
        earlier_text as earlier_text,
        end_versions as end_versions,
        holds as holds,
        last_of as last_of,
        open_version as open_version,
        seen as seen,
    )
    from zaxy.errors import (
        Conflict as Conflict,
        Forbidden as Forbidden,
        InternalError as InternalError,
        InvalidRequest as InvalidRequest,
        NotFound as NotFound,
        TooLarge as TooLarge,
        Unavailable as Unavailable,
        UnknownTool as UnknownTool,
        ZaxyError as ZaxyError,
    )
    from zaxy.eventloom.lines import (
        erase_payload as erase_payload,
        plan_append as plan_append,
        prove_line as prove_line,
        verify_lines as verify_lines,
    )
    from zaxy.security.paths import own_folder_within as own_folder_within
    from zaxy.security.small_files import read_named_file as read_named_file, read_small_json as read_small_json


_HOMES = {
    "zaxy.api.catalog": "API_CURRENT API_FLOOR POINTS",
    "zaxy.api.client_hooks": "HookCommand HookEvent HookHandler JsonHooks",
    "zaxy.api.clients": "ClientCapture ClientSigns FileClient server_entry",
    "zaxy.api.hookspecs": "hookimpl",
    "zaxy.api.models": "AsOf Batch Candidate Closing Cursor Damage Draft Edge EdgeRow Entity EntityRef EntityRow "
    "Event ExtractedEvent Extraction GraphStats JsonObject KeyPair NewLine Observation Page Parcel PlannedAppend Query "
    "Reading Receipt Report ServerEntry Source Tool",
    "zaxy.api.names": "folded_name",
    "zaxy.api.points": "CaptureAdapter Client ClientHooks EventStore ExportSink Extractor Follower MemoryAccess "
    "ProjectionBackend RetrievalLane SigningAlgorithm StoredLog ToolPack",
    "zaxy.api.provider": "Provider ProviderContext",
    "zaxy.api.versions": "Version as_known beginning comes_last content_of earlier_ends earlier_text "
    "end_versions holds last_of open_version seen",
    "zaxy.errors": "Conflict Forbidden InternalError InvalidRequest NotFound TooLarge Unavailable UnknownTool "
    "ZaxyError",
    "zaxy.eventloom.lines": "erase_payload plan_append prove_line verify_lines",
    "zaxy.security.paths": "own_folder_within",
    "zaxy.security.small_files": "read_named_file read_small_json",
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names.split()}


def __getattr__(name: str) -> object:
    if name not in _HOME_OF:
        raise AttributeError(f"zaxy.api has no {name!r}")
    from importlib import import_module

    return getattr(import_module(_HOME_OF[name]), name)


def __dir__() -> list[str]:
    return sorted(_HOME_OF)
