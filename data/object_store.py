"""Access to object stores: Delta tables by delta-rs, all other files by `pyarrow.fs`.

Endpoint and region come from the usual AWS variables, else from AWS's configuration file. The
libraries find the credentials on their own; this project never reads them.
"""

import configparser
import errno
import os
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar
from urllib.parse import urlsplit

from deltalake import DeltaTable
from deltalake.exceptions import DeltaError, TableNotFoundError

from data.errors import LakeError
from data.lake_place import LakePath, StorePath

if TYPE_CHECKING:
    import pyarrow.dataset as ds
    from pyarrow.fs import FileSystem, S3FileSystem

_ENDPOINT: Final = ("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL")
_REGION: Final = ("AWS_REGION", "AWS_DEFAULT_REGION")
_CONNECT_S: Final = 3
# A request without one byte for so long has failed, and is sent again.
_STALL_S: Final = 5
_ATTEMPTS: Final = 4
# One request of delta-rs, its data included.
_REQUEST_S: Final = 30
_GIVE_UP_S: Final = 20
# What the libraries raise.
FAILURES: Final = (OSError, DeltaError)
# By what the libraries write, what has happened and what to do; the first that matches counts.
_CAUSES: Final = tuple(
    (re.compile(pattern), words)
    for pattern, words in (
        ("NoSuchBucket|NO_SUCH_BUCKET",
         "has no bucket {bucket!r}: make it, or correct the address"),
        (
            r"169\.254\.|NoCredentials|(?i:no credentials|credentials? provider|not loaded)",
            "was not asked, since no credentials were found: set AWS_ACCESS_KEY_ID and "
            "AWS_SECRET_ACCESS_KEY, or AWS_PROFILE",
        ),
        ("ExpiredToken|RequestExpired|TokenRefreshRequired",
         "says that the credentials have expired: renew them and repeat the command"),
        ("InvalidAccessKeyId|INVALID_ACCESS_KEY_ID|InvalidClientTokenId|INVALID_CLIENT_TOKEN_ID|"
         "SignatureDoesNotMatch|INVALID_SIGNATURE|SIGNATURE_DOES_NOT_MATCH|InvalidToken",
         "does not know the credentials: correct the access key and its secret"),
        (r"AccessDenied|ACCESS_DENIED|\b403\b|Forbidden",
         "does not allow it with these credentials (403): the rights that are needed are in "
         "docs/object-store.md"),
        (r"HTTP status 400|400 Bad Request",
         "refuses the request (400), as with expired credentials or a wrong region"),
        (r"SlowDown|SLOW_DOWN|SERVICE_UNAVAILABLE|HTTP status 503|503 Service",
         "is too busy (503): repeat the command later"),
        (r"InternalError|INTERNAL_FAILURE|HTTP status 50\d|\b50\d (Internal|Bad|Gateway)",
         "has failed (500): repeat the command later"),
        (r"curlCode: 28|too slow|[Tt]imed? ?out|operation timed",
         "answers too slowly: repeat the command once it is faster"),
        (r"NETWORK_CONNECTION|curlCode|error sending request|HTTP error|[Cc]onnect",
         "does not answer: is it running, and is AWS_ENDPOINT_URL right?"),
    )
)  # fmt: skip
_SECRETS: Final = ("AWS_SECRET_ACCESS_KEY", "AWS_ACCESS_KEY_ID", "AWS_SESSION_TOKEN")
_LONGEST: Final = 300
_Part = TypeVar("_Part", bound=LakePath)


def delta_table(path: LakePath, version: int | None = None) -> DeltaTable | None:
    """Open a Delta table at its newest version or a given one; None if there is no table.

    Raises:
        OSError, DeltaError: It cannot be read; `error_words` says why.
    """
    try:
        return DeltaTable(str(path), version=version, storage_options=storage_options(path))
    except TableNotFoundError:
        return None


def storage_options(path: LakePath) -> dict[str, str] | None:
    """Return what delta-rs needs besides credentials; None for a folder."""
    if isinstance(path, Path):
        return None
    address, region = endpoint(), _setting(_REGION, "region")
    options = {
        # Else a store with an address of its own would get only credentials of variables.
        "aws_force_credential_load": "true",
        "timeout": f"{_REQUEST_S}s",
        "connect_timeout": f"{_CONNECT_S}s",
        "max_retries": str(_ATTEMPTS - 1),
        "retry_timeout": f"{_GIVE_UP_S}s",
    }
    if address:
        options |= {"endpoint": address, "allow_http": str(address.startswith("http:")).lower()}
    if region or address:
        options["region"] = region or "us-east-1"
    return options


