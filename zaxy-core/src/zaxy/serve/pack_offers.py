"""Resources and prompts of tool packs: listed once, bounded in size, and read as tools are called."""

from __future__ import annotations

import base64
import re
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from zaxy.access import reading_access_to
from zaxy.api.models import Tool
from zaxy.api.pack_models import (
    PROMPTS,
    RESOURCES,
    Prompt,
    PromptArgument,
    PromptMessage,
    Resource,
    ResourceContent,
)
from zaxy.api.tools import Call, ToolFunction
from zaxy.errors import InternalError, NotFound, TooLarge, UnknownTool, ZaxyError
from zaxy.serve.application import GET, READ
from zaxy.serve.packs import MAX_DESCRIPTION_CHARS, NAME, without_details
from zaxy.serve.schema import checked
from zaxy.serve.whole_memory import whole_memory

if TYPE_CHECKING:
    from zaxy.api.access import MemoryAccess
    from zaxy.plugins.host import BoundProvider

T = TypeVar("T", Resource, Prompt)
SEPARATOR = "://"
SCHEME = re.compile(r"[a-z][a-z0-9-]*")
TAKEN_SCHEMES = frozenset(("data", "eventloom", "file", "ftp", "git", "http", "https", "javascript", "ui", "ws", "wss"))
"""Schemes that mean something to clients, or to us."""
PATH = re.compile(r"[A-Za-z0-9._~!$&'()*+,;=:@%/?{}-]{1,256}")
MIME_TYPE = re.compile(r"[a-z0-9.+-]{1,64}/[a-z0-9.+-]{1,64}(?:;[ -~]{1,64})?")
MAX_TITLE_CHARS = 128
MAX_LISTED = 200
"""Resources and prompts of one pack."""
MAX_ARGUMENTS = 16
MAX_ARGUMENT_CHARS = 10_000
MAX_PARTS = 64
MAX_CONTENT_BYTES = 1 << 20
ROLES = ("user", "assistant")


class PackOffers:
    """What all packs offer besides tools. They are asked for their lists once."""

    def __init__(self, packs: Iterable[BoundProvider], notice: Callable[[str], None]) -> None:
        self.resources: dict[str, Resource] = {}
        """By URI, templates among them."""
        self.prompts: dict[str, Prompt] = {}
        self._readers: dict[str, list[BoundProvider]] = {}
        self._prompters: dict[str, BoundProvider] = {}
        self._notice = notice
        for pack in packs:
            if RESOURCES in pack.provider.capabilities:
                self._take_resources(pack)
            if PROMPTS in pack.provider.capabilities:
                self._take_prompts(pack)

    def method(self, name: str) -> ToolFunction:
        """What answers a method of the protocol, in the form of a tool: so it is counted, bounded and recorded."""
        if name == READ:
            return ToolFunction(Tool(READ, "Read a resource.", READS, read_only=True), self._read)
        if name == GET:
            return ToolFunction(Tool(GET, "Make a prompt.", GETS, read_only=True), self._get)
        raise UnknownTool(f"there is no method {name:.80}", f"There are {READ} and {GET}.")

    # Listing

    def _take_resources(self, pack: BoundProvider) -> None:
        scheme = pack.row.name
        if scheme in TAKEN_SCHEMES or not SCHEME.fullmatch(scheme):
            self._notice(f"the resources of the pack {pack.name} are left out: no scheme can be named {scheme}")
            return
        self._readers.setdefault(scheme, []).append(pack)
        for resource in self._listed(pack, RESOURCES, Resource):
            uri = f"{scheme}{SEPARATOR}{resource.path}"
            if problem := "it is listed twice" if uri in self.resources else problem_of_resource(resource):
                self._leave_out(pack, f"resource {str(resource.path)!r:.80}", problem)
            else:
                self.resources[uri] = resource

    def _take_prompts(self, pack: BoundProvider) -> None:
        for prompt in self._listed(pack, PROMPTS, Prompt):
            if problem := "its name is taken" if prompt.name in self.prompts else problem_of_prompt(prompt):
                self._leave_out(pack, f"prompt {str(prompt.name)!r:.80}", problem)
            else:
                self.prompts[prompt.name] = prompt
                self._prompters[prompt.name] = pack

    def _listed(self, pack: BoundProvider, method: str, kind: type[T]) -> list[T]:
        try:
            found = pack.call(method)
        except ZaxyError as error:
            self._notice(f"the {method} of the pack {pack.name} are left out: {error.message}")
            return []
        if not isinstance(found, list | tuple) or not all(isinstance(one, kind) for one in found):
            self._notice(f"the {method} of the pack {pack.name} are left out: it returned no list of them")
            return []
        if len(found) > MAX_LISTED:
            self._notice(f"only {MAX_LISTED} of {len(found)} {method} of the pack {pack.name} are listed")
        return list(found[:MAX_LISTED])

    def _leave_out(self, pack: BoundProvider, what: str, problem: str) -> None:
        self._notice(f"the {what} of the pack {pack.name} is left out: {problem}")

    # Reading

    def _read(self, call: Call) -> Mapping[str, Any]:
        uri = str(call.arguments["uri"])
        scheme, _, path = uri.partition(SEPARATOR)
        for pack in self._readers.get(scheme, ()):
            try:
                found = pack.call("read", path, _memory(call))
            except NotFound:
                continue
            except ZaxyError as error:
                raise without_details(pack, uri, error) from None
            return {"contents": _contents(pack, uri, found, self.resources.get(uri))}
        raise NotFound(f"there is no resource {uri!r:.200}", "Call resources/list, and read one of those.")

    def _get(self, call: Call) -> Mapping[str, Any]:
        name = str(call.arguments["name"])
        if name not in self.prompts:
            raise NotFound(f"there is no prompt {name!r:.80}", "Call prompts/list, and name one of those.")
        prompt, pack = self.prompts[name], self._prompters[name]
        given = checked(name, _schema_of(prompt), call.arguments.get("arguments", {}))
        try:
            found = pack.call("prompt", name, dict(given), _memory(call))
        except ZaxyError as error:
            raise without_details(pack, name, error) from None
        return {"description": prompt.description, "messages": _messages(pack, name, found)}


