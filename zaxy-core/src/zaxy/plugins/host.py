"""The plugin host. It imports a plugin when its provider is first needed, and survives whatever the plugin does."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from functools import cached_property
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, TypeVar

from zaxy.api.catalog import POINTS
from zaxy.api.provider import Provider, ProviderContext
from zaxy.errors import InvalidRequest, NotFound, ZaxyError, error_of
from zaxy.plugins import hung
from zaxy.plugins.discovery import Announcement
from zaxy.plugins.guard import PluginHung, PluginLeft, Runner, describe
from zaxy.plugins.manifest import COMMANDS_POINT, Manifest, Provided
from zaxy.plugins.roster import CORE, InstalledPlugin, Roster, install_advice, load_roster, may_provide, owner_of
from zaxy.plugins.secret_rows import refusals
from zaxy.security.paths import own_folder, own_folder_within
from zaxy.settings import Settings
from zaxy.user_state import state_folder
from zaxy.workspace import Workspace

if TYPE_CHECKING:
    from pluggy import PluginManager

T = TypeVar("T")


class ExtraMissing(ZaxyError):
    """The provider is fine, but an optional package that it needs is not installed."""

    def __init__(self, message: str, install_hint: str) -> None:
        super().__init__("unavailable", message, install_hint)


class PluginTimedOut(ZaxyError):
    """A plugin did not come back in time, or is still busy with a call that did not."""

    def __init__(self, message: str, remediation: str) -> None:
        super().__init__("unavailable", message, remediation)


class PluginHost:
    """Gives out the providers of all extension points, built-in ones and those of plugins."""

    def __init__(self, roster: Roster, settings: Settings, state_root: Path, workspace_id: str) -> None:
        self.roster = roster
        self.notices: list[str] = list(roster.notices)
        """What was left out and why, to be shown with an answer."""
        self._settings = settings
        self._state_root = state_root
        self._workspace_id = workspace_id
        self._budget = settings.plugins_budget
        if self._budget <= 0:
            raise InvalidRequest("ZAXY_PLUGINS_BUDGET must be above 0", "Set it to seconds, such as 10.")
        self._strict = settings.plugins_strict
        self._runners: dict[tuple[str, str], Runner] = {}
        self._loading = threading.RLock()
        self._providers: dict[str, dict[tuple[str, str], Provider]] = {}
        self._bound: dict[tuple[str, str], BoundProvider] = {}
        for row in roster.rows:
            if row.state in ("failed", "incompatible"):
                self._drop(_broken(row))
            elif row.usable:
                self.notices += [f"{row.name} ({row.package}): {refused}" for refused in refusals(row)]

    @cached_property
    def _manager(self) -> PluginManager:
        """Made when a plugin has hooks: most name their providers in their manifests, and pluggy takes time."""
        import pluggy

        from zaxy.api import hookspecs

        manager = pluggy.PluginManager(hookspecs.PROJECT)
        manager.add_hookspecs(hookspecs)
        return manager

    @classmethod
    def of(cls, workspace: Workspace, announcements: Sequence[Announcement] | None = None) -> PluginHost:
        settings = Settings(stored=workspace.stored_settings())
        roster = load_roster(settings, announcements)
        return cls(roster, settings, Path(workspace.eventloom), workspace.identity())

    @classmethod
    def for_command(cls, workspace: Workspace) -> PluginHost:
        """The same for a command, which may need no workspace: where there is none, none is made."""
        settings = Settings(stored=workspace.stored_settings())
        identity = workspace.identity() if os.path.lexists(workspace.identity_file) else ""
        return cls(load_roster(settings), settings, Path(workspace.eventloom), identity)

    def names(self, point: str) -> list[str]:
        """The names of the providers at a point, the core's first. Nothing is imported."""
        return list(dict.fromkeys(provided.name for _, provided in self._provided(point)))

    def get(self, point: str, name: str) -> BoundProvider:
        """The provider that the user chose. If it is broken, that is an error: no other takes its place."""
        if (point, name) in self._bound:
            return self._bound[(point, name)]
        with self._loading:  # of two threads that ask at once, one imports a plugin, and one makes a provider
            return self._bound.get((point, name)) or self._bind(point, name)

    def _bind(self, point: str, name: str) -> BoundProvider:
        owner = owner_of(self.roster, point, name)
        if owner is None:
            raise self._missing(point, name)
        row, _ = owner
        provider = self._load(row)[(point, name)]
        bound = BoundProvider(point, provider, row=row, instance=self._make(row, point, provider), host=self)
        self._bound[(point, name)] = bound
        return bound

    def all(self, point: str) -> list[BoundProvider]:
        """All providers of a point that work. Each of the others leaves a notice."""
        working = []
        for name in self.names(point):
            try:
                working.append(self.get(point, name))
            except ZaxyError as error:
                self._drop(error)
        return working

    def _drop(self, error: ZaxyError) -> None:
        """Continue without a broken provider and leave a notice. In strict mode, raise the error."""
        if self._strict:
            raise error
        self.notice(f"{error.message} {error.remediation}")

    def notice(self, text: str) -> None:
        """Show it with the next answers, once."""
        if text not in self.notices:
            self.notices.append(text)

    def load(self, name: str) -> InstalledPlugin:
        """Import one plugin, and check that its hooks match its manifest. Its row says how that went."""
        row = self.roster.row(name)
        if row.usable:
            try:
                self._load(row)
            except ZaxyError:
                if self._strict:
                    raise
        return self._current(row)

    def run(
        self,
        row: InstalledPlugin,
        stage: str,
        what: str,
        function: Callable[[], T],
        *,
        point: str = "",
        budget: float | None = None,
    ) -> T:
        """Run a plugin's code under guard. A failure is an error that names the plugin. Built-ins need no guard.

        What a plugin provides at one point runs in a thread of its own: a tool that reads memory needs what the same
        package provides for reads.
        """
        if row.package == CORE.package:
            return function()
        runner = self._runners.setdefault((row.package, point), Runner(row.name))
        try:
            return runner.run(what, function, self._budget if budget is None else budget)
        except ZaxyError as error:
            if stage not in ("import", "hooks"):
                raise  # a provider refuses a request in this way
            raise self._failed(row, stage, f"{what}: {error.message}", code=error.code) from None
        except PluginHung as error:
            reason = "Its author should look at it; "
            if stage in hung.STAGES:
                hung.remember_hung(row, str(error), self._budget)
            failed = self._failed(row, stage, str(error), code="unavailable", reason=reason)
            raise PluginTimedOut(failed.message, failed.remediation) from None
        except PluginLeft as error:
            raise self._failed(row, stage, str(error), reason="A plugin may not end the process; ") from None
        except Exception as error:
            message = f"{what} raised {describe(error)}{_where(error)}"
            raise self._failed(row, stage, message) from error

    def _load(self, row: InstalledPlugin) -> dict[tuple[str, str], Provider]:
        """The providers of a plugin, those of its manifest and those of its hooks."""
        key = row.package + "/" + row.name
        if key in self._providers:
            return self._providers[key]
        current = self._current(row)
        if not current.usable:
            raise _broken(current)
        offers = _offers_of(row.manifest)
        if row.manifest is None or len(offers) < len(row.manifest.provides):
            offers |= self._hooked(row)
        self._providers[key] = offers
        self._update(row._replace(state="loaded"))
        return offers

    def _hooked(self, row: InstalledPlugin) -> dict[tuple[str, str], Provider]:
        """Import the plugin's entry module, and take the providers whose targets the manifest leaves to its hooks."""
        module = self.run(row, "import", f"importing {row.module}", lambda: import_module(row.module))
        offers, difference = self.run(row, "hooks", "asking its hooks", lambda: self._ask(row, module))
        if difference:
            raise self._failed(row, "hooks", difference, reason="Its manifest and its hooks disagree; ")
        return offers

    def _ask(self, row: InstalledPlugin, module: ModuleType) -> tuple[dict[tuple[str, str], Provider], str]:
        """The providers that the hooks give, and the first difference from the manifest."""
        self._manager.register(module, name=f"{row.package}/{row.name}")
        others = [plugin for plugin in self._manager.get_plugins() if plugin is not module]
        offers: dict[tuple[str, str], Provider] = {}
        for point in POINTS.values():
            for offered in self._manager.subset_hook_caller(point.hook, others)():
                for provider in offered:
                    if not isinstance(provider, Provider):
                        raise TypeError(f"{point.hook} returned {provider!r}, which is not a zaxy.api.Provider")
                    if (point.name, provider.name) in offers:
                        raise ValueError(f"{point.hook} returned {provider.name!r} twice")
                    offers[(point.name, provider.name)] = provider
        promised = {(p.point, p.name): p for p in row.manifest.provides} if row.manifest else {}
        whole = {key for key, provided in promised.items() if provided.target}
        for point_name, name in sorted(whole & offers.keys()):
            return {}, f"a hook offers the {point_name} provider {name!r}, whose target stands in the manifest already"
        expected = {key: provided for key, provided in promised.items() if key not in whole}
        return offers, next(_differences(expected, offers), "")

    def _make(self, row: InstalledPlugin, point: str, provider: Provider) -> Any:
        def make() -> object:
            module, _, attribute = provider.target.partition(":")
            try:
                target = getattr(import_module(module), attribute)
            except ModuleNotFoundError as error:
                if not provider.install_hint:
                    raise
                from zaxy.plugins.install_hints import shown_hint

                hint = shown_hint(provider.install_hint)
                raise ExtraMissing(f"{provider.name} needs {error.name}", hint) from None
            return target(self._context(row, point, provider))

        return self.run(row, "make", f"making the {point} provider {provider.name!r}", make, point=point)

    def _context(self, row: InstalledPlugin, point: str, provider: Provider) -> ProviderContext:
        return ProviderContext(
            settings={s.env: self._settings.resolve(s).value for s in row.manifest.settings} if row.manifest else {},
            state_dir=self._state_dir(row, point, provider.name),
            workspace_id=self._workspace_id,
            warn=lambda message: self.notices.append(f"{row.name}: {message}"),
            clock=lambda: datetime.fromtimestamp(time.time(), UTC),
            user_dir=Path(state_folder(), "plugins", row.name),
        )

    def _state_dir(self, row: InstalledPlugin, point: str, name: str) -> Path:
        root = str(self._state_root)
        if (row.package, point) == (CORE.package, "event_stores"):
            return Path(own_folder(root, create=True))  # the log itself lies at the root
        inside = f"followers/{point}-{name}" if POINTS[point].follows else f"plugins/{row.name}"
        if point == COMMANDS_POINT and not os.path.lexists(os.path.join(root, inside)):
            return Path(root, inside)  # a command that only looks at files leaves nothing in the current folder
        return Path(own_folder_within(root, inside, create=True))

    def _provided(self, point: str) -> Iterator[tuple[InstalledPlugin, Provided]]:
        if point not in POINTS:
            raise ValueError(f"{point!r} is not an extension point; the points are {', '.join(POINTS)}")
        for row in self.roster.rows:
            if row.usable and row.manifest:
                yield from ((row, provided) for provided in row.manifest.provides if provided.point == point)

    def _missing(self, point: str, name: str) -> ZaxyError:
        """Why there is no such provider: its plugin is not in use, or no installed plugin has it."""
        suspects = [row for row in self.roster.rows if may_provide(row, point, name)]
        for row in suspects:
            if row.manifest and row.manifest.provides:
                return _broken(row)
        known = ", ".join(sorted(self.names(point))) or "none"
        known += "".join(f"; {row.name} ({row.package}) is {row.state}" for row in suspects)
        return NotFound(
            f"no {point} provider is named {name!r} (installed: {known})",
            install_advice(name),
        )

    def _failed(
        self, row: InstalledPlugin, stage: str, error: str, *, code: str = "internal_error", reason: str = ""
    ) -> ZaxyError:
        """Record the failure in the plugin's row. After a failed call, the plugin stays in use."""
        hint = f"{reason}run 'zaxy plugins check {row.name}', upgrade {row.package}, or disable it: "
        hint = f"{hint[0].upper()}{hint[1:]}ZAXY_PLUGINS_DISABLE={row.name}"
        failed = self._current(row).broken("failed", stage, error, hint)
        if stage != "call":
            self._update(failed)
        return _broken(failed, code)

    def _current(self, row: InstalledPlugin) -> InstalledPlugin:
        return next(r for r in self.roster.rows if (r.package, r.name) == (row.package, row.name))

    def _update(self, changed: InstalledPlugin) -> None:
        rows = tuple(
            changed if (row.package, row.name) == (changed.package, changed.name) else row for row in self.roster.rows
        )
        self.roster = self.roster._replace(rows=rows)


