"""Where a lake is: a folder, or a path in a bucket of an object store."""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Final, TypeAlias

from data.errors import LakeError

_SCHEME: Final = "s3://"
_BUCKET: Final = re.compile(r"[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]")
_KEY: Final = re.compile(r"[\w.=-]+(/[\w.=-]+)*", re.ASCII)
# What a user name, a password or a query needs: such an address is never repeated in a message.
_SECRET: Final = re.compile(r"[@?#%]|:(?!//)")


@dataclass(frozen=True, slots=True)
class StorePath:
    """A path in a bucket of an object store; it holds no credentials.

    Attributes:
        bucket: Name of the bucket.
        key: Path in the bucket without slashes at its ends; empty for the bucket itself.
    """

    bucket: str
    key: str = ""

    def __truediv__(self, part: str) -> "StorePath":
        return StorePath(self.bucket, f"{self.key}/{part}" if self.key else part)

    def __str__(self) -> str:
        return f"{_SCHEME}{self.inside}"

    @property
    def inside(self) -> str:
        """Bucket and key, as file systems want them."""
        return f"{self.bucket}/{self.key}" if self.key else self.bucket

    @property
    def name(self) -> str:
        """The last part of the path."""
        return self.inside.rpartition("/")[2]

    def resolve(self) -> "StorePath":
        """Return the path; it has no shorter form."""
        return self


LakePath: TypeAlias = Path | StorePath


def lake_path(text: str | Path | StorePath) -> LakePath:
    """Read where a lake is: a folder, or `s3://BUCKET/PATH`.

    Raises:
        LakeError: An address that is neither, or that holds a password or a query.
    """
    if isinstance(text, StorePath):
        return text
    if isinstance(text, Path):
        if re.match(r"s3:/", str(text)):
            raise LakeError("the lake is an s3:// address in a Path: give it as text")
        return text
    if "://" not in text:
        return Path(text)
    scheme, _, rest = text.partition("://")
    if _SECRET.search(rest):
        raise LakeError(
            "the lake's address has one of the characters : @ ? # %, as a password or a query "
            "would need: it may have none. Credentials come from AWS_ACCESS_KEY_ID, "
            "AWS_SECRET_ACCESS_KEY and AWS_SESSION_TOKEN, or from AWS's credentials file"
        )
    if f"{scheme}://" != _SCHEME:
        raise LakeError(f"a lake is a folder or an s3:// address, not {scheme[:20]}://")
    bucket, _, key = rest.rstrip("/").partition("/")
    if not _BUCKET.fullmatch(bucket):
        raise LakeError(f"the lake's address names the bucket {bucket[:70]!r}, no valid name")
    if key and (not _KEY.fullmatch(key) or {".", ".."} & set(key.split("/"))):
        raise LakeError(
            f"the lake's path in the bucket is {key[:200]!r}: "
            "letters, digits, . _ - = between single slashes are allowed"
        )
    return StorePath(bucket, key)
