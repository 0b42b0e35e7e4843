from __future__ import annotations

import json
from pathlib import Path

import pytest

from conftest import Zaxy
from installed import install_plugin
from zaxy.errors import ZaxyError
from zaxy.settings import MASK, SETTINGS, Setting, Settings, Stored, parse

SECRET = Setting("ACME_TOKEN", "string", None, "A token.", secret=True)


def found(environ: dict[str, str] | None = None, **stored: object) -> tuple[object, ...]:
    kept = Stored(**{where: {"ZAXY_PLUGINS_BUDGET": value} for where, value in stored.items()})
    return Settings(environ or {}, kept).find("ZAXY_PLUGINS_BUDGET")[1:3]


def test_the_environment_wins_over_the_user_and_the_workspace_and_those_over_the_default() -> None:
    assert found() == (10.0, "default")
    assert found(everywhere=4) == (4.0, "user")
    assert found(everywhere=4, workspace=3) == (3.0, "workspace")
    assert found(everywhere=4, workspace=3, here=5) == (5.0, "user")
    assert found({"ZAXY_PLUGINS_BUDGET": "2"}, workspace=3, here=5) == (2.0, "environment")


NEVER_OF_A_WORKSPACE = {
    "PROJECTION_BACKEND",
    "ZAXY_EVENT_STORE",
    "ZAXY_HTTP_ALLOWED_ORIGINS",
    "ZAXY_HTTP_REQUIRE_ORIGIN",
    "ZAXY_ENV",
    "ZAXY_PLUGINS_PREFER",
    "MCP_ADMIN_TOKEN",
    "MCP_EXPORT_SIGNING_PRIVATE_KEY_FILE",
    "MCP_EXPORT_SIGNING_PASSPHRASE_FILE",
}


@pytest.mark.parametrize("setting", SETTINGS, ids=lambda setting: setting.env)
def test_a_workspace_sets_only_what_reaches_no_network_key_path_program_or_gate(setting: Setting) -> None:
    value = Settings({}, Stored(workspace={setting.env: GIVEN[setting.kind]})).resolve(setting)
    assert value.source == ("workspace" if setting.in_workspace else "default")
    assert not (setting.in_workspace and (setting.kind == "path" or setting.env in NEVER_OF_A_WORKSPACE))


def test_what_a_plugin_declares_is_set_by_a_workspace_only_where_its_manifest_says_so() -> None:
    stored = Stored(workspace={"ACME_URL": "http://elsewhere", "ACME_STYLE": "short"})
    assert Settings({}, stored).resolve(Setting("ACME_URL", "string", None, "Where.")).value is None
    style = Setting("ACME_STYLE", "string", None, "How.", in_workspace=True)
    assert Settings({}, stored).resolve(style).value == "short"


@pytest.mark.parametrize("name", ["neo4j", "kuzu", "codex", "claude-code", "webhook"])
def test_no_setting_of_our_own_packages_is_set_by_a_workspace_unless_it_is_a_matter_of_taste(name: str) -> None:
    folder = Path(__file__).parents[1] / "plugins" / name / "src"
    (manifest,) = folder.glob("*/zaxy-plugin.json")
    assert not [row["env"] for row in json.loads(manifest.read_text())["settings"] if row.get("workspace")]


def test_a_secret_is_read_from_the_file_that_its_file_variant_names(tmp_path: Path) -> None:
    file = tmp_path / "token"
    file.write_text("hush\n")
    value = Settings({"ACME_TOKEN_FILE": str(file)}).resolve(SECRET)
    assert (value.value, value.source, value.shown) == ("hush", f"file {file}", MASK)


def test_a_secret_given_twice_is_refused_and_not_shown(tmp_path: Path) -> None:
    with pytest.raises(ZaxyError, match="ACME_TOKEN and ACME_TOKEN_FILE are both set") as refused:
        Settings({"ACME_TOKEN": "hush", "ACME_TOKEN_FILE": "x"}).resolve(SECRET)
    assert "hush" not in refused.value.message + refused.value.remediation


def test_a_secret_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(ZaxyError, match="cannot be read: No such file"):
        Settings({"ACME_TOKEN_FILE": str(tmp_path / "none")}).resolve(SECRET)


def test_a_secret_is_never_taken_from_the_workspace() -> None:
    kept = {"ACME_TOKEN": "hush"}
    assert Settings({}, Stored(kept, kept, kept)).resolve(SECRET).value is None


def test_what_chooses_the_workspace_is_never_taken_from_it() -> None:
    kept = {"EVENTLOOM_PATH": "/elsewhere"}
    assert Settings({}, Stored(kept, kept, kept))["EVENTLOOM_PATH"] is None


