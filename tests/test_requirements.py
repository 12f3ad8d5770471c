"""What is imported is declared, and what is pinned can be installed on every promised Python."""

import sys
import tomllib
from collections.abc import Iterator
from importlib import metadata

import pytest
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name

from tests.test_architecture import CODE, ROOT, imports, modules

PYTHONS = ("3.11", "3.12", "3.13", "3.14")
NAMES = ("requirements", "requirements-cluster", "requirements-dev")
# Compared with in a benchmark where it is there.
OPTIONAL = {"plotly_resampler", "simpy", "ciw"}


def test_what_a_cluster_needs_changes_no_other_version() -> None:
    pinned = {name: {str(r) for r in requirements(f"{name}.txt")} for name in NAMES}
    assert pinned["requirements"] < pinned["requirements-cluster"] < pinned["requirements-dev"]


def requirements(name: str) -> Iterator[Requirement]:
    """Requirements of a file, without those of the files that it includes."""
    for line in (ROOT / name).read_text("utf-8").splitlines():
        text = line.partition("#")[0].strip()
        if text and not text.startswith("-r"):
            yield Requirement(text)


def declared(name: str) -> set[str]:
    return {canonicalize_name(found.name) for found in requirements(name)}


@pytest.mark.parametrize("folder", CODE)
def test_every_package_that_is_imported_is_declared(folder: str) -> None:
    names = declared("requirements.in")
    if folder == "ingest":
        names |= declared("requirements-cluster.in")
    if folder in ("bench", "scripts", "tests"):
        names |= declared("requirements-cluster.in") | declared("requirements-dev.in")
    packages = metadata.packages_distributions()
    tops = {name.split(".")[0] for path in modules(folder) for name in imports(path)}
    foreign = tops - sys.stdlib_module_names - set(CODE) - OPTIONAL - {"compression"}
    missing = {
        top
        for top in foreign
        if not names & {canonicalize_name(found) for found in packages.get(top, [top])}
    }
    assert missing == set()


def test_one_module_alone_chooses_where_zstd_comes_from() -> None:
    found = [
        str(path.relative_to(ROOT))
        for folder in CODE
        for path in modules(folder)
        if any(name.startswith("backports.") for name in imports(path))
    ]
    assert found == ["ingest/files/blocks.py"]


def test_the_pythons_tested_here_begin_where_the_promise_does() -> None:
    promised = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    specifier = SpecifierSet(promised["requires-python"])
    assert all(python in specifier for python in PYTHONS)
    assert "3.10" not in specifier


@pytest.mark.parametrize("name", [f"{name}.txt" for name in NAMES])
@pytest.mark.parametrize("python", PYTHONS)
def test_what_is_pinned_for_a_python_can_be_installed_there(python: str, name: str) -> None:
    """By what each package says of itself; backports.zstd, for one, refuses Python 3.14."""
    where = {"python_version": python, "python_full_version": f"{python}.0"}
    refused = []
    for pinned in requirements(name):
        if pinned.marker is not None and not pinned.marker.evaluate(where):
            continue
        try:
            wanted = metadata.metadata(pinned.name).json.get("requires_python")
        except metadata.PackageNotFoundError:
            continue  # Not for the Python that runs this test.
        if wanted is not None and f"{python}.0" not in SpecifierSet(str(wanted)):
            refused.append(f"{pinned.name} wants Python {wanted}")
    assert refused == []


def test_the_lock_has_what_is_declared() -> None:
    for name in NAMES:
        locked = {canonicalize_name(r.name): r for r in requirements(f"{name}.txt")}
        for wanted in requirements(f"{name}.in"):
            found = locked[canonicalize_name(wanted.name)]
            assert (found.specifier, found.marker) == (wanted.specifier, wanted.marker)
