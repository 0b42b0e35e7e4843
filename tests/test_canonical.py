"""The canonical form is RFC 8785's, by its own vectors and by a reference implementation."""

from __future__ import annotations

import json
import struct

import pytest
import rfc8785
from hypothesis import given, settings, strategies as st

from zaxy.eventloom.bulk import encode_quickly
from zaxy.eventloom.canonical import MAX_DEPTH, MAX_INTEGER, NotCanonical, decode, encode, number

# RFC 8785, appendix B: the IEEE 754 bits of a number and how ECMAScript prints it.
NUMBERS = {
    "0000000000000000": "0",
    "8000000000000000": "0",
    "0000000000000001": "5e-324",
    "8000000000000001": "-5e-324",
    "7fefffffffffffff": "1.7976931348623157e+308",
    "ffefffffffffffff": "-1.7976931348623157e+308",
    "4340000000000000": "9007199254740992",
    "c340000000000000": "-9007199254740992",
    "4430000000000000": "295147905179352830000",
    "44b52d02c7e14af5": "9.999999999999997e+22",
    "44b52d02c7e14af6": "1e+23",
    "44b52d02c7e14af7": "1.0000000000000001e+23",
    "444b1ae4d6e2ef4e": "999999999999999700000",
    "444b1ae4d6e2ef4f": "999999999999999900000",
    "444b1ae4d6e2ef50": "1e+21",
    "3eb0c6f7a0b5ed8c": "9.999999999999997e-7",
    "3eb0c6f7a0b5ed8d": "0.000001",
    "41b3de4355555553": "333333333.3333332",
    "41b3de4355555554": "333333333.33333325",
    "41b3de4355555555": "333333333.3333333",
    "41b3de4355555556": "333333333.3333334",
    "41b3de4355555557": "333333333.33333343",
    "becbf647612f3696": "-0.0000033333333333333333",
    "43143ff3c1cb0959": "1424953923781206.2",
}

JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-MAX_INTEGER, MAX_INTEGER)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=30,
)


@pytest.mark.parametrize(("bits", "shown"), NUMBERS.items())
def test_a_number_is_printed_as_ecmascript_prints_it(bits: str, shown: str) -> None:
    assert number(struct.unpack(">d", bytes.fromhex(bits))[0]) == shown


def test_the_sorting_vector_of_the_rfc_comes_out_in_utf16_order() -> None:
    value = {"\u20ac": 1, "\r": 2, "\ufb33": 3, "1": 4, "\U0001f600": 5, "\x80": 6, "\xf6": 7}
    assert list(json.loads(encode(value)).values()) == [2, 4, 6, 7, 1, 5, 3]


def test_the_structure_vector_of_the_rfc_comes_out_as_printed_there() -> None:
    value = {
        "numbers": [333333333.33333329, 1e30, 4.50, 2e-3, 0.000000000000000000000000001],
        "string": "\u20ac$\u000f\u000aA'\u0042\u0022\u005c\\\"\u002f",
        "literals": [None, True, False],
    }
    assert encode(value).decode() == (
        '{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],'
        '"string":"€$\\u000f\\nA\'B\\"\\\\\\\\\\"/"}'
    )


@settings(max_examples=600, deadline=None)
@given(JSON)
def test_every_json_value_is_encoded_as_the_reference_encodes_it(value: object) -> None:
    assert encode(value) == rfc8785.dumps(value)  # type: ignore[arg-type]


@settings(max_examples=600, deadline=None)
@given(st.floats(allow_nan=False, allow_infinity=False))
def test_every_double_is_printed_as_the_reference_prints_it(value: float) -> None:
    assert number(value).encode() == rfc8785.dumps(value)


@settings(max_examples=300, deadline=None)
@given(JSON)
def test_the_canonical_form_of_the_canonical_form_is_itself(value: object) -> None:
    assert encode(decode(encode(value))) == encode(value)


@pytest.mark.parametrize(
    "value",
    [
        float("nan"),
        float("inf"),
        MAX_INTEGER + 1,
        -MAX_INTEGER - 1,
        10**400,
        "\ud800",
        {"\udfff": 1},
        {1: 2},
        {"x": {1, 2}},
        b"bytes",
        [[]] * 3 + [object()],
    ],
)
def test_what_has_no_canonical_form_is_refused(value: object) -> None:
    with pytest.raises(NotCanonical):
        encode({"value": value})
    with pytest.raises(NotCanonical):
        encode_quickly({"value": value, "null": None})


def test_nesting_is_bounded_without_exhausting_the_stack() -> None:
    deep: object = 1
    for _ in range(MAX_DEPTH):
        deep = [deep]
    encode(deep)
    with pytest.raises(NotCanonical, match="nested more than 64 deep"):
        encode([deep])
    for _ in range(100_000):
        deep = [deep]
    with pytest.raises(NotCanonical):
        encode(deep)
