"""The roster: every installed plugin with its state, which manifests and settings alone decide."""

from __future__ import annotations

from zaxy import __version__
from zaxy.api.catalog import API_CURRENT, API_FLOOR, OWN_LANES, POINTS, STORES_OF_LINES, version_text
from zaxy.api.event_types import CORE_FAMILIES, KEPT_FAMILIES
from zaxy.command_table import COMMANDS
from zaxy.errors import Conflict, InvalidRequest, NotFound
from zaxy.plugins.discovery import Announcement, announced
from zaxy.plugins.hung import hung_plugins, left_out
from zaxy.plugins.manifest import (
    CLIENTS_POINT,
    COMMANDS_POINT,
    FAMILIES_POINT,
    ClientFacts,
    Manifest,
    ManifestError,
    Provided,
    PurposeFacts,
    read_manifest,
)
from zaxy.plugins.manifest_fields import PURPOSES
from zaxy.tuples import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from zaxy.settings import Settings

CORE = Announcement("core", "zaxy.plugins", "zaxy-core", __version__)
BUILT_IN_GRAPH = "sqlite"
"""The graph store of the core itself, which many processes may open."""
STATES = ("ready", "loaded", "disabled", "incompatible", "failed")


def install_advice(name: str) -> str:
    """How to get a plugin or a provider. What nobody knows is looked up nowhere."""
    from zaxy.plugins.install_hints import install_hint

    if package := package_of(name):
        return f"Install the package that provides it: {install_hint(package)}"
    return "Check the spelling, or install the package that provides it."


def package_of(name: str) -> str:
    """The package of this tree that brings a plugin, a provider, a preset, an option, a setting or a tool of that name,
    or a command such as `zaxy import`; empty if none does."""
    import json
    import os

    with open(os.path.join(os.path.dirname(__file__), "packages.json"), encoding="utf-8") as file:
        return str(json.load(file).get(name, ""))


def advice_on(name: str, roster: Roster) -> str:
    """What makes something usable that a package of this tree brings; empty for all else, and if it works."""
    package = package_of(name)
    for row in roster.rows:
        if same_package(row.package, package):
            return row.hint
    return install_advice(name) if package else ""


class InstalledPlugin(NamedTuple):
    """One plugin. `stage`, `error` and `hint` say where it broke, why, and what to do next."""

    name: str
    package: str
    version: str
    module: str
    state: str
    manifest: Manifest | None = None
    stage: str = ""
    error: str = ""
    hint: str = ""

    @property
    def usable(self) -> bool:
        return self.state in ("ready", "loaded")

    def broken(self, state: str, stage: str, error: str, hint: str) -> InstalledPlugin:
        return self._replace(state=state, stage=stage, error=error, hint=hint)

    def as_dict(self) -> dict[str, object]:
        manifest = self.manifest
        return {
            "name": self.name,
            "version": self.version,
            "package": self.package,
            "summary": manifest.summary if manifest else "",
            "provides": [p.as_dict() for p in manifest.provides] if manifest else [],
            "api": {"min": version_text(manifest.api_min), "max": version_text(manifest.api_max)} if manifest else None,
            "settings": [s.env for s in manifest.settings] if manifest else [],
            "needs": list(manifest.needs) if manifest else [],
            "event_types": [one.name for one in manifest.event_types] if manifest else [],
            "purposes": [one.name for one in manifest.purposes] if manifest else [],
            "state": self.state,
            "stage": self.stage,
            "error": self.error,
            "hint": self.hint,
        }


