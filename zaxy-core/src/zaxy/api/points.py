"""What a provider must do: one Protocol for each extension point.

Rules for all of them: a class is called with a `ProviderContext`, and does no heavy work until a method needs it.
A method returns a finished value, never a generator, so that its time limit covers the work. All calls of one outside
provider come from one thread. A method that cannot meet a request raises `ZaxyError`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Protocol, runtime_checkable

from zaxy.api.access import MemoryAccess
from zaxy.api.client_hooks import HookCommand, HookHandler
from zaxy.api.clients import ClientCapture, ClientSigns
from zaxy.api.command_line import CommandCall
from zaxy.api.health import Checkup, Finding
from zaxy.api.http_models import HttpRefusal, HttpRequest, HttpResponse, Identity
from zaxy.api.models import (
    AsOf,
    Batch,
    Candidate,
    Cursor,
    Draft,
    EdgeRow,
    EntityRef,
    EntityRow,
    Event,
    Extraction,
    GraphStats,
    JsonObject,
    KeyPair,
    Parcel,
    Query,
    Reading,
    Receipt,
    ServerEntry,
    Source,
    Tool,
)
from zaxy.api.pack_models import Prompt, PromptMessage, Resource, ResourceContent


@runtime_checkable
class Follower(Protocol):
    """Something derived from the log, which may be deleted and built again."""

    def cursor(self, session: str) -> Cursor | None:
        """How far it has followed a session, as committed; None before the first batch."""
        ...

    def apply(self, batch: Batch, cursor: Cursor) -> None:
        """Take a batch and the cursor after it in one transaction; what it has taken before changes nothing."""
        ...

    def digest(self, session: str) -> str:
        """A hash over all that it holds of a session: equal after a rebuild, different after any change."""
        ...

    def wipe(self, session: str) -> None:
        """Forget a session, cursor included, so that no byte of it can be read from disk again."""
        ...

    def close(self) -> None:
        """Let go of files and connections; nothing is called afterwards."""
        ...


@runtime_checkable
class ProjectionBackend(Follower, Protocol):
    """A graph store that keeps every version of an entity or an edge, and when it held.

    A new version ends the one that holds at its `valid_from`; where a later one is there already it ends where that
    begins, known from the first as closed. An unchanged row is not written again. Content is the summary and the
    properties of an entity, and of an edge all but its ends, its relation and `valid_from`. Closings come before the
    rows of their event; one of an entity leaves its edges.

    Rows come newest `opened_seq` first, then by type, then by name; edges nearest first, then newest, then by relation,
    source and target. Names are ordered in the form in which they match: NFKC, trimmed, case-folded.
    """

    def entities(self, session: str, names: Sequence[str], as_of: AsOf, limit: int) -> Sequence[EntityRow]:
        """The entities whose names match, compared after NFKC, trimming and case folding."""
        ...

    def rows_of_events(self, session: str, seqs: Sequence[int], as_of: AsOf) -> Sequence[EntityRow]:
        """The entity rows that the given events opened and that hold at that moment."""
        ...

    def neighbours(
        self,
        session: str,
        start: Sequence[EntityRef],
        *,
        relations: Sequence[str],
        depth: int,
        as_of: AsOf,
        limit: int,
    ) -> Sequence[EdgeRow]:
        """The edges within `depth` steps of the start, either way along them; no relations means all, nearest first."""
        ...

    def current(self, session: str, entity_types: Sequence[str], as_of: AsOf, limit: int) -> Sequence[EntityRow]:
        """The entities of the given types that hold at that moment."""
        ...

    def stats(self, session: str) -> GraphStats:
        """How many rows there are."""
        ...


@runtime_checkable
class StoredLog(Protocol):
    """One state of a session's log, as a store keeps it: lines, which the core proves before it believes them."""

    @property
    def head(self) -> Cursor | None:
        """The durable end when this was opened; None in a session without events."""
        ...

    def lines(self, seqs: Sequence[int]) -> Mapping[int, bytes]:
        """The lines of these events, found without reading the others; numbers that are not there are left out."""
        ...

    def lines_after(self, seq: int, limit: int) -> Sequence[bytes]:
        """At most `limit` lines behind an event (0: from the first), oldest first, none behind `head`."""
        ...

    def close(self) -> None:
        """Let go of what was opened for it."""
        ...


