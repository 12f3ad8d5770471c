"""One file a page. A page's layout and its callbacks stand together; VIEWS lists them in order."""

from types import ModuleType

from app.explore import page as explore
from app.modes import page as modes
from app.storage import page as storage
from app.timeline import page as timeline

VIEWS: tuple[ModuleType, ...] = (explore, modes, timeline, storage)