class Roster(NamedTuple):
    rows: tuple[InstalledPlugin, ...]
    preferred: dict[tuple[str, str], str]
    """(point, provider name) to the package that the user prefers for it."""
    notices: tuple[str, ...]
    """What is odd about the configuration, such as a disabled plugin that is not installed."""

    @property
    def providers(self) -> list[tuple[InstalledPlugin, Provided]]:
        """Every provider that can be used, beside its plugin."""
        return _usable_providers(self.rows)

    def row(self, name: str) -> InstalledPlugin:
        """The plugin of that name, or of that package."""
        found = [row for row in self.rows if name in (row.name, row.package)]
        if len(found) == 1:
            return found[0]
        if found:
            packages = ", ".join(row.package for row in found)
            raise Conflict(f"{packages} all ship a plugin named {name}", "Name one by its package.")
        installed = ", ".join(row.name for row in self.rows)
        raise NotFound(f"no plugin named {name} is installed (installed: {installed})", install_advice(name))


def _usable_providers(rows: Iterable[InstalledPlugin]) -> list[tuple[InstalledPlugin, Provided]]:
    return [(row, provided) for row in rows if row.usable and row.manifest for provided in row.manifest.provides]


def load_roster(settings: Settings, announcements: Sequence[Announcement] | None = None) -> Roster:
    """Read every manifest and decide each plugin's state. No plugin is imported."""
    found = announced() if announcements is None else announcements
    disabled = frozenset(settings.plugins_disable)
    preferred = _preferences(settings.plugins_prefer)
    rows = [_row(CORE, frozenset())]
    rows += [_row(announcement, disabled) for announcement in found]
    if notes := hung_plugins():
        rows = [left_out(row, notes, settings.plugins_budget) for row in rows]
    rows = _settle_plugin_names(rows)
    rows = [_with_other_lanes(_without_shadows(row)) for row in rows]
    rows = _settle_provider_names(rows, preferred)
    notices = [
        f"ZAXY_PLUGINS_DISABLE names {word!r}, "
        + ("which cannot be disabled" if word in CORE else "which is not installed")
        for word in sorted(disabled)
        if not any(row.name == word or same_package(row.package, word) for row in rows[1:])
    ]
    notices += _idle_preferences(rows, preferred)
    return Roster(tuple(rows), preferred, tuple(notices))


def _row(announcement: Announcement, disabled: frozenset[str]) -> InstalledPlugin:
    row = InstalledPlugin(announcement.name, announcement.package, announcement.version, announcement.module, "ready")
    try:
        manifest = read_manifest(row.module, row.package)
    except ManifestError as error:
        row = row.broken("failed", "manifest", str(error), _upgrade_or_remove(row.package))
    else:
        row = _judged(row._replace(manifest=manifest), manifest)
    if row.name in disabled or any(same_package(row.package, word) for word in disabled):
        return row.broken("disabled", "", "", "Take it out of ZAXY_PLUGINS_DISABLE to use it.")
    return row


def _judged(row: InstalledPlugin, manifest: Manifest) -> InstalledPlugin:
    if manifest.name != row.name:
        return row.broken(
            "failed",
            "manifest",
            f"announced as {row.name!r}, but its manifest says {manifest.name!r}",
            f"Upgrade or remove {row.package}; the entry point and the manifest must name it alike.",
        )
    window = f"this zaxy-core accepts {version_text(API_FLOOR)} to {version_text(API_CURRENT)}"
    if manifest.api_min > API_CURRENT:
        return row.broken(
            "incompatible",
            "api",
            f"it needs plugin API {manifest.api}; {window}",
            f"{_upgrade(CORE.package, 'the core')}.",
        )
    if manifest.api_max < API_FLOOR:
        return row.broken(
            "incompatible",
            "api",
            f"it speaks plugin API {manifest.api}; {window}",
            f"{_upgrade(row.package, 'the plugin')}.",
        )
    if manifest.api_max < STORES_OF_LINES and any(one.point == "event_stores" for one in manifest.provides):
        since = version_text(STORES_OF_LINES)
        return row.broken(
            "incompatible",
            "api",
            f"it speaks plugin API {manifest.api}, and since {since} an event store keeps lines, not events",
            f"{_upgrade(row.package, 'the plugin')}. Its author makes the lines with "
            f'zaxy.api.plan_append, and says "max": "{since}" in the manifest.',
        )
    for provided in manifest.provides:
        owner = _other_owner(row.package, provided.name) if provided.point == FAMILIES_POINT else ""
        if owner:
            return row.broken(
                "failed",
                "name",
                f"it claims the event types {provided.name}.*, and they are {owner}",
                f"Upgrade or remove {row.package}. Its author begins its types with another word.",
            )
    return row


