/*
 * Titles of pictures in as many lines as their width asks for, and titles of axes that are no longer than
 * their axis. The server does not know how wide a picture is drawn.
 */
(function (wattlas) {
  "use strict";

  const LINE = 1.3, SUBTITLE_PX = 12, EDGE_PX = 10, BESIDE_PX = { x: 30, y: 10 }, SPACE = / (?![^<]*>)/;
  let pen = null;

  /** The width of a text without its tags, in pixels. */
  function widthOf(text, size) {
    pen = pen || document.createElement("canvas").getContext("2d");
    pen.font = size + "px " + wattlas.FONT;
    return pen.measureText(wattlas.shownText(text.replace(/<[^>]*>/g, ""))).width;
  }

  /** A word as pieces that are not wider than `room` pixels; one with tags stays whole. */
  function pieces(word, room, size) {
    if (word.includes("<") || widthOf(word, size) <= room) return [word];
    const found = [""];
    for (const sign of word.match(/&\w+;|./gu)) {
      const longer = found[found.length - 1] + sign;
      if (widthOf(longer, size) <= room) found[found.length - 1] = longer;
      else found.push(sign);
    }
    return found;
  }

  /** A line of a title as lines that are not wider than `room` pixels. */
  function wrapped(line, room, size) {
    const lines = [];
    for (const word of line.split(SPACE).flatMap((one) => pieces(one, room, size))) {
      const longer = lines.length ? lines[lines.length - 1] + " " + word : word;
      if (lines.length && widthOf(longer, size) <= room) lines[lines.length - 1] = longer;
      else lines.push(word);
    }
    return lines;
  }

  // What an axis without room for its title leaves out first: brackets, names of datasets, the scale.
  const LEFT_OUT = [/ \([^)]*\)/g, /(?<=unit guessed) in .*?(?=,| \u00b7|$)/, / \u00b7 .*/];
  /** The title of an axis, no wider than its axis: of one that still is, the name is cut, not the unit. */
  function shorter({ text, ...title }, room) {
    const size = (title.font && title.font.size) || SUBTITLE_PX;
    const isWide = (words) => widthOf(words, size) > room;
    const words = LEFT_OUT.reduce((left, part) => (isWide(left) ? left.replace(part, "") : left), text);
    if (!isWide(words)) return { ...title, text: words };
    const unit = words.slice((words + ", ").indexOf(", ")), end = widthOf(unit, size) < room / 2 ? unit : "";
    const name = words.slice(0, words.length - end.length);
    const [first] = pieces(name, room - widthOf("\u2026" + end, size), size);
    return { ...title, text: first.trimEnd() + "\u2026" + end };
  }

  const isAxis = (key) => /^[xy]axis\d*$/.test(key);
  /** A layout with its titles fitted to a picture of a size. Pure. */
  function fitted(layout, { width, height }) {
    const { title = {}, margin, meta = {} } = layout, out = { ...layout };
    if (!margin || !width) return layout;
    const added = { t: 0 };
    if (title.text) {
      const room = width - ((title.pad && title.pad.l) || 0) - EDGE_PX;
      const lines = title.text.split("<br>").map((line, i) => {
        const size = i ? SUBTITLE_PX : title.font.size, all = wrapped(line, room, size);
        added.t += (all.length - 1) * size * LINE;
        return all.join("<br>");
      });
      out.title = { ...title, text: lines.join("<br>") };
      out.margin = { ...margin, t: margin.t + added.t };
    }
    const room = { x: width - margin.l - margin.r, y: height - margin.t - added.t - margin.b };
    for (const [key, axis] of Object.entries(layout)) {
      // The title of one panel stands for all of them and may be longer than its axis.
      if (meta.panels || !isAxis(key) || !textOf(axis)) continue;
      const [from, to] = axis.domain || [0, 1];
      out[key] = { ...axis, title: shorter(axis.title, (to - from) * room[key[0]] + BESIDE_PX[key[0]]) };
    }
    return out;
  }

  /** The width of the widest of some texts, in pixels. */
  const widest = (texts, size = SUBTITLE_PX) => Math.max(0, ...texts.map((text) => widthOf(text, size)));

  const textOf = (axis) => (axis && axis.title && axis.title.text) || "";
  const sizeOf = ({ clientWidth, clientHeight }) => ({ width: clientWidth, height: clientHeight });
  wattlas.titles = {
    widest,
    fitted: (gd, layout) => fitted(layout, sizeOf(gd)),
    /** Whether the titles of a drawn picture, and those of its axes, are those that fit its present size. */
    areFitted: (gd, layout) => Object.entries(fitted(layout, sizeOf(gd))).every(([key, part]) => (
      key === "title" ? textOf({ title: part }) === textOf(gd.layout)
        : !isAxis(key) || textOf(part) === textOf(gd.layout[key]))),
  };
})((window.wattlas = window.wattlas || {}));
