"""The further formats of source documents, on small documents written out by hand and on real bytes."""

from __future__ import annotations

import io
import json

import docx
import pytest

from tasks.themes.decode import read, read_parts
from tasks.themes.licences import licence_of
from tasks.themes.reading import UnreadableSource

SWAGGER = """
swagger: "2.0"
info: {title: Bike hire, version: "1.3", license: {name: Apache 2.0}}
host: bikes.example.org
paths:
  x-note: not an operation
  /bikes:
    parameters: [{name: city, in: query, type: string}]
    post:
      operationId: hireBike
      description: Hires a bike. A blocked bike must not be hired.
      parameters: [{in: body, name: body, schema: {$ref: "#/definitions/Hire"}}]
      responses: {"409": {description: The bike cannot be hired while another customer has it.}}
    get: {summary: Old listing, deprecated: true}
definitions:
  Hire: {type: object, properties: {bikeId: {type: string}, days: {type: integer}}}
"""
DISCOVERY = {
    "kind": "discovery#restDescription",
    "name": "hire",
    "version": "fleet_v1beta",
    "title": "Hire API",
    "description": "Hires bikes.",
    "schemas": {"Hire": {"properties": {"bikeId": {}}}},
    "resources": {
        "shops": {
            "methods": {"list": {"id": "hire.shops.list", "description": "Lists shops."}},
            "resources": {
                "bikes": {
                    "methods": {
                        "hire": {
                            "id": "hire.shops.bikes.hire",
                            "description": "Hires a bike. At most two bikes can be hired by a customer.",
                            "parameters": {"shopId": {}},
                            "request": {"$ref": "Hire"},
                        }
                    }
                }
            },
        }
    },
}
OFFICIAL = {
    "servers": [
        {
            "server": {
                "name": "io.example/bikes",
                "title": "Bikes",
                "description": "Hires bikes.",
                "version": "1.2.0",
                "remotes": [{"type": "streamable-http", "url": "https://bikes.example.org/mcp"}],
                "_meta": {
                    "io.modelcontextprotocol.registry/publisher-provided": {"tools": ["hire_bike", "return_bike"]}
                },
            },
            "_meta": {"io.modelcontextprotocol.registry/official": {"status": "active"}},
        },
        {"server": {"name": "io.example/silent", "packages": []}},
        {
            "server": {"name": "io.example/gone", "tools": ["x"]},
            "_meta": {"io.modelcontextprotocol.registry/official": {"status": "deprecated"}},
        },
    ],
    "metadata": {"count": 3},
}
SMITHERY = {
    "qualifiedName": "@shop/bikes",
    "displayName": "Bike shop",
    "description": "Sells bikes.",
    "tools": [{"name": "sellBike", "description": "Sells a bike.", "parameters": {"properties": {"bikeId": {}}}}],
}
PRD = [
    ("Title", "Bike hire"),
    ("Heading 1", "Bike hire"),
    ("Heading 2", "Overview"),
    ("Normal", "Bikes for hire in a city."),
    ("Heading 2", "Workflows"),
    ("Heading 3", "Hire a bike"),
    ("List Bullet", "A blocked bike must not be hired."),
    ("Heading 3", "Return a bike"),
    ("Heading 2", "Data"),
    ("List Bullet", "bikes and stations"),
]


def word(paragraphs: list[tuple[str, str]]) -> bytes:
    """Return a Word document of (style, text) paragraphs."""
    document, out = docx.Document(), io.BytesIO()
    for style, text in paragraphs:
        document.add_paragraph(text, style=style)
    document.save(out)
    return out.getvalue()


def pdf(lines: list[tuple[int, str]]) -> bytes:
    """Return a PDF of one page with lines of (letter size, text)."""
    top, drawn = 780, []
    for size, text in lines:
        drawn.append(f"BT /F1 {size} Tf 50 {top} Td ({text}) Tj ET")
        top -= 2 * size
    stream = "\n".join(drawn).encode()
    parts = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 600 800] /Contents 4 0 R"
        b" /Resources << /Font << /F1 << /Type /Font /Subtype /Type1 /BaseFont /Helvetica >> >> >> >>",
        b"<< /Length %d >>\nstream\n%s\nendstream" % (len(stream), stream),
    ]
    out, places = b"%PDF-1.4\n", []
    for number, part in enumerate(parts, 1):
        places.append(len(out))
        out += b"%d 0 obj\n%s\nendobj\n" % (number, part)
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    ending = b"trailer << /Size 5 /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF" % len(out)
    return out + b"xref\n0 5\n0000000000 65535 f \n" + table + ending


def test_openapi_2_in_yaml_is_read() -> None:
    reading = read(SWAGGER.encode())
    assert [(one.name, one.parameters) for one in reading.operations] == [("hire_bike", ("city", "bike_id", "days"))]
    assert (reading.api, reading.api_version, reading.licence) == ("bikes.example.org:bike-hire", "1.3", "Apache-2.0")
    assert len(reading.rules) == 2


