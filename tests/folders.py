"""Folders that tests work in."""

from __future__ import annotations

from pathlib import Path


def made_folder(folder: Path) -> Path:
    """The folder, which is there from now on: memory opens no folder that is not."""
    folder.mkdir(parents=True, exist_ok=True)
    return folder
