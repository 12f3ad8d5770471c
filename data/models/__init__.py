"""Models of interrupt handling, and of energy against latency."""

from data.models.schemes import ALL

SCHEMES = {scheme.name: scheme for scheme in ALL}
