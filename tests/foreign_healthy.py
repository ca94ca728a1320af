"""Nine healthy foreign worlds of different shape: what an importer must take as it is."""

from __future__ import annotations

import random

from foreign_worlds import (
    _CITIES,
    World,
    counter,
    creator,
    day,
    getter,
    mover,
    people,
    refusal,
    searcher,
    setter,
    tool,
)


def library() -> World:
    """Three lists of records, self-contained functions that read MCP_DB_DIR."""
    rng = random.Random("library")
    world = World("library_circulation")
    titles = [f"{a} {b}" for a in ("Silent", "Golden", "Broken", "Distant", "Hidden", "Paper") for b in
              ("Harbor", "Orchard", "Compass", "Winter", "Lantern")]  # fmt: skip
    world.tables["books"] = [
        {"book_id": f"BK{n:03d}", "title": title, "genre": rng.choice(["novel", "history", "science", "poetry"]),
         "year": rng.randint(1950, 2020), "copies": rng.randint(0, 6), "shelf": {"floor": rng.randint(1, 3), "row": n}}
        for n, title in enumerate(rng.sample(titles, 24), 1)
    ]  # fmt: skip
    world.tables["members"] = [
        {"member_id": f"MB{n:03d}", "name": name, "city": rng.choice(_CITIES),
         "tier": rng.choice(["standard", "student", "senior"]), "fines": rng.randint(0, 900) / 100}
        for n, name in enumerate(people(rng, 20), 1)
    ]  # fmt: skip
    world.tables["loans"] = [
        {"loan_id": f"LN{n:03d}", "book_id": rng.choice(world.keys("books")),
         "member_id": rng.choice(world.keys("members")), "status": rng.choice(["open", "open", "returned", "lost"]),
         "due_date": day(rng, 4), "renewals": rng.randint(0, 3)}
        for n in range(1, 41)
    ]  # fmt: skip
    getter(world, "books", "book", "book")
    getter(world, "members", "member", "member")
    getter(world, "loans", "loan", "loan")
    searcher(world, "books", {"title": "contains", "genre": "equals", "year": "min"})
    searcher(world, "members", {"name": "contains", "city": "equals", "tier": "equals"})
    searcher(world, "loans", {"member_id": "equals", "book_id": "equals", "status": "equals"})
    mover(world, "loans", "loan", "return", ("open",), "returned")
    setter(world, "members", "member", "fines")
    counter(world, "loans", "status")
    creator(world, "loans", "loan", {"book_id": "books", "member_id": "members"},
            {"status": "open", "due_date": "2025-05-01", "renewals": 0})  # fmt: skip
    return world


def fleet() -> World:
    """Records by id in objects, hard-coded paths, helpers at module level."""
    rng = random.Random("fleet")
    world = World("fleet_dispatch", style="hard", formats={"vehicles": "map", "drivers": "map", "trips": "map"})
    world.tables["vehicles"] = [
        {"vehicle_id": f"V-{n:02d}", "plate": f"{rng.choice('ABCD')}{rng.choice('XYZ')} {rng.randint(100, 999)}{n}",
         "kind": rng.choice(["van", "truck", "bike"]), "capacity_kg": rng.randint(2, 40) * 50,
         "depot": rng.choice(_CITIES)}
        for n in range(1, 25)
    ]  # fmt: skip
    world.tables["drivers"] = [
        {"driver_id": f"D-{n:02d}", "name": name, "licence_class": rng.choice(["B", "C", "CE"]),
         "depot": rng.choice(_CITIES), "active": rng.random() < 0.8}
        for n, name in enumerate(people(rng, 18), 1)
    ]  # fmt: skip
    world.tables["trips"] = [
        {"trip_id": f"T-{n:03d}", "vehicle_id": rng.choice(world.keys("vehicles")),
         "driver_id": rng.choice(world.keys("drivers")),
         "status": rng.choice(["planned", "planned", "running", "done"]),
         "distance_km": rng.randint(5, 400), "planned_for": day(rng), "departed_at": None}
        for n in range(1, 51)
    ]  # fmt: skip
    getter(world, "vehicles", "vehicle")
    getter(world, "drivers", "driver")
    getter(world, "trips", "trip")
    searcher(world, "vehicles", {"kind": "equals", "depot": "equals", "capacity_kg": "min"})
    searcher(world, "drivers", {"name": "contains", "depot": "equals", "licence_class": "equals"})
    searcher(world, "trips", {"vehicle_id": "equals", "driver_id": "equals", "status": "equals", "distance_km": "max"})
    mover(world, "trips", "trip", "start", ("planned",), "running", "departed_at")
    mover(world, "trips", "trip", "finish", ("running",), "done")
    counter(world, "trips", "status", "distance_km")
    return world


