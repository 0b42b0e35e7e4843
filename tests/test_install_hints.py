"""Hints about packages can be followed: they name no stranger's package, and are commands of this installation."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from conftest import Zaxy
from installed import install, install_plugin
from zaxy.plugins import install_hints
from zaxy.plugins.install_hints import install_hint, remove_hint, shown_hint, upgrade_hint

TREE = Path(__file__).parents[1]


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An environment with only what a test puts there, and pip."""
    folder = tmp_path / "venv" / "site-packages"
    folder.mkdir(parents=True)
    monkeypatch.setattr(sys, "path", [str(folder)])
    monkeypatch.setattr(sys, "prefix", str(tmp_path / "venv"))
    monkeypatch.setattr(sys, "executable", str(tmp_path / "venv" / "bin" / "python"))
    monkeypatch.setattr(install_hints, "__file__", str(folder / "zaxy" / "plugins" / "install_hints.py"))
    monkeypatch.setenv("PATH", str(tmp_path / "venv" / "bin"))
    (tmp_path / "venv" / "bin").mkdir()
    (tmp_path / "venv" / "bin" / "pip").touch(mode=0o755)
    monkeypatch.chdir(tmp_path)
    put(folder, "pip")
    return folder


def put(site: Path, package: str, *, url: str = "", editable: bool = False, by: str = "pip", needs: str = "") -> None:
    """A distribution with the notes of its installer."""
    install(site, package, {}, None, "")
    (info,) = site.glob(f"{package.replace('-', '_')}-*.dist-info")
    (info / "INSTALLER").write_text(f"{by}\n")
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 0.1.0\n{needs}\n")
    if url:
        about = {"dir_info": {"editable": editable}} if not url.endswith(".whl") else {"archive_info": {}}
        (info / "direct_url.json").write_text(json.dumps({"url": url, **about}))


def checkout(folder: Path) -> Path:
    for inside in ("zaxy-core", "plugins/kuzu"):
        (folder / inside).mkdir(parents=True)
        (folder / inside / "pyproject.toml").touch()
    return folder


CORE_EXTRA = "Requires-Dist: cryptography<51,>=48; extra == 'export'"


