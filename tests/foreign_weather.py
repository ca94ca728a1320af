"""A foreign world behind API keys: every call, reads too, uses a quota up."""

# ruff: noqa: E501 - lines of foreign code stand as they were written

from __future__ import annotations

import random
from typing import Any

from foreign_manner import BOOL, HEAD, INT, TEXT, add_tool
from foreign_worlds import World, day, people

_GUARD = """
keys = load("api_keys")
mine = next((k for k in keys if k["api_key"] == api_key), None)
if mine is None:
    return err("UNAUTHORIZED", "invalid api key")
if mine["quota_remaining"] <= 0:
    return err("QUOTA_EXCEEDED", "quota used up")
mine["quota_remaining"] -= 1
mine["last_used_at"] = datetime.utcnow().isoformat() + "Z"
dump("api_keys", keys)
"""


def weather() -> World:
    """Every call wants an API key and uses its quota up, reads too; nested forecasts; units as options."""
    rng = random.Random("weather")
    world = World("weather_alert_api")
    names = [
        "Bergen Harbour",
        "Cork Airport",
        "Delft Tower",
        "Ghent Canal",
        "Lucca Hill",
        "Oslo Fjord",
        "Porto Ribeira",
        "Riga Port",
        "Split Bay",
        "Turku Quay",
        "Umea North",
        "Vigo Pier",
    ]
    world.tables["api_keys"] = [
        {
            "api_key": f"key_{n}{rng.randrange(10**6):06d}",
            "owner": name,
            "plan": rng.choice(["free", "pro"]),
            "quota_remaining": rng.randint(3, 60),
            "last_used_at": None,
        }
        for n, name in enumerate(people(rng, 8), 1)
    ]
    world.tables["stations"] = [
        {
            "station_id": f"ST{n:03d}",
            "name": name,
            "country": rng.choice(["NO", "IE", "NL"]),
            "elevation_m": rng.randint(1, 900),
            "coordinates": [round(rng.uniform(40, 66), 2), round(rng.uniform(-9, 25), 2)],
        }
        for n, name in enumerate(names, 1)
    ]
    world.tables["observations"] = [
        {
            "obs_id": f"OB{n:04d}",
            "station_id": rng.choice(world.tables["stations"])["station_id"],
            "date": day(rng),
            "temp_c": rng.randint(-120, 300) / 10,
            "wind_kph": rng.randint(0, 110),
            "condition": rng.choice(["rain", "snow", "clear", "fog"]),
        }
        for n in range(1, 61)
    ]
    world.tables["alerts"] = [
        {
            "alert_id": f"AL{n:03d}",
            "station_id": rng.choice(world.tables["stations"])["station_id"],
            "severity": rng.choice(["minor", "moderate", "severe"]),
            "status": rng.choice(["active", "active", "acknowledged", "expired"]),
            "issued_on": day(rng, 3),
            "message": f"Notice {n}",
        }
        for n in range(1, 31)
    ]
    world.tables["subscriptions"] = [
        {
            "subscription_id": f"SUB{n:03d}",
            "station_id": rng.choice(world.tables["stations"])["station_id"],
            "email": f"user{n}@example.org",
            "threshold_kph": rng.choice([40, 60, 80]),
            "enabled": rng.random() < 0.7,
        }
        for n in range(1, 26)
    ]
    world.extra["README.md"] = "# Weather alerts\n\nEvery request needs an api_key and takes one from its quota.\n"
    key = {"api_key": {"type": "string", "description": "API key of the caller"}}

    def add(name: str, said: str, given: dict[str, Any], needed: list[str], body: str) -> None:
        add_tool(world, name, said, {**key, **given}, ["api_key", *needed], _GUARD + body, HEAD)

    for noun, table in (("station", "stations"), ("alert", "alerts"), ("subscription", "subscriptions")):
        add(
            f"get_{noun}",
            f"Get a {noun}.",
            {f"{noun}_id": TEXT},
            [f"{noun}_id"],
            f'''
row = next((r for r in load("{table}") if r["{noun}_id"] == {noun}_id), None)
return {{"status": "ok", "data": row}} if row else err("NOT_FOUND", "no such {noun}")
''',
        )
    for table, filters in (
        ("stations", {"country": TEXT, "min_elevation_m": INT}),
        ("observations", {"station_id": TEXT, "date": TEXT, "condition": TEXT}),
        ("alerts", {"station_id": TEXT, "severity": TEXT, "status": TEXT}),
        ("subscriptions", {"station_id": TEXT, "enabled": BOOL}),
    ):
        tests = "\n".join(
            f'rows = [r for r in rows if {n} is None or r["{n.removeprefix("min_")}"] {">=" if n.startswith("min_") else "=="} {n}]'
            for n in filters
        )
        add(
            f"search_{table}",
            f"Search {table}.",
            filters,
            [],
            f'''
rows = load("{table}")
{tests}
return {{"status": "ok", "data": {{"results": rows, "count": len(rows)}}}}
''',
        )
    add(
        "acknowledge_alert",
        "Acknowledge an active alert.",
        {"alert_id": TEXT},
        ["alert_id"],
        """
rows = load("alerts")
for r in rows:
    if r["alert_id"] == alert_id:
        if r["status"] != "active":
            return err("INVALID_STATE", "not active")
        r["status"] = "acknowledged"
        dump("alerts", rows)
        return {"status": "ok", "data": r}
return err("NOT_FOUND", "no such alert")
""",
    )
    add(
        "set_subscription_threshold",
        "Set the wind threshold of a subscription.",
        {"subscription_id": TEXT, "threshold_kph": INT},
        ["subscription_id", "threshold_kph"],
        """
rows = load("subscriptions")
for r in rows:
    if r["subscription_id"] == subscription_id:
        r["threshold_kph"] = threshold_kph
        dump("subscriptions", rows)
        return {"status": "ok", "data": r}
return err("NOT_FOUND", "no such subscription")
""",
    )
    add(
        "create_subscription",
        "Subscribe an email to a station.",
        {"station_id": TEXT, "email": TEXT, "threshold_kph": INT},
        ["station_id", "email", "threshold_kph"],
        """
if not any(s["station_id"] == station_id for s in load("stations")):
    return err("NOT_FOUND", "no such station")
rows = load("subscriptions")
new = {"subscription_id": "SUB%03d" % (len(rows) + 1), "station_id": station_id, "email": email, "threshold_kph": threshold_kph, "enabled": True}
rows.append(new)
dump("subscriptions", rows)
return {"status": "ok", "data": new}
""",
    )
    return world
