"""Names of the components of Storage that callbacks and scripts refer to."""

from typing import Final

from app.kit import ids
from app.storage.state import FACET_NAMES
from app.storage.views import PREFIX

LAKE_VERSION: Final = "storage-lake-version"
PINNED: Final = "storage-browser-state"
VIEW: Final = "storage-view-state"
CHANGED: Final = "storage-view-changed"
QUERY: Final = "storage-query"
FIGURES: Final = "storage-figures"
CONFIGURATIONS: Final = "storage-configurations"
PLACED: Final = "storage-placed"
DRAWN: Final = "storage-drawn"
STATUS: Final = "storage-status"
PUBLISHED: Final = "storage-published"
DATA_LINK: Final = "storage-data-link"

AT_DEVICE: Final = "storage-at-device"
AT_RW: Final = "storage-at-rw"
AT_REQUEST: Final = "storage-at-request"
SPREAD: Final = "storage-spread"
USE: Final = "storage-use"
# In the order in which the browser gathers them, and by the keys of the URL.
CONTROLS: Final = {"at": AT_DEVICE, "access": AT_RW, "size": AT_REQUEST, "err": SPREAD, "use": USE}
FACETS: Final = FACET_NAMES


def facet(name: str) -> str:
    """The chip group of one filter."""
    return PREFIX + ids.facet(name)


def facet_frame(name: str) -> str:
    """The block of one filter."""
    return PREFIX + ids.facet_frame(name)


def facet_count(name: str) -> str:
    """The line that says how much a filter narrows."""
    return PREFIX + ids.facet_count(name)
