"""Checks that an object has the methods of a Protocol, and that the core can call them."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Sequence
from importlib import import_module
from types import FunctionType

from zaxy.api.catalog import ABILITIES, POINTS
from zaxy_testkit.checks import Case, Workbench, check, expect


def misfits(point: str, provider: object) -> list[str]:
    """Why the provider cannot be called as the point's Protocol says; empty if it can."""
    protocol = getattr(import_module("zaxy.api.points"), POINTS[point].protocol)
    return list(_misfits(protocol, provider))


def member_misfits(protocol: type, part: object) -> list[str]:
    """The same for a part of a provider, such as a client's hooks."""
    return list(_misfits(protocol, part))


def ability_misfits(capability: str, provider: object) -> list[str]:
    """The same for what a capability asks of a provider besides; empty where it asks for no method."""
    protocol = ABILITIES.get(capability)
    return list(_misfits(getattr(import_module("zaxy.api.points"), protocol), provider)) if protocol else []


def expect_ability(capability: str, provider: object) -> None:
    wrong = ability_misfits(capability, provider)
    expect(not wrong, "; ".join(wrong))


def check_shape(point: str) -> None:
    """Register the check that every point has: whether the provider has the methods of the point's Protocol."""

    def it_has_the_methods_of_its_protocol(case: Case, bench: Workbench) -> None:
        expect_shape(point, bench.make(case))

    it_has_the_methods_of_its_protocol.__doc__ = (
        f"Compare your class with zaxy.api.{POINTS[point].protocol}: a method is missing or takes other parameters."
    )
    check(point)(it_has_the_methods_of_its_protocol)


def expect_shape(point: str, provider: object) -> None:
    wrong = misfits(point, provider)
    expect(not wrong, "; ".join(wrong))


def _misfits(protocol: type, provider: object) -> Iterator[str]:
    owner = type(provider).__name__
    for name, promised in _members(protocol):
        try:
            actual = getattr(provider, name)
        except AttributeError:
            yield f"{owner} has no {name}"
            continue
        if isinstance(promised, property):
            if callable(actual):
                yield f"{owner}.{name} must be an attribute or a property, not a method"
            continue
        if not callable(actual):
            yield f"{owner}.{name} must be a method"
            continue
        wanted = list(inspect.signature(promised).parameters.values())[1:]
        by_name = {each.name: each for each in wanted if each.kind is each.KEYWORD_ONLY}
        try:
            inspect.signature(actual).bind(*(each for each in wanted if each.name not in by_name), **by_name)
        except TypeError:
            yield f"{owner}.{name}{inspect.signature(actual)} cannot be called with {_call(wanted)}"
        except ValueError:
            continue  # a function in C has no signature: a call will show


def _call(parameters: Sequence[inspect.Parameter]) -> str:
    """How a call with these parameters is written."""
    named = (f"{each.name}={each.name}" if each.kind is each.KEYWORD_ONLY else each.name for each in parameters)
    return f"({', '.join(named)})"


def _members(protocol: type) -> Iterator[tuple[str, property | FunctionType]]:
    for base in reversed(protocol.__mro__):
        for name, member in vars(base).items():
            if not name.startswith("_") and isinstance(member, property | FunctionType):
                yield name, member