def clinic() -> World:
    """Nested records: visits and contacts inside of patients, an object around the appointments."""
    rng = random.Random("clinic")
    world = World("clinic_scheduling", style="mixed", formats={"appointments": "inside"})
    world.tables["doctors"] = [
        {"doctor_id": f"DOC{n}", "name": name, "specialty": rng.choice(["cardiology", "dermatology", "pediatrics"]),
         "room": f"R{n}"}
        for n, name in enumerate(people(rng, 12), 1)
    ]  # fmt: skip
    world.tables["patients"] = [
        {"patient_id": f"PAT{n:02d}", "name": name, "birth_date": f"19{rng.randint(50, 99)}-0{rng.randint(1, 9)}-12",
         "contact": {"city": rng.choice(_CITIES), "phone": f"555-{n:04d}"},
         "visits": [{"visit_id": f"VIS{n:02d}{k}", "date": day(rng), "reason": rng.choice(["check", "pain", "scan"])}
                    for k in range(rng.randint(0, 3))]}
        for n, name in enumerate(people(rng, 22), 1)
    ]  # fmt: skip
    world.tables["appointments"] = [
        {"appointment_id": f"APT{n:03d}", "patient_id": rng.choice(world.keys("patients")),
         "doctor_id": rng.choice(world.keys("doctors")),
         "status": rng.choice(["booked", "booked", "kept", "cancelled"]),
         "date": day(rng, 5), "minutes": rng.choice([15, 20, 30, 45, 60]), "notes": ""}
        for n in range(1, 41)
    ]  # fmt: skip
    getter(world, "doctors", "doctor", "data")
    getter(world, "patients", "patient", "data")
    getter(world, "appointments", "appointment", "data")
    searcher(world, "doctors", {"name": "contains", "specialty": "equals"}, listed="results")
    searcher(world, "patients", {"name": "contains"}, listed="results")
    searcher(world, "appointments", {"patient_id": "equals", "doctor_id": "equals", "status": "equals"},
             listed="results")  # fmt: skip
    mover(world, "appointments", "appointment", "cancel", ("booked",), "cancelled")
    setter(world, "appointments", "appointment", "minutes", 5)
    tool(world, "list_patient_visits", "List the visits of a patient.", {"patient_id": str}, ("patients",),
         f"""for row in patients:
    if row["patient_id"] == patient_id:
        return {{"visits": row["visits"], "count": len(row["visits"])}}
{refusal("NOT_FOUND", "no such patient")}""")  # fmt: skip
    tool(world, "cancel_many", "Cancel several appointments.",
         {"appointment_ids": {"type": "array", "items": {"type": "string"}}, "notify": bool}, ("appointments",),
         """done = []
for row in appointments:
    if row["appointment_id"] in appointment_ids and row["status"] == "booked":
        row["status"] = "cancelled"
        done.append(row["appointment_id"])
save_appointments(appointments)
return {"cancelled": done, "count": len(done), "notified": bool(notify)}""")  # fmt: skip
    return world


