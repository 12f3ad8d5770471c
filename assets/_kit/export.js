/*
 * Start an exported page: unpack plotly.js, the data and the page's scripts.
 * The file holds each as base64 of gzip.
 */
(async function () {
  "use strict";

  const words = document.getElementById("export-words");
  if (!("DecompressionStream" in window)) {
    words.textContent = "This browser cannot unpack the file: it has no DecompressionStream. "
      + "Chrome 80, Firefox 113, Safari 16.4 and all later ones have it.";
    return;
  }

  async function unpacked(name) {
    const text = atob(document.getElementById("packed-" + name).textContent);
    const bytes = Uint8Array.from(text, (letter) => letter.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
    return new Response(stream).text();
  }

  /* As a file of its own, so that the browser parses it once and names it in messages. */
  async function run(name) {
    const address = URL.createObjectURL(new Blob([await unpacked(name)], { type: "text/javascript" }));
    const script = document.createElement("script");
    const done = new Promise((resolve, reject) => {
      Object.assign(script, { onload: resolve, onerror: reject });
    });
    script.src = address;
    document.head.append(script);
    await done;
    URL.revokeObjectURL(address);
  }

  try {
    const data = document.createElement("script");
    data.type = "application/json";
    data.id = "view-data";
    data.textContent = await unpacked("data");
    document.body.append(data);
    await run("plotly");
    await run("scripts");
    words.remove();
  } catch (error) {
    words.textContent = "This file cannot be shown: " + (error.message || "a part of it is damaged") + ".";
  }
})();
