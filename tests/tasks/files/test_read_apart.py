"""Reading in a process of its own: the same content and the same errors, and an end to what would have none."""

from __future__ import annotations

import io
import sqlite3
import zlib

import openpyxl
import pytest
from hostile_pages import minimal_pdf

from tasks.files import FileError, FileLimits, read_file, read_file_apart


def workbook():
    book = openpyxl.Workbook()
    for row in (("id", "share", "ok", "when"), (1, 0.5, True, "2024-01-02"), (2, 1.0, False, None)):
        book.active.append(row)
    out = io.BytesIO()
    book.save(out)
    return out.getvalue()


def test_the_content_is_the_same():
    for name, data in (("a.xlsx", workbook()), ("a.pdf", minimal_pdf(["Hello", "world"])), ("a.csv", b"a,b\n1,2\n")):
        assert read_file_apart(data, name) == read_file(data, name)
    kinds = [type(value) for value in read_file_apart(workbook(), "a.xlsx").tables[0].rows[1]]
    assert kinds == [int, float, bool, type(None)]


def test_errors_and_limits_are_the_same():
    with pytest.raises(FileError, match=r"^b\.pdf is a damaged or locked PDF"):
        read_file_apart(b"%PDF-1.4\nrubbish", "b.pdf")
    with pytest.raises(FileError, match="more than 1 rows"):
        read_file_apart(workbook(), "a.xlsx", limits=FileLimits(rows=1))


def test_a_file_that_would_take_all_memory_ends_its_own_reader_only():
    stream = zlib.compress(bytes(1 << 29), 9)  # a page whose content unpacks to 512 MiB
    plain = minimal_pdf(["x"])
    start, end = plain.index(b"4 0 obj"), plain.index(b"5 0 obj")
    packed = b"4 0 obj\n<< /Length %d /Filter /FlateDecode >>\nstream\n%s\nendstream\nendobj\n" % (len(stream), stream)
    with pytest.raises(FileError, match=r"^bomb\.pdf "):
        read_file_apart(plain[:start] + packed + plain[end:], "bomb.pdf", seconds=20, memory=400 * 2**20)


def test_a_database_that_would_take_all_time_is_given_up():
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE TABLE t (a)")
    connection.executemany("INSERT INTO t VALUES (?)", [(i,) for i in range(2000)])
    connection.execute("ALTER TABLE t ADD COLUMN b AS (length(hex(zeroblob(20000000 + a))))")
    connection.commit()
    with pytest.raises(FileError, match=r"^slow\.sqlite "):
        read_file_apart(connection.serialize(), "slow.sqlite", seconds=1)