@runtime_checkable
class EventStore(Protocol):
    """Where the log lives: files on a disk, or a database that several servers share.

    A store keeps lines, each byte for byte as `plan_append` makes it and without its line end: so a log can move from
    one store to another with all its hashes. The core removes secrets, checks bounds and proves what it reads.
    """

    def sessions(self) -> Sequence[str]:
        """The sessions that have events, sorted."""
        ...

    def append(self, session: str, drafts: Sequence[Draft]) -> Sequence[bytes]:
        """Append all of them or none, and return each one's line only when all would survive a loss of power.

        A draft whose idempotency key the session has seen before returns the first event's line, erased or not; with
        other content than one that can still be compared it is a conflict.
        """
        ...

    def open(self, session: str) -> StoredLog:
        """The session's log as it is now: later appends are not seen, and what is erased later may be gone."""
        ...

    def by_key(self, session: str, key: str) -> bytes | None:
        """The line of the event that used an idempotency key."""
        ...

    def refs(self, session: str) -> Sequence[bytes]:
        """The lines of all events of type `memory.ref.updated`, oldest first."""
        ...

    def erase(self, session: str, seq: int, record: Draft) -> bytes:
        """Erase one event's payload and salt for good and append the record of it, both or neither.

        The record's payload names `seq` and `hash`: an event that is not there is `not_found`, one with another hash
        or without a payload a conflict. Returns the record's line.
        """
        ...

    def wait(self, session: str, after: int, seconds: float) -> bool:
        """Whether the session has an event behind that number, waiting for one at most so long."""
        ...

    def close(self) -> None:
        """Let go of files and connections; nothing is called afterwards."""
        ...


@runtime_checkable
class RetrievalLane(Protocol):
    """Ranked candidates for a question. A lane with the capability `follower` is a `Follower` too."""

    def search(self, query: Query) -> Sequence[Candidate]:
        """At most `query.limit` candidates of the session, best first; none where nothing fits."""
        ...


@runtime_checkable
class WordSimilarity(Protocol):
    """What a lane with the capability `word-similarity` has besides: it is asked when a checkout is judged."""

    def similar_words(self, words: Sequence[str], texts: Sequence[str]) -> Sequence[Sequence[float]]:
        """For each text how near in meaning its nearest word is to each of `words`: from 0, nothing, to 1, the same."""
        ...


@runtime_checkable
class Reranker(Protocol):
    """What a lane with the capability `rerank` has besides: it reads the question and a few texts together."""

    def rerank(self, question: str, texts: Sequence[str]) -> Sequence[float]:
        """How likely each text answers the question, from 0 to 1. No scores at all: it has no model for that now."""
        ...


@runtime_checkable
class Extractor(Protocol):
    """A pure function of one event. Its rows are added to those of the built-in rules; they replace and close none."""

    @property
    def version(self) -> str:
        """Changes whenever the same event would give other rows: followers are then rebuilt."""
        ...

    def extract(self, event: Event) -> Extraction:
        """The rows of one event, the same every time; no rows for an event it has nothing to say about."""
        ...


@runtime_checkable
class EventFamily(Protocol):
    """The rule for the event types of a family, a pure function of one event. The manifest says all else of them."""

    @property
    def version(self) -> str:
        """Changes whenever the same event would give other rows: followers are then rebuilt."""
        ...

    def extract(self, event: Event) -> Extraction:
        """The rows of an event of the family, the same every time: of the types that the manifest names for it.

        It may end entities of the family's own types, and no others.
        """
        ...


