"""Putting the server's entry into a client's file, and taking it out: a writer edits the text, this moves the bytes."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from zaxy.api.models import ServerEntry
from zaxy.api.points import IdeConfigWriter
from zaxy.clients.files import (
    ConfigFile,
    delete_file,
    drop_backup,
    drop_empty_folders,
    encoded,
    read_file,
    write_file,
)
from zaxy.errors import Unavailable, ZaxyError, error_of
from zaxy.plugins.host import BoundProvider, PluginHost
from zaxy.plugins.roster import load_roster
from zaxy.settings import Settings

POINT = "ide_config_writers"


@dataclass(frozen=True)
class Change:
    """A file before and after; None stands for no file."""

    path: Path
    before: bytes | None
    after: bytes | None
    backup: Path | None = None

    @property
    def changed(self) -> bool:
        return self.before != self.after


@contextmanager
def client_writers(stored: Mapping[str, object]) -> Iterator[PluginHost]:
    """A host of the writers that needs no workspace: a writer keeps nothing, and what it may keep is thrown away."""
    settings = Settings(stored=stored).lenient()
    with tempfile.TemporaryDirectory(prefix="zaxy-clients-") as scratch:
        yield PluginHost(load_roster(settings), settings, Path(scratch), "clients")


def writer_of(host: PluginHost, client: str) -> IdeConfigWriter:
    """The writer of a client, built in or of a plugin."""
    return GuardedWriter(host.get(POINT, client))


class GuardedWriter:
    """A writer whose calls pass the plugin host's guard."""

    def __init__(self, bound: BoundProvider) -> None:
        self._bound = bound

    @property
    def scopes(self) -> Sequence[str]:
        return tuple(self._bound.value("scopes"))

    def target(self, scope: str, workspace: Path, home: Path, environ: Mapping[str, str]) -> Path:
        return Path(self._bound.call("target", scope, workspace, home, environ))

    def render(self, server: ServerEntry) -> str:
        return str(self._bound.call("render", server))

    def install(self, text: str, server: ServerEntry, force: bool) -> str:
        return str(self._bound.call("install", text, server, force))

    def remove(self, text: str, name: str) -> str:
        return str(self._bound.call("remove", text, name))


def target_of(
    writer: IdeConfigWriter, scope: str, workspace: Path, home: Path | None, environ: Mapping[str, str]
) -> Path:
    """The file of a scope; a home folder that is not known is an error only where it is needed."""
    nowhere = Path("~")
    target = writer.target(scope, workspace, home or nowhere, environ)
    if nowhere in target.parents:
        raise Unavailable("the home folder is not known: HOME is not set", "Set HOME, or name the file itself.")
    return Path(os.path.abspath(target))


def install(
    writer: IdeConfigWriter, path: Path, server: ServerEntry, force: bool = False, inside: Path | None = None
) -> Change:
    """Put the entry into the file, and keep a backup of what was there."""
    read = read_file(path, _around(path, inside))
    change = _installed(writer, read, server, force)
    if change.after is None or not change.changed:
        return change
    backup = write_file(read, change.after.decode("utf-8"))
    return Change(path, change.before, change.after, backup)


def remove(writer: IdeConfigWriter, path: Path, name: str, inside: Path | None = None) -> Change:
    """Take the entry out of the file; a file that held nothing else goes, and a backup that says no more does too."""
    read = read_file(path, _around(path, inside))
    change = _removed(writer, read, name)
    if not change.changed:
        return change
    if change.after is None:
        delete_file(read)
        if inside is not None and inside in path.parents:
            drop_empty_folders(path, inside)
    else:
        write_file(read, change.after.decode("utf-8"), keep_backup=False)
        drop_backup(read, change.after)
    return change


def _around(path: Path, inside: Path | None) -> Path | None:
    return inside if inside is not None and inside in path.parents else None


def _installed(writer: IdeConfigWriter, read: ConfigFile, server: ServerEntry, force: bool) -> Change:
    with _naming(read.path):
        after = writer.install(read.text, server, force)
    return Change(read.path, read.content, encoded(read.path, after))


def _removed(writer: IdeConfigWriter, read: ConfigFile, name: str) -> Change:
    if not read.exists:
        return Change(read.path, None, None)
    with _naming(read.path):
        text = read.text
        after = writer.remove(text, name)
    if after == text:
        return Change(read.path, read.content, read.content)
    # A file that was there and empty stays; only its backup can tell it from one that was made.
    was_empty = not after and read_file(read.backup).content == b""
    return Change(read.path, read.content, encoded(read.path, after) if after or was_empty else None)


@contextmanager
def _naming(path: Path) -> Iterator[None]:
    """Name the file in what a writer refuses: it sees only text."""
    try:
        yield
    except ZaxyError as error:
        if str(path) in error.message:
            raise
        raise error_of(error.code, f"{path}: {error.message}", error.remediation) from None
