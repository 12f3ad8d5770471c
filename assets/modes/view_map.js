/*
 * The parts of the map of winners that depend on the visible part: labels of the axes, texts of the cells.
 * Pure functions.
 *
 * A visible part is {x: {low, high, px, drawn}, y: ...}: the first and the last index along each axis, the
 * length for which labels are chosen, and that of the drawn axis, if there is one.
 */
(function (wattlas) {
  "use strict";

  const CHARACTER_PX = 7, LINE_PX = 13, LONGEST = 18;
  // Up to this many columns and rows, in rows of this height, cells have the winner's name; above so many
  // columns, short texts.
  const NAMED_MAX = [8, 9], NAMED_PX = 30, WIDE_MAX = 12;
  // A cell that is drawn narrower, or lower than a line, has no text; one under the second, a short one.
  const LEAST_PX = 28, SHORT_PX = 58;

  /**
   * The labels of an axis that have room: every k-th, k the least of 1, 2, 5, 10, ..., and the last one,
   * which often is the word for NULL. All, if only the last one overlaps, which then stands a line lower.
   *   sizes: of all labels along the axis, in pixels.
   *   low, high: the first and the last index in view.
   *   px: the length of the axis.
   */
  function shownLabels(sizes, low, high, px) {
    const step = px / (high - low + 1);
    const overlap = (i, j) => (j - i) * step < (sizes[i] + sizes[j]) / 2;
    for (let k = 0; ; k++) {
      const stride = [1, 2, 5][k % 3] * Math.pow(10, Math.floor(k / 3)), found = [];
      for (let i = low; i < high; i += stride) found.push(i);
      const areApart = () => found.every((i, n) => n === 0 || !overlap(found[n - 1], i));
      const isLow = k === 0 && sizes[high] <= px / 2 && areApart();
      while (!isLow && found.length && overlap(found[found.length - 1], high)) found.pop();
      found.push(high);
      if (isLow || found.length === 1 || areApart()) return found;
    }
  }

  const head = (label) => label.slice(0, LONGEST - 1);
  /** Labels that have room in the margin beside the map: of those of equal beginnings the ends. */
  const beside = (all) => all.map((label) => {
    if (label.length <= LONGEST) return label;
    const isAlone = all.every((other) => other === label || head(other) !== head(label));
    return isAlone ? head(label) + "\u2026" : "\u2026" + label.slice(1 - LONGEST);
  });

  /** The labels along both axes of a map as changes of the layout, whose axes `meta` may name. */
  function labels(meta, part) {
    const changes = {};
    for (const name of ["x", "y"]) {
      const all = name === "x" ? meta.labels.x : beside(meta.labels.y), { low, high, px } = part[name];
      const sizes = all.map((label) => (name === "x" ? label.length * CHARACTER_PX + 6 : LINE_PX));
      const at = shownLabels(sizes, low, high, px), [before, last] = at.slice(-2);
      const step = px / (high - low + 1);
      const isLow = name === "x" && (sizes[before] + sizes[last]) / 2 > (last - before) * step;
      const text = (i) => (isLow && i === last ? "<br>" : "") + wattlas.plotText(all[i]);
      const axis = axisKey(meta, name);
      changes[axis + ".tickvals"] = at;
      changes[axis + ".ticktext"] = at.map(text);
    }
    return changes;
  }

  /** The key of a map's axis in the layout: `xaxis2` of the second panel. */
  const axisKey = (meta, name) => name + "axis" + (meta[name] || name).slice(1);

  const channels = (color) => [1, 3, 5].map((at) => parseInt(color.slice(at, at + 2), 16));

  /** A colour under a veil of another; the veil hides a share of it. */
  function veiled(hue, paper, share) {
    const [a, b] = [channels(hue), channels(paper)];
    return a.map((value, k) => value * (1 - share) + b[k] * share);
  }

  /** Black or white, whichever has more contrast with a colour. Source: WCAG 2.2, contrast ratio. */
  function readableOn(rgb) {
    const [r, g, b] = rgb.map((value) => value / 255)
      .map((v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4));
    const luminance = 0.2126 * r + 0.7152 * g + 0.0722 * b;
    return (luminance + 0.05) / 0.05 > 1.05 / (luminance + 0.05) ? "#000000" : "#ffffff";
  }

  /** How much of a cell's hue the page's colour hides. */
  function veilOf(meta, data, i) {
    const outcome = wattlas.cells.outcomeOf(data, i), [most, undecided] = meta.veils;
    if (outcome === "undecided" || outcome === "too few") return undecided;
    return outcome === "win" ? most * (1 - data.cells.strength[i]) : 0;
  }

  /** The colour of a cell's text: the theme's own, with a halo, on a cell without fill. */
  function textColor(meta, data, i, theme) {
    const outcome = wattlas.cells.outcomeOf(data, i), { hues } = meta;
    const { text, paper } = wattlas.palette(theme);
    if (outcome === "too few") return text;
    const others = { tie: hues.length - 2, equivalent: hues.length - 2, differ: hues.length - 1 };
    const hue = hues[outcome in others ? others[outcome] : data.contenders.who[data.cells.best[i]]];
    return readableOn(veiled(hue, paper, veilOf(meta, data, i)));
  }

  /** The scale of the layer over pale cells: from clear to the page's colour. */
  function veilScale(theme) {
    const [r, g, b] = channels(wattlas.palette(theme).paper);
    return [[0, `rgba(${r},${g},${b},0)`], [1, `rgba(${r},${g},${b},1)`]];
  }

  /** The texts of the cells in view, as the trace's own; none where there are too many, or without data. */
  function texts(meta, data, part, theme) {
    const found = { x: [], y: [], text: [], color: [], shadow: [] };
    if (!data) return { x: [], y: [], text: [] };
    const columns = part.x.high - part.x.low + 1, rows = part.y.high - part.y.low + 1;
    const isTall = !(part.y.drawn / rows < NAMED_PX);
    const longest = CHARACTER_PX * Math.max(...data.who.words.map(({ length }) => length));
    const isWide = !(part.x.drawn / columns < longest);
    const isNamed = isTall && isWide && columns <= NAMED_MAX[0] && rows <= NAMED_MAX[1];
    const hasRoom = !(part.x.drawn / columns < LEAST_PX || part.y.drawn / rows < LINE_PX);
    const isShort = columns > WIDE_MAX || part.x.drawn / columns < SHORT_PX;
    const few = "unproven, " + wattlas.nWords(1, data.rules && data.rules.unstated);
    const isRoomy = !(part.x.drawn / columns < CHARACTER_PX * few.length);
    const count = hasRoom && columns <= meta.texts_max[0] && rows <= meta.texts_max[1] ? data.count : 0;
    const cellOf = count ? wattlas.rows.cellOf(meta.map, data) : [], width = meta.map.xs.length;
    const halo = Array(4).fill("0 0 3px " + wattlas.palette(theme).paper).join(", ");
    for (let i = 0; i < count; i++) {
      if (cellOf[i] < 0) continue;
      const x = cellOf[i] % width, y = Math.floor(cellOf[i] / width);
      if (x < part.x.low || x > part.x.high || y < part.y.low || y > part.y.high) continue;
      const text = wattlas.cells.text(data, i, isNamed, isShort, isRoomy);
      if (!text) continue;
      found.x.push(x);
      found.y.push(y);
      found.text.push(text);
      found.color.push(textColor(meta, data, i, theme));
      found.shadow.push(wattlas.cells.outcomeOf(data, i) === "too few" ? halo : "none");
    }
    const { x, y, text, color, shadow } = found;
    return { x, y, text, textfont: { size: 12, color, shadow } };
  }

  /** The part of a map that is in view: of a drawn one by its axes, else all of it. */
  function partInView(meta, gd) {
    const part = {};
    for (const name of ["x", "y"]) {
      const last = meta.labels[name].length - 1;
      const axis = gd && gd._fullLayout && gd._fullLayout[axisKey(meta, name)];
      const [from, to] = axis && axis.range ? [...axis.range].sort((a, b) => a - b) : [0, last];
      const low = Math.max(0, Math.ceil(from)), high = Math.min(last, Math.floor(to));
      // A panel has no size before it is drawn.
      const isWhole = !axis || (!meta.box && low === 0 && high === last);
      const drawn = axis ? axis._length : undefined;
      const whole = Math.min(meta.whole_px[name], drawn || Infinity);
      part[name] = { low, high, px: isWhole ? whole : drawn, drawn };
    }
    return part;
  }
  const isEmpty = (part) => part.x.high < part.x.low || part.y.high < part.y.low;

  /** What a map of the whole or of a part shows: changes of its layout, its texts. */
  function shown(meta, data, gd, theme) {
    const drawn = partInView(meta, gd), part = isEmpty(drawn) ? partInView(meta) : drawn;
    return { labels: labels(meta, part), texts: texts(meta, data, part, theme) };
  }

  /** The maps of a picture: of each panel, or the one; with what the picture says of all. */
  const mapsOf = ({ panels, ...meta }) => (panels ? panels.map((panel) => ({ ...meta, ...panel })) : [meta]);

  /** The maps with labels and texts of the part in view, and pale cells in the theme's colour. */
  function dressed({ data, layout }, columns, gd, theme) {
    if (layout.meta.kind !== "map") return { data, layout };
    const pale = { colorscale: veilScale(theme) }, axes = { ...layout }, ofMap = {};
    for (const map of mapsOf(layout.meta)) {
      const found = shown(map, columns, gd, theme);
      ofMap[map.x || "x"] = found.texts;
      for (const [path, value] of Object.entries(found.labels)) {
        const [axis, name] = path.split(".");
        axes[axis] = { ...axes[axis], [name]: value };
      }
    }
    const changesOf = (trace) => (wattlas.kindOf(trace) === "pale" ? pale
      : wattlas.kindOf(trace) === "texts" ? ofMap[trace.xaxis || "x"] : {});
    return { data: data.map((trace) => ({ ...trace, ...changesOf(trace) })), layout: axes };
  }

  // The first picture has no texts in its cells.
  if (wattlas.openings) wattlas.openings.modes = ({ figure }, theme) =>
    dressed(wattlas.themedFigure(figure, theme), null, null, theme);

  wattlas.modesMap = { shownLabels, texts, veilScale, shown, mapsOf, dressed };
})((window.wattlas = window.wattlas || {}));
