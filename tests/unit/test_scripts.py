"""What holds for the text of all scripts of the browser."""

import re
from pathlib import Path

import pytest

from app.kit.settings import ASSETS

COUNTED = ASSETS / "_kit" / "idle.js"
# A message that goes away by itself is no work: a page is idle while it stands.
UNCOUNTED = {"_kit/page.js": 1}


@pytest.mark.parametrize(
    "script", sorted(set(ASSETS.rglob("*.js")) - {COUNTED}), ids=lambda path: path.name
)
def test_timers_frames_and_requests_are_counted(script: Path) -> None:
    # Else `wattlas.isIdle()` would answer yes too early.
    direct = re.findall(
        r"(?<![\w.])(?:window\.)?(?:set(?:Timeout|Interval)|requestAnimationFrame|fetch)\(",
        script.read_text("utf-8"),
    )
    assert len(direct) <= UNCOUNTED.get(str(script.relative_to(ASSETS)), 0), direct