def test_from_a_checkout_a_hint_names_the_folder(site: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tree = checkout(tmp_path / "my zaxy")
    put(site, "zaxy-core", url=(tree / "zaxy-core").as_uri())
    assert install_hint("zaxy-kuzu") == f"pip install '{tree}/plugins/kuzu'"
    assert upgrade_hint("zaxy-core") == f"Upgrade it: update {tree}/zaxy-core, then pip install '{tree}/zaxy-core'"
    monkeypatch.chdir(tree)
    assert install_hint("zaxy-kuzu") == "pip install ./plugins/kuzu"
    assert install_hint("zaxy-core[export]") == "pip install './zaxy-core[export]'"


def test_an_editable_core_gets_editable_plugins_and_is_upgraded_in_place(site: Path, tmp_path: Path) -> None:
    tree = checkout(tmp_path / "zaxy")
    put(site, "zaxy-core", url=(tree / "zaxy-core").as_uri(), editable=True)
    assert install_hint("zaxy-kuzu") == f"pip install -e {tree}/plugins/kuzu"
    assert upgrade_hint("zaxy-core") == f"Upgrade it: update {tree}/zaxy-core"


def test_a_wheel_that_was_named_has_the_others_beside_it(site: Path, tmp_path: Path) -> None:
    wheels = tmp_path / "wheels"
    wheels.mkdir()
    for name in ("zaxy_core", "zaxy_kuzu"):
        (wheels / f"{name}-0.1.0-py3-none-any.whl").touch()
    put(site, "zaxy-core", url=(wheels / "zaxy_core-0.1.0-py3-none-any.whl").as_uri())
    assert install_hint("zaxy-kuzu") == f"pip install {wheels}/zaxy_kuzu-0.1.0-py3-none-any.whl"
    assert install_hint("zaxy-core[export]") == f"pip install '{wheels}/zaxy_core-0.1.0-py3-none-any.whl[export]'"


def test_where_the_wheels_were_is_asked_for_if_nobody_noted_it(site: Path) -> None:
    put(site, "zaxy-core", needs=CORE_EXTRA)
    assert install_hint("zaxy-kuzu").startswith("pip install WHEELS/zaxy_kuzu-*.whl (WHEELS: the folder of wheels")
    assert install_hint("zaxy-core[export]") == "pip install 'cryptography<51,>=48'"


def test_a_checkout_that_is_gone_is_not_named(site: Path, tmp_path: Path) -> None:
    put(site, "zaxy-core", url=(tmp_path / "gone" / "zaxy-core").as_uri())
    assert "gone" not in install_hint("zaxy-kuzu")
    assert "WHEELS/zaxy_kuzu-*.whl" in install_hint("zaxy-kuzu")


def test_another_environments_pip_is_not_called(site: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(site, "zaxy-core")
    monkeypatch.setenv("PATH", os.defpath)
    assert install_hint("neo4j>=6.4,<7") == f"{tmp_path}/venv/bin/python -m pip install 'neo4j>=6.4,<7'"


def test_what_uv_installed_uv_installs_into(site: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(site, "zaxy-core", by="uv")
    assert install_hint("neo4j") == f"uv pip install --python {tmp_path}/venv neo4j"
    assert remove_hint("acme") == f"uv pip uninstall --python {tmp_path}/venv acme"
    monkeypatch.setenv("VIRTUAL_ENV", str(tmp_path / "venv"))
    assert install_hint("neo4j") == "uv pip install neo4j"


def test_pipx_injects(site: Path, tmp_path: Path) -> None:
    tree = checkout(tmp_path / "zaxy")
    put(site, "zaxy-core", url=(tree / "zaxy-core").as_uri())
    (tmp_path / "venv" / "pipx_metadata.json").write_text("{}")
    assert install_hint("zaxy-kuzu") == f"pipx inject venv {tree}/plugins/kuzu"
    assert install_hint("zaxy-core[export]") == f"pipx inject --force venv '{tree}/zaxy-core[export]'"
    assert remove_hint("acme") == "pipx uninject venv acme"


def test_a_uv_tool_is_installed_again_with_all_that_was_added(site: Path, tmp_path: Path) -> None:
    tree = checkout(tmp_path / "zaxy")
    put(site, "zaxy-core", url=(tree / "zaxy-core").as_uri(), by="uv")
    noted = f'{{name = "zaxy-memory", directory = "{tree}"}}, {{name = "rich", extras = ["a"], specifier = ">=13"}}'
    (tmp_path / "venv" / "uv-receipt.toml").write_text(f"[tool]\nrequirements = [{noted}]\n")
    assert install_hint("zaxy-kuzu") == f"uv tool install {tree} --with 'rich[a]>=13' --with {tree}/plugins/kuzu"


@pytest.mark.parametrize("receipt", ['[tool]\nrequirements = [{name = "zaxy-memory"}]\n', "[tool]\n", "no toml", ""])
def test_a_uv_tool_from_unknown_wheels_is_not_looked_up_by_its_name(site: Path, tmp_path: Path, receipt: str) -> None:
    put(site, "zaxy-core", by="uv")
    (tmp_path / "venv" / "uv-receipt.toml").write_text(receipt)
    assert install_hint("zaxy-kuzu").startswith(f"uv pip install --python {tmp_path}/venv WHEELS/zaxy_kuzu-*.whl ")


def test_a_strangers_package_is_named_as_its_author_names_it_or_by_its_place(site: Path, tmp_path: Path) -> None:
    put(site, "zaxy-core")
    (tmp_path / "acme").mkdir()
    put(site, "acme-notes", url=(tmp_path / "acme").as_uri(), editable=True)
    assert install_hint("acme-notes[fast]") == f"pip install -e '{tmp_path}/acme[fast]'"
    assert install_hint("acme-files[fast]>=2") == "pip install 'acme-files[fast]>=2'"
    assert upgrade_hint("acme-files", "the plugin") == "Upgrade the plugin from where it came from"
    assert shown_hint("acme-files>=2") == "Install it: pip install 'acme-files>=2'"
    assert shown_hint("Ask your admin for it.") == "Ask your admin for it."


@pytest.mark.parametrize("noted", ["", "[]", "{}", '{"url": 7}', '{"url": "file://[", "dir_info": {}}', '{"url": "x"'])
def test_notes_that_cannot_be_read_are_no_notes(site: Path, noted: str) -> None:
    put(site, "zaxy-core")
    next(site.glob("zaxy_core-*.dist-info")).joinpath("direct_url.json").write_text(noted)
    assert "WHEELS/zaxy_kuzu-*.whl" in install_hint("zaxy-kuzu")


BY_NAME = re.compile(r"(?:pipx?|uv tool) install (?:--?[\w-]+ )*'?zaxy-|pipx inject \S+ '?zaxy-")


def test_nothing_in_the_tree_says_to_install_one_of_our_packages_by_its_name() -> None:
    written = [*TREE.glob("zaxy-core/**/*.*"), *TREE.glob("plugins/**/*.*"), *TREE.glob("docs/**/*.md")]
    texts = (path for path in (*written, *TREE.glob("*.md")) if path.suffix in (".py", ".md", ".json"))
    assert [str(path) for path in texts if BY_NAME.search(path.read_text(encoding="utf-8"))] == []
    for wrong in ("pip install --upgrade 'zaxy-core[export]'", "uv pip install zaxy-kuzu", "pipx inject x zaxy-kuzu"):
        assert BY_NAME.search(wrong)


def test_commands_show_the_hint_of_this_installation(zaxy: Zaxy, tmp_path: Path) -> None:
    """In this environment the core is editable, from the checkout."""
    hidden = tmp_path / "hidden"
    install_plugin(hidden, "neo4j-elsewhere")
    done = zaxy("init", "--backend", "nowhere")
    assert "install" not in done.stderr, "a name that nobody knows is looked up nowhere"
    shown = zaxy("plugins", "show", "ml-dsa-65").stderr
    assert f"-e {TREE}/plugins/mldsa" in shown and "Install the package that provides it: " in shown


# Really installed copies. The hint is followed, while an index has newer packages of our names.


def run(*words: object, cwd: Path, **env: str) -> str:
    environ = {**os.environ, "PYTHONPATH": "", "VIRTUAL_ENV": "", **env}
    done = subprocess.run(list(map(str, words)), cwd=cwd, env=environ, capture_output=True, text=True, timeout=280)
    assert done.returncode == 0, f"{words}\n{done.stdout}\n{done.stderr}"
    return done.stdout


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with uv and pipx, a checkout of what the hints may name, and decoys of its packages."""
    from zipfile import ZipFile

    folder = tmp_path_factory.mktemp("hints")
    run(sys.executable, "-m", "venv", "tools", cwd=folder)
    run("tools/bin/pip", "install", "--quiet", "uv", "pipx", cwd=folder)
    listed = run("git", "ls-files", "-co", "--exclude-standard", "zaxy-core", "plugins/hermes", "contracts", cwd=TREE)
    for name in listed.splitlines():
        if (TREE / name).is_file():
            (folder / "zaxy" / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / "zaxy" / name).write_bytes((TREE / name).read_bytes())
    (folder / "decoys").mkdir()
    for name in ("zaxy_core", "zaxy_hermes"):
        info = f"{name}-99.0.dist-info"
        with ZipFile(folder / "decoys" / f"{name}-99.0-py3-none-any.whl", "w") as wheel:
            wheel.writestr(
                f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {name.replace('_', '-')}\nVersion: 99.0\n"
            )
            wheel.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
            wheel.writestr(f"{info}/RECORD", "")
    return folder


def environ(home: Path) -> dict[str, str]:
    return {
        "PATH": f"{home / 'tools' / 'bin'}{os.pathsep}{os.environ['PATH']}",
        "PIPX_HOME": str(home / "pipx"),
        "PIPX_BIN_DIR": str(home / "bin"),
        "UV_TOOL_DIR": str(home / "uv-tools"),
        "UV_TOOL_BIN_DIR": str(home / "bin"),
    }


def by_pip(home: Path, *words: str) -> Path:
    """A virtual environment into which pip has put the core; uv brings what others wrote, since it is quick."""
    run("uv", "venv", "--quiet", "--seed", "by-pip", cwd=home, **environ(home))
    python = home / "by-pip" / "bin" / "python"
    run(
        "uv",
        "pip",
        "install",
        "--quiet",
        "--python",
        python,
        "-r",
        "zaxy/zaxy-core/pyproject.toml",
        cwd=home,
        **environ(home),
    )
    run(python, "-m", "pip", "install", "--quiet", "--no-deps", *words, cwd=home)
    return python.with_name("zaxy")


def editable_checkout(home: Path) -> Path:
    return by_pip(home, "-e", "./zaxy/zaxy-core")


def folder_of_wheels(home: Path) -> Path:
    run("uv", "build", "--quiet", "--wheel", "--out-dir", "wheels", "zaxy/zaxy-core", cwd=home, **environ(home))
    run("uv", "build", "--quiet", "--wheel", "--out-dir", "wheels", "zaxy/plugins/hermes", cwd=home, **environ(home))
    return by_pip(home, "--no-index", "--find-links", "wheels", "zaxy-core")


def uv_environment(home: Path) -> Path:
    run("uv", "venv", "--quiet", "by-uv", cwd=home, **environ(home))
    run("uv", "pip", "install", "--quiet", "--python", "by-uv", "./zaxy/zaxy-core", cwd=home, **environ(home))
    return home / "by-uv" / "bin" / "zaxy"


def pipx_environment(home: Path) -> Path:
    run("pipx", "install", "--quiet", "./zaxy/zaxy-core", cwd=home, **environ(home))
    return home / "pipx" / "venvs" / "zaxy-core" / "bin" / "zaxy"


def uv_tool(home: Path) -> Path:
    run("uv", "tool", "install", "--quiet", "--force", "./zaxy/zaxy-core", cwd=home, **environ(home))
    return home / "uv-tools" / "zaxy-core" / "bin" / "zaxy"


@pytest.mark.parametrize(
    ("make", "begins"),
    [
        (editable_checkout, "{home}/by-pip/bin/python -m pip install -e {home}/zaxy/plugins/hermes"),
        (folder_of_wheels, "{home}/by-pip/bin/python -m pip install WHEELS/zaxy_hermes-*.whl"),
        (uv_environment, "uv pip install --python {home}/by-uv {home}/zaxy/plugins/hermes"),
        (pipx_environment, "pipx inject zaxy-core {home}/zaxy/plugins/hermes"),
        (uv_tool, "uv tool install {home}/zaxy/zaxy-core --with {home}/zaxy/plugins/hermes"),
    ],
    ids=lambda value: value.__name__ if callable(value) else "",
)
@pytest.mark.slow
@pytest.mark.xdist_group("hints")
def test_the_hint_of_a_really_installed_copy_installs_our_package(home: Path, make: object, begins: str) -> None:
    command = make(home)  # type: ignore[operator]
    failed = subprocess.run([command, "plugins", "show", "hermes"], capture_output=True, text=True, cwd=home)
    hint = failed.stderr.partition("Install the package that provides it: ")[2].strip()
    assert hint.startswith(begins.format(home=home)), failed.stderr
    typed = hint.partition(" (WHEELS")[0].replace("WHEELS", str(home / "wheels"))
    decoys = {"PIP_FIND_LINKS": str(home / "decoys"), "UV_FIND_LINKS": str(home / "decoys")}
    run("bash", "-c", typed, cwd=home, **environ(home), **decoys)
    shown = json.loads(run(command, "plugins", "show", "hermes", "--json", cwd=home))
    assert (shown["package"], shown["state"]) == ("zaxy-hermes", "ready")
    assert shown["version"] != "99.0"
    _remove(home)


def _remove(home: Path) -> None:
    """The next kind of installation begins from nothing."""
    from shutil import rmtree

    rmtree(home / "by-pip", ignore_errors=True)