class BoundProvider:
    """A provider that is ready to be called."""

    def __init__(
        self, point: str, provider: Provider, *, row: InstalledPlugin, instance: Any, host: PluginHost
    ) -> None:
        self.point = point
        self.provider = provider
        self.row = row
        self.instance = instance
        """The provider itself, for checks and for the core's own providers, which need no guard."""
        self._host = host

    @property
    def name(self) -> str:
        return self.provider.name

    @property
    def is_own(self) -> bool:
        """Whether it is one of the core's."""
        return self.row.package == CORE.package

    def call(self, method: str, *arguments: object, budget: float | None = None, **named: object) -> Any:
        """Call one method of the point's Protocol within a budget of seconds."""
        what = f"{self.provider.name}.{method}()"

        def made() -> Any:
            return getattr(self.instance, method)(*arguments, **named)

        return self._host.run(self.row, "call", what, made, point=self.point, budget=budget)

    def guarded(self, what: str, function: Callable[[], T], *, budget: float | None = None) -> T:
        """Run what uses an object that the provider gave out, as a call of its own methods is run."""
        what = f"{self.provider.name}.{what}"
        return self._host.run(self.row, "call", what, function, point=self.point, budget=budget)

    def value(self, attribute: str, *, stage: str = "call") -> Any:
        """An attribute of the point's Protocol, which may be a property.

        With the stage `make`, a plugin without it is no more of use than one that cannot be made.
        """
        what = f"{self.provider.name}.{attribute}"
        return self._host.run(self.row, stage, what, lambda: getattr(self.instance, attribute), point=self.point)


