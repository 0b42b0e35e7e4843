"""Packages that break in the points that need no hooks: commands, families, routes, doctor rows, packs, and data.

Each has one provider, whose manifest names its class, and is sound in all that is not said here.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from textwrap import indent
from typing import Any

import installed
from broken_plugins import MARK

HANG = "threading.Event().wait()"
PRINT = "print('rubbish')\nos.write(1, b'rubbish\\n')\nos.system('echo rubbish')"
RAISE = "raise ValueError('no luck today')"
EXIT = "sys.exit(3)"
ROWS = "return Extraction((Entity('horn', 'horn_thing', event.payload['text']),))"


@dataclass(frozen=True)
class Broken:
    """A package that breaks in one place."""

    point: str = ""
    at_import: str = ""
    methods: dict[str, str] = field(default_factory=dict)
    """Bodies of methods, by their names with their parameters."""
    provided: dict[str, Any] = field(default_factory=dict)
    manifest: dict[str, Any] = field(default_factory=dict)
    files: dict[str, str] = field(default_factory=dict)
    stage: str = "call"
    """The stage at which the check finds it."""
    betrayed: bool = False
    """Whether its manifest alone takes it out of use."""


def command(words: str, **more: Any) -> Broken:
    return Broken("commands", provided={"words": words}, **{"methods": {"run(self, call)": "return 0"}, **more})


def family(name: str, body: str, **more: Any) -> Broken:
    described = {"type": f"{name}.made", "entities": [f"{name}_thing"], "fields": {"text": "text"}}
    methods = {"extract(self, event)": body}
    return Broken(
        "event_types", methods=methods, provided={"name": name}, manifest={"event_types": [described]}, **more
    )


def route(path: str, body: str, **more: Any) -> Broken:
    return Broken("http_routes", methods={"answer(self, request, memory)": body}, provided={"paths": [path]}, **more)


def doctor_row(body: str, **more: Any) -> Broken:
    return Broken("doctor_checks", methods={"check(self, checkup)": body}, **more)


def pack(*capabilities: str, **bodies: str) -> Broken:
    """A pack whose other methods are sound."""
    sound = {
        "resources": "return [Resource('page', 'A page')]",
        "read": "return [ResourceContent('text')]",
        "prompts": "return [Prompt('acme_prompt', 'A prompt.')]",
        "prompt": "return [PromptMessage('text')]",
    }
    parameters = {"resources": "self", "read": "self, path, memory"}
    parameters |= {"prompts": "self", "prompt": "self, name, arguments, memory"}
    offered = {f"{name}({parameters[name]})": bodies.get(name, body) for name, body in sound.items()}
    methods = {"tools(self)": "return []", "call(self, tool, arguments, memory, progress)": "return {}", **offered}
    return Broken("tool_packs", methods=methods, provided={"capabilities": list(capabilities)})


ENDLESS = "return HttpResponse(content_type='text/plain', chunks=iter(lambda: b'more ', None))"
BROKEN: dict[str, Broken] = {
    "command-raises": command("acme raise", methods={"run(self, call)": RAISE}, stage=""),
    "command-hangs-at-import": command("acme hang", at_import=HANG, stage="make"),
    "command-prints": command("acme print", at_import=PRINT, methods={"run(self, call)": PRINT}, stage="stdout"),
    "command-exits-at-import": command("acme exit", at_import=EXIT, stage="make"),
    "command-shadows": command("query", stage="manifest", betrayed=True),
    "family-raises": family("alarm", RAISE),
    "family-hangs": family("siren", HANG),
    "family-hangs-in-version": family("bell", "return Extraction()", at_import="HANGING_VERSION = True", stage="shape"),
    "family-nonsense": family("gong", "return 'rows'"),
    "family-prints": family("horn", f"{PRINT}\n{ROWS}", stage="stdout"),
    "family-reserved": family("event", "return Extraction()", stage="name", betrayed=True),
    "family-left": family("twin", "return Extraction()", stage="name", betrayed=True),
    "family-right": family("twin", "return Extraction()", stage="name", betrayed=True),
    "route-raises": route("/raises", RAISE),
    "route-hangs": route("/hangs", HANG),
    "route-nonsense": route("/nonsense", "return 'page'"),
    "route-endless": route("/endless", ENDLESS, stage=""),
    "route-taken": route("/mcp", ENDLESS, stage="manifest"),
    "route-exits-at-import": route("/exits", "", at_import=EXIT, stage="make"),
    "auth-raises": Broken("http_auth", methods={"identify(self, request)": RAISE}),
    "auth-hangs": Broken("http_auth", methods={"identify(self, request)": HANG}),
    "auth-nonsense": Broken("http_auth", methods={"identify(self, request)": "return True"}),
    "auth-hangs-at-import": Broken("http_auth", HANG, methods={"identify(self, request)": ""}, stage="make"),
    "row-raises": doctor_row(RAISE),
    "row-hangs": doctor_row(HANG),
    "row-nonsense": doctor_row("return 'all is well'"),
    "lane-hangs": Broken("retrieval_lanes", methods={"search(self, query)": HANG}),
    "resource-raises": pack("resources", read=RAISE),
    "resources-hang": pack("resources", resources=HANG),
    "prompt-raises": pack("prompts", prompt=RAISE),
    "prompts-nonsense": pack("prompts", prompts="return 7"),
    "preset-malformed": Broken(
        manifest={"purposes": [{"name": "legal", "recall_floor": 99}]}, stage="manifest", betrayed=True
    ),
    "secret-row-malformed": Broken(
        manifest={"secret_shapes": "secret-shapes.txt"},
        files={"secret-shapes.txt": "# Version 1\nacme_token acmekey_ <>(a+)+$ Acme\n"},
        stage="secret_shapes",
    ),
}
"""By the name of the plugin; its package is called `acme-` and that."""

SEEN = {name: one.stage for name, one in BROKEN.items() if one.stage}
"""What the check finds, and at which stage. It runs no command, and reads no stream."""

_MODULE = """\
{mark}
import sys
import threading

from zaxy.api import Entity, Extraction, HttpResponse, Prompt, PromptMessage, Resource, ResourceContent

{at_import}


class Made:
    public_paths = ()

    def __init__(self, context):
        pass

    @property
    def version(self):
        if globals().get("HANGING_VERSION"):
            threading.Event().wait()
        return "1"
{methods}
"""


def install_all(site: Path) -> None:
    for name in BROKEN:
        install(name, site)


def install(name: str, site: Path) -> None:
    one, package = BROKEN[name], f"acme-{name}"
    module = package.replace("-", "_")
    methods = "".join(f"\n    def {head}:\n{indent(body or 'pass', ' ' * 8)}\n" for head, body in one.methods.items())
    provided = {"point": one.point, "name": name, "target": f"{module}.made:Made", "summary": "Broken."}
    manifest = installed.manifest_of(
        name,
        api={"min": "0.4", "max": "0.4"},
        provides=[{**provided, **one.provided}] if one.point else [],
        **one.manifest,
    )
    made = _MODULE.format(mark=MARK, at_import=one.at_import, methods=methods)
    installed.install(site, package, {"made.py": made}, manifest, f"[zaxy.plugins]\n{name} = {module}\n")
    for file, text in one.files.items():
        (site / module / file).write_text(text)
