"""The pages about export say what the code says, and leave nothing of it out: whoever implements them relies on it."""

from __future__ import annotations

import json
import re
from dataclasses import fields
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from export_vectors import FEW, KEY, bundle_of, canonical, id_of, leaf_hash, signed_message, tree_proof, tree_root
from zaxy.contracts.packages import plugin_contract
from zaxy.eventloom.admission import SENSITIVITIES
from zaxy.plugins.manifest import read_manifest
from zaxy.plugins.roster import load_roster
from zaxy.settings import Settings
from zaxy_export import reading, reference_verifier
from zaxy_export.bundle import NONCE_SIZE, NOT_SIGNED, SIGNED, SIGNED_FIELDS, UNSIGNED
from zaxy_export.entries import MAX_ENTRY_DEPTH, SCHEMA, SOURCES
from zaxy_export.merkle import max_steps
from zaxy_export.selector import DEFAULT_QUERY_LIMIT, ENTRY_AXES, GRAINS, MAX_QUERY_LIMIT, Selector
from zaxy_export.signing import DEFAULT_ALGORITHM
from zaxy_export.tools import MAX_REPLY

TREE = Path(__file__).parents[2]
PAGE = (TREE / "docs" / "export-contract.md").read_text(encoding="utf-8")
SECURITY = (TREE / "docs" / "experimental" / "portable-export-security.md").read_text(encoding="utf-8")
VECTORS = json.loads((TREE / "contracts" / "vectors" / "export-v1.json").read_bytes())
MANIFEST = read_manifest("zaxy_export", "zaxy-export")
FORMATS = plugin_contract(MANIFEST, "zaxy-export")["items"]


def section(title: str) -> str:
    found = re.search(rf"^(#+) {re.escape(title)}\n(.*?)(?=^#+ |\Z)", PAGE, re.MULTILINE | re.DOTALL)
    assert found, f"the page has no section {title!r}"
    return found[2]


def rows(text: str, table: int = 0) -> dict[str, list[str]]:
    """The rows of a table, by their first cell without code marks."""
    found = re.findall(r"(?:^\|.*\n)+", text, re.MULTILINE)[table].splitlines()[2:]
    cells = [[cell.strip() for cell in row.strip("|").split("|")] for row in found]
    return {first.strip("`"): rest for first, *rest in cells}


def names(place: str) -> set[str]:
    """The fields that the code writes in an object."""
    prefix = f"field {place}."
    found = {item.removeprefix(prefix) for item in FORMATS if item.startswith(prefix)}
    return {name for name in found if "." not in name}


def code_words(text: str) -> set[str]:
    return set(re.findall(r"`([^`\n]+)`", text))


# Entries


def test_the_table_of_an_entry_has_the_fields_that_entries_have() -> None:
    assert set(rows(section("Entries"))) == names("entry")
    assert len(names("entry")) == 9


@pytest.mark.parametrize("what", ["event", "entity", "edge"])
def test_the_table_of_contents_has_the_fields_that_contents_have(what: str) -> None:
    described = rows(section("Entries"), 1)[f"an {what}"][0]
    first_of_each = {word.partition(":")[0] for word in code_words(described)}
    assert first_of_each - {"internal", "<entity_type>"} == names(what)


def test_the_types_in_the_tables_are_those_of_the_code() -> None:
    for place, table in (("entry", rows(section("Entries"))), ("bundle", rows(section("The signed bundle")))):
        for name, (kind, *_) in table.items():
            live = FORMATS[f"field {place}.{name}"]["type"]
            assert kind == "any" or live in kind, f"{place}.{name} is {live}"


def test_grains_and_sources_are_the_ones_of_the_code() -> None:
    table = rows(section("Entries"))
    assert code_words(table["grain"][1]) == set(GRAINS) == set(SOURCES)
    assert code_words(table["source"][1]) == {word for pair in SOURCES.items() for word in pair}


# The selector


def test_the_table_of_axes_is_the_selector() -> None:
    table = rows(section("The selector"))
    assert list(table) == [field.name for field in fields(Selector)]
    assert tuple(name for name, (counts, _) in table.items() if counts == "yes") == ENTRY_AXES
    assert {counts for counts, _ in table.values()} == {"yes", "no"}
    assert code_words(table["grains"][1]) == set(GRAINS)
    assert code_words(table["exclude_sensitivities"][1]) == set(SENSITIVITIES)
    assert f"{DEFAULT_QUERY_LIMIT} unless given, {MAX_QUERY_LIMIT} at most" in table["query_limit"][1]


# Shapes


