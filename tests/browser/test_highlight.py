"""Highlighting without Plotly's restyle: it is used, and paints the same as a restyle."""

import pytest

from tests.browser.atlas import Atlas, wait_idle

pytestmark = pytest.mark.browser

AT_200K = "?v=2&workload=memcached&load=200000"
# Counts restyles and updates, and takes a picture of all WebGL layers of the scatter.
WATCH = """() => {
  window.slow = 0;
  window.plain = { ...Plotly };
  for (const name of ["update", "restyle", "react"]) {
    const original = Plotly[name];
    Plotly[name] = (gd, ...rest) => {
      if (gd === wattlas.plot("scatter")) slow += 1;
      return original(gd, ...rest);
    };
  }
}"""
INDICES = """() => wattlas.plot("scatter")._fullData
  .map((t) => t.selectedpoints ? Array.from(t.selectedpoints) : null)"""
TAKE_WAY = """(way) => {
  window.fast = window.fast || wattlas.highlight;
  wattlas.highlight = eval(way);
}"""


def test_a_selection_in_another_view_highlights_without_a_restyle(
    atlas: Atlas, grid_address: str
) -> None:
    atlas.open(grid_address, AT_200K)
    atlas.page.evaluate(WATCH)
    atlas.click_at("heatmap", "50", "1.9")
    assert sum(count or 0 for count in atlas.selected_counts()) == 1
    assert atlas.page.evaluate("window.slow") == 0
    atlas.press("Escape")
    assert set(atlas.selected_counts()) == {None}
    assert atlas.page.evaluate("window.slow") == 0
    atlas.page.evaluate("Object.assign(Plotly, window.plain)")
    # Points are drawn at the screen's resolution.
    assert atlas.page.evaluate('wattlas.plot("scatter")._context.plotGlPixelRatio') == 1


@pytest.mark.slow
@pytest.mark.usefixtures("own_document")
def test_a_highlight_paints_the_same_as_a_restyle(atlas: Atlas, grid_address: str) -> None:
    atlas.open(grid_address, AT_200K)
    atlas.page.mouse.move(5, 5)
    plain = atlas.picture("scatter")
    painted, cleared = [], []
    for way in ("(...asked) => fast(...asked)", "() => false"):
        atlas.page.evaluate(TAKE_WAY, way)
        atlas.click_at("heatmap", "50", "1.9")
        atlas.page.mouse.move(5, 5)
        wait_idle(atlas.page)
        painted.append((atlas.picture("scatter"), atlas.page.evaluate(INDICES)))
        atlas.page.keyboard.press("Escape")
        atlas.page.mouse.move(5, 5)
        wait_idle(atlas.page)
        cleared.append(atlas.picture("scatter"))
    assert painted[0] == painted[1]
    assert cleared == [plain, plain]


@pytest.mark.slow
def test_the_highlight_survives_a_zoom_and_a_theme(atlas: Atlas, grid_address: str) -> None:
    atlas.open(grid_address, AT_200K)
    atlas.click_at("heatmap", "50", "1.9")
    before = atlas.page.evaluate(INDICES)
    atlas.page.evaluate('Plotly.relayout(wattlas.plot("scatter"), {"xaxis.range": [50, 150]})')
    wait_idle(atlas.page)
    assert atlas.page.evaluate(INDICES) == before
    atlas.page.locator("#theme-button").click()
    wait_idle(atlas.page)
    assert atlas.page.evaluate(INDICES) == before
    assert atlas.page.evaluate("wattlas.plot('scatter')._fullLayout.font.color") == "#e6e8eb"
