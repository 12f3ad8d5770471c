"""The lake of this process, for callbacks and routes."""

from flask import current_app

from app.kit.lakes import Lakes, LakeView

EXTENSION = "wattlas"


def lakes() -> Lakes:
    """Return the lake that the server was started with."""
    found: Lakes = current_app.extensions[EXTENSION]
    return found


def lake_view(version: int | None) -> LakeView:
    """Return one version of the lake; the newest for None."""
    return lakes().at(version)