def _offers_of(manifest: Manifest | None) -> dict[tuple[str, str], Provider]:
    """The providers that a manifest names whole: no hook is asked for them."""
    return {
        (one.point, one.name): Provider(
            one.name, one.target, one.summary, one.stability, one.capabilities, one.install_hint
        )
        for one in (manifest.provides if manifest else ())
        if one.target
    }


def _differences(expected: dict[tuple[str, str], Provided], offers: dict[tuple[str, str], Provider]) -> Iterator[str]:
    """How a plugin's hooks and its manifest disagree, in words."""
    for point, name in sorted(expected.keys() - offers.keys()):
        yield f"the manifest promises the {point} provider {name!r}, but no hook offers it"
    for point, name in sorted(offers.keys() - expected.keys()):
        yield f"a hook offers the {point} provider {name!r}, which the manifest does not mention"
    for key in sorted(expected.keys() & offers.keys()):
        promised, offered = expected[key], offers[key]
        if (promised.stability, promised.capabilities) != (offered.stability, tuple(offered.capabilities)):
            yield (
                f"the {key[0]} provider {key[1]!r} is {offered.stability} with capabilities "
                f"{list(offered.capabilities)} by its hook, {promised.stability} with {list(promised.capabilities)} "
                "by the manifest"
            )


def _broken(row: InstalledPlugin, code: str = "unavailable") -> ZaxyError:
    reason = f" at {row.stage}: {row.error}" if row.error else ""
    return error_of(code, f"the plugin {row.name} ({row.package}) is {row.state}{reason}.", row.hint)


def _where(error: Exception) -> str:
    """The last line of the plugin's own code, for its author."""
    import traceback

    frames = traceback.extract_tb(error.__traceback__)
    return f" ({Path(frames[-1].filename).name}:{frames[-1].lineno})" if frames else ""
