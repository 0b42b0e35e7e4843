"""A lane that somebody else wrote, which finds by meaning: a table of synonyms over the texts of events.

It stands for what vectors do: it has an index of its own, follows the log, and gives cosines.
"""

from __future__ import annotations

from pathlib import Path
from textwrap import indent
from typing import Any

import installed
from zaxy_testkit.templates import retrieval_lanes

NAME, SLOW = "acme-meaning", "acme-slow-meaning"
PLUGIN = """
from zaxy.api import Provider, hookimpl


@hookimpl
def zaxy_retrieval_lanes():
    return [Provider({name!r}, "{package}.lane:Lane", "By meaning.", capabilities={capabilities!r})]
"""
LANE = '''
"""Finds events that mean the same as a question, by the cosine between what both are about."""

from math import sqrt

from zaxy.api import Candidate
from acme_meaning import index

SYNONYMS = (
    "physician doctor dr gp surgeon",
    "grandmother granny grandma nan",
    "hearing ears ear deaf",
    "treats treat sees see cures",
    "vehicle car automobile van parked park garage",
    "parking leave left keep kept",
    "basement cellar underground",
)
MEANT = {word: words.split()[0] for words in SYNONYMS for word in words.split()}
UNSAID = set("a about an and are at do does her his i in is it my of on our s the to we what where which who".split())


def meant(text):
    return {MEANT.get(word, word) for word in index._words(text) - UNSAID}


class Lane(index.Lane):
    def search(self, query):
        asked = meant(query.text)
        found = []
        for seq, text in self._load(query.session).texts.items():
            own = meant(text)
            if asked & own:
                found.append(Candidate(int(seq), len(asked & own) / sqrt(len(asked) * len(own))))
        return sorted(found, key=lambda one: (-one.score, -one.seq))[: query.limit]
'''
SIMPLE = """
import threading
import time
from zaxy.api import Candidate, Cursor


class Lane:
    def __init__(self, context):
        self.at = {{}}

    def search(self, query):
{body}
"""


def install(site: Path) -> str:
    """The lane that works with meaning."""
    return _install_meaning(site, NAME, "follower")


def install_slow(site: Path) -> str:
    """The same under another name, followed beside all reads: a process imports each package once."""
    return _install_meaning(site, SLOW, "follower", "background")


def _install_meaning(site: Path, name: str, *abilities: str) -> str:
    index = Path(retrieval_lanes.__file__).read_text(encoding="utf-8")
    lane = LANE.replace("acme_meaning", name.replace("-", "_"))
    return _install(site, name, {"index.py": index, "lane.py": lane}, abilities, weight=0.6, scale="cosine")


def install_simple(site: Path, name: str, body: str, **lane: object) -> str:
    """A lane whose `search` has this body, and that says this of itself."""
    return _install(site, name, {"lane.py": SIMPLE.format(body=indent(body, " " * 8))}, (), **lane)


def install_judging(site: Path, name: str, body: str, *abilities: str, **lane: object) -> str:
    """A lane that finds nothing and has these methods for the judgement: `body` is that of its class."""
    lane_text = f"class Lane:\n    def __init__(self, context):\n        pass\n\n{indent(body.strip(), ' ' * 4)}\n"
    finding = "\n    def search(self, query):\n        return []\n"
    return _install(site, name, {"lane.py": lane_text + finding}, abilities, **lane)


def _install(site: Path, name: str, modules: dict[str, str], capabilities: tuple[str, ...], **lane: object) -> str:
    package = name.replace("-", "_")
    plugin = PLUGIN.format(name=name, package=package, capabilities=capabilities)
    provided: dict[str, Any] = {"point": "retrieval_lanes", "name": name, "capabilities": list(capabilities)}
    manifest = installed.manifest_of(name, provides=[{**provided, **({"lane": lane} if lane else {})}])
    entry = f"[zaxy.plugins]\n{name} = {package}.plugin\n"
    installed.install(site, name, {"plugin.py": plugin, **modules}, manifest, entry)
    return name