@pytest.mark.parametrize(
    ("kind", "given", "value"),
    [
        ("boolean", "Yes", True),
        ("boolean", "0", False),
        ("boolean", True, True),
        ("integer", " 12 ", 12),
        ("number", "0.5", 0.5),
        ("list", "a, b,,c", ("a", "b", "c")),
        ("list", ["a"], ("a",)),
        ("string", " text ", "text"),
        ("path", "~/x", str(Path("~/x").expanduser())),
    ],
)
def test_a_value_is_parsed_to_its_type(kind: str, given: object, value: object) -> None:
    assert parse(Setting("X", kind, None, "x"), given) == value


@pytest.mark.parametrize("setting", [setting for setting in SETTINGS if setting.bounds], ids=lambda one: one.env)
def test_a_number_beyond_its_bounds_is_refused_with_them(setting: Setting) -> None:
    assert setting.bounds
    low, high = setting.bounds
    assert [Settings({setting.env: str(given)})[setting.env] for given in (low, high)] == [low, high]
    for given in (low - 0.01 if setting.kind == "number" else low - 1, high + 1, -1, 0):
        with pytest.raises(ZaxyError, match=f"{setting.env} is .*, and must be from {low:,} to {high:,}"):
            Settings({setting.env: str(given)}).find(setting.env)
    assert f"{low:,} to {high:,}" in setting.meaning


@pytest.mark.parametrize(
    ("kind", "given"),
    [
        *(("boolean", "maybe"), ("list", [1]), ("list", {}), ("string", 1), ("path", None)),
        *(("integer", "1.5"), ("integer", 1.5), ("integer", True), ("integer", None)),
        *(("number", "nan"), ("number", "inf"), ("number", "")),
    ],
)
def test_a_value_of_another_type_is_refused_with_its_name(kind: str, given: object) -> None:
    with pytest.raises(ZaxyError, match=r"^ACME is ") as refused:
        parse(Setting("ACME", kind, None, "x"), given)
    assert refused.value.code == "invalid_request"
    assert "ACME" in refused.value.remediation


def test_config_list_shows_the_settings_of_core_and_plugins_with_their_sources(zaxy: Zaxy, tmp_path: Path) -> None:
    settings = [
        {"env": "ACME_TOKEN", "secret": True, "meaning": "A token."},
        {"env": "ACME_LIMIT", "type": "integer", "default": 5, "meaning": "How many."},
    ]
    install_plugin(tmp_path / "site", "acme", settings=settings)
    done = zaxy("config", "list", "--json", site=tmp_path / "site", ACME_TOKEN="hush", ACME_LIMIT="7")
    assert done.returncode == 0, done.stderr
    assert "hush" not in done.stdout
    listed = {row["env"]: row for row in json.loads(done.stdout)["settings"]}
    assert (listed["ACME_TOKEN"]["value"], listed["ACME_TOKEN"]["source"]) == (MASK, "environment")
    assert (listed["ACME_LIMIT"]["value"], listed["ACME_LIMIT"]["owner"]) == (7, "acme")
    assert listed["ZAXY_PLUGINS_STRICT"]["source"] == "default"
    table = zaxy("config", "list", site=tmp_path / "site", ACME_TOKEN="hush")
    assert "hush" not in table.stdout + table.stderr
    assert MASK in table.stdout


def test_config_set_keeps_a_value_in_the_workspace_until_it_is_unset(zaxy: Zaxy, tmp_path: Path) -> None:
    here = tmp_path / "here"
    install_plugin(tmp_path / "site", "acme")
    assert zaxy("config", "set", "ZAXY_PLUGINS_DISABLE", "acme", site=tmp_path / "site").returncode == 0
    assert (here / ".eventloom" / "workspace.json").stat().st_mode & 0o777 == 0o600
    below = here / "src"
    below.mkdir()
    listed = json.loads(zaxy("plugins", "list", "--json", site=tmp_path / "site", cwd=below).stdout)
    assert [row["state"] for row in listed["plugins"] if row["name"] == "acme"] == ["disabled"]
    assert zaxy("config", "unset", "ZAXY_PLUGINS_DISABLE", site=tmp_path / "site").returncode == 0
    again = zaxy("config", "unset", "ZAXY_PLUGINS_DISABLE", site=tmp_path / "site")
    assert (again.returncode, "does not keep" in again.stderr) == (1, True)


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (("set", "ACME", "x"), 2, "is not a setting"),
        (("set", "ZAXY_PLUGINS_STRICT", "maybe"), 2, "not one of 1, true"),
        (("set", "EVENTLOOM_PATH", "/x"), 1, "decides which workspace"),
        (("set", "ZAXY_PLUGINS_STRICT"), 2, "value"),
    ],
)
def test_a_value_that_cannot_be_kept_is_refused_and_nothing_is_written(
    zaxy: Zaxy, tmp_path: Path, arguments: tuple[str, ...], code: int, said: str
) -> None:
    done = zaxy("config", *arguments)
    assert (done.returncode, said in done.stderr.lower() or said in done.stderr) == (code, True), done.stderr
    assert not (tmp_path / "here" / ".eventloom").exists()


