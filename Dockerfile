# wattlas as an image: `make image`, or `docker build -t wattlas .`; see docs/server.md.
# BASE is any Debian with Python 3.11 or newer and venv; BUILD_BASE is the same with binutils. For builds
# that repeat, pin both by digest.
ARG BASE=docker.io/library/python:3.11-slim-bookworm
ARG BUILD_BASE=docker.io/library/python:3.11-bookworm
# The packages: made below, or an image that a build of the same requirements left.
ARG PACKAGES=packages

FROM ${BUILD_BASE} AS packages
ENV PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_CACHE_DIR=1 PYTHONDONTWRITEBYTECODE=1
WORKDIR /opt/wattlas
RUN python3 -m venv /opt/wattlas/.venv
COPY requirements.txt .
RUN .venv/bin/python -m pip install --no-compile --only-binary :all: --require-hashes -r requirements.txt \
    && .venv/bin/python -m pip uninstall --yes pip setuptools
# What nothing here loads: packages' own tests, headers, source maps, plug-ins of JupyterLab, Arrow's
# network protocols, the grid's other edition, Dash's scripts for debugging, Plotly's classes
# of traces (figures are made as JSON here) and its widget, parts of SciPy.
RUN find .venv -depth -type d \( -name tests -o -name test -o -name include -o -name labextension \) -exec rm -rf {} + \
    && find .venv \( -name '*.pyi' -o -name '*.js.map' -o -name '*flight*' \
        -o -name 'async-enterprise.js' -o -name '*.dev.js' -o -name widgetbundle.js \) -delete \
    && find .venv/lib/python3*/site-packages/plotly/graph_objs -mindepth 1 -type d -prune -exec rm -rf {} + \
    && rm -rf .venv/lib/python3*/site-packages/scipy/io .venv/lib/python3*/site-packages/scipy/signal \
        .venv/lib/python3*/site-packages/scipy/cluster .venv/lib/python3*/site-packages/scipy/odr \
        .venv/lib/python3*/site-packages/pyarrow/src
# Symbols for debuggers, in the libraries that have most of them.
RUN find .venv/lib/python3*/site-packages -regex '.*/\(llvmlite\|_polars_runtime[^/]*\|pyarrow\|_brotli\)[/.].*\.so.*' \
        -type f -exec strip --strip-unneeded {} + \
    && .venv/bin/python -m compileall -q -j 2 --invalidation-mode unchecked-hash .venv

FROM ${PACKAGES} AS build
WORKDIR /opt/wattlas
COPY data data
COPY ingest ingest
COPY app app
COPY assets assets
COPY vendor vendor
# Scripts for browsers, once for the image. Copies that `make compressed` made are taken, and what else
# lies there is removed; a source that is always there allows that the other is not.
COPY requirements.txt compresse[d] compressed/
RUN NUMBA_CACHE_DIR=/tmp/numba .venv/bin/python -m app compress
COPY scripts/compile.sh scripts/reuse.sh ./
RUN NUMBA_CACHE_DIR=/opt/wattlas/numba sh compile.sh .venv/bin/python && rm compile.sh reuse.sh \
    && .venv/bin/python -m compileall -q -j 2 --invalidation-mode unchecked-hash data ingest app

FROM ${BASE}
ARG VERSION=unknown
ARG REVISION=unknown
LABEL org.opencontainers.image.title="wattlas" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.revision="${REVISION}"
ENV PATH=/opt/wattlas/.venv/bin:/usr/local/bin:/usr/bin:/bin \
    PYTHONDONTWRITEBYTECODE=1 PYTHONUNBUFFERED=1 \
    NUMBA_CACHE_DIR=/tmp/numba WATTLAS_CACHE=/tmp/wattlas WATTLAS_LAKE=/lake HOME=/tmp
COPY --from=build /opt/wattlas /opt/wattlas
COPY --chmod=0555 scripts/entry.sh /usr/local/bin/wattlas
WORKDIR /opt/wattlas
USER 10001:10001
EXPOSE 8050
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=30s --timeout=5s --start-period=30s \
    CMD ["python", "-c", "from urllib.request import urlopen; urlopen('http://127.0.0.1:8050/health', timeout=4)"]
ENTRYPOINT ["/usr/local/bin/wattlas"]
CMD ["app", "--host", "0.0.0.0"]
