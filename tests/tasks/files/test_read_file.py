"""Files of every kind: the same small table comes out of each; what is wrong with a file is said in one sentence."""

from __future__ import annotations

import gzip
import io
import json
import sqlite3
import zipfile

import openpyxl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tasks.files import FileError, FileLimits, read_file, safe_name

RECORDS = [
    {"id": 1, "name": "Ada", "born": "1815-12-10", "score": 2.5},
    {"id": 2, "name": "Caf\u00e9", "born": "1906-12-09", "score": 3.0},
]
TYPES = ["integer", "string", "date", "number"]


def csv_bytes(delimiter=",", encoding="utf-8"):
    lines = [delimiter.join(RECORDS[0])] + [delimiter.join(str(value) for value in row.values()) for row in RECORDS]
    return ("\n".join(lines) + "\n").encode(encoding)


def xlsx_bytes():
    book = openpyxl.Workbook()
    book.active.append(list(RECORDS[0]))
    for row in RECORDS:
        book.active.append(list(row.values()))
    hidden = book.create_sheet("hidden")
    hidden.append(["secret", "row"])
    hidden.append(["a", "b"])
    hidden.sheet_state = "hidden"
    out = io.BytesIO()
    book.save(out)
    return out.getvalue()


def sqlite_bytes(script=""):
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE TABLE people (id INTEGER PRIMARY KEY, name TEXT, born TEXT, score REAL)")
    connection.executemany("INSERT INTO people VALUES (:id, :name, :born, :score)", RECORDS)
    connection.executescript(script)
    connection.commit()
    return connection.serialize()


def parquet_bytes():
    out = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(RECORDS), out)
    return out.getvalue()


def xml_bytes():
    rows = "".join(
        f"<p id='{row['id']}'><name>{row['name']}</name><born>{row['born']}</born><score>{row['score']}</score></p>"
        for row in RECORDS
    )
    return f"<?xml version='1.0' encoding='utf-8'?><people xmlns='urn:x'>{rows}</people>".encode()


def html_bytes():
    head = "".join(f"<th>{name}</th>" for name in RECORDS[0])
    rows = "".join("<tr>" + "".join(f"<td>{value}</td>" for value in row.values()) + "</tr>" for row in RECORDS)
    return f"<!doctype html><meta charset=utf-8><table><tr>{head}</tr>{rows}</table>".encode()


def zip_bytes(files):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return out.getvalue()


MYSQL = b"""-- dump; of people
CREATE TABLE `people` (`id` int NOT NULL, `name` varchar(20), `born` date, `score` double, PRIMARY KEY (`id`));
/* one; two */
INSERT INTO `people` VALUES (1,'Ada','1815-12-10',2.5),(2,'Caf\xc3\xa9','1906-12-09',3.0);
"""
POSTGRES = b"""SET x = 1;
CREATE TABLE public.people (id integer, name text, born date, score double precision);
COPY public.people (id, name, born, score) FROM stdin;
1\tAda\t1815-12-10\t2.5
2\tCaf\xc3\xa9\t1906-12-09\t3.0
\\.
"""
INSERTS = b"""INSERT INTO people (name, id, score, born) VALUES ('Ada', 1, 2.5, '1815-12-10');
CREATE TABLE people (id int, name text, born date, score real);
INSERT INTO people (name, id, score, born) VALUES ('Caf\xc3\xa9', 2, 3.0, '1906-12-09');
"""

FILES = {
    "people.csv": (csv_bytes(), "line 2"),
    "people.tsv": (csv_bytes("\t"), "line 2"),
    "semicolon.csv": (csv_bytes(";", "cp1252"), "line 2"),
    "people.json": (json.dumps({"meta": {"n": 2}, "people": RECORDS}).encode(), "$.people[0]"),
    "people.ndjson": ("\n".join(json.dumps(row) for row in RECORDS).encode(), "line 1"),
    "people.xlsx": (xlsx_bytes(), "Sheet!2"),
    "people.xml": (xml_bytes(), "/people/p[1]"),
    "people.html": (html_bytes(), "table 1 row 2"),
    "people.sqlite": (sqlite_bytes(), "people rowid 1"),
    "mysql.sql": (MYSQL, "statement 2 row 1"),
    "postgres.sql": (POSTGRES, "COPY line 4"),
    "people.parquet": (parquet_bytes(), "row 1"),
    "people.csv.gz": (gzip.compress(csv_bytes()), "line 2"),
    "people.zip": (zip_bytes({"data/people.csv": csv_bytes()}), "line 2"),
    "noending": (csv_bytes(), "line 2"),
}


