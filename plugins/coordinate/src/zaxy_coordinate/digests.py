"""What is compared between findings, as digests: the state of a mission holds no words of its events."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256

from zaxy.api import InvalidRequest, JsonObject, parse_citation

MAX_DIGEST_CHARS = 20
SCHEME = "eventloom://"
REFERENCES = ("reference", "citation", "path", "file")
"""The fields of an evidence item that may name what it rests on."""
_TESTS = re.compile(
    r"\b(?:tests?|pytest|tox|nox|unittest|jest|vitest|mocha|rspec|ctest|phpunit|verify|check)\b", re.IGNORECASE
)
_LINES = re.compile(r"(?::\d+(?:[-:]\d+)?|#L\d+(?:-L?\d+)?)$")
_WEB = re.compile(r"[a-z][a-z0-9+.-]*://", re.IGNORECASE)


def digest(*parts: str) -> str:
    return sha256("\0".join(parts).encode()).hexdigest()[:MAX_DIGEST_CHARS]


def folded(text: str) -> str:
    """A text as it is compared: case and spaces do not count."""
    return " ".join(text.casefold().split())


def claim_of(payload: JsonObject) -> tuple[str, str]:
    """What a finding is about, and what it says of that. Without a claim key, only the same words say the same."""
    key, value = payload.get("claim_key"), payload.get("claim_value")
    if not isinstance(key, str) or not key.strip():
        return digest("words", folded(str(payload.get("summary") or ""))), ""
    said = value if isinstance(value, str) and value.strip() else payload.get("summary")
    return digest("claim", folded(key)), digest("value", folded(str(said)))


def evidence_items(payload: JsonObject) -> list[Mapping[str, object]]:
    items = payload.get("evidence")
    return [item for item in items if isinstance(item, Mapping)] if isinstance(items, Sequence) else []


def is_test_backed(items: Sequence[Mapping[str, object]]) -> bool:
    """Whether one of them is a test that passed: a test's command, and exit code 0."""
    return any(_is_passed_test(item) for item in items)


def _is_passed_test(item: Mapping[str, object]) -> bool:
    command, code = item.get("command"), item.get("exit_code")
    if not isinstance(command, str) or type(code) is not int or code != 0:
        return False
    return bool(_TESTS.search(command) or _TESTS.search(str(item.get("kind") or "")))


def sources_of(items: Sequence[Mapping[str, object]]) -> tuple[str, ...]:
    """The places that evidence rests on, in the form in which changes are remembered."""
    named = [item[field] for item in items for field in REFERENCES if isinstance(item.get(field), str)]
    found = (source_of(str(name).strip()) for name in named)
    return tuple(dict.fromkeys(source for source in found if source))


def source_of(reference: str) -> str:
    """An event that is cited, or a file; empty for anything else, such as a web address."""
    if reference.startswith(SCHEME):
        try:
            citation = parse_citation(reference)
        except InvalidRequest:
            return ""
        return event_source(citation.session, citation.seq)
    path = _LINES.sub("", reference).replace("\\", "/").removeprefix("./")
    return "" if not path or _WEB.match(path) or any(map(str.isspace, path)) else file_source(path)


def event_source(session: str, seq: int) -> str:
    return f"{session}/{seq}"


def file_source(path: str) -> str:
    return digest("file", path)


def names_of_file(path: str) -> Iterator[str]:
    """A file's path as evidence may name it: whole, or from one of its folders on."""
    path = path.replace("\\", "/").removeprefix("./")
    yield file_source(path)
    parts = path.strip("/").split("/")
    for first in range(len(parts) - 1):
        yield file_source("/".join(parts[first:]))
