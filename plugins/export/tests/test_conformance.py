from __future__ import annotations

from pathlib import Path

import pytest

from zaxy_export import KeyFiles, export_memory, generate, signer_of
from zaxy_export.commands import BundleCommand
from zaxy_export.ed25519 import Ed25519
from zaxy_export.file_sink import FileSink
from zaxy_export.key_commands import KeyCommand
from zaxy_export.tools import ExportTools
from zaxy_testkit import (
    CommandCase,
    CommandSuite,
    ExportSinkCase,
    ExportSinkSuite,
    PluginSuite,
    SigningAlgorithmCase,
    SigningAlgorithmSuite,
    ToolPackCase,
    ToolPackSuite,
)
from zaxy_testkit.checks.trial_memory import trial_memory

FACT = {"text": "The staging database moved to Frankfurt."}


@pytest.fixture
def keys(tmp_path: Path) -> KeyFiles:
    files = KeyFiles(str(tmp_path / "key.pem"), str(tmp_path / "key.pub"))
    generate(files)
    return files


class TestPlugin(PluginSuite):
    plugin = "export"
    contract = Path(__file__).parents[1] / "zaxy-contract.json"


class TestFile(ExportSinkSuite):
    @pytest.fixture
    def case(self, tmp_path: Path) -> ExportSinkCase:
        arrived = tmp_path / "arrived.json"
        return ExportSinkCase(
            FileSink,
            destination=str(arrived),
            forbidden=str(tmp_path / "no such folder" / "bundle.json"),
            received=lambda: arrived.read_bytes() if arrived.exists() else None,
        )


class TestEd25519(SigningAlgorithmSuite):
    @pytest.fixture
    def case(self) -> SigningAlgorithmCase:
        return SigningAlgorithmCase(Ed25519)


class TestTools(ToolPackSuite):
    @pytest.fixture
    def case(self, tmp_path: Path) -> ToolPackCase:
        with trial_memory(tmp_path) as memory:
            memory.append("fact.recorded", FACT)
        return ToolPackCase(ExportTools, calls={"memory_export": {"grains": ["event"], "limit": 1}})


class TestBundleCommands(CommandSuite):
    @pytest.fixture
    def case(self, tmp_path: Path, keys: KeyFiles) -> CommandCase:
        bundle, part = tmp_path / "bundle.json", str(tmp_path / "part.json")
        elsewhere = tmp_path / "elsewhere"
        elsewhere.mkdir()
        with trial_memory(elsewhere) as memory, signer_of(keys) as signer, open(bundle, "wb") as file:
            memory.append("fact.recorded", FACT)
            export_memory(memory, file, signer=signer)
        calls = {
            "verify-export": (str(bundle),),
            "export-disclose": (str(bundle), "--out", part),
            "import": (str(bundle),),
            "export": ("--out", str(tmp_path / "again.json")),
        }
        return CommandCase(BundleCommand, calls=calls)


class TestKeyCommands(CommandSuite):
    @pytest.fixture
    def case(self, keys: KeyFiles) -> CommandCase:
        return CommandCase(KeyCommand, calls={"export-keys show": (keys.public,)})
