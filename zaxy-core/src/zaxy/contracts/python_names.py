"""What `import zaxy` gives to a program: each public class, with every field and method as an item of its own.

A program uses few of them, and pins those.
"""

from __future__ import annotations

import dataclasses
import inspect
import re
from collections.abc import Callable, Iterator
from importlib import import_module
from typing import Any, get_args, get_origin

MADE_BY_PROGRAMS = ("Draft", "Event")
"""The classes that a program makes objects of."""
CONTEXT = ("__enter__", "__exit__", "__aenter__", "__aexit__")
"""What a `with` statement calls, and `async with`."""
KEYWORDS = "zaxy.assemble.records"
"""Where the keywords are typed that a method takes as `**details`."""

Described = dict[str, Any]


def described_names() -> Iterator[tuple[str, Described]]:
    """Each item by its name; the contract adds side, stability and version."""
    zaxy = import_module("zaxy")
    for name in dir(zaxy):
        found = getattr(zaxy, name)
        if not inspect.isclass(found):
            yield f"value {name}", {"type": type(found).__name__}
            continue
        yield f"class {name}", _class(found, dir(zaxy))
        yield from _fields(found)
        yield from _methods(found)


def _class(found: type, public: list[str]) -> Described:
    bases = [one.__name__ for one in found.__mro__[1:] if one is Exception or one.__name__ in public]
    bases += [_of_items(one) for one in getattr(found, "__orig_bases__", ()) if get_origin(one) is list]
    return {"bases": bases, **(_signature(found) if found.__name__ in MADE_BY_PROGRAMS else {})}


def _of_items(base: Any) -> str:
    """A list as the base of a class, with what it is a list of."""
    return f"list[{', '.join(one.__name__ for one in get_args(base))}]"


def _fields(of: type) -> Iterator[tuple[str, Described]]:
    """What can be read off an object: what it is made of, and its properties."""
    for name, kind in _data(of):
        yield f"field {of.__name__}.{name}", {"type": kind}
    for name, member in _own_members(of):
        getter = member.fget if isinstance(member, property) else getattr(member, "func", None)
        if getter is not None:
            yield f"field {of.__name__}.{name}", {"type": _text(inspect.signature(getter).return_annotation)}


def _data(of: type) -> Iterator[tuple[str, str]]:
    if dataclasses.is_dataclass(of):
        yield from ((field.name, _text(field.type)) for field in dataclasses.fields(of))
    elif of.__name__ == "ZaxyError":
        yield from ((one["name"], one["type"]) for one in _signature(of)["parameters"])
    else:
        yield from ((name, _text(of.__annotations__[name])) for name in getattr(of, "_fields", ()))


def _methods(of: type) -> Iterator[tuple[str, Described]]:
    for name, member in _own_members(of):
        wrapped = None if isinstance(member, classmethod) else getattr(member, "__wrapped__", None)
        if inspect.isfunction(member) or isinstance(member, classmethod) or wrapped:
            function = wrapped or getattr(of, name)
            returns = _text(inspect.signature(function).return_annotation)
            if wrapped:  # a method of `Memory`, in its async face
                returns = re.sub("^Iterator", "AsyncIterator", returns)
            skip = 0 if isinstance(member, classmethod) else 1
            yield f"method {of.__name__}.{name}", {**_signature(function, skip), "returns": returns}


def _own_members(of: type) -> Iterator[tuple[str, Any]]:
    """Public members with those of private bases; those of a public base are items of that base."""
    public = dir(import_module("zaxy"))
    for base in reversed(of.__mro__):
        if base.__module__.startswith("zaxy.") and (base is of or base.__name__ not in public):
            yield from ((n, member) for n, member in vars(base).items() if not n.startswith("_") or n in CONTEXT)


def _signature(function: Callable[..., Any], skip: int = 0) -> Described:
    """The parameters by name, and apart from them which of them may be given by place, in order."""
    parameters: list[Described] = []
    places = []
    for one in list(inspect.signature(function).parameters.values())[skip:]:
        kind = _text(one.annotation)
        if one.kind is one.VAR_KEYWORD:
            parameters += _keywords(kind)
            continue
        parameters.append({"name": one.name, "type": kind, "required": one.default is one.empty})
        if one.kind is one.POSITIONAL_OR_KEYWORD:
            places.append(one.name)
    return {"parameters": sorted(parameters, key=lambda one: str(one["name"])), "places": places}


def _keywords(kind: str) -> list[Described]:
    """The keywords behind `**details: Unpack[Details]`."""
    typed = re.fullmatch(r"Unpack\[(\w+)\]", kind)
    details = getattr(import_module(KEYWORDS), typed[1]).__annotations__ if typed else {}
    return [{"name": name, "type": _text(kind), "required": False} for name, kind in details.items()]


def _text(annotation: object) -> str:
    """An annotation as it is written: those of typed dictionaries are kept as references."""
    written = getattr(annotation, "__forward_arg__", annotation)
    return written if isinstance(written, str) else getattr(written, "__name__", str(written))
