"""Findings made by hand from airportsdata, for tests of what mining does with findings, and helpers to judge worlds."""

from __future__ import annotations

import sqlite3
from functools import cache

import airportsdata

from schemas.base import content_hash
from schemas.database import Column, Document, Table
from schemas.theme import Operation, Source, Theme
from tasks.mining import Findings, MinedDocument, MinedTable, World

SOURCE = Source(
    source_id=content_hash("airportsdata")[:16],
    uri="pkg:pypi/airportsdata@1#airports.csv",
    version="1",
    sha256="0" * 64,
    retrieved_at="2026-01-01T00:00:00Z",
    licence="MIT",
    title="Airports",
)


def flight_theme(name: str = "Flight booking") -> Theme:
    """A theme about booking flights, with rules of its own."""
    return Theme(
        theme_id="flight-booking-00000000",
        kind="prd",
        name=name,
        description="Book seats on flights between airports.",
        terms=("flight", "booking", "airport", "seats"),
        operations=(Operation(name="create_booking", description="Book seats on a flight."),),
        rules=("create_booking: A booking is refused if the departure has not enough places left.",),
        source_id=SOURCE.source_id,
        source_uri="file:///flight.md",
        source_version="1",
        source_sha256="0" * 64,
        licence="Apache-2.0",
    )


@cache
def _airports() -> tuple[dict, ...]:
    return tuple(value for _, value in sorted(airportsdata.load("IATA").items()))


def airport_findings(n: int = 200) -> Findings:
    """Countries and airports as a researcher would bring them, and a document."""
    rows, names = [], set()
    for airport in _airports():
        if len(rows) < n and airport["name"] not in names and airport["country"]:
            names.add(airport["name"])
            rows.append(
                {
                    "iata_code": airport["iata"],
                    "name": airport["name"],
                    "country_code": airport["country"],
                    "elevation_feet": int(airport["elevation"]),
                }
            )
    countries = [{"country_code": code} for code in sorted({str(row["country_code"]) for row in rows})]
    code = Column(name="country_code", type="string", role="key", unique=True)
    country = Table(
        name="countries",
        noun="country",
        nouns="countries",
        key="country_code",
        columns=(code,),
        origin="mined",
        rows=len(countries),
    )
    airport_table = Table(
        name="airports",
        noun="airport",
        nouns="airports",
        key="iata_code",
        label="name",
        origin="mined",
        rows=len(rows),
        columns=(
            Column(name="iata_code", type="string", role="key", unique=True),
            Column(name="name", type="string", role="label"),
            Column(name="country_code", type="string", role="reference", references="countries.country_code"),
            Column(name="elevation_feet", type="integer", role="measure"),
        ),
    )
    document = Document(name="airports.md", media_type="text/markdown", title="Airports")
    return Findings(
        theme_id="flight-booking-00000000",
        tables=[
            MinedTable(
                country, countries, SOURCE.source_id, [f"row {i}" for i in range(len(countries))], "derive:countries"
            ),
            MinedTable(airport_table, rows, SOURCE.source_id, [f"row {i}" for i in range(len(rows))], "extract"),
        ],
        documents=[MinedDocument(document, "# Airports\n", SOURCE.source_id, "#top", "extract")],
        sources=[SOURCE],
    )


def opened(snapshot: bytes) -> sqlite3.Connection:
    """Return a connection to a snapshot in memory."""
    connection = sqlite3.connect(":memory:")
    connection.deserialize(snapshot)
    return connection


def check_invariants(world: World) -> list[str]:
    """Return the invariants that a world's snapshot violates."""
    connection = opened(world.snapshot)
    return [one.meaning for one in world.invariants if connection.execute(one.violations).fetchall()]


def is_connected(world: World) -> bool:
    """Whether references join all tables of a world, log tables aside."""
    tables = {table.name: table for table in world.database.tables if not table.log}
    edges = {
        frozenset((name, column.references.partition(".")[0]))
        for name, table in tables.items()
        for column in table.columns
        if column.references
    }
    reached = {next(iter(tables))}
    while True:
        more = {name for edge in edges if edge & reached for name in edge} - reached
        if not more:
            return reached == set(tables)
        reached |= more
