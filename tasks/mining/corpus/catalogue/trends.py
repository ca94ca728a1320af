"""Development indicators of countries, and employment by sector."""

from __future__ import annotations

from collections.abc import Iterator

from tasks.mining.corpus.formats import delimited
from tasks.mining.corpus.items import Dataset
from tasks.mining.corpus.shapes import Values, exploded, grouped, mapped

_TREND = ("indicator", "trend", "development", "population", "income", "life", "statistics", "news", "report")

_JOBS = ("employment", "jobs", "sector", "industry", "economy", "labour", "statistics", "news", "trend")


def _land(values: Values) -> Values:
    return {**values, "id": f"{values['country']}-{values['year']}", "income": round(float(values["gdpPercap"]), 2)}


def _land_summary(name: str, years: list[Values]) -> Values:
    return {"country": name, "continent": years[0]["continent"], "years": len(years)}


def _sectors(values: Values) -> Iterator[Values]:
    for sector, count in values.items():
        if sector not in ("month", "nonfarm_change"):
            yield {
                "id": f"{sector}-{values['month'][:7]}",
                "sector": sector,
                "title": sector.replace("_", " "),
                "month": values["month"],
                "jobs": float(count),
            }


def _sector(name: str, months: list[Values]) -> Values:
    jobs = [month["jobs"] for month in months]
    return {"sector": name, "title": months[0]["title"], "lowest": min(jobs), "highest": max(jobs)}


_employment = exploded(delimited(), _sectors)


DATASETS = (
    Dataset(
        name="indicators",
        package="gapminder",
        path="gapminder/gapminder.csv",
        load=mapped(delimited(), _land),
        title="Development indicators",
        description="Life expectancy, population and income of countries, every five years from 1952 to 2007.",
        topics=_TREND,
        noun="indicator",
        nouns="indicators",
        key="indicator_id",
        columns={
            "indicator_id": ("id", "country and year"),
            "nation_name": ("country", "country that was measured"),
            "year": ("year", "year of the figures"),
            "life_expectancy_years": ("lifeExp", "life expectancy at birth"),
            "population": ("pop", "number of people"),
            "income_usd_per_person": ("income", "gross domestic product per person"),
        },
        transform="derive:indicator_id; income rounded",
    ),
    Dataset(
        name="nations",
        package="gapminder",
        path="gapminder/gapminder.csv",
        load=grouped(delimited(), lambda values: values["country"], _land_summary),
        title="Countries with development indicators",
        description="Countries and the continents that they lie on.",
        topics=_TREND,
        noun="nation",
        nouns="nations",
        key="nation_name",
        columns={
            "nation_name": ("country", "name of the country"),
            "continent": ("continent", "continent"),
            "year_count": ("years", "years with figures in the source"),
        },
        transform="derive:group indicators by country",
    ),
    Dataset(
        name="employment",
        package="vega_datasets",
        path="vega_datasets/_data/us-employment.csv",
        load=_employment,
        title="Employment in the USA by sector",
        description="Jobs in thousands by sector and month, 2006 to 2015 (BLS).",
        topics=_JOBS,
        noun="employment figure",
        nouns="employment figures",
        key="figure_id",
        columns={
            "figure_id": ("id", "sector and month"),
            "sector_code": ("sector", "sector of the economy"),
            "month_date": ("month", "first day of the month"),
            "jobs_thousands": ("jobs", "thousands of jobs, seasonally adjusted"),
        },
        transform="melt one row a sector and month",
    ),
    Dataset(
        name="sectors",
        package="vega_datasets",
        path="vega_datasets/_data/us-employment.csv",
        load=grouped(_employment, lambda values: values["sector"], _sector),
        title="Sectors of the economy",
        description="Sectors with the lowest and highest number of jobs between 2006 and 2015.",
        topics=_JOBS,
        noun="sector",
        nouns="sectors",
        key="sector_code",
        label="sector_title",
        columns={
            "sector_code": ("sector", "short name"),
            "sector_title": ("title", "name of the sector"),
            "lowest_jobs_thousands": ("lowest", "fewest jobs in a month"),
            "highest_jobs_thousands": ("highest", "most jobs in a month"),
        },
        transform="derive:group employment by sector",
    ),
)
