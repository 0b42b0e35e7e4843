"""`NamedTuple` for the modules that hot commands load, without importing `typing` for it.

That import takes more than half as long as starting Python does. To a type checker this is `typing.NamedTuple` itself.
"""

from __future__ import annotations

from collections import namedtuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NamedTuple
else:

    class _NamedTupleType(type):
        def __new__(mcs, name, bases, body):
            fields = list(body.get("__annotations__", ()))
            plain = namedtuple(name, fields, defaults=[body.pop(field) for field in fields if field in body])
            return type(name, (plain,), {**body, "__slots__": ()})

    NamedTuple = type.__new__(_NamedTupleType, "NamedTuple", (), {})

__all__ = ["NamedTuple"]
