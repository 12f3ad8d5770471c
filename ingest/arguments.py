"""The arguments of the command line and their types: a wrong one is refused in words."""

import argparse
import os
from pathlib import Path
from typing import Any

from data.errors import LakeError, SettingsError
from data.lake_place import LakePath, lake_path
from ingest.cluster.address import FORMS, ClusterAddress, parse_address


def add_lake(parser: argparse.ArgumentParser) -> None:
    """Add the option that names the lake."""
    default = os.environ.get("WATTLAS_LAKE") or "lake"
    text = "the lake's folder, or s3://BUCKET/PATH (default: $WATTLAS_LAKE, or lake/)"
    parser.add_argument("--lake", type=lake_at, default=default, metavar="DIR", help=text)


def lake_at(text: str) -> LakePath:
    try:
        return lake_path(text)
    except LakeError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def existing_path(text: str) -> Path:
    path = Path(text)
    if not path.exists():
        raise argparse.ArgumentTypeError(f"no such file or folder: {text}")
    return path


def positive_number(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"not a whole number from 1: {text}")
    return int(text)


def cluster_address(text: str) -> ClusterAddress:
    try:
        return parse_address(text)
    except SettingsError as error:
        raise argparse.ArgumentTypeError(str(error)) from error


def dataset_name(text: str) -> str:
    from ingest.settings.layout import is_dataset_name

    if not is_dataset_name(text):
        raise argparse.ArgumentTypeError(f"cannot name a dataset: {text!r}")
    return text


def correction(text: str) -> tuple[str, str]:
    """Return the column and the word of `COLUMN=WORD`."""
    from ingest.proposals.corrected_columns import DIRECTIONS, ROLES, TARGETS
    from ingest.settings.units import unit_of

    column, _, word = text.rpartition("=")
    if not column:
        raise argparse.ArgumentTypeError(f"not COLUMN=WORD: {text!r}")
    if word in (*ROLES, *DIRECTIONS, *TARGETS) or unit_of(word):
        return column, word
    raise argparse.ArgumentTypeError(
        f"{word!r} of {column!r} is no role ({', '.join(ROLES)}, replicate), no direction "
        f"({', '.join(DIRECTIONS)}), no unit, and no column of the lake such as energy_j"
    )


def describe_correct(commands: Any) -> argparse.ArgumentParser:
    """Add the command `correct`."""
    text = "correct what `add` guessed of columns: what each is, or its unit"
    sub: argparse.ArgumentParser = commands.add_parser(
        "correct",
        help=text,
        description=f"{text.capitalize()}. The files are read again; later adds keep it.",
    )
    words = "knob, given (what ran, how much), metric, label, replicate; less or more (is better); "
    words += "a unit; a column of the lake (energy_j)"
    sub.add_argument("corrections", nargs="*", type=correction, metavar="COLUMN=WORD", help=words)
    add_lake(sub)
    sub.add_argument("--dataset", type=dataset_name, metavar="NAME", help="if several have them")
    of_what = sub.add_mutually_exclusive_group()
    of_what.add_argument(
        "--table", default="", metavar="FILE", help="only in tables with this in their path"
    )
    of_what.add_argument(
        "--confirm", action="store_true", help="take all else that was guessed as right"
    )
    return sub


def describe_add(commands: Any) -> argparse.ArgumentParser:
    """Add the command `add`."""
    sub: argparse.ArgumentParser = commands.add_parser("add", help="ingest raw files and folders")
    sub.add_argument("raw", nargs="+", type=existing_path, metavar="RAW")
    add_lake(sub)
    sub.add_argument("--dataset", type=dataset_name, metavar="NAME")
    readers = sub.add_mutually_exclusive_group()
    readers.add_argument("--workers", type=positive_number, default=0, metavar="N")
    readers.add_argument(
        "--cluster",
        type=cluster_address,
        metavar=FORMS,
        help="read on the workers of a Dask cluster",
    )
    sub.add_argument("--settings", type=existing_path, metavar="FILE.toml")
    sub.add_argument(
        "--no-propose", action="store_true", help="do not guess settings for a folder that has none"
    )
    sub.add_argument(
        "--dry-run", action="store_true", help="say what would become runs; write nothing"
    )
    printed = sub.add_mutually_exclusive_group()
    printed.add_argument("--json", action="store_true", help="print the outcome as JSON")
    printed.add_argument(
        "--verbose", action="store_true", help="name every file ignored or refused"
    )
    return sub