@pytest.mark.parametrize("name", FILES)
def test_the_same_table_comes_out_of_every_kind(name):
    data, locator = FILES[name]
    media_type = "text/csv" if name == "noending" else ""
    content = read_file(data, name, media_type=media_type)
    assert len(content.tables) == 1
    table = content.tables[0]
    assert table.records() == RECORDS
    assert [column.type for column in table.columns] == TYPES
    assert table.locators[0] == locator and len(table.locators) == 2


def test_a_dump_whose_columns_come_in_another_order():
    rows = read_file(INSERTS.split(b"\n", 1)[1], "people.sql").tables[0].records()
    assert rows == [RECORDS[1]]


def test_a_pdf_gives_text_and_ruled_tables():
    lines = "".join(f"{x} {y} m {x} {y + 40} l S " for x in (50, 150, 250) for y in (600,))
    lines += "".join(f"50 {y} m 250 {y} l S " for y in (600, 620, 640))
    cells = ((55, 625, "day"), (155, 625, "opens"), (55, 605, "Monday"), (155, 605, "9"))
    words = "".join(f"BT /F1 10 Tf {x} {y} Td ({text}) Tj ET " for x, y, text in cells)
    from hostile_pages import minimal_pdf

    plain = minimal_pdf(["Hello"])
    stream = (lines + words).encode()
    start, end = plain.index(b"4 0 obj"), plain.index(b"5 0 obj")
    drawn = b"4 0 obj\n<< /Length %d >>\nstream\n%s\nendstream\nendobj\n" % (len(stream), stream)
    content = read_file(plain[:start] + drawn + plain[end:], "hours.pdf")
    assert "Monday" in content.text
    assert content.tables[0].records() == [{"day": "Monday", "opens": 9}]
    assert content.tables[0].locators == ("page 1 table 1 row 2",)


