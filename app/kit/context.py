"""Where callbacks find the lake of this process."""

from flask import current_app

from app.kit.lakes import Lakes, LakeView

EXTENSION = "wattlas"


def lakes() -> Lakes:
    """The lake that the server was started with."""
    found: Lakes = current_app.extensions[EXTENSION]
    return found


def lake_view(version: int | None) -> LakeView:
    """One version of it, the newest for None."""
    return lakes().at(version)