def warehouse() -> World:
    """CSV files."""
    rng = random.Random("warehouse")
    world = World("warehouse_stock", formats={"items": "csv", "bins": "csv", "movements": "csv"})
    world.tables["items"] = [
        {"item_id": f"ITM{n:03d}", "name": f"{a} {b}", "category": rng.choice(["bolts", "pipes", "valves"]),
         "unit_price": rng.randint(50, 9000) / 100}
        for n, (a, b) in enumerate([(a, b) for a in ("Brass", "Steel", "Nylon", "Copper") for b in
                                    ("Elbow", "Flange", "Gasket", "Nipple", "Union", "Washer")], 1)
    ]  # fmt: skip
    world.tables["bins"] = [
        {"bin_id": f"BIN{n:02d}", "aisle": rng.choice("ABCD"), "item_id": rng.choice(world.keys("items")),
         "quantity": rng.randint(0, 300)}
        for n in range(1, 31)
    ]  # fmt: skip
    world.tables["movements"] = [
        {"movement_id": f"MOV{n:03d}", "bin_id": rng.choice(world.keys("bins")), "units": rng.randint(1, 60),
         "status": rng.choice(["requested", "requested", "picked", "void"]), "requested_on": day(rng)}
        for n in range(1, 41)
    ]  # fmt: skip
    getter(world, "items", "item")
    getter(world, "bins", "bin")
    getter(world, "movements", "movement")
    searcher(world, "items", {"name": "contains", "category": "equals", "unit_price": "max"})
    searcher(world, "bins", {"aisle": "equals", "item_id": "equals", "quantity": "min"})
    searcher(world, "movements", {"bin_id": "equals", "status": "equals"})
    mover(world, "movements", "movement", "pick", ("requested",), "picked")
    mover(world, "movements", "movement", "void", ("requested", "picked"), "void")
    counter(world, "bins", "aisle", "quantity")
    counter(world, "movements", "status")
    return world


def services() -> World:
    """YAML files, read with yaml.safe_load."""
    rng = random.Random("services")
    world = World("service_catalog", style="plain", formats={"services": "yaml", "teams": "yaml", "incidents": "yaml"})
    world.tables["teams"] = [
        {"team_id": f"team-{n}", "name": name, "channel": f"#ops-{n}", "size": rng.randint(3, 12)}
        for n, name in enumerate(["Atlas", "Borealis", "Cinder", "Delta", "Ember", "Falcon", "Gale", "Helix"], 1)
    ]
    world.tables["services"] = [
        {"service_id": f"svc-{n:02d}", "name": f"{a}-{b}", "team_id": rng.choice(world.keys("teams")),
         "tier": rng.choice(["gold", "silver", "bronze"]), "replicas": rng.randint(1, 9)}
        for n, (a, b) in enumerate([(a, b) for a in ("billing", "search", "login", "media", "mail") for b in
                                    ("api", "worker", "cache", "proxy")], 1)
    ]  # fmt: skip
    world.tables["incidents"] = [
        {"incident_id": f"inc-{n:03d}", "service_id": rng.choice(world.keys("services")),
         "severity": rng.choice(["low", "medium", "high"]), "status": rng.choice(["open", "open", "resolved"]),
         "opened_on": day(rng), "minutes_down": rng.randint(1, 300)}
        for n in range(1, 41)
    ]  # fmt: skip
    getter(world, "teams", "team", "team")
    getter(world, "services", "service", "service")
    getter(world, "incidents", "incident", "incident")
    searcher(world, "services", {"name": "contains", "team_id": "equals", "tier": "equals"})
    searcher(world, "incidents", {"service_id": "equals", "severity": "equals", "status": "equals"})
    searcher(world, "teams", {"name": "contains", "size": "min"})
    mover(world, "incidents", "incident", "resolve", ("open",), "resolved")
    setter(world, "services", "service", "replicas", 1)
    counter(world, "incidents", "severity", "minutes_down")
    return world


