"""Readers of the four kinds of source, on real documents and on broken ones."""

from __future__ import annotations

import gzip
import json
import sys
from pathlib import Path

import botocore
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel

from tasks.themes.decode import MAX_BYTES, read
from tasks.themes.mcp_server import list_tools
from tasks.themes.reading import Reading, UnreadableSource
from tasks.themes.terms import terms_of
from tasks.themes.text import plain, refusing, snake, stem

BOTOCORE = Path(botocore.__file__).parent / "data"
OPENAPI = {"openapi": "3.0.0", "info": {"title": "Shop"}, "paths": {"/o/{id}": {"delete": {"summary": "Cancel it"}}}}


class Order(BaseModel):
    """The body of a request, for the document that FastAPI generates."""

    product: str
    quantity: int


def gate(content: bytes) -> str:
    """Return the gate that refuses these bytes."""
    with pytest.raises(UnreadableSource) as caught:
        read(content)
    assert caught.value.reason
    return caught.value.gate


def test_a_real_service_model_yields_operations_parameters_and_rules() -> None:
    path = next((BOTOCORE / "dataexchange").glob("*/service-2.json*"))
    reading = read(path.read_bytes())
    cancel = next(one for one in reading.operations if one.name == "cancel_job")
    assert (reading.kind, reading.name, cancel.parameters) == ("botocore", "AWS Data Exchange", ("job_id",))
    assert "cancel_job: Jobs can be cancelled only when they are in the WAITING state." in reading.rules
    assert "<p>" not in reading.description


def test_a_running_mcp_server_is_asked_for_its_tools() -> None:
    answer = list_tools([sys.executable, "-m", "mcp_server_time", "--local-timezone", "UTC"])
    reading = read(json.dumps(answer).encode())
    operations = {one.name: one.parameters for one in reading.operations}
    assert operations["convert_time"] == ("source_timezone", "time", "target_timezone")
    assert reading.kind == "mcp" and reading.name


def test_a_program_that_is_no_mcp_server_is_refused() -> None:
    with pytest.raises(UnreadableSource, match="MCP server") as caught:
        list_tools([sys.executable, "-c", "print('hello')"], timeout_s=10)
    assert caught.value.gate == "server_failed"
    with pytest.raises(UnreadableSource, match="within 1 s"):
        list_tools([sys.executable, "-c", "import time; time.sleep(30)"], timeout_s=1)


def test_a_document_that_fastapi_generates_is_read() -> None:
    fastapi = pytest.importorskip("fastapi")
    app = fastapi.FastAPI(title="Warehouse orders", description="Orders must not exceed the stock of a product.")

    @app.post("/orders/{warehouse}")
    def place_order(warehouse: str, order: Order) -> dict:
        """Place an order. It is refused if the stock is too low."""
        return {}

    reading = read(json.dumps(app.openapi()).encode())
    operation = reading.operations[0]
    assert operation.parameters == ("warehouse", "product", "quantity")
    assert f"{operation.name}: It is refused if the stock is too low." in reading.rules
    assert "Orders must not exceed the stock of a product." in reading.rules


def test_json_rpc_messages_and_bare_results_are_the_same_specification() -> None:
    tools = [{"name": "bookSeat", "description": "Book a seat. Only free seats.", "inputSchema": {"type": "object"}}]
    bare = {"tools": tools}
    message = {"jsonrpc": "2.0", "id": 1, "result": bare, "serverInfo": {"name": "Seats"}}
    assert read(json.dumps(message).encode()).name == "Seats"
    assert read(json.dumps(bare).encode(), fallback_name="seats").operations[0].name == "book_seat"
    assert gate(json.dumps(bare).encode()) == "no_name"