def test_the_tables_of_shapes_have_the_fields_that_are_written() -> None:
    bundle = set(rows(section("The signed bundle")))
    assert bundle == names("bundle") == {*SIGNED_FIELDS, "signature", "entries"}
    assert set(rows(section("The disclosed subset"))) == names("subset") - names("bundle") == {"disclosed"}
    assert code_words(rows(section("The signed bundle"))["entries"][1]) == names("bundle.entries[]")
    assert code_words(rows(section("The disclosed subset"))["disclosed"][1]) == names("subset.disclosed[]")
    example = re.search(r"```json\n(.*?)```", section("The unsigned envelope"), re.DOTALL)
    assert example
    told = json.loads(example[1])
    assert told.keys() == names("envelope")
    assert (told["version"], told["schema_version"], told["signed"]) == (UNSIGNED, SCHEMA, False)


def test_the_algorithms_are_those_of_our_packages() -> None:
    rows_ = load_roster(Settings({})).rows
    installed = {
        provided.name
        for row in rows_
        if row.manifest and row.name in ("export", "mldsa")
        for provided in row.manifest.provides
        if provided.point == "signing_algorithms"
    }
    assert code_words(rows(section("The signed bundle"))["algorithm"][1]) == installed
    assert DEFAULT_ALGORITHM in installed
    source = Path(reference_verifier.__file__).read_text(encoding="utf-8")
    assert installed == set(re.findall(r'"(ed25519|ml-dsa-\d+)"', source))


def test_the_message_leaves_out_what_the_code_leaves_out() -> None:
    told = re.search(r"top-level object without (.*)\)", section("Hashing and signing"))
    assert told
    assert re.findall(r'"(\w+)"', told[1]) == list(NOT_SIGNED)
    assert f'"{SIGNED}" || 0x0A' in PAGE
    assert f"{NONCE_SIZE} random bytes" in PAGE


def test_the_worked_example_is_the_vector_and_adds_up() -> None:
    example = section("A worked example")
    joined = example.replace("\n", "")
    leaves = [leaf_hash(id_of(entry)) for entry in FEW]
    bundle = bundle_of(FEW)
    assert canonical(FEW[0]).decode() in joined
    assert signed_message(bundle).decode().replace("\n", "") in joined
    assert sha256(signed_message(bundle)).hexdigest() in example
    assert f"`{bundle['signature'][:16]}`" in example
    assert rows(example) == {
        str(at): [f"`{id_of(entry).hex()}`", f"`{leaves[at].hex()}`"] for at, entry in enumerate(FEW)
    }
    assert tree_root(leaves[:2]).hex() in example
    assert tree_root(leaves).hex() in example
    assert tree_proof(2, leaves) == [[tree_root(leaves[:2]).hex(), "left"]]
    assert tree_proof(1, leaves) == [[leaves[0].hex(), "left"], [leaves[2].hex(), "right"]]
    vector = next(vector for vector in VECTORS["files"] if f"*{vector['name']}*" in example)
    assert json.loads(vector["file"])["signature"] == bundle["signature"]
    assert vector["expect_public_key"] == KEY.public_key


# Reading and verifying


def test_the_page_and_the_vectors_name_the_same_reasons() -> None:
    steps = section("Verification")
    told = set(re.findall(r"`((?:not|no|wrong|duplicate|unknown)_\w+)`", steps))
    assert told == {vector["reason"] for vector in VECTORS["files"]} - {None}
    source = Path(reference_verifier.__file__).read_text(encoding="utf-8")
    assert told == set(re.findall(r'Refused\(\s*"(\w+)"', source)) - {"too_large"}


def test_the_steps_are_numbered_without_a_gap() -> None:
    numbers = [int(number) for number in re.findall(r"^(\d+)\. ", section("Verification"), re.MULTILINE)]
    assert numbers == list(range(1, 18))


def test_the_limits_are_those_of_the_code() -> None:
    assert {name: bound for name, (bound,) in rows(section("Limits")).items()} == {
        "text of a field of the header": f"{reading.MAX_FIELD_BYTES:,} bytes",
        "text of an item": f"{reading.MAX_ITEM_BYTES:,} bytes",
        "fields of the header": str(reading.MAX_FIELDS),
        "white space in one place": f"{reading.MAX_SPACE_BYTES:,} bytes",
        "steps of a proof": str(reading.MAX_PROOF_STEPS),
    }
    assert f"nested at most {MAX_ENTRY_DEPTH + 1} deep in an item" in section("Reading").replace("\n  ", " ")
    assert (MAX_ENTRY_DEPTH + 1, 64) == (reference_verifier.MAX_ITEM_DEPTH, reference_verifier.MAX_HEADER_DEPTH)
    assert reading.MAX_PROOF_STEPS == reference_verifier.MAX_STEPS == max_steps(reference_verifier.MAX_WHOLE)
    assert f"{reference_verifier.MAX_FILE_BYTES >> 20} MiB" in str(reference_verifier.__doc__)


