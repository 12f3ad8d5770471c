"""Which visitor sends a request, for quotas: visitors are told apart by their network address."""

from collections.abc import Sequence
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from typing import Final

from flask import Flask, current_app, request

from app.kit.settings import Network

_PROXIES: Final = "wattlas-proxies"
# An IPv6 visitor has a whole network of this size.
_IPV6_BITS: Final = 64


def trust_proxies(server: Flask, proxies: Sequence[Network]) -> None:
    """Set the addresses whose header `X-Forwarded-For` names the visitor."""
    server.extensions[_PROXIES] = tuple(proxies)


def visitor() -> str:
    """Return the address of the visitor who sent the current request.

    A request from a trusted proxy comes from the last address in `X-Forwarded-For`: the proxy adds
    that one, and whatever stands before it is the visitor's own claim.
    """
    found = _address(request.remote_addr or "")
    proxies: tuple[Network, ...] = current_app.extensions[_PROXIES]
    if found and any(found in proxy for proxy in proxies):
        found = _address(request.headers.get("X-Forwarded-For", "").rpartition(",")[2]) or found
    if found and found.version == 6:
        return str(ip_network(f"{found}/{_IPV6_BITS}", strict=False))
    return str(found or "")


def _address(text: str) -> IPv4Address | IPv6Address | None:
    try:
        found = ip_address(text.strip())
    except ValueError:
        return None
    return (found.ipv4_mapped or found) if found.version == 6 else found
