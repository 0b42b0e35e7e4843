"""Zaxy: memory for AI agents that can be trusted because it can be checked.

The public names are here. Each is loaded when it is first asked for, so `import zaxy` costs nothing.
"""

from __future__ import annotations

__version__ = "0.1.0"

TYPE_CHECKING = False

if TYPE_CHECKING:
    from zaxy.api.models import (
        Draft as Draft,
        Event as Event,
        ForeignEvent as ForeignEvent,
        ImportReceipt as ImportReceipt,
    )
    from zaxy.assemble.checkout import Checkout as Checkout
    from zaxy.assemble.quality import Quality as Quality
    from zaxy.assemble.replies import (
        Bootstrap as Bootstrap,
        Capabilities as Capabilities,
        Context as Context,
        Erasure as Erasure,
        RecordedTurn as RecordedTurn,
        SubagentCleanup as SubagentCleanup,
        SynthesisRecord as SynthesisRecord,
    )
    from zaxy.async_memory import AsyncMemory as AsyncMemory, AsyncModelTools as AsyncModelTools
    from zaxy.direct_reads import Replay as Replay
    from zaxy.errors import (
        CannotImport as CannotImport,
        Conflict as Conflict,
        Forbidden as Forbidden,
        InternalError as InternalError,
        InvalidRequest as InvalidRequest,
        NotFound as NotFound,
        TooLarge as TooLarge,
        Unavailable as Unavailable,
        UnknownTool as UnknownTool,
        ZaxyError as ZaxyError,
    )
    from zaxy.follow.loop import FollowerFindings as FollowerFindings, FollowerState as FollowerState
    from zaxy.memory import Memory as Memory
    from zaxy.model_tools import ModelTools as ModelTools
    from zaxy.retrieve.results import Answer as Answer, Result as Result


_HOMES = {
    "zaxy.api.models": "Draft Event ForeignEvent ImportReceipt",
    "zaxy.assemble.checkout": "Checkout",
    "zaxy.assemble.quality": "Quality",
    "zaxy.assemble.replies": "Bootstrap Capabilities Context Erasure RecordedTurn SubagentCleanup SynthesisRecord",
    "zaxy.async_memory": "AsyncMemory AsyncModelTools",
    "zaxy.direct_reads": "Replay",
    "zaxy.errors": "CannotImport Conflict Forbidden InternalError InvalidRequest NotFound TooLarge Unavailable "
    "UnknownTool ZaxyError",
    "zaxy.follow.loop": "FollowerFindings FollowerState",
    "zaxy.memory": "Memory",
    "zaxy.model_tools": "ModelTools",
    "zaxy.retrieve.results": "Answer Result",
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names.split()}


def __getattr__(name: str) -> object:
    if name not in _HOME_OF:
        raise AttributeError(f"zaxy has no {name!r}")
    from importlib import import_module

    return getattr(import_module(_HOME_OF[name]), name)


def __dir__() -> list[str]:
    return sorted([*_HOME_OF, "__version__"])