def test_a_prd_with_plain_list_items_is_read() -> None:
    text = """# Bike rental\n\n## Overview\nBikes for hire.\n\n## Functional requirements\n
1. Rent a bike: a customer rents a bike that is free. A blocked bike must not be rented.
2. Return the bike\n\n## Data\n- bikes and stations\n"""
    reading = read(text.encode())
    assert [one.name for one in reading.operations] == ["rent_bike", "return_bike"]
    assert reading.rules == ("rent_bike: A blocked bike must not be rented.",)
    assert reading.needs == ("bikes and stations",)


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"", "empty"),
        (b" \n\t ", "empty"),
        (json.dumps(OPENAPI).encode()[:-20], "broken_json"),
        (b'{"tools": [', "broken_json"),
        (b"\x89PNG\r\n\x1a\n\x00\x00\xff\xfe", "not_text"),
        (b'{"a": "\x00"}', "not_text"),
        (b"\x1f\x8b\x08broken", "not_text"),
        (gzip.compress(b"x" * (MAX_BYTES + 1)), "too_large"),
        (b"[" * 200_000, "too_complex"),
        (b'{"tools": ' + b"9" * 10_000 + b"}", "too_complex"),
        (b"openapi: 3.0.0\nx: " + b"[" * 150, "too_complex"),
        (b"openapi: 3.0.0\ninfo: {title: a\n", "broken_yaml"),
        (b"openapi: 3.0.0\nx: !!python/object/apply:os.system ['true']\n", "broken_yaml"),
        (b"openapi: 3.0.0\nx: &a [*a]\n", "too_complex"),
        (json.dumps({"swagger": "1.2", "info": {}, "paths": {}}).encode(), "openapi_version"),
        (json.dumps({**OPENAPI, "info": []}).encode(), "broken_openapi"),
        (json.dumps({**OPENAPI, "paths": {"/a": {"get": {"deprecated": True}}}}).encode(), "deprecated"),
        (json.dumps({"kind": "discovery#restDescription", "name": "x", "resources": []}).encode(), "broken_discovery"),
        (json.dumps({"kind": "discovery#restDescription", "methods": {"a": {}}}).encode(), "broken_discovery"),
        (json.dumps({"name": "io.github.a/b", "packages": []}).encode(), "no_tools"),
        (json.dumps({"server": {"name": "a", "tools": ["x"], "status": "deleted"}}).encode(), "deprecated"),
        (b"%PDF-1.7 cut off", "broken_pdf"),
        (b"PK\x03\x04 cut off", "unrecognised"),
        (json.dumps({**OPENAPI, "paths": []}).encode(), "broken_openapi"),
        (json.dumps({**OPENAPI, "paths": {}}).encode(), "no_operations"),
        (json.dumps({"name": "x", "tools": [{"title": "no name"}]}).encode(), "broken_tool"),
        (json.dumps({"name": "x", "tools": [{"name": "a", "inputSchema": {"properties": 3}}]}).encode(), "broken_tool"),
        (json.dumps({"metadata": [], "operations": {}, "shapes": {}}).encode(), "broken_service_model"),
        (json.dumps({"hello": 1}).encode(), "unrecognised"),
        (b"just a note to self", "unrecognised"),
        (b"# Title\n\nNo section here.", "unrecognised"),
        (b"# Title\n\n## Workflows\n\nnone yet\n", "no_operations"),
    ],
)
def test_broken_input_is_one_clear_refusal(content: bytes, expected: str) -> None:
    assert gate(content) == expected


def test_a_yaml_bomb_is_refused_before_it_expands() -> None:
    lines = ["openapi: 3.0.0", "a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 10)}]" for i in range(1, 12)]
    assert gate("\n".join(lines).encode()) == "too_complex"


@settings(max_examples=150, deadline=None)
@given(st.one_of(st.binary(max_size=200), st.text(max_size=200).map(str.encode)))
def test_any_bytes_are_read_or_refused(content: bytes) -> None:
    try:
        assert isinstance(read(content), Reading)
    except UnreadableSource as error:
        assert error.gate and error.reason


_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_a_document_with_any_part_replaced_is_read_or_refused(data: st.DataObject) -> None:
    documents = [
        {**OPENAPI, "components": {}, "tags": [], "x-data-needed": []},
        {"name": "x", "description": "y", "_meta": {}, "serverInfo": {}, "tools": [{"name": "a", "inputSchema": {}}]},
        {"metadata": {"serviceId": "x"}, "operations": {"A": {"input": {"shape": "S"}}}, "shapes": {"S": {}}},
    ]
    document = data.draw(st.sampled_from(documents))
    key = data.draw(st.sampled_from(sorted(document)))
    content = json.dumps({**document, key: data.draw(_VALUES)}).encode()
    try:
        assert read(content).operations
    except UnreadableSource as error:
        assert error.gate and error.reason


def test_words_names_and_rules() -> None:
    assert snake("ListIPSets") == "list_ip_sets"
    assert snake("createMLModel") == "create_ml_model"
    assert snake("cancel-booking v2") == "cancel_booking_v2"
    assert [stem(word) for word in ("cities", "boxes", "status", "orders", "gas", "isotopes")] == [
        "city", "box", "status", "order", "gas", "isotope",
    ]  # fmt: skip
    assert plain("<p>One &amp; two</p><p>Three.</p>") == "One & two. Three."
    assert refusing("It lists bookings. A booking can be cancelled only while it is pending.") == [
        "A booking can be cancelled only while it is pending."
    ]


def test_terms_tell_the_topic_and_ignore_interface_words() -> None:
    path = next((BOTOCORE / "location").glob("*/service-2.json*"))
    terms = terms_of(read(path.read_bytes()))
    assert {"map", "geofence", "tracker"} <= set(terms)
    assert not {"amazon", "list", "request", "the", "resource"} & set(terms)
    assert all(term == term.lower() for term in terms)
