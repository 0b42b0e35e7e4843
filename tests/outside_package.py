"""One package from outside that brings a thing of every kind: it reviews pull requests, and everything is cited."""

from __future__ import annotations

import shutil
from pathlib import Path

import installed

PACKAGE = "acme-pulls"
MANIFEST = {
    "api": {"min": "0.4", "max": "0.4"},
    "provides": [
        {"point": point, "name": name, "target": f"acme_pulls.{target}", "summary": summary, **more}
        for point, name, target, summary, more in (
            ("event_types", "pulls", "family:Pulls", "Pull requests.", {}),
            ("extractors", "acme-owners", "owners:Owners", "Who owns a file.", {}),
            ("commands", "pulls-open", "commands:Pulls", "Record a pull request.", {"words": "pulls open"}),
            ("commands", "pulls-list", "commands:Pulls", "List the open ones.", {"words": "pulls list"}),
            ("tool_packs", "acme-pulls", "pack:Pack", "Tools.", {"capabilities": ["resources"]}),
            ("http_routes", "acme-pulls", "routes:Routes", "A list.", {"paths": ["/pulls"]}),
            ("doctor_checks", "acme-pulls", "health:Health", "How many are open.", {}),
            (
                "retrieval_lanes",
                "acme-numbers",
                "lane:Lane",
                "By the number of a pull request.",
                {"lane": {"weight": 0.5, "budget_ms": 500, "scale": "probability"}},
            ),
        )
    ],
    "event_types": [
        {
            "type": "pulls.request.opened",
            "written_by": "package",
            "sentence": "Pull request {number}: {title}",
            "heading": "pulls",
            "entities": ["pull_request"],
            "relations": ["opened_by"],
            "fields": {"number": "number", "title": "text", "file": "text"},
        },
        {"type": "pulls.request.merged", "written_by": "package", "fields": {"number": "number"}},
    ],
    "purposes": [{"name": "merging", "recall_floor": 12, "terms": ["pull", "request"]}],
}
MODULES = {
    "family.py": """
from zaxy.api import Closing, Edge, Entity, EntityRef, Extraction


class Pulls:
    version = "1"

    def __init__(self, context):
        pass

    def extract(self, event):
        name = f"pull request {event.payload['number']}"
        thing = EntityRef("pull_request", name)
        if event.type == "pulls.request.merged":
            return Extraction(closings=(Closing(event.time, entity=thing),))
        entity = Entity(name, "pull_request", event.payload["title"], {"status": "open"})
        return Extraction((entity,), (Edge(thing, EntityRef("actor", event.actor), "opened_by"),))
""",
    "owners.py": """
from zaxy.api import Entity, Extraction

OWNERS = {"billing.py": "Quillfeather", "search.py": "Ottoline"}


class Owners:
    version = "1"

    def __init__(self, context):
        pass

    def extract(self, event):
        owner = OWNERS.get(str((event.payload or {}).get("file", "")))
        return Extraction((Entity(owner, "code_owner", f"{owner} owns it"),)) if owner else Extraction()
""",
    "commands.py": """
import argparse


class Pulls:
    def __init__(self, context):
        pass

    def run(self, call):
        parser = argparse.ArgumentParser(f"zaxy {call.words}")
        if call.words == "pulls open":
            parser.add_argument("number", type=int)
            parser.add_argument("title")
            parser.add_argument("--file", default="")
        given = vars(parser.parse_args(call.arguments))
        with call.open_memory() as memory:
            if given:
                call.say(memory.append("pulls.request.opened", given, actor="ann").citation)
            else:
                for row in memory.current(["pull_request"]):
                    call.say(f"{row.entity.name}: {row.entity.summary}")
        return 0
""",
    "pack.py": """
from zaxy.api import NotFound, Resource, ResourceContent, Tool, UnknownTool

NUMBER = {"type": "object", "properties": {"number": {"type": "integer"}}, "required": ["number"]}


class Pack:
    def __init__(self, context):
        pass

    def tools(self):
        return [Tool("acme_merge", "Say that a pull request was merged.", NUMBER, profiles=("core", "full"))]

    def call(self, tool, arguments, memory, progress):
        if tool != "acme_merge":
            raise UnknownTool(f"there is no tool {tool}", "Call acme_merge.")
        event = memory.append("pulls.request.merged", {"number": arguments["number"]}, actor="ann")
        return {"citation": event.citation}

    def resources(self):
        return [Resource("open", "Open pull requests")]

    def read(self, path, memory):
        if path != "open":
            raise NotFound(f"there is no {path}", "Read open.")
        return [ResourceContent("\\n".join(row.entity.name for row in memory.current(["pull_request"])))]
""",
    "routes.py": """
from zaxy.api import json_response


class Routes:
    def __init__(self, context):
        pass

    def answer(self, request, memory):
        rows = memory.current(["pull_request"])
        return json_response({"open": [{"name": row.entity.name, "seq": row.opened_seq} for row in rows]})
""",
    "health.py": """
from zaxy.api import Finding


class Health:
    def __init__(self, context):
        pass

    def check(self, checkup):
        if not checkup.has_memory:
            return [Finding("open", "ok", "nothing is recorded yet")]
        with checkup.open_memory() as memory:
            count = len(memory.current(["pull_request"]))
        return [Finding("open", "ok" if count < 2 else "warning", f"{count} pull requests are open", "zaxy pulls list")]
""",
    "lane.py": """
import re

from zaxy.api import Candidate


class Lane:
    def __init__(self, context):
        pass

    def search(self, query):
        return [Candidate(int(number), 0.9) for number in re.findall(r"#(\\d+)", query.text)][: query.limit]
""",
}


def install(site: Path) -> None:
    entry = f"[zaxy.plugins]\n{PACKAGE} = acme_pulls\n"
    installed.install(site, PACKAGE, MODULES, installed.manifest_of(PACKAGE, **MANIFEST), entry)


def uninstall(site: Path) -> None:
    for folder in ("acme_pulls", "acme_pulls-0.1.0.dist-info"):
        shutil.rmtree(site / folder)
