"""`zaxy export | export-push | export-disclose | verify-export | verify-export-subset | import`."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from typing import Annotated, Any, BinaryIO, NamedTuple

import typer

from zaxy.api import (
    AsJson,
    EventloomPath,
    InvalidRequest,
    MemoryAccess,
    SessionId,
    TyperCommand,
    WorkspaceFolder,
    current_call,
    make_folder_for,
)
from zaxy_export.building import export_memory
from zaxy_export.bundle import Signer, Written
from zaxy_export.delivery import STANDARD, bundle_in, bundle_out, push
from zaxy_export.disclosure import disclose
from zaxy_export.importing import import_into
from zaxy_export.option_groups import with_groups
from zaxy_export.selector import DEFAULT_QUERY_LIMIT, LISTS, MAX_QUERY_LIMIT, Selector
from zaxy_export.signing import DEFAULT_ALGORITHM, UNAUDITED, KeyFiles, read_token, signer_of
from zaxy_export.verification import BUNDLE, ENVELOPE, SUBSET, Verified, parts_of_file, verify

TO_FILE = "file"
"""The sink whose destination is a path."""

app = typer.Typer(no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False)


class BundleCommand(TyperCommand):
    app = app


Bundle = Annotated[str, typer.Argument(help="The bundle's file, or - for what is piped in.")]
Grains = Annotated[str, typer.Option("--grains", help="event, semantic, or both, separated by commas. Default: both.")]
Types = Annotated[str, typer.Option("--types", help="Event types, such as decision.made,goal.created. Default: all.")]
Since = Annotated[int | None, typer.Option("--since", min=0, help="Only what came after the event with this seq.")]
MaxSeq = Annotated[int | None, typer.Option("--max-seq", min=1, help="The last event.")]
SinceTime = Annotated[str, typer.Option("--since-time", help="A date or time: only what holds from then on.")]
UntilTime = Annotated[str, typer.Option("--until-time", help="A date or time, inclusive.")]
Query = Annotated[str, typer.Option("--query", help="Words: only events that fit them best.")]
QueryLimit = Annotated[
    int, typer.Option("--query-limit", min=1, max=MAX_QUERY_LIMIT, help="How many events the query takes.")
]
Excluded = Annotated[
    str, typer.Option("--exclude-sensitivities", help="Tiers to leave out, such as confidential,restricted.")
]
Limit = Annotated[
    int | None, typer.Option("--limit", min=1, help="How many of the matching events, the most recent ones.")
]
Private = Annotated[str, typer.Option("--private-key", help="Sign with this key's PEM file.")]
Public = Annotated[str, typer.Option("--public-key", help="The PEM file of the public key that belongs to it.")]
Algorithm = Annotated[str, typer.Option("--algorithm", help="ed25519, or one of a package: ml-dsa-65 of zaxy-mldsa.")]
Passphrase = Annotated[str, typer.Option("--passphrase-file", help="The file that holds the private key's passphrase.")]
Expected = Annotated[
    str | None, typer.Option("--expect-public-key", help="The signer's public key in hex: any other is refused.")
]


class Selection(NamedTuple):
    """The options that select what is exported."""

    grains: Grains = ""
    types: Types = ""
    since: Since = None
    max_seq: MaxSeq = None
    since_time: SinceTime = ""
    until_time: UntilTime = ""
    query: Query = ""
    query_limit: QueryLimit = DEFAULT_QUERY_LIMIT
    exclude_sensitivities: Excluded = ""
    limit: Limit = None

    def selector(self) -> Selector:
        axes = self._asdict()
        axes["kinds"], axes["since_seq"] = axes.pop("types"), axes.pop("since")
        return Selector.of({**axes, **{name: _words(axes[name]) for name in LISTS}})


class SigningKeys(NamedTuple):
    """The options that name the keys to sign with."""

    private_key: Private = ""
    public_key: Public = ""
    algorithm: Algorithm = DEFAULT_ALGORITHM
    passphrase_file: Passphrase = ""

    @contextmanager
    def signer(self) -> Iterator[Signer | None]:
        if bool(self.private_key) != bool(self.public_key):
            missing = "--public-key" if self.private_key else "--private-key"
            raise InvalidRequest(f"signing needs {missing} too", "Name both files of the key pair.")
        if self.private_key:
            with signer_of(KeyFiles(*self)) as signer:
                yield signer
        elif self.passphrase_file or self.algorithm != DEFAULT_ALGORITHM:
            raise InvalidRequest("there is no key to sign with", "Name --private-key and --public-key.")
        else:
            yield None


@app.command("export")
@with_groups(selection=Selection, keys=SigningKeys)
def export(
    out: Annotated[str, typer.Option("--out", help="The file to write, or - for standard output.")],
    session_id: SessionId = None,
    *,
    selection: Selection,
    keys: SigningKeys,
    workspace: WorkspaceFolder = None,
    eventloom_path: EventloomPath = None,
    as_json: AsJson = False,
) -> None:
    _check_out(out, as_json)
    selector = selection.selector()
    call = current_call()
    with (
        call.open_memory(workspace, eventloom_path, session_id=session_id, recorded=True) as memory,
        keys.signer() as signer,
        bundle_out(out) as file,
    ):
        session = memory.session
        written = export_memory(memory, file, selector, signer=signer, progress=call.progress("exporting"))
        _print_doubts(memory)
    _print_written(written, session, destination=out, signer=signer, as_json=as_json)


@app.command("export-push")
@with_groups(selection=Selection, keys=SigningKeys)
def export_push(
    sink: Annotated[str, typer.Option("--sink", help="Where to: file, or that of a package, such as webhook.")],
    dest: Annotated[str, typer.Option("--dest", help="The destination, as the sink names it: a path, a URL.")],
    *,
    auth_token_file: Annotated[
        str, typer.Option("--auth-token-file", help="The file that holds the token the destination asks for.")
    ] = "",
    session_id: SessionId = None,
    selection: Selection,
    keys: SigningKeys,
    workspace: WorkspaceFolder = None,
    eventloom_path: EventloomPath = None,
    as_json: AsJson = False,
) -> None:
    selector = selection.selector()
    token = read_token(auth_token_file) if auth_token_file else ""
    call = current_call()
    with (
        call.open_memory(workspace, eventloom_path, session_id=session_id, recorded=True) as memory,
        keys.signer() as signer,
    ):
        session = memory.session

        def build(file: BinaryIO) -> Written:
            return export_memory(memory, file, selector, signer=signer, progress=call.progress("exporting"))

        if sink == TO_FILE:
            if dest == STANDARD:
                raise InvalidRequest("a sink writes to no pipe", f"Run 'zaxy export --out {STANDARD}'.")
            make_folder_for(dest)
        written, receipt = push(memory.export_sink(sink), destination=dest, token=token, build=build)
        _print_doubts(memory)
    destination, detail = receipt.destination, receipt.detail
    _print_written(written, session, destination=destination, signer=signer, as_json=as_json, detail=detail)


@app.command("export-disclose")
def export_disclose(
    bundle: Bundle,
    out: Annotated[str, typer.Option("--out", help="The file to write, or - for standard output.")],
    *,
    grains: Grains = "",
    kinds: Annotated[
        str, typer.Option("--kinds", help="Kinds of entries, such as decision.made,entity:goal. Default: all.")
    ] = "",
    since: Since = None,
    max_seq: MaxSeq = None,
    since_time: SinceTime = "",
    until_time: UntilTime = "",
    as_json: AsJson = False,
) -> None:
    _check_out(out, as_json)
    selector = Selection(grains, kinds, since, max_seq, since_time, until_time).selector()
    with bundle_in(bundle) as file, bundle_out(out) as subset:
        written = disclose(parts_of_file(file), selector, subset)
    summary = {"out": out, "disclosed": written.entries, "size": written.size, "sha256": written.sha256}
    said = f"{_entries(written.entries)} disclosed in {_place(out)}"
    say(json.dumps(summary) if as_json else said, err=out == STANDARD)


@app.command("verify-export")
def verify_export(bundle: Bundle, expect_public_key: Expected = None, as_json: AsJson = False) -> None:
    _verify(bundle, expect_public_key, BUNDLE, as_json)


@app.command("verify-export-subset")
def verify_export_subset(bundle: Bundle, expect_public_key: Expected = None, as_json: AsJson = False) -> None:
    _verify(bundle, expect_public_key, SUBSET, as_json)


@app.command("import")
def import_(
    bundle: Bundle,
    session_id: Annotated[
        str | None, typer.Option("--session-id", "--session", help="The session that takes the events.")
    ] = None,
    *,
    expect_public_key: Expected = None,
    workspace: WorkspaceFolder = None,
    eventloom_path: EventloomPath = None,
    as_json: AsJson = False,
) -> None:
    call = current_call()
    with call.open_memory(workspace, eventloom_path, session_id=session_id) as memory, bundle_in(bundle) as file:
        done = import_into(memory, file, expect_public_key=expect_public_key, progress=call.progress("importing"))
    if as_json:
        summary = {**done._asdict(), "session_id": done.session, "bundle": asdict(done.bundle)}
        del summary["session"]
        say(json.dumps(summary, indent=2))
        return
    known = f", {done.known:,} were there already" if done.known else ""
    data = f"; {done.as_data:,} of types that only Zaxy writes came as data" if done.as_data else ""
    events = f"{done.new:,} event{'s' if done.new != 1 else ''}"
    say(f"{events} of {done.bundle.session_id} imported into {done.session}{known}{data}")
    if done.bundle.shape == ENVELOPE:
        say("notice: the bundle is not signed: nothing proves where it came from", err=True)
    else:
        _print_key(done.bundle)


def say(text: str, *, err: bool = False) -> None:
    current_call().say(text, err=err)


def _words(text: str) -> list[str] | None:
    return [word for part in text.split(",") if (word := part.strip())] if text else None


def _verify(path: str, expected: str | None, shape: str, as_json: bool) -> None:
    with bundle_in(path) as file:
        found = verify(parts_of_file(file), expected, (shape,))
    if as_json:
        say(json.dumps({"ok": True, **asdict(found)}, indent=2))
        return
    counted = _entries(found.of) if shape == BUNDLE else f"{found.entries:,} of {_entries(found.of)}"
    say(f"good: {counted} of {found.session_id}, signed {found.created_at[:19]}Z")
    _print_key(found)


def _entries(count: int) -> str:
    return f"{count:,} {'entry' if count == 1 else 'entries'}"


def _print_key(found: Verified) -> None:
    say(f"  by the {found.algorithm} key {found.public_key}")
    if not found.pinned:
        said = "the key was not pinned: compare it with the one that you expect, or pass --expect-public-key"
        say(f"notice: {said}", err=True)
    say(f"notice: {UNAUDITED}", err=True)


def _print_doubts(memory: MemoryAccess) -> None:
    for doubt in memory.doubts():
        say(f"warning: {doubt}", err=True)


def _print_written(
    written: Written, session: str, *, destination: str, signer: Signer | None, as_json: bool, detail: str = ""
) -> None:
    if signer:
        say(f"notice: {UNAUDITED}", err=True)
    if as_json:
        summary: dict[str, Any] = {"session_id": session, "out": destination, **written._asdict()}
        del summary["header"]
        summary["signed"] = signer is not None
        say(json.dumps({**summary, "public_key": signer.public_key.hex()} if signer else summary))
        return
    aside = destination == STANDARD
    said = f"{_entries(written.entries)} of {session} in {_place(destination)}"
    say(f"{said} ({detail})" if detail else said, err=aside)
    if signer:
        say(f"  signed by the {signer.algorithm} key {signer.public_key.hex()}", err=aside)


def _place(out: str) -> str:
    return "standard output" if out == STANDARD else out


def _check_out(out: str, as_json: bool) -> None:
    if as_json and out == STANDARD:
        raise InvalidRequest("standard output takes the bundle, which is JSON itself", "Leave out --json.")
