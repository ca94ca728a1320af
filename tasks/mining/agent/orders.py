"""What a researcher's model asks to be saved: the arguments of save_table and save_document."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, Field

from schemas.base import Scalar

_NAME = r"^[a-z][a-z0-9_]{0,39}$"


class ColumnOrder(BaseModel):
    """A column of the saved table."""

    name: str = Field(pattern=_NAME, description="snake case, telling: 'elevation_m', 'country_code'")
    source: str = Field(default="", max_length=200, description="the source's column; '' if it has the same name")
    description: str = Field(default="", max_length=300, description="what it means, one sentence")
    unit: str = Field(default="", max_length=20, description="of a number: 'km', 'EUR', '%'")
    type: Literal["", "text", "number"] = Field(
        default="",
        description="'text' for codes and versions, 'number' for measures; '': texts become numbers where no digit "
        "is lost ('3.40' or '08000' stays text)",
    )


class Where(BaseModel):
    """A condition that kept rows meet."""

    column: str = Field(description="a column of the source")
    test: Literal["equals", "differs", "contains", "is_known"]
    value: Scalar = None


class TypedRow(BaseModel):
    """A row that you type yourself, out of a page's text."""

    page: str = Field(description="the page that it is from, as 'p1'")
    quote: str = Field(min_length=3, max_length=2000, description="the words of the page's text that hold the values")
    values: dict[str, Scalar]


class ReferenceOrder(BaseModel):
    """A column that holds keys of another saved table."""

    column: str
    table: str = Field(description="the name of the other table")


class TableOrder(BaseModel):
    """A table to save. Give either `source` (all its rows that meet `where`) or `rows`."""

    name: str = Field(pattern=_NAME, description="plural noun in snake case: 'hotels', 'train_stations'")
    noun: str = Field(min_length=2, max_length=40, description="its singular in plain words: 'hotel', 'train station'")
    description: str = Field(max_length=500, description="what a row is, one sentence")
    columns: list[ColumnOrder] = Field(min_length=2, max_length=60)
    key: str = Field(default="", description="the column that tells rows apart (no gaps, no repeats); '': one is found")
    label: str = Field(default="", description="the column that a person would name a row by; '': one is found")
    source: str = Field(default="", description="an opened table ('p1.t2', 'd1.t1') or a result of code ('o1')")
    where: list[Where] = Field(default=[], max_length=10)
    rows: list[TypedRow] = Field(default=[], max_length=300)
    derived: list[str] = Field(
        default=[], description="columns of a result of code that it computed: they stand nowhere in the source"
    )
    references: list[ReferenceOrder] = Field(default=[], max_length=20)


class DocumentOrder(BaseModel):
    """A text of an opened page to keep word for word: rules, terms, explanations."""

    name: str = Field(pattern=_NAME, description="snake case, without an ending: 'cancellation_terms'")
    title: str = Field(min_length=3, max_length=120)
    page: str = Field(description="the page that it is from, as 'p1'")
    from_words: str = Field(
        default="", max_length=300, description="the words it begins with; '': the page's beginning"
    )
    to_words: str = Field(default="", max_length=300, description="the words it ends with; '': the page's end")
