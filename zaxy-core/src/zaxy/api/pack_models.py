"""What a tool pack may offer besides tools: resources to read, and prompts to begin with."""

from __future__ import annotations

from dataclasses import dataclass

RESOURCES, PROMPTS = "resources", "prompts"
"""The capabilities of tool packs that offer them."""


@dataclass(frozen=True, slots=True)
class Resource:
    """Something to read, at `<plugin>://<path>`: the scheme is the plugin's name, so that no two packages clash."""

    path: str
    """What comes behind `<plugin>://`. With parts in braces, as in `notes/{day}`, it is a template."""
    name: str
    description: str = ""
    mime_type: str = "text/plain"

    @property
    def is_template(self) -> bool:
        return "{" in self.path


@dataclass(frozen=True, slots=True)
class ResourceContent:
    """A part of what was read: text, or bytes."""

    text: str = ""
    blob: bytes = b""
    """Instead of a text."""
    mime_type: str = ""
    """Where it is another one than that of the resource."""


@dataclass(frozen=True, slots=True)
class PromptArgument:
    """What a prompt can be asked with. Its value is a text."""

    name: str
    description: str = ""
    required: bool = False


@dataclass(frozen=True, slots=True)
class Prompt:
    """A ready beginning of a conversation, which a client shows to its user."""

    name: str
    """1 to 48 of the characters a-z and _."""
    description: str
    arguments: tuple[PromptArgument, ...] = ()


@dataclass(frozen=True, slots=True)
class PromptMessage:
    """One message of a prompt."""

    text: str
    role: str = "user"
    """`user` or `assistant`."""
