"""Where a lake is: folders, addresses of object stores, and what is refused without being shown."""

import pickle
from pathlib import Path

import pytest

from data import object_store
from data.connection import open_lake
from data.errors import LakeError
from data.lake_place import StorePath, lake_path


@pytest.mark.parametrize(
    ("text", "found", "name"),
    [
        ("lake", Path("lake"), "lake"),
        ("/srv/a b/lake", Path("/srv/a b/lake"), "lake"),
        ("s3://bucket", StorePath("bucket"), "bucket"),
        ("s3://bucket/", StorePath("bucket"), "bucket"),
        ("s3://my.bucket-1/lab/a_lake=1.0/", StorePath("my.bucket-1", "lab/a_lake=1.0"),
         "a_lake=1.0"),
    ],
)  # fmt: skip
def test_a_folder_or_an_address(text: str, found: Path | StorePath, name: str) -> None:
    assert lake_path(text) == found
    assert lake_path(found) == found
    assert lake_path(text).name == name


def test_a_path_in_a_bucket_goes_to_other_processes() -> None:
    path = StorePath("bucket", "lake")
    assert pickle.loads(pickle.dumps(path)) == path
    assert [str(path / "runs"), path.inside] == ["s3://bucket/lake/runs", "bucket/lake"]
    assert str(StorePath("bucket") / "runs") == "s3://bucket/runs"
    assert path.resolve() == path


@pytest.mark.parametrize(
    "text",
    ["s3://me:CANARY@bucket/lake", "s3://CANARY@bucket/lake", "s3://me:CANARY/lake",
     "s3://bucket/lake?secret=CANARY", "s3://bucket/lake#CANARY", "https://me:CANARY@host/bucket",
     "s3://bucket/la%43ANARY"],
)  # fmt: skip
def test_an_address_with_a_secret_is_refused_and_not_shown(text: str) -> None:
    with pytest.raises(LakeError, match="Credentials come from") as raised:
        lake_path(text)
    assert "CANARY" not in str(raised.value)
    with pytest.raises(LakeError):
        open_lake(text)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("gs://bucket/lake", "not gs://"),
        ("s3://Bucket/lake", "'Bucket', no valid name"),
        ("s3:///lake", "'', no valid name"),
        ("s3://bucket/a//b", "'a//b'"),
        ("s3://bucket/../b", "'../b'"),
        ("s3://bucket/a b", "'a b'"),
    ],
)
def test_other_addresses_are_refused(text: str, words: str) -> None:
    with pytest.raises(LakeError, match=words):
        lake_path(text)


def test_an_address_in_a_path_is_refused() -> None:
    with pytest.raises(LakeError, match="give it as text"):
        open_lake(Path("s3://bucket/lake"))


@pytest.fixture
def no_variables(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_S3", "AWS_REGION", "AWS_DEFAULT_REGION",
                 "AWS_PROFILE"):  # fmt: skip
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "config"))


@pytest.mark.usefixtures("no_variables")
def test_endpoint_and_region_come_from_variables_before_the_profile(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    path = StorePath("bucket")

    def found() -> list[str | None]:
        options = object_store.storage_options(path) or {}
        return [options.get(name) for name in ("endpoint", "region", "allow_http")]

    assert found() == [None, None, None]
    (tmp_path / "config").write_text(
        "[default]\nregion = eu-west-1\n"
        "[profile lab]\nregion = lab-1\nendpoint_url = http://127.0.0.1:9000/\n"
    )
    assert found() == [None, "eu-west-1", None]
    monkeypatch.setenv("AWS_PROFILE", "lab")
    assert found() == ["http://127.0.0.1:9000", "lab-1", "true"]
    monkeypatch.setenv("AWS_ENDPOINT_URL", "https://store.lab")
    monkeypatch.setenv("AWS_REGION", "us-west-2")
    assert found() == ["https://store.lab", "us-west-2", "false"]
    assert object_store.storage_options(Path("lake")) is None


@pytest.mark.usefixtures("no_variables")
@pytest.mark.parametrize(
    ("address", "words"),
    [("http://me:CANARY@host", "password"), ("http://host/?key=CANARY", "password"),
     ("ftp://host", "'ftp://host'"), ("host:9000", "'host:9000'")],
)  # fmt: skip
def test_a_bad_endpoint_is_refused(
    monkeypatch: pytest.MonkeyPatch, address: str, words: str
) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL", address)
    with pytest.raises(LakeError, match=words) as raised:
        open_lake("s3://bucket/lake")
    assert "CANARY" not in str(raised.value)


@pytest.mark.usefixtures("no_variables")
def test_a_broken_configuration_file_is_named(tmp_path: Path) -> None:
    (tmp_path / "config").write_text("secret = CANARY\n")
    with pytest.raises(LakeError, match=r"configuration file .*config cannot be read") as raised:
        object_store.endpoint()
    assert "CANARY" not in str(raised.value)