def museum() -> World:
    """Hyphenated tool names; HTML and text beside the records."""
    rng = random.Random("museum")
    world = World("museum_guides", formats={"artists": "map"})
    world.tables["galleries"] = [
        {"gallery_id": f"G{n}", "name": f"{name} Hall", "floor": rng.randint(0, 4), "open": rng.random() < 0.7}
        for n, name in enumerate(["Amber", "Basalt", "Coral", "Dune", "Elm", "Flint", "Garnet", "Hazel"], 1)
    ]
    world.tables["artists"] = [
        {"artist_id": f"AR{n:02d}", "name": name, "born": rng.randint(1800, 1990), "country": rng.choice(
            ["Chile", "Ghana", "Japan", "Latvia"])}
        for n, name in enumerate(people(rng, 20), 1)
    ]  # fmt: skip
    world.tables["artworks"] = [
        {"artwork_id": f"AW{n:03d}", "title": f"{a} {b}", "artist_id": rng.choice(world.keys("artists")),
         "gallery_id": rng.choice(world.keys("galleries")), "medium": rng.choice(["oil", "bronze", "print"]),
         "status": rng.choice(["on_display", "on_display", "in_storage"]), "value": rng.randint(10, 900) * 100}
        for n, (a, b) in enumerate([(a, b) for a in ("Study of", "Dream of", "After", "Toward", "Without") for b in
                                    ("Rain", "Salt", "Glass", "Ash", "Light", "Bread", "Rope")], 1)
    ]  # fmt: skip
    world.extra["guide.html"] = "<html><body><h1>Visit</h1><p>Doors close at 18:00.</p></body></html>\n"
    world.extra["notes/care.txt"] = "Bronzes are dusted on Mondays.\nPrints rest in the dark for 90 days.\n"
    for table, noun in (("galleries", "gallery"), ("artists", "artist"), ("artworks", "artwork")):
        getter(world, table, noun, hyphen=True)
    searcher(world, "galleries", {"name": "contains", "floor": "equals"}, hyphen=True)
    searcher(world, "artists", {"name": "contains", "country": "equals", "born": "min"}, hyphen=True)
    searcher(world, "artworks", {"title": "contains", "artist_id": "equals", "gallery_id": "equals",
                                 "medium": "equals", "value": "max"}, hyphen=True)  # fmt: skip
    mover(world, "artworks", "artwork", "store", ("on_display",), "in_storage")
    mover(world, "artworks", "artwork", "hang", ("in_storage",), "on_display")
    setter(world, "artworks", "artwork", "value", 0)
    world.tools.append(
        {
            "name": "read-guide",
            "description": "Read the visitors' guide.",
            "parameters": {"type": "object", "properties": {}},
            "implementation": "def read_guide(**kwargs):\n    import os\n"
            '    with open(os.path.join(os.environ["MCP_DB_DIR"], "guide.html")) as handle:\n'
            '        return {"content": handle.read()}\n',
        }
    )
    return world