def test_openapi_3_1_without_paths_has_no_operations_and_with_them_is_read() -> None:
    document = {"openapi": "3.1.0", "info": {"title": "Events", "version": "1", "license": {"identifier": "MIT"}}}
    with pytest.raises(UnreadableSource) as caught:
        read(json.dumps({**document, "webhooks": {}}).encode())
    assert caught.value.gate == "no_operations"
    shared = {"get": {"operationId": "listEvents", "summary": "Lists events."}}
    whole = {
        **document,
        "paths": {"/e": {"$ref": "#/components/pathItems/E"}},
        "components": {"pathItems": {"E": shared}},
    }
    reading = read(json.dumps(whole).encode())
    assert reading.operations[0].name == "list_events" and reading.licence == "MIT"


def test_a_discovery_document_is_read_through_its_nested_resources() -> None:
    reading = read(json.dumps(DISCOVERY).encode())
    assert [(one.name, one.parameters) for one in reading.operations] == [
        ("shops_list", ()),
        ("shops_bikes_hire", ("shop_id", "bike_id")),
    ]
    assert (reading.kind, reading.api, reading.api_version) == ("discovery", "googleapis.com:hire/fleet", "v1beta")
    assert reading.rules == ("shops_bikes_hire: At most two bikes can be hired by a customer.",)


def test_a_page_of_the_official_registry_is_one_theme_a_server() -> None:
    parts = {part.name: part.reading for part in read_parts(json.dumps(OFFICIAL).encode())}
    bikes = parts["io.example/bikes"]
    assert not isinstance(bikes, UnreadableSource)
    assert (bikes.name, bikes.api, bikes.api_version) == ("Bikes", "mcp:io.example/bikes", "1.2.0")
    gates = {name: one.gate for name, one in parts.items() if isinstance(one, UnreadableSource)}
    assert gates == {"io.example/silent": "no_tools", "io.example/gone": "deprecated"}


@pytest.mark.parametrize("form", ["page", "list", "lines"])
def test_a_smithery_export_is_read_and_a_broken_entry_costs_only_itself(form: str) -> None:
    broken = {**SMITHERY, "qualifiedName": "@shop/broken", "tools": [{"description": "no name"}]}
    servers = [SMITHERY, broken, {"qualifiedName": "@shop/none", "tools": []}, 7]
    if form == "lines":
        content = "\n".join([*map(json.dumps, servers), '{"cut": '])
    else:
        content = json.dumps({"servers": servers} if form == "page" else servers)
    parts = {part.name: part.reading for part in read_parts(content.encode())}
    good = parts.pop("@shop/bikes")
    assert not isinstance(good, UnreadableSource)
    assert good.name == "Bike shop" and good.operations[0].parameters == ("bike_id",)
    expected = {"@shop/broken": "broken_tool", "@shop/none": "no_tools", "servers[3]": "no_tools"}
    if form == "lines":
        expected["line 5"] = "broken_json"
    assert {name: one.gate for name, one in parts.items() if isinstance(one, UnreadableSource)} == expected


def test_a_word_document_and_a_pdf_are_prds_as_markdown_is() -> None:
    sizes = {"Heading 1": 24, "Heading 2": 18, "Heading 3": 14}
    papers = [
        word(PRD[1:]),
        pdf([(sizes.get(style, 10), f"{'- ' * ('List' in style)}{text}") for style, text in PRD[1:]]),
    ]
    for content in papers:
        reading = read(content)
        assert (reading.kind, reading.name, reading.description) == ("prd", "Bike hire", "Bikes for hire in a city.")
        assert [one.name for one in reading.operations] == ["hire_bike", "return_bike"]
        assert reading.rules == ("hire_bike: A blocked bike must not be hired.",)
        assert reading.needs == ("bikes and stations",)


@pytest.mark.parametrize(
    ("content", "gate"),
    [
        (word([("Normal", "no heading here")]), "unrecognised"),
        (word(PRD)[:-200], "not_text"),
        (word(PRD).replace(b"word/styles.xml", b"word/stolen.xml"), "broken_docx"),
        (pdf([]), "no_text"),
        (pdf([(10, "no heading here")]), "unrecognised"),
        (b"%PDF-1.4\n" + b"\x00" * 50, "broken_pdf"),
    ],
)
def test_broken_papers_are_refused(content: bytes, gate: str) -> None:
    with pytest.raises(UnreadableSource) as caught:
        read(content)
    assert caught.value.gate == gate and "\n" not in caught.value.reason


@pytest.mark.parametrize(
    ("stated", "spdx"),
    [
        ({"name": "Apache License, Version 2.0"}, "Apache-2.0"),
        ({"name": "Licence", "url": "http://www.apache.org/licenses/LICENSE-2.0.html"}, "Apache-2.0"),
        ("MIT License", "MIT"),
        ({"name": "Creative Commons Attribution 3.0"}, "CC-BY-3.0"),
        ({"identifier": "BSD-2-Clause", "name": "whatever"}, "BSD-2-Clause"),
        ({"name": "Terms of our company"}, ""),
        ({"name": 5}, ""),
        (None, ""),
    ],
)
def test_licences_become_spdx_identifiers_or_stay_unknown(stated: object, spdx: str) -> None:
    assert licence_of(stated) == spdx