@runtime_checkable
class CaptureAdapter(Protocol):
    """Reads what a client writes anyway, and turns it into observations by position."""

    def sources(self, workspace: Path) -> Sequence[Source]:
        """The client's sessions that belong to this workspace, and no others."""
        ...

    def read(self, source: Source, mark: str, limit: int) -> Reading:
        """At most `limit` observations after a mark (empty: from the start); a torn last record waits for its rest."""
        ...


@runtime_checkable
class ClientHooks(Protocol):
    """The hooks of a client. Editing is text in, text out: the core reads, backs up and writes the files."""

    @property
    def files(self) -> Sequence[str]:
        """Where the client looks for hooks in a project, the file that Zaxy writes to first."""
        ...

    @property
    def triggers(self) -> Sequence[str]:
        """The triggers that its hooks record."""
        ...

    @property
    def trust(self) -> str:
        """What the user does so that the client runs the hooks; empty where it runs them at once."""
        ...

    def install(self, text: str, command: HookCommand, force: bool, moments: bool) -> str:
        """The file's text with our handlers, those for `MOMENTS` only if asked; ours are a conflict unless forced."""
        ...

    def find(self, text: str) -> Sequence[HookHandler]:
        """Our handlers in a file, in their order; comments and other texts that name Zaxy are none."""
        ...

    def remove(self, text: str) -> str:
        """The file's text without our handlers: what was there before `install`, byte for byte."""
        ...

    def invalid_reason(self, text: str) -> str:
        """Why the client would run no hook of this file; empty if it would."""
        ...

    def off_switch(self, text: str) -> str:
        """The setting in this file that turns every hook off; empty if none does."""
        ...

    def is_trusted(self, handler: HookHandler, path: Path, environ: Mapping[str, str]) -> bool:
        """Whether the client runs this handler of the file at `path`, as far as can be known."""
        ...


@runtime_checkable
class Client(Protocol):
    """A client, described whole. Editing is text in, text out: the core reads, backs up and writes the files."""

    @property
    def title(self) -> str:
        """What people call it."""
        ...

    @property
    def signs(self) -> ClientSigns:
        """What shows that it is used in a project, or installed."""
        ...

    @property
    def scopes(self) -> Sequence[str]:
        """The scopes it can install into, the default first; none if it only prints."""
        ...

    def target(self, scope: str, workspace: Path, home: Path, environ: Mapping[str, str]) -> Path:
        """The file that a scope's configuration lives in."""
        ...

    def own_command(self, server: ServerEntry) -> str:
        """The command with which the client itself adds the server, printed unless a scope is named; empty if none."""
        ...

    def render(self, server: ServerEntry) -> str:
        """The fragment to paste into the client's configuration."""
        ...

    def install(self, text: str, server: ServerEntry, force: bool) -> str:
        """The file's text with the entry added; an entry of that name is a conflict unless forced."""
        ...

    def find(self, text: str, name: str) -> ServerEntry | None:
        """The entry of that name in the file, if there is one."""
        ...

    def remove(self, text: str, name: str) -> str:
        """The file's text without the entry: what was there before `install`, byte for byte."""
        ...

    @property
    def hooks(self) -> ClientHooks | None:
        """Its hooks; None if it has none."""
        ...

    @property
    def capture(self) -> ClientCapture | None:
        """How its sessions are captured from its own files; None if they are not."""
        ...

    @property
    def next_step(self) -> str:
        """What its user does once it is set up."""
        ...


@runtime_checkable
class ExportSink(Protocol):
    """Delivers a bundle: its bytes or, with the capability `rows`, its entries as rows."""

    def check(self, destination: str) -> None:
        """Refuse a destination that can't or mustn't be used, before anything is built or opened."""
        ...

    def deliver(self, parcel: Parcel, destination: str, token: str) -> Receipt:
        """Deliver the parcel whole or not at all; `token` is empty where none is needed."""
        ...