def _other_owner(package: str, family: str) -> str:
    """Whose a family is, if it is not for that package to own; else empty."""
    if family in CORE_FAMILIES:
        return "the core's own"
    keeper = KEPT_FAMILIES.get(family, package)
    return "" if same_package(package, keeper) else f"kept for {keeper}"


def _upgrade(package: str, what: str) -> str:
    from zaxy.plugins.install_hints import upgrade_hint

    return upgrade_hint(package, what)


def _upgrade_or_remove(package: str) -> str:
    from zaxy.plugins.install_hints import remove_hint

    return f"{_upgrade(package, 'it')}, or remove it: {remove_hint(package)}. Its author runs 'zaxy plugins check'."


def _settle_plugin_names(rows: list[InstalledPlugin]) -> list[InstalledPlugin]:
    """If two packages have a plugin of one name, neither is used until one package is disabled."""
    settled = []
    for row in rows:
        others = [o.package for o in rows if o is not row and o.name == row.name and o.state != "disabled"]
        if others and row.state != "disabled" and row.package != CORE.package:
            row = row.broken(
                "failed",
                "name",
                f"the name {row.name!r} is also taken by {', '.join(others)}",
                f"Remove one, or set ZAXY_PLUGINS_DISABLE={row.package}",
            )
        settled.append(row)
    return settled


def _settle_provider_names(rows: list[InstalledPlugin], preferred: dict[tuple[str, str], str]) -> list[InstalledPlugin]:
    """If two providers have one name at one point, the configuration decides, never the order of loading.

    The core's own providers are used unless a plugin is preferred, and so are those of the packages that the core
    names. Of two others, neither is used.
    """
    claims: dict[tuple[str, str], list[InstalledPlugin]] = {}
    for row in rows:
        for claim in row.manifest.claims if row.usable and row.manifest else ():
            claims.setdefault(claim, []).append(row)
    refused: dict[InstalledPlugin, InstalledPlugin] = {}
    for (point, name), claimants in claims.items():
        chosen = [row for row in claimants if same_package(row.package, preferred.get((point, name), ""))]
        if len(claimants) < 2 or len(chosen) == 1:
            continue
        keepers = (CORE.package, package_of(f"zaxy {name}" if point == COMMANDS_POINT else name))
        for row in claimants:
            if row.package in keepers:
                continue
            others = ", ".join(other.package for other in claimants if other is not row)
            refused[row] = row.broken(
                "failed",
                "name",
                f"its {_called(point)} {name!r} is also provided by {others}",
                f"Choose one: ZAXY_PLUGINS_PREFER={point}:{name}={row.package} (or ={others}), or disable one.",
            )
    return [refused.get(row, row) for row in rows]


def _without_shadows(row: InstalledPlugin) -> InstalledPlugin:
    """Refuse a plugin with a command that would stand before or behind one of the core's."""
    for provided in row.manifest.provides if row.usable and row.manifest else ():
        words = provided.words.split()
        for own in COMMANDS if words else ():
            typed = own.words.split()
            if words[: len(typed)] == typed or typed[: len(words)] == words:
                return row.broken(
                    "failed",
                    "manifest",
                    f"its command 'zaxy {provided.words}' would shadow 'zaxy {own.words}' of the core",
                    f"Its author gives it other words. Until then remove it: pip uninstall {row.package}",
                )
    return row


def _with_other_lanes(row: InstalledPlugin) -> InstalledPlugin:
    """Refuse a plugin whose lane is called like one of the core's: nobody could say where a score comes from."""
    for provided in row.manifest.provides if row.usable and row.manifest and row.package != CORE.package else ():
        if provided.point == "retrieval_lanes" and provided.name in OWN_LANES:
            return row.broken(
                "failed",
                "name",
                f"its lane {provided.name!r} has the name of a part of the core's own scores",
                f"Its author gives it another name. Until then remove it: pip uninstall {row.package}",
            )
    return row


