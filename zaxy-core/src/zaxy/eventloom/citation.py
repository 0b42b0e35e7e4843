"""Citations, `eventloom://<session>/events/<seq>#<hash>`: each names the event that says something."""

from __future__ import annotations

from zaxy.errors import InvalidRequest, shown
from zaxy.security.session_ids import check_session_id
from zaxy.tuples import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

SCHEME = "eventloom://"
SHORT = 12
FULL = 64


class Citation(NamedTuple):
    session: str
    seq: int
    hash: str
    """The first 12 hex digits of the event's hash, or all 64."""

    def __str__(self) -> str:
        return f"{SCHEME}{self.session}/events/{self.seq}#{self.hash}"

    @property
    def short(self) -> str:
        return str(self._replace(hash=self.hash[:SHORT]))

    def names(self, hash_: str) -> bool:
        """Whether the cited event is the one with that hash."""
        return hash_.startswith(self.hash)


def citations(session: str, events: Iterable[tuple[int, str]], *, digits: int = FULL) -> list[str]:
    """The citations of a session's events, which are given by seq and hash; `digits`: how much of each hash."""
    start = f"{SCHEME}{session}/events/"
    return [f"{start}{seq}#{hash_[:digits]}" for seq, hash_ in events]


def parse_citation(text: str) -> Citation:
    place, _, hash_ = text.removeprefix(SCHEME).partition("#")
    session, _, seq = place.partition("/events/")
    digits = seq.isascii() and seq.isdecimal() and len(seq) < 17 and not seq.startswith("0")
    hexadecimal = len(hash_) in (SHORT, FULL) and not hash_.strip("0123456789abcdef")
    if not text.startswith(SCHEME) or not digits or not hexadecimal:
        raise InvalidRequest(
            f"{shown(text)} is not a citation",
            "A citation looks like eventloom://my-session/events/42#1a2b3c4d5e6f, with 12 or 64 hex digits.",
        )
    return Citation(check_session_id(session), int(seq), hash_)


def short_citation(citation: str) -> str:
    """With 12 digits of the hash, which resolve as well and cost a model less."""
    place, mark, hash_ = citation.rpartition("#")
    return f"{place}{mark}{hash_[:SHORT]}" if len(hash_) == FULL else citation
