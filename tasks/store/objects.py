"""Objects by key: a local folder or any S3 service. An object is written whole or not at all."""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import tempfile
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Protocol
from urllib.parse import unquote, urlparse

_KEY = re.compile(r"[A-Za-z0-9._=+-]+(/[A-Za-z0-9._=+-]+)*")


class StoreError(Exception):
    """A store that cannot be used, or an object that is missing or unreadable; says what, where and what to do."""


class Store(Protocol):
    """Objects by key. Keys are relative paths of letters, digits and `. _ = + -`."""

    uri: str

    def get(self, key: str) -> bytes:
        """Return an object's bytes. Raises StoreError if there is none."""
        ...

    def put(self, key: str, data: bytes, *, if_absent: bool = False) -> bool:
        """Write an object whole; with `if_absent`, return False and leave one that is there."""
        ...

    def exists(self, key: str) -> bool:
        """Say whether the object is there."""
        ...

    def list(self, prefix: str = "") -> Iterator[str]:
        """Yield the keys that begin with a prefix, sorted."""
        ...

    def versions(self, prefix: str = "") -> dict[str, str]:
        """Return key -> a text that changes with the object's content, for the keys that begin with a prefix."""
        ...

    def delete(self, key: str) -> None:
        """Remove an object; one that is not there is no error."""
        ...


def check_key(key: str) -> str:
    """Return the key if it is well formed.

    Raises:
        StoreError: for an empty key, `..`, absolute paths and characters outside the allowed set.
    """
    if not _KEY.fullmatch(key) or any(part in (".", "..") for part in key.split("/")) or len(key) > 900:
        raise StoreError(f"{key!r} is no valid object key: use letters, digits and . _ = + - in parts divided by /")
    return key


class LocalStore:
    """A folder as object store. Temporary files begin with `.tmp-` and are never listed."""

    def __init__(self, root: Path) -> None:
        self.root = root.absolute()
        self.uri = self.root.as_uri()
        try:
            self.root.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryFile(dir=self.root):
                pass
        except OSError as error:
            raise StoreError(
                f"cannot write to the store {self.root}: {error.strerror}; "
                "give another folder with --store or AGENTWORLD_STORE, or mend its permissions"
            ) from error

    def get(self, key: str) -> bytes:
        """Return an object's bytes. Raises StoreError if there is none or it cannot be read."""
        try:
            return (self.root / check_key(key)).read_bytes()
        except FileNotFoundError as error:
            raise StoreError(f"no object {key!r} in {self.uri}") from error
        except OSError as error:
            raise StoreError(f"cannot read object {key!r} in {self.uri}: {error.strerror}") from error

    def put(self, key: str, data: bytes, *, if_absent: bool = False) -> bool:
        """Write an object whole through a temporary file; `if_absent` uses a hard link, which never overwrites."""
        path = self.root / check_key(key)
        if if_absent and path.exists():
            return False
        temporary = None
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            temporary = path.parent / f".tmp-{uuid.uuid4().hex}"
            with temporary.open("xb") as file:  # unlike tempfile's, its mode is what the umask leaves
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            if if_absent:
                try:
                    os.link(temporary, path)
                except FileExistsError:
                    return False
            else:
                os.replace(temporary, path)
                temporary = None
            return True
        except OSError as error:
            raise StoreError(f"cannot write object {key!r} to {self.uri}: {error.strerror}") from error
        finally:
            if temporary is not None:
                with contextlib.suppress(OSError):
                    os.unlink(temporary)

    def exists(self, key: str) -> bool:
        """Say whether the object is there."""
        return (self.root / check_key(key)).is_file()

    def list(self, prefix: str = "") -> Iterator[str]:
        """Yield the keys that begin with a prefix, sorted."""
        base = self.root / prefix.rpartition("/")[0]
        if not base.is_dir():
            return
        found = (
            path.relative_to(self.root).as_posix()
            for path in base.rglob("*")
            if not path.name.startswith(".tmp-") and path.is_file()
        )
        yield from sorted(key for key in found if key.startswith(prefix))

    def versions(self, prefix: str = "") -> dict[str, str]:
        """Return key -> the sha256 of the object's bytes."""
        return {key: hashlib.sha256(self.get(key)).hexdigest() for key in self.list(prefix)}

    def delete(self, key: str) -> None:
        """Remove an object; one that is not there is no error."""
        (self.root / check_key(key)).unlink(missing_ok=True)


