"""The projects of a log, usually one: each has a domain, which stays when the project's folder is renamed or moved.

They stand in the workspace's file. A project in whose folder the log lies, or that lies beside the log, is known by its
place there, which moves with the log; any other by its path.
"""

from __future__ import annotations

import os
from hashlib import blake2b

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

FIELD = "projects"
AROUND = "."
"""The place of the project whose folder the log lies in."""
MAX_DOMAIN = 100
PLACE_DIGITS = 8


def place_of(root: str, eventloom: str) -> str:
    """A project as the log's file names it."""
    folder, around = os.path.realpath(root), os.path.realpath(os.path.dirname(eventloom))
    if folder == around:
        return AROUND
    beside = folder.startswith(os.path.join(around, ""))
    return os.path.relpath(folder, around).replace(os.sep, "/") if beside else folder


def folder_of(place: str, eventloom: str) -> str:
    """The folder of a project by its place."""
    return os.path.realpath(os.path.join(os.path.dirname(eventloom), place))


def places_in(kept: Mapping[str, Any]) -> Mapping[str, Any]:
    """What a workspace's file says of each project, by place."""
    projects = kept.get(FIELD)
    return projects if isinstance(projects, dict) else {}


def project_in(kept: Mapping[str, Any], place: str) -> Mapping[str, Any]:
    """What a workspace's file says of one project."""
    project = places_in(kept).get(place)
    return project if isinstance(project, dict) else {}


def domain_in(kept: Mapping[str, Any] | None, root: str, eventloom: str) -> str:
    """The domain of a project: the one that it has had since its memory began, else one made from its folder's name
    that no other project of this log has. Empty for the log's own project if its name has no letter to make one of.

    `kept`: the workspace's file; None for one that is not believed.
    """
    place = place_of(root, eventloom)
    if begun := slug(str(project_in(kept or {}, place).get("domain", ""))):
        return begun
    name = slug(os.path.basename(root))
    is_free = kept is None or name not in _domains_of_others(kept, place)
    if is_free and (place == AROUND or (name and kept is not None)):
        return name
    digits = blake2b(os.fsencode(os.path.realpath(root)), digest_size=PLACE_DIGITS // 2).hexdigest()
    return f"{name or 'ws'}-{digits}"


def slug(name: str) -> str:
    """Lower-case ASCII letters and digits, with single hyphens for all else; empty if nothing is left."""
    plain = "".join(letter if letter.isascii() and letter.isalnum() else " " for letter in name.lower())
    return "-".join(plain.split())[:MAX_DOMAIN].rstrip("-")


def _domains_of_others(kept: Mapping[str, Any], place: str) -> set[str]:
    """Those that other projects of the log have, from the start or by a setting."""
    return {domain for other, domain in _domains(kept) if other != place}


def _domains(kept: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for place in {AROUND, *places_in(kept)}:
        project = project_in(kept, place)
        settings = kept.get("settings") if place == AROUND else project.get("settings")
        for value in (project.get("domain"), settings.get("ZAXY_DOMAIN") if isinstance(settings, dict) else None):
            if isinstance(value, str) and value:
                yield place, slug(value)
