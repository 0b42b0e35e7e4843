from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from zaxy.api import ClientSigns, HookCommand, JsonHooks, NotFound, ServerEntry, ZaxyError
from zaxy_testkit.checks.ide_config_writers import ClientCase
from zaxy_testkit.templates.case_ide_config_writers import EXISTING, HOOKS
from zaxy_testkit.templates.ide_config_writers import AcmeClient

RIGHT = AcmeClient


def case(make: Callable[..., Any], scratch: Path) -> ClientCase:
    return ClientCase(make, existing=EXISTING, malformed='{"servers": {]}', hooks=HOOKS)


class ScopesAsMethod(AcmeClient):
    def scopes(self) -> tuple[str, ...]:  # type: ignore[override]
        return ("project", "user")


class WithoutArguments(AcmeClient):
    def render(self, server: ServerEntry) -> str:
        return super().render(replace(server, args=()))


class WithoutUrl(AcmeClient):
    def render(self, server: ServerEntry) -> str:
        return super().render(replace(server, url=""))


class WholeEnvironment(AcmeClient):
    def render(self, server: ServerEntry) -> str:
        return super().render(replace(server, env={**os.environ, **server.env}))


class RealHome(AcmeClient):
    def target(self, scope: str, workspace: Path, home: Path, environ: Mapping[str, str]) -> Path:
        return super().target(scope, workspace, Path.home(), environ)


class AnyScope(AcmeClient):
    def target(self, scope: str, workspace: Path, home: Path, environ: Mapping[str, str]) -> Path:
        return super().target(scope if scope in self.scopes else "project", workspace, home, environ)


class InstallingHalf(AcmeClient):
    def install(self, text: str, server: ServerEntry, force: bool) -> str:
        return super().install(text, replace(server, args=()), force)


class ParsedAndWrittenAgain(AcmeClient):
    def install(self, text: str, server: ServerEntry, force: bool) -> str:
        lines = super().install(text, server, force).splitlines()
        return "\n".join(line for line in lines if not line.strip().startswith("//"))


class LeavingTheBlankLine(AcmeClient):
    def remove(self, text: str, name: str) -> str:
        removed = super().remove(text, name)
        return removed if removed == text else removed + "\n"


class RemovingByPrefix(AcmeClient):
    def remove(self, text: str, name: str) -> str:
        return super().remove(super().remove(text, name), f"{name}-two")


class RefusingToRemoveNothing(AcmeClient):
    def remove(self, text: str, name: str) -> str:
        removed = super().remove(text, name)
        if removed == text:
            raise NotFound(f"there is no {name}", "Name another one.")
        return removed


class AlwaysForced(AcmeClient):
    def install(self, text: str, server: ServerEntry, force: bool) -> str:
        return super().install(text, server, True)


class Doubling(AcmeClient):
    def install(self, text: str, server: ServerEntry, force: bool) -> str:
        return text + "\n" + self.render(server) if force else super().install(text, server, force)


class Careless(AcmeClient):
    def install(self, text: str, server: ServerEntry, force: bool) -> str:
        try:
            return super().install(text, server, force)
        except ZaxyError:
            return text + "\n" + self.render(server)


class FindingTheNameOnly(AcmeClient):
    def find(self, text: str, name: str) -> ServerEntry | None:
        return ServerEntry(name) if super().find(text, name) else None


class AbsoluteSigns(AcmeClient):
    signs = ClientSigns(in_project=("/etc/acme",))


class ShellHooks(JsonHooks):
    """Runs Zaxy through a script of its own, so nobody finds it again."""

    def install(self, text: str, command: HookCommand, force: bool, moments: bool) -> str:
        return super().install(text, replace(command, program=("./acme-hooks.sh",)), force, moments)


class RunningSomethingElse(AcmeClient):
    hooks = ShellHooks(AcmeClient.hooks.files, AcmeClient.hooks.events)


class ClearingHooks(JsonHooks):
    def remove(self, text: str) -> str:
        return ""


class WritingHooksOutAgain(AcmeClient):
    hooks = ClearingHooks(AcmeClient.hooks.files, AcmeClient.hooks.events)


class BlindHooks(JsonHooks):
    """Replaces its handlers without being asked to."""

    def install(self, text: str, command: HookCommand, force: bool, moments: bool) -> str:
        return super().install(text, command, True, moments)


class ForcedHooks(AcmeClient):
    hooks = BlindHooks(AcmeClient.hooks.files, AcmeClient.hooks.events)


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
    "it_finds_the_entry_that_it_installed": FindingTheNameOnly,
    "its_signs_and_files_are_relative": AbsoluteSigns,
    "its_hooks_run_zaxy_and_record_moments": RunningSomethingElse,
    "removing_hooks_gives_back_the_file_as_it_was": WritingHooksOutAgain,
    "hooks_that_are_there_are_a_conflict_and_force_replaces_them": ForcedHooks,
    "a_malformed_file_is_refused": Careless,
}
