"""Zip and gzip, unpacked in memory and never beyond the limits. Nothing is written to disk."""

from __future__ import annotations

import io
import zipfile
import zlib
from collections.abc import Iterator

from tasks.files.errors import FileError
from tasks.files.names import safe_name
from tasks.files.table import FileLimits


def members(data: bytes, name: str, limits: FileLimits) -> Iterator[tuple[str, bytes]]:
    """Yield the files of a zip under harmless names, in order. What the archive says of sizes is not believed.

    Raises:
        FileError: if it is damaged, has a password, or holds more than the limits allow.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            infos = [info for info in archive.infolist() if not info.is_dir()]
            if len(infos) > limits.members:
                raise FileError(name, f"holds {len(infos)} files, more than {limits.members}")
            left = limits.bytes
            for info in infos:
                if info.flag_bits & 1:
                    raise FileError(name, "is locked with a password")
                if info.file_size > left:
                    raise FileError(name, f"unpacks to more than {limits.bytes} bytes")
                with archive.open(info) as file:
                    content = file.read(left + 1)
                left -= len(content)
                if left < 0:
                    raise FileError(name, f"unpacks to more than {limits.bytes} bytes")
                yield safe_name(info.filename), content
    except (zipfile.BadZipFile, zlib.error, NotImplementedError, EOFError, ValueError, OSError, RuntimeError) as error:
        raise FileError(name, f"is a damaged or unusual zip archive ({error})") from None


def ungzip(data: bytes, name: str, limits: FileLimits) -> bytes:
    """Return what a gzip file holds (its first member).

    Raises:
        FileError: if it is damaged or unpacks to more than the limits allow.
    """
    engine = zlib.decompressobj(zlib.MAX_WBITS | 16)
    try:
        found = engine.decompress(data, limits.bytes + 1)
    except zlib.error as error:
        raise FileError(name, f"is a damaged gzip file ({error})") from None
    if len(found) > limits.bytes:
        raise FileError(name, f"unpacks to more than {limits.bytes} bytes")
    if not engine.eof:
        raise FileError(name, "is a damaged gzip file (it ends too early)")
    return found
