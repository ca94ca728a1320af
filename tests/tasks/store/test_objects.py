"""Objects by key, on a folder and on an S3 service over loopback."""

from __future__ import annotations

import os
import socket
import stat
from collections.abc import Iterator

import boto3
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from moto.server import ThreadedMotoServer

from tasks.store import LocalStore, Store, StoreError, get_blob, open_store, put_blob
from tasks.store.blobs import blob_key
from tasks.store.objects import check_key


@pytest.fixture(scope="module")
def s3_endpoint() -> Iterator[str]:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=port, verbose=False)
    server.start()
    yield f"http://127.0.0.1:{port}"
    server.stop()


@pytest.fixture(params=["file", "s3"])
def store(request, tmp_path, monkeypatch, s3_endpoint) -> Store:
    if request.param == "file":
        return open_store(str(tmp_path / "store"))
    monkeypatch.setenv("AWS_ENDPOINT_URL", s3_endpoint)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "test")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "test")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    bucket = f"b{abs(hash(request.node.name)) % 10**9}"
    boto3.client("s3").create_bucket(Bucket=bucket)
    return open_store(f"s3://{bucket}/some/prefix")


def test_roundtrip_overwrite_list_delete(store):
    assert store.put("a/b.txt", b"one")
    assert store.put("a/b.txt", b"two")
    assert store.put("a/c/d.bin", bytes(range(256)))
    assert store.get("a/b.txt") == b"two"
    assert list(store.list("a/")) == ["a/b.txt", "a/c/d.bin"]
    assert list(store.list("a/b")) == ["a/b.txt"]
    store.delete("a/b.txt")
    store.delete("a/b.txt")
    assert not store.exists("a/b.txt")
    with pytest.raises(StoreError, match="no object 'a/b.txt'"):
        store.get("a/b.txt")


@pytest.mark.parametrize(("umask", "mode"), [(0o022, 0o644), (0o002, 0o664), (0o077, 0o600)])
def test_files_of_a_folder_have_the_mode_that_the_umask_leaves(tmp_path, umask, mode):
    before = os.umask(umask)
    try:
        store = open_store(str(tmp_path / "store"))
        store.put("report.html", b"a")
        store.put("report.html", b"b")
        store.put("datasets/x/y.parquet", b"c", if_absent=True)
    finally:
        os.umask(before)
    for key in store.list():
        assert stat.S_IMODE((tmp_path / "store" / key).stat().st_mode) == mode
    assert not list((tmp_path / "store").rglob(".tmp-*"))


def test_versions_change_with_the_content_alone(store):
    store.put("a/b", b"one")
    store.put("c", b"else")
    first = store.versions("a/")
    store.put("a/b", b"one")
    assert store.versions("a/") == first and list(first) == ["a/b"]
    store.put("a/b", b"two")
    assert store.versions("a/")["a/b"] != first["a/b"]


def test_if_absent_never_overwrites(store):
    assert store.put("release.json", b"first", if_absent=True)
    assert not store.put("release.json", b"second", if_absent=True)
    assert store.get("release.json") == b"first"


def test_a_damaged_blob_is_refused(store):
    sha256 = put_blob(store, b"content")
    assert get_blob(store, sha256) == b"content"
    store.put(blob_key(sha256), b"other")
    with pytest.raises(StoreError, match="damaged"):
        get_blob(store, sha256)


PART = st.text("abcXYZ019._=+-", min_size=1, max_size=12).filter(lambda part: part not in (".", ".."))
KEYS = st.lists(PART, min_size=1, max_size=4).map("/".join).filter(lambda key: ".tmp-" not in key)


@given(key=KEYS, data=st.binary(max_size=64))
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
def test_any_good_key_roundtrips(tmp_path_factory, key, data):
    local = LocalStore(tmp_path_factory.mktemp("store"))
    local.put(key, data)
    assert local.get(key) == data
    assert list(local.list()) == [key]


@given(st.text(max_size=20))
def test_a_key_is_good_or_refused(key):
    try:
        check_key(key)
    except StoreError:
        return
    assert ".." not in key.split("/") and not key.startswith("/") and key


@pytest.mark.parametrize("key", ["", "/etc/passwd", "../x", "a/../b", "a//b", "a b", "a\n", "é"])
def test_bad_keys_are_refused(key):
    with pytest.raises(StoreError):
        check_key(key)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_without_permission(tmp_path):
    folder = tmp_path / "shut"
    folder.mkdir()
    folder.chmod(stat.S_IRUSR | stat.S_IXUSR)
    with pytest.raises(StoreError, match="AGENTWORLD_STORE"):
        open_store(str(folder / "store"))


def test_a_file_in_the_place_of_the_folder(tmp_path):
    (tmp_path / "store").write_text("not a folder")
    with pytest.raises(StoreError, match="cannot write to the store"):
        open_store(str(tmp_path / "store"))


def test_unknown_scheme_and_missing_bucket(monkeypatch, s3_endpoint):
    with pytest.raises(StoreError, match="unknown scheme 'gs'"):
        open_store("gs://bucket")
    with pytest.raises(StoreError, match="names no bucket"):
        open_store("s3://")
    for name, value in (("AWS_ENDPOINT_URL", s3_endpoint), ("AWS_ACCESS_KEY_ID", "x"), ("AWS_SECRET_ACCESS_KEY", "x")):
        monkeypatch.setenv(name, value)
    with pytest.raises(StoreError, match="cannot use the store s3://nobody-made-this"):
        open_store("s3://nobody-made-this")
