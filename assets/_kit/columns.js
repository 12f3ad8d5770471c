/* Columns and words: decode what the server sends once, and write numbers as data/units.py does. */
(function (wattlas) {
  "use strict";

  const KINDS = {
    f4: Float32Array, f8: Float64Array, i1: Int8Array, i2: Int16Array, i4: Int32Array,
    u1: Uint8Array, u2: Uint16Array, u4: Uint32Array,
  };

  function decode(typed) {
    if (typed.count !== undefined) {
      return new KINDS[typed.dtype](typed.count).fill(typed.repeat === null ? NaN : typed.repeat);
    }
    const text = atob(typed.bdata);
    const bytes = new Uint8Array(text.length);
    for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
    return new KINDS[typed.dtype](bytes.buffer);
  }

  wattlas.decode = decode;

  const isTyped = (value) => typeof value.bdata === "string" || (value.dtype && value.count !== undefined);
  /** What the server sends, with its encoded columns (app/kit/columns.py) as typed arrays. */
  wattlas.decoded = function (value) {
    if (!value || typeof value !== "object") return value;
    if (Array.isArray(value)) return typeof value[0] === "object" ? value.map(wattlas.decoded) : value;
    if (ArrayBuffer.isView(value)) return value;
    if (isTyped(value)) return decode(value);
    return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, wattlas.decoded(one)]));
  };

  /** A text of the lake in the form in which Plotly, which reads some tags, shows it as it is. */
  wattlas.plotText = (text) => String(text).replace(/&/g, "&amp;").replace(/</g, "&lt;");
  /** What Plotly shows of such a text. */
  wattlas.shownText = (text) => String(text).replace(/&lt;/g, "<").replace(/&amp;/g, "&");

  /** The numbers of a field in each row, or of a knob; undefined for neither. */
  wattlas.numbersOf = function ({ knobs, fields }, name) {
    const knob = knobs[name];
    if (fields[name] || !knob) return fields[name];
    const values = knob.values.map((value) => (typeof value === "number" ? value : NaN));
    return Float64Array.from(knob.index, (i) => values[i]);
  };

  wattlas.knob = function (points, name, i) {
    const knob = points.knobs[name];
    return knob.values[knob.index[i]];
  };

  const MISSING = "\u2013", MINUS = "\u2212";
  const PREFIXES = [[1e12, "T"], [1e9, "G"], [1e6, "M"], [1e3, "k"], [1, ""], [1e-3, "m"], [1e-6, "u"]];
  const PREFIXED = new Set(["J", "W", "s", "B", "B/s", "B/J", "J s", "V", "A", "Hz"]);

  function digits(value, count = 3) {
    if (value === 0) return "0";
    const shown = Number(Math.abs(value).toExponential(count - 1));
    const magnitude = Math.floor(Math.log10(shown) + 1e-12);
    return (value < 0 ? MINUS : "") + shown.toFixed(Math.min(100, Math.max(0, count - 1 - magnitude)));
  }
  /** A number with so many significant digits; the twin of format_digits in data/units.py. */
  wattlas.formatDigits = digits;

  function scaled(value, prefixes) {
    if (value === 0) return "0 ";
    const shown = Math.abs(Number(value.toExponential(2)));
    const [scale, prefix] = prefixes.find((p) => shown >= p[0]) || prefixes[prefixes.length - 1];
    return digits(value / scale) + " " + prefix;
  }

  /** `n = 3`; of rows that are means of as many runs as no table says, as `n_words` in app/kit/words.py. */
  wattlas.nWords = (n, isUnstated) => (
    isUnstated && n === 1 ? "n not stated" : "n = " + n.toLocaleString("en"));

  /** `61.7 us`, `2.17 kJ`; the twin of format_quantity in data/units.py. */
  wattlas.formatQuantity = function (value, unit) {
    if (value === null || value === undefined || !isFinite(value)) return MISSING;
    if (unit === "us") { value *= 1e-6; unit = "s"; }
    if (unit === "" || unit === "1/s" || unit === "1/J") {
      return (scaled(value, PREFIXES.slice(0, 5)) + unit.slice(1)).trim();
    }
    if (PREFIXED.has(unit)) return scaled(value, PREFIXES) + unit;
    return digits(value) + " " + unit;
  };

  /** The words of a point's knobs, either the given or the set ones: `ITR 2 us - 2.9 GHz`. */
  wattlas.knobWords = function (points, i, isGiven) {
    const named = points.named.filter((knob) => knob.is_given === isGiven);
    const words = named.map((knob) => knob.words[points.knobs[knob.column].index[i]]);
    return words.filter(Boolean).join(" \u00b7 ");
  };

  /** One row's configuration as an object of knobs and values; of some knobs, or of all that name one. */
  wattlas.configuration = function (columns, i, names = columns.configuration || Object.keys(columns.knobs)) {
    return Object.fromEntries(names.map((name) => [name, wattlas.knob(columns, name, i)]));
  };
})((window.wattlas = window.wattlas || {}));
