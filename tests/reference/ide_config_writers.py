from __future__ import annotations

import configparser
import io
import os
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from zaxy.api import NotFound, ServerEntry, ZaxyError
from zaxy.api.checks.ide_config_writers import IdeConfigWriterCase
from zaxy.plugins.templates.ide_config_writers import Writer

RIGHT = Writer

EXISTING = """\
; kept by hand
theme=dark

[server.other]\t
  command   =  other --flag=1

# nothing below this line
"""


def case(make: Callable[..., Any], scratch: Path) -> IdeConfigWriterCase:
    return IdeConfigWriterCase(make, existing=EXISTING, malformed="[server.other\ncommand")


class ScopesAsMethod(Writer):
    def scopes(self) -> tuple[str, ...]:  # type: ignore[override]
        return ("project", "user")


class WithoutArguments(Writer):
    def render(self, server: ServerEntry) -> str:
        return super().render(replace(server, args=()))


class WithoutUrl(Writer):
    def render(self, server: ServerEntry) -> str:
        return super().render(replace(server, url=""))


class WholeEnvironment(Writer):
    def render(self, server: ServerEntry) -> str:
        return super().render(replace(server, env={**os.environ, **server.env}))


class RealHome(Writer):
    def target(self, scope: str, workspace: Path, home: Path, environ: Mapping[str, str]) -> Path:
        return super().target(scope, workspace, Path.home(), environ)


class AnyScope(Writer):
    def target(self, scope: str, workspace: Path, home: Path, environ: Mapping[str, str]) -> Path:
        return super().target(scope if scope in self.scopes else "project", workspace, home, environ)


class InstallingHalf(Writer):
    def install(self, text: str, server: ServerEntry, force: bool) -> str:
        return super().install(text, replace(server, args=()), force)


class ParsedAndWrittenAgain(Writer):
    def install(self, text: str, server: ServerEntry, force: bool) -> str:
        config = configparser.ConfigParser(interpolation=None)
        config.read_string("[top]\n" + super().install(text, server, force))
        written = io.StringIO()
        config.write(written)
        return written.getvalue().removeprefix("[top]\n")


class LeavingTheBlankLine(Writer):
    def remove(self, text: str, name: str) -> str:
        removed = super().remove(text, name)
        return removed if removed == text else removed + "\n"


class RemovingByPrefix(Writer):
    def remove(self, text: str, name: str) -> str:
        return super().remove(super().remove(text, name), f"{name}-two")


class RefusingToRemoveNothing(Writer):
    def remove(self, text: str, name: str) -> str:
        removed = super().remove(text, name)
        if removed == text:
            raise NotFound(f"there is no {name}", "Name another one.")
        return removed


class AlwaysForced(Writer):
    def install(self, text: str, server: ServerEntry, force: bool) -> str:
        return super().install(text, server, True)


class Doubling(Writer):
    def install(self, text: str, server: ServerEntry, force: bool) -> str:
        return text + "\n" + self.render(server) if force else super().install(text, server, force)


class Careless(Writer):
    def install(self, text: str, server: ServerEntry, force: bool) -> str:
        try:
            return super().install(text, server, force)
        except ZaxyError:
            return text + "\n" + self.render(server)


WRONG = {
    "it_has_the_methods_of_its_protocol": ScopesAsMethod,
    "it_renders_all_that_starts_the_server": WithoutArguments,
    "a_remote_server_is_rendered_with_its_url_or_refused": WithoutUrl,
    "it_writes_down_nothing_of_its_surroundings": WholeEnvironment,
    "its_targets_lie_in_the_workspace_or_the_home_it_was_given": RealHome,
    "a_scope_that_it_does_not_have_is_refused": AnyScope,
    "an_installed_entry_starts_the_server": InstallingHalf,
    "installing_keeps_every_byte_that_was_there": ParsedAndWrittenAgain,
    "removing_gives_back_the_file_as_it_was": LeavingTheBlankLine,
    "removing_an_entry_leaves_its_neighbours": RemovingByPrefix,
    "removing_what_is_not_there_changes_nothing": RefusingToRemoveNothing,
    "an_entry_of_that_name_is_a_conflict": AlwaysForced,
    "force_replaces_the_entry_and_only_it": Doubling,
    "a_malformed_file_is_refused": Careless,
}
