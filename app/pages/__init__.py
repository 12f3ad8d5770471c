"""One file a page. A page's layout and its callbacks stand together; VIEWS lists them in order."""

from types import ModuleType

from app.pages import explore, modes, storage, timeline

VIEWS: tuple[ModuleType, ...] = (explore, modes, timeline, storage)
