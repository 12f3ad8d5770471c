/* Columns and words: decode what the server sends once, and write numbers as data/units.py does. */
(function (wattlas) {
  "use strict";

  const KINDS = {
    f4: Float32Array, f8: Float64Array, i1: Int8Array, i2: Int16Array, i4: Int32Array,
    u1: Uint8Array, u2: Uint16Array, u4: Uint32Array,
  };

  function decode(typed) {
    const text = atob(typed.bdata);
    const bytes = new Uint8Array(text.length);
    for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
    return new KINDS[typed.dtype](bytes.buffer);
  }

  /** The server's points with every column as a typed array; knob values stay lists. */
  wattlas.decodePoints = function (raw) {
    if (!raw) return null;
    const points = {
      count: raw.count, traces: raw.traces, labels: raw.labels, knobs: {}, values: {},
      n: decode(raw.n), replicate: decode(raw.replicate),
    };
    for (const [name, knob] of Object.entries(raw.knobs)) {
      points.knobs[name] = { values: knob.values, index: decode(knob.index) };
    }
    for (const [name, typed] of Object.entries(raw.values)) points.values[name] = decode(typed);
    return points;
  };

  wattlas.knob = function (points, name, i) {
    const knob = points.knobs[name];
    return knob.values[knob.index[i]];
  };

  const MISSING = "\u2013";
  const PREFIXES = [[1e12, "T"], [1e9, "G"], [1e6, "M"], [1e3, "k"], [1, ""], [1e-3, "m"], [1e-6, "u"]];
  const PREFIXED = new Set(["J", "W", "s", "B", "B/s", "B/J", "J s", "V", "A"]);

  function digits(value) {
    if (value === 0) return "0";
    const shown = Number(value.toExponential(2));
    const magnitude = Math.floor(Math.log10(Math.abs(shown)) + 1e-12);
    return shown.toFixed(Math.min(100, Math.max(0, 2 - magnitude)));
  }

  function scaled(value, prefixes) {
    if (value === 0) return "0 ";
    const shown = Math.abs(Number(value.toExponential(2)));
    const [scale, prefix] = prefixes.find((p) => shown >= p[0]) || prefixes[prefixes.length - 1];
    return digits(value / scale) + " " + prefix;
  }

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

  wattlas.configurationWords = function (row) {
    const words = [
      row.itr_us === null ? "ITR adaptive" : "ITR " + row.itr_us + " us",
      row.dvfs_ghz === null ? "governor" : row.dvfs_ghz + " GHz",
    ];
    if (row.rapl_w !== null) words.push(row.rapl_w + " W");
    return words.join(" \u00b7 ");
  };

  wattlas.loadWords = function (row) {
    const words = [];
    if (row.load_qps !== null) words.push(row.load_qps >= 1000 ? row.load_qps / 1000 + "k QPS" : row.load_qps + " QPS");
    if (row.message_bytes !== null) {
      const b = row.message_bytes;
      words.push(b >= 1048576 ? b / 1048576 + " MiB" : b >= 1024 ? b / 1024 + " KiB" : b + " B");
    }
    return words.join(" \u00b7 ");
  };

  const KNOBS = ["dataset", "system", "itr_us", "dvfs_ghz", "rapl_w", "load_qps", "message_bytes"];

  /** One point's configuration as an object. */
  wattlas.configuration = function (points, i) {
    return Object.fromEntries(KNOBS.map((name) => [name, wattlas.knob(points, name, i)]));
  };
})((window.wattlas = window.wattlas || {}));
