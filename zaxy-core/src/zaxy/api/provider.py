"""What a hook returns, and what a provider's class is called with."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Provider:
    """One provider of an extension point.

    `target` is the text `package.module:Class`. It is imported when the provider is first used and called
    with a `ProviderContext`, so naming a provider costs nothing.
    """

    name: str
    target: str
    summary: str
    stability: str = "experimental"
    capabilities: tuple[str, ...] = ()
    install_hint: str = ""
    """What is shown when importing the target fails. A requirement, such as `neo4j>=6.4,<7`, becomes the command that
    installs it here."""


@dataclass(frozen=True, slots=True)
class ProviderContext:
    """What the core hands to a provider. Making a provider must be cheap: no connection, no large file."""

    settings: Mapping[str, object]
    """The plugin's own settings by environment name, parsed to their types."""
    state_dir: Path
    """Where it may keep files. A follower has a folder of its own, which may be deleted while nothing runs; the other
    providers of a plugin share the plugin's. For a command it need not be there: `own_folder_within` makes it."""
    workspace_id: str
    """Empty for a command where nothing is recorded yet."""
    warn: Callable[[str], None] = field(repr=False)
    """Tell the user something without failing; shown as a notice beside the answer."""
    clock: Callable[[], datetime] = field(repr=False)
    """The present moment in UTC; use it instead of `datetime.now` so that tests can set it."""
    user_dir: Path = Path()
    """The plugin's own folder among the user's own files, one for all workspaces. It need not be there:
    `own_folder_within` makes it. What came from a workspace is erased there too when that forgets it."""
