"""Read the published claims."""

import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

from data.errors import DataError
from data.reference.tables import HERE, Paper, read_papers

_FILE: Final = "claims.toml"


@dataclass(frozen=True, slots=True)
class Claim:
    """What a paper says that runs can confirm or contradict.

    Attributes:
        where: Its place in the paper: `observation 1`, `figure 4`.
        text: The claim in our words.
        rule: How runs decide it, in words.
    """

    name: str
    paper: Paper
    where: str
    text: str
    rule: str

    @property
    def source(self) -> str:
        """`HotStorage '22, observation 1`."""
        return f"{self.paper.short}, {self.where}"


@cache
def claims() -> tuple[Claim, ...]:
    """Return all claims in their order; raises as `read_claims`."""
    return read_claims(HERE)


def read_claims(folder: Path) -> tuple[Claim, ...]:
    """Read the claims of a folder of tables.

    Raises:
        DataError: A claim is of a paper that `tables.toml` lacks, or two have one name.
    """
    papers = read_papers(folder)
    found: dict[str, Claim] = {}
    for entry in tomllib.loads((folder / _FILE).read_text("utf-8"))["claims"]:
        name = entry["name"]
        if entry["paper"] not in papers:
            raise DataError(f"claim {name} is of {entry['paper']!r}, which tables.toml lacks")
        if name in found:
            raise DataError(f"{_FILE} has two claims {name!r}")
        found[name] = Claim(**entry | {"paper": papers[entry["paper"]]})
    return tuple(found.values())
