"""Read the published claims."""

import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

from data.errors import DataError
from data.reference.tables import HERE, Paper, read_papers

# The claims on storage runs, which the page Storage shows; and all others.
_STORAGE: Final = "claims.toml"
_OTHERS: Final = ("claims_of_networks.toml", "claims_of_schemes.toml", "claims_of_print.toml")


@dataclass(frozen=True, slots=True)
class Claim:
    """What a paper says that runs can confirm or contradict.

    Attributes:
        where: Its place in the paper: `observation 1`, `figure 4`.
        text: The claim in our words.
        printed: The numbers that the paper prints for it, or that there are none.
        rule: How runs decide it, in words.
    """

    name: str
    paper: Paper
    where: str
    text: str
    printed: str
    rule: str

    @property
    def source(self) -> str:
        """`HotStorage '22, observation 1`."""
        return f"{self.paper.short}, {self.where}"


@cache
def claims() -> tuple[Claim, ...]:
    """Return the claims on storage runs in their order; raises as `read_claims`."""
    return read_claims(HERE)


@cache
def all_claims() -> tuple[Claim, ...]:
    """Return the claims of all papers, sorted by name; raises as `read_claims`."""
    others = (claim for name in _OTHERS for claim in read_claims(HERE, name))
    return tuple(sorted((*claims(), *others), key=lambda claim: claim.name))


def read_claims(folder: Path, name: str = _STORAGE) -> tuple[Claim, ...]:
    """Read the claims of one file of a folder of tables.

    Raises:
        DataError: A claim is of a paper that `tables.toml` lacks, or two have one name.
    """
    papers = read_papers(folder)
    by_name: dict[str, Claim] = {}
    for entry in tomllib.loads((folder / name).read_text("utf-8"))["claims"]:
        own = entry["name"]
        if entry["paper"] not in papers:
            raise DataError(f"claim {own} is of {entry['paper']!r}, which tables.toml lacks")
        if own in by_name:
            raise DataError(f"{name} has two claims {own!r}")
        by_name[own] = Claim(**entry | {"paper": papers[entry["paper"]]})
    return tuple(by_name.values())
