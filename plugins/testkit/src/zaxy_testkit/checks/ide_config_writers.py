"""Checks of `ide_config_writers`."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from zaxy.api import ZaxyError
from zaxy.api.client_hooks import MOMENTS, HookCommand
from zaxy.api.models import ServerEntry
from zaxy.api.points import Client, ClientHooks
from zaxy_testkit.checks import Case, CheckFailed, Workbench, check, expect, expect_refusal
from zaxy_testkit.checks.shape import check_shape, member_misfits

POINT = "ide_config_writers"

SERVER = ServerEntry(
    "zaxy",
    command="/opt/zaxy/bin/zaxy",
    args=("serve", "--eventloom-path", "/srv/my memory/.eventloom"),
    env={"ZAXY_DOMAIN": "lighthouse"},
)
MOVED = replace(SERVER, command="/usr/local/bin/zaxy-moved")
REMOTE = ServerEntry("zaxy", url="https://memory.example/mcp")
COMMAND = HookCommand(("/opt/zaxy/bin/zaxy",), "acme", "/srv/my memory/.eventloom")
MOVED_COMMAND = replace(COMMAND, program=("/usr/local/bin/python", "-m", "zaxy"), session="lighthouse-default")
TRIGGERS = frozenset((*MOMENTS, "command", "file-edit", "tool-call", "transcript-turn"))
NEIGHBOUR = replace(SERVER, name="zaxy-two", command="/opt/neighbour/bin/zaxy")


@dataclass(frozen=True)
class ClientCase(Case):
    existing: str
    """A configuration file with another server in it, as a person might keep it: odd spacing, and comments if the
    format has them. It has no server named zaxy."""
    malformed: str
    """A file that the client itself could not read."""
    hooks: str = ""
    """A file of hooks with others' hooks in it, as a person might keep it; empty for a client without hooks."""


def texts(case: ClientCase, client: Client) -> list[str]:
    """The files to try an installation on; none if the client only prints."""
    if not client.scopes:
        return []
    one_line_end = case.existing.replace("\r\n", "\n").rstrip("\n") + "\n"
    return ["", case.existing, one_line_end.removesuffix("\n"), one_line_end.replace("\n", "\r\n")]


def installed(client: Client, text: str, server: ServerEntry, force: bool = False) -> str:
    try:
        after = client.install(text, server, force)
    except ZaxyError as error:
        raise CheckFailed(f"{server.name} could not be installed into {text!r}: {error}") from error
    expect(isinstance(after, str), f"install() must return the file's text, and returned {after!r}")
    return after


def removed(client: Client, text: str, name: str) -> str:
    try:
        after = client.remove(text, name)
    except ZaxyError as error:
        raise CheckFailed(f"{name} could not be removed from {text!r}: {error}") from error
    expect(isinstance(after, str), f"remove() must return the file's text, and returned {after!r}")
    return after


check_shape(POINT)


@check(POINT)
def it_renders_all_that_starts_the_server(case: ClientCase, bench: Workbench) -> None:
    """Put the server's name, its command, every argument and every environment variable into the fragment."""
    fragment = bench.make(case).render(SERVER)
    wanted = (SERVER.name, SERVER.command, *SERVER.args, *SERVER.env, *SERVER.env.values())
    missing = [part for part in wanted if part not in fragment]
    expect(not missing, f"{missing!r} should be in the fragment, which is {fragment!r}")


@check(POINT)
def a_remote_server_is_rendered_with_its_url_or_refused(case: ClientCase, bench: Workbench) -> None:
    """Render `url` when the entry has one; if the client knows no remote servers, raise ZaxyError."""
    client = bench.make(case)
    try:
        fragment = client.render(REMOTE)
    except ZaxyError:
        return
    expect(REMOTE.url in fragment, f"{REMOTE.url} should be in the fragment, which is {fragment!r}")


@check(POINT)
def it_writes_down_nothing_of_its_surroundings(case: ClientCase, bench: Workbench) -> None:
    """Render what the entry holds and nothing else: the process's environment is full of secrets."""
    client = bench.make(case)
    with environment_variable("ZAXY_CANARY_TOKEN", "canary-5c1e"):
        written = [client.render(SERVER), *(installed(client, text, SERVER) for text in texts(case, client))]
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
def its_targets_lie_in_the_workspace_or_the_home_it_was_given(case: ClientCase, bench: Workbench) -> None:
    """Build the path from the arguments, never from Path.home(), os.environ or the current folder; create nothing."""
    client = bench.make(case)
    workspace, home = bench.scratch / "given-workspace", bench.scratch / "given-home"
    workspace.mkdir()
    home.mkdir()
    for scope in client.scopes:
        target = Path(client.target(scope, workspace, home, {}))
        inside = any(folder in target.parents for folder in (workspace, home)) and ".." not in target.parts
        expect(inside, f"the scope {scope!r} of {workspace} and {home} should lie in one of them, and is {target}")
    created = [path.name for folder in (workspace, home) for path in folder.iterdir()]
    expect(not created, f"target() must only name a file, and has created {created!r}")