@runtime_checkable
class SigningAlgorithm(Protocol):
    """Makes keys, signs and verifies."""

    def generate(self, passphrase: bytes) -> KeyPair:
        """A new key pair, the private key encrypted unless the passphrase is empty."""
        ...

    def public_key(self, pem: bytes) -> bytes:
        """The raw public key in a public key's PEM."""
        ...

    def sign(self, private_pem: bytes, passphrase: bytes, message: bytes) -> bytes:
        """The signature of a message."""
        ...

    def verify(self, public_key: bytes, message: bytes, signature: bytes) -> bool:
        """Whether the signature is that key's over that message; False, not an error, for malformed ones."""
        ...


@runtime_checkable
class ToolPack(Protocol):
    """More MCP tools over the same memory."""

    def tools(self) -> Sequence[Tool]:
        """The tools, in the order in which they are listed."""
        ...

    def call(
        self, tool: str, arguments: JsonObject, memory: MemoryAccess, progress: Callable[[float, str], None]
    ) -> JsonObject:
        """The tool's structured result; the arguments already satisfy its input schema."""
        ...


@runtime_checkable
class ResourcePack(Protocol):
    """What a tool pack with the capability `resources` has besides."""

    def resources(self) -> Sequence[Resource]:
        """What can be read, and templates of it, in the order in which they are listed; always the same."""
        ...

    def read(self, path: str, memory: MemoryAccess) -> Sequence[ResourceContent]:
        """What is at a path, listed or not; `NotFound` where nothing is. Memory can only be read."""
        ...


@runtime_checkable
class PromptPack(Protocol):
    """What a tool pack with the capability `prompts` has besides."""

    def prompts(self) -> Sequence[Prompt]:
        """The prompts, in the order in which they are listed; always the same."""
        ...

    def prompt(self, name: str, arguments: Mapping[str, str], memory: MemoryAccess) -> Sequence[PromptMessage]:
        """The messages of a listed prompt, whose required arguments are there. Memory can only be read."""
        ...


@runtime_checkable
class Command(Protocol):
    """Words behind `zaxy`. One class may serve several of them: `call.words` says which were typed."""

    def run(self, call: CommandCall) -> int:
        """Run it, print, and return the exit code: 0 done, 1 the thing asked for is not so, 2 wrong usage.

        It runs in the main thread and as long as it takes. A `ZaxyError` is printed as every command prints one.
        """
        ...


@runtime_checkable
class HealthCheck(Protocol):
    """Looks at what a package needs, such as a server, a model or a file of its own, and says what to do."""

    def check(self, checkup: Checkup) -> Sequence[Finding]:
        """The rows, in the order in which they are shown; it changes nothing. An exception is shown as an error."""
        ...


@runtime_checkable
class HttpRoutes(Protocol):
    """Answers requests on paths of the HTTP server, which its manifest names. The server has checked host, origin and
    size, and who asks. `memory` is limited to what they may do."""

    def answer(self, request: HttpRequest, memory: MemoryAccess) -> HttpResponse:
        """What a request on one of its paths, or below it, is answered. A `ZaxyError` gives the status of its code."""
        ...


@runtime_checkable
class HealthFix(Protocol):
    """What a health check with the capability `fix` has besides."""

    def fix(self, checkup: Checkup) -> None:
        """Put right all that may be put right without asking. The doctor calls `check` again afterwards."""
        ...


@runtime_checkable
class HttpAuth(Protocol):
    """Decides who is let in over HTTP. A call that raises, or takes too long, lets nobody in."""

    @property
    def public_paths(self) -> Sequence[str]:
        """Whole paths that need no identity: only ones that routes of the same package answer, without memory."""
        ...

    def identify(self, request: HttpRequest) -> Identity | HttpRefusal:
        """Who sent a request, by its headers, peer and path; its body is not read yet. Or why it is refused."""
        ...
