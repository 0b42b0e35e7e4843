"""Edits of follower files. What is edited is chosen at random, and is the same for the same seed.

Every text that is planted holds `PLANTED`, which is looked for wherever memory speaks, and `ASKED_FOR`, by which a
question can aim at it without holding the other word.
"""

from __future__ import annotations

import json
import re
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

PLANTED, ASKED_FOR = "zorvex", "brimtal"
TEXT = f"the {ASKED_FOR} gate code is {PLANTED}"
MOMENTS = ("2019-01-01T00:00:00.000000Z", "2031-01-01T00:00:00.000000Z", "2026-03-04T05:06:07.000000Z", "")
NUMBERS = (0, 1, -1, 2, 7, 40, 2**31, 2**62, -(2**62), 0.5)
PAGE = 4096
TRIES = 5_000
"""Cells that are looked at for one edit or a few: of some kinds there is one in a hundred cells."""
FAVOURED = 20
"""A table of one row is met less often than one of many, but more rows than this do not make it more likely."""
_MOMENT = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T")
_HASH = re.compile(r"[0-9a-f]{64}")


def databases(workspace: Path) -> list[Path]:
    """The follower files of a workspace, in a fixed order."""
    files = sorted((workspace / ".eventloom" / "followers").rglob("*"))
    return [path for path in files if path.suffix in (".db", ".index")]


# Cells


class Cell(NamedTuple):
    table: str
    column: str
    where: str
    keys: tuple[Any, ...]
    value: Any

    def __str__(self) -> str:
        return f"{self.table}.{self.column} of {self.keys}"

    def put(self, db: sqlite3.Connection, value: object) -> None:
        # Bytes become a text that is no UTF-8, unless the cell held bytes before.
        new = "CAST(? AS TEXT)" if isinstance(value, bytes) and not isinstance(self.value, bytes) else "?"
        db.execute(f'UPDATE "{self.table}" SET "{self.column}" = {new} WHERE {self.where}', (value, *self.keys))


class NotHere(Exception):
    """This cell is not of the kind that is edited."""


def random_cell(random: Random, db: sqlite3.Connection) -> Cell:
    tables = db.execute("SELECT name FROM sqlite_master WHERE type = 'table' AND sql NOT LIKE '%fts5%' ORDER BY name")
    counts = {name: db.execute(f'SELECT count(*) FROM "{name}"').fetchone()[0] for (name,) in tables.fetchall()}
    weights = [min(count, FAVOURED) for count in counts.values()]
    if not any(weights):
        raise NotHere
    (table,) = random.choices(list(counts), weights)
    described = db.execute(f'PRAGMA table_info("{table}")').fetchall()
    keys = [name for _, name, _, _, _, place in described if place] or ["rowid"]
    column = random.choice([name for _, name, *_ in described])
    chosen = ", ".join(f'"{name}"' if name != "rowid" else name for name in [*keys, column])
    order = ", ".join(str(place + 1) for place in range(len(keys)))
    place = random.randrange(counts[table])
    row = db.execute(f'SELECT {chosen} FROM "{table}" ORDER BY {order} LIMIT 1 OFFSET ?', (place,))
    *values, value = row.fetchone()
    return Cell(table, column, " AND ".join(f'"{key}" IS ?' for key in keys), tuple(values), value)


CellEdit = Callable[[Random, sqlite3.Connection, Cell], None]


def edit_cells(random: Random, workspace: Path, edit: CellEdit) -> str:
    """Make one to three edits, each in a cell that takes it; what was edited."""
    made: list[str] = []
    wanted = random.randint(1, 3)
    for _ in range(TRIES):
        path = random.choice(databases(workspace))
        with closing(sqlite3.connect(path)) as db:
            try:
                with db:
                    cell = random_cell(random, db)
                    edit(random, db, cell)
                made.append(f"{path.name} {cell}")
            except (NotHere, sqlite3.DatabaseError, UnicodeError):
                continue  # a rule of the table, or an edit before this one, is in the way
        if len(made) == wanted:
            return "; ".join(made)
    raise AssertionError("there is nothing to edit")


def _text(cell: Cell) -> str:
    if not isinstance(cell.value, str):
        raise NotHere
    return cell.value


def replace_text(random: Random, db: sqlite3.Connection, cell: Cell) -> None:
    before = _text(cell)
    middle = random.randint(0, len(before))
    cell.put(db, random.choice((TEXT, f"{before} {TEXT}", f"{before[:middle]} {TEXT} {before[middle:]}")))


def replace_text_in_json(random: Random, db: sqlite3.Connection, cell: Cell) -> None:
    if not _text(cell).startswith(("{", "[")):
        raise NotHere
    try:
        value = json.loads(cell.value)
    except ValueError:
        raise NotHere from None
    if isinstance(value, dict):
        value[random.choice(sorted(value) or ["content"])] = TEXT
    else:
        value.append(TEXT)
    cell.put(db, json.dumps(value, separators=(",", ":")))


def move_moment(random: Random, db: sqlite3.Connection, cell: Cell) -> None:
    if not _MOMENT.match(_text(cell)) and not cell.column.startswith("valid_"):
        raise NotHere
    cell.put(db, random.choice([moment for moment in MOMENTS if moment != cell.value]))


def replace_hash(random: Random, db: sqlite3.Connection, cell: Cell) -> None:
    if not _HASH.search(_text(cell)):
        raise NotHere
    cell.put(db, _HASH.sub(f"{random.getrandbits(256):064x}", cell.value))


