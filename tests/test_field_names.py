"""Where a secret was is on record for good, so the record names only fields that stand in everybody's log."""

from __future__ import annotations

from typing import Any

import pytest

from zaxy.eventloom.admission import admit
from zaxy.eventloom.field_names import FIELD_NAMES, public_pointer
from zaxy.extract.rules import RULES, UNKNOWN

SECRET = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" + "k1L2m3N4o5P6g7H8"


def test_every_field_that_a_rule_reads_is_known() -> None:
    read = set()
    for rule in (*RULES.values(), UNKNOWN):
        named = (*rule.named_by, *rule.texts, *rule.keeps, *rule.ids, *rule.titles)
        read |= {part for field in named for part in field.split(".")}
        read |= {field for mention in rule.mentions for field in mention.fields}
    assert read <= FIELD_NAMES
    assert all(name.isidentifier() and name.islower() for name in FIELD_NAMES)


@pytest.mark.parametrize(
    ("payload", "pointer"),
    [
        ({"text": SECRET}, "/text"),
        ({"text": ["a", SECRET]}, "/text/1"),
        ({"Ann Meyer": SECRET}, "/*"),
        ({"+49 151 2345678": SECRET}, "/*"),
        ({"4111111111111111": {"text": SECRET}}, "/*/text"),
        ({"values": {"0": SECRET}}, "/values/*"),
        ({"a/b~c": {"command": ["x", {"Ann's token": SECRET}]}}, "/*/command/1/*"),
        ({"*": SECRET}, "/*"),
    ],
)
def test_a_pointer_shows_items_and_known_fields_and_no_other_key(payload: dict[str, Any], pointer: str) -> None:
    assert [item["pointer"] for item in admit("note.taken", "ada", payload).fields["redacted"]] == [pointer]


@pytest.mark.parametrize("pointer", ("", "/text/99999999999999999999", "/text/-1", "/no/such/place", "/text~1name"))
def test_a_pointer_that_leads_nowhere_gives_nothing_away(pointer: str) -> None:
    shown = public_pointer(pointer, {"text": ["a"]})
    assert set(shown.split("/")) <= {"", "*", *FIELD_NAMES, "99999999999999999999"}
