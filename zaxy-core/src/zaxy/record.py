"""Named tuples for the modules that hot commands load: `typing.NamedTuple` without the price of importing `typing`.

That import takes a third of the time in which Python starts. To a type checker this is `typing.NamedTuple` itself.
"""

from __future__ import annotations

from collections import namedtuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NamedTuple as Record
else:

    class _RecordType(type):
        def __new__(mcs, name, bases, body):
            fields = list(body.pop("__annotations__", ()))
            fields_and_defaults = namedtuple(name, fields, defaults=[body.pop(f) for f in fields if f in body])
            return type(name, (fields_and_defaults,), {**body, "__slots__": ()})

    Record = type.__new__(_RecordType, "Record", (), {})

__all__ = ["Record"]
