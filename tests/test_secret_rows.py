"""Plugins add rows of secret shapes as data: judged one by one, read without an import, never at the cost of ours."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given, settings, strategies as st

from corpus.shape_matrix import FILES, rows as sample_rows
from installed import install, manifest_of
from served import environment
from zaxy import Memory
from zaxy.plugins import kept_manifests, secret_rows
from zaxy.security import shape_table
from zaxy.security.redaction import redact_text
from zaxy.security.shape_rows import MAX_FILE_BYTES, MAX_ROWS, judged_rows
from zaxy.settings import NOTHING_STORED
from zaxy.user_state import read_state, state_folder

ROW = r"acme_token acmekey_,acmetok_ <>[A-Za-z0-9]{24,}+ Acme"
SECRET = "acmekey_" + "q7Zw2mKx9LbT" * 3
PLUGIN = "raise RuntimeError('a plugin that only brings rows is not imported')\n"


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder of installed packages, and a process and a user that have looked for no rows yet."""
    monkeypatch.setenv("ZAXY_STATE_DIR", str(tmp_path / "state"))
    folder = tmp_path / "site"
    folder.mkdir()
    monkeypatch.syspath_prepend(str(folder))
    monkeypatch.setattr(shape_table, "_sources", {})
    shape_table._by_head.cache_clear()
    yield folder
    shape_table._by_head.cache_clear()


def bring(site: Path, *rows: str, name: str = "acme", **changed: object) -> None:
    """An installed plugin that brings these rows, and nothing else."""
    package = f"{name}-shapes"
    manifest = manifest_of(name, **{"provides": [], "secret_shapes": "secret-shapes.txt", **changed})
    install(site, package, {"plugin.py": PLUGIN}, manifest, f"[zaxy.plugins]\n{name} = {name}_shapes.plugin\n")
    (site / f"{name}_shapes" / "secret-shapes.txt").write_text("# Version 1\n" + "\n".join(rows) + "\n")


def settle(site: Path) -> None:
    """As if all of it had been installed a while ago."""
    past = time.time() - 60
    for path in (*site.rglob("*"), site):
        os.utime(path, (past, past))


def look_again() -> None:
    """As a new process does."""
    shape_table._sources.clear()
    shape_table._by_head.cache_clear()
    secret_rows.redact_rows_of_plugins(lambda: NOTHING_STORED)


def run(site: Path, folder: Path, *words: str, **env: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "zaxy", *words],
        cwd=folder,
        env=environment(site, **env),
        capture_output=True,
        text=True,
        timeout=120,
    )


def appended(site: Path, folder: Path, **env: str) -> dict[str, Any]:
    """The event that `zaxy append` writes of a text with the secret."""
    folder.mkdir(exist_ok=True)
    payload = json.dumps({"text": f"We call it with {SECRET} now."})
    assert run(site, folder, "append", "note.taken", "--payload", payload, **env).returncode == 0
    (log,) = (folder / ".eventloom").glob("*.jsonl")
    event: dict[str, Any] = json.loads(log.read_text().splitlines()[-1])
    return event


# In commands, with a plugin that is really installed


def test_what_an_outside_plugin_describes_is_taken_out_of_every_append(site: Path, tmp_path: Path) -> None:
    folder = tmp_path / "demo"
    assert SECRET in appended(site, folder)["payload"]["text"]
    bring(site, ROW)
    event = appended(site, folder)
    assert event["payload"]["text"] == "We call it with [redacted:acme_token] now."
    assert event["redacted"] == [{"kind": "acme_token", "pointer": "/text"}]
    run(site, folder, "hook-event", "command", "--command", f"deploy {SECRET}", "--exit-code", "0")
    (log,) = (folder / ".eventloom").glob("*.jsonl")
    assert "deploy [redacted:acme_token]" in log.read_text().splitlines()[-1]


