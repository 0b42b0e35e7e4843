"""Rows of secret shapes that plugins bring, found in their manifests: data, for which no plugin is imported."""

from __future__ import annotations

from zaxy.errors import ZaxyError
from zaxy.plugins.kept_manifests import kept_of_plugins
from zaxy.security.shape_table import Shape, add_shapes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from zaxy.plugins.roster import InstalledPlugin
    from zaxy.security.shape_rows import JudgedRows
    from zaxy.settings import Stored


def redact_rows_of_plugins(stored: Callable[[], Stored]) -> None:
    """From now on, take out what those plugins describe that are in use by these settings.

    It holds for the whole process: of several workspaces with different settings, that of the last one opened counts.
    """
    add_shapes(stored, lambda: _shapes(stored))


def rows_of(row: InstalledPlugin) -> JudgedRows:
    """The rows of a plugin that count, and those that are refused, whatever its state is."""
    from zaxy.plugins.package_files import ManifestError, read_package_file
    from zaxy.security.shape_rows import JudgedRows, RefusedRow, judged_rows

    if row.manifest is None or not row.manifest.secret_shapes:
        return JudgedRows((), ())
    try:
        return judged_rows(read_package_file(row.module, row.manifest.secret_shapes))
    except ManifestError as error:
        return JudgedRows((), (RefusedRow(0, str(error)),))


def refusals(row: InstalledPlugin) -> list[str]:
    """Why rows of a plugin do not count, a line for each."""
    name = row.manifest.secret_shapes if row.manifest else ""
    return [f"{name}: {refused}" for refused in rows_of(row).refused]


def _shapes(stored: Callable[[], Stored]) -> tuple[Shape, ...]:
    """Without them redaction finds what it finds by itself: whatever goes wrong, nothing here may stop an append."""
    try:
        return tuple(Shape(kind, tuple(literals), *rest) for kind, literals, *rest in kept_of_plugins(stored)["rows"])
    except (ZaxyError, OSError, ValueError, TypeError, KeyError, AttributeError):
        return ()
