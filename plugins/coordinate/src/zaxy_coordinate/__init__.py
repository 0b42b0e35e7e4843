"""Several agents on one mission: workers find, the coordinator reviews, and only what is promoted counts."""

__version__ = "0.1.0"

__all__ = ["Missions"]


def __getattr__(name: str) -> object:
    """`Missions` is imported when it is first asked for."""
    if name != "Missions":
        raise AttributeError(f"zaxy_coordinate has no {name!r}")
    from zaxy_coordinate.missions import Missions

    return Missions