def test_rows_of_a_disabled_or_incompatible_plugin_do_not_count(site: Path, tmp_path: Path) -> None:
    bring(site, ROW)
    assert SECRET in appended(site, tmp_path / "demo", ZAXY_PLUGINS_DISABLE="acme")["payload"]["text"]
    assert SECRET not in appended(site, tmp_path / "demo")["payload"]["text"]
    bring(site, ROW.replace("acme", "late"), name="late", api={"min": "9.0", "max": "9.0"})
    assert redact_text(SECRET.replace("acme", "late")) == (SECRET.replace("acme", "late"), [])


def test_a_plugin_that_is_disabled_for_one_workspace_counts_in_others(site: Path, tmp_path: Path) -> None:
    bring(site, ROW)
    settle(site)
    for name in ("one", "other"):
        (tmp_path / name).mkdir()
        appended(site, tmp_path / name)
    assert run(site, tmp_path / "one", "config", "set", "ZAXY_PLUGINS_DISABLE", "acme").returncode == 0
    assert SECRET in appended(site, tmp_path / "one")["payload"]["text"]
    assert SECRET not in appended(site, tmp_path / "other")["payload"]["text"]


def test_memory_in_python_takes_them_out_too_and_says_which_rows_are_refused(site: Path, tmp_path: Path) -> None:
    bring(site, ROW, "acme_other acme <>.* Acme")
    with Memory.open(tmp_path) as memory:
        assert memory.append("note.taken", {"text": SECRET}).payload == {"text": "[redacted:acme_token]"}
        assert any("secret-shapes.txt: line 3: its pattern" in notice for notice in memory.query("x").notices)


def test_check_names_each_refused_row_and_show_counts_them(site: Path, tmp_path: Path) -> None:
    bring(site, ROW, r"hash_token sha1- <>[\w+/=]{28} Acme", provides=[])
    (site / "acme_shapes" / "plugin.py").write_text("")
    checked = run(site, tmp_path, "plugins", "check", "acme", "--json")
    (finding,) = json.loads(checked.stdout)["findings"]
    assert (checked.returncode, finding["stage"]) == (1, "secret_shapes")
    assert finding["error"].startswith("secret-shapes.txt: line 3: it matches ")
    shown_to_people = run(site, tmp_path, "plugins", "show", "acme").stdout
    assert "secret shapes: 1 rows in secret-shapes.txt, 1 refused" in shown_to_people
    shown = json.loads(run(site, tmp_path, "plugins", "show", "acme", "--json").stdout)
    assert shown["secret_shapes"] == {"rows": 1, "refused": 1}


def test_a_file_that_is_not_there_is_named_and_stops_nothing(site: Path, tmp_path: Path) -> None:
    bring(site, ROW)
    (site / "acme_shapes" / "secret-shapes.txt").unlink()
    (site / "acme_shapes" / "plugin.py").write_text("")
    assert appended(site, tmp_path / "demo")["payload"]["text"].endswith("now.")
    assert "has no secret-shapes.txt" in run(site, tmp_path, "plugins", "check", "acme").stdout


# What is kept