def crm() -> World:
    """Tools as classes; a session's token is minted, stored and asked for."""
    rng = random.Random("crm")
    world = World("crm_pipeline", style="pathlib")
    world.tables["accounts"] = [
        {"account_id": f"ACC{n:02d}", "name": f"{name} Ltd", "industry": rng.choice(["energy", "retail", "health"]),
         "employees": rng.randint(5, 900)}
        for n, name in enumerate(["Arden", "Brill", "Corvo", "Darlo", "Exel", "Fenwick", "Gorse", "Hythe", "Inver",
                                  "Jura", "Kelso", "Lomond", "Mersey", "Nairn", "Orwell", "Penn"], 1)
    ]  # fmt: skip
    world.tables["contacts"] = [
        {"contact_id": f"CON{n:03d}", "name": name, "account_id": rng.choice(world.keys("accounts")),
         "role": rng.choice(["buyer", "engineer", "director"]), "subscribed": rng.random() < 0.5}
        for n, name in enumerate(people(rng, 30), 1)
    ]  # fmt: skip
    world.tables["deals"] = [
        {"deal_id": f"DL{n:03d}", "account_id": rng.choice(world.keys("accounts")),
         "contact_id": rng.choice(world.keys("contacts")), "amount": rng.randint(1, 90) * 1000,
         "status": rng.choice(["lead", "proposal", "proposal", "won", "lost"]), "closes_on": day(rng, 6)}
        for n in range(1, 41)
    ]  # fmt: skip
    world.extra["sessions.json"] = "[]\n"
    getter(world, "accounts", "account", "account")
    getter(world, "contacts", "contact", "contact")
    getter(world, "deals", "deal", "deal")
    searcher(world, "accounts", {"name": "contains", "industry": "equals", "employees": "min"})
    searcher(world, "contacts", {"name": "contains", "account_id": "equals", "role": "equals"})
    searcher(world, "deals", {"account_id": "equals", "contact_id": "equals", "status": "equals", "amount": "min"})
    mover(world, "deals", "deal", "win", ("proposal",), "won")
    mover(world, "deals", "deal", "lose", ("lead", "proposal"), "lost")
    counter(world, "deals", "status", "amount")
    world.tools.append(
        {
            "name": "open_session",
            "description": "Open a session and return its token.",
            "parameters": {"type": "object", "properties": {"user": {"type": "string"}}, "required": ["user"]},
            "implementation": """import json, os, secrets, time

def open_session(user=None, **kwargs):
    path = os.path.join(os.environ["MCP_DB_DIR"], "sessions.json")
    sessions = json.load(open(path))
    token = secrets.token_hex(8)
    sessions.append({"token": token, "user": user, "expires": time.time() + 3600})
    with open(path, "w") as handle:
        json.dump(sessions, handle)
    return {"token": token, "user": user}
""",
        }
    )
    return world


def ticketing() -> World:
    """Minted uuids and times, an audit log written by reads, a quota that each call uses up."""
    rng = random.Random("ticketing")
    world = World("event_ticketing", style="env")
    world.tables["venues"] = [
        {"venue_id": f"VEN{n}", "name": f"{name} Arena", "city": rng.choice(_CITIES), "seats": rng.randint(2, 60) * 100}
        for n, name in enumerate(["Apex", "Bolt", "Crown", "Drum", "Echo", "Forum", "Globe", "Helm", "Iris", "Jade"], 1)
    ]
    world.tables["events"] = [
        {"event_id": f"EVT{n:02d}", "title": f"{a} {b}", "venue_id": rng.choice(world.keys("venues")),
         "date": day(rng, 7), "price": rng.randint(15, 120), "genre": rng.choice(["jazz", "opera", "comedy"])}
        for n, (a, b) in enumerate([(a, b) for a in ("Night of", "Best of", "Tales of", "Echoes of", "Songs of")
                                    for b in ("Rome", "Cairo", "Lima", "Oslo", "Seoul")], 1)
    ]  # fmt: skip
    world.tables["bookings"] = [
        {"booking_id": f"BKG{n:03d}", "event_id": rng.choice(world.keys("events")), "buyer": name,
         "tickets": rng.randint(1, 6), "status": rng.choice(["held", "paid", "paid", "refunded"]),
         "booked_at": f"{day(rng, 2)}T10:{n:02d}:00"}
        for n, name in enumerate(people(rng, 40), 1)
    ]  # fmt: skip
    world.extra["audit_log.json"] = "[]\n"
    world.extra["quota.json"] = '{"limit": 5, "used": 0}\n'
    getter(world, "venues", "venue", "venue")
    getter(world, "events", "event", "event")
    getter(world, "bookings", "booking", "booking")
    searcher(world, "venues", {"name": "contains", "city": "equals", "seats": "min"})
    searcher(world, "events", {"title": "contains", "venue_id": "equals", "genre": "equals", "price": "max"})
    searcher(world, "bookings", {"event_id": "equals", "buyer": "contains", "status": "equals"})
    mover(world, "bookings", "booking", "refund", ("paid",), "refunded")
    mover(world, "bookings", "booking", "pay", ("held",), "paid")
    creator(world, "bookings", "booking", {"event_id": "events", "buyer": "", "tickets": ""},
            {"status": "held", "booked_at": "$clock"}, minted="uuid")  # fmt: skip
    counter(world, "bookings", "status", "tickets")
    for row in world.tools:
        row["implementation"] = _audited(row["implementation"], row["name"])
    return world


