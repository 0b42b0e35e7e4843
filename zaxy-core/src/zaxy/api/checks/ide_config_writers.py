"""Checks of `ide_config_writers`."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from zaxy.api.checks import Case, CheckFailed, Workbench, check, expect, expect_refusal
from zaxy.api.checks.shape import expect_shape
from zaxy.api.models import ServerEntry
from zaxy.api.points import IdeConfigWriter
from zaxy.errors import ZaxyError

POINT = "ide_config_writers"

SERVER = ServerEntry(
    "zaxy",
    command="/opt/zaxy/bin/zaxy",
    args=("serve", "--eventloom-path", "/srv/my memory/.eventloom"),
    env={"ZAXY_DOMAIN": "lighthouse"},
)
MOVED = replace(SERVER, command="/usr/local/bin/zaxy-moved")
REMOTE = ServerEntry("zaxy", url="https://memory.example/mcp")
NEIGHBOUR = replace(SERVER, name="zaxy-two", command="/opt/neighbour/bin/zaxy")


@dataclass(frozen=True)
class IdeConfigWriterCase(Case):
    existing: str
    """A configuration file with another server in it, as a person might keep it: odd spacing, and comments if the
    format has them. It has no server named zaxy."""
    malformed: str
    """A file that the client itself could not read."""


def texts(case: IdeConfigWriterCase, writer: IdeConfigWriter) -> list[str]:
    """The files to try an installation on; none if the writer only prints."""
    if not writer.scopes:
        return []
    one_line_end = case.existing.replace("\r\n", "\n").rstrip("\n") + "\n"
    return ["", case.existing, one_line_end.removesuffix("\n"), one_line_end.replace("\n", "\r\n")]


def installed(writer: IdeConfigWriter, text: str, server: ServerEntry, force: bool = False) -> str:
    try:
        after = writer.install(text, server, force)
    except ZaxyError as error:
        raise CheckFailed(f"{server.name} could not be installed into {text!r}: {error}") from error
    expect(isinstance(after, str), f"install() must return the file's text, and returned {after!r}")
    return after


def removed(writer: IdeConfigWriter, text: str, name: str) -> str:
    try:
        after = writer.remove(text, name)
    except ZaxyError as error:
        raise CheckFailed(f"{name} could not be removed from {text!r}: {error}") from error
    expect(isinstance(after, str), f"remove() must return the file's text, and returned {after!r}")
    return after


@check(POINT)
def it_has_the_methods_of_its_protocol(case: IdeConfigWriterCase, bench: Workbench) -> None:
    """Compare your class with zaxy.api.IdeConfigWriter: a method is missing or takes other parameters."""
    expect_shape(POINT, bench.make(case))


@check(POINT)
def it_renders_all_that_starts_the_server(case: IdeConfigWriterCase, bench: Workbench) -> None:
    """Put the server's name, its command, every argument and every environment variable into the fragment."""
    fragment = bench.make(case).render(SERVER)
    wanted = (SERVER.name, SERVER.command, *SERVER.args, *SERVER.env, *SERVER.env.values())
    missing = [part for part in wanted if part not in fragment]
    expect(not missing, f"{missing!r} should be in the fragment, which is {fragment!r}")


@check(POINT)
def a_remote_server_is_rendered_with_its_url_or_refused(case: IdeConfigWriterCase, bench: Workbench) -> None:
    """Render `url` when the entry has one; if the client knows no remote servers, raise ZaxyError."""
    writer = bench.make(case)
    try:
        fragment = writer.render(REMOTE)
    except ZaxyError:
        return
    expect(REMOTE.url in fragment, f"{REMOTE.url} should be in the fragment, which is {fragment!r}")


@check(POINT)
def it_writes_down_nothing_of_its_surroundings(case: IdeConfigWriterCase, bench: Workbench) -> None:
    """Render what the entry holds and nothing else: the process's environment is full of secrets."""
    writer = bench.make(case)
    with environment_variable("ZAXY_CANARY_TOKEN", "canary-5c1e"):
        written = [writer.render(SERVER), *(installed(writer, text, SERVER) for text in texts(case, writer))]
    # The text itself stays out of the message: it may hold every secret of the machine that runs the check.
    leaking = sum("canary-5c1e" in text for text in written)
    expect(leaking == 0, f"{leaking} of {len(written)} texts hold a variable of the environment that the entry has not")


@contextmanager
def environment_variable(name: str, value: str) -> Iterator[None]:
    os.environ[name] = value
    try:
        yield
    finally:
        del os.environ[name]