def _called(point: str) -> str:
    return "purpose" if point == PURPOSES else f"{point} provider"


def owner_of(roster: Roster, point: str, name: str) -> tuple[InstalledPlugin, Provided] | None:
    """The usable plugin that provides `name` at `point`, after preferences."""
    row = _holder(roster, point, name)
    for provided in row.manifest.provides if row and row.manifest else ():
        if row and (provided.point, provided.name) == (point, name):
            return row, provided
    return None


def _holder(roster: Roster, point: str, name: str) -> InstalledPlugin | None:
    """The usable plugin that a name belongs to, after preferences."""
    holders = [row for row in roster.rows if row.usable and row.manifest and (point, name) in row.manifest.claims]
    preferred = roster.preferred.get((point, name), "")
    if preferred and any(same_package(r.package, preferred) and may_provide(r, point, name) for r in roster.rows):
        return None  # the one that the user chose is broken, and no other takes its place
    chosen = [row for row in holders if preferred and same_package(row.package, preferred)]
    return next(iter(chosen or holders), None)


def purposes_of(roster: Roster) -> list[PurposeFacts]:
    """The presets for purposes that usable plugins bring, by name."""
    found = [
        purpose
        for row in roster.rows
        for purpose in (row.manifest.purposes if row.usable and row.manifest else ())
        if _holder(roster, PURPOSES, purpose.name) is row
    ]
    return sorted(found)


def clients_of(roster: Roster) -> list[ClientFacts]:
    """What manifests say of the clients that can be used, by name."""
    facts = [
        client
        for row in roster.rows
        if row.usable and row.manifest
        for client in row.manifest.clients
        if (owner := owner_of(roster, CLIENTS_POINT, client.name)) is not None and owner[0].package == row.package
    ]
    return sorted(facts, key=lambda client: client.name)


def chosen_graph(settings: Settings) -> str:
    """The name of the graph store that the workspace chose."""
    name = settings.projection_backend
    return settings.embedded_engine if name == "embedded" else name


def same_package(one: str, other: str) -> bool:
    """Whether two names mean one distribution: to installers, `-`, `_` and `.` are the same."""
    return one == other or _folded(one) == _folded(other)


def _folded(package: str) -> str:
    return package.lower().replace("_", "-").replace(".", "-")


def may_provide(row: InstalledPlugin, point: str, name: str) -> bool:
    """Whether a plugin that is not in use provides it, or might: a broken manifest does not say."""
    if row.usable:
        return False
    if row.manifest is None or not row.manifest.claims:
        return row.state != "disabled"
    return (point, name) in row.manifest.claims


def _preferences(words: Sequence[str]) -> dict[tuple[str, str], str]:
    preferred = {}
    for word in sorted(set(words)):
        claim, _, package = word.partition("=")
        point, _, name = claim.partition(":")
        if point not in (*POINTS, PURPOSES) or not name or not package:
            raise InvalidRequest(
                f"ZAXY_PLUGINS_PREFER has {word!r}, which is not point:name=package",
                f"Write for example export_sinks:file=acme-files. The points are {', '.join((*POINTS, PURPOSES))}.",
            )
        preferred[(point, name)] = package
    return preferred


def _idle_preferences(rows: list[InstalledPlugin], preferred: dict[tuple[str, str], str]) -> list[str]:
    usable = [(row.package, row.manifest.claims) for row in rows if row.usable and row.manifest]
    offered = {(point, name, _folded(package)) for package, claims in usable for point, name in claims}
    return [
        f"ZAXY_PLUGINS_PREFER asks for {package} as {point}:{name}, which it does not provide"
        for (point, name), package in sorted(preferred.items())
        if (point, name, _folded(package)) not in offered
    ]
