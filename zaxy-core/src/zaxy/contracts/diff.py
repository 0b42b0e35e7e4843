"""Tell what changed between two descriptions of a surface, and whether it breaks those who rely on it.

What breaks depends on the side. Of what the core offers, a removal breaks; of what a plugin implements, an addition
that is required breaks as well, and so does any change of the parameters that the core will call it with.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from zaxy.api.catalog import STABILITIES
from zaxy.contracts.snapshot import Item, Items
from zaxy.errors import InvalidRequest

WORDING = ("summary", "since", "sentence")
MEMBERS = {
    "bases": "base",
    "capabilities": "capability",
    "entities": "entity type",
    "living": "living type",
    "payload": "payload field",
    "profiles": "profile",
    "relations": "relation",
}
"""Lists that may grow, and what one of their members is."""
MAY_GROW, MAY_SHRINK = ("maximum", "maxLength", "maxItems"), ("minimum", "minLength", "minItems")
"""Bounds of an argument: one that is wider refuses nothing that was taken before."""
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
        try:
            found = list(_differences(old[name], new[name]))
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise InvalidRequest(
                f"{name} is not described as an item of a contract is: {type(error).__name__}: {error}",
                "Write the file again with 'zaxy contracts pin' or 'zaxy contracts snapshot'.",
            ) from error
        changes += [ContractChange(name, verdict, what, grade) for verdict, what in found]
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
        elif key == "places":
            may_follow = (after or [])[: len(before or [])] == (before or [])
            yield ADDITIVE if may_follow else BREAKING, f"by place it takes {_listed(after)}, not {_listed(before)}"
        elif key == "schema":
            wider = _takes_as_much(before or {}, after or {})
            yield ADDITIVE if wider else BREAKING, "takes as much or more" if wider else f"{before!r} became {after!r}"
        elif key == "workspace":
            may = "may be set" if after else "may not be set"
            yield BREAKING if before else ADDITIVE, f"{may} by a workspace's own file now"
        elif key == "heading":
            yield BREAKING if before else ADDITIVE, f"heading {before!r} became {after!r}"
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


def _takes_as_much(old: Item, new: Item) -> bool:
    """Whether a schema takes whatever the older one took. What stands inside of it must be the same."""
    if not {*new.get("enum", ())} >= {*old.get("enum", ())} or ("enum" in new and "enum" not in old):
        return False
    grown = all(bound not in new or new[bound] >= old.get(bound, new[bound] + 1) for bound in MAY_GROW)
    shrunk = all(bound not in new or new[bound] <= old.get(bound, new[bound] - 1) for bound in MAY_SHRINK)
    judged = ("enum", *MAY_GROW, *MAY_SHRINK)
    before, after = ({k: v for k, v in _undescribed(one).items() if k not in judged} for one in (old, new))
    return grown and shrunk and before == after


def _undescribed(schema: Item) -> Item:
    """A schema without its words for people. A property may be called `description`, and its schema is an object."""
    kept = {key: value for key, value in schema.items() if key != "description" or isinstance(value, dict)}
    return {key: _undescribed(value) if isinstance(value, dict) else value for key, value in kept.items()}


def _listed(names: object) -> str:
    return ", ".join(names) if isinstance(names, list) and names else "nothing"


def _by_name(described: list[Item]) -> dict[str, Item]:
    return {str(item["name"]): item for item in described}
