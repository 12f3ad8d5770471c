"""Actions of a user on Modes, and what the user sees in its figures."""

from tests.browser.atlas import Shown, visit, wait_idle

_READY = """() => {
  const ready = (id) => {
    const gd = wattlas.plot(id);
    return gd && gd._fullLayout && gd.calcdata && gd.layout.meta;
  };
  return window.wattlas && wattlas.plot && ["winners", "shares", "pareto"].every(ready)
    && document.querySelector("#modes-evidence-words").children.length > 0
    && !document.querySelector("[data-dash-is-loading='true']");
}"""


class ModesPage(Shown):
    """One Modes page in a browser."""

    NAME = "modes"
    PATH = "/modes"
    READY = _READY

    def open_explore(self, address: str, query: str) -> None:
        """Go to Explore and wait until its scatter is drawn."""
        visit(self.page, f"{address}/{query}")
        self.explore_ready()

    def explore_ready(self) -> None:
        """Wait until Explore's scatter is drawn and its selection painted."""
        self.page.wait_for_function(
            "() => window.wattlas && wattlas.plot('scatter') && wattlas.plot('scatter').calcdata"
            " && wattlas.plot('scatter').layout.meta"
            " && (document.querySelector('#explore-status') || {}).innerText"
        )
        wait_idle(self.page)

    def choose(self, control: str, label: str) -> None:
        """Choose an entry of a menu by its visible words."""
        self.page.locator(f"#modes-{control}").click()
        self.page.get_by_role("option", name=label, exact=True).click()
        self.ready()

    def click_cell(self, column: int, row: int) -> None:
        """Click a cell of the map and wait for its evidence."""
        self.click_in(*self.place("winners", column, row))

    def place(self, plot: str, x: float, y: float) -> tuple[float, float]:
        """Position in the window of a pair of a plot's values."""
        at = self.page.evaluate(
            """([id, x, y]) => {
              const at = wattlas.place(wattlas.plot(id), x, y);
              return [at.clientX, at.clientY];
            }""",
            [plot, x, y],
        )
        return at[0], at[1]

    def verdict(self) -> str:
        """The first sentence of the evidence."""
        return self.page.locator("#modes-evidence-words").inner_text().split("\n")[0]

    def findings(self) -> str:
        """What the page leads with."""
        return self.page.locator("#modes-findings").inner_text()

    def evidence_title(self) -> str:
        """The title of the picture of the evidence."""
        title: str = self.page.evaluate("() => wattlas.plot('evidence').layout.title.text")
        return title

    def labels(self, axis: str) -> list[str]:
        """The map's labels along an axis."""
        found: list[str] = self.page.evaluate(
            "(axis) => wattlas.plot('winners').layout[axis + 'axis'].ticktext", axis
        )
        return found

    def texts(self) -> dict[str, str]:
        """The texts of the map's cells, by `column,row`."""
        found: dict[str, str] = self.page.evaluate(
            """() => {
              const t = wattlas.plot("winners").calcdata.flat().length
                && wattlas.plot("winners")._fullData.find((t) => t.meta.kind === "texts");
              const texts = Array.from(t.text || []);
              return Object.fromEntries(texts.map((v, i) => [t.x[i] + "," + t.y[i], v]));
            }"""
        )
        return found

    def lit(self) -> list[list[int]]:
        """Column and row of each cell of the map that a selection leaves clear."""
        clear: list[list[int]] = self.page.evaluate(
            """() => {
              const data = wattlas.plot("winners").data;
              const of = (kind) => data.find((t) => t.meta.kind === kind).z;
              const rows = (z) => Array.from(z, (row) => Array.from(row));
              const cells = wattlas.modes.columns, veil = rows(of("veil"));
              return Array.from({ length: cells.count }, (_, i) => [
                cells.knobs[cells.x.column].index[i], cells.knobs[cells.y.column].index[i],
              ]).filter(([column, row]) => veil[row][column] !== 1);
            }"""
        )
        return clear

    def veiled(self) -> int:
        """Number of dimmed cells of the map."""
        cells: int = self.page.evaluate("() => wattlas.modes.columns.count")
        return cells - len(self.lit())

    def lit_points(self) -> list[int | None]:
        """Number of selected points of each competitor in the Pareto view."""
        found: list[int | None] = self.page.evaluate(
            """() => wattlas.plot("pareto")._fullData.filter((t) => t.meta.kind === "points")
                 .map((t) => t.selectedpoints ? t.selectedpoints.length : null)"""
        )
        return found
