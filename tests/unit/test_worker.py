"""The server's worker: slow visitors hold up nobody, and requests arrive whole."""

import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, Final

import pytest

ROOT: Final = Path(__file__).resolve().parents[2]
# A server with two threads, whose answer is the body that it got.
SERVER: Final = """
import sys
from gunicorn.app.base import BaseApplication
from app.serve import worker

class Worker(worker.Worker):
    head_s, body_s, send_s, linger_s = 0.5, 1.0, 0.5, 0.5

def answer(environ, start):
    length = int(environ.get("CONTENT_LENGTH") or 0)
    if environ["PATH_INFO"] == "/large":
        start("200 OK", [("Content-Length", str(64_000_000))])
        return [b"x" * 64_000_000]
    if length > 1_000_000:
        start("413 Too Large", [("Content-Length", "5")])
        return [b"large"]
    body = environ["PATH_INFO"].encode() + environ["wsgi.input"].read(length)
    start("200 OK", [("Content-Length", str(len(body)))])
    return [body]

class Server(BaseApplication):
    def load_config(self):
        options = {"bind": "127.0.0.1:0", "worker_class": Worker, "threads": 2, "keepalive": 2,
                   "worker_connections": 42, "loglevel": "error", "control_socket_disable": True,
                   "when_ready": lambda a: print(a.LISTENERS[0].getsockname()[1], flush=True)}
        for name, value in options.items():
            self.cfg.set(name, value)
    def load(self):
        return answer

Server().run()
"""


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    """A server with short deadlines."""
    command = [sys.executable, "-c", SERVER]
    process = subprocess.Popen(
        command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdout
    yield int(process.stdout.readline())
    process.send_signal(signal.SIGINT)  # It waits for no connection.
    _, errors = process.communicate(timeout=20)
    assert errors == ""


def connected(port: int, data: bytes) -> socket.socket:
    visitor = socket.create_connection(("127.0.0.1", port), timeout=20)
    visitor.sendall(data)
    return visitor


def get(path: str) -> bytes:
    return f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode()


def post(body: bytes, head: str = "") -> bytes:
    text = f"POST /p HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(body)}\r\n{head}\r\n"
    return text.encode() + body


def answer_of(visitor: socket.socket) -> tuple[int, bytes]:
    """The next answer's status and body."""
    return next_answer(visitor.makefile("rb"))


def next_answer(answer: BinaryIO) -> tuple[int, bytes]:
    status = int(answer.readline().split()[1])
    length = 0
    while line := answer.readline().strip():
        if line.lower().startswith(b"content-length:"):
            length = int(line.split(b":")[1])
    return status, answer.read(length)


@pytest.mark.parametrize(
    "sent",
    [b"", b"GET / HTTP/1.1\r\nHost: localhost\r\n", post(b"x" * 1000)[:-500], get("/large")],
    ids=["nothing", "half a head", "half a body", "receives nothing"],
)
def test_visitors_who_are_slow_hold_up_nobody(port: int, sent: bytes) -> None:
    slow = [connected(port, sent) for _ in range(30 if b"large" not in sent else 1)]
    with connected(port, get("/fast")) as visitor:
        assert answer_of(visitor) == (200, b"/fast")
    for one in slow:
        one.close()


@pytest.mark.parametrize(
    "begun", [b"GET / HTTP/1.1\r\n", post(b"x" * 1000)[:-900]], ids=["head", "body"]
)
def test_a_request_that_only_trickles_in_is_ended(port: int, begun: bytes) -> None:
    visitor = connected(port, begun)
    visitor.settimeout(0.1)
    for _ in range(80):
        try:
            assert answer_of(visitor) == (408, b"the request did not arrive in time\n")
            break
        except TimeoutError:
            visitor.sendall(b"a")
    else:
        pytest.fail("the server waits for ever")
    visitor.close()


def test_visitors_who_never_close_hold_up_nobody(port: int) -> None:
    ended = get("/end").replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n")
    began, visitors = time.monotonic(), [connected(port, ended) for _ in range(20)]
    assert [answer_of(one) for one in visitors] == [(200, b"/end")] * 20
    assert time.monotonic() - began < 2  # gunicorn waits 2 s for each.
    assert all(one.recv(1) == b"" for one in visitors)
    for one in visitors:
        one.close()


def test_of_too_many_connections_the_oldest_is_closed(port: int) -> None:
    visitors = [connected(port, b"GET") for _ in range(60)]
    assert visitors[0].recv(1) == b""
    with connected(port, get("/new")) as visitor:
        assert answer_of(visitor) == (200, b"/new")
    for one in visitors:
        one.close()


def test_a_connection_answers_one_request_after_another(port: int) -> None:
    with connected(port, get("/1") + post(b"two") + get("/3")[:9]) as visitor:
        answers = visitor.makefile("rb")
        assert [next_answer(answers) for _ in range(2)] == [(200, b"/1"), (200, b"/ptwo")]
        visitor.sendall(get("/3")[9:])
        assert next_answer(answers) == (200, b"/3")
        visitor.sendall(post(b"x" * 1_000_000))
        assert next_answer(answers) == (200, b"/p" + b"x" * 1_000_000)


def test_bytes_may_come_one_by_one(port: int) -> None:
    with connected(port, b"") as visitor:
        visitor.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for byte in post(b"slow"):
            visitor.sendall(bytes([byte]))
        assert answer_of(visitor) == (200, b"/pslow")


@pytest.mark.parametrize(
    ("sent", "status", "words"),
    [(b"GET / HTTP/1.1\r\n" + b"a: b\r\n" * 8000, 431, b"more than 32,768 bytes"),
     (post(b"", "Transfer-Encoding: chunked\r\n") + b"0\r\n\r\n", 411, b"comes in chunks"),
     (post(b"x" * 1_000_001) + get("/smuggled"), 413, b"large"),
     (b"no request\r\n\r\n", 400, b"<html>")],
    ids=["head", "chunks", "body", "malformed"],
)  # fmt: skip
def test_what_is_refused_is_the_last_of_its_connection(
    port: int, sent: bytes, status: int, words: bytes
) -> None:
    with connected(port, sent) as visitor:
        found, said = answer_of(visitor)
        assert (found, words in said) == (status, True), said
        assert visitor.recv(1) == b""
