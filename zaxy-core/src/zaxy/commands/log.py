"""`zaxy replay | tail | sessions | verify | repair | forget`."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Annotated, Any

import typer

from zaxy.api import (
    EVENT,
    AsJson,
    Citation,
    Erasure,
    EventloomPath,
    InvalidRequest,
    LogAccess,
    NotFound,
    Report,
    SessionId,
    TyperCommand,
    WorkspaceFolder,
    ZaxyError,
    after_damage,
    current_call,
    parse_citation,
    print_rows,
    row_page,
    say,
    say_wrapped,
    short_citation,
)

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)


class LogCommands(TyperCommand):
    app = app


Session = Annotated[str | None, typer.Argument(help="The session. Default: the workspace's default session.")]


@app.command("replay")
def replay(
    source: Annotated[
        str | None, typer.Argument(help="A session, or a log file such as .eventloom/work.jsonl.")
    ] = None,
    from_seq: Annotated[int, typer.Option("--from-seq", min=1, help="The first event.")] = 1,
    *,
    to_seq: Annotated[
        int | None, typer.Option("--to-seq", min=1, help="The last event. Default: the log's end.")
    ] = None,
    session_id: SessionId = None,
    workspace: WorkspaceFolder = None,
    eventloom_path: EventloomPath = None,
    as_json: AsJson = False,
) -> None:
    if to_seq is not None and to_seq < from_seq:
        raise InvalidRequest("--to-seq is before --from-seq", "Swap them.")
    log = _opened(source, workspace, eventloom_path, session_id=session_id)
    records = log.records(first=from_seq, last=to_seq)
    if as_json:
        _print_as_json(log.session, records)
    else:
        for record in records:
            _print_row(log, record)
    _print_damage(log)


@app.command("tail")
def tail(
    session: Session = None,
    follow: Annotated[bool, typer.Option("--follow", "-f", help="Go on as new events come.")] = False,
    *,
    lines: Annotated[int, typer.Option("--lines", "-n", min=0, help="How many of the last events.")] = 10,
    session_id: SessionId = None,
    workspace: WorkspaceFolder = None,
    eventloom_path: EventloomPath = None,
    as_json: AsJson = False,
) -> None:
    log = _opened(session, workspace, eventloom_path, session_id=session_id)
    for record in log.records(first=max(1, log.head() - lines + 1), follow=follow):
        if as_json:
            say(json.dumps(record, ensure_ascii=False))
        else:
            _print_row(log, record)
    _print_damage(log)


@app.command("sessions")
def sessions(workspace: WorkspaceFolder = None, eventloom_path: EventloomPath = None, as_json: AsJson = False) -> None:
    log = current_call().open_log(workspace, eventloom_path)
    found = [_about_session(log, session) for session in log.sessions()]
    if as_json:
        say(json.dumps({"sessions": found}, indent=2))
        return
    if not found:
        say_wrapped('nothing is recorded yet; record something: zaxy remember "The demo is on the 14th"', err=True)
    width = max((len(row["session_id"]) for row in found), default=0)
    for row in found:
        state = f"  {row['state']}" if row["state"] != "ok" else ""
        last = f"{row['last'][:16].replace('T', ' ')} UTC" if row["last"] else "-"
        say_wrapped(f"{row['session_id'].ljust(width)}  {row['events']:>8} events  last {last}{state}")


@app.command("verify")
def verify(
    session: Session = None,
    everything: Annotated[bool, typer.Option("--all", help="Every session of the workspace.")] = False,
    *,
    since: Annotated[str | None, typer.Option("--since", help="A citation that must be in the log.")] = None,
    session_id: SessionId = None,
    workspace: WorkspaceFolder = None,
    eventloom_path: EventloomPath = None,
    as_json: AsJson = False,
) -> None:
    remembered = parse_citation(since) if since else None
    if everything and (session or session_id or remembered):
        raise InvalidRequest("--all goes without a session and --since", "Leave one of them out.")
    if everything:
        log = current_call().open_log(workspace, eventloom_path)
        names = log.sessions()
    else:
        meant = session_id or (remembered.session if remembered else None)
        log = _opened(session, workspace, eventloom_path, session_id=meant)
        names = [log.session]
        _refuse_other_session(remembered, log.session)
    progress = current_call().progress
    reports = [log.verify(name, since=since or "", progress=progress(name, "bytes")) for name in names]
    if as_json:
        proven = [{**_report(report), "state": log.state(report.session)} for report in reports]
        say(json.dumps({"ok": all(report.ok for report in reports), "sessions": proven}, indent=2))
    else:
        for report in reports:
            say_wrapped(_verdict(report))
            for advice in _advice(report, log):
                say_wrapped(advice, err=True)
    raise typer.Exit(0 if all(report.ok for report in reports) else 1)


@app.command("repair")
def repair(
    session: Session = None,
    *,
    session_id: SessionId = None,
    workspace: WorkspaceFolder = None,
    eventloom_path: EventloomPath = None,
    as_json: AsJson = False,
) -> None:
    log = _opened(session, workspace, eventloom_path, session_id=session_id)
    report, cut = log.repair()
    if as_json:
        say(json.dumps({**_report(report), "cut": cut}, indent=2))
    elif report.ok:
        kept = f"; {cut} bytes of an interrupted write are kept in {log.session}.torn" if cut else ""
        say_wrapped(f"{log.session} can be written again{kept}")
    else:
        say_wrapped(_verdict(report))
        say_wrapped(f"Damage in the middle is never cut. {after_damage(log.session)}", err=True)
    if report.ok and not as_json:
        for advice in _advice(report, log):
            say(advice, err=True)
    raise typer.Exit(0 if report.ok else 1)


@app.command("forget")
def forget(
    event: Annotated[str, typer.Argument(help=EVENT)],
    hard: Annotated[bool, typer.Option("--hard", help="Yes, erase it: there is no way back.")] = False,
    *,
    reason: Annotated[str, typer.Option("--reason", help="Why, for the record of the erasure.")] = "asked for",
    actor: Annotated[str, typer.Option("--actor", help="Who asked for it.")] = "user",
    with_copies: Annotated[
        bool, typer.Option("--with-copies", help="Erase the other events that hold its words as well.")
    ] = False,
    session_id: SessionId = None,
    workspace: WorkspaceFolder = None,
    eventloom_path: EventloomPath = None,
    as_json: AsJson = False,
) -> None:
    log = current_call().open_log(workspace, eventloom_path, session_id=session_id)
    cited = parse_citation(log.cite(event))
    if not hard:
        raise InvalidRequest(
            "forgetting erases the payload for good, and --hard was not given",
            "Add --hard if that is meant. To correct a fact and keep its history, append a new event instead.",
        )
    with current_call().open_memory(workspace, eventloom_path, session_id=cited.session) as memory:
        done = memory.forget(str(cited), reason, actor=actor, with_copies=with_copies)
    if as_json:
        say(json.dumps(done.as_dict()))
    else:
        say_wrapped(f"erased {cited.short}; recorded as {done.event.citation}")
        _print_copies(done)
    for said in done.warnings:
        say_wrapped(f"warning: {said}", err=True)


def _print_copies(done: Erasure) -> None:
    for copy in done.erased_copies:
        say_wrapped(f"erased {short_citation(copy.citation)} too ({copy.event_type}: {copy.why})")
    for copy in done.copies:
        say_wrapped(f"{short_citation(copy.citation)} still holds its words ({copy.event_type}: {copy.why})")
    if done.copies:
        say_wrapped("Erase each of them in the same way. --with-copies erases them with the event.", err=True)


def _opened(
    source: str | None, workspace: str | None, eventloom_path: str | None, *, session_id: str | None = None
) -> LogAccess:
    """The log that was named: by session, by file, or by default."""
    if source and (source.endswith(".jsonl") or "/" in source):
        return current_call().open_log(workspace, eventloom_path, file=source)
    return current_call().open_log(workspace, eventloom_path, session_id=source or session_id, recorded=True)


def _refuse_other_session(remembered: Citation | None, session: str) -> None:
    if remembered and remembered.session != session:
        raise InvalidRequest(f"{remembered} is not of the session {session}", "Leave the session out.")


def _print_as_json(session: str, records: Iterable[dict[str, Any]]) -> None:
    """One object, written event by event: a log may be larger than memory. Damage on the way ends it with the error."""
    say(f'{{"session_id": {json.dumps(session)}, "events": [', end="")
    try:
        for index, record in enumerate(records):
            say(f"{',' if index else ''}\n{json.dumps(record, ensure_ascii=False)}", end="")
    except ZaxyError as error:
        say(f'\n], "error": {json.dumps(error.as_dict()["error"])}}}')
        raise typer.Exit(error.exit_code) from None
    say("\n]}")


def _print_row(log: LogAccess, record: dict[str, Any]) -> None:
    print_rows(row_page, {"event": record, "text": log.text(record)})


def _print_damage(log: LogAccess) -> None:
    if log.state() == "damaged":
        said = f"the log of {log.session} is damaged: 'zaxy verify {log.session}' tells where"
        say_wrapped(f"warning: {said}", err=True)


def _about_session(log: LogAccess, session: str) -> dict[str, Any]:
    try:
        last = log.last_event(session)
    except NotFound:
        last = None
    except ZaxyError as error:
        return {"session_id": session, "events": 0, "last": None, "head": None, "state": error.message}
    return {
        "session_id": session,
        "events": last.seq if last else 0,
        "last": last.time if last else None,
        "head": last.citation if last else None,
        "state": log.state(session),
    }


def _report(report: Report) -> dict[str, Any]:
    damage = report.damage
    return {
        "session_id": report.session,
        "ok": report.ok,
        "events": report.events,
        "head": str(Citation(report.session, report.events, report.head)) if report.events else None,
        "erased": report.erased,
        "torn": report.torn,
        "damage": damage._asdict() if damage else None,
        "malformed": [event._asdict() for event in report.malformed],
    }


def _advice(report: Report, log: LogAccess) -> list[str]:
    """What is to be done: about damage, about what it has left behind, and where another log was seen here last."""
    session = report.session
    if report.damage is not None:
        return [after_damage(session)]
    if (state := log.state(session)) != "ok":
        marked = f"{session} is whole, but marked as {state} and so not written to"
        return [f"{marked}: 'zaxy repair {session}' lets it be written again."]
    if difference := log.difference(session):
        accepts = f"'zaxy followers rebuild --session-id {session}' accepts it as it is."
        return [f"{session} is not the log that was last read here: {difference}. {accepts}"]
    return []


def _verdict(report: Report) -> str:
    if report.damage is not None:
        seq, offset, reason = report.damage
        also = ", ".join(str(event.seq) for event in report.malformed if event.seq != seq)
        return f"{report.session}: DAMAGED at event {seq}, byte {offset}: {reason}" + (
            f"; malformed too: {also}" if also else ""
        )
    notes = f", {report.erased} erased" if report.erased else ""
    notes += f", {report.torn} bytes of an interrupted write at the end" if report.torn else ""
    head = Citation(report.session, report.events, report.head).short if report.events else "no events"
    return f"{report.session}: ok, {report.events} events{notes}, head {head}"