@check(POINT)
def its_targets_lie_in_the_workspace_or_the_home_it_was_given(case: IdeConfigWriterCase, bench: Workbench) -> None:
    """Build the path from the arguments, never from Path.home(), os.environ or the current folder; create nothing."""
    writer = bench.make(case)
    workspace, home = bench.scratch / "given-workspace", bench.scratch / "given-home"
    workspace.mkdir()
    home.mkdir()
    for scope in writer.scopes:
        target = Path(writer.target(scope, workspace, home, {}))
        inside = any(folder in target.parents for folder in (workspace, home)) and ".." not in target.parts
        expect(inside, f"the scope {scope!r} of {workspace} and {home} should lie in one of them, and is {target}")
    created = [path.name for folder in (workspace, home) for path in folder.iterdir()]
    expect(not created, f"target() must only name a file, and has created {created!r}")


@check(POINT)
def a_scope_that_it_does_not_have_is_refused(case: IdeConfigWriterCase, bench: Workbench) -> None:
    """Raise ZaxyError in `target` for a scope that is not in `scopes`, and say which ones there are."""
    writer = bench.make(case)
    expect_refusal(
        lambda: writer.target("no-such-scope", bench.scratch, bench.scratch, {}), "the scope 'no-such-scope'"
    )


@check(POINT)
def an_installed_entry_starts_the_server(case: IdeConfigWriterCase, bench: Workbench) -> None:
    """Put the same into the file as into the fragment, also when the file is empty or does not exist yet."""
    writer = bench.make(case)
    for text in texts(case, writer):
        after = installed(writer, text, SERVER)
        missing = [part for part in (SERVER.name, SERVER.command, *SERVER.args) if part not in after]
        expect(not missing, f"{missing!r} should be in the file, which is now {after!r}")


@check(POINT)
def installing_keeps_every_byte_that_was_there(case: IdeConfigWriterCase, bench: Workbench) -> None:
    """Splice the entry into the text; do not parse the file and write it out again: comments and spacing would go."""
    writer = bench.make(case)
    for text in texts(case, writer):
        after = installed(writer, text, SERVER)
        spliced = any(after.startswith(text[:place]) and after.endswith(text[place:]) for place in range(len(text) + 1))
        expect(
            spliced and len(after) > len(text),
            f"{text!r} should be kept with one piece put in, and became {after!r}",
        )


@check(POINT)
def removing_gives_back_the_file_as_it_was(case: IdeConfigWriterCase, bench: Workbench) -> None:
    """Take out exactly what `install` put in, its blank lines, commas and enclosing sections included."""
    writer = bench.make(case)
    for text in texts(case, writer):
        after = removed(writer, installed(writer, text, SERVER), SERVER.name)
        expect(after == text, f"before the installation there was {text!r}, and after the removal {after!r}")


@check(POINT)
def removing_an_entry_leaves_its_neighbours(case: IdeConfigWriterCase, bench: Workbench) -> None:
    """Compare names whole: `zaxy` and `zaxy-two` are two servers, and only one of them goes."""
    writer = bench.make(case)
    for text in texts(case, writer):
        wanted = installed(writer, text, NEIGHBOUR)
        after = removed(writer, installed(writer, wanted, SERVER), SERVER.name)
        expect(after == wanted, f"without {SERVER.name} the file should be {wanted!r}, and is {after!r}")


@check(POINT)
def removing_what_is_not_there_changes_nothing(case: IdeConfigWriterCase, bench: Workbench) -> None:
    """Return the text itself when it has no entry of that name; that is no error."""
    writer = bench.make(case)
    for text in texts(case, writer):
        after = removed(writer, text, SERVER.name)
        expect(after == text, f"{text!r} has no {SERVER.name} to remove, and became {after!r}")


@check(POINT)
def an_entry_of_that_name_is_a_conflict(case: IdeConfigWriterCase, bench: Workbench) -> None:
    """Raise Conflict(...) if there is an entry of that name and `force` is false, even an equal one."""
    writer = bench.make(case)
    for text in texts(case, writer):
        once = installed(writer, text, SERVER)
        refusal = expect_refusal(partial(writer.install, once, MOVED, False), "a second installation")
        expect(refusal.code == "conflict", f"the code should be 'conflict', and is {refusal.code!r}")


@check(POINT)
def force_replaces_the_entry_and_only_it(case: IdeConfigWriterCase, bench: Workbench) -> None:
    """With `force` put the new entry exactly where the old one was; where there is none, install as usual."""
    writer = bench.make(case)
    for text in texts(case, writer):
        wanted = installed(writer, text, MOVED)
        for before in (installed(writer, text, SERVER), text):
            after = installed(writer, before, MOVED, force=True)
            expect(after == wanted, f"forced into {before!r} the file should be {wanted!r}, and is {after!r}")


@check(POINT)
def a_malformed_file_is_refused(case: IdeConfigWriterCase, bench: Workbench) -> None:
    """Read the file as the client would before changing it, and raise ZaxyError if it could not, forced or not."""
    writer = bench.make(case)
    for force in (False, True) if writer.scopes else ():
        expect_refusal(partial(writer.install, case.malformed, SERVER, force), "a malformed file")