def test_what_was_found_is_kept_and_looked_for_again_when_something_changed(
    site: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bring(site, ROW)
    settle(site)
    look_again()
    assert redact_text(SECRET)[1] == ["acme_token"]
    assert read_state(kept_manifests.STATE)[sys.prefix]["packages"] == ["acme-shapes"]
    found = kept_manifests._found
    monkeypatch.setattr(kept_manifests, "_found", lambda settings: pytest.fail("nothing has changed"))
    look_again()
    assert redact_text(SECRET)[1] == ["acme_token"]
    monkeypatch.setattr(kept_manifests, "_found", found)
    (site / "acme_shapes" / "secret-shapes.txt").write_text(ROW.replace("acmekey_", "otherkey_") + "\n")
    look_again()
    assert redact_text(SECRET)[1] == []
    bring(site, ROW.replace("acme", "late"), name="late")
    look_again()
    assert redact_text(SECRET.replace("acme", "late"))[1] == ["late_token"]


def test_where_nobody_brings_rows_no_manifest_is_read_again(site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install(site, "plain", {"plugin.py": ""}, manifest_of("plain"), "[zaxy.plugins]\nplain = plain.plugin\n")
    settle(site)
    look_again()
    assert redact_text(SECRET) == (SECRET, [])
    monkeypatch.setattr(kept_manifests, "_found", lambda settings: pytest.fail("nothing has changed"))
    monkeypatch.setattr(kept_manifests, "Settings", lambda **given: pytest.fail("no setting is needed"))
    look_again()
    assert redact_text(SECRET) == (SECRET, [])


def test_what_has_just_changed_is_not_kept(site: Path) -> None:
    bring(site, ROW)
    look_again()
    assert redact_text(SECRET)[1] == ["acme_token"]
    assert sys.prefix not in read_state(kept_manifests.STATE)


@pytest.mark.parametrize("damage", ["", "[]", '{"x": 1}', "{", '{"PREFIX": 5}', '{"PREFIX": {"format": "FORMAT"}}'])
def test_a_damaged_state_stops_no_append(site: Path, damage: str) -> None:
    bring(site, ROW)
    Path(state_folder()).mkdir(parents=True, exist_ok=True)
    text = damage.replace("PREFIX", sys.prefix).replace("FORMAT", kept_manifests.FORMAT)
    Path(state_folder(), kept_manifests.STATE).write_text(text)
    look_again()
    assert redact_text(f"my password is hunter2 and {SECRET}")[0].startswith("my password is [redacted:password]")


# How rows are judged


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        ("acme_token acmekey_", "four columns"),
        ("Acme-Token acmekey_ <>\\w{20,}+ Acme", "the kind"),
        ("acme_token ac <>\\w{20,}+ Acme", "the literal"),
        ("acme_token _acme <>\\w{20,}+ Acme", "the literal"),
        ("acme_token acmekey_ <>(?:a+)+b{20} Acme", "its pattern is not"),
        ("acme_token acmekey_ <>(?:[a-z]{1,9}+){9} Acme", "its pattern is not"),
        ("acme_token acmekey_ <>.{20,}+ Acme", "its pattern is not"),
        ("acme_token acmekey_ <>\\w{20,} Acme", "its pattern is not"),
        ("acme_token acmekey_ <>\\w{20,40} Acme", "its pattern is not"),
        ("acme_token acmekey_ <>\\w*\\w*\\w*x Acme", "its pattern is not"),
        ("acme_token acmekey_ \\w{20}<> Acme", "its pattern is not"),
        ("acme_token acmekey_ <>\\w{20,}+x Acme", "its pattern is not"),
        ("acme_token acmekey_ <>(?=a)\\w{20} Acme", "its pattern is not"),
        ("acme_token acmekey_ <>(\\w{20})\\1 Acme", "its pattern is not"),
        ("acme_token acmekey_ <>[z-a]{20} Acme", "no regular expression"),
        ("acme_token acmekey_ <>[a-z]{20,}+ Acme", "without end"),
        ("acme_token acmekey_ <>a?b?c?d?e?\\w{20,}+ Acme", "optional parts"),
        ("acme_token acmekey_ <>\\w{4} Acme", "it matches 12 characters"),
        ("acme_token acmekey_ <>\\w{20}[a-z]{999} Acme", "more than 512"),
        ("acme_token sha256: <>[0-9a-f]{64} Acme", "harmless text"),
        ("acme_token https:// <>[\\w./-]{12,40}+ Acme", "harmless text"),
        ("acme_token test_ <>[\\w]{20,}+ Acme", "harmless text"),
        (f"acme_token acmekey_ <>\\w{{20,}}+ {'A' * 400}", "more than 400"),
    ],
)
def test_a_row_that_is_no_row_of_ours_is_refused_with_its_reason(row: str, reason: str) -> None:
    judged = judged_rows(f"# rows\n\n{row}\n{ROW}\n".encode())
    assert [shape.provider for shape in judged.shapes] == ["Acme"]
    (refused,) = judged.refused
    assert refused.line == 3
    assert reason in refused.reason


