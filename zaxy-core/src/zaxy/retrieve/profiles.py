"""What each lane, recency and repetition weigh, by scoring profile. This table is the only place."""

from __future__ import annotations

from typing import NamedTuple

from zaxy.errors import InvalidRequest

DEFAULT = "balanced"


class Profile(NamedTuple):
    """Every lane's scores are between 0 and 1; a result's score is the weighted sum."""

    keyword: float
    verbatim: float
    exact: float
    traversal: float
    outside: float
    """Each lane that a plugin adds, such as one of vectors."""
    closeness: float
    """What it counts how close together the words of the question stand."""
    recency: float
    """What the newest event of the session gains; half of it for every month before that."""
    reinforced: float
    """What feedback that it helped can add at most."""
    near_copy: float
    """From this share of common words on, a text is a copy of one above it, and goes to the end."""


PROFILES = {
    "balanced": Profile(1.0, 1.0, 0.6, 0.15, 0.5, 0.5, 0.02, 0.1, 0.85),
    "recall": Profile(1.0, 1.0, 0.6, 0.3, 0.7, 0.5, 0.02, 0.1, 0.85),
    "precision": Profile(1.0, 0.8, 0.9, 0.05, 0.3, 0.5, 0.02, 0.1, 0.7),
    "temporal": Profile(1.0, 0.9, 0.6, 0.15, 0.4, 0.5, 0.2, 0.05, 0.85),
}


def profile_named(name: str) -> Profile:
    if name in PROFILES:
        return PROFILES[name]
    raise InvalidRequest(f"{name!r:.40} is not a scoring profile", f"Use one of {', '.join(PROFILES)}.")
