"""The words of an environment's tools: its verbs, safe Python names, and plain phrases for people."""

from __future__ import annotations

import hashlib
import keyword
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from schemas.database import Column, Table

RESERVED_NAMES = frozenset(
    {"reset", "step", "state", "close", "verify", "seed_session", "close_session", "aggregate_metrics", "mcp"}
    | {"get_reward"}
)
"""Names that environment servers keep for themselves; no tool may have one."""

_TAKEN = {"ctx", "limit", "sort_by", "descending", "group_by", "Any", "date", "filters", "where", "order", "matches"}
_SQL_WORDS = frozenset(
    """abort action add after all alter analyze and as asc attach before begin between by cascade case cast check
    collate column commit conflict constraint create cross current default delete desc detach distinct do drop each
    else end escape except exists explain fail filter following for foreign from full glob group having if ignore
    immediate in index indexed initially inner insert instead intersect into is isnull join key last left like limit
    match natural no not notnull null of offset on or order outer over partition plan pragma primary query raise range
    recursive references regexp reindex release rename replace restrict right rollback row rows savepoint select set
    table temp then to transaction trigger union unique update using vacuum values view virtual when where window
    with without""".split()  # noqa: SIM905 - a list of 110 lines would be no clearer
)

_GET = ("get_{noun}", "look_up_{noun}", "fetch_{noun}", "show_{noun}", "read_{noun}")
_SEARCH = ("search_{nouns}", "find_{nouns}", "list_{nouns}", "browse_{nouns}", "query_{nouns}")
_CHILDREN = (
    "list_{nouns}_of_{parent}",
    "get_{nouns}_by_{parent}",
    "find_{nouns}_for_{parent}",
    "show_{nouns}_by_{parent}",
)
_COUNT = ("count_{nouns}", "number_of_{nouns}", "how_many_{nouns}", "tally_{nouns}")
_STATISTIC = ("{statistic}_{measure}_of_{nouns}", "{nouns}_{statistic}_{measure}", "{statistic}_{nouns}_{measure}")
_DOCUMENTS = (
    ("list_documents", "read_document", "search_documents"),
    ("show_documents", "open_document", "find_in_documents"),
    ("get_document_list", "get_document", "find_documents"),
)
_TEXT = ("text", "query", "{label}_contains", "search_text")
_RANGE = (("min_{}", "max_{}"), ("{}_from", "{}_to"), ("{}_at_least", "{}_at_most"), ("lowest_{}", "highest_{}"))
_DATES = (("{}_from", "{}_until"), ("{}_after", "{}_before"), ("earliest_{}", "latest_{}"))
_STATISTIC_WORDS = {
    "sum": ("total", "sum", "combined"),
    "average": ("average", "mean"),
    "minimum": ("lowest", "minimum", "smallest"),
    "maximum": ("highest", "maximum", "largest"),
}


@dataclass(frozen=True)
class Voice:
    """How one environment speaks: patterns for tool names and parameters, chosen by its id.

    Environments differ in their verbs so that no policy can rely on one.
    """

    get: str
    search: str
    children: str
    count: str
    statistic: str
    documents: tuple[str, str, str]
    text: str
    range: tuple[str, str]
    dates: tuple[str, str]
    statistics: dict[str, str]

    @classmethod
    def of(cls, env_id: str, seed: int) -> Voice:
        """Return the voice of an environment; the same id and seed give the same voice."""
        digest = hashlib.sha256(f"{env_id}\n{seed}".encode()).digest()
        lists = (_GET, _SEARCH, _CHILDREN, _COUNT, _STATISTIC, _DOCUMENTS, _TEXT, _RANGE, _DATES)
        picked = [options[digest[place] % len(options)] for place, options in enumerate(lists)]
        words = {name: options[digest[20] % len(options)] for name, options in _STATISTIC_WORDS.items()}
        return cls(*picked, statistics=words)


def snake(text: str) -> str:
    """Return a snake case identifier: "Order line" -> "order_line"."""
    name = re.sub(r"[^a-z0-9]+", "_", text.lower()).strip("_") or "row"
    return f"n{name}" if name[0].isdigit() else name


def plain(name: str) -> str:
    """Return a name as words: "unit_price" -> "unit price"."""
    return name.replace("_", " ").strip()


def parameter_name(name: str, taken: Iterable[str] = ()) -> str:
    """Return a Python parameter name for a column that hides no keyword and no name in `taken`."""
    safe = snake(name)
    forbidden = {*_TAKEN, *taken}
    while keyword.iskeyword(safe) or keyword.issoftkeyword(safe) or safe in forbidden:
        safe += "_value"
    return safe


def variable_name(name: str, taken: Iterable[str] = ()) -> str:
    """Return a local variable's name that hides no keyword, builtin name of the templates or name in `taken`."""
    safe = snake(name)
    forbidden = {*taken, "ctx", "Any"}
    while keyword.iskeyword(safe) or keyword.issoftkeyword(safe) or safe in forbidden:
        safe += "_row"
    return safe


def identifier(name: str) -> str:
    """Return a table's or column's name as SQL: quoted only where SQL needs it."""
    if re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name) and name.lower() not in _SQL_WORDS:
        return name
    return '"' + name.replace('"', '""') + '"'


def listing(items: Sequence[str], last: str = "and") -> str:
    """Return "a", "a and b" or "a, b and c"."""
    items = list(items)
    if len(items) <= 1:
        return "".join(items)
    return f"{', '.join(items[:-1])} {last} {items[-1]}"


def article(noun: str) -> str:
    """Return the noun with "a" or "an"."""
    starts_as_consonant = re.match(r"(uni|use|usa|eu|one)", noun.lower())
    return f"{'an' if noun[:1].lower() in 'aeiou' and not starts_as_consonant else 'a'} {noun}"


def stem(column: Column) -> str:
    """Return what a reference column points to, as a word: "product_id" -> "product"."""
    return re.sub(r"_(id|key|code|no|number|ref|iata|icao)$", "", snake(column.name))


def phrase(column: Column) -> str:
    """Return a column as people say it: "unit price (USD)", and "customer" for a reference customer_id."""
    words = plain(stem(column) if column.references else column.name)
    return f"{words} ({column.unit})" if column.unit else words


def one(table: Table) -> str:
    """Return "an order line"."""
    return article(table.noun)
