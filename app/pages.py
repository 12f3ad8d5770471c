"""The pages, in the order of the header. A page is one folder and one line here."""

from typing import Any

from app.explore.page import PAGE as EXPLORE
from app.modes.page import PAGE as MODES
from app.storage import page as storage
from app.timeline.page import PAGE as TIMELINE

# A module until its page is a `Page`.
PAGES: tuple[Any, ...] = (EXPLORE, MODES, TIMELINE, storage)
