/* Libraries that the first page leaves out. */
(function (wattlas) {
  "use strict";

  const LIBRARIES = {
    codemirror: "_bundle/codemirror.js",
    dash_ag_grid: "_dash-component-suites/dash_ag_grid/dash_ag_grid.min.js",
  };
  const loading = {};

  /** Load a library once; the promise resolves when it can be used. */
  wattlas.library = function (name) {
    loading[name] = loading[name] || new Promise((done, failed) => {
      const script = document.createElement("script"), release = wattlas.busy("library " + name);
      script.src = wattlas.pagesRoot() + LIBRARIES[name];
      script.onload = () => { release(); done(); };
      script.onerror = () => { release(); delete loading[name]; failed(new Error("cannot load " + name)); };
      document.head.append(script);
    });
    return loading[name];
  };
})(window.wattlas);
