"""A sink from outside that takes rows: what it puts into its table is what the bundle says, row for row."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

import installed
from conftest import Zaxy

NAME = "acme-table"
SINK = '''
import json
import sqlite3
from contextlib import closing

from zaxy.api import InvalidRequest, Receipt


class Sink:
    """Writes a bundle into a table, and what it says of itself beside it."""

    def __init__(self, context):
        self._folder = context.state_dir

    def check(self, destination):
        if not destination.isidentifier():
            raise InvalidRequest(f"{destination!r} is not the name of a table", "Use letters and digits.")

    def deliver(self, parcel, destination, token):
        self.check(destination)
        rows = ((r.citation, r.seq, r.grain, r.kind, json.dumps(r.content), r.valid_from, r.valid_to, r.id)
                for r in parcel.rows)
        with closing(sqlite3.connect(self._folder / "table.db")) as db, db:
            db.execute(f"DROP TABLE IF EXISTS {destination}")
            db.execute(f"CREATE TABLE {destination} (citation, seq, grain, kind, content, valid_from, valid_to, id)")
            db.executemany(f"INSERT INTO {destination} VALUES (?, ?, ?, ?, ?, ?, ?, ?)", rows)
            count = len(list(parcel.rows))
        (self._folder / "manifest.json").write_text(json.dumps(dict(parcel.manifest)))
        return Receipt(destination, parcel.size, parcel.sha256, f"{count} rows")
'''


@pytest.fixture
def site(tmp_path: Path, zaxy: Zaxy) -> Path:
    folder = tmp_path / "site"
    package = NAME.replace("-", "_")
    target = {"target": f"{package}.sink:Sink", "summary": "Rows into a table."}
    provided = [{"point": "export_sinks", "name": NAME, "capabilities": ["rows"], **target}]
    manifest = installed.manifest_of(NAME, api={"min": "0.4", "max": "0.4"}, provides=provided)
    installed.install(folder, NAME, {"sink.py": SINK}, manifest, f"[zaxy.plugins]\n{NAME} = {package}\n")
    for number in range(3):
        payload = {"decision": f"Bücher {number}", "key": f"k{number}", "occurred_at": "2026-05-20"}
        assert zaxy("append", "decision.made", "--payload", json.dumps(payload)).returncode == 0
    return folder


def delivered(tmp_path: Path) -> tuple[list[tuple[Any, ...]], dict[str, Any]]:
    """The rows of the table `notes`, and what the bundle says of itself."""
    folder = tmp_path / "here" / ".eventloom" / "plugins" / NAME
    with closing(sqlite3.connect(folder / "table.db")) as db:
        rows = list(db.execute("SELECT citation, seq, grain, kind, content, valid_from, valid_to, id FROM notes"))
    return rows, json.loads((folder / "manifest.json").read_bytes())


def as_rows(entries: list[dict[str, Any]]) -> list[tuple[Any, ...]]:
    """The entries of a bundle as the table has them."""
    found = []
    for item in entries:
        entry, own = (item, "") if "grain" in item else (item["content"], item.get("id", ""))
        names = ("citation", "seq", "grain", "kind")
        window = (entry["valid_from"] or "", entry["valid_to"] or "")
        found.append((*(entry[name] for name in names), json.dumps(entry["content"]), *window, own))
    return found


@pytest.mark.needs_package("export")
def test_a_sink_of_rows_gets_what_the_bundle_says_row_for_row(zaxy: Zaxy, tmp_path: Path, site: Path) -> None:
    done = zaxy("export-push", "--sink", NAME, "--dest", "notes", site=site)
    assert done.returncode == 0, done.stderr
    assert zaxy("export", "--out", str(tmp_path / "b.json")).returncode == 0
    bundle = json.loads((tmp_path / "b.json").read_bytes())
    rows, manifest = delivered(tmp_path)
    assert rows == as_rows(bundle.pop("entries")) and len(rows) > 6
    assert manifest == bundle


@pytest.mark.needs_package("export")
def test_the_rows_of_a_signed_bundle_have_their_ids_and_its_root_and_signature(
    zaxy: Zaxy, tmp_path: Path, site: Path
) -> None:
    pytest.importorskip("cryptography")
    private, public = str(tmp_path / "k.pem"), str(tmp_path / "k.pub")
    made = zaxy("export-keygen", "--out-private", private, "--out-public", public)
    assert made.returncode == 0, made.stderr
    keys = ("--private-key", private, "--public-key", public)
    done = zaxy("export-push", "--sink", NAME, "--dest", "notes", *keys, site=site)
    assert done.returncode == 0, done.stderr
    rows, manifest = delivered(tmp_path)
    assert all(len(row[-1]) == 64 for row in rows)
    assert manifest["entry_count"] == len(rows)
    assert len(manifest["merkle_root"]) == 64 and manifest["signature"]


@pytest.mark.needs_package("export")
def test_a_table_that_cannot_be_is_refused_before_anything_is_built(zaxy: Zaxy, tmp_path: Path, site: Path) -> None:
    done = zaxy("export-push", "--sink", NAME, "--dest", "drop table", site=site)
    assert done.returncode == 2 and "is not the name of a table" in done.stderr
    assert not (tmp_path / "here" / ".eventloom" / "plugins" / NAME / "table.db").exists()


def test_the_plugin_is_in_order(zaxy: Zaxy, site: Path) -> None:
    done = zaxy("plugins", "check", NAME, site=site)
    assert done.returncode == 0, done.stdout + done.stderr