@check(POINT)
def a_scope_that_it_does_not_have_is_refused(case: ClientCase, bench: Workbench) -> None:
    """Raise ZaxyError in `target` for a scope that is not in `scopes`, and say which ones there are."""
    client = bench.make(case)
    expect_refusal(
        lambda: client.target("no-such-scope", bench.scratch, bench.scratch, {}), "the scope 'no-such-scope'"
    )


@check(POINT)
def an_installed_entry_starts_the_server(case: ClientCase, bench: Workbench) -> None:
    """Put the same into the file as into the fragment, also when the file is empty or does not exist yet."""
    client = bench.make(case)
    for text in texts(case, client):
        after = installed(client, text, SERVER)
        missing = [part for part in (SERVER.name, SERVER.command, *SERVER.args) if part not in after]
        expect(not missing, f"{missing!r} should be in the file, which is now {after!r}")


@check(POINT)
def installing_keeps_every_byte_that_was_there(case: ClientCase, bench: Workbench) -> None:
    """Splice the entry into the text; do not parse the file and write it out again: comments and spacing would go."""
    client = bench.make(case)
    for text in texts(case, client):
        after = installed(client, text, SERVER)
        spliced = any(after.startswith(text[:place]) and after.endswith(text[place:]) for place in range(len(text) + 1))
        expect(
            spliced and len(after) > len(text),
            f"{text!r} should be kept with one piece put in, and became {after!r}",
        )


@check(POINT)
def removing_gives_back_the_file_as_it_was(case: ClientCase, bench: Workbench) -> None:
    """Take out exactly what `install` put in, its blank lines, commas and enclosing sections included."""
    client = bench.make(case)
    for text in texts(case, client):
        after = removed(client, installed(client, text, SERVER), SERVER.name)
        expect(after == text, f"before the installation there was {text!r}, and after the removal {after!r}")


@check(POINT)
def removing_an_entry_leaves_its_neighbours(case: ClientCase, bench: Workbench) -> None:
    """Compare names whole: `zaxy` and `zaxy-two` are two servers, and only one of them goes."""
    client = bench.make(case)
    for text in texts(case, client):
        wanted = installed(client, text, NEIGHBOUR)
        after = removed(client, installed(client, wanted, SERVER), SERVER.name)
        expect(after == wanted, f"without {SERVER.name} the file should be {wanted!r}, and is {after!r}")


@check(POINT)
def removing_what_is_not_there_changes_nothing(case: ClientCase, bench: Workbench) -> None:
    """Return the text itself when it has no entry of that name; that is no error."""
    client = bench.make(case)
    for text in texts(case, client):
        after = removed(client, text, SERVER.name)
        expect(after == text, f"{text!r} has no {SERVER.name} to remove, and became {after!r}")


@check(POINT)
def an_entry_of_that_name_is_a_conflict(case: ClientCase, bench: Workbench) -> None:
    """Raise Conflict(...) if there is an entry of that name and `force` is false, even an equal one."""
    client = bench.make(case)
    for text in texts(case, client):
        once = installed(client, text, SERVER)
        refusal = expect_refusal(partial(client.install, once, MOVED, False), "a second installation")
        expect(refusal.code == "conflict", f"the code should be 'conflict', and is {refusal.code!r}")


@check(POINT)
def force_replaces_the_entry_and_only_it(case: ClientCase, bench: Workbench) -> None:
    """With `force` put the new entry exactly where the old one was; where there is none, install as usual."""
    client = bench.make(case)
    for text in texts(case, client):
        wanted = installed(client, text, MOVED)
        for before in (installed(client, text, SERVER), text):
            after = installed(client, before, MOVED, force=True)
            expect(after == wanted, f"forced into {before!r} the file should be {wanted!r}, and is {after!r}")


@check(POINT)
def it_finds_the_entry_that_it_installed(case: ClientCase, bench: Workbench) -> None:
    """Return the entry of that name with its command, arguments and environment; None where there is none."""
    client = bench.make(case)
    for text in texts(case, client):
        found = client.find(text, SERVER.name)
        expect(found is None, f"{text!r} has no {SERVER.name}, and find() returned {found!r}")
        found = client.find(installed(client, text, SERVER), SERVER.name)
        expect(isinstance(found, ServerEntry), f"find() should return a ServerEntry, and returned {found!r}")
        same = (found.name, found.command, tuple(found.args), dict(found.env)) == (
            (SERVER.name, SERVER.command, SERVER.args, dict(SERVER.env))
        )
        expect(same, f"find() should return what was installed, {SERVER!r}, and returned {found!r}")