def _audited(source: str, name: str) -> str:
    """Return a tool's source with a log and a quota around it."""
    inner = source.replace(f"def {name}(", f"def _{name}(", 1)
    return f"""{inner}
def {name}(**kwargs):
    import datetime, json, os
    folder = os.environ["MCP_DB_DIR"]
    with open(os.path.join(folder, "quota.json")) as handle:
        quota = json.load(handle)
    if quota["used"] >= quota["limit"] * 100:
        return {{"error": {{"code": "QUOTA_EXCEEDED", "message": "no calls left"}}}}
    quota["used"] += 1
    with open(os.path.join(folder, "quota.json"), "w") as handle:
        json.dump(quota, handle)
    with open(os.path.join(folder, "audit_log.json")) as handle:
        log = json.load(handle)
    log.append({{"tool": "{name}", "at": datetime.datetime.utcnow().isoformat()}})
    with open(os.path.join(folder, "audit_log.json"), "w") as handle:
        json.dump(log, handle)
    return _{name}(**kwargs)
"""


def parking() -> World:
    """Paths directly below /app/database; integer keys; a key named id."""
    rng = random.Random("parking")
    world = World("parking_permits", style="plain")
    world.tables["zones"] = [
        {"id": n, "name": f"Zone {name}", "rate": rng.randint(1, 9) * 50, "capacity": rng.randint(10, 99)}
        for n, name in enumerate("ABCDEFGHIJ", 1)
    ]
    world.tables["residents"] = [
        {
            "id": 100 + n,
            "name": name,
            "street": f"{rng.choice(_CITIES)} Street {n}",
            "disabled_badge": rng.random() < 0.2,
        }
        for n, name in enumerate(people(rng, 24), 1)
    ]
    world.tables["permits"] = [
        {"id": 1000 + n, "resident_id": rng.choice(world.keys("residents")), "zone_id": rng.choice(world.keys("zones")),
         "plate": f"PK-{n:03d}", "status": rng.choice(["valid", "valid", "suspended", "expired"]),
         "valid_until": day(rng, 9)}
        for n in range(1, 41)
    ]  # fmt: skip
    for table, noun in (("zones", "zone"), ("residents", "resident"), ("permits", "permit")):
        key = f"{noun}_id"
        tool(world, f"get_{noun}", f"Get one {noun}.", {key: int}, (table,),
             f'for row in {table}:\n    if row["id"] == {key}:\n        return {{"status": "success", "data": row}}\n'
             + refusal("NOT_FOUND", f"no such {noun}"))  # fmt: skip
    searcher(world, "zones", {"name": "contains", "rate": "max"})
    searcher(world, "residents", {"name": "contains", "street": "contains"})
    searcher(world, "permits", {"resident_id": "equals", "zone_id": "equals", "plate": "equals", "status": "equals"})
    for verb, start, end in (("suspend", "valid", "suspended"), ("reinstate", "suspended", "valid")):
        tool(world, f"{verb}_permit", f"{verb.capitalize()} a permit.", {"permit_id": int}, ("permits",),
             f"""for row in permits:
    if row["id"] == permit_id:
        if row["status"] != "{start}":
            {refusal("INVALID_STATE", "not possible in this status")}
        row["status"] = "{end}"
        save_permits(permits)
        return {{"status": "success", "data": row}}
{refusal("NOT_FOUND", "no such permit")}""")  # fmt: skip
    counter(world, "permits", "status")
    return world


HEALTHY = (library, fleet, clinic, warehouse, services, museum, crm, ticketing, parking)
