#!/bin/sh
# Serve a lake; fill it first with RAW, or with the sample when there is no lake yet.
# Set by the Makefile: PYTHON LAKE RAW SAMPLE PORT.
set -eu

# Status 3 says that some input was refused and the rest went in: that is worth a look, not a stop.
add() {
    status=0
    "$PYTHON" -m ingest add "$1" --lake "$LAKE" || status=$?
    if [ "$status" -eq 3 ]; then
        echo "Some input was refused; see: $PYTHON -m ingest problems --lake $LAKE"
    elif [ "$status" -ne 0 ]; then
        exit "$status"
    fi
}

if [ -n "$RAW" ]; then
    add "$RAW"
elif [ ! -d "$LAKE/runs/_delta_log" ] || [ -e "$SAMPLE/.unfinished" ]; then
    "$PYTHON" -c "from ingest.logs.compiling import compile_loops; compile_loops()" &
    compiling=$!
    if [ ! -d "$SAMPLE" ]; then
        echo "No lake yet: making synthetic raw logs in $SAMPLE to look at."
        rm -rf "$SAMPLE.partial"
        "$PYTHON" -m ingest sample "$SAMPLE.partial" --size small
        mv "$SAMPLE.partial" "$SAMPLE"
    fi
    wait "$compiling" || true
    touch "$SAMPLE/.unfinished"
    add "$SAMPLE"
    rm -f "$SAMPLE/.unfinished"
    # Models compiles for half a minute, once for this machine: while the visitor looks at Explore.
    nice -n 10 "$PYTHON" -c "from data.models import compile_models; compile_models()" &
fi
exec "$PYTHON" -m app --lake "$LAKE" --port "$PORT"