def test_the_table_of_vectors_has_what_the_file_has() -> None:
    assert list(rows(section("Test vectors"))) == [name for name in VECTORS if name not in ("about", "format")]


# Surfaces


def options(command: str) -> set[str]:
    parameters: list[dict[str, Any]] = FORMATS[f"command {command}"]["parameters"]
    return {parameter["name"] for parameter in parameters if parameter["name"].startswith("--")}


def test_the_page_has_every_option_of_export_and_no_other() -> None:
    usual = {"--out", "--session-id", "--workspace", "--eventloom-path", "--json"}
    told = section("Pulling").partition("**MCP.**")[0].partition("`zaxy export-keygen` makes")[0]
    assert {word for word in code_words(told) if word.startswith("--")} == options("export") - usual
    pushed = {word for word in code_words(section("Pushing")) if word.startswith("--")}
    assert pushed == options("export-push") - options("export") | {"--sink", "--dest", "--auth-token-file"}


def test_every_command_about_export_is_on_the_page() -> None:
    known = {item.removeprefix("command ") for item in FORMATS if item.startswith("command ")}
    about = {command for command in known if "export" in command or command == "import"}
    for command in about:
        assert re.search(rf"zaxy {command}\b", PAGE), command
    for told in set(re.findall(r"`zaxy ([a-z -]+)`", PAGE)):
        assert told in known, told


def test_the_arguments_of_the_tool_are_the_axes_and_those_on_the_page() -> None:
    parameters = {p["name"] for p in FORMATS["tool memory_export"]["parameters"]}
    told = section("Pulling").partition("**MCP.**")[2]
    listed = set(re.findall(r"^- `(\w+)`:", told, re.MULTILINE))
    assert listed == {"sign", "disclose", "admin_token"}
    assert parameters == {field.name for field in fields(Selector)} | listed | {"session_id"}
    assert f"more than {MAX_REPLY >> 20} MiB" in told


def test_every_setting_about_signing_is_on_the_page_and_no_other() -> None:
    known = {setting.env for setting in MANIFEST.settings}
    assert set(re.findall(r"`(MCP_EXPORT_\w+)`", PAGE)) == known


# Versions and warnings


def test_the_versions_are_those_of_the_code() -> None:
    assert set(rows(section("Versions"))) == {SCHEMA, UNSIGNED, SIGNED}
    live = {item["value"] for name, item in FORMATS.items() if name.startswith("version ")}
    assert live == {SCHEMA, UNSIGNED, SIGNED} == set(re.findall(r"zaxy\.(?:export|portable)[a-z.]*\.v\d+", PAGE))
    assert (reference_verifier.VERSION, reference_verifier.SCHEMA) == (SIGNED, SCHEMA)


@pytest.mark.parametrize("page", [PAGE, SECURITY], ids=["contract", "security"])
def test_both_pages_say_first_that_signing_is_experimental_and_unaudited(page: str) -> None:
    assert "**Signing is EXPERIMENTAL and UNAUDITED.**" in page[:900]


def test_the_security_page_says_what_is_not_proven() -> None:
    limits = SECURITY.partition("## What is not proven")[2].partition("\n## ")[0]
    bold = re.findall(r"^- \*\*(.+?)\*\*", limits, re.MULTILINE)
    assert bold[:4] == ["Who.", "That the key is still good.", "When.", "That it is complete."]
    for word in ("certificate authority", "revocation", "trusted time", "`anchor`", "`created_at`", "selector"):
        assert word in limits, word
    assert "entries of the same event share their citation" in SECURITY


@pytest.mark.parametrize("page", ["export-contract.md", "experimental/portable-export-security.md"])
def test_every_link_of_the_pages_leads_somewhere(page: str) -> None:
    path = TREE / "docs" / page
    for target in re.findall(r"\]\(([^)]+)\)", path.read_text(encoding="utf-8").replace("\n", " ")):
        file, _, anchor = target.partition("#")
        linked = (path.parent / file).resolve() if file else path
        assert linked.exists(), target
        if anchor:
            titles = re.findall(r"^#+ (.+)$", linked.read_text(encoding="utf-8"), re.MULTILINE)
            anchors = {re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-") for title in titles}
            assert anchor in anchors, target
