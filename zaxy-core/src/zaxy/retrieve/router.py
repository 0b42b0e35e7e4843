"""Which lanes a question calls for: what it is about shows in its form, before anything is looked up."""

from __future__ import annotations

import re

from zaxy.retrieve.profiles import Profile
from zaxy.text.tokens import Wanted

_LATEST = re.compile(r"\b(latest|newest|most recent|recently|currently|current|right now|these days|last time)\b", re.I)
_RELATED = re.compile(r"\b(who|whose|relat\w+|connect\w+|depend\w+|belongs?|between|linked)\b", re.I)


def asks_for_relations(question: str) -> bool:
    return _RELATED.search(question) is not None


def route(question: str, wanted: Wanted, profile: Profile) -> Profile:
    """The profile with what this question calls for: names weigh more where some are given, time where it is asked."""
    if wanted.identifiers or wanted.phrases:
        profile = profile._replace(exact=profile.exact * 1.5)
    if _LATEST.search(question):
        profile = profile._replace(recency=max(profile.recency, 0.15))
    if asks_for_relations(question):
        profile = profile._replace(traversal=profile.traversal * 2)
    return profile