class S3Store:
    """A bucket (and prefix) of any S3 service. Endpoint, region and credentials come from boto3's own configuration
    (AWS_ENDPOINT_URL, AWS_PROFILE, ...); they are never written anywhere."""

    def __init__(self, bucket: str, prefix: str = "") -> None:
        import boto3
        from botocore.config import Config
        from botocore.exceptions import BotoCoreError, ClientError

        self.bucket, self.prefix = bucket, prefix.strip("/")
        self.uri = f"s3://{bucket}/{self.prefix}".rstrip("/")
        self._errors = (BotoCoreError, ClientError)
        self._client_error = ClientError
        try:
            self._s3 = boto3.client("s3", config=Config(retries={"mode": "standard", "max_attempts": 5}))
            self._s3.head_bucket(Bucket=bucket)
        except self._errors as error:
            raise StoreError(
                f"cannot use the store {self.uri}: {_short(error)}; check that the bucket exists, the credentials "
                "(AWS_ACCESS_KEY_ID or AWS_PROFILE) and, for a service other than AWS, AWS_ENDPOINT_URL"
            ) from error

    def _path(self, key: str) -> str:
        return f"{self.prefix}/{check_key(key)}" if self.prefix else check_key(key)

    def get(self, key: str) -> bytes:
        """Return an object's bytes. Raises StoreError if there is none or the service fails."""
        try:
            return self._s3.get_object(Bucket=self.bucket, Key=self._path(key))["Body"].read()
        except self._errors as error:
            if _status(error) == 404:
                raise StoreError(f"no object {key!r} in {self.uri}") from error
            raise StoreError(f"cannot read object {key!r} in {self.uri}: {_short(error)}") from error

    def put(self, key: str, data: bytes, *, if_absent: bool = False) -> bool:
        """Write an object whole. `if_absent` asks first and then writes on the condition that none is there; a service
        that ignores conditions leaves the time between the two open."""
        if if_absent and self.exists(key):
            return False
        condition = {"IfNoneMatch": "*"} if if_absent else {}
        try:
            self._s3.put_object(Bucket=self.bucket, Key=self._path(key), Body=data, **condition)
        except self._errors as error:
            if if_absent and _status(error) in (409, 412):
                return False
            raise StoreError(f"cannot write object {key!r} to {self.uri}: {_short(error)}") from error
        return True

    def exists(self, key: str) -> bool:
        """Say whether the object is there."""
        try:
            self._s3.head_object(Bucket=self.bucket, Key=self._path(key))
        except self._errors as error:
            if _status(error) == 404:
                return False
            raise StoreError(f"cannot look for object {key!r} in {self.uri}: {_short(error)}") from error
        return True

    def list(self, prefix: str = "") -> Iterator[str]:
        """Yield the keys that begin with a prefix, sorted."""
        for key, _ in self._listed(prefix):
            yield key

    def versions(self, prefix: str = "") -> dict[str, str]:
        """Return key -> the object's ETag as the listing has it; nothing is read."""
        return dict(self._listed(prefix))

    def _listed(self, prefix: str) -> Iterator[tuple[str, str]]:
        start = f"{self.prefix}/{prefix}" if self.prefix else prefix
        cut = len(self.prefix) + 1 if self.prefix else 0
        try:
            for page in self._s3.get_paginator("list_objects_v2").paginate(Bucket=self.bucket, Prefix=start):
                for item in page.get("Contents", ()):
                    yield item["Key"][cut:], item["ETag"].strip('"')
        except self._errors as error:
            raise StoreError(f"cannot list {self.uri}: {_short(error)}") from error

    def delete(self, key: str) -> None:
        """Remove an object; one that is not there is no error."""
        try:
            self._s3.delete_object(Bucket=self.bucket, Key=self._path(key))
        except self._errors as error:
            raise StoreError(f"cannot delete object {key!r} in {self.uri}: {_short(error)}") from error


def _status(error: Exception) -> int:
    response = getattr(error, "response", None) or {}
    return int(response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0))


def _short(error: Exception) -> str:
    return str(error).splitlines()[0][:300]


def open_store(uri: str) -> Store:
    """Open a store by URI: a path or `file://` for a folder, `s3://bucket/prefix` for an S3 service.

    Raises:
        StoreError: for another scheme, or if the store cannot be used.
    """
    parsed = urlparse(uri)
    if parsed.scheme == "s3":
        if not parsed.netloc:
            raise StoreError(f"{uri!r} names no bucket: write s3://bucket/prefix")
        return S3Store(parsed.netloc, parsed.path)
    if parsed.scheme == "file":
        return LocalStore(Path(unquote(parsed.path)))
    if parsed.scheme and "://" in uri:
        raise StoreError(f"{uri!r} has the unknown scheme {parsed.scheme!r}: use a folder, file:// or s3://")
    return LocalStore(Path(uri).expanduser())
