"""The families of event types that installed packages own, as their manifests describe them: nobody is imported."""

from __future__ import annotations

from contextvars import Context, ContextVar, copy_context
from functools import cached_property

from zaxy.api.event_types import CORE_FAMILIES, KEPT_FAMILIES, PACKAGE, EventType, family_of
from zaxy.errors import Forbidden
from zaxy.plugins.manifest import FAMILIES_POINT
from zaxy.plugins.roster import Roster, load_roster, owner_of
from zaxy.settings import Settings
from zaxy.tuples import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from zaxy.workspace import Workspace


WRITING_PACKAGE: ContextVar[str] = ContextVar("WRITING_PACKAGE", default="")
"""The package on whose behalf memory is written here; empty for anybody else."""


def context_of(package: str) -> Context:
    """What is known of a request, for the thread of its own in which a package works; and which package that is."""
    context = copy_context()
    context.run(WRITING_PACKAGE.set, package)
    return context


class Family(NamedTuple):
    name: str
    package: str
    types: dict[str, EventType]

    @property
    def entity_types(self) -> frozenset[str]:
        return frozenset([kind for declared in self.types.values() for kind in declared.entities])

    @property
    def living_types(self) -> frozenset[str]:
        """The types of its things that may have ids and titles."""
        return frozenset([kind for declared in self.types.values() for kind in declared.living])

    @property
    def fingerprint(self) -> str:
        """Changes with all that followers keep of the descriptions."""
        from hashlib import sha256

        return sha256(repr(sorted(self.types.values())).encode()).hexdigest()[:12]


class Families:
    """Manifests are read when a type is first asked for that is not the core's."""

    def __init__(self, load: Callable[[], Roster]) -> None:
        self._load = load

    @classmethod
    def of(cls, workspace: Workspace) -> Families:
        return cls(lambda: load_roster(Settings(stored=workspace.stored_settings())))

    @cached_property
    def owned(self) -> dict[str, Family]:
        """The families of packages, by their first words."""
        return {family.name: family for family in families_of(self._load())}

    def owner(self, event_type: str) -> Family | None:
        """The family of a type, if a package owns it."""
        family = family_of(event_type)
        return None if family in CORE_FAMILIES else self.owned.get(family)

    def is_reserved(self, event_type: str) -> bool:
        """Whether only a package may write such an event, or nobody: a family is owned whole."""
        family = self.owner(event_type)
        if family is None:
            return family_of(event_type) in KEPT_FAMILIES
        declared = family.types.get(event_type)
        return declared is None or declared.written_by == PACKAGE

    def refuse(self, event_type: str) -> None:
        """Refuse a type that may not be written on behalf of `WRITING_PACKAGE`."""
        family = self.owner(event_type)
        if family is None:
            _refuse_kept(family_of(event_type))
            return
        declared = family.types.get(event_type)
        if declared is None:
            raise Forbidden(
                f"{family.name}.* are event types of {family.package}, and this is none of them",
                f"It has {', '.join(sorted(family.types))}. Use one of these, or a type of your own.",
            )
        if declared.written_by == PACKAGE and WRITING_PACKAGE.get() != family.package:
            raise Forbidden(
                f"only {family.package} itself writes {event_type}",
                "Use the tools of that package, or an event type of your own.",
            )

    @cached_property
    def housekeeping(self) -> frozenset[str]:
        """The types that packages keep for themselves."""
        return frozenset([one.name for one in self._types if one.housekeeping])

    @cached_property
    def quiet(self) -> frozenset[str]:
        """The types that no search finds by their words."""
        return frozenset([one.name for one in self._types if one.quiet])

    @cached_property
    def sentences(self) -> dict[str, str]:
        """The sentence of each type that has one."""
        return {one.name: one.sentence for one in self._types if one.sentence}

    @cached_property
    def headings(self) -> dict[str, tuple[str, ...]]:
        """The types of entities under each heading of the working set."""
        found: dict[str, dict[str, None]] = {}
        for one in self._types:
            if one.heading:
                found.setdefault(one.heading, {})[one.entities[0]] = None
        return {heading: tuple(kinds) for heading, kinds in found.items()}

    @cached_property
    def living_types(self) -> frozenset[str]:
        """The types of things of all packages that may have ids and titles."""
        return frozenset([kind for family in self.owned.values() for kind in family.living_types])

    @cached_property
    def _types(self) -> list[EventType]:
        return [declared for _, family in sorted(self.owned.items()) for declared in family.types.values()]


def _refuse_kept(family: str) -> None:
    """Refuse a family whose package is not in use."""
    if package := KEPT_FAMILIES.get(family):
        from zaxy.plugins.install_hints import install_hint

        raise Forbidden(
            f"only {package} writes {family}.*, and it is not in use here",
            f"Install or enable it ({install_hint(package)}), or use an event type of your own.",
        )


def families_of(roster: Roster) -> list[Family]:
    """What manifests say of the families that can be used."""
    found = []
    for row, provided in roster.providers:
        owner = owner_of(roster, FAMILIES_POINT, provided.name) if provided.point == FAMILIES_POINT else None
        if owner is not None and owner[0].package == row.package and row.manifest:
            types = [one for one in row.manifest.event_types if family_of(one.name) == provided.name]
            found.append(Family(provided.name, row.package, {one.name: one for one in types}))
    return found


NO_FAMILIES = Families(lambda: Roster((), {}, ()))
"""Where no package counts."""
