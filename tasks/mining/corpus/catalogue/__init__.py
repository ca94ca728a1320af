"""The data sets that are known inside packages, by topic. Each module lists `DATASETS`."""

from __future__ import annotations

from tasks.mining.corpus.catalogue import (
    cloud,
    finance,
    health,
    language,
    media,
    places,
    reference,
    science,
    security,
    software,
    travel,
    trends,
    web,
)
from tasks.mining.corpus.items import Dataset

DATASETS: tuple[Dataset, ...] = (
    *travel.DATASETS,
    *places.DATASETS,
    *finance.DATASETS,
    *health.DATASETS,
    *science.DATASETS,
    *software.DATASETS,
    *cloud.DATASETS,
    *security.DATASETS,
    *media.DATASETS,
    *language.DATASETS,
    *reference.DATASETS,
    *web.DATASETS,
    *trends.DATASETS,
)

__all__ = ["DATASETS"]
