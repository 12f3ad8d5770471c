/* Connects Storage to Dash: its state, its menus, links to other pages. */
window.wattlas.withDash(function () {
  "use strict";

  const { wattlas } = window;
  const NAME = "storage", PREFIX = NAME + "-";
  const { storage, address } = wattlas;

  /* Menu values that the server has chosen and that the controls are about to take. */
  let placing = null;

  /** The menus of device, access and size: what the filters leave, at the values that the server chose. */
  function place(placed) {
    if (!placed) return;
    const before = address.values(NAME), after = placed.values;
    const moved = Object.keys(after).filter((key) => before[key] !== after[key]);
    placing = moved.length ? { before: { ...before }, moved } : null;
    if (placing) address.adopt(NAME, after);
    for (const [key, value] of Object.entries(after)) {
      wattlas.setProps(PREFIX + key, { data: placed.choices[key], value });
    }
  }

  /** Wait until all menus have the values that the server chose. */
  function gathered(values, before, isFirst) {
    if (isFirst) placing = null;
    if (!placing) return values;
    const isOld = (key) => values[key] === placing.before[key];
    if (placing.moved.some(isOld)) return null;
    placing = null;
    return values;
  }

  /* This page has no filter on workloads: it hands on that of the link, until something is selected here. */
  function handover(target, shared) {
    const { spec, carried } = address.opened(NAME), { clause, columns } = storage;
    if (carried.workload && (!clause || clause === spec.kept.sel)) return {};
    const others = Object.keys(carried).filter((key) => key !== "sel");
    const none = Object.fromEntries(others.map((key) => [key, []]));
    return { ...none, workload: columns ? columns.workloads : [], sel: shared.sel || [] };
  }

  wattlas.addPage({
    name: NAME,
    open: (spec) => storage.open(spec.kept.sel),
    gathered, handover,
    figure: storage.paper, theme: storage.paint,
    resize: storage.resize, clear: storage.clear, key: storage.key,
  });
  storage.onChange(() => {
    address.keep(NAME, { sel: storage.clause });
    address.push(NAME);
  });

  wattlas.clientside("wattlasStorage", {
    draw(pictures) {
      if (pictures) storage.showPictures(pictures, wattlas.theme());
      return window.dash_clientside.no_update;
    },
    place,
    /** Write the server's HTML, in which it escapes all text, by view: beside its picture or as a whole. */
    writeHtml(texts) {
      for (const [name, text] of Object.entries(texts || {})) {
        const beside = document.querySelector(`[data-claims-of="${name}"]`);
        (beside || document.getElementById(PREFIX + name)).innerHTML = text;
      }
      storage.markPublished();
      storage.reachScrolling();
    },
  });
});
