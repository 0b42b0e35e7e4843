"""Everything that a plugin may import. Each name is loaded when it is first used."""

from __future__ import annotations

TYPE_CHECKING = False

if TYPE_CHECKING:
    from zaxy.access import as_package as as_package
    from zaxy.api.access import MemoryAccess as MemoryAccess
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
    from zaxy.api.command_line import (
        CommandCall as CommandCall,
        TyperCommand as TyperCommand,
        current_call as current_call,
    )
    from zaxy.api.health import Checkup as Checkup, Finding as Finding
    from zaxy.api.hookspecs import hookimpl as hookimpl
    from zaxy.api.http_models import (
        HttpRefusal as HttpRefusal,
        HttpRequest as HttpRequest,
        HttpResponse as HttpResponse,
        Identity as Identity,
        json_response as json_response,
        sse_chunk as sse_chunk,
    )
    from zaxy.api.hunks import (
        bytes_in as bytes_in,
        hunks_of as hunks_of,
        lines_in as lines_in,
        numbers_of_edit as numbers_of_edit,
        whole_file as whole_file,
    )
    from zaxy.api.log_access import LogAccess as LogAccess
    from zaxy.api.models import (
        MAX_ANSWERS as MAX_ANSWERS,
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
        ExportRow as ExportRow,
        ExtractedEvent as ExtractedEvent,
        Extraction as Extraction,
        ForeignEvent as ForeignEvent,
        GraphStats as GraphStats,
        ImportReceipt as ImportReceipt,
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
    from zaxy.api.pack_models import (
        Prompt as Prompt,
        PromptArgument as PromptArgument,
        PromptMessage as PromptMessage,
        Resource as Resource,
        ResourceContent as ResourceContent,
    )
    from zaxy.api.points import (
        CaptureAdapter as CaptureAdapter,
        Client as Client,
        ClientHooks as ClientHooks,
        Command as Command,
        EventFamily as EventFamily,
        EventStore as EventStore,
        ExportSink as ExportSink,
        Extractor as Extractor,
        Follower as Follower,
        HealthCheck as HealthCheck,
        HealthFix as HealthFix,
        HttpAuth as HttpAuth,
        HttpRoutes as HttpRoutes,
        ProjectionBackend as ProjectionBackend,
        PromptPack as PromptPack,
        Reranker as Reranker,
        ResourcePack as ResourcePack,
        RetrievalLane as RetrievalLane,
        SigningAlgorithm as SigningAlgorithm,
        StoredLog as StoredLog,
        ToolPack as ToolPack,
        WordSimilarity as WordSimilarity,
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
    from zaxy.assemble.checkout import Checkout as Checkout
    from zaxy.assemble.purpose import purpose_profile as purpose_profile
    from zaxy.assemble.quality import Quality as Quality
    from zaxy.assemble.replies import (
        Bootstrap as Bootstrap,
        Capabilities as Capabilities,
        Context as Context,
        Erasure as Erasure,
        RecordedTurn as RecordedTurn,
        SubagentCleanup as SubagentCleanup,
        SynthesisRecord as SynthesisRecord,
    )
    from zaxy.atomic_write import atomic_file as atomic_file
    from zaxy.commands.event_names import (
        event_meant as event_meant,
    )
    from zaxy.commands.given import (
        given_text as given_text,
    )
    from zaxy.commands.hot import Argument as Argument, hot_command as hot_command
    from zaxy.commands.moments import (
        moment as moment,
    )
    from zaxy.commands.options import (
        EVENT as EVENT,
        JSON as JSON,
        PLACE as PLACE,
        PURPOSE as PURPOSE,
        SESSION_ID as SESSION_ID,
        Option as Option,
        purpose_of as purpose_of,
    )
    from zaxy.commands.typer_options import (
        AsJson as AsJson,
        EventloomPath as EventloomPath,
        SessionId as SessionId,
        WorkspaceFolder as WorkspaceFolder,
    )
    from zaxy.errors import (
        CannotImport as CannotImport,
        Conflict as Conflict,
        Forbidden as Forbidden,
        InternalError as InternalError,
        InvalidRequest as InvalidRequest,
        NotFound as NotFound,
        TooLarge as TooLarge,
        Unavailable as Unavailable,
        UnknownTool as UnknownTool,
        ZaxyError as ZaxyError,
        shown as shown,
    )
    from zaxy.eventloom.admission import SENSITIVITIES as SENSITIVITIES
    from zaxy.eventloom.bulk import canonical_json as canonical_json, canonical_object as canonical_object
    from zaxy.eventloom.canonical import (
        MAX_DEPTH as MAX_DEPTH,
        MAX_INTEGER as MAX_INTEGER,
        NotCanonical as NotCanonical,
    )
    from zaxy.eventloom.citation import (
        Citation as Citation,
        parse_citation as parse_citation,
        short_citation as short_citation,
    )
    from zaxy.eventloom.lines import (
        erase_payload as erase_payload,
        plan_append as plan_append,
        prove_line as prove_line,
        verify_lines as verify_lines,
    )
    from zaxy.eventloom.log import utc_now as utc_now
    from zaxy.eventloom.reader import after_damage as after_damage
    from zaxy.extract.kinds import (
        KINDS as KINDS,
        kind_of as kind_of,
        payload_of_kind as payload_of_kind,
    )
    from zaxy.extract.known_types import (
        KNOWN_TYPES as KNOWN_TYPES,
        near_type as near_type,
    )
    from zaxy.extract.rules import extract as extract
    from zaxy.extract.times import utc_text as utc_text
    from zaxy.follow.loop import FollowerFindings as FollowerFindings, FollowerState as FollowerState
    from zaxy.observe.stats import stats_of as stats_of
    from zaxy.observe.subagent_sessions import parent_session as parent_session
    from zaxy.plugins.calls import signing_algorithms as signing_algorithms
    from zaxy.plugins.install_hints import install_hint as install_hint
    from zaxy.plugins.sealed_files import read_sealed as read_sealed, write_sealed as write_sealed
    from zaxy.plugins.signing_keys import (
        DEFAULT_ALGORITHM as DEFAULT_ALGORITHM,
        KeyFiles as KeyFiles,
        Signer as Signer,
        is_signature as is_signature,
        opened as opened,
        read_key as read_key,
        read_passphrase as read_passphrase,
        read_private as read_private,
        signer_of as signer_of,
    )
    from zaxy.printing import (
        one_line as one_line,
        pass_on as pass_on,
        say as say,
        say_wrapped as say_wrapped,
        wrapped as wrapped,
    )
    from zaxy.retrieve.cited_replies import (
        appended as appended,
        cited_for as cited_for,
        event_reply as event_reply,
        with_short_citations as with_short_citations,
    )
    from zaxy.retrieve.profiles import PROFILES as PROFILES
    from zaxy.retrieve.results import (
        Answer as Answer,
        Position as Position,
        Result as Result,
        cursor_text as cursor_text,
        position_of as position_of,
    )
    from zaxy.security.paths import make_folder_for as make_folder_for, own_folder_within as own_folder_within
    from zaxy.security.private_text import without_private as without_private
    from zaxy.security.small_files import (
        open_named_file as open_named_file,
        read_named_file as read_named_file,
        read_small_json as read_small_json,
    )
    from zaxy.terminal.checkout_page import checkout_page as checkout_page, judgement_page as judgement_page
    from zaxy.terminal.event_page import event_page as event_page
    from zaxy.terminal.event_row import row_page as row_page
    from zaxy.terminal.history_page import (
        history_page as history_page,
        rows_page as rows_page,
    )
    from zaxy.terminal.results_page import query_page as query_page, verbatim_page as verbatim_page
    from zaxy.terminal.screen import (
        BOLD as BOLD,
        DIM as DIM,
        Terminal as Terminal,
        plain as plain,
        print_page as print_page,
        print_rows as print_rows,
    )
    from zaxy.terminal.start_page import bootstrap_page as bootstrap_page, capabilities_page as capabilities_page
    from zaxy.terminal.stats_page import stats_page as stats_page
    from zaxy.text.passages import passages_of as passages_of
    from zaxy.token_count import count_tokens as count_tokens


_HOMES = {
    "zaxy.access": "as_package",
    "zaxy.api.access": "MemoryAccess",
    "zaxy.api.catalog": "API_CURRENT API_FLOOR POINTS",
    "zaxy.api.client_hooks": "HookCommand HookEvent HookHandler JsonHooks",
    "zaxy.api.clients": "ClientCapture ClientSigns FileClient server_entry",
    "zaxy.api.command_line": "CommandCall TyperCommand current_call",
    "zaxy.api.health": "Checkup Finding",
    "zaxy.api.hookspecs": "hookimpl",
    "zaxy.api.http_models": "HttpRefusal HttpRequest HttpResponse Identity json_response sse_chunk",
    "zaxy.api.hunks": "bytes_in hunks_of lines_in numbers_of_edit whole_file",
    "zaxy.api.log_access": "LogAccess",
    "zaxy.api.models": "AsOf Batch Candidate Closing Cursor Damage Draft Edge EdgeRow Entity EntityRef EntityRow "
    "Event ExportRow ExtractedEvent Extraction ForeignEvent GraphStats ImportReceipt JsonObject KeyPair MAX_ANSWERS "
    "NewLine Observation Page Parcel PlannedAppend Query Reading Receipt Report ServerEntry Source Tool",
    "zaxy.api.names": "folded_name",
    "zaxy.api.pack_models": "Prompt PromptArgument PromptMessage Resource ResourceContent",
    "zaxy.api.points": "CaptureAdapter Client ClientHooks Command EventFamily EventStore ExportSink Extractor Follower "
    "HealthCheck HealthFix HttpAuth HttpRoutes ProjectionBackend PromptPack Reranker ResourcePack "
    "RetrievalLane SigningAlgorithm StoredLog ToolPack WordSimilarity",
    "zaxy.api.provider": "Provider ProviderContext",
    "zaxy.api.versions": "Version as_known beginning comes_last content_of earlier_ends earlier_text "
    "end_versions holds last_of open_version seen",
    "zaxy.assemble.checkout": "Checkout",
    "zaxy.assemble.purpose": "purpose_profile",
    "zaxy.assemble.quality": "Quality",
    "zaxy.assemble.replies": "Bootstrap Capabilities Context Erasure RecordedTurn SubagentCleanup SynthesisRecord",
    "zaxy.errors": "CannotImport Conflict Forbidden InternalError InvalidRequest NotFound TooLarge Unavailable "
    "UnknownTool ZaxyError shown",
    "zaxy.atomic_write": "atomic_file",
    "zaxy.commands.event_names": "event_meant",
    "zaxy.commands.given": "given_text",
    "zaxy.commands.hot": "Argument hot_command",
    "zaxy.commands.moments": "moment",
    "zaxy.commands.options": "EVENT JSON Option PLACE PURPOSE SESSION_ID purpose_of",
    "zaxy.commands.typer_options": "AsJson EventloomPath SessionId WorkspaceFolder",
    "zaxy.eventloom.admission": "SENSITIVITIES",
    "zaxy.eventloom.bulk": "canonical_json canonical_object",
    "zaxy.eventloom.canonical": "MAX_DEPTH MAX_INTEGER NotCanonical",
    "zaxy.eventloom.citation": "Citation parse_citation short_citation",
    "zaxy.eventloom.reader": "after_damage",
    "zaxy.eventloom.lines": "erase_payload plan_append prove_line verify_lines",
    "zaxy.eventloom.log": "utc_now",
    "zaxy.extract.kinds": "KINDS kind_of payload_of_kind",
    "zaxy.extract.known_types": "KNOWN_TYPES near_type",
    "zaxy.extract.rules": "extract",
    "zaxy.extract.times": "utc_text",
    "zaxy.follow.loop": "FollowerFindings FollowerState",
    "zaxy.observe.stats": "stats_of",
    "zaxy.observe.subagent_sessions": "parent_session",
    "zaxy.plugins.calls": "signing_algorithms",
    "zaxy.plugins.install_hints": "install_hint",
    "zaxy.plugins.sealed_files": "read_sealed write_sealed",
    "zaxy.plugins.signing_keys": "DEFAULT_ALGORITHM KeyFiles Signer is_signature opened read_key read_passphrase "
    "read_private signer_of",
    "zaxy.printing": "one_line pass_on say say_wrapped wrapped",
    "zaxy.retrieve.cited_replies": "appended cited_for event_reply with_short_citations",
    "zaxy.retrieve.profiles": "PROFILES",
    "zaxy.retrieve.results": "Answer Position Result cursor_text position_of",
    "zaxy.security.paths": "make_folder_for own_folder_within",
    "zaxy.security.private_text": "without_private",
    "zaxy.security.small_files": "open_named_file read_named_file read_small_json",
    "zaxy.terminal.checkout_page": "checkout_page judgement_page",
    "zaxy.terminal.event_page": "event_page",
    "zaxy.terminal.event_row": "row_page",
    "zaxy.terminal.history_page": "history_page rows_page",
    "zaxy.terminal.results_page": "query_page verbatim_page",
    "zaxy.terminal.screen": "BOLD DIM Terminal plain print_page print_rows",
    "zaxy.terminal.stats_page": "stats_page",
    "zaxy.terminal.start_page": "bootstrap_page capabilities_page",
    "zaxy.text.passages": "passages_of",
    "zaxy.token_count": "count_tokens",
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names.split()}


def __getattr__(name: str) -> object:
    if name not in _HOME_OF:
        raise AttributeError(f"zaxy.api has no {name!r}")
    from importlib import import_module

    return getattr(import_module(_HOME_OF[name]), name)


def __dir__() -> list[str]:
    return sorted(_HOME_OF)
