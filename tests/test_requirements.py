"""What is imported is declared, and what is pinned can be installed on every promised Python."""

import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator, Mapping
from functools import cache
from importlib import metadata
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name

from tests.test_architecture import CODE, ROOT, imports, modules

PYTHONS = ("3.11", "3.12", "3.13", "3.14")
NAMES = ("requirements", "requirements-cluster", "requirements-dev")


def test_what_a_cluster_needs_changes_no_other_version() -> None:
    pinned = {name: {str(r) for r in requirements(f"{name}.txt")} for name in NAMES}
    assert pinned["requirements"] < pinned["requirements-cluster"] < pinned["requirements-dev"]


def lines_of(name: str) -> list[str]:
    """Lines of a file of requirements; those that end in a backslash go on in the next."""
    return (ROOT / name).read_text("utf-8").replace("\\\n", "").splitlines()


def requirements(name: str) -> Iterator[Requirement]:
    """Requirements of a file, without those of the files that it includes."""
    for line in lines_of(name):
        text = line.partition("#")[0].partition(" --hash")[0].strip()
        if text and not text.startswith("-r"):
            yield Requirement(text)


def declared(name: str) -> set[str]:
    return {canonicalize_name(found.name) for found in requirements(name)}


@cache
def distributions() -> Mapping[str, list[str]]:
    """Distributions by top-level package."""
    return metadata.packages_distributions()


@pytest.mark.parametrize("folder", CODE)
def test_every_package_that_is_imported_is_declared(folder: str) -> None:
    names = declared("requirements.in")
    if folder == "ingest":
        names |= declared("requirements-cluster.in")
    if folder in ("bench", "scripts", "tests"):
        names |= declared("requirements-cluster.in") | declared("requirements-dev.in")
    packages = distributions()
    tops = {name.split(".")[0] for path in modules(folder) for name in imports(path)}
    foreign = tops - sys.stdlib_module_names - set(CODE) - {"compression"}
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


@pytest.mark.thin(4)
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


@pytest.mark.parametrize("name", [f"{name}.txt" for name in NAMES])
def test_every_file_of_what_is_pinned_is_known_by_its_hash(name: str) -> None:
    for line in lines_of(name):
        pinned, *hashes = line.split(" --hash=")
        assert re.fullmatch(r"[a-z0-9-]+==[a-z0-9.]+(; python_version < \"3.14\")?", pinned.strip())
        assert hashes, pinned
        assert all(re.fullmatch(r"sha256:[0-9a-f]{64}", one.strip()) for one in hashes), pinned


@pytest.mark.parametrize(
    ("name", "count"),
    [("scripts/install.sh", 2), ("Dockerfile", 1), ("docs/server.md", 1), ("Makefile", 0)],
)
def test_the_lock_is_installed_by_its_hashes(name: str, count: int) -> None:
    text = (ROOT / name).read_text("utf-8")
    pattern = re.compile(r"install .*-r (requirements|\")")
    installed = [one for one in text.splitlines() if pattern.search(one)]
    assert len(installed) == count
    assert [one for one in installed if "--require-hashes" not in one] == []


@pytest.mark.parametrize("has_uv", [True, False])
def test_pip_installs_where_uv_cannot(tmp_path: Path, has_uv: bool) -> None:
    """Programs that note what they were asked; the only wheel of uv is the one in the lock."""
    programs = tmp_path / "venv" / "bin"
    programs.mkdir(parents=True)
    noted = 'for file; do :; done; echo "$0 $2 $(head -c 7 "$file")" >>asked\n'
    for name, ending in (("python", ""), ("uv", "" if has_uv else "exit 1\n")):
        (programs / name).write_text(f"#!/bin/sh\n{noted}{ending}")
        (programs / name).chmod(0o755)
    (tmp_path / "requirements-dev.txt").write_text(
        "tzdata==1 \\\n    --hash=sha256:0\nuv==0.1 \\\n    --hash=sha256:1\nxx==1\n"
    )
    (tmp_path / "some.txt").write_text("some==1.0\n")
    subprocess.run(
        ["sh", str(ROOT / "scripts" / "install.sh"), "venv", "some.txt"], cwd=tmp_path, check=True
    )
    asked = (tmp_path / "asked").read_text().splitlines()
    by_pip = ["venv/bin/python pip some==1"]
    assert asked == [
        "venv/bin/python pip uv==0.1", "venv/bin/uv install some==1",
        *([] if has_uv else by_pip),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("said", "status", "words"),
    [("echo 'No known vulnerabilities found' >&2", 0, "no known vulnerability"),
     ("echo 'jinja2 2.10 CVE-1'; echo 'Found 1 known vulnerability in 1 package' >&2; exit 1", 1,
      "jinja2 2.10 CVE-1"),
     ("echo 'Connection refused' >&2; exit 1", 0, "NOT DONE: the database of vulnerabilities")],
    ids=["clean", "vulnerable", "unreachable"],
)  # fmt: skip
def test_the_audit_fails_for_a_vulnerability_alone(
    tmp_path: Path, said: str, status: int, words: str
) -> None:
    python = tmp_path / ".venv" / "bin" / "python"
    python.parent.mkdir(parents=True)
    # Makes an environment whose pip does nothing and whose pip-audit says this.
    python.write_text(
        '#!/bin/sh\nmkdir -p "$3/bin"\n'
        'cp "$0.audit" "$3/bin/pip-audit" && cp "$0.pip" "$3/bin/pip"\n'
    )
    for name, text in (("python.audit", said), ("python.pip", "exit 0")):
        (python.parent / name).write_text(f"#!/bin/sh\n{text}\n")
    for file in python.parent.iterdir():
        file.chmod(0o755)
    done = subprocess.run(
        ["sh", str(ROOT / "scripts" / "audit.sh")], cwd=tmp_path, capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    assert (done.returncode, words in done.stdout + done.stderr) == (status, True), done


def test_the_lock_has_what_is_declared() -> None:
    for name in NAMES:
        locked = {canonicalize_name(r.name): r for r in requirements(f"{name}.txt")}
        for wanted in requirements(f"{name}.in"):
            found = locked[canonicalize_name(wanted.name)]
            assert (found.specifier, found.marker) == (wanted.specifier, wanted.marker)
