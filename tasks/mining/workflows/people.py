"""Names of people and organisations, and the table of a workflow's parties."""

from __future__ import annotations

from schemas.database import Column
from tasks.mining.generators import days_from_now, pick
from tasks.mining.workflows.columns import category, day, label, status, table
from tasks.mining.workflows.nouns import Noun
from tasks.mining.workflows.plan import Moment, Sampler, Seed

_GIVEN_NAMES = """
Ada Amara Anders Anouk Aylin Bela Bruno Carmen Chidi Clara Daniela Darius Edda Elif Emeka Esther Farah Felix Freya
Gita Goran Hana Hugo Ida Imani Ines Ivo Jonas Jun Kaisa Kamal Keiko Kwame Lara Leif Lucia Maja Malik Marta Mateo
Mei Milan Nadia Nils Noor Olga Omar Petra Priya Rafael Renata Ruben Samira Selma Stellan Tariq Tomas Ulla Vera
Viktor Wanda Yara Yusuf Zoe
"""
_FAMILY_NAMES = """
Abara Almeida Andersen Baptiste Barros Bergman Castillo Chandra Cohen Costa Dahl Demir Dubois Eriksen Farouk
Ferrari Fischer Fontaine Garcia Gruber Haddad Hansen Hoang Ibrahim Ishikawa Jansen Kaya Keller Kimura Kovacs
Kowalski Larsen Lehmann Lindqvist Lopez Mbeki Mensah Moreau Moretti Nakamura Ndiaye Novak Okafor Olsen Pereira
Petrov Quispe Rahman Reyes Rossi Sato Schmidt Silva Singh Sokolov Suarez Takahashi Tanaka Torres Varga Vargas Weber
Yilmaz Zhou Zimmermann
"""
_ORGANISATION_NAMES = """
Alder Beacon Cedar Delta Ember Fjord Granite Harbour Indigo Juniper Kestrel Lumen Meridian Northgate Opal Pioneer
Quarry Ridgeway Solstice Tidewater Umber Vantage Willow Yarrow Zephyr Amber Birch Cobalt Dune Echo
"""
_SUFFIXES = ("Partners", "Works", "Group", "Collective", "Institute", "Services", "Laboratory", "Trust")
_GIVEN, _FAMILY, _ORGANISATION = _GIVEN_NAMES.split(), _FAMILY_NAMES.split(), _ORGANISATION_NAMES.split()

TIERS = ("standard", "silver", "gold")
TEAMS = ("north", "south", "east", "west")


def person_name(m: Moment) -> str:
    """Return a random full name, of some 5,500; the draft draws again where names must differ."""
    return f"{m.rng.choice(_GIVEN)} {m.rng.choice(_FAMILY)}"


def organisation_name(m: Moment) -> str:
    """Return a random name of an organisation, of 240; the draft draws again where names must differ."""
    return f"{m.rng.choice(_ORGANISATION)} {m.rng.choice(_SUFFIXES)}"


def party(noun: Noun, side: str, count: int, extra: tuple[Column, ...], values: dict[str, Sampler]) -> Seed:
    """Return the seed of a table of people: name, status, tier (clients) or team (staff), and a workflow's columns."""
    grade = category("tier", TIERS, "the service tier") if side == "client" else category("team", TEAMS, "the team")
    since = day("joined_on", f"the day on which the {noun} was registered")
    people = table(
        noun,
        label("name", f"the {noun}'s full name"),
        status("active", "suspended"),
        grade,
        since,
        *extra,
        description=f"The {noun.many} known to the service.",
    )
    common: dict[str, Sampler] = {
        "name": person_name,
        "status": pick(("active", "suspended"), (0.88, 0.12)),
        "tier": pick(TIERS, (0.6, 0.25, 0.15)),
        "joined_on": days_from_now(-1500, -90),
    }
    return Seed(people, count, {**common, **values})
