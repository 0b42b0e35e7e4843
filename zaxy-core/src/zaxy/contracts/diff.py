"""Tell what changed between two descriptions of a surface, and whether it breaks those who rely on it.

What breaks depends on the side. Of what the core offers, a removal breaks; of what a plugin implements, an addition
that is required breaks as well, and so does any change of the parameters that the core will call it with.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from zaxy.api.catalog import STABILITIES
from zaxy.contracts.snapshot import Item, Items

WORDING = ("summary", "since")
MEMBERS = {"capabilities": "capability", "entities": "entity type", "relations": "relation"}
"""Lists that may grow, and what one of their members is."""
BREAKING, ADDITIVE = "breaking", "additive"


class ContractChange(NamedTuple):
    item: str
    verdict: str
    what: str
    stability: str

    def as_dict(self) -> dict[str, str]:
        return self._asdict()


def compare(old: Items, new: Items) -> list[ContractChange]:
    """Every change from old to new, breaking ones first."""
    changes = [
        *(ContractChange(name, BREAKING, "removed", old[name]["stability"]) for name in old.keys() - new.keys()),
        *(_added(name, new[name], old) for name in new.keys() - old.keys()),
    ]
    for name in old.keys() & new.keys():
        grade = old[name]["stability"]
        changes += [ContractChange(name, verdict, what, grade) for verdict, what in _differences(old[name], new[name])]
    return sorted(changes, key=lambda change: (change.verdict != BREAKING, change.item, change.what))


def _added(name: str, item: Item, old: Items) -> ContractChange:
    """A new method breaks those who implement its Protocol already; a required field, those who write such files.

    A field of the objects in a list that is new itself breaks nobody: no file has such objects yet.
    """
    family = name.partition(".")[0] + "."
    implemented = "method " in family and any(known.startswith(family) for known in old)
    holder, nested, _ = name.rpartition("[].")
    written = item.get("required", False) and (not nested or holder in old)
    demanded = item["side"] == "plugin" and (implemented or written)
    return ContractChange(name, BREAKING if demanded else ADDITIVE, "added", item["stability"])


def _differences(old: Item, new: Item) -> Iterator[tuple[str, str]]:
    built_by_plugin = new["side"] != "core"
    for key in sorted(old.keys() | new.keys()):
        before, after = old.get(key), new.get(key)
        if before == after:
            continue
        if key in WORDING:
            yield ADDITIVE, f"{key} reworded"
        elif key == "stability":
            lowered = STABILITIES.index(str(after)) > STABILITIES.index(str(before))
            yield BREAKING if lowered else ADDITIVE, f"stability {before} became {after}"
        elif key == "required":
            yield BREAKING if after else ADDITIVE, "is required now" if after else "is optional now"
        elif key == "workspace":
            may = "may be set" if after else "may not be set"
            yield BREAKING if before else ADDITIVE, f"{may} by a workspace's own file now"
        elif key == "parameters":
            yield from _parameters(before or [], after or [], fixed=new["side"] == "plugin")
        elif key == "fields":
            yield from _named("field", before or [], after or [], lambda added: built_by_plugin and added["required"])
        elif key == "methods":
            yield from _named("method", before or [], after or [], lambda added: False)
        elif key in MEMBERS:
            yield from _members(MEMBERS[key], set(before or []), set(after or []))
        else:
            yield BREAKING, f"{key} {before!r} became {after!r}"


def _parameters(old: list[Item], new: list[Item], fixed: bool) -> Iterator[tuple[str, str]]:
    """`fixed`: the core calls it, by position, so that nothing about its parameters may change."""
    yield from _named("parameter", old, new, lambda added: fixed or added["required"])
    before, after = _by_name(old), _by_name(new)
    shared = [p["name"] for p in new if p["name"] in before]
    if shared != [p["name"] for p in old if p["name"] in after]:
        yield BREAKING, "parameters reordered"


def _named(
    what: str, old: list[Item], new: list[Item], is_demanded: Callable[[Item], bool]
) -> Iterator[tuple[str, str]]:
    """What changed among parts that have names: parameters, fields or methods."""
    before, after = _by_name(old), _by_name(new)
    for name in before.keys() - after.keys():
        yield BREAKING, f"{what} {name} removed"
    for name in after.keys() - before.keys():
        yield BREAKING if is_demanded(after[name]) else ADDITIVE, f"{what} {name} added"
    for name in before.keys() & after.keys():
        for verdict, change in _differences({"side": "core", **before[name]}, {"side": "core", **after[name]}):
            yield verdict, f"{what} {name}: {change}"


def _members(what: str, old: set[str], new: set[str]) -> Iterator[tuple[str, str]]:
    for name in sorted(old - new):
        yield BREAKING, f"{what} {name} removed"
    for name in sorted(new - old):
        yield ADDITIVE, f"{what} {name} added"


def _by_name(described: list[Item]) -> dict[str, Item]:
    return {str(item["name"]): item for item in described}
