/* Storage's glue to Dash: its state and URL, the ways to other pages. */
document.addEventListener("DOMContentLoaded", function () {
  "use strict";
  const { wattlas } = window;

  const FACETS = ["dataset", "device", "rw", "request", "depth", "threads", "system", "mode", "dvfs", "rapl"];
  const CONTROLS = ["at", "access", "size", "err", "use"];
  const PLACES = { device: ["at", "storage-at-device"], rw: ["access", "storage-at-rw"], request_bytes: ["size", "storage-at-request"] };
  const { storage, setProps } = wattlas;
  const same = () => window.dash_clientside.no_update;

  let opened = null, gathered = "";

  function gather(...args) {
    const state = Object.fromEntries(FACETS.map((name, i) => [name, [].concat(args[i] || [])]));
    CONTROLS.forEach((name, i) => { state[name] = args[FACETS.length + i]; });
    const browser = args[FACETS.length + CONTROLS.length];
    const isFirst = opened !== browser;
    if (isFirst) {
      opened = browser;
      gathered = "";
      address.open(browser.shown);
      storage.open(browser.pick);
    }
    state.lake = browser.lake;
    // The server has chosen another device, access or size, and the menus followed: it knows.
    if (JSON.stringify(state) === gathered) return [same(), same()];
    gathered = JSON.stringify(state);
    return [state, isFirst ? same() : state];
  }

  /* The menus of device, access and size offer what the filters leave, and stand where the server chose. */
  function place(placed) {
    if (!placed) return;
    const state = gathered ? JSON.parse(gathered) : {};
    for (const [name, [key, id]] of Object.entries(PLACES)) {
      state[key] = placed.values[name];
      setProps(id, { data: placed.choices[name], value: placed.values[name] });
    }
    gathered = JSON.stringify(state);
  }

  function draw(drawn, theme, rows) {
    if (drawn) storage.show(drawn, rows, theme);
    return same();
  }

  /* ---- other pages, with these filters and what is selected */

  const FACET_OF = { dataset: "dataset", mode: "mode", device: "device", rw: "rw", request_bytes: "request", io_depth: "depth", threads: "threads", system: "system" };
  function pageQuery(without) {
    const parameters = new URLSearchParams({ v: "1" }), filters = new URLSearchParams(address.written());
    FACETS.forEach((name) => filters.getAll(name).forEach((value) => parameters.append(name, value)));
    const { configurations, mask } = storage.state();
    if (configurations) {
      [...new Set(configurations.workloads)].forEach((name) => parameters.append("workload", name));
      Object.entries(FACET_OF).forEach(([knob, name]) => {
        if (!mask || without.includes(name)) return;
        parameters.delete(name);
        const chosen = new Set(configurations.knobs[knob].filter((_, i) => mask[i]).map((v) => (v === null ? "none" : String(v))));
        chosen.forEach((value) => parameters.append(name, value));
      });
    }
    without.forEach((name) => parameters.delete(name));
    if (opened && opened.lake !== null) parameters.set("lake", opened.lake);
    return parameters.toString();
  }
  function linkPages() {
    const explore = document.getElementById("storage-to-explore"), modes = document.getElementById("storage-to-modes"), file = document.getElementById("storage-export");
    if (file && address.written()) file.href = "storage/export.html?" + address.shown();
    if (explore) explore.href = "./?" + pageQuery([]);
    // Modes lets the modes compete: a filter on them would leave nobody to win.
    if (modes) modes.href = "modes?" + pageQuery(["mode"]);
  }

  /* ---- address */

  function writeUrl(serverQuery) {
    if (!serverQuery) return same();
    address.take(serverQuery);
    linkPages();
    return "storage/data/runs.csv?" + address.shown();
  }

  const nameOf = (id) => id.replace(/^storage-/, "");
  const page = {
    root: ".storage",
    tab: "tab-storage",
    query: () => address.query(),
    figure: (id) => {
      const { figures, mask } = storage.state(), gd = document.getElementById(id);
      return figures[nameOf(id)] && wattlas.storagePaint.onPaper(figures[nameOf(id)], mask, gd.clientHeight);
    },
    data: (id, format) => "storage/data/" + nameOf(id) + "." + format + "?" + address.shown(),
    how: (id) => "how/storage/" + nameOf(id) + "?" + address.shown(),
    resize: () => storage.resize(),
    clear: () => storage.select(""),
  };
  wattlas.addPage(page);
  const address = wattlas.makeAddress(page, () => ({ pick: storage.state().pick }));
  storage.onChange(() => { address.push(); linkPages(); });

  window.dash_clientside = Object.assign({}, window.dash_clientside, {
    wattlasStorage: { gather, draw, place, writeUrl },
  });
});
