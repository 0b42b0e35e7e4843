"""The fast discovery agrees with importlib.metadata, the reference, on everything that can be on a path."""

from __future__ import annotations

import importlib.metadata
import random
import sys
import zipfile
from pathlib import Path
from types import ModuleType

import importlib_metadata
import pytest

from zaxy.plugins.discovery import announced, locate

REFERENCES = (importlib.metadata, importlib_metadata)
ENTRY = "[zaxy.plugins]\n{0} = {0}.plugin\n"


def reference(module: ModuleType, path: list[str]) -> list[tuple[str, str, str, str]]:
    """What the reference finds, by its own rule that the first distribution of a name counts."""
    found, seen = [], set()
    for distribution in module.distributions(path=path):
        if distribution._normalized_name in seen:
            continue
        seen.add(distribution._normalized_name)
        for entry in distribution.entry_points:
            if entry.group == "zaxy.plugins":
                found.append((entry.name, entry.module, distribution.metadata["Name"], distribution.version))
    return sorted(found)


def assert_agrees(*folders: Path) -> list[tuple[str, ...]]:
    path = [str(folder) for folder in folders]
    ours = [tuple(announcement) for announcement in announced(path)]
    for module in REFERENCES:
        assert ours == reference(module, path), module.__name__
    return ours


def dist(folder: Path, stem: str, name: str, entries: str, version: str = "1.0", headers: str = "METADATA") -> None:
    (folder / stem).mkdir(parents=True)
    (folder / stem / headers).write_text(
        f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n\nName: not this one\n"
    )
    (folder / stem / "entry_points.txt").write_text(entries)


def test_wheels_eggs_and_plain_folders_are_found(tmp_path: Path) -> None:
    dist(tmp_path, "acme_notes-1.0.dist-info", "acme-notes", ENTRY.format("acme"))
    dist(tmp_path, "Other.Thing-2.0.egg-info", "Other.Thing", ENTRY.format("other"), "2.0", "PKG-INFO")
    egg = tmp_path / "old-3.0-py3.11.egg"
    dist(egg, "EGG-INFO", "old", ENTRY.format("old"), "3.0", "PKG-INFO")
    assert len(assert_agrees(tmp_path, egg)) == 3


def test_the_first_of_two_distributions_of_one_name_counts(tmp_path: Path) -> None:
    dist(tmp_path / "a", "acme_notes-1.0.dist-info", "acme-notes", ENTRY.format("acme"))
    dist(tmp_path / "b", "Acme.Notes-2.0.dist-info", "Acme.Notes", ENTRY.format("acme"), "2.0")
    assert [found[3] for found in assert_agrees(tmp_path / "a", tmp_path / "b")] == ["1.0"]
    assert [found[3] for found in assert_agrees(tmp_path / "b", tmp_path / "a")] == ["2.0"]


def test_comments_extras_attributes_and_other_groups_are_read_alike(tmp_path: Path) -> None:
    text = (
        "# a comment\n\n[console_scripts]\nacme = acme.cli:main\n[zaxy.plugins]\n# no = no.plugin\n"
        "  spaced   =   acme.plugin  \nwith-extra = acme.plugin [fast]\nattribute = acme.plugin:hooks\n"
        "[zaxy.plugins.not]\nx = y\n"
    )
    dist(tmp_path, "acme-1.0.dist-info", "acme", text)
    assert [found[0] for found in assert_agrees(tmp_path)] == ["attribute", "spaced", "with-extra"]


def test_a_plugin_inside_a_zip_on_the_path_is_found(tmp_path: Path) -> None:
    archive = tmp_path / "bundle.zip"
    with zipfile.ZipFile(archive, "w") as opened:
        opened.writestr("acme-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: acme\nVersion: 1.0\n")
        opened.writestr("acme-1.0.dist-info/entry_points.txt", ENTRY.format("acme"))
    assert len(assert_agrees(archive)) == 1


def test_missing_unreadable_and_odd_folders_are_passed_over(tmp_path: Path) -> None:
    (tmp_path / "not-a-zip").write_text("text")
    (tmp_path / "empty-1.0.dist-info").mkdir()
    assert assert_agrees(tmp_path, tmp_path / "missing", tmp_path / "not-a-zip") == []


@pytest.mark.parametrize("seed", range(20))
def test_random_site_folders_are_read_as_the_reference_reads_them(tmp_path: Path, seed: int) -> None:
    rng = random.Random(seed)
    folders = [tmp_path / str(number) for number in range(3)]
    for folder in folders:
        folder.mkdir()
        for _ in range(8):
            name = rng.choice(["acme-notes", "acme.notes", "Acme_Notes", "b", "c-d", "zaxy-kuzu", "e__f"])
            version = f"{rng.randrange(3)}.{rng.randrange(3)}"
            stem = f"{name.replace('-', '_')}-{version}.{rng.choice(['dist-info', 'egg-info'])}"
            entries = rng.choice([ENTRY.format("one"), ENTRY.format("two"), "[other]\nx = y\n", ""])
            if not (folder / stem).exists():
                dist(folder, stem, name, entries, version, "METADATA" if stem.endswith("dist-info") else "PKG-INFO")
    assert_agrees(*folders)


def test_what_is_installed_here_is_read_as_the_reference_reads_it() -> None:
    ours = [tuple(announcement) for announcement in announced()]
    for module in REFERENCES:
        assert ours == reference(module, sys.path)


def test_a_package_is_located_without_importing_it_or_its_parents(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for folder in ("outer/inner/leaf", "plain/leaf"):
        (tmp_path / folder).mkdir(parents=True)
        (tmp_path / folder / "__init__.py").write_text("raise RuntimeError('imported')")
    (tmp_path / "plain" / "__init__.py").write_text("raise RuntimeError('imported')")
    monkeypatch.syspath_prepend(str(tmp_path))
    for name in ("outer.inner.leaf", "plain.leaf"):
        spec = locate(name)
        assert spec is not None
        assert spec.origin == str(tmp_path / name.replace(".", "/") / "__init__.py")
        assert name.split(".")[0] not in sys.modules
    assert locate("plain.missing") is None
    assert locate("missing.leaf") is None
    assert locate("json.decoder.deeper") is None
