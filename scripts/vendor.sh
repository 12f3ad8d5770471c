#!/bin/sh
# Builds vendor/ with npm and esbuild; called by `make vendor` with the version of plotly.js.
set -eu
version=$1
out=$PWD/vendor
work=$(mktemp -d)
trap 'rm -r "$work"' EXIT
cd "$work"
npm install --silent --no-audit --no-fund --ignore-scripts \
  "plotly.js@$version" buffer@6.0.3 regenerator-runtime@0.14.1 esbuild@0.28.2 \
  @codemirror/autocomplete@6.20.4 @codemirror/commands@6.11.1 @codemirror/lang-sql@6.10.0 \
  @codemirror/language@6.13.1 @codemirror/state@6.7.6 @codemirror/view@6.43.15 @lezer/highlight@1.2.5

# The traces that the pages draw. The strict ones make no functions from text.
cat > plotly.js <<'EOF'
const Plotly = require("plotly.js/lib/core");
Plotly.register([
  require("plotly.js/lib/bar"),
  require("plotly.js/lib/heatmap"),
  require("plotly.js/src/traces/scattergl/strict"),
]);
module.exports = Plotly;
EOF

# The parts of CodeMirror that the SQL page uses; its dialect comes from DuckDB itself.
cat > codemirror.js <<'EOF'
export { acceptCompletion, autocompletion, closeBrackets, closeBracketsKeymap, completionKeymap, ifNotIn }
  from "@codemirror/autocomplete";
export { defaultKeymap, history, historyKeymap } from "@codemirror/commands";
export { SQLDialect } from "@codemirror/lang-sql";
export { bracketMatching, syntaxHighlighting } from "@codemirror/language";
export { Prec } from "@codemirror/state";
export { Decoration, EditorView, keymap, lineNumbers } from "@codemirror/view";
export { classHighlighter } from "@lezer/highlight";
EOF

build() {
  npx --no-install esbuild "$1" --bundle --minify --format=iife --global-name="$2" --target=es2020 \
    --define:global=window --alias:regl=@plotly/regl --loader:.css=empty --log-level=warning \
    --legal-comments=eof --banner:js="/* $3 | MIT */" | gzip -9 -n > "$out/$4"
}
build plotly.js Plotly \
  "plotly.js v$version (bar, heatmap, scatter, scattergl; strict) | (c) Plotly, Inc." plotly.min.js.gz
build node_modules/regenerator-runtime/runtime.js regeneratorRuntime \
  "regenerator-runtime v0.14.1 | (c) Meta Platforms, Inc." regenerator-runtime.min.js.gz
build codemirror.js CodeMirror "CodeMirror 6 | (c) Marijn Haverbeke and others" codemirror.min.js.gz
cp node_modules/@codemirror/view/LICENSE "$out/codemirror-LICENSE"
cp node_modules/plotly.js/LICENSE "$out/plotly-LICENSE"
cp node_modules/regenerator-runtime/LICENSE "$out/regenerator-runtime-LICENSE"
