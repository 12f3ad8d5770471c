"""What holds for the text of all scripts of the browser."""

import re

from app.kit.settings import ASSETS

COUNTED = ASSETS / "_kit" / "idle.js"
# A message that goes away by itself is no work: a page is idle while it stands.
UNCOUNTED = {"_kit/page.js": 1}


def test_timers_frames_and_requests_are_counted() -> None:
    """Else `wattlas.isIdle()` would answer yes too early."""
    calls = re.compile(
        r"(?<![\w.])(?:window\.)?(?:set(?:Timeout|Interval)|requestAnimationFrame|fetch)\("
    )
    scripts = {*ASSETS.rglob("*.js")} - {COUNTED}
    found = {str(path.relative_to(ASSETS)): calls.findall(path.read_text()) for path in scripts}
    assert {name: len(direct) for name, direct in found.items() if direct} == UNCOUNTED
