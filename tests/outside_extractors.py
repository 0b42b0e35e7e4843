"""Extractors of packages from outside, made of a few lines."""

from __future__ import annotations

from itertools import count
from pathlib import Path
from textwrap import indent

import installed

_numbers = count()

PLUGIN = """
from zaxy.api import Provider, hookimpl

@hookimpl
def zaxy_extractors():
    return [Provider({name!r}, "{name}.made:Made", "Made for tests.")]
"""
MADE = """
import pathlib
import threading
from zaxy.api import Closing, Edge, Entity, EntityRef, Extraction

class Made:
    version = {version}

    def __init__(self, context):
        pass

    def extract(self, event):
{body}
"""


def install_extractor(site: Path, body: str, version: str = "'1'") -> str:
    """Install an extractor whose `extract` has this body; its name, and that of its package."""
    name = f"made{next(_numbers)}"
    modules = {
        "plugin.py": PLUGIN.format(name=name),
        "made.py": MADE.format(body=indent(body, " " * 8), version=version),
    }
    manifest = installed.manifest_of(name, provides=[{"point": "extractors", "name": name}])
    installed.install(site, name, modules, manifest, f"[zaxy.plugins]\n{name} = {name}.plugin\n")
    return name
