"""The pages, in the order of the header. A page is one folder and one line here."""

from typing import Any

from app.explore.page import PAGE as EXPLORE
from app.modes import page as modes
from app.storage import page as storage
from app.timeline import page as timeline

# A module until its page is a `Page`.
PAGES: tuple[Any, ...] = (EXPLORE, modes, timeline, storage)