def file_system(path: LakePath) -> "tuple[FileSystem, str]":
    """Return the file system of a path, and the path as it wants it."""
    if isinstance(path, Path):
        from pyarrow.fs import LocalFileSystem

        return LocalFileSystem(), str(path)
    return _store(endpoint(), _setting(_REGION, "region")), path.inside


def dataset_of(paths: Sequence[StorePath]) -> "ds.Dataset":
    """Return Parquet files of one schema as an Arrow dataset.

    Raises:
        LakeError: The first one is missing or cannot be read.
    """
    import pyarrow.dataset

    files = [file_system(path) for path in paths]
    try:
        return pyarrow.dataset.dataset([name for _, name in files], filesystem=files[0][0],
                                       format="parquet")  # fmt: skip
    except FileNotFoundError:
        raise LakeError(f"a file is missing from the lake: {paths[0]}") from None
    except (OSError, ValueError) as error:
        raise LakeError(f"cannot read {paths[0]}: {error_words(paths[0], error)}") from None


@contextmanager
def naming(doing: str, path: LakePath) -> Iterator[None]:
    """Turn what the libraries raise into an error that says what failed, where and why.

    Args:
        doing: What is done, such as `read`.
    """
    try:
        yield
    except FAILURES as error:
        # Without the libraries' error, whose text may quote what the store knows of the sender.
        cause = error if isinstance(path, Path) else None
        raise LakeError(f"cannot {doing} {path}: {error_words(path, error)}") from cause


def error_words(path: LakePath, error: Exception) -> str:
    """Return what a library's error means, without credentials."""
    if isinstance(path, Path):
        # Lines after the first quote a query, or say where in the library.
        return str(getattr(error, "strerror", None) or error).partition("\n")[0]
    # delta-rs names this option of its own in every error.
    text = str(error).replace("retry_timeout", "")
    number = getattr(error, "errno", None)
    if number not in (None, errno.ENOENT):
        return os.strerror(number)  # Of this machine, such as a full disk.
    store = f"the object store {endpoint() or 'of AWS'}"
    for pattern, words in _CAUSES:
        if pattern.search(text):
            return f"{store} {words.format(bucket=path.bucket)}"
    for name in _SECRETS:
        if secret := os.environ.get(name):
            text = text.replace(secret, "***")
    return f"{store}: {' '.join(text.split())[:_LONGEST]}"


@lru_cache(maxsize=4)
def _store(address: str | None, region: str | None) -> "S3FileSystem":
    from pyarrow.fs import AwsStandardS3RetryStrategy, S3FileSystem

    more: dict[str, Any] = {"endpoint_override": address} if address else {}
    if region or address:
        more["region"] = region or "us-east-1"
    return S3FileSystem(
        connect_timeout=_CONNECT_S,
        request_timeout=_STALL_S,
        retry_strategy=AwsStandardS3RetryStrategy(max_attempts=_ATTEMPTS),
        # A file below 5 MB is one request instead of three.
        allow_delayed_open=True,
        # In the background a writer would queue a large file in memory.
        background_writes=False,
        **more,
    )


def endpoint() -> str | None:
    """Return the address of the object store; None for AWS's own.

    Raises:
        LakeError: It is no address, or holds a password.
    """
    address = _setting(_ENDPOINT, "endpoint_url")
    if not address:
        return None
    parts = urlsplit(address)
    if parts.username or parts.password or parts.query or "@" in address:
        raise LakeError(
            "AWS_ENDPOINT_URL holds a user name, a password or a query: it may have none"
        )
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise LakeError(f"AWS_ENDPOINT_URL is {address[:100]!r}, expected http:// or https://")
    return address.rstrip("/")


def _setting(variables: Sequence[str], key: str) -> str | None:
    """Return the first variable that is set, else a key of the profile in AWS's configuration."""
    for name in variables:
        if value := os.environ.get(name):
            return value
    profile = os.environ.get("AWS_PROFILE") or "default"
    section = profile if profile == "default" else f"profile {profile}"
    file = os.environ.get("AWS_CONFIG_FILE") or "~/.aws/config"
    config = configparser.RawConfigParser()
    try:
        config.read(Path(file).expanduser(), "utf-8")
    except (configparser.Error, OSError, RuntimeError, UnicodeError):
        raise LakeError(f"AWS's configuration file {file} cannot be read") from None
    return config.get(section, key, fallback=None)