WRONG = {
    "empty.csv": (b"  \n", "is empty"),
    "page.csv": (b"<!DOCTYPE html><html>404</html>", "holds an HTML page"),
    "book.xlsx": (csv_bytes(), "is no Excel workbook"),
    "zip.xlsx": (zip_bytes({"a.csv": "a,b\n1,2\n"}), "without an Excel workbook"),
    "data.csv": (sqlite_bytes(), "holds a SQLite database"),
    "data.json": (b"%PDF-1.4 x", "holds a PDF"),
    "data.sqlite": (b"PK\x03\x04" + b"x" * 100, "holds a zip archive"),
    "noise": (bytes(range(256)) * 4, "unknown binary kind"),
    "ragged.csv": (b"a,b\n1,2\n1,2,3\n", "3 values at line 3 under 2 columns"),
    "quotes.csv": (b'a,b\n"1,2\n', "is broken at line 2"),
    "head.csv": (b"a,b\n", "a header but no rows"),
    "bad.json": (b'{"a": [1,', "is not JSON"),
    "deep.json": (b"[" * 100_000, "nested too deeply"),
    "scalar.json": (b"[1, 2]", "no list of objects"),
    "bad.ndjson": (b'{"a": 1}\n[2]\n', "no JSON object in line 2"),
    "bad.xml": (b"<?xml version='1.0'?><a><b></a>", "is not well-formed XML"),
    "bad.sqlite": (sqlite_bytes()[:600] + b"\xff" * 3000, "damaged SQLite"),
    "bad.parquet": (b"PAR1" + b"x" * 50 + b"PAR1", "damaged Parquet"),
    "bad.pdf": (b"%PDF-1.4\nrubbish", "damaged or locked PDF"),
    "bad.gz": (b"\x1f\x8b\x08rubbish", "damaged gzip"),
    "bad.zip": (b"PK\x03\x04rubbish", "damaged or unusual zip"),
    "bad.sql": (b"INSERT INTO t VALUES (1 2;", "cannot be read at statement 1"),
    "none.sql": (b"CREATE TABLE t (a int);", "inserts no rows"),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_is_said_in_one_sentence(name):
    data, reason = WRONG[name]
    with pytest.raises(FileError) as failed:
        read_file(data, name)
    assert reason in str(failed.value) and str(failed.value).startswith(name) and "\n" not in str(failed.value)


def _bomb(kind):
    million = bytes(1 << 20)
    if kind == "gz":
        return gzip.compress(million * 80)
    if kind == "zip":
        return zip_bytes({f"{i}.csv": b"a,b\n" + million * 20 for i in range(5)})
    if kind == "xlsx":
        return zip_bytes({"xl/workbook.xml": b"<x/>", "xl/sheet.xml": million * 80})
    lol = "".join(f'<!ENTITY l{i} "{f"&l{i - 1};" * 10}">' for i in range(1, 10))
    return f'<?xml version="1.0"?><!DOCTYPE x [<!ENTITY l0 "lol">{lol}]><x><a i="1">&l9;</a><a i="2"/></x>'.encode()


@pytest.mark.parametrize("kind", ("gz", "zip", "xlsx", "xml"))
def test_bombs_do_not_go_off(kind):
    with pytest.raises(FileError, match="more than|entit"):
        read_file(_bomb(kind), f"bomb.{kind}")


def test_limits_are_said():
    with pytest.raises(FileError, match="more than 3 rows"):
        read_file(b"a,b\n" + b"1,2\n" * 9, "long.csv", limits=FileLimits(rows=3))
    with pytest.raises(FileError, match="more than 10: cut"):
        read_file(b"a,b\n" + b"1,2\n" * 9, "long.csv", limits=FileLimits(bytes=10))
    with pytest.raises(FileError, match="5 columns"):
        read_file(b"a,b,c,d,e\n1,2,3,4,5\n", "wide.csv", limits=FileLimits(columns=4))
    with pytest.raises(FileError, match="3 files, more than 2"):
        read_file(zip_bytes({f"{i}.csv": "a,b\n1,2\n" for i in range(3)}), "many.zip", limits=FileLimits(members=2))


def test_a_far_away_cell_makes_no_huge_sheet():
    book = openpyxl.Workbook()
    book.active["A1"], book.active["B1"], book.active["A2"], book.active["B2"] = "a", "b", 1, 2
    book.active["XFD1048576"] = "far"
    out = io.BytesIO()
    book.save(out)
    assert read_file(out.getvalue(), "far.xlsx").tables[0].records() == [{"a": 1, "b": 2}]


def test_a_database_s_views_and_triggers_do_not_run():
    endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n"
    data = sqlite_bytes(
        f'CREATE VIEW v AS {endless}; CREATE TABLE "odd ""name" (a); INSERT INTO "odd ""name" VALUES (1);'
    )
    assert [table.name for table in read_file(data, "x.db").tables] == ['odd "name', "people"]


def test_archives_name_what_they_could_not_read():
    inner = zip_bytes({"a.csv": "a,b\n1,2\n"})
    content = read_file(
        zip_bytes({"in.zip": inner, "ok.csv": "a,b\n1,2\n", "no.xlsx": b"x", "r.txt": "words"}), "all.zip"
    )
    assert [table.name for table in content.tables] == ["ok.csv#ok.csv"] and content.text == "words"
    assert [note.split(" ")[0] for note in content.notes] == ["in.zip", "no.xlsx"]
    with pytest.raises(FileError, match="nothing that can be read"):
        read_file(zip_bytes({"in.zip": inner}), "only.zip")


def test_html_spans_and_header_rows():
    page = (
        "<table><caption>Trains</caption><thead><tr><th rowspan=2>Line<th colspan=2>Time<tr><th>out<th>back</thead>"
        "<tr><td rowspan=2>A<td>1<td>2<tr><td>3<td>4<tr style='display:none'><td>hidden<td>x<td>y</table>"
        "<table><tr><td><table><tr><td>inner<td>b<tr><td>1<td>2</table></table>"
    )
    first, second = read_file(page.encode(), "t.html").tables
    assert first.name == "Trains" and [column.name for column in first.columns] == ["Line", "Time out", "Time back"]
    assert first.rows == (("A", 1, 2), ("A", 3, 4)) and first.locators == ("table 1 row 3", "table 1 row 4")
    assert second.records() == [{"inner": 1, "b": 2}] and second.locators == ("table 3 row 2",)


def test_values_keep_what_they_are():
    text = "code,flag,n,when,word,empty\n007,true,NA,2024-01-02T03:04:05,NA,\n042,false,3,2024-01-02 03:04,x,-\n"
    table = read_file(text.encode(), "v.csv").tables[0]
    assert [column.type for column in table.columns] == ["string", "boolean", "integer", "datetime", "string", "string"]
    assert table.rows[0] == ("007", True, None, "2024-01-02T03:04:05", "NA", None)


@pytest.mark.parametrize(
    ("name", "safe"),
    (
        ("../../etc/passwd", "passwd"), ("C:\\Windows\\run.bat", "run.bat"), (".hidden", "hidden"), ("", "file"),
        ("..", "file"), ("a\x00b\u202egnp.exe", "a_b_gnp.exe"), ("CON", "file"), ("nul.csv", "file"),
        ("x" * 300 + ".csv", "x" * 96 + ".csv"), ("caf\u00e9 1.csv", "caf_1.csv"),
        ("a;rm -rf $(x).csv", "a_rm_-rf_x_.csv"),
    ),
)  # fmt: skip
def test_safe_names(name, safe):
    assert safe_name(name) == safe