@check(POINT)
def its_signs_and_files_are_relative(case: ClientCase, bench: Workbench) -> None:
    """Name signs, hook files and the capture file relative to the project or the home folder, without `..`."""
    client = bench.make(case)
    capture = client.capture
    names = [*client.signs.in_project, *client.signs.at_home, *(client.hooks.files if client.hooks else ())]
    names += [capture.file] if capture is not None and capture.file else []
    wrong = [name for name in names if Path(name).is_absolute() or ".." in Path(name).parts or not name]
    expect(not wrong, f"{wrong!r} should be paths within the project or the home folder")
    if capture is not None and capture.file:
        folder, name = os.path.split(capture.file)
        right = name == "zaxy-capture.json" and folder.startswith(".") and not os.path.dirname(folder)
        expect(right, f"the capture file should be .FOLDER/zaxy-capture.json, and is {capture.file!r}")


@check(POINT)
def its_hooks_run_zaxy_and_record_moments(case: ClientCase, bench: Workbench) -> None:
    """Let each handler run the command's words, for the triggers you name; with `moments`, for those in MOMENTS."""
    hooks = hooks_of(case, bench)
    if hooks is None:
        return
    unknown = sorted(set(hooks.triggers) - TRIGGERS)
    expect(not unknown, f"{unknown!r} are no triggers; those are {sorted(TRIGGERS)!r}")
    for text in hook_texts(case):
        found = hooks.find(hooked(hooks, text))
        expect(
            {each.trigger for each in found} == set(hooks.triggers),
            f"find() should return a handler for each trigger of {hooks.triggers!r}, and returned {found!r}",
        )
        for handler in found:
            words = tuple(handler.words)
            expect(words[: len(COMMAND.program)] == COMMAND.program, f"{words!r} should begin with the program")
            for option, value in (("--source", COMMAND.source), ("--eventloom-path", COMMAND.eventloom)):
                expect(handler.option(option) == value, f"{words!r} should have {option} {value!r}")
        moments = {each.trigger for each in hooks.find(hooks.install(text, COMMAND, False, True))}
        expect(
            moments == set(hooks.triggers) & MOMENTS, f"with `moments`, the triggers should be those, not {moments!r}"
        )


@check(POINT)
def removing_hooks_gives_back_the_file_as_it_was(case: ClientCase, bench: Workbench) -> None:
    """Take out exactly what `install` put in, and nothing of others; a file without ours comes back as it is."""
    hooks = hooks_of(case, bench)
    if hooks is None:
        return
    for text in hook_texts(case):
        for moments in (False, True):
            after = hooks.remove(hooks.install(text, COMMAND, False, moments))
            expect(after == text, f"before the hooks there was {text!r}, and after their removal {after!r}")
        expect(hooks.remove(text) == text, f"{text!r} has no hooks of ours to remove")


@check(POINT)
def hooks_that_are_there_are_a_conflict_and_force_replaces_them(case: ClientCase, bench: Workbench) -> None:
    """Raise Conflict(...) if there are hooks of ours and `force` is false; with it, replace those and nothing else."""
    hooks = hooks_of(case, bench)
    if hooks is None:
        return
    for text in hook_texts(case):
        once = hooked(hooks, text)
        refusal = expect_refusal(partial(hooks.install, once, MOVED_COMMAND, False, False), "a second installation")
        expect(refusal.code == "conflict", f"the code should be 'conflict', and is {refusal.code!r}")
        wanted = hooks.install(text, MOVED_COMMAND, False, False)
        after = hooks.install(once, MOVED_COMMAND, True, False)
        expect(after == wanted, f"forced into {once!r} the file should be {wanted!r}, and is {after!r}")


def hooks_of(case: ClientCase, bench: Workbench) -> ClientHooks | None:
    hooks: ClientHooks | None = bench.make(case).hooks
    if hooks is not None:
        wrong = member_misfits(ClientHooks, hooks)
        expect(not wrong, "; ".join(wrong))
        expect(bool(hooks.files), "hooks need a file that they are written to")
    expect(hooks is None or bool(case.hooks), "give the case a file of hooks: the client has hooks")
    return hooks


def hook_texts(case: ClientCase) -> list[str]:
    return ["", case.hooks, case.hooks.replace("\r\n", "\n").replace("\n", "\r\n")]


def hooked(hooks: ClientHooks, text: str) -> str:
    try:
        return hooks.install(text, COMMAND, False, False)
    except ZaxyError as error:
        raise CheckFailed(f"the hooks could not be installed into {text!r}: {error}") from error


@check(POINT)
def a_malformed_file_is_refused(case: ClientCase, bench: Workbench) -> None:
    """Read the file as the client would before changing it, and raise ZaxyError if it could not, forced or not."""
    client = bench.make(case)
    for force in (False, True) if client.scopes else ():
        expect_refusal(partial(client.install, case.malformed, SERVER, force), "a malformed file")
