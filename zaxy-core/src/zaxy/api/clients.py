"""What a client is made of, and `FileClient`, which most clients only have to fill in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

from zaxy.api.edit import json as json_text
from zaxy.api.models import ServerEntry
from zaxy.api.provider import ProviderContext
from zaxy.errors import Conflict, InvalidRequest

if TYPE_CHECKING:
    from zaxy.api.points import ClientHooks

PROJECT, USER = "project", "user"


@dataclass(frozen=True, slots=True)
class ClientSigns:
    """What shows that a client is used in a project, or installed on the machine."""

    in_project: tuple[str, ...] = ()
    """Files and folders in the project's folder."""
    at_home: tuple[str, ...] = ()
    """Files and folders in the user's home folder."""
    programs: tuple[str, ...] = ()
    """Programs on the PATH."""


@dataclass(frozen=True, slots=True)
class ClientCapture:
    """How a client's sessions are captured from its own files."""

    adapter: str
    """The provider of `zaxy_capture_adapters` that reads them."""
    file: str = ""
    """The `zaxy-capture.json` that `zaxy init` writes in a folder of the project, such as `.acme/zaxy-capture.json`;
    empty where init sets up no watcher for this client."""


class TextEditor(Protocol):
    """What a `FileClient` edits its file with: `zaxy.api.edit.json`, `zaxy.api.edit.toml`, or a module like them."""

    def value_at(self, text: str, path: tuple[str, ...]) -> Any: ...

    def put(self, text: str, path: tuple[str, ...], value: Any) -> str: ...

    def replace(self, text: str, path: tuple[str, ...], value: Any) -> str: ...

    def take_out(self, text: str, path: tuple[str, ...]) -> str: ...

    def rendered(self, path: tuple[str, ...], value: Any) -> str: ...


class FileClient:
    """A client that keeps its servers by name in a file: name the file, and override what is different."""

    title: ClassVar[str]
    signs: ClassVar[ClientSigns] = ClientSigns()
    project_file: ClassVar[str] = ""
    """The file in the project's folder, for the scope `project`; empty if there is none."""
    user_file: ClassVar[str] = ""
    """The file in the user's home folder, for the scope `user`; empty if there is none."""
    editor: ClassVar[TextEditor] = json_text
    servers: ClassVar[str] = "mcpServers"
    """The name under which the file has the servers."""
    project_variable: ClassVar[str] = ""
    """How the file names the project's folder, for a client that starts servers in another one."""
    hooks: ClassVar[ClientHooks | None] = None
    capture: ClassVar[ClientCapture | None] = None
    next_step: ClassVar[str] = ""

    def __init__(self, context: ProviderContext) -> None:
        """Keeps nothing: texts come in and go out."""

    @property
    def scopes(self) -> Sequence[str]:
        files = {PROJECT: self.project_file, USER: self.user_file}
        return tuple(scope for scope, file in files.items() if file)

    def target(self, scope: str, workspace: Path, home: Path, environ: Mapping[str, str]) -> Path:
        if scope not in self.scopes:
            others = " or ".join(self.scopes)
            there = f"Use {others}." if others else "Its configuration is only printed: paste it yourself."
            raise InvalidRequest(f"{self.title} has no scope {scope!r:.40}", there)
        folder, file = (workspace, self.project_file) if scope == PROJECT else (home, self.user_file)
        return folder.joinpath(*PurePosixPath(file).parts)

    def own_command(self, server: ServerEntry) -> str:
        return ""

    def render(self, server: ServerEntry) -> str:
        return self.editor.rendered((self.servers, server.name), self.entry(server))

    def install(self, text: str, server: ServerEntry, force: bool) -> str:
        path = (self.servers, server.name)
        if self.editor.value_at(text, path) is json_text.MISSING:
            return self.editor.put(text, path, self.entry(server))
        if not force:
            raise Conflict(f"there is a server named {server.name} already", "Pass --force to replace just that entry.")
        return self.editor.replace(text, path, self.entry(server))

    def find(self, text: str, name: str) -> ServerEntry | None:
        entry = self.editor.value_at(text, (self.servers, name))
        return None if entry is json_text.MISSING else server_entry(name, entry)

    def remove(self, text: str, name: str) -> str:
        return self.editor.take_out(text, (self.servers, name))

    def entry(self, server: ServerEntry) -> dict[str, Any]:
        """The server as the file holds it."""
        if server.url:
            values: dict[str, Any] = {"url": server.url, "headers": dict(server.headers)}
        else:
            values = {"command": server.command, "args": list(server.args), "env": dict(server.env)}
        return {key: value for key, value in values.items() if value}


def server_entry(name: str, values: Any) -> ServerEntry:
    """The server that a file's entry describes; what is missing or of another kind is left empty."""
    entry: Mapping[str, Any] = values if isinstance(values, Mapping) else {}
    args = entry.get("args")
    return ServerEntry(
        name,
        command=_text(entry.get("command")),
        args=tuple(map(str, args)) if isinstance(args, list) else (),
        env=_texts(entry.get("env")),
        url=_text(entry.get("url")) or _text(entry.get("httpUrl")),
        headers=_texts(entry.get("headers") or entry.get("http_headers")),
    )


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _texts(value: object) -> dict[str, str]:
    return {str(key): str(text) for key, text in value.items()} if isinstance(value, Mapping) else {}