def replace_number(random: Random, db: sqlite3.Connection, cell: Cell) -> None:
    if not isinstance(cell.value, int | float):
        raise NotHere
    others = [*NUMBERS, cell.value + 1, cell.value - 1]
    cell.put(db, random.choice([number for number in others if number != cell.value]))


def put_null(random: Random, db: sqlite3.Connection, cell: Cell) -> None:
    if cell.value is None:
        raise NotHere
    cell.put(db, None)


def put_no_utf8(random: Random, db: sqlite3.Connection, cell: Cell) -> None:
    odd = random.choice((b"\xff\xfe", b"\xed\xa0\x80", b"\xc3", b"\x00\xff"))
    cell.put(db, odd + _text(cell).encode() + TEXT.encode())


def change_blob(random: Random, db: sqlite3.Connection, cell: Cell) -> None:
    if not isinstance(cell.value, bytes) or not cell.value:
        raise NotHere
    data = bytearray(cell.value)
    data[random.randrange(len(data))] ^= random.randint(1, 255)
    cell.put(db, bytes(data))


def exchange(random: Random, db: sqlite3.Connection, cell: Cell) -> None:
    """With another row of the same table."""
    query = f'SELECT "{cell.column}" FROM "{cell.table}" WHERE "{cell.column}" IS NOT ? ORDER BY 1'
    others = db.execute(query, (cell.value,)).fetchall()
    if not others:
        raise NotHere
    cell.put(db, random.choice(others)[0])


def delete_row(random: Random, db: sqlite3.Connection, cell: Cell) -> None:
    db.execute(f'DELETE FROM "{cell.table}" WHERE {cell.where}', cell.keys)


CELL_EDITS: tuple[CellEdit, ...] = (
    replace_text,
    replace_text_in_json,
    move_moment,
    replace_hash,
    replace_number,
    put_null,
    put_no_utf8,
    change_blob,
    exchange,
)


# Files


FileEdit = Callable[[Random, Path, Path], str]


def overwrite_bytes(random: Random, workspace: Path, others: Path) -> str:
    path = random.choice(databases(workspace))
    data = bytearray(path.read_bytes())
    for _ in range(random.randint(1, 40)):
        data[random.randrange(len(data))] = random.randrange(256)
    path.write_bytes(data)
    return f"{path.name} bytes"


def cut_off(random: Random, workspace: Path, others: Path) -> str:
    path = random.choice(databases(workspace))
    size = path.stat().st_size
    left = random.choice((0, 1, 50, PAGE, size // 2, size - PAGE, random.randrange(size)))
    path.write_bytes(path.read_bytes()[:left])
    return f"{path.name} to {left} bytes"


def zero_page(random: Random, workspace: Path, others: Path) -> str:
    path = random.choice(databases(workspace))
    data = bytearray(path.read_bytes())
    page = random.randrange(max(len(data) // PAGE, 1))
    data[page * PAGE : (page + 1) * PAGE] = bytes(PAGE)
    path.write_bytes(data)
    return f"{path.name} page {page}"


def delete_file(random: Random, workspace: Path, others: Path) -> str:
    path = random.choice(databases(workspace))
    path.unlink()
    return path.name


def delete_journal(random: Random, workspace: Path, others: Path) -> str:
    """From a workspace that was copied while it was in use: only such a one has these files."""
    shutil.rmtree(workspace)
    shutil.copytree(others / "in-use", workspace)
    found = [path for path in workspace.rglob("*") if path.name.endswith(("-wal", "-shm"))]
    chosen = random.sample(sorted(found), random.randint(1, len(found)))
    for path in chosen:
        path.unlink()
    return ", ".join(sorted(path.name for path in chosen))


def take_from(name: str) -> FileEdit:
    """Put one or all files of another workspace's followers into the place of this one's."""

    def take(random: Random, workspace: Path, others: Path) -> str:
        files = databases(workspace)
        chosen = random.choice([[path] for path in files] + [files])
        for path in chosen:
            shutil.copyfile(others / name / path.relative_to(workspace), path)
        return ", ".join(path.name for path in chosen)

    take.__name__ = f"take_from_{name.replace('-', '_')}"
    return take


def plant_everywhere(random: Random, workspace: Path, others: Path) -> str:
    """A new file with the schema and the rows of the old one, but other texts in all of one table's columns."""
    path = random.choice(databases(workspace))
    again = path.with_suffix(".again")
    with closing(sqlite3.connect(path)) as old, closing(sqlite3.connect(again)) as new:
        (version,) = old.execute("PRAGMA user_version").fetchone()
        (application,) = old.execute("PRAGMA application_id").fetchone()
        old.backup(new)
        columns = [
            (table, column)
            for (table,) in new.execute("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'fts%'")
            for _, column, kind, *_ in new.execute(f'PRAGMA table_info("{table}")').fetchall()
            if kind == "TEXT" and column not in ("hash", "cursor", "fed_by", "valid_from", "valid_to", "time", "name")
        ]
        for table, column in columns:
            new.execute(f'UPDATE OR IGNORE "{table}" SET "{column}" = "{column}" || ?', (f" {TEXT}",))
        new.execute(f"PRAGMA user_version = {version}")
        new.execute(f"PRAGMA application_id = {application}")
        new.commit()
    again.replace(path)
    return path.name


FILE_EDITS: tuple[FileEdit, ...] = (
    overwrite_bytes,
    cut_off,
    zero_page,
    delete_file,
    delete_journal,
    take_from("sibling"),
    take_from("another-user"),
    plant_everywhere,
)
