"""`python -m data.models`: simulate some curves; one JSON line a curve as soon as it is done.

The request is a JSON object in one line of the standard input: `curves`, each with `scheme` and
`values`; `rates_kpps`; `frame_sizes` or null; `seed`, `replications`, `precision`, `most_events`,
`first_events`. Unless `first_events` is 0, a first pass over all curves with that many events a
rate gives lines with `is_first`, before the lines of the whole simulation. A curve whose parameters
a scheme refuses gives a line with `refused`. The end of the input ends the process.
"""

import dataclasses
import json
import os
import sys
from typing import Any, Final

import numpy as np

from data.child_process import end_with_parent
from data.errors import DataError
from data.models import SCHEMES

_NICENESS: Final = 10


def main() -> int:
    """Read the request, simulate each curve, write what was found."""
    os.nice(_NICENESS)
    question = json.loads(sys.stdin.buffer.readline())
    end_with_parent()
    if first := question["first_events"]:
        _simulate(question, {"is_first": True}, first)
    _simulate(question, {}, question["most_events"])
    return 0


def _simulate(question: dict[str, Any], marks: dict[str, Any], most_events: float) -> None:
    names = ("frame_sizes", "seed", "replications", "precision")
    effort = {name: question[name] for name in names} | {"most_events": most_events}
    for number, curve in enumerate(question["curves"]):
        line: dict[str, Any] = {"curve": number, **marks}
        try:
            result = SCHEMES[curve["scheme"]].solve(
                "simulated", question["rates_kpps"], **effort, **curve["values"]
            )
        except DataError as error:
            print(json.dumps({**line, "refused": str(error)}), flush=True)
            continue
        fields = {field.name: getattr(result, field.name) for field in dataclasses.fields(result)}
        print(json.dumps({**line, **_plain(fields)}), flush=True)


def _plain(fields: dict[str, Any]) -> dict[str, Any]:
    """Return arrays as lists; what is not finite as null."""
    plain: dict[str, Any] = {}
    for name, value in fields.items():
        if isinstance(value, np.ndarray) and value.dtype.kind == "f":
            plain[name] = [float(v) if np.isfinite(v) else None for v in value]
        else:
            plain[name] = value.tolist() if isinstance(value, np.ndarray) else value
    return plain


if __name__ == "__main__":
    sys.exit(main())
