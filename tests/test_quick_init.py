"""Values that are made quickly are frozen as all others are."""

from __future__ import annotations

import copy
import inspect
import pickle
from dataclasses import FrozenInstanceError, dataclass, field, replace

import pytest

from zaxy.api.models import Edge, Entity, EntityRef, Event, Extraction
from zaxy.api.quick_init import quick_init

ADA = EntityRef("person", "Ada")
VALUES = (
    Event("s", 1, "evt_1", "fact.recorded", "ada", "2026-01-01T00:00:00.000000Z", {}, "0" * 64, None),
    Entity("Ada", "person", "a person", {"age": 36}),
    Edge(ADA, ADA, "knows", valid_to="2026-01-01T00:00:00.000000Z"),
    Extraction(closings=()),
)


@pytest.mark.parametrize("value", VALUES, ids=lambda value: type(value).__name__)
def test_a_value_that_is_made_quickly_cannot_be_changed(value: object) -> None:
    name = next(iter(inspect.signature(type(value)).parameters))
    with pytest.raises(FrozenInstanceError):
        setattr(value, name, "another")
    assert not hasattr(value, "__dict__")


@pytest.mark.parametrize("value", VALUES, ids=lambda value: type(value).__name__)
def test_a_value_that_is_made_quickly_can_be_copied_and_pickled(value: object) -> None:
    assert copy.deepcopy(value) == pickle.loads(pickle.dumps(value)) == value


def test_a_quick_init_takes_what_the_slow_one_takes() -> None:
    @dataclass(frozen=True, slots=True)
    class Slow:
        first: int
        second: str = "two"
        third: dict[str, int] = field(default_factory=dict)

    signature = inspect.signature(Slow)
    quick = quick_init(Slow)
    assert inspect.signature(quick) == signature
    assert (quick(1).second, quick(1).third, quick(1, third={"a": 1}).third) == ("two", {}, {"a": 1})
    assert quick(1).third is not quick(1).third
    with pytest.raises(TypeError, match=r"__init__\(\) missing 1 required positional argument: 'first'"):
        quick()  # type: ignore[call-arg]


def test_a_changed_copy_leaves_the_value_as_it_was() -> None:
    entity = VALUES[1]
    assert isinstance(entity, Entity)
    assert (replace(entity, name="Bob").name, entity.name) == ("Bob", "Ada")
