"""Settings of the process: the lake's place, host, port, and bounds of an answer."""

import os
from dataclasses import dataclass
from ipaddress import IPv4Network, IPv6Network, ip_network
from pathlib import Path
from typing import Final, Literal, TypeAlias

from data.lake_place import LakePath

# As in pyproject.toml, which an installation does not have.
WATTLAS_VERSION: Final = "0.1.0"
LAKE_VARIABLE: Final = "WATTLAS_LAKE"
DEFAULT_LAKE: Final = "lake"

ASSETS: Final = Path(__file__).resolve().parents[2] / "assets"

# Limits of one answer: rows from which a figure is computed, and points that it draws.
MAX_ROWS: Final = 500_000
MAX_POINTS: Final = 20_000


# Names of this machine for clients on it.
LOOPBACK: Final = ("127.0.0.1", "localhost", "::1")
# A proxy on this machine.
LOCAL_PROXIES: Final = "127.0.0.0/8,::1"
LogFormat = Literal["text", "json"]
SqlMode = Literal["off", "on", "unsafe-without-landlock"]
Network: TypeAlias = IPv4Network | IPv6Network


def read_networks(text: str) -> tuple[Network, ...]:
    """Read addresses and networks, separated by commas.

    Raises:
        ValueError: One is neither; the message says which.
    """
    return tuple(ip_network(one.strip()) for one in text.split(",") if one.strip())


@dataclass(frozen=True, slots=True)
class Settings:
    """Settings of one process, the same for all visitors.

    Attributes:
        prefix: Path under which a proxy serves the app, such as `/atlas`; empty for none.
        allowed_hosts: Names by which visitors may address the app, besides those of this machine's
            loopback; empty allows only those. None allows any name.
        log: Format of the request log; None writes none.
        metrics_port: Port of the loopback where Prometheus reads numbers; None for none.
        sql: Whether visitors may run SQL, and whether also on a kernel without Landlock.
        proxies: Addresses whose header `X-Forwarded-For` names the visitor.
        check_files: Whether files are compared with their digests before they are read first.
    """

    lake: LakePath
    host: str = "127.0.0.1"
    port: int = 8050
    prefix: str = ""
    allowed_hosts: tuple[str, ...] | None = ()
    log: LogFormat | None = None
    metrics_port: int | None = None
    sql: SqlMode = "off"
    proxies: tuple[Network, ...] = read_networks(LOCAL_PROXIES)
    check_files: bool = True


def default_lake() -> str:
    """Return the default lake: `$WATTLAS_LAKE`, else `lake/` in the current folder."""
    return os.environ.get(LAKE_VARIABLE) or DEFAULT_LAKE
