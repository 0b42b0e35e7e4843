"""Reading many lines, with orjson: several times faster than `parse_line`, and just as strict.

A line that orjson re-encodes to the very same bytes is canonical, except where orjson and RFC 8785 differ: floats, long
integers, and keys whose order depends on surrogates. Lines that might hold any of these take the exact way, and so does
every line about which anything is odd: it is then `parse_line` that says what.
"""

from __future__ import annotations

import re
from hashlib import sha256

import orjson

from zaxy.eventloom.canonical import MAX_DEPTH
from zaxy.eventloom.record import Damaged, Line, check_shape, parse_line

_PERHAPS_UNLIKE = re.compile(rb"[0-9](?:[.eE]|[0-9]{15})")
_UNLIKE = re.compile(rb'(?:":|[\[,])-?(?:\d+[.eE]|\d{16})')
_SURROGATES_MATTER = re.compile(rb"[\xee\xef].*[\xf0-\xf4]|[\xf0-\xf4].*[\xee\xef]", re.DOTALL)


def parse_quickly(data: bytes) -> Line:
    """What `parse_line` does, with the same outcome for every line."""
    try:
        line = _parse(data)
    except (ValueError, KeyError, TypeError, Damaged):
        line = None
    return parse_line(data) if line is None else line


def _parse(data: bytes) -> Line | None:
    """The line, if it is an ordinary one and everything about it is right."""
    # Quotes inside texts are escaped, so that these marks stand only where the fields begin; a payload may have
    # fields of the same names, which is why those before it are sought from the front and those after from the back.
    at_hash = data.find(b'"hash":"')
    at_payload = data.find(b',"payload":{', at_hash)
    at_digest = data.rfind(b',"payload_digest":"')
    at_salt = data.rfind(b'"salt":"')
    if not 0 < at_hash < at_payload < at_digest < at_salt:
        return None
    at_id, at_tier = at_hash + 74, at_salt + 42
    payload = data[at_payload + 11 : at_digest]
    salt = data[at_salt + 8 : at_salt + 40]
    if _PERHAPS_UNLIKE.search(payload) and _UNLIKE.search(payload):
        return None
    if not data.isascii() and _SURROGATES_MATTER.search(data):
        return None
    if payload.count(b"{") + payload.count(b"[") > MAX_DEPTH:  # it may be nested too deep, which orjson does not mind
        return None
    if not (data.startswith(b'"id":"evt_', at_id) and data.startswith(b'"sensitivity":"', at_tier)):
        return None
    salt_bytes = bytes.fromhex(salt.decode())
    record = orjson.loads(data)
    hashed = b"%b%b%b%b" % (data[:at_hash], data[at_id : at_payload + 1], data[at_digest + 1 : at_salt], data[at_tier:])
    sound = (
        sha256(hashed).hexdigest() == record["hash"]
        and sha256(salt_bytes + payload).hexdigest() == record["payload_digest"]
        and salt_bytes.hex() == record["salt"]
        and orjson.dumps(record, option=orjson.OPT_SORT_KEYS) == data
    )
    if not sound:
        return None
    check_shape(record)
    return Line(record, data)