TEXT = {"type": "string", "minLength": 1, "maxLength": 2048}
READS = {"type": "object", "properties": {"uri": TEXT}, "required": ["uri"], "additionalProperties": False}
GETS = {
    "type": "object",
    "properties": {"name": TEXT, "arguments": {"type": "object"}},
    "required": ["name"],
    "additionalProperties": False,
}


def _memory(call: Call) -> MemoryAccess:
    return reading_access_to(whole_memory(call), call.default_session)


def _schema_of(prompt: Prompt) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": {one.name: {"type": "string", "maxLength": MAX_ARGUMENT_CHARS} for one in prompt.arguments},
        "required": [one.name for one in prompt.arguments if one.required],
        "additionalProperties": False,
    }


# What packs return may be anything


def problem_of_resource(resource: Resource) -> str:
    """Why a resource cannot be listed; empty if it can."""
    if not isinstance(resource.path, str) or not PATH.fullmatch(resource.path):
        return "a path has 1 to 256 of the characters of a URI"
    if resource.path.count("{") != resource.path.count("}"):
        return "the braces of its path do not match"
    if not _is_short(resource.name, MAX_TITLE_CHARS) or not resource.name:
        return f"a name has 1 to {MAX_TITLE_CHARS} characters"
    if not _is_short(resource.description, MAX_DESCRIPTION_CHARS):
        return f"a description has at most {MAX_DESCRIPTION_CHARS:,} characters"
    return "" if _is_mime_type(resource.mime_type) else "its MIME type is none"


def problem_of_prompt(prompt: Prompt) -> str:
    """Why a prompt cannot be listed; empty if it can."""
    if not isinstance(prompt.name, str) or not NAME.fullmatch(prompt.name):
        return "a name has 1 to 48 of the characters a-z and _"
    if not _is_short(prompt.description, MAX_DESCRIPTION_CHARS) or not prompt.description:
        return f"a description has 1 to {MAX_DESCRIPTION_CHARS:,} characters"
    arguments = prompt.arguments
    if not isinstance(arguments, list | tuple) or len(arguments) > MAX_ARGUMENTS:
        return f"it has no list of at most {MAX_ARGUMENTS} arguments"
    if not all(_is_argument(one) for one in arguments) or len({one.name for one in arguments}) < len(arguments):
        return "its arguments need short names, each one of its own"
    return ""


def _is_argument(one: object) -> bool:
    named = isinstance(one, PromptArgument) and isinstance(one.name, str) and bool(NAME.fullmatch(one.name))
    return named and isinstance(one, PromptArgument) and _is_short(one.description, MAX_DESCRIPTION_CHARS)


def _is_short(text: object, max_chars: int) -> bool:
    return isinstance(text, str) and len(text) <= max_chars


def _is_mime_type(text: object) -> bool:
    return isinstance(text, str) and bool(MIME_TYPE.fullmatch(text))


def _contents(pack: BoundProvider, uri: str, found: object, listed: Resource | None) -> list[dict[str, str]]:
    if not isinstance(found, list | tuple) or not 0 < len(found) <= MAX_PARTS:
        raise _malformed(pack, uri, f"no list of 1 to {MAX_PARTS} contents")
    size = 0
    contents = []
    for one in found:
        if not isinstance(one, ResourceContent) or not isinstance(one.text, str) or not isinstance(one.blob, bytes):
            raise _malformed(pack, uri, "something that is not a zaxy.api.ResourceContent")
        size += len(one.text.encode(errors="replace")) + len(one.blob)
        mime_type = one.mime_type or (listed.mime_type if listed else "")
        kind = {"mime_type": mime_type} if _is_mime_type(mime_type) else {}
        body = {"blob": base64.b64encode(one.blob).decode()} if one.blob else {"text": one.text}
        contents.append({"uri": uri, **kind, **body})
    _refuse_large(pack, uri, size)
    return contents


def _messages(pack: BoundProvider, name: str, found: object) -> list[dict[str, str]]:
    if not isinstance(found, list | tuple) or not 0 < len(found) <= MAX_PARTS:
        raise _malformed(pack, name, f"no list of 1 to {MAX_PARTS} messages")
    for one in found:
        if not isinstance(one, PromptMessage) or one.role not in ROLES or not isinstance(one.text, str):
            raise _malformed(pack, name, "something that is not a zaxy.api.PromptMessage")
    _refuse_large(pack, name, sum(len(one.text.encode(errors="replace")) for one in found))
    return [{"role": one.role, "text": one.text} for one in found]


def _refuse_large(pack: BoundProvider, what: str, size: int) -> None:
    if size > MAX_CONTENT_BYTES:
        raise TooLarge(
            f"{what:.200} of the pack {pack.name} has {size:,} bytes; at most {MAX_CONTENT_BYTES:,} are sent",
            f"Ask for a part of it. The authors of {pack.row.package} can offer it in pages.",
        )


def _malformed(pack: BoundProvider, what: str, returned: str) -> ZaxyError:
    return InternalError(
        f"{what:.200} of the tool pack {pack.name} returned {returned}",
        f"Report it to the authors of {pack.row.package}, or disable it: ZAXY_PLUGINS_DISABLE={pack.row.name}",
    )