def test_a_malformed_value_is_listed_with_what_is_wrong(zaxy: Zaxy) -> None:
    done = zaxy("config", "list", ZAXY_PLUGINS_BUDGET="soon", ZAXY_PLUGINS_PREFER="nonsense")
    assert done.returncode == 1
    assert "ZAXY_PLUGINS_BUDGET is 'soon', which is not a number" in done.stdout
    assert "nonsense" in done.stdout


def test_an_empty_variable_counts_as_unset() -> None:
    assert Settings({"ZAXY_PLUGINS_BUDGET": ""}).find("ZAXY_PLUGINS_BUDGET").source == "default"


def test_a_path_default_is_kept_as_written_and_expanded_when_read() -> None:
    setting = Setting("ACME_FOLDER", "path", "~/notes", "Where.")
    assert Settings({}).resolve(setting).value == str(Path("~/notes").expanduser())


def test_a_setting_that_no_plugin_declares_any_more_can_be_unset(zaxy: Zaxy, tmp_path: Path) -> None:
    install_plugin(
        tmp_path / "site", "acme", settings=[{"env": "ACME_LIMIT", "type": "integer", "meaning": "How many."}]
    )
    assert zaxy("config", "set", "ACME_LIMIT", "3", site=tmp_path / "site").returncode == 0
    assert zaxy("config", "unset", "ACME_LIMIT").returncode == 0
    listed = json.loads(zaxy("config", "list", "--json", site=tmp_path / "site").stdout)["settings"]
    assert [row["source"] for row in listed if row["env"] == "ACME_LIMIT"] == ["default"]


def test_what_a_workspace_may_not_set_is_kept_in_the_users_own_file(zaxy: Zaxy, tmp_path: Path) -> None:
    assert zaxy("config", "set", "ZAXY_ENV", "production").returncode == 0
    assert "production" not in (tmp_path / "here" / ".eventloom" / "workspace.json").read_text()
    other = tmp_path / "other"
    other.mkdir()
    assert source_of(zaxy, "ZAXY_ENV", tmp_path / "here") == ("production", "user")
    assert source_of(zaxy, "ZAXY_ENV", other) == ("development", "default")
    assert zaxy("config", "set", "ZAXY_ENV", "staging", "--user").returncode == 0
    assert source_of(zaxy, "ZAXY_ENV", tmp_path / "here") == ("production", "user")
    assert source_of(zaxy, "ZAXY_ENV", other) == ("staging", "user")
    assert zaxy("config", "unset", "ZAXY_ENV", "--user").returncode == 0
    assert source_of(zaxy, "ZAXY_ENV", other) == ("development", "default")


def source_of(zaxy: Zaxy, env: str, cwd: Path) -> tuple[object, object]:
    listed = json.loads(zaxy("config", "list", "--json", cwd=cwd).stdout)["settings"]
    return next((row["value"], row["source"]) for row in listed if row["env"] == env)


TYPES = {"string": str, "path": str, "integer": int, "number": float, "boolean": bool, "list": tuple}
GIVEN = {"string": "lamp", "path": "lamp", "integer": "7", "number": "7", "boolean": "yes", "list": "lamp, oil"}


def attribute_of(setting: Setting) -> str:
    return setting.env.lower().removeprefix("zaxy_").removeprefix("mcp_")


@pytest.mark.parametrize("setting", SETTINGS, ids=lambda setting: setting.env)
def test_every_setting_of_the_core_is_an_attribute_named_as_its_variable(setting: Setting) -> None:
    name = attribute_of(setting)
    given = Settings({setting.env: GIVEN[setting.kind]})
    assert type(getattr(given, name)) is TYPES[setting.kind]
    assert getattr(given, name) == given[setting.env]
    assert getattr(Settings({}), name) == Settings({})[setting.env]


def test_the_type_of_an_attribute_is_the_one_that_its_kind_has() -> None:
    declared = Settings.__annotations__
    assert list(declared) == [attribute_of(setting) for setting in SETTINGS]
    names = {str: "str", tuple: "tuple[str, ...]", int: "int", float: "float", bool: "bool"}
    for setting in SETTINGS:
        unset = " | None" if setting.default is None else ""
        assert declared[attribute_of(setting)] == names[TYPES[setting.kind]] + unset


def test_a_malformed_value_is_refused_by_its_attribute_too() -> None:
    with pytest.raises(ZaxyError, match="ZAXY_PLUGINS_BUDGET is 'soon', which is not a number"):
        _ = Settings({"ZAXY_PLUGINS_BUDGET": "soon"}).plugins_budget
