"""The fields of a manifest, by the object that holds them: what each is called, must be and means."""

from __future__ import annotations

from zaxy.api.catalog import POINTS, STABILITIES
from zaxy.api.event_types import ANYBODY, FIELD_KINDS, WRITERS
from zaxy.plugins import manifest_values as value
from zaxy.settings import KINDS
from zaxy.tuples import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

REQUIRED = ...
SCALES = ("", "cosine", "probability", "rank")
PURPOSES = "purposes"
"""The place of purposes among the points, where names are claimed: they are data, and have no code."""


class ManifestField(NamedTuple):
    key: str
    kind: str
    check: Callable[[object], Any]
    meaning: str
    default: object = REQUIRED


HEADER = (
    ManifestField("manifest", "integer", value.integer, "The format of this file: 1."),
    ManifestField("name", "name", value.name, "The plugin's name, as its entry point announces it."),
    ManifestField("summary", "text", value.text, "What it is for, in a sentence."),
    ManifestField("api", "object", value.anything, "The plugin API that it was written for."),
)
API = (
    ManifestField("min", "version", value.version, "The lowest plugin API it works with."),
    ManifestField("max", "version", value.version, "The highest plugin API it was tested with."),
)
BODY = (
    ManifestField("provides", "list", value.a_list, "Its providers."),
    ManifestField("settings", "list", value.a_list, "The settings that it reads.", []),
    ManifestField("needs", "list of network, server, secret", value.needs, "What must be there for it to work.", []),
    ManifestField(
        "clients", "list", value.a_list, "What must be known of its clients before their code is imported.", []
    ),
    ManifestField(
        "contract",
        "text",
        value.target,
        "`package.module:function`: called with an empty memory, it gives what the package promises beside this.",
        "",
    ),
    ManifestField(
        "secret_shapes",
        "file name",
        value.file_or_nothing,
        "A file beside this one with rows of secrets to take out.",
        "",
    ),
    ManifestField(PURPOSES, "list", value.a_list, "Presets for the purpose of a checkout.", []),
    ManifestField("event_types", "list", value.a_list, "The event types of the families that it owns.", []),
)
PURPOSE = (
    ManifestField("name", "name", value.name, "What `--purpose` and `memory_checkout` call it."),
    ManifestField("recall_floor", "integer", value.integer, "The least number of rows to read.", 10),
    ManifestField("scoring_profile", "text", value.text, "The profile of recall.", "balanced"),
    ManifestField(
        "evidence_policy", "text", value.text, "What evidence an answer needs.", "cited_current_facts_preferred"
    ),
    ManifestField("suppresses", "list of texts", value.texts, "Reasons to leave a row out.", []),
    ManifestField("terms", "list of texts", value.texts, "Further words to search for.", []),
    ManifestField("emphases", "object of numbers", value.numbers, "What each kind of row gains.", {}),
    ManifestField(
        "floors",
        "object of numbers",
        value.numbers,
        "The least share of the question that a row of a kind must have.",
        {},
    ),
)
EVENT_TYPE = (
    ManifestField(
        "type", "event type", value.text, "The type, such as `review.finding.accepted`: its family comes first."
    ),
    ManifestField("written_by", "anybody or package", value.one_of(WRITERS), "Who may append such events.", ANYBODY),
    ManifestField(
        "housekeeping", "boolean", value.boolean, "Whether it is kept and never shown unless asked for.", False
    ),
    ManifestField(
        "sentence", "text", value.text_or_nothing, "What such an event says, with `{field}` for a field.", ""
    ),
    ManifestField("heading", "word", value.text_or_nothing, "Under which the working set shows what it is about.", ""),
    ManifestField(
        "entities", "list of words", value.texts, "The types of entities that its rule gives, its own first.", []
    ),
    ManifestField("relations", "list of words", value.texts, "The relations that its rule gives.", []),
    ManifestField(
        "fields", "object of kinds", value.kinds, f"The fields of its payload: {', '.join(FIELD_KINDS)}.", {}
    ),
    ManifestField(
        "living", "list of words", value.texts, "Those of its `entities` that may have ids and titles of their own.", []
    ),
    ManifestField("quiet", "boolean", value.boolean, "Whether its words are found by no search.", False),
)
CLIENT = (
    ManifestField("name", "name", value.name, "The client, one of its `ide_config_writers`."),
    ManifestField(
        "preset", "name", value.name_or_nothing, "The preset of `zaxy init` that sets it up, such as `local-acme`.", ""
    ),
    ManifestField("options", "list", value.a_list, "The options that it brings to `zaxy ide-config`.", []),
    ManifestField(
        "hook_json", "object of lists", value.places, "Where the JSON of its hooks says what, as dotted paths.", {}
    ),
)
OPTION = (
    ManifestField("flag", "option", value.flag, "The option, such as `--acme-config`."),
    ManifestField("sets", "scope, path or trust", value.one_of(("scope", "path", "trust")), "What it sets."),
    ManifestField("choices", "list of texts", value.texts, "The values that it takes.", []),
    ManifestField("help", "text", value.text, "What it does, for the help."),
)
PROVIDES = (
    ManifestField("point", "extension point", value.one_of(tuple(POINTS)), "The extension point."),
    ManifestField(
        "name",
        "name",
        value.name_or_nothing,
        "The provider's name at that point; a command has one by its words, if none is given.",
        "",
    ),
    ManifestField("stability", "stability", value.one_of(STABILITIES), "stable, beta or experimental.", "experimental"),
    ManifestField("capabilities", "list of names", value.names, "Optional abilities that the point knows.", []),
    ManifestField("target", "text", value.target, "`package.module:Class`. Then no hook need offer it.", ""),
    ManifestField("summary", "text", value.text_or_nothing, "What it does, in a sentence; needed beside a target.", ""),
    ManifestField(
        "install_hint",
        "text",
        value.text_or_nothing,
        "What must be installed when importing the target fails: a requirement, or a text.",
        "",
    ),
    ManifestField("words", "one to three names", value.words, "Only for commands: what is typed behind `zaxy`.", ""),
    ManifestField("group", "text", value.text_or_nothing, "Only for commands: the heading in the help.", ""),
    ManifestField("lane", "object", value.anything, "What a retrieval lane says of itself.", None),
    ManifestField(
        "paths", "list of paths", value.paths, "Only for http_routes: the paths that it answers, such as `/acme`.", []
    ),
)
LANE = (
    ManifestField("weight", "number from 0 to 1", value.share, "How much it counts beside the other lanes.", 0.5),
    ManifestField(
        "budget_ms", "integer", value.positive, "Milliseconds that it needs for a question, at most 2,000.", 500
    ),
    ManifestField("scale", "scale", value.one_of(SCALES), "What its scores are: cosine, probability or rank.", ""),
)
SETTING = (
    ManifestField("env", "environment variable", value.env, "The environment variable."),
    ManifestField("type", "setting type", value.one_of(KINDS), ", ".join(KINDS) + ".", "string"),
    ManifestField("default", "any", value.anything, "The value when nothing is set.", None),
    ManifestField("meaning", "text", value.text, "What it does, in a sentence."),
    ManifestField(
        "secret",
        "boolean",
        value.boolean,
        "Masked in listings, and readable from the file that <env>_FILE names.",
        False,
    ),
    ManifestField(
        "workspace",
        "boolean",
        value.boolean,
        "Whether a workspace's own file may set it: only what can reach no network, key, path, program or gate.",
        False,
    ),
    ManifestField("stability", "stability", value.one_of(STABILITIES), "stable, beta or experimental.", "experimental"),
)
FIELDS = {
    "": (*HEADER, *BODY),
    "api": API,
    "provides[]": PROVIDES,
    "provides[].lane": LANE,
    "settings[]": SETTING,
    "clients[]": CLIENT,
    "clients[].options[]": OPTION,
    "purposes[]": PURPOSE,
    "event_types[]": EVENT_TYPE,
}
"""All fields of the manifest, by the object that holds them. This is the manifest's contract."""
