/*
 * The dialog "Figure for a paper": the picture as PDF, SVG, PNG or as a script, in the width of a column.
 * The server draws it, from the figure that is on the screen: its zoom and its selection are in the file.
 */
(function (wattlas) {
  "use strict";

  const { element } = wattlas;
  const LEFT_OUT = ["customdata", "ids", "hovertext", "hovertemplate", "hoverinfo", "hoverlabel", "hovermode",
    "uirevision", "selections", "newselection", "selectionrevision", "dragmode"];
  const SHORT = 32, WIDE_PX = 560, POINTS_A_MM = 72 / 25.4;
  const TYPES = {
    Float64Array: "f8", Float32Array: "f4", Int32Array: "i4", Uint32Array: "u4", Int16Array: "i2",
    Uint16Array: "u2", Int8Array: "i1", Uint8Array: "u1",
  };
  // The reader's choices, for the next picture.
  const chosen = {
    format: "pdf", width_mm: 0, height_mm: "", font_pt: 8, line_pt: 1, family: "sans", scale: 2,
    has_title: false,
  };

  function typed(values) {
    const bytes = new Uint8Array(values.buffer, values.byteOffset, values.byteLength), parts = [];
    for (let i = 0; i < bytes.length; i += 32768) {
      parts.push(String.fromCharCode(...bytes.subarray(i, i + 32768)));
    }
    return { dtype: TYPES[values.constructor.name], bdata: btoa(parts.join("")) };
  }
  const isNumbers = (values) => values.length > SHORT && values.every((one) => typeof one === "number");
  /** A part of a figure for the server: what draws it, long lists of numbers as bytes. */
  function packed(part, key) {
    if (key === "meta") return part && part.kind ? { kind: part.kind } : undefined;
    if (ArrayBuffer.isView(part)) return typed(part);
    if (Array.isArray(part) && isNumbers(part)) return typed(Float64Array.from(part));
    if (Array.isArray(part)) return part.map((one) => packed(one));
    if (!part || typeof part !== "object") return part;
    const kept = Object.entries(part).filter(([name]) => !LEFT_OUT.includes(name) && !name.startsWith("_"));
    return Object.fromEntries(kept.map(([name, one]) => [name, packed(one, name)]));
  }
  wattlas.packedFigure = ({ data, layout }) => ({ data: packed(data), layout: packed(layout) });

  /** A figure for the server, with its panels arranged for the paper. */
  wattlas.onPaper = function (gd, { data, layout }, size, { width_mm, font_pt }) {
    const [placed, size_px] = wattlas.panels.onPaper(gd, layout, size, (width_mm * POINTS_A_MM) / font_pt);
    return { figure: wattlas.packedFigure({ data, layout: placed }), size_px };
  };

  async function post(address, body) {
    const stream = new Blob([JSON.stringify(body)]).stream().pipeThrough(new CompressionStream("gzip"));
    const bytes = await new Response(stream).arrayBuffer();
    const headers = { "Content-Type": "application/json", "Content-Encoding": "gzip" };
    return wattlas.fetchAnswer(address, { method: "POST", headers, body: bytes });
  }

  /* ---- the dialog */

  const field = (label, control, unit = "") => element("label", {}, label + " ", control, unit && " " + unit);
  const number = (name, min, max, step, placeholder = "") =>
    element("input", { type: "number", className: "field", name, min, max, step, placeholder });

  function form(figure) {
    const widths = [["85", "one column, 85 mm"], ["178", "two columns, 178 mm"], ["free", "free"]];
    const formats = [["pdf", "PDF"], ["svg", "SVG"], ["png", "PNG"], ["script", "Python script and CSV"]];
    const families = [["sans", "sans serif"], ["serif", "serif (Times)"]];
    const scales = [1, 2, 3, 4].map((x) => [x, x + "x, " + 150 * x + " dpi"]);
    const parts = element("form", { method: "dialog", className: "paper-form" },
      field("format", wattlas.select("format", formats, formats[0][0], { name: "format" })),
      field("width", wattlas.select("width", widths, widths[0][0], { name: "column" })),
      field("", number("width_mm", 40, 400, 1), "mm"),
      field("height", number("height_mm", 30, 400, 1, "fitting"), "mm"),
      field("text", number("font_pt", 5, 16, 0.5), "pt"),
      field("lines", number("line_pt", 0.25, 3, 0.25), "pt"),
      field("font", wattlas.select("font", families, "sans", { name: "family" })),
      field("resolution", wattlas.select("resolution", scales, 1, { name: "scale" })),
      field("", element("input", { type: "checkbox", className: "switch", name: "has_title" }),
        "title in the picture"));
    const { elements } = parts;
    for (const [name, value] of Object.entries(chosen)) {
      if (name === "has_title") elements[name].checked = value; else elements[name].value = value;
    }
    elements.width_mm.value = chosen.width_mm || (figure.width > WIDE_PX ? 178 : 85);
    const said = elements.width_mm.value;
    elements.column.value = ["85", "178"].includes(said) ? said : "free";
    const fit = () => {
      const { column, format } = elements;
      if (column.value !== "free") elements.width_mm.value = column.value;
      elements.width_mm.parentElement.hidden = column.value !== "free";
      elements.scale.closest("label").hidden = format.value !== "png";
    };
    parts.addEventListener("change", fit);
    fit();
    return parts;
  }

  function choices(elements) {
    for (const name of Object.keys(chosen)) {
      const { type, value, checked } = elements[name];
      const isText = name === "format" || name === "family";
      chosen[name] = type === "checkbox" ? checked : isText || value === "" ? value : Number(value);
    }
    return { ...chosen, height_mm: chosen.height_mm === "" ? null : chosen.height_mm };
  }

  async function save(figure, parts, say) {
    if (!parts.reportValidity()) return;
    say("drawing");
    const start = performance.now(), options = choices(parts.elements);
    try {
      const body = { ...figure.on(options), options };
      const answer = await post(figure.address("figure"), body);
      if (!answer.ok) { say((await answer.text()).trim()); return; }
      const file = await answer.blob(), link = element("a", { href: URL.createObjectURL(file) });
      link.download = /filename="([^"]+)"/.exec(answer.headers.get("Content-Disposition"))[1];
      link.click();
      URL.revokeObjectURL(link.href);
      const seconds = ((performance.now() - start) / 1000).toFixed(1);
      say(`${link.download}: ${Math.ceil(file.size / 1000)} kB, ${seconds} s`);
    } catch (error) {
      say("The server did not answer (" + error.message + ").");
    }
  }

  /** Open the dialog for the picture of a view, or save it at once as PDF with the last choices. */
  wattlas.paper = function (page, id, view, isAtOnce = false) {
    const gd = wattlas.plot(id), drawn = gd && page.figure(view);
    if (!drawn) { wattlas.say("this view is a table: take its data as CSV"); return; }
    const size = [drawn.layout.width || gd.clientWidth, drawn.layout.height || gd.clientHeight];
    const figure = {
      title: drawn.layout.title, width: size[0], on: (options) => wattlas.onPaper(gd, drawn, size, options),
      address: (what) => wattlas.fileOf(page.name, what + "/" + view),
    };
    const parts = form(figure);
    if (isAtOnce) {
      parts.elements.format.value = "pdf";
      save(figure, parts, wattlas.say);
      return;
    }
    const status = element("p", { className: "quiet", attributes: { role: "status" } });
    const say = (words) => { status.textContent = words; };
    const called = { "aria-label": "caption" };
    const caption = element("textarea", { className: "field", rows: 5, value: "\u2026", attributes: called });
    const button = (textContent, onclick, properties = {}) =>
      element("button", { type: "button", textContent, onclick, className: "plain", ...properties });
    const back = document.querySelector(`section[data-view="${id}"] [aria-label^="menu of"]`);
    const onclose = () => { dialog.remove(); if (back) back.focus(); };
    const copy = async () => { say(await wattlas.isCopied(caption.value) ? "copied" : "not copied"); };
    const name = { "aria-label": "Figure for a paper" };
    const dialog = element("dialog", { className: "paper", onclose, attributes: name },
      element("h2", { textContent: "Figure for a paper" }), parts, field("caption", caption),
      element("p", {}, button("save", () => save(figure, parts, say)), button("copy caption", copy),
        button("close", () => dialog.close())),
      status);
    parts.addEventListener("submit", (event) => { event.preventDefault(); save(figure, parts, say); });
    document.body.append(dialog);
    dialog.showModal();
    parts.elements.format.focus();
    post(figure.address("caption"), { figure: { data: [], layout: { title: figure.title } } })
      .then(async (answer) => { caption.value = await answer.text(); })
      .catch((error) => { caption.value = error.message; });
  };
})((window.wattlas = window.wattlas || {}));
