"""The lake of this process and its sandbox for SQL, for callbacks and routes."""

from flask import current_app

from app.kit.lakes import Lakes, LakeView
from data.sandbox.pool import Sandbox

EXTENSION = "wattlas"
SANDBOX = "wattlas-sql"


def lakes() -> Lakes:
    """Return the lake that the server was started with."""
    found: Lakes = current_app.extensions[EXTENSION]
    return found


def lake_view(version: int | None) -> LakeView:
    """Return one version of the lake; the newest for None."""
    return lakes().at(version)


def sandbox() -> Sandbox | str:
    """Return the sandbox for visitors' SQL, or a sentence on why there is none."""
    found: Sandbox | str = current_app.extensions[SANDBOX]
    return found
