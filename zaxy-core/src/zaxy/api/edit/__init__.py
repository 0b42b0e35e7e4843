"""Editors for the files of other programs: one entry goes in or out, and every other byte stays.

`edit.json` edits JSON, with or without comments and trailing commas; `edit.toml` edits tables of TOML; `edit.lines` has
what an editor of another format needs. All of them take a text and return a text.
"""

from zaxy.api.edit import json as json, lines as lines, toml as toml