def test_a_file_has_its_bounds() -> None:
    assert "more than 65,536 bytes" in str(judged_rows(b"x" * (MAX_FILE_BYTES + 1)).refused[0])
    assert "not plain ASCII" in str(judged_rows("é".encode()).refused[0])
    judged = judged_rows(f"{ROW}\n".encode() * (MAX_ROWS + 2))
    assert len(judged.shapes) == MAX_ROWS
    assert [refused.line for refused in judged.refused] == [MAX_ROWS + 1, MAX_ROWS + 2]


def test_most_rows_of_our_own_table_could_be_a_plugins() -> None:
    lines = Path(shape_table.TABLE).read_text(encoding="utf-8").splitlines()
    rows = [line for line in lines if line and not line.startswith("#")]
    judged = [judged_rows(row.encode()) for row in rows]
    assert sum(bool(one.shapes) for one in judged) > len(rows) / 2


atoms = st.sampled_from([r"\w", "[A-Za-z0-9]", "[a-z]", "a", r"\.", "-"])
counts = st.sampled_from(["", "{3}", "{20}", "{2,9}+", "{0,200}+", "?"])
groups = st.sampled_from(["(?:-[0-9a-f]{4}){3}", "(?:a{9}a)?", "(?:aaa){9}"])
endings = st.sampled_from(["", r"\w{20,}+", "[A-Za-z0-9]{9,}+={0,2}+", r"([\w-]{20,}+)", "[a-z]{20,}+", "a{20,40}+"])
parts = st.lists(st.tuples(atoms, counts).map("".join) | groups, max_size=5).map("".join)
forms = st.tuples(parts, endings).map("".join)


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.filter_too_much])
@given(forms)
def test_whatever_row_is_taken_costs_no_more_than_linear_time(form: str) -> None:
    judged = judged_rows(f"acme_token aaa,a-a <>{form} Acme".encode())
    assume(judged.shapes)
    pattern = shape_table.pattern_of(judged.shapes[0])
    for unit in ("a", "aaa-", "a-a.", "aaab1"):
        text = unit * ((1 << 16) // len(unit))
        steps = [_cpu(lambda text=text[:size]: list(pattern.finditer(text))) for size in (1 << 13, 1 << 16)]
        assert steps[1] <= 24 * max(steps[0], 0.002), (form, unit, steps)


def _cpu(run: Any) -> float:
    began = time.process_time()
    run()
    return time.process_time() - began


def test_with_rows_of_plugins_nothing_of_ours_is_found_less(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where a plugin's row begins like ours, ends within it, or takes its kind."""
    greedy = [
        r"acme_token ghp,sk-,AKIA,xox <>[\w-]{14,40}+ Acme",
        r"acme_token eyJ <>[A-Za-z0-9]{13} Acme",
        r"github_token glp,hvs <>[\w.-]{16,}+ Acme",
    ]
    judged = judged_rows("\n".join(greedy).encode())
    assert (len(judged.shapes), judged.refused) == (3, ())
    texts = [
        f"We use {''.join(part for part in sample if part not in '«»')} here, password=Tr0ub4dor&3x."
        for part in FILES
        for row in sample_rows(part)
        for sample in row.samples
    ]
    alone = [_words_left(text) for text in texts]
    monkeypatch.setattr(shape_table, "_sources", {"test": lambda: judged.shapes})
    shape_table._by_head.cache_clear()
    together = [_words_left(text) for text in texts]
    shape_table._by_head.cache_clear()
    assert all(more <= fewer for more, fewer in zip(together, alone, strict=True))


def _words_left(text: str) -> set[str]:
    """What stays of a text, as its words outside of any mark."""
    return set(redact_text(text)[0].replace("[redacted:", " [").split()) & set(text.split())
