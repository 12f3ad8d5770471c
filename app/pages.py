"""The pages, in the order of the header. A page is one folder and one line here."""

from app.explore import page as explore
from app.modes import page as modes
from app.storage import page as storage
from app.timeline import page as timeline

# A module until its page is a `Page`.
PAGES = (explore, modes, timeline, storage)
