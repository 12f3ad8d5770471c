"""The pages, in the order of the header. A page is one folder and one line here."""

from app.distributions.page import PAGE as DISTRIBUTIONS
from app.explore.page import PAGE as EXPLORE
from app.findings.page import PAGE as FINDINGS
from app.kit.page import Page
from app.lake.page import PAGE as LAKE
from app.models.page import PAGE as MODELS
from app.modes.page import PAGE as MODES
from app.sql.page import PAGE as SQL
from app.storage.page import PAGE as STORAGE
from app.timeline.page import PAGE as TIMELINE

PAGES: tuple[Page, ...] = (
    EXPLORE, MODES, FINDINGS, TIMELINE, DISTRIBUTIONS, STORAGE, MODELS, SQL, LAKE,
)  # fmt: skip
